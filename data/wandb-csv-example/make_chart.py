# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make a chart as W&B's site exports it as CSV, with made-up numbers.

The form is that of "Export CSV" of a panel: a column for each run, and beside it the smallest and the
largest of the values that each point stands for. The numbers come from a fixed seed and show nothing about
any model. Run it from anywhere: ``python data/wandb-csv-example/make_chart.py``. The same file comes out each
time.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

LAST, EVERY = 1000, 50
METRIC = "val/loss"
# run, where its loss ends, how many steps it takes
RUNS = (("adamw", 2.94, 260), ("muon", 2.81, 190), ("sgd", 3.31, 420))


def losses(name: str, end: float, steps: float) -> list[float]:
    """The losses of a run, one each ``EVERY`` steps."""
    rng = np.random.default_rng([2026, *name.encode()])
    falling = (1.4 * math.exp(-step / steps) for step in range(EVERY, LAST + 1, EVERY))
    return [round(end + loss + rng.normal(0, 0.012), 5) for loss in falling]


def main() -> None:
    """Write the chart beside this file; no point of it stands for several values."""
    runs = {one[0]: losses(*one) for one in RUNS}
    with (Path(__file__).parent / "val_loss.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(
            ["Step", *(f"{run} - {METRIC}{end}" for run in runs for end in ("", "__MIN", "__MAX"))]
        )
        for step, row in zip(range(EVERY, LAST + 1, EVERY), zip(*runs.values(), strict=True), strict=True):
            writer.writerow([step, *(value for value in row for _ in range(3))])


if __name__ == "__main__":
    main()
