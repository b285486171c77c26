"""What the header of an Inspect log says of how the evaluation was made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.documents import as_answer, as_mapping, as_word
from reportgen.read.harnesses.protocol import build_protocol
from reportgen.read.harnesses.scoring import parse_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DAY: Final = 10


def count_epochs(header: Mapping[str, Any]) -> int:
    """How often each sample was answered."""
    return parse_count(as_mapping(as_mapping(header.get("eval")).get("config")).get("epochs")) or 1


def get_seed(header: Mapping[str, Any]) -> str | None:
    """The seed of generation; None where none was set."""
    seed = _merge_generation(header).get("seed")
    return None if isinstance(seed, bool) else as_word(seed) or None


def build_log_protocol(header: Mapping[str, Any]) -> dict[str, str]:
    """How the evaluation was made."""
    said = as_mapping(header.get("eval"))
    config = as_mapping(said.get("config"))
    generation = _merge_generation(header)
    return build_protocol(
        {
            "samples": count_epochs(header),
            "temperature": generation.get("temperature"),
            "top_p": generation.get("top_p"),
            "max_tokens": generation.get("max_tokens"),
            "harness": "Inspect",
            "version": as_mapping(said.get("packages")).get("inspect_ai"),
            "grader": ", ".join(_list_graders(said)),
            "date": as_word(said.get("created"))[:_DAY],
            "task version": said.get("task_version"),
            "task arguments": _format_arguments(said.get("task_args")),
            "dataset": as_mapping(said.get("dataset")).get("name"),
            "solver": ", ".join(_list_solvers(header)),
            "limit": _format_limit(config.get("limit")),
            "reducer": _format_names(config.get("epochs_reducer")),
        }
    )


def _merge_generation(header: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of generation: the model's own, and over them those of the task and the command line."""
    own = as_mapping(as_mapping(header.get("eval")).get("model_generate_config"))
    over = as_mapping(as_mapping(header.get("plan")).get("config"))
    return {**own, **{key: value for key, value in over.items() if value is not None}}


def _list_graders(said: Mapping[str, Any]) -> Iterator[str]:
    """Scorers, and the model of those that ask one: given to them, or to the role of the grader."""
    bound = as_mapping(said.get("model_roles")).get("grader")
    several = bound if isinstance(bound, list) else [bound]
    role = " and ".join(filter(None, (as_word(as_mapping(one).get("model")) for one in several)))
    scorers = said.get("scorers")
    for scorer in scorers if isinstance(scorers, list) else []:
        name = as_word(as_mapping(scorer).get("name"))
        model = as_word(as_mapping(as_mapping(scorer).get("options")).get("model"))
        model = model or (role if name.startswith("model_graded") else "")
        if name:
            yield f"{name} by {model}" if model else name


def _list_solvers(header: Mapping[str, Any]) -> Iterator[str]:
    steps = as_mapping(header.get("plan")).get("steps")
    for step in steps if isinstance(steps, list) else []:
        if name := as_word(as_mapping(step).get("solver")):
            yield name


def _format_arguments(said: object) -> str:
    """``fewshot=5, split="test"``; empty where there are none, or too many to tell."""
    pairs = [f"{as_word(key)}={json.dumps(value)}" for key, value in as_mapping(said).items()]
    return as_answer(", ".join(pairs)) or ""


def _format_limit(said: object) -> str:
    """A number of samples, or a range of them."""
    if isinstance(said, list):
        return "-".join(as_word(end) for end in said[:2])
    return as_word(said)


def _format_names(said: object) -> str:
    return ", ".join(as_word(name) for name in said) if isinstance(said, list) else as_word(said)
