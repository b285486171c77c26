"""Subjects of facts: the curves of one metric, and the scores of one benchmark."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.claims import run_facts
from reportgen.claims.fact_words import (
    describe_position,
    describe_step,
    format_quantity,
    format_quantity_interval,
)
from reportgen.claims.vocabulary import OF_RUNS, TOO_LARGE, FactError, drop_infinite, make_question
from reportgen.core.comparisons import FRAGILE, Verdict
from reportgen.core.statements import Quantity
from reportgen.core.words import format_count, format_equation, format_number, format_p, join_names
from reportgen.statistics.curves.differences import INTERVALS, measure_gap
from reportgen.statistics.curves.readings import (
    compute_differences,
    find_crossings,
    find_step_reaching,
    get_points,
    interpolate_band,
    interpolate_value,
    match_step,
    mean_between,
    volatility,
)
from reportgen.statistics.distributions import t_quantile
from reportgen.statistics.flips import count_answers, find_flips
from reportgen.statistics.verdicts import (
    compare_at_end,
    find_last_common_step,
    rank_ranges,
    swap_sides,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reportgen.claims.vocabulary import Argument
    from reportgen.core.comparisons import Comparison, ProblemScores, RankGroup, RankRange, Score
    from reportgen.core.model import Curve, CurveSet, FloatArray
    from reportgen.core.statements import Fact, Scale


def check_step(curve: Curve, step: float, scale: Scale) -> float:
    """Return the curve's own step equal to ``step`` up to rounding; outside its range, a ``FactError``."""
    step = match_step(curve, step)
    if interpolate_value(curve, step) is None:
        where = describe_position(step, scale)
        raise FactError(f"{curve.series} has no value {where}", _describe_range(curve, scale))
    return step


def _describe_range(curve: Curve, scale: Scale) -> str:
    steps = get_points(curve).steps
    first, last = (describe_step(float(step), scale) for step in (steps[0], steps[-1]))
    return f"Its only value is at {first}" if steps.size == 1 else f"It has values from {first} to {last}"


def _index_pairs(comparisons: Iterable[Comparison]) -> dict[tuple[str, str], Comparison]:
    """Index comparisons by the names of both sides, in both orders."""
    known = {(one.a, one.b): one for one in comparisons}
    return {(b, a): swap_sides(one) for (a, b), one in known.items()} | known


def compare_pairs(curves: Sequence[Curve], scale: Scale, level: float) -> dict[tuple[str, str], Comparison]:
    """Compare all pairs at their last common step by Welch's t over runs, with Holm; keys in both orders."""
    # If neither direction is better, a verdict says which is higher; none is called better then.
    higher = scale.higher_is_better is not False
    return _index_pairs(compare_at_end(curves, level=level, higher_is_better=higher))


# Facts answered by ``evaluate_verdict``.
VERDICT_FACTS = frozenset({"p_value", "better", "unclear", "equivalent", "tied"})


def evaluate_verdict(
    question: Fact,
    one: Comparison,
    scale: Scale,
    numbers: tuple[float, ...] = (),
    *,
    behind: str,
    few: str,
    step: float | None = None,
) -> Fact:
    """Answer a question by a comparison, a minus b, adjusted together with all pairs of the subject.

    A pair that was not tested is neither better nor unclear: equal runs on both sides cannot be tested, and a
    difference between them may still be real. If the better direction is unknown, no series is known to be
    better. ``numbers`` holds the margin, for ``equivalent``; ``behind`` is the basis of the test, such as
    ``30 problems``; ``few`` is why it could not be tested if there are too few runs or problems; ``step`` is
    the step at which two curves were compared. Raises ``FactError`` for a margin of 0.
    """
    question, name = replace(question, step=step, n=one.shared), question.name
    untested = few if one.verdict is Verdict.TOO_FEW else one.reason or few
    if name == "equivalent":
        tested = _test_equivalence(question, one, numbers[0], scale, behind)
        return tested or replace(question, reason=untested)
    if one.adjusted_p is None:
        return replace(question, reason=untested)
    unclear = one.verdict is Verdict.UNCLEAR
    difference = format_quantity_interval(
        one.difference or 0.0, one.low, one.high, Quantity.DIFFERENCE, scale
    )
    note = f"difference {difference}, {_format_adjusted_p(one)}, {behind}"
    value: float | bool | None = None
    reason = ""
    if name == "p_value":
        value, note = one.adjusted_p, f"difference {difference}, {behind}"
    elif name == "tied" and unclear and not is_within(one.low, one.high):
        reason = f"the interval of the difference excludes 0, and the test does not decide: {note}"
        note = ""
    elif name in {"unclear", "tied"}:
        value, note = unclear, f"{note}; {one.reason}" if one.reason else note
    elif scale.higher_is_better is None and not unclear:
        reason = (
            f"the two differ, and it is not said whether a higher or a lower {scale.metric} is better: "
            "say higher_is_better: true or false in the block, or in a benchmark ranked by it"
        )
    else:
        value = one.verdict is Verdict.BETTER
        note += f"; {one.reason}" if FRAGILE in one.reason else ""
    return replace(question, value=value, reason=reason, note=note)


