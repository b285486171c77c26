"""Scores and their intervals, held to scipy, to cases worked out by hand and to their laws."""

from __future__ import annotations

import math
import re
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_outcomes import matrix, outcomes
from msgspec.structs import replace
from scipy import stats
from scipy.special import expit, logit
from tries import tries

from reportgen.core.comparisons import FRAGILE, Verdict
from reportgen.read.queries.problem_scores import group_problem_scores
from reportgen.statistics.compare import compare_all
from reportgen.statistics.scores import bound_scores, measure_run_spreads, score_series

if TYPE_CHECKING:
    from random import Random

    from reportgen.core.comparisons import Score
    from reportgen.core.model import FloatArray

_LOGIT = "t over problems on the logit scale"
_shape = st.tuples(st.integers(1, 4), st.integers(1, 12), st.integers(1, 5))
_binary = _shape.flatmap(lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0])))
_real = _shape.flatmap(lambda shape: arrays(np.float64, shape, elements=st.floats(0, 1)))
_estimands = st.sampled_from(["problems like these", "these problems"])


def _ends(score: Score) -> tuple[float, float]:
    assert score.low is not None
    assert score.high is not None
    return score.low, score.high


def test_three_problems_are_worked_out_by_hand() -> None:
    """Values 1/4, 1/2 and 3/4 of 4 samples: mean 1/2, s = 1/4, t for 2 degrees of freedom 4.302653.

    se = 0.25/√3 = 0.144338, over 1/2 · 1/2 0.577350 on the logit scale; logit(1/2) = 0 and
    4.302653 · 0.577350 = 2.484138: from 1/(1 + e^2.484138) = 0.076978 to 1 minus that. At 50% t is 0.816497
    and the ends are 0.384284 and 0.615716.
    """
    made = matrix([[[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]])
    (score,) = score_series(made)
    assert score.estimate == 0.5
    assert score.stderr == pytest.approx(0.144338, abs=1e-6)
    assert _ends(score) == pytest.approx((0.076978, 0.923022), abs=1e-6)
    assert (score.method, score.metric, score.estimand) == (_LOGIT, "mean", "problems like these")
    assert (score.problems, score.samples, score.runs, score.reason) == (3, (4, 4), 1, "")
    (half,) = score_series(made, level=0.5)
    assert _ends(half) == pytest.approx((0.384284, 0.615716), abs=1e-6)


def test_an_uneven_interval_is_worked_out_by_hand() -> None:
    """Values 1, 3/4, 3/4 and 1/2: mean 3/4, s = √(1/24), se = 0.102062, t for 3 degrees 3.182446.

    logit(3/4) = ln 3 = 1.098612; 0.102062/(3/16) · 3.182446 = 1.732304. Ends 1/(1 + e^0.633692) = 0.346674
    and 1/(1 + e^-2.830916) = 0.944324: further down than up.
    """
    (score,) = score_series(matrix([[[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 0, 0]]]))
    assert score.estimate == 0.75
    assert _ends(score) == pytest.approx((0.346674, 0.944324), abs=1e-6)


def test_one_wrong_among_right_ones_is_no_surer_than_all_right() -> None:
    """30 problems of 16 samples: the bound on unseen problems, 11.57%, about 479/480 in place of 98.4%.

    (479/480) (1 - 0.1157) = 0.8824, against 0.8843 with all right; above, the logit scale's one-sided end.
    """
    right = np.ones((1, 30, 16))
    wrong = right.copy()
    wrong[0, 7, 3] = 0
    (all_right,), (one_wrong,) = score_series(matrix(right)), score_series(matrix(wrong))
    assert _ends(all_right) == pytest.approx((0.8843, 1), abs=1e-4)
    assert _ends(one_wrong) == pytest.approx((0.8824, 0.99962), abs=1e-4)
    assert one_wrong.method == _LOGIT
    assert one_wrong.reason == (
        "at least half of 30 problems stand at one end of the range: the interval allows for the share "
        "of other problems, at most 12%, that they do not rule out; its upper end is one-sided"
    )


def test_sampling_noise_is_worked_out_by_hand() -> None:
    """Two problems of 4 samples with 1 and 2 right: s² = 1/4 and 1/3, v = 1/16 and 1/12.

    se = √(1/16 + 1/12)/2 = √21/24; f = (7/48)²/((1/16)²/3 + (1/12)²/3) = 5.88.
    """
    made = matrix([[[1, 0, 0, 0], [1, 1, 0, 0]]])
    (score,) = score_series(made, estimand="these problems", level=0.5)
    assert score.stderr == pytest.approx(math.sqrt(21) / 24)
    half = stats.t.ppf(0.75, 5.88) * math.sqrt(21) / 24
    assert _ends(score) == pytest.approx((0.375 - half, 0.375 + half))
    assert score.method == "t over samples"


def test_sampling_noise_of_runs_is_worked_out_by_hand() -> None:
    """One problem, two runs of 2 samples, 1 right each: s²/m = 1/4 a run, v = (1/4 + 1/4)/2² = 1/8."""
    rows = [
        {"run": run, "sample": sample, "problem": problem, "score": float(sample == "1")}
        for run in "ab"
        for sample in "12"
        for problem in "pq"
    ]
    (score,) = score_series(group_problem_scores(outcomes(rows)), estimand="these problems", level=0.5)
    assert score.stderr == pytest.approx(math.sqrt(2 / 8) / 2)


@given(_real)
def test_the_interval_is_scipys_t_interval_on_the_logit_scale(array: FloatArray) -> None:
    """Over problems, from problem means; where it is said not less than the bound on unseen problems.

    Where that bound reaches half as far as t, the end near which most problems stand is one-sided.
    """
    for row, score in zip(array, score_series(matrix(array)), strict=True):
        values = row.mean(axis=1)
        if score.method != _LOGIT or np.ptp(values) < 1e-6:
            continue
        u = values.mean()
        assert score.estimate == pytest.approx(u)
        slope = 1 / (u * (1 - u))
        scale = slope * stats.sem(values)
        low, high = expit(stats.t.interval(0.95, values.size - 1, loc=logit(u), scale=scale))
        if score.reason:
            at_low, at_high = (np.count_nonzero(np.abs(values - end) <= 0.005) for end in (0, 1))
            assert max(at_low, at_high) >= values.size / 2
            share = stats.binomtest(0, values.size).proportion_ci(0.95, method="exact").high
            one_sided = expit(stats.t.interval(0.9, values.size - 1, loc=logit(u), scale=scale))
            if at_high > at_low and u - low <= 2 * share * u:
                high = one_sided[1]
            if at_low > at_high and high - u <= 2 * share * (1 - u):
                low = one_sided[0]
            low, high = min(low, u - share * u), max(high, u + share * (1 - u))
        assert _ends(score) == pytest.approx((low, high), abs=1e-9)


_problem_values = arrays(
    np.float64, st.integers(2, 40), elements=st.sampled_from([0.0, 0.25, 0.5, 0.7, 0.9375, 1.0])
)


def _lone(values: FloatArray, lowest: float = 0.0, highest: float = 1.0, level: float = 0.95) -> Score:
    """The score of a series with two equal samples a problem, so that no problem is one draw."""
    twice = np.repeat(lowest + (highest - lowest) * values, 2).reshape(1, -1, 2)
    (score,) = score_series(matrix(twice, lowest=lowest, highest=highest), level=level)
    return score


@given(_problem_values, st.floats(0.01, 0.999999))
def test_turned_upside_down_the_interval_turns(values: FloatArray, level: float) -> None:
    """Score → lowest + highest - score: as many wrong are told as surely as as many right."""
    one, other = _lone(values, level=level), _lone(1 - values, level=level)
    assert one.low is not None
    assert one.high is not None
    assert (other.low, other.high) == pytest.approx((1 - one.high, 1 - one.low), abs=1e-9)
    turned = {"upper end": "lower end", "lower end": "upper end"}
    assert other.reason == re.sub("(upper|lower) end", lambda found: turned[found[0]], one.reason)


@given(_problem_values, st.sampled_from([(0.0, 100.0), (-1.0, 1.0), (1000.0, 1000.5), (-0.1, 0.2)]))
def test_the_unit_of_scores_is_irrelevant(values: FloatArray, ends: tuple[float, float]) -> None:
    """Percent, -1 to 1 or anything else: the same interval in that unit, inside the range."""
    one, other = _lone(values), _lone(values, *ends)
    width = ends[1] - ends[0]
    assert other.low is not None
    assert other.high is not None
    assert ends[0] <= other.low < other.high <= ends[1]
    shares = ((other.low - ends[0]) / width, (other.high - ends[0]) / width)
    assert shares == pytest.approx((one.low, one.high), abs=1e-8)
    assert (other.method, other.reason) == (one.method, one.reason)


@given(_problem_values, st.floats(0.01, 0.98), st.floats(0.001, 0.02))
def test_an_interval_holds_its_score_and_those_of_lower_levels(
    values: FloatArray, level: float, more: float
) -> None:
    """As long as what is unseen reaches as far at both levels, it can only grow."""
    one, other = _lone(values, level=level), _lone(values, level=level + more)
    assert 0 <= one.low <= values.mean() + 1e-12  # type: ignore[operator]
    assert values.mean() - 1e-12 <= one.high <= 1  # type: ignore[operator]
    if one.reason == "" == other.reason:
        assert other.low <= one.low + 1e-12  # type: ignore[operator]
        assert one.high <= other.high + 1e-12  # type: ignore[operator]


@given(_problem_values, st.integers(2, 5))
def test_more_of_the_same_problems_are_surer(values: FloatArray, times: int) -> None:
    """The interval of the same problems several times over lies inside, and is narrower."""
    one, more = _lone(values), _lone(np.tile(values, times))
    assert None not in (one.low, one.high, more.low, more.high)
    assert one.low <= more.low + 1e-12  # type: ignore[operator]
    assert more.high <= one.high + 1e-12  # type: ignore[operator]
    assert more.high - more.low < one.high - one.low  # type: ignore[operator]


@given(st.integers(2, 300), st.floats(1e-6, 1), st.floats(0.5, 0.99))
def test_all_right_is_never_told_less_surely_than_one_wrong(
    problems: int, lacking: float, level: float
) -> None:
    """However little the one problem lacks: a lower end no higher and a width no smaller."""
    right = np.ones(problems)
    wrong = right.copy()
    wrong[0] -= lacking
    sure, less = _lone(right, level=level), _lone(wrong, level=level)
    assert less.low <= sure.low  # type: ignore[operator]
    assert less.high - less.low >= sure.high - sure.low - 1e-12  # type: ignore[operator]


def test_a_mean_that_rounds_to_the_end_has_the_bound_too() -> None:
    """Far from 0 a small lack vanishes in the mean of many: not divided by, not without width."""
    values = np.ones(3000)
    values[0] -= 2e-9
    found = _lone(values, 1e6, 1e6 + 1)
    assert found.method == "bound on unseen problems"
    assert found.low is not None
    assert found.low < 1e6 + 1 == found.high


@given(st.integers(2, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), st.floats(0.5, 0.99))
def test_one_sample_a_problem_has_scipys_wilson_interval(counts: tuple[int, int], level: float) -> None:
    """Also where all are right or all are wrong; on any scale."""
    n, right = counts
    answers = np.repeat((1.0, 0.0), (right, n - right)).reshape(1, n, 1)
    (score,) = score_series(matrix(answers), level=level)
    expected = stats.binomtest(right, n).proportion_ci(level, method="wilson")
    assert score.method == "Wilson"
    assert _ends(score) == pytest.approx((expected.low, expected.high), abs=1e-12)
    (scaled,) = score_series(matrix(100 * answers, highest=100), level=level)
    assert _ends(scaled) == pytest.approx((100 * expected.low, 100 * expected.high), abs=1e-10)


@pytest.mark.parametrize("right", [0.0, 0.5, 1.0])
def test_problems_without_spread_have_the_exact_bound(right: float) -> None:
    """30 problems with one value: a share of up to 1 - 0.025^(1/30) of others is not ruled out.

    That is the upper end of the interval of Clopper and Pearson for 0 of 30, 11.57%.
    """
    (score,) = score_series(
        matrix(np.tile([1.0, right, 0.0 if right == 0.5 else right], (1, 30, 1))[:, :, 1:])
    )
    value = {0.0: 0.0, 0.5: 0.25, 1.0: 1.0}[right]
    (exact,) = score_series(matrix(np.full((1, 30, 2), value)))
    share = stats.binomtest(0, 30).proportion_ci(0.95, method="exact").high
    assert share == pytest.approx(0.1157, abs=1e-4)
    assert _ends(exact) == pytest.approx((value - share * value, value + share * (1 - value)))
    assert exact.method == "bound on unseen problems"
    assert "all 30 problems have the same value" in exact.reason
    assert score.low is not None


@given(st.one_of(_binary, _real), _estimands, st.floats(0.01, 0.99))
def test_an_interval_has_width_or_a_reason(array: FloatArray, estimand: str, level: float) -> None:
    """Never zero width, never NaN, never outside of the range, and the estimate lies inside."""
    for score in score_series(matrix(array), estimand=estimand, level=level):
        assert score.estimate is not None
        if score.low is None:
            assert score.high is None
            assert score.reason
        else:
            low, high = _ends(score)
            assert 0 <= low < high <= 1
            assert low - 1e-12 <= score.estimate <= high + 1e-12
            assert score.method
            # Plain numbers, as report.json needs them.
            assert {type(number) for number in (score.estimate, low, high)} == {float}
            assert type(score.stderr) in (float, type(None))


@given(st.one_of(_binary, _real), _estimands, st.randoms(use_true_random=False))
def test_the_order_of_series_and_problems_is_irrelevant(
    array: FloatArray, estimand: str, random: Random
) -> None:
    """Other series first, other problems first: the same scores by name, to the last bit."""
    orders = [random.sample(range(size), size) for size in array.shape]
    names = [f"m{place}" for place in range(array.shape[0])]
    moved = array[np.ix_(orders[0], orders[1])]
    one = {score.series: score for score in score_series(matrix(array, series=names), estimand=estimand)}
    other = score_series(matrix(moved, series=[names[place] for place in orders[0]]), estimand=estimand)
    assert one == {score.series: score for score in other}


@given(st.one_of(_binary, _real), _estimands)
def test_adding_a_series_changes_no_other(array: FloatArray, estimand: str) -> None:
    """Not even one whose scores are not right or wrong."""
    more = np.concatenate([array, np.full((1, *array.shape[1:]), 0.3)])
    assert score_series(matrix(more), estimand=estimand)[:-1] == score_series(
        matrix(array), estimand=estimand
    )


def _runs(totals: list[list[float]]) -> list[dict[str, object]]:
    """One row a run and problem."""
    return [
        {"run": str(run), "seed": str(run), "problem": str(place), "score": value}
        for run, values in enumerate(totals)
        for place, value in enumerate(values)
        if not math.isnan(value)
    ]


@settings(max_examples=tries(20, 100))
@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=8).flatmap(
        lambda sizes: st.tuples(
            st.just(sizes), arrays(np.float64, (1, sum(sizes), 1), elements=st.floats(0.05, 0.95))
        )
    )
)
def test_clusters_have_the_variance_and_freedom_of_cr2(drawn: tuple[list[int], FloatArray]) -> None:
    """CR2 and its degrees of freedom from matrices over problems (Bell and McCaffrey 2002), for a mean.

    The residual maker is M = I - 11'/n; a cluster's residuals are weighted by the inverse root of its block
    of M. The variance is tr(B) of B = c'Wc with c the weighted terms and W the correlation of problems.
    """
    sizes, array = drawn
    values, count = array[0, :, 0], array.size
    assume(np.ptp(values) > 1e-3)
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    maker = np.eye(count) - 1 / count
    terms = []
    for own in (np.flatnonzero(cluster == one) for one in range(len(sizes))):
        roots, vectors = np.linalg.eigh(maker[np.ix_(own, own)])
        weights = vectors @ np.diag(roots**-0.5) @ vectors.T
        terms.append(maker[:, own] @ weights.sum(axis=1) / count)
    columns = np.array(terms).T
    means = np.array([values[cluster == one].mean() for one in range(len(sizes))])
    within = ((values - means[cluster]) ** 2).sum() / max(count - len(sizes), 1)
    between = (np.array(sizes) * (means - values.mean()) ** 2).sum() / (len(sizes) - 1)
    size = (count - (np.array(sizes) ** 2).sum() / count) / (len(sizes) - 1)
    excess = max(0.0, between - within) / size
    alike = excess / (excess + within) if excess else 0.0
    same = cluster[:, np.newaxis] == cluster
    shared = columns.T @ (np.where(same, alike, 0.0) + (1 - alike) * np.eye(count)) @ columns
    df = np.trace(shared) ** 2 / (shared**2).sum()
    stderr = math.sqrt(((values @ columns) ** 2).sum())

    made = replace(matrix(array), clusters=tuple(f"c{one}" for one in cluster), binary=(False,))
    (score,) = score_series(made)
    assert score.stderr == pytest.approx(stderr, rel=1e-8)
    half = stats.t.ppf(0.975, df) * stderr / (values.mean() * (1 - values.mean()))
    assert _ends(score) == pytest.approx(expit(logit(values.mean()) + np.array([-half, half])), abs=1e-8)


