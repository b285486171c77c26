"""Measures reading what W&B leaves: logs of runs, and an exported chart against plain DuckDB in one run.

    python benchmarks/wandb_files.py [--log-megabytes 100] [--chart-megabytes 1000] [--times 3]
        [--folder DIR]

A log is read in a process of its own, from the open file to arrays. ``recent`` is as wandb writes it since
0.18: keys in parts, and a summary before each row, which is a good half of the file. ``older`` is as it was
before, all of it history: ``long`` with ten metrics of 17 digits a row, ``short`` with short names and
numbers, about the most values that a file of its size can hold.

The chart has one metric of 100 runs, of each the smallest and largest value, too, and about a third of its
cells are empty. ``all runs`` groups every value by series through ``reportgen.read``, ``five runs`` asks for
five. Plain DuckDB reads the same columns as numbers and adds them up.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from measure import table

from reportgen.read import open_path, read_measurements
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_BLOCK, _HEAD = 32 << 10, 7
_MOST_SECONDS, _MOST_RATIO = 5.0, 1.3
_NAMES = (
    *("train/loss", "train/grad_norm", "train/learning_rate", "epoch", "reward/mean"),
    *("reward/std", "eval/accuracy", "actor/entropy", "critic/value_loss", "perf/tokens_per_second"),
)
_RUNS = 100
_READING = """
import json, resource, sys, time
from pathlib import Path
from reportgen.formats.trackers import wandb
start, used = time.perf_counter(), time.process_time()
(unit,) = wandb.find([Path(sys.argv[1])])
(run,) = wandb.read(unit)
points = sum(len(one.values) for one in run.metrics.values())
print(json.dumps({
    "seconds": time.perf_counter() - start,
    "processor": time.process_time() - used,
    "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "points": points,
    "findings": len(run.findings),
}))
"""


def write_log(path: Path, kind: str, megabytes: float) -> None:
    """A log of about this size; the values are pseudo-random numbers from a fixed seed."""
    chance = random.Random(1)  # noqa: S311 - nothing secret
    data, number = bytearray(b":W&B\xe1\xbe\x00"), 0
    with path.open("wb") as file:
        written = 0
        while written < megabytes * 1e6:
            for row in _rows(kind, number, chance):
                _put(data, written, row)
            number += 1
            if len(data) > 1 << 20:
                written += file.write(data)
                data.clear()
        _put(data, written, _field(18, b""))
        file.write(data)


def _rows(kind: str, number: int, chance: random.Random) -> Iterator[bytes]:
    """The records of a row: its history and, in recent logs, the summary before it."""
    digits = 2 if kind == "older, short" else 17
    values = {name: f"{chance.random():.{digits}g}" for name in _NAMES}
    if digits == 2:
        values = {name[:2]: value for name, value in values.items()}
    own = {"_step": str(number), "_timestamp": f"{1.7e9 + number / 7:.17g}", "_runtime": f"{number / 7:.17g}"}
    told = list((values | own).items())
    if kind == "recent":
        chance.shuffle(told)
        yield _field(1, 2 * number + 1) + _field(3, _items(told, 2))
        yield _field(1, 2 * number + 2) + _field(2, _items(told, 2) + _field(2, _field(1, number)))
    else:
        yield _field(2, _items(told, 1) + _field(2, _field(1, number)))


def _items(told: list[tuple[str, str]], key: int) -> bytes:
    return b"".join(
        _field(1, _field(key, name.encode()) + _field(16, value.encode())) for name, value in told
    )


def _field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def _put(data: bytearray, written: int, record: bytes) -> None:
    """A record behind what is there, in pieces where a block ends."""
    begun, done = False, 0
    while not begun or done < len(record):
        left = _BLOCK - (written + len(data)) % _BLOCK
        if left < _HEAD:
            data += bytes(left)
            continue
        piece = record[done : done + left - _HEAD]
        done += len(piece)
        kind = (3 if done < len(record) else 4) if begun else (2 if done < len(record) else 1)
        data += struct.pack("<IHB", zlib.crc32(bytes([kind]) + piece), len(piece), kind) + piece
        begun = True


def write_chart(path: Path, megabytes: float) -> None:
    """A chart of about this size; the values are a fixed function of run and step."""
    cells = []
    for run in range(_RUNS):
        value = f"round(exp(-step / 1e6) + (hash(step, {run}) % 100000) / 1e5, 12)"
        for ending in ("", "__MIN", "__MAX"):
            cell = f"CASE WHEN hash({run}, step) % 3 > 0 THEN {value} END"
            cells.append(f'{cell} AS "run-{run:03} - train/loss{ending}"')
    rows = max(1, math.floor(megabytes * 1e6 / (_RUNS * 3 * 12.4)))
    made = duckdb.connect(config={"threads": 2, "memory_limit": "1GB"})
    select = f'SELECT step * 10 AS "Step", {", ".join(cells)} FROM range({rows}) steps(step)'  # noqa: S608 - our own
    made.execute(f"COPY ({select}) TO '{path}' (HEADER, FORCE_QUOTE *)")
    made.close()


def measure_logs(folder: Path, megabytes: float, times: int) -> Iterator[tuple[str, ...]]:
    """A row for each kind of log."""
    for kind in ("recent", "older, long", "older, short"):
        path = folder / f"run-{kind.replace(', ', '-')}-{megabytes:g}.wandb"
        if not path.exists():
            write_log(path, kind, megabytes)
        turns: list[Mapping[str, float]] = []
        for _ in range(times):
            command = [sys.executable, "-c", _READING, str(path)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            turns.append(json.loads(done.stdout))
        if any(turn["findings"] for turn in turns):
            raise RuntimeError(f"{path} was not read well")
        seconds, processor = (
            statistics.median(turn[key] for turn in turns) for key in ("seconds", "processor")
        )
        most = max(turn["megabytes"] for turn in turns)
        size = f"{path.stat().st_size / 1e6:.0f}"
        yield kind, size, f"{turns[0]['points']:,.0f}", f"{seconds:.2f}", f"{processor:.2f}", f"{most:.0f}"


def measure_charts(folder: Path, megabytes: float, times: int) -> Iterator[tuple[str, ...]]:
    """A row for each question to the chart."""
    path = folder / f"chart-{megabytes:g}.csv"
    if not path.exists():
        write_chart(path, megabytes)
    root, source = open_path(path, load_settings=load_source_settings)
    plain = duckdb.connect(config={"threads": 2, "memory_limit": "2GB"})
    for what, series in (("all runs", source.layout.series), ("five runs", source.layout.series[10:15])):  # type: ignore[attr-defined]
        asked = read_measurements(root, source, ("train/loss",), series=series)
        relation = asked.frame.to_native()
        places = [1 + 3 * int(name.removeprefix("run-")) for name in series]
        by_hand = _by_hand(path, places)
        pairs = _by_turns(
            lambda relation=relation: relation.aggregate(
                "series, count(*), sum(step), sum(value)"
            ).fetchall(),  # type: ignore[misc]
            lambda by_hand=by_hand: plain.execute(by_hand).fetchall(),  # type: ignore[misc]
            times,
        )
        seconds = [statistics.median(turn[0] for turn in own) for own in pairs]
        used = [statistics.median(turn[1] for turn in own) for own in pairs]
        told = [*seconds, seconds[0] / seconds[1], *used, used[0] / used[1]]
        yield (what, f"{path.stat().st_size / 1e6:.0f}", *(f"{cell:.2f}" for cell in told))


def _by_hand(path: Path, places: list[int]) -> str:
    """The sums of columns, read as texts as exported files have them, and made numbers."""
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(1 + 3 * _RUNS))
    sums = ", ".join(
        f"count(TRY_CAST(c{place} AS DOUBLE)), sum(TRY_CAST(c{place} AS DOUBLE))" for place in places
    )
    reader = (
        f"read_csv('{path}', columns={{{columns}}}, auto_detect=false, header=true, delim=',', quote='\"')"
    )
    return f"SELECT sum(TRY_CAST(c0 AS DOUBLE)), {sums} FROM {reader}"  # noqa: S608 - our own


def _by_turns(
    ours: Callable[[], object], theirs: Callable[[], object], times: int
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Wall and processor seconds of two pieces of work, done by turns after one untimed turn each."""
    found: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    for _ in range(times + 1):
        for work, own in zip((ours, theirs), found, strict=True):
            start, used = time.perf_counter(), time.process_time()
            work()
            own.append((time.perf_counter() - start, time.process_time() - used))
    return found[0][1:], found[1][1:]


def main() -> None:
    """Write the files, measure, and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--log-megabytes", type=float, default=100)
    parser.add_argument("--chart-megabytes", type=float, default=1000)
    parser.add_argument("--times", type=int, default=3, help="turns of each; the median counts")
    parser.add_argument("--folder", type=Path, help="write the files here and keep them")
    wanted = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, duckdb {duckdb.__version__}, 2 threads")
    with tempfile.TemporaryDirectory() as scratch:
        folder = wanted.folder or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        columns = ("log", "MB", "points", "seconds", "processor s", "peak MB")
        print(f"\n{table(columns, measure_logs(folder, wanted.log_megabytes, wanted.times))}", flush=True)
        print(f"a log of 100 MB is to take at most {_MOST_SECONDS:g} seconds")
        header = ("chart", "MB", "seconds", "plain", "ratio", "processor s", "plain", "ratio")
        print(f"\n{table(header, measure_charts(folder, wanted.chart_megabytes, wanted.times))}")
        print(f"the ratio is to be at most {_MOST_RATIO:g}")


if __name__ == "__main__":
    main()
