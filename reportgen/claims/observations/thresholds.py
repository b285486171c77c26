"""What an effect has to exceed, the noise of a curve, and the digits that noise leaves to numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reportgen.claims.facts.fact_words import format_quantity
from reportgen.core.comparisons import Verdict
from reportgen.core.words import format_equation, format_number, format_p
from reportgen.statistics.curves.readings import get_points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import Curve, FloatArray
    from reportgen.core.statements import Quantity, Scale
    from reportgen.statistics.curves.readings import Points


# Numbers that differ by less than this share are one number, computed in two ways.
SAME = 1e-9
_MOST_STRENGTH = 100.0
# More decimals than these are an exponent's.
_MOST_DECIMALS = 12
_MOST_SIGNIFICANT = 6
# Of numbers below it the zeros are hard to count.
_SMALL = 1e-4


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number that an effect has to exceed, and the phrase that says where it comes from."""

    value: float
    source: str

    def is_exceeded(self, effect: float) -> bool:
        """Whether an effect is larger, and not only by the last digits of a computation."""
        return abs(effect) > self.value * (1 + SAME)

    def describe(self, effect: float) -> str:
        """The comparison in words: ``0.041 is more than 0.012, half the band of 5 runs``."""
        relation = "more" if self.is_exceeded(effect) else "not more"
        parts = (abs(effect), self.value)
        for significant in range(2, _MOST_SIGNIFICANT + 1):
            words = [
                format_at_scale(part, max(self.value, SAME * abs(effect)), significant) for part in parts
            ]
            if words[0] != words[1]:
                break
        return f"{words[0]} is {relation} than {words[1]}, {self.source}"

    def strength(self, effect: float) -> float:
        """How many times the threshold the effect is; finite even where the threshold is 0."""
        return abs(effect) / self.value if self.value > 0 else _MOST_STRENGTH


@dataclass(frozen=True, slots=True)
class Tested:
    """The result of a test of two series, with the interface of ``Threshold``.

    Attributes:
        clear: whether the test tells the two apart.
        words: what the test says.
        over_runs: whether the last readings of runs are tested, as in claims; otherwise windows of readings.
        half: half the width of the difference's interval; None where it is not known.
    """

    clear: bool
    words: str
    over_runs: bool = False
    half: float | None = None

    @classmethod
    def from_comparison(cls, comparison: Comparison, share: float) -> Tested:
        """The test over runs, adjusted together with all pairs of the figure.

        ``adjusted p = 0.0012, by Welch's t over runs; the block asks for 0.005``.
        """
        low, high, p = comparison.low, comparison.high, comparison.adjusted_p or 0.0
        name = "adjusted p" if comparison.tested_together > 1 else "p"
        return cls(
            clear=comparison.verdict in {Verdict.BETTER, Verdict.WORSE} and p <= share,
            words=f"{format_equation(name, format_p(p))}, by Welch's t over runs; {describe_share(share)}",
            over_runs=True,
            half=None if low is None or high is None or high <= low else (high - low) / 2,
        )

    @classmethod
    def from_windows(cls, share: float, *, clear: bool) -> Tested:
        """The test over windows of readings."""
        verb = "differ" if clear else "do not differ clearly"
        return cls(clear, f"means of neighbouring readings {verb}, by t; {describe_share(share)}")

    def is_exceeded(self, effect: float) -> bool:
        """What the test says, whatever the effect."""
        del effect
        return self.clear

    def describe(self, effect: float) -> str:
        """The words of the test."""
        del effect
        return self.words

    def strength(self, effect: float) -> float:
        """The difference by half its interval; without an interval 2 where it is clear."""
        if self.half is not None:
            return min(abs(effect) / self.half, _MOST_STRENGTH)
        return 2.0 if self.clear and not self.over_runs else 1.0


Criterion: TypeAlias = Threshold | Tested
"""What an effect has to exceed."""


def describe_share(share: float) -> str:
    """The error that is left to one question of a block: ``the block asks for p ≤ 0.015``."""
    return f"the block asks for p ≤ {format_number(share, significant=2)}"


def count_decimals(noise: float, significant: int) -> int:
    """Decimals at which a number has so many digits; 4 for a number that is 0."""
    if noise <= 0:
        return 4
    return min(significant - 1 - math.floor(math.log10(noise)), _MOST_DECIMALS)


def format_at_scale(value: float, scale: float, significant: int) -> str:
    """A number of which ``scale`` has so many digits; small ones with an exponent."""
    decimals = count_decimals(scale, significant)
    if 0 < scale < _SMALL:
        return format_scientific(value, decimals)
    return trim_zeros(format_number(value, decimals=decimals))


def format_scientific(value: float, decimals: int) -> str:
    """A number with an exponent, to so many decimals of the number itself: ``1.6e−6``, ``0``."""
    value = round(value, decimals)
    if not value:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    mantissa = format_number(value * 10.0**-exponent, decimals=max(decimals + exponent, 0))
    return f"{mantissa}e{format_number(exponent)}"


def trim_zeros(text: str) -> str:
    """A number without zeros at its end."""
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


FEWEST_READINGS = 20
"""With fewer readings of one run noise and change cannot be separated."""

