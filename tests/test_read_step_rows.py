"""Nested JSON Lines of many rows: taken by columns where they are alike."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from test_read_step_json import only, write

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
