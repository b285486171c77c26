"""Outcomes to one matrix: what is kept, what is counted, and that the order of writing is irrelevant."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_outcomes import matrix, outcomes
from tries import tries

from reportgen.core.comparisons import ScoresError
from reportgen.statistics.problem_scores import group_problem_scores, group_problem_scores_by
from reportgen.statistics.scores import score_series

if TYPE_CHECKING:
    from random import Random

    from reportgen.core.comparisons import ProblemScores


def _answer(
    series: str, problem: str, sample: int, score: float | None, **more: float | str | None
) -> dict[str, Any]:
    return {"series": series, "problem": problem, "sample": str(sample), "score": score, **more}


def _grid(seed: int = 0, series: int = 3, problems: int = 5, samples: int = 4) -> list[dict[str, Any]]:
    chance = np.random.default_rng(seed).integers(0, 2, (series, problems, samples))
    return [
        _answer(f"m{s}", f"p{p:05}", k, float(chance[s, p, k]))
        for s in range(series)
        for p in range(problems)
        for k in range(samples)
    ]


def _same(one: ProblemScores, other: ProblemScores) -> None:
    assert (one.problems, one.runs, one.binary) == (other.problems, other.runs, other.binary)
    for name in ("samples", "correct", "mean", "variance"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_the_query_gives_what_numpy_gives() -> None:
    """Counts, means and variances of a table are those of the same scores as an array."""
    rows = _grid()
    found = group_problem_scores(outcomes(rows))
    array = np.array([row["score"] for row in rows]).reshape(3, 5, 4)
    assert found.series == ("m0", "m1", "m2")
    expected = matrix(array)
    _same(found, expected)
    np.testing.assert_allclose(found.variance, array.var(axis=2, ddof=1))
    assert found.notes.rows == 60


def test_real_scores_keep_their_moments() -> None:
    """0.25, 0.5 and 1 on a scale of 0 to 2: mean 7/12, variance 7/48, and none is right or wrong."""
    rows = [_answer("A", "p", k, score) for k, score in enumerate((0.25, 0.5, 1.0))]
    found = group_problem_scores(outcomes(rows, highest=2))
    assert found.mean[0, 0] == pytest.approx(7 / 12)
    assert found.variance[0, 0] == pytest.approx(7 / 48)
    assert found.binary == (False,)


def test_the_last_written_of_repeated_rows_is_kept_and_told() -> None:
    """The row with the larger ``row`` wins, wherever it stands; a later row without a score does not."""
    rows = [
        _answer("A", "p", 1, 1.0, row=5, answer="7", gold="7"),
        _answer("A", "p", 1, 0.0, row=3, answer="8", gold="7"),
        _answer("A", "p", 1, None, row=9, answer=None, gold="7"),
        _answer("A", "p", 2, 0.0, row=1, answer=None, gold="7"),
    ]
    found = group_problem_scores(outcomes(rows), answers=True)
    assert found.samples.tolist() == [[2]]
    assert found.correct.tolist() == [[1]]
    assert (found.notes.replaced, found.notes.missing, found.notes.rows) == (1, 1, 4)
    assert found.votes is not None
    votes = zip(
        found.votes.count.tolist(), found.votes.score.tolist(), found.votes.voted.tolist(), strict=True
    )
    assert sorted(votes) == [(1, 0.0, 0), (1, 1.0, 1)]


@settings(max_examples=tries(20, 100))
@given(
    st.lists(
        st.tuples(
            st.sampled_from("AB"), st.sampled_from("pq"), st.sampled_from("12"), st.sampled_from([0, 1, None])
        ),
        min_size=1,
        max_size=12,
    )
)
def test_repeated_rows_are_what_a_dictionary_keeps(rows: list[tuple[str, str, str, float | None]]) -> None:
    """Whatever repeats: the last finite score of each sample, the counts, and the votes of the same rows."""
    listed = [
        {"series": series, "problem": problem, "sample": sample, "score": score, "answer": f"{place % 2}"}
        for place, (series, problem, sample, score) in enumerate(rows)
    ]
    kept = {row[:3]: (row[3], place) for place, row in enumerate(rows) if row[3] is not None}
    found = group_problem_scores(outcomes(listed), answers=True)
    for at, series in enumerate(found.series):
        for column, problem in enumerate(found.problems):
            own = [score for (one, other, _), (score, _) in kept.items() if (one, other) == (series, problem)]
            assert found.samples[at, column] == len(own)
            assert found.correct[at, column] == sum(own)
    usable = sum(row[3] is not None for row in rows)
    assert (found.notes.replaced, found.notes.missing) == (usable - len(kept), len(rows) - usable)
    assert found.votes is not None
    assert found.votes.count.sum() == len(kept)
    odd = sum(score for score, place in kept.values() if place % 2)
    assert found.votes.count @ found.votes.score == pytest.approx(
        odd + sum(s for s, p in kept.values() if not p % 2)
    )


def test_missing_scores_are_left_out_and_counted() -> None:
    """Null, NaN and infinite are no answers: never 0, never wrong."""
    rows = [_answer("A", "p", k, score) for k, score in enumerate((1.0, None, math.nan, math.inf, -math.inf))]
    found = group_problem_scores(outcomes(rows))
    assert found.mean.tolist() == [[1.0]]
    assert found.samples.tolist() == [[1]]
    assert found.notes.missing == 4


def test_a_series_without_any_score_says_so() -> None:
    """A reason in words, no number."""
    rows = [_answer("A", "p", 1, None), _answer("B", "p", 1, 1.0)]
    first, second = score_series(group_problem_scores(outcomes(rows)))
    assert (first.estimate, first.low, first.reason) == (None, None, "no problem with a score")
    assert second.estimate == 1.0


def test_what_differs_between_series_is_told() -> None:
    """Problems that a series lacks, uneven samples, and two golds under one name."""
    rows = [
        *(_answer("A", "p", k, 1.0, gold="7") for k in range(3)),
        _answer("A", "q", 1, 0.0, gold="9"),
        _answer("B", "p", 1, 1.0, gold="8"),
    ]
    found = group_problem_scores(outcomes(rows)).notes
    assert found.incomplete == (("B", ("q",)),)
    assert found.uneven == (("A", 1, 3),)
    assert found.differing_gold == ("p",)


def test_scores_outside_of_the_range_are_an_error_that_names_them() -> None:
    """Which series, which problem, which score."""
    rows = [_answer("A", "p", 1, 1.0), _answer("B", "q", 1, 85.0), _answer("B", "r", 1, -1.0)]
    with pytest.raises(ScoresError) as error:
        group_problem_scores(outcomes(rows))
    assert error.value.message == "scores outside of 0 to 1: 85 (B, problem q); -1 (B, problem r)"
    with pytest.raises(ScoresError, match="are no range"):
        group_problem_scores(outcomes(rows, lowest=1, highest=1))


def test_an_empty_table_and_an_unknown_column_are_told() -> None:
    """Nothing left is an error, not an empty result."""
    with pytest.raises(ScoresError, match="no outcome"):
        group_problem_scores(outcomes([]))
    with pytest.raises(ScoresError, match="no column subject to slice by"):
        group_problem_scores(outcomes([_answer("A", "p", 1, 1.0)]), where={"subject": "x"})


def test_runs_are_averaged_within_a_problem_first() -> None:
    """One run with 3 samples (all right), one with 1 (wrong): the problem's value is 1/2, not 3/4."""
    rows = [_answer("A", "p", k, 1.0, run="a", seed="1") for k in range(3)]
    rows.append(_answer("A", "p", 0, 0.0, run="b", seed="2"))
    found = group_problem_scores(outcomes(rows))
    assert [(run.run, run.seed) for run in found.runs] == [("a", "1"), ("b", "2")]
    (score,) = score_series(found)
    assert (score.estimate, score.runs, score.samples) == (0.5, 2, (1, 3))


