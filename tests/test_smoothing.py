"""Smoothing: a weighted mean of what came before, in units of the run's own spacing."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_sources import measurements
from tries import tries

from reportgen.read.queries.reduce import reduce

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.core.model import FloatArray

_SMOOTHED = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)
_GAPS = st.lists(st.floats(0.001, 1e4), min_size=1, max_size=5)
_WEIGHTS = st.floats(0, 0.999)


def _list_rows(run: str, steps: Iterable[float], values: Iterable[float]) -> list[dict[str, Any]]:
    return [{"run": run, "step": step, "value": value} for step, value in zip(steps, values, strict=True)]


def smooth(steps: FloatArray, values: FloatArray, weight: float) -> FloatArray:
    """The smoothed values of one run, as a report reduces it."""
    rows = measurements(_list_rows("1", steps.tolist(), values.tolist()))
    (run,) = reduce(rows, max_points=None, smooth=weight)["score"].runs
    smoothed = run.smoothed if weight else run.values  # noqa: PD011 - of a run
    assert smoothed is not None
    return smoothed


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


def test_smoothed_values_are_those_of_others() -> None:
    """By hand (weight 0.5 at 0, 1, 3: a gap of two units halves twice), of TensorBoard, and of pandas."""
    got = smooth(np.array([0.0, 1.0, 3.0, 4.0]), np.array([8.0, 2.0, 0.0, 4.0]), 0.5)
    third = (8 / 8 + 2 / 4 + 0) / (1 / 8 + 1 / 4 + 1)
    fourth = (8 / 16 + 2 / 8 + 0 + 4) / (1 / 16 + 1 / 8 + 1 / 2 + 1)
    assert got.tolist() == pytest.approx([8, (4 + 2) / 1.5, third, fourth])
    # The recurrence of TensorBoard's line chart with its debiasing, on equally spaced steps.
    values = np.sin(np.arange(50.0)) * np.arange(50.0)
    last, expected = 0.0, []
    for count, value in enumerate(values.tolist(), start=1):
        last = last * 0.8 + (1 - 0.8) * value
        expected.append(last / (1 - 0.8**count))
    np.testing.assert_allclose(smooth(np.arange(50.0) * 25, values, 0.8), expected, rtol=1e-12)
    # ``ewm`` of pandas with times and the half-life that belongs to the weight.
    days = np.cumsum([1, 1, 5, 1, 2, 1, 1, 1, 30, 1, 1])
    values = np.cos(days * 1.7)
    halflife = pd.Timedelta(days=math.log(0.5) / math.log(0.7))
    times = pd.Timestamp("2026-01-01") + pd.to_timedelta(days, unit="D")
    # The stubs of pandas do not know times yet.
    averaged = pd.Series(values).ewm(halflife=halflife, times=times, adjust=True).mean()  # type: ignore[arg-type]
    np.testing.assert_allclose(smooth(days.astype(float), values, 0.7), averaged, rtol=1e-9)


@settings(max_examples=tries(20, 150))
@given(_SMOOTHED, _GAPS, _WEIGHTS)
def test_it_is_the_weighted_mean(values: list[float], gaps: list[float], weight: float) -> None:
    """Whatever the gaps and the weight, among the values so far; without weight nothing changes."""
    steps = np.cumsum(np.resize(np.array(gaps), len(values)))
    got = smooth(steps, np.array(values), weight)
    expected = _by_definition(steps.tolist(), values, weight)
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-8 * max(map(abs, values)))
    assert np.all(got >= np.minimum.accumulate(values))
    assert np.all(got <= np.maximum.accumulate(values))
    assert smooth(steps, np.array(values), 0.0).tolist() == values


@settings(max_examples=tries(20, 150))
@given(st.floats(-1e300, 1e300), st.integers(1, 3000), _WEIGHTS)
def test_a_constant_stays_constant(value: float, count: int, weight: float) -> None:
    """A constant run is drawn as exactly that constant, however long and however large."""
    assert set(smooth(np.arange(float(count)), np.full(count, value), weight).tolist()) == {value}


@settings(max_examples=tries(20, 150))
@given(_SMOOTHED, _WEIGHTS, st.floats(0.01, 1000), st.floats(-1e6, 1e6))
def test_units_and_origin_do_not_matter(
    values: list[float], weight: float, unit: float, origin: float
) -> None:
    """Iterations, tokens or seconds: the same curve; of other values, the same in their units."""
    steps = np.cumsum(np.resize(np.array([1.0, 2.0, 1.0]), len(values)))
    one, size = smooth(steps, np.array(values), weight), max(map(abs, values))
    other = smooth(steps * unit + origin, np.array(values), weight)
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4 * size)
    shifted, tolerance = smooth(steps, np.array(values) * unit + origin, weight), size * unit + abs(origin)
    np.testing.assert_allclose(one * unit + origin, shifted, rtol=1e-9, atol=1e-9 * tolerance)


def test_many_and_long_runs_are_smoothed_as_each_is_alone() -> None:
    """Each of several runs gets what it gets alone, and long runs are cut into blocks without a seam."""
    runs = {"1": (range(4), (1, 2, 3, 4)), "2": (range(4), (5e9, 4, 3, 2)), "3": ((5, 6, 9), (7, 2, 3))}
    for names in ("12", "123"):
        rows = [row for name in names for row in _list_rows(name, *runs[name])]
        for run in reduce(measurements(rows), smooth=0.6)["score"].runs:
            assert run.smoothed is not None
            assert run.smoothed.tolist() == smooth(run.steps, np.array(runs[run.run][1]), 0.6).tolist()
    values = np.sin(np.arange(5000.0))
    total, norm, expected = 0.0, 0.0, []
    for value in values.tolist():
        total, norm = total * 0.2 + value, norm * 0.2 + 1
        expected.append(total / norm)
    np.testing.assert_allclose(smooth(np.arange(5000.0), values, 0.2), expected, rtol=1e-9, atol=1e-12)


def test_more_weight_is_smoother() -> None:
    """The way travelled by the line shrinks as the weight grows, up to 1, which would never forget."""
    steps = np.arange(200.0)
    weights = (0, 0.3, 0.6, 0.9, 0.99)
    ways = [np.abs(np.diff(smooth(steps, np.sin(steps * 1.3), weight))).sum() for weight in weights]
    assert all(rough > calm for rough, calm in pairwise(ways))
    for weight in (-0.1, 1.0, 2.0, math.nan):
        with pytest.raises(ValueError, match="at least 0 and below 1"):
            smooth(steps, steps, weight)
