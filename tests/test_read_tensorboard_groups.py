"""Curves that ``add_scalars`` wrote into folders of their own: metrics of one run, not runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_read_tensorboard import NAME, event, read, rows, said, simple, write

from reportgen.formats.trackers import tensorboard as reader

if TYPE_CHECKING:
    from pathlib import Path

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n"


def curve(folder: Path, tag: bytes, value: float) -> None:
    """A folder with two values of a tag."""
    write(folder / NAME, [event(step, simple(tag, value)) for step in (1, 2)])


@pytest.mark.parametrize(
    ("tag", "folders"),
    [
        (b"loss", ("loss/train", "loss/val")),
        (b"loss", ("loss_train", "loss_val")),
        (b"all/loss", ("all/loss/train", "all/loss/val")),
        (b"all/loss", ("all_loss_train", "all_loss_val")),
    ],
)
def test_curves_are_metrics_of_their_run(tag: bytes, folders: tuple[str, str], tmp_path: Path) -> None:
    """As tensorboardX and PyTorch lay them; also where the run itself has no scalars."""
    for values in ([], [event(1, simple(b"lr", 3))]):
        write(tmp_path / NAME, values)
        for value, folder in enumerate(folders):
            curve(tmp_path / folder, tag, value)
        run = read(tmp_path)
        name = tag.decode()
        assert run.path == tmp_path
        assert rows(run) == ({"lr": [(1, 3)]} if values else {}) | {
            f"{name}/train": [(1, 0), (2, 0)],
            f"{name}/val": [(1, 1), (2, 1)],
        }
        assert said(run) == []
        assert list(rows(read(tmp_path, [f"{name}/val"]))) == [f"{name}/val"]


def test_other_folders_below_a_run_are_runs(tmp_path: Path) -> None:
    """Another tag, several tags, a folder within that of a curve, or nothing above."""
    curve(tmp_path / "run", b"loss", 0)
    curve(tmp_path / "run" / "loss_train", b"acc", 1)
    write(tmp_path / "run" / "acc_train" / NAME, [event(1, simple(b"acc", 1), simple(b"loss", 1))])
    curve(tmp_path / "run" / "loss_val", b"loss", 2)
    curve(tmp_path / "run" / "loss_val" / "loss_deep", b"loss", 3)
    curve(tmp_path / "other" / "loss" / "val", b"loss", 4)
    units = reader.find_units(sorted(tmp_path.rglob("*")))
    assert {unit.path.relative_to(tmp_path).as_posix(): len(unit.files) for unit in units} == {
        "run": 2,
        "run/loss_train": 1,
        "run/acc_train": 1,
        "run/loss_val/loss_deep": 1,
        "other/loss/val": 1,
    }


def test_a_curve_that_the_run_has_itself_is_told(tmp_path: Path) -> None:
    """The run's own counts; what is damaged in a curve's file is told, too."""
    write(tmp_path / NAME, [event(1, simple(b"loss/val", 9))])
    curve(tmp_path / "loss" / "val", b"loss", 2)
    curve(tmp_path / "loss" / "train", b"loss", 3)
    (tmp_path / "loss" / "train" / "events.out.tfevents.1800000000.host").write_bytes(POINTER)
    run = read(tmp_path)
    assert rows(run) == {"loss/val": [(1, 9)], "loss/train": [(1, 3), (2, 3)]}
    assert said(run) == [
        "1 metric of the run is in a folder below, too, as add_scalars keeps them: left out there",
        "it is a Git LFS pointer, not the data themselves: the file is left out. Run git lfs pull",
    ]
