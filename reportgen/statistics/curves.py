"""Runs to curves: one line with a band for each series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.model import Curve, CurveSet, Estimate
from reportgen.statistics.align import align, find_common_steps
from reportgen.statistics.band import compute_band as band_across
from reportgen.statistics.band import get_given_band
from reportgen.statistics.leading import find_leads_at_end
from reportgen.statistics.simultaneous import find_peak_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray, ReducedMetric, Run
    from reportgen.settings.blocks import Band, Peak


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

    Args:
        reduced: the runs of one metric; reduced with the same ``smooth``.
        band: what the band shows, see ``statistics.band``.
        level: confidence level of ``ci``, and of a given standard error.
        smooth: how much ``reduced`` was smoothed; 0 draws unsmoothed values.
        series: only these, in this order; all in the order of ``reduced`` if left out. Those without a
            finite value are named in ``CurveSet.without_values``.
        peak: ``simultaneous`` computes ``Curve.extremes`` of means over several runs, see
            ``statistics.simultaneous``.

    Raises:
        ValueError: if ``smooth`` is asked for and ``reduced`` was not smoothed.
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
    centre, low, high, n = band_across(drawn_values, band, level)
    equal = 0 if band == "none" else int(np.count_nonzero((n > 1) & ~np.isfinite(low)))
    given = runs[0].given if len(runs) == 1 and band != "none" else None
    if given is not None:
        low, high = (end + (centre - raw_values[0]) for end in get_given_band(raw_values[0], given, level))
        if given.n is not None:
            n = np.where(np.isfinite(given.n), np.floor(np.nan_to_num(given.n)), n).astype(np.int64)
    raw = band_across(raw_values, band if band == "iqr" else "none", level).centre if smoothed else None
    extremes = _find_extremes(raw_values, level) if peak == "simultaneous" and band != "iqr" else None
    made = Curve(series, grid, centre, low, high, n, tuple(runs), raw, given is not None, equal, extremes)
    return made, exact


def _find_extremes(values: FloatArray, level: float) -> tuple[Estimate, Estimate] | None:
    """The highest and the lowest mean, each with an interval that knows that its step was picked."""
    centre, low, high, n = band_across(values, "se")
    found = []
    for place, sign in ((int(np.argmax(centre)), 1.0), (int(np.argmin(centre)), -1.0)):
        ends = find_peak_ends(sign * values, int(n[place]), level)
        if ends is None or not np.isfinite(low[place]):
            return None
        value, error = float(centre[place]), float(high[place] - low[place]) / 2
        behind, beyond = value - sign * ends.behind * error, value + sign * ends.beyond * error
        found.append(Estimate(value, min(behind, beyond), max(behind, beyond), int(n[place])))
    return found[0], found[1]
