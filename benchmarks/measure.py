"""Runs a command and says how long it took and how much memory its largest process used."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


class Measured(NamedTuple):
    """Wall time in seconds, the largest process' peak memory in MB, and processor time in seconds."""

    seconds: float
    megabytes: float
    processor: float


# A cache of these commands' own: the user's stays as it is.
_CACHE = tempfile.TemporaryDirectory(prefix="reportgen-benchmarks-", ignore_cleanup_errors=True)
os.environ["REPORTGEN_CACHE_DIR"] = _CACHE.name
# Python keeps compiled modules unless it is told not to, as some containers do: then every command would
# compile a checkout anew, which no installed package does.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def forget_cache() -> None:
    """Let the next build be a cold one."""
    shutil.rmtree(_CACHE.name, ignore_errors=True)


def run(command: Sequence[str], folder: Path, codes: Sequence[int] = (0,)) -> Measured:
    """Run a command to its end.

    Raises:
        RuntimeError: if it ends with none of these codes; with what it said.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=_ENVIRONMENT, text=True
    )
    said = process.stdout.read() if process.stdout else ""
    # Unlike Popen.wait, wait4 tells the memory of this process and of all that it waited for.
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stdout:
        process.stdout.close()
    if process.returncode not in codes:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{said}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Measured(seconds, usage.ru_maxrss * unit / 1e6, usage.ru_utime + usage.ru_stime)


class Paired(NamedTuple):
    """Medians of a command's wall time in seconds and of its ratio to another's, and its peak in MB."""

    seconds: float
    ratio: float
    megabytes: float


def paired(
    command: Sequence[str],
    folder: Path,
    against: Callable[[], float],
    times: int,
    *,
    before: Callable[[int], object] | None = None,
) -> Paired:
    """Run a command several times, each right after another one, since a machine's pace changes.

    Args:
        command: what is measured.
        folder: where it runs.
        against: runs the other command and gives its seconds.
        times: how often.
        before: called ahead of each run, untimed.
    """
    found, ratios = [], []
    for number in range(times):
        if before:
            before(number)
        other = against()
        found.append(run(command, folder))
        ratios.append(found[-1].seconds / other)
    seconds = statistics.median(one.seconds for one in found)
    return Paired(seconds, statistics.median(ratios), max(one.megabytes for one in found))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of text, the first one to the left and the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
