"""CSV that W&B exports: charts become series, and the table of runs is told for what it is."""

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
CALLED = 'Each column after the first must be called "RUN - METRIC"'
APART = "Make the others a source of their own, or leave them out with files: in source.yml"
TABLE_OF_RUNS = "it is the table of runs that W&B exports: settings and last values, but no curves"


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


def test_a_chart_becomes_series(tmp_path: Path) -> None:
    """Each run is a series, what is exported is read exactly, and extremes are no metrics."""
    data = Data(tmp_path)
    data.write("chart.csv", of(RUNS, "train/loss"))
    source = data.open("chart")
    assert source.metrics == ("train/loss",)
    assert source.warnings == ()
    assert values(data, "chart", "train/loss") == {(run, run): told for run, told in RUNS.items()}
    frame = data.frame("chart")
    assert set(frame["metric"]) == {"train/loss"}
    assert frame["seed"].isna().all()
    assert list(frame["step"]) == [0, 0, 10, 20, 30]


def test_nan_and_infinity_are_values(tmp_path: Path) -> None:
    """What JavaScript calls Infinity and NaN are values; an empty cell is none."""
    data = Data(tmp_path)
    runs = {"a": {0.0: math.inf, 1.0: -math.inf}, "b": {0.0: math.nan, 2.0: 1.0}}
    data.write("chart.csv", of(runs))
    found = values(data, "chart", "loss")
    assert found["a", "a"] == runs["a"]
    assert list(found["b", "b"]) == [0.0, 2.0]
    assert math.isnan(found["b", "b"][0.0])


def test_the_last_dash_parts_run_and_metric(tmp_path: Path) -> None:
    """Names of runs may hold " - ", quotes, commas and brackets."""
    data = Data(tmp_path)
    odd = 'a - b, "c" [x=1]'
    data.write("chart.csv", of({odd: {0: 1.0}, "é'; --": {0: 2.0}}, "eval/acc (%)"))
    assert values(data, "chart", "eval/acc (%)") == {(odd, odd): {0: 1.0}, ("é'; --", "é'; --"): {0: 2.0}}


def test_names_tell_series_and_seed(tmp_path: Path) -> None:
    """Seeds in the names of runs make several runs one series, which is told."""
    data = Data(tmp_path)
    runs: Runs = {f"ppo-seed{seed}": {0.0: float(seed)} for seed in (1, 2)} | {"base-seed1": {0.0: 3.0}}
    data.write("chart.csv", of(runs))
    frame = data.frame("chart")
    told = sorted(frame[["series", "run", "seed", "value"]].itertuples(index=False, name=None))
    assert told == [
        ("base", "base-seed1", "1", 3.0),
        ("ppo", "ppo-seed1", "1", 1.0),
        ("ppo", "ppo-seed2", "2", 2.0),
    ]
    assert data.warnings("chart") == [
        (
            "data/chart.csv: series were distinguished by their names, and seeds by the names: ppo and base. "
            "Confirm or change it with series_from: name and seed_from: name in data/chart.source.yml."
        )
    ]


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    """Two runs of one name have columns of one name: they are two runs of one series, and that is told."""
    data = Data(tmp_path)
    told = [("a - loss", {0.0: 1.0}), ("b - loss", {0.0: 2.0}), ("a - loss", {0.0: 3.0, 5.0: 4.0})]
    data.write("chart.csv", chart(told))
    assert values(data, "chart", "loss") == {
        ("a", "a"): {0.0: 1.0},
        ("b", "b"): {0.0: 2.0},
        ("a", "a (2)"): {0.0: 3.0, 5.0: 4.0},
    }
    assert data.warnings("chart") == [
        (
            'data/chart.csv: 2 runs have the series "a" and no seed; they are read as different runs. '
            "Confirm it with series_from: name in data/chart.source.yml."
        )
    ]
    data.write("chart.source.yml", "series_from: name\n")
    assert data.warnings("chart") == []


