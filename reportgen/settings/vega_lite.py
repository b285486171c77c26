"""The body of a ``vega-lite`` block: our own keys taken out of it, and everything dangerous refused.

Refused are outside addresses, files, code (see ``vega_expressions``), attributes of the page's elements, and
data that only a browser could parse. The browser's policy and the loaders of the live view and of the
renderer refuse the network as well; this check is the one that names the line.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import ReportError
from reportgen.settings.text import make_settings_problem, shorten
from reportgen.settings.vega_expressions import (
    check_expression,
    decode_escapes,
    find_unsafe_name,
    split_words,
)
from reportgen.settings.yaml_tree import MappingNode, ScalarNode, SequenceNode, iterate_scalars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.errors import Diagnostic, SourceLocation
    from reportgen.settings.yaml_tree import Node


_OURS: Final = ("id", "caption", "summary", "source")
_SCHEMA: Final = re.compile(r"https?://vega\.github\.io/schema/vega-lite/v\d+(\.\d+)*\.json")
_ROWS: Final = frozenset({"values", "datasets"})
_EXPRESSIONS: Final = frozenset(
    "expr calculate test filter and or not labelExpr signal update init toggle".lower().split()
)
_SELECTORS: Final = frozenset(["on", "clear", "zoom", "translate", "events", "between", "legend"])
_BIND_KEYS: Final = frozenset(
    ["input", "options", "labels", "min", "max", "step", "name", "debounce", "placeholder", "autocomplete"]
)
_INPUTS: Final = split_words(
    "checkbox radio select range text number color date datetime-local month week time search email tel"
)
_FORMAT_TYPES: Final = frozenset({"number", "time", ""})
# Words for readers and lists of values, where a name means nothing to Vega.
_WORDS: Final = split_words(
    "title subtitle description text labels placeholder domain range options equal oneof"
)
_PARAMETER: Final = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
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
    | (?<![\w-])(?:url|src|image|image-set|-webkit-image-set|cross-fade)\( # what a style sheet loads
    | @import
    """,
    re.IGNORECASE | re.VERBOSE,
)
# In a style sheet "\2f " and "\/" are slashes.
_CSS_ESCAPE: Final = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})[ \t\r\n\f]?|\r?\n|([^\n]))")


def split_specification(spec: Node) -> MappingNode:
    """The settings of a ``vega-lite`` block: ``spec`` and what was lifted out of it.

    ``id``, ``caption``, ``summary`` and the source at the top are taken out; a ``title`` that is a text
    is copied; sources named deeper inside stay where they stand.

    Raises:
        ReportError: outside addresses, files, code, numbers that JSON cannot write, all with their places.
    """
    if not isinstance(spec, MappingNode) or not spec.entries:
        message = "a vega-lite block takes a Vega-Lite specification, in YAML or JSON"
        raise ReportError(
            make_settings_problem(spec.place, message, "Write data: {source: NAME}, mark and encoding")
        )
    problems = [*_check_schema(spec), *_check_numbers(spec), *_check_data(spec)]
    problems += _check_addresses(spec.remove_keys("$schema"))
    places = {problem.location for problem in problems}
    problems += (
        problem for problem in _check_code(spec.remove_keys(*_OURS)) if problem.location not in places
    )
    if problems:
        raise ReportError(*problems)
    entries = {key: node for key, node in spec.entries.items() if key in _OURS}
    keys = dict(spec.keys)
    rest = spec.remove_keys(*_OURS)
    data = spec.entries.get("data")
    if isinstance(data, MappingNode) and "source" in data.entries:
        entries["source"], keys["source"] = data.entries["source"], data.keys["source"]
        rest = rest.remove_keys("data")
    title = spec.entries.get("title")
    if isinstance(title, ScalarNode) and isinstance(title.value, str):
        entries["title"] = title
    return MappingNode(spec.place, {**entries, "spec": _name_sources(rest)}, {**keys, "spec": spec.place})


def _check_schema(spec: MappingNode) -> Iterator[Diagnostic]:
    schema = spec.entries.get("$schema")
    if schema is None:
        return
    if not isinstance(schema, ScalarNode) or not _SCHEMA.fullmatch(schema.text):
        message = "$schema does not name a schema of Vega-Lite"
        yield make_settings_problem(schema.place, message, "Leave it out, or write a Vega-Lite specification")


