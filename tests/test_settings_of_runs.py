"""Blocks filtered, grouped and coloured by settings: the numbers are those of the raw file."""

from __future__ import annotations

import csv
import json
import re
import shutil
import statistics
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report
from test_report import drafted, figure, problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.model import Figure

MKDOCS = "site_name: Runs\ndocs_dir: content\ntheme: {name: reportgen}\nplugins: [reportgen]\n"
TABLE = "# Runs\n\n```table\nsource: logs\nmetric: loss\nby: BY\ncolumns: [final]\n```\n"
CASE = Path(__file__).parent / "cases" / "settings"
DATA = Path(__file__).parents[1] / "data"
CASE_TEXT = (CASE / "data/runs.csv").read_text("utf-8")
ROWS = list(csv.DictReader(CASE_TEXT.splitlines()))


def compute_means(
    keep: Callable[[dict[str, str]], bool], group: Callable[[dict[str, str]], str]
) -> dict[tuple[str, float], tuple[float, int]]:
    """Mean over runs and their number, by group and step, of the raw rows that are kept."""
    values = defaultdict(list)
    for row in ROWS:
        if keep(row):
            values[group(row), float(row["step"])].append(float(row["loss"]))
    return {key: (statistics.fmean(numbers), len(numbers)) for key, numbers in values.items()}


@pytest.mark.parametrize(
    ("name", "keep", "group"),
    [
        ("by-lr", lambda _: True, lambda row: f"lr={row['lr']}"),
        (
            "by-both",
            lambda row: float(row["lr"]) <= 0.01 and row["optimizer"].startswith("adam"),
            lambda row: f"{row['optimizer']}, lr={row['lr']}",
        ),
        ("coloured", lambda row: row["method"] != "base-sgd", lambda row: row["method"]),
    ],
)
def test_each_line_is_the_mean_of_the_runs_of_a_setting(
    name: str, keep: Callable[[dict[str, str]], bool], group: Callable[[dict[str, str]], str]
) -> None:
    """Values and numbers of runs are those of the raw rows with the setting."""
    text = (CASE / "expected/figures/index" / f"{name}.csv").read_text("utf-8")
    drawn = {
        (row["series"], float(row["step"])): (float(row["value"]), int(row["n"]))
        for row in csv.DictReader(text.splitlines())
    }
    means = compute_means(keep, group)
    assert drawn.keys() == means.keys()
    for key, (value, n) in drawn.items():
        assert abs(value - means[key][0]) < 1e-9
        assert n == means[key][1]


def draft_figure(tmp_path: Path, block: str) -> Figure:
    """One figure of the runs of the case, with these lines in its block."""
    page = f"# Small\n\n```curve\nid: one\nsource: runs\nmetric: loss\n{block}\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/runs.csv": CASE_TEXT})
    return figure(drafted(root).shown["index.md", "one"])


def test_groups_are_in_the_order_of_their_values_and_say_what_they_pool(tmp_path: Path) -> None:
    """Numbers are ordered by value, and runs of several series in a group are named."""
    one = draft_figure(tmp_path, "by: lr")
    assert [name for name, _ in one.legend] == ["lr=1e-05", "lr=3e-05", "lr=0.1"]
    assert "Grouped by lr: lr=1e-05 has runs of base and wide." in one.caption
    assert "lr=1e-05 6, lr=3e-05 3, lr=0.1 3" in one.caption


def test_colour_by_a_setting_is_named_and_dashes_tell_its_series_apart(tmp_path: Path) -> None:
    """Series of one value share a colour and differ in dash; the names say the value."""
    one = draft_figure(tmp_path, 'colour: lr\nfilter: {optimizer: "!sgd"}')
    assert one.legend == (("base · lr=1e-05", 0), ("wide · lr=1e-05", 0), ("base-hot · lr=3e-05", 1))
    assert one.dashes == (0, 1, 0)
    assert one.subtitle.startswith("loss, colour: lr, dash: series of one colour")
    assert "Only rows with optimizer !sgd." in one.caption


