"""Pivots of curves with several header rows, as pandas writes them."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from command_line import call
from made_sources import Data

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    {"metric": metric, "series": series, "seed": seed, "step": step, "value": round(rate * (step + seed), 3)}
    for metric, rate in (("acc", 0.01), ("loss", 0.125))
    for series in ("GRPO", "PPO")
    for seed in (1, 2)
    for step in (0, 10, 20)
    if not (series == "PPO" and step == 20)
]
LONG = pd.DataFrame(ROWS)
FIRST = LONG[LONG.seed == 1].drop(columns="seed")
ACCURACY = FIRST[FIRST.metric == "acc"].drop(columns="metric")


def pivot(table: pd.DataFrame, **levels: Any) -> pd.DataFrame:  # noqa: ANN401 - passed on
    """A table with several header rows, without computing anything."""
    return table.pivot(**levels)  # noqa: PD010


EXPECTED = {(row["metric"], row["series"], row["step"]): row["value"] for row in ROWS if row["seed"] == 1}


@pytest.mark.parametrize(
    "table",
    [
        pivot(FIRST, index="step", columns=["metric", "series"], values="value"),
        pivot(FIRST, index="step", columns=["series", "metric"]),
        pivot(FIRST, index=["step", "series"], columns="metric", values="value").unstack(),  # noqa: PD010
        pivot(FIRST.rename(columns={"series": "algo"}), index="step", columns=["metric", "algo"]),
    ],
)
def test_a_pivot_is_read_by_itself(tmp_path: Path, table: pd.DataFrame) -> None:
    """Metrics and series in either order; a run that ends early has no value there, not 0."""
    data = Data(tmp_path)
    data.write("s.csv", table.to_csv())
    found = data.frame("s")
    assert {(row.metric, row.series, row.step): row.value for row in found.itertuples()} == EXPECTED
    assert data.warnings("s") == []


@pytest.mark.parametrize("named", [0, 1])
@pytest.mark.parametrize("levels", [["metric", "series"], ["series", "metric"]])
def test_the_step_may_be_named_in_a_header_row(tmp_path: Path, levels: list[str], named: int) -> None:
    """As people write tables, with the name of the first column above or beside the lower labels."""
    table = pivot(FIRST, index="step", columns=levels, values="value").rename_axis(index=None)
    unnamed = [line.partition(",")[2] for line in table.to_csv().split("\n")[:2]]
    lines = [f",{line}" for line in unnamed] + table.to_csv().split("\n")[2:]
    lines[named] = f"step{lines[named]}"
    data = Data(tmp_path)
    data.write("s.csv", "\n".join(lines))
    found = data.frame("s")
    assert {(row.metric, row.series, row.step): row.value for row in found.itertuples()} == EXPECTED


@pytest.mark.parametrize("header", ["{}", "step_{}", "step {}", "Epoch {}"])
@pytest.mark.parametrize("stated", ["title: X\n", "wide: series\n"])
def test_a_column_for_each_step_is_a_curve(tmp_path: Path, header: str, stated: str) -> None:
    """A transposed table: a row for each series, or for each metric of one."""
    table = pivot(ACCURACY, index="series", columns="step", values="value")
    table.columns = [header.format(step) for step in table.columns]
    data = Data(tmp_path)
    data.write("acc.csv", table.to_csv(index_label="algo"))
    data.write("acc.source.yml", stated)
    found = data.frame("acc")
    expected = {key: value for key, value in EXPECTED.items() if key[0] == "acc"}
    assert {(row.metric, row.series, row.step): row.value for row in found.itertuples()} == expected
    table = pivot(FIRST[FIRST.series == "GRPO"], index="metric", columns="step", values="value")
    data.write("one.csv", table.to_csv())
    only = {(metric, step): value for (metric, name, step), value in EXPECTED.items() if name == "GRPO"}
    assert {(row.metric, row.step): row.value for row in data.frame("one").itertuples()} == only


def test_small_numbers_in_a_header_are_no_steps(tmp_path: Path) -> None:
    """They may be seeds or samples; neither are they benchmarks."""
    data = Data(tmp_path)
    data.write("s.csv", "model,1,2,3\nElm,0.5,0.6,0.7\n")
    assert data.open("s").kind == "measurements"
    done = call(tmp_path, "describe", "data/s.csv")
    assert "no column of the source" in done.stdout


def test_an_index_without_a_name_may_be_the_step(tmp_path: Path) -> None:
    """As ``to_csv`` writes a history; rows with settings are runs."""
    history = pd.DataFrame({"loss": [2.5, 2.0, 1.75], "acc": [0.1, 0.2, 0.4]})
    data = Data(tmp_path)
    data.write("s.csv", history.to_csv())
    done = call(tmp_path, "describe", "data/s.csv")
    assert '"index" never decreases within a run and may be the step' in done.stdout
    data.write("s.source.yml", "columns: {step: index}\n")
    found = data.frame("s", "loss")
    assert [*zip(found["step"], found["value"], strict=True)] == [*enumerate(history.loss)]
    data.write("t.csv", history.assign(lr=[1, 0.1, 0.01]).to_csv())
    assert "usual name of a step" not in call(tmp_path, "describe", "data/t.csv").stdout


def test_a_pivot_of_one_metric_has_the_name_of_its_file(tmp_path: Path) -> None:
    """As a curve table with a column for each series has."""
    data = Data(tmp_path)
    data.write("acc.csv", pivot(ACCURACY, index="step", columns="series").to_csv())
    found = data.frame("acc")
    assert {(row.metric, row.series, row.step): row.value for row in found.itertuples()} == {
        key: value for key, value in EXPECTED.items() if key[0] == "acc"
    }


def test_seeds_and_a_second_level_of_the_index(tmp_path: Path) -> None:
    """A level is a column, and so is the index; its values are those of the lines below the header."""
    data = Data(tmp_path)
    text = pivot(LONG, index="step", columns=["metric", "series", "seed"], values="value").to_csv()
    data.write("s.csv", text)
    lines = list(csv.reader(io.StringIO(text)))
    expected = {
        (*lines[0][at : at + 1], *lines[1][at : at + 1], *lines[2][at : at + 1], float(row[0])): float(
            row[at]
        )
        for row in lines[4:]
        for at in range(1, len(row))
        if row[at]
    }
    found = {(row.metric, row.series, row.seed, row.step): row.value for row in data.frame("s").itertuples()}
    assert found == expected
    said = call(tmp_path, "describe", "data/s.csv").stdout
    assert "2 series, 4 runs, 2 metrics and 20 values" in said


def test_means_with_their_deviation_have_an_interval(tmp_path: Path) -> None:
    """``agg(["mean", "std", "count"])`` is a mean over n runs."""
    data = Data(tmp_path)
    groups = LONG.groupby(["series", "step", "metric"]).value
    data.write("s.csv", groups.agg(["mean", "std", "count"]).unstack("metric").to_csv())  # noqa: PD010
    mean, deviation = groups.mean()["GRPO", 0, "acc"], groups.std()["GRPO", 0, "acc"]
    first = data.frame("s", "acc").iloc[0]
    assert (first.series, first.step, first.value, first.n) == ("GRPO", 0, mean, 2)
    assert first.stderr == pytest.approx(deviation / 2**0.5)


def test_a_fault_is_reported_with_its_line(tmp_path: Path) -> None:
    """In the file that the user has, not in the copy."""
    data = Data(tmp_path)
    data.write("s.csv", "metric,acc,acc\nseries,A,B\nstep,,\n0,0.1,0.2\n10,much,0.3\n20,0.1\n")
    assert data.problems("s") == [
        'data/s.csv:5: "much" in the column of acc, A is not a number. Mend it, or leave it empty.',
        "data/s.csv:6: the row has 2 cells where the header has 3. Look for a missing delimiter.",
    ]


def test_an_index_without_a_name_is_not_taken_for_models(tmp_path: Path) -> None:
    """Rows 0, 10 and 20 would be three models of a table of scores."""
    data = Data(tmp_path)
    table = pivot(FIRST, index="step", columns=["metric", "series"], values="value").rename_axis(index=None)
    data.write("s.csv", table.to_csv())
    assert data.problems("s") == [
        (
            "data/s.csv:1: the first column below 2 header rows has no name, and may be the step. Name it "
            'before it is written, as in df.index.name = "step"; if its rows are not steps, say form: wide.'
        )
    ]


def test_a_table_of_scores_stays_one(tmp_path: Path) -> None:
    """Its index has no step."""
    data = Data(tmp_path)
    data.write(
        "s.csv", "benchmark,MATH,MATH,AIME,AIME\nmetric,acc,f1,acc,f1\nmodel,,,,\nElm,0.5,0.6,0.4,0.5\n"
    )
    assert data.open("s").kind == "totals"
