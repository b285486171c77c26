"""Rules about scores of one benchmark: who is best, which groups there are, and what is unclear."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from reportgen.claims.facts.fact_words import describe_fact, format_quantity, format_quantity_interval
from reportgen.claims.observations.phrases import format_few
from reportgen.claims.observations.rules.ranking import COUNT_WORDS
from reportgen.core.comparisons import Verdict
from reportgen.core.statements import Observation, Quantity
from reportgen.core.words import format_count, format_equation, format_p
from reportgen.settings.blocks import Rule
from reportgen.statistics.verdicts import swap_sides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.claims.facts.score_facts import ScoreSubject
    from reportgen.core.comparisons import Comparison
    from reportgen.core.outcomes import Score


_PAIR = 2
_ALPHA = 0.05
_MOST_NAMED = 6
_UNDECIDED = 1.0
"""Strength of a doubt."""


@dataclass(frozen=True)  # no slots: derived values are cached in the instance
class ScoreField:
    """The scores of a benchmark as rules look at them."""

    subject: ScoreSubject

    @cached_property
    def ranked(self) -> tuple[Score, ...]:
        """The scores that there are, best first; of equal ones by name."""
        sign = -1 if self.subject.scale.higher_is_better else 1
        known = [score for score in self.subject.scores if score.estimate is not None]
        return tuple(sorted(known, key=lambda score: (sign * (score.estimate or 0.0), score.series)))

    @cached_property
    def pairs(self) -> tuple[Comparison, ...]:
        """Comparisons with the better score first, in the order of ranks."""
        rank = {score.series: place for place, score in enumerate(self.ranked)}
        there = [one for one in self.subject.comparisons if one.a in rank and one.b in rank]
        turned = [one if rank[one.a] < rank[one.b] else swap_sides(one) for one in there]
        return tuple(sorted(turned, key=lambda one: (rank[one.a], rank[one.b])))

    def format_score(self, score: Score) -> str:
        """A score with its interval: ``61.0 % [50.2, 71.1]``."""
        value, scale = score.estimate or 0.0, self.subject.scale
        if score.low is None or score.high is None:
            return format_quantity(value, Quantity.VALUE, scale)
        return format_quantity_interval(value, score.low, score.high, Quantity.VALUE, scale)

    def format_difference(self, one: Comparison) -> str:
        """A difference with its interval and p: ``+3.2 points [+0.4, +6.0], p = 0.01``."""
        scale = self.subject.scale
        if one.difference is None:
            return one.reason or "no shared problem"
        said = format_quantity(one.difference, Quantity.DIFFERENCE, scale)
        if one.low is not None and one.high is not None:
            said = format_quantity_interval(one.difference, one.low, one.high, Quantity.DIFFERENCE, scale)
        return said if one.adjusted_p is None else f"{said}, {_format_p(one)}"

    def list_evidence(self, *facts: tuple[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Facts in words."""
        answers = (self.subject.fact(name, arguments) for name, arguments in facts)
        return tuple(describe_fact(fact, self.subject.scale) for fact in answers)


def observe_best_score(field: ScoreField) -> Iterator[Observation]:
    """Who has the best score, with interval and problems, and from whom it does not clearly differ."""
    if len(field.ranked) < _PAIR:
        return
    first, second = field.ranked[:_PAIR]
    most = "highest" if field.subject.scale.higher_is_better else "lowest"
    behind = f" on {format_count(first.problems, 'problem')}" if first.problems else ""
    head = f"{first.series} has the {most} score, {field.format_score(first)}{behind}"
    own = [one for one in field.pairs if one.a == first.series]
    near = next((one for one in own if one.verdict is not Verdict.BETTER), None)
    level = [score.series for score in field.ranked if score.estimate == first.estimate]
    if len(level) > 1:
        text = (
            f"{format_few(level, _MOST_NAMED)} share the {most} score, {_format_short(field, first)}{behind}."
        )
    elif not own:
        text = f"{head}; {second.series} is next, {field.format_score(second)}, and was not compared with it."
    elif near is None:
        others = f"each of the {len(own):,} others; nearest is " if len(own) > 1 else ""
        difference = f"{field.format_difference(own[0])} {_format_shared(own[0])}"
        text = f"{head}, and is better than {others}{own[0].b}: {difference}."
    else:
        text = f"{head}, but {_describe_doubts(field, own, near)}."
    judged = near or (own[0] if own else None)
    facts: list[tuple[str, tuple[str, ...]]] = [("score", (one.series,)) for one in (first, second)]
    facts += [("difference", (one.a, one.b)) for one in own[:_MOST_NAMED]]
    yield Observation(
        rule=Rule.BEST,
        text=text,
        evidence=field.list_evidence(*facts),
        threshold=_describe_threshold(judged) if judged else "no problems are known on which to compare",
        series=tuple(score.series for score in field.ranked),
        strength=_compute_strength(judged) if judged and near is None else _UNDECIDED,
    )


