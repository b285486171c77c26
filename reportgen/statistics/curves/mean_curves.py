"""Runs to curves: one line with a band for each series, and its final, peak and mean values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.core.model import Curve, CurveSet, Ending, Estimate
from reportgen.statistics.curves.bands import compute_band, find_peak_ends, get_given_band
from reportgen.statistics.curves.compare_curves import find_leads_at_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import FloatArray, ReducedMetric, Run
    from reportgen.settings.blocks import Band, Peak


def find_common_steps(steps: Sequence[FloatArray]) -> tuple[FloatArray, bool]:
    """The steps that runs are brought to, and whether all runs have exactly these.

    Returns:
        The union of the steps, sorted; True where every run has every step.
    """
    first = steps[0]
    if all(other is first or np.array_equal(other, first) for other in steps[1:]):
        return first, True
    return np.unique(np.concatenate(steps)), False


def interpolate(grid: FloatArray, steps: FloatArray, values: FloatArray) -> FloatArray:
    """One run's values at the steps of ``grid``: its own where it has them, else interpolated linearly.

    Nothing is extrapolated: before the run's first step and after its last the result is NaN.

    Returns:
        Shape (G,); every number lies between the two values it was interpolated from.
    """
    if steps.size == 1:
        return np.where(grid == steps[0], values[0], np.nan)
    left = np.clip(np.searchsorted(steps, grid, side="right") - 1, 0, steps.size - 2)
    share = (grid - steps[left]) / (steps[left + 1] - steps[left])
    inside = (grid >= steps[0]) & (grid <= steps[-1])
    below, above = values[left], values[left + 1]
    # Weighted this way a difference of large values cannot overflow, and the ends are hit exactly.
    between = below * (1 - share) + above * share
    between = np.clip(between, np.minimum(below, above), np.maximum(below, above))
    return np.where(inside, between, np.nan)


def align(
    grid: FloatArray, steps: Sequence[FloatArray], values: Sequence[FloatArray], *, exact: bool
) -> FloatArray:
    """Every run's values at the steps of ``grid``.

    Returns:
        Shape (R, G), NaN where a run does not reach.
    """
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
) -> CurveSet:
    """Centre and band of each series.

    The runs of a series are averaged at their common steps: exactly where they share them, otherwise on
    the union of the series' steps, each run interpolated linearly inside its own range and never
    extrapolated.

    The band belongs to the line that is drawn: with ``smooth`` both centre and band are those of the
    smoothed runs, and ``Curve.raw`` holds the centre of the unsmoothed ones.

    Where a series has a single run and the input gives an interval with it, that interval is the band
    (``Curve.given``), a standard error at ``level``; under smoothing it moves with the centre and keeps
    its width. ``n`` is then the number of runs the input says is behind it, if it says so. With several
    runs the band across runs is used and the input's intervals are not (``CurveSet.given_ignored``).
    ``none`` draws no band at all.

    ``reduced`` was reduced with the same ``smooth``. ``series`` chooses some, in this order; those without a
    finite value are named in ``CurveSet.without_values``. With the ``simultaneous`` ``peak``,
    ``Curve.extremes`` of means over several runs are computed.

    Raises:
        ValueError: if ``smooth`` is above 0 and ``reduced`` was not smoothed.
    """
    members: dict[str, list[Run]] = {name: [] for name in series or ()}
    for run in reduced.runs:
        if series is None or run.series in members:
            members.setdefault(run.series, []).append(run)
    drawn = {name: [run for run in runs if run.steps.size] for name, runs in members.items()}
    if smooth > 0 and any(run.smoothed is None for runs in drawn.values() for run in runs):
        raise ValueError("reduce the measurements with the same smooth first")
    found = [
        _make_curve(name, runs, str(band), level, smoothed=smooth > 0, peak=str(peak))
        for name, runs in drawn.items()
        if runs
    ]
    made = tuple(curve for curve, _ in found)
    used = any(curve.given for curve in made)
    has_given = any(run.given for runs in drawn.values() for run in runs)
    return CurveSet(
        metric=reduced.metric,
        curves=made,
        band=str(band),
        level=level,
        smooth=smooth,
        exact=all(exact for _, exact in found),
        replaced=reduced.replaced,
        dropped=reduced.dropped,
        bins=reduced.bins,
        given_interval=reduced.given_interval if used else None,
        empty=reduced.empty,
        given_ignored=has_given and not all(curve.given for curve in made) and band != "none",
        without_values=tuple(_find_without_values(members, drawn)),
        leads=find_leads_at_end(made, level),
    )


def _find_without_values(
    members: dict[str, list[Run]], drawn: dict[str, list[Run]]
) -> list[tuple[str, str | None]]:
    named: list[tuple[str, str | None]] = []
    for series, runs in members.items():
        if not drawn[series]:
            named.append((series, None))
        else:
            named += [(series, run.run) for run in runs if not run.steps.size]
    return named


def _make_curve(
    series: str, runs: Sequence[Run], band: str, level: float, *, smoothed: bool, peak: str
) -> tuple[Curve, bool]:
    """One series' curve, and whether its runs share their steps."""
    grid, exact = find_common_steps([run.steps for run in runs])

    def align_runs(values: Sequence[FloatArray]) -> FloatArray:
        return align(grid, [run.steps for run in runs], values, exact=exact)

    raw_values = align_runs([run.values for run in runs])
    drawn_values = raw_values
    if smoothed:
        drawn_values = align_runs([run.values if run.smoothed is None else run.smoothed for run in runs])
    centre, low, high, n = compute_band(drawn_values, band, level)
    equal = 0 if band == "none" else int(np.count_nonzero((n > 1) & ~np.isfinite(low)))
    given = runs[0].given if len(runs) == 1 and band != "none" else None
    if given is not None:
        low, high = (end + (centre - raw_values[0]) for end in get_given_band(raw_values[0], given, level))
        if given.n is not None:
            n = np.where(np.isfinite(given.n), np.floor(np.nan_to_num(given.n)), n).astype(np.int64)
    raw = compute_band(raw_values, band if band == "iqr" else "none", level).centre if smoothed else None
    extremes = _find_extremes(raw_values, level) if peak == "simultaneous" and band != "iqr" else None
    made = Curve(series, grid, centre, low, high, n, tuple(runs), raw, given is not None, equal, extremes)
    return made, exact


