"""Paired comparison, groups and power, held to scipy, to cases worked out by hand and to their laws."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_outcomes import compare, matrix, outcomes
from msgspec.structs import replace
from scipy import stats
from tries import tries

from reportgen.core.comparisons import RankGroup, Verdict
from reportgen.read.queries.problem_scores import group_problem_scores
from reportgen.statistics.compare import compare_all
from reportgen.statistics.permutation_tests import FLIPS, Flips
from reportgen.statistics.power import estimate_power, find_half_step
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import (
    adjust_by_fdr,
    find_leader,
    holm,
    rank_groups,
    rank_ranges,
    swap_sides,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from reportgen.core.comparisons import ProblemScores
    from reportgen.core.model import FloatArray

_levels = st.sampled_from([0.0, 0.25, 0.5, 1.0])
_shape = st.tuples(st.integers(2, 4), st.integers(1, 9), st.just(2))
_scores = _shape.flatmap(lambda shape: arrays(np.float64, shape, elements=_levels))


def _values(*rows: Sequence[float]) -> ProblemScores:
    """Series with one sample a problem."""
    return matrix(np.array(rows, dtype=np.float64)[:, :, np.newaxis])


def test_six_problems_are_worked_out_by_hand() -> None:
    """One series solves six problems of which the other solves none but the last: d = 1, 1, 1, 1, 1, 0.

    Mean 5/6, s = √(1/6), t for 5 degrees of freedom 2.570582: half-width 0.428430. Of the 32 signs of the
    five that differ, all plus and all minus are as far from 0: p = 2/32. 1/16 is not below 0.05: unclear,
    although the interval has no 0 in it.
    """
    made = _values([1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1])
    one = compare(made, "A", "B")
    assert one.difference == pytest.approx(5 / 6)
    assert one.low == pytest.approx(5 / 6 - 0.428430, abs=1e-6)
    assert one.high == 1.0
    assert one.spread == pytest.approx(math.sqrt(1 / 6))
    assert (one.p, one.adjusted_p, one.method) == (2 / 32, 2 / 32, "exact sign-flip")
    assert (one.verdict, one.shared) == (Verdict.UNCLEAR, 6)


def test_a_verdict_needs_the_interval_too() -> None:
    """One large and five small gains: p = 2/64, but mean 0.175 ± 2.5706 · 0.165 has 0 inside."""
    one = compare(_values([1.0] + [0.01] * 5, [0.0] * 6), "A", "B")
    assert one.p == 2 / 64
    assert one.low is not None
    assert one.low < 0
    assert one.verdict is Verdict.UNCLEAR


def test_seven_clear_problems_are_better_and_worse() -> None:
    """With p = 2/2^7; where lower is better the verdict turns, and nothing else."""
    made = _values([1, 1, 1, 1, 1, 1, 1, 0], [0] * 8)
    one, turned = compare(made, "A", "B"), compare(made, "A", "B", higher_is_better=False)
    assert (one.p, one.verdict) == (2 / 128, Verdict.BETTER)
    assert turned == replace(one, verdict=Verdict.WORSE)


def test_a_single_run_varies_as_the_runs_of_the_other_side() -> None:
    """Three runs of A that differ by a constant, one of B: τ² is known from A alone, and counts for both.

    Scores 0.2, 0.5 and 0.8 of A have S² = 0.09, and nothing of it is answers. B is 0.1 on each of 8 problems;
    the differences have no spread, so that V = 0.09 (1/3 + 1) = 0.12 with 2 degrees of freedom.
    """
    rows = [
        {"series": name, "run": str(run), "seed": str(run), "problem": str(problem), "score": score}
        for name, scores in (("A", (0.2, 0.5, 0.8)), ("B", (0.1,)))
        for run, score in enumerate(scores)
        for problem in range(8)
    ]
    one = compare(group_problem_scores(outcomes(rows)), "A", "B")
    assert one.difference == pytest.approx(0.4)
    assert one.df == pytest.approx(2)
    assert one.stderr == pytest.approx(math.sqrt(0.12))
    assert one.p == pytest.approx(2 * stats.t.sf(0.4 / math.sqrt(0.12), 2))
    assert one.reason == "B has one run, which is taken to vary as the runs of A do"


@settings(max_examples=tries(20, 160))
@given(arrays(np.float64, st.integers(6, 12), elements=st.integers(-4, 4).map(lambda n: n / 4)))
def test_exact_p_is_that_of_all_signs_and_of_scipy(differences: FloatArray) -> None:
    """Every sign vector by hand, and scipy's permutation test of paired samples."""
    made = _values((differences / 2 + 0.5).tolist(), [0.5] * differences.size)
    one = compare(made, "A", "B")
    signs = np.array(list(product((1, -1), repeat=differences.size)))
    by_hand = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9)
    assert one.p == pytest.approx(by_hand)
    if differences.any():
        theirs = stats.permutation_test(
            (differences,), lambda d, axis: d.mean(axis=axis), permutation_type="samples", vectorized=True
        )
        assert one.p == pytest.approx(theirs.pvalue)


