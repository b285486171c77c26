"""What pydantic found, located in the tree the user wrote, and one fault a value.

Pydantic reports every branch of a union ("not text", "not a list", "not a mapping"); a person made one
mistake. Here the branch that the person meant is chosen by the shape of what was written.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reportgen.settings.tree import MappingNode, Node, ScalarNode, SequenceNode

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Mapping as AnyMapping

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from reportgen.errors import SourceLocation

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
    found = [_locate(detail, root) for detail in error.errors(include_url=False, include_input=False)]
    settled = _choose_branches(found)
    # A list whose items are wrong is also "too short" to pydantic, which counts the good ones.
    inner = {fault.path[:depth] for fault in settled for depth in range(len(fault.path))}
    return tuple(f for f in settled if not (f.kind == "too_short" and f.path in inner))


def find_misread_names(error: ValidationError, root: Node) -> tuple[tuple[KeyPath, str], ...]:
    """Where text was wanted and a number, a boolean or null was read: the paths and the written texts."""
    found = [_locate(detail, root) for detail in error.errors(include_url=False, include_input=False)]
    meant_otherwise = {fault.path for fault in found if fault.kind in _OTHER_SCALARS}
    return tuple(
        (fault.path, fault.node.text)
        for fault in found
        if fault.kind == "string_type"
        and isinstance(fault.node, ScalarNode)
        and not isinstance(fault.node.value, str)
        and fault.path not in meant_otherwise
    )


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
