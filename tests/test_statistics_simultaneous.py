"""Intervals that hold at many steps at once: their laws; how often they hold is simulated elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from reportgen.statistics.curves.bands import Noise, estimate_run_noise, find_peak_ends, find_pointwise_level


def _readings(runs: int, steps: int, *, near: float = 0.0, far: float = 0.0, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(runs, steps))
    for step in range(1, steps):
        noise[:, step] = near * noise[:, step - 1] + math.sqrt(1 - near**2) * noise[:, step]
    return math.sqrt(far) * rng.normal(size=(runs, 1)) + math.sqrt(1 - far) * noise


def test_independent_steps_need_almost_sidaks_level() -> None:
    """Of m independent steps each has to hold with the m-th root of the level."""
    for steps in (5, 40):
        level = find_pointwise_level(_readings(6, steps), 0.95)
        assert (1 - level) * steps == pytest.approx(0.05, rel=0.25)


def test_one_step_is_by_itself() -> None:
    """One step, or one run, has nothing to be simultaneous with; for a peak of it, t."""
    assert find_pointwise_level(_readings(5, 1), 0.9) == 0.9
    assert find_pointwise_level(_readings(1, 50), 0.9) == 0.9
    ends = find_peak_ends(_readings(5, 1), 5, 0.95)
    assert ends is not None
    assert ends == pytest.approx((stats.t.ppf(0.975, 4),) * 2, rel=0.12)
    assert find_peak_ends(_readings(1, 50), 1, 0.95) is None
    assert find_peak_ends(_readings(5, 50), 1, 0.95) is None


def test_alike_steps_need_less() -> None:
    """Fifty steps of a run that hardly moves are as good as a few."""
    wide = find_pointwise_level(_readings(5, 50), 0.95)
    narrow = find_pointwise_level(_readings(5, 50, near=0.97), 0.95)
    assert 0.95 < narrow < wide < 1


def test_a_peak_reaches_further_behind_than_beyond() -> None:
    """The choice of the step only ever lifts it; more steps, more of that."""
    few, many = (find_peak_ends(_readings(5, steps), 5, 0.95) for steps in (5, 100))
    assert few is not None
    assert many is not None
    assert many.behind > few.behind > few.beyond > many.beyond > stats.t.ppf(0.94, 4)


def test_fewer_runs_at_the_picked_step_give_wider_ends() -> None:
    """As t does, whose tails they keep."""
    values = _readings(6, 30)
    all_runs, half = (find_peak_ends(values, n, 0.95) for n in (6, 3))
    assert all_runs is not None
    assert half is not None
    assert half.behind > all_runs.behind
    assert half.beyond > all_runs.beyond


def test_the_noise_of_runs_is_found() -> None:
    """An offset of the whole run, neighbours that are alike, and skewed readings, each rounded down."""
    found = estimate_run_noise(_readings(200, 60, near=0.85, far=0.35))
    assert found == Noise(far=0.3, near=0.8, skew=0.0)
    exponential = -np.log(np.random.default_rng(2).random(size=(10, 300)))
    assert estimate_run_noise(exponential).skew == pytest.approx(1.9, abs=0.4)
    assert estimate_run_noise(-exponential).skew == -estimate_run_noise(exponential).skew


def test_units_gaps_and_the_order_of_runs_change_nothing() -> None:
    """Other units have the same level; a missing reading is no reading of 0; equal steps tell nothing."""
    values = _readings(6, 40, far=0.4)
    level = find_pointwise_level(values, 0.95)
    assert find_pointwise_level(values * 1000 + 5, 0.95) == level
    assert find_pointwise_level(values[::-1], 0.95) == level
    equal = np.concatenate([values, np.ones((6, 5))], axis=1)
    assert find_pointwise_level(equal, 0.95) == level
    holes = values.copy()
    holes[0, 20:] = np.nan
    assert find_pointwise_level(holes, 0.95) == pytest.approx(level, abs=0.004)
