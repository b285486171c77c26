# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make ``runs.csv``: five illustrative runs a series whose mean passes through the digitised points.

The figure gives one mean a series and says only how its band behaves: widest between iterations 400
and 600 and between 800 and 1000, and notably wide around the second series' trough at 900. The
standard deviations in ``PLAN`` follow that description and the runs are drawn from a fixed seed. Only
the means are read off the figure; how far apart the runs lie shows nothing about the models.

Run it from anywhere: ``python data/aime/make_runs.py``. The same file comes out each time.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

SEEDS = 5
MILLIONTHS = 1_000_000  # values are whole millionths, so that the mean is exact

SERIES = ("v10-l1-length-4096", "v1-l1-length-4096")
# iteration, then mean and standard deviation across the runs: of the first series, of the second
PLAN = (
    (100, 0.294, 0.003, 0.294, 0.003),
    (200, 0.292, 0.004, 0.292, 0.004),
    (300, 0.303, 0.005, 0.309, 0.005),
    (400, 0.321, 0.009, 0.318, 0.006),
    (500, 0.325, 0.010, 0.313, 0.007),
    (600, 0.320, 0.009, 0.289, 0.006),
    (700, 0.305, 0.006, 0.300, 0.006),
    (800, 0.302, 0.009, 0.298, 0.009),
    (900, 0.321, 0.010, 0.280, 0.015),
    (1000, 0.295, 0.009, 0.306, 0.010),
    (1100, 0.302, 0.006, 0.290, 0.006),
    (1200, 0.278, 0.006, 0.297, 0.005),
    (1300, 0.310, 0.005, 0.308, 0.005),
    (1400, 0.300, 0.004, 0.302, 0.004),
)


def deviations(name: str, spread: np.ndarray) -> np.ndarray:
    """Deviations of the runs from their mean in millionths: whole numbers, each step's sum is 0.

    Neighbouring steps of one run resemble each other (a first-order autoregression with coefficient
    0.6), as those of real runs do. Shape: (steps, runs).
    """
    shocks = np.random.default_rng([2024, *name.encode()]).normal(size=(len(spread), SEEDS))
    noise = np.empty_like(shocks)
    noise[0] = shocks[0]
    for i in range(1, len(spread)):
        noise[i] = 0.6 * noise[i - 1] + 0.8 * shocks[i]
    noise -= noise.mean(axis=1, keepdims=True)
    noise *= spread[:, None] / noise.std(axis=1, ddof=1, keepdims=True)
    whole = np.rint(noise * MILLIONTHS).astype(int)
    whole[:, -1] -= whole.sum(axis=1)
    return whole


def main() -> None:
    """Write ``runs.csv`` beside this file."""
    plan = np.array(PLAN)
    with (Path(__file__).parent / "runs.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("series", "seed", "iteration", "pass@1"))
        for i, name in enumerate(SERIES):
            means = np.rint(plan[:, 1 + 2 * i] * MILLIONTHS).astype(int)
            values = means[:, None] + deviations(name, plan[:, 2 + 2 * i])
            for seed in range(SEEDS):
                for step, value in zip(plan[:, 0], values[:, seed], strict=True):
                    writer.writerow((name, seed + 1, int(step), f"{value / MILLIONTHS:.6f}"))


if __name__ == "__main__":
    main()