@settings(max_examples=tries(20, 80))
@given(st.integers(21, 80), st.integers(0, 1000), st.floats(-0.15, 0.15))
def test_seeded_flips_agree_with_many_of_numpys(problems: int, seed: int, shift: float) -> None:
    """Two estimates of one p, each from 20 000 flips: within five standard errors of their difference."""
    rng = np.random.default_rng(seed)
    differences = rng.normal(shift, 0.2, problems).clip(-0.5, 0.5)
    made = _values((0.5 + differences).tolist(), [0.5] * problems)
    one = compare(made, "A", "B")
    assert one.p is not None
    assert one.method == "20 000 seeded flips"
    signs = rng.choice((-1.0, 1.0), (FLIPS, problems))
    other = (1 + np.count_nonzero(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9)) / (1 + FLIPS)
    assert abs(one.p - other) <= 5 * math.sqrt(2 * max(other, 1e-3) * 1 / FLIPS) + 1e-4


def test_twenty_problems_are_exact_and_twenty_one_are_drawn() -> None:
    """All alike in sign: 2/2^20 exactly; of 21 no flip reaches it, which leaves 1/20001 and never 0."""
    both = [compare(_values([1.0] * n + [0.0], [0.0] * (n + 1)), "A", "B") for n in (20, 21)]
    assert both[0].p == 2 / 2**20
    assert both[1].p is not None
    assert 1 / 20001 <= both[1].p <= 3 / 20001


@pytest.mark.parametrize(("heads", "problems", "tolerance"), [(6, 8, 0), (15, 24, 0.015)])
def test_ties_count_as_far_whatever_rounding_says(heads: int, problems: int, tolerance: float) -> None:
    """2/3 - 1/3 and 1/3 - 0 are one difference, though no float: the test is that of a fair coin.

    6 of 8 heads have P(|X - 4| ≥ 2) of all 2^8 signs; 15 of 24 the same by drawn ones.
    """
    a, b = [2 / 3] + [1 / 3] * (problems - 1), [1 / 3] + [0.0] * (problems - 1)
    tails = problems - heads
    made = _values(a[:heads] + [0.0] * tails, b[:heads] + [1 / 3] * tails)
    expected = stats.binomtest(heads, problems).pvalue
    assert compare(made, "A", "B").p == pytest.approx(expected, abs=tolerance or 1e-12)


@given(_scores)
def test_turning_a_pair_turns_the_sign_and_nothing_else(array: FloatArray) -> None:
    """compare(a, b) = -compare(b, a), to the last bit; also drawn, with many problems."""
    for made in (
        matrix(array),
        matrix(np.tile(array, (1, 9, 1)) * np.linspace(0.1, 1, 9 * array.shape[1])[:, None]),
    ):
        one, other = compare(made, "A", "B"), compare(made, "B", "A")
        assert other == swap_sides(one)
        assert one == swap_sides(swap_sides(one))


@given(_scores)
def test_a_series_is_never_better_than_itself(array: FloatArray) -> None:
    """Against itself and against its copy: no difference, p = 1, an interval with width around 0."""
    copied = matrix(np.concatenate([array, array[:1]]))
    for b in ("A", copied.series[-1]):
        one = compare(copied, "A", b)
        assert one.difference == 0
        assert one.verdict is (Verdict.UNCLEAR if one.shared >= 6 else Verdict.TOO_FEW)
        assert one.p in (1.0, None)
        if one.low is not None and one.high is not None:
            assert one.low < 0 < one.high
        assert one.reason


