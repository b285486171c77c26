# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the results and samples of two models as the Language Model Evaluation Harness writes them.

The form is that of lm-eval 0.4, as ``lm_eval/loggers/evaluation_tracker.py`` writes it. Models, problems and
answers are made up from a fixed seed. Run it from anywhere: ``python data/lm-eval-example/make_results.py``.
The same files come out each time.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

TASK, DOCUMENTS, DATE = "sums", 24, "2026-01-0{}T09-30-00.000000"
FILTERS = ("strict-match", "flexible-extract")
# model, how often it is right, how often it keeps to the form that strict-match asks for
MODELS = (("example/birch-1b", 0.53, 0.7), ("example/cedar-3b", 0.88, 0.94))
GENERATION = {"until": ["\n"], "do_sample": False}


def digest(text: str) -> str:
    """A hash as the harness keeps it."""
    return hashlib.sha256(text.encode()).hexdigest()


def samples(model: str, right: float, form: float) -> list[dict[str, Any]]:
    """A row for each document and each filter."""
    rng = np.random.default_rng([2026, *model.encode()])
    problems = np.random.default_rng(2026).integers(11, 99, size=(DOCUMENTS, 2))
    rows = []
    for number, (one, other) in enumerate(problems.tolist()):
        gold = one + other
        answer = gold if rng.random() < right else gold + int(rng.choice([-10, -1, 1, 10]))
        said = f" #### {answer}" if rng.random() < form else f" It is {answer}"
        prompt = f"Q: {one} + {other}\nA:"
        for name in FILTERS:
            found = "[invalid]" if name == FILTERS[0] and "####" not in said else str(answer)
            rows.append(
                {
                    "doc_id": number,
                    "doc": {"question": f"{one} + {other}", "answer": str(gold)},
                    "target": str(gold),
                    "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": GENERATION}},
                    "resps": [[said]],
                    "filtered_resps": [found],
                    "filter": name,
                    "metrics": ["exact_match"],
                    "doc_hash": digest(f"{one} + {other}"),
                    "prompt_hash": digest(prompt),
                    "target_hash": digest(str(gold)),
                    "exact_match": float(found == str(gold)),
                }
            )
    return rows


def results(model: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The file of results."""
    entry: dict[str, Any] = {"alias": TASK}
    for name in FILTERS:
        share = sum(row["exact_match"] for row in rows if row["filter"] == name) / DOCUMENTS
        entry[f"exact_match,{name}"] = share
        entry[f"exact_match_stderr,{name}"] = math.sqrt(share * (1 - share) / (DOCUMENTS - 1))
    config = {
        "task": TASK,
        "test_split": "test",
        "num_fewshot": 0,
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
        "output_type": "generate_until",
        "generation_kwargs": GENERATION,
        "repeats": 1,
        "metadata": {"version": 1.0},
    }
    return {
        "results": {TASK: entry},
        "group_subtasks": {TASK: []},
        "configs": {TASK: config},
        "versions": {TASK: 1.0},
        "n-shot": {TASK: 0},
        "higher_is_better": {TASK: {"exact_match": True}},
        "n-samples": {TASK: {"original": DOCUMENTS, "effective": DOCUMENTS}},
        "config": {
            "model": "hf",
            "model_args": f"pretrained={model},dtype=bfloat16",
            "batch_size": "8",
            "limit": None,
            "gen_kwargs": None,
            "random_seed": 0,
            "numpy_seed": 1234,
            "torch_seed": 1234,
            "fewshot_seed": 1234,
        },
        "lm_eval_version": "0.4.9",
        "model_source": "hf",
        "model_name": model,
        "model_name_sanitized": model.replace("/", "__"),
    }


def main() -> None:
    """Write the folders beside this file."""
    for day, (model, right, form) in enumerate(MODELS, start=5):
        folder = Path(__file__).parent / model.replace("/", "__")
        folder.mkdir(exist_ok=True)
        rows = samples(model, right, form)
        date = DATE.format(day)
        written = json.dumps(results(model, rows), indent=2)
        (folder / f"results_{date}.json").write_text(written + "\n", "utf-8")
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"samples_{TASK}_{date}.jsonl").write_text(lines, "utf-8")


if __name__ == "__main__":
    main()
