"""YAML as a tree of nodes that know their place and how they were written; values back to YAML text.

No tags, no duplicate keys, bounded size. Pydantic wants plain values; the user wants the line of the
mistake. A node keeps both, and the written text, so that a series may be called ``1e3`` or ``null``.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import yaml

from reportgen.core.errors import Diagnostics, ReportError, SourceLocation
from reportgen.settings.text import MAX_CHARACTERS, make_settings_problem, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator


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
        whole = written if isinstance(written, MappingNode) else MappingNode(here)
        keys = {str(key): whole.keys.get(str(key), here) for key in value}
        entries = {
            str(key): from_value(item, keys[str(key)], whole.entries.get(str(key)))
            for key, item in value.items()
        }
        return MappingNode(here, entries, keys)
    if isinstance(value, list | tuple):
        parts = written.items if isinstance(written, SequenceNode) else ()
        return SequenceNode(
            here,
            tuple(from_value(item, here, part) for item, part in zip_longest(value, parts[: len(value)])),
        )
    # MkDocs reads YAML 1.1, where a date is a date; here it is the text that was written.
    scalar = value if value is None or isinstance(value, str | int | float | bool) else str(value)
    text = "" if value is None else str(value)
    return ScalarNode(here, scalar, written.text if isinstance(written, ScalarNode) else text)


MAX_DEPTH: Final = 50
MAX_NODES: Final = 200_000

# libyaml reads a large inline specification fifteen times faster than the pure parser.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAG: Final = "tag:yaml.org,2002:str"
_SURROGATES: Final = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
# Neither an SVG nor a JSON file may hold these, however they are written.
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

# What the parser says, in part: what that means and what to do about it.
_WORDS: Final = (
    (
        "mapping values are not allowed",
        'a ": " stands where none is expected',
        "Put quotes round a text that holds a colon, and begin the keys of one level in one column",
    ),
    (
        "cannot start any token",
        "a value begins with a character that YAML keeps for itself",
        "Put quotes round it, and indent with spaces, not tabs",
    ),
    ("tab character", "a tab stands where YAML wants spaces", "Indent with spaces, not tabs"),
    ("quoted scalar", "a quote is opened and not closed, or holds an unknown escape", "Check the quotes"),
    ("flow sequence", "a list that begins with [ does not end with ]", "Check commas and brackets"),
    ("flow mapping", "a mapping that begins with { does not end with }", "Check commas and brackets"),
    ("flow node", "a bracket is opened and not closed", "Check the brackets"),
    ("sequence entries", 'a list item "- " stands behind its key', "Begin the list on the next line"),
    ("simple key", "a line is neither a key with its colon nor part of a text", "Write it as key: value"),
    ("block collection", "the list does not go on as it began", "Begin each item with - in one column"),
    ("block mapping", "the keys do not line up", "Begin the keys of one level in one column"),
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a YAML text stands in its file: the line of its first line, and what it is indented by."""

    file: str
    first_line: int = 1
    indent: int = 0


