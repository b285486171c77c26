"""Curves of series: mean and band, final, peak and mean values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace

from reportgen.core.model import Curve, CurveSet, Ending, Estimate, ReducedMetric, Run
from reportgen.statistics.curves.bands import (
    average_runs,
    compute_band,
    get_ends,
    get_given_band,
    measure_runs,
    to_float,
)
from reportgen.statistics.distributions import cut_ends, t_quantile
from reportgen.statistics.verdicts import find_leads_at_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import FloatArray, GivenInterval
    from reportgen.settings.block_parts import Band, Peak


_QUANTILES = 10


def find_common_steps(steps: Sequence[FloatArray]) -> tuple[FloatArray, bool]:
    """Return the sorted union of the runs' steps, and whether every run has exactly these."""
    first = steps[0]
    if all(other is first or np.array_equal(other, first) for other in steps[1:]):
        return first, True
    return np.unique(np.concatenate(steps)), False


def interpolate(grid: FloatArray, steps: FloatArray, values: FloatArray) -> FloatArray:
    """Return a run's values at the steps of ``grid``, linearly interpolated at steps it does not have.

    Nothing is extrapolated: the result is NaN before the run's first and after its last step. Every number
    lies between the two values it was interpolated from.
    """
    if steps.size == 1:
        return np.where(grid == steps[0], values[0], np.nan)
    left = np.clip(np.searchsorted(steps, grid, side="right") - 1, 0, steps.size - 2)
    share = (grid - steps[left]) / (steps[left + 1] - steps[left])
    inside = (grid >= steps[0]) & (grid <= steps[-1])
    below, above = values[left], values[left + 1]
    # With these weights a difference of large values cannot overflow, and the ends are hit exactly.
    between = below * (1 - share) + above * share
    between = np.clip(between, np.minimum(below, above), np.maximum(below, above))
    return np.where(inside, between, np.nan)


def align(
    grid: FloatArray, steps: Sequence[FloatArray], values: Sequence[FloatArray], *, exact: bool
) -> FloatArray:
    """Return every run's values at the steps of ``grid``, shape (R, G); NaN outside a run's range."""
    if exact:
        return np.stack(values)
    return np.stack([interpolate(grid, x, y) for x, y in zip(steps, values, strict=True)])


def compute_curves(
    reduced: ReducedMetric,
    *,
    band: Band | str = "ci",
    level: float = 0.95,
    smooth: float = 0.0,
    series: tuple[str, ...] | None = None,
    peak: Peak | str = "none",
    ends: tuple[float, float] | None = None,
    illustrative: bool = False,
) -> CurveSet:
    """Return centre and band of each series, at its runs' common steps or, interpolated, at their union.

    With ``smooth``, by which ``reduced`` was smoothed, centre and band are those of the smoothed runs, and
    ``Curve.raw`` is the centre of the unsmoothed ones. An interval that the input gives for a single run is
    its band (``Curve.given``); with several runs it is not used. ``series`` selects some, in this order. With
    ``peak="simultaneous"`` means over several runs have ``Curve.extremes``. Intervals stay inside ``ends``,
    the smallest and largest possible value. Raises a ValueError if ``reduced`` was not smoothed.
    """
    members = _group_runs(reduced.runs, series)
    drawn = {name: [run for run in runs if run.steps.size] for name, runs in members.items()}
    made = [
        _make_curve(name, runs, str(band), level, ends, smoothed=smooth > 0, peak=str(peak))
        for name, runs in drawn.items()
        if runs
    ]
    options = {"level": level, "smooth": smooth, "series": series, "peak": peak, "ends": ends}
    options["illustrative"] = illustrative
    own = [replace(curve, illustrative=True, extremes=None) if illustrative else curve for curve, _ in made]
    curves = _add_every_step(own, reduced, str(band), options)
    given = [curve.given for curve in curves]
    has_given = any(run.given and _has_interval(run.given) for runs in drawn.values() for run in runs)
    return CurveSet(
        metric=reduced.metric,
        curves=curves,
        band=str(band),
        level=level,
        smooth=smooth,
        exact=all(exact for _, exact in made),
        replaced=reduced.replaced,
        dropped=reduced.dropped,
        bins=reduced.bins,
        given_interval=reduced.given_interval if any(given) else None,
        empty=reduced.empty,
        given_ignored=has_given and not all(given) and band != "none",
        **_list_missing(reduced, members, series),
        **_prepare_tests(curves, str(band), level),
    )


