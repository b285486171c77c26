"""Published results: what tells each format; their modules are imported only if it is there."""

from __future__ import annotations

from typing import Final

from reportgen.formats.runs import Reader

EVERY_EVAL_EVER: Final = Reader(
    "records of Every Eval Ever", ("*.json",), keys=("schema_version", "evaluation_id"), rank=291
)
EVAL_RESULTS: Final = Reader(
    "results on the Hugging Face Hub (.eval_results)",
    ("*.yaml", "*.yml"),
    head=r"(?:\s*#[^\n]*\n|\s*---\s*\n)*\s*-\s+dataset\s*:",
    rank=292,
)
MTEB: Final = Reader(
    "results of MTEB", ("*.json",), keys=("dataset_revision", "task_name", "mteb_version"), rank=293
)
