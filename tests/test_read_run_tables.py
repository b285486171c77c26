"""Tables of runs: settings beside them, a column for each model, and words that tell rows apart."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report
from made_sources import Data
from test_read_file_names import described
from test_report import drafted, figure

if TYPE_CHECKING:
    from pathlib import Path

CURVE = "step,loss,note\n0,2.5,\n10,{end},\n"
WIDE = "step,GRPO,PPO\n0,0.1,0.2\n10,0.25,\n20,0.5,0.4\n"


def write_runs(root: Path, name: str = "config.json") -> Data:
    """Four runs: two learning rates with two seeds each, the settings beside each table."""
    data = Data(root)
    for lr in (0.1, 0.01):
        for seed in (1, 2):
            folder = f"s/run-{lr}-{seed}"
            data.write(f"{folder}/log.csv", CURVE.format(end=lr + seed))
            settings = {"seed": seed, "optim": {"lr": lr}}
            text = json.dumps(settings) if name.endswith("json") else f"seed: {seed}\noptim:\n  lr: {lr}\n"
            data.write(f"{folder}/{name}", text)
    return data


@pytest.mark.parametrize("name", ["config.json", "config.yaml", "params.json", "hparams.yml"])
def test_settings_beside_tables_are_those_of_the_run(tmp_path: Path, name: str) -> None:
    """Seeds come from them, and series by the setting that differs."""
    data = write_runs(tmp_path, name)
    frame = data.frame("s", "loss", by=("lr",))
    expected = {(f"lr={lr}", str(seed), lr + seed) for lr in (0.1, 0.01) for seed in (1, 2)}
    ends = frame[frame["step"] == 10]
    assert {*zip(ends["series"], ends["seed"], ends["value"], strict=True)} == expected
    assert described(data).title == "tables with settings next to them"
    assert described(data).seed_by == "the configuration"


def test_a_block_filters_by_a_setting_beside_the_table(tmp_path: Path) -> None:
    """As it does with what a logger wrote; the mean is that of the raw tables."""
    write_runs(tmp_path)
    block = "```curve\nid: one\nsource: s\nmetric: loss\nfilter: {lr: '<= 0.05'}\nby: lr\n```\n"
    root = write_report(tmp_path, {"content/index.md": f"# Small\n\n{block}"})
    one = figure(drafted(root).shown["index.md", "one"])
    rows = csv.DictReader(io.StringIO(str(one.csv)))
    values = {float(row["step"]): float(row["value"]) for row in rows}
    assert [name for name, _ in one.legend] == ["lr=0.01"]
    assert values == {0: 2.5, 10: pytest.approx((0.01 + 1 + 0.01 + 2) / 2)}


def test_tables_of_one_folder_with_other_metrics_are_one_run(tmp_path: Path) -> None:
    """Training and evaluation are often written apart."""
    data = Data(tmp_path)
    for seed in (1, 2):
        data.write(f"s/{seed}/train.csv", "step,loss\n0,2\n1,1\n")
        data.write(f"s/{seed}/eval.jsonl", '{"step": 0, "acc": 0.5}\n{"step": 1, "acc": 0.75}\n')
        data.write(f"s/{seed}/config.json", f'{{"seed": {seed}}}')
    source = data.open("s")
    assert source.metrics == ("acc", "loss")
    assert [(run.seed, run.metrics) for run in described(data).counts.runs] == [("1", 2), ("2", 2)]


def test_a_table_that_names_its_runs_is_read_as_a_table(tmp_path: Path) -> None:
    """The settings of one run cannot be those of several."""
    data = Data(tmp_path)
    data.write("s/runs.csv", "model,step,loss\nA,0,2\nA,1,1\nB,0,3\nB,1,2\n")
    data.write("s/config.json", '{"lr": 0.1}')
    assert data.open("s").kind == "measurements"
    assert described(data).series == ("A", "B")
    (warning,) = data.warnings("s")
    assert "the settings in config.json are left out" in warning
    data.write("s/source.yml", "files: runs.csv\n")
    assert data.warnings("s") == []


def test_repeated_steps_of_a_table_with_settings_are_an_error(tmp_path: Path) -> None:
    """Folds are often appended to one file; ``repeat`` says so."""
    data = Data(tmp_path)
    data.write("s/log.csv", "step,loss\n0,2\n1,1\n0,4\n1,3\n")
    data.write("s/config.json", '{"lr": 0.1}')
    (problem,) = map(str, described(data).problems)
    assert "2 of 4 values repeat a step" in problem
    assert "repeat: runs" in problem
    data.write("s/source.yml", "repeat: mean\n")
    assert [*data.frame("s", "loss")["value"]] == [3, 2]


def read_wide(text: str) -> dict[tuple[str, float], float]:
    """Values of a table with a column for each series, by series and step, without empty cells."""
    rows = csv.DictReader(io.StringIO(text))
    return {
        (name, float(row["step"])): float(cell)
        for row in rows
        for name, cell in row.items()
        if name != "step" and cell
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("reward.csv", WIDE),
        ("reward.csv", WIDE.replace("GRPO", "Elm").replace("PPO", "Fir")),
        ("runs.csv", WIDE.replace("GRPO", "modelA").replace("PPO", "modelB")),
        ("runs.csv", WIDE.replace("GRPO", "lr=1e-4").replace("PPO", "lr=3e-4")),
    ],
)
def test_a_column_for_each_model_is_found(tmp_path: Path, name: str, text: str) -> None:
    """By the names of columns, or by that of the file if it is a metric."""
    data = Data(tmp_path)
    data.write(f"s/{name}", text)
    metric = name.removesuffix(".csv")
    frame = data.frame("s")
    values = {(series, step): value for series, step, value in frame[["series", "step", "value"]].to_numpy()}
    assert values == read_wide(text)
    assert data.open("s").metrics == (metric,)
    (warning,) = data.warnings("s")
    assert "are read as series of one metric, going by their names" in warning
    data.write("s/source.yml", "wide: series\n")
    assert data.warnings("s") == []
    data.write("s/source.yml", "wide: metrics\n")
    assert set(data.open("s").metrics) == {name for name, _ in values}


def test_columns_of_seeds_are_runs(tmp_path: Path) -> None:
    """With the series before the seed, or with a metric there."""
    data = Data(tmp_path)
    data.write("s/reward.csv", "step,A_seed1,A_seed2,B_seed1\n0,1,2,3\n1,4,5,6\n")
    data.write("t/runs.csv", "step,loss_seed1,loss_seed2\n0,1,2\n1,4,5\n")
    frame = data.frame("s")
    assert {*zip(frame["series"], frame["seed"], strict=True)} == {("A", "1"), ("A", "2"), ("B", "1")}
    frame = data.frame("t", "loss")
    assert {*zip(frame["series"], frame["seed"], strict=True)} == {("t", "1"), ("t", "2")}


def test_files_of_wide_tables_are_metrics(tmp_path: Path) -> None:
    """A table for each metric, with the same models in all."""
    data = Data(tmp_path)
    data.write("s/reward.csv", WIDE)
    data.write("s/loss.csv", WIDE)
    assert set(data.open("s").metrics) == {"reward", "loss"}
    assert {*data.frame("s", "loss")["series"]} == {"GRPO", "PPO"}


def test_metrics_stay_metrics(tmp_path: Path) -> None:
    """Nothing is turned around without a sign of it, and a wrong cell is an error with its line."""
    data = Data(tmp_path)
    data.write("s/runs.csv", "step,loss,acc\n0,1,2\n")
    data.write("t/log.csv", "step,kl,entropy\n0,1,2\n")
    data.write("u/reward.csv", "step,GRPO,PPO\n0,1,2\n1,x,3\n")
    assert data.open("s").metrics == ("loss", "acc")
    assert data.open("t").metrics == ("kl", "entropy")
    (problem,) = data.problems("u")
    assert problem.startswith('data/u/reward.csv:3: "x" in column "GRPO" is not a number')


def test_words_that_change_along_one_line_are_reported(tmp_path: Path) -> None:
    """Two methods of which no two rows share a step would be one line; phases of a run go on where it was."""
    data = Data(tmp_path)
    data.write("s.csv", "phase,step,ret\nwarmup,0,1\nwarmup,1,2\nmain,2,3\nmain,3,5\n")
    assert data.warnings("s") == []
    data.write("s.csv", "algo,step,ret\nppo,0,1\nppo,1,5\nsac,2,0\nsac,3,3\n")
    (warning,) = data.warnings("s")
    assert 'rows that differ in "algo" are read as one run' in warning
    data.write("s.source.yml", "columns: {series: algo}\n")
    assert data.warnings("s") == []
    assert {*data.frame("s")["series"]} == {"ppo", "sac"}
    data.write("s.source.yml", "repeat: last\n")
    assert data.warnings("s") == []


def test_words_that_take_turns_along_one_line_are_an_error(tmp_path: Path) -> None:
    """They come back after others, as no phase of a run does."""
    data = Data(tmp_path)
    data.write("s.csv", "part,step,loss,acc\ntrain,0,2,\neval,1,3,0.5\ntrain,2,1,\neval,3,2,0.75\n")
    done = call(tmp_path, "describe", "data/s.csv")
    assert done.returncode == 1
    assert 'data/s.csv:3: error: rows that differ in "part" take turns along one line' in done.stdout
    assert 'loss of "s" is 2 for "train" in line 2 and 3 for "eval" here' in done.stdout
    assert "Set columns: {series: part} in data/s.source.yml to tell them apart, otherwise" in done.stdout
    data.write("s.source.yml", "columns: {series: part}\n")
    assert {*data.frame("s", "loss")["series"]} == {"train", "eval"}
    data.write("s.source.yml", "repeat: last\n")
    assert call(tmp_path, "describe", "data/s.csv").returncode == 0
    assert [*data.frame("s", "loss")["value"]] == [2, 3, 1, 2]


def test_words_that_several_files_share_are_series(tmp_path: Path) -> None:
    """Files with one name in a column of words are runs of that series."""
    data = Data(tmp_path)
    for number, algo in enumerate(("ppo", "ppo", "sac"), 1):
        data.write(f"s/run{number}.csv", f"algo,step,ret\n{algo},0,1\n{algo},1,{number}\n")
    frame = data.frame("s")
    expected = {("ppo", "run1"), ("ppo", "run2"), ("sac", "run3")}
    assert {*zip(frame["series"], frame["run"], strict=True)} == expected


def test_seeds_are_written_in_two_ways(tmp_path: Path) -> None:
    """Some files say seed1, and others s3."""
    data = Data(tmp_path)
    for name in ("base_seed1", "base_seed2", "grpo-lr1e-5-s3", "grpo-lr1e-5-s4"):
        data.write(f"s/{name}.csv", "step,loss\n0,2\n1,1\n")
    frame = data.frame("s")
    expected = {("base", "1"), ("base", "2"), ("grpo-lr1e-5", "3"), ("grpo-lr1e-5", "4")}
    assert {*zip(frame["series"], frame["seed"], strict=True)} == expected
