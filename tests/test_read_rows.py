"""Laws of reading rows and cells: many rows are what each is alone, and a plain number keeps its value."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.formats.cells import parse_reported
from reportgen.formats.trackers import step_json

if TYPE_CHECKING:
    from reportgen.formats.runs import LoggedRun

CASE = Path(__file__).parent / "cases" / "wide-tables"


def read_run(file: Path, items: list[dict[str, Any]]) -> LoggedRun:
    """The one run of a file with an object a line."""
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    (unit,) = step_json.find_units([file])
    (run,) = step_json.read(unit, None)
    return run


def test_many_rows_are_what_each_is_alone(tmp_path: Path) -> None:
    """Rows that are taken column by column give what they give cell by cell, in the order of writing."""
    many: list[dict[str, Any]] = []
    for step in range(2000):
        inner: dict[str, Any] = {"loss": step / 8, "b": True, "loss/deep": -0.0}
        item: dict[str, Any] = {"step": step, "data": inner, "metrics": {"loss": step / 16}}
        if step % 3 == 0:
            item["train"] = (
                {"n": 10**400 if step == 999 else step, "text": "a"} if step > 900 else {"n": step}
            )
        if step % 5 == 0:
            inner |= {"none": None, "list": [1]} if step > 1500 else {"odd": math.nan}
        if step % 7 == 0:
            item |= {"time": "2026-01-01T00:00:00Z", "step": None if step == 700 else step}
        many.append(item)
    run = read_run(tmp_path / "a.jsonl", many)
    alone = [read_run(tmp_path / f"{place}.jsonl", [item]) for place, item in enumerate(many) if place != 700]
    for name, points in run.metrics.items():
        found = [(one.metrics[name], one) for one in alone if name in one.metrics]
        kept = ~np.isnan(points.steps)
        for shown, parts in (
            (points.steps, [part.steps for part, _ in found]),
            (points.values, [part.values for part, _ in found]),
        ):
            assert shown[kept].tobytes() == np.concatenate(parts).tobytes()
        assert points.times is not None
        assert (~np.isnan(points.times)).sum() == sum(
            part.times is not None and len(part.times) for part, _ in found
        ) + (len(points.steps) - kept.sum())


@given(st.floats(-1e6, 1e6), st.booleans())
def test_a_plain_number_keeps_its_value(value: float, bold: bool) -> None:  # noqa: FBT001 - a strategy
    """Whatever Python writes is read as it is."""
    text = f"**{value!r}**" if bold else repr(value)
    found = parse_reported(text)
    assert found is not None
    assert found.value == value


def test_the_case_has_the_scores_of_its_file() -> None:
    """Every score in the figures' data, from the raw file by the standard library."""
    with (CASE / "data" / "paper.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {
        (row["Model"], name): float(row[name].strip("*%")) / 100
        for row in rows
        for name in ("AIME", "MATH", "GSM8K")
    }
    report: dict[str, Any] = json.loads((CASE / "expected" / "report.json").read_text("utf-8"))
    stack = next(one for one in report["pages"][0]["stacks"] if one["id"] == "paper")
    found = {
        (series, name): cell["score"]["estimate"]
        for series, cells in stack["numbers"]["series"].items()
        for name, cell in cells.items()
    }
    assert found == pytest.approx(expected)
