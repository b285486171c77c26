"""Common steps of runs, centre and band across them: by hand, by others, and their laws."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from reportgen.core.model import GivenInterval
from reportgen.statistics.curves.bands import compute_band, find_luck, get_given_band, measure_search
from reportgen.statistics.curves.mean_curves import align, find_common_steps, interpolate

if TYPE_CHECKING:
    from random import Random

    from reportgen.core.model import FloatArray

_KINDS = ("ci", "se", "sd", "range", "iqr")
_shape = st.tuples(st.integers(1, 6), st.integers(1, 4))
_number = st.floats(-1e6, 1e6, allow_subnormal=False)
_full = _shape.flatmap(lambda shape: arrays(np.float64, shape, elements=_number))
_holey = _shape.flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.one_of(_number, st.just(math.nan)))
)
_run = st.dictionaries(st.integers(-100, 100), st.floats(-1e300, 1e300), min_size=1, max_size=20).map(
    lambda points: (
        np.array(sorted(points), dtype=np.float64),
        np.array([points[step] for step in sorted(points)]),
    )
)

# ---- common steps: runs meet inside their own range only ------------------------------------------------


def test_common_steps_are_worked_out_by_hand() -> None:
    """Equal steps are kept; of 0, 4 and 1, 2 each run is read between its own points and nowhere else."""
    steps = [np.array([1.0, 2, 5])] * 2
    grid, exact = find_common_steps(steps)
    assert (grid.tolist(), exact) == ([1, 2, 5], True)
    assert align(grid, steps, [np.zeros(3), np.ones(3)], exact=exact).tolist() == [[0, 0, 0], [1, 1, 1]]
    steps = [np.array([0.0, 4.0]), np.array([1.0, 2.0])]
    grid, exact = find_common_steps(steps)
    assert (grid.tolist(), exact) == ([0, 1, 2, 4], False)
    got = align(grid, steps, [np.array([0.0, 8.0]), np.array([5.0, 7.0])], exact=exact)
    np.testing.assert_equal(got, [[0, 2, 4, 8], [np.nan, 5, 7, np.nan]])
    alone = interpolate(np.array([1.0, 2, 3]), np.array([2.0]), np.array([9.0]))
    np.testing.assert_equal(alone, [np.nan, 9, np.nan])


@given(_run, st.lists(st.floats(-120, 120), min_size=1, max_size=20))
def test_nothing_is_extrapolated_and_nothing_leaves_the_hull(
    run: tuple[FloatArray, FloatArray],
    wanted: list[float],
) -> None:
    """NaN outside the run's range; inside, between the two neighbouring values."""
    steps, values = run
    grid = np.unique(wanted)
    got = interpolate(grid, steps, values)
    inside = (grid >= steps[0]) & (grid <= steps[-1])
    assert np.array_equal(np.isfinite(got), inside)
    for step, value in zip(grid[inside], got[inside], strict=True):
        left = int(np.searchsorted(steps, step, side="right")) - 1
        right = int(np.searchsorted(steps, step, side="left"))
        assert min(values[left], values[right]) <= value <= max(values[left], values[right])


