"""Drawn blocks in the cache and back: JSON, so that reading a cache never runs code.

The long texts of figures follow the JSON as they are: to escape and to check them took longer than all
else about an unchanged figure. Those that only the site's files need stand in files of their own.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from reportgen.model import BenchmarkResult, Figure, Overview, Panels, ResultTable, Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.cache import Cache, KeptText

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Figure, Panels, ResultTable, Overview, BenchmarkResult)
}
_INSIDE: Final = ("inline_svg", "view", "payload")
_IN_FILES: Final = ("file_svg", "csv", "spec")


def keep(data: Cache, key: str, block: Shown) -> Shown:
    """Keep a block; returns it with its longest texts in files instead of in memory."""
    light: Shown = _each_figure(
        block, lambda place, figure: replace(figure, **_put_away(data, key, place, figure))
    )
    data.put(key, _written(light))
    return light


def keep_result(data: Cache, key: str, result: BenchmarkResult) -> None:
    """Keep a benchmark's result."""
    data.put(key, _written(result))


def kept(data: Cache, key: str) -> Shown | None:
    """What ``keep`` returned; None where there is nothing, or nothing that can be read and stands."""
    value = _read(data.get(key))
    if not isinstance(value, Figure | Panels | ResultTable | Overview):
        return None
    texts: list[KeptText] = []

    def found(place: int, figure: Figure) -> Figure:
        named: dict[str, Any] = {name: _there(data, key, place, figure, name) for name in _IN_FILES}
        texts.extend(named.values())
        return replace(figure, **named)

    block: Shown = _each_figure(value, found)
    return block if all(text.stands for text in texts) else None


def kept_result(data: Cache, key: str) -> BenchmarkResult | None:
    """A benchmark's result; None where there is none that can be read."""
    value = _read(data.get(key))
    return value if isinstance(value, BenchmarkResult) else None


def _put_away(data: Cache, key: str, place: int, figure: Figure) -> dict[str, Any]:
    return {name: data.put_text(key, f"{place}.{name}", str(getattr(figure, name))) for name in _IN_FILES}


def _there(data: Cache, key: str, place: int, figure: Figure, name: str) -> KeptText:
    """The text where it stands now: a report may have been moved as a whole."""
    told: KeptText = getattr(figure, name)
    return replace(told, path=data.text_path(key, f"{place}.{name}"))


def _written(value: Shown | BenchmarkResult) -> bytes:
    """A value as bytes: its kind and the lengths of what follows, a newline, its fields, its long texts."""
    name = type(value).__name__
    texts = [getattr(figure, field).encode() for figure in _figures(value) for field in _INSIDE]
    empty: dict[str, Any] = dict.fromkeys(_INSIDE, "")
    light = _each_figure(value, lambda _, figure: replace(figure, **empty))
    parts = [_adapter(name).dump_json(light), *texts]
    return b"\n".join([" ".join([name, *(str(len(part)) for part in parts)]).encode(), b"".join(parts)])


def _read(data: bytes | None) -> Shown | BenchmarkResult | None:
    if data is None:
        return None
    line, _, content = data.partition(b"\n")
    kind, *lengths = line.decode("ascii", "replace").split(" ")
    if kind not in _KINDS or not all(map(str.isdecimal, lengths)):
        return None
    fields, *texts = _cut(content, map(int, lengths))
    try:
        light = _adapter(kind).validate_json(fields)
    except ValidationError:
        return None
    rest = iter(text.decode() for text in texts)

    def filled(_: int, figure: Figure) -> Figure:
        inside: dict[str, Any] = dict(zip(_INSIDE, islice(rest, len(_INSIDE)), strict=True))
        return replace(figure, **inside)

    value: Shown | BenchmarkResult = _each_figure(light, filled)
    return value


def _cut(content: bytes, lengths: Iterator[int]) -> Iterator[bytes]:
    start = 0
    for length in lengths:
        yield content[start : start + length]
        start += length


def _figures(value: Shown | BenchmarkResult) -> tuple[Figure, ...]:
    if isinstance(value, Panels):
        return value.figures
    return (value,) if isinstance(value, Figure) else ()


def _each_figure(value: Any, change: Callable[[int, Figure], Figure]) -> Any:  # noqa: ANN401 - the kind given
    """The value with each of its figures, which are counted from 0, changed."""
    figures = tuple(change(place, figure) for place, figure in enumerate(_figures(value)))
    if isinstance(value, Panels):
        return replace(value, figures=figures)
    return figures[0] if isinstance(value, Figure) else value


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_KINDS[name])
