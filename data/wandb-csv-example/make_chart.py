# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make a chart as W&B's site exports it as CSV, with made-up numbers.

The form is that of "Export to CSV" of a panel: a column for each run, and beside it the smallest and the
largest of the values that each point stands for. The numbers come from a fixed seed and show nothing about
any model. Run it from anywhere: ``python data/wandb-csv-example/make_chart.py``. The same file comes out each
time.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

SEEDS, LAST, EVERY = (1, 2, 3), 1000, 50
METRIC = "val/loss"
# optimizer, where its loss ends, how many steps it takes, how much its runs differ
OPTIMIZERS = (("adamw", 2.94, 260, 0.012), ("muon", 2.81, 190, 0.009))


def losses(name: str, end: float, steps: float, spread: float, seed: int) -> list[float]:
    """The losses of a run, one each ``EVERY`` steps."""
    rng = np.random.default_rng([2026, seed, *name.encode()])
    end += rng.normal(0, spread)
    falling = (1.4 * math.exp(-step / steps) for step in range(EVERY, LAST + 1, EVERY))
    return [round(end + loss + rng.normal(0, 0.008), 5) for loss in falling]


def main() -> None:
    """Write the chart beside this file; no point of it stands for several values."""
    runs = {f"{one[0]}-seed{seed}": losses(*one, seed) for one in OPTIMIZERS for seed in SEEDS}
    with (Path(__file__).parent / "val_loss.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(
            ["Step", *(f"{run} - {METRIC}{end}" for run in runs for end in ("", "__MIN", "__MAX"))]
        )
        for step, row in zip(range(EVERY, LAST + 1, EVERY), zip(*runs.values(), strict=True), strict=True):
            writer.writerow([step, *(value for value in row for _ in range(3))])


if __name__ == "__main__":
    main()