def _group_runs(runs: Sequence[Run], series: tuple[str, ...] | None) -> dict[str, list[Run]]:
    """Group runs by series, in the order of ``series`` if some are selected."""
    members: dict[str, list[Run]] = {name: [] for name in series or ()}
    for run in runs:
        if series is None or run.series in members:
            members.setdefault(run.series, []).append(run)
    return members


def _add_every_step(
    curves: Sequence[Curve], reduced: ReducedMetric, band: str, options: dict[str, Any]
) -> tuple[Curve, ...]:
    """Add the curves before their steps were binned, if they were and are known."""
    if not reduced.every_step:
        return tuple(curves)
    full = replace(reduced, runs=reduced.every_step, every_step=())
    # Of a simultaneous band, words have the interval at their own step.
    every = compute_curves(full, band="ci" if band == "simultaneous" else band, **options).curves
    return tuple(replace(curve, every_step=one) for curve, one in zip(curves, every, strict=True))


def _prepare_tests(curves: Sequence[Curve], band: str, level: float) -> dict[str, Any]:
    """Return who leads at the end, and ``CurveSet.quantiles`` if bands are t intervals across runs.

    Welch's degrees of freedom are from the fewest runs - 1 to twice the most - 2. A polynomial through the
    Chebyshev nodes of 1 / df between these has the quantile to 1e-5 (2 to 30 runs) or better.
    """
    found: dict[str, Any] = {
        "leads": find_leads_at_end([curve.every_step or curve for curve in curves], level)
    }
    counts = np.concatenate([curve.n[curve.n > 1] for curve in curves]) if curves else np.empty(0)
    lone = any(curve.given or curve.illustrative or len(curve.runs) == 1 for curve in curves)
    if band != "ci" or lone or not counts.size:
        return found
    ends = 1 / (2 * counts.max() - 2), 1 / (counts.min() - 1)
    angles = (2 * np.arange(_QUANTILES) + 1) * math.pi / (2 * _QUANTILES)
    nodes = sum(ends) / 2 + (ends[1] - ends[0]) / 2 * np.cos(angles)
    pairs = ((float(node), t_quantile((1 + level) / 2, 1 / float(node))) for node in nodes)
    return found | {"quantiles": tuple(pairs)}


def _list_missing(
    reduced: ReducedMetric, members: dict[str, list[Run]], series: tuple[str, ...] | None
) -> dict[str, Any]:
    """Return the fields of a ``CurveSet`` about runs and series without a value."""
    absent = {name: count for name, count in reduced.absent.items() if series is None or name in series}
    empty = sum(not run.steps.size for runs in members.values() for run in runs)
    return {
        "without_values": _list_without_values(members),
        "missing": empty + sum(absent.values()),
        "absent": tuple(name for name in absent if name not in members),
    }


def _list_without_values(members: dict[str, list[Run]]) -> tuple[tuple[str, str | None], ...]:
    """List series without any value, and the runs without one in other series."""
    listed: list[tuple[str, str | None]] = []
    for name, runs in members.items():
        empty = [(name, run.run) for run in runs if not run.steps.size]
        listed += empty if len(empty) < len(runs) else [(name, None)]
    return tuple(listed)


def _make_curve(
    series: str,
    runs: Sequence[Run],
    band: str,
    level: float,
    ends: tuple[float, float] | None,
    *,
    smoothed: bool,
    peak: str,
) -> tuple[Curve, bool]:
    """Return one series' curve, and whether its runs share their steps."""
    steps = [run.steps for run in runs]
    grid, exact = find_common_steps(steps)
    raw_values = align(grid, steps, [run.values for run in runs], exact=exact)
    drawn_values = raw_values
    if smoothed:
        values = [run.smoothed for run in runs if run.smoothed is not None]
        if len(values) < len(runs):
            raise ValueError("reduce the measurements with the same smooth first")
        drawn_values = align(grid, steps, values, exact=exact)
    centre, low, high, n = compute_band(drawn_values, band, level, ends)
    equal = 0 if band == "none" else int(np.count_nonzero((n > 1) & ~np.isfinite(low)))
    given = runs[0].given if len(runs) == 1 and band != "none" else None
    if given is not None and not _has_interval(given):
        given = None
    if given is not None:
        own = get_given_band(raw_values[0], given, level, ends)
        low, high = (end + (centre - raw_values[0]) for end in own)
        low, high = cut_ends(low, high, ends)
        if given.n is not None:
            n = np.where(np.isfinite(given.n), np.floor(np.nan_to_num(given.n)), n).astype(np.int64)
    raw = compute_band(raw_values, band if band == "iqr" else "none", level).centre if smoothed else None
    extremes = _find_extremes(raw_values, level, ends) if peak == "simultaneous" and band != "iqr" else None
    curve = Curve(series, grid, centre, low, high, n, tuple(runs), raw, given is not None, equal, extremes)
    return replace(curve, gaps=_find_gaps(grid, runs), ends=ends), exact


