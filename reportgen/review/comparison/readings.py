"""What a block shows in two drafts, read and compared with each other, series by series."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.model import CurveRequest
from reportgen.core.words import format_count
from reportgen.draft.blocks.results import use_every_step
from reportgen.review.comparison.effects import (
    Effect,
    ItemSides,
    RunGroups,
    estimate_given,
    estimate_over_runs,
)
from reportgen.review.comparison.identity import match, match_series
from reportgen.review.comparison.verdicts import Moved, list_differences
from reportgen.review.model import LONGEST_NAME, Estimate, Flips, ItemCounts, RunCounts, bound, clip
from reportgen.review.snapshot import define_protocol
from reportgen.settings.score_blocks import split_metric
from reportgen.statistics.curves.readings import interpolate_band
from reportgen.statistics.distributions import (
    deviation,
    find_scale,
    mean,
    move_ends,
    normal_quantile,
    t_quantile,
)
from reportgen.statistics.flips import Answers, count_answers, find_flips
from reportgen.statistics.metrics import compute_problem_values, find_rows, list_units
from reportgen.statistics.verdicts import find_last_common_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.comparisons import ProblemScores
    from reportgen.core.model import Curve, FloatArray, IntArray, ScoreRequest
    from reportgen.review.comparison.identity import Matched
    from reportgen.review.model import Cause
    from reportgen.review.snapshot import Drafted, RequestedNumbers
    from reportgen.settings.inputs import Source


def read_runs_at(curve: Curve, step: float) -> FloatArray:
    """The value of each run of a curve at a step, interpolated inside its own range; NaN outside of it."""
    ranged = [
        np.interp(step, run.steps, run.values)
        if run.steps.size and run.steps[0] <= step <= run.steps[-1]
        else np.nan
        for run in curve.runs
    ]
    return np.array(ranged, dtype=np.float64)


def estimate_curve_at(curve: Curve, step: float, level: float) -> Estimate | None:
    """The mean over runs at a step with its t interval, or the interval that the input gives with one run."""
    values = read_runs_at(curve, step)
    values = values[~np.isnan(values)]
    if not values.size:
        return None
    size, low, high = find_scale(values), None, None
    centre = mean(values / size) * size
    if curve.illustrative:
        return Estimate(value=centre, low=None, high=None, n=values.size)
    if values.size > 1 and (spread := deviation(values / size) * size):
        half = t_quantile((1 + level) / 2, values.size - 1) * spread / values.size**0.5
        if curve.ends is None:
            low, high = bound(centre - half), bound(centre + half)
        else:
            low, high = (
                float(end) for end in move_ends(np.array(centre), np.array(half), np.array(half), curve.ends)
            )
    elif curve.given:
        low, high, _ = interpolate_band(curve, step)
    return Estimate(value=centre, low=low, high=high, n=values.size)


class Reading(Struct, frozen=True, dict=True):
    """What a block asks for, and how one draft answers it."""

    draft: Drafted
    requested: RequestedNumbers

    @property
    def source(self) -> Source:
        """Where the data come from."""
        return self.draft.sources[self.requested.request.source]

    @cached_property
    def curves(self) -> dict[str, Curve]:
        """The unsmoothed curves by series; empty if scores are asked for."""
        request = self.requested.request
        if not isinstance(request, CurveRequest):
            return {}
        curves = self.draft.results.get_curves(use_every_step(request)).curve_set.curves
        return {curve.series: curve for curve in curves}

    @property
    def has_steps(self) -> bool:
        """Whether these curves have steps, unlike the values of finished runs."""
        request = cast("CurveRequest", self.requested.request)
        return bool(self.draft.results.get_curves(use_every_step(request)).step_name)

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The score of each series, or the last value of its curve."""
        request = self.requested.request
        if isinstance(request, CurveRequest):
            ends = {
                name: estimate_curve_at(one, float(one.steps[-1]), request.level)
                for name, one in self.curves.items()
            }
            return {name: one for name, one in ends.items() if one is not None}
        return {
            one.series: Estimate(
                value=one.estimate, low=one.low, high=one.high, n=one.runs if one.runs > 1 else one.problems
            )
            for one in self.draft.results.get_scores(request)
            if one.estimate is not None
        }

    def describe(self, series: str) -> Moved:
        """A number without its values."""
        requested, request = self.requested, self.requested.request
        return Moved(
            page=requested.page,
            block=requested.block,
            title=requested.title,
            source=request.source,
            benchmark=getattr(request, "benchmark", None) or "",
            series=series,
            metric=request.metric,
            percent=requested.percent,
            higher_is_better=requested.higher_is_better,
        )


