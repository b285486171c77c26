"""Reads one format's files over and over, each time with accidents in one; run as a process of its own.

    python tests/read_mutated.py FORMAT FOLDER COUNT SCRATCH

With ``commands`` in place of a format every variant is described and frozen, as by the command line.
Prints JSON: how many variants were read and how many refused, the values read, what broke the reader, and the
largest memory that the process ever held, in MB.
"""

from __future__ import annotations

import json
import resource
import shutil
import sys
import traceback
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mutated_bytes import flips, mutations

from reportgen.core.cache import Cache
from reportgen.core.errors import ReportError
from reportgen.draft import describing
from reportgen.draft.describing import freeze_source
from reportgen.formats.files import hash_file
from reportgen.formats.registry import find_format, load_reader
from reportgen.formats.runs import Evaluation, LoggedRun, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.formats.registry import Reader
    from reportgen.formats.runs import Unit

_KB_OF_A_MB = 1024
_BY_PLACE = {".parquet", ".db"}


def read_all(reader: Reader, units: Sequence[Unit], files: Sequence[Path]) -> int:
    """Read units, and look for such among files; how many values and scores there are."""
    reader.find_units(files)
    found = 0
    for unit in units:
        for one in reader.read(unit):
            if isinstance(one, LoggedRun):
                assert all(len(points.steps) == len(points.values) for points in one.metrics.values())
                found += sum(len(points.values) for points in one.metrics.values())
            else:
                assert isinstance(one, Evaluation)
                found += len(one.answers) + len(one.totals)
    return found


def describe_and_freeze(folder: Path) -> int:
    """Describe a folder and freeze it next to it; how many values and answers are frozen.

    Raises:
        ReportError: it cannot be read; then the description says so, too.
    """
    root, cache = folder.parent, Cache(folder.parent / "cache")
    told = describing.describe_path(folder, root, "s", hash_file, cache)
    try:
        ready = freeze_source(folder, root, "a test", hash_file, cache)
    except ReportError:
        if told.kind:
            assert any(problem.severity == "error" for problem in told.problems)
        raise
    ready.write(root / "frozen.parquet")
    counts = told.counts
    return sum(one.values for one in counts.runs) + sum(one.answers for one in counts.evaluations)


def tell(form: str, folder: Path, count: int, scratch: Path) -> dict[str, Any]:
    """Mutate each file of the format in turn."""
    shutil.copytree(folder, scratch)
    own = files = sorted(path for path in scratch.rglob("*") if path.is_file())
    read: Callable[[], int] = partial(describe_and_freeze, scratch)
    if form != "commands":
        found = find_format(form)
        assert found is not None
        reader = load_reader(found)
        units = reader.find_units(files)
        own = [path for unit in units for path in unit.files]
        read = partial(read_all, reader, units, files)
    told: dict[str, Any] = {"read": 0, "refused": 0, "values": 0, "broken": []}
    for place, path in enumerate(own):
        whole = path.read_bytes()
        accidents = flips if path.suffix in _BY_PLACE else mutations
        for variant in accidents(whole, -(-count // len(own)), seed=place):
            path.write_bytes(variant)
            try:
                told["values"] += read()
                told["read"] += 1
            except (UnreadableError, ReportError):
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
