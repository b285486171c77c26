"""Experiment trackers and trainers: a module per format, and what tells each, without importing it."""

from __future__ import annotations

from typing import Final

from reportgen.formats.runs import Reader

DATABASES: Final = ("*.db", "*.sqlite", "*.sqlite3")
WANDB: Final = Reader(
    "Weights & Biases runs", ("*.wandb",), code="reportgen.formats.trackers.wandb", rank=10, selects=True
)
TRAINER_STATE: Final = Reader(
    "Hugging Face trainer_state.json",
    ("*.json",),
    code="reportgen.formats.trackers.trainer_state",
    rank=20,
    selects=True,
)
TENSORBOARD: Final = Reader(
    "TensorBoard event files",
    ("*tfevents*",),
    code="reportgen.formats.trackers.tensorboard",
    rank=30,
    selects=True,
)
MLFLOW_SQLITE: Final = Reader(
    "MLflow SQLite store",
    (*DATABASES,),
    code="reportgen.formats.trackers.mlflow_sqlite",
    rank=40,
    selects=True,
    many_runs=True,
)
MLFLOW_FILES: Final = Reader(
    "MLflow file store",
    ("meta.yaml",),
    code="reportgen.formats.trackers.mlflow_files",
    rank=50,
    selects=True,
    partly=True,
)
TRACKIO: Final = Reader(
    "Trackio store",
    (*DATABASES,),
    code="reportgen.formats.trackers.trackio",
    rank=60,
    selects=True,
    many_runs=True,
)
DVCLIVE: Final = Reader(
    "DVCLive", ("*.tsv", "metrics.json"), code="reportgen.formats.trackers.dvclive", rank=70, selects=True
)
METRICS_CSV: Final = Reader(
    "Lightning and Keras CSV logs",
    ("*.csv", "*.tsv", "*.log", "*.txt"),
    code="reportgen.formats.trackers.metrics_csv",
    rank=80,
    selects=True,
    appended=True,
)
STEP_JSON: Final = Reader(
    "JSON Lines of trainers (verl and others)",
    ("*.jsonl", "*.ndjson", "*.json", "*.log"),
    code="reportgen.formats.trackers.step_json",
    rank=90,
    selects=True,
)
CONSOLE: Final = Reader(
    "Console logs of trainers",
    ("*.log", "*.txt", "*.out", "*.err"),
    code="reportgen.formats.trackers.console",
    rank=190,
    selects=True,
    weak=True,
)
