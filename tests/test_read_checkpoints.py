"""Folders of checkpoints as people leave them: renamed, used twice, or begun and never logged to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_read_trainer_state import ROWS, column, only, state, told, write

if TYPE_CHECKING:
    from pathlib import Path

FIRST = [{"step": 1, "epoch": 0.5, "loss": 2.0}]
BOTH = [*FIRST, {"step": 2, "epoch": 1.0, "loss": 1.5}]
END = {"step": 1, "epoch": 0.5, "train_loss": 2.0}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("checkpoint-1-epoch-1", "checkpoint-2-epoch-2"),
        ("checkpoint-best", "checkpoint-last"),
        ("checkpoint-1", "checkpoint-final"),
        ("checkpoint_1", "tmp-checkpoint_2"),
    ],
)
def test_renamed_checkpoints_are_one_run(tmp_path: Path, first: str, second: str) -> None:
    """The state that got furthest is read, whatever the folders are called."""
    files = [
        write(tmp_path / "run" / folder / "trainer_state.json", state(rows))
        for folder, rows in ((first, FIRST), (second, BOTH))
    ]
    unit, run = only(*files)
    assert (unit.path, set(unit.files)) == (tmp_path / "run", set(files))
    assert (column(run, "loss"), run.findings) == ([(1, 2.0), (2, 1.5)], ())


def test_training_that_went_on_after_its_end(tmp_path: Path) -> None:
    """A checkpoint later than the state beside it begins as that one does, but for the row of its end."""
    end = write(tmp_path / "run" / "trainer_state.json", state([*FIRST, END]))
    later = write(tmp_path / "run" / "checkpoint-2" / "trainer_state.json", state(BOTH))
    _, run = only(end, later)
    assert (column(run, "loss"), run.findings) == ([(1, 2.0), (2, 1.5)], ())


def test_checkpoints_of_another_run_are_told(tmp_path: Path) -> None:
    """A shorter run into the same folder leaves the later checkpoints of the one before where they are."""
    end = write(tmp_path / "run" / "trainer_state.json", state([{"step": 1, "epoch": 0.5, "loss": 3.0}, END]))
    later = write(tmp_path / "run" / "checkpoint-2" / "trainer_state.json", state(BOTH))
    _, run = only(end, later)
    assert column(run, "loss") == [(1, 2.0), (2, 1.5)]
    assert [finding.path for finding in run.findings] == [end]
    found = "the file holds other values at the same steps, as of another run in the same folder"
    assert told(run) == [f"{found}; checkpoint-2/trainer_state.json is read instead"]


def test_a_run_that_logged_nothing_is_told(tmp_path: Path) -> None:
    """A history without rows is a run without values, and not a torn file."""
    _, run = only(write(tmp_path / "trainer_state.json", state([])))
    assert (run.metrics, told(run)) == ({}, ["its log_history is empty: the run logged nothing"])


def test_metrics_within_metrics(tmp_path: Path) -> None:
    """What compute_metrics gives as an object is no word to be passed over."""
    rows = [*ROWS, {"step": 3, "eval_f1": {"macro": 0.5, "by": {"a": "0.25"}}, "loss": 1.0}]
    _, run = only(write(tmp_path / "trainer_state.json", state(rows)))
    assert (column(run, "eval_f1/macro"), column(run, "eval_f1/by/a")) == ([(3, 0.5)], [(3, 0.25)])