def _check_numbers(spec: MappingNode) -> Iterator[Diagnostic]:
    for scalar in iterate_scalars(spec):
        if isinstance(scalar.value, float) and not math.isfinite(scalar.value):
            yield make_settings_problem(
                scalar.place, f"{shorten(scalar.text)} is not a finite number", "Write null"
            )


def _check_data(spec: MappingNode) -> Iterator[Diagnostic]:
    for mapping in _iterate_mappings(spec):
        yield from _check_text_data(mapping)
        data = mapping.entries.get("data")
        if not isinstance(data, MappingNode) or "source" not in data.entries:
            continue
        place = data.keys["source"]
        if len(data.entries) > 1:
            yield make_settings_problem(
                place, "beside source, data takes nothing else", "Remove the other keys of data"
            )
        elif not isinstance(data.entries["source"], ScalarNode):
            yield make_settings_problem(place, '"source" takes text', "Write data: {source: NAME}")
        elif mapping is spec and "source" in spec.entries:
            yield make_settings_problem(place, "the source is named twice", "Keep data: {source: NAME}")


def _check_text_data(mapping: MappingNode) -> Iterator[Diagnostic]:
    """Rows as one text, such as CSV: Vega makes code to parse it, which the policy of a page refuses."""
    datasets = mapping.entries.get("datasets")
    named = list(datasets.entries.values()) if isinstance(datasets, MappingNode) else []
    data = mapping.entries.get("data")
    if isinstance(data, MappingNode) and "values" in data.entries:
        named.append(data.entries["values"])
    for node in named:
        if isinstance(node, ScalarNode) and isinstance(node.value, str):
            message = f'"{shorten(node.text, 40)}" would be parsed as a table in the browser'
            step = "Put it into a file below data/ and write data: {source: NAME}, or list rows in values"
            yield make_settings_problem(node.place, message, step)


def _iterate_mappings(node: Node) -> Iterator[MappingNode]:
    """Every mapping that is part of the specification, not of rows of data in it."""
    if isinstance(node, MappingNode):
        yield node
        for key, child in node.entries.items():
            if key not in _ROWS:
                yield from _iterate_mappings(child)
    elif isinstance(node, SequenceNode):
        for child in node.items:
            yield from _iterate_mappings(child)


def _name_sources(node: Node, key: str = "") -> Node:
    """The specification with the names of its sources as texts, however they look."""
    if isinstance(node, SequenceNode):
        return SequenceNode(node.place, tuple(_name_sources(child) for child in node.items))
    if not isinstance(node, MappingNode):
        return node
    entries = {
        name: child if name in _ROWS else _name_sources(child, name) for name, child in node.entries.items()
    }
    source = entries.get("source")
    if key == "data" and isinstance(source, ScalarNode):
        entries["source"] = ScalarNode(source.place, source.text, source.text)
    return MappingNode(node.place, entries, node.keys)


def _check_addresses(spec: MappingNode) -> Iterator[Diagnostic]:
    refused: set[SourceLocation] = set()
    for mapping in _iterate_mappings(spec):
        for key, node in mapping.entries.items():
            if key.lower() in _LOADING_KEYS:
                refused.update((mapping.keys[key], *(scalar.place for scalar in iterate_scalars(node))))
                message = f'"{key}" would load something from outside the report'
                yield make_settings_problem(mapping.keys[key], message, "Data come by data: {source: NAME}")
    for text, place in _iterate_texts(spec):
        if place not in refused and any(map(_ADDRESS.search, _decode_readings(text))):
            message = f'"{shorten(text, 60)}" holds an outside address'
            yield make_settings_problem(place, message, "A page of the report asks no other site: remove it")


def _decode_readings(text: str) -> Iterator[str]:
    """A text as a browser may come to read it: with the escapes of scripts and of style sheets undone."""
    for said in dict.fromkeys((text, decode_escapes(text))):
        plain = _IGNORED_IN_ADDRESSES.sub("", said)
        yield plain
        if "\\" in plain:
            yield _CSS_ESCAPE.sub(_decode_css, said)


