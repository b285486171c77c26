"""YAML as a tree of nodes that know their place and how they were written; values back to YAML text.

No tags, no duplicate keys, bounded size. A node keeps the value for pydantic, the line for messages, and the
written text, so that a series may be called ``1e3`` or ``null``.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, Literal

import yaml
from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.errors import Diagnostics, ReportError, SourceLocation
from reportgen.settings.text import (
    CONFLICT,
    MAX_CHARACTERS,
    find_conflict_marks,
    make_settings_problem,
    shorten,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class Node(Struct, frozen=True):
    """A part of a text in YAML, and where it begins."""

    place: SourceLocation
    kind: Literal["scalar", "list", "mapping"]
    value: str | int | float | bool | None = None  # value of a scalar in YAML 1.2
    text: str = ""  # text of a scalar, as written
    items: tuple[Node, ...] = ()  # items of a list
    entries: dict[str, Node] = field(default_factory=dict)  # nodes of a mapping, by the text of their keys
    keys: dict[str, SourceLocation] = field(default_factory=dict)  # location of each key
    size: int = 1  # number of values in it, including itself

    def remove_keys(self, *names: str) -> Node:
        """The same mapping without some of its keys."""
        return replace(self, entries={key: node for key, node in self.entries.items() if key not in names})

    def iterate(self, *, without: Collection[str] = ()) -> Iterator[Node]:
        """The node and all below it in the order of writing, but for the values of some keys."""
        yield self
        inner = (node for key, node in self.entries.items() if key not in without)
        for child in (*self.items, *inner):
            yield from child.iterate(without=without)


# The core schema of YAML 1.2: `no`, `on` and `y` are words, and a date is a text.
_CONSTANTS: Final[Mapping[str, float | bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,300}")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE: Final = re.compile(r"[-+]?\.(inf|Inf|INF)")


def parse_scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar under the core schema of YAML 1.2 (section 10.3.2)."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "")) if _INFINITE.fullmatch(text) else text


def to_values(node: Node) -> Any:  # noqa: ANN401  # a tree of unknown values for pydantic to judge
    """The node as dicts, lists and scalars."""
    if node.kind == "mapping":
        return {key: to_values(child) for key, child in node.entries.items()}
    return [to_values(child) for child in node.items] if node.kind == "list" else node.value


def from_value(value: object, place: SourceLocation, written: Node | None) -> Node:
    """A tree of values that MkDocs has parsed, with the places of ``written`` where it has the same parts.

    ``place`` is that of a node without a counterpart in ``written``, which is the same part of the file as
    read by us, if it was found.
    """
    old = written or Node(place, "mapping")
    if isinstance(value, dict):
        keys = {str(key): old.keys.get(str(key), old.place) for key in value}
        entries = {
            str(key): from_value(item, keys[str(key)], old.entries.get(str(key)))
            for key, item in value.items()
        }
        return Node(old.place, "mapping", entries=entries, keys=keys)
    if isinstance(value, list | tuple):
        pairs = zip_longest(value, old.items[: len(value)])
        return Node(old.place, "list", items=tuple(from_value(item, old.place, part) for item, part in pairs))
    # MkDocs reads YAML 1.1, which has dates; here a date is the text that was written.
    scalar = value if value is None or isinstance(value, str | int | float | bool) else str(value)
    text = "" if value is None else str(value)
    return Node(old.place, "scalar", scalar, old.text if old.kind == "scalar" else text)


MAX_DEPTH: Final = 50
MAX_NODES: Final = 200_000

# libyaml reads a large inline specification fifteen times faster than the pure parser.
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_TAG: Final = "tag:yaml.org,2002:str"
_SURROGATES: Final = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
# Neither SVG nor JSON files may contain these, however they are written.
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

_QUOTED: Final = "Put names and patterns that begin with * or ! in quotes"
# Part of the parser's message, its meaning, and the next step.
_WORDS: Final = (
    ("scanning an alias", "a value begins with *, which YAML keeps for itself", _QUOTED),
    ("scanning a tag", "a value begins with !, which YAML keeps for itself", _QUOTED),
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
    ("maximum nesting depth", f"this is nested more than {MAX_DEPTH} deep", "Write it flatter"),
    ("tab character", "YAML takes spaces here, and this is a tab", "Indent with spaces, not tabs"),
    ("quoted scalar", "a quote is opened and not closed, or holds an unknown escape", "Check the quotes"),
    ("flow sequence", "a list that begins with [ does not end with ]", "Check commas and brackets"),
    ("flow mapping", "a mapping that begins with { does not end with }", "Check commas and brackets"),
    ("flow node", "a bracket is opened and not closed", "Check the brackets"),
    ("sequence entries", 'a list item "- " follows its key on one line', "Begin the list on the next line"),
    ("simple key", "a line is neither a key with its colon nor part of a text", "Write it as key: value"),
    ("block collection", "the list does not go on as it began", "Begin each item with - in one column"),
    ("block mapping", "the keys do not line up", "Begin the keys of one level in one column"),
)


class Origin(Struct, frozen=True):
    """The position of a YAML text in its file: the line of its first line, and its indentation."""

    file: str
    first_line: int = 1
    indent: int = 0


def parse(text: str, origin: Origin, *, any_tag: bool = False) -> Node | None:
    """One YAML or JSON document whose lines end with a line feed; None where there is none.

    ``any_tag`` ignores tags, for a file that is not only ours.

    Raises:
        ReportError: invalid YAML, tags, duplicate keys, or more than the limits allow, all together.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"this is longer than {MAX_CHARACTERS} characters"
        place = SourceLocation(origin.file, origin.first_line)
        raise ReportError(make_settings_problem(place, message, "Keep data in files of the data folder"))
    if text.lstrip().startswith("{"):
        # JSON writes a character beyond U+FFFF as two escapes, which YAML does not know.
        text = _SURROGATES.sub(lambda pair: str(json.loads(f'"{pair[0]}"')), text)
    reader = _TreeReader(text, origin, any_tag=any_tag)
    root: Node | None = None
    try:
        root = reader.read_document()
    except UnicodeEncodeError as error:
        reader.report(error.start, "this character is no valid Unicode", "Remove it")
    except yaml.reader.ReaderError as error:
        reader.report(error.position, "the text contains a control character", "Remove it")
    except yaml.MarkedYAMLError as error:
        if marks := find_conflict_marks(text):
            place = SourceLocation(origin.file, origin.first_line + marks[0] - 1)
            raise ReportError(make_settings_problem(place, *CONFLICT)) from error
        reader.report_syntax(error, len(text))
    reader.problems.raise_errors()
    return None if root and root.kind == "scalar" and root.value is None else root


