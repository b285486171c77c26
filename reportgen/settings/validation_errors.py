"""Validates a tree against a model, with each of pydantic's errors in plain words and at its place.

A single item where a list is meant is written as a list first. Pydantic reports every branch of a union
("not text", "not a list", "not a mapping"); a person made one mistake. The branch that the person meant is
chosen by the shape of what was written.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import reduce
from itertools import groupby
from operator import getitem
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from reportgen.core.errors import Diagnostics, ReportError
from reportgen.core.words import join_names, suggest_name
from reportgen.settings.base import list_meant, suggest_key
from reportgen.settings.text import make_settings_problem, shorten
from reportgen.settings.yaml_tree import Node, Origin, parse, to_values

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from pydantic.fields import FieldInfo

    from reportgen.core.errors import Diagnostic, SourceLocation


_Model = TypeVar("_Model", bound=BaseModel)

_KeyPath: TypeAlias = tuple[str | int, ...]
_Accepts: TypeAlias = "Callable[[_KeyPath, str], bool]"
MAX_PROBLEMS: Final = 50
_LONGEST_LINE: Final = 60

# Shapes that pydantic's errors would have accepted.
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
# The next step is None if it is the description of the key.
_LENGTHS: Final = {
    "too_short": ("{label} is empty", "Write at least one item, or leave the key out"),
    "too_long": ("{label} can have at most {max_length} values", None),
    "string_too_short": ("{label} is empty", "Write a text, or leave it out"),
    "string_too_long": ("{label} is longer than {max_length} characters", "Shorten it"),
}
_PATTERNS: Final = {
    "id": "must begin with a letter and contain only letters, digits, - and _",
    "function": "must be written as file.py:function",
    "feed_id": "must be a tag URI, such as tag:example.org,2026:scaling",
}


class _Spot(Struct, frozen=True):
    """A value's position in the text and among the models."""

    owner: str  # owner of the key, such as "reference in a curve block"
    node: Node
    place: SourceLocation  # location of the key, the item, or the whole text
    path: _KeyPath = ()  # keys and 0-based indices from the root to the value
    holder: type[BaseModel] | None = None  # model of the key, None below keys that the user chooses
    inner: type[BaseModel] | None = None  # model of the value, if it is a mapping or a list of mappings
    field: tuple[str, FieldInfo] | None = None  # the nearest field on the path, with its key
    key: str = ""  # the last key on the path, empty at the top
    item: int | None = None  # 1-based number of an item in the list under that key
    named: bool = False  # whether the keys below are the user's own names, each with an ``inner`` value

    def follow(self, step: str | int) -> _Spot | None:
        """The position of a key or item in this value; None where the text has no such part."""
        path, node = (*self.path, step), self.node
        if isinstance(step, int):
            item = node.items[step] if step < len(node.items) else None
            return replace(self, node=item, place=item.place, path=path, item=step + 1) if item else None
        if step not in node.entries:
            return None
        owner = f"{shorten(self.key)} in {self.owner}" if self.key else self.owner
        here = (owner, node.entries[step], node.keys[step], path)
        if self.named:
            return _Spot(*here, None, self.inner, self.field, step)
        field = self.inner.model_fields.get(step) if self.inner else None
        inner = _find_model(field.annotation) if field else None
        named = field is not None and get_origin(field.annotation) is dict
        return _Spot(*here, self.inner, inner, (step, field) if field else self.field, step, named=named)

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