def _decode_css(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(min(int(escape[1], 16), 0x10FFFF))
    return escape[2] or ""


def _check_code(spec: MappingNode) -> Iterator[Diagnostic]:
    """Whatever reaches code or elements of the page: expressions, inputs, names that Vega takes for code."""
    for mapping in _iterate_mappings(spec):
        for key, node in mapping.entries.items():
            name, place = key.lower(), mapping.keys[key]
            if name in _EXPRESSIONS or name in _SELECTORS:
                yield from _check_expressions(node, selector=name in _SELECTORS)
            elif name == "bind":
                yield from _check_bind(node)
            elif name == "signals":
                message = '"signals" belongs to Vega and may hold code'
                yield make_settings_problem(place, message, "Write params, as Vega-Lite has them")
            elif name == "formattype" and isinstance(node, ScalarNode) and node.text not in _FORMAT_TYPES:
                message = f'"{shorten(node.text)}" is no type of format'
                yield make_settings_problem(node.place, message, "Write number or time")
            elif name == "params":
                yield from _check_parameters(node)
            elif name not in _WORDS and name not in _ROWS:
                yield from _check_names(node)
            if out := find_unsafe_name(key):
                yield _make_name_problem(out, place)


def _check_expressions(node: Node, *, selector: bool) -> Iterator[Diagnostic]:
    for scalar in _iterate_listed(node):
        if fault := check_expression(scalar.text, selector=selector):
            yield make_settings_problem(scalar.place, *fault)


def _check_bind(node: Node) -> Iterator[Diagnostic]:
    """An input of the reader's: Vega makes an attribute of every key that it does not know, handlers too."""
    if not isinstance(node, MappingNode):
        return
    if "input" not in node.entries:
        # Inputs for several fields, or the events of a legend, which are read as selectors.
        for key, inner in node.entries.items():
            if isinstance(inner, MappingNode):
                yield from _check_bind(inner)
            elif key != "legend":
                yield make_settings_problem(
                    node.keys[key], f'"{shorten(key)}" is no input', "Write bind: {input: range}"
                )
        return
    for key, inner in node.entries.items():
        if key not in _BIND_KEYS:
            message = f'"{shorten(key)}" is not a key of an input'
            yield make_settings_problem(
                node.keys[key], message, f"An input takes {', '.join(sorted(_BIND_KEYS))}"
            )
        elif key == "input" and not (isinstance(inner, ScalarNode) and inner.text in _INPUTS):
            yield make_settings_problem(
                inner.place, "this is no kind of input", f"There are {', '.join(sorted(_INPUTS))}"
            )


def _check_parameters(node: Node) -> Iterator[Diagnostic]:
    for one in node.items if isinstance(node, SequenceNode) else ():
        name = one.entries.get("name") if isinstance(one, MappingNode) else None
        if isinstance(name, ScalarNode) and not _PARAMETER.fullmatch(name.text):
            message = f'"{shorten(name.text)}" cannot be the name of a parameter'
            yield make_settings_problem(name.place, message, "Use letters, digits and _, with a letter first")


def _check_names(node: Node) -> Iterator[Diagnostic]:
    for scalar in _iterate_listed(node):
        if out := find_unsafe_name(scalar.text):
            yield _make_name_problem(out, scalar.place)


def _make_name_problem(name: str, place: SourceLocation) -> Diagnostic:
    return make_settings_problem(place, f'"{name}" leads out of the data of a chart', "Rename the column")


def _iterate_listed(node: Node) -> Iterator[ScalarNode]:
    """The texts of a node that is one, or a list of them, however deep; not of mappings."""
    if isinstance(node, ScalarNode) and isinstance(node.value, str):
        yield node
    for child in node.items if isinstance(node, SequenceNode) else ():
        yield from _iterate_listed(child)


def _iterate_texts(node: Node) -> Iterator[tuple[str, SourceLocation]]:
    """Every text of a tree, keys too."""
    if isinstance(node, ScalarNode):
        yield node.text, node.place
    elif isinstance(node, SequenceNode):
        for child in node.items:
            yield from _iterate_texts(child)
    else:
        for key, child in node.entries.items():
            yield key, node.keys[key]
            yield from _iterate_texts(child)
