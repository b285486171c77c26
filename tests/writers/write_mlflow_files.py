"""Runs in MLflow's file store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlflow.store.tracking.file_store import FileStore
from mlflow.tracking import MlflowClient

from writers import mlflow_runs
from writers.telling import tell

if TYPE_CHECKING:
    from pathlib import Path

    from writers.telling import ToldRun


def write(folder: Path, small: bool) -> list[ToldRun]:  # noqa: FBT001 - as telling.tell calls it
    """Runs of several experiments."""
    store = folder / "mlruns"
    FileStore(str(store), mlflow_runs.ARTIFACTS)
    client = MlflowClient(f"file:{store}")
    kind = mlflow_runs.small if small else mlflow_runs.large
    return kind(client, lambda experiment, run: f"mlruns/{experiment}/{run}")


if __name__ == "__main__":
    tell(write, "mlflow-skinny")
