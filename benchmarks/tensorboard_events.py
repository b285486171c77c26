"""Measures reading event files of scalars, against TensorBoard on the same file in the same run.

    python benchmarks/tensorboard_events.py [--megabytes 100] [--times 3] [--tensorboard PYTHON]

The file holds what a training run logs: ten tags at each step, with a wall time and a float. Both readers
run in a process of their own, by turns, and tell their time from the open file to arrays, without imports.
TensorBoard is not among our dependencies: ``python -m venv FOLDER && FOLDER/bin/pip install tensorboard``
makes an interpreter to name with ``--tensorboard``. Where that one has no TensorFlow, as here, TensorBoard
checks records in Python; ``--without-checksums`` takes that work from it (and not from us), which is about
what TensorFlow's own record reader would do.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import table

from reportgen.formats.tfrecord import calculate_checksum

_TAGS = (
    *("train/loss", "train/grad_norm", "train/learning_rate", "train/epoch", "reward/mean"),
    *("reward/std", "eval/accuracy", "actor/entropy", "critic/value_loss", "perf/tokens_per_second"),
)
_AT_ONCE = 5_000
_LIMIT = 5.0

_MEASURED = """
import json, resource, sys, time
from pathlib import Path
folder = Path(sys.argv[1])
{imports}
start, used = time.perf_counter(), time.process_time()
{reading}
print(json.dumps({{
    "seconds": time.perf_counter() - start,
    "processor": time.process_time() - used,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "points": points,
}}))
"""
_OURS = _MEASURED.format(
    imports="from reportgen.formats.trackers import tensorboard",
    reading="""
(unit,) = tensorboard.find(sorted(folder.iterdir()))
(run,) = tensorboard.read(unit)
points = sum(len(one.values) for one in run.metrics.values())
""",
)
_THEIRS_IMPORTS = """
from tensorboard.backend.event_processing import event_accumulator as ea
"""
_WITHOUT_CHECKSUMS = """
from tensorboard.compat.tensorflow_stub import pywrap_tensorflow as stub
class Equal(int):
    __ne__ = lambda self, other: False
stub.masked_crc32c = lambda data: Equal()
"""
_THEIRS_READING = """
run = ea.EventAccumulator(str(folder), size_guidance={ea.SCALARS: 0})
run.Reload()
points = sum(len(run.Scalars(tag)) for tag in run.Tags()["scalars"])
"""


def write_events(path: Path, megabytes: float) -> None:
    """An event file of about this size; values and times are a fixed function of step and tag."""
    step, written = 0, 0
    with path.open("wb") as file:
        start = b"\x09" + struct.pack("<d", 1.7e9)
        written += file.write(_framed([start + b"\x1a\x0dbrain.Event:2"]))
        while written < megabytes * 1e6:
            steps = range(step, step + _AT_ONCE)
            written += file.write(_framed([_event(one, tag) for one in steps for tag in range(len(_TAGS))]))
            step += _AT_ONCE


def _event(step: int, tag: int) -> bytes:
    name = _TAGS[tag].encode()
    number = struct.pack("<f", math.exp(-step / 1e5) * (tag + 1) + math.sin(step * (tag + 1)) / 10)
    value = b"\x0a" + bytes([len(name)]) + name + b"\x15" + number
    summary = b"\x0a" + bytes([len(value)]) + value
    wall = struct.pack("<d", 1.7e9 + step * 0.37 + tag * 1e-4)
    return (
        b"\x09"
        + wall
        + (b"\x10" + _varint(step) if step else b"")
        + b"\x2a"
        + bytes([len(summary)])
        + summary
    )


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def _framed(messages: list[bytes]) -> bytes:
    parts = (part for message in messages for part in (struct.pack("<Q", len(message)), message))
    return b"".join(part + struct.pack("<I", calculate_checksum(part)) for part in parts)


def _measure(python: str, program: str, folder: Path) -> dict[str, float]:
    done = subprocess.run([python, "-c", program, str(folder)], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Write the file, measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--times", type=int, default=3, help="turns of each reader; the median counts")
    parser.add_argument("--tensorboard", metavar="PYTHON", help="an interpreter that has TensorBoard")
    parser.add_argument("--without-checksums", action="store_true", help="spare TensorBoard its checksums")
    options = parser.parse_args()
    programs = {"reportgen": (sys.executable, _OURS)}
    if options.tensorboard:
        imports = _THEIRS_IMPORTS + (_WITHOUT_CHECKSUMS if options.without_checksums else "")
        theirs = _MEASURED.format(imports=imports, reading=_THEIRS_READING)
        programs["tensorboard"] = (options.tensorboard, theirs)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_events(folder / "events.out.tfevents.1700000000.host.1.0", options.megabytes)
        turns = [
            {name: _measure(*one, folder) for name, one in programs.items()} for _ in range(options.times)
        ]
    rows = []
    for name in programs:
        ratios = [turn[name]["processor"] / turn["reportgen"]["processor"] for turn in turns]
        cells = [statistics.median(turn[name][key] for turn in turns) for key in ("seconds", "processor")]
        memory, points = max(turn[name]["megabytes"] for turn in turns), turns[0][name]["points"]
        rows.append((name, f"{points:,}", *(f"{cell:.2f}" for cell in cells), f"{memory:.0f}"))
        rows[-1] += (f"{statistics.median(ratios):.1f}", f"{min(ratios):.1f}")
    print(table(("", "points", "seconds", "processor s", "peak MB", "ratio", "smallest"), rows))
    if options.tensorboard:
        print(f"the ratio is to be at least {_LIMIT:g}")


if __name__ == "__main__":
    main()
