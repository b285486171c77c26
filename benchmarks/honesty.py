"""Simulates what verdicts, peaks, observations and power claim, and prints how often each is right.

    python benchmarks/honesty.py [--quick] [--seed 0] [--generators other] [--only scores ...]

At most 10 minutes of processor time, which the last line says; ``--quick`` takes about a fifth. The
generators are in ``tests/simulated``: several laws of difficulty, tastes of models, skewed and failing seeds,
autocorrelation, changing variance. ``--generators other`` takes laws that no test was calibrated with.
Another seed, or the other generators, must give the same table within the error of the simulation; the
number of processes has no influence. Each ± is half the width of a 95% interval of the simulation.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# Processes share the cores: matrices are small, and threads of their own would only wait for each other.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

from measure import table
from simulation import Row, Setting

_PARTS = ("scores", "pairs", "power", "curves", "observations", "reviews")


def main() -> None:
    """Print the table, a part at a time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--generators", choices=("usual", "other"), default="usual")
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    wanted = parser.parse_args()
    _find_tests()
    setting = Setting(not wanted.quick, wanted.seed, wanted.generators)
    began = time.perf_counter()
    with ProcessPoolExecutor(wanted.processes, initializer=_find_tests) as pool:
        planned = []
        for part in wanted.only:
            rows: list[Row] = importlib.import_module(f"honesty_{part}").plan(setting)
            planned.append(
                [(row, [pool.submit(one.call, *one.arguments) for one in row.tasks]) for row in rows]
            )
        for part in planned:
            lines = [
                (row.what, row.describe([one.result() for one in waiting]), row.must) for row, waiting in part
            ]
            print(table(("", "measured", "must"), lines), end="\n\n", flush=True)
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(one.ru_utime + one.ru_stime for one in usage)
    minutes = (time.perf_counter() - began) / 60
    print(f"{setting.generators} generators, seed {setting.seed}: {minutes:.1f} minutes, ", end="")
    print(f"{processor / 60:.1f} of processor time in {wanted.processes} processes")


def _find_tests() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


if __name__ == "__main__":
    main()