@given(array=_scores, higher=st.booleans())
def test_comparisons_have_numbers_or_reasons(*, array: FloatArray, higher: bool) -> None:
    """Each p in (0, 1] and never above its adjustment, width or a reason, never NaN."""
    made = matrix(array)
    together = compare_all(made, higher_is_better=higher)
    assert len(together) == array.shape[0] * (array.shape[0] - 1) // 2
    for one in together:
        if one.p is None or one.adjusted_p is None:
            assert one.verdict is Verdict.TOO_FEW
            assert "fewer than 6 cannot decide" in one.reason
        else:
            assert 0 < one.p <= one.adjusted_p <= 1
        if one.low is None or one.high is None:
            assert one.reason
        else:
            assert -1 <= one.low < one.high <= 1
        assert one.difference is not None
        assert math.isfinite(one.difference)
        # Plain numbers, as report.json needs them.
        numbers = (one.difference, one.low, one.high, one.spread, one.p, one.adjusted_p)
        assert {type(number) for number in numbers} <= {float, type(None)}


@given(_scores, st.randoms(use_true_random=False))
def test_order_and_names_are_irrelevant(array: FloatArray, random: Random) -> None:
    """Series and problems in another order: the same comparisons by name, and the same groups as sets."""
    tall = np.tile(array, (1, 5, 1)) * np.linspace(0.2, 1, 5 * array.shape[1])[:, None]
    orders = [random.sample(range(size), size) for size in tall.shape[:2]]
    names = [f"m{place}" for place in range(tall.shape[0])]
    problems = [f"p{place}" for place in range(tall.shape[1])]
    one = matrix(tall, series=names, problems=problems)
    # What problem_scores gives has its problems sorted; a comparison does not rely on it.
    other = matrix(
        tall[np.ix_(*orders)],
        series=[names[place] for place in orders[0]],
        problems=[problems[place] for place in orders[1]],
    )
    known = {(found.a, found.b): found for found in compare_all(one)}
    for found in compare_all(other):
        expected = known.get((found.a, found.b)) or swap_sides(known[found.b, found.a])
        assert found == expected


@given(_scores)
def test_adding_a_series_moves_no_other_p(array: FloatArray) -> None:
    """Neither difference, interval nor p of a pair know of others; only the adjustment does."""
    tall = np.tile(array, (1, 5, 1)) * np.linspace(0.2, 1, 5 * array.shape[1])[:, None]
    more = compare_all(matrix(np.concatenate([tall, np.full((1, *tall.shape[1:]), 0.3)])))
    for alone in compare_all(matrix(tall)):
        (found,) = [one for one in more if (one.a, one.b) == (alone.a, alone.b)]
        family = {"adjusted_p": None, "tested_together": 0, "family_stderr": None, "critical": None}
        same = {**family, "verdict": Verdict.UNCLEAR, "reason": ""}
        assert replace(found, **same) == replace(alone, **same)


def test_only_shared_problems_count_and_the_others_are_named() -> None:
    """Problems of one side are listed, never filled in: the rest is what the shared ones give alone."""
    nan = math.nan
    a, b = [1, 1, 1, 1, 0, 1, 1, 0, nan, 1], [0, 0, 1, 0, 0, 1, 0, 1, 1, nan]
    one = compare(_values(a, b), "A", "B")
    assert (one.only_a, one.only_b, one.shared) == (("p00009",), ("p00008",), 8)
    alone = compare(_values(a[:8], b[:8]), "A", "B")
    assert replace(one, only_a=(), only_b=()) == alone


def test_series_with_different_problems_are_drawn_as_if_alone() -> None:
    """Signs belong to problems: p of a pair is the same whether others lack problems or not."""
    rng = np.random.default_rng(3)
    full = rng.random((3, 60, 1))
    holey = full.copy()
    holey[1, ::5] = np.nan
    made = matrix(holey)
    shared = [place for place in range(60) if place % 5]
    alone = matrix(full[:, shared], problems=[made.problems[place] for place in shared])
    assert compare(made, "A", "B").p == compare(alone, "A", "B").p
    pairs = {(one.a, one.b): one.p for one in compare_all(made)}
    assert pairs["A", "C"] == compare(matrix(full), "A", "C").p
    assert pairs["A", "B"] == compare(alone, "A", "B").p


def test_all_right_against_all_wrong_is_better() -> None:
    """No spread: the interval is the exact bound, 1 - 2 · 11.57% to 1, and p is the smallest there is."""
    one = compare(_values([1.0] * 30, [0.0] * 30), "A", "B")
    assert one.low == pytest.approx(1 - 2 * 0.1157, abs=1e-4)
    assert one.high == 1.0
    assert one.verdict is Verdict.BETTER
    assert "all 30 problems have the same difference" in one.reason
    assert estimate_power([one]).difference is None


