"""A description as JSON, for tools; paths and names whole, lists never cut."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING

from reportgen.site.checking.excerpts import clean_json

if TYPE_CHECKING:
    from reportgen.description import Description
    from reportgen.errors import Problem


def format_json(description: Description, source_yml: str, others: dict[str, str], block: str) -> str:
    """A description as JSON with a newline at its end; its keys are those of the value, in its order.

    Args:
        description: the description.
        source_yml: the suggested settings.
        others: those that depend on what the data mean, by what they are for.
        block: the suggested block.
    """
    value = asdict(description)
    value["unread"] = dict(description.unread)
    value["problems"] = [_describe_problem(problem) for problem in description.problems]
    value |= value.pop("counts")
    for run in value["runs"]:
        run["config"] = {key: str(one) if _is_endless(one) else one for key, one in run["config"].items()}
    for total in value["totals"]:
        total |= {key: None for key, one in total.items() if _is_endless(one)}
    value["suggested"] = {
        "file": description.settings_file,
        "source.yml": source_yml,
        **{f"source.yml for {purpose}": text for purpose, text in others.items()},
        "block": block,
    }
    del value["settings"], value["repetitions"], value["clusters"]
    return f"{clean_json(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))}\n"


def _is_endless(value: object) -> bool:
    """Whether it is a NaN or an infinity, which JSON has none of."""
    return isinstance(value, float) and not math.isfinite(value)


def _describe_problem(problem: Problem) -> dict[str, object]:
    return {
        "file": problem.place.file,
        "line": problem.place.line,
        "severity": str(problem.severity),
        "message": problem.message,
        "next_step": problem.next_step,
    }
