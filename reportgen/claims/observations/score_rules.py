"""The rules for scores: best score, score groups, undecided pairs and the widest difference."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from reportgen.claims.fact_words import describe_fact, format_few, format_quantity_interval
from reportgen.claims.observations.field import observe
from reportgen.core.comparisons import Verdict
from reportgen.core.statements import Observation, Quantity
from reportgen.core.words import format_count, format_equation, format_p
from reportgen.settings.block_parts import Rule
from reportgen.statistics.verdicts import swap_sides

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.claims.subjects import ScoreSubject
    from reportgen.core.comparisons import Comparison, Score


_PAIR = 2
_ALPHA = 0.05
_MOST_NAMED = 6
_COUNT_WORDS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six"}  # numbers at the start of a sentence
_UNDECIDED = 1.0  # strength of an undecided comparison


class ScoreField(Struct, frozen=True, dict=True):
    """Scores of a benchmark as input of the rules."""

    subject: ScoreSubject

    @cached_property
    def ranked(self) -> tuple[Score, ...]:
        """Known scores, best first; ties by name."""
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

    def format_score(self, score: Score, *, short: bool = False) -> str:
        """Format a score with or without its interval: ``61.0% [50.2, 71.1]``."""
        low, high = (None, None) if short else (score.low, score.high)
        return format_quantity_interval(score.estimate or 0.0, low, high, Quantity.VALUE, self.subject.scale)

    def format_difference(self, one: Comparison) -> str:
        """Format a difference: ``+3.2 points [+0.4, +6.0], p = 0.01 on 30 shared problems``."""
        shared, scale = f"on {format_count(one.shared, 'shared problem')}", self.subject.scale
        if one.difference is None:
            return f"{one.reason or 'no shared problem'} {shared}"
        words = format_quantity_interval(one.difference, one.low, one.high, Quantity.DIFFERENCE, scale)
        return f"{words} {shared}" if one.adjusted_p is None else f"{words}, {_format_p(one)} {shared}"

    def list_evidence(self, name: str, *arguments: tuple[str, ...]) -> list[str]:
        """List a fact about several series or pairs in words."""
        return [describe_fact(self.subject.fact(name, one), self.subject.scale) for one in arguments]


def observe_best_score(field: ScoreField) -> Iterator[Observation]:
    """Yield the best score, with interval and problems, and the series that do not clearly differ."""
    if len(field.ranked) < _PAIR:
        return
    first, second = field.ranked[:_PAIR]
    most = "highest" if field.subject.scale.higher_is_better else "lowest"
    behind = f" on {format_count(first.problems, 'problem')}" if first.problems else ""
    head = f"{first.series} has the {most} score, {field.format_score(first)}{behind}"
    own = [one for one in field.pairs if one.a == first.series]
    near = next((one for one in own if one.verdict is not Verdict.BETTER), None)
    level = [score.series for score in field.ranked if score.estimate == first.estimate]
    unclear = [one for one in own if one.verdict is Verdict.UNCLEAR]
    if len(level) > 1:
        score = field.format_score(first, short=True)
        text = f"{format_few(level, _MOST_NAMED)} share the {most} score, {score}{behind}."
    elif not own:
        text = f"{head}; {second.series} is next, {field.format_score(second)}, and was not compared with it."
    elif near is None:
        others = f"each of the {len(own):,} others; nearest is " if len(own) > 1 else ""
        text = f"{head}, and is better than {others}{own[0].b}: {field.format_difference(own[0])}."
    elif unclear:
        names = format_few([one.b for one in unclear], _MOST_NAMED)
        which = "" if len(unclear) == 1 else f"{unclear[0].b} "
        difference = f"{which}{field.format_difference(unclear[0])}"
        text = f"{head}, but is not clearly different from {names}: {difference}."
    else:
        few = format_count(near.shared, "shared problem")
        text = f"{head}, but {few} are too few for a verdict against {near.b}."
    evidence = field.list_evidence("score", (first.series,), (second.series,))
    evidence += field.list_evidence("difference", *((one.a, one.b) for one in own[:_MOST_NAMED]))
    judged = near or (own[0] if own else None)
    threshold, strength = _rate(judged, "no problems are known on which to compare")
    basis = threshold, strength if near is None else _UNDECIDED
    yield observe(Rule.BEST, text, evidence, basis, [score.series for score in field.ranked])


def observe_score_groups(field: ScoreField) -> Iterator[Observation]:
    """Yield the groups: every series of one is better than every one of the next."""
    groups = field.subject.groups
    if len(groups) < _PAIR or len(field.ranked) <= _PAIR:
        return
    scores = {score.series: field.format_score(score, short=True) for score in field.ranked}
    listed = [[f"{name} ({scores[name]})" for name in group.series] for group in groups]
    parts = [format_few(names, _MOST_NAMED) for names in listed]
    rank = {name: group.rank for group in groups for name in group.series}
    cuts = [one for one in field.pairs if rank.get(one.a, 0) < rank.get(one.b, 0)]
    closest = max(cuts, key=lambda one: one.adjusted_p or 0.0, default=None)
    text = (
        f"{_COUNT_WORDS.get(len(groups), str(len(groups)))} groups, best first: {'; then '.join(parts)}. "
        "Every series of a group is better than every one of the groups after it."
    )
    names = [name for group in groups for name in group.series]
    evidence = field.list_evidence("group", *((name,) for name in names))
    basis = _rate(closest, "the verdicts of the comparisons")
    yield observe(Rule.TIERS, text, evidence, basis, names)


def observe_undecided(field: ScoreField) -> Iterator[Observation]:
    """Yield the number of unclear pairs, and the largest difference among them."""
    unclear = [one for one in field.pairs if one.verdict is Verdict.UNCLEAR and one.difference]
    if len(field.ranked) <= _PAIR or not unclear:
        return
    largest = max(unclear, key=lambda one: abs(one.difference or 0.0))
    verb = "is" if len(unclear) == 1 else "are"
    head = f"{len(unclear):,} of {len(field.pairs):,} pairs {verb} not clearly different"
    if len(unclear) == len(field.pairs):
        head = f"None of the {len(unclear):,} pairs is clearly different"
    pair = largest.a, largest.b
    of = " and ".join(pair)
    text = f"{head}; the largest such difference is that of {of}: {field.format_difference(largest)}."
    evidence = field.list_evidence("unclear", *((one.a, one.b) for one in unclear[:_MOST_NAMED]))
    yield observe(Rule.TIERS, text, evidence, (_rate(largest)[0], _UNDECIDED), pair)


def observe_widest_difference(field: ScoreField) -> Iterator[Observation]:
    """Yield the largest difference that a comparison decides, among three or more series."""
    decided = [one for one in field.pairs if one.verdict is Verdict.BETTER and one.difference is not None]
    if len(field.ranked) <= _PAIR or not decided:
        return
    largest = max(decided, key=lambda one: abs(one.difference or 0.0))
    pair = largest.a, largest.b
    text = f"{largest.a} and {largest.b} lie furthest apart: {field.format_difference(largest)}."
    evidence = field.list_evidence("difference", pair)
    evidence += field.list_evidence("score", *((name,) for name in pair))
    yield observe(Rule.WIDEST_GAP, text, evidence, _rate(largest), pair)


# The rules that apply to scores.
SCORE_RULES: dict[Rule, tuple[Callable[[ScoreField], Iterator[Observation]], ...]] = {
    Rule.BEST: (observe_best_score,),
    Rule.TIERS: (observe_score_groups, observe_undecided),
    Rule.WIDEST_GAP: (observe_widest_difference,),
}


def _format_p(one: Comparison) -> str:
    return format_equation("p", format_p(one.adjusted_p or 0.0))


def _rate(one: Comparison | None, missing: str = "") -> tuple[str, float]:
    """Return what decided the verdict, if anything was tested, and the difference over half its interval."""
    if one is None:
        return missing, _UNDECIDED
    strength = _UNDECIDED
    if one.difference is not None and one.low is not None and one.high is not None and one.high > one.low:
        strength = min(abs(one.difference) / ((one.high - one.low) / 2), 100.0)
    if one.adjusted_p is None:
        return one.reason or "not tested", strength
    words = f"{_format_p(one)} is not below 0.05"
    if one.verdict in {Verdict.BETTER, Verdict.WORSE}:
        words = f"{_format_p(one)} is below 0.05, and the interval leaves out 0"
    elif one.adjusted_p < _ALPHA:
        words = f"{_format_p(one)} is below 0.05, but the interval holds 0"
    together = one.tested_together
    return f"{words}; adjusted for {together:,} tested together" if together > 1 else words, strength
