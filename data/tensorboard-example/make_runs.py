# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the event files of six trainings with tensorboardX, with made-up numbers.

It needs ``pip install tensorboardX``. The numbers come from a fixed seed and show nothing about any model.
Files that are made again hold the same values; the first record of each has the time at which it was made.
Run it from anywhere: ``python data/tensorboard-example/make_runs.py``.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
from tensorboardX import SummaryWriter

RUNS = Path(__file__).parent / "runs"
BEGINNING = 1_767_225_600  # 2026-01-01 in UTC
SEEDS, EPOCHS, STEPS = (1, 2, 3), 30, 50
# name, rate at which it learns, where its validation accuracy ends
MODELS = (("wide", 9, 0.874), ("deep", 6, 0.902))


def main() -> None:
    """Write the folders beside this file."""
    shutil.rmtree(RUNS, ignore_errors=True)
    for name, rate, end in MODELS:
        for seed in SEEDS:
            rng = np.random.default_rng([2026, seed, *name.encode()])
            folder = RUNS / f"{name}_seed{seed}"
            own = rng.normal(0, 0.004)
            with SummaryWriter(str(folder)) as writer:
                for epoch in range(1, EPOCHS + 1):
                    learned = 1 - math.exp(-epoch / rate)
                    loss = 2.3 - 2.1 * learned + rng.normal(0, 0.03)
                    accuracy = 0.1 + (end - 0.1 + own) * learned + rng.normal(0, 0.006)
                    now = BEGINNING + 60 * epoch
                    writer.add_scalar("train/loss", loss, epoch * STEPS, now)
                    writer.add_scalar("validation/accuracy", accuracy, epoch * STEPS, now)
            (written,) = folder.iterdir()
            written.rename(folder / f"events.out.tfevents.{BEGINNING}.example.{seed}")


if __name__ == "__main__":
    main()
