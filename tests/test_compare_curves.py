"""Two curves across runs, held to scipy's Welch test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_measurements import measurements
from scipy import stats

from reportgen.core.comparisons import Verdict
from reportgen.statistics.curves.mean_curves import compare_curves, compute_curves
from reportgen.statistics.curves.reduce import reduce
from reportgen.statistics.verdicts import adjust_comparisons, swap_sides

if TYPE_CHECKING:
    from reportgen.core.model import Curve


def _curves(*sides: list[list[float]]) -> tuple[Curve, ...]:
    """Series A, B, … with runs of values at steps 0, 10, 20 and so on."""
    rows = [
        {"series": chr(65 + side), "run": str(run), "step": 10.0 * step, "value": value}
        for side, runs in enumerate(sides)
        for run, values in enumerate(runs)
        for step, value in enumerate(values)
    ]
    return compute_curves(reduce(measurements(rows))["score"]).curves


_runs = st.lists(st.lists(st.integers(-50, 50).map(float), min_size=3, max_size=3), min_size=2, max_size=5)


@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")  # of scipy, where one side is equal
@given(_runs, _runs)
def test_a_step_is_scipys_welch_test(first: list[list[float]], second: list[list[float]]) -> None:
    """Difference, interval and p at step 10, at 5 between two steps, and by the mean from 10 to 20."""
    a, b = _curves(first, second)
    ours = (compare_curves(a, b, at=10), compare_curves(a, b, at=5), compare_curves(a, b, between=(10, 20)))
    weights = ([0, 1, 0], [0.5, 0.5, 0], [0, 0.5, 0.5])
    for one, weight in zip(ours, weights, strict=True):
        sides = [np.array(runs) @ weight for runs in (first, second)]
        assert one.difference == pytest.approx(sides[0].mean() - sides[1].mean())
        if max(np.ptp(side) for side in sides) == 0:
            assert (one.p, one.verdict) == (None, Verdict.UNCLEAR)
            assert one.reason == "the runs of each side are equal: nothing to build an interval from"
            continue
        theirs = stats.ttest_ind(*sides, equal_var=False)
        ends = theirs.confidence_interval(0.95)
        assert one.p == pytest.approx(theirs.pvalue)
        assert one.low == pytest.approx(ends.low)
        assert one.high == pytest.approx(ends.high)
        assert one.method == "Welch's t over runs"


def test_verdicts_know_the_direction_and_turn_with_the_pair() -> None:
    """Losses of 1 against 2: better where lower is better."""
    a, b = _curves([[1.0, 1.1], [1.0, 1.0], [1.1, 1.0]], [[2.0, 2.1], [2.0, 2.0], [2.1, 2.0]])
    one = compare_curves(a, b, at=10, metric="loss", higher_is_better=False)
    assert (one.verdict, one.metric, one.shared) == (Verdict.BETTER, "loss", 3)
    assert compare_curves(b, a, at=10, metric="loss", higher_is_better=False) == swap_sides(one)
    together = adjust_comparisons([one, compare_curves(a, b, at=0)], higher_is_better=False)
    assert together[0].tested_together == 2


def test_one_run_a_side_is_too_few() -> None:
    """A difference and a reason, no interval and no p; also where a run does not reach the step."""
    a, b = _curves([[1.0, 2.0], [1.5]], [[3.0, 4.0], [3.0, 5.0]])
    for one in (compare_curves(a, b, at=10), compare_curves(a, b, between=(10, 20))):
        assert (one.verdict, one.low, one.p) == (Verdict.TOO_FEW, None, None)
        assert one.reason == "1 and 2 runs: 2 a side are needed"
        assert one.difference == pytest.approx(-2.5)
    beyond = compare_curves(a, b, at=99)
    assert (beyond.difference, beyond.reason) == (None, "0 and 0 runs: 2 a side are needed")


def test_a_step_or_a_range_has_to_be_given() -> None:
    """Neither and both are refused."""
    a, b = _curves([[1.0]], [[2.0]])
    for ask in ({}, {"at": 0.0, "between": (0.0, 1.0)}):
        with pytest.raises(ValueError, match="either a step or a range"):
            compare_curves(a, b, **ask)  # type: ignore[arg-type]
