"""Series at common steps, and which is ahead where: means over windows, tested simultaneously."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as kept_field
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


@dataclass(frozen=True, slots=True)
class Windows:
    """Means of series over windows around each step, with their errors.

    Attributes:
        means: more is better, shape (W, S, G); NaN where a series has no readings.
        variances: of the means, shape (W, S, G).
        df: their degrees of freedom, shape (S,).
        tail: the one-sided error that is left to one of all windows, places and pairs.
        least: the smallest difference that counts.
        cache: what has been asked of them before.
    """

    means: FloatArray
    variances: FloatArray
    df: FloatArray
    tail: float
    least: float
    cache: dict[tuple[int, bool, bool], BoolArray] = kept_field(default_factory=dict)

    def find_apart(self, one: int) -> BoolArray:
        """Where a series is clearly ahead of or behind each series in some window, shape (S, G)."""
        return self.find_ahead(one, either=True)

    def find_ahead(self, one: int, *, narrow: bool = False, either: bool = False) -> BoolArray:
        """Where a series is clearly ahead of each series in some window around a step, shape (S, G).

        Welch's t, at the level that Bonferroni's inequality leaves to each of as many windows as lie side by
        side, of each width.

        Args:
            one: place of the series.
            narrow: look at the narrowest windows only.
            either: clearly ahead or behind.
        """
        if (one, narrow, either) not in self.cache:
            self.cache[one, narrow, either] = self._compute_ahead(one, narrow=narrow, either=either)
        return self.cache[one, narrow, either]

    def _compute_ahead(self, one: int, *, narrow: bool, either: bool) -> BoolArray:
        chosen = slice(0, 1 if narrow else None)
        own, error = self.means[chosen, one : one + 1], self.variances[chosen, one : one + 1]
        others = self.variances[chosen]
        apart = np.abs(own - self.means[chosen]) if either else own - self.means[chosen]
        both = error + others
        with np.errstate(divide="ignore", invalid="ignore"):
            df = both**2 / (error**2 / self.df[one] + others**2 / self.df[None, :, None])
        needed = np.maximum(
            self._find_critical(np.where(np.isfinite(df), df, _MOST_DF)) * np.sqrt(both), self.least
        )
        with np.errstate(invalid="ignore"):
            found: BoolArray = np.any(apart > needed * (1 + SAME), axis=0)
        return found

    def find_leaders(self) -> IntArray:
        """The place of the series that is clearly ahead at each step, −1 where none is, shape (G,)."""
        count = self.means.shape[1]
        first = np.argmax(np.where(np.isfinite(self.means), self.means, -np.inf), axis=1)
        led = np.full(self.means.shape[2], -1)
        for one in np.unique(first).tolist():
            mine = self.find_ahead(one)
            absent = ~np.isfinite(self.means[-1])
            absent[one] = True
            clear = (
                (mine | absent).all(axis=0) & (absent.sum(axis=0) < count) & np.isfinite(self.means[-1, one])
            )
            led = np.where(clear, one, led)
        return led

    def _find_critical(self, df: FloatArray) -> FloatArray:
        whole = np.clip(df, 1, _MOST_DF).astype(np.int64)
        table = np.zeros(_MOST_DF + 1)
        for one in np.flatnonzero(np.bincount(whole.ravel())).tolist():
            table[one] = t_quantile(1 - self.tail, one)
        found: FloatArray = table[whole]
        return found
