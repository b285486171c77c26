"""What rules look at: the curves of one metric, their noise, and numbers in the digits that it deserves."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.curve_numbers import points
from reportgen.facts.curve_pairs import Pairs
from reportgen.observations.correlation import Averaging, averaging
from reportgen.observations.digits import Digits
from reportgen.observations.noise import SMALLEST_SHARE, Noise, allowance, half_widths, loudness, noise_scale
from reportgen.observations.thresholds import SAME, Held, Tested, Threshold, alike
from reportgen.statements import Quantity
from reportgen.words import number

if TYPE_CHECKING:
    from reportgen.facts.curve_numbers import Points
    from reportgen.model import Curve, FloatArray
    from reportgen.observations.aligned import Aligned
    from reportgen.outcomes import Comparison
    from reportgen.statements import Scale

__all__ = ["SAME", "Field", "Threshold"]

_FARTHEST = (1e-70, 1e70)
_LINE = "4 times the median change between readings; the band is wider still"


@dataclass(frozen=True)  # no slots: derived values are kept in the instance
class Field:
    """The curves of one metric, unsmoothed, as rules look at them.

    Attributes:
        curves: one for each series, with one or more readings each.
        scale: what the numbers mean.
        band: the kind of band that the curves have, as in ``CurveSet.band``.
        level: confidence level of tests, as in ``CurveSet.level``.
    """

    curves: tuple[Curve, ...]
    scale: Scale
    band: str
    level: float = 0.95

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The series, in the figure's order."""
        return tuple(curve.series for curve in self.curves)

    @cached_property
    def _by_name(self) -> dict[str, Curve]:
        return {curve.series: curve for curve in self.curves}

    @cached_property
    def _points(self) -> dict[str, Points]:
        return {curve.series: points(curve) for curve in self.curves}

    @cached_property
    def _noise(self) -> dict[str, Noise]:
        return {curve.series: noise_scale(curve, self.band) for curve in self.curves}

    @cached_property
    def _loudness(self) -> dict[str, FloatArray]:
        return {curve.series: loudness(curve) for curve in self.curves}

    @cached_property
    def _averaging(self) -> dict[tuple[str, bool], Averaging]:
        return {
            (curve.series, itself): averaging(curve, self.noise(curve.series).strength, itself=itself)
            for curve in self.curves
            for itself in (True, False)
        }

    @cached_property
    def side_by_side(self) -> dict[tuple[tuple[str, ...], bool], Aligned]:
        """Series at common steps, by their names and whether they are running means, see ``aligned``."""
        return {}

    @cached_property
    def _digits(self) -> Digits:
        return Digits(self.scale, self._points, self._noise, self.least)

    @cached_property
    def _testable(self) -> bool:
        """Whether fourth powers of values, which a test needs, are numbers."""
        every = (float(np.abs(run.values).max()) for one in self.curves for run in one.runs)
        largest = max(every, default=0.0)
        return _FARTHEST[0] < largest < _FARTHEST[1]

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs(self.curves, self.scale, self.level, self.band)

    @property
    def sign(self) -> float:
        """−1 where lower is better, otherwise 1: where neither is, rules look at the highest."""
        return -1.0 if self.scale.higher_is_better is False else 1.0

    @property
    def ranks(self) -> bool:
        """Whether one way is better; where none is, nobody leads, and nothing is called best."""
        return self.scale.higher_is_better is not None

    @cached_property
    def plotted_range(self) -> float:
        """Highest less lowest value of all series; 0 where all are alike."""
        every = np.concatenate([one.values for one in self._points.values()])
        return float(every.max() - every.min()) if every.size else 0.0

    @property
    def least(self) -> float:
        """The smallest effect that is told: 1 % of the plotted range."""
        return SMALLEST_SHARE * self.plotted_range

    def curve(self, series: str) -> Curve:
        """The curve of a series."""
        return self._by_name[series]

    def points(self, series: str) -> Points:
        """Steps and values of a series, finite and unsmoothed, as measured."""
        return self._points[series]

    def noise(self, series: str) -> Noise:
        """The noise scale of a series."""
        return self._noise[series]

    def noisy(self, *series: str) -> bool:
        """Whether the noise of any of them is known, and large enough to leave a doubt."""
        return self._digits.noisy(series)

    def noise_along(self, series: str) -> FloatArray:
        """The noise scale at each reading, shape (readings,); larger where the curve is louder than usual."""
        along: FloatArray = self.noise(series).value * self._loudness[series]
        return along

    def left_in_mean(self, series: str, readings: FloatArray | int, *, itself: bool = False) -> FloatArray:
        """The share of the noise that is left in the mean of so many neighbouring readings.

        Args:
            series: whose readings.
            readings: how many.
            itself: the mean is held against others of the same series.
        """
        return np.sqrt(self._averaging[series, itself].left(readings))

    def noise_at(self, series: str, step: float) -> float:
        """The noise scale around a step, or half the band's width at this step where that is larger."""
        curve = self.curve(series)
        here = half_widths(curve)[int(np.argmin(np.abs(curve.steps - step)))]
        nearest = int(np.argmin(np.abs(self.points(series).steps - step)))
        noise = float(self.noise_along(series)[nearest])
        return max(noise, float(here)) if math.isfinite(here) else noise

    def threshold(
        self,
        *series: str,
        choices: int = 1,
        steps: tuple[float, ...] = (),
        readings: tuple[int, int] = (1, 1),
    ) -> Threshold:
        """What the difference of two readings is held against.

        Their noises add as √(a² + b²). A rule that picks the largest of n differences asks for more than
        one that compares two given readings, see ``allowance``: the number of steps where one end of the
        difference is an extreme, its square where both are; times the number of series or pairs looked at.
        Never less than 1 % of the range, which is all that is asked where noise is known for none of them.

        Args:
            series: whose readings they are: one name for two readings of the same series, or two.
            choices: from how many differences the rule picks the largest; 1 where it picks none.
            steps: the steps of the two readings, in the order of ``series``; one for both is enough. Where
                the band is wider there, the difference has to be larger than its width there, too.
            readings: of how many readings each end of the difference is the mean.
        """
        names = series * 2 if len(series) == 1 else series
        noises = [self.noise(name) for name in names]
        if not any(noise.known for noise in noises):
            return Threshold(self.least, f"1 % of the range; {noises[0].source}")
        places = steps * 2 if len(steps) == 1 else steps
        itself = len(series) == 1
        usual = [noise.within if itself else noise.value for noise in noises]
        for place, (name, x) in enumerate(zip(names, places, strict=False)):
            usual[place] *= float(self._loudness[name][int(np.argmin(np.abs(self.points(name).steps - x)))])
        left = [
            float(self.left_in_mean(name, n, itself=itself)) for name, n in zip(names, readings, strict=True)
        ]
        value = allowance(choices) * math.hypot(*(a * b for a, b in zip(usual, left, strict=True)))
        there = zip(names, places, left, strict=False)
        here = math.hypot(*(self.noise_at(name, x) * part for name, x, part in there))
        if itself and noises[0].within < noises[0].value:
            here, noises = 0.0, [replace(noises[0], source=_LINE)] * 2
        if here > max(value, self.least):
            return Threshold(here, "the noise at these steps together", noisy=True)
        if self.least >= value:
            return Threshold(self.least, "1 % of the range" if self.least else "no noise at all")
        largest = max(range(2), key=lambda place: usual[place])
        factor = number(value / usual[largest], significant=2)
        noise = alike(usual[largest], usual[largest], 2)
        return Threshold(value, f"{factor} × the noise of {noise} ({noises[largest].source})", noisy=True)

    def at_end(self, first: str, second: str, choices: int = 1) -> Held:
        """What the difference of two last readings is held against.

        Where both end at the same step with two runs or more, it is the test that claims are held to, so that
        a page does not say two things; otherwise ``threshold``.
        """
        one = self.tested(first, second)
        ends = tuple(float(self.points(name).steps[-1]) for name in (first, second))
        return self.threshold(first, second, choices=choices, steps=ends) if one is None else Tested(one)

    def tested(self, first: str, second: str) -> Comparison | None:
        """The test over runs of two last readings, first minus second; None where there is none."""
        a, b = self.curve(first), self.curve(second)
        if self.points(first).steps[-1] != self.points(second).steps[-1] or a.given or b.given:
            return None
        if not self._testable:
            return None
        one = self._pairs.comparison(a, b)
        return None if one is None or one.adjusted_p is None else one

    def reading(self, value: float, *series: str) -> str:
        """A value in the digits that the series' noise deserves: ``0.82`` where the noise is 0.01."""
        return self._digits.said(value, Quantity.VALUE, series)

    def size(self, value: float, *series: str) -> str:
        """How large a difference is, without its sign, in the digits that the noise deserves."""
        return self._digits.said(abs(value), Quantity.DIFFERENCE, series)
