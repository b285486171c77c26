"""Simulates what verdicts, peaks, observations and power claim, and prints how often each is right.

    python benchmarks/honesty.py [--quick] [--seed 0] [--only scores ...]

At most 15 minutes; ``--quick`` takes a tenth of the repetitions. The generators are in ``tests/simulated``:
several laws of difficulty, tastes of models, skewed and failing seeds, autocorrelation, changing variance.
Another seed, or other generators, must give the same table within the error of the simulation.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from pathlib import Path

from measure import table

_PARTS = ("scores", "power", "curves", "observations", "reviews")


def main() -> None:
    """Print the table, a part at a time."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS)
    wanted = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    for part in wanted.only:
        began = time.perf_counter()
        rows = importlib.import_module(f"honesty_{part}").measure(full=not wanted.quick, seed=wanted.seed)
        print(table(("", "measured", "must"), rows))
        print(f"{part}: {time.perf_counter() - began:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
