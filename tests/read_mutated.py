"""Reads one format's files over and over, each time with accidents in one; run as a process of its own.

    python tests/read_mutated.py FORMAT FOLDER COUNT SCRATCH

Prints JSON: how many variants were read and how many refused, the values read, what broke the reader, and the
largest memory that the process ever held, in MB.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mutated_bytes import mutations

from reportgen.read.logged import Evaluated, Logged, UnreadableError
from reportgen.read.units import format_named, reader_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.read.logged import Unit
    from reportgen.read.units import Reader

_KB_OF_A_MB = 1024


def read_all(reader: Reader, units: Sequence[Unit], files: Sequence[Path]) -> int:
    """Read units, and look for such among files; how many values and scores there are."""
    reader.units(files)
    found = 0
    for unit in units:
        for one in reader.read(unit):
            if isinstance(one, Logged):
                assert all(len(points.steps) == len(points.values) for points in one.metrics.values())
                found += sum(len(points.values) for points in one.metrics.values())
            else:
                assert isinstance(one, Evaluated)
                found += len(one.answers) + len(one.totals)
    return found


def tell(form: str, folder: Path, count: int, scratch: Path) -> dict[str, Any]:
    """Mutate each file of the format in turn."""
    found = format_named(form)
    assert found is not None
    reader = reader_of(found)
    shutil.copytree(folder, scratch)
    files = sorted(path for path in scratch.rglob("*") if path.is_file())
    units = reader.units(files)
    own = [path for unit in units for path in unit.files]
    told: dict[str, Any] = {"read": 0, "refused": 0, "values": 0, "broken": []}
    for place, path in enumerate(own):
        whole = path.read_bytes()
        for variant in mutations(whole, -(-count // len(own)), seed=place):
            path.write_bytes(variant)
            try:
                told["values"] += read_all(reader, units, files)
                told["read"] += 1
            except UnreadableError:
                told["refused"] += 1
            except Exception:  # noqa: BLE001 - told, with all the others
                told["broken"].append(f"{path.name}: {traceback.format_exc()[-800:]}")
        path.write_bytes(whole)
    return {**told, "peak": _peak()}


def _peak() -> float:
    """The largest memory that this process ever held, in MB, without what its parent held when it began."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        (line,) = (line for line in lines if line.startswith("VmHWM"))
        return int(line.split()[1]) / _KB_OF_A_MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KB_OF_A_MB


if __name__ == "__main__":
    form_, folder_, count_, scratch_ = sys.argv[1:]
    sys.stdout.write(json.dumps(tell(form_, Path(folder_), int(count_), Path(scratch_))))