def _format_adjusted_p(one: Comparison) -> str:
    name = "adjusted p (false discovery rate)" if one.adjust == "fdr" else "adjusted p"
    return format_equation(name if one.tested_together > 1 else "p", format_p(one.adjusted_p or 0.0))


def is_within(low: float | None, high: float | None, value: float = 0.0) -> bool:
    """Return whether an interval contains a value; an unknown one may contain any."""
    return low is None or high is None or low <= value <= high


def _test_equivalence(
    question: Fact, one: Comparison, margin: float, scale: Scale, behind: str
) -> Fact | None:
    """Run two one-sided t tests at 5% (Schuirmann 1987): the 90% interval has to be inside the margin.

    An interval that was widened for what the standard error does not show is widened equally here. None if
    there is no interval.
    """
    if not margin > 0:
        raise FactError("The margin of equivalent is not above 0", "Give the largest difference that is none")
    if one.difference is None or not one.stderr or one.df is None or one.low is None or one.high is None:
        return None
    half = t_quantile(0.95, one.df) * one.stderr
    narrower = t_quantile(0.95, one.df) / t_quantile((1 + one.level) / 2, one.df)
    low = one.difference - max(half, (one.difference - one.low) * narrower)
    high = one.difference + max(half, (one.high - one.difference) * narrower)
    inside = -margin < low and high < margin
    difference = format_quantity_interval(one.difference, low, high, Quantity.DIFFERENCE, scale)
    limit = format_quantity(margin, Quantity.DIFFERENCE, scale, signed=False)
    where = "inside" if inside else "not inside"
    return replace(question, value=inside, note=f"difference {difference} at 90%, {where} ±{limit}, {behind}")


_FEWEST_RUNS = 2


