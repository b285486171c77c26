"""Final, peak and mean of a series, each with its interval across runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from reportgen.core.model import CurveSet, GivenInterval, ReducedMetric, Run
from reportgen.statistics.curves.mean_curves import compute_curves, summarise_curves


def _metric(*runs: Run, **said: Any) -> CurveSet:  # noqa: ANN401 - settings of the curves
    return compute_curves(ReducedMetric("score", runs, 0, 0, None, "low and high"), **said)


def _run(values: list[float], run: str = "1", series: str = "A", given: GivenInterval | None = None) -> Run:
    return Run(series, run, None, np.arange(float(len(values))), np.array(values, float), given=given)


def test_three_runs_are_worked_out_by_hand() -> None:
    """Means 2, 5, 4: final 4 at step 2, peak 5 at step 1, mean over steps of 3, 4 and 4."""
    found = summarise_curves(_metric(_run([1, 5, 3], "1"), _run([2, 5, 5], "2"), _run([3, 5, 4], "3")))
    (ending,) = found
    half = 4.302652729911275 / np.sqrt(3)
    assert (ending.final.value, ending.final_step, ending.final.n) == (4, 2, 3)
    assert ending.final.high == pytest.approx(4 + half)
    assert (ending.peak.value, ending.peak_step) == (5, 1)
    assert (ending.peak.low, ending.peak.high, ending.readings) == (None, None, 3)
    means = [3, 4, 4]
    low, high = stats.t.interval(0.95, 2, loc=np.mean(means), scale=stats.sem(means))
    assert ending.mean.value == pytest.approx(np.mean(means))
    assert (ending.mean.low, ending.mean.high) == pytest.approx((low, high))
    assert ending.runs == 3


def test_the_best_is_the_smallest_where_lower_is_better() -> None:
    """And of several equal values the first one counts."""
    (ending,) = summarise_curves(_metric(_run([3, 1, 2, 1])), higher_is_better=False)
    assert (ending.peak.value, ending.peak_step) == (1, 1)


def test_one_run_has_no_intervals() -> None:
    """Nobody can know how other runs would end."""
    (ending,) = summarise_curves(_metric(_run([1, 2])))
    for estimate in (ending.final, ending.peak, ending.mean):
        assert (estimate.low, estimate.high, estimate.n) == (None, None, 1)


def test_a_run_that_ends_early_leaves_the_final_value_to_the_others() -> None:
    """The last step has one run, and says so; the series still has two."""
    (ending,) = summarise_curves(_metric(_run([1, 2, 3], "1"), _run([3, 4], "2")))
    assert (ending.final.value, ending.final.n, ending.final.low) == (3, 1, None)
    assert (ending.mean.value, ending.mean.n, ending.runs) == (2.75, 2, 2)


def test_a_peak_that_knows_of_its_choice_has_an_interval() -> None:
    """Longer behind the peak, where the choice of its step has to be allowed for, than beyond it."""
    noise = np.random.default_rng(1).normal(size=(5, 30))
    made = _metric(*(_run(one.tolist(), f"{run}") for run, one in enumerate(noise)), peak="simultaneous")
    (ending,), (lowest,) = summarise_curves(made), summarise_curves(made, higher_is_better=False)
    peak, trough = ending.peak, lowest.peak
    assert peak.low is not None
    assert peak.high is not None
    assert peak.value - peak.low > 1.5 * (peak.high - peak.value) > 0
    assert trough.low is not None
    assert trough.high is not None
    assert trough.high - trough.value > 1.5 * (trough.value - trough.low) > 0


def test_a_given_interval_is_kept_for_the_final_value() -> None:
    """A mean over steps has none: the input says nothing about it."""
    given = GivenInterval(low=np.array([0.0, 1.0]), high=np.array([2.0, 4.0]))
    (ending,) = summarise_curves(_metric(_run([1, 3], given=given)))
    assert (ending.final.low, ending.final.high, ending.peak.low) == (1, 4, None)
    assert ending.mean.low is None


def test_smoothed_values_are_never_reported() -> None:
    """Tables show what was measured."""
    run = Run("A", "1", None, np.arange(2.0), np.array([1.0, 5.0]), smoothed=np.array([1.0, 3.0]))
    assert summarise_curves(_metric(run))[0].final.value == 5


def test_series_without_values_are_left_out_and_order_is_kept() -> None:
    """Only these, in this order."""
    runs = _run([1], series="A"), _run([], series="B"), _run([2], series="C")
    assert [ending.series for ending in summarise_curves(_metric(*runs, series=("C", "B", "A")))] == [
        "C",
        "A",
    ]


def test_a_lower_level_gives_a_smaller_interval() -> None:
    """The level is the author's."""
    runs = _run([1], "1"), _run([2], "2")
    wide, narrow = (summarise_curves(_metric(*runs, level=level))[0].final for level in (0.95, 0.5))
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low < narrow.value
