# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the folders of six runs with DVCLive, with made-up numbers.

It needs ``pip install dvclive``. The numbers come from a fixed seed and show nothing about any model, and the
same files come out each time. Run it from anywhere: ``python data/dvclive-example/make_runs.py``.
"""

from __future__ import annotations

import math
import os
import random
import shutil
import tempfile
from pathlib import Path

from dvclive import Live

FOLDER = Path(__file__).absolute().parent
SEEDS, EPOCHS = (1, 2, 3), 20
# augmentation, where its validation accuracy ends, how many epochs it takes
AUGMENTATIONS = (("crop", 0.78, 3), ("mixup", 0.83, 5))


def log(folder: Path, name: str, end: float, epochs: float, seed: int) -> None:
    """Log a run into a folder."""
    rng = random.Random(f"2026 {name} {seed}")  # noqa: S311 - DVCLive comes without NumPy
    own = rng.gauss(0, 0.005)
    with Live(dir=str(folder), save_dvc_exp=False, report=None, monitor_system=False) as live:
        live.log_params({"augmentation": name, "seed": seed})
        for epoch in range(EPOCHS):
            learned = 1 - math.exp(-(epoch + 1) / epochs)
            accuracy = 0.1 + (end - 0.1 + own) * learned + rng.gauss(0, 0.007)
            live.log_metric("val/accuracy", round(accuracy, 4))
            live.log_metric("train/loss", round(2.3 - 1.9 * learned + rng.gauss(0, 0.02), 4))
            live.next_step()


def main() -> None:
    """Write a folder for each run beside this file."""
    # DVCLive makes a DVC repository of the Git repository that it is started in.
    with tempfile.TemporaryDirectory() as elsewhere:
        os.chdir(elsewhere)
        for name, end, epochs in AUGMENTATIONS:
            for seed in SEEDS:
                folder = FOLDER / f"{name}-{seed}"
                shutil.rmtree(folder, ignore_errors=True)
                made = Path(elsewhere, folder.name, "dvclive")
                log(made, name, end, epochs, seed)
                shutil.copytree(made, folder / "dvclive")
        os.chdir(FOLDER)


if __name__ == "__main__":
    main()