class _Fault(Struct, frozen=True):
    """One thing wrong."""

    kind: str  # pydantic's type of the error, or no_branch if no branch of a union fits
    spot: _Spot
    name: str | int | None = None  # a missing key, or the number of a missing item
    branches: tuple[tuple[_KeyPath, str], ...] = ()  # start of each union on the path, and its branch
    context: Mapping[str, Any] = field(default_factory=dict)  # pydantic's details, such as a limit

    def describe(self, accepts: _Accepts) -> Diagnostic:
        """A problem for the user; lines that the next step proposes are ``accepted``."""
        message, next_step = self.explain(accepts)
        place = self.spot.place
        if self.kind == "value_error":
            # A message about one of several keys begins with that key.
            place = self.spot.node.keys.get(message.split(" ", 1)[0].rstrip(":"), place)
        return make_settings_problem(place, message, next_step)

    def explain(self, accepts: _Accepts) -> tuple[str, str]:
        """What is wrong, and the next step."""
        kind, spot = self.kind, self.spot
        label = spot.label
        is_empty = spot.node.kind == "scalar" and not spot.node.text
        if is_empty and kind in {*_WRONG_SHAPES, "no_branch"}:
            return f"{label} has no value", "Write one, or leave the key out"
        if kind == "no_branch" or kind in _SHAPES:
            return self.explain_shape(accepts)
        if kind in _LENGTHS:
            sentence, step = _LENGTHS[kind]
            limit = self.context.get("max_length")
            if kind == "string_too_short" and spot.key.count(")") > spot.key.count("("):
                # What follows a comma between braces: max(a, b).
                step = "A formula has numbers, metrics, + - * /, parentheses, exp( ) and log( ), no commas"
            return sentence.format(label=label, max_length=limit), spot.advice if step is None else step
        if kind == "missing":
            if isinstance(self.name, int):
                return f"{label} must have at least {self.name + 1} values", spot.advice
            name = str(self.name)
            field = spot.inner.model_fields.get(name) if spot.inner else None
            owner = f"{label} in {spot.owner}" if spot.key else label
            return f'{owner} needs "{name}"', _describe_field(name, field)
        return self.explain_value()

    def explain_shape(self, accepts: _Accepts) -> tuple[str, str]:
        """What is wrong with a value of another shape."""
        spot, node = self.spot, self.spot.node
        accepted = self.context["accepted"] if self.kind == "no_branch" else (_SHAPES[self.kind],)
        *most, last = accepted
        message = f"{spot.label} must be {', '.join(most)}{' or ' if most else ''}{last}, not "
        if node.kind != "scalar":
            return message + ("a list" if node.kind == "list" else "keys and values"), spot.advice
        keys = tuple(spot.inner.model_fields) if spot.inner and not spot.named else ()
        texts = [f"{{{key}: {node.text}}}" for key in keys]
        start, step = f"{spot.key}: ", spot.advice
        if accepted == ("keys and values",) and keys:
            step = f"Write them as key: value; the keys are {join_names(keys)}"
        elif spot.item is None and "a list" in accepted:
            texts = [f"[{text}]" for text in (node.text, *texts)]
        lines = [text for text in texts if len(text) <= _LONGEST_LINE and accepts(spot.path, start + text)]
        if lines:
            step = f"Write {' or '.join(line if spot.item else start + line for line in lines)}"
        return f'{message}"{shorten(node.text)}"', step

    def explain_value(self) -> tuple[str, str]:
        """What is wrong with a value of the right shape, written out where it is short, or with its key."""
        spot = self.spot
        text, written, step = spot.node.text, spot.label, spot.advice
        if spot.node.kind == "scalar" and spot.key:
            written = f'"{shorten(spot.key)}: {shorten(text)}"'
        match self.kind:
            case "extra_forbidden":
                known = tuple(spot.holder.model_fields) if spot.holder else ()
                message = f'"{shorten(spot.key)}" is not a key of {spot.owner}'
                step = f"{_suggest_key(spot, known)}The keys are {join_names(known)}"
            case "enum" | "literal_error":
                choices = re.findall(r"'([^']*)'", self.context["expected"])
                message = f"{written} is not one of {join_names(choices)}"
                step = (suggest_name(text, choices).rstrip() if text else "") or step
            case "string_pattern_mismatch":
                rule = _PATTERNS.get(spot.key, "is not in the right form")
                message = f"{written}: {spot.label} {rule}"
            case "value_error":
                said, *steps = self.context["error"].args or (f"{spot.label} is not right",)
                message, step = str(said), next(iter(steps), step)
            case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal":
                ((key, limit),) = self.context.items()
                message = f"{written} must be {_LIMITS[key]} {limit:g}"
            case kind:
                message = f"{written} is not accepted ({kind.replace('_', ' ')})"
        return message, step


