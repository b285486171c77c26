"""The body of a ``vega-lite`` block: our keys lifted out of the specification, and what may harm refused.

Refused are outside addresses, files, code (see ``vega_expressions``), attributes of the page's elements, and
data that only a browser could parse. The browser's policy and the loaders of the live view and of the
renderer refuse the network as well; this is the wall that names the line.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from reportgen.errors import Place, Problem, ReportError, Stage
from reportgen.settings.parsing import shorten
from reportgen.settings.tree import Mapping, Scalar, Sequence, scalars
from reportgen.settings.vega_expressions import expression_fault, name_out, without_escapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.settings.tree import Node

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
_INPUTS: Final = frozenset(
    re.findall(
        r"\S+",
        """checkbox radio select range text number color date datetime-local month week time search
        email tel""",
    )
)
_FORMAT_TYPES: Final = frozenset({"number", "time", ""})
# Words for readers and lists of values, where a name means nothing to Vega.
_WORDS: Final = frozenset(
    re.findall(r"\w+", "title subtitle description text labels placeholder domain range options equal oneof")
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


def lifted(spec: Node) -> Mapping:
    """The settings of a ``vega-lite`` block: ``spec`` and what was lifted out of it.

    ``id``, ``caption``, ``summary`` and the source at the top are taken out; a ``title`` that is a text
    is copied; sources named deeper inside stay where they stand.

    Raises:
        ReportError: outside addresses, files, code, numbers that JSON cannot write, all with their places.
    """
    if not isinstance(spec, Mapping) or not spec.entries:
        message = "a vega-lite block takes a Vega-Lite specification, in YAML or JSON"
        raise ReportError(_problem(spec.place, message, "Write data: {source: NAME}, mark and encoding"))
    problems = [*_schema_problems(spec), *_number_problems(spec), *_data_problems(spec)]
    problems += _address_problems(spec.without("$schema"))
    told = {problem.place for problem in problems}
    problems += (problem for problem in _code_problems(spec.without(*_OURS)) if problem.place not in told)
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
        yield from _text_data_problems(mapping)
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


def _text_data_problems(mapping: Mapping) -> Iterator[Problem]:
    """Rows as one text, such as CSV: Vega makes code to parse it, which the policy of a page refuses."""
    datasets = mapping.entries.get("datasets")
    named = list(datasets.entries.values()) if isinstance(datasets, Mapping) else []
    data = mapping.entries.get("data")
    if isinstance(data, Mapping) and "values" in data.entries:
        named.append(data.entries["values"])
    for node in named:
        if isinstance(node, Scalar) and isinstance(node.value, str):
            message = f'"{shorten(node.text, 40)}" would be parsed as a table in the browser'
            step = "Put it into a file below data/ and write data: {source: NAME}, or list rows in values"
            yield _problem(node.place, message, step)


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
        if place not in refused and any(map(_ADDRESS.search, _readings(text))):
            message = f'"{shorten(text, 60)}" holds an outside address'
            yield _problem(place, message, "A page of the report asks no other site: remove it")


def _readings(text: str) -> Iterator[str]:
    """A text as a browser may come to read it: with the escapes of scripts and of style sheets undone."""
    for said in dict.fromkeys((text, without_escapes(text))):
        plain = _IGNORED_IN_ADDRESSES.sub("", said)
        yield plain
        if "\\" in plain:
            yield _CSS_ESCAPE.sub(_css_character, said)


def _css_character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(min(int(escape[1], 16), 0x10FFFF))
    return escape[2] or ""


def _code_problems(spec: Mapping) -> Iterator[Problem]:
    """Whatever reaches code or elements of the page: expressions, inputs, names that Vega takes for code."""
    for mapping in _mappings(spec):
        for key, node in mapping.entries.items():
            name, place = key.lower(), mapping.keys[key]
            if name in _EXPRESSIONS or name in _SELECTORS:
                yield from _expression_problems(node, selector=name in _SELECTORS)
            elif name == "bind":
                yield from _bind_problems(node)
            elif name == "signals":
                message = '"signals" belongs to Vega and may hold code'
                yield _problem(place, message, "Write params, as Vega-Lite has them")
            elif name == "formattype" and isinstance(node, Scalar) and node.text not in _FORMAT_TYPES:
                message = f'"{shorten(node.text)}" is no type of format'
                yield _problem(node.place, message, "Write number or time")
            elif name == "params":
                yield from _parameter_problems(node)
            elif name not in _WORDS and name not in _ROWS:
                yield from _name_problems(node)
            if out := name_out(key):
                yield _leads_out(out, place)


def _expression_problems(node: Node, *, selector: bool) -> Iterator[Problem]:
    for scalar in _listed(node):
        if fault := expression_fault(scalar.text, selector=selector):
            yield _problem(scalar.place, *fault)


def _bind_problems(node: Node) -> Iterator[Problem]:
    """An input of the reader's: Vega makes an attribute of every key that it does not know, handlers too."""
    if not isinstance(node, Mapping):
        return
    if "input" not in node.entries:
        # Inputs for several fields, or the events of a legend, which are read as selectors.
        for key, inner in node.entries.items():
            if isinstance(inner, Mapping):
                yield from _bind_problems(inner)
            elif key != "legend":
                yield _problem(node.keys[key], f'"{shorten(key)}" is no input', "Write bind: {input: range}")
        return
    for key, inner in node.entries.items():
        if key not in _BIND_KEYS:
            message = f'"{shorten(key)}" is not a key of an input'
            yield _problem(node.keys[key], message, f"An input takes {', '.join(sorted(_BIND_KEYS))}")
        elif key == "input" and not (isinstance(inner, Scalar) and inner.text in _INPUTS):
            yield _problem(inner.place, "this is no kind of input", f"There are {', '.join(sorted(_INPUTS))}")


def _parameter_problems(node: Node) -> Iterator[Problem]:
    for one in node.items if isinstance(node, Sequence) else ():
        name = one.entries.get("name") if isinstance(one, Mapping) else None
        if isinstance(name, Scalar) and not _PARAMETER.fullmatch(name.text):
            message = f'"{shorten(name.text)}" cannot be the name of a parameter'
            yield _problem(name.place, message, "Use letters, digits and _, with a letter first")


def _name_problems(node: Node) -> Iterator[Problem]:
    for scalar in _listed(node):
        if out := name_out(scalar.text):
            yield _leads_out(out, scalar.place)


def _leads_out(name: str, place: Place) -> Problem:
    return _problem(place, f'"{name}" leads out of the data of a chart', "Rename the column")


def _listed(node: Node) -> Iterator[Scalar]:
    """The texts of a node that is one, or a list of them, however deep; not of mappings."""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        yield node
    for child in node.items if isinstance(node, Sequence) else ():
        yield from _listed(child)


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
