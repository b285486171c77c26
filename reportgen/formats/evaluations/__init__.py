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
HARBOR: Final = Reader("jobs of Harbor", ("result.json",), keys=("task_name", "agent_info"), rank=250)
VERIFIERS: Final = Reader(
    "evaluations of verifiers and prime-rl",
    ("metadata.json",),
    keys=("env_id", "model", "rollouts_per_example"),
    rank=255,
)
ANSWER_LISTS: Final = Reader(
    "lists of answers per problem", ("*.json", "*.jsonl", "*.ndjson"), rank=300, weak=True
)
