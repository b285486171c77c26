"""Runs in MLflow's SQLite store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore
from mlflow.tracking import MlflowClient

from writers import mlflow_runs
from writers.telling import tell

if TYPE_CHECKING:
    from pathlib import Path

    from writers.telling import ToldRun


def write(folder: Path, small: bool) -> list[ToldRun]:  # noqa: FBT001 - as telling.tell calls it
    """Runs of several experiments."""
    store = f"sqlite:///{folder / 'mlflow.db'}"
    SqlAlchemyStore(store, mlflow_runs.ARTIFACTS)
    client = MlflowClient(store)
    kind = mlflow_runs.small if small else mlflow_runs.large
    return kind(client, lambda _, __: "mlflow.db")


if __name__ == "__main__":
    tell(write, "mlflow-skinny")
