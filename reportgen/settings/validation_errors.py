"""Pydantic's validation errors in plain words, one for each mistake, each with its place.

Pydantic reports every branch of a union ("not text", "not a list", "not a mapping"); a person made one
mistake. Here the branch that the person meant is chosen by the shape of what was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args, get_origin

from pydantic import BaseModel

from reportgen.core.words import suggest_name
from reportgen.settings.text import make_settings_problem, shorten
from reportgen.settings.yaml_tree import MappingNode, Node, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Mapping as AnyMapping
    from collections.abc import Sequence as AnySequence

    from pydantic import ValidationError
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

    from reportgen.core.errors import Diagnostic, SourceLocation


KeyPath: TypeAlias = tuple[str | int, ...]

# What each of pydantic's "wrong shape" errors would have accepted.
TAKES: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "keys and values",
    "model_type": "keys and values",
}
_OTHER_SCALARS: Final = frozenset({"int_type", "float_type", "bool_type", "finite_number"})


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong.

    Attributes:
        kind: pydantic's name of the error, or ``no_branch`` where no branch of a union fits.
        path: keys and 0-based items from the root to the value.
        node: what stands there.
        place: where the key stands, or the item, or the text as a whole.
        name: a missing key, or an item's number where an item is missing.
        branches: the unions passed on the way, as the path where each begins and the branch taken.
        context: pydantic's details, such as a limit.
    """

    kind: str
    path: KeyPath
    node: Node
    place: SourceLocation
    name: str | int | None = None
    branches: tuple[tuple[KeyPath, str], ...] = ()
    context: AnyMapping[str, Any] = field(default_factory=dict)


def locate_faults(error: ValidationError, root: Node) -> tuple[Fault, ...]:
    """The faults behind a validation error, one a value, in the order of the fields."""
    settled = _choose_branches(_locate_all(error, root))
    # A list whose items are wrong is also "too short" to pydantic, which counts the good ones.
    inner = {fault.path[:depth] for fault in settled for depth in range(len(fault.path))}
    return tuple(f for f in settled if not (f.kind == "too_short" and f.path in inner))


def find_misread_names(error: ValidationError, root: Node) -> tuple[tuple[KeyPath, str], ...]:
    """Where text was wanted and a number, a boolean or null was read: the paths and the written texts."""
    found = _locate_all(error, root)
    meant_otherwise = {fault.path for fault in found if fault.kind in _OTHER_SCALARS}
    return tuple(
        (fault.path, fault.node.text)
        for fault in found
        if fault.kind == "string_type"
        and isinstance(fault.node, ScalarNode)
        and not isinstance(fault.node.value, str)
        and fault.path not in meant_otherwise
    )


def _locate_all(error: ValidationError, root: Node) -> list[Fault]:
    return [_locate(detail, root) for detail in error.errors(include_url=False, include_input=False)]


def _locate(detail: ErrorDetails, root: Node) -> Fault:
    location = detail["loc"]
    name: str | int | None = None
    if detail["type"] == "missing":
        location, name = location[:-1], location[-1]
    node, place = root, root.place
    path: KeyPath = ()
    branches: list[tuple[KeyPath, str]] = []
    for step in location:
        if isinstance(node, MappingNode) and isinstance(step, str) and step in node.entries:
            place, node, path = node.keys[step], node.entries[step], (*path, step)
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.items):
            node, path = node.items[step], (*path, step)
            place = node.place
        elif step != "[key]":
            branches.append((path, str(step)))
    return Fault(detail["type"], path, node, place, name, tuple(branches), detail.get("ctx", {}))


def _choose_branches(found: Iterable[Fault]) -> list[Fault]:
    """Replace the faults of every branch of a union by those of the branch that was meant."""
    settled: list[Fault] = []
    for start, group in groupby(found, key=lambda fault: fault.branches[0][0] if fault.branches else None):
        faults = list(group)
        settled.extend(faults if start is None else _choose_branch(start, faults))
    return settled


def _choose_branch(start: KeyPath, faults: list[Fault]) -> list[Fault]:
    branches: dict[str, list[Fault]] = {}
    for fault in faults:
        branches.setdefault(fault.branches[0][1], []).append(fault)
    for members in branches.values():
        if not any(_has_wrong_shape(fault, start) for fault in members):
            return _choose_branches(replace(fault, branches=fault.branches[1:]) for fault in members)
    at_start = next(fault for fault in faults if fault.path == start)
    accepted = tuple(
        dict.fromkeys(TAKES[f.kind] for f in faults if _has_wrong_shape(f, start) and f.kind != "int_type")
    )
    return [replace(at_start, kind="no_branch", branches=(), context={"accepted": accepted})]


def _has_wrong_shape(fault: Fault, start: KeyPath) -> bool:
    return fault.path == start and len(fault.branches) == 1 and fault.kind in TAKES


