"""The body of a ``vega-lite`` block: our keys lifted out of the specification, outside addresses refused.

The browser's policy and the loaders of the live view and of the renderer refuse the network as well; this
is the wall that names the line.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from reportgen.errors import Place, Problem, ReportError, Stage
from reportgen.settings.parsing import shorten
from reportgen.settings.tree import Mapping, Scalar, Sequence, scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.settings.tree import Node

_OURS: Final = ("id", "caption", "summary", "source")
_SCHEMA: Final = re.compile(r"https?://vega\.github\.io/schema/vega-lite/v\d+(\.\d+)*\.json")
_ROWS: Final = frozenset({"values", "datasets"})
_LOADING_KEYS: Final = frozenset({"url", "href", "src", "loader", "baseurl", "embedoptions"})
# Browsers drop these from an address before they read it.
_IGNORED_IN_ADDRESSES: Final = re.compile(r"[\x00-\x1f\u200b\ufeff]")
_ADDRESS: Final = re.compile(
    r"""
      [a-z][a-z0-9+.-]*:\s*[\\/]{2}                                      # any scheme with its //
    | (?<![\w.-])(?:javascript|vbscript)\s*:                             # a script as an address
    | (?<![\w.-])data:[\w.+-]*[/;,]                                      # data:text/html, data:;base64
    | (?<![\w.-])(?:https?|ftps?|wss?|file|blob|filesystem):(?=\S)       # https:host is read as https://host
    | (?:^|["'`(=,\[\s])[\\/]{2}(?=[\w\[])                               # //host, at the start or in quotes
    """,
    re.IGNORECASE | re.VERBOSE,
)


def lifted(spec: Node) -> Mapping:
    """The settings of a ``vega-lite`` block: ``spec`` and what was lifted out of it.

    ``id``, ``caption``, ``summary`` and the source at the top are taken out; a ``title`` that is a text
    is copied; sources named deeper inside stay where they stand.

    Raises:
        ReportError: outside addresses, files, numbers that JSON cannot write, all with their places.
    """
    if not isinstance(spec, Mapping) or not spec.entries:
        message = "a vega-lite block takes a Vega-Lite specification, in YAML or JSON"
        raise ReportError(_problem(spec.place, message, "Write data: {source: NAME}, mark and encoding"))
    problems = [*_schema_problems(spec), *_number_problems(spec), *_data_problems(spec)]
    problems += _address_problems(spec.without("$schema"))
    if problems:
        raise ReportError(*problems)
    entries = {key: node for key, node in spec.entries.items() if key in _OURS}
    keys = dict(spec.keys)
    rest = spec.without(*_OURS)
    data = spec.entries.get("data")
    if isinstance(data, Mapping) and "source" in data.entries:
        entries["source"], keys["source"] = data.entries["source"], data.keys["source"]
        rest = rest.without("data")
    title = spec.entries.get("title")
    if isinstance(title, Scalar) and isinstance(title.value, str):
        entries["title"] = title
    return Mapping(spec.place, {**entries, "spec": _with_names(rest)}, {**keys, "spec": spec.place})


def _problem(place: Place, message: str, next_step: str) -> Problem:
    return Problem(place, message, next_step, Stage.SETTINGS)


def _schema_problems(spec: Mapping) -> Iterator[Problem]:
    schema = spec.entries.get("$schema")
    if schema is None:
        return
    if not isinstance(schema, Scalar) or not _SCHEMA.fullmatch(schema.text):
        message = "$schema does not name a schema of Vega-Lite"
        yield _problem(schema.place, message, "Leave it out, or write a Vega-Lite specification")


def _number_problems(spec: Mapping) -> Iterator[Problem]:
    for scalar in scalars(spec):
        if isinstance(scalar.value, float) and not math.isfinite(scalar.value):
            yield _problem(scalar.place, f"{shorten(scalar.text)} is not a finite number", "Write null")


def _data_problems(spec: Mapping) -> Iterator[Problem]:
    for mapping in _mappings(spec):
        data = mapping.entries.get("data")
        if not isinstance(data, Mapping) or "source" not in data.entries:
            continue
        place = data.keys["source"]
        if len(data.entries) > 1:
            yield _problem(place, "beside source, data takes nothing else", "Remove the other keys of data")
        elif not isinstance(data.entries["source"], Scalar):
            yield _problem(place, '"source" takes text', "Write data: {source: NAME}")
        elif mapping is spec and "source" in spec.entries:
            yield _problem(place, "the source is named twice", "Keep data: {source: NAME}")


def _mappings(node: Node) -> Iterator[Mapping]:
    """Every mapping that is part of the specification, not of rows of data in it."""
    if isinstance(node, Mapping):
        yield node
        for key, child in node.entries.items():
            if key not in _ROWS:
                yield from _mappings(child)
    elif isinstance(node, Sequence):
        for child in node.items:
            yield from _mappings(child)


def _with_names(node: Node, key: str = "") -> Node:
    """The specification with the names of its sources as texts, however they look."""
    if isinstance(node, Sequence):
        return Sequence(node.place, tuple(_with_names(child) for child in node.items))
    if not isinstance(node, Mapping):
        return node
    entries = {
        name: child if name in _ROWS else _with_names(child, name) for name, child in node.entries.items()
    }
    source = entries.get("source")
    if key == "data" and isinstance(source, Scalar):
        entries["source"] = Scalar(source.place, source.text, source.text)
    return Mapping(node.place, entries, node.keys)


def _address_problems(spec: Mapping) -> Iterator[Problem]:
    refused: set[Place] = set()
    for mapping in _mappings(spec):
        for key, node in mapping.entries.items():
            if key.lower() in _LOADING_KEYS:
                refused.update((mapping.keys[key], *(scalar.place for scalar in scalars(node))))
                message = f'"{key}" would load something from outside the report'
                yield _problem(mapping.keys[key], message, "Data come by data: {source: NAME}")
    for text, place in _texts(spec):
        if place not in refused and _ADDRESS.search(_IGNORED_IN_ADDRESSES.sub("", text)):
            message = f'"{shorten(text, 60)}" holds an outside address'
            yield _problem(place, message, "A page of the report asks no other site: remove it")


def _texts(node: Node) -> Iterator[tuple[str, Place]]:
    """Every text of a tree, keys too."""
    if isinstance(node, Scalar):
        yield node.text, node.place
    elif isinstance(node, Sequence):
        for child in node.items:
            yield from _texts(child)
    else:
        for key, child in node.entries.items():
            yield key, node.keys[key]
            yield from _texts(child)