SMALLEST_SHARE = 0.01
"""Nothing smaller than this share of the plotted range is reported."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of a curve: half the band's width, or twice what the line jitters by; 0 if not ``known``."""

    value: float
    known: bool


def estimate_noise(curve: Curve, band: str = "ci") -> Noise:
    """Half the band's width at the usual step, or else twice the median change between readings.

    Of a band that shows a standard error (see ``CurveSet.band``) twice as much counts.
    """
    half = get_half_widths(curve)
    if np.isfinite(half).any():
        return Noise(float(np.nanmedian(half)) * (2 if band == "se" else 1), known=True)
    known = get_points(curve)
    if known.steps.size < FEWEST_READINGS:
        return Noise(0.0, known=False)
    return Noise(2 * measure_jitter(known), known=True)


def measure_jitter(known: Points) -> float:
    """The median change from one of three or more readings to the next, the trend taken out.

    Each reading is compared with the straight line between its neighbours, so that neither the slope nor the
    bend of a learning curve counts (Gasser, Sroka and Jennen-Steinmetz 1986).
    """
    left, here, right = known.steps[:-2], known.steps[1:-1], known.steps[2:]
    weight = (right - here) / (right - left)
    line = weight * known.values[:-2] + (1 - weight) * known.values[2:]
    apart = np.abs(known.values[1:-1] - line) / np.sqrt(1 + weight**2 + (1 - weight) ** 2)
    return math.sqrt(2) * float(np.median(apart))


def get_half_widths(curve: Curve) -> FloatArray:
    """Half the band's width at each step, shape (steps,); NaN where there is no band."""
    half: FloatArray = (curve.high - curve.low) / 2
    return half


_SAMPLE = 200
"""So many readings show with how many decimals a series is written."""

_SEEN = 0.5
"""Noise of less than this share of the smallest effect that is reported says nothing about any."""

_LIST = 3
"""Values of so many series have the same digits, by the noise that is usual among them."""


@dataclass(frozen=True)  # no slots: derived values are cached in the instance
class Digits:
    """How numbers of some series are written; ``least`` is the smallest effect that is reported."""

    scale: Scale
    points: Mapping[str, Points]
    noise: Mapping[str, Noise]
    least: float

    def is_noisy(self, series: Sequence[str]) -> bool:
        """Whether the noise of any of them is known, and large enough to leave a doubt."""
        return any(self.noise[one].value > _SEEN * self.least for one in series)

    def format_value(self, value: float, quantity: Quantity, series: Sequence[str]) -> str:
        """A value or a difference without its plus sign; the last digit is worth half the noise at most.

        Where noise is not known the readings stand as they are, down to 1 % of the range. The noise of
        ``series`` counts: the smaller one of two.
        """
        decimals = self._choose_decimals(value, series)
        if self._small and decimals is not None:
            return format_scientific(value, decimals)
        return format_quantity(value, quantity, self.scale, decimals=decimals, signed=False)

    def _choose_decimals(self, value: float, series: Sequence[str]) -> int | None:
        """Digits after the point, of the percentage where one is written; None for as many as usual."""
        if not self.least:
            return None
        factor = self._factor
        noises = sorted(self.noise[name].value for name in series) or [0.0]
        noise = max(noises[len(noises) // 2 if len(noises) >= _LIST else 0], self.least)
        if all(self.noise[name].known for name in series):
            decimals = count_decimals(factor * noise / 2, 1)
            # What moves by less than 1 % of the range is written as the data write it.
            if not self.is_noisy(series):
                written = (_choose_common(self._count_written(name, decimals)) for name in series)
                decimals = min(decimals, max(written))
            return max(decimals, 0) if factor > 1 else decimals
        return max(_count_needed(factor * value, count_decimals(factor * noise, 1)), self._usual)

    @cached_property
    def _small(self) -> bool:
        """Whether numbers are written with an exponent: all are below 0.001."""
        largest = max((float(np.abs(one.values).max()) for one in self.points.values()), default=0.0)
        return self._factor == 1 and not self.scale.percent and 0 < largest < 10 * _SMALL

    @property
    def _factor(self) -> int:
        """100 where percentages are written."""
        return 100 if self.scale.bounds == (0.0, 1.0) and not self.scale.percent else 1

    @cached_property
    def _usual(self) -> int:
        """Decimals that do for four of five readings: 0.9 is written as 0.90 among 0.85 and 0.75."""
        most = count_decimals(self._factor * self.least, 1)
        needed = [one for name in self.points for one in self._count_written(name, most)]
        return _choose_common(needed) if needed else 0

    def _count_written(self, series: str, most: int) -> list[int]:
        """The decimals that readings of a series are written with."""
        values = self.points[series].values
        sample = values[:: max(1, values.size // _SAMPLE)].tolist()
        return [_count_needed(self._factor * value, most) for value in sample]


def _choose_common(needed: list[int]) -> int:
    """What does for four of five."""
    return sorted(needed)[(len(needed) - 1) * 4 // 5]


def _count_needed(value: float, most: int) -> int:
    """The decimals that a number is written with, zeros at its end apart."""
    return len(trim_zeros(format_number(value, decimals=max(most, 0))).partition(".")[2])
