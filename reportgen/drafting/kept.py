"""Drawn blocks in the cache and back: JSON, so that reading a cache never runs code.

The long texts of figures stand in files of their own: an unchanged figure needs them only if its page
changed, and a site can link to them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from reportgen.model import BenchmarkResult, Figure, Observations, Overview, Panels, ResultTable, Shown, Stack

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.cache import Cache, KeptText

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (Figure, Panels, ResultTable, Overview, Stack, Observations, BenchmarkResult)
}
_IN_FILES: Final = ("inline_svg", "file_svg", "csv", "spec", "payload")


def keep(data: Cache, key: str, block: Shown) -> Shown:
    """Keep a block; returns it with its longest texts in files, if these can be written."""
    try:
        light: Shown = _each_figure(
            block, lambda place, figure: replace(figure, **_put_away(data, key, place, figure))
        )
    except OSError:
        return block
    data.put(key, _written(light))
    return light


def keep_result(data: Cache, key: str, result: BenchmarkResult) -> None:
    """Keep a benchmark's result."""
    data.put(key, _written(result))


def kept(data: Cache, key: str) -> Shown | None:
    """What ``keep`` returned; None where there is nothing, or nothing that can be read and stands."""
    value = _read(data.get(key))
    if not isinstance(value, Figure | Panels | ResultTable | Overview | Stack | Observations):
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
    path = data.text_path(key, f"{place}.{name}")
    return told if told.path == path else replace(told, path=path)


def _written(value: Shown | BenchmarkResult) -> bytes:
    """A value as bytes: its kind, a newline, its fields as JSON."""
    name = type(value).__name__
    return name.encode() + b"\n" + _adapter(name).dump_json(value)


def _read(data: bytes | None) -> Shown | BenchmarkResult | None:
    kind, _, fields = (data or b"").partition(b"\n")
    name = kind.decode("ascii", "replace")
    if name not in _KINDS:
        return None
    try:
        value: Shown | BenchmarkResult = _adapter(name).validate_json(fields)
    except ValidationError:
        return None
    return value


def _each_figure(value: Any, change: Callable[[int, Figure], Figure]) -> Any:  # noqa: ANN401 - the kind given
    """The value with each of its figures, which are counted from 0, changed."""
    if isinstance(value, Panels):
        return replace(value, figures=_changed(value.figures, change))
    if isinstance(value, Stack):
        return replace(value, parts=_changed(value.parts, change))
    return change(0, value) if isinstance(value, Figure) else value


def _changed(parts: tuple[Any, ...], change: Callable[[int, Figure], Figure]) -> tuple[Any, ...]:
    place = count()
    return tuple(change(next(place), part) if isinstance(part, Figure) else part for part in parts)


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    return TypeAdapter(_KINDS[name])
