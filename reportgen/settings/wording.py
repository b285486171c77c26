"""Faults in words: what was found and what to do, without the terms of the library that found it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Stage
from reportgen.naming import suggest_name
from reportgen.settings.faults import TAKES
from reportgen.settings.parsing import shorten
from reportgen.settings.spots import describe_field, find_spot
from reportgen.settings.tree import MappingNode, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Sequence as AnySequence

    from pydantic import BaseModel

    from reportgen.settings.faults import Fault
    from reportgen.settings.spots import Spot
    from reportgen.settings.tree import Node

MAX_PROBLEMS: Final = 50

_PARSED: Final = {
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "bool_parsing": "true or false",
    "finite_number": "a finite number",
}
_LIMITS: Final = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}
_PATTERNS: Final = {
    "id": "takes letters, digits, - and _, and begins with a letter",
    "function": "takes file.py:function",
}


def describe_faults(
    faults: AnySequence[Fault], model: type[BaseModel], owner: str, stage: Stage = Stage.SETTINGS
) -> tuple[Problem, ...]:
    """One problem a fault; of very many the first fifty.

    Args:
        faults: what is wrong.
        model: the model that was asked for, for its keys and descriptions.
        owner: what the settings belong to, such as "a curve block".
        stage: what the user was giving us.
    """
    faults = sorted(faults, key=lambda fault: (fault.place.line or 0, fault.place.column or 0))
    problems = [_describe_fault(fault, model, owner, stage) for fault in faults[:MAX_PROBLEMS]]
    if len(faults) > MAX_PROBLEMS:
        message = f"there are {len(faults) - MAX_PROBLEMS} more problems like these in {owner}"
        problems.append(Problem(faults[MAX_PROBLEMS].place, message, "Mend these first", stage))
    return tuple(problems)


def join_words(words: Iterable[str], last: str = "and") -> str:
    """Words as a list in a sentence: ``a, b and c``."""
    *most, end = tuple(words)
    return f"{', '.join(most)} {last} {end}" if most else end


def _describe_fault(fault: Fault, model: type[BaseModel], owner: str, stage: Stage) -> Problem:
    message, next_step = _explain(fault, find_spot(fault.path, model, owner))
    place = fault.place
    if fault.kind == "value_error" and isinstance(fault.node, MappingNode):
        # A rule about one key of several begins its sentence with that key.
        place = fault.node.keys.get(message.split(" ", 1)[0], place)
    return Problem(place, message, next_step, stage)


def _explain(fault: Fault, spot: Spot) -> tuple[str, str]:
    """What was found, and the next step."""
    if isinstance(fault.node, ScalarNode) and fault.node.text == "" and fault.kind in (*TAKES, "no_branch"):
        return f"{spot.label} has no value", "Write one, or leave the key out"
    if fault.kind in TAKES:
        return _explain_shape(fault, spot, (TAKES[fault.kind],))
    if fault.kind == "no_branch":
        return _explain_shape(fault, spot, fault.context["accepted"])
    if fault.kind in _PARSED:
        return _explain_shape(fault, spot, (_PARSED[fault.kind],))
    if fault.kind in _LIMITS:
        word, key = _LIMITS[fault.kind]
        return f"{_quote_value(fault.node, spot)} has to be {word} {fault.context[key]:g}", spot.advice
    return _SENTENCES.get(fault.kind, _explain_unforeseen)(fault, spot)


def _quote_value(node: Node, spot: Spot) -> str:
    """Key and value as written, or the key alone where the value is long."""
    if isinstance(node, ScalarNode) and spot.key:
        return f'"{shorten(spot.key)}: {shorten(node.text)}"'
    return spot.label


def _explain_shape(fault: Fault, spot: Spot, accepted: AnySequence[str]) -> tuple[str, str]:
    message = f"{spot.label} takes {join_words(accepted, 'or')}, not {_name_shape(fault.node)}"
    if "a list" in accepted and isinstance(fault.node, ScalarNode):
        return message, f"Write {shorten(spot.key)}: [{shorten(fault.node.text)}]"
    return message, spot.advice


def _name_shape(node: Node) -> str:
    if isinstance(node, MappingNode):
        return "keys and values"
    if isinstance(node, SequenceNode):
        return "a list"
    return f'"{shorten(node.text)}"'


def _explain_missing(fault: Fault, spot: Spot) -> tuple[str, str]:
    if isinstance(fault.name, int):
        return f"{spot.label} takes at least {fault.name + 1} values", spot.advice
    name = str(fault.name)
    owner = f"{spot.label} in {spot.owner}" if spot.key else spot.owner
    field = spot.inner.model_fields.get(name) if spot.inner else None
    return f'{owner} needs "{name}"', describe_field(name, field)


def _explain_unknown_key(_: Fault, spot: Spot) -> tuple[str, str]:
    known = tuple(spot.holder.model_fields) if spot.holder else ()
    advice = f"{suggest_name(spot.key, known)}The keys are {join_words(known)}"
    return f'"{shorten(spot.key)}" is not a key of {spot.owner}', advice


def _explain_choice(fault: Fault, spot: Spot) -> tuple[str, str]:
    choices = re.findall(r"'([^']*)'", fault.context["expected"])
    message = f"{_quote_value(fault.node, spot)} is not one of {join_words(choices)}"
    guess = suggest_name(fault.node.text, choices) if isinstance(fault.node, ScalarNode) else ""
    return message, guess.rstrip() or spot.advice


def _explain_pattern(fault: Fault, spot: Spot) -> tuple[str, str]:
    rule = _PATTERNS.get(spot.key, "is not written as it has to be")
    return f"{_quote_value(fault.node, spot)}: {spot.label} {rule}", spot.advice


def _explain_rule(fault: Fault, spot: Spot) -> tuple[str, str]:
    said = str(fault.context["error"])
    return said or f"{spot.label} is not right", spot.advice


def _explain_too_short(_: Fault, spot: Spot) -> tuple[str, str]:
    return f"{spot.label} is empty", "Write at least one item, or leave the key out"


def _explain_too_long(fault: Fault, spot: Spot) -> tuple[str, str]:
    return f"{spot.label} takes no more than {fault.context['max_length']} values", spot.advice


def _explain_empty_text(_: Fault, spot: Spot) -> tuple[str, str]:
    return f"{spot.label} is empty", "Write a text, or leave it out"


def _explain_long_text(fault: Fault, spot: Spot) -> tuple[str, str]:
    return f"{spot.label} is longer than {fault.context['max_length']} characters", "Shorten it"


def _explain_unforeseen(fault: Fault, spot: Spot) -> tuple[str, str]:
    return f"{_quote_value(fault.node, spot)} is not accepted ({fault.kind.replace('_', ' ')})", spot.advice


_SENTENCES: Final[dict[str, Callable[[Fault, Spot], tuple[str, str]]]] = {
    "missing": _explain_missing,
    "extra_forbidden": _explain_unknown_key,
    "enum": _explain_choice,
    "literal_error": _explain_choice,
    "string_pattern_mismatch": _explain_pattern,
    "value_error": _explain_rule,
    "too_short": _explain_too_short,
    "too_long": _explain_too_long,
    "string_too_short": _explain_empty_text,
    "string_too_long": _explain_long_text,
}
