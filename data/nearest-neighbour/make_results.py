# noqa: INP001 - a script kept beside the data it makes, not a package
"""Error of nearest-neighbour regression by the number of examples; writes results.csv beside this file."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

DIMENSIONS, TESTS = 4, 500


def compute_target(points: np.ndarray) -> np.ndarray:
    """A smooth function on the unit cube."""
    return np.sin(2 * np.pi * points).sum(axis=1)


def measure_error(examples: int, seed: int) -> float:
    """Mean absolute error of predicting a point by the example that is nearest to it."""
    rng = np.random.default_rng([examples, seed])
    known, tests = rng.random((examples, DIMENSIONS)), rng.random((TESTS, DIMENSIONS))
    nearest = [int(((known - test) ** 2).sum(axis=1).argmin()) for test in tests]
    return float(np.abs(compute_target(known[nearest]) - compute_target(tests)).mean())


with (Path(__file__).parent / "results.csv").open("w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["examples", "seed", "error"])
    for number in range(9):
        count = 100 * 2**number
        writer.writerows([count, seed, f"{measure_error(count, seed):.5f}"] for seed in range(3))
