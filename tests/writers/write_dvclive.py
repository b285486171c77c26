"""Runs by DVCLive: tables with and without times, a metric without a plot, a run that was resumed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from dvclive import Live
from dvclive import live as dvclive_live

from writers.telling import ToldRun, odd_values, small_runs, small_values, tell

if TYPE_CHECKING:
    from pathlib import Path


def live(folder: Path, *, resume: bool = False) -> Any:  # noqa: ANN401 - its library has no types here
    """A run's logger that writes nothing but the run."""
    # Within any Git repository it would make one of DVC's.
    dvclive_live.get_dvc_repo = lambda: None
    quiet = {"save_dvc_exp": False, "dvcyaml": False, "report": None, "monitor_system": False}
    return Live(dir=str(folder), resume=resume, **quiet)


def write_small(folder: Path) -> list[ToldRun]:
    """Two series of two seeds."""
    runs = []
    for series, seed in small_runs():
        run = ToldRun(f"{series}-seed{seed}", config={"lr": 0.25, "seed": seed})
        with live(folder / run.path) as logger:
            logger.log_params(run.config)
            for step, row in small_values(series, seed):
                for metric, value in row.items():
                    logger.log_metric(metric, value)
                    run.note(metric, step, value)
                logger.next_step()
        runs.append(run)
    return runs


def write(folder: Path, small: bool) -> list[ToldRun]:  # noqa: FBT001 - as telling.tell calls it
    """Everything that ``log_metric`` and ``log_params`` take."""
    if small:
        return write_small(folder)
    rng, runs = random.Random(1), []
    for number in range(3):
        run = ToldRun(f"sweep/run {number}/dvclive", config={"lr": 1e-05, "opt.name": "adam", "ü": "é"})
        run.config["seed"] = number
        losses = odd_values(rng, 300)
        for begin, end in ((0, 200), (200, 300)):
            with live(folder / run.path, resume=begin > 0) as logger:
                if not begin:
                    logger.log_params({"lr": 1e-05, "opt": {"name": "adam"}, "ü": "é", "seed": number})
                for step in range(begin, end):
                    logger.log_metric("train/loss", losses[step])
                    run.note("train/loss", step, losses[step])
                    if step % 10 == 0:
                        logger.log_metric("val/acc (top-1)", step, timestamp=True)
                        run.note("val/acc (top-1)", step, step)
                    logger.next_step()
        runs.append(run)
    return runs


if __name__ == "__main__":
    tell(write, "dvclive")