def _find_gaps(grid: FloatArray, runs: Sequence[Run]) -> FloatArray | None:
    """Return the steps between those of ``grid`` at which a run has a value that is no finite number."""
    listed = [run.not_finite for run in runs if run.not_finite is not None and run.not_finite.size]
    if not listed:
        return None
    steps = np.setdiff1d(np.concatenate(listed), grid)
    inside: FloatArray = steps[(grid[0] < steps) & (steps < grid[-1])]
    return inside


def _has_interval(given: GivenInterval) -> bool:
    """Return whether the input gives an interval at any step; scores may have no standard error."""
    ends = given.low if given.stderr is None else given.stderr
    return ends is not None and bool(np.isfinite(ends).any())


def _find_extremes(
    values: FloatArray, level: float, ends: tuple[float, float] | None
) -> tuple[Estimate, Estimate] | None:
    """Return the highest and the lowest mean with the ends of the simultaneous band at their steps."""
    band = compute_band(values, "simultaneous", level, ends)
    places = int(np.argmax(band.centre)), int(np.argmin(band.centre))
    if not np.isfinite(band.low[[*places]]).all():
        return None
    highest, lowest = (
        Estimate(float(band.centre[at]), float(band.low[at]), float(band.high[at]), int(band.n[at]))
        for at in places
    )
    return highest, lowest


def summarise_curves(curve_set: CurveSet, *, higher_is_better: bool = True) -> tuple[Ending, ...]:
    """Return final value, peak and mean of each series, from unsmoothed values.

    ``final`` is the mean across runs at the last step, ``peak`` the best mean, at the first step that has it,
    ``mean`` that of the runs' own means. Intervals are t intervals across the ``n`` runs there, for ``final``
    also a single run's own; a peak has one only if the curves were made with ``peak="simultaneous"``.
    """
    endings = []
    for curve in (drawn.every_step or drawn for drawn in curve_set.curves):
        peak = int((np.argmax if higher_is_better else np.argmin)(curve.values))
        picked = Estimate(float(curve.values[peak]), None, None, int(curve.n[peak]))
        if curve.extremes is not None:
            picked = curve.extremes[0 if higher_is_better else 1]
        final = Estimate(
            float(curve.values[-1]), to_float(curve.low[-1]), to_float(curve.high[-1]), int(curve.n[-1])
        )
        mean = average_runs(measure_runs(curve, "mean"), curve_set.level, curve.ends)
        if curve.illustrative:
            final, mean = (replace(one, low=None, high=None) for one in (final, mean))
        endings.append(
            Ending(
                series=curve.series,
                final=final,
                final_step=float(curve.steps[-1]),
                peak=picked,
                peak_step=float(curve.steps[peak]),
                mean=mean,
                runs=len(curve.runs),
                readings=int(curve.steps.size),
            )
        )
    return tuple(endings)


def measure_curves(curve_set: CurveSet, value: str, *, higher_is_better: bool = True) -> CurveSet:
    """Return curves of a single step, at which each run has its number by ``measure_runs``."""
    runs = [
        Run(curve.series, run.run, run.seed, np.zeros(1), np.array([number]))
        for curve in curve_set.curves
        for run, number in zip(
            curve.runs, measure_runs(curve, value, higher_is_better=higher_is_better), strict=True
        )
    ]
    reduced = ReducedMetric(curve_set.metric, tuple(runs), 0, 0, bins=None, given_interval=None)
    found = compute_curves(reduced, level=curve_set.level, ends=get_ends(curve_set))
    known = {"without_values": curve_set.without_values, "missing": curve_set.missing}
    return replace(found, **known, absent=curve_set.absent)
