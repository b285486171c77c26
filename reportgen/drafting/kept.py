"""Drawn blocks as bytes and back, for the cache: JSON, so that reading a cache never runs code.

The long texts of figures follow the JSON as they are: escaping and checking them took longer than
everything else about an unchanged figure.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from reportgen.model import BenchmarkResult, Figure, Overview, Panels, ResultTable, Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Figure, Panels, ResultTable, Overview, BenchmarkResult)
}
_LONG: Final = ("inline_svg", "file_svg", "csv", "spec", "view", "payload")


def written(value: Shown | BenchmarkResult) -> bytes:
    """A value as bytes: its kind and the lengths of what follows, a newline, its fields, its long texts."""
    name = type(value).__name__
    texts = [getattr(figure, field).encode() for figure in _figures(value) for field in _LONG]
    parts = [_adapter(name).dump_json(_with(value, [""] * len(texts))), *texts]
    return b"\n".join([" ".join([name, *(str(len(part)) for part in parts)]).encode(), b"".join(parts)])


def read(data: bytes | None) -> Shown | None:
    """What ``written`` wrote; None where there is nothing, or nothing that can be read."""
    value = _value(data)
    return value if isinstance(value, Figure | Panels | ResultTable | Overview) else None


def read_result(data: bytes | None) -> BenchmarkResult | None:
    """A benchmark's result; None where there is none that can be read."""
    value = _value(data)
    return value if isinstance(value, BenchmarkResult) else None


def _value(data: bytes | None) -> Shown | BenchmarkResult | None:
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
    value: Shown | BenchmarkResult = _with(light, [text.decode() for text in texts])
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


def _with(value: Any, texts: Sequence[str]) -> Any:  # noqa: ANN401 - the kind of value that is given
    """The value with other long texts in its figures."""
    rest = iter(texts)

    def filled(figure: Figure) -> Figure:
        long: dict[str, Any] = dict(zip(_LONG, islice(rest, len(_LONG)), strict=True))
        return replace(figure, **long)

    figures = tuple(map(filled, _figures(value)))
    if isinstance(value, Panels):
        return replace(value, figures=figures)
    return figures[0] if isinstance(value, Figure) else value


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_KINDS[name])
