"""Facts about scores: those that tables show, and what is said where there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from made_outcomes import matrix
from made_scored import score_context, scored
from msgspec.structs import replace
from scipy import stats

from reportgen.claims.fact_words import describe_fact
from reportgen.claims.subjects import ScoreSubject
from reportgen.claims.vocabulary import FactError, collect_facts
from reportgen.core.comparisons import Verdict
from reportgen.core.facts import list_fact_kinds
from reportgen.core.statements import Scale
from reportgen.figures.scores.wording import format_difference, format_interval, format_score_estimate
from reportgen.statistics.scores import score_total

if TYPE_CHECKING:
    from reportgen.claims.vocabulary import Argument
    from reportgen.figures.plot import BenchmarkScores

SCALE = Scale("pass@1", step_name="", bounds=(0.0, 1.0))


def measured(problems: int = 40) -> BenchmarkScores:
    """A solves nearly all, B half, and C one less than B."""
    half = problems // 2
    right = [[1.0] * (problems - 1) + [0.0]]
    right += [[1.0] * count + [0.0] * (problems - count) for count in (half, half - 1)]
    return scored(matrix(np.array(right)[:, :, np.newaxis]))


def subject(of: BenchmarkScores, scale: Scale = SCALE) -> ScoreSubject:
    """Facts about these scores."""
    return ScoreSubject(of.scores, of.comparisons, of.groups, scale)


def value(of: ScoreSubject, name: str, *arguments: Argument) -> float | bool | None:
    """The value of a fact."""
    return of.fact(name, arguments).value


def test_scores_and_their_intervals() -> None:
    """They are the scores' own, n the problems."""
    shown = measured()
    of = subject(shown)
    for score in shown.scores:
        fact = of.fact("score", (score.series,))
        assert (fact.value, fact.low, fact.high, fact.n) == (score.estimate, score.low, score.high, 40)
        assert value(of, "low", score.series) == score.low
        assert value(of, "high", score.series) == score.high


def test_ranks_and_groups() -> None:
    """Ranks by score, equal scores sharing one; groups as they were cut."""
    of = subject(measured())
    assert [value(of, "rank", name) for name in "ABC"] == [1.0, 2.0, 3.0]
    assert [value(of, "group", name) for name in "ABC"] == [1.0, 2.0, 2.0]
    shown = measured()
    tied = replace(shown.scores[2], estimate=(shown.scores[1].estimate or 0.0) + 1e-16)
    of = ScoreSubject((*shown.scores[:2], tied), shown.comparisons, shown.groups, SCALE)
    assert [value(of, "rank", name) for name in "ABC"] == [1.0, 2.0, 2.0]


def test_rank_ranges() -> None:
    """What the verdicts leave: A is better than both, and B and C may change places."""
    of = subject(measured())
    assert [value(of, "best_rank", name) for name in "ABC"] == [1.0, 2.0, 2.0]
    assert [value(of, "worst_rank", name) for name in "ABC"] == [1.0, 3.0, 3.0]
    assert of.fact("worst_rank", ("B",)).note == "rank 2 to 3 of 3"
    given = ScoreSubject((score_total("A", 0.8, 0.01), score_total("B", 0.7)), (), (), SCALE)
    assert given.fact("best_rank", ("A",)).reason == "no problems are known on which A could be compared"


def test_equivalent_within_a_margin() -> None:
    """Two one-sided tests: the 90% CI by scipy's t, and never narrower than the one shown suggests."""
    shown = measured()
    (one,) = [one for one in shown.comparisons if {one.a, one.b} == {"B", "C"}]
    known = replace(one, stderr=0.01, df=30.0, low=-0.01, high=0.06, difference=0.025)
    half = float(stats.t.ppf(0.95, 30)) * 0.01
    wide = (0.06 - 0.025) * float(stats.t.ppf(0.95, 30) / stats.t.ppf(0.975, 30))
    assert wide > half
    of = ScoreSubject(shown.scores, (known,), shown.groups, SCALE)
    assert value(of, "equivalent", "B", "C", 0.025 + wide + 1e-9) is True
    assert value(of, "equivalent", "C", "B", 0.025 + wide + 1e-9) is True
    assert value(of, "equivalent", "B", "C", 0.025 + wide - 1e-9) is False
    fact = of.fact("equivalent", ("B", "C", 0.08))
    assert fact.note == "difference +2.5 points [−0.4, +5.4] at 90%, inside ±8.0 points, 40 shared problems"
    with pytest.raises(FactError, match="not above 0"):
        of.fact("equivalent", ("B", "C", 0.0))
    unknown = ScoreSubject(shown.scores, (replace(known, stderr=None),), shown.groups, SCALE)
    assert value(unknown, "equivalent", "B", "C", 1.0) is None


def test_tied_is_undecided_where_the_interval_excludes_0() -> None:
    """The old name does not turn a test without a verdict into equality."""
    shown = measured()
    (one,) = [one for one in shown.comparisons if {one.a, one.b} == {"B", "C"}]
    open_one = replace(one, low=0.001, high=0.05, verdict=Verdict.UNCLEAR)
    of = ScoreSubject(shown.scores, (open_one,), shown.groups, SCALE)
    assert value(of, "unclear", "B", "C") is True
    assert "excludes 0" in of.fact("tied", ("B", "C")).reason
    assert value(subject(shown), "tied", "B", "C") is True


