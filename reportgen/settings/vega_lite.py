"""The body of a ``vega-lite`` block: our own keys taken out of it, and everything dangerous refused.

Refused are outside addresses, files, code (see ``vega_expressions``), attributes of the page's elements, and
data that only a browser could parse. The browser's policy and the loaders of the live view and of the
renderer refuse the network as well; this check is the one that names the line.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reportgen.core.errors import ReportError
from reportgen.settings.text import make_settings_problem, shorten
from reportgen.settings.vega_expressions import (
    LAST_CHARACTER,
    check_expression,
    find_unsafe_name,
    split_words,
    undo_escapes,
)
from reportgen.settings.yaml_tree import Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.errors import Diagnostic, SourceLocation


_OURS: Final = ("id", "caption", "summary", "source")
_SCHEMA: Final = re.compile(r"https?://vega\.github\.io/schema/vega-lite/v\d+(\.\d+)*\.json")
_ROWS: Final = frozenset({"values", "datasets"})
_EXPRESSIONS: Final = split_words("expr calculate test filter and or not labelexpr signal update init toggle")
_SELECTORS: Final = split_words("on clear zoom translate events between legend")
_BIND_KEYS: Final = split_words("input options labels min max step name debounce placeholder autocomplete")
_INPUTS: Final = split_words(
    "checkbox radio select range text number color date datetime-local month week time search email tel"
)
_FORMAT_TYPES: Final = frozenset({"number", "time", ""})
# Keys with texts for readers or lists of values, in which names have no meaning for Vega.
_WORDS: Final = split_words(
    "title subtitle description text labels placeholder domain range options equal oneof"
)
_PARAMETER: Final = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_LOADING_KEYS: Final = split_words("url href src loader baseurl embedoptions")
# Browsers remove these from an address before they parse it.
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


def split_specification(spec: Node) -> Node:
    """The settings of a ``vega-lite`` block: ``spec`` and what was lifted out of it.

    ``id``, ``caption``, ``summary`` and the source at the top are taken out; a ``title`` that is a text
    is copied; sources named deeper inside stay where they are.

    Raises:
        ReportError: outside addresses, files, code, numbers that JSON cannot write, all with their places.
    """
    if not spec.entries:
        message = "a vega-lite block must be a Vega-Lite specification, in YAML or JSON"
        step = "Write data: {source: NAME}, mark and encoding"
        raise ReportError(make_settings_problem(spec.place, message, step))
    problems: list[Diagnostic] = []
    schema = spec.entries.get("$schema")
    if schema and not _SCHEMA.fullmatch(schema.text):
        message = "$schema does not name a schema of Vega-Lite"
        step = "Leave it out, or write a Vega-Lite specification"
        problems.append(make_settings_problem(schema.place, message, step))
    problems += (
        make_settings_problem(scalar.place, f"{shorten(scalar.text)} is not a finite number", "Write null")
        for scalar in spec.iterate()
        if isinstance(scalar.value, float) and not math.isfinite(scalar.value)
    )
    problems += [*_check_data(spec), *_check_addresses(spec.remove_keys("$schema"))]
    places = {problem.location for problem in problems}
    rest = spec.remove_keys(*_OURS)
    problems += (problem for problem in _check_code(rest) if problem.location not in places)
    if problems:
        raise ReportError(*problems)
    entries = {key: node for key, node in spec.entries.items() if key in _OURS}
    keys = {**spec.keys, "spec": spec.place}
    data, title = spec.entries.get("data"), spec.entries.get("title")
    if data and "source" in data.entries:
        entries["source"], keys["source"] = data.entries["source"], data.keys["source"]
        rest = rest.remove_keys("data")
    if title and isinstance(title.value, str):
        entries["title"] = title
    return Node(spec.place, "mapping", entries={**entries, "spec": _name_sources(rest)}, keys=keys)


def _check_data(spec: Node) -> Iterator[Diagnostic]:
    for mapping in spec.iterate(without=_ROWS):
        datasets, data = mapping.entries.get("datasets"), mapping.entries.get("data")
        rows = list(datasets.entries.values()) if datasets else []
        if data and "values" in data.entries:
            rows.append(data.entries["values"])
        for node in rows:
            # Vega generates code to parse rows in one text, such as CSV, and the policy of a page refuses it.
            if isinstance(node.value, str):
                message = f'"{shorten(node.text, 40)}" would be parsed as a table in the browser'
                step = "Put it into a file below data/ and write data: {source: NAME}, or list rows in values"
                yield make_settings_problem(node.place, message, step)
        if data and "source" in data.entries:
            place = data.keys["source"]
            if len(data.entries) > 1:
                message, step = "data with source: cannot have other keys", "Remove the other keys of data"
                yield make_settings_problem(place, message, step)
            elif data.entries["source"].kind != "scalar":
                yield make_settings_problem(place, '"source" must be text', "Write data: {source: NAME}")
            elif mapping is spec and "source" in spec.entries:
                yield make_settings_problem(place, "the source is named twice", "Keep data: {source: NAME}")


def _name_sources(node: Node, key: str = "") -> Node:
    """The specification with the names of its sources as texts, however they look."""
    items = tuple(map(_name_sources, node.items))
    entries = {
        name: child if name in _ROWS else _name_sources(child, name) for name, child in node.entries.items()
    }
    source = entries.get("source")
    if key == "data" and source and source.kind == "scalar":
        entries["source"] = replace(source, value=source.text)
    return replace(node, items=items, entries=entries)


def _check_addresses(spec: Node) -> Iterator[Diagnostic]:
    refused: set[SourceLocation] = set()
    for key, place, node in _iterate_entries(spec):
        if key.lower() in _LOADING_KEYS:
            refused.update((place, *(inner.place for inner in node.iterate() if inner.kind == "scalar")))
            message = f'"{key}" would load something from outside the report'
            yield make_settings_problem(place, message, "Data come by data: {source: NAME}")
    for text, place in _iterate_texts(spec):
        if place not in refused and any(map(_ADDRESS.search, _decode_readings(text))):
            message = f'"{shorten(text, 60)}" holds an outside address'
            yield make_settings_problem(place, message, "A page of the report asks no other site: remove it")


def _decode_readings(text: str) -> Iterator[str]:
    """A text as a browser may come to read it: with the escapes of scripts and of style sheets undone."""

    def decode(escape: re.Match[str]) -> str:
        return chr(min(int(escape[1], 16), LAST_CHARACTER)) if escape[1] else escape[2] or ""

    for reading in dict.fromkeys((text, undo_escapes(text))):
        plain = _IGNORED_IN_ADDRESSES.sub("", reading)
        yield plain
        if "\\" in plain:
            yield _CSS_ESCAPE.sub(decode, reading)


def _check_code(spec: Node) -> Iterator[Diagnostic]:
    """Whatever reaches code or elements of the page: expressions, inputs, names that Vega takes for code."""
    for key, place, node in _iterate_entries(spec):
        name = key.lower()
        if name in _EXPRESSIONS or name in _SELECTORS:
            texts = _iterate_listed(node)
            faults = (
                (text.place, check_expression(text.text, selector=name in _SELECTORS)) for text in texts
            )
            yield from (make_settings_problem(location, *fault) for location, fault in faults if fault)
        elif name == "bind":
            yield from _check_bind(node)
        elif name == "signals":
            message = '"signals" belongs to Vega and may hold code'
            yield make_settings_problem(place, message, "Write params, as Vega-Lite has them")
        elif name == "formattype" and node.text not in _FORMAT_TYPES:
            message = f'"{shorten(node.text)}" is no type of format'
            yield make_settings_problem(node.place, message, "Write number or time")
        elif name == "params":
            names = filter(None, (item.entries.get("name") for item in node.items))
            wrong = (one for one in names if one.kind == "scalar" and not _PARAMETER.fullmatch(one.text))
            step = "Use letters, digits and _, with a letter first"
            for text in wrong:
                message = f'"{shorten(text.text)}" cannot be the name of a parameter'
                yield make_settings_problem(text.place, message, step)
        elif name not in _WORDS and name not in _ROWS:
            for text in _iterate_listed(node):
                yield from _check_name_in_data(text.text, text.place)
        yield from _check_name_in_data(key, place)


def _check_name_in_data(path: str, place: SourceLocation) -> Iterator[Diagnostic]:
    if name := find_unsafe_name(path):
        yield make_settings_problem(place, f'"{name}" leads out of the data of a chart', "Rename the column")


def _check_bind(node: Node) -> Iterator[Diagnostic]:
    """Check an input of the reader's: Vega makes an attribute of every unknown key, handlers too."""
    for key, inner in node.entries.items():
        place = node.keys[key]
        if "input" in node.entries:
            if key not in _BIND_KEYS:
                step = f"An input takes {', '.join(sorted(_BIND_KEYS))}"
                yield make_settings_problem(place, f'"{shorten(key)}" is not a key of an input', step)
            elif key == "input" and inner.text not in _INPUTS:
                step = f"There are {', '.join(sorted(_INPUTS))}"
                yield make_settings_problem(inner.place, "this is no kind of input", step)
        # Inputs for several fields, or the events of a legend, which are parsed as selectors.
        elif inner.kind == "mapping":
            yield from _check_bind(inner)
        elif key != "legend":
            yield make_settings_problem(place, f'"{shorten(key)}" is no input', "Write bind: {input: range}")


def _iterate_entries(spec: Node) -> Iterator[tuple[str, SourceLocation, Node]]:
    """Key, place of the key and value in every mapping of the specification."""
    for mapping in spec.iterate(without=_ROWS):
        for key, node in mapping.entries.items():
            yield key, mapping.keys[key], node


def _iterate_listed(node: Node) -> Iterator[Node]:
    """The texts of a node that is one, or a list of them, however deep; not of mappings."""
    if isinstance(node.value, str):
        yield node
    for child in node.items:
        yield from _iterate_listed(child)


def _iterate_texts(node: Node) -> Iterator[tuple[str, SourceLocation]]:
    """Every text of a tree, keys too."""
    if node.kind == "scalar":
        yield node.text, node.place
    for child in node.items:
        yield from _iterate_texts(child)
    for key, child in node.entries.items():
        yield key, node.keys[key]
        yield from _iterate_texts(child)
