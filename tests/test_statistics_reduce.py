"""Reduction: one value a step, nothing lost without being counted, the same in memory and in DuckDB."""

from __future__ import annotations

import math
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_sources import measurements
from msgspec.structs import replace
from tries import tries

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation
from reportgen.read.queries.reduce import FULL_ROWS, reduce, reduce_large

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from reportgen.core.model import ReducedMetric

_FEW = settings(max_examples=tries(20, 80))

_steps = st.one_of(
    st.integers(-50, 50).map(float), st.sampled_from([0.1, 0.25, 1e6, math.nan, math.inf, None])
)
_values = st.one_of(
    st.floats(-1e6, 1e6, allow_subnormal=False), st.sampled_from([math.nan, -math.inf, None, 1.6e24, 0.0])
)
_rows = st.lists(
    st.fixed_dictionaries(
        {
            "series": st.sampled_from("AB"),
            "run": st.sampled_from("12"),
            "metric": st.sampled_from(["score", "loss/train"]),
            "step": _steps,
            "value": _values,
        }
    ),
    min_size=1,
    max_size=60,
)


def _assert_same(one: dict[str, ReducedMetric], other: dict[str, ReducedMetric]) -> None:
    assert list(one) == list(other)
    for metric, left in one.items():
        right = other[metric]
        for count in ("replaced", "dropped", "empty", "bins", "given_interval"):
            assert getattr(left, count) == getattr(right, count), count
        for mine, yours in zip(left.runs, right.runs, strict=True):
            assert (mine.series, mine.run, mine.seed) == (yours.series, yours.run, yours.seed)
            assert (mine.given is None) == (yours.given is None)
            pairs = [(getattr(mine, name), getattr(yours, name)) for name in _ARRAYS]
            if mine.given and yours.given:
                pairs += [(getattr(mine.given, name), getattr(yours.given, name)) for name in _GIVEN]
            for ours, theirs in pairs:
                assert (ours is None) == (theirs is None)
                if ours is not None:
                    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


_ARRAYS = ("steps", "values", "low", "high", "smoothed")
_GIVEN = ("low", "high", "stderr", "n")


def _line(steps: int, **names: str) -> list[dict[str, Any]]:
    return [{**names, "step": step, "value": math.sin(step)} for step in range(steps)]


def test_the_last_written_of_a_repeated_step_is_kept() -> None:
    """After a resume the later row counts, wherever it stands, and the earlier one is told."""
    table = measurements(
        [
            {"step": 2, "value": 0.4, "row": 5},
            {"step": 1, "value": 0.1, "row": 0},
            {"step": 2, "value": 0.2, "row": 1},
            {"step": 2, "value": 0.3, "row": 3},
        ]
    )
    metric = reduce(table)["score"]
    assert metric.runs[0].steps.tolist() == [1, 2]
    assert metric.runs[0].values.tolist() == [0.1, 0.4]
    assert (metric.replaced, metric.dropped) == (2, 0)


def test_values_that_are_no_numbers_are_dropped_and_counted() -> None:
    """NaN, infinite and empty values and steps vanish into the count, never into a 0; a run stays named.

    A later row of the same step without a value leaves the earlier value: logs with two rows a step.
    """
    bad = [(1, math.nan), (2, math.inf), (3, None), (math.nan, 1), (None, 1), (-math.inf, 1)]
    rows = [{"step": step, "value": value} for step, value in bad]
    metric = reduce(measurements([{"step": 0, "value": 7.0}, *rows]))["score"]
    assert metric.runs[0].values.tolist() == [7.0]
    assert (metric.replaced, metric.dropped, metric.empty) == (0, 6, 1)
    metric = reduce(measurements([{"step": 1, "value": 0.5}, {"step": 1, "value": None}]))["score"]
    assert metric.runs[0].values.tolist() == [0.5]
    assert (metric.replaced, metric.dropped, metric.empty) == (0, 1, 1)
    named = [{"run": "1", "step": 0, "value": 1}, {"run": "2", "seed": "7", "step": 0, "value": math.nan}]
    metric = reduce(measurements(named), smooth=0.5)["score"]
    assert [(run.run, run.seed, run.steps.size) for run in metric.runs] == [("1", None, 1), ("2", "7", 0)]


