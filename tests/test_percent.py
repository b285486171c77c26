"""``format: percent``: shares are written in percent in axes, texts and tables, and stay shares in files."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from made_projects import RUNS, write_report

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
    """Means and spreads of the last values, hundredfold, in one precision; the CSV file has shares."""
    finals: dict[str, list[float]] = {}
    for row in read_csv(CASE / "data" / "runs.csv"):
        if row["step"] == "20":
            finals.setdefault(row["series"], []).append(float(row["accuracy"]))
    folder = CASE / "expected" / "figures" / "index"
    rows = {row["series"]: row for row in read_csv(folder / "results.csv")}
    drawn = read_csv(folder / "accuracy.csv")
    for series, values in finals.items():
        assert float(rows[series]["final"]) == pytest.approx(mean(values))
        assert float(rows[series]["sd"]) == pytest.approx(stdev(values))
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


def build_units(root: Path, source: str, page: str) -> dict[str, Any]:
    """Build a report of two series with the source's settings; returns its first page in ``report.json``."""
    front = "---\nbenchmark: {name: Sums, source: runs, metric: accuracy}\n---\n"
    files = {"data/runs/source.yml": source, "data/runs/runs.csv": RUNS, "data/runs.csv": None}
    write_report(root, {**files, "content/index.md": front + page})
    done = call(root, "build", "--strict")
    assert done.returncode == 0, done.stderr
    shown: dict[str, Any] = json.loads((root / "site" / "report.json").read_text("utf-8"))["pages"][0]
    return shown | {"svg": (root / "site" / "figures" / "index" / "curve.svg").read_text("utf-8")}


PAGE = """
```curve
id: curve
{curve}
```

```table
id: table
{table}
```

MEL ends at [82%]{{value="final(MEL)"}}, [12 points above GRPO's 70%]{{claim="final(MEL) - 0.12 < 0.71"}}.

```observations
of: curve
```
"""
FRACTION = re.compile(r"(?<![\d.<=] )(?<![\d.])0\.\d+")


@pytest.mark.parametrize(
    ("source", "curve", "table"),
    [
        ("percent: [acc*]\n", "", ""),
        ("title: Runs\n", "format: percent", ""),
        ("title: Runs\n", "", "format: percent"),
    ],
    ids=["source.yml", "curve", "table"],
)
def test_a_metric_has_one_unit_on_a_page(tmp_path: Path, source: str, curve: str, table: str) -> None:
    """Said once, it goes for axis, table, key results, observations and statements."""
    page = build_units(tmp_path / "report", source, PAGE.format(curve=curve, table=table))
    assert ">80%<" in page["svg"]
    assert "82.0% [56.6, 107.4]" in page["benchmark"]["facts"]["At the end"]
    cells = [cell["text"] for cell in page["tables"][0]["rows"][0][2:]]
    assert all("%" in cell for cell in cells), cells
    found = [one["text"] for one in page["observations"][0]["items"]]
    assert any("82.0%" in one for one in found), found
    assert not [one for one in found if FRACTION.search(one)]
    assert page["statements"][0]["found"].startswith("final(MEL) = 82.0% [56.6, 107.4]")


def test_a_block_may_have_another_unit(tmp_path: Path) -> None:
    """``number`` in a block is for that block, with what is found in it."""
    text = PAGE.format(curve="format: number", table="")
    page = build_units(tmp_path / "report", "percent: [accuracy]\n", text)
    assert ">0.8<" in page["svg"]
    assert "82.0% [56.6, 107.4]" in page["benchmark"]["facts"]["At the end"]
    assert "%" in page["tables"][0]["rows"][0][2]["text"]
    assert "82%" not in " ".join(one["text"] for one in page["observations"][0]["items"])


def test_each_metric_of_a_table_has_its_own_unit(tmp_path: Path) -> None:
    """A loss beside an accuracy stays a number."""
    rows = [f"{row},{index}.5" for index, row in enumerate(RUNS.splitlines()[1:])]
    files = {
        "data/runs.csv": None,
        "data/runs/runs.csv": "\n".join(["series,seed,step,accuracy,loss", *rows]),
        "data/runs/source.yml": "percent: [accuracy]\n",
        "content/index.md": "```table\nsource: runs\nmetrics: [accuracy, loss]\ncolumns: [final]\n```\n",
    }
    root = write_report(tmp_path / "report", files)
    assert call(root, "build", "--strict").returncode == 0
    (table,) = json.loads((root / "site" / "report.json").read_text("utf-8"))["pages"][0]["tables"]
    assert [["%" in cell["text"] for cell in row[2:]] for row in table["rows"]] == [[True, False]] * 2


def test_a_name_that_is_no_metric_is_reported(tmp_path: Path) -> None:
    """A warning at the source, with the nearest name."""
    files = {
        "data/runs/runs.csv": RUNS,
        "data/runs.csv": None,
        "data/runs/source.yml": "percent: [acuracy]\n",
    }
    report = write_report(tmp_path / "report", files)
    (problem,) = json.loads(call(report, "check", "--format", "json").stdout)["problems"]
    assert problem["file"] == "data/runs/source.yml"
    assert problem["message"] == 'percent: "acuracy" is not a metric of curves of source "runs"'
    assert problem["next_step"] == 'Did you mean "accuracy"? Its metrics are "accuracy"'