def test_panels_are_coloured_by_a_setting_with_a_common_legend(tmp_path: Path) -> None:
    """As in one plot; the legend has the dashes, and a statement still names the series."""
    block = "```panels\nid: both\nsource: runs\nmetrics: [loss, {error: loss / 2}]\ncolour: lr\n```\n\n"
    page = f'# Small\n\n{block}[below]{{claim="final(\'base\') < 99" of="both-2"}}\n'
    root = write_report(tmp_path / "report", {"content/index.md": page, "data/runs.csv": CASE_TEXT})
    assert call(root, "build", "--strict").returncode == 0
    html = (root / "site/index.html").read_text("utf-8")
    (legend,) = re.findall(r'<ul class="rg-legend.*?</ul>', html, re.DOTALL)
    swatches = re.findall(r"rg-slot-(\d) rg-line-(\d).*?>([^<]+)</span></span>", legend)
    assert swatches == [
        ("0", "0", "base · lr=1e-05"),
        ("0", "1", "wide · lr=1e-05"),
        ("1", "0", "base-hot · lr=3e-05"),
        ("2", "0", "base-sgd · lr=0.1"),
    ]
    assert html.count("loss, colour: lr, dash: series of one colour") == 1
    assert html.count("error, colour: lr, dash: series of one colour") == 1


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        ('"<= 1e-5"', {"base", "wide"}),
        ('"> 1e-5 and < 0.1"', {"base-hot"}),
        ('["> 1e-5", "< 0.1"]', {"base-hot"}),
        ("1e-5", {"base", "wide"}),
        ("[1.0e-5, 0.1]", {"base", "wide", "base-sgd"}),
        ('"!0.1"', {"base", "wide", "base-hot"}),
        ('"!= 0.1"', {"base", "wide", "base-hot"}),
    ],
)
def test_conditions_mean_what_they_say(tmp_path: Path, condition: str, kept: set[str]) -> None:
    """A number is compared by value, however it is written."""
    one = draft_figure(tmp_path, f"filter: {{lr: {condition}}}")
    assert {name for name, _ in one.legend} == kept


def test_settings_of_a_logger_filter_and_group(tmp_path: Path) -> None:
    """What MLflow recorded as parameters of runs groups and filters them, though no column has it."""
    page = (
        "# Small\n\n```curve\nid: one\nsource: mlflow-example\nmetric: val/loss\nby: [optimizer, lr]\n```\n\n"
    )
    page += '```curve\nid: two\nsource: mlflow-example\nmetric: val/loss\nfilter: {lr: "< 0.01"}\n```\n'
    root = write_report(tmp_path, {"content/index.md": page})
    shutil.copytree(DATA / "mlflow-example", root / "data" / "mlflow-example")
    shown = drafted(root).shown
    assert [name for name, _ in figure(shown["index.md", "one"]).legend] == [
        "AdamW, lr=0.0003",
        "SGD, lr=0.1",
    ]
    assert [name for name, _ in figure(shown["index.md", "two"]).legend] == ["AdamW"]


SWEEP = "model,seed,optimizer,lr,step,loss\n" + "".join(
    f"{model},{seed},{optimizer},{lr},{step},{(number * 37 + step * 11) % 101}\n"
    for number, (model, seed, optimizer, lr) in enumerate(
        product(("a", "b"), (1, 2), ("adam", "sgd"), ("0.1", "0.01"))
    )
    for step in range(5)
)


@pytest.mark.parametrize("lines", ["by: [optimizer, lr]", "by: lr\nfilter: {optimizer: adam}"])
def test_settings_that_group_keep_runs_of_one_table_apart(lines: str, tmp_path: Path) -> None:
    """Without ``series:`` or ``run:`` in ``source.yml``: model, seed and the settings make a run."""
    page = f"```curve\nid: one\nsource: runs\nmetric: loss\n{lines}\n```\n"
    report = drafted(write_report(tmp_path, {"content/index.md": page, "data/runs.csv": SWEEP}))
    raw: dict[str, list[float]] = defaultdict(list)
    for row in csv.DictReader(SWEEP.splitlines()):
        name = f"{row['optimizer']}, lr={row['lr']}" if "[" in lines else f"lr={row['lr']}"
        if row["step"] == "4" and ("[" in lines or row["optimizer"] == "adam"):
            raw[name].append(float(row["loss"]))
    series = figure(report.shown["index.md", "one"]).numbers["series"]
    assert {one["name"]: one["last"]["value"] for one in series} == {
        name: pytest.approx(statistics.fmean(values)) for name, values in raw.items()
    }
    assert {one["last"]["n"] for one in series} == {4}


