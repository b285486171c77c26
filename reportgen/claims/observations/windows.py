"""Series at common steps, and which is ahead where: means over windows, tested simultaneously."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from reportgen.claims.observations.thresholds import SAME
from reportgen.statistics.distributions import t_quantile

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray, IntArray


BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Aligned:
    """Series at the union of their steps, each inside its own range only.

    Attributes:
        names: sorted, so that the order of series in a figure changes nothing.
        steps: shape (G,).
        good: values with the sign turned where lower is better, shape (S, G); NaN outside a series' range.
        read: where a series has a reading of its own, shape (S, G).
        least: the smallest difference that counts.
    """

    names: tuple[str, ...]
    steps: FloatArray
    good: FloatArray
    read: BoolArray
    least: float

    @property
    def pairs(self) -> int:
        """How many pairs of series there are, at least 1."""
        return max(len(self.names) * (len(self.names) - 1) // 2, 1)


_MOST_DF = 200


@dataclass(frozen=True, eq=False)  # no slots: derived values are cached in the instance
class Windows:
    """Means of series over windows around each step, with their errors.

    Attributes:
        means: more is better, shape (W, S, G); NaN where a series has no readings.
        variances: of the means, shape (W, S, G).
        df: their degrees of freedom, shape (S,).
        tail: the one-sided error that is left to one of all windows, places and pairs.
        least: the smallest difference that counts.
    """

    means: FloatArray
    variances: FloatArray
    df: FloatArray
    tail: float
    least: float

    @cached_property
    def _ahead(self) -> dict[tuple[int, bool, bool], BoolArray]:
        return {}

    def find_ahead(self, row: int, *, narrow: bool = False, either: bool = False) -> BoolArray:
        """Where a series is clearly ahead of each series in some window around a step, shape (S, G).

        Welch's t, at the level that Bonferroni's inequality leaves to each of as many windows as lie side by
        side, of each width.

        Args:
            row: place of the series.
            narrow: look at the narrowest windows only.
            either: clearly ahead or behind.
        """
        key = row, narrow, either
        if key not in self._ahead:
            self._ahead[key] = self._compute_ahead(row, slice(0, 1 if narrow else None), either=either)
        return self._ahead[key]

    def _compute_ahead(self, row: int, widths: slice, *, either: bool) -> BoolArray:
        own, error = self.means[widths, row : row + 1], self.variances[widths, row : row + 1]
        others = self.variances[widths]
        apart = np.abs(own - self.means[widths]) if either else own - self.means[widths]
        both = error + others
        with np.errstate(divide="ignore", invalid="ignore"):
            df = both**2 / (error**2 / self.df[row] + others**2 / self.df[None, :, None])
        critical = self._find_critical(np.where(np.isfinite(df), df, _MOST_DF))
        needed = np.maximum(critical * np.sqrt(both), self.least)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.any(apart > needed * (1 + SAME), axis=0))

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

    def _find_critical(self, df: FloatArray) -> FloatArray:
        whole = np.clip(df, 1, _MOST_DF).astype(np.int64)
        table = np.zeros(_MOST_DF + 1)
        for free in np.unique(whole).tolist():
            table[free] = t_quantile(1 - self.tail, free)
        return np.asarray(table[whole])


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