def test_what_files_have_wrong_is_told_by_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fetching happens inside ``reading``, for small tables and for large ones."""
    problem = Diagnostic(SourceLocation("data/a.csv", 3), "found 'x' where a number belongs")

    @contextmanager
    def explained() -> Iterator[None]:
        try:
            yield
        except Exception as error:
            raise ReportError(problem) from error

    good = measurements(_line(3))
    broken = nw.from_native(good.frame.to_native().project('* REPLACE (error(run)::DOUBLE AS "value")'))
    table = replace(good, frame=broken, reading=explained)
    for rows in (FULL_ROWS, 1):
        monkeypatch.setattr(sys.modules["reportgen.read.queries.reduce"], "FULL_ROWS", rows)
        with pytest.raises(ReportError, match=r"data/a\.csv:3"):
            reduce(table)


def test_runs_come_in_the_order_of_the_series_then_of_writing() -> None:
    """The order of series is the one given; runs and metrics follow their first row."""
    rows = [
        {"series": "B", "run": "z", "metric": "m2", "step": 0, "value": 1},
        {"series": "A", "run": "y", "metric": "m1", "step": 0, "value": 1},
        {"series": "B", "run": "x", "metric": "m2", "step": 0, "value": 1},
        {"series": "A", "run": "w", "metric": "m2", "step": 0, "value": 1},
    ]
    found = reduce(measurements(rows, order=["A", "B"]))
    assert list(found) == ["m2", "m1"]
    assert [run.run for run in found["m2"].runs] == ["w", "z", "x"]
    unknown = reduce(measurements(rows, order=[]))["m2"]
    assert [run.run for run in unknown.runs] == ["z", "x", "w"]
    assert reduce(measurements([])) == {}
    assert reduce_large(measurements([]), max_points=400, smooth=0.0) == {}


def test_bins_are_worked_out_by_hand() -> None:
    """Steps 0 to 9 in 3 bins of width 3: means of steps and values, and extremes, as on paper."""
    table = measurements([{"step": step, "value": step * step} for step in range(10)])
    metric = reduce(table, max_points=3)["score"]
    (run,) = metric.runs
    assert metric.bins == 3
    assert run.steps.tolist() == [1, 4, 7.5]
    assert run.values.tolist() == [5 / 3, 50 / 3, (36 + 49 + 64 + 81) / 4]
    assert run.low is not None
    assert run.high is not None
    assert run.low.tolist() == [0, 9, 36]
    assert run.high.tolist() == [4, 25, 81]


def test_as_many_steps_as_allowed_are_not_binned() -> None:
    """Binning starts with one distinct step more than max_points, counted over the runs of a metric.

    A run that covers part of the steps has the same steps as the others, only fewer; one outlier among
    thousands is the bin's largest value, not lost in its mean.
    """
    rows = _line(10, run="1")
    assert reduce(measurements(rows), max_points=10)["score"].bins is None
    other = [*rows, {"run": "2", "step": 0.5, "value": 1}]
    assert reduce(measurements(other), max_points=10)["score"].bins == 10
    assert reduce(measurements(other), max_points=None)["score"].bins is None
    rows = [*_line(100, run="1"), *_line(35, run="2")]
    one, two = reduce(measurements(rows), max_points=10)["score"].runs
    assert two.steps.tolist() == one.steps[:4].tolist()
    rows = [{"step": step, "value": 1.6e24 if step == 777 else 0.5} for step in range(2000)]
    (run,) = reduce(measurements(rows), max_points=20)["score"].runs
    assert run.high is not None
    assert (run.high.max(), run.values[0]) == (1.6e24, 0.5)


@pytest.mark.parametrize("log", [False, True])
def test_a_straight_line_stays_straight_in_bins(*, log: bool) -> None:
    """Also of runs with other steps and ends: every point of every run is on the line, in order.

    The runs share the steps of all bins but those in which one of them ends before their mean.
    """
    steps = {"1": np.arange(1, 5001, 7), "2": np.arange(3, 5002, 11), "3": np.arange(1, 2600, 2.5)}
    lines = {run: (own, 2 * np.log(own) if log else 2 * own - 3) for run, own in steps.items()}
    rows = [
        {"run": run, "step": step, "value": value}
        for run, line in lines.items()
        for step, value in zip(*(column.tolist() for column in line), strict=True)
    ]
    metric = reduce(measurements(rows), max_points=50, log=log)["score"]
    for run in metric.runs:
        assert np.all(np.diff(run.steps) > 0)
        if not log:
            np.testing.assert_allclose(run.values, 2 * run.steps - 3, rtol=1e-12)
    distinct = np.unique(np.concatenate([run.steps for run in metric.runs]))
    assert 50 - 10 * log <= distinct.size <= 53 + 10 * log
    assert [run.steps.tolist() for run in metric.every_step] == [own.tolist() for own in steps.values()]
    if log:  # as many bins for each power of ten as there are readings
        assert np.count_nonzero(distinct < 100) > 15


def test_given_intervals_are_averaged_in_bins() -> None:
    """Ends and standard errors are means over the bin, n is its smallest, a missing end makes it unknown."""
    rows = [
        {"step": step, "value": 1, "low": low, "high": 2, "stderr": step, "n": 3 + step}
        for step, low in [(0, 0.0), (1, 0.5), (2, None), (3, 0.5)]
    ]
    (run,) = reduce(measurements(rows, given_interval="stderr"), max_points=2)["score"].runs
    assert run.given is not None
    np.testing.assert_equal(run.given.low, [0.25, np.nan])
    np.testing.assert_equal(run.given.high, [2, 2])
    np.testing.assert_equal(run.given.stderr, [0.5, 2.5])
    np.testing.assert_equal(run.given.n, [3, 5])


@pytest.mark.parametrize("wanted", [{"max_points": 0}, {"smooth": 1.0}, {"smooth": -0.1}])
def test_impossible_wishes_are_refused(wanted: dict[str, Any]) -> None:
    """A fault of the caller is an error at once."""
    with pytest.raises(ValueError, match="must be at least"):
        reduce(measurements(_line(3)), **wanted)


@_FEW
@given(_rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_is_irrelevant(rows: list[dict[str, Any]], random: Random) -> None:
    """Rows that carry their order of writing may come in any order."""
    written = [{**row, "row": place} for place, row in enumerate(rows)]
    shuffled = list(written)
    random.shuffle(shuffled)
    wanted: dict[str, Any] = {"max_points": 7, "smooth": 0.3}
    _assert_same(
        reduce(measurements(written, order="AB"), **wanted),
        reduce(measurements(shuffled, order="AB"), **wanted),
    )


@_FEW
@given(
    _rows,
    st.sampled_from([1, 3, 7, 400, None]),
    st.sampled_from([0.0, 0.6]),
    st.sampled_from(["linear", "log"]),
)
def test_memory_and_database_agree(
    rows: list[dict[str, Any]], max_points: int | None, smooth: float, scale: str
) -> None:
    """Large tables, reduced where the rows are, give what small ones give."""
    usual = [row if row["value"] != 1.6e24 else {**row, "value": 1.6} for row in rows]
    wanted: dict[str, Any] = {"max_points": max_points, "smooth": smooth, "log": scale == "log"}
    _assert_same(reduce(measurements(usual), **wanted), reduce_large(measurements(usual), **wanted))


@pytest.mark.parametrize("smooth", [0.0, 0.9])
def test_memory_and_database_agree_on_given_intervals(smooth: float) -> None:
    """The same with the input's own intervals, gaps and repeats."""
    rows = [
        {"step": step // 2 * 0.1, "value": math.sin(step), "run": run, "stderr": 1 / (step + 1), "n": step}
        for run in "12"
        for step in range(300)
    ]
    rows[7] |= {"stderr": None, "n": None}
    table = measurements(rows, given_interval="std and n")
    wanted: dict[str, Any] = {"max_points": 20, "smooth": smooth}
    _assert_same(reduce(table, **wanted), reduce_large(table, **wanted))


@_FEW
@given(_rows, st.integers(1, 5))
def test_nothing_is_lost_without_being_counted(rows: list[dict[str, Any]], max_points: int) -> None:
    """Rows are kept, replaced or dropped; bins have a run's extremes, and their means lie between."""
    full = reduce(measurements(rows), max_points=None)
    for name, metric in reduce(measurements(rows), max_points=max_points).items():
        kept = sum(run.steps.size for run in full[name].runs)
        written = sum(row["metric"] == name for row in rows)
        assert kept + full[name].replaced + full[name].dropped == written
        for run, whole in zip(metric.runs, full[name].runs, strict=True):
            assert np.all(np.diff(whole.steps) > 0)
            assert np.all(np.isfinite(whole.values))
            if metric.bins and run.steps.size:
                assert run.low is not None
                assert run.high is not None
                assert (run.low.min(), run.high.max()) == (whole.values.min(), whole.values.max())
                assert np.all((run.low <= run.values) & (run.values <= run.high))


def test_a_table_too_large_to_fetch_goes_to_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the limit rows are fetched, above it they are not, and the answer is the same."""
    table = measurements([*_line(50, run="1"), *_line(30, run="2", series="B")])
    whole = reduce(table, max_points=9)
    monkeypatch.setattr(sys.modules["reportgen.read.queries.reduce"], "FULL_ROWS", 80)
    _assert_same(reduce(table, max_points=9), whole)
    monkeypatch.setattr(sys.modules["reportgen.read.queries.reduce"], "FULL_ROWS", 79)
    _assert_same(reduce(table, max_points=9), whole)


def test_large_sums_do_not_depend_on_the_order_of_rows() -> None:
    """Two builds of one table give the same bytes, however DuckDB spreads the rows."""
    rows = [{"step": step, "value": math.exp(step % 91) * 1.1, "row": step} for step in range(5000)]
    first = reduce_large(measurements(rows), max_points=3, smooth=0.0)["score"].runs[0]
    second = reduce_large(measurements(reversed(rows)), max_points=3, smooth=0.0)["score"].runs[0]
    assert first.values.tolist() == second.values.tolist()
    exact = [math.fsum(row["value"] for row in rows[:1667]) / 1667]
    assert first.values[0] == pytest.approx(exact[0], rel=1e-15)