def observe_score_groups(field: ScoreField) -> Iterator[Observation]:
    """Groups: every series of one is better than every one of the next."""
    groups = field.subject.groups
    if len(groups) < _PAIR or len(field.ranked) <= _PAIR:
        return
    scores = {score.series: score for score in field.ranked}
    said = [
        format_few([f"{name} ({_format_short(field, scores[name])})" for name in group.series], _MOST_NAMED)
        for group in groups
    ]
    rank = {name: group.rank for group in groups for name in group.series}
    cuts = [one for one in field.pairs if rank.get(one.a, 0) < rank.get(one.b, 0)]
    closest = max(cuts, key=lambda one: one.adjusted_p or 0.0, default=None)
    yield Observation(
        rule=Rule.TIERS,
        text=(
            f"{COUNT_WORDS.get(len(groups), str(len(groups)))} groups, best first: {'; then '.join(said)}. "
            "Every series of a group is better than every one of the groups after it."
        ),
        evidence=field.list_evidence(*(("group", (name,)) for group in groups for name in group.series)),
        threshold=_describe_threshold(closest) if closest else "the verdicts of the comparisons",
        series=tuple(name for group in groups for name in group.series),
        strength=_compute_strength(closest) if closest else _UNDECIDED,
    )


def observe_undecided(field: ScoreField) -> Iterator[Observation]:
    """How many pairs are unclear, and the largest difference among them."""
    open_pairs = [one for one in field.pairs if one.verdict is Verdict.UNCLEAR and one.difference]
    if len(field.ranked) <= _PAIR or not open_pairs:
        return
    largest = max(open_pairs, key=lambda one: abs(one.difference or 0.0))
    total = len(field.pairs)
    if len(open_pairs) == total:
        said = f"None of the {total:,} pairs is clearly different"
    else:
        verb = "is" if len(open_pairs) == 1 else "are"
        said = f"{len(open_pairs):,} of {total:,} pairs {verb} not clearly different"
    yield Observation(
        rule=Rule.TIERS,
        text=(
            f"{said}; the largest such difference is that of {largest.a} and "
            f"{largest.b}: {field.format_difference(largest)} {_format_shared(largest)}."
        ),
        evidence=field.list_evidence(*(("unclear", (one.a, one.b)) for one in open_pairs[:_MOST_NAMED])),
        threshold=_describe_threshold(largest),
        series=(largest.a, largest.b),
        strength=_UNDECIDED,
    )


def observe_widest_difference(field: ScoreField) -> Iterator[Observation]:
    """The largest difference that a comparison decides, of three or more series."""
    decided = [one for one in field.pairs if one.verdict is Verdict.BETTER and one.difference is not None]
    if len(field.ranked) <= _PAIR or not decided:
        return
    largest = max(decided, key=lambda one: abs(one.difference or 0.0))
    yield Observation(
        rule=Rule.WIDEST_GAP,
        text=(
            f"{largest.a} and {largest.b} lie furthest apart: {field.format_difference(largest)} "
            f"{_format_shared(largest)}."
        ),
        evidence=field.list_evidence(
            ("difference", (largest.a, largest.b)),
            *(("score", (name,)) for name in (largest.a, largest.b)),
        ),
        threshold=_describe_threshold(largest),
        series=(largest.a, largest.b),
        strength=_compute_strength(largest),
    )


SCORE_RULES: dict[Rule, tuple[Callable[[ScoreField], Iterator[Observation]], ...]] = {
    Rule.BEST: (observe_best_score,),
    Rule.TIERS: (observe_score_groups, observe_undecided),
    Rule.WIDEST_GAP: (observe_widest_difference,),
}
"""The rules that have something to say about scores."""


def _format_shared(one: Comparison) -> str:
    return f"on {format_count(one.shared, 'shared problem')}"


def _describe_doubts(field: ScoreField, own: list[Comparison], near: Comparison) -> str:
    """From whom the best is not clearly different, and the nearest difference; or too few problems."""
    unclear = [one.b for one in own if one.verdict is Verdict.UNCLEAR]
    if not unclear:
        return f"{format_count(near.shared, 'shared problem')} are too few for a verdict against {near.b}"
    nearest = next(one for one in own if one.verdict is Verdict.UNCLEAR)
    which = "" if len(unclear) == 1 else f"{nearest.b} "
    return (
        f"is not clearly different from {format_few(unclear, _MOST_NAMED)}: "
        f"{which}{field.format_difference(nearest)} {_format_shared(nearest)}"
    )


def _format_short(field: ScoreField, score: Score) -> str:
    return format_quantity(score.estimate or 0.0, Quantity.VALUE, field.subject.scale)


def _format_p(one: Comparison) -> str:
    return format_equation("p", format_p(one.adjusted_p or 0.0))


def _describe_threshold(one: Comparison) -> str:
    """What decided the verdict: p, the interval, or that there was nothing to test."""
    if one.adjusted_p is None:
        return one.reason or "not tested"
    decided = one.verdict in {Verdict.BETTER, Verdict.WORSE}
    if decided:
        held = f"{_format_p(one)} is below 0.05, and the interval leaves out 0"
    elif one.adjusted_p < _ALPHA:
        held = f"{_format_p(one)} is below 0.05, but the interval holds 0"
    else:
        held = f"{_format_p(one)} is not below 0.05"
    together = one.tested_together
    return f"{held}; adjusted for {together:,} tested together" if together > 1 else held


def _compute_strength(one: Comparison | None) -> float:
    """The difference by half its interval."""
    if one is None or one.difference is None or one.low is None or one.high is None or one.high <= one.low:
        return _UNDECIDED
    return min(abs(one.difference) / ((one.high - one.low) / 2), 100.0)
