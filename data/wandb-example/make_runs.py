# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the folders of six offline runs with wandb, with made-up numbers.

It needs ``pip install wandb`` and neither an account nor a network. The numbers come from a fixed seed and
show nothing about any model. Folders that are made again hold the same values under other dates. Run it
from anywhere: ``python data/wandb-example/make_runs.py``.
"""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path

os.environ["WANDB_MODE"] = "offline"
os.environ["WANDB_SILENT"] = "true"

import numpy as np
import wandb

FOLDER = Path(__file__).parent
SEEDS, CALLS = (1, 2, 3), 24
# advantage, where its reward ends, how many calls it takes, how much the runs differ
METHODS = (("grpo", 0.71, 9, 0.010), ("rloo", 0.64, 6, 0.022))


def main() -> None:
    """Write the folder ``wandb`` beside this file."""
    shutil.rmtree(FOLDER / "wandb", ignore_errors=True)
    for name, end, calls, spread in METHODS:
        for seed in SEEDS:
            rng = np.random.default_rng([2026, seed, *name.encode()])
            own = rng.normal(0, spread)
            run = wandb.init(
                project="arithmetic",
                name=f"{name}-{seed}",
                group=name,
                id=f"{name}{seed}",
                dir=FOLDER,
                config={"algorithm": {"name": name, "kl": 0.04}, "seed": seed},
                # Nothing of the machine that it runs on.
                settings=wandb.Settings(
                    console="off",
                    disable_code=True,
                    disable_git=True,
                    x_disable_machine_info=True,
                    x_disable_meta=True,
                    x_disable_stats=True,
                    x_save_requirements=False,
                ),
            )
            for call in range(CALLS):
                reward = 0.2 + (end + own - 0.2) * (1 - math.exp(-call / calls)) + rng.normal(0, 0.012)
                run.log({"train/reward": reward, "train/kl": 0.004 * call + abs(rng.normal(0, 0.003))})
            run.finish()
    # What wandb wrote about itself, with places of this machine, and links into it.
    for part in (FOLDER / "wandb").iterdir():
        if part.is_symlink() or part.is_file():
            part.unlink()
    for part in (*FOLDER.glob("wandb/*/logs"), *FOLDER.glob("wandb/*/tmp")):
        shutil.rmtree(part)


if __name__ == "__main__":
    main()
