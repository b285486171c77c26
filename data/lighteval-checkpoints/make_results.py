# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the results of eight evaluations as lighteval writes them, with made-up scores.

The form is that of ``EvaluationTracker.save`` of lighteval 0.8. The scores come from a fixed seed and show
nothing about any model. Run it from anywhere: ``python data/lighteval-checkpoints/make_results.py``. The same
files come out each time.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

TASK, DOCUMENTS = "lighteval|sums|5", 250
STEPS = (500, 1000, 1500, 2000)
# model, where its score goes, how many steps it takes
MODELS = (("birch-1b", 0.52, 700), ("cedar-1b", 0.66, 900))


def results(model: str, right: int) -> dict[str, Any]:
    """The file of one evaluation."""
    share = right / DOCUMENTS
    entry = {
        "extractive_match": share,
        "extractive_match_stderr": math.sqrt(share * (1 - share) / (DOCUMENTS - 1)),
    }
    return {
        "config_general": {
            "lighteval_sha": "0123456789abcdef",
            "num_fewshot_seeds": 1,
            "max_samples": None,
            "job_id": "0",
            "model_name": f"example/{model}",
            "generation_parameters": {"temperature": 0, "max_new_tokens": 16, "seed": 0},
        },
        "results": {TASK: entry, "all": entry},
        "versions": {TASK: 0},
        "config_tasks": {
            TASK.rpartition("|")[0]: {
                "name": "sums",
                "suite": ["lighteval"],
                "metric": [{"metric_name": "extractive_match", "higher_is_better": True}],
                "original_num_docs": DOCUMENTS,
                "effective_num_docs": DOCUMENTS,
            }
        },
        "summary_tasks": {},
        "summary_general": {},
    }


def main() -> None:
    """Write the folder ``results`` beside this file."""
    for day, (name, end, steps) in enumerate(MODELS, start=5):
        rng = np.random.default_rng([2026, *name.encode()])
        for hour, step in enumerate(STEPS, start=10):
            score = 0.1 + (end - 0.1) * (1 - math.exp(-step / steps))
            model = f"{name}-seed1-step{step}"
            folder = Path(__file__).parent / "results" / "example" / model
            folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(results(model, int(rng.binomial(DOCUMENTS, score))), indent=2)
            (folder / f"results_2026-01-0{day}T{hour}-00-00.000000.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
