"""Drawn blocks as bytes and back, for the cache: JSON, so that reading a cache never runs code."""

from __future__ import annotations

from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from reportgen.model import BenchmarkResult, Figure, Overview, Panels, ResultTable, Shown

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (Figure, Panels, ResultTable, Overview, BenchmarkResult)
}


def written(value: Shown | BenchmarkResult) -> bytes:
    """A value as bytes: its kind, a newline, its fields."""
    name = type(value).__name__
    return name.encode() + b"\n" + _adapter(name).dump_json(value)


def read(data: bytes | None) -> Shown | None:
    """What ``written`` wrote; None where there is nothing, or nothing that can be read."""
    value = _value(data)
    return value if isinstance(value, Figure | Panels | ResultTable | Overview) else None


def read_result(data: bytes | None) -> BenchmarkResult | None:
    """A benchmark's result; None where there is none that can be read."""
    value = _value(data)
    return value if isinstance(value, BenchmarkResult) else None


def _value(data: bytes | None) -> object:
    if data is None:
        return None
    name, _, fields = data.partition(b"\n")
    kind = name.decode("ascii", "replace")
    if kind not in _KINDS:
        return None
    try:
        value: object = _adapter(kind).validate_json(fields)
    except ValidationError:
        return None
    return value


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_KINDS[name])
