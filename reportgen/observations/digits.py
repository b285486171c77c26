"""Numbers of a figure in the digits that their noise deserves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import format_quantity
from reportgen.observations.thresholds import SMALL, count_decimals, format_scientific, trim_zeros
from reportgen.words import format_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.facts.curve_numbers import Points
    from reportgen.observations.noise import Noise
    from reportgen.statements import Quantity, Scale

_SAMPLE = 200
"""So many readings tell with how many decimals a series is written."""

_SEEN = 0.5
"""Noise of less than this share of the smallest effect that is told says nothing about any."""

_LIST = 3
"""Values of so many series are told alike, by the noise that is usual among them."""


@dataclass(frozen=True)  # no slots: derived values are kept in the instance
class Digits:
    """How numbers of some series are written.

    Attributes:
        scale: what they mean.
        points: by series.
        noise: by series.
        least: the smallest effect that is told.
    """

    scale: Scale
    points: Mapping[str, Points]
    noise: Mapping[str, Noise]
    least: float

    def is_noisy(self, series: Sequence[str]) -> bool:
        """Whether the noise of any of them is known, and large enough to leave a doubt."""
        return any(self.noise[one].value > _SEEN * self.least for one in series)

    def format_value(self, value: float, quantity: Quantity, series: Sequence[str]) -> str:
        """A value or a difference without its plus sign; the last digit is worth half the noise at most.

        Where noise is not known the readings stand as they are, down to 1 % of the range.

        Args:
            value: a finite number.
            quantity: a value or a difference.
            series: whose noise counts: the smaller one of two.
        """
        decimals = self._choose_decimals(value, series)
        if self._small and decimals is not None:
            return format_scientific(value, decimals)
        return format_quantity(value, quantity, self.scale, decimals=decimals, signed=False)

    def _choose_decimals(self, value: float, series: Sequence[str]) -> int | None:
        """Digits after the point, of a percentage where that is written; None for as many as usual."""
        if not self.least:
            return None
        factor = self._factor
        noises = sorted(self.noise[name].value for name in series) or [0.0]
        noise = max(noises[len(noises) // 2 if len(noises) >= _LIST else 0], self.least)
        if all(self.noise[name].known for name in series):
            decimals = count_decimals(factor * noise / 2, 1)
            # What moves by less than 1 % of the range is written as the data write it.
            if not self.is_noisy(series):
                decimals = min(
                    decimals, max(_choose_common(self._count_written(name, decimals)) for name in series)
                )
            return max(decimals, 0) if factor > 1 else decimals
        return max(_count_needed(factor * value, count_decimals(factor * noise, 1)), self._usual)

    @cached_property
    def _small(self) -> bool:
        """Whether numbers are told with an exponent: all are below 0.001."""
        largest = max((float(np.abs(one.values).max()) for one in self.points.values()), default=0.0)
        return self._factor == 1 and not self.scale.percent and 0 < largest < 10 * SMALL

    @property
    def _factor(self) -> int:
        """100 where percentages are written."""
        return 100 if self.scale.bounds == (0.0, 1.0) and not self.scale.percent else 1

    @cached_property
    def _usual(self) -> int:
        """Decimals that do for four of five readings: 0.9 is told as 0.90 among 0.85 and 0.75."""
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
