"""Charts of W&B: what is exported is what is read."""

from __future__ import annotations

import csv
import io
import math
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_sources import Data
from tries import tries

from reportgen.core.cache import Cache
from reportgen.read import open_source, read_raw_frame, sources
from reportgen.read.plan import MeasurementQuery, build_statement, plan_measurements
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# Values of each run by step, of one metric.
Runs: TypeAlias = dict[str, dict[float, float]]
Curves: TypeAlias = dict[tuple[str, ...], dict[float, float]]
RUNS: Runs = {"ppo": {0: 0.1, 10: 0.3333333333333333, 30: 5e-324}, "dpo": {0: 1.5, 20: -2.0}}
STEP, RENAME = '"Step"', "Rename its columns, or leave the file out with files: in source.yml"


def chart(
    columns: Sequence[tuple[str, Mapping[float, float]]], x: str = "Step", *, extremes: bool = True
) -> str:
    """A chart as W&B exports it: every cell in quotes, a column a run, and its extremes beside it."""
    endings = ("", "__MIN", "__MAX") if extremes else ("",)
    steps = sorted({step for _, values in columns for step in values})
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow([x, *(name + ending for name, _ in columns for ending in endings)])
    for step in steps:
        cells = [_cell(values[step]) if step in values else "" for _, values in columns for _ in endings]
        writer.writerow([f"{step:g}", *cells])
    return text.getvalue()


def _cell(value: float) -> str:
    """A number as JavaScript writes it."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return "NaN" if math.isnan(value) else repr(value)


def of(runs: Runs, metric: str = "loss", **how: Any) -> str:  # noqa: ANN401 - passed on
    """The chart of one metric."""
    return chart([(f"{run} - {metric}", values) for run, values in runs.items()], **how)


def values(data: Data, name: str, *metrics: str, **question: Any) -> Curves:  # noqa: ANN401 - same
    """Values by step of each series, run and metric."""
    frame = data.frame(name, *metrics, **question)
    parts = ["series", "run", "metric"][: 2 if len(metrics) == 1 else 3]
    found: Curves = {}
    for *key, step, value in zip(*(frame[part].tolist() for part in (*parts, "step", "value")), strict=True):
        curve = found.setdefault(tuple(key), {})
        assert step not in curve
        curve[step] = value
    return found


def test_another_x(tmp_path: Path) -> None:
    """The first column is x, whatever its name; a metric of the runs can be x instead."""
    data = Data(tmp_path)
    columns = [
        *(("a - loss", {10.0: 1.0, 20.0: 2.0}), ("a - epoch", {10.0: 0.5, 20.0: 1.0})),
        *(("b - loss", {10.0: 3.0, 20.0: 4.0}), ("b - epoch", {10.0: 5.0})),
    ]
    data.write("chart.csv", chart(columns, x="trainer/global_step"))
    assert values(data, "chart", "loss")["a", "a"] == {10: 1.0, 20: 2.0}
    assert values(data, "chart", "loss", x="epoch") == {
        ("a", "a"): {0.5: 1.0, 1.0: 2.0},
        ("b", "b"): {5.0: 3.0},
    }
    assert values(data, "chart", "loss", x="epoch", series=("b",)) == {("b", "b"): {5.0: 3.0}}


def test_steps_beside_another_x_come_last(tmp_path: Path) -> None:
    """Where x is no step, W&B exports ``_step`` like a metric: it may be x, but is nobody's subject."""
    data = Data(tmp_path)
    columns = [("a - _step", {0.5: 10.0, 1.0: 20.0}), ("a - loss", {0.5: 3.0, 1.0: 4.0})]
    data.write("chart.csv", chart(columns, x="epoch"))
    assert data.open("chart").metrics == ("loss", "_step")
    assert values(data, "chart", "loss", x="_step") == {("a", "a"): {10: 3.0, 20: 4.0}}


@pytest.mark.parametrize("name", ["chart.csv.gz", "chart.csv.zst"])
def test_compressed_charts(tmp_path: Path, name: str) -> None:
    """A compressed chart is read as a plain one."""
    data = Data(tmp_path)
    data.write(name, of(RUNS))
    assert values(data, "chart", "loss") == {(run, run): told for run, told in RUNS.items()}


def test_only_the_wanted_columns_are_read(tmp_path: Path) -> None:
    """One pass over the file, with the columns of the metrics and series asked for; others may be broken."""
    data = Data(tmp_path)
    columns = [(f"{run} - {metric}", {0.0: 1.0, 1.0: 2.0}) for run in "abcd" for metric in ("loss", "acc")]
    text = chart(columns).replace('"2.0"', '"oops"', 1)
    data.write("chart.csv", text)
    source = data.open("chart")
    asked = {("loss",): (None, 5), ("acc",): (("b", "d"), 3), ("loss", "acc"): (("a",), 3)}
    for metrics, (series, count) in asked.items():
        sql = build_statement(
            tmp_path, plan_measurements(tmp_path, source, MeasurementQuery(metrics, None, series, {}))
        )
        assert (sql.count("read_csv("), sql.count(" AS k")) == (1, count)
    assert values(data, "chart", "loss", series=("b",)) == {("b", "b"): {0.0: 1.0, 1.0: 2.0}}
    assert data.problems("chart", "loss") == [
        'data/chart.csv:3: "oops" in column "a - loss" is not a number. Mend it, or leave the cell empty.'
    ]


def test_a_kept_survey_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chart that was looked at once is understood from the cache as it was."""
    data = Data(tmp_path)
    data.write("chart.csv", of(RUNS))
    cache = Cache(tmp_path / "cache")
    first = open_source(tmp_path, "data", "chart", load_settings=load_source_settings, cache=cache)
    monkeypatch.setattr(sources, "survey", None)
    assert open_source(tmp_path, "data", "chart", load_settings=load_source_settings, cache=cache) == first


def test_the_raw_frame_is_the_table(tmp_path: Path) -> None:
    """A notebook sees the columns as they are exported."""
    data = Data(tmp_path)
    data.write("chart.csv", of(RUNS))
    frame = read_raw_frame(tmp_path, data.open("chart"))
    assert list(frame["ppo - loss__MIN"].dropna()) == [0.1, 0.3333333333333333, 5e-324]
    assert list(frame["Step"]) == [0, 10, 20, 30]


_NAMES = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="\u00a0"), min_size=1, max_size=12
)
_VALUES = st.dictionaries(
    st.integers(0, 10**6).map(float), st.floats(allow_nan=False), min_size=1, max_size=8
)


@settings(max_examples=tries(20, 200), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=st.dictionaries(_NAMES, _VALUES, min_size=1, max_size=5), metric=_NAMES)
def test_what_is_exported_is_what_is_read(tmp_path: Path, runs: Runs, metric: str) -> None:
    """Whatever names, steps and values a chart has, they come back."""
    data = Data(tmp_path)
    data.write("chart.csv", of(runs, metric))
    found = {key[1]: told for key, told in values(data, "chart", metric).items()}
    expected = {
        name: {float(f"{step:g}"): value for step, value in told.items()} for name, told in runs.items()
    }
    assert found == expected
