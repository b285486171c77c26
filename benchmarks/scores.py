"""Measures scores and paired comparisons of many answers, in a process of its own for each size.

    python benchmarks/scores.py [--times 3] [--folder DIR]

``problems`` is the query that groups the answers of a Parquet file, ``scores`` all scores, ``pairs`` all
paired differences with Holm's adjustment, ``groups`` what follows from both; memory is the largest of the
whole process, Python and all its libraries included. One size is held to a table of real scores, which cost
more than right and wrong. Seconds depend on the machine and on what else it does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

import duckdb
import narwhals as nw
from measure import run, table

from reportgen.core.comparisons import Outcomes
from reportgen.formats.sql import get_engine
from reportgen.read.queries.problem_scores import group_problem_scores
from reportgen.statistics.compare import compare_all
from reportgen.statistics.power import estimate_power
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import rank_groups


class Size(NamedTuple):
    """A workload: how many of what, whether scores are right or wrong, and what it may take."""

    series: int
    problems: int
    samples: int
    binary: bool
    seconds: str
    megabytes: str

    @property
    def name(self) -> str:
        """What is measured, in words."""
        kind = "" if self.binary else ", real scores"
        return f"{self.series} series × {self.problems:,} problems × {self.samples} samples{kind}"


SIZES = (
    Size(20, 500, 64, binary=True, seconds="3", megabytes="400"),
    Size(20, 500, 64, binary=False, seconds="", megabytes=""),
    Size(20, 10_000, 1, binary=True, seconds="5", megabytes=""),
    Size(20, 500, 640, binary=True, seconds="", megabytes=""),
)
_STAGES = ("problems", "scores", "pairs", "groups")


def write_table(path: Path, size: Size) -> None:
    """A Parquet file of answers; each score is a fixed function of series, problem and sample."""
    made = duckdb.connect(config={"threads": 2, "memory_limit": "1GB"})
    chance = "hash(p) % 101 / 100.0 + s / 400.0"
    score = (
        f"(hash(s, p, k) % 1000 / 1000.0 < {chance})::DOUBLE" if size.binary else "hash(s, p, k) % 1000 / 1e3"
    )
    made.execute(f"""
        COPY (
            SELECT 'model ' || s AS series, '1' AS run, NULL::VARCHAR AS seed, 'problem ' || p AS problem,
                k::VARCHAR AS sample, {score} AS score, row_number() OVER () AS row
            FROM range({size.series}) a(s), range({size.problems}) b(p), range({size.samples}) c(k)
            ORDER BY s, p, k
        ) TO '{path}' (FORMAT parquet)
    """)  # noqa: S608 - numbers and a path of ours
    made.close()


def measure(path: Path) -> list[float]:
    """Seconds of each stage on one file."""
    outcomes = Outcomes(frame=nw.from_native(get_engine().open_cursor().from_parquet(str(path))), order=())
    marks = [time.perf_counter()]
    problems = group_problem_scores(outcomes)
    marks.append(time.perf_counter())
    found = score_series(problems)
    marks.append(time.perf_counter())
    pairs = compare_all(problems)
    marks.append(time.perf_counter())
    rank_groups(found, pairs)
    estimate_power(pairs)
    marks.append(time.perf_counter())
    return [after - before for before, after in pairwise(marks)]


def rows(folder: Path, times: int) -> list[tuple[str, ...]]:
    """One row of the table a size, the median of several processes."""
    found = []
    for place, size in enumerate(SIZES):
        path = folder / f"outcomes-{place}.parquet"
        # A process begins with the peak memory of the one that starts it: this one has to stay small.
        subprocess.run([sys.executable, __file__, "--write", str(place), str(path)], check=True)
        command = [sys.executable, __file__, "--measure", str(path)]
        stages = [
            [float(text) for text in subprocess.run(command, check=True, capture_output=True).stdout.split()]
            for _ in range(times)
        ]
        each = [median(column) for column in zip(*stages, strict=True)]
        megabytes = max(run(command, folder).megabytes for _ in range(times))
        numbers = [f"{seconds:.2f}" for seconds in (*each, sum(each))]
        found.append((size.name, *numbers, size.seconds, f"{megabytes:.0f}", size.megabytes))
    return found


def main() -> None:
    """Measure every size and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=3, help="processes a size; the median counts")
    parser.add_argument("--folder", type=Path, help="write the tables here and keep them")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(*measure(options.measure))
        return
    if options.write:
        write_table(Path(options.write[1]), SIZES[int(options.write[0])])
        return
    print(f"Python {sys.version.split()[0]}, duckdb {duckdb.__version__}, 2 threads")
    header = ("seconds", *_STAGES, "all", "limit", "peak MB", "limit")
    with tempfile.TemporaryDirectory() as scratch:
        print(table(header, rows(options.folder or Path(scratch), options.times)))


if __name__ == "__main__":
    main()
