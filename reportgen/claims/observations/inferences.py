"""Inferences across runs: t tests of the runs' own means of fifths, and of pairs at single steps.

Runs are the units, so nothing is assumed about the noise along a curve. Holm's adjustment (1979) is over all
tests of a block; tests of fifths and tests of single steps, if there are both, have half of its error each.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.comparisons import Comparison
from reportgen.statistics.curves.bands import average_runs
from reportgen.statistics.distributions import (
    compute_t_p,
    deviation,
    find_scale,
    mean,
    t_quantile,
)
from reportgen.statistics.verdicts import SAME_RUNS, compare_run_values, holm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.model import Curve, Estimate, FloatArray, Run


ALPHA = 0.05
FEWEST_RUNS = 3
FIFTHS = 5
LEVEL = 0.95
MOST_TESTED = 30  # series of which all pairs are tested, as in ``find_leads_at_end``
_NORMAL = 1.96  # no t below this has a p of less than 0.05, whatever its degrees of freedom


class Inference(Struct, frozen=True):
    """A difference with its test: last fifth minus an earlier one of a series, or of two series."""

    series: tuple[str, ...]  # one, or both of a pair
    part: int | None  # the fifth, from 0, which is the earlier one of one series; None for a single step
    steps: tuple[float, float]  # first and last step of that fifth, or the step twice
    difference: float
    stderr: float
    df: float
    p: float
    runs: tuple[int, ...]  # how many runs of each series are compared
    adjusted_p: float = 1.0  # over the block
    tested_together: int = 0

    @property
    def is_shown(self) -> bool:
        """Whether the adjusted p is below 0.05."""
        return self.adjusted_p < ALPHA

    @property
    def low(self) -> float:
        """The lower end of its interval."""
        return self.difference - t_quantile((1 + LEVEL) / 2, self.df) * self.stderr

    @property
    def high(self) -> float:
        """The upper end of its interval."""
        return self.difference + t_quantile((1 + LEVEL) / 2, self.df) * self.stderr


class Parts(Struct, frozen=True):
    """Means of the runs of one series over fifths of some steps."""

    series: str
    steps: tuple[tuple[float, float], ...]  # first and last step of each of the five parts; none without
    means: FloatArray  # (R, 5); NaN where a run lacks a step of the part

    def select(self, part: int) -> FloatArray:
        """Return the means of the runs that have all steps of a part."""
        own = self.means[:, part]
        return own[np.isfinite(own)]

    def average(self, part: int) -> Estimate:
        """Return the mean across runs in a part, with its interval."""
        return average_runs(self.select(part).tolist(), LEVEL)


def find_common_steps(runs: Sequence[Run]) -> FloatArray:
    """Return the steps that most runs have: one that is in half of them or fewer does not count."""
    steps, counts = np.unique(np.concatenate([run.steps for run in runs]), return_counts=True)
    found: FloatArray = steps[2 * counts > len(runs)]
    return found


def read_runs(runs: Sequence[Run], steps: FloatArray) -> FloatArray:
    """Return the values of runs at some steps, shape (R, S); NaN where a run has none."""
    values = np.full((len(runs), steps.size), np.nan)
    for row, run in zip(values, runs, strict=True):
        _, there, own = np.intersect1d(steps, run.steps, assume_unique=True, return_indices=True)
        row[there] = run.values[own]
    return values


def split_fifths(series: str, steps: FloatArray, values: FloatArray) -> Parts:
    """Average the values of each run, shape (R, S), over five parts of equally many steps.

    If the steps are no multiple of five, the first parts have one more. Fewer than five steps have no parts.
    """
    if steps.size < FIFTHS:
        return Parts(series, (), np.empty((len(values), 0)))
    parts = np.array_split(np.arange(steps.size), FIFTHS)
    means = np.stack([values[:, part].mean(axis=1) for part in parts], axis=1)
    return Parts(series, tuple((float(steps[part[0]]), float(steps[part[-1]])) for part in parts), means)


def make_parts(curve: Curve) -> Parts:
    """Split a series into fifths of the steps that most of its runs have."""
    steps = find_common_steps(curve.runs)
    return split_fifths(curve.series, steps, read_runs(curve.runs, steps))


def compare_fifths(parts: Parts) -> Iterator[Inference]:
    """Test the last fifth minus each earlier one, by t over the runs that have both (Student 1908)."""
    for part, steps in enumerate(parts.steps[:-1]):
        changes = parts.means[:, -1] - parts.means[:, part]
        changes = changes[np.isfinite(changes)]
        if changes.size < FEWEST_RUNS or not np.ptp(changes):
            continue  # with equal changes there is nothing to build an interval from
        size, df = find_scale(changes), changes.size - 1
        stderr = deviation(changes / size) / changes.size**0.5 * size
        if stderr:
            p = compute_t_p(mean(changes), stderr, df)
            yield Inference((parts.series,), part, steps, mean(changes), stderr, df, p, (changes.size,))


def compare_pair(a: Curve, b: Curve) -> Iterator[Inference]:
    """Test a minus b in each fifth of their common steps and at each of these, as claims compare curves.

    Only values at steps that a run has count, so that the same steps are averaged on both sides.
    """
    steps = np.intersect1d(find_common_steps(a.runs), find_common_steps(b.runs))
    values = [read_runs(curve.runs, steps) for curve in (a, b)]
    sides = [split_fifths(one.series, steps, own) for one, own in zip((a, b), values, strict=True)]
    pair = a.series, b.series
    for part, ends in enumerate(sides[0].steps):
        yield from _compare(pair, part, ends, (sides[0].select(part), sides[1].select(part)))
    yield from _compare_steps(pair, steps, *values)


def _compare_steps(
    pair: tuple[str, str], steps: FloatArray, first: FloatArray, second: FloatArray
) -> Iterator[Inference]:
    """Test at each step with three runs of both, by Welch's t as ``compare_run_values`` does.

    A step of too small a difference counts in the adjustment, and its p need not be known: it is 0.05 or
    more.
    """
    counts = [np.isfinite(own).sum(axis=0) for own in (first, second)]
    enough = np.minimum(*counts) >= FEWEST_RUNS
    if not enough.any():
        return
    (m, n), steps = (own[enough] for own in counts), steps[enough]
    sides = first[:, enough], second[:, enough]
    # Powers of 2, with which squares neither overflow nor underflow.
    size = 2.0 ** np.frexp(np.nanmax(np.abs(np.concatenate(sides)), axis=0))[1]
    means = [np.nanmean(own / size, axis=0) for own in sides]
    parts = [np.nanvar(own / size, axis=0, ddof=1) / count for own, count in zip(sides, (m, n), strict=True)]
    difference, variance = means[0] - means[1], parts[0] + parts[1]
    stderr = np.sqrt(variance)
    clear = np.abs(difference) > _NORMAL * stderr * (1 - 1e-9)
    tested = clear & (stderr > SAME_RUNS)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = variance**2 / (parts[0] ** 2 / (m - 1) + parts[1] ** 2 / (n - 1))
    p = np.ones(steps.size)
    known = (own[tested].tolist() for own in (difference, stderr, df))
    p[tested] = [compute_t_p(*one) for one in zip(*known, strict=True)]
    columns = (steps, difference * size, stderr * size, df, p, m, n)
    counted = tested | ~clear
    for step, d, error, freedom, own, a, b in zip(*(one[counted].tolist() for one in columns), strict=True):
        yield Inference(pair, None, (step, step), d, error, freedom, own, (a, b))


def _compare(
    pair: tuple[str, str],
    part: int | None,
    steps: tuple[float, float],
    sides: tuple[FloatArray, FloatArray],
) -> Iterator[Inference]:
    first, second = sides
    sizes = first.size, second.size
    if min(sizes) < FEWEST_RUNS:
        return
    found = compare_run_values(Comparison(*pair, "", LEVEL, runs=sizes), first, second)
    if found.p is None or found.stderr is None or found.df is None or found.difference is None:
        return  # all runs of each side are equal
    yield Inference(pair, part, steps, found.difference, found.stderr, found.df, found.p, sizes)


def adjust(found: Sequence[Inference]) -> list[Inference]:
    """Add adjusted p values: Holm's over fifths and over single steps, doubled if there are both."""
    single = [one.part is None for one in found]
    adjusted = [1.0] * len(found)
    kinds = set(single)
    for kind in kinds:
        places = [place for place, own in enumerate(single) if own is kind]
        for place, p in zip(places, holm([found[place].p for place in places]), strict=True):
            adjusted[place] = min(1.0, len(kinds) * p)
    return [
        replace(one, adjusted_p=p, tested_together=len(found)) for one, p in zip(found, adjusted, strict=True)
    ]


def find_inferences(curves: Sequence[Curve], parts: Mapping[str, Parts]) -> Iterator[Inference]:
    """Test the changes of all series with three runs or more, and all their pairs up to 30 series."""
    tested = [curve for curve in curves if len(curve.runs) >= FEWEST_RUNS]
    for curve in tested:
        yield from compare_fifths(parts[curve.series])
    if len(tested) <= MOST_TESTED:
        for a, b in combinations(sorted(tested, key=lambda curve: curve.series), 2):
            yield from compare_pair(a, b)
