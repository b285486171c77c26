"""Facts about the scores of one benchmark."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from reportgen.claims.facts.calls import VERDICT_FACTS, Answer, Call, evaluate_verdict, make_call, make_fact
from reportgen.core.words import format_count
from reportgen.statistics.verdicts import rank_ranges, swap_sides

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.claims.facts.vocabulary import Argument
    from reportgen.core.comparisons import Comparison, RankGroup, RankRange
    from reportgen.core.outcomes import Score
    from reportgen.core.statements import Fact, Scale


# Scores that differ by less than this share of their size are one score, computed in two ways.
_SAME = 1e-12


@dataclass(frozen=True, eq=False)  # no slots: derived values are cached in the instance
class ScoreSubject:
    """The scores of one benchmark and metric: a ``Subject``.

    Attributes:
        scores: one a series.
        comparisons: of all pairs that can be compared, in any direction, adjusted together.
        groups: of these scores and comparisons.
        scale: what their numbers mean.
    """

    scores: tuple[Score, ...]
    comparisons: tuple[Comparison, ...]
    groups: tuple[RankGroup, ...]
    scale: Scale

    @property
    def holds(self) -> Literal["scores"]:
        """Which of the vocabulary's facts there are."""
        return "scores"

    @property
    def series(self) -> tuple[str, ...]:
        """The names of its series, also of those without a score."""
        return tuple(score.series for score in self.scores)

    @cached_property
    def _by_series(self) -> dict[str, Score]:
        return {score.series: score for score in self.scores}

    @cached_property
    def _compared(self) -> dict[tuple[str, str], Comparison]:
        """Comparisons by the names of both sides, in both orders."""
        both = {(one.b, one.a): swap_sides(one) for one in self.comparisons}
        return both | {(one.a, one.b): one for one in self.comparisons}

    @cached_property
    def ranges(self) -> dict[str, RankRange]:
        """The ranks that the verdicts leave to each series; empty where nothing was compared."""
        if not self.comparisons:
            return {}
        return {one.series: one for one in rank_ranges(self.scores, self.comparisons)}

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """A fact of the vocabulary; see ``Subject``."""
        call = make_call(name, arguments, self)
        return make_fact(call, self._compute_answer(call))

    def _compute_answer(self, call: Call) -> Answer:
        if call.name in _SCORE_FACTS:
            score = self._by_series[call.series[0]]
            if score.estimate is None:
                return Answer(None, score.reason or f"no score of {score.series}", n=score.problems)
            return _SCORE_FACTS[call.name](self, score)
        one = self._compared.get((call.series[0], call.series[1]))
        if one is None:
            return Answer(None, self._explain_missing(*call.series))
        shared = format_count(one.shared, "shared problem") if one.shared else "no shared problem"
        if call.name in VERDICT_FACTS:
            return evaluate_verdict(call.name, one, self.scale, call.numbers, behind=shared, few=shared)
        if one.difference is None:
            return Answer(None, one.reason or shared)
        return Answer(one.difference, low=one.low, high=one.high, n=one.shared)

    def _explain_missing(self, *names: str) -> str:
        missing = [self._by_series[name] for name in names if self._by_series[name].estimate is None]
        if missing:
            return missing[0].reason or f"no score of {missing[0].series}"
        return f"no problems are known on which {names[0]} and {names[1]} could be compared"


def _score(_: ScoreSubject, score: Score) -> Answer:
    return Answer(score.estimate, low=score.low, high=score.high, n=score.problems)


def _report_end(score: Score, end: float | None) -> Answer:
    reason = "" if end is not None else score.reason or f"no interval of {score.series}"
    return Answer(end, reason, n=score.problems)


def _rank(subject: ScoreSubject, score: Score) -> Answer:
    """1 and the number of series with a better score; equal scores share a rank."""
    sign, own = (1 if subject.scale.higher_is_better else -1), score.estimate or 0.0
    others = [other.estimate for other in subject.scores if other.estimate is not None]
    better = sum(
        sign * other > sign * own and not math.isclose(other, own, rel_tol=_SAME) for other in others
    )
    return Answer(float(better + 1))


def _group(subject: ScoreSubject, score: Score) -> Answer:
    for group in subject.groups:
        if score.series in group.series:
            return Answer(float(group.rank))
    return Answer(None, f"{score.series} is in no group")


def _report_rank_end(subject: ScoreSubject, score: Score, end: Callable[[RankRange], int]) -> Answer:
    one = subject.ranges.get(score.series)
    if one is None:
        return Answer(None, f"no problems are known on which {score.series} could be compared")
    ranks = f"rank {one.best}" if one.best == one.worst else f"rank {one.best} to {one.worst}"
    return Answer(float(end(one)), note=f"{ranks} of {one.count}")


_SCORE_FACTS: dict[str, Callable[[ScoreSubject, Score], Answer]] = {
    "score": _score,
    "low": lambda _, score: _report_end(score, score.low),
    "high": lambda _, score: _report_end(score, score.high),
    "rank": _rank,
    "best_rank": lambda subject, score: _report_rank_end(subject, score, attrgetter("best")),
    "worst_rank": lambda subject, score: _report_rank_end(subject, score, attrgetter("worst")),
    "group": _group,
    "tier": _group,
}
