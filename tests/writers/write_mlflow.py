"""Runs logged with MLflow, to its file store or its SQLite store."""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

from mlflow.entities import Metric
from mlflow.store.tracking.file_store import FileStore
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from mlflow.tracking import MlflowClient

from writers.telling import ToldRun, odd_values, small_runs, small_values, tell

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Otherwise each experiment has a folder of the machine written down.
ARTIFACTS = "mlflow-artifacts:/"
EXPERIMENTS = ("Default one", "1e3", "naïve: q # x")
PARAMETERS = {"lr": 1e-05, "model/size": "7B", "flag": True, "text": "two\nlines é", "v": "007"}
# 2023-11-14, in milliseconds.
BEGIN = 1_700_000_000_000
SECOND = 1000


def small(client: MlflowClient, place: Callable[[str, str], str]) -> list[ToldRun]:
    """Two series of two seeds.

    Args:
        client: the store.
        place: where a run stands, by the ids of its experiment and itself.
    """
    experiment, runs = client.create_experiment("pilot", ARTIFACTS), []
    for series, seed in small_runs():
        name = f"{series}-seed{seed}"
        number = client.create_run(experiment, run_name=name).info.run_id
        run = ToldRun(place(experiment, number), name, number, "pilot", {"lr": 0.25, "seed": seed})
        for key, value in run.config.items():
            client.log_param(number, key, value)
        for step, row in small_values(series, seed):
            for metric, value in row.items():
                client.log_metric(number, metric, value, timestamp=BEGIN + step * SECOND, step=step)
                run.note(metric, step, value)
        client.set_terminated(number)
        runs.append(run)
    return runs


def large(client: MlflowClient, place: Callable[[str, str], str]) -> list[ToldRun]:
    """Odd names, odd numbers, steps out of order; besides runs and experiments that were deleted again."""
    rng, runs = random.Random(7), []
    for experiment_name in EXPERIMENTS:
        experiment = client.create_experiment(experiment_name, ARTIFACTS)
        for seed in range(3):
            name = f"run {seed} of {experiment_name}"
            number = client.create_run(experiment, run_name=name).info.run_id
            config = {**PARAMETERS, "seed": seed}
            for key, value in config.items():
                client.log_param(number, key, value)
            client.set_tag(number, "team", "blue")
            run = ToldRun(
                place(experiment, number), name, number, experiment_name, {**config, "tags.team": "blue"}
            )
            log_large(client, number, run, rng)
            client.set_terminated(number, ["FINISHED", "FAILED", "KILLED"][seed])
            runs.append(run)
        deleted = client.create_run(experiment).info.run_id
        client.log_metric(deleted, "loss", 1.0)
        client.delete_run(deleted)
    gone = client.create_experiment("gone", ARTIFACTS)
    client.log_metric(client.create_run(gone).info.run_id, "loss", 2.0)
    client.delete_experiment(gone)
    return runs


def log_large(client: MlflowClient, number: str, run: ToldRun, rng: random.Random) -> None:
    """One metric value by value, the others in batches."""
    for metric in ("loss", "val/acc", "deep/er/name x-1.y"):
        # The SQLite store keeps infinity as the largest number, and zeros without a sign.
        values = [value + 0.0 for value in odd_values(rng, 30) if abs(value) != sys.float_info.max]
        steps = [rng.randint(0, 10**5) if rng.random() < 0.2 else step for step in range(len(values))]
        for step, value in zip(steps, values, strict=True):
            run.note(metric, step, value)
        rows = zip(range(BEGIN, BEGIN + SECOND * len(values), SECOND), steps, values, strict=True)
        if metric == "loss":
            for time, step, value in rows:
                client.log_metric(number, metric, value, timestamp=time, step=step)
        else:
            metrics = [Metric(metric, value, time, step) for time, step, value in rows]
            client.log_batch(number, metrics=metrics)


def write(folder: Path, kind: str, *, is_small: bool) -> list[ToldRun]:
    """Runs of several experiments, in a store of one kind."""
    log = small if is_small else large
    if kind == "mlflow_files":
        store = folder / "mlruns"
        FileStore(str(store), ARTIFACTS)
        return log(MlflowClient(f"file:{store}"), lambda experiment, run: f"mlruns/{experiment}/{run}")
    address = f"sqlite:///{folder / 'mlflow.db'}"
    SqlAlchemyStore(address, ARTIFACTS)
    return log(MlflowClient(address), lambda _, __: "mlflow.db")


if __name__ == "__main__":
    kind = sys.argv.pop()
    tell(lambda folder, is_small: write(folder, kind, is_small=is_small), "mlflow-skinny")
