"""What the specification of a run of HELM says: the benchmark, and how it was measured."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from reportgen.read.harnesses.documents import as_mapping, as_word
from reportgen.read.harnesses.protocol import build_protocol
from reportgen.read.logged import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def guess_spec(path: Path) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """A specification that says what the folder's name does, where there is no other."""
    folder = path if path.is_dir() else path.absolute().parent
    arguments = dict(part.partition("=")[::2] for part in re.split("[:,]", folder.name))
    message = "there is no run_spec.json: model and benchmark are named after the folder"
    spec = {"name": folder.name, "adapter_spec": {"model": arguments.get("model") or folder.name}}
    return spec, (Finding(path, f"{message}, and how it was measured is unknown"),)


def name_benchmark(spec: Mapping[str, Any], path: Path) -> str:
    """``mmlu:subject=anatomy`` of ``mmlu:subject=anatomy,model=openai_gpt2``: all but the model."""
    name = as_word(spec.get("name")) or path.name
    scenario, _, arguments = name.partition(":")
    parts = [
        one for one in arguments.split(",") if one and not one.startswith(("model=", "model_deployment="))
    ]
    return f"{scenario}:{','.join(parts)}" if parts else scenario


def build_run_protocol(spec: Mapping[str, Any], split: str, trials: int) -> dict[str, str]:
    """How a run was made.

    Args:
        spec: its specification.
        split: of the instances.
        trials: how many there are; 0 where that is not known.
    """
    adapter = as_mapping(spec.get("adapter_spec"))
    return build_protocol(
        {
            "samples": trials or adapter.get("num_train_trials"),
            "temperature": adapter.get("temperature"),
            "top_p": adapter.get("top_p"),
            "max_tokens": adapter.get("max_tokens"),
            "prompt": _describe_prompt(adapter),
            "harness": "HELM",
            "split": split,
            "limit": adapter.get("max_eval_instances"),
            "backend": adapter.get("model_deployment"),
        }
    )


def _describe_prompt(adapter: Mapping[str, Any]) -> str:
    shots, method = as_word(adapter.get("max_train_instances")), as_word(adapter.get("method"))
    return ", ".join(part for part in (f"{shots}-shot" if shots else "", method) if part)