class CurveSubject(Struct, frozen=True, eq=False, dict=True):
    """The curves of one metric: a ``Subject``; ``scale`` describes their numbers.

    Facts are about each series' centre before smoothing: the mean across runs, for ``iqr`` the median. Reduce
    with ``max_points=None`` for facts about every step. A fact has an interval if the band is a confidence
    interval, or the input's own; a peak or trough has none, since its step was picked for its value.
    """

    curve_set: CurveSet
    scale: Scale
    # Returns another metric of the same runs; raises ``FactError`` if there is no such metric.
    get_metric: Callable[[str], CurveSet]
    holds: ClassVar[Literal["curves"]] = "curves"

    @cached_property
    def series(self) -> tuple[str, ...]:
        """Names of its series, including those without a finite value."""
        empty = (name for name, _ in self.curve_set.without_values)
        return tuple(dict.fromkeys((*(curve.series for curve in self.curve_set.curves), *empty)))

    @cached_property
    def _curves(self) -> dict[str, Curve]:
        """The curves that have a point."""
        return {curve.series: curve for curve in self.curve_set.curves if get_points(curve).steps.size}

    @cached_property
    def _compared(self) -> dict[tuple[str, str], Comparison]:
        return compare_pairs(tuple(self._curves.values()), self.scale, self.curve_set.level)

    @cached_property
    def _differences(self) -> dict[tuple[str, str], tuple[FloatArray, FloatArray]]:
        """Steps and differences of the pairs that facts are about."""
        return {}

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """Return a fact of the vocabulary; see ``Subject``."""
        question, numbers = make_question(name, arguments, self)
        # Facts about steps do not exist if each run has one number, as in a sweep. The gap at their only step
        # is the difference of two means, with its interval.
        known = name in {"sd", "n", *VERDICT_FACTS} or (name == "gap" and numbers == (0.0,))
        value = self.scale.of_runs
        if value and (name != OF_RUNS[value] or numbers) and not known:
            message = f'"{name}" is about steps, and the figure has the {value} value of each run'
            curve = ", or bind it to a curve block" if self.scale.step_name else ""  # finished runs have none
            raise FactError(message, f"Say {OF_RUNS[value]}(s){curve}")
        missing = [series for series in question.series if series not in self._curves]
        if missing:
            return replace(question, reason=f"no finite value of {join_names(missing)}")
        a, b = self._curves[question.series[0]], self._curves[question.series[-1]]
        try:
            if name == "best_by":
                around = (str(arguments[1]), self.curve_set, self.scale)
                fact = run_facts.read_at_best(question, a, *around, get_metric=self.get_metric)
            elif name in run_facts.RUN_FACTS or (name == "mean" and not numbers):
                fact = run_facts.read_runs(question, a, numbers, self.scale, self.curve_set.level)
            elif name in VERDICT_FACTS:
                fact = self._evaluate_verdict(question, a, b, *numbers)
            elif a is b:
                fact = self._read_one(question, a, *numbers)
            else:
                fact = self._read_two(question, a, b, *numbers)
            if a.illustrative or b.illustrative:
                fact = run_facts.hide_interval(fact, VERDICT_FACTS)
            if value:
                own = f"mean of the {value} values of {format_count(fact.n, 'run')}"
                fact = replace(fact, step=None, note=own if name == OF_RUNS[value] else fact.note)
            return drop_infinite(fact)
        except OverflowError:
            return replace(question, reason=TOO_LARGE)

    def _read_one(self, question: Fact, curve: Curve, *numbers: float) -> Fact:
        steps, scale, series = get_points(curve).steps, self.scale, curve.series
        match name := question.name:
            case "start" | "final" | "at":
                step = float(steps[0 if name == "start" else -1])
                step = check_step(curve, numbers[0], scale) if name == "at" else step
                low, high, n = interpolate_band(curve, step)
                if self.curve_set.band not in INTERVALS and not curve.given:
                    low = high = None
                return replace(
                    question, value=interpolate_value(curve, step), step=step, low=low, high=high, n=n
                )
            case "mean":
                begin, end = numbers
                where = f"from {describe_step(begin, scale)} to {describe_step(end, scale)}"
                if begin > end:
                    raise FactError(f"There is no range {where}", "Write the earlier step first")
                begin, end = match_step(curve, begin), match_step(curve, end)
                value = mean_between(curve, begin, end)
                if value is None:
                    raise FactError(f"{series} has no step {where}", _describe_range(curve, scale))
                return replace(question, value=value, from_step=begin, to_step=end)
            case "steps_to":
                reached = find_step_reaching(curve, numbers[0], higher_is_better=scale.higher_is_better)
                reason = f"{series} never reaches {format_number(numbers[0])}" if reached is None else ""
                n = 0 if reached is None else interpolate_band(curve, reached).n
                return replace(question, value=reached, reason=reason, step=reached, n=n)
            case "volatility":
                value = volatility(curve)
                reason = f"3 steps are needed, {series} has {steps.size}" if value is None else ""
                first, last = (None, None) if value is None else (float(steps[0]), float(steps[-1]))
                n = 0 if value is None else int(curve.n.min())
                return replace(question, value=value, reason=reason, from_step=first, to_step=last, n=n)
            case "band_width":
                return self._measure_band(question, curve, check_step(curve, numbers[0], scale))
        return self._find_extreme(question, curve)

    def _measure_band(self, question: Fact, curve: Curve, step: float) -> Fact:
        low, high, n = interpolate_band(curve, step)
        if low is not None and high is not None:
            return replace(question, value=high - low, step=step, n=n)
        if curve.raw is not None:
            reason = f"the band of {curve.series} is that of the smoothed curve"
        elif curve.given:
            reason = f"no interval of {curve.series} is given there"
        elif self.curve_set.band == "none":
            reason = "the block has no band"
        else:
            reason = f"1 run of {curve.series}" if n == 1 else f"all runs of {curve.series} are equal there"
        return replace(question, reason=reason, step=step, n=n)

    def _find_extreme(self, question: Fact, curve: Curve) -> Fact:
        """Find the best or worst value (highest or lowest if neither is better), or its first step."""
        if question.name in run_facts.SEARCH_FACTS:
            raise FactError(f'"{question.name}" is about a search', "Bind it to a ladder block")
        steps, values = get_points(curve)
        best, higher = question.name.startswith("peak"), self.scale.higher_is_better
        step = float(steps[int((np.argmax if best is (higher is not False) else np.argmin)(values))])
        n = interpolate_band(curve, step).n
        if question.name.endswith("_step"):
            return replace(question, value=step, step=step, n=n)
        most = ("best" if best else "worst") if higher is not None else "highest" if best else "lowest"
        noun = "reading" if self.scale.step_is_time else "checkpoint"
        note = f"{most} of {format_count(steps.size, noun)}" if steps.size > 1 else ""
        return replace(question, value=interpolate_value(curve, step), step=step, n=n, note=note)

    def _read_two(self, question: Fact, a: Curve, b: Curve, *numbers: float) -> Fact:
        if question.name == "gap":
            step = check_step(b, check_step(a, numbers[0], self.scale), self.scale)
            gap = measure_gap(a, b, step, self.curve_set)
            return replace(question, value=gap.value, step=step, low=gap.low, high=gap.high, n=gap.n)
        pair = a.series, b.series
        if pair not in self._differences:
            self._differences[pair] = compute_differences(a, b)
        steps, difference = self._differences[pair]
        if not steps.size:
            return replace(question, reason=f"{a.series} and {b.series} share no step")
        if question.name == "crossings":
            crossed = find_crossings(steps, difference).tolist()
            if len(crossed) == 1:
                return replace(question, value=1.0, step=crossed[0])
            ends = crossed or steps.tolist()
            return replace(question, value=float(len(crossed)), from_step=ends[0], to_step=ends[-1])
        place = int(np.argmax(np.abs(difference)))
        step = float(steps[place])
        value = step if question.name == "widest_gap_step" else abs(float(difference[place]))
        return replace(question, value=value, step=step)

    def _evaluate_verdict(self, question: Fact, a: Curve, b: Curve, *numbers: float) -> Fact:
        one, step = self._compared.get((a.series, b.series)), find_last_common_step(a, b)
        if one is None or step is None:
            return replace(question, reason=f"{a.series} and {b.series} share no step")
        counts, few = [], []
        for curve in (a, b):
            count = sum(bool(run.steps.size) and run.steps[0] <= step <= run.steps[-1] for run in curve.runs)
            counts.append(count)
            if count < _FEWEST_RUNS:
                where = f" {describe_position(step, self.scale)}" if count < len(curve.runs) else ""
                few.append(f"{format_count(count, 'run')} of {curve.series}{where}")
        whose = "a side" if counts[0] == counts[1] else f"of {a.series} and {counts[1]} of {b.series}"
        behind = f"{format_count(counts[0], 'run')} {whose}"
        few_words = join_names(few)
        if few and self.curve_set.given_interval == _OF_SCORES:
            few_words += "; a comparison or scores block can decide it, which pairs their answers by problem"
        return evaluate_verdict(question, one, self.scale, numbers, behind=behind, few=few_words, step=step)


