"""Curves: runs of a series become one line with a band, and say what they are made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_measurements import measurements
from tries import tries

from reportgen.core.model import GivenInterval, ReducedMetric, Run
from reportgen.statistics.curves.mean_curves import compute_curves
from reportgen.statistics.curves.reduce import reduce

if TYPE_CHECKING:
    from random import Random


def _run(points: dict[float, float], run: str = "1", series: str = "A", **more: Any) -> Run:  # noqa: ANN401
    return Run(
        series, run, None, np.array(list(points), float), np.array(list(points.values()), float), **more
    )


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
    (curve,) = found.curves
    assert curve.steps.tolist() == [0, 10]
    assert curve.values.tolist() == [2, 4]
    assert curve.high - curve.values == pytest.approx([12.706204736174698] * 2)
    assert curve.n.tolist() == [2, 2]
    assert (found.exact, found.band, found.level) == (True, "ci", 0.95)


def test_runs_of_different_length_are_averaged_where_they_are() -> None:
    """The longer run goes on alone, with n = 1 and no band; nothing is extrapolated."""
    found = compute_curves(_metric(_run({0: 0, 2: 4, 4: 8}, "1"), _run({1: 2, 2: 2}, "2")), band="range")
    (curve,) = found.curves
    assert not found.exact
    assert curve.steps.tolist() == [0, 1, 2, 4]
    assert curve.values.tolist() == [0, 2, 3, 8]
    assert curve.n.tolist() == [1, 2, 2, 1]
    np.testing.assert_equal(curve.low, [math.nan, math.nan, 2, math.nan])
    np.testing.assert_equal(curve.high, [math.nan, math.nan, 4, math.nan])
    assert curve.equal == 1


def test_runs_that_do_not_overlap_make_one_line_without_a_band() -> None:
    """Each step has the run that was there, and nobody can say how runs vary."""
    (curve,) = compute_curves(_metric(_run({0: 1, 1: 1}, "1"), _run({5: 9, 6: 9}, "2"))).curves
    assert curve.values.tolist() == [1, 1, 9, 9]
    assert curve.n.tolist() == [1, 1, 1, 1]
    assert np.all(np.isnan(curve.low))


def test_series_keep_their_own_steps() -> None:
    """Another series' steps add no point that was never measured."""
    found = compute_curves(_metric(_run({0: 1, 10: 2}, series="A"), _run({5: 1}, series="B")))
    assert [curve.steps.tolist() for curve in found.curves] == [[0, 10], [5]]
    assert found.exact


def test_series_come_in_the_order_asked_for() -> None:
    """As in the data, or as the author says; the ones not asked for are left out."""
    metric = _metric(*(_run({0: 1}, series=name) for name in "CAB"))
    assert [curve.series for curve in compute_curves(metric).curves] == ["C", "A", "B"]
    assert [curve.series for curve in compute_curves(metric, series=("B", "C")).curves] == ["B", "C"]


def test_what_has_no_values_is_named() -> None:
    """A series of all NaN, one that was never there, and a run that failed at once."""
    metric = _metric(_run({0: 1}, "1", "A"), _run({}, "2", "A"), _run({}, "1", "B"), dropped=7, empty=2)
    found = compute_curves(metric, series=("A", "B", "C"))
    assert [curve.series for curve in found.curves] == ["A"]
    assert [run.run for run in found.curves[0].runs] == ["1"]
    assert found.without_values == (("A", "2"), ("B", None), ("C", None))
    assert (found.dropped, found.empty) == (7, 2)


def test_nothing_at_all_is_no_curve() -> None:
    """A metric without any value is an empty set, not an error."""
    found = compute_curves(_metric(_run({})))
    assert found.curves == ()
    assert found.without_values == (("A", None),)


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


def test_smoothing_that_was_not_done_is_refused() -> None:
    """Unsmoothed runs are never drawn as smoothed ones."""
    with pytest.raises(ValueError, match="same smooth"):
        compute_curves(_metric(_run({0: 1})), smooth=0.5)


def test_a_given_interval_of_a_single_run_is_its_band() -> None:
    """Used as it is, named, and n is what the input says is behind it."""
    interval = GivenInterval(stderr=np.array([0.1, 0.2]), n=np.array([5.0, 5.0]))
    metric = _metric(_run({0: 1, 1: 2}, given=interval), given_interval="std and n")
    found = compute_curves(metric)
    (curve,) = found.curves
    assert curve.given
    assert curve.high - curve.values == pytest.approx([0.27764451, 0.55528902])
    assert curve.n.tolist() == [5, 5]
    assert (found.given_interval, found.given_ignored) == ("std and n", False)
    none = compute_curves(metric, band="none")
    assert np.all(np.isnan(none.curves[0].low))
    assert (none.given_interval, none.given_ignored) == (None, False)


def test_a_given_interval_moves_with_a_smoothed_centre() -> None:
    """Its width stays, and the centre stays inside."""
    interval = GivenInterval(low=np.array([0.5, 1.0]), high=np.array([2.0, 4.0]))
    run = _run({0: 1, 1: 3}, given=interval, smoothed=np.array([1.0, 2.0]))
    (curve,) = compute_curves(_metric(run, given_interval="low and high"), smooth=0.5).curves
    assert curve.low.tolist() == [0.5, 0.0]
    assert curve.high.tolist() == [2.0, 3.0]


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


@given(_metrics, st.sampled_from(["ci", "se", "sd", "range", "iqr", "none"]))
def test_a_curve_never_says_more_than_its_runs(metric: ReducedMetric, band: str) -> None:
    """No more runs at a step than there are, no other steps, no value outside their range."""
    found = compute_curves(metric, band=band)
    for curve in found.curves:
        own = [run for run in metric.runs if run.series == curve.series and run.steps.size]
        assert list(curve.runs) == own
        assert curve.steps.tolist() == sorted({step for run in own for step in run.steps.tolist()})
        assert np.all((curve.n >= 1) & (curve.n <= len(own)))
        smallest, largest = min(run.values.min() for run in own), max(run.values.max() for run in own)
        assert np.all((curve.values >= smallest) & (curve.values <= largest))
        assert np.all(np.isnan(curve.low) == np.isnan(curve.high))
        assert np.all(np.isnan(curve.low[curve.n == 1]))


@given(_metrics, st.randoms(use_true_random=False))
def test_the_order_of_runs_is_irrelevant(metric: ReducedMetric, random: Random) -> None:
    """Seeds may come in any order: the same numbers to the bit."""
    runs = list(metric.runs)
    random.shuffle(runs)
    one, other = (compute_curves(_metric(*some), series=("A", "B")) for some in (metric.runs, runs))
    for ours, theirs in zip(one.curves, other.curves, strict=True):
        for name in ("steps", "values", "low", "high", "n"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


@settings(max_examples=tries(15, 60))
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