class PairOfReadings(Struct, frozen=True, dict=True):
    """One request as both drafts answer it; ``names`` are the series to compare, as they are called after."""

    before: Reading
    after: Reading
    names: tuple[str, ...]

    @cached_property
    def series(self) -> Matched[str]:
        """Which series of both are the same."""
        renames = self.before.source.settings.rename, self.after.source.settings.rename
        return match_series(self.before.requested.series, self.after.requested.series, renames)

    @cached_property
    def definitions(self) -> tuple[str, ...]:
        """What of its definition differs."""
        was, now = self.before.source.kind, self.after.source.kind
        other = () if was == now else (f"{was} → {now}",)
        return (*list_differences(self.before.requested.definition, self.after.requested.definition), *other)

    @property
    def is_same(self) -> bool:
        """Whether nothing that decides it differs."""
        same = self.before.requested.request == self.after.requested.request
        return same and self.before.source.digest == self.after.source.digest

    def compare(self) -> Iterator[tuple[Moved, ItemSides | None]]:
        """Every series of both; with its scores by item where it is to be tested over items."""
        old, new = self.before, self.after
        level = new.requested.request.level
        for was, name in self.series.pairs:
            if name not in self.names or was not in old.estimates or name not in new.estimates:
                continue
            protocol = list_differences(define_protocol(old.source, was), define_protocol(new.source, name))
            causes: tuple[Cause, ...] = ("definition",) if self.definitions or protocol else ()
            moved = replace(
                new.describe(name),
                was_series=was if was != name else "",
                before=old.estimates[was],
                after=new.estimates[name],
                definitions=self.definitions,
                protocol=protocol,
                causes=causes,
            )
            if self.definitions:
                yield moved, None
            elif new.curves:
                moved = _compare_curve(moved, old.curves[was], new.curves[name], level)
                yield moved if new.has_steps else replace(moved, step=None), None
            elif new.source.kind == "totals":
                ends = [(one.value, one.low, one.high) for one in (old.estimates[was], new.estimates[name])]
                effect = None if ends[0] == ends[1] else _compare_given(moved, level)
                moved = replace(moved, causes=("data", *causes) if effect else causes)
                yield replace(moved, effect=effect, is_reported=bool(effect and effect.low is None)), None
            else:
                yield _compare_items(moved, self.item_tables, was, level)

    @cached_property
    def item_tables(self) -> tuple[ItemTable, ItemTable]:
        """The scores by item of both sides, on the union of their items."""
        requests = [cast("ScoreRequest", one.requested.request) for one in (self.before, self.after)]
        before = self.before.draft.results.get_problem_scores(requests[0])
        after = self.after.draft.results.get_problem_scores(requests[1])
        names = sorted({*before.problems, *after.problems})
        return ItemTable(before, requests[0].metric, names), ItemTable(after, requests[1].metric, names)

    def describe_items(self) -> tuple[str, list[str], tuple[float, float]]:
        """The benchmark, what of its items is taken as drawn at random, and the range of scores."""
        before, after = self.item_tables
        request = self.after.requested.request
        name = f"{request.source}\0{getattr(request, 'benchmark', None) or ''}"
        names = sorted({*before.units, *after.units})
        units = [after.units.get(one) or before.units[one] for one in names]
        return name, units, (after.scores.lowest, after.scores.highest)


def _compare_curve(moved: Moved, old: Curve, new: Curve, level: float) -> Moved:
    step = find_last_common_step(old, new)
    ends = [
        estimate_curve_at(one, float(one.steps[-1]) if step is None else step, level) for one in (old, new)
    ]
    moved = replace(moved, step=step, before=ends[0], after=ends[1])
    if step is None:
        return replace(moved, effect=Effect("none", None, reason="their steps do not meet"))
    values = [read_runs_at(one, step) for one in (old, new)]
    rows: list[list[RunRows]] = [[], []]
    for side, curve, own in zip(rows, (old, new), values, strict=True):
        for place in np.flatnonzero(~np.isnan(own)).tolist():
            run = curve.runs[place]
            # By its rows up to the step, a run that goes on is still the same.
            end = int(np.searchsorted(run.steps, step, side="right"))
            content = run.steps[:end].tobytes() + run.values[:end].tobytes()
            side.append(RunRows(run.run, hashlib.sha256(content).hexdigest(), place))
    groups, runs = _group_runs(rows, values)
    if moved.before == moved.after or not groups.differ:
        return moved
    effect = estimate_over_runs(groups, level)
    if old.illustrative or new.illustrative:
        effect = Effect("none", effect.difference, reason="illustrative runs")
    elif effect.low is None and old.given and new.given:
        effect = _compare_given(moved, level)
    return replace(moved, effect=effect, runs=runs, causes=("data", *moved.causes))


def _compare_given(moved: Moved, level: float) -> Effect:
    """Two numbers with the intervals that the input gives."""
    known = []
    for one in (moved.before, moved.after):
        if one is None or one.low is None or one.high is None:
            difference = moved.after.value - moved.before.value if moved.before and moved.after else None
            return Effect("none", difference, reason="no interval is given")
        known.append((one.value, (one.high - one.low) / 2 / normal_quantile(level)))
    return estimate_given(known[0], known[1], level)


class RunRows(NamedTuple):
    """A run and the SHA-256 of its rows."""

    name: str
    digest: str
    place: int  # among the values of its state


