"""Results of harnesses: what tells each format; their modules are imported only if it is there."""

from __future__ import annotations

from typing import Final

from reportgen.formats.runs import Reader

INSPECT: Final = Reader("logs of Inspect", ("*.eval", "*.json"), code=".inspect_logs", rank=200)
LM_EVAL: Final = Reader(
    "results of the Language Model Evaluation Harness (lm-eval)", ("*.json", "*.jsonl"), rank=210
)
LIGHTEVAL: Final = Reader("results of lighteval", ("*.json",), rank=220)
HELM: Final = Reader("runs of HELM", ("run_spec.json", "stats.json", "per_instance_stats.json"), rank=230)
PROMPTFOO: Final = Reader(
    "results of promptfoo",
    ("*.json", "*.jsonl", "*.ndjson"),
    head=r'(?s:.*?"results"\s*:\s*\{\s*"version"\s*:\s*\d)'
    r'|\{(?=[^\n]*"(?:gradingResult|promptIdx)"\s*:)(?=[^\n]*"(?:prompt|promptId|latencyMs)"\s*:)',
    rank=240,
)
MATHARENA: Final = Reader("outputs of MathArena", ("*.json",), rank=260)
OPENCOMPASS: Final = Reader("results of OpenCompass", ("*.json",), rank=290)
EVERY_EVAL_EVER: Final = Reader(
    "records of Every Eval Ever", ("*.json",), keys=("schema_version", "evaluation_id"), rank=180
)
EVAL_RESULTS: Final = Reader(
    "results on the Hugging Face Hub (.eval_results)",
    ("*.yaml", "*.yml"),
    head=r"(?:\s*#[^\n]*\n|\s*---\s*\n)*\s*-\s+dataset\s*:",
    rank=190,
)
ANSWER_LISTS: Final = Reader(
    "lists of answers per problem", ("*.json", "*.jsonl", "*.ndjson"), rank=300, weak=True
)
