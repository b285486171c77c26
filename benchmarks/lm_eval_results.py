"""Results files of the Language Model Evaluation Harness without answers, each of a model of its own."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

_SUBJECTS: Final = tuple(
    f"mmlu_{area}_{number}"
    for area in ("stem", "other", "humanities", "social_sciences")
    for number in range(14)
)
_GROUPS: Final = ("mmlu", "mmlu_stem", "mmlu_other", "mmlu_humanities", "mmlu_social_sciences")
_CHOICES: Final = ("arc_challenge", "arc_easy", "hellaswag", "piqa", "winogrande", "openbookqa", "boolq")
_DATE: Final = "2026-01-{day:02}T{hour:02}-00-00.000000"


def write_results(folder: Path, files: int) -> None:
    """Write so many results files, each of a model of its own on 70 tasks and groups.

    Args:
        folder: where to; each model has a folder of its own in it, as lm-eval makes them.
        files: how many.
    """
    for number in range(files):
        name = f"org__model-{number}"
        (folder / name).mkdir()
        path = folder / name / f"results_{_DATE.format(day=1 + number // 24, hour=number % 24)}.json"
        path.write_text(json.dumps(_document(number), indent=2))


def _document(number: int) -> dict[str, Any]:
    chance = random.Random(number)  # noqa: S311 - no secret
    tasks = (*_SUBJECTS, *_CHOICES, "gsm8k", "truthfulqa_mc2")
    results: dict[str, dict[str, Any]] = {}
    for task in (*_GROUPS, *tasks):
        score = chance.randrange(50, 225) / 250
        stderr = (score * (1 - score) / 249) ** 0.5
        results[task] = {"alias": task}
        for metric in _metrics(task):
            results[task] |= {metric: score, metric.replace(",", "_stderr,"): stderr}
    configs = {
        task: {
            "task": task,
            "dataset_path": "org/data",
            "dataset_name": task,
            "output_type": "generate_until" if task == "gsm8k" else "multiple_choice",
            "doc_to_text": "{{question.strip()}}\n"
            + "\n".join(f"{one}. {{{{choices[{place}]}}}}" for place, one in enumerate("ABCD"))
            + "\nAnswer:",
            "num_fewshot": 5,
            "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
            "repeats": 1,
            "metadata": {"version": 1.0},
        }
        for task in tasks
    }
    return {
        "results": results,
        "groups": {group: results[group] for group in _GROUPS},
        "group_subtasks": {
            "mmlu": list(_GROUPS[1:]),
            **{group: [one for one in _SUBJECTS if one.startswith(group)] for group in _GROUPS[1:]},
        },
        "configs": configs,
        "versions": dict.fromkeys(results, 1.0),
        "n-shot": dict.fromkeys(tasks, 5),
        "higher_is_better": {
            task: {one.partition(",")[0]: True for one in _metrics(task)} for task in results
        },
        "n-samples": {task: {"original": 250, "effective": 250} for task in tasks},
        "config": {
            "model": "hf",
            "model_args": f"pretrained=org/model-{number},dtype=bfloat16",
            "batch_size": "8",
            "limit": None,
            "random_seed": 0,
            "numpy_seed": 1234,
            "torch_seed": 1234,
            "fewshot_seed": 1234,
        },
        "git_hash": "0123abc",
        "date": 1767225600.0 + number,
        "lm_eval_version": "0.4.9",
        "task_hashes": {task: f"{chance.getrandbits(256):064x}" for task in tasks},
        "model_source": "hf",
        "model_name": f"org/model-{number}",
        "model_name_sanitized": f"org__model-{number}",
    }


def _metrics(task: str) -> tuple[str, ...]:
    if task == "gsm8k":
        return ("exact_match,strict-match", "exact_match,flexible-extract")
    return ("acc,none", "acc_norm,none") if task in _CHOICES else ("acc,none",)