def test_a_problem_that_one_run_lacks_is_the_other_runs() -> None:
    """Runs 1 and 0 of problem p, 1 and none of q: (1/2 + 1)/2."""
    rows = [
        _answer("A", "p", 0, 1.0, run="a"),
        _answer("A", "p", 0, 0.0, run="b"),
        _answer("A", "q", 0, 1.0, run="a"),
    ]
    (score,) = score_series(group_problem_scores(outcomes(rows)))
    assert score.estimate == 0.75


def test_costs_are_means_of_samples() -> None:
    """10 and 20 tokens on one problem, 60 on another: (15 + 60)/2; a cell without tokens has none."""
    rows = [
        _answer("A", "p", 1, 1.0, tokens=10.0, seconds=0.1),
        _answer("A", "p", 2, 1.0, tokens=20.0, seconds=0.2),
        _answer("A", "q", 1, 0.0, tokens=60.0),
        _answer("B", "p", 1, 0.0),
    ]
    first, second = score_series(group_problem_scores(outcomes(rows)))
    assert first.tokens == 37.5
    assert first.seconds == pytest.approx(0.15)
    assert (second.tokens, second.seconds) == (None, None)


def test_parts_are_what_their_rows_give_alone() -> None:
    """By a column in one query, and by ``where`` one at a time; a row without a value is in no part."""
    rows = _grid()
    for place, row in enumerate(rows):
        row["level"] = ("it's", "easy", None)[place // 4 % 3]
    made = outcomes(rows, slices=["level"])
    parts = group_problem_scores_by(made, "level")
    assert list(parts) == ["it's", "easy"]
    for level, part in parts.items():
        _same(part, group_problem_scores(made, where={"level": level}))
        _same(part, group_problem_scores(outcomes(row for row in rows if row["level"] == level)))


@settings(max_examples=tries(15, 60))
@given(st.randoms(use_true_random=False), st.integers(0, 100))
def test_the_order_of_rows_is_irrelevant(random: Random, seed: int) -> None:
    """The same rows, written in another order, are the same matrix to the last bit."""
    rng = np.random.default_rng(seed)
    rows = [_answer(f"m{s}", f"p{p}", k, rng.random()) for s in range(2) for p in range(3) for k in range(9)]
    shuffled = rows.copy()
    random.shuffle(shuffled)
    one, other = group_problem_scores(outcomes(rows)), group_problem_scores(outcomes(shuffled))
    places = [other.series.index(name) for name in one.series]
    for name in ("samples", "mean", "variance"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name)[places], err_msg=name)