def _suggest_key(spot: _Spot, known: Collection[str]) -> str:
    """Suggest the key that was meant, or the line to write, in a sentence that ends in a space."""
    if meant := suggest_key(spot.key, shorten(spot.node.text), known):
        return meant
    from reportgen.settings.blocks import KINDS  # noqa: PLC0415 - as in load_block

    models = {kind: one.settings for kind, one in KINDS.items()}
    for key in (spot.key, *list_meant(spot.key)) if spot.holder in models.values() else ():
        if others := [kind for kind, one in models.items() if key in one.model_fields.keys() - one.refused]:
            named = "It" if key == spot.key else f'"{key}"'
            return f"{named} is a key of {join_names(others, most=4)}. "
    drawn = [kind for kind, one in KINDS.items() if spot.key.lower() in one.charts.split()]
    if drawn and spot.holder in models.values() and spot.holder is not models[drawn[0]]:
        return f"A {drawn[0]} block draws that. "
    return suggest_name(spot.key, known) if meant is None else ""


def validate_tree(model: type[_Model], node: Node, owner: str) -> _Model:
    """A tree as a value of a model; ``owner`` is, for instance, "a curve block".

    Raises:
        ReportError: everything that does not fit, in the order of the lines; of very much the first fifty.
    """
    if node.kind != "mapping":
        raise ReportError(
            make_settings_problem(
                node.place, f"{owner} must consist of keys and values", "Write each on a line, as key: value"
            )
        )
    node = _write_lists(model, node)
    validated = _validate(model, node, owner)
    if not isinstance(validated, list):
        return validated
    # A list with invalid items is also "too short" to pydantic, which counts the valid ones.
    faults = validated
    inner = {fault.spot.path[:depth] for fault in faults for depth in range(len(fault.spot.path))}
    faults = [fault for fault in faults if not (fault.kind == "too_short" and fault.spot.path in inner)]
    faults.sort(key=lambda fault: (fault.spot.place.line or 0, fault.spot.place.column or 0))

    def accepts(path: _KeyPath, line: str) -> bool:
        """Whether nothing is wrong with a value on a path, or around it, once a line replaces it."""
        written = None
        with Diagnostics().collecting():
            written = parse(line, Origin(node.place.file))
        if not written or len(written.entries) != 1:
            return False
        (value,) = written.entries.values()
        found = _validate(model, _put(node, path, value), owner)
        faults = found if isinstance(found, list) else []
        return not any(fault.spot.path[: len(path)] == path[: len(fault.spot.path)] for fault in faults)

    problems = [fault.describe(accepts) for fault in faults[:MAX_PROBLEMS]]
    if len(faults) > MAX_PROBLEMS:
        message = f"there are {len(faults) - MAX_PROBLEMS} more problems like these in {owner}"
        problems.append(make_settings_problem(faults[MAX_PROBLEMS].spot.place, message, "Mend these first"))
    raise ReportError(*problems)


def _validate(model: type[_Model], node: Node, owner: str) -> _Model | list[_Fault]:
    """A mapping as a value of a model, or what does not fit."""
    values, root = to_values(node), _Spot(owner, node, node.place, inner=model)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = _locate_faults(error, root)
    # A number, a boolean or null instead of a text is read as the text that was written.
    meant_otherwise = {fault.spot.path for fault in faults if fault.kind in _OTHER_SCALARS}
    for fault in faults:
        spot = fault.spot
        is_text = fault.kind == "string_type" and spot.path not in meant_otherwise
        if is_text and spot.node.kind == "scalar" and not isinstance(spot.node.value, str):
            *path, last = spot.path
            reduce(getitem, path, values)[last] = spot.node.text
    try:
        return model.model_validate(values)
    except ValidationError as error:
        return _choose_branches(_locate_faults(error, root))


def _put(node: Node, path: _KeyPath, value: Node) -> Node:
    """The same tree with another value on a path."""
    if not path:
        return value
    step, *rest = path
    if isinstance(step, int):
        item = _put(node.items[step], tuple(rest), value)
        return replace(node, items=(*node.items[:step], item, *node.items[step + 1 :]))
    return replace(node, entries={**node.entries, step: _put(node.entries[step], tuple(rest), value)})


