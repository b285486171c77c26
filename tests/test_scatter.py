"""Scatter plots: points are those of the raw file, and the front is what tests show."""

from __future__ import annotations

import csv
import statistics
from pathlib import Path

import numpy as np
import pytest
from made_projects import write_report
from scipy import stats
from test_report import drafted, figure, problems

from reportgen.core.comparisons import Comparison, Verdict
from reportgen.statistics.verdicts import find_front

CASE = Path(__file__).parent / "cases" / "explore"
RUNS = "series,seed,step,score,tokens\n" + "".join(
    f"{name},{seed},{step},{step / 10 + shift + seed / 500},{step * cost}\n"
    for name, shift, cost in (("small", 0.0, 10), ("large", 0.3, 30), ("waste", 0.0, 40))
    for seed in (1, 2, 3)
    for step in range(4)
)
ANSWERS = "model,problem,score,tokens\n" + "".join(
    f"{name},p{number:02},{int((number * 7 + shift) % 10 > 4)},{cost + 17 * (number * shift % 5)}\n"
    for name, shift, cost in (("a", 1, 100), ("b", 4, 300))
    for number in range(20)
)
PAGE = "# Small\n\n```scatter\nid: one\n{}\n```\n"


def test_points_are_the_means_of_last_values() -> None:
    """The case's points are means of raw rows, with Student's t over runs."""
    last: dict[str, list[tuple[float, float]]] = {}
    for row in csv.DictReader((CASE / "data/runs.csv").read_text("utf-8").splitlines()):
        if row["step"] == "100":
            last.setdefault(row["method"], []).append((float(row["tokens"]), float(row["accuracy"])))
    text = (CASE / "expected/figures/index/trade-off.csv").read_text("utf-8")
    found = [row for row in csv.DictReader(text.splitlines()) if not row["run"]]
    assert {row["series"] for row in found} == last.keys()
    for row in found:
        values = [value for _, value in last[row["series"]]]
        assert float(row["y"]) == pytest.approx(statistics.fmean(values))
        assert float(row["x"]) == last[row["series"]][0][0]
        half = stats.t.ppf(0.975, 2) * statistics.stdev(values) / 3**0.5
        assert float(row["y_high"]) - float(row["y"]) == pytest.approx(half)


def test_costs_are_compared_by_paired_t(tmp_path: Path) -> None:
    """Mean and interval over problems are SciPy's, and so is the decision."""
    root = write_report(
        tmp_path, {"content/index.md": PAGE.format("source: runs\nx: tokens"), "data/runs.csv": ANSWERS}
    )
    drawn = figure(drafted(root).shown["index.md", "one"])
    costs = {
        name: [float(row["tokens"]) for row in csv.DictReader(ANSWERS.splitlines()) if row["model"] == name]
        for name in ("a", "b")
    }
    for point in drawn.numbers["points"]:
        own = np.array(costs[point["name"]])
        interval = stats.t.interval(0.95, own.size - 1, own.mean(), stats.sem(own))
        assert point["x"] == pytest.approx([own.mean(), *interval])
    assert stats.ttest_rel(costs["a"], costs["b"]).pvalue < 0.025
    assert "a" in drawn.numbers["front"]


def test_the_front_holds_what_tests_show(tmp_path: Path) -> None:
    """A series that costs more without being better is not on it; without tests there is none."""
    block = "source: runs\nmetric: score\nx: tokens\nx_higher_is_better: false\nhigher_is_better: true"
    for name, runs, front in (
        ("several", RUNS, ["small", "large"]),
        (
            "one",
            "\n".join(line for line in RUNS.splitlines() if ",2," not in line and ",3," not in line),
            None,
        ),
    ):
        files = {"content/index.md": PAGE.format(block), "data/runs.csv": runs}
        drawn = figure(drafted(write_report(tmp_path / name, files)).shown["index.md", "one"])
        assert drawn.numbers["front"] == front
        assert ("rg-front" in str(drawn.inline_svg)) is True
        assert ("<line" in str(drawn.inline_svg).partition('class="rg-front"')[2].partition("</g>")[0]) is (
            front is not None
        )


def test_a_verdict_that_is_not_strict_enough_shows_nothing() -> None:
    """Each measure has half of the 5%."""
    pair = Comparison("a", "b", "score", 0.95, verdict=Verdict.BETTER, adjusted_p=0.03)
    assert find_front(["a", "b"], [pair]) == ()
    assert find_front(["a", "b"], [Comparison("a", "b", "score", 0.95)]) is None


def test_what_cannot_be_drawn_is_explained(tmp_path: Path) -> None:
    """Unknown costs and metrics are named with those that there are."""
    for number, (block, message) in enumerate(
        (
            ("source: runs\nx: cost", '"runs" does not give "cost" of its answers. It gives "tokens"'),
            ("source: runs", "x"),
            (
                "source: more\nmetric: score\nx: tokes",
                'is not a metric of source "more". Did you mean "tokens"?',
            ),
            ("source: more\nx: tokens", "this scatter block names no metric"),
            (
                "source: more\nmetric: tokens\nx: score\nx_scale: log\nfilter: {step: 0}",
                "the x axis is a log axis and starts at -",
            ),
        )
    ):
        files = {"content/index.md": PAGE.format(block), "data/runs.csv": ANSWERS, "data/more.csv": RUNS}
        (found,) = problems(write_report(tmp_path / str(number), files))
        assert message in found
        assert found.startswith("content/index.md:")