def test_settings_hold_for_charts(tmp_path: Path) -> None:
    """Series and metrics are renamed and chosen as in any source; a block asks for some of the series."""
    data = Data(tmp_path)
    columns = [(f"{run} - {metric}", told) for run, told in RUNS.items() for metric in ("loss", "acc")]
    data.write("chart.csv", chart(columns))
    data.write(
        "chart.source.yml", "rename: {ppo: PPO}\nrename_metrics: {acc: accuracy}\nmetrics: [accuracy]\n"
    )
    source = data.open("chart")
    assert (source.metrics, source.warnings) == (("accuracy",), ())
    assert values(data, "chart", "accuracy") == {("PPO", "ppo"): RUNS["ppo"], ("dpo", "dpo"): RUNS["dpo"]}
    assert values(data, "chart", "accuracy", series=("PPO",)) == {("PPO", "ppo"): RUNS["ppo"]}
    data.write("chart.source.yml", "metrics: [nothing]\n")
    assert data.problems("chart") == [
        'data/chart.source.yml: metrics: there is no metric "nothing". There are loss and acc.'
    ]


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


def test_means_of_groups_are_told(tmp_path: Path) -> None:
    """Where smallest and largest value differ, a value is that of several; ``_step`` does not count."""
    data = Data(tmp_path)
    plain = of({"Group: ppo": {0: 1.0, 1: 2.0}, "lr: 0.1": {0: 1.0, 1: 2.0}, "x": {0: 5.0}})
    data.write("chart.csv", plain)
    assert data.warnings("chart") == []
    data.write("chart.csv", plain.replace('"2.0","2.0","2.0"', '"2.0","1.5","2.5"'))
    (told,) = data.warnings("chart")
    assert told == (
        "data/chart.csv: a value of Group: ppo and lr: 0.1 summarises several values, of a group of "
        "runs or of neighbouring steps: the band goes from its __MIN to its __MAX. For intervals, export the "
        "runs ungrouped, or put the folders wandb/run-* here."
    )
    assert values(data, "chart", "loss")["lr: 0.1", "lr: 0.1"] == {0: 1.0, 1: 2.0}
    rows = data.frame("chart", "loss").to_dict("records")
    bands = {(row["series"], row["step"]): (row["value"], row["low"], row["high"]) for row in rows}
    assert bands["lr: 0.1", 1] == (2.0, 1.5, 2.5)
    assert bands["lr: 0.1", 0] == (1.0, 1.0, 1.0)
    assert math.isnan(bands["x", 0][1])
    steps = chart([("a - _step", {0.5: 10.0}), ("a - loss", {0.5: 3.0})], x="epoch")
    data.write("chart.csv", steps.replace('"10.0","10.0","10.0"', '"10.0","9.0","11.0"'))
    assert data.warnings("chart") == []


def test_the_names_of_a_charts_runs_can_be_settled(tmp_path: Path) -> None:
    """What was guessed is told with the next step; a chart knows nothing else of its runs."""
    data = Data(tmp_path)
    data.write("s/chart.csv", of({"adamw-seed1": {0: 1.0}, "adamw-seed2": {0: 2.0}, "muon-seed1": {0: 3.0}}))
    (warning,) = data.warnings("s")
    assert warning.endswith("Confirm or change it with series_from: name and seed_from: name in source.yml.")
    before = data.frame("s", "loss")
    data.write("s/source.yml", "series_from: name\nseed_from: name\n")
    assert data.warnings("s") == []
    assert data.frame("s", "loss").equals(before)
    data.write("s/source.yml", "series_from: lr\n")
    (problem,) = data.problems("s")
    assert "series_from: a chart exported from W&B has only the names of its runs. Say" in problem


def test_several_charts_are_one_source(tmp_path: Path) -> None:
    """A chart a metric in one folder; each has what it has."""
    data = Data(tmp_path)
    data.write("runs/loss.csv", of(RUNS))
    data.write("runs/acc.csv", of({"ppo": {0: 0.5}, "new": {5: 0.75}}, "acc"))
    source = data.open("runs")
    assert (sorted(source.metrics), source.warnings) == (["acc", "loss"], ())
    found = values(data, "runs", "loss", "acc")
    assert found["ppo", "ppo", "loss"] == RUNS["ppo"]
    assert found["new", "new", "acc"] == {5: 0.75}
    data.write("runs/epochs.csv", of(RUNS, "recall", x="epoch"))
    assert data.problems("runs") == [
        f"data/runs/epochs.csv: the file has no column {STEP}, which others of the source have. {RENAME}."
    ]


@pytest.mark.parametrize("name", ["chart.csv.gz", "chart.csv.zst"])
def test_compressed_charts(tmp_path: Path, name: str) -> None:
    """A compressed chart is read as a plain one."""
    data = Data(tmp_path)
    data.write(name, of(RUNS))
    assert values(data, "chart", "loss") == {(run, run): told for run, told in RUNS.items()}


