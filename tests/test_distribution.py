"""Distributions: dots and bars are the values of the raw file, counted once each."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from made_projects import write_report
from scipy import stats
from test_report import drafted, figure, problems

CASE = Path(__file__).parent / "cases" / "explore"
PAGE = "# Small\n\n```distribution\nid: one\nsource: runs\n{}\n```\n"
HEAD = "series,seed,step,score\n"


def write_runs(values: dict[str, list[float]]) -> str:
    """A run for each value, which is its last."""
    return HEAD + "".join(
        f"{name},{seed},{step},{value * step}\n"
        for name, numbers in values.items()
        for seed, value in enumerate(numbers)
        for step in (0, 1)
    )


def read_bars(svg: str, series: str) -> list[tuple[str, int, float]]:
    """The bars of a series: range, count and height in pixels."""
    return [
        (at, int(count), float(height))
        for name, at, count, height in re.findall(
            r'data-rg-tip="([^"&]+)&#10;([^":]+): (\d+) of [^"]+"[^>]*><rect [^>]*height="([\d.]+)"', svg
        )
        if name == series
    ]


def test_scores_have_a_bar_for_each_level() -> None:
    """The case's counts are those of the raw answers: four samples give five possible scores."""
    scores: dict[tuple[str, str], list[int]] = {}
    for row in csv.DictReader((CASE / "data/answers.csv").read_text("utf-8").splitlines()):
        scores.setdefault((row["model"], row["problem"]), []).append(int(row["score"]))
    page = (CASE / "expected/pages/index.html").read_text("utf-8")
    for model in ("short", "long", "wordy"):
        means = [sum(own) / len(own) for (name, _), own in scores.items() if name == model]
        levels = {f"{100 * level:.1f}%": means.count(level) for level in (0, 0.25, 0.5, 0.75, 1)}
        bars = read_bars(page, model)
        assert {at: count for at, count, _ in bars} == {at: count for at, count in levels.items() if count}
        assert [height / bars[0][2] for _, _, height in bars] == pytest.approx(
            [count / bars[0][1] for _, count, _ in bars], rel=1e-3
        )


@pytest.mark.parametrize("block", ["distribution", "scatter"])
def test_a_setting_gives_colours(tmp_path: Path, block: str) -> None:
    """Series that share a value have one colour, and their names have the value."""
    page = PAGE.replace("distribution", block)
    rows = "".join(
        f"{name},{seed},{step},{lr},{step * 0.1 + seed},{step}\n"
        for name, lr in (("a", 0.1), ("b", 0.1), ("c", 0.01))
        for seed in (1, 2)
        for step in (1, 2)
    )
    files = {
        "content/index.md": page.format("metric: score\ncolour: lr" + "\nx: cost" * (block == "scatter")),
        "data/runs.csv": f"series,seed,step,lr,score,cost\n{rows}",
    }
    drawn = figure(drafted(write_report(tmp_path, files)).shown["index.md", "one"])
    groups = re.findall(r'data-rg-series="([^"]+)".*?--rg-series-(\d|muted)', str(drawn.inline_svg))
    assert len(set(groups)) == 3
    inks = dict(groups)
    assert {*inks} == {"a · lr=0.1", "b · lr=0.1", "c · lr=0.01"}
    assert inks["a · lr=0.1"] == inks["b · lr=0.1"] != inks["c · lr=0.01"]
    assert "muted" not in inks.values()
    files["data/runs.csv"] = "model,problem,score\na,1,0\na,2,1\n"
    (problem,) = problems(write_report(tmp_path / "scores", files))
    assert 'colour must be a setting of runs, but "runs" holds scores. Leave it out.' in problem


def test_every_run_is_a_dot_with_the_interval_of_the_mean(tmp_path: Path) -> None:
    """Up to 20 values are dots; mean and interval are Student's t."""
    values = {"a": [0.5, 0.6, 0.8], "b": [0.2, 0.4, 0.9]}
    files = {
        "content/index.md": PAGE.format("metric: score\norder: best"),
        "data/runs.csv": write_runs(values),
    }
    drawn = figure(drafted(write_report(tmp_path, files)).shown["index.md", "one"])
    assert drawn.numbers["mark"] == "strip"
    assert len(re.findall(r'<circle [^>]*r="3"', str(drawn.inline_svg))) == 6
    assert [row.split(",")[0] for row in str(drawn.csv).splitlines()[1:]] == ["a"] * 3 + ["b"] * 3
    for one in drawn.numbers["series"]:
        own = np.array(values[one["name"]])
        interval = stats.t.interval(0.95, 2, own.mean(), stats.sem(own))
        assert (one["mean"], one["low"], one["high"]) == pytest.approx((own.mean(), *interval))
        assert one["quartiles"] == pytest.approx(np.percentile(own, (25, 50, 75)).tolist())
    assert "b has the widest spread, with all runs at 0.2 to 0.9." in drawn.summary


def test_bins_count_every_value_once(tmp_path: Path) -> None:
    """Also values at edges, and equal ones."""
    for name, numbers in {
        "many": [number / 10 for number in range(31)],
        "equal": [0.5] * 21,
        "large": [1e6 + number for number in range(25)],
        "close": [number * 1e-14 + 1 for number in range(25)],
        "small": [number * 1e-14 for number in range(25)],
    }.items():
        files = {
            "content/index.md": PAGE.format("metric: score"),
            "data/runs.csv": write_runs({"a": numbers}),
        }
        drawn = figure(drafted(write_report(tmp_path / name, files)).shown["index.md", "one"])
        assert drawn.numbers["mark"] == "histogram"
        assert sum(count for _, count, _ in read_bars(str(drawn.inline_svg), "a")) == len(numbers)


def test_what_cannot_be_drawn_is_explained(tmp_path: Path) -> None:
    """Unknown metrics and marks."""
    for number, (data, block, message) in enumerate(
        (
            (
                write_runs({"a": [0.5]}),
                "metric: scor",
                'is not a metric of source "runs". Did you mean "score"?',
            ),
            (write_runs({"a": [0.5]}), "metric: score\nmark: bars", "mark"),
            (
                "model,problem,score\na,1,0\na,2,1\n",
                "metric: loss",
                '"loss" is no metric of scores, and "runs" holds scores. Write mean',
            ),
            (
                write_runs({"a": [0.5]}),
                "metric: score\nbenchmark: AIME",
                'benchmark: AIME chooses rows of scores, and "runs" holds measurements',
            ),
        )
    ):
        files = {"content/index.md": PAGE.format(block), "data/runs.csv": data}
        (found,) = problems(write_report(tmp_path / str(number), files))
        assert message in found
        assert found.startswith("content/index.md:")