def _locate_faults(error: ValidationError, root: _Spot) -> list[_Fault]:
    """What pydantic reports, each at its spot."""
    faults = []
    for detail in error.errors(include_url=False, include_input=False):
        missing = detail["type"] == "missing"
        location, name = (detail["loc"][:-1], detail["loc"][-1]) if missing else (detail["loc"], None)
        spot = root
        branches: list[tuple[_KeyPath, str]] = []
        for step in location:
            if inner := spot.follow(step):
                spot = inner
            elif step != "[key]":
                branches.append((spot.path, str(step)))
        faults.append(_Fault(detail["type"], spot, name, tuple(branches), detail.get("ctx", {})))
    return faults


def _choose_branches(found: Iterable[_Fault]) -> list[_Fault]:
    """Replace the faults of every branch of a union by those of the branch that was meant."""
    chosen: list[_Fault] = []
    for start, group in groupby(found, key=lambda fault: fault.branches[0][0] if fault.branches else None):
        faults = list(group)
        if start is None:
            chosen += faults
            continue
        # The value itself, not one inside it, has another shape than the branch.
        misshapen = [
            fault
            for fault in faults
            if fault.spot.path == start and len(fault.branches) == 1 and fault.kind in _WRONG_SHAPES
        ]
        refused = {fault.branches[0][1] for fault in misshapen}
        meant = next((fault.branches[0][1] for fault in faults if fault.branches[0][1] not in refused), None)
        if meant is not None:
            inner = (fault for fault in faults if fault.branches[0][1] == meant)
            chosen += _choose_branches(replace(fault, branches=fault.branches[1:]) for fault in inner)
        else:
            at_start = next(fault for fault in faults if fault.spot.path == start)
            shapes = [_SHAPES[fault.kind] for fault in misshapen if fault.kind != "int_type"]
            accepted = {"accepted": tuple(dict.fromkeys(shapes))}
            chosen.append(replace(at_start, kind="no_branch", branches=(), context=accepted))
    return chosen


def _find_model(annotation: object) -> type[BaseModel] | None:
    """The one model that an annotation such as ``tuple[Name | PanelSettings, ...]`` mentions."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in get_args(annotation) if (model := _find_model(part))), None)


def _describe_field(key: str, field: FieldInfo | None) -> str:
    """A key with its description, without the full stop; empty where there is none."""
    return f"{shorten(key)}: {field.description.rstrip('.')}" if field and field.description else ""


def _write_lists(model: type[BaseModel], node: Node) -> Node:
    """Return a mapping with each single item as a list of one: ``metrics: loss`` as ``metrics: [loss]``.

    An item stays as it is if its key also takes such a value by itself, as ``other_x: auto`` does.
    """
    fields = model.model_fields
    entries = {
        key: _write_list(fields[key].annotation, value) if key in fields else value
        for key, value in node.entries.items()
    }
    return replace(node, entries=entries)


def _write_list(annotation: object, value: Node) -> Node:
    if value.kind == "list" or (value.kind == "scalar" and not value.text):
        return value
    kinds = list(_list_kinds(annotation))
    items = [get_args(kind)[0] for kind in kinds if get_origin(kind) is tuple and Ellipsis in get_args(kind)]
    if items and not _accept(kinds, value) and _accept(tuple(_list_kinds(items[0])), value):
        return Node(value.place, "list", items=(value,), size=value.size + 1)
    inner = next((kind for kind in kinds if _is_class(kind, BaseModel)), None)
    return _write_lists(inner, value) if inner and value.kind == "mapping" else value


def _list_kinds(annotation: object) -> Iterator[Any]:
    """Yield the members of a union, without what annotates them."""
    if get_origin(annotation) is Annotated:
        yield from _list_kinds(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for part in get_args(annotation):
            yield from _list_kinds(part)
    else:
        yield annotation


def _accept(kinds: Sequence[Any], value: Node) -> bool:
    """Return whether a scalar or a mapping has the shape of one of these kinds."""
    if value.kind == "mapping":
        return any(get_origin(kind) is dict or _is_class(kind, BaseModel) for kind in kinds)
    shapes = {str, int, float, type(value.value)}
    words = {word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)}
    return value.text in words or any(kind in shapes or _is_class(kind, Enum) for kind in kinds)


def _is_class(kind: object, base: type) -> bool:
    return isinstance(kind, type) and issubclass(kind, base)