@given(st.lists(_run, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_own_points_are_hit_exactly(runs: list[tuple[FloatArray, FloatArray]], random: Random) -> None:
    """On the union of all steps, in whatever order runs come, each still has its own values."""
    steps, values = [run[0] for run in runs], [run[1] for run in runs]
    grid, exact = find_common_steps(steps)
    aligned = align(grid, steps, values, exact=exact)
    assert np.all(np.diff(grid) > 0)
    for row, own, expected in zip(aligned, steps, values, strict=True):
        assert row[np.searchsorted(grid, own)].tolist() == expected.tolist()
    random.shuffle(steps)
    other, other_exact = find_common_steps(steps)
    assert (grid.tolist(), exact) == (other.tolist(), other_exact)


# ---- centre and band -------------------------------------------------------------------------------------


def test_four_runs_are_worked_out_by_hand() -> None:
    """2, 4, 4, 6: mean 4, s = √(8/3), t for 3 degrees of freedom 3.182446."""
    values = np.array([[2.0], [4.0], [6.0], [4.0]])
    s = math.sqrt(8 / 3)
    expected = {
        "ci": (4, 4 - 3.182446305284263 * s / 2, 4 + 3.182446305284263 * s / 2),
        "se": (4, 4 - s / 2, 4 + s / 2),
        "sd": (4, 4 - s, 4 + s),
        "range": (4, 2, 6),
        "iqr": (4, 3.5, 4.5),
        "none": (4, math.nan, math.nan),
    }
    for kind, ends in expected.items():
        got = compute_band(values, kind)
        assert [got.centre[0], got.low[0], got.high[0]] == pytest.approx(ends, nan_ok=True), kind
        assert got.n.tolist() == [4]


@given(_full, st.floats(0.01, 0.999))
def test_ci_is_scipys_t_interval(values: FloatArray, level: float) -> None:
    """The interval of the mean by scipy.stats, run by run and step by step."""
    got = compute_band(values, "ci", level)
    for step, column in enumerate(values.T):
        if column.size < 2 or np.ptp(column) < 1e-100:
            continue
        sem = stats.sem(column)
        low, high = stats.t.interval(level, column.size - 1, loc=column.mean(), scale=sem)
        assert got.low[step] == pytest.approx(low, rel=1e-9, abs=1e-6)
        assert got.high[step] == pytest.approx(high, rel=1e-9, abs=1e-6)


@given(_holey)
def test_quartiles_are_numpys(values: FloatArray) -> None:
    """Median and quartiles of the runs that support a step, with numpy's default interpolation."""
    got = compute_band(values, "iqr")
    for step, column in enumerate(values.T):
        known = column[~np.isnan(column)]
        if known.size > 1:
            expected = np.quantile(known, [0.25, 0.5, 0.75])
            if expected[0] == expected[2]:
                expected[[0, 2]] = np.nan
            ours = [got.low[step], got.centre[step], got.high[step]]
            np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-9)


def test_a_step_counts_only_the_runs_that_reach_it() -> None:
    """Where runs end, the band is drawn from what is left, and n says so; one run has none."""
    values = np.array([[1.0, 1.0, 1.0], [3.0, 3.0, math.nan], [5.0, math.nan, math.nan]])
    got = compute_band(values, "sd")
    assert got.centre.tolist() == [3, 2, 1]
    assert got.n.tolist() == [3, 2, 1]
    np.testing.assert_allclose(got.high - got.centre, [2, math.sqrt(2), math.nan])


@given(_holey, st.sampled_from([*_KINDS, "none"]), st.randoms(use_true_random=False))
def test_the_band_contains_its_centre(values: FloatArray, kind: str, random: Random) -> None:
    """To the bit: the mean of equal values is not past them by rounding; the order of runs is irrelevant."""
    got = compute_band(values, kind)
    known = ~np.isnan(got.low)
    assert not known[got.n < 2].any()
    assert not (known.any() and kind == "none")
    assert np.all(got.low[known] < got.high[known])
    assert np.all(got.low[known] <= got.centre[known])
    assert np.all(got.centre[known] <= got.high[known])
    assert np.array_equal(np.isnan(got.high), ~known)
    assert np.array_equal(np.isnan(got.centre), got.n == 0)
    assert np.all(got.n <= values.shape[0])
    order = list(range(values.shape[0]))
    random.shuffle(order)
    for one, other in zip(got, compute_band(values[order], kind), strict=True):
        np.testing.assert_array_equal(one, other)


@given(_full, st.sampled_from(_KINDS), st.floats(0.001, 1000), st.floats(-1e6, 1e6))
def test_shift_and_scale_carry_through(values: FloatArray, kind: str, scale: float, shift: float) -> None:
    """Other units give the same picture."""
    one, other = compute_band(values, kind), compute_band(values * scale + shift, kind)
    size = np.abs(values).max() * scale + abs(shift)
    for ours, theirs in zip(one[:3], other[:3], strict=True):
        # Differences that the shift rounds away leave equal runs, which have no band.
        known = ~np.isnan(ours) & ~np.isnan(theirs)
        np.testing.assert_allclose(ours[known] * scale + shift, theirs[known], rtol=1e-6, atol=1e-6 * size)


@given(_full, st.floats(0.02, 0.98), st.floats(0.001, 0.999))
def test_ci_narrows_as_the_level_falls(values: FloatArray, level: float, part: float) -> None:
    """Less confidence, smaller interval, inside the larger one."""
    wide, narrow = compute_band(values, "ci", level), compute_band(values, "ci", level * part)
    known = ~np.isnan(narrow.low)
    assert np.all(wide.low[known] <= narrow.low[known])
    assert np.all(narrow.high[known] <= wide.high[known])


@given(st.floats(-1e300, 1e300), st.integers(2, 7), st.sampled_from(_KINDS))
def test_runs_that_agree_have_no_band(value: float, runs: int, kind: str) -> None:
    """Equal runs, as three times 0.1, have exactly their own value as mean, and no certainty around it."""
    got = compute_band(np.full((runs, 1), value), kind)
    assert got.centre[0] == value
    assert math.isnan(got.low[0])
    assert math.isnan(got.high[0])


def test_numbers_of_any_size_have_a_band_or_none() -> None:
    """Squares that would be infinite or 0 are no exception; an overflow is unknown, never infinite."""
    for size in (1e200, 1e-200):
        assert compute_band(np.array([[size], [-size]]), "sd").high[0] == pytest.approx(math.sqrt(2) * size)
    got = compute_band(np.array([[1.7e308], [-1.7e308]]), "sd")
    assert math.isnan(got.low[0])
    assert got.centre.tolist() == [0]


def test_coverage_of_ci_with_three_runs() -> None:
    """The nominal 95 % hold for three normal runs, where a bootstrap covers 74 %."""
    values = np.random.default_rng(1).normal(size=(3, 20_000))
    got = compute_band(values, "ci")
    covered = np.mean((got.low <= 0) & (got.high >= 0))
    assert covered == pytest.approx(0.95, abs=0.005)


def test_values_with_a_range_have_intervals_inside_it() -> None:
    """Worked out by hand: u exp(±h/u) with one end, logit(u) ± h/(u (1 - u)) with two."""
    values = np.array([[1.0], [2.0], [6.0]])
    half = float(stats.t.ppf(0.975, 2) * values.std(ddof=1) / math.sqrt(3))
    low = compute_band(values, "ci", 0.95, (0.0, math.inf))
    assert [float(low.low[0]), float(low.high[0])] == pytest.approx(
        [3 * math.exp(-half / 3), 3 * math.exp(half / 3)]
    )
    high = compute_band(10 - values, "ci", 0.95, (-math.inf, 10.0))
    assert [float(high.low[0]), float(high.high[0])] == pytest.approx([10 - low.high[0], 10 - low.low[0]])
    both, odds, step = compute_band(values, "ci", 0.95, (0.0, 10.0)), 3 / 7, half / 10 / 0.21
    ends = [10 * odds * math.exp(by) / (odds * math.exp(by) + 1) for by in (-step, step)]
    assert [float(both.low[0]), float(both.high[0])] == pytest.approx(ends)
    assert float(compute_band(values, "sd", 0.95, (1.0, math.inf)).low[0]) == 1


@given(arrays(np.float64, (3, 2), elements=st.floats(0, 1)), st.sampled_from(["ci", "se", "sd"]))
def test_no_band_leaves_the_range(values: FloatArray, kind: str) -> None:
    """Ends stay inside, around the mean; a mean at an end has no interval."""
    band = compute_band(values, kind, 0.95, (0.0, 1.0))
    known = np.isfinite(band.low)
    assert (band.low[known] >= 0).all()
    assert (band.high[known] <= 1).all()
    assert ((band.low <= band.centre) & (band.centre <= band.high))[known].all()
    assert not known[(band.centre == 0) | (band.centre == 1)].any()


@pytest.mark.parametrize(("kind", "level"), [("bootstrap", 0.95), ("ci", 0), ("ci", 1), ("ci", 95)])
def test_what_is_no_band_is_refused(kind: str, level: float) -> None:
    """An unknown band or a level in percent is a fault of the caller."""
    with pytest.raises(ValueError, match=r"band|level"):
        compute_band(np.ones((2, 1)), kind, level)


# ---- intervals that the input gives ----------------------------------------------------------------------


def test_a_given_interval_is_used_as_it_is() -> None:
    """Low and high pass through; half an interval is none."""
    interval = GivenInterval(low=np.array([0.0, 1, np.nan]), high=np.array([2.0, np.nan, 3]))
    low, high = get_given_band(np.array([1.0, 1, 1]), interval, 0.95)
    np.testing.assert_equal(low, [0, np.nan, np.nan])
    np.testing.assert_equal(high, [2, np.nan, np.nan])


def test_a_given_standard_error_becomes_an_interval() -> None:
    """With n by Student's t, without n by the normal distribution, at the level asked for."""
    stderr, value = np.array([0.1, 0.1]), np.array([0.5, 0.5])
    low, high = get_given_band(value, GivenInterval(stderr=stderr), 0.9)
    assert high[0] == pytest.approx(0.5 + 1.6448536269514722 * 0.1)
    assert low[0] == pytest.approx(0.5 - 1.6448536269514722 * 0.1)
    low, high = get_given_band(value, GivenInterval(stderr=stderr, n=np.array([5.0, 1.0])), 0.95)
    assert high[0] == pytest.approx(0.5 + 2.7764451051977987 * 0.1)
    assert math.isnan(high[1])
    low, high = get_given_band(value, GivenInterval(stderr=stderr, n=np.array([math.nan, 5.0])), 0.95)
    assert (high - value) / stderr == pytest.approx([1.959963984540054, 2.7764451051977987])


@given(st.floats(0.001, 0.998), st.floats(1.0, 2000))
def test_quantiles_of_student_are_scipys(level: float, df: float) -> None:
    """To nine digits, for whole and for broken degrees of freedom, and symmetric."""
    low, high = get_given_band(np.zeros(1), GivenInterval(stderr=np.ones(1), n=np.array([df + 1])), level)
    assert high[0] == pytest.approx(float(stats.t.ppf((1 + level) / 2, df)), rel=1e-9, abs=1e-10)
    assert low[0] == -high[0]


# ---- intervals that hold at many steps at once; how often they do is simulated elsewhere -----------------


def test_a_simultaneous_band_is_bonferronis() -> None:
    """At each of 40 steps a t interval at 1 - 0.05/40; equal runs count among the steps, lone ones do not."""
    values = np.random.default_rng(1).normal(size=(5, 40))
    values[:, 7] = 1.0
    whole = compute_band(values, "simultaneous")
    for one, other in zip(whole, compute_band(values, "ci", 1 - 0.05 / 40), strict=True):
        np.testing.assert_array_equal(one, other)
    longer = np.full((5, 60), np.nan)
    longer[:, :40], longer[0, 40:] = values, 1.0
    np.testing.assert_array_equal(compute_band(longer, "simultaneous").low[:40], whole.low)
    assert np.isnan(compute_band(values[:1], "simultaneous").low).all()
    np.testing.assert_array_equal(
        compute_band(values[:, :1], "simultaneous").low, compute_band(values[:, :1], "ci").low
    )


# ---- the best of many runs ------------------------------------------------------------------------------


def test_luck_is_the_point_of_dunnetts_test() -> None:
    """One attempt is Student's t; of more, SciPy's test has p = 5% at the gain that is found."""
    for df in (1, 2, 5, 30):
        for repetitions in (1, 4):
            exact = stats.t.ppf(0.95, df) * math.sqrt(1 + 1 / repetitions)
            assert find_luck(1, repetitions, df, 0.95) == pytest.approx(exact, rel=1e-4)
    # Dunnett 1955, table 1a, for groups of equal size: 5%, 10 and 20 degrees of freedom.
    for compared, df, point in ((2, 10, 2.15), (5, 10, 2.56), (9, 10, 2.81), (2, 20, 2.03), (9, 20, 2.60)):
        assert find_luck(compared, 1, df, 0.95) / math.sqrt(2) == pytest.approx(point, abs=0.006)


def test_a_search_is_measured_by_its_repetitions() -> None:
    """Noise is pooled; the value that chose the best attempt does not count for its mean or the noise."""
    found = measure_search([[1.0, 3.0], [9.0, 5.0, 6.0, 7.0], [4.0]], 1)
    assert found.noise == pytest.approx(math.sqrt((2 + 2) / 3))
    assert (found.compared, found.df, found.gain) == (2, 3, 7)
    again = found.repeated
    assert again is not None
    pooled = stats.t.ppf(0.975, 3) * math.sqrt(4 / 3 * (1 / 3 + 1 / 2))
    assert (again.value, again.n) == (4, 3)
    assert (again.low, again.high) == pytest.approx((4 - pooled, 4 + pooled))
    assert found.beyond_luck
    assert measure_search([[1.0], [9.0]], 1).beyond_luck is None
    assert measure_search([[1.0, 2.0], [0.5]], 0).beyond_luck is False
