"""From answers to values of problems, pass@k and votes, and from scores to averages over benchmarks.

Held to NumPy, to a dictionary, to published formulas, to plain enumeration and to cases worked out by hand.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_outcomes import compare, matrix, outcomes
from scipy import stats
from scipy.special import expit, logit
from tries import tries

from reportgen.core.comparisons import ScoresError, Verdict
from reportgen.read.queries.problem_scores import group_problem_scores, group_problem_scores_by
from reportgen.statistics.compare import compare_all, compare_benchmarks, compare_pairs_across
from reportgen.statistics.scores import score_pass_at_k, score_series, score_total
from reportgen.statistics.verdicts import swap_sides

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


def test_an_average_of_all_samples_needs_equally_many() -> None:
    """Its name has their number."""
    assert score_series(matrix(np.ones((1, 2, 3))), "avg@n")[0].metric == "avg@3"
    with pytest.raises(ScoresError, match="same number of samples everywhere"):
        score_series(matrix([[[1, 0, 1], [1, np.nan, np.nan]]]), "avg@n")


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


# ---- several benchmarks ---------------------------------------------------------------------------


def _real(
    seed: int, series: int, problems: int, *, lift: float = 0.0
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Scores within 0.3 and 0.7 with one sample a problem; the first series is lifted."""
    values = np.random.default_rng(seed).uniform(0.3, 0.7, (series, problems, 1))
    values[0] += lift
    return values


def test_cells_are_the_scores_and_comparisons_of_each_benchmark() -> None:
    """Each cell as by itself, but for the adjustment, which is Holm's over the whole table."""
    parts = {"x": matrix(_real(1, 3, 30, lift=0.2)), "y": matrix(_real(2, 3, 12))}
    table = compare_benchmarks(parts, baseline="C")
    assert (table.series, table.benchmarks) == (("A", "B", "C"), ("x", "y"))
    found = []
    for place, series in enumerate("ABC"):
        for at, (name, part) in enumerate(parts.items()):
            cell = table.cells[place][at]
            assert cell.score == score_series(part)[place]
            assert (cell.against is None) is (series == "C")
            if cell.against:
                alone = compare(part, series, "C")
                assert (cell.against.difference, cell.against.p) == (alone.difference, alone.p), name
                found.append(cell.against)
        macro = table.macro[place].against
        found += [macro] if macro else []
    assert all(one.tested_together == 6 for one in found)
    assert table.cells[0][0].against is not None
    assert table.cells[0][0].against.verdict is Verdict.BETTER


def test_the_macro_average_is_worked_out_by_hand() -> None:
    """Benchmarks count once each, whatever their size: (m₁ + m₂)/2 ± √(h₁² + h₂²)/2.

    h is how far each own interval reaches to that side: logit(m) ± t se/(m (1 - m)), carried back.
    """
    arrays = [_real(1, 1, 30), _real(2, 1, 12)]
    (cell,) = compare_benchmarks({str(at): matrix(array) for at, array in enumerate(arrays)}).macro
    means = [array.mean() for array in arrays]
    assert cell.score.estimate == pytest.approx(sum(means) / 2)
    ends = []
    for sign in (-1, 1):
        reach = []
        for mean, array in zip(means, arrays, strict=True):
            step = stats.t.ppf(0.975, array.size - 1) * stats.sem(array.ravel()) / (mean * (1 - mean))
            reach.append(expit(logit(mean) + sign * step) - mean)
        ends.append(sum(means) / 2 + sign * math.hypot(*reach) / 2)
    assert (cell.score.low, cell.score.high) == pytest.approx(tuple(ends))
    assert cell.score.estimand == "these benchmarks, problems like theirs"
    assert (cell.score.problems, cell.against, cell.reason) == (42, None, "")


def test_the_macro_difference_flips_every_problem_with_its_weight() -> None:
    """Two small benchmarks: all 2^8 signs by hand, problems of the smaller one weigh more."""
    parts = {"x": matrix(_real(3, 2, 6, lift=0.1)), "y": matrix(_real(4, 2, 2, lift=-0.05))}
    macro = compare_benchmarks(parts, baseline="B").macro[0].against
    assert macro is not None
    weighed = np.concatenate(
        [(part.mean[0] - part.mean[1]) / (2 * part.mean.shape[1]) for part in parts.values()]
    )
    signs = np.array(np.meshgrid(*[(1, -1)] * 8)).reshape(8, -1).T
    assert macro.p == np.mean(np.abs(signs @ weighed) >= abs(weighed.sum()) - 1e-12)
    alike = np.concatenate([part.mean[0] - part.mean[1] for part in parts.values()])
    assert macro.p != np.mean(np.abs(signs @ alike) >= abs(alike.sum()) - 1e-12)
    assert macro.difference == pytest.approx(weighed.sum())
    assert macro.method == "exact sign-flip"


