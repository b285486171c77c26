"""Centre and band across runs, held to scipy and to their laws."""

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
from reportgen.statistics.curves.bands import compute_band, get_given_band

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
    }
    for kind, ends in expected.items():
        got = compute_band(values, kind)
        assert [got.centre[0], got.low[0], got.high[0]] == pytest.approx(ends), kind
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


@pytest.mark.parametrize("kind", [*_KINDS, "none"])
def test_one_run_has_no_band(kind: str) -> None:
    """What nobody can know is NaN, never a band of zero width."""
    got = compute_band(np.array([[1.0, 2.0]]), kind)
    assert got.centre.tolist() == [1, 2]
    assert np.all(np.isnan(got.low))
    assert np.all(np.isnan(got.high))
    assert got.n.tolist() == [1, 1]


def test_none_draws_no_band() -> None:
    """The mean alone."""
    got = compute_band(np.array([[1.0], [3.0]]), "none")
    assert got.centre.tolist() == [2]
    assert math.isnan(got.low[0])


def test_a_step_counts_only_the_runs_that_reach_it() -> None:
    """Where runs end, the band is drawn from what is left, and n says so."""
    values = np.array([[1.0, 1.0, 1.0], [3.0, 3.0, math.nan], [5.0, math.nan, math.nan]])
    got = compute_band(values, "sd")
    assert got.centre.tolist() == [3, 2, 1]
    assert got.n.tolist() == [3, 2, 1]
    np.testing.assert_allclose(got.high - got.centre, [2, math.sqrt(2), math.nan])


@given(_holey, st.sampled_from(_KINDS))
def test_the_band_contains_its_centre(values: FloatArray, kind: str) -> None:
    """To the bit: the mean of equal values is not past them by rounding."""
    got = compute_band(values, kind)
    known = ~np.isnan(got.low)
    assert not known[got.n < 2].any()
    assert np.all(got.low[known] < got.high[known])
    assert np.all(got.low[known] <= got.centre[known])
    assert np.all(got.centre[known] <= got.high[known])
    assert np.all(np.isnan(got.low[~known]))
    assert np.array_equal(np.isnan(got.centre), got.n == 0)
    assert np.all(got.n <= values.shape[0])


@given(_holey, st.sampled_from(_KINDS), st.randoms(use_true_random=False))
def test_the_order_of_runs_is_irrelevant(values: FloatArray, kind: str, random: Random) -> None:
    """To the bit, since sums are taken of sorted values."""
    order = list(range(values.shape[0]))
    random.shuffle(order)
    for one, other in zip(compute_band(values, kind), compute_band(values[order], kind), strict=True):
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


def test_a_simultaneous_band_is_a_wider_interval_of_the_mean() -> None:
    """The same centre, at every step as many times as wide as the interval of the step by itself."""
    values = np.random.default_rng(1).normal(size=(5, 40))
    plain, whole = compute_band(values, "ci"), compute_band(values, "simultaneous")
    np.testing.assert_array_equal(plain.centre, whole.centre)
    ratio = (whole.high - whole.low) / (plain.high - plain.low)
    assert ratio == pytest.approx(np.full(40, ratio[0]))
    assert 2 < ratio[0] < 4
    np.testing.assert_array_equal(whole.low, compute_band(values[::-1], "simultaneous").low)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_numbers_that_have_no_square_have_a_band(size: float) -> None:
    """Values whose squares would be infinite or 0 are no exception."""
    got = compute_band(np.array([[size], [-size]]), "sd")
    assert got.high[0] == pytest.approx(math.sqrt(2) * size)


def test_a_band_beyond_all_numbers_is_unknown() -> None:
    """An overflow is unknown, not infinite: no infinity may reach a page."""
    got = compute_band(np.array([[1.7e308], [-1.7e308]]), "sd")
    assert math.isnan(got.low[0])
    assert got.centre.tolist() == [0]


def test_coverage_of_ci_with_three_runs() -> None:
    """The nominal 95 % hold for three normal runs, where a bootstrap covers 74 %."""
    values = np.random.default_rng(1).normal(size=(3, 20_000))
    got = compute_band(values, "ci")
    covered = np.mean((got.low <= 0) & (got.high >= 0))
    assert covered == pytest.approx(0.95, abs=0.005)


@pytest.mark.parametrize(("kind", "level"), [("bootstrap", 0.95), ("ci", 0), ("ci", 1), ("ci", 95)])
def test_what_is_no_band_is_refused(kind: str, level: float) -> None:
    """An unknown band or a level in percent is a fault of the caller."""
    with pytest.raises(ValueError, match=r"band|level"):
        compute_band(np.ones((2, 1)), kind, level)


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
