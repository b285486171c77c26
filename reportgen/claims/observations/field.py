"""What rules look at: the curves of one metric, and what can be inferred from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.facts.curve_facts import Pairs
from reportgen.claims.observations.course import MOST_READINGS, fit_course
from reportgen.claims.observations.thresholds import (
    FEWEST_READINGS,
    SMALLEST_SHARE,
    Criterion,
    Decided,
    Digits,
    Noise,
    Tested,
    Threshold,
    describe_share,
    estimate_noise,
)
from reportgen.claims.observations.windows import Aligned, Windows
from reportgen.core.statements import Quantity
from reportgen.core.words import format_count, format_equation, format_p
from reportgen.statistics.curves.mean_curves import interpolate
from reportgen.statistics.curves.readings import get_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.claims.observations.course import Course
    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import Curve, FloatArray
    from reportgen.core.statements import Scale
    from reportgen.statistics.curves.readings import Points


ERROR = 0.05
"""The chance that a block infers anything from nothing but noise."""

_COURSES, _LEADS, _ENDS, _JITTER = 0.55, 0.3, 0.1, 0.05
"""The shares of the four questions about a metric in that error: its series' courses, who is ahead where,
who is ahead at the end, who moves about more."""

_FARTHEST = (1e-70, 1e70)
_FEWEST_SHARED = 8
_SEVERAL = 2
_PARTS, _PART = 12, 5


class _CourseOfSeries(NamedTuple):
    """A course with the steps of its places, and of how many readings each is the mean."""

    course: Course
    steps: FloatArray
    each: int


@dataclass(frozen=True)  # no slots: derived values are kept in the instance
class Field:
    """The curves of one metric, unsmoothed, as rules look at them.

    Attributes:
        curves: one for each series, with one or more readings each.
        scale: what the numbers mean.
        band: the kind of band that the curves have, as in ``CurveSet.band``.
        level: confidence level of tests, as in ``CurveSet.level``.
        metrics: how many metrics the block has, which share its error.
        precision: by how much a reading may be off, as its source states; 0 where it states nothing.
    """

    curves: tuple[Curve, ...]
    scale: Scale
    band: str
    level: float = 0.95
    metrics: int = 1
    precision: float = 0.0

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The series, in the figure's order."""
        return tuple(curve.series for curve in self.curves)

    @cached_property
    def _by_name(self) -> dict[str, Curve]:
        return {curve.series: curve for curve in self.curves}

    @cached_property
    def _points(self) -> dict[str, Points]:
        return {curve.series: get_points(curve) for curve in self.curves}

    @cached_property
    def _noise(self) -> dict[str, Noise]:
        return {curve.series: estimate_noise(curve, self.band) for curve in self.curves}

    @cached_property
    def side_by_side(self) -> dict[tuple[str, ...], Aligned]:
        """Series at common steps, by their names, see ``align_series``."""
        return {}

    @cached_property
    def _courses(self) -> dict[str, _CourseOfSeries]:
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
        """The smallest effect that is told: 1 % of the plotted range, or the source's precision."""
        return max(SMALLEST_SHARE * self.plotted_range, self.precision)

    # ---- series --------------------------------------------------------------------------------------

    def get_curve(self, series: str) -> Curve:
        """The curve of a series."""
        return self._by_name[series]

    def get_points(self, series: str) -> Points:
        """Steps and values of a series, finite and unsmoothed, as measured."""
        return self._points[series]

    def get_noise(self, series: str) -> Noise:
        """The noise scale of a series, for digits and for what is worth telling."""
        return self._noise[series]

    def has_test_over_runs(self, series: str) -> bool:
        """Whether a series has several runs with steps enough in common."""
        curve = self.get_curve(series)
        return (
            len(curve.runs) >= _SEVERAL
            and not curve.given
            and self._find_shared_steps(curve).size >= _FEWEST_SHARED
        )

    def is_noise_known(self, series: str) -> bool:
        """Whether the data tell the noise of a series, so that something can be inferred from it."""
        values = self.get_points(series).values
        if not self._testable or values.max() == values.min():
            return False
        return self.has_test_over_runs(series) or values.size >= FEWEST_READINGS

    @cached_property
    def few(self) -> bool:
        """Whether all series have so few readings, or so little noise, that each reading may be told."""
        return all(
            one.values.size < FEWEST_READINGS or self._noise[name].value == 0
            for name, one in self._points.items()
        )

    @staticmethod
    def _find_shared_steps(curve: Curve) -> FloatArray:
        """The steps that every run of a curve has."""
        steps = curve.runs[0].steps
        for run in curve.runs[1:]:
            steps = np.intersect1d(steps, run.steps)
        return steps

    def _fit_course(self, series: str) -> _CourseOfSeries:
        if series not in self._courses:
            curve, own = self.get_curve(series), self.get_points(series)
            steps, runs = own.steps, own.values[None]
            if self.has_test_over_runs(series):
                steps = self._find_shared_steps(curve)
                runs = np.stack([interpolate(steps, run.steps, run.values) for run in curve.runs])
            each = -(-steps.size // MOST_READINGS)
            if each > 1:
                whole = steps.size // each * each
                steps, runs = (
                    one[..., -whole:].reshape(*one.shape[:-1], -1, each).mean(axis=-1)
                    for one in (steps, runs)
                )
            self._courses[series] = _CourseOfSeries(fit_course(runs, self.share_of_course), steps, each)
        return self._courses[series]

    def get_course(self, series: str) -> Course:
        """The course of a series whose noise is known."""
        return self._fit_course(series).course

    def get_course_steps(self, series: str) -> FloatArray:
        """The steps of the places of its course."""
        return self._fit_course(series).steps

    def count_readings_each(self, series: str) -> int:
        """Of how many readings each place of its course is the mean."""
        return self._fit_course(series).each

    def interpolate_noise(self, series: str) -> FloatArray:
        """The relative size of its noise at each reading, shape (readings,)."""
        looked = self._fit_course(series)
        found: FloatArray = np.interp(self.get_points(series).steps, looked.steps, looked.course.spread.along)
        return found

    def is_moving(self, series: str) -> bool:
        """Whether noise leaves no doubt that a series changes."""
        return self.is_noise_known(series) and bool(self.get_course(series).p)

    def compute_bends(self, series: str) -> FloatArray:
        """The logarithm of the mean square of what a curve moves about by, in up to 12 parts of it."""
        if series not in self._bends:
            values = self.get_points(series).values
            bends = values[1:-1] - (values[:-2] + values[2:]) / 2
            parts = np.array_split(bends**2, max(min(_PARTS, values.size // _PART), 1))
            self._bends[series] = np.log(np.array([float(part.mean()) for part in parts]) + 1e-300)
        return self._bends[series]

    @cached_property
    def _bends(self) -> dict[str, FloatArray]:
        return {}

    # ---- the family ----------------------------------------------------------------------------------

    @property
    def share_of_course(self) -> float:
        """What each series' course may use of the block's error; all of it where there is one series."""
        if len(self.curves) == 1:
            return ERROR / self.metrics
        return _COURSES * ERROR / len(self.curves) / self.metrics

    @property
    def share_of_leads(self) -> float:
        """What the question may use who is ahead where."""
        return _LEADS * ERROR / self.metrics

    @property
    def share_of_ends(self) -> float:
        """What the question may use who is ahead at the end."""
        return _ENDS * ERROR / self.metrics

    @property
    def share_of_jitter(self) -> float:
        """What the question may use who moves about more."""
        return _JITTER * ERROR / self.metrics

    @cached_property
    def windows(self) -> Windows | None:
        """Who is clearly ahead where; None where that cannot be tested."""
        return make_windows(self, align_series(self)) if len(self.curves) > 1 else None

    def describe_course_test(self, series: str) -> str:
        """What a change of a series rests on: its p, and what the block asks for."""
        p = format_equation("p", format_p(max(self.get_course(series).p)))
        by = (
            f"{format_count(len(self.get_curve(series).runs), 'run')}"
            if self.has_test_over_runs(series)
            else "one run"
        )
        return f"{p} over all places and widths, by {by}; {describe_share(self.share_of_course)}"

    # ---- thresholds ----------------------------------------------------------------------------------

    def is_noisy(self, *series: str) -> bool:
        """Whether the noise of any of them is known, and large enough to leave a doubt."""
        return self._digits.is_noisy(series)

    @property
    def readings_alone(self) -> Threshold:
        """What is asked of readings that are told as such: 1 % of the range, or the source's precision."""
        if self.precision > SMALLEST_SHARE * self.plotted_range:
            return Threshold(self.precision, "the precision that the source states")
        return Threshold(self.least, "1 % of the range" if self.least else "no noise at all")

    def choose_end_criterion(self, first: str, second: str) -> Criterion:
        """What the difference of two last readings, the better one first, is held against.

        Where both end at the same step with two runs or more, it is the test that claims are held to.
        Otherwise it is the test over windows, or for few readings of one run what is asked of readings.
        """
        one = self.test_ends(first, second)
        if one is not None:
            return Tested(one, self.share_of_ends)
        if not (self.is_noise_known(first) and self.is_noise_known(second)) or self.windows is None:
            return self.readings_alone
        both = align_series(self)
        row, rival = both.names.index(first), both.names.index(second)
        return Decided(bool(self.windows.find_ahead(row)[rival, -1]), self.share_of_leads)

    def test_ends(self, first: str, second: str) -> Comparison | None:
        """The test over runs of two last readings, first minus second; None where there is none."""
        a, b = self.get_curve(first), self.get_curve(second)
        if self.get_points(first).steps[-1] != self.get_points(second).steps[-1] or a.given or b.given:
            return None
        if not self._testable:
            return None
        one = self._pairs.get_comparison(a, b)
        return None if one is None or one.adjusted_p is None else one

    # ---- words ---------------------------------------------------------------------------------------

    def format_reading(self, value: float, *series: str) -> str:
        """A value in the digits that the series' noise deserves: ``0.82`` where the noise is 0.01."""
        return self._digits.format_value(value, Quantity.VALUE, series)

    def format_size(self, value: float, *series: str) -> str:
        """How large a difference is, without its sign, in the digits that the noise deserves."""
        return self._digits.format_value(abs(value), Quantity.DIFFERENCE, series)


def align_series(field: Field, names: Sequence[str] | None = None) -> Aligned:
    """The series of a field, or some of them, at the union of their steps."""
    chosen = tuple(sorted(field.names if names is None else names))
    if chosen not in field.side_by_side:
        field.side_by_side[chosen] = _align(field, chosen)
    return field.side_by_side[chosen]


def _align(field: Field, chosen: tuple[str, ...]) -> Aligned:
    given = [field.get_points(name) for name in chosen]
    steps = np.unique(np.concatenate([one.steps for one in given]))
    return Aligned(
        names=chosen,
        steps=steps,
        good=np.stack([field.sign * interpolate(steps, one.steps, one.values) for one in given]),
        read=np.stack([np.isin(steps, one.steps) for one in given]),
        least=field.least,
    )


_SHARES = (16, 8, 4, 2)
_NARROWEST = 3
_SLIDING = 4.0
"""Windows around every step count as so many times as many as lie side by side; from simulation, where each
has its own variance over five runs."""


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