def test_holm_is_worked_out_by_hand() -> None:
    """0.01, 0.04, 0.03, 0.005 of four: 0.03, 0.06, 0.06, 0.02 (Holm 1979; R's p.adjust)."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_holm_keeps_order_and_never_lowers(values: list[float], random: Random) -> None:
    """Between p and m p, in the order of p, and the same in any order of writing."""
    after = holm(values)
    pairs = sorted(zip(values, after, strict=True))
    assert all(p <= q <= min(1, len(values) * p) + 1e-15 for p, q in pairs)
    assert [q for _, q in pairs] == sorted(after)
    order = random.sample(range(len(values)), len(values))
    moved = holm([values[place] for place in order])
    assert moved == [after[place] for place in order]


def test_adjusting_for_many_can_undo_a_verdict() -> None:
    """A p below 0.05 is clear alone, and not among the pairs of ten series that differ by luck."""
    rng = np.random.default_rng(12)
    values = rng.random((10, 30, 1))
    values[0] = np.clip(values[1] + 0.08 + rng.normal(0, 0.25, (30, 1)), 0, 1)
    alone = compare(matrix(values), "A", "B")
    (among,) = [one for one in compare_all(matrix(values)) if (one.a, one.b) == ("A", "B")]
    assert (alone.verdict, alone.tested_together) == (Verdict.BETTER, 1)
    assert alone.family_stderr is alone.critical is None
    assert (among.verdict, among.tested_together, among.p) == (Verdict.UNCLEAR, 45, alone.p)
    assert among.critical is not None
    assert 3 < among.critical < 5
    assert (among.adjusted_p or 0.0) > 0.05 > (alone.p or 1.0)


def test_blocks_of_one_family_multiply_p() -> None:
    """Three blocks with one family: three times the p, at most 1, and the verdict that follows."""
    made = _values([1] * 7 + [0], [0] * 8, [0] * 7 + [1])
    alone, among = compare_all(made), compare_all(made, blocks=3)
    for one, other in zip(alone, among, strict=True):
        assert other.adjusted_p == min(1.0, 3 * (one.adjusted_p or 1.0))
        assert (other.p, other.family_blocks) == (one.p, 3)
    (single,) = compare_all(made, pairs=[("A", "B")], blocks=4)
    assert (single.adjusted_p, single.verdict) == (4 * 2 / 128, Verdict.UNCLEAR)


def test_no_number_of_pairs_is_too_many_for_a_large_difference() -> None:
    """Of 1035 pairs one series beats all others by far: p times 1035 would be above 0.05 for any scores."""
    rng = np.random.default_rng(0)
    values = rng.random((46, 25, 1)) * 0.1 + np.where(np.arange(46) == 0, 0.8, 0.0)[:, None, None]
    names = [f"{place:02}" for place in range(46)]
    together = compare_all(matrix(values, series=names))
    assert find_leader(together, "00", names[1:]).series == "00"
    assert sum(one.verdict is not Verdict.UNCLEAR for one in together) == 45
    assert {type(one.p) for one in together} == {float}


def _judged(made: ProblemScores, *, higher_is_better: bool = True) -> tuple[RankGroup, ...]:
    together = compare_all(made, higher_is_better=higher_is_better)
    return rank_groups(score_series(made), together, higher_is_better=higher_is_better)


def _named(groups: tuple[RankGroup, ...]) -> list[tuple[str, ...]]:
    assert [one.rank for one in groups] == list(range(1, len(groups) + 1))
    return [one.series for one in groups]


def test_groups_are_cut_where_everyone_above_is_better_than_everyone_below() -> None:
    """20 right, 17 right, 1 right of 20; the first two differ by nothing that is shown, the third by much."""
    right = [[1.0] * n + [0.0] * (20 - n) for n in (17, 1, 20)]
    assert _named(_judged(_values(*right))) == [("C", "A"), ("B",)]
    assert _named(_judged(_values(*right), higher_is_better=False)) == [("B",), ("A", "C")]


def test_one_undecided_pair_across_a_border_is_no_border() -> None:
    """Neighbours are unclear, the third is worse than the first: no border."""
    made = _values([1.0] * 9, [1.0] * 7 + [0.0] * 2, [1.0] * 5 + [0.0] * 4)
    together = [
        replace(one, verdict=Verdict.BETTER, p=0.01)
        if (one.a, one.b) == ("A", "C")
        else replace(one, verdict=Verdict.UNCLEAR, p=0.2)
        for one in compare_all(made)
    ]
    for pairs in (together, [swap_sides(one) for one in together]):
        assert _named(rank_groups(score_series(made), pairs)) == [("A", "B", "C")]
        ranges = [
            (one.series, one.best, one.worst, one.count) for one in rank_ranges(score_series(made), pairs)
        ]
        assert ranges == [("A", 1, 2, 3), ("B", 1, 3, 3), ("C", 2, 3, 3)]
        assert find_leader(pairs, "A", ["B", "C"]).series is None
        assert find_leader(pairs, "A", ["C"]).series == "A"


def test_groups_leave_out_who_has_no_score() -> None:
    """No score, no group and no rank; too few shared problems, no border."""
    nan = math.nan
    made = _values([1.0] * 8, [nan] * 8, [0.0] * 3 + [nan] * 5)
    assert _named(_judged(made)) == [("A", "C")]
    assert [one.series for one in rank_ranges(score_series(made), [])] == ["A", "C"]


def test_power_alone_is_that_of_the_noncentral_t() -> None:
    """30 problems, a standard error of 2 points: scipy's noncentral t gives four in five."""
    one = replace(
        compare(_values([1, 0] * 8, [0, 1] * 8), "A", "B"), shared=30, df=29.0, stderr=0.02, spread=0.11
    )
    found = estimate_power([one])
    assert found.difference is not None
    critical = stats.t.ppf(0.975, 29)
    assert 1 - stats.nct.cdf(critical, 29, found.difference / 0.02) == pytest.approx(0.8, abs=1e-5)
    assert (found.problems, found.runs, found.family_difference) == (30, (1, 1), None)


