"""Logs in tables and documents: what tells each format; their modules are imported only if it is there."""

from __future__ import annotations

from typing import Final

from reportgen.formats.runs import Reader
from reportgen.formats.trackers import DATABASES

OPTUNA: Final = Reader(
    "studies of Optuna",
    (*DATABASES, "*.csv", "*.log", "*.jsonl"),
    code="reportgen.formats.logs.optuna_studies",
    rank=100,
    selects=True,
    series_from="name",
)
RAY: Final = Reader(
    "Ray Tune and RLlib",
    ("result.json", "progress.csv"),
    code="reportgen.formats.logs.row_logs:RAY",
    rank=110,
    selects=True,
)
STABLE_BASELINES: Final = Reader(
    "Stable-Baselines3",
    ("*monitor.csv", "progress.csv"),
    code="reportgen.formats.logs.stable_baselines",
    rank=120,
    selects=True,
)
NEPTUNE: Final = Reader(
    "exports of Neptune",
    ("*_part_*.parquet",),
    code="reportgen.formats.logs.neptune_export",
    rank=130,
    selects=True,
)
TRAINER_RESULTS: Final = Reader(
    "final results of the Hugging Face Trainer",
    ("*_results.json",),
    code="reportgen.formats.logs.documents:TRAINER_RESULTS",
    rank=140,
    selects=True,
)
KERAS_HISTORY: Final = Reader(
    "histories of Keras",
    ("*.json",),
    code="reportgen.formats.logs.documents:KERAS_HISTORY",
    rank=150,
    selects=True,
)
CLEARML: Final = Reader(
    "scalars of ClearML", ("*.json",), code="reportgen.formats.logs.documents:CLEARML", rank=160, selects=True
)
COMET: Final = Reader(
    "metrics of Comet", ("*.json",), code="reportgen.formats.logs.documents:COMET", rank=170, selects=True
)
RUN_TABLES: Final = Reader(
    "tables with settings next to them",
    ("*.csv", "*.tsv", "*.jsonl", "*.ndjson"),
    code="reportgen.formats.logs.row_logs:RUN_TABLES",
    rank=180,
    selects=True,
    rest=True,
    appended=True,
)
RESULTS_TSV: Final = Reader(
    "results of a search",
    ("*.tsv",),
    head=r"(?=[^\n]*\tstatus\t)commit\t[^\n]*\bdescription\b",
    code="reportgen.formats.logs.results_tsv",
    rank=185,
    selects=True,
    appended=True,
)
LINES: Final = Reader(
    "lines by a pattern",
    ("*.log", "*.txt", "*.out", "*.err"),
    head="(?!)",  # only "format:" leads here
    code="reportgen.formats.logs.text_lines",
    selects=True,
)
