"""``format: percent``: shares are written in percent in axes, texts and tables, and stay shares in files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report

from reportgen.figures.axis import format_value, make_linear_axis, make_log_axis, use_percent

CASE = Path(__file__).parent / "cases" / "percent"
if TYPE_CHECKING:
    from reportgen.figures.axis import Axis


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a file."""
    return list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))


@pytest.mark.parametrize(
    ("axis", "labels", "read"),
    [
        (make_linear_axis("acc", 0, 1, count=5), ("0%", "20%", "40%", "60%", "80%", "100%"), "84%"),
        (
            make_linear_axis("acc", 0.84, 0.85, count=5),
            ("84.0%", "84.2%", "84.4%", "84.6%", "84.8%", "85.0%"),
            "84.32%",
        ),
        (make_log_axis("acc", 0.01, 1), ("1%", "10%", "100%"), "84.32%"),
    ],
)
def test_an_axis_in_percent(axis: Axis, labels: tuple[str, ...], read: str) -> None:
    """Ticks and single values have the digits that they have without."""
    percent = use_percent(axis)
    assert percent.labels == labels
    assert format_value(percent, 0.84321) == read
    assert (percent.domain, percent.ticks) == (axis.domain, axis.ticks)


def test_the_table_is_that_of_the_raw_file() -> None:
    """Means and spreads of the last values, hundredfold; the CSV of the figure has the shares."""
    finals: dict[str, list[float]] = {}
    for row in read_csv(CASE / "data" / "runs.csv"):
        if row["step"] == "20":
            finals.setdefault(row["series"], []).append(float(row["accuracy"]))
    folder = CASE / "expected" / "figures" / "index"
    rows = {row["series"]: row for row in read_csv(folder / "results.csv")}
    drawn = read_csv(folder / "accuracy.csv")
    for series, values in finals.items():
        assert rows[series]["final"].startswith(f"{100 * mean(values):.1f} ± ")
        assert rows[series]["sd"] == f"{100 * stdev(values):.2f} points"
        (point,) = [one for one in drawn if one["series"] == series and one["step"] == "20"]
        assert float(point["value"]) == pytest.approx(mean(values))


def test_values_in_percent_already_are_refused(tmp_path: Path) -> None:
    """84 would be shown as 8,400%."""
    files = {
        "data/runs.csv": "series,step,acc\nA,1,61\nA,2,84\n",
        "content/index.md": "```curve\nsource: runs\nmetric: acc\nformat: percent\n```\n",
    }
    report = write_report(tmp_path / "report", files)
    done = call(report, "check", "--format", "json")
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem["message"].startswith('"acc" reaches 84, and format: percent')
    assert problem["next_step"] == "Leave format out where values are in percent already"