def test_turning_the_baseline_turns_the_macro_difference() -> None:
    """A against B is B against A with the sign turned, also where flips are drawn."""
    parts = {"x": matrix(_real(5, 2, 40, lift=0.05)), "y": matrix(_real(6, 2, 30))}
    first = compare_benchmarks(parts, baseline="B").macro[0].against
    second = compare_benchmarks(parts, baseline="A").macro[1].against
    assert first is not None
    assert second == swap_sides(first)
    assert first.method == "20 000 seeded flips"


def test_totals_of_a_harness_are_shown_and_never_paired() -> None:
    """They enter the average with their normal interval; without a standard error it has none."""
    parts = {"x": matrix(_real(1, 2, 8))}
    given = {"h": [score_total("A", 0.5, 0.03), score_total("B", 0.4)]}
    table = compare_benchmarks(parts, given=given, baseline="B")
    cell = table.cells[0][1]
    assert cell.score.estimate == 0.5
    assert cell.against is not None
    assert cell.against.difference == pytest.approx(0.1)
    assert cell.against.low is None
    assert cell.reason == "as reported: without problems nothing can be paired"
    first, second = (macro.score for macro in table.macro)
    own = score_series(parts["x"])[0]
    estimate, low = np.array([own.estimate, own.low], dtype=float)
    below = math.hypot(estimate - low, 1.959964 * 0.03) / 2
    assert first.estimate == pytest.approx((estimate + 0.5) / 2)
    assert first.low == pytest.approx((estimate + 0.5) / 2 - below, abs=1e-6)
    assert (second.low, second.reason) == (None, "no interval on h")


def test_problems_come_before_a_total_of_the_same_series() -> None:
    """Where a series has both, its own answers are scored."""
    parts = {"x": matrix(_real(1, 2, 8))}
    table = compare_benchmarks(parts, given={"x": [score_total("A", 0.5, 0.03), score_total("C", 0.1, 0.03)]})
    methods = [row[0].score.method for row in table.cells]
    assert methods == [*["t over problems on the logit scale"] * 2, "as reported"]


def _parts() -> dict[str, ProblemScores]:
    """Three series on 30 problems, two of them also on 12 others."""
    rng = np.random.default_rng(7)
    first = rng.random((3, 30, 4)) < np.array([0.8, 0.5, 0.4])[:, np.newaxis, np.newaxis]
    second = rng.random((2, 12, 4)) < np.array([0.7, 0.3])[:, np.newaxis, np.newaxis]
    return {
        "long": matrix(first.astype(np.float64), series=["A", "B", "C"]),
        "short": matrix(second.astype(np.float64), series=["A", "B"]),
    }


@pytest.mark.parametrize("higher", [True, False])
def test_one_benchmark_is_all_its_pairs(*, higher: bool) -> None:
    """Nothing is averaged, and nothing else is adjusted with them."""
    part = _parts()["long"]
    found = compare_pairs_across({"long": part}, higher_is_better=higher)
    assert [one.benchmark for one in found] == ["long"] * 3
    assert tuple(one.comparison for one in found) == compare_all(part, higher_is_better=higher)


def test_against_one_series_it_is_the_table_with_that_baseline() -> None:
    """Cells and averages are the same values, adjusted together: three cells and one average."""
    parts = _parts()
    pairs = compare_pairs_across(parts, pairs=[("B", "A"), ("C", "A")])
    found = {(one.benchmark, one.comparison.a): one.comparison for one in pairs}
    table = compare_benchmarks(parts, baseline="A")
    for place, series in enumerate(table.series[1:], start=1):
        for benchmark, cell in zip(table.benchmarks, table.cells[place], strict=True):
            if cell.against is not None:
                assert found[benchmark, series] == cell.against
    assert found[None, "B"] == table.macro[1].against
    assert found[None, "B"].tested_together == 4
    assert found["long", "B"].verdict is Verdict.WORSE


def test_everything_shown_is_adjusted_together_and_what_is_missing_has_a_reason() -> None:
    """Three pairs and one on the benchmarks, and the one average that there is: five in one family."""
    pairs = compare_pairs_across(_parts())
    found = {(one.benchmark, one.comparison.a, one.comparison.b): one.comparison for one in pairs}
    tested = [one for one in found.values() if one.p is not None]
    assert (len(found), len(tested), {one.tested_together for one in tested}) == (9, 5, {5})
    assert all((one.adjusted_p or 0.0) >= (one.p or 1.0) for one in tested)
    assert found["short", "A", "C"].reason == "no answers to short from C"
    average = found[None, "B", "C"]
    assert (average.difference, average.p, average.verdict) == (None, None, Verdict.TOO_FEW)
    assert average.reason == "the two do not share problems on every benchmark"
