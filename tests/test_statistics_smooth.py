"""Smoothing: a weighted mean of what came before, in units of the run's own spacing."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.statistics.curves.points import smooth

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray

_values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)
_weights = st.floats(0, 0.999)


def _steps_of(values: list[float], gaps: list[float]) -> FloatArray:
    return np.cumsum(np.resize(np.array(gaps), len(values)))


def _by_definition(steps: list[float], values: list[float], weight: float) -> list[float]:
    """The docstring's formula, written down with no cleverness."""
    if len(steps) == 1:
        return list(values)
    unit = float(np.median(np.diff(steps)))
    averages = []
    for k, now in enumerate(steps):
        weights = [weight ** ((now - then) / unit) for then in steps[: k + 1]]
        averages.append(math.fsum(w * v for w, v in zip(weights, values, strict=False)) / math.fsum(weights))
    return averages


def test_three_steps_are_worked_out_by_hand() -> None:
    """Weight 0.5 at steps 0, 1, 3: a gap of two units halves twice."""
    got = smooth(np.array([0.0, 1.0, 3.0, 4.0]), np.array([8.0, 2.0, 0.0, 4.0]), 0.5)
    third = (8 / 8 + 2 / 4 + 0) / (1 / 8 + 1 / 4 + 1)
    fourth = (8 / 16 + 2 / 8 + 0 + 4) / (1 / 16 + 1 / 8 + 1 / 2 + 1)
    assert got.tolist() == pytest.approx([8, (4 + 2) / 1.5, third, fourth])


def test_equal_steps_give_what_tensorboard_draws() -> None:
    """The recurrence of TensorBoard's line chart with its debiasing, on equally spaced steps."""
    values = np.sin(np.arange(50.0)) * np.arange(50.0)
    last, expected = 0.0, []
    for count, value in enumerate(values.tolist(), start=1):
        last = last * 0.8 + (1 - 0.8) * value
        expected.append(last / (1 - 0.8**count))
    np.testing.assert_allclose(smooth(np.arange(50.0) * 25, values, 0.8), expected, rtol=1e-12)


def test_unequal_steps_give_what_pandas_computes() -> None:
    """The same as ``ewm`` with times and the half-life that belongs to the weight."""
    days = np.cumsum([1, 1, 5, 1, 2, 1, 1, 1, 30, 1, 1])
    values = np.cos(days * 1.7)
    series = pd.Series(values)
    halflife = pd.Timedelta(days=math.log(0.5) / math.log(0.7))
    times = pd.Timestamp("2026-01-01") + pd.to_timedelta(days, unit="D")
    # The stubs of pandas do not know times yet.
    expected = series.ewm(halflife=halflife, times=times, adjust=True).mean()  # type: ignore[arg-type]
    np.testing.assert_allclose(smooth(days.astype(float), values, 0.7), expected, rtol=1e-9)


@given(_values, st.lists(st.floats(0.001, 1e4), min_size=1, max_size=5), _weights)
def test_it_is_the_weighted_mean_of_its_docstring(
    values: list[float], gaps: list[float], weight: float
) -> None:
    """The vectorised sum agrees with the definition, whatever the gaps and the weight."""
    steps = _steps_of(values, gaps)
    got = smooth(steps, np.array(values), weight)
    np.testing.assert_allclose(
        got, _by_definition(steps.tolist(), values, weight), rtol=1e-8, atol=1e-8 * max(map(abs, values))
    )


@given(_values)
def test_weight_0_changes_nothing(values: list[float]) -> None:
    """No smoothing is the identity, to the bit."""
    assert smooth(np.arange(float(len(values))), np.array(values), 0.0).tolist() == values


@given(st.floats(-1e300, 1e300), st.integers(1, 3000), _weights)
def test_a_constant_stays_constant(value: float, count: int, weight: float) -> None:
    """A constant run is drawn as exactly that constant, however long and however large."""
    assert set(smooth(np.arange(float(count)), np.full(count, value), weight).tolist()) == {value}


@given(_values, _weights)
def test_smoothed_values_stay_among_the_values_so_far(values: list[float], weight: float) -> None:
    """A mean of earlier values never leaves their range."""
    got = smooth(np.arange(float(len(values))), np.array(values), weight)
    assert np.all(got >= np.minimum.accumulate(values))
    assert np.all(got <= np.maximum.accumulate(values))


@given(_values, _weights, st.floats(0.01, 1000), st.floats(-1e6, 1e6))
def test_units_and_origin_of_the_steps_do_not_matter(
    values: list[float], weight: float, unit: float, origin: float
) -> None:
    """Iterations, tokens or seconds: the same curve."""
    steps = _steps_of(values, [1, 2, 1])
    one = smooth(steps, np.array(values), weight)
    other = smooth(steps * unit + origin, np.array(values), weight)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * max(map(abs, values)))


@given(_values, _weights, st.floats(0.01, 100), st.floats(-1e3, 1e3))
def test_shift_and_scale_of_the_values_carry_through(
    values: list[float], weight: float, scale: float, shift: float
) -> None:
    """Smoothing is linear."""
    steps = np.arange(float(len(values)))
    one = smooth(steps, np.array(values), weight) * scale + shift
    other = smooth(steps, np.array(values) * scale + shift, weight)
    np.testing.assert_allclose(
        one, other, rtol=1e-9, atol=1e-9 * (max(map(abs, values)) * scale + abs(shift))
    )


def test_runs_that_share_steps_are_smoothed_together() -> None:
    """A 2-d array gives each row what it gets alone."""
    steps = np.array([0.0, 1, 2, 9, 10])
    values = np.array([[1.0, 2, 3, 4, 5], [5e9, 4, 3, 2, 1]])
    together = smooth(steps, values, 0.6)
    for row, alone in zip(together, values, strict=True):
        assert row.tolist() == smooth(steps, alone, 0.6).tolist()


def test_long_runs_are_cut_into_blocks_without_a_seam() -> None:
    """Weights that would overflow in one piece agree with the recurrence."""
    values = np.sin(np.arange(5000.0))
    total = norm = 0.0
    expected = []
    for value in values.tolist():
        total, norm = total * 0.2 + value, norm * 0.2 + 1
        expected.append(total / norm)
    np.testing.assert_allclose(smooth(np.arange(5000.0), values, 0.2), expected, rtol=1e-9, atol=1e-12)


def test_more_weight_is_smoother() -> None:
    """The way travelled by the line shrinks as the weight grows."""
    values = np.sin(np.arange(200.0) * 1.3)
    ways = [
        np.abs(np.diff(smooth(np.arange(200.0), values, weight))).sum() for weight in (0, 0.3, 0.6, 0.9, 0.99)
    ]
    assert all(rough > calm for rough, calm in pairwise(ways))


@pytest.mark.parametrize("weight", [-0.1, 1.0, 2.0, math.nan])
def test_a_weight_outside_0_to_1_is_refused(weight: float) -> None:
    """Weight 1 would never forget anything: it is no average any more."""
    with pytest.raises(ValueError, match="at least 0 and below 1"):
        smooth(np.arange(3.0), np.arange(3.0), weight)
