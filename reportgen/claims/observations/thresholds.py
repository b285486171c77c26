"""Thresholds and tests of effects, and the digits that noise justifies."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from reportgen.claims.fact_words import format_quantity
from reportgen.core.comparisons import Verdict
from reportgen.core.digits import SAME, find_decimals, needs_exponent
from reportgen.core.statements import Quantity
from reportgen.core.words import format_equation, format_number, format_p
from reportgen.statistics.distributions import t_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.claims.observations.noise import Noise
    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import FloatArray, IntArray
    from reportgen.core.statements import Scale
    from reportgen.statistics.curves.readings import Points


BoolArray: TypeAlias = npt.NDArray[np.bool_]

_MOST_STRENGTH = 100.0
_MOST_DECIMALS = 12  # more only with an exponent
_MOST_SIGNIFICANT = 6
_SMALL = 1e-4  # zeros of smaller numbers are hard to count


class Threshold(Struct, frozen=True):
    """Criterion for an effect: a number and a phrase that explains it, or a test."""

    value: float
    source: str  # of a test, the full text
    clear: bool | None = None  # result of a test of two series, whatever the effect
    over_runs: bool = False  # whether it tests the last readings over runs, as in claims, rather than windows
    half: float | None = None  # half the width of the difference's interval

    @classmethod
    def from_comparison(cls, comparison: Comparison, share: float) -> Threshold:
        """Make the criterion of a test over runs, adjusted together with all pairs of the figure."""
        low, high, p = comparison.low, comparison.high, comparison.adjusted_p or 0.0
        name = "adjusted p" if comparison.tested_together > 1 else "p"
        clear = comparison.verdict in {Verdict.BETTER, Verdict.WORSE} and p <= share
        words = f"{format_equation(name, format_p(p))}, by Welch's t over runs; {describe_share(share)}"
        half = None if low is None or high is None or high <= low else (high - low) / 2
        return cls(0.0, words, clear, over_runs=True, half=half)

    def is_exceeded(self, effect: float) -> bool:
        """Return whether an effect is larger by more than rounding."""
        return abs(effect) > self.value * (1 + SAME) if self.clear is None else self.clear

    def describe(self, effect: float) -> str:
        """Describe the comparison: ``0.041 is more than 0.012, half the band of 5 runs``."""
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
        """Return the ratio of the effect to the threshold, or to half the interval; always finite."""
        if self.clear is None:
            return abs(effect) / self.value if self.value > 0 else _MOST_STRENGTH
        if self.half is not None:
            return min(abs(effect) / self.half, _MOST_STRENGTH)
        return 2.0 if self.clear and not self.over_runs else 1.0

    def rate(self, effect: float) -> tuple[str, float]:
        """Return the comparison in words, and the strength of the effect."""
        return self.describe(effect), self.strength(effect)


def describe_share(share: float) -> str:
    """Describe the share of a block's error for one question: ``the block asks for p ≤ 0.015``."""
    return f"the block asks for p ≤ {format_number(share, significant=2)}"


def _count_decimals(noise: float, significant: int) -> int:
    """Return the decimals that give a number this many significant digits, or 4 for 0."""
    if noise <= 0:
        return 4
    return min(significant - 1 - math.floor(math.log10(noise)), _MOST_DECIMALS)


def format_scientific(value: float, decimals: int) -> str:
    """Format a number with an exponent, to ``decimals`` of the number itself: ``1.6e−6``, ``0``."""
    value = round(value, decimals)
    if not value:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    mantissa = format_number(value * 10.0**-exponent, decimals=max(decimals + exponent, 0))
    return f"{mantissa}e{format_number(exponent)}"


def _trim_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


_SAMPLE = 200  # number of readings sampled to find how many decimals a series is written with
_SEEN = 0.5  # noise below this share of the smallest effect reported is ignored
_LIST = 3  # with this many series or more, the median noise determines the digits of all


