"""Logs in tables and documents: what tells each format; their modules are imported only if it is there."""

from __future__ import annotations

from typing import Final

from reportgen.formats.runs import Reader
from reportgen.formats.trackers import DATABASES

OPTUNA: Final = Reader(
    "studies of Optuna",
    (*DATABASES, "*.csv", "*.log", "*.jsonl"),
    code=".optuna_studies",
    rank=100,
    series_from="name",
)
RAY: Final = Reader("Ray Tune and RLlib", ("result.json", "progress.csv"), code=".row_logs:RAY", rank=110)
STABLE_BASELINES: Final = Reader("Stable-Baselines3", ("*monitor.csv", "progress.csv"), rank=120)
NEPTUNE: Final = Reader("exports of Neptune", ("*_part_*.parquet",), code=".neptune_export", rank=130)
TRAINER_RESULTS: Final = Reader(
    "final results of the Hugging Face Trainer",
    ("*_results.json",),
    code=".documents:TRAINER_RESULTS",
    rank=140,
)
KERAS_HISTORY: Final = Reader("histories of Keras", ("*.json",), code=".documents:KERAS_HISTORY", rank=150)
CLEARML: Final = Reader("scalars of ClearML", ("*.json",), code=".documents:CLEARML", rank=160)
COMET: Final = Reader("metrics of Comet", ("*.json",), code=".documents:COMET", rank=170)
RUN_TABLES: Final = Reader(
    "tables with settings next to them",
    ("*.csv", "*.tsv", "*.jsonl", "*.ndjson"),
    code=".row_logs:RUN_TABLES",
    rank=180,
    rest=True,
    appended=True,
)
RESULTS_TSV: Final = Reader(
    "results of a search",
    ("*.tsv",),
    head=r"(?=[^\n]*\tstatus\t)commit\t[^\n]*\bdescription\b",
    rank=185,
    series_from="name",
)
LINES: Final = Reader(
    "lines by a pattern",
    ("*.log", "*.txt", "*.out", "*.err"),
    head="(?!)",  # only "format:" leads here
    code=".text_lines",
)
