"""Nested JSON Lines of many rows: taken by columns where they are alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from test_read_logged_rows import column_state as column
from test_read_logged_rows import only_json as only
from test_read_logged_rows import told_json as told
from test_read_logged_rows import write_json as write

from reportgen.formats.trackers import step_json

if TYPE_CHECKING:
    from pathlib import Path


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
    run = only(write(tmp_path / "a.jsonl", many))
    alone = [
        only(write(tmp_path / f"{place}.jsonl", [item])) for place, item in enumerate(many) if place != 700
    ]
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


def test_lines_of_ms_swift(tmp_path: Path) -> None:
    """The step is a text of two numbers; a row that sums up has none, and words are no fault."""
    lines = [
        {"loss": 2.5, "epoch": 0.25, "global_step/max_steps": "5/20", "elapsed_time": "5m 28s"},
        {"eval_loss": 1.5, "epoch": 1.0, "global_step/max_steps": "20/20", "percentage": "100.00%"},
        {"last_model_checkpoint": "a", "log_history": [{"loss": 1}], "memory": 20.5},
    ]
    run = only(write(tmp_path / "logging.jsonl", lines))
    assert {name: column(run, name) for name in ("loss", "eval_loss", "epoch")} == {
        "loss": [(5, 2.5)],
        "eval_loss": [(20, 1.5)],
        "epoch": [(5, 0.25), (20, 1.0)],
    }
    assert (run.step_name, told(run)) == ("step", ["1 row without a step"])


def test_lines_of_megatron_by_ms_swift(tmp_path: Path) -> None:
    """An iteration of two numbers is a step; one that is a number stands in a table."""
    lines = [{"loss": 2.5, "iteration": "5/20"}, {"loss": 2.25, "iteration": "10/20"}]
    run = only(write(tmp_path / "logging.jsonl", lines))
    assert (column(run, "loss"), run.step_name) == ([(5, 2.5), (10, 2.25)], "iteration")
    assert step_json.find_units([write(tmp_path / "flat.jsonl", [{"loss": 2.5, "iteration": 5}])]) == ()


def test_lines_of_llama_factory(tmp_path: Path) -> None:
    """Training and evaluation at the same step, which counts more than the epoch."""
    lines = [
        {"current_steps": 20, "total_steps": 20, "loss": 2.5, "epoch": 1.0, "remaining_time": "0:00:00"},
        {"current_steps": 20, "total_steps": 20, "eval_loss": 1.5, "epoch": 1.0},
    ]
    run = only(write(tmp_path / "trainer_log.jsonl", lines))
    assert (column(run, "loss"), column(run, "eval_loss")) == ([(20, 2.5)], [(20, 1.5)])
    assert (run.step_name, run.findings) == ("step", ())
