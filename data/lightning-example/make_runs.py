# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the folders of six runs as Lightning's CSVLogger leaves them, with made-up numbers.

The form is that of ``lightning.pytorch.loggers.CSVLogger``: training and validation are rows of their own.
The numbers come from a fixed seed and show nothing about any model. Run it from anywhere:
``python data/lightning-example/make_runs.py``. The same files come out each time.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np

SEEDS, EPOCHS, STEPS, LOGGED = (1, 2, 3), 12, 100, 50
COLUMNS = ("epoch", "step", "train_loss", "val_acc", "val_loss")
# units of the hidden layer, where its loss ends, how many epochs it takes
WIDTHS = ((64, 0.42, 2.4), (256, 0.33, 1.9))


def rows(width: int, end: float, epochs: float, seed: int) -> list[dict[str, float]]:
    """A row every 50 steps of training, and one of validation at the end of each epoch."""
    rng = np.random.default_rng([2026, seed, width])
    own = rng.normal(0, 0.008)
    found: list[dict[str, float]] = []
    for step in range(LOGGED - 1, EPOCHS * STEPS, LOGGED):
        loss = end + own + 1.8 * math.exp(-step / STEPS / epochs)
        at = {"epoch": step // STEPS, "step": step}
        found.append({**at, "train_loss": round(loss + rng.normal(0, 0.02), 5)})
        if (step + 1) % STEPS == 0:
            held = loss + 0.04 + rng.normal(0, 0.01)
            found.append({**at, "val_loss": round(held, 5), "val_acc": round(1 - 0.38 * held, 5)})
    return found


def main() -> None:
    """Write the folder ``lightning_logs`` beside this file."""
    runs = [(*width, seed) for width in WIDTHS for seed in SEEDS]
    for version, (width, end, epochs, seed) in enumerate(runs):
        folder = Path(__file__).parent / "lightning_logs" / f"version_{version}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hparams.yaml").write_text(f"hidden: {width}\nlr: 0.001\nseed: {seed}\n", "utf-8")
        with (folder / "metrics.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows(width, end, epochs, seed))


if __name__ == "__main__":
    main()