class Digits(Struct, frozen=True, dict=True):
    """Number formatting of some series; ``least`` is the smallest effect reported."""

    scale: Scale
    points: Mapping[str, Points]
    noise: Mapping[str, Noise]
    least: float

    def is_noisy(self, series: Sequence[str]) -> bool:
        """Return whether the noise of any of them is known and large enough to matter."""
        return any(self.noise[name].value > _SEEN * self.least for name in series)

    def format_value(self, value: float, quantity: Quantity, series: Sequence[str]) -> str:
        """Format a value, or a difference without plus sign, with the decimals of figures, if known.

        Otherwise the last digit is at most half the noise. If noise is unknown, readings are written in full,
        down to 1% of the range. The noise of ``series`` counts: the smaller of two, or the median of more.
        """
        if (precision := self.scale.precision) is not None:
            in_percent, significant = self._factor > 1, 3 if quantity is Quantity.VALUE else 1
            shown = self._factor * value
            decimals = find_decimals(shown, precision, percent=in_percent, significant=significant)
            if needs_exponent(value) and not in_percent:
                return format_scientific(value, decimals)
            return format_quantity(value, quantity, self.scale, decimals=decimals, signed=False)
        if not self.least:
            return format_quantity(value, quantity, self.scale, signed=False)
        factor = self._factor
        noises = sorted(self.noise[name].value for name in series) or [0.0]
        noise = max(noises[len(noises) // 2 if len(noises) >= _LIST else 0], self.least)
        if all(self.noise[name].known for name in series):
            decimals = _count_decimals(factor * noise / 2, 1)
            # Series that move by less than 1% of the range are written as in the data.
            if not self.is_noisy(series):
                written = (_choose_common(self._count_written(name, decimals)) for name in series)
                decimals = min(decimals, max(written))
            decimals = max(decimals, 0) if factor > 1 else decimals
        else:
            decimals = max(_count_needed(factor * value, _count_decimals(factor * noise, 1)), self._usual)
        if self._is_small:
            return format_scientific(value, decimals)
        return format_quantity(value, quantity, self.scale, decimals=decimals, signed=False)

    @property
    def _factor(self) -> int:
        """100 if values are written as percentages, else 1."""
        return 100 if self.scale.bounds == (0.0, 1.0) and not self.scale.percent else 1

    @cached_property
    def _is_small(self) -> bool:
        """Whether numbers, all below 0.001, need an exponent."""
        largest = max((float(np.abs(points.values).max()) for points in self.points.values()), default=0.0)
        return self._factor == 1 and not self.scale.percent and 0 < largest < 10 * _SMALL

    @cached_property
    def _usual(self) -> int:
        """Decimals enough for four in five readings."""
        most = _count_decimals(self._factor * self.least, 1)
        return _choose_common([count for name in self.points for count in self._count_written(name, most)])

    def _count_written(self, series: str, most: int) -> list[int]:
        values = self.points[series].values
        sample = values[:: max(1, values.size // _SAMPLE)].tolist()
        return [_count_needed(self._factor * value, most) for value in sample]


def _choose_common(needed: list[int]) -> int:
    """Return the decimals enough for four in five, or 0 if there are none."""
    return sorted(needed)[(len(needed) - 1) * 4 // 5] if needed else 0


def _count_needed(value: float, most: int) -> int:
    """Return the decimals of a number without trailing zeros."""
    return len(_trim_zeros(format_number(value, decimals=max(most, 0))).partition(".")[2])


class Aligned(Struct, frozen=True):
    """Series at the union of their steps, each inside its own range only."""

    names: tuple[str, ...]  # sorted, so that the order of series in a figure has no effect
    steps: FloatArray  # (G,)
    good: FloatArray  # values, negated if lower is better, (S, G); NaN outside a series' range
    read: BoolArray  # whether a series has its own reading, (S, G)
    least: float  # the smallest difference that counts

    def select_read(self) -> Aligned:
        """Return the steps at which no series is interpolated."""
        own = (self.read | ~np.isfinite(self.good)).all(axis=0)
        return replace(self, steps=self.steps[own], good=self.good[:, own], read=self.read[:, own])


_MOST_DF = 200


class Windows(Struct, frozen=True, eq=False, dict=True):
    """Means of series over windows around each step, with their errors, tested simultaneously."""

    means: FloatArray  # higher is better, (W, S, G); NaN without readings
    variances: FloatArray  # of the means, (W, S, G)
    df: FloatArray  # degrees of freedom, (S,)
    tail: float  # one-sided error for a single window, place and pair
    least: float  # the smallest difference that counts

    @cached_property
    def _ahead(self) -> dict[tuple[int, bool, bool], BoolArray]:
        return {}

    def find_ahead(self, row: int, *, narrow: bool = False, either: bool = False) -> BoolArray:
        """Return where a series is clearly ahead of each series in some window around a step, shape (S, G).

        The test is Welch's t with a Bonferroni correction for as many windows as fit without overlap, for
        each width. ``narrow`` uses only the narrowest windows; ``either`` tests for ahead or behind.
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
        """Return the index of the series clearly ahead at each step, −1 if none is, shape (G,)."""
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
    """Return means of the known values in ``width`` steps around each value, NaN if unknown; (r, G)."""
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
