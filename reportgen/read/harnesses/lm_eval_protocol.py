"""What a results file of lm-eval says of its model and of how a task was measured."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.documents import as_mapping, as_word
from reportgen.read.harnesses.protocol import build_protocol
from reportgen.read.loggers.growing import parse_number

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# In the order of GeneralConfigTracker._get_model_name: adapters stand beside the model that they change.
_MODEL_KEYS: Final = ("peft", "delta", "pretrained", "model", "path", "engine")
_MOST_TOKENS: Final = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_length")
_ARGUMENT: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^,]*)")
_MAIN: Final = "main"
_DAY: Final = 10
_LAST_SECOND: Final = 253_402_300_799


def find_model(document: Mapping[str, Any]) -> str:
    """What was evaluated, with its revision where it is not the usual one; empty where the file does not say.

    ``HFLM.__init__`` joins a revision and a subfolder with a slash. Neither stands in ``model_name``.
    """
    config = as_mapping(document.get("config"))
    arguments = _parse_arguments(config.get("model_args"))
    named = (arguments[key] for key in _MODEL_KEYS if as_word(arguments.get(key)))
    model = as_word(document.get("model_name")) or as_word(next(named, "")) or as_word(config.get("model"))
    parts = [as_word(arguments.get(key)) for key in ("revision", "subfolder")]
    revision, subfolder = ("" if part == "None" else part for part in parts)
    if not model or (revision in {"", _MAIN} and not subfolder):
        return model
    return f"{model}@{revision or _MAIN}" + (f"/{subfolder}" if subfolder else "")


def guess_model(place: Path) -> str:
    """What was evaluated, by the folder of its files: ``org__base`` is how lm-eval writes ``org/base``."""
    return as_word(place.name.replace("__", "/"))


def find_seed(document: Mapping[str, Any], task: str) -> str | None:
    """The seed of sampling where it is given, otherwise the harness's own."""
    config = as_mapping(document.get("config"))
    said = (
        _merge_generation(document, task).get("seed"),
        _parse_arguments(config.get("model_args")).get("seed"),
        config.get("random_seed"),
    )
    return next((as_word(seed) for seed in said if as_word(seed) and not isinstance(seed, bool)), None)


def build_task_protocol(document: Mapping[str, Any], task: str, date: str) -> dict[str, str]:
    """How a task was measured.

    Args:
        document: the results file.
        task: the task.
        date: as in the file's name; empty without one.
    """
    config = as_mapping(document.get("config"))
    own = as_mapping(as_mapping(document.get("configs")).get(task))
    generation = _merge_generation(document, task)
    greedy = str(generation.get("do_sample")).lower() == "false"
    generated = own.get("output_type") == "generate_until"
    repeats = own.get("repeats")
    return build_protocol(
        {
            # A filter makes one score of all repeats, so that these are no samples with scores of their own.
            "samples": repeats if generated and repeats == 1 else None,
            "repeats": None if repeats == 1 else repeats,
            "temperature": 0 if greedy else generation.get("temperature"),
            "top_p": None if greedy else generation.get("top_p"),
            "max_tokens": next((generation[key] for key in _MOST_TOKENS if key in generation), None),
            "prompt": _describe_prompt(document, config, own, task),
            "harness": "lm-evaluation-harness",
            "version": document.get("lm_eval_version") or document.get("git_hash"),
            "date": date[:_DAY] or _format_day(document.get("date")),
            "task version": as_mapping(document.get("versions")).get(task),
            "limit": config.get("limit"),
            "backend": document.get("model_source") or config.get("model"),
        }
    )


def _describe_prompt(
    document: Mapping[str, Any], config: Mapping[str, Any], own: Mapping[str, Any], task: str
) -> str:
    """``5-shot, chat template, system instruction``."""
    numbers = (
        as_mapping(document.get("n-shot")).get(task),
        own.get("num_fewshot"),
        config.get("num_fewshot"),
    )
    shots = next((as_word(one) for one in numbers if one is not None and as_word(one).isdecimal()), "")
    parts = [f"{shots}-shot"] if shots else []
    parts += ["chat template"] if document.get("chat_template") else []
    parts += ["system instruction"] if document.get("system_instruction") else []
    return ", ".join(parts)


def _merge_generation(document: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Settings of generation: the task's own, and over them what the command line said."""
    own = as_mapping(as_mapping(document.get("configs")).get(task)).get("generation_kwargs")
    return {**as_mapping(own), **_parse_arguments(as_mapping(document.get("config")).get("gen_kwargs"))}


def _parse_arguments(said: object) -> dict[str, Any]:
    """``a=1,b=2`` or an object."""
    if isinstance(said, str):
        return {name: value.strip() for name, value in _ARGUMENT.findall(said)}
    return as_mapping(said)


def _format_day(seconds: object) -> str:
    """The day, in UTC, of seconds since 1970."""
    value = parse_number(seconds)
    if value is None or not 0 < value <= _LAST_SECOND:
        return ""
    return datetime.fromtimestamp(value, UTC).date().isoformat()
