"""Axes of scores and of differences between them: in percent and points where scores go from 0 to 1."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.figures.axis import Axis, make_linear_axis
from reportgen.figures.score_words import is_percent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.figures.score_context import ScoreContext

_TICKS = 6
_ROOM = 0.04


def make_score_axis(values: Iterable[float | None], context: ScoreContext, *, title: str) -> Axis:
    """An axis over scores and the ends of their intervals, cut at the stated range of scores.

    Args:
        values: in the unit of the input, as is the axis' domain; None is left out. Without any the axis
            is over the whole range.
        context: has the range of scores.
        title: what it shows.
    """
    known = [value for value in values if value is not None] or _whole_range(context)
    low, high = _add_room(known, context)
    # An interval that is used as reported may reach beyond the range; then it is shown.
    low, high = max(low, min(context.lowest, *known)), min(high, max(context.highest, *known))
    return _make_axis(title, low, high, context, signed=False)


def make_difference_axis(values: Iterable[float | None], context: ScoreContext, *, title: str) -> Axis:
    """An axis over differences of scores and the ends of their intervals; 0 is always on it.

    Args:
        values: in the unit of the input, as is the axis' domain; None is left out.
        context: has the range of scores.
        title: what it shows, such as ``difference in points``.
    """
    known = [0.0, *(value for value in values if value is not None)]
    low, high = _add_room(known, context)
    return _make_axis(title, low, high, context, signed=True)


def _add_room(known: list[float], context: ScoreContext) -> tuple[float, float]:
    """The values' range, a little wider; a tenth of the range of scores where they are all one value.

    Where that range is not known, it is a tenth of the value.
    """
    low, high = min(known), max(known)
    least = (context.highest - context.lowest) / 10
    if math.isinf(least):
        least = abs(high) / 10 or 1.0
    room = _ROOM * (high - low) if high > low else least / 2
    return low - room, high + room


def _whole_range(context: ScoreContext) -> list[float]:
    """The ends of the range of scores; of one that is not known 0 and 1."""
    ends = [context.lowest, context.highest]
    return ends if all(map(math.isfinite, ends)) else [0.0, 1.0]


def _make_axis(title: str, low: float, high: float, context: ScoreContext, *, signed: bool) -> Axis:
    scale = 100.0 if is_percent(context) else 1.0
    axis = make_linear_axis(title, low * scale, high * scale, count=_TICKS)
    pairs = zip(axis.ticks, axis.labels, strict=True)
    labels = [f"+{label}" if signed and tick > 0 else label for tick, label in pairs]
    if scale == 1:
        return replace(axis, labels=tuple(labels))
    decimals = max(len(label.partition(".")[2]) for label in axis.labels) if axis.labels else 0
    return replace(
        axis,
        domain=(axis.domain[0] / scale, axis.domain[1] / scale),
        ticks=tuple(tick / scale for tick in axis.ticks),
        labels=tuple(labels if signed else (f"{label} %" for label in labels)),
        format=f".{decimals}%",
        read_format=f".{decimals + 1}%",
    )
