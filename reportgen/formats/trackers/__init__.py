"""Experiment trackers and trainers: a module per format, and what tells each, without importing it."""

from __future__ import annotations

from typing import Final

from reportgen.formats.runs import Reader

DATABASES: Final = ("*.db", "*.sqlite", "*.sqlite3")
WANDB: Final = Reader("Weights & Biases runs", ("*.wandb",), rank=10)
TRAINER_STATE: Final = Reader("Hugging Face trainer_state.json", ("*.json",), rank=20)
TENSORBOARD: Final = Reader("TensorBoard event files", ("*tfevents*",), rank=30)
MLFLOW_SQLITE: Final = Reader("MLflow SQLite store", (*DATABASES,), rank=40, many_runs=True)
MLFLOW_FILES: Final = Reader("MLflow file store", ("meta.yaml",), rank=50, partly=True)
TRACKIO: Final = Reader("Trackio store", (*DATABASES,), rank=60, many_runs=True)
DVCLIVE: Final = Reader("DVCLive", ("*.tsv", "metrics.json"), rank=70)
METRICS_CSV: Final = Reader(
    "Lightning and Keras CSV logs", ("*.csv", "*.tsv", "*.log", "*.txt"), rank=80, appended=True
)
STEP_JSON: Final = Reader(
    "JSON Lines of trainers (verl and others)", ("*.jsonl", "*.ndjson", "*.json", "*.log"), rank=90
)
CONSOLE: Final = Reader("Console logs of trainers", ("*.log", "*.txt", "*.out", "*.err"), rank=190, weak=True)
