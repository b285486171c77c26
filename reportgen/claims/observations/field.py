"""Input of the rules: the curves of one metric, their readings, and how these are written."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from reportgen.claims.fact_words import describe_position, format_quantity
from reportgen.claims.vocabulary import format_call
from reportgen.core.digits import SAME, find_decimals, needs_exponent
from reportgen.core.statements import Observation, Quantity
from reportgen.core.words import format_number
from reportgen.statistics.curves.readings import get_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Curve, FloatArray
    from reportgen.core.statements import Scale
    from reportgen.settings.block_parts import Rule


_SHARE = (0.0, 1.0)


class Series(Struct, frozen=True, eq=False):
    """The readings of one curve, unsmoothed, at least one: of several runs, those of their mean."""

    name: str
    steps: FloatArray  # strictly increasing
    values: FloatArray
    field: Field

    def read(self, place: int) -> Reading:
        """Return the reading at a place of the steps."""
        return Reading(self, float(self.steps[place]), float(self.values[place]))

    def find_best(self) -> Reading:
        """Return the best reading, the first of equal ones."""
        return self.read(int(np.argmax(self.field.sign * self.values)))


class Reading(Struct, frozen=True, eq=False):
    """Reading of a series; as a string, its value with the digits of figures."""

    series: Series
    step: float
    value: float

    def __str__(self) -> str:
        return self.series.field.format_value(self.value)

    @property
    def position(self) -> str:
        """Position as text: ``at step 120``."""
        return describe_position(self.step, self.series.field.scale)

    @property
    def placed(self) -> str:
        """Value and position as text: ``0.84 at step 120``."""
        return f"{self} {self.position}"

    def format_fact(self, name: str = "at") -> str:
        """Format the reading as a fact: ``at(MEL, 80) = 0.8``, ``peak(MEL) = 0.84 at step 120``."""
        scale, series = self.series.field.scale, self.series.name
        if name == "at":
            return f"{format_call('at', (series, self.step), scale)} = {self}"
        return f"{format_call(name, (series,), scale)} = {self.placed}"


class Field(Struct, frozen=True, eq=False, dict=True):
    """The curves of one metric, unsmoothed and unbinned."""

    curves: tuple[Curve, ...]
    scale: Scale
    precision: float = 0.0  # possible error of a reading as stated by its source, or 0

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """The series that have readings, by name, so that their order in a figure changes nothing."""
        found = []
        for curve in sorted(self.curves, key=lambda curve: curve.series):
            points = get_points(curve)
            own = _find_read(curve, points.steps)
            if own.any():
                found.append(Series(curve.series, points.steps[own], points.values[own], self))
        return tuple(found)

    @property
    def sign(self) -> float:
        """−1 if lower is better, otherwise 1: if neither is better, rules look at the highest."""
        return -1.0 if self.scale.higher_is_better is False else 1.0

    @property
    def ranks(self) -> bool:
        """Whether one direction is better; otherwise no series leads or is best."""
        return self.scale.higher_is_better is not None

    @cached_property
    def plotted_range(self) -> float:
        """Highest minus lowest reading; 0 if all are equal."""
        every = [value for one in self.series for value in (one.values.min(), one.values.max())]
        return float(max(every) - min(every)) if every else 0.0

    def is_level(self, first: float, second: float) -> bool:
        """Return whether two readings are equal up to the source's precision, or to rounding."""
        slack = SAME * max(abs(first), abs(second))
        return abs(first - second) <= max(self.precision * (1 + SAME), slack)

    def find_signs(self, difference: FloatArray, size: FloatArray) -> FloatArray:
        """Return the signs of differences, 0 where they are level; ``size`` is the larger of both sides."""
        slack = np.maximum(self.precision * (1 + SAME), SAME * size)
        return np.where(np.abs(difference) <= slack, 0.0, np.sign(difference))

    @cached_property
    def criterion(self) -> str:
        """What a reading is told apart by, in words."""
        if not self.precision:
            return "values as they were read; equal ones are level"
        return f"values as they were read; level within {format_number(self.precision)}, their precision"

    def rate(self, effect: float) -> tuple[str, float]:
        """Return the criterion of readings, and an effect as a share of the plotted range."""
        return self.criterion, float(abs(effect) / self.plotted_range) if self.plotted_range else 0.0

    def format_value(self, value: float) -> str:
        """Format a value with the digits of figures."""
        return self._format(value, Quantity.VALUE)

    def format_size(self, value: float) -> str:
        """Format the absolute size of a difference with the digits of figures."""
        return self._format(abs(value), Quantity.DIFFERENCE)

    def _format(self, value: float, quantity: Quantity) -> str:
        if (precision := self.scale.precision) is None:
            return format_quantity(value, quantity, self.scale, signed=False)
        in_percent = self.scale.bounds == _SHARE and not self.scale.percent
        shown, significant = value * (100 if in_percent else 1), 3 if quantity is Quantity.VALUE else 1
        decimals = find_decimals(shown, precision, percent=in_percent, significant=significant)
        if needs_exponent(value) and not in_percent:
            return _format_scientific(value, decimals)
        return format_quantity(value, quantity, self.scale, decimals=decimals, signed=False)


def _find_read(curve: Curve, steps: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return at which steps every run was read whose range includes them: elsewhere lines are drawn."""
    read = np.ones(steps.size, dtype=bool)
    for run in curve.runs:
        if run.steps.size:
            inside = (run.steps[0] <= steps) & (steps <= run.steps[-1])
            read &= ~inside | np.isin(steps, run.steps)
    return read


def _format_scientific(value: float, decimals: int) -> str:
    """Format a number with an exponent, to ``decimals`` of the number itself: ``1.6e−6``, ``0``."""
    value = round(value, decimals)
    if not value:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    mantissa = format_number(value * 10.0**-exponent, decimals=max(decimals + exponent, 0))
    return f"{mantissa}e{format_number(exponent)}"


def observe(
    rule: Rule,
    text: str,
    evidence: Sequence[str],
    basis: tuple[str, float],
    series: Sequence[str],
    *,
    steps: tuple[float | None, float | None] = (None, None),
    mark: Reading | None = None,
    label: str = "",
) -> Observation:
    """Make an observation; ``basis`` is threshold text and strength, ``mark`` the point to mark."""
    (threshold, strength), (first, last) = basis, steps
    name, step = (None, None) if mark is None else (mark.series.name, mark.step)
    names, evidence = tuple(series), tuple(evidence)
    return Observation(rule, text, evidence, threshold, names, strength, "", first, last, name, step, label)
