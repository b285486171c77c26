# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the folders of two runs as HELM leaves them, with made-up answers.

The form is that of ``helm-run``, with two of its stats. Problems and answers come from a fixed seed and show
nothing about any model. HELM calls a folder ``sums:model=…``; a name with a colon cannot be checked out on
Windows, so it is a comma here. Run it from anywhere: ``python data/helm-example/make_runs.py``. The same
files come out each time.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

INSTANCES = 32
SUITE = Path(__file__).parent / "runs" / "v1"
# model, how often it is right
MODELS = (("example/birch-1b", 0.5), ("example/cedar-3b", 0.81))


def stat(name: str, values: list[float]) -> dict[str, Any]:
    """A stat over some values."""
    mean = sum(values) / len(values)
    squares = sum(value**2 for value in values)
    variance = squares / len(values) - mean**2
    return {
        "name": {"name": name, "split": "test"},
        "count": len(values),
        "sum": sum(values),
        "sum_squared": squares,
        "min": min(values),
        "max": max(values),
        "mean": mean,
        "variance": variance,
        "stddev": variance**0.5,
    }


def specification(model: str) -> dict[str, Any]:
    """What ``run_spec.json`` says."""
    return {
        "name": f"sums:model={model.replace('/', '_')}",
        "scenario_spec": {"class_name": "example.SumsScenario", "args": {}},
        "adapter_spec": {
            "method": "generation",
            "max_train_instances": 5,
            "max_eval_instances": INSTANCES,
            "num_outputs": 1,
            "num_train_trials": 1,
            "model": model,
            "model_deployment": model,
            "temperature": 0.0,
            "max_tokens": 16,
        },
        "metric_specs": [{"class_name": "helm.benchmark.metrics.basic_metrics.BasicGenerationMetric"}],
        "groups": ["sums"],
    }


def main() -> None:
    """Write the folder ``runs`` beside this file."""
    hard = np.random.default_rng(2026).uniform(-0.35, 0.35, INSTANCES)
    for model, right in MODELS:
        rng = np.random.default_rng([2026, *model.encode()])
        scores = (rng.random(INSTANCES) < right + hard).astype(float).tolist()
        tokens = rng.integers(3, 7, INSTANCES).astype(float).tolist()
        instances = [
            {
                "instance_id": f"id{number}",
                "train_trial_index": 0,
                "stats": [stat("exact_match", [score]), stat("num_output_tokens", [length])],
            }
            for number, (score, length) in enumerate(zip(scores, tokens, strict=True))
        ]
        files = {
            "run_spec.json": specification(model),
            "stats.json": [stat("exact_match", scores), stat("num_output_tokens", tokens)],
            "per_instance_stats.json": instances,
        }
        folder = SUITE / f"sums,model={model.replace('/', '_')}"
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_text(json.dumps(content, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
