# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make a file store of six runs with MLflow, with made-up numbers.

It needs ``pip install "mlflow<3"``: since 3.17 MLflow writes no file stores any more. The numbers come from
a fixed seed and show nothing about any model. A store that is made again holds the same values under other
ids. Run it from anywhere: ``python data/mlflow-example/make_runs.py``.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
from mlflow.entities import Metric
from mlflow.tracking import MlflowClient

STORE = Path(__file__).parent / "mlruns"
BEGINNING = 1_767_225_600_000  # 2026-01-01 in UTC, in milliseconds
SEEDS, STEPS = (1, 2, 3), range(0, 2001, 100)
# name, learning rate, where its loss ends, how fast it falls
RUNS = (("AdamW", 3e-4, 0.41, 380), ("SGD", 1e-1, 0.46, 620))


def main() -> None:
    """Write the store beside this file."""
    shutil.rmtree(STORE, ignore_errors=True)
    client = MlflowClient(STORE.as_uri())
    experiment = client.create_experiment("optimizers", artifact_location="mlflow-artifacts:/1")
    for name, rate, end, falls in RUNS:
        for seed in SEEDS:
            rng = np.random.default_rng([2026, seed, *name.encode()])
            run = client.create_run(experiment, start_time=BEGINNING, run_name=name)
            own = rng.normal(0, 0.006)
            metrics = []
            for step in STEPS:
                loss = end + own + 1.9 * math.exp(-step / falls) + rng.normal(0, 0.008)
                accuracy = 0.93 - 0.3 * loss + rng.normal(0, 0.004)
                for metric, value in (("val/loss", loss), ("val/accuracy", accuracy)):
                    metrics.append(Metric(metric, round(value, 5), BEGINNING + 600 * step, step))
            for key, value in (("optimizer", name), ("lr", rate), ("seed", seed)):
                client.log_param(run.info.run_id, key, value)
            client.log_batch(run.info.run_id, metrics=metrics)
            client.set_terminated(run.info.run_id, end_time=BEGINNING + 600 * STEPS[-1])
    shutil.rmtree(STORE / ".trash", ignore_errors=True)
    shutil.rmtree(STORE / "0", ignore_errors=True)


if __name__ == "__main__":
    main()
