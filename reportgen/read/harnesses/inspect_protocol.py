"""What the header of an Inspect log says of how the evaluation was made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.documents import mapping, short_text, word
from reportgen.read.harnesses.protocol import protocol_of
from reportgen.read.harnesses.scoring import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DAY: Final = 10


def epochs_of(header: Mapping[str, Any]) -> int:
    """How often each sample was answered."""
    return count_of(mapping(mapping(header.get("eval")).get("config")).get("epochs")) or 1


def seed_of(header: Mapping[str, Any]) -> str | None:
    """The seed of generation; None where none was set."""
    seed = _generation(header).get("seed")
    return None if isinstance(seed, bool) else word(seed) or None


def protocol_of_log(header: Mapping[str, Any]) -> dict[str, str]:
    """How the evaluation was made."""
    said = mapping(header.get("eval"))
    config = mapping(said.get("config"))
    generation = _generation(header)
    return protocol_of(
        {
            "samples": epochs_of(header),
            "temperature": generation.get("temperature"),
            "top_p": generation.get("top_p"),
            "max_tokens": generation.get("max_tokens"),
            "harness": "Inspect",
            "version": mapping(said.get("packages")).get("inspect_ai"),
            "grader": ", ".join(_graders(said)),
            "date": word(said.get("created"))[:_DAY],
            "task version": said.get("task_version"),
            "task arguments": _arguments(said.get("task_args")),
            "dataset": mapping(said.get("dataset")).get("name"),
            "solver": ", ".join(_solvers(header)),
            "limit": _limit(config.get("limit")),
            "reducer": _names(config.get("epochs_reducer")),
        }
    )


def _generation(header: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of generation: the model's own, and over them those of the task and the command line."""
    own = mapping(mapping(header.get("eval")).get("model_generate_config"))
    over = mapping(mapping(header.get("plan")).get("config"))
    return {**own, **{key: value for key, value in over.items() if value is not None}}


def _graders(said: Mapping[str, Any]) -> Iterator[str]:
    """Scorers, and the model of those that ask one: given to them, or to the role of the grader."""
    bound = mapping(said.get("model_roles")).get("grader")
    several = bound if isinstance(bound, list) else [bound]
    role = " and ".join(filter(None, (word(mapping(one).get("model")) for one in several)))
    scorers = said.get("scorers")
    for scorer in scorers if isinstance(scorers, list) else []:
        name = word(mapping(scorer).get("name"))
        model = word(mapping(mapping(scorer).get("options")).get("model"))
        model = model or (role if name.startswith("model_graded") else "")
        if name:
            yield f"{name} by {model}" if model else name


def _solvers(header: Mapping[str, Any]) -> Iterator[str]:
    steps = mapping(header.get("plan")).get("steps")
    for step in steps if isinstance(steps, list) else []:
        if name := word(mapping(step).get("solver")):
            yield name


def _arguments(said: object) -> str:
    """``fewshot=5, split="test"``; empty where there are none, or too many to tell."""
    pairs = [f"{word(key)}={json.dumps(value)}" for key, value in mapping(said).items()]
    return short_text(", ".join(pairs)) or ""


def _limit(said: object) -> str:
    """A number of samples, or a range of them."""
    if isinstance(said, list):
        return "-".join(word(end) for end in said[:2])
    return word(said)


def _names(said: object) -> str:
    return ", ".join(word(name) for name in said) if isinstance(said, list) else word(said)
