"""Runs by Trackio, in its store."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

from writers.telling import ToldRun, odd_values, small_runs, small_values, tell

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = "pilot"


def write(folder: Path, small: bool) -> list[ToldRun]:  # noqa: FBT001 - as telling.tell calls it
    """Runs of one project."""
    os.environ["TRACKIO_DIR"] = str(folder)
    return write_small() if small else write_large()


def begun(run: ToldRun, config: dict[str, Any]) -> Any:  # noqa: ANN401 - its library has no types here
    """A run that is logged to the folder alone."""
    import trackio  # noqa: PLC0415 - it asks for its folder when it is imported

    logger = trackio.init(
        project=PROJECT, name=run.name, config=config, embed=False, auto_log_gpu=False, auto_log_cpu=False
    )
    run.id, run.path, run.group = logger.id, f"{PROJECT}.db", PROJECT
    return logger


def write_small() -> list[ToldRun]:
    """Two series of two seeds."""
    runs = []
    for series, seed in small_runs():
        run = ToldRun("", f"{series}-seed{seed}", config={"lr": 0.25, "seed": seed})
        logger = begun(run, run.config)
        for step, row in small_values(series, seed):
            logger.log(row, step=step)
            for metric, value in row.items():
                run.note(metric, step, value)
        logger.finish()
        runs.append(run)
    return runs


def write_large() -> list[ToldRun]:
    """Numbers of every kind, nested values, words among them, measurements of a machine."""
    rng, runs = random.Random(3), []
    for seed in range(3):
        config = {"lr": 10.0**-seed, "seed": seed, "model": {"size": "7B", "layers": 12}, "name é": "ü"}
        run = ToldRun("", f"run {seed}", config={"lr": 10.0**-seed, "seed": seed, "name é": "ü"})
        run.config |= {"model.size": "7B", "model.layers": 12}
        logger = begun(run, config)
        for step, value in enumerate(odd_values(rng, 120)):
            row: dict[str, Any] = {"loss": value}
            run.note("loss", step, value)
            if step % 3 == 0:
                row['val/acc é "q"'] = step / 8
                run.note('val/acc é "q"', step, step / 8)
            if step % 7 == 0:
                row["nested"] = {"a": {"b": step}}
                run.note("nested.a.b", step, step)
            if step == 5:
                row["note"] = "hello"
            logger.log(row, step=step)
        logger.finish()
        runs.append(run)
    return runs


if __name__ == "__main__":
    tell(write, "trackio")
