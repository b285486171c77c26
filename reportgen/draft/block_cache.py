"""Drawn blocks in the cache, as JSON, so that reading a cache never runs code.

The long texts of figures stand in files of their own: an unchanged figure needs them only if its page
changed, and a site can link to them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from reportgen.core.model import (
    BenchmarkResult,
    Figure,
    Observations,
    Overview,
    Panels,
    ResultTable,
    Shown,
    Stack,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reportgen.core.cache import Cache, CachedText
    from reportgen.settings.inputs import Source


def make_block_key(cache: Cache, parts: Iterable[str], sources: Iterable[Source]) -> str:
    """The key of a drawn block."""
    return cache.make_key("block", *parts, *(source.digest for source in sources))


_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (Figure, Panels, ResultTable, Overview, Stack, Observations, BenchmarkResult)
}
_IN_FILES: Final = ("inline_svg", "file_svg", "csv", "spec", "payload")


def store_block(data: Cache, key: str, block: Shown) -> Shown:
    """Keep a block; returns it with its longest texts in files, if these can be written."""
    try:
        light: Shown = _replace_figures(
            block, lambda place, figure: replace(figure, **_put_away(data, key, place, figure))
        )
    except OSError:
        return block
    data.put(key, _encode(light))
    return light


def store_result(data: Cache, key: str, result: BenchmarkResult) -> None:
    """Keep a benchmark's result."""
    data.put(key, _encode(result))


def restore_block(data: Cache, key: str) -> Shown | None:
    """What ``store_block`` returned; None where there is nothing, or nothing that can be read and stands."""
    value = _decode(data.get(key))
    if not isinstance(value, Figure | Panels | ResultTable | Overview | Stack | Observations):
        return None
    texts: list[CachedText] = []

    def restore_texts(place: int, figure: Figure) -> Figure:
        named: dict[str, Any] = {name: _locate_text(data, key, place, figure, name) for name in _IN_FILES}
        texts.extend(named.values())
        return replace(figure, **named)

    block: Shown = _replace_figures(value, restore_texts)
    return block if all(text.stands for text in texts) else None


def restore_result(data: Cache, key: str) -> BenchmarkResult | None:
    """A benchmark's result; None where there is none that can be read."""
    value = _decode(data.get(key))
    return value if isinstance(value, BenchmarkResult) else None


def _put_away(data: Cache, key: str, place: int, figure: Figure) -> dict[str, Any]:
    return {name: data.put_text(key, f"{place}.{name}", str(getattr(figure, name))) for name in _IN_FILES}


def _locate_text(data: Cache, key: str, place: int, figure: Figure, name: str) -> CachedText:
    """The text where it stands now: a report may have been moved as a whole."""
    text: CachedText = getattr(figure, name)
    path = data.get_text_path(key, f"{place}.{name}")
    return text if text.path == path else replace(text, path=path)


def _encode(value: Shown | BenchmarkResult) -> bytes:
    """A value as bytes: its kind, a newline, its fields as JSON."""
    name = type(value).__name__
    return name.encode() + b"\n" + _get_adapter(name).dump_json(value)


def _decode(data: bytes | None) -> Shown | BenchmarkResult | None:
    kind, _, fields = (data or b"").partition(b"\n")
    name = kind.decode("ascii", "replace")
    if name not in _KINDS:
        return None
    try:
        value: Shown | BenchmarkResult = _get_adapter(name).validate_json(fields)
    except ValidationError:
        return None
    return value


def _replace_figures(value: Any, change: Callable[[int, Figure], Figure]) -> Any:  # noqa: ANN401 - the kind given
    """The value with each of its figures, which are counted from 0, changed."""
    if isinstance(value, Panels):
        return replace(value, figures=_replace_parts(value.figures, change))
    if isinstance(value, Stack):
        return replace(value, parts=_replace_parts(value.parts, change))
    return change(0, value) if isinstance(value, Figure) else value


def _replace_parts(parts: tuple[Any, ...], change: Callable[[int, Figure], Figure]) -> tuple[Any, ...]:
    place = count()
    return tuple(change(next(place), part) if isinstance(part, Figure) else part for part in parts)


@cache
def _get_adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_KINDS[name])
