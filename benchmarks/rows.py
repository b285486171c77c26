"""Measures grouping and reduction of large Parquet tables against plain DuckDB, in one run.

    python benchmarks/rows.py [--millions 1 --millions 10 --millions 100] [--times 3] [--folder DIR]

Each table has 5 series × 5 seeds and one metric. ``grouping`` is one query through ``reportgen.read``
(mean, standard deviation and count of each series in 400 bins of steps) against the same query written by
hand over the file. ``reduction`` is ``statistics.reduce`` (no step twice, mean, smallest and largest of
each run in 400 bins) against the shortest statement that gives the same.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import narwhals as nw
from measure import table

from reportgen.read import open_path, read_measurements
from reportgen.read.queries.reduce import reduce
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.core.model import Measurements

_RUNS = 25
_BINS = 400


def write_table(path: Path, rows: int) -> None:
    """A Parquet file of 25 runs, one after another; the values are a fixed function of run and step."""
    made = duckdb.connect(config={"threads": 2, "memory_limit": "1GB"})
    made.execute(f"""
        COPY (
            SELECT 'series ' || run % 5 AS series, run // 5 AS seed, step,
                round(sin(step / 1000.0 + run) + (hash(step, run) % 1000) / 5000.0, 4) AS score
            FROM range({_RUNS}) runs(run), range({rows // _RUNS}) steps(step) ORDER BY run, step
        ) TO '{path}'
    """)  # noqa: S608 - a path of ours
    made.close()


def measure(path: Path, rows: int, times: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table for one file."""
    root, source = open_path(path, load_settings=load_source_settings)
    score = read_measurements(root, source, ("score",))
    plain = duckdb.connect(config={"threads": 2, "memory_limit": "2GB"})
    width = max(1, rows // _RUNS / _BINS)
    bins = f"least(floor(step / {width}), {_BINS - 1})"

    def by_hand(statement: str) -> Callable[[], object]:
        return lambda: plain.execute(statement).fetchnumpy()

    grouped = f"avg(score), stddev(score), count(*) FROM '{path}' GROUP BY ALL"
    one_a_step = f"(SELECT series, seed, step, last(score) AS score FROM '{path}' GROUP BY ALL)"  # noqa: S608 - same
    reduced = f"avg(score), min(score), max(score) FROM {one_a_step} GROUP BY ALL"
    pairs = {
        "grouping": (lambda: _grouped(score, width), by_hand(f"SELECT series, {bins}, {grouped}")),
        "reduction": (lambda: reduce(score), by_hand(f"SELECT series, seed, {bins}, {reduced}")),
    }
    for name, (ours, theirs) in pairs.items():
        fast, slow = _medians(ours, theirs, times)
        limit = "1.3" if name == "grouping" else ""
        what = f"{name}, {rows / 1e6:g} M rows"
        yield what, f"{fast:.2f}", f"{slow:.2f}", f"{fast / slow:.2f}", limit


def _grouped(score: Measurements, width: float) -> object:
    place = (nw.col("step") / width).floor()
    bins = nw.when(place > _BINS - 1).then(float(_BINS - 1)).otherwise(place)
    grouped = score.frame.with_columns(bin=bins).group_by("series", "bin")
    value = nw.col("value")
    return (
        grouped.agg(value.mean().alias("mean"), value.std().alias("std"), nw.len().alias("count"))
        .to_native()
        .fetchnumpy()
    )


def _medians(ours: Callable[[], object], theirs: Callable[[], object], times: int) -> tuple[float, float]:
    """Median seconds of two pieces of work, done by turns after one untimed turn each."""
    found: list[list[float]] = [[], []]
    for _ in range(times + 1):
        for work, seconds in zip((ours, theirs), found, strict=True):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
    first, second = (statistics.median(seconds[1:]) for seconds in found)
    return first, second


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--millions", type=float, action="append", help="millions of rows; may be repeated")
    parser.add_argument("--times", type=int, default=3, help="runs of each query; the median counts")
    parser.add_argument("--folder", type=Path, help="write the tables here and keep them")
    wanted = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, duckdb {duckdb.__version__}, 2 threads")
    header = ("", "seconds", "plain DuckDB", "ratio", "limit")
    with tempfile.TemporaryDirectory() as scratch:
        for millions in wanted.millions or [1, 10]:
            rows = int(millions * 1e6)
            path = (wanted.folder or Path(scratch)) / f"rows-{rows}.parquet"
            if not path.exists():
                write_table(path, rows)
            print(f"\n{table(header, measure(path, rows, wanted.times))}", flush=True)


if __name__ == "__main__":
    main()
