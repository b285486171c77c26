"""Runs by wandb, offline: nested configurations and metrics, numbers of every kind, steps left out."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import wandb

from writers.telling import ToldRun, odd_values, small_runs, small_values, tell

if TYPE_CHECKING:
    from pathlib import Path


def begun(folder: Path, run: ToldRun, config: dict[str, Any]) -> wandb.Run:
    """A run that tells nothing of the machine; its place is the folder that wandb makes."""
    logger = wandb.init(
        project="pilot",
        name=run.name,
        id=run.id,
        group=run.group,
        dir=folder,
        config=config,
        settings=wandb.Settings(
            console="off",
            disable_code=True,
            disable_git=True,
            save_code=False,
            x_disable_machine_info=True,
            x_disable_meta=True,
            x_disable_stats=True,
            x_save_requirements=False,
        ),
    )
    run.path = f"wandb/{logger.settings.run_mode}-{logger.settings.timespec}-{run.id}"
    return logger


def write_small(folder: Path) -> list[ToldRun]:
    """Two series of two seeds; logs of wandb's own are not kept."""
    runs = []
    for series, seed in small_runs():
        name = f"{series}-seed{seed}"
        run = ToldRun("", name, name, series, {"lr": 0.25, "seed": seed})
        logger = begun(folder, run, run.config)
        for step, row in small_values(series, seed):
            logger.log(row)
            for metric, value in row.items():
                run.note(metric, step, value)
        logger.finish()
        runs.append(run)
        for name in ("logs", "tmp"):
            shutil.rmtree(folder / run.path / name, ignore_errors=True)
    for path in folder.glob("wandb/*.log"):
        path.unlink()
    return runs


def write(folder: Path, small: bool) -> list[ToldRun]:  # noqa: FBT001 - as telling.tell calls it
    """Whatever ``log`` takes, and what it takes that is no number."""
    if small:
        return write_small(folder)
    rng, runs = random.Random(5), []
    for seed in range(2):
        run = ToldRun("", f"run {seed} é", f"id{seed}", "some group")
        config = {"lr": 1e-3, "seed": seed, "model": {"name": "gpt", "depth": 12}, "flag": True, "ü": "é"}
        run.config = {
            "lr": 1e-3,
            "seed": seed,
            "model.name": "gpt",
            "model.depth": 12,
            "flag": True,
            "ü": "é",
        }
        logger = begun(folder, run, config)
        log_large(logger, run, rng)
        logger.config.update({"late": 5})
        run.config["late"] = 5
        logger.finish()
        runs.append(run)
    return runs


def log_large(logger: wandb.Run, run: ToldRun, rng: random.Random) -> None:
    """Calls of ``log`` with and without a step of their own."""
    for step, value in enumerate(odd_values(rng, 300)):
        row = {"loss": value, "big": 2**52 + step, "tiny": np.float32(0.1), "train": {"acc": step / 8}}
        if step % 7 == 0:
            row["val/acc é"] = step / 16
            run.note("val/acc é", step, step / 16)
        logger.log({**row, "words": "text", "list": [1, 2], "histogram": wandb.Histogram([1, 2, 3])})
        run.note("loss", step, value)
        run.note("big", step, 2**52 + step)
        run.note("tiny", step, float(np.float32(0.1)))
        run.note("train.acc", step, step / 8)
    logger.define_metric("epoch")
    logger.define_metric("val/*", step_metric="epoch")
    for step in (400, 500, 900):
        logger.log({"val/acc é": step / 16, "epoch": step / 100}, step=step)
        run.note("val/acc é", step, step / 16)
        run.note("epoch", step, step / 100)
    logger.summary["best"] = 0.75


if __name__ == "__main__":
    tell(write, "wandb")
