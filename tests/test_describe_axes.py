"""What a block that is suggested is drawn over: what the runs themselves draw over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import made_wandb_log as made
import pytest
from made_sources import Data

from reportgen.core.cache import FileHashes
from reportgen.draft import describing

if TYPE_CHECKING:
    from pathlib import Path


def block(tmp_path: Path, *axes: bytes, other: dict[str, object] | None = None) -> str:
    """The block for runs with these axes; the second run logs ``other`` beside its score."""
    for number, more in enumerate(({"global_step": 7}, {"global_step": 8} if other is None else other)):
        rows = [made.history({"acc": step / 10, "_timestamp": step, **more}, step) for step in range(4)]
        records = made.numbered([made.run({"seed": number}, id_=f"id{number}", name="x"), *axes, *rows])
        made.write(tmp_path / f"data/s/run-{number}/run-{number}.wandb", [*records, made.ended()])
    data = Data(tmp_path)
    hashes = FileHashes(tmp_path / ".kept")
    return describing.suggest_block(
        describing.describe_path(data.root / "data/s", data.root, "s", hashes, None)
    )


@pytest.mark.parametrize(
    ("name", "glob", "axis", "x"),
    [
        ("", "*", "global_step", "x: global_step\n"),
        ("acc", "", "_timestamp", "x: time\n"),
        ("", "val/*", "global_step", ""),
        ("acc", "", "gone", ""),
    ],
)
def test_the_axis_of_the_runs(tmp_path: Path, name: str, glob: str, axis: str, x: str) -> None:
    """Where it is that of the metric of the block, and there are values of it."""
    axes = [made.metric(axis), made.metric(name, glob=glob, step_metric=axis)]
    assert block(tmp_path, *axes) == (
        f"```curve\nsource: s\nmetric: acc\n{x}other_x: auto\ntitle: Accuracy\n```\n"
    )


def test_an_axis_that_one_run_lacks_is_not_suggested(tmp_path: Path) -> None:
    """It would leave that run out."""
    axes = [made.metric("global_step"), made.metric(glob="*", step_metric="global_step")]
    assert (
        block(tmp_path, *axes, other={})
        == "```curve\nsource: s\nmetric: acc\nother_x: auto\ntitle: Accuracy\n```\n"
    )
