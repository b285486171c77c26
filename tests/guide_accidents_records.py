"""What goes wrong with the folders of loggers of records that the guide shows: W&B and TensorBoard."""

from __future__ import annotations

import csv
import gzip
import struct
from typing import TYPE_CHECKING

from guide_damage import changed, copied, cut, pointed
from guide_messages import Accident
from made_wandb_log import ended, write

from reportgen.formats.tfrecord import calculate_checksum
from reportgen.formats.trackers.wandb import RecordLog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _stopped(*records: bytes) -> Callable[[Path], None]:
    """The log of a run has these records behind its last row."""

    def happens(folder: Path) -> None:
        path = min(folder.rglob("*.wandb"))
        logged = list(RecordLog(path))
        last = max(place for place, record in enumerate(logged) if b"train/reward" in record)
        write(path, (*logged[: last + 1], *records))

    return happens


def _begun(folder: Path) -> None:
    """The log has the settings only."""
    path = min(folder.rglob("*.wandb"))
    path.write_bytes(path.read_bytes()[:700])


def _grouped(folder: Path) -> None:
    """The chart of runs that are grouped by their optimizer: a point has a smallest and a largest value."""
    path = folder / "val_loss.csv"
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow([header[0], *(f"Group: {name}" for name in header[1:])])
        around = (0, -0.01, 0.01) * 3
        for step, *cells in rows:
            writer.writerow([step, *(float(cell) + far for cell, far in zip(cells, around, strict=True))])


_PARTS = "offline-run-20261121_194402-grpo2", "offline-run-20261121_204402-grpo2"
WANDB = (
    Accident(
        "the last record is torn: the run was killed while writing, or is still running; "
        "the 74 whole ones before it are read",
        cut("*.wandb", 300),
    ),
    Accident("the log has no end: the run was killed, or is still running", _stopped()),
    Accident("the run failed: it ended with exit code 1", _stopped(ended(1))),
    Accident(
        "the run was killed before it logged anything, or has just started; 3 settings of it can be read",
        _begun,
    ),
    Accident(
        "the file is damaged at byte 2,999: 50 bytes there cannot be read; the records behind are read",
        changed("*.wandb", 3000),
    ),
    Accident(
        "a record is damaged, and the last 39 bytes of the file cannot be read; "
        "the 77 whole ones before it are read",
        changed("*.wandb", -1),
    ),
    Accident(
        "1 run resumed under the same id: grpo-2; where its parts overlap, the later one counts",
        copied(f"wandb/{_PARTS[0]}", f"wandb/{_PARTS[1]}"),
    ),
    Accident(
        "a value of Group: adamw, Group: muon and Group: sgd summarises several values, of a group of "
        "runs or of neighbouring steps: the band goes from its __MIN to its __MAX",
        _grouped,
        source="wandb-csv-example",
    ),
)


def _records(path: Path) -> list[bytes]:
    """The records of an event file: a length, its checksum, an event, its checksum."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at : at + 8], "little")
        found.append(data[at:end])
        at = end
    return found


def _damaged(at: int) -> Callable[[Path], None]:
    """A byte of the 18th record of an event file becomes another."""

    def happens(folder: Path) -> None:
        path = min(folder.rglob("*tfevents*"))
        before = sum(map(len, _records(path)[:17]))
        changed(path.name, before + at)(path.parent)

    return happens


def _resumed(folder: Path) -> None:
    """The run wrote its steps again an hour later; an event has its time from the second byte on."""
    path = min(folder.rglob("*tfevents*"))
    written = []
    for record in _records(path):
        event = bytearray(record[12:-4])
        (time,) = struct.unpack_from("<d", event, 1)
        struct.pack_into("<d", event, 1, time + 3600)
        checksum = calculate_checksum(bytes(event))
        written.append(record[:12] + event + checksum.to_bytes(4, "little"))
    path.with_name("events.out.tfevents.1767229200.example.1").write_bytes(b"".join(written))


def _without_scalars(folder: Path) -> None:
    path = min(folder.rglob("*tfevents*"))
    path.write_bytes(_records(path)[0])


def _packed(folder: Path) -> None:
    path = min(folder.rglob("*tfevents*"))
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()


def _restarted(folder: Path) -> None:
    """A writer with ``purge_step=1000`` began: one event, whose session log says START, and no values yet."""
    path = min(folder.rglob("*tfevents*"))
    begins = b"\x09" + struct.pack("<d", 1767229200) + b"\x10\xe8\x07" + b"\x3a\x02\x08\x01"
    length = struct.pack("<Q", len(begins))
    sums = [calculate_checksum(part).to_bytes(4, "little") for part in (length, begins)]
    record = length + sums[0] + begins + sums[1]
    path.with_name("events.out.tfevents.1767229200.example.1").write_bytes(record)


_EVENTS = "events.out.tfevents.1767225600.example"
_AGAIN = "this file goes back over 30 steps of earlier files (50 to 1,500)"
TENSORBOARD = (
    Accident(
        "record 61, the last one, is torn: the run still writes or was killed; 60 records before it are read",
        cut("*tfevents*", 3),
    ),
    Accident("record 18 is damaged (its checksum is wrong) and left out", _damaged(14)),
    Accident(
        "record 18 is damaged (the checksum of its length is wrong), and the last 2,354 bytes are not read; "
        "17 records before it are read",
        _damaged(0),
    ),
    Accident(
        f"the run was resumed: {_AGAIN}; the rows of both are kept, the later ones last",
        _resumed,
    ),
    Accident(
        "the run was restarted at step 1,000: left out 22 values of earlier files (steps 1,000 to 1,500), "
        "logged again or given up, as TensorBoard does",
        _restarted,
    ),
    Accident(
        f"several processes wrote at once: {_AGAIN}; the rows of all are kept, those of this file last",
        copied(f"runs/deep_seed2/{_EVENTS}.2", f"runs/deep_seed1/{_EVENTS}.2"),
    ),
    Accident("no scalars are in its event files", _without_scalars),
    Accident(
        "it is compressed, which no event file is; this run is left out. Unpack it with gunzip", _packed
    ),
    Accident(
        "it is a Git LFS pointer, not the data themselves; this run is left out. Run git lfs pull",
        pointed("*tfevents*"),
    ),
)

ACCIDENTS: dict[str, tuple[Accident, ...]] = {"wandb": WANDB, "tensorboard": TENSORBOARD}