def test_settings_that_are_left_are_named_and_those_of_single_steps_separate_nothing(tmp_path: Path) -> None:
    """Of a table of a sweep, ``by: lr`` leaves the optimizer; a learning rate that falls is no setting."""
    page = "```curve\nsource: SOURCE\nmetric: loss\nby: lr\n```\n"
    falling = "seed,step,lr,loss\n" + "".join(f"1,{step},{0.1 / (1 + step)},1\n" for step in range(9))
    pages = "\n".join(page.replace("SOURCE", name) for name in ("runs", "falling"))
    files = {"data/runs.csv": SWEEP, "data/falling.csv": falling, "content/index.md": pages}
    first, second = problems(write_report(tmp_path, files))
    assert "lr changes within run 1 of falling" in first
    assert "data/runs.csv:12: a second row for step 0 of series a, run 1, lr=0.1" in second
    assert 'name "optimizer" with by: in the block, too' in second


def test_a_setting_that_is_not_there_or_does_not_fit_is_refused(tmp_path: Path) -> None:
    """Each mistake is an error at its block, with the names and values that there are."""
    blocks = [
        ("by: learning", 'the source "runs" has no column "learning"'),
        ("colour: lrr", 'the source "runs" has no column "lrr". Did you mean "lr"?'),
        (
            "filter: {optimiser: sgd}",
            'has no column "optimiser". Did you mean "optimizer"?',
        ),
        ('filter: {lr: "> 1"}', "where lr is > 1. There lr is 1e-05, 3e-05 and 0.1"),
        ("filter: {optimizer: rms*}", "where optimizer is rms*. There optimizer is adamw and sgd"),
        ("by: step", "step changes within run 1 of base"),
        ("colour: lr\nby: optimizer", '"adamw" has runs with lr=1e-05 and lr=3e-05. It can have one colour'),
    ]
    page = "".join(
        f"```curve\nid: b{i}\nsource: runs\nmetric: loss\n{text}\n```\n\n"
        for i, (text, _) in enumerate(blocks)
    )
    root = write_report(tmp_path, {"content/index.md": f"# Small\n\n{page}", "data/runs.csv": CASE_TEXT})
    found = problems(root)
    assert len(found) == len(blocks), "\n".join(found)
    for said, (_, expected) in zip(found, blocks, strict=True):
        assert said.startswith("content/index.md:")
        assert expected in said


def test_a_table_shows_each_setting_in_which_runs_differ(tmp_path: Path) -> None:
    """With ``by: "*"``: no seeds and no names, and the results of runs that share all of them."""
    configs = {
        f"{optimizer}-{lr}-{seed}": {"optim": {"name": optimizer, "lr": lr}, "seed": seed, "data": "same"}
        for optimizer, lr in (("adam", 0.1), ("adam", 0.01), ("sgd", 0.1))
        for seed in (1, 2)
    }
    lasts = {name: 0.5 + 0.01 * number for number, name in enumerate(configs)}
    files = {"mkdocs.yml": MKDOCS, "content/index.md": TABLE.replace("BY", '"*"')}
    for name, config in configs.items():
        files[f"data/logs/{name}/config.json"] = json.dumps(config)
        files[f"data/logs/{name}/log.csv"] = f"step,loss\n0,1\n1,{lasts[name]}\n"
    root = write_report(tmp_path / "report", files)
    assert call(root, "build").returncode == 0
    rows = list(csv.DictReader((root / "site/figures/index/loss.csv").read_text("utf-8").splitlines()))
    assert [*rows[0]][:5] == ["series", "optim.name", "optim.lr", "runs", "final"]
    found = {(row["optim.name"], row["optim.lr"]): row for row in rows}
    assert {key: row["runs"] for key, row in found.items()} == {
        ("adam", "0.1"): "2",
        ("adam", "0.01"): "2",
        ("sgd", "0.1"): "2",
    }
    for (optimizer, lr), row in found.items():
        mean = statistics.fmean(lasts[f"{optimizer}-{lr}-{seed}"] for seed in (1, 2))
        assert float(row["final"].partition(" ")[0]) == pytest.approx(mean, abs=0.001)


