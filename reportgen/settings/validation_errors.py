"""Validates a tree against a model, with each of pydantic's errors in plain words and at its place.

Pydantic reports every branch of a union ("not text", "not a list", "not a mapping"); a person made one
mistake. The branch that the person meant is chosen by the shape of what was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import groupby
from operator import getitem
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from reportgen.core.errors import ReportError
from reportgen.core.words import join_names, suggest_name
from reportgen.settings.text import make_settings_problem, shorten
from reportgen.settings.yaml_tree import MappingNode, Node, ScalarNode, SequenceNode, to_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pydantic.fields import FieldInfo

    from reportgen.core.errors import Diagnostic, SourceLocation


_Model = TypeVar("_Model", bound=BaseModel)

_KeyPath: TypeAlias = tuple[str | int, ...]
MAX_PROBLEMS: Final = 50

# What pydantic's errors would have accepted.
_ACCEPTED: Final = {
    "text": "string_type",
    "a whole number": "int_type int_parsing int_parsing_size int_from_float",
    "a number": "float_type float_parsing",
    "true or false": "bool_type bool_parsing",
    "a list": "tuple_type list_type",
    "keys and values": "dict_type model_type",
    "a finite number": "finite_number",
}
_SHAPES: Final = {kind: shape for shape, kinds in _ACCEPTED.items() for kind in kinds.split()}
_WRONG_SHAPES: Final = frozenset(kind for kind in _SHAPES if kind.endswith("_type"))
_OTHER_SCALARS: Final = frozenset({"int_type", "float_type", "bool_type", "finite_number"})
_LIMITS: Final = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}
# The next step is None where it is what the key is for.
_LENGTHS: Final = {
    "too_short": ("{label} is empty", "Write at least one item, or leave the key out"),
    "too_long": ("{label} takes no more than {max_length} values", None),
    "string_too_short": ("{label} is empty", "Write a text, or leave it out"),
    "string_too_long": ("{label} is longer than {max_length} characters", "Shorten it"),
}
_PATTERNS: Final = {
    "id": "takes letters, digits, - and _, and begins with a letter",
    "function": "takes file.py:function",
}


@dataclass(frozen=True, slots=True)
class _Fault:
    """One thing wrong."""

    kind: str  # pydantic's name of the error, or no_branch where no branch of a union fits
    path: _KeyPath  # keys and 0-based items from the root to the value
    node: Node
    place: SourceLocation  # of the key, the item, or the text as a whole
    name: str | int | None = None  # a missing key, or an item's number where an item is missing
    branches: tuple[tuple[_KeyPath, str], ...] = ()  # where unions on the way begin, and their branch
    context: Mapping[str, Any] = field(default_factory=dict)  # pydantic's details, such as a limit

    def describe(self, root: _Spot) -> Diagnostic:
        """A problem for the user; ``root`` is the position of the whole tree."""
        spot, place = reduce(_Spot.follow, self.path, root), self.place
        message, next_step = self.explain(spot)
        if self.kind == "value_error" and isinstance(self.node, MappingNode):
            # A rule about one key of several begins its sentence with that key.
            place = self.node.keys.get(message.split(" ", 1)[0], place)
        return make_settings_problem(place, message, next_step)

    def explain(self, spot: _Spot) -> tuple[str, str]:
        """What is wrong, and the next step."""
        kind, label = self.kind, spot.label
        if (
            isinstance(self.node, ScalarNode)
            and self.node.text == ""
            and kind in {*_WRONG_SHAPES, "no_branch"}
        ):
            return f"{label} has no value", "Write one, or leave the key out"
        if kind == "no_branch" or kind in _SHAPES:
            return self.explain_shape(spot)
        if kind in _LENGTHS:
            sentence, step = _LENGTHS[kind]
            limit = self.context.get("max_length")
            return sentence.format(label=label, max_length=limit), spot.advice if step is None else step
        if kind == "missing":
            if isinstance(self.name, int):
                return f"{label} takes at least {self.name + 1} values", spot.advice
            name = str(self.name)
            field = spot.inner.model_fields.get(name) if spot.inner else None
            owner = f"{label} in {spot.owner}" if spot.key else label
            return f'{owner} needs "{name}"', _describe_field(name, field)
        return self.explain_value(spot)

    def explain_shape(self, spot: _Spot) -> tuple[str, str]:
        """What is wrong with a value of another shape."""
        node = self.node
        accepted = self.context["accepted"] if self.kind == "no_branch" else (_SHAPES[self.kind],)
        *most, last = accepted
        message = f"{spot.label} takes {', '.join(most)}{' or ' if most else ''}{last}, not "
        if not isinstance(node, ScalarNode):
            return message + ("a list" if isinstance(node, SequenceNode) else "keys and values"), spot.advice
        step = f"Write {shorten(spot.key)}: [{shorten(node.text)}]" if "a list" in accepted else spot.advice
        return f'{message}"{shorten(node.text)}"', step

    def explain_value(self, spot: _Spot) -> tuple[str, str]:
        """What is wrong with a value of the right shape, written out where it is short, or with its key."""
        text = self.node.text if isinstance(self.node, ScalarNode) else ""
        written, step = spot.label, spot.advice
        if isinstance(self.node, ScalarNode) and spot.key:
            written = f'"{shorten(spot.key)}: {shorten(text)}"'
        match self.kind:
            case "extra_forbidden":
                known = tuple(spot.holder.model_fields) if spot.holder else ()
                message = f'"{shorten(spot.key)}" is not a key of {spot.owner}'
                step = f"{suggest_name(spot.key, known)}The keys are {join_names(known)}"
            case "enum" | "literal_error":
                choices = re.findall(r"'([^']*)'", self.context["expected"])
                message = f"{written} is not one of {join_names(choices)}"
                step = (suggest_name(text, choices).rstrip() if text else "") or step
            case "string_pattern_mismatch":
                rule = _PATTERNS.get(spot.key, "is not written as it has to be")
                message = f"{written}: {spot.label} {rule}"
            case "value_error":
                message = str(self.context["error"]) or f"{spot.label} is not right"
            case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
                ((key, limit),) = self.context.items()
                message = f"{written} has to be {_LIMITS[key]} {limit:g}"
            case kind:
                message = f"{written} is not accepted ({kind.replace('_', ' ')})"
        return message, step


def validate_tree(model: type[_Model], node: Node, owner: str) -> _Model:
    """A tree as a value of a model; ``owner`` is, for instance, "a curve block".

    Raises:
        ReportError: everything that does not fit, in the order of the lines; of very much the first fifty.
    """
    if not isinstance(node, MappingNode):
        raise ReportError(
            make_settings_problem(node.place, f"{owner} takes keys and values", "Write key: value")
        )
    values = to_values(node)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = _locate_faults(error, node)
    # A number, a boolean or null in place of a text is the text that was written.
    meant_otherwise = {fault.path for fault in faults if fault.kind in _OTHER_SCALARS}
    for fault in faults:
        is_text = fault.kind == "string_type" and fault.path not in meant_otherwise
        if is_text and isinstance(fault.node, ScalarNode) and not isinstance(fault.node.value, str):
            *path, last = fault.path
            reduce(getitem, path, values)[last] = fault.node.text
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = _choose_branches(_locate_faults(error, node))
    # A list whose items are wrong is also "too short" to pydantic, which counts the good ones.
    inner = {fault.path[:depth] for fault in faults for depth in range(len(fault.path))}
    faults = [fault for fault in faults if not (fault.kind == "too_short" and fault.path in inner)]
    faults.sort(key=lambda fault: (fault.place.line or 0, fault.place.column or 0))
    problems = [fault.describe(_Spot(owner, inner=model)) for fault in faults[:MAX_PROBLEMS]]
    if len(faults) > MAX_PROBLEMS:
        message = f"there are {len(faults) - MAX_PROBLEMS} more problems like these in {owner}"
        problems.append(make_settings_problem(faults[MAX_PROBLEMS].place, message, "Mend these first"))
    raise ReportError(*problems)


def _locate_faults(error: ValidationError, root: Node) -> list[_Fault]:
    """What pydantic reports, each with the node and the location."""
    faults = []
    for detail in error.errors(include_url=False, include_input=False):
        missing = detail["type"] == "missing"
        location, name = (detail["loc"][:-1], detail["loc"][-1]) if missing else (detail["loc"], None)
        node, place = root, root.place
        path: _KeyPath = ()
        branches: list[tuple[_KeyPath, str]] = []
        for step in location:
            if isinstance(node, MappingNode) and isinstance(step, str) and step in node.entries:
                place, node, path = node.keys[step], node.entries[step], (*path, step)
            elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.items):
                node, path = node.items[step], (*path, step)
                place = node.place
            elif step != "[key]":
                branches.append((path, str(step)))
        context = detail.get("ctx", {})
        faults.append(_Fault(detail["type"], path, node, place, name, tuple(branches), context))
    return faults


def _choose_branches(found: Iterable[_Fault]) -> list[_Fault]:
    """Replace the faults of every branch of a union by those of the branch that was meant."""

    def has_wrong_shape(fault: _Fault) -> bool:
        at_start = bool(fault.branches) and fault.path == fault.branches[0][0]
        return at_start and len(fault.branches) == 1 and fault.kind in _WRONG_SHAPES

    chosen: list[_Fault] = []
    for start, group in groupby(found, key=lambda fault: fault.branches[0][0] if fault.branches else None):
        faults = list(group)
        if start is None:
            chosen += faults
            continue
        branches: dict[str, list[_Fault]] = {}
        for fault in faults:
            branches.setdefault(fault.branches[0][1], []).append(fault)
        meant = next(
            (members for members in branches.values() if not any(map(has_wrong_shape, members))), None
        )
        if meant is not None:
            chosen += _choose_branches(replace(fault, branches=fault.branches[1:]) for fault in meant)
        else:
            at_start = next(fault for fault in faults if fault.path == start)
            shapes = [_SHAPES[f.kind] for f in faults if has_wrong_shape(f) and f.kind != "int_type"]
            accepted = {"accepted": tuple(dict.fromkeys(shapes))}
            chosen.append(replace(at_start, kind="no_branch", branches=(), context=accepted))
    return chosen


@dataclass(frozen=True, slots=True)
class _Spot:
    """A value's position among the models."""

    owner: str  # what the key belongs to, such as "reference in a curve block"
    holder: type[BaseModel] | None = None  # the model of the key; None below keys that are the user's own
    inner: type[BaseModel] | None = None  # that of the value, if it is a mapping or a list of mappings
    field: tuple[str, FieldInfo] | None = None  # the nearest field on the way here, with its key
    key: str = ""  # the last key on the way, empty at the top
    item: int | None = None  # the 1-based number of an item in the list under that key
    named: bool = False  # whether the keys below are the user's own names, each with an ``inner`` of its own

    def follow(self, step: str | int) -> _Spot:
        """The position of a key or item in this value."""
        if isinstance(step, int):
            return replace(self, item=step + 1)
        owner = f"{shorten(self.key)} in {self.owner}" if self.key else self.owner
        if self.named:
            return _Spot(owner, None, self.inner, self.field, step)
        field = self.inner.model_fields.get(step) if self.inner else None
        inner = _find_model(field.annotation) if field else None
        named = field is not None and get_origin(field.annotation) is dict
        return _Spot(owner, self.inner, inner, (step, field) if field else self.field, step, named=named)

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
        return _describe_field(*self.field) if self.field else ""


def _find_model(annotation: object) -> type[BaseModel] | None:
    """The one model that an annotation such as ``tuple[Name | PanelSettings, ...]`` mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _find_model(part))), None)


def _describe_field(key: str, field: FieldInfo | None) -> str:
    """A key with its description, without the full stop; empty where there is none."""
    return f"{shorten(key)}: {field.description.rstrip('.')}" if field and field.description else ""
