"""Input of the rules: the curves of one metric, and what can be inferred from them."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from reportgen.claims.fact_words import describe_position, describe_step, format_few
from reportgen.claims.observations.course import MOST_READINGS, fit_course
from reportgen.claims.observations.noise import FEWEST_READINGS, estimate_noise
from reportgen.claims.observations.thresholds import (
    Aligned,
    Digits,
    Threshold,
    Windows,
    compute_means,
    describe_share,
)
from reportgen.claims.subjects import compare_pairs
from reportgen.claims.vocabulary import format_call
from reportgen.core.statements import Observation, Quantity
from reportgen.core.words import format_count, format_equation, format_p
from reportgen.statistics.curves.mean_curves import interpolate
from reportgen.statistics.curves.readings import get_points

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reportgen.claims.observations.course import Course
    from reportgen.claims.observations.noise import Noise
    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import Curve, FloatArray
    from reportgen.core.statements import Scale
    from reportgen.settings.block_parts import Rule
    from reportgen.statistics.curves.readings import Points


ERROR = 0.05  # probability that a block infers anything from pure noise
# Shares of that error for the four questions about a metric: its series' courses, who leads where, who leads
# at the end, which series is more volatile.
_COURSES, _LEADS, _ENDS, JITTER = 0.55, 0.3, 0.1, 0.05
_COURSES_OF_ONE_RUN, _LEADS_OF_ONE_RUN = 0.75, 0.2  # no test of who leads at the end
SMALLEST_SHARE = 0.01  # smallest effect reported, as a share of the plotted range
_FARTHEST = (1e-70, 1e70)
_FEWEST_SHARED = 8
_PARTS, _PART = 12, 5
_SHARES, _NARROWEST = (16, 8, 4, 2), 3
# Windows around every step count as this many times the non-overlapping ones; by simulation with a separate
# variance of each over five runs.
_SLIDING = 4.0
_MOST_NAMED = 8


class Series(Struct, frozen=True, eq=False, dict=True):
    """One curve of a field, with one or more readings, unsmoothed."""

    name: str
    curve: Curve
    field: Field
    points: Points  # finite steps and values, as measured
    noise: Noise  # size of the noise, for digits and for choosing what to report

    def read(self, place: int) -> Reading:
        """Return the reading at a place of the points."""
        return Reading(self, float(self.points.steps[place]), float(self.points.values[place]))

    def format(self, value: float) -> str:
        """Format a value with the digits that the noise justifies: ``0.82`` for noise of 0.01."""
        return self.field.format_reading(value, self.name)

    @cached_property
    def _shared_steps(self) -> FloatArray:
        steps = self.curve.runs[0].steps
        for run in self.curve.runs[1:]:
            steps = np.intersect1d(steps, run.steps)
        return steps

    @cached_property
    def has_runs(self) -> bool:
        """Whether several runs share enough steps for a test over runs."""
        several = len(self.curve.runs) > 1 and not self.curve.given
        return several and self._shared_steps.size >= _FEWEST_SHARED

    @cached_property
    def is_noise_known(self) -> bool:
        """Whether the noise can be estimated, so that the series can be tested."""
        values = self.points.values
        if not self.field.is_testable or values.max() == values.min():
            return False
        return self.has_runs or values.size >= FEWEST_READINGS

    @cached_property
    def _fitted(self) -> tuple[Course, FloatArray, int]:
        """The course, the steps of its places, and the number of readings averaged at each place."""
        steps, runs = self.points.steps, self.points.values[None]
        if self.has_runs:
            steps = self._shared_steps
            runs = np.stack([interpolate(steps, run.steps, run.values) for run in self.curve.runs])
        each = -(-steps.size // MOST_READINGS)
        if each > 1:
            whole = steps.size // each * each
            steps, runs = (
                array[..., -whole:].reshape(*array.shape[:-1], -1, each).mean(axis=-1)
                for array in (steps, runs)
            )
        return fit_course(runs, self.field.share_of_course), steps, each

    @property
    def course(self) -> Course:
        """Fitted course; requires that the noise is known."""
        return self._fitted[0]

    @property
    def course_steps(self) -> FloatArray:
        """Steps of the places of the course."""
        return self._fitted[1]

    @property
    def is_moving(self) -> bool:
        """Whether the series changes by more than noise."""
        return self.is_noise_known and bool(self.course.p)

    def find_course_place(self, step: float) -> int:
        """Return the place of the course nearest to a step."""
        return int(np.argmin(np.abs(self.course_steps - step)))

    def describe_test(self) -> str:
        """Describe the test of a change of the course: its p and the share of the block's error."""
        p = format_equation("p", format_p(max(self.course.p)))
        by = format_count(len(self.curve.runs), "run") if self.has_runs else "one run"
        return f"{p} over all places and widths, by {by}; {describe_share(self.field.share_of_course)}"

    def rate(self, effect: float, *, inferred: bool) -> tuple[str, float]:
        """Describe the criterion of an effect, of the course or the readings alone, and rate its strength."""
        words, strength = self.field.readings_alone.rate(effect)
        return self.describe_test() if inferred else words, strength

    @cached_property
    def bends(self) -> FloatArray:
        """Logarithm of the mean squared deviation from the neighbours, in up to 12 parts of the curve."""
        values = self.points.values
        bends = values[1:-1] - (values[:-2] + values[2:]) / 2
        parts = np.array_split(bends**2, max(min(_PARTS, values.size // _PART), 1))
        return np.log(np.array([float(part.mean()) for part in parts]) + 1e-300)

    def estimate_correlation_length(self) -> float:
        """Return the number of steps over which noise of several runs is similar, or 1 for one run."""
        if not self.has_runs:
            return 1.0
        course, _, each = self._fitted
        strength = course.spread.strength
        return each * (1 + strength) / max(1 - strength, 1e-3)

    def measure_windows(
        self, aligned: Aligned, widths: Sequence[int]
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return means over windows and their variances, both of shape (W, G), and degrees of freedom."""
        row = aligned.names.index(self.name)
        good = aligned.good[row]
        means = np.stack([compute_means(good[None], width)[0] for width in widths])
        if self.has_runs:
            count = len(self.curve.runs)
            runs = np.stack([interpolate(aligned.steps, run.steps, run.values) for run in self.curve.runs])
            every = [compute_means(runs, width) for width in widths]
            with np.errstate(invalid="ignore"):
                spread = np.stack([means_of_runs.var(axis=0, ddof=1) / count for means_of_runs in every])
            # Unknown after the end of a run.
            return np.where(np.isfinite(spread), means, np.nan), np.nan_to_num(spread), count - 1.0
        course, steps, each = self._fitted
        share_read = int(aligned.read[row].sum()) / max(int(np.isfinite(good).sum()), 1)
        along = np.interp(self.points.steps, steps, course.spread.along)
        along = np.interp(aligned.steps, self.points.steps, along)
        readings = [max(width * share_read / each, 1.0) for width in widths]
        sizes = np.array([course.spread.compute_error_of_mean(count) for count in readings])
        # A window has the mean variance of its readings, which may be larger than that of the middle one.
        around = np.stack([compute_means(along[None] ** 2, width)[0] for width in widths])
        return means, sizes[:, None] ** 2 * around, course.spread.free


class Reading(Struct, frozen=True, eq=False):
    """Reading of a series; as a string, its value with the digits that the noise justifies."""

    series: Series
    step: float
    value: float

    def __str__(self) -> str:
        return self.series.format(self.value)

    @property
    def step_words(self) -> str:
        """Step as text: ``step 120``."""
        return describe_step(self.step, self.series.field.scale)

    @property
    def position(self) -> str:
        """Position as text: ``at step 120``."""
        return describe_position(self.step, self.series.field.scale)

    @property
    def placed(self) -> str:
        """Value and position as text: ``0.84 at step 120``."""
        return f"{self} {self.position}"

    def format_fact(self, name: str = "at") -> str:
        """Format the reading as a fact: ``at(MEL, 80) = 0.8``, ``peak(MEL) = 0.84 at step 120``."""
        if name == "at":
            return f"{self.series.field.format_call('at', self.series.name, self.step)} = {self}"
        return f"{self.series.field.format_call(name, self.series.name)} = {self.placed}"


def observe(
    rule: Rule,
    text: str,
    evidence: Sequence[str],
    basis: tuple[str, float],
    series: Sequence[str],
    *,
    steps: tuple[float | None, float | None] = (None, None),
    mark: tuple[str, float] | Reading | None = None,
    label: str = "",
) -> Observation:
    """Make an observation; ``basis`` is threshold text and strength, ``mark`` a series and step."""
    (threshold, strength), (first, last) = basis, steps
    name, step = (mark.series.name, mark.step) if isinstance(mark, Reading) else mark or (None, None)
    names, evidence = tuple(series), tuple(evidence)
    return Observation(rule, text, evidence, threshold, names, strength, "", first, last, name, step, label)


class Field(Struct, frozen=True, eq=False, dict=True):
    """The curves of one metric, unsmoothed; ``band`` is that of ``CurveSet``."""

    curves: tuple[Curve, ...]  # with one or more readings each
    scale: Scale
    band: str
    metrics: int = 1  # number of metrics of the block, which share its error
    precision: float = 0.0  # possible error of a reading as stated by its source, or 0

    @cached_property
    def series(self) -> dict[str, Series]:
        """Series by name, in the figure's order."""
        return {
            one.series: Series(one.series, one, self, get_points(one), estimate_noise(one, self.band))
            for one in self.curves
        }

    @cached_property
    def is_testable(self) -> bool:
        """Whether fourth powers of values, which a test needs, are finite and not 0."""
        every = (float(np.abs(run.values).max()) for curve in self.curves for run in curve.runs)
        return _FARTHEST[0] < max(every, default=0.0) < _FARTHEST[1]

    @property
    def sign(self) -> float:
        """−1 if lower is better, otherwise 1: if neither is better, rules use the highest."""
        return -1.0 if self.scale.higher_is_better is False else 1.0

    @property
    def ranks(self) -> bool:
        """Whether one direction is better; otherwise no series leads or is best."""
        return self.scale.higher_is_better is not None

    @cached_property
    def plotted_range(self) -> float:
        """Highest minus lowest value of all series; 0 if all are equal."""
        every = np.concatenate([series.points.values for series in self.series.values()])
        return float(every.max() - every.min()) if every.size else 0.0

    @property
    def least(self) -> float:
        """Smallest effect reported: 1% of the plotted range, or the source's precision if larger."""
        return max(SMALLEST_SHARE * self.plotted_range, self.precision)

    @cached_property
    def few(self) -> bool:
        """Whether all series have so few readings, or so little noise, that each reading may be reported."""
        every = self.series.values()
        return all(one.points.values.size < FEWEST_READINGS or one.noise.value == 0 for one in every)

    @property
    def share_of_course(self) -> float:
        """Share of the block's error for each series' course; all of it if there is only one series."""
        if len(self.curves) == 1:
            return ERROR / self.metrics
        courses = _COURSES if self.have_runs else _COURSES_OF_ONE_RUN
        return courses * ERROR / len(self.curves) / self.metrics

    @property
    def share_of_leads(self) -> float:
        """Share of the block's error for testing who leads."""
        return (_LEADS if self.have_runs else _LEADS_OF_ONE_RUN) * ERROR / self.metrics

    @cached_property
    def have_runs(self) -> bool:
        """Whether any series has several runs."""
        return any(len(curve.runs) > 1 for curve in self.curves)

    @cached_property
    def aligned(self) -> Aligned:
        """All series at the union of their steps."""
        return self.align(self.series)

    def align(self, names: Collection[str]) -> Aligned:
        """Align some of the series at the union of their steps."""
        chosen = tuple(sorted(names))
        points = [self.series[name].points for name in chosen]
        steps = np.unique(np.concatenate([own.steps for own in points]))
        good = np.stack([self.sign * interpolate(steps, own.steps, own.values) for own in points])
        read = np.stack([np.isin(steps, own.steps) for own in points])
        return Aligned(chosen, steps, good, read, self.least)

    def read_aligned(self, aligned: Aligned, row: int, place: int) -> Reading:
        """Return the reading of a series at one of the common steps."""
        value = float(self.sign * aligned.good[row, place])
        return Reading(self.series[aligned.names[row]], float(aligned.steps[place]), value)

    @cached_property
    def windows(self) -> Windows | None:
        """Windows that test who is ahead, or None if that is not possible."""
        return self.make_windows() if len(self.curves) > 1 else None

    def make_windows(self, *, turned: bool = False) -> Windows | None:
        """Make windows of all series, or None if any noise is unknown; ``turned`` tests who is behind."""
        aligned = self.aligned
        series = [self.series[name] for name in aligned.names]
        if not all(own.is_noise_known for own in series):
            return None
        size = aligned.steps.size
        widths = sorted({max(size // share, min(_NARROWEST, size)) for share in _SHARES})
        means, variances, df = zip(*(own.measure_windows(aligned, widths) for own in series), strict=True)
        correlation_length = min(own.estimate_correlation_length() for own in series)
        fewest, pairs = 2 if correlation_length > size else 1, math.comb(len(series), 2)  # 2 for random walks
        places = _SLIDING * sum(fewest + size / max(width, correlation_length) for width in widths)
        return Windows(
            means=(-1.0 if turned else 1.0) * np.stack(means, axis=1),
            variances=np.stack(variances, axis=1),
            df=np.array(df),
            tail=self.share_of_leads / (2 * places * max(pairs, 1)),
            least=aligned.least,
        )

    @property
    def readings_alone(self) -> Threshold:
        """Threshold of single readings: 1% of the range, or the source's precision if larger."""
        if self.precision > SMALLEST_SHARE * self.plotted_range:
            return Threshold(self.precision, "the precision that the source states")
        return Threshold(self.least, "1% of the range" if self.least else "no noise at all")

    def choose_end_criterion(self, first: str, second: str) -> Threshold:
        """Choose the criterion for the difference of two last readings, the better one first.

        If both end at the same step with two runs or more, it is the test used for claims. Otherwise it is
        the test over windows, or for few readings of one run the threshold of readings alone.
        """
        comparison = self.test_ends(first, second)
        if comparison is not None:
            return Threshold.from_comparison(comparison, _ENDS * ERROR / self.metrics)
        known = all(self.series[name].is_noise_known for name in (first, second))
        if not known or self.windows is None:
            return self.readings_alone
        row, rival = (self.aligned.names.index(name) for name in (first, second))
        clear = bool(self.windows.find_ahead(row)[rival, -1])
        verb = "differ" if clear else "do not differ clearly"
        basis = f"means of neighbouring readings {verb}, by t; {describe_share(self.share_of_leads)}"
        return Threshold(0.0, basis, clear)

    @cached_property
    def comparisons(self) -> Mapping[tuple[str, str], Comparison]:
        """Tests over runs of all pairs at the last step that both reach, in both orders."""
        return compare_pairs(self.curves, self.scale, level=0.95)

    def test_ends(self, first: str, second: str) -> Comparison | None:
        """Return the test over runs of two last readings, first minus second, or None."""
        a, b = self.series[first], self.series[second]
        if a.points.steps[-1] != b.points.steps[-1] or a.curve.given or b.curve.given or not self.is_testable:
            return None
        comparison = self.comparisons.get((first, second))
        return None if comparison is None or comparison.adjusted_p is None else comparison

    @cached_property
    def digits(self) -> Digits:
        """Number formatting."""
        points = {name: series.points for name, series in self.series.items()}
        noise = {name: series.noise for name, series in self.series.items()}
        return Digits(self.scale, points, noise, self.least)

    def format_reading(self, value: float, *series: str) -> str:
        """Format a value with the digits that the noise of some series justifies."""
        return self.digits.format_value(value, Quantity.VALUE, series)

    def format_size(self, value: float, *series: str) -> str:
        """Format the absolute size of a difference with the digits that the noise justifies."""
        return self.digits.format_value(abs(value), Quantity.DIFFERENCE, series)

    def format_with_values(self, values: Mapping[str, float], names: Sequence[str]) -> str:
        """Format names with values: ``A (0.92) and B (0.91)``; ``A (0.9), B (0.8) and 4 more``."""
        parts = [f"{name} ({self.format_reading(values[name], *values)})" for name in names]
        return format_few(parts, _MOST_NAMED)

    def format_span(self, values: Mapping[str, float], names: Collection[str] | None = None) -> str:
        """Format the values of several series: ``0.25 to 0.28``, or ``0.25`` if all look the same."""
        chosen = [values[name] for name in names or values]
        low, high = (self.format_reading(end, *values) for end in (min(chosen), max(chosen)))
        return low if low == high else f"{low} to {high}"

    def format_call(self, name: str, *arguments: str | float) -> str:
        """Format a fact's call as an author would write it: ``at('Series A', 15)``."""
        return format_call(name, arguments, self.scale)
