"""What a block shows in two drafts, read and held against each other, series by series."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.core.words import format_count
from reportgen.draft.blocks.results import use_every_step
from reportgen.review.comparison.effects import (
    Effect,
    ItemSides,
    RunGroups,
    estimate_given,
    estimate_over_runs,
    find_scale,
)
from reportgen.review.comparison.identity import (
    identify_curve_runs,
    identify_score_runs,
    match_runs,
    match_series,
)
from reportgen.review.comparison.verdicts import Moved, list_differences
from reportgen.review.model import Estimate, ItemCounts, RunCounts, bound
from reportgen.review.snapshot import define_protocol
from reportgen.settings.blocks import split_metric
from reportgen.statistics.curves.mean_curves import find_last_common_step
from reportgen.statistics.curves.readings import interpolate_band
from reportgen.statistics.distributions import deviation, mean, normal_quantile, t_quantile
from reportgen.statistics.metrics import compute_problem_values, find_rows, list_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.comparisons import ProblemScores
    from reportgen.core.model import Curve, FloatArray, Request
    from reportgen.review.comparison.identity import Matched, RunRows
    from reportgen.review.model import Cause
    from reportgen.review.snapshot import Drafted, RequestedNumbers


class RunValues(NamedTuple):
    """Runs of a curve that reach a step, by their places among all, and their values there."""

    places: tuple[int, ...]
    values: FloatArray


def read_runs_at(curve: Curve, step: float) -> RunValues:
    """The values of a curve's runs at a step, interpolated inside each run's own range."""
    reach = [
        i for i, run in enumerate(curve.runs) if run.steps.size and run.steps[0] <= step <= run.steps[-1]
    ]
    values = [float(np.interp(step, curve.runs[i].steps, curve.runs[i].values)) for i in reach]
    return RunValues(tuple(reach), np.array(values))


def estimate_curve_at(curve: Curve, step: float, level: float) -> Estimate | None:
    """The mean over runs at a step with its t interval, or the interval that the input gives with one run."""
    values = read_runs_at(curve, step).values
    if not values.size:
        return None
    size, low, high = find_scale(values), None, None
    centre = mean(values / size) * size
    if values.size > 1 and (spread := deviation(values / size) * size):
        half = t_quantile((1 + level) / 2, values.size - 1) * spread / values.size**0.5
        low, high = bound(centre - half), bound(centre + half)
    elif curve.given:
        low, high, _ = interpolate_band(curve, step)
    return Estimate(value=centre, low=low, high=high, n=values.size)


def read_curves(draft: Drafted, request: CurveRequest) -> dict[str, Curve]:
    """The unsmoothed curves of a request, by series."""
    curves = draft.results.get_curves(use_every_step(request)).curve_set.curves
    return {curve.series: curve for curve in curves}


def read_estimates(draft: Drafted, request: Request) -> dict[str, Estimate]:
    """The score of each series, or the last value of its curve."""
    if isinstance(request, CurveRequest):
        curves = read_curves(draft, request)
        ends = {
            name: estimate_curve_at(one, float(one.steps[-1]), request.level) for name, one in curves.items()
        }
        return {name: one for name, one in ends.items() if one is not None}
    scores = draft.results.get_scores(request)
    return {
        one.series: Estimate(
            value=one.estimate, low=one.low, high=one.high, n=one.runs if one.runs > 1 else one.problems
        )
        for one in scores
        if one.estimate is not None
    }


class PairOfReadings(Struct, frozen=True, dict=True):
    """One request as both drafts answer it; ``names`` are the series to compare, as they are called after."""

    drafts: tuple[Drafted, Drafted]
    requested: tuple[RequestedNumbers, RequestedNumbers]
    names: tuple[str, ...]

    @cached_property
    def series(self) -> Matched[str]:
        """Which series of both are the same."""
        renames = [one.sources[requested.request.source].settings.rename for one, requested in self._sides]
        before, after = self.requested
        return match_series(before.series, after.series, (renames[0], renames[1]))

    @property
    def _sides(self) -> Iterator[tuple[Drafted, RequestedNumbers]]:
        return zip(self.drafts, self.requested, strict=True)

    @cached_property
    def definitions(self) -> tuple[str, ...]:
        """What of its definition differs."""
        before, after = self.requested
        kinds = [one.sources[requested.request.source].kind for one, requested in self._sides]
        other = () if kinds[0] == kinds[1] else (f"{kinds[0]} → {kinds[1]}",)
        return (*list_differences(before.definition, after.definition), *other)

    @property
    def is_same(self) -> bool:
        """Whether nothing that decides it differs."""
        before, after = (one.sources[requested.request.source].digest for one, requested in self._sides)
        return self.requested[0].request == self.requested[1].request and before == after

    def describe(self, was: str, name: str) -> Moved:
        """A series of both, with what differs apart from its data."""
        protocols = [
            define_protocol(one.sources[requested.request.source], series)
            for (one, requested), series in zip(self._sides, (was, name), strict=True)
        ]
        protocol = list_differences(*protocols)
        causes: tuple[Cause, ...] = ("definition",) if self.definitions or protocol else ()
        moved = describe_number(self.requested[1], name)
        return replace(
            moved,
            was_series=was if was != name else "",
            definitions=self.definitions,
            protocol=protocol,
            causes=causes,
        )

    def compare(self) -> Iterator[tuple[Moved, ItemSides | None]]:
        """Every series of both; with its scores by item where it is to be tested over items."""
        before, after = (read_estimates(one, requested.request) for one, requested in self._sides)
        for was, name in self.series.pairs:
            if name in self.names and was in before and name in after:
                moved = replace(self.describe(was, name), before=before[was], after=after[name])
                yield (moved, None) if self.definitions else self._compare(moved, was)

    def _compare(self, moved: Moved, was: str) -> tuple[Moved, ItemSides | None]:
        requests = [requested.request for requested in self.requested]
        level = requests[1].level
        if isinstance(requests[0], CurveRequest) and isinstance(requests[1], CurveRequest):
            old, new = self._curves
            return _compare_curve(moved, old[was], new[moved.series], level), None
        if self.drafts[1].sources[requests[1].source].kind != "totals":
            return _compare_items(moved, self.item_tables, was, level)
        ends = [(one.value, one.low, one.high) for one in (moved.before, moved.after) if one]
        if ends[0] != ends[-1]:
            moved = replace(moved, effect=_compare_given(moved, level), causes=("data", *moved.causes))
        return moved, None

    @cached_property
    def _curves(self) -> tuple[dict[str, Curve], dict[str, Curve]]:
        before, after = (
            read_curves(one, requested.request)
            for one, requested in self._sides
            if isinstance(requested.request, CurveRequest)
        )
        return before, after

    @cached_property
    def item_tables(self) -> tuple[ItemTable, ItemTable]:
        """The scores by item of both sides, on the union of their items."""
        read = []
        for one, requested in self._sides:
            request = requested.request
            if not isinstance(request, ScoreRequest):
                raise TypeError(request)
            read.append((one.results.get_problem_scores(request), request.metric))
        names = tuple(sorted({name for scores, _ in read for name in scores.problems}))
        before, after = (ItemTable(scores, metric, names) for scores, metric in read)
        return before, after

    def describe_items(self) -> tuple[str, list[str], tuple[float, float]]:
        """The benchmark, what of its items is taken as drawn at random, and the range of scores."""
        before, after = self.item_tables
        request = self.requested[1].request
        name = f"{request.source}\0{getattr(request, 'benchmark', None) or ''}"
        names = sorted({*before.units, *after.units})
        units = [after.units.get(one) or before.units[one] for one in names]
        return name, units, (after.scores.lowest, after.scores.highest)


def describe_number(requested: RequestedNumbers, series: str) -> Moved:
    """A number without its values."""
    return Moved(
        page=requested.page,
        block=requested.block,
        title=requested.title,
        source=requested.request.source,
        benchmark=getattr(requested.request, "benchmark", None) or "",
        series=series,
        metric=requested.request.metric,
        percent=requested.percent,
        higher_is_better=requested.higher_is_better,
        before=None,
        after=None,
    )


def _compare_curve(moved: Moved, old: Curve, new: Curve, level: float) -> Moved:
    step = find_last_common_step(old, new)
    if step is None:
        ends = [estimate_curve_at(one, float(one.steps[-1]), level) for one in (old, new)]
        reason = "their steps do not meet"
        return replace(moved, before=ends[0], after=ends[1], effect=Effect("none", None, reason=reason))
    moved = replace(
        moved,
        step=step,
        before=estimate_curve_at(old, step, level),
        after=estimate_curve_at(new, step, level),
    )
    sides = [read_runs_at(one, step) for one in (old, new)]
    rows = [
        [row for row in identify_curve_runs(one.runs, step) if row.place in side.places]
        for one, side in zip((old, new), sides, strict=True)
    ]
    matched = match_runs(*rows)
    if moved.before == moved.after or not (matched.gone or matched.new):
        return moved
    values = [dict(zip(side.places, side.values.tolist(), strict=True)) for side in sides]
    groups = RunGroups(
        np.array([values[0][row.place] for row in matched.gone]),
        np.array([values[1][row.place] for _, row in matched.pairs]),
        np.array([values[1][row.place] for row in matched.new]),
    )
    effect = estimate_over_runs(groups, level)
    if effect.low is None and old.given and new.given:
        effect = _compare_given(moved, level)
    return replace(moved, effect=effect, runs=_count_runs(matched), causes=("data", *moved.causes))


def _compare_given(moved: Moved, level: float) -> Effect:
    """Two numbers with the intervals that the input gives."""
    known = []
    for one in (moved.before, moved.after):
        if one is None or one.low is None or one.high is None:
            difference = moved.after.value - moved.before.value if moved.before and moved.after else None
            return Effect("none", difference, reason="no interval is given")
        known.append((one.value, (one.high - one.low) / 2 / normal_quantile(level)))
    return estimate_given(known[0], known[1], level)


def _count_runs(matched: Matched[RunRows]) -> RunCounts:
    gone, new = (Counter(run.name for run in side) for side in (matched.gone, matched.new))
    replaced = (gone & new).total()
    return RunCounts(
        shared=len(matched.pairs),
        replaced=replaced,
        added=len(matched.new) - replaced,
        removed=len(matched.gone) - replaced,
    )


class ItemTable:
    """Scores of one benchmark by series and item; ``items`` are the union of both states."""

    def __init__(self, scores: ProblemScores, metric: str, items: Sequence[str]) -> None:
        self.scores = scores
        values = compute_problem_values(scores, *split_metric(metric))
        place = {name: column for column, name in enumerate(scores.problems)}
        self.columns = np.array([place.get(name, -1) for name in items], dtype=np.int64)
        self._values: list[FloatArray] = [
            np.where(self.columns >= 0, one[:, self.columns], np.nan) for one in (values.series, values.runs)
        ]
        units = list_units(scores) or list(scores.problems)
        self.units = {name: units[column] for name, column in place.items()}
        self.gold = dict(zip(scores.problems, scores.gold, strict=True)) if scores.gold else {}

    def get_series(self, name: str) -> FloatArray:
        """The score of a series on each item, NaN where it has none."""
        values: FloatArray = self._values[0][self.scores.series.index(name)]
        return values

    def get_runs(self, name: str) -> tuple[list[int], FloatArray]:
        """The rows of a series' runs, and their scores, shape (runs, items)."""
        rows = find_rows(self.scores, self.scores.series.index(name))
        return rows, self._values[1][rows]


