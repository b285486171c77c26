"""What rules look at: the curves of one metric, their noise, and numbers in the digits that it deserves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.curve_numbers import points
from reportgen.facts.fact_words import value_words
from reportgen.observations.noise import SMALLEST_SHARE, Noise, allowance, half_widths, noise_scale
from reportgen.statements import Quantity
from reportgen.words import number

if TYPE_CHECKING:
    from reportgen.facts.curve_numbers import Points
    from reportgen.model import Curve
    from reportgen.statements import Scale

# Numbers that differ by less than this share are one number, computed in two ways.
SAME = 1e-9
# One per cent of a share is 0.01: more digits than this are never needed.
_MOST_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Threshold:
    """What an effect is held against.

    Attributes:
        value: an effect has to be larger.
        source: where it comes from, a phrase.
    """

    value: float
    source: str

    def passed(self, effect: float) -> bool:
        """Whether an effect is larger, and not only by the last digits of a computation."""
        return abs(effect) > self.value * (1 + SAME)

    def words(self, effect: float) -> str:
        """The comparison in words: ``0.041 is more than 0.012, half the band of 5 runs``."""
        decimals = _decimals(self.value, 2)
        effect_words, value_words = (
            _trimmed(number(abs(part), decimals=decimals)) for part in (effect, self.value)
        )
        relation = "more" if self.passed(effect) else "not more"
        return f"{effect_words} is {relation} than {value_words}, {self.source}"

    def strength(self, effect: float) -> float:
        """How many times the threshold the effect is; finite even where nothing is held against it."""
        return abs(effect) / self.value if self.value > 0 else 100.0


@dataclass(frozen=True)  # no slots: derived values are kept in the instance
class Field:
    """The curves of one metric, unsmoothed, as rules look at them.

    Attributes:
        curves: one for each series, with one or more readings each.
        scale: what the numbers mean.
        band: the kind of band that the curves have, as in ``CurveSet.band``.
    """

    curves: tuple[Curve, ...]
    scale: Scale
    band: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The series, in the figure's order."""
        return tuple(curve.series for curve in self.curves)

    @cached_property
    def _by_name(self) -> dict[str, Curve]:
        return {curve.series: curve for curve in self.curves}

    @cached_property
    def _noise(self) -> dict[str, Noise]:
        return {curve.series: noise_scale(curve, self.plotted_range, self.band) for curve in self.curves}

    @property
    def sign(self) -> float:
        """1 where higher is better, otherwise −1."""
        return 1.0 if self.scale.higher_is_better else -1.0

    @cached_property
    def plotted_range(self) -> float:
        """Highest less lowest value of all series; 0 where all are alike."""
        every = np.concatenate([points(curve).values for curve in self.curves])
        return float(every.max() - every.min()) if every.size else 0.0

    def curve(self, series: str) -> Curve:
        """The curve of a series."""
        return self._by_name[series]

    def points(self, series: str) -> Points:
        """Steps and values of a series, finite and unsmoothed, as measured."""
        return points(self.curve(series))

    def noise(self, series: str) -> Noise:
        """The noise scale of a series."""
        return self._noise[series]

    def noise_at(self, series: str, step: float) -> float:
        """The noise scale, or half the band's width at this step where that is larger."""
        curve = self.curve(series)
        here = half_widths(curve)[int(np.argmin(np.abs(curve.steps - step)))]
        noise = self.noise(series).value
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
        Where noise is known for none of them, 1 % of the range is all that is asked.

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
            widest = max(noises, key=lambda noise: noise.value)
            return Threshold(widest.value, widest.source)
        parts = (noise.value / math.sqrt(n) for noise, n in zip(noises, readings, strict=True))
        value = allowance(choices) * math.hypot(*parts)
        places = steps * 2 if len(steps) == 1 else steps
        here = math.hypot(*(self.noise_at(name, x) for name, x in zip(names, places, strict=False)))
        if here > value:
            return Threshold(here, "the noise at these steps together")
        largest = max(noises, key=lambda noise: noise.value)
        if not largest.value:
            return Threshold(0.0, "no noise at all")
        factor = number(value / largest.value, significant=2)
        noise = number(largest.value, decimals=_decimals(largest.value, 2))
        return Threshold(value, f"{factor} × the noise of {noise} ({largest.source})")

    def reading(self, value: float, *series: str, signed: bool = False) -> str:
        """A value in the digits that the series' noise deserves: ``0.82`` where the noise is 0.01.

        Where noise is not known the readings stand as they are, down to 1 % of the range.

        Args:
            value: a finite number, as measured.
            series: whose noise counts.
            signed: it is a difference, and a plus sign stands before a positive one.
        """
        quantity = Quantity.DIFFERENCE if signed else Quantity.VALUE
        return value_words(value, quantity, self.scale, decimals=self._digits(value, series))

    def size(self, value: float, *series: str) -> str:
        """How large a difference is, without its sign, in the digits that the noise deserves."""
        decimals = self._digits(value, series)
        return value_words(abs(value), Quantity.DIFFERENCE, self.scale, decimals=decimals, signed=False)

    def _digits(self, value: float, series: tuple[str, ...]) -> int:
        """Digits after the point, of a percentage where that is what is written."""
        factor = self._factor
        noises = [self.noise(name) for name in series]
        decimals = _decimals(factor * min((noise.value for noise in noises), default=0.0), 1)
        if all(noise.known for noise in noises):
            return max(decimals, 0) if factor > 1 else decimals
        return max(_written(factor * value, decimals), self._usual_decimals)

    @property
    def _factor(self) -> int:
        """100 where percentages are written."""
        return 100 if self.scale.bounds == (0.0, 1.0) and not self.scale.percent else 1

    @cached_property
    def _usual_decimals(self) -> int:
        """Decimals that do for four of five readings: 0.9 is told as 0.90 among 0.85 and 0.75."""
        most = _decimals(self._factor * SMALLEST_SHARE * self.plotted_range, 1)
        needed = [
            _written(self._factor * v, most) for name in self.names for v in self.points(name).values.tolist()
        ]
        return sorted(needed)[(len(needed) - 1) * 4 // 5] if needed else 0


def _written(value: float, most: int) -> int:
    """The decimals that a number is written with, zeros at its end apart."""
    return len(_trimmed(number(value, decimals=max(most, 0))).partition(".")[2])


def _decimals(noise: float, significant: int) -> int:
    """Decimals at which a number has so many digits."""
    if noise <= 0:
        return 4
    return min(significant - 1 - math.floor(math.log10(noise)), _MOST_DECIMALS)


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
