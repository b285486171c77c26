"""Measures how much reading adds to DuckDB on large Parquet sources in long form, in one run.

    python benchmarks/parquet_grouping.py [--millions 1 --millions 10 --millions 100] [--times 5]

A source is a folder of four files with 3 metrics of 5 series × 5 seeds. ``opening`` is all that happens
before the first row is read, without hashing. ``grouping`` is mean, standard deviation and count of one
metric for each series in 400 bins of steps, through ``reportgen.read`` and by hand; the two take turns, so
that what else the machine does meets both. ``benchmarks/rows.py`` measures wide tables and reduction.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import time
from typing import TYPE_CHECKING

import duckdb
from measure import table
from platformdirs import user_cache_path

from reportgen.read import open_path, read_measurements
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reportgen.settings.inputs import Source

_FOLDER = user_cache_path("reportgen-benchmarks")
_FILES = 4
_SERIES, _SEEDS, _METRICS = 5, 5, 3
_BINS = 400
_LIMIT = 1.3


def write_source(folder: Path, rows: int) -> int:
    """Parquet files of whole runs, one metric beside the other; returns the number of steps.

    The values are a fixed function of series, seed, metric and step.
    """
    folder.mkdir(parents=True)
    steps = rows // (_SERIES * _SEEDS * _METRICS)
    for place in range(_FILES):
        made = duckdb.connect(config={"threads": 2, "memory_limit": "1GB"})
        made.execute(f"""
            COPY (
                SELECT 'series ' || run // {_SEEDS} AS model, run % {_SEEDS} AS seed, step,
                    ['loss', 'reward/mean', 'eval/acc'][metric] AS metric,
                    round(sin(step / 1000.0 + run) + hash(step, run, metric) % 1000 / 5000.0, 4) AS value
                FROM range({_SERIES * _SEEDS}) runs(run), range({steps}) steps(step),
                    range(1, {_METRICS + 1}) metrics(metric)
                WHERE run % {_FILES} = {place} ORDER BY run, step, metric
            ) TO '{folder / f"part{place}.parquet"}' (FORMAT parquet)
        """)  # noqa: S608 - a path of ours
        made.close()
    return steps


def seconds(work: Callable[[], object]) -> float:
    """How long something takes once."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(folder: Path, steps: int, times: int) -> tuple[str, ...]:
    """Opening, grouping through reportgen, grouping by hand, and the ratio of the last two."""
    opening = seconds(lambda: _open(folder))
    measured = read_measurements(*_open(folder), ("loss",)).frame.to_native()
    plain = duckdb.connect(config={"threads": 2, "memory_limit": "2GB"})
    bins = f"least(floor(step / {max(1, steps / _BINS)}), {_BINS - 1})"
    grouped = f"avg(value), stddev(value), count(*) FROM measured GROUP BY series, {bins}"
    by_hand = (
        f"SELECT model, {bins}, avg(value), stddev(value), count(*) FROM '{folder}/*.parquet' "  # noqa: S608
        f"WHERE metric = 'loss' GROUP BY model, {bins}"
    )
    ours, theirs = [], []
    for _ in range(times + 1):
        query = f"SELECT series, {bins}, {grouped}"
        ours.append(seconds(lambda: measured.query("measured", query).fetchnumpy()))  # noqa: B023 - called at once
        theirs.append(seconds(lambda: plain.execute(by_hand).fetchnumpy()))
    # The first turn warms the page cache for both.
    mine, reference = statistics.median(ours[1:]), statistics.median(theirs[1:])
    return f"{opening:.2f}", f"{mine:.2f}", f"{reference:.2f}", f"{mine / reference:.2f}"


def _open(folder: Path) -> tuple[Path, Source]:
    return open_path(folder, load_settings=load_source_settings, hashes=lambda _: "")


def main() -> None:
    """Measure every size that is asked for, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--millions", type=float, action="append", help="rows, in millions; may be repeated")
    parser.add_argument("--times", type=int, default=5, help="turns of each query; the median counts")
    options = parser.parse_args()
    lines = []
    for millions in options.millions or (1, 10):
        folder = _FOLDER / f"parquet-{millions:g}"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            steps = write_source(folder, int(millions * 1e6))
            lines.append((f"{millions:g} M rows", *measure(folder, steps, options.times), f"{_LIMIT}"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(table(("", "opening s", "grouping s", "plain DuckDB s", "ratio", "limit"), lines))
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
