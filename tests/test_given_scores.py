"""Scores that are used as reported: their intervals, and what several of one series come to."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.comparisons import ReportedScore
from reportgen.statistics.scores import score_total, score_totals

if TYPE_CHECKING:
    from reportgen.core.comparisons import Score

_totals = st.lists(st.tuples(st.floats(0, 1), st.floats(0.001, 0.5)), min_size=1, max_size=6)


def _ends(score: Score) -> tuple[float, float]:
    assert score.low is not None
    assert score.high is not None
    return score.low, score.high


def reported(
    value: float | None, stderr: float | None, series: str = "A", n: int | None = 9
) -> ReportedScore:
    """One total."""
    return ReportedScore(series, "", None, "acc", value, stderr, n)


def test_a_harness_interval_ends_at_the_stated_range() -> None:
    """0.97 ± 1.96 · 0.05 reaches 1.068: cut at 1 where scores are known to end there, and only there."""
    stated = score_total("A", 0.97, 0.05, ends=(0, 1))
    assert _ends(stated) == pytest.approx((0.97 - 1.959964 * 0.05, 1), abs=1e-6)
    assert _ends(score_total("A", 0.03, 0.05, ends=(0, 1)))[0] == 0
    assert _ends(score_total("A", 0.97, 0.05))[1] > 1
    # A total outside of the range is shown as given, inside its own interval.
    low, high = _ends(score_total("A", 84.0, 0.05, ends=(0, 1)))
    assert low <= 84.0 <= high


def test_a_harness_total_is_used_as_given() -> None:
    """0.62 ± 1.959964 · 0.05; without a standard error, or with one of 0, a reason."""
    score = score_total("A", 0.62, 0.05, metric="acc", problems=100)
    assert _ends(score) == pytest.approx((0.62 - 1.959964 * 0.05, 0.62 + 1.959964 * 0.05), abs=1e-6)
    assert (score.method, score.metric, score.estimand) == ("as reported", "acc", "")
    for value, stderr, reason in (
        (0.62, None, "no standard error is reported"),
        (0.62, math.nan, "no standard error is reported"),
        (1.0, 0.0, "the reported standard error is 0, which leaves nothing to build an interval from"),
        (None, 0.1, "no score is reported"),
        (math.nan, 0.1, "no score is reported"),
    ):
        missing = score_total("A", value, stderr)
        assert (missing.low, missing.high, missing.reason) == (None, None, reason)
        assert missing.estimate is None or math.isfinite(missing.estimate)


@given(_totals, st.floats(-1, 1))
def test_several_totals_are_averaged_with_no_smaller_an_error(
    totals: list[tuple[float, float]], correlation: float
) -> None:
    """However the runs depend on each other, the error of their mean is at most the one that is taken."""
    (score,) = score_totals([reported(*total) for total in totals])
    values, errors = (np.array(column) for column in zip(*totals, strict=True))
    assert score.estimate == pytest.approx(values.mean())
    assert score.runs == len(totals)
    low, high = _ends(score)
    assert low <= values.mean() + 1e-12
    assert values.mean() <= high + 1e-12
    count = len(totals)
    # The least correlation that all pairs of so many runs can have is -1/(count - 1).
    shared = max(correlation, -1 / (count - 1)) if count > 1 else 1.0
    covariance = np.outer(errors, errors) * np.where(np.eye(count) == 1, 1.0, shared)
    assert score.stderr is not None
    assert math.sqrt(max(0.0, covariance.sum())) / count <= score.stderr * (1 + 1e-9)
    if count > 1:
        assert score.between_runs == pytest.approx(statistics.stdev(values.tolist()))


def test_totals_that_lack_something() -> None:
    """A run without a value counts nowhere; one without a standard error leaves no interval."""
    (score,) = score_totals([reported(0.5, 0.1), reported(None, 0.3), reported(0.7, 0.2)])
    assert score.estimate == pytest.approx(0.6)
    assert score.stderr == pytest.approx(0.15)
    assert score.runs == 2
    assert score.reason == "1 of 3 runs have no score"
    (score,) = score_totals([reported(0.5, 0.1), reported(0.7, None)])
    assert (score.low, score.reason) == (None, "1 of 2 report no standard error")
    (score,) = score_totals([reported(0.5, None), reported(0.7, None)])
    assert (score.low, score.reason) == (None, "no standard error is reported")
    (score,) = score_totals([reported(None, None)])
    assert (score.estimate, score.runs, score.reason) == (None, 0, "no score is reported")


def test_problems_that_differ_between_runs_are_not_known() -> None:
    """Series stand in the order of writing."""
    first, second = score_totals(
        [reported(0.5, 0.1, "B", 10), reported(0.5, 0.1), reported(0.5, 0.1, "B", 20)]
    )
    assert [(one.series, one.problems) for one in (first, second)] == [("B", 0), ("A", 9)]