class _TreeReader:
    """Builds the tree from the parser's events, within the limits."""

    def __init__(self, text: str, origin: Origin, *, any_tag: bool) -> None:
        self.origin, self.any_tag = origin, any_tag
        self.breaks = [match.start() for match in re.finditer("\n", text)]
        self.events: Iterator[Any] = yaml.parse(text, _LOADER)
        self.anchors: dict[str, Node] = {}
        self.problems = Diagnostics()

    def read_document(self) -> Node | None:
        root: Node | None = None
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                index = event.start_mark.index if event.start_mark else 0
                if documents > 1:
                    self._stop(index, "a second document begins here", "Remove the line with ---")
            elif isinstance(event, yaml.NodeEvent):
                root = self._read_node(event, 0)
        return root

    def _read_node(self, event: Any, depth: int) -> Node:  # noqa: ANN401 - of the parser
        """The node that an event begins."""
        index = event.start_mark.index
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                self._stop(index, f"*{event.anchor} refers to nothing written before", _QUOTED)
            return self.anchors[event.anchor or ""]
        if event.tag not in {None, "!", _TEXT_TAG} and not self.any_tag:
            self.report(index, "a tag (a word that begins with !) is not read here", f"Remove it. {_QUOTED}")
        if depth >= MAX_DEPTH and not isinstance(event, yaml.ScalarEvent):
            self._stop(index, f"this is nested more than {MAX_DEPTH} deep", "Write it flatter")
        place = self._locate(index)
        if isinstance(event, yaml.ScalarEvent):
            if _UNPRINTABLE.search(event.value):
                self.report(index, "a control character or half a character is written here", "Remove it")
            is_plain = event.implicit[0] and event.tag is None
            value = parse_scalar(event.value) if is_plain else event.value
            node = Node(place, "scalar", value, event.value)
        elif isinstance(event, yaml.SequenceStartEvent):
            items = tuple(self._read_children(place, depth))
            node = Node(place, "list", items=items, size=1 + sum(item.size for item in items))
        else:
            node = self._read_mapping(place, depth)
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def _read_children(self, place: SourceLocation, depth: int) -> Iterator[Node]:
        """The nodes up to the end of a collection."""
        size = 1
        for event in self.events:
            if isinstance(event, yaml.CollectionEndEvent):
                return
            child = self._read_node(event, depth + 1)
            size += child.size
            if size > MAX_NODES:
                # Nested aliases grow without bound in a few lines.
                message = f"this holds more than {MAX_NODES} values"
                problem = make_settings_problem(place, message, "Keep data in files")
                raise ReportError(*self.problems.found, problem)
            yield child

    def _read_mapping(self, place: SourceLocation, depth: int) -> Node:
        entries: dict[str, Node] = {}
        keys: dict[str, SourceLocation] = {}
        size, children = 1, self._read_children(place, depth)
        for written in children:
            key = written.text if written.kind == "scalar" else f"?{len(keys)}"
            if written.kind != "scalar":
                message = "a key has to be a single word or text"
                self.problems.add([make_settings_problem(written.place, message, "Write key: value")])
            value = next(children)
            size += written.size + value.size
            if key in entries:
                message = f'"{shorten(key)}" is written twice; the first is in line {keys[key].line}'
                self.problems.add([make_settings_problem(written.place, message, "Remove one of the two")])
            else:
                entries[key], keys[key] = value, written.place
        return Node(place, "mapping", entries=entries, keys=keys, size=size)

    def report(self, index: int, message: str, next_step: str = "") -> None:
        self.problems.add([make_settings_problem(self._locate(index), message, next_step)])

    def report_syntax(self, error: yaml.MarkedYAMLError, length: int) -> None:
        """Report what the parser stumbled over, in plain words."""
        words = f"{error.context or ''} {error.problem or ''}"
        mark = error.problem_mark or error.context_mark
        if any(part in words for part in ("unexpected end of stream", "flow", "scanning a")):
            # The opening quote, bracket or mark is more helpful than the end of the text.
            mark = error.context_mark or mark
        known = ((message, next_step) for part, message, next_step in _WORDS if part in words)
        unknown = f"this is no valid YAML ({(error.problem or 'unreadable').strip()})"
        self.report(min(mark.index if mark else 0, length), *next(known, (unknown, "")))

    def _stop(self, index: int, message: str, next_step: str) -> None:
        self.report(index, message, next_step)
        self.problems.raise_errors()

    def _locate(self, index: int) -> SourceLocation:
        # Counted here because the parser also breaks lines at characters at which editors do not.
        line = bisect_right(self.breaks, index - 1)
        column = index - (self.breaks[line - 1] + 1 if line else 0) + self.origin.indent + 1
        return SourceLocation(self.origin.file, self.origin.first_line + line, column)