def test_spread_between_runs_is_scipys_t_interval_over_runs() -> None:
    """Three runs with means 0.5, 0.75 and 0.25; shown beside the score, which keeps its own interval."""
    made = group_problem_scores(outcomes(_runs([[1, 0, 1, 0], [1, 1, 1, 0], [0, 0, 1, 0]])))
    (spread,) = measure_run_spreads(made, level=0.5)
    assert [run.score for run in spread.runs] == [0.5, 0.75, 0.25]
    assert [run.seed for run in spread.runs] == ["0", "1", "2"]
    low, high = stats.t.interval(0.5, 2, loc=0.5, scale=stats.sem([0.5, 0.75, 0.25]))
    assert (spread.mean, spread.sd) == (0.5, 0.25)
    assert (spread.low, spread.high) == pytest.approx((low, high))
    (score,) = score_series(made)
    assert (score.between_runs, score.runs, score.method) == (
        0.25,
        3,
        "t over problems and runs on the logit scale",
    )


def test_runs_that_agree_are_no_single_draw() -> None:
    """Two runs with the same answers: each problem's value is a mean of two, so t and not Wilson."""
    (score,) = score_series(group_problem_scores(outcomes(_runs([[1, 0, 1, 0], [1, 0, 1, 0]]))))
    assert score.method == _LOGIT
    (single,) = score_series(group_problem_scores(outcomes(_runs([[1, 0, 1, 0]]))))
    assert single.method == "Wilson"


