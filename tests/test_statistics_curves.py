"""Curves: runs become one line with a band, ends have intervals, and tests say who leads there."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_figures import curve
from made_sources import measurements
from msgspec.structs import replace
from scipy import stats
from simulated.curves import drawn
from tries import tries

from reportgen.core.comparisons import Comparison, Verdict
from reportgen.core.model import GivenInterval, Lead, ReducedMetric, Run
from reportgen.read.queries.reduce import reduce
from reportgen.statistics.curves.mean_curves import compute_curves, summarise_curves
from reportgen.statistics.verdicts import (
    compare_at_end,
    find_front,
    find_leader,
    find_leads_at_end,
    swap_sides,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from reportgen.core.model import Ending


def _run(
    points: dict[float, float] | Sequence[float],
    run: str = "1",
    series: str = "A",
    **more: Any,  # noqa: ANN401
) -> Run:
    """A run of steps and values, or of values at 0, 1, and so on."""
    known = points if isinstance(points, dict) else dict(enumerate(points))
    return Run(series, run, None, np.array(list(known), float), np.array(list(known.values()), float), **more)


def _metric(*runs: Run, given_interval: str | None = None, **counts: Any) -> ReducedMetric:  # noqa: ANN401
    return ReducedMetric(
        "score", runs, **{"replaced": 0, "dropped": 0, **counts}, bins=None, given_interval=given_interval
    )


_points = st.dictionaries(st.integers(0, 20), st.floats(-1e6, 1e6), max_size=8).map(
    lambda points: {float(step): points[step] for step in sorted(points)}
)
_metrics = st.lists(st.tuples(st.sampled_from("AB"), _points), min_size=1, max_size=6).map(
    lambda runs: _metric(*(_run(points, str(place), series) for place, (series, points) in enumerate(runs)))
)


def test_two_runs_that_share_steps_are_worked_out_by_hand() -> None:
    """Means 2 and 4; with n = 2 the half-width is 12.7062 s / √2."""
    found = compute_curves(_metric(_run({0: 1, 10: 3}, "1"), _run({0: 3, 10: 5}, "2")))
    (made,) = found.curves
    assert made.steps.tolist() == [0, 10]
    assert made.values.tolist() == [2, 4]
    assert made.high - made.values == pytest.approx([12.706204736174698] * 2)
    assert made.n.tolist() == [2, 2]
    assert (found.exact, found.band, found.level) == (True, "ci", 0.95)


def test_runs_of_different_length_are_averaged_where_they_are() -> None:
    """The longer run goes on alone, with n = 1 and no band; nothing is extrapolated, nor joined."""
    found = compute_curves(_metric(_run({0: 0, 2: 4, 4: 8}, "1"), _run({1: 2, 2: 2}, "2")), band="range")
    (made,) = found.curves
    assert not found.exact
    assert made.steps.tolist() == [0, 1, 2, 4]
    assert made.values.tolist() == [0, 2, 3, 8]
    assert made.n.tolist() == [1, 2, 2, 1]
    np.testing.assert_equal(made.low, [math.nan, math.nan, 2, math.nan])
    np.testing.assert_equal(made.high, [math.nan, math.nan, 4, math.nan])
    assert made.equal == 1
    (apart,) = compute_curves(_metric(_run({0: 1, 1: 1}, "1"), _run({5: 9, 6: 9}, "2"))).curves
    assert apart.values.tolist() == [1, 1, 9, 9]
    assert apart.n.tolist() == [1, 1, 1, 1]


def test_series_come_with_their_own_steps_in_the_order_asked_for() -> None:
    """As in the data, or as the author says; what has no values, and why some are left out, is named."""
    metric = _metric(_run({0: 1, 10: 2}, series="C"), _run({5: 1}, series="A"), _run({0: 1}, series="B"))
    found = compute_curves(metric)
    assert [(one.series, one.steps.tolist()) for one in found.curves] == [
        ("C", [0, 10]),
        ("A", [5]),
        ("B", [0]),
    ]
    assert found.exact
    assert [one.series for one in compute_curves(metric, series=("B", "C")).curves] == ["B", "C"]
    metric = _metric(_run({0: 1}, "1", "A"), _run({}, "2", "A"), _run({}, "1", "B"), dropped=7, empty=2)
    found = compute_curves(metric, series=("A", "B", "C"))
    assert [one.series for one in found.curves] == ["A"]
    assert [run.run for run in found.curves[0].runs] == ["1"]
    assert found.without_values == (("A", "2"), ("B", None), ("C", None))
    assert (found.dropped, found.empty) == (7, 2)
    nothing = compute_curves(_metric(_run({})))
    assert (nothing.curves, nothing.without_values) == ((), (("A", None),))


def test_smoothing_draws_smoothed_runs_and_keeps_the_raw_mean() -> None:
    """Centre and band are of the smoothed runs; raw is the mean of the unsmoothed."""
    rows = [
        {"run": run, "step": step, "value": math.sin(step + ord(run))} for run in "123" for step in range(9)
    ]
    metric = reduce(measurements(rows), smooth=0.6)["score"]
    (smooth,) = compute_curves(metric, smooth=0.6, band="sd").curves
    (rough,) = compute_curves(metric, band="sd").curves
    drawn = np.stack([run.smoothed for run in metric.runs if run.smoothed is not None])
    np.testing.assert_allclose(smooth.values, drawn.mean(axis=0))
    np.testing.assert_allclose(smooth.high - smooth.values, drawn.std(axis=0, ddof=1))
    assert smooth.raw is not None
    assert smooth.raw.tolist() == rough.values.tolist()
    assert rough.raw is None
    with pytest.raises(ValueError, match="same smooth"):
        compute_curves(_metric(_run({0: 1})), smooth=0.5)


def test_a_given_interval_of_a_single_run_is_its_band() -> None:
    """Used as it is, named, and n is what the input says is behind it; it moves with a smoothed centre."""
    interval = GivenInterval(stderr=np.array([0.1, 0.2]), n=np.array([5.0, 5.0]))
    metric = _metric(_run({0: 1, 1: 2}, given=interval), given_interval="std and n")
    found = compute_curves(metric)
    (made,) = found.curves
    assert made.given
    assert made.high - made.values == pytest.approx([0.27764451, 0.55528902])
    assert made.n.tolist() == [5, 5]
    assert (found.given_interval, found.given_ignored) == ("std and n", False)
    none = compute_curves(metric, band="none")
    assert np.all(np.isnan(none.curves[0].low))
    assert (none.given_interval, none.given_ignored) == (None, False)
    interval = GivenInterval(low=np.array([0.5, 1.0]), high=np.array([2.0, 4.0]))
    run = _run({0: 1, 1: 3}, given=interval, smoothed=np.array([1.0, 2.0]))
    (made,) = compute_curves(_metric(run, given_interval="low and high"), smooth=0.5).curves
    assert made.low.tolist() == [0.5, 0.0]
    assert made.high.tolist() == [2.0, 3.0]


def test_given_intervals_of_several_runs_give_way_to_the_band_across_runs() -> None:
    """And the set says that they were not used; a series with one run beside it still uses its own."""
    interval = GivenInterval(low=np.array([0.0]), high=np.array([9.0]))
    two = [_run({0: 1}, "1", given=interval), _run({0: 3}, "2", given=interval)]
    found = compute_curves(_metric(*two, given_interval="low and high"), band="range")
    assert (found.curves[0].low[0], found.curves[0].high[0]) == (1, 3)
    assert (found.given_interval, found.given_ignored, found.curves[0].given) == (None, True, False)
    both = compute_curves(
        _metric(*two, _run({0: 1}, series="B", given=interval), given_interval="low and high")
    )
    assert (both.given_interval, both.given_ignored) == ("low and high", True)
    assert both.curves[1].high[0] == 9


@given(
    _metrics,
    st.sampled_from(["ci", "se", "sd", "range", "iqr", "none"]),
    st.randoms(use_true_random=False),
)
def test_a_curve_never_says_more_than_its_runs(metric: ReducedMetric, band: str, random: Random) -> None:
    """No more runs at a step, no other steps, no value outside their range; seeds may come in any order."""
    found = compute_curves(metric, band=band, series=("A", "B"))
    for made in found.curves:
        own = [run for run in metric.runs if run.series == made.series and run.steps.size]
        assert list(made.runs) == own
        assert made.steps.tolist() == sorted({step for run in own for step in run.steps.tolist()})
        assert np.all((made.n >= 1) & (made.n <= len(own)))
        smallest, largest = min(run.values.min() for run in own), max(run.values.max() for run in own)
        assert np.all((made.values >= smallest) & (made.values <= largest))
        assert np.all(np.isnan(made.low) == np.isnan(made.high))
        assert np.all(np.isnan(made.low[made.n == 1]))
    runs = list(metric.runs)
    random.shuffle(runs)
    shuffled = compute_curves(_metric(*runs), band=band, series=("A", "B"))
    for ours, theirs in zip(found.curves, shuffled.curves, strict=True):
        for name in ("steps", "values", "low", "high", "n"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


@settings(max_examples=tries(10, 60))
@given(st.integers(1, 4), st.floats(0.01, 100), st.floats(-1e3, 1e3))
def test_shift_and_scale_carry_through_the_whole_chain(runs: int, scale: float, shift: float) -> None:
    """From rows to curves, with bins and smoothing."""

    def drawn(scale: float, shift: float) -> Any:  # noqa: ANN401 - a curve
        rows = [
            {"run": str(run), "step": step, "value": math.sin(step * (run + 1)) * scale + shift}
            for run in range(runs)
            for step in range(60 - run)
        ]
        metric = reduce(measurements(rows), max_points=20, smooth=0.5)["score"]
        return compute_curves(metric, smooth=0.5).curves[0]

    one, other = drawn(1, 0), drawn(scale, shift)
    for name in ("values", "low", "high", "raw"):
        expected = getattr(one, name) * scale + shift
        np.testing.assert_allclose(
            getattr(other, name), expected, rtol=1e-6, atol=1e-6 * (scale + abs(shift))
        )


# ---- final, peak and mean of a series ---------------------------------------------------------------------


def _end(*runs: Run, higher_is_better: bool = True, **said: Any) -> tuple[Ending, ...]:  # noqa: ANN401
    """Endings of the curves of some runs, with these settings."""
    made = compute_curves(_metric(*runs, given_interval="low and high"), **said)
    return summarise_curves(made, higher_is_better=higher_is_better)


def test_three_runs_are_worked_out_by_hand() -> None:
    """Means 2, 5, 4: final 4 at step 2, peak 5 at step 1, mean over steps of 3, 4 and 4."""
    runs = (_run([1, 5, 3], "1"), _run([2, 5, 5], "2"), _run([3, 5, 4], "3"))
    (ending,) = _end(*runs)
    half = stats.t.ppf(0.975, 2) / np.sqrt(3)
    assert (ending.final.value, ending.final_step, ending.final.n) == (4, 2, 3)
    assert ending.final.high == pytest.approx(4 + half)
    assert (ending.peak.value, ending.peak_step) == (5, 1)
    assert (ending.peak.low, ending.peak.high, ending.readings) == (None, None, 3)
    means = [3, 4, 4]
    low, high = stats.t.interval(0.95, 2, loc=np.mean(means), scale=stats.sem(means))
    assert ending.mean.value == pytest.approx(np.mean(means))
    assert (ending.mean.low, ending.mean.high) == pytest.approx((low, high))
    assert ending.runs == 3
    (narrow,) = _end(*runs, level=0.5)
    assert narrow.final.high == pytest.approx(4 + stats.t.ppf(0.75, 2) / np.sqrt(3))


def test_the_best_is_the_smallest_where_lower_is_better() -> None:
    """And of several equal values the first one counts; one run has no intervals."""
    (ending,) = _end(_run([3, 1, 2, 1]), higher_is_better=False)
    assert (ending.peak.value, ending.peak_step) == (1, 1)
    for estimate in (ending.final, ending.peak, ending.mean):
        assert (estimate.low, estimate.high, estimate.n) == (None, None, 1)


def test_endings_are_of_what_was_measured() -> None:
    """At the last step the longest run alone; a given interval stays with its value; smoothing is none."""
    (ending,) = _end(_run([1, 2, 3], "1"), _run([3, 4], "2"))
    assert (ending.final.value, ending.final.n, ending.final.low) == (3, 1, None)
    assert (ending.mean.value, ending.mean.n, ending.runs) == (2.75, 2, 2)
    given = GivenInterval(low=np.array([0.0, 1.0]), high=np.array([2.0, 4.0]))
    (ending,) = _end(_run([1, 3], given=given))
    assert (ending.final.low, ending.final.high, ending.peak.low) == (1, 4, None)
    assert ending.mean.low is None
    assert _end(_run([1, 5], smoothed=np.array([1.0, 3.0])))[0].final.value == 5
    runs = _run([1], series="A"), _run([], series="B"), _run([2], series="C")
    assert [one.series for one in _end(*runs, series=("C", "B", "A"))] == ["C", "A"]


def test_a_peak_that_knows_of_its_choice_has_the_interval_of_all_steps() -> None:
    """The simultaneous band at its step, whatever band is drawn; with one run, or equal ones, none."""
    noise = np.random.default_rng(1).normal(size=(5, 30))
    runs = [_run(one.tolist(), f"{place}") for place, one in enumerate(noise)]
    (whole,) = compute_curves(_metric(*runs), band="simultaneous").curves
    for way, place in ((True, np.argmax(whole.values)), (False, np.argmin(whole.values))):
        (ending,) = _end(*runs, peak="simultaneous", higher_is_better=way)
        assert (ending.peak.low, ending.peak.high) == (whole.low[place], whole.high[place])
    for few in (runs[:1], [_run([1, 2], "1"), _run([1, 2], "2")]):
        assert _end(*few, peak="simultaneous")[0].peak.low is None


# ---- who leads: by the verdicts of a family, and at the end of curves -------------------------------------

A, B, C = (curve(name, [0.2, end], half=0.01, runs=5) for name, end in (("A", 0.9), ("B", 0.5), ("C", 0.5)))
NOBODY = Lead(None, tested=True)


def _omit_difference(lead: Lead) -> Lead:
    return replace(lead, pair=("", ""), difference=None)


def family() -> list[Comparison]:
    """A is better than B and C, which are equal."""
    return list(compare_at_end((A, B, C)))


@pytest.mark.parametrize("apart", [0.01, 0.1, 1.0, 30.0])
def test_ends_are_compared_by_welchs_test(apart: float) -> None:
    """As SciPy does, also far out, where p is tiny."""
    ends = [curve("A", [0.0, apart], half=0.05, runs=5), curve("B", [0.0, 0.0], half=0.02, runs=4)]
    sides = [[run.values[-1] for run in one.runs] for one in ends]
    (pair,) = compare_at_end(ends)
    assert pair.p == pytest.approx(stats.ttest_ind(*sides, equal_var=False).pvalue, rel=1e-9)


def test_the_leader_is_better_than_every_other() -> None:
    """Whichever side of a pair it stands on; the best number alone is not enough."""
    pairs = family()
    won = find_leader(pairs, "A", ["B", "C"])
    assert _omit_difference(won) == Lead("A", tested=True)
    assert find_leader([swap_sides(one) for one in pairs], "A", ["B", "C"]) == won
    assert _omit_difference(find_leader(pairs, "B", ["A", "C"])) == NOBODY
    assert _omit_difference(find_leader(pairs, "B", ["C"])) == NOBODY
    above, below = find_leads_at_end((A, B, C), 0.95)
    assert (_omit_difference(above), _omit_difference(below)) == (_omit_difference(won), NOBODY)
    above, below = find_leads_at_end((A, B), 0.95)
    assert _omit_difference(above) == Lead("A", tested=True, rival="B")
    assert _omit_difference(below) == Lead("B", tested=True, rival="A")


def test_a_verdict_has_the_difference_of_the_pair_that_decides() -> None:
    """The best series minus the next best one; without a winner, the first that it does not beat."""
    pairs = family()
    for lead, decisive in (
        (find_leader(pairs, "A", ["B", "C"]), pairs[0]),
        (find_leader(pairs, "B", ["C"]), pairs[2]),
    ):
        found = lead.difference
        assert found is not None
        assert lead.pair == (decisive.a, decisive.b)
        assert (found.value, found.low, found.high) == (decisive.difference, decisive.low, decisive.high)


def _say_untested(reason: str) -> Lead:
    return Lead(None, tested=False, reason=reason)


def test_what_could_not_be_tested_gives_no_winner_and_no_tie() -> None:
    """One series alone, a missing pair, too few runs, equal runs on both sides: no test says anything."""
    assert find_leader([], "A", []) == Lead("A", tested=False)
    assert find_leads_at_end((A,), 0.95) == (Lead("A", tested=False),) * 2
    pairs = family()
    missing = "A and C share no problem"
    assert find_leader(pairs[:1], "A", ["B", "C"], missing=missing) == _say_untested(missing)
    few = replace(pairs[0], p=None, adjusted_p=None, verdict=Verdict.TOO_FEW, reason="one run of B")
    assert find_leader([few, *pairs[1:]], "A", ["B", "C"]) == _say_untested("one run of B")
    equal = (curve("A", [0.2, 0.9], half=0.0, runs=3), curve("B", [0.2, 0.5], half=0.0, runs=3))
    same = "the runs of each side are equal, so there is no interval"
    assert find_leads_at_end(equal, 0.95)[0] == _say_untested(same)
    lone = curve("B", [0.2, 0.5])
    assert find_leads_at_end((A, lone), 0.95)[0] == _say_untested("several runs only of A")
    assert find_leads_at_end((lone, lone), 0.95)[0] == _say_untested("one run each")


def test_a_series_that_ends_early_is_compared_where_it_ends() -> None:
    """And leads only if its own final value is the best as well."""
    early = curve("early", [0.2, 0.9], half=0.01, runs=5)
    late = curve("late", [0.2, 0.5, 0.95], half=0.01, runs=5)
    assert _omit_difference(find_leads_at_end((early, late), 0.95)[0]) == NOBODY
    assert find_leads_at_end((early, replace(late, values=late.values * 0.5)), 0.95)[0].series == "early"


@pytest.mark.parametrize("count", [8, 40])
def test_a_leader_among_many_needs_no_more_than_in_each_pair(count: int) -> None:
    """It has to win each of them, which is hard enough; pairs of the others do not matter."""
    first = curve("first", [0.0, 0.045], half=0.05, runs=5)
    others = [curve(f"other {place}", [0.0, -0.03], half=0.05, runs=5) for place in range(count)]
    assert find_leads_at_end((first, others[0]), 0.95)[0].series == "first"
    assert find_leads_at_end((first, *others), 0.95)[0].series == "first"
    near = curve("near", [0.0, 0.02], half=0.05, runs=5)
    lead = find_leads_at_end((first, near, *others), 0.95)[0]
    assert _omit_difference(lead) == NOBODY
    assert lead.pair == ("first", "near")


@settings(max_examples=tries(20, 200))
@given(st.integers(0, 2**32 - 1))
def test_the_leader_of_few_runs_has_the_pooled_variance(seed: int) -> None:
    """Student's t with the variance of all series, from numpy, against each other series."""
    rng = np.random.default_rng(seed)
    made = [rng.normal(place == 0, 0.3, (int(rng.integers(2, 5)), 1)) for place in range(4)]
    made[1] = made[1][:3]
    means, sizes = np.array([one.mean() for one in made]), np.array([one.size for one in made])
    df = sizes.sum() - 4
    sd = math.sqrt(sum(((one - one.mean()) ** 2).sum() for one in made) / df)
    best = int(means.argmax())
    t = (means[best] - means) / (sd * np.sqrt(1 / sizes[best] + 1 / sizes))
    leads = all(2 * stats.t.sf(t[other], df) < 0.05 for other in range(4) if other != best)
    above, _ = find_leads_at_end(drawn(*made).curves, 0.95)
    assert _omit_difference(above) == (Lead(f"series {best}", tested=True) if leads else NOBODY)


def test_a_verdict_that_is_not_strict_enough_shows_no_front() -> None:
    """Each of the two measures has half of the 5%."""
    pair = Comparison("a", "b", "score", 0.95, verdict=Verdict.BETTER, adjusted_p=0.03)
    assert find_front(["a", "b"], [pair]) == ()
    assert find_front(["a", "b"], [Comparison("a", "b", "score", 0.95)]) is None


def test_numbers_of_any_size_are_no_trouble() -> None:
    """Where squares are no numbers, the test goes on; where sums are none, nobody leads."""
    for size, leader in ((1e200, "A"), (1.7e308, None)):
        big = [
            replace(one, runs=tuple(replace(run, values=run.values * size) for run in one.runs))
            for one in (A, B)
        ]
        assert find_leads_at_end(big, 0.95)[0].series == leader
