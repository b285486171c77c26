"""JSON as loggers and harnesses write it: an object a file or a line; whole, torn, or not JSON at all."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic_core import from_json

from reportgen.formats.runs import Finding, UnreadableError
from reportgen.formats.text_files import Count, Decoder, read_head, read_lines
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


Reduce: TypeAlias = "Callable[[dict[str, Any]], dict[str, Any]]"
"""What shortens each object of a JSON file as it is parsed."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_BETWEEN: Final = re.compile(r"\}\s*,\s*(?=\{)")
_PIECE: Final = 1 << 18
_DEEPEST: Final = 20
_LONGEST_TEXT: Final = 200
_decode: Final = json.JSONDecoder().raw_decode


def parse_or_none(text: str | bytes) -> Any:  # noqa: ANN401 - JSON can be anything
    """The value of a JSON text; None where it is none, or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def parse_object(text: str) -> dict[str, Any] | None:
    """An object, in which NaN and infinities may stand bare; None where the text is anything else."""
    try:
        item = from_json(text)
    except ValueError:
        # Half characters and deep nesting are refused there alone; three times as fast with all else.
        item = parse_or_none(text)
    return item if isinstance(item, dict) else None


def parse_beginning(text: str) -> dict[str, Any] | None:
    """The keys and values that come first in an object, which may be cut off; None where there is none."""
    comma = ","
    while comma:
        try:
            item = from_json(text, allow_partial=True)
        except ValueError:
            text, comma, _ = text.rpartition(",")
        else:
            return item if isinstance(item, dict) else None
    return None


class JsonListItems:
    """The items of a list in a text, one after the other, up to its end or to where the text breaks off."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at  # where the next item, the end of the list, or what is no item stands
        self.count = 0  # items so far
        self.ended = False  # whether the end of the list was reached

    def __iter__(self) -> Iterator[Any]:
        self.at = _skip_space(self._text, self.at)
        self.ended = self._text[self.at : self.at + 1] == "]"
        one_by_one_until = 0
        while not self.ended:
            if self.at >= one_by_one_until:
                # A few hundred objects at once, which is quicker, up to what looks like the end of an item.
                # Where it stands inside one, what is unbalanced before it does not parse.
                between = _BETWEEN.search(self._text, self.at + _PIECE)
                part = self._text[self.at : between.start() + 1] if between else ""
                many = parse_or_none(f"[{part}]") if between else None
                one_by_one_until = between.end() if between else len(self._text)
                if many is not None:
                    self.at = one_by_one_until
                    self.count += len(many)
                    yield from many
                    continue
            try:
                item, self.at = _decode(self._text, self.at)
            except (ValueError, RecursionError):
                return
            self.count += 1
            yield item
            self.at = _skip_space(self._text, self.at)
            sign = self._text[self.at : self.at + 1]
            if sign == ",":
                self.at = _skip_space(self._text, self.at + 1)
            elif sign != "]":
                return
            self.ended = sign == "]"


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def iterate_cells(
    item: Mapping[str, Any], wrappers: frozenset[str] = frozenset(), joint: str = "/", media: str = ""
) -> Iterator[tuple[str, Any]]:
    """Cells and their names, nested ones joined by ``joint``, in the order of writing; a list is a cell.

    The names of ``wrappers``, objects directly in ``item``, are left out, and so are objects within that have
    a key ``media``.
    """
    waiting = [(key, value, 1) for key, value in reversed(list(item.items()))]
    while waiting:
        name, value, depth = waiting.pop()
        if not isinstance(value, dict):
            yield name, value
        elif depth < _DEEPEST and not (media and media in value):
            prefix = "" if depth == 1 and name in wrappers else f"{name}{joint}"
            waiting += [(prefix + key, child, depth + 1) for key, child in reversed(value.items())]


def read_head_text(path: Path) -> str:
    """The first 4 KiB of a file as text, to recognise it by."""
    return read_head(path).decode(errors="replace")


def read_json(path: Path, reduced: Reduce | None = None) -> tuple[Any, tuple[Finding, ...]]:
    """What a JSON file holds.

    ``reduced`` shortens each object in it as it is parsed, so that not everything is in memory at once.
    Raises ``UnreadableError`` where it cannot be read, is too large, or is not whole JSON.
    """
    decoding = Decoder(path)
    value = parse_json(path, decoding.read_whole(), reduced=reduced)
    return value, tuple(decoding.list_findings())


def read_json_object(path: Path, reduced: Reduce | None = None) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """The object in a JSON file; see ``read_json``."""
    value, findings = read_json(path, reduced)
    if not isinstance(value, dict):
        kind = {list: "a list", str: "a text", type(None): "null"}.get(type(value), "a single value")
        raise UnreadableError(path, f"an object is expected, and it holds {kind}", "Check its format")
    return value, findings


def read_json_items(path: Path, findings: list[Finding]) -> Iterator[Any]:
    """The items of a JSON file that is a list, one after the other, so that they are not in memory at once.

    What is irregular is added to the findings. Raises ``UnreadableError`` where it cannot be read, is too
    large, holds no list, or from some item on no whole JSON.
    """
    decoding = Decoder(path)
    text = decoding.read_whole()
    findings += decoding.list_findings()
    at = _skip_space(text, 0)
    if text[at : at + 1] != "[":
        raise UnreadableError(path, "a list is expected in the file", "Check its format")
    yield from (items := JsonListItems(text, at + 1))
    if not items.ended or _skip_space(text, items.at + 1) < len(text):
        # It says where and why, and holds no object meanwhile.
        parse_json(path, text, reduced=lambda _: {})


def parse_json(path: Path, text: str, what: str = "the file", reduced: Reduce | None = None) -> Any:  # noqa: ANN401
    """The value of a JSON text; raises ``UnreadableError`` where it is none, or nested too deeply."""
    try:
        return json.loads(text, object_hook=reduced)
    except json.JSONDecodeError as error:
        # Python ends some of its words with "at": "Unterminated string starting at".
        reason = error.msg.removesuffix(" at")
        message = f"{what} is not whole JSON: {reason} at line {error.lineno}, column {error.colno}"
        raise UnreadableError(path, message, "Write it again, or leave it out", error.lineno) from error
    except (ValueError, RecursionError) as error:
        message = f"{what} is JSON that cannot be read: it is nested too deeply or has an endless number"
        raise UnreadableError(path, message, "Write it again, or leave it out") from error


class JsonLines:
    """The objects of a JSON Lines file, in order; lines that are none are counted."""

    def __init__(self, path: Path) -> None:
        self._path, self._decoding, self._bad = path, Decoder(path), Count()
        self._torn: int | None = None

    def read_objects(self) -> Iterator[dict[str, Any]]:
        """Every object; afterwards ``list_findings`` is complete. Raises what ``read_lines`` raises."""
        for number, data in read_lines(self._path):
            if not data.strip():
                continue
            value = parse_or_none(self._decoding.decode(data, number))
            if isinstance(value, dict):
                yield value
            elif data.endswith(b"\n"):
                self._bad.add(number)
            else:
                self._torn = number

    def list_findings(self) -> Iterator[Finding]:
        """What was irregular."""
        yield from self._bad.describe(self._path, "line is", "lines are", " no JSON object: left out")
        if self._torn:
            yield Finding(self._path, "the last line is torn off: left out", self._torn)
        yield from self._decoding.list_findings()


def as_mapping(value: object) -> dict[str, Any]:
    """A value that should be an object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A value that should be a list; an empty one where it is none."""
    return value if isinstance(value, list) else []


def as_word(value: object) -> str:
    """A cell as a name or a word: one that can be written as UTF-8; empty where there is none."""
    if isinstance(value, str):
        return (value if value.isascii() else value.encode(errors="replace").decode()).strip()
    if value is None or isinstance(value, dict | list):
        return ""
    return str(value) if type(value) is int else json.dumps(value)


def shorten_cell(value: object, most: int = 80) -> str:
    """A cell inside a message: one line, not too long."""
    return shorten(as_word(value), most)


def as_answer(value: object) -> str | None:
    """A cell as an answer; None where there is none, or where it is a long text and no answer to compare."""
    if isinstance(value, list) and len(value) == 1:
        return as_answer(value[0])
    text = as_word(value)
    return text if text and len(text) <= _LONGEST_TEXT else None