@pytest.mark.parametrize(
    ("by", "source", "names"),
    [
        ('"*"', "", ["model", "optimizer", "lr"]),
        ('["*", "!model"]', "", ["optimizer", "lr"]),
        ('["l*", optimizer, model]', "", ["lr", "optimizer", "model"]),
        ('"*"', "columns: {series: [model, lr, optimizer]}\n", ["model", "optimizer", "lr"]),
    ],
)
def test_settings_of_a_table_are_found_without_naming_columns(
    by: str, source: str, names: list[str], tmp_path: Path
) -> None:
    """Numbers that are constant in a run, read as metrics otherwise, are settings, and so is the series."""
    rows = [
        {"model": model, "optimizer": optimizer, "lr": lr, "seed": str(seed), "step": str(step)}
        for model in ("a", "b")
        for optimizer, lr in (("adam", "1e-05"), ("adam", "0.001"), ("sgd", "0.001"))
        for seed in (1, 2)
        for step in (0, 10, 20)
    ]
    rows = [
        {**row, "tokens": f"{row['step']}00", "loss": f"{2 - 0.01 * i:.2f}"} for i, row in enumerate(rows)
    ]
    text = "".join(",".join(cells) + "\n" for cells in (rows[0], *(row.values() for row in rows)))
    page = TABLE.replace("BY", by).replace("logs", "runs").replace("[final]", "[final, n]")
    files = {"mkdocs.yml": MKDOCS, "content/index.md": page, "data/runs.csv": text}
    root = write_report(tmp_path / "report", files | ({"data/runs.source.yml": source} if source else {}))
    done = call(root, "build")
    assert done.returncode == 0, done.stderr
    found = list(csv.DictReader((root / "site/figures/index/loss.csv").read_text("utf-8").splitlines()))
    ends = ["final low", "final high", "final step"]
    assert [name for name in found[0] if name not in ends] == ["series", *names, "runs", "final", "n"]
    expected = defaultdict(list)
    for row in rows:
        if row["step"] == "20":
            expected[tuple(row[name] for name in names)].append(float(row["loss"]))
    assert {tuple(row[name] for name in names) for row in found} == {*expected}
    for row in found:
        values = expected[tuple(row[name] for name in names)]
        assert row["n"] == str(len(values))
        mean = float(row["final"].partition(" ")[0])
        assert mean == pytest.approx(statistics.fmean(values), abs=0.05)


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ('"data*"', '"data*" matches no setting in which runs differ of source "logs"'),
        ('["*", "!seed"]', '"!seed" leaves out no setting in which runs differ of source "logs"'),
    ],
)
def test_a_pattern_without_a_setting_is_an_error(by: str, said: str, tmp_path: Path) -> None:
    """With the settings that there are."""
    files = {"mkdocs.yml": MKDOCS, "content/index.md": TABLE.replace("BY", by)}
    for seed, lr in ((1, 0.1), (2, 0.2)):
        files[f"data/logs/{seed}/config.json"] = json.dumps({"lr": lr, "seed": seed, "data": "same"})
        files[f"data/logs/{seed}/log.csv"] = "step,loss\n0,1\n1,0.5\n"
    done = call(write_report(tmp_path / "report", files), "build")
    assert done.returncode == 1
    assert said in done.stderr
    assert 'It has "lr"' in done.stderr
