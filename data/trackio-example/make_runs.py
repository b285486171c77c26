# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the store of six runs with Trackio, with made-up numbers.

It needs ``pip install trackio``. The numbers come from a fixed seed and show nothing about any model. A store
that is made again holds the same values under other ids. Run it from anywhere:
``python data/trackio-example/make_runs.py``.
"""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
from pathlib import Path

os.environ["TRACKIO_DIR"] = str(Path(__file__).parent / "trackio")
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import trackio

STORE = Path(__file__).parent / "trackio"
SEEDS, STEPS = (1, 2, 3), range(0, 701, 100)
# schedule, where its loss ends, how fast it falls
SCHEDULES = (("cosine", 2.31, 240), ("constant", 2.44, 170))


def main() -> None:
    """Write the store beside this file."""
    shutil.rmtree(STORE, ignore_errors=True)
    for name, end, falls in SCHEDULES:
        for seed in SEEDS:
            rng = np.random.default_rng([2026, seed, *name.encode()])
            own = rng.normal(0, 0.012)
            config = {"schedule": name, "seed": seed}
            trackio.init(
                project="pretraining",
                name=f"{name}-seed{seed}",
                config=config,
                embed=False,
                auto_log_gpu=False,
                auto_log_cpu=False,
            )
            for step in STEPS:
                loss = end + own + 3.1 * math.exp(-step / falls) + rng.normal(0, 0.02)
                trackio.log({"loss": round(loss, 4)}, step=step)
            trackio.finish()
    for store in STORE.glob("*.db"):
        with sqlite3.connect(store) as database:
            database.execute("PRAGMA journal_mode=DELETE")
            database.execute("UPDATE configs SET config = json_remove(config, '$._Username')")
            database.commit()
            # Most of its pages are empty tables.
            database.execute("PRAGMA page_size=512")
            database.execute("VACUUM")
    for other in STORE.iterdir():
        if other.suffix != ".db":
            shutil.rmtree(other) if other.is_dir() else other.unlink()


if __name__ == "__main__":
    main()
