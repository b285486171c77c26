"""Intervals before and after as lines of text, which need no picture, host or script.

::

    axis    pass@1    0.20      0.30      0.40
    before  GRPO      ├─────○──────┤                    0.28 [0.17, 0.42]
    after                ├─────●───────┤                0.32 [0.21, 0.46]   Δ +0.04 [−0.01, +0.09] unclear
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from reportgen.core.words import format_number
from reportgen.review.quoting import fence_lines, fit_name, measure_width
from reportgen.review.words import choose_number_digits, format_delta, format_side, format_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.review.model import NumberChange

_CELLS = 36
_LONGEST_LABEL = 28
_TICKS = 3
_BEFORE, _AFTER = "○", "●"
# Room between two labels of the axis.
_GAP = 2
# Ends of an axis that are nearer to each other are the same number.
_SAME, _SMALLEST = 1e-12, 1e-300
# Half of the largest number, nearly.
_LARGEST = 8e307


class _Axis(NamedTuple):
    """The ends of an axis that all strips of a metric share."""

    low: float
    high: float

    def locate(self, value: float) -> int:
        """The cell of a value."""
        # Halved, since the difference of the two largest numbers is infinite.
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return round(min(max(share, 0.0), 1.0) * (_CELLS - 1))


def draw_strips(numbers: Sequence[NumberChange]) -> str:
    """A code block with the numbers that have an interval on a side, one axis a metric; empty if none has."""
    groups: dict[tuple[str, bool], list[NumberChange]] = {}
    for number in numbers:
        sides = [one for one in (number.before, number.after) if one]
        known = any(one.low is not None and one.high is not None for one in sides)
        if known and number.verdict != "not comparable":
            groups.setdefault((number.metric, choose_number_digits(number).share), []).append(number)
    lines: list[str] = []
    for (metric, percent), members in groups.items():
        lines += [""] if lines else []
        lines += _draw_group(metric, members, percent=percent)
    return fence_lines(lines) if lines else ""


def _draw_group(metric: str, numbers: Sequence[NumberChange], *, percent: bool) -> Iterator[str]:
    # With what tells two of a name apart.
    seen = Counter(number.series for number in numbers)
    labels = [
        f"{number.series} · {number.benchmark or number.source or number.page}"
        if seen[number.series] > 1
        else number.series
        for number in numbers
    ]
    width = min(_LONGEST_LABEL, max(measure_width(label) for label in (metric, *labels)))
    axis = _find_axis(numbers)
    yield f"axis    {fit_name(metric, width)}  {_draw_ticks(axis, percent=percent)}".rstrip()
    for label, number in zip(labels, numbers, strict=True):
        name = label
        for word, mark, estimate in (("before", _BEFORE, number.before), ("after ", _AFTER, number.after)):
            if estimate is None:
                continue
            cells = [" "] * _CELLS
            if estimate.low is not None and estimate.high is not None:
                low, high = sorted((axis.locate(estimate.low), axis.locate(estimate.high)))
                cells[low : high + 1] = "─" * (high - low + 1)
                cells[low], cells[high] = "├", "┤"
            cells[axis.locate(estimate.value)] = mark
            words = format_side(number, estimate)
            if mark == _AFTER:
                delta = format_delta(number)
                words += f"   {f'Δ {delta} ' if delta else ''}{format_verdict(number)}"
            yield f"{word}  {fit_name(name, width)}  {''.join(cells)}  {words}"
            name = ""


def _find_axis(numbers: Sequence[NumberChange]) -> _Axis:
    ends = [
        end
        for number in numbers
        for one in (number.before, number.after)
        if one
        for end in (one.value, one.low, one.high)
        if end is not None
    ]
    low, high = min(ends), max(ends)
    if high / 2 - low / 2 <= max(_SAME * max(abs(low), abs(high)), _SMALLEST):
        room = abs(low) / 4 or 0.5
        low, high = 2 * max(low / 2 - room, -_LARGEST), 2 * min(high / 2 + room, _LARGEST)
    return _Axis(low, high)


def _draw_ticks(axis: _Axis, *, percent: bool) -> str:
    """Labels of round values, each centred on its cell."""
    line = ""
    least = (axis.high / 2 - axis.low / 2) / _TICKS * 2
    power = 10.0 ** math.floor(math.log10(least))
    step = next((power * times for times in (1, 2, 5) if power * times >= least), power * 10)
    first = math.ceil(axis.low / step)
    for value in (number * step for number in range(first, first + 2 * _TICKS)):
        if not axis.low <= value <= axis.high:
            continue
        text = f"{format_number(value * 100)}%" if percent else format_number(value)
        start = max(0, axis.locate(value) - len(text) // 2)
        if not line or start >= len(line) + _GAP:
            line = f"{line:<{start}}{text}"
    return line