def _find_extremes(values: FloatArray, level: float) -> tuple[Estimate, Estimate] | None:
    """The highest and the lowest mean, each with an interval that knows that its step was picked."""
    centre, low, high, n = compute_band(values, "se")
    found = []
    for place, sign in ((int(np.argmax(centre)), 1.0), (int(np.argmin(centre)), -1.0)):
        ends = find_peak_ends(sign * values, int(n[place]), level)
        if ends is None or not np.isfinite(low[place]):
            return None
        value, error = float(centre[place]), float(high[place] - low[place]) / 2
        behind, beyond = value - sign * ends.behind * error, value + sign * ends.beyond * error
        found.append(Estimate(value, min(behind, beyond), max(behind, beyond), int(n[place])))
    return found[0], found[1]


def summarise_curves(curve_set: CurveSet, *, higher_is_better: bool = True) -> tuple[Ending, ...]:
    """Final value, peak and mean of each series, from unsmoothed values.

    - ``final``: the mean across runs at the series' last step;
    - ``peak``: the mean curve's maximum, or minimum where lower is better, at the first step that has it;
    - ``mean``: each run's mean over its own steps, every step counting once; then the mean across runs.

    Intervals are t intervals across the runs that support that step (``n``); None for one run, except
    that a single run's own interval, where the input gives one, is used for ``final``. A peak has an
    interval only where the curves were made with ``peak="simultaneous"``: that of its step alone does not
    know that the step was picked.

    Where the curves were binned, steps are bin centres and values bin means; reduce with
    ``max_points=None`` for the exact last and best step.
    """
    return tuple(
        _summarise_curve(curve, curve_set.level, higher_is_better=higher_is_better)
        for curve in curve_set.curves
    )


def _summarise_curve(curve: Curve, level: float, *, higher_is_better: bool) -> Ending:
    pick = np.argmax if higher_is_better else np.argmin
    last, peak = curve.steps.size - 1, int(pick(curve.values))
    picked = Estimate(float(curve.values[peak]), None, None, int(curve.n[peak]))
    if curve.extremes is not None:
        picked = curve.extremes[0 if higher_is_better else 1]
    means = np.array([[np.mean(run.values)] for run in curve.runs])
    mean, low, high, n = compute_band(means, "ci", level)
    return Ending(
        series=curve.series,
        final=Estimate(
            value=float(curve.values[last]),
            low=_to_float(curve.low[last]),
            high=_to_float(curve.high[last]),
            n=int(curve.n[last]),
        ),
        final_step=float(curve.steps[last]),
        peak=picked,
        peak_step=float(curve.steps[peak]),
        mean=Estimate(float(mean[0]), _to_float(low[0]), _to_float(high[0]), int(n[0])),
        runs=len(curve.runs),
        readings=int(curve.steps.size),
    )


def _to_float(end: np.float64) -> float | None:
    return float(end) if np.isfinite(end) else None