@settings(max_examples=tries(20, 100))
@given(_binary)
def test_counted_in_runs_or_samples_the_estimate_is_the_same(array: FloatArray) -> None:
    """With equally many samples everywhere, one sample in each of m runs scores as m samples of one run."""
    assume(array.shape[2] > 1)
    rows = [
        {"run": str(k), "problem": f"p{p}", "score": array[0, p, k]}
        for p in range(array.shape[1])
        for k in range(array.shape[2])
    ]
    (by_run,) = score_series(group_problem_scores(outcomes(rows)))
    (by_sample,) = score_series(matrix(array[:1]))
    assert by_run.estimate == pytest.approx(by_sample.estimate)
    if by_run.method == by_sample.method == _LOGIT:
        assert _ends(by_run) == pytest.approx(_ends(by_sample), abs=1e-9)


def _answer_rows(array: FloatArray, lost: FloatArray) -> list[dict[str, object]]:
    """A row for each answer of shape (series, problems, samples); those that are lost have a status."""
    return [
        {"series": "AB"[s], "problem": f"p{p:02}", "sample": str(k)}
        | ({"score": None, "answer_status": "infrastructure"} if lost[s, p, k] else {"score": array[s, p, k]})
        for s, p, k in np.ndindex(array.shape)
    ]