def test_a_torn_chart(tmp_path: Path) -> None:
    """A last row that is cut is left out, and told."""
    data = Data(tmp_path)
    data.write("chart.csv", of(RUNS)[:-20])
    assert 30 not in values(data, "chart", "loss")["ppo", "ppo"]
    assert data.warnings("chart") == ["data/chart.csv:5: the last line is torn off and was left out."]


@pytest.mark.parametrize(
    "header",
    [
        "Name,State,Notes,User,Tags,Created,Runtime,Sweep,lr,loss\n",
        "Name,Created,State,Runtime,Sweep,lr,lr\n",
        ",summary,config,name\n",
    ],
)
def test_the_table_of_runs_is_told(tmp_path: Path, header: str) -> None:
    """It has no curves; what to export instead is said."""
    data = Data(tmp_path)
    cells = ["{}" for _ in header.split(",")]
    data.write("runs.csv", header + ",".join(cells) + "\n")
    (problem,) = data.problems("runs")
    assert problem.startswith(
        f"data/runs.csv:1: {TABLE_OF_RUNS}. Export the panel of a metric as CSV instead"
    )


def test_the_table_of_runs_can_be_read_as_any_table(tmp_path: Path) -> None:
    """Last values against a setting are a figure, too, for who says so."""
    data = Data(tmp_path)
    data.write("runs.csv", "Name,State,Created,Runtime,User,lr,loss\na,finished,2026-01-01,5,me,0.1,0.5\n")
    data.write("runs.source.yml", "format: csv\ncolumns: {step: lr}\n")
    assert list(data.frame("runs", "loss")["value"]) == [0.5]


def test_format_says_that_it_is_a_chart(tmp_path: Path) -> None:
    """Without extremes and Step only format: makes a chart of a table, which then has to look like one."""
    data = Data(tmp_path)
    data.write("chart.csv", of(RUNS, x="epoch", extremes=False))
    assert data.open("chart").metrics == ("ppo - loss", "dpo - loss")
    data.write("chart.source.yml", "format: wandb-csv\n")
    assert values(data, "chart", "loss") == {(run, run): told for run, told in RUNS.items()}
    data.write("chart.csv", "step,loss\n0,1\n")
    assert data.problems("chart") == [
        f"data/chart.csv:1: its header is not that of a chart that W&B exported. {CALLED}."
    ]


def test_format_says_that_it_is_no_chart(tmp_path: Path) -> None:
    """What looks like a chart is a wide table for who says format: csv."""
    data = Data(tmp_path)
    data.write("chart.csv", of({"a": {0: 1.0}}))
    data.write("chart.source.yml", "format: csv\n")
    assert data.open("chart").metrics == ("a - loss", "a - loss__MIN", "a - loss__MAX")


def test_a_metric_may_end_like_an_extreme(tmp_path: Path) -> None:
    """Only beside its metric is a column the smallest or largest value."""
    data = Data(tmp_path)
    data.write("chart.csv", chart([("a - loss__MIN", {0.0: 1.0}), ("a - acc", {0.0: 2.0})]))
    assert data.open("chart").metrics == ("loss__MIN", "acc")


def test_charts_beside_other_tables(tmp_path: Path) -> None:
    """A table of another kind in the same source is refused, not misread."""
    data = Data(tmp_path)
    data.write("runs/chart.csv", of(RUNS))
    data.write("runs/other.csv", "step,loss\n0,1\n")
    assert data.problems("runs") == [
        f"data/runs: charts exported from W&B are mixed with other tables: data/runs/other.csv. {APART}."
    ]


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


def test_words_for_nothing_are_no_values(tmp_path: Path) -> None:
    """What programs put into an empty cell of a table is no value and no fault."""
    data = Data(tmp_path)
    data.write("chart.csv", 'Step,a - loss,b - loss\n0,null,1\n1,"NA",2\n2,None,3\n3, 4 ,""\n')
    assert values(data, "chart", "loss") == {
        ("a", "a"): {3.0: 4.0},
        ("b", "b"): {0.0: 1.0, 1.0: 2.0, 2.0: 3.0},
    }


def test_x_may_be_a_time(tmp_path: Path) -> None:
    """A chart over wall time keeps its times."""
    data = Data(tmp_path)
    data.write(
        "chart.csv", "Wall Time,a - loss,a - loss__MIN\n2026-01-31T10:00:00Z,1,1\n2026-01-31T11:00:00Z,2,2\n"
    )
    frame = data.frame("chart")
    assert frame["step"].dt.hour.tolist() == [10, 11]