def find_invalid_value(text: str) -> int | None:
    """Return the line, 1-based, of the first value of a YAML file that Python cannot hold."""
    loader = yaml.SafeLoader(text)
    waiting: list[Any] = [loader.get_single_node()]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, yaml.ScalarNode):
            waiting += [one for part in node.value for one in (part if isinstance(part, tuple) else (part,))]
            continue
        try:
            loader.construct_object(node)
        except ValueError:
            return int(node.start_mark.line) + 1
        except yaml.YAMLError:  # a tag of MkDocs
            continue
    return None


# Texts that every YAML reader takes for texts, in any position.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./(][A-Za-z0-9_./@()+*^ -]*")
_LONGEST_LINE: Final = 90


def write_yaml(settings: Mapping[str, object]) -> str:
    """Texts, numbers, truth values, and lists and mappings of these as YAML; nothing for no keys."""
    return "".join(f"{line}\n" for line in _write_lines(settings, ""))


def write_scalar(value: object) -> str:
    """Write one value as YAML, also inside a list in brackets."""
    if not isinstance(value, str):
        return json.dumps(value)
    is_plain = _PLAIN.fullmatch(value) and not value.endswith(" ") and isinstance(parse_scalar(value), str)
    return value if is_plain else json.dumps(value, ensure_ascii=not value.isprintable())


def write_flow(value: object) -> str:
    """Write a value as YAML on one line: ``[finished, failed]``, ``{lr: 0.1, seed: [1, 2]}``."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{write_scalar(key)}: {write_flow(one)}' for key, one in value.items())}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(write_flow, value))}]"
    return write_scalar(value)


def _write_lines(settings: Mapping[str, object], indent: str) -> Iterator[str]:
    for key, value in settings.items():
        name = f"{indent}{write_scalar(key)}:"
        if isinstance(value, Mapping):
            yield name if value else f"{name} {{}}"
            yield from _write_lines(value, f"{indent}  ")
        elif isinstance(value, Sequence) and any(isinstance(item, Mapping) for item in value):
            yield name
            for item in value:
                first, *rest = _write_lines(item, f"{indent}    ")
                yield from (f"{indent}  - {first.strip()}", *rest)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            flat = f"{name} {write_flow(value)}"
            if len(flat) <= _LONGEST_LINE or not value:
                yield flat
            else:
                yield from (name, *(f"{indent}  - {write_scalar(item)}" for item in value))
        else:
            yield f"{name} {write_scalar(value)}"
