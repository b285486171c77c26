"""pass@k, pass^k and majority votes, held to their published formulas and to plain enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_outcomes import matrix, outcomes
from tries import tries

from reportgen.core.comparisons import ScoresError
from reportgen.statistics.metrics import compute_problem_values, pass_all_k, pass_at_k, pass_variance
from reportgen.statistics.problem_scores import group_problem_scores
from reportgen.statistics.scores import score_pass_at_k, score_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.comparisons import ProblemScores
    from reportgen.core.model import IntArray

_counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))


def _published(n: int, c: int, k: int) -> float:
    """The program printed in Chen et al. 2021, figure 3, as it stands there."""
    if n - c < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def _counts_of(n: int, c: int) -> tuple[IntArray, IntArray]:
    return np.array([n]), np.array([c])


def test_five_of_ten_are_worked_out_by_hand() -> None:
    """10 samples, 3 right: pass@1 = 3/10, pass@2 = 1 - C(7,2)/C(10,2) = 8/15, pass@5 = 11/12, pass@8 = 1.

    pass^2 = C(3,2)/C(10,2) = 1/15; pass^4 = 0.
    """
    n, c = _counts_of(10, 3)
    values = [pass_at_k(n, c, k)[0] for k in (1, 2, 5, 8)]
    assert values == pytest.approx([3 / 10, 8 / 15, 11 / 12, 1])
    assert [pass_all_k(n, c, k)[0] for k in (1, 2, 4)] == pytest.approx([3 / 10, 1 / 15, 0])


@given(_counts)
def test_values_are_the_published_ones(counts: tuple[int, int, int]) -> None:
    """Both as printed with the estimator and by whole numbers; pass^k as the share of right choices."""
    n, c, k = counts
    n_, c_ = _counts_of(n, c)
    assert pass_at_k(n_, c_, k)[0] == pytest.approx(_published(n, c, k), abs=1e-12)
    assert pass_at_k(n_, c_, k)[0] == pytest.approx(1 - comb(n - c, k) / comb(n, k), abs=1e-12)
    assert pass_all_k(n_, c_, k)[0] == pytest.approx(comb(c, k) / comb(n, k), abs=1e-12)


@settings(max_examples=tries(20, 160))
@given(st.integers(2, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n - 1))))
def test_the_variance_is_the_jackknifes(counts: tuple[int, int, int]) -> None:
    """Leaving out one sample after the other, by hand."""
    n, c, k = counts
    for every in (False, True):
        estimate = pass_all_k if every else pass_at_k
        left = [estimate(*_counts_of(n - 1, c - (place < c)), k)[0] for place in range(n)]
        expected = (n - 1) / n * sum((one - np.mean(left)) ** 2 for one in left)
        assert pass_variance(*_counts_of(n, c), k, every=every)[0] == pytest.approx(expected, abs=1e-12)


def test_the_variance_at_one_is_that_of_a_mean() -> None:
    """s²/n of 3 of 10; not known where k takes all samples."""
    n, c = _counts_of(10, 3)
    assert pass_variance(n, c, 1)[0] == pytest.approx(np.var([1] * 3 + [0] * 7, ddof=1) / 10)
    assert np.isnan(pass_variance(n, c, 10)[0])


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=8))
def test_pass_at_k_rises_and_starts_at_the_mean(right: list[tuple[int, int]]) -> None:
    """For every problem and for the score; pass^k falls from the same place."""
    array = np.array([[np.arange(8) < pair[series] for pair in right] for series in range(2)], dtype=float)
    made = matrix(array)
    for metric, sign in (("pass@k", 1), ("pass^k", -1)):
        values = np.array([compute_problem_values(made, metric, k).series for k in range(1, 9)])
        assert np.all(sign * np.diff(values, axis=0) >= 0)
        np.testing.assert_allclose(values[0], made.mean, atol=1e-15)
    for one, other in zip(score_series(made, "pass@k", 1), score_series(made), strict=True):
        assert one.estimate == pytest.approx(other.estimate)


def test_too_large_a_k_names_series_and_problem() -> None:
    """Which series has how many samples of which problem, and what to do."""
    made = matrix([[[1, 0, 1], [1, np.nan, np.nan]]])
    with pytest.raises(ScoresError) as error:
        score_series(made, "pass@k", 2)
    assert (
        error.value.message == "pass@k with k = 2 needs 2 samples of each problem: A has 1 of problem p00001"
    )
    assert error.value.next_step == "Ask for fewer"
    with pytest.raises(ScoresError, match="avg@n with n = 2 needs 2"):
        score_series(made, "avg@n", 2)
    with pytest.raises(ScoresError, match="same number of samples everywhere"):
        score_series(made, "avg@n")


def test_samples_are_those_of_one_run() -> None:
    """Two runs of one sample each are no two samples of one model, and the error says how to give them."""
    rows = [{"run": run, "score": 1.0} for run in "12"]
    with pytest.raises(ScoresError, match=r"in a run.*give them as samples"):
        score_series(group_problem_scores(outcomes(rows)), "pass@k", 2)


def test_scores_between_right_and_wrong_have_no_pass_at_k() -> None:
    """Half right is neither; the series is named."""
    with pytest.raises(ScoresError, match="those of B are not"):
        score_series(matrix([[[1.0, 0.0]], [[0.5, 0.0]]]), "pass@k", 1)


def test_metrics_are_named_with_their_k() -> None:
    """pass@4, avg@8, and a pass@k that takes every sample is one draw a problem: Wilson."""
    made = matrix(np.array([[np.arange(8) < 3 * p for p in range(4)]], dtype=np.float64))
    assert [
        score_series(made, *ask)[0].metric for ask in (("pass@k", 4), ("pass^k", 2), ("avg@n", 5), ("avg@n",))
    ] == [*("pass@4", "pass^2", "avg@5", "avg@8")]
    assert [score_series(made, "pass@k", k)[0].method for k in (4, 8)] == [
        *("t over problems on the logit scale", "Wilson")
    ]


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
    values = compute_problem_values(made, "maj@k", k).runs
    assert values[:, 0] == pytest.approx([_by_enumeration(spoken, right, k)] * 2, abs=1e-12)


def test_a_vote_of_one_is_the_mean() -> None:
    """maj@1 of many samples; and hundreds of samples neither overflow nor drift."""
    rng = np.random.default_rng(0)
    made = _voted([str(number) for number in rng.integers(0, 6, 400)], {"3"})
    assert compute_problem_values(made, "maj@k", 1).runs[0, 0] == pytest.approx(made.mean[0, 0], abs=1e-12)
    sure = _voted(["3"] * 300 + ["4"] * 100, {"3"})
    assert compute_problem_values(sure, "maj@k", 201).runs[0, 0] == pytest.approx(1, abs=1e-10)


def test_votes_need_answers() -> None:
    """Without a column of answers there is no vote."""
    with pytest.raises(ScoresError, match="needs the answers"):
        score_series(matrix([[[1.0]]]), "maj@k", 1)
