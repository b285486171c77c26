"""From answers to values of problems: counts and moments, pass@k and pass^k, and votes.

Held to NumPy, to a dictionary, to published formulas and to plain enumeration.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_outcomes import matrix, outcomes
from tries import tries

from reportgen.core.comparisons import ScoresError
from reportgen.statistics.problem_scores import group_problem_scores, group_problem_scores_by
from reportgen.statistics.scores import score_pass_at_k, score_series

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from reportgen.core.comparisons import ProblemScores, Score


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


def test_scores_outside_of_the_range_are_an_error_that_names_them() -> None:
    """Which series, which problem, which score; and a range has a width."""
    rows = [_answer("A", "p", 1, 1.0), _answer("B", "q", 1, 85.0), _answer("B", "r", 1, -1.0)]
    with pytest.raises(
        ScoresError, match=r"scores outside of 0 to 1: 85 \(B, problem q\); -1 \(B, problem r\)"
    ):
        group_problem_scores(outcomes(rows))
    with pytest.raises(ScoresError, match="are no range"):
        group_problem_scores(outcomes(rows, lowest=1, highest=1))


# ---- pass@k -------------------------------------------------------------------------------------

_counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


def _published(n: int, c: int, k: int) -> float:
    """The program printed in Chen et al. 2021, figure 3, as it stands there."""
    if n - c < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def _score(n: int, c: int, metric: str, k: int) -> Score:
    """The score of one problem with n samples, c of them right, and its sampling noise."""
    answers = (np.arange(n) < c).astype(np.float64).reshape(1, 1, n)
    return score_series(matrix(answers), metric, k, estimand="these problems")[0]


def test_five_of_ten_are_worked_out_by_hand() -> None:
    """10 samples, 3 right: pass@1 = 3/10, pass@2 = 1 - C(7,2)/C(10,2) = 8/15, pass@5 = 11/12, pass@8 = 1.

    pass^2 = C(3,2)/C(10,2) = 1/15; pass^4 = 0. The variance at k = 1 is s²/n; if k takes all it is unknown.
    """
    values = [_score(10, 3, "pass@k", k).estimate for k in (1, 2, 5, 8)]
    assert values == pytest.approx([3 / 10, 8 / 15, 11 / 12, 1])
    assert [_score(10, 3, "pass^k", k).estimate for k in (1, 2, 4)] == pytest.approx([3 / 10, 1 / 15, 0])
    deviation = np.std([1] * 3 + [0] * 7, ddof=1)
    assert _score(10, 3, "pass@k", 1).stderr == pytest.approx(deviation / 10**0.5)
    assert _score(10, 3, "pass@k", 10).stderr is None


@given(_counts)
def test_values_are_the_published_ones(counts: tuple[int, int, int]) -> None:
    """Both as printed with the estimator and by whole numbers; pass^k as the share of right choices."""
    n, c, k = counts
    some, every = (_score(n, c, metric, k).estimate for metric in ("pass@k", "pass^k"))
    assert some == pytest.approx(_published(n, c, k), abs=1e-12)
    assert some == pytest.approx(1 - comb(n - c, k) / comb(n, k), abs=1e-12)
    assert every == pytest.approx(comb(c, k) / comb(n, k), abs=1e-12)


@settings(max_examples=tries(20, 160))
@given(st.integers(2, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n - 1))))
def test_the_variance_is_the_jackknifes(counts: tuple[int, int, int]) -> None:
    """Leaving out one sample after the other, by hand; without a spread it is unknown, and not 0."""
    n, c, k = counts
    for metric in ("pass@k", "pass^k"):
        left = [_score(n - 1, c - (place < c), metric, k).estimate or 0.0 for place in range(n)]
        expected = (n - 1) / n * sum((one - np.mean(left)) ** 2 for one in left)
        assert (_score(n, c, metric, k).stderr or 0.0) ** 2 == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=8))
def test_pass_at_k_rises_and_starts_at_the_mean(right: list[tuple[int, int]]) -> None:
    """For both series; pass^k falls from the same place."""
    array = np.array([[np.arange(8) < pair[series] for pair in right] for series in range(2)], dtype=float)
    made = matrix(array)
    means = [score.estimate for score in score_series(made)]
    for metric, sign in (("pass@k", 1), ("pass^k", -1)):
        values = np.array([[one.estimate for one in score_series(made, metric, k)] for k in range(1, 9)])
        assert np.all(sign * np.diff(values, axis=0) >= -1e-15)
        assert values[0] == pytest.approx(means)


@pytest.mark.parametrize("estimand", ["problems like these", "these problems"])
def test_pass_at_k_is_on_the_scale_of_the_scores(estimand: str) -> None:
    """Right is 100: everything is a hundred times what it is where right is 1."""
    array = np.array([[np.arange(8) < right for right in (1, 3, 8, 0)]], dtype=np.float64)
    for metric in ("pass@k", "pass^k"):
        (one,) = score_series(matrix(array), metric, 2, estimand=estimand)
        (percent,) = score_series(matrix(100 * array, highest=100), metric, 2, estimand=estimand)
        for name in ("estimate", "low", "high"):
            assert getattr(percent, name) == pytest.approx(100 * getattr(one, name)), name


def test_curves_of_pass_at_k_are_its_scores() -> None:
    """At powers of two and the largest k, each series to its own number of samples."""
    nan = np.nan
    first: list[list[float]] = [[1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 1], [1, 1, 1, 0, 1, 1]]
    second = [[1, 0, nan, nan, nan, nan], [0, 0, 0, nan, nan, nan], [nan] * 6]
    made = matrix([first, second])
    one, other = score_pass_at_k(made)
    assert [score.metric for score in one] == ["pass@1", "pass@2", "pass@4", "pass@6"]
    assert [score.metric for score in other] == ["pass@1", "pass@2"]
    alone = matrix([first])
    assert one == tuple(score_series(alone, "pass@k", k)[0] for k in (1, 2, 4, 6))
    asked = score_pass_at_k(made, ks=(1, 3))
    assert [[score.metric for score in curve] for curve in asked] == [["pass@1", "pass@3"], ["pass@1"]]


# ---- votes --------------------------------------------------------------------------------------


def _voted(answers: Sequence[str | None], right: set[str], runs: int = 1) -> ProblemScores:
    rows = [
        {"run": str(run), "sample": str(k), "answer": answer, "score": float(answer in right)}
        for run in range(runs)
        for k, answer in enumerate(answers)
    ]
    return group_problem_scores(outcomes(rows), answers=True)


def _by_enumeration(answers: Sequence[str | None], right: set[str], k: int) -> float:
    total = 0.0
    for chosen in combinations(answers, k):
        counts = Counter(answer for answer in chosen if answer)
        top = [answer for answer, count in counts.items() if count == max(counts.values())]
        total += sum(answer in right for answer in top) / len(top) if top else 0.0
    return total / comb(len(answers), k)


def test_a_vote_of_three_is_worked_out_by_hand() -> None:
    """Answers 7, 7, 8, 9 with 7 right. Of the 4 choices of 3, two are 7, 7, x: right.

    The other two are 7, 8, 9: a tie of three, right in 1/3. Together (2 + 2/3)/4 = 2/3.
    """
    made = _voted(["7", "7", "8", "9"], {"7"})
    (score,) = score_series(made, "maj@k", 3)
    assert score.estimate == pytest.approx(2 / 3)
    assert score.metric == "maj@3"


@settings(max_examples=tries(20, 200))
@given(
    st.lists(st.sampled_from(["a", "b", "c", "d", None, " "]), min_size=1, max_size=9),
    st.sets(st.sampled_from(["a", "b", "d"])),
    st.data(),
)
def test_votes_are_those_of_all_choices(
    answers: list[str | None], right: set[str], data: st.DataObject
) -> None:
    """Every choice of k samples, one by one; who gave no answer does not vote."""
    k = data.draw(st.integers(1, len(answers)))
    spoken = [answer if (answer or "").strip() else None for answer in answers]
    made = _voted(answers, right, runs=2)
    (score,) = score_series(made, "maj@k", k)
    assert score.estimate == pytest.approx(_by_enumeration(spoken, right, k), abs=1e-12)


def test_a_vote_of_one_is_the_mean() -> None:
    """maj@1 of many samples; and hundreds of samples neither overflow nor drift."""
    rng = np.random.default_rng(0)
    made = _voted([str(number) for number in rng.integers(0, 6, 400)], {"3"})
    assert score_series(made, "maj@k", 1)[0].estimate == pytest.approx(made.mean[0, 0], abs=1e-12)
    sure = _voted(["3"] * 300 + ["4"] * 100, {"3"})
    assert score_series(sure, "maj@k", 201)[0].estimate == pytest.approx(1, abs=1e-10)
