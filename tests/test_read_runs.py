"""Runs that only a number tells apart, what is suggested of their series, and what is said of many."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_projects import write_report
from made_sources import Data
from test_report import drafted, figure

from reportgen.core.cache import FileHashes
from reportgen.draft import describing
from reportgen.read.runs.file_names import detect_numbered_runs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.core.statements import Description

NAMES = st.lists(st.text("ab1(+$[]^\\", min_size=1, max_size=4), min_size=1, max_size=2)


@pytest.mark.parametrize(
    ("paths", "files", "series"),
    [
        ("strict/run_1 strict/run_3", "(?P<series>strict)/run_(?P<run>[0-9]+)", ["strict", "strict"]),
        ("A/run_1 B/run_1 B/run_2", "(?P<series>[^/]+)/run_(?P<run>[0-9]+)", ["A", "B", "B"]),
        ("x/A/1 x/A/2 x/B/1", "x/(?P<series>[^/]+)/(?P<run>[0-9]+)", ["A", "A", "B"]),
        ("A/Hop-v1_1 A/Hop-v1_2 B/Hop-v1_1", "(?P<series>[^/]+)/Hop-v1_(?P<run>[0-9]+)", ["A", "A", "B"]),
        ("ppo_run1.csv ppo_run7.csv", "(?P<series>.+)_run(?P<run>[0-9]+)[.]csv", ["ppo", "ppo"]),
        ("ppo-0/log.txt dqn-0/log.txt dqn-1/log.txt", "(?P<series>.+)-(?P<run>[0-9]+)/log[.]txt", None),
        ("version_2 version_4", "(?P<series>version)_(?P<run>[0-9]+)", ["version", "version"]),
    ],
)
def test_repetitions_have_a_pattern(paths: str, files: str, series: list[str] | None) -> None:
    """It fits every path and takes series and run out of it."""
    found = detect_numbered_runs(paths.split(), "mine")
    assert found is not None
    assert found.files == files
    matches = [re.fullmatch(found.files, path) for path in paths.split()]
    told = [match["series"] for match in matches if match]
    assert told == (series or ["ppo", "dqn", "dqn"])
    assert found.series == len(set(told))


def test_a_series_without_a_name_gets_that_of_the_source() -> None:
    """What stands in its place says nothing."""
    named = {
        "run1.csv run2.csv": {"run": "mine"},
        "lightning_logs/version_0 lightning_logs/version_1": {"lightning_logs": "mine"},
        "A/run_1 A/run_2": {},
    }
    for paths, rename in named.items():
        found = detect_numbered_runs(paths.split(), "mine")
        assert found is not None
        assert found.rename == rename


@pytest.mark.parametrize(
    "paths",
    [
        "bert-512 bert-768",  # sizes
        "gpt-2 gpt-3",
        "lr_1 lr_10",
        "A/run_1 B/run_2",  # no series has two
        "A/run_1 run_2",  # not of one form
        "a1 a2",  # part of a name
        "1 2",  # nothing to call the series
        "A/x_1/b A/y_2/c",  # more than numbers differ
        "A/run_1 A/run_01",  # one number twice
        "A/gpt-512 A/gpt-768 B/gpt-512",  # sizes again
        "A/Hop-v1 A/Hop-v2 B/Hop-v1",  # versions
        "only",
        "",
    ],
)
def test_other_numbers_are_no_repetitions(paths: str) -> None:
    """Sizes, rates and parts of names stay what they are."""
    assert detect_numbered_runs(paths.split(), "mine") is None


@given(NAMES, st.integers(2, 4))
def test_a_pattern_fits_whatever_names_hold(parts: list[str], count: int) -> None:
    """Signs of regular expressions in names are names."""
    paths = ["/".join([*parts, f"run_{number}"]) for number in range(count)]
    found = detect_numbered_runs(paths, "mine")
    assert found is not None
    assert [match["run"] for path in paths if (match := re.fullmatch(found.files, path))] == [
        str(number) for number in range(count)
    ]


def described_methods(data: Data) -> Description:
    """The source ``s``."""
    return describing.describe_path(
        data.root / "data/s", data.root, "s", FileHashes(data.root / ".kept"), None
    )


def runs(tmp_path: Path, *configs: Mapping[str, object]) -> Data:
    """Logs of Lightning with these settings, in folders that say nothing."""
    data = Data(tmp_path)
    for number, config in enumerate(configs):
        folder = f"s/lightning_logs/version_{number}"
        data.write(f"{folder}/metrics.csv", f"epoch,step,loss\n0,0,{number}\n1,10,{number / 2}\n")
        data.write(f"{folder}/hparams.yaml", "\n".join(f"{key}: {value}" for key, value in config.items()))
    return data


def test_a_method_is_suggested(tmp_path: Path) -> None:
    """Six series stay six; two are offered, and work."""
    data = runs(tmp_path, *({"method": one, "seed": seed, "lr": 0.1} for one in "AB" for seed in (1, 2, 3)))
    assert len(described_methods(data).series) == 6
    assert data.warnings("s") == [
        (
            "data/s: each of 6 runs is a series of its own, though method and the seed tell them apart. "
            "If those of one method are repetitions, say series_from: method in source.yml; "
            "if not, say series_from: name."
        )
    ]
    told = described_methods(data)
    assert describing.suggest_settings(told)["settled"] == ""
    data.write("s/source.yml", describing.suggest_settings(told)["repetitions"])
    assert described_methods(data).series == ("A", "B")
    assert data.warnings("s") == []
    data.write("s/source.yml", "series_from: name")
    assert (len(described_methods(data).series), data.warnings("s")) == (6, [])


def test_a_setting_with_a_name_that_is_a_number(tmp_path: Path) -> None:
    """Few values of a number are as good as names."""
    data = runs(tmp_path, *({"lr": lr, "seed": seed} for lr in (0.1, 0.01) for seed in (1, 2)))
    assert described_methods(data).repetitions == {"series_from": "lr"}


DATES = ("2024-01-01T00-00-00.000000", "2024-01-02T00-00-00.000000")


def evaluated_on(data: Data, series: int, tasks: int) -> None:
    """Two evaluations of each model on each task, with other shots."""
    for model in range(series):
        for date, shots in zip(DATES, (0, 5), strict=True):
            names = [f"t{task}" for task in range(tasks)]
            document = {
                "results": {name: {"alias": name, "acc,none": 0.5} for name in names},
                "configs": {name: {"task": name, "num_fewshot": shots} for name in names},
                "n-shot": dict.fromkeys(names, shots),
                "config": {"model": "hf", "random_seed": shots},
                "model_name": f"m{model}",
            }
            data.write(f"s/m{model}/results_{date}.json", json.dumps(document))


def test_what_is_the_same_on_many_benchmarks_is_told_once(tmp_path: Path) -> None:
    """And of many series the first, with how many more there are."""
    data = Data(tmp_path)
    evaluated_on(data, series=22, tasks=3)
    *several, last = [
        one for one in data.warnings("s") if "more than seeds" in one or "the same holds" in one
    ]
    assert len(several) == 20
    assert all("; likewise on 2 more benchmarks. They are read as" in one for one in several)
    assert last == "data/s: the same holds of 2 more series and seeds."


CURVE = "step,loss,note\n0,2.5,\n10,{end},\n"


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
