"""What an effect has to exceed, a number or a test, and the digits that noise leaves to numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from reportgen.claims.fact_words import format_quantity
from reportgen.core.comparisons import Verdict
from reportgen.core.words import format_equation, format_number, format_p
from reportgen.statistics.distributions import t_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.claims.observations.noise import Noise
    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import FloatArray, IntArray
    from reportgen.core.statements import Quantity, Scale
    from reportgen.statistics.curves.readings import Points


BoolArray: TypeAlias = npt.NDArray[np.bool_]

# Numbers that differ by less than this share are one number, computed in two ways.
SAME = 1e-9
_MOST_STRENGTH = 100.0
_MOST_DECIMALS = 12  # more are an exponent's
_MOST_SIGNIFICANT = 6
_SMALL = 1e-4  # of numbers below it the zeros are hard to count


@dataclass(frozen=True, slots=True)
class Threshold:
    """What an effect has to exceed: a number, and the phrase that says where it comes from; or a test."""

    value: float
    source: str  # of a test, all of its words
    clear: bool | None = None  # what a test of two series says, whatever the effect
    over_runs: bool = False  # whether it tests the last readings of runs, as in claims; otherwise windows
    half: float | None = None  # half the width of the difference's interval

    @classmethod
    def from_comparison(cls, comparison: Comparison, share: float) -> Threshold:
        """The test over runs, adjusted together with all pairs of the figure."""
        low, high, p = comparison.low, comparison.high, comparison.adjusted_p or 0.0
        name = "adjusted p" if comparison.tested_together > 1 else "p"
        clear = comparison.verdict in {Verdict.BETTER, Verdict.WORSE} and p <= share
        words = f"{format_equation(name, format_p(p))}, by Welch's t over runs; {describe_share(share)}"
        half = None if low is None or high is None or high <= low else (high - low) / 2
        return cls(0.0, words, clear, over_runs=True, half=half)

    def is_exceeded(self, effect: float) -> bool:
        """Whether an effect is larger, and not only by the last digits of a computation."""
        return abs(effect) > self.value * (1 + SAME) if self.clear is None else self.clear

    def describe(self, effect: float) -> str:
        """The comparison in words: ``0.041 is more than 0.012, half the band of 5 runs``."""
        if self.clear is not None:
            return self.source
        scale = max(self.value, SAME * abs(effect))
        for significant in range(2, _MOST_SIGNIFICANT + 1):
            decimals = _count_decimals(scale, significant)
            large, small = (
                format_scientific(part, decimals)
                if 0 < scale < _SMALL
                else _trim_zeros(format_number(part, decimals=decimals))
                for part in (abs(effect), self.value)
            )
            if large != small:
                break
        return f"{large} is {'more' if self.is_exceeded(effect) else 'not more'} than {small}, {self.source}"

    def strength(self, effect: float) -> float:
        """How many times the threshold, or half the interval, the effect is; finite even where that is 0."""
        if self.clear is None:
            return abs(effect) / self.value if self.value > 0 else _MOST_STRENGTH
        if self.half is not None:
            return min(abs(effect) / self.half, _MOST_STRENGTH)
        return 2.0 if self.clear and not self.over_runs else 1.0

    def rate(self, effect: float) -> tuple[str, float]:
        """The comparison in words, and the strength of the effect."""
        return self.describe(effect), self.strength(effect)


def describe_share(share: float) -> str:
    """The error that is left to one question of a block: ``the block asks for p ≤ 0.015``."""
    return f"the block asks for p ≤ {format_number(share, significant=2)}"


def _count_decimals(noise: float, significant: int) -> int:
    """Decimals at which a number has so many digits; 4 for a number that is 0."""
    if noise <= 0:
        return 4
    return min(significant - 1 - math.floor(math.log10(noise)), _MOST_DECIMALS)


def format_scientific(value: float, decimals: int) -> str:
    """A number with an exponent, to so many decimals of the number itself: ``1.6e−6``, ``0``."""
    value = round(value, decimals)
    if not value:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    mantissa = format_number(value * 10.0**-exponent, decimals=max(decimals + exponent, 0))
    return f"{mantissa}e{format_number(exponent)}"


def _trim_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


_SAMPLE = 200  # so many readings show with how many decimals a series is written
_SEEN = 0.5  # noise of less than this share of the smallest effect that is reported says nothing about any
_LIST = 3  # values of so many series have the same digits, by the noise that is usual among them


@dataclass(frozen=True)  # no slots: derived values are cached in the instance
class Digits:
    """How numbers of some series are written; ``least`` is the smallest effect that is reported."""

    scale: Scale
    points: Mapping[str, Points]
    noise: Mapping[str, Noise]
    least: float

    def is_noisy(self, series: Sequence[str]) -> bool:
        """Whether the noise of any of them is known, and large enough to leave a doubt."""
        return any(self.noise[name].value > _SEEN * self.least for name in series)

    def format_value(self, value: float, quantity: Quantity, series: Sequence[str]) -> str:
        """A value or a difference without its plus sign; the last digit is worth half the noise at most.

        Where noise is not known the readings stand as they are, down to 1 % of the range. The noise of
        ``series`` counts: the smaller one of two.
        """
        if not self.least:
            return format_quantity(value, quantity, self.scale, signed=False)
        factor, (small, usual) = self._factor, self._style
        noises = sorted(self.noise[name].value for name in series) or [0.0]
        noise = max(noises[len(noises) // 2 if len(noises) >= _LIST else 0], self.least)
        if all(self.noise[name].known for name in series):
            decimals = _count_decimals(factor * noise / 2, 1)
            # What moves by less than 1 % of the range is written as the data write it.
            if not self.is_noisy(series):
                written = (_choose_common(self._count_written(name, decimals)) for name in series)
                decimals = min(decimals, max(written))
            decimals = max(decimals, 0) if factor > 1 else decimals
        else:
            decimals = max(_count_needed(factor * value, _count_decimals(factor * noise, 1)), usual)
        if small:
            return format_scientific(value, decimals)
        return format_quantity(value, quantity, self.scale, decimals=decimals, signed=False)

    @property
    def _factor(self) -> int:
        """100 where percentages are written."""
        return 100 if self.scale.bounds == (0.0, 1.0) and not self.scale.percent else 1

    @cached_property
    def _style(self) -> tuple[bool, int]:
        """Whether numbers have an exponent, all being below 0.001; and decimals that do for four of five."""
        largest = max((float(np.abs(points.values).max()) for points in self.points.values()), default=0.0)
        small = self._factor == 1 and not self.scale.percent and 0 < largest < 10 * _SMALL
        most = _count_decimals(self._factor * self.least, 1)
        counts = [count for name in self.points for count in self._count_written(name, most)]
        return small, _choose_common(counts)

    def _count_written(self, series: str, most: int) -> list[int]:
        values = self.points[series].values
        sample = values[:: max(1, values.size // _SAMPLE)].tolist()
        return [_count_needed(self._factor * value, most) for value in sample]


def _choose_common(needed: list[int]) -> int:
    """What does for four of five; 0 of none."""
    return sorted(needed)[(len(needed) - 1) * 4 // 5] if needed else 0


def _count_needed(value: float, most: int) -> int:
    """The decimals that a number is written with, zeros at its end apart."""
    return len(_trim_zeros(format_number(value, decimals=max(most, 0))).partition(".")[2])


@dataclass(frozen=True, slots=True)
class Aligned:
    """Series at the union of their steps, each inside its own range only."""

    names: tuple[str, ...]  # sorted, so that the order of series in a figure changes nothing
    steps: FloatArray  # (G,)
    good: FloatArray  # values, the sign turned where lower is better, (S, G); NaN outside a series' range
    read: BoolArray  # where a series has a reading of its own, (S, G)
    least: float  # the smallest difference that counts


_MOST_DF = 200


@dataclass(frozen=True, eq=False)  # no slots: derived values are cached in the instance
class Windows:
    """Means of series over windows around each step, with their errors, tested simultaneously."""

    means: FloatArray  # more is better, (W, S, G); NaN where a series has no readings
    variances: FloatArray  # of the means, (W, S, G)
    df: FloatArray  # their degrees of freedom, (S,)
    tail: float  # the one-sided error that is left to one of all windows, places and pairs
    least: float  # the smallest difference that counts

    @cached_property
    def _ahead(self) -> dict[tuple[int, bool, bool], BoolArray]:
        return {}

    def find_ahead(self, row: int, *, narrow: bool = False, either: bool = False) -> BoolArray:
        """Where a series is clearly ahead of each series in some window around a step, shape (S, G).

        Welch's t, at the level that Bonferroni's inequality leaves to each of as many windows as lie side by
        side, of each width. ``narrow`` looks at the narrowest windows only, ``either`` at ahead or behind.
        """
        key = row, narrow, either
        if key not in self._ahead:
            widths = slice(0, 1 if narrow else None)
            error, others = self.variances[widths, row : row + 1], self.variances[widths]
            apart, both = self.means[widths, row : row + 1] - self.means[widths], error + others
            with np.errstate(divide="ignore", invalid="ignore"):
                df = both**2 / (error**2 / self.df[row] + others**2 / self.df[None, :, None])
            whole = np.clip(np.where(np.isfinite(df), df, _MOST_DF), 1, _MOST_DF).astype(np.int64)
            critical = np.zeros(_MOST_DF + 1)
            for free in np.unique(whole).tolist():
                critical[free] = t_quantile(1 - self.tail, free)
            needed = np.maximum(critical[whole] * np.sqrt(both), self.least)
            with np.errstate(invalid="ignore"):
                clear = (np.abs(apart) if either else apart) > needed * (1 + SAME)
            self._ahead[key] = np.asarray(np.any(clear, axis=0))
        return self._ahead[key]

    def find_leaders(self) -> IntArray:
        """The place of the series that is clearly ahead at each step, −1 where none is, shape (G,)."""
        count = self.means.shape[1]
        first = np.argmax(np.where(np.isfinite(self.means), self.means, -np.inf), axis=1)
        leaders = np.full(self.means.shape[2], -1)
        for row in np.unique(first).tolist():
            absent = ~np.isfinite(self.means[-1])
            absent[row] = True
            clear = (self.find_ahead(row) | absent).all(axis=0)
            clear &= (absent.sum(axis=0) < count) & np.isfinite(self.means[-1, row])
            leaders = np.where(clear, row, leaders)
        return leaders


def compute_means(values: FloatArray, width: int) -> FloatArray:
    """Means over the ``width`` steps around each, of those that there are; NaN where rows are; (r, G)."""
    n = values.shape[1]
    places = np.arange(n)
    first, last = np.maximum(places - width // 2, 0), np.minimum(places + (width + 1) // 2, n)
    known = np.isfinite(values)
    middle = np.nanmean(values) if known.any() else 0.0
    total = np.cumsum(np.pad(np.where(known, values - middle, 0.0), ((0, 0), (1, 0))), axis=1)
    count = np.cumsum(np.pad(known.astype(np.float64), ((0, 0), (1, 0))), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = middle + (total[:, last] - total[:, first]) / (count[:, last] - count[:, first])
    return np.where(known, means, np.nan)
