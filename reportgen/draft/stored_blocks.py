"""Drawn blocks of earlier builds, and what each was computed from.

The long texts of figures are in separate files of the cache: an unchanged figure needs them only if its page
changed, and a site can link to them. Its data table stays encoded until somebody reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from sys import intern
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from msgspec.structs import force_setattr, replace

from reportgen.core.cache import CachedText
from reportgen.core.model import Figure, Observed, Panels, Stack
from reportgen.core.report_json import encode_json

if TYPE_CHECKING:
    from typing import TypeVar

    from reportgen.core.cache import Cache
    from reportgen.core.model import Shown

    _Shown = TypeVar("_Shown", bound=Shown)


Place: TypeAlias = tuple[str, str]
"""Where a block is: path of its page, and its id."""
DrawnBlock: TypeAlias = "tuple[Shown, tuple[Observed, ...]]"
"""What a block shows, and what it was computed from: of each panel, or of all of it."""


class DrawnParts(Mapping[Place, Any]):
    """What each block shows, or what it was computed from; some are restored when they are first read.

    ``blocks`` has a block at each place, or a function that restores it, and ``part`` is 0 or 1.
    """

    def __init__(self, blocks: dict[Place, DrawnBlock | Callable[[], DrawnBlock]], part: int) -> None:
        self._blocks, self._part = blocks, part

    def __getitem__(self, place: Place) -> Any:  # noqa: ANN401 - either part
        block = self._blocks[place]
        if not isinstance(block, tuple):
            block = self._blocks[place] = block()
        return block[self._part]

    def __iter__(self) -> Iterator[Place]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)


_IN_FILES: Final = ("inline_svg", "file_svg", "csv", "spec", "payload")


def store_block(
    cache: Cache, key: str, block: _Shown, observed: tuple[Observed, ...]
) -> tuple[_Shown, tuple[Observed, ...]]:
    """Store a block and what it was computed from, and return it with its long texts in files.

    If these cannot be written, it is returned as it is.
    """
    temporary: list[CachedText] = []  # of samples, which were too much to hold in memory

    def put_texts(number: int, figure: Figure) -> Figure:
        texts: dict[str, Any] = {
            name: cache.put_text(key, f"{number}.{name}", str(getattr(figure, name))) for name in _IN_FILES
        }
        temporary.extend(text for text in figure.samples if isinstance(text, CachedText))
        scripts = enumerate(map(str, figure.samples))
        put = tuple(cache.put_text(key, f"{number}.samples-{part}", script) for part, script in scripts)
        texts |= {
            "table_data": msgspec.msgpack.encode(figure.table),
            "numbers_data": encode_json(figure.numbers),
        }
        return _share_views(replace(figure, **texts, samples=put))

    try:
        light = change_figures(block, put_texts)
    except OSError:
        return block, observed
    cache.store(key, (light, observed))
    for text in temporary:
        cache.remove_text(text)
    return light, observed


def restore_block(cache: Cache, key: str, kind: type[_Shown]) -> tuple[_Shown, tuple[Observed, ...]] | None:
    """Load what ``store_block`` stored, or return None if it or one of its texts is missing or changed."""
    texts: list[CachedText] = []

    def locate(text: CachedText, name: str) -> CachedText:
        # Its current path, since the cache may have been moved.
        path = cache.get_text_path(key, name)
        texts.append(text if text.path == path else replace(text, path=path))
        return texts[-1]

    def locate_texts(number: int, figure: Figure) -> Figure:
        located: dict[str, Any] = {
            name: locate(getattr(figure, name), f"{number}.{name}") for name in _IN_FILES
        }
        scripts: Any = enumerate(figure.samples)
        located["samples"] = tuple(locate(script, f"{number}.samples-{part}") for part, script in scripts)
        is_there = located["csv"] is figure.csv  # as are the others; thousands of figures are restored
        return _share_views(figure if is_there else replace(figure, **located))

    stored = cache.load(key, tuple[kind, tuple[Observed, ...]])  # type: ignore[valid-type]
    if stored is None:
        return None
    block, observed = stored
    restored = change_figures(block, locate_texts)
    return (restored, observed) if all(text.stands for text in texts) else None


def _share_views(figure: Figure) -> Figure:
    """Hold each view of a figure that nobody else has yet once in memory: thousands have a few."""
    force_setattr(figure, "view", intern(figure.view))
    force_setattr(figure, "other_views", tuple(map(intern, figure.other_views)))
    return figure


def change_figures(block: _Shown, change: Callable[[int, Figure], Figure]) -> _Shown:
    """Apply a function to each figure of a block and its index, from 0."""
    numbers = count()

    def change_all(parts: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(change(next(numbers), part) if isinstance(part, Figure) else part for part in parts)

    if isinstance(block, Panels):
        return replace(block, figures=change_all(block.figures))
    if isinstance(block, Stack):
        return replace(block, parts=change_all(block.parts))
    return change_all((block,))[0]  # type: ignore[no-any-return]
