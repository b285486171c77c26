"""Files as accidents leave them, and a process that reads one format's files over and over with these.

    python tests/mutated_bytes.py FORMAT FOLDER COUNT SCRATCH

With ``commands`` in place of a format every variant is described and frozen, as by the command line.
Prints JSON: how many variants were read and how many refused, the values read, what broke the reader, and the
largest memory that the process ever held, in MB.
"""

from __future__ import annotations

import json
import math
import random
import resource
import shutil
import sys
import traceback
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reportgen.core.cache import Cache
from reportgen.core.errors import ReportError
from reportgen.draft import describing
from reportgen.draft.describing import freeze_source
from reportgen.formats.files import hash_file
from reportgen.formats.registry import find_format, load_reader
from reportgen.formats.runs import Evaluation, LoggedRun, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reportgen.formats.registry import Reader
    from reportgen.formats.runs import Unit

_SPITEFUL = (b"\0", b"\n", b"\r", b'"', b"{", b"}", b"[", b"\t", b",", b":", b"\xff\xfe", b"9" * 400, b"-")


# How many variants of a file a test reads, without and with --slow.
VARIANTS = 30, 400

# Where Parquet files have what they say of their columns.
_FOOT, _ANYWHERE = 2000, 0.3


def mutations(data: bytes, count: int, seed: int = 1) -> Iterator[bytes]:
    """Variants of a file, each with one to four accidents."""
    chance = random.Random(seed)  # noqa: S311 - accidents, not secrets
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            begin = chance.randrange(len(changed) + 1)
            end = min(len(changed), begin + chance.choice((0, 1, 1, 8, 200)))
            piece = changed[begin:end]
            put = chance.choice((b"", piece * 2, bytes(reversed(piece)), chance.choice(_SPITEFUL)))
            changed[begin:end] = put
        yield bytes(changed)


def flips(data: bytes, count: int, seed: int = 1) -> Iterator[bytes]:
    """Variants of a file of the same length, each with one to four flipped bits, mostly near its end.

    Databases and Parquet files find their parts by place: whatever moves these is refused at once.
    """
    chance = random.Random(seed)  # noqa: S311 - accidents, not secrets
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            end = len(changed) if chance.random() < _ANYWHERE else min(len(changed), _FOOT)
            changed[len(changed) - 1 - chance.randrange(end)] ^= 1 << chance.randrange(8)
        yield bytes(changed)


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
                check_values(one)
                found += len(one.answers) + len(one.totals)
    return found


def check_values(one: Evaluation) -> None:
    """Fail unless values are whole: no NaN, no negative error, nothing that cannot be written as UTF-8."""
    messages = [finding.message for finding in one.findings]
    texts = [one.model, one.benchmark, one.run, *one.protocol, *one.protocol.values(), *messages]
    for answer in one.answers:
        assert answer.score is None or math.isfinite(answer.score)
        texts += [answer.problem, answer.sample, answer.metric, answer.answer or "", answer.gold or ""]
        texts += [*answer.slices, *answer.slices.values()]
    for total in one.totals:
        assert math.isfinite(total.value)
        assert total.stderr is None or 0 <= total.stderr < math.inf
        assert total.n is None or total.n >= 1
        texts.append(total.metric)
    assert "\n" not in "".join(messages)
    "".join(texts).encode()


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
            except (UnreadableError, ReportError) as error:
                told["refused"] += bool(str(error))
            except Exception:  # noqa: BLE001 - told, with all the others
                told["broken"].append(f"{path.name}: {traceback.format_exc()[-800:]}")
        path.write_bytes(whole)
    return {**told, "peak": get_peak()}


def get_peak() -> float:
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