# The interval of curves that are scores of checkpoints.
_OF_SCORES = "standard errors of scores"
# Scores whose relative difference is below this are equal up to rounding.
_SAME_SCORE = 1e-12


class ScoreSubject(Struct, frozen=True, eq=False, dict=True):
    """The scores of one benchmark and metric: a ``Subject``; ``scale`` describes their numbers."""

    scores: tuple[Score, ...]  # one per series
    comparisons: tuple[Comparison, ...]  # of all pairs that can be compared, adjusted together
    groups: tuple[RankGroup, ...]  # of these scores and comparisons
    scale: Scale
    untested: str = ""  # why nothing is compared, unless problems are not known
    problems: ProblemScores | None = None  # what they were computed from
    holds: ClassVar[Literal["scores"]] = "scores"

    @property
    def series(self) -> tuple[str, ...]:
        """Names of its series, including those without a score."""
        return tuple(score.series for score in self.scores)

    @cached_property
    def _compared(self) -> dict[tuple[str, str], Comparison]:
        return _index_pairs(self.comparisons)

    @cached_property
    def ranges(self) -> dict[str, RankRange]:
        """Possible ranks of each series by the verdicts; empty if nothing was compared."""
        if not self.comparisons:
            return {}
        return {one.series: one for one in rank_ranges(self.scores, self.comparisons)}

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """Return a fact of the vocabulary; see ``Subject``."""
        question, numbers = make_question(name, arguments, self)
        by_series = {score.series: score for score in self.scores}
        if name in run_facts.STATUS_FACTS:
            return run_facts.read_statuses(question, self.problems, by_series[question.series[0]].metric)
        scores = [by_series[series] for series in question.series]
        reasons = [one.reason or f"no score of {one.series}" for one in scores if one.estimate is None]
        if len(scores) == 1:
            missing = replace(question, reason=reasons[0], n=scores[0].problems) if reasons else None
            return missing or drop_infinite(self._rate(question, scores[0]))
        a, b = question.series
        one = self._compared.get((a, b))
        if one is None:
            reasons.append(self.untested or f"no problems are known on which {a} and {b} could be compared")
            return replace(question, reason=reasons[0])
        shared = format_count(one.shared, "shared problem") if one.shared else "no shared problem"
        if name in VERDICT_FACTS:
            fact = evaluate_verdict(question, one, self.scale, numbers, behind=shared, few=shared)
        elif name == "flips" and self.problems and one.shared:
            known = self.problems
            flips = find_flips(known.problems, count_answers(known, b), count_answers(known, a))
            fact = replace(question, value=float(sum(one.change > 0 for one in flips)), n=one.shared)
        elif one.difference is None or name == "flips":
            fact = replace(question, reason=one.reason or shared)
        else:
            fact = replace(question, value=one.difference, low=one.low, high=one.high, n=one.shared)
        return drop_infinite(fact)

    def _rate(self, question: Fact, score: Score) -> Fact:
        match name := question.name:
            case "score":
                return replace(
                    question, value=score.estimate, low=score.low, high=score.high, n=score.problems
                )
            case "low" | "high":
                end = score.low if name == "low" else score.high
                reason = "" if end is not None else score.reason or f"no interval of {score.series}"
                return replace(question, value=end, reason=reason, n=score.problems)
            case "rank":
                # 1 plus the number of series with a better score; equal scores share a rank.
                sign, own = (1 if self.scale.higher_is_better else -1), score.estimate or 0.0
                others = [other.estimate for other in self.scores if other.estimate is not None]
                better = sum(
                    sign * other > sign * own and not math.isclose(other, own, rel_tol=_SAME_SCORE)
                    for other in others
                )
                return replace(question, value=float(better + 1))
            case "group" | "tier":
                own_ranks = (float(group.rank) for group in self.groups if score.series in group.series)
                rank = next(own_ranks, None)
                return replace(
                    question, value=rank, reason="" if rank is not None else f"{score.series} is in no group"
                )
        one = self.ranges.get(score.series)
        if one is None:
            reason = f"no problems are known on which {score.series} could be compared"
            return replace(question, reason=self.untested or reason)
        ranks = f"rank {one.best}" if one.best == one.worst else f"rank {one.best} to {one.worst}"
        return replace(
            question,
            value=float(one.best if name == "best_rank" else one.worst),
            note=f"{ranks} of {one.count}",
        )
