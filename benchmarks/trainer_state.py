"""Measures how long a trainer_state.json of 50 MB takes, beside json.loads on the same bytes.

    python benchmarks/trainer_state.py [--megabytes 50] [--times 5]

``json.loads`` is the floor: the file is one JSON value. Seconds are processor time, the least of several
runs, each in a process of its own for the peak of memory.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import run, table

from reportgen.formats.trackers import trainer_state

if TYPE_CHECKING:
    from collections.abc import Callable

_LIMIT = 1.0
_METRICS = (
    *("loss", "grad_norm", "learning_rate", "reward", "reward_std", "kl", "completion_length"),
    *("rewards/format_func", "rewards/accuracy_func"),
)


def write(path: Path, megabytes: float) -> None:
    """A state as a GRPO run leaves it: a row a step, and an evaluation every fifty."""
    chance = random.Random(0)  # noqa: S311 - numbers, not secrets
    rows: list[dict[str, Any]] = []
    size, step = 0.0, 0
    while size < megabytes * 1e6:
        step += 1
        row = {name: chance.gauss(0, 1) for name in _METRICS} | {"epoch": step / 1e5, "step": step}
        rows.append(row)
        size += len(json.dumps(row, indent=2)) + 4 * len(row) + 8
        if step % 50 == 0:
            rows.append({"epoch": step / 1e5, "eval_loss": chance.random(), "step": step})
    state = {"global_step": step, "log_history": rows, "max_steps": step}
    path.write_text(json.dumps(state, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def parse(path: Path) -> None:
    """Do the least that can be done."""
    json.loads(path.read_bytes())


def read(path: Path) -> None:
    """Do all that a report needs."""
    (unit,) = trainer_state.find([path])
    list(trainer_state.read(unit))


def seconds(work: Callable[[Path], None], path: Path, times: int) -> float:
    """Processor time of the quickest of several runs."""
    found = []
    for _ in range(times):
        start = time.process_time()
        work(path)
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Measure and print; always ends well, since a number is not a test."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=float, default=50, help="size of the file")
    parser.add_argument("--times", type=int, default=5, help="runs of each; the least counts")
    parser.add_argument("--only", choices=("json.loads", "read", "write"), help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help="measure this file instead of one made here")
    wanted = parser.parse_args()
    works = {"json.loads": parse, "read": read}
    if wanted.only == "write":
        write(wanted.file, wanted.megabytes)
        return
    if wanted.only:
        works[wanted.only](wanted.file)
        return
    with tempfile.TemporaryDirectory() as scratch:
        path = wanted.file or Path(scratch) / "trainer_state.json"
        # In processes of their own, and before the times: a process counts the memory of its parent too.
        here = [sys.executable, __file__, "--file", str(path), "--only"]
        if not wanted.file:
            run([*here, "write", "--megabytes", str(wanted.megabytes)], Path(scratch))
        print(f"{path.stat().st_size / 1e6:.1f} MB; processor seconds")
        memory = {name: run([*here, name], Path(scratch)).megabytes for name in works}
        rows = []
        for name, work in works.items():
            limit = f"{_LIMIT:.1f}" if name == "read" else ""
            rows.append((name, f"{seconds(work, path, wanted.times):.2f}", limit, f"{memory[name]:.0f}"))
        print(table(("", "seconds", "limit", "peak MB"), rows))


if __name__ == "__main__":
    main()
