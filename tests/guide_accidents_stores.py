"""What goes wrong with the stores of MLflow and Trackio that the guide shows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from guide_damage import cut, kept, removed, replaced
from guide_messages import Accident

if TYPE_CHECKING:
    from pathlib import Path

    from guide_damage import Happens

_RUN = "44d295d99535499dbf8ba10015569119"
_OPTIMIZERS = "```curve\nsource: mlflow-example\nmetric: val/loss\n```"
_SCHEDULES = "```curve\nsource: trackio-example\nmetric: loss\n```"


def _without_steps(folder: Path) -> None:
    for path in folder.rglob("metrics/val/loss"):
        lines = path.read_text(encoding="utf-8").splitlines()
        path.write_text("".join(f"{line.rpartition(' ')[0]} 0\n" for line in lines), encoding="utf-8")


def _rows_hold(text: str, rows: str) -> Happens:
    def happens(folder: Path) -> None:
        (path,) = folder.rglob("*.db")
        with closing(sqlite3.connect(path)) as store, store:
            store.execute(f"UPDATE metrics SET metrics = ? WHERE rowid IN ({rows})", (text,))  # noqa: S608

    return happens


STORES: dict[str, tuple[Accident, ...]] = {
    "mlflow": (
        Accident(
            "1 run of 6 is deleted in MLflow: left out",
            replaced(f"{_RUN}/meta.yaml", "lifecycle_stage: active", "lifecycle_stage: deleted"),
        ),
        Accident(
            "MLflow says that the run failed: its values end there",
            replaced(f"{_RUN}/meta.yaml", "status: 3", "status: 4"),
        ),
        Accident(
            "MLflow says that the run is still running, as also where it was killed: values may be missing",
            replaced(f"{_RUN}/meta.yaml", "status: 3", "status: 1"),
        ),
        Accident(
            "the file is missing: what it says of the run (its end, whether it was deleted) is unknown",
            removed(f"mlruns/*/{_RUN}/meta.yaml"),
        ),
        Accident('3 runs have the series "SGD" and no seed', removed("mlruns/*/*/params/seed")),
        Accident(
            'all values of "val/loss" stand at step 0, as where log_metric is given no step: "x: time" in a '
            "block draws them one after the other",
            _without_steps,
        ),
        Accident(
            "the last line is torn, as when a run is killed or still writing: the 20 whole ones before it "
            "are read",
            cut("metrics/val/loss", 3),
        ),
        Accident(
            "1 missing or non-finite value was left out",
            replaced(f"{_RUN}/metrics/val/loss", " 2.37513 ", " nan "),
            block=_OPTIMIZERS,
        ),
    ),
    "trackio": (
        Accident(
            "the database is damaged or cut short (database disk image is malformed). Copy it again from "
            "where the run wrote it",
            kept("*.db", 20_000),
        ),
        Accident("1 of 8 rows of this run holds no whole JSON: left out", _rows_hold('{"loss": ', "3")),
        Accident(
            "2 missing or non-finite values were left out",
            _rows_hold('{"loss": "NaN"}', "3, 4"),
            block=_SCHEDULES,
        ),
    ),
}