def _group_runs(
    rows: Sequence[Sequence[RunRows]], values: Sequence[FloatArray]
) -> tuple[RunGroups, RunCounts]:
    """The values of runs that only one state or both have, and how many there are.

    Runs are equal by name and rows, then by rows: a run is another one if any of its rows is.
    """
    matched = match(rows[0], rows[1], lambda run: (run.name, run.digest), lambda run: run.digest)
    pairs, gone, new = matched.pairs, matched.gone, matched.new
    groups = RunGroups(
        values[0][[run.place for run in gone]],
        values[1][[run.place for _, run in pairs]],
        values[1][[run.place for run in new]],
    )
    replaced = (Counter(run.name for run in gone) & Counter(run.name for run in new)).total()
    added, removed = len(new) - replaced, len(gone) - replaced
    return groups, RunCounts(shared=len(pairs), replaced=replaced, added=added, removed=removed)


class ItemTable:
    """Scores of one benchmark by series and item; ``items`` are the union of both states."""

    def __init__(self, scores: ProblemScores, metric: str, items: Sequence[str]) -> None:
        self.scores = scores
        values = compute_problem_values(scores, *split_metric(metric))
        self.items = items
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

    def count_answers(self, name: str) -> list[Answers]:
        """The right answers and all answers of a series to each item."""
        own = count_answers(self.scores, name)
        return [own[column] if column >= 0 else Answers(0, 0) for column in self.columns.tolist()]

    def count_lost(self, name: str) -> int:
        """The answers of a series that infrastructure errors cost, as far as statuses are known."""
        known = (one for one in self.scores.notes.statuses if one.series == name)
        return sum(one.left_out.get("infrastructure", 0) for one in known)

    def get_runs(self, name: str) -> tuple[list[int], FloatArray]:
        """The rows of a series' runs, and their scores, shape (runs, items)."""
        rows = find_rows(self.scores, self.scores.series.index(name))
        return rows, self._values[1][rows]

    def identify_runs(self, rows: Sequence[int], items: IntArray) -> list[RunRows]:
        """Runs by their scores on some items, whatever the order of their rows."""
        scores, columns, found = self.scores, self.columns[items], []
        for index, row in enumerate(rows):
            cells = (one[row, columns].tobytes() for one in (scores.samples, scores.correct, scores.mean))
            digest = hashlib.sha256(b"".join(cells)).hexdigest()
            found.append(RunRows(scores.runs[row].run, digest, index))
        return found


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
    rows = [one.identify_runs(own, shared) for one, own, _ in sides]
    groups, runs = _group_runs(rows, [values[:, shared] for _, _, values in sides])
    protocol = moved.protocol
    if regraded := sum(old.gold[one] != gold for one, gold in new.gold.items() if one in old.gold):
        protocol += (f"other right answers to {format_count(regraded, 'problem')}",)
    lost = _describe_lost(old.count_lost(was), new.count_lost(name))
    moved = replace(moved, problems=items, runs=runs, protocol=protocol, lost=lost)
    if np.array_equal(before[shared], after[shared]) or not groups.differ:
        if items.only_base or items.only_head:
            effect = Effect("none", 0.0)
            what = "other answers left out" if lost else "other problems"
            protocol = (*protocol, f"{what}; nothing changed on the shared ones")
            moved = replace(moved, protocol=protocol, effect=effect, causes=("data", *moved.causes))
        return moved, None
    moved = replace(moved, causes=("data", *moved.causes), flips=_find_flips(tables, was, name))
    if groups.are_paired_by_item:
        return moved, ItemSides(name, before, after, groups)
    # Otherwise what differs is the choice of runs: their scores on the items that all of them have.
    whole = np.isfinite(np.concatenate(groups)).all(axis=0)
    if not whole.any():
        difference = float(np.mean(after[shared] - before[shared]))
        effect = Effect("none", difference, reason="no problem was answered by all runs")
        return replace(moved, effect=effect), None
    means = RunGroups(*(group[:, whole].mean(axis=1) for group in groups))
    return replace(moved, effect=estimate_over_runs(means, level)), None


def _describe_lost(before: int, after: int) -> str:
    """Return how many more or fewer answers infrastructure errors cost; empty where as many."""
    noun = f"{'more' if after > before else 'fewer'} answer"
    return f"{format_count(abs(after - before), noun)} lost to infrastructure" if after != before else ""


def _find_flips(tables: tuple[ItemTable, ItemTable], was: str, name: str) -> Flips:
    """Items whose answers are mostly right in one state and mostly wrong in the other."""
    old, new = tables
    flips = find_flips(old.items, old.count_answers(was), new.count_answers(name))
    gained = sum(flip.change > 0 for flip in flips)
    return Flips.fit(
        gained=gained,
        lost=len(flips) - gained,
        problems=[(clip(flip.problem, LONGEST_NAME), *flip.before, *flip.after) for flip in flips],
    )