@dataclass(frozen=True, slots=True)
class Spot:
    """A value's position among the models.

    Attributes:
        owner: what the key belongs to, such as "reference in a curve block".
        holder: the model the key belongs to; None below keys that are the user's own.
        inner: the model of what stands here, if it is a mapping or a list of mappings with our keys.
        field: the nearest field on the way here, with its key.
        key: the last key on the way, empty at the top.
        item: the 1-based number of an item in the list under that key.
        named: whether the keys below are the user's own names, each with an ``inner`` of its own.
    """

    owner: str
    holder: type[BaseModel] | None = None
    inner: type[BaseModel] | None = None
    field: tuple[str, FieldInfo] | None = None
    key: str = ""
    item: int | None = None
    named: bool = False

    @property
    def label(self) -> str:
        """The value's name in a sentence."""
        if not self.key:
            return self.owner
        name = f'"{shorten(self.key)}"'
        return f"item {self.item} of {name}" if self.item else name

    @property
    def advice(self) -> str:
        """What the key is for."""
        return describe_field(*self.field) if self.field else ""


def find_spot(path: KeyPath, model: type[BaseModel], owner: str) -> Spot:
    """Follow a path through the models from ``model``, which a sentence calls ``owner``."""
    return reduce(_follow_step, path, Spot(owner, inner=model))


def describe_field(key: str, field: FieldInfo | None) -> str:
    """A key with its description, without the full stop; empty where there is none."""
    if field is None or not field.description:
        return ""
    return f"{shorten(key)}: {field.description.rstrip('.')}"


def _follow_step(spot: Spot, step: str | int) -> Spot:
    if isinstance(step, int):
        return replace(spot, item=step + 1)
    owner = f"{shorten(spot.key)} in {spot.owner}" if spot.key else spot.owner
    if spot.named:
        return Spot(owner, None, spot.inner, spot.field, step)
    field = spot.inner.model_fields.get(step) if spot.inner else None
    inner = _find_model(field.annotation) if field else None
    named = field is not None and get_origin(field.annotation) is dict
    return Spot(owner, spot.inner, inner, (step, field) if field else spot.field, step, named=named)


def _find_model(annotation: object) -> type[BaseModel] | None:
    """The one model that an annotation such as ``tuple[Name | PanelSettings, ...]`` mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _find_model(part))), None)


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


def describe_faults(faults: AnySequence[Fault], model: type[BaseModel], owner: str) -> tuple[Diagnostic, ...]:
    """One problem a fault; of very many the first fifty. ``owner`` is, for instance, "a curve block"."""
    faults = sorted(faults, key=lambda fault: (fault.place.line or 0, fault.place.column or 0))
    problems = [_describe_fault(fault, model, owner) for fault in faults[:MAX_PROBLEMS]]
    if len(faults) > MAX_PROBLEMS:
        message = f"there are {len(faults) - MAX_PROBLEMS} more problems like these in {owner}"
        problems.append(make_settings_problem(faults[MAX_PROBLEMS].place, message, "Mend these first"))
    return tuple(problems)


def join_words(words: Iterable[str], last: str = "and") -> str:
    """Words as a list in a sentence: ``a, b and c``."""
    *most, end = tuple(words)
    return f"{', '.join(most)} {last} {end}" if most else end


def _describe_fault(fault: Fault, model: type[BaseModel], owner: str) -> Diagnostic:
    message, next_step = _explain(fault, find_spot(fault.path, model, owner))
    place = fault.place
    if fault.kind == "value_error" and isinstance(fault.node, MappingNode):
        # A rule about one key of several begins its sentence with that key.
        place = fault.node.keys.get(message.split(" ", 1)[0], place)
    return make_settings_problem(place, message, next_step)


def _explain(fault: Fault, spot: Spot) -> tuple[str, str]:
    if isinstance(fault.node, ScalarNode) and fault.node.text == "" and fault.kind in (*TAKES, "no_branch"):
        return f"{spot.label} has no value", "Write one, or leave the key out"
    shapes = {**TAKES, **_PARSED}
    if fault.kind == "no_branch" or fault.kind in shapes:
        accepted = fault.context["accepted"] if fault.kind == "no_branch" else (shapes[fault.kind],)
        return _explain_shape(fault, spot, accepted)
    if fault.kind in _LIMITS:
        word, key = _LIMITS[fault.kind]
        return f"{_quote_value(fault.node, spot)} has to be {word} {fault.context[key]:g}", spot.advice
    if fault.kind in _LENGTHS:
        sentence, step = _LENGTHS[fault.kind]
        limit = fault.context.get("max_length")
        return sentence.format(label=spot.label, max_length=limit), spot.advice if step is None else step
    if fault.kind in _SENTENCES:
        return _SENTENCES[fault.kind](fault, spot)
    return f"{_quote_value(fault.node, spot)} is not accepted ({fault.kind.replace('_', ' ')})", spot.advice


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
    return str(fault.context["error"]) or f"{spot.label} is not right", spot.advice


_SENTENCES: Final[dict[str, Callable[[Fault, Spot], tuple[str, str]]]] = {
    "missing": _explain_missing,
    "extra_forbidden": _explain_unknown_key,
    "enum": _explain_choice,
    "literal_error": _explain_choice,
    "string_pattern_mismatch": _explain_pattern,
    "value_error": _explain_rule,
}
# What is wrong with a value that is not filled in further, and the next step; None for what the key is for.
_LENGTHS: Final = {
    "too_short": ("{label} is empty", "Write at least one item, or leave the key out"),
    "too_long": ("{label} takes no more than {max_length} values", None),
    "string_too_short": ("{label} is empty", "Write a text, or leave it out"),
    "string_too_long": ("{label} is longer than {max_length} characters", "Shorten it"),
}