def _compare_items(
    moved: Moved, tables: tuple[ItemTable, ItemTable], was: str, level: float
) -> tuple[Moved, ItemSides | None]:
    (old, new), name = tables, moved.series
    before, after = old.get_series(was), new.get_series(name)
    known = np.isfinite(before), np.isfinite(after)
    shared = np.flatnonzero(known[0] & known[1])
    items = ItemCounts(
        shared=shared.size,
        only_base=int(np.count_nonzero(known[0] & ~known[1])),
        only_head=int(np.count_nonzero(known[1] & ~known[0])),
    )
    sides = [(one, *one.get_runs(series)) for one, series in ((old, was), (new, name))]
    rows = [identify_score_runs(one.scores, own, one.columns[shared]) for one, own, _ in sides]
    matched = match_runs(*rows)
    protocol = moved.protocol
    if regraded := sum(old.gold[one] != gold for one, gold in new.gold.items() if one in old.gold):
        protocol += (f"other right answers to {format_count(regraded, 'problem')}",)
    moved = replace(moved, problems=items, runs=_count_runs(matched), protocol=protocol)
    if np.array_equal(before[shared], after[shared]) or not (matched.gone or matched.new):
        if items.only_base or items.only_head:
            effect = Effect("none", 0.0)
            protocol = (*protocol, "other problems; nothing changed on the shared ones")
            moved = replace(moved, protocol=protocol, effect=effect, causes=("data", *moved.causes))
        return moved, None
    values = [scores for _, _, scores in sides]
    groups = RunGroups(
        values[0][[row.place for row in matched.gone]],
        values[1][[row.place for _, row in matched.pairs]],
        values[1][[row.place for row in matched.new]],
    )
    groups = RunGroups(*(group[:, shared] for group in groups))
    moved = replace(moved, causes=("data", *moved.causes))
    if groups.are_paired_by_item:
        return moved, ItemSides(name, before, after, groups)
    # Otherwise what differs is the choice of runs: their scores on the items that all of them have.
    whole = np.isfinite(np.concatenate(groups)).all(axis=0)
    means = RunGroups(*(group[:, whole].mean(axis=1) for group in groups))
    return replace(moved, effect=estimate_over_runs(means, level)), None