def test_power_in_a_family_needs_its_critical_value() -> None:
    """Three standard errors are needed, not two: with many degrees of freedom 3 + 0.842 of them."""
    pair = compare(_values([1, 0] * 8, [0, 1] * 8), "A", "B")
    one = replace(
        pair, df=1e7, stderr=0.02, spread=0.11, family_stderr=0.02, critical=3.0, tested_together=15
    )
    found = estimate_power([one, replace(one, stderr=None), replace(one, spread=0.0)])
    assert found.together == 15
    assert found.difference == pytest.approx(0.02 * (1.95996 + 0.84162), abs=1e-6)
    assert found.family_difference == pytest.approx(0.02 * (3 + 0.84162), abs=1e-6)


def test_power_of_series_that_are_alike() -> None:
    """A series and its copy say nothing about others."""
    found = estimate_power(compare_all(_values([1, 0] * 8, [1, 0] * 8)))
    assert (found.difference, found.reason) == (None, "no two series whose differences have a spread")


def test_flips_of_right_and_wrong_count_in_steps() -> None:
    """4 samples of 10 problems: a flipped sign moves the mean by 2/40, and half of that is more to ask."""
    assert find_half_step(matrix(np.zeros((2, 10, 4))), "mean") == 1 / 40
    assert find_half_step(matrix(np.full((2, 10, 4), 0.3)), "mean") == 0
    assert find_half_step(matrix(np.zeros((2, 10, 4))), "pass@2") == 0


def test_differences_are_those_of_the_metric() -> None:
    """pass@2 of 4 samples: with 2 of 4 right 5/6, with 1 of 4 right 1/2."""
    two, one = [1, 1, 0, 0], [1, 0, 0, 0]
    made = matrix([[two] * 7, [one] * 6 + [two]])
    found = compare(made, "A", "B", "pass@k", 2)
    assert found.metric == "pass@2"
    assert found.difference == pytest.approx(6 / 7 * (5 / 6 - 1 / 2))


def test_the_grid_keeps_what_differs() -> None:
    """On a wide range small differences still count, and nothing shared is p = 1."""
    values = np.array([[1e6 + 1e-3] * 8, [1e6] * 8])
    (found,) = Flips(values, list("abcdefgh"), (0.0, 2e6)).run_tests([(0, 1)])
    assert found.p == 2 / 2**8
    nothing = Flips(np.array([[1.0, np.nan], [np.nan, 0.0]]), ["a", "b"], (0, 1)).run_tests([(0, 1)])
    assert nothing[0].p == 1


@given(st.lists(st.floats(0, 1, exclude_min=True), min_size=1, max_size=40))
def test_the_false_discovery_rate_is_that_of_scipy(p: list[float]) -> None:
    """And no p becomes smaller."""
    adjusted = adjust_by_fdr(p)
    assert adjusted == pytest.approx(stats.false_discovery_control(p).tolist())
    assert all(one >= own * (1 - 1e-15) for one, own in zip(adjusted, p, strict=True))