def test_rank_where_lower_is_better() -> None:
    """The lowest score ranks first."""
    of = subject(measured(), replace(SCALE, higher_is_better=False))
    assert [value(of, "rank", name) for name in "ABC"] == [3.0, 2.0, 1.0]


def test_pairs_are_the_comparisons() -> None:
    """Difference, p and verdict of each pair, from either side."""
    shown = measured()
    of = subject(shown)
    for one in shown.comparisons:
        fact = of.fact("difference", (one.a, one.b))
        assert (fact.value, fact.low, fact.high, fact.n) == (one.difference, one.low, one.high, 40)
        turned = of.fact("difference", (one.b, one.a))
        assert one.difference is not None
        assert one.high is not None
        assert (turned.value, turned.low) == (-one.difference, -one.high)
        assert value(of, "p_value", one.a, one.b) == one.adjusted_p == value(of, "p_value", one.b, one.a)
        assert value(of, "better", one.a, one.b) is (one.verdict is Verdict.BETTER)
        assert value(of, "better", one.b, one.a) is (one.verdict is Verdict.WORSE)
        assert value(of, "unclear", one.b, one.a) is (one.verdict is Verdict.UNCLEAR)
    assert [value(of, "better", *pair) for pair in ("AB", "BA", "BC")] == [True, False, False]


def test_too_few_problems_decide_nothing() -> None:
    """Neither better nor unclear nor p, but the difference is what it is."""
    of = subject(measured(4))
    for name in ("better", "unclear", "tied", "p_value"):
        assert (of.fact(name, ("A", "B")).value, of.fact(name, ("A", "B")).reason) == (
            None,
            "4 shared problems",
        )
    assert value(of, "difference", "A", "B") == 0.25


def test_no_shared_problem() -> None:
    """There is neither a difference nor a verdict."""
    scores = np.full((2, 8, 1), np.nan)
    scores[0, :4], scores[1, 4:] = 1.0, 0.0
    of = subject(scored(matrix(scores)))
    assert of.fact("tied", ("A", "B")).reason == "no shared problem"
    assert of.fact("difference", ("A", "B")).value is None
    assert of.fact("difference", ("A", "B")).reason


def test_scores_of_a_harness() -> None:
    """Without problems nothing is compared, and without a standard error there is no interval."""
    given = (score_total("A", 0.8, 0.01), score_total("B", 0.7), score_total("C", None))
    of = ScoreSubject(given, (), (), SCALE)
    assert of.series == ("A", "B", "C")
    assert of.fact("better", ("A", "B")).reason == (
        "no problems are known on which A and B could be compared"
    )
    assert of.fact("difference", ("A", "B")).value is None
    assert of.fact("low", ("B",)).reason == "no standard error is reported"
    assert (value(of, "rank", "B"), of.fact("group", ("A",)).reason) == (2.0, "A is in no group")
    for name in ("score", "low", "high", "rank", "group"):
        assert of.fact(name, ("C",)).reason == "no score is reported"
    assert of.fact("tied", ("A", "C")).reason == "no score is reported"


def test_words_are_those_of_tables() -> None:
    """A score and a difference read the same in a fact and in a table, digit by digit."""
    shown, context = measured(), score_context("A", "B", "C")
    of = subject(shown)
    for score in shown.scores:
        assert describe_fact(of.fact("score", (score.series,)), SCALE) == (
            f"score({score.series}) = {format_score_estimate(score, context)}"
        )
    for one in shown.comparisons:
        half = ((one.high or 0.0) - (one.low or 0.0)) / 2
        said = format_difference(one.difference or 0.0, context, half=half)
        ends = format_interval(one.low, one.high, context, signed=True)
        assert describe_fact(of.fact("difference", (one.a, one.b)), SCALE) == (
            f"difference({one.a}, {one.b}) = {said} {ends}"
        )


def test_words_of_verdicts() -> None:
    """What is true, what is not, and what cannot be decided, with evidence."""
    of = subject(measured())
    said = "difference +47.5 points [+31.3, +63.7], adjusted p < 0.001, 40 shared problems"
    assert describe_fact(of.fact("better", ("A", "B")), SCALE) == f"better(A, B) is true: {said}"
    assert describe_fact(of.fact("tied", ("A", "B")), SCALE) == f"tied(A, B) is not true: {said}"
    assert describe_fact(of.fact("p_value", ("A", "B")), SCALE).startswith(
        "p_value(A, B) < 0.001: difference"
    )
    few = subject(measured(4)).fact("better", ("A", "B"))
    assert describe_fact(few, SCALE) == "better(A, B) cannot be decided: 4 shared problems"


def test_faults() -> None:
    """Unknown names and a series against itself are the author's to mend."""
    with pytest.raises(FactError, match="There is no series D"):
        subject(measured()).fact("score", ("D",))
    with pytest.raises(FactError, match="difference holds A against itself"):
        subject(measured()).fact("difference", ("A", "A"))


def test_every_fact_of_the_vocabulary_is_answered() -> None:
    """Each has an answer or a reason, in the order of series, then pairs."""
    facts = collect_facts(subject(measured()))
    assert len(facts) == 3 * 7 + 3 * 4
    assert {fact.call.partition("(")[0] for fact in facts} == {
        kind.name for kind in list_fact_kinds("scores")
    } - {"equivalent"}
    assert all(fact.value is not None or fact.reason for fact in facts)
