"""Which of several series is clearly ahead where: means over windows, tested at all places at once."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as kept_field
from typing import TYPE_CHECKING

import numpy as np

from reportgen.observations.aligned import SAME
from reportgen.statistics.align import interpolate
from reportgen.statistics.student_t import t_quantile

if TYPE_CHECKING:
    from reportgen.model import FloatArray, IntArray
    from reportgen.observations.aligned import Aligned, BoolArray
    from reportgen.observations.field import Field

_SHARES = (16, 8, 4, 2)
_NARROWEST = 3
_SLIDING = 4.0
"""Windows around every step count as so many times as many as lie side by side; from simulation, where each
has its own variance over five runs."""
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


def make_windows(field: Field, both: Aligned, *, turned: bool = False) -> Windows | None:
    """The windows of series of which each has noise that is known; None where one has not.

    Args:
        field: has the curves.
        both: the series at common steps.
        turned: ask who is behind all others instead of ahead.
    """
    if not all(field.is_noise_known(name) for name in both.names):
        return None
    size = both.steps.size
    widths = sorted({max(size // share, min(_NARROWEST, size)) for share in _SHARES})
    sides = [_measure_side(field, both, row, widths) for row in range(len(both.names))]
    correlation_length = min(_estimate_correlation_length(field, name) for name in both.names)
    least = 2 if correlation_length > size else 1  # random walks
    places = _SLIDING * sum(least + size / max(width, correlation_length) for width in widths)
    return Windows(
        means=(-1.0 if turned else 1.0) * np.stack([side[0] for side in sides], axis=1),
        variances=np.stack([side[1] for side in sides], axis=1),
        df=np.array([side[2] for side in sides]),
        tail=field.share_of_leads / (2 * places * both.pairs),
        least=both.least,
    )


def _estimate_correlation_length(field: Field, name: str) -> float:
    """Over how many steps the noise of several runs is alike; 1 for one run, whose means allow for it."""
    if not field.has_test_over_runs(name):
        return 1.0
    strength = field.get_course(name).spread.strength
    each = field.count_readings_each(name)
    return each * (1 + strength) / max(1 - strength, 1e-3)


def _measure_side(
    field: Field, both: Aligned, row: int, widths: list[int]
) -> tuple[FloatArray, FloatArray, float]:
    """Means of one series over windows, their variances, each (W, G), and the degrees of freedom."""
    name = both.names[row]
    good = both.good[row]
    means = np.stack([compute_means(good[None], width)[0] for width in widths])
    curve = field.get_curve(name)
    if field.has_test_over_runs(name):
        runs = np.stack([interpolate(both.steps, run.steps, run.values) for run in curve.runs])
        every = [compute_means(runs, width) for width in widths]
        with np.errstate(invalid="ignore"):
            spread = np.stack([one.var(axis=0, ddof=1) / len(curve.runs) for one in every])
        # Where a run has ended there is no telling.
        return np.where(np.isfinite(spread), means, np.nan), np.nan_to_num(spread), len(curve.runs) - 1.0
    noise = field.get_course(name).spread
    there = int(both.read[row].sum()) / max(int(np.isfinite(good).sum()), 1)
    each = field.count_readings_each(name)
    along = np.interp(both.steps, field.get_points(name).steps, field.interpolate_noise(name))
    sizes = np.array([noise.compute_error_of_mean(max(width * there / each, 1.0)) for width in widths])
    return means, (sizes[:, None] * along) ** 2, noise.free


def compute_means(values: FloatArray, width: int) -> FloatArray:
    """Means over the ``width`` steps around each, of those that there are; NaN where rows are; (r, G)."""
    n = values.shape[1]
    at = np.arange(n)
    first, last = np.maximum(at - width // 2, 0), np.minimum(at + (width + 1) // 2, n)
    there = np.isfinite(values)
    middle = np.nanmean(values) if there.any() else 0.0
    total = np.cumsum(np.pad(np.where(there, values - middle, 0.0), ((0, 0), (1, 0))), axis=1)
    count = np.cumsum(np.pad(there.astype(np.float64), ((0, 0), (1, 0))), axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = middle + (total[:, last] - total[:, first]) / (count[:, last] - count[:, first])
    found: FloatArray = np.where(there, means, np.nan)
    return found
