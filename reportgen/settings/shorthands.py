"""Single items where lists are meant, written as lists before validation, so that each key has one shape."""

from __future__ import annotations

from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from msgspec.structs import replace
from pydantic import BaseModel

from reportgen.settings.yaml_tree import Node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def write_lists(model: type[BaseModel], node: Node) -> Node:
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
    return write_lists(inner, value) if inner and value.kind == "mapping" else value


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