@pytest.mark.parametrize(("missing", "metric"), [(12, "mean"), (4, "pass@k"), (4, "pass^k")])
def test_bounds_are_the_ends_of_all_assignments(missing: int, metric: str) -> None:
    """The lowest and highest score of all 2^m assignments of right and wrong to the answers left out."""
    rng = np.random.default_rng(missing)
    array = rng.integers(0, 2, (2, 6, 4)).astype(np.float64)
    lost = np.zeros(array.shape, dtype=bool)
    # At most two a problem, so that pass@2 of the answers is known.
    for place in rng.permutation(12)[:missing].tolist():
        lost[0, place // 2, place % 2] = True
    scores = group_problem_scores(outcomes(_answer_rows(array, lost)))
    whole = np.repeat(array[:1], 2**missing, axis=0)
    whole[:, lost[0]] = np.array(list(product((0.0, 1.0), repeat=missing)))
    every = whole.mean(axis=(1, 2))
    if metric != "mean":
        made = matrix(whole, series=[str(place) for place in range(len(whole))])
        every = np.array([score.estimate for score in score_series(made, metric, 2)])
    assert bound_scores(scores, metric, 2)["A"] == pytest.approx((every.min(), every.max()))
    assert scores.notes.statuses[0].left_out == {"infrastructure": missing}


def test_a_problem_that_died_at_the_first_of_its_samples_has_bounds() -> None:
    """pass@2 needs two samples of each problem: the second was not run."""
    rows = [{"problem": "p", "sample": sample, "score": 1.0} for sample in "12"]
    rows += [{"problem": "q", "sample": "1", "score": None, "answer_status": "infrastructure"}]
    scores = group_problem_scores(outcomes(rows))
    assert bound_scores(scores, "pass@k", 2) == {"A": (0.5, 1.0)}
    assert scores.notes.statuses[0].left_out == {"infrastructure": 1, "not run": 1}


def test_what_no_series_answered_and_runs_without_an_answer_widen_the_bounds() -> None:
    """Two runs of two problems, of which one run died and nobody answered the second problem."""
    rows = [
        {"series": "A", "run": run, "problem": problem, "score": score, "answer_status": status}
        for run, problem, score, status in (
            ("1", "p", 1.0, "scored"),
            ("1", "q", None, "infrastructure"),
            ("2", "p", None, "infrastructure"),
            ("2", "q", None, "infrastructure"),
        )
    ]
    scores = group_problem_scores(outcomes(rows))
    assert bound_scores(scores) == {"A": (0.25, 1.0)}
    assert bound_scores(scores, "maj@k", 1) == {}
    (counts,) = scores.notes.statuses
    assert (counts.problems, counts.answered, counts.left_out) == (2, 1, {"infrastructure": 3})


def test_a_sample_that_was_tried_again_is_not_left_out() -> None:
    """Of its rows one has a score, which counts."""
    tries = (("scored", 1.0), ("infrastructure", None))
    for order in (tries, tries[::-1]):
        rows = [{"score": score, "answer_status": status} for status, score in order]
        scores = group_problem_scores(outcomes(rows))
        assert scores.notes.statuses[0].left_out == {}
        assert scores.mean.tolist() == [[1.0]]


@pytest.mark.parametrize("lost", [2, 6])
def test_a_verdict_is_robust_if_it_holds_with_all_answers_against_it(lost: int) -> None:
    """A is right 20 times and B 8 times of 24; A lost two of the answers that B has right, or six."""
    array = np.zeros((2, 24, 1))
    array[0, :20], array[1, :8] = 1, 1
    gone = np.zeros(array.shape, dtype=bool)
    gone[0, :lost] = True
    scores = group_problem_scores(outcomes(_answer_rows(array, gone)))
    (pair,) = compare_all(scores)
    assert pair.verdict is Verdict.BETTER
    assert pair.reason == ("" if lost == 2 else f"A is better {FRAGILE}")