def parse(text: str, origin: Origin, *, any_tag: bool = False) -> Node | None:
    """Read one YAML document, or a JSON one; None where there is none.

    Args:
        text: the document, its lines ended by a line feed.
        origin: where it stands in its file.
        any_tag: read over tags, for a file that is not only ours.

    Raises:
        ReportError: invalid YAML, tags, duplicate keys, or more than the limits allow, all together.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"this is longer than {MAX_CHARACTERS} characters"
        place = SourceLocation(origin.file, origin.first_line)
        raise ReportError(make_settings_problem(place, message, "Keep data in files of the data folder"))
    if text.lstrip().startswith("{"):
        # JSON writes a character beyond U+FFFF as two escapes, which YAML does not know.
        text = _SURROGATES.sub(_join_surrogates, text)
    reader = _TreeReader(text, origin, any_tag)
    root: Node | None = None
    try:
        root = reader.read_documents()
    except UnicodeEncodeError as error:
        reader.report(error.start, "this character is no valid Unicode", "Save the file as UTF-8")
    except yaml.reader.ReaderError as error:
        reader.report(error.position, "a control character stands in the text", "Remove it")
    except yaml.MarkedYAMLError as error:
        reader.report_syntax(error)
    reader.problems.raise_errors()
    return None if isinstance(root, ScalarNode) and root.value is None else root


def _join_surrogates(match: re.Match[str]) -> str:
    high, low = (int(group, 16) for group in match.groups())
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))


def _get_index(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


class _TreeReader:
    """Builds the tree from the parser's events, within the limits."""

    def __init__(self, text: str, origin: Origin, any_tag: bool) -> None:  # noqa: FBT001 - private
        self.length, self.origin, self.any_tag = len(text), origin, any_tag
        self.breaks = [match.start() for match in re.finditer("\n", text)]
        self.events: Iterator[yaml.Event] = yaml.parse(text, _LOADER)
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.problems = Diagnostics()

    def read_documents(self) -> Node | None:
        """The one document; None where there is none."""
        root: Node | None = None
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._stop(_get_index(event), "a second document begins here", "Remove the line with ---")
            elif isinstance(event, yaml.NodeEvent):
                root, _ = self._read_node(event, 0)
        return root

    def _read_node(self, event: Any, depth: int) -> tuple[Node, int]:  # noqa: ANN401 - of the parser
        """The node that an event begins, and how many values it holds."""
        index = _get_index(event)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                self._stop(index, f"*{event.anchor} refers to nothing written before", "Write the value out")
            return self.anchors[event.anchor or ""]
        if event.tag not in {None, "!", _TEXT_TAG} and not self.any_tag:
            self.report(index, "a tag (a word that begins with !) is not read here", "Remove the tag")
        if depth >= MAX_DEPTH and not isinstance(event, yaml.ScalarEvent):
            self._stop(index, f"this is nested more than {MAX_DEPTH} deep", "Write it flatter")
        place, size = self._locate(index), 1
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = ScalarNode(place, self._read_value(event), event.value)
        elif isinstance(event, yaml.SequenceStartEvent):
            children = list(self._read_children(place, depth))
            node = SequenceNode(place, tuple(child for child, _ in children))
            size = children[-1][1] if children else 1
        else:
            node, size = self._read_mapping(place, depth)
        if event.anchor:
            self.anchors[event.anchor] = node, size
        return node, size

    def _read_children(self, place: SourceLocation, depth: int) -> Iterator[tuple[Node, int]]:
        """The nodes up to the end of a collection, each with the number of values read so far."""
        size = 1
        for event in self.events:
            if isinstance(event, yaml.CollectionEndEvent):
                return
            child, inside = self._read_node(event, depth + 1)
            size += inside
            if size > MAX_NODES:
                # Aliases of aliases grow without end in a few lines.
                said = f"this holds more than {MAX_NODES} values"
                problem = make_settings_problem(place, said, "Keep data in files")
                raise ReportError(*self.problems.found, problem)
            yield child, size

    def _read_mapping(self, place: SourceLocation, depth: int) -> tuple[MappingNode, int]:
        node, size = MappingNode(place), 1
        children = self._read_children(place, depth)
        for written, _ in children:
            if isinstance(written, ScalarNode):
                key = written.text
            else:
                key = f"?{len(node.keys)}"
                said = "a key has to be a single word or text"
                self.problems.add([make_settings_problem(written.place, said, "Write key: value")])
            value, size = next(children)
            if key in node.entries:
                said = f'"{shorten(key)}" is written twice; the first is in line {node.keys[key].line}'
                self.problems.add([make_settings_problem(written.place, said, "Remove one of the two")])
            else:
                node.entries[key], node.keys[key] = value, written.place
        return node, size

    def _read_value(self, event: yaml.ScalarEvent) -> str | int | float | bool | None:
        if _UNPRINTABLE.search(event.value):
            said = "a control character or half a character is written here"
            self.report(_get_index(event), said, "Remove it")
        unquoted = event.implicit[0] and event.tag is None
        return parse_scalar(event.value) if unquoted else str(event.value)

    def report(self, index: int, message: str, next_step: str = "") -> None:
        """Note a problem at a character."""
        self.problems.add([make_settings_problem(self._locate(index), message, next_step)])

    def report_syntax(self, error: yaml.MarkedYAMLError) -> None:
        """Note what the parser stumbled over, in plain words."""
        said = f"{error.context or ''} {error.problem or ''}"
        mark = error.problem_mark or error.context_mark
        if "unexpected end of stream" in said or "flow" in said:
            # The place where the quote or bracket was opened helps more than the end of the text.
            mark = error.context_mark or mark
        known = ((message, next_step) for part, message, next_step in _WORDS if part in said)
        unknown = f"this is no valid YAML ({(error.problem or 'unreadable').strip()})"
        message, next_step = next(known, (unknown, ""))
        self.report(min(mark.index if mark else 0, self.length), message, next_step)

    def _stop(self, index: int, message: str, next_step: str) -> None:
        self.report(index, message, next_step)
        self.problems.raise_errors()

    def _locate(self, index: int) -> SourceLocation:
        # Counted here because the parser's lines also break at characters that editors do not break at.
        line = bisect_right(self.breaks, index - 1)
        column = index - (self.breaks[line - 1] + 1 if line else 0)
        return SourceLocation(
            self.origin.file, self.origin.first_line + line, self.origin.indent + column + 1
        )


# Texts that no reader of YAML takes for anything else, wherever they stand.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./@(][A-Za-z0-9_./@()+*^ -]*")
_LONGEST_LINE: Final = 90


def write_yaml(settings: Mapping[str, object]) -> str:
    """Keys and values as a YAML document with a newline at its end; nothing for no keys.

    Values are texts, numbers, truth values, and lists and mappings of these.
    """
    return "".join(f"{line}\n" for line in _write_lines(settings, ""))


def write_yaml_scalar(value: object) -> str:
    """One value as it stands behind its key."""
    if isinstance(value, str):
        is_plain = (
            _PLAIN.fullmatch(value) and not value.endswith(" ") and isinstance(parse_scalar(value), str)
        )
        return value if is_plain else json.dumps(value, ensure_ascii=not value.isprintable())
    return json.dumps(value)


def _write_lines(settings: Mapping[str, object], indent: str) -> Iterator[str]:
    for key, value in settings.items():
        name = f"{indent}{write_yaml_scalar(key)}:"
        if isinstance(value, Mapping):
            yield f"{name}" if value else f"{name} {{}}"
            yield from _write_lines(value, f"{indent}  ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            flat = f"{name} [{', '.join(map(write_yaml_scalar, value))}]"
            if len(flat) <= _LONGEST_LINE or not value:
                yield flat
            else:
                yield name
                yield from (f"{indent}  - {write_yaml_scalar(item)}" for item in value)
        else:
            yield f"{name} {write_yaml_scalar(value)}"
