"""YAML as a tree of nodes that remember where they stand and how they were written.

Pydantic wants plain values; the user wants the line of the mistake. A node keeps both, and the
written text as well, so that a series may be called ``1e3``, ``null`` or ``2024-01-01``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Mapping as AnyMapping

    from reportgen.errors import SourceLocation


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """A single value: ``value`` as YAML 1.2 understands it, ``text`` as it was written."""

    place: SourceLocation
    value: str | int | float | bool | None
    text: str


@dataclass(frozen=True, slots=True)
class SequenceNode:
    """A list."""

    place: SourceLocation
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MappingNode:
    """Keys and values; every key is the text that was written, ``keys`` says where."""

    place: SourceLocation
    entries: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, SourceLocation] = field(default_factory=dict)

    def remove_keys(self, *names: str) -> MappingNode:
        """The same mapping without some of its keys."""
        entries = {key: node for key, node in self.entries.items() if key not in names}
        return MappingNode(self.place, entries, self.keys)


Node: TypeAlias = ScalarNode | SequenceNode | MappingNode

# The core schema of YAML 1.2: `no`, `on` and `y` are words, and a date is a text.
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)")
_NOT_A_NUMBER = frozenset({".nan", ".NaN", ".NAN"})


def parse_scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar under the core schema of YAML 1.2 (section 10.3.2)."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return float("nan") if text in _NOT_A_NUMBER else text


def to_values(node: Node) -> Any:  # noqa: ANN401  # a tree of unknown values for pydantic to judge
    """The node as dicts, lists and scalars."""
    if isinstance(node, MappingNode):
        return {key: to_values(child) for key, child in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [to_values(child) for child in node.items]
    return node.value


def iterate_scalars(node: Node) -> Iterator[ScalarNode]:
    """Every single value below a node, in the order of writing."""
    if isinstance(node, ScalarNode):
        yield node
        return
    for child in node.items if isinstance(node, SequenceNode) else node.entries.values():
        yield from iterate_scalars(child)


def from_value(value: object, place: SourceLocation, written: Node | None = None) -> Node:
    """A tree from values that another program has parsed, with the places of ``written`` where they match.

    Args:
        value: dicts, lists and scalars, such as MkDocs hands over as a plugin's options.
        place: where a node stands that has no counterpart in ``written``.
        written: the same part of the file as read by us, if it was found.
    """
    here = written.place if written else place
    if isinstance(value, dict):
        return _build_mapping(value, here, written if isinstance(written, MappingNode) else None)
    if isinstance(value, list | tuple):
        parts: tuple[Node, ...] = written.items if isinstance(written, SequenceNode) else ()
        found: list[Node | None] = [*parts, *[None] * (len(value) - len(parts))]
        return SequenceNode(
            here, tuple(from_value(item, here, part) for item, part in zip(value, found, strict=False))
        )
    if isinstance(written, ScalarNode):
        return ScalarNode(here, _to_scalar(value), written.text)
    return ScalarNode(here, _to_scalar(value), "" if value is None else str(value))


def _build_mapping(
    value: AnyMapping[object, object], place: SourceLocation, written: MappingNode | None
) -> MappingNode:
    entries: dict[str, Node] = {}
    keys: dict[str, SourceLocation] = {}
    for name, item in value.items():
        key = str(name)
        keys[key] = written.keys.get(key, place) if written else place
        entries[key] = from_value(item, keys[key], written.entries.get(key) if written else None)
    return MappingNode(place, entries, keys)


def _to_scalar(value: object) -> str | int | float | bool | None:
    # MkDocs reads YAML 1.1, where a date is a date; here it is the text that was written.
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
