"""JSON of loggers and harnesses, one object per file or per line; whole, torn or invalid."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import DecodeError
from msgspec.json import decode as decode_json
from pydantic_core import from_json

from reportgen.formats.decode import Count, Decoder, read_head, read_lines
from reportgen.formats.runs import UnreadableError, warn
from reportgen.settings.text import CONFLICT, find_conflict_marks, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


Reduce: TypeAlias = "Callable[[dict[str, Any]], dict[str, Any]]"
"""Function that shortens each object of a JSON file as it is parsed."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_DEEPEST: Final = 20
_LONGEST_TEXT: Final = 200
_decode: Final = json.JSONDecoder().raw_decode


def parse_or_none(text: str | bytes) -> Any:  # noqa: ANN401 - JSON can be anything
    """Parse JSON; return None if it is invalid or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def parse_object(text: str) -> dict[str, Any] | None:
    """Parse an object, allowing bare NaN and infinities; return None for anything else."""
    try:
        item = from_json(text)
    except ValueError:
        # from_json is three times as fast, but refuses lone surrogates and deep nesting.
        item = parse_or_none(text)
    return item if isinstance(item, dict) else None


def parse_beginning(text: str) -> dict[str, Any] | None:
    """Return the first keys and values of an object that may be cut off; None if there is none."""
    comma = ","
    while comma:
        try:
            item = from_json(text, allow_partial=True)
        except ValueError:
            text, comma, _ = text.rpartition(",")
        else:
            return item if isinstance(item, dict) else None
    return None


def parse_first_object(text: str) -> dict[str, Any]:
    """Return the first object of a text, also of a list or of lines; it may be cut off, or empty."""
    text = text.lstrip().removeprefix("[").lstrip()
    try:
        value, _ = _decode(text)
    except (ValueError, RecursionError):
        value = parse_beginning(text)
    return value if isinstance(value, dict) else {}


class JsonListItems:
    """Items of a list in a text, up to its end or to where the text breaks off."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at  # position of the next item, the end of the list, or invalid text
        self.count = 0  # items so far
        self.ended = False  # whether the end of the list was reached

    def __iter__(self) -> Iterator[Any]:
        self.at = _skip_space(self._text, self.at)
        self.ended = self._text[self.at : self.at + 1] == "]"
        while not self.ended:
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
    """Yield names and cells in the order of writing, nested names joined by ``joint``; a list is a cell.

    The names of ``wrappers``, objects directly in ``item``, are left out of joined names. Nested objects with
    a key ``media`` are skipped.
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
    """Return the first 4 KiB of a file as text, to recognise it by."""
    return read_head(path).decode(errors="replace")


def read_json(path: Path, reduced: Reduce | None = None) -> tuple[Any, tuple[Diagnostic, ...]]:
    """Return the value of a JSON file.

    ``reduced`` shortens each object as it is parsed, so that not everything is in memory at once. Raises
    ``UnreadableError`` if the file cannot be read, is too large, or is not valid JSON.
    """
    decoding = Decoder(path)
    value = parse_json(path, decoding.read_whole(), reduced=reduced)
    return value, tuple(decoding.list_findings())


def read_json_object(
    path: Path, reduced: Reduce | None = None
) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """Return the object in a JSON file; see ``read_json``."""
    value, findings = read_json(path, reduced)
    if not isinstance(value, dict):
        kind = {list: "a list", str: "a text", type(None): "null"}.get(type(value), "a single value")
        raise UnreadableError(path, f"an object is expected, and it holds {kind}", "Check its format")
    return value, findings


def read_json_items(path: Path, findings: list[Diagnostic]) -> Iterator[Any]:
    """Yield the items of a JSON file that is a list, one by one, to save memory.

    Irregularities are added to ``findings``. Raises ``UnreadableError`` if the file cannot be read, is too
    large, is not a list, or is not valid JSON from some item on.
    """
    decoding = Decoder(path)
    text = decoding.read_whole()
    findings += decoding.list_findings()
    at = _skip_space(text, 0)
    if text[at : at + 1] != "[":
        raise UnreadableError(path, "a list is expected in the file", "Check its format")
    yield from (items := JsonListItems(text, at + 1))
    if not items.ended or _skip_space(text, items.at + 1) < len(text):
        # This raises the error with its location, without holding objects in memory.
        parse_json(path, text, reduced=lambda _: {})


def parse_json(path: Path, text: str, what: str = "the file", reduced: Reduce | None = None) -> Any:  # noqa: ANN401
    """Parse JSON; raise ``UnreadableError`` if it is invalid or nested too deeply."""
    if reduced is None:
        # This takes a third of the time, but refuses what json reads, such as NaN, and says less of errors.
        with suppress(DecodeError, ValueError, RecursionError):
            return decode_json(text)
    try:
        return json.loads(text, object_hook=reduced)
    except json.JSONDecodeError as error:
        if marks := find_conflict_marks(text):
            raise UnreadableError(path, *CONFLICT, marks[0]) from error
        # Some of Python's messages end with "at": "Unterminated string starting at".
        reason = error.msg.removesuffix(" at")
        message = f"{what} is not whole JSON: {reason} at line {error.lineno}, column {error.colno}"
        raise UnreadableError(path, message, "Write it again, or leave it out", error.lineno) from error
    except (ValueError, RecursionError) as error:
        message = f"{what} is JSON that cannot be read: it is nested too deeply or has an endless number"
        raise UnreadableError(path, message, "Write it again, or leave it out") from error


class JsonLines:
    """Objects of a JSON Lines file, in order; lines that are not objects are counted."""

    def __init__(self, path: Path) -> None:
        self._path, self._decoding, self._bad = path, Decoder(path), Count()
        self._torn: int | None = None

    def read_objects(self) -> Iterator[dict[str, Any]]:
        """Yield every object, then ``list_findings`` is complete; raise the errors of ``read_lines``."""
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

    def list_findings(self) -> Iterator[Diagnostic]:
        """Yield the irregularities found so far."""
        yield from self._bad.describe(self._path, "line is", "lines are", " no JSON object: left out")
        if self._torn:
            yield warn(self._path, "the last line is torn off: left out", self._torn)
        yield from self._decoding.list_findings()


def as_mapping(value: object) -> dict[str, Any]:
    """Return a value that should be an object; an empty one if it is not."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return a value that should be a list; an empty one if it is not."""
    return value if isinstance(value, list) else []


def as_word(value: object) -> str:
    """Return a cell as a word that UTF-8 can encode; empty if there is none."""
    if isinstance(value, str):
        return (value if value.isascii() else value.encode(errors="replace").decode()).strip()
    if value is None or isinstance(value, dict | list):
        return ""
    is_plain = type(value) is int or (type(value) is float and math.isfinite(value))
    return str(value) if is_plain else json.dumps(value)


def shorten_cell(value: object, most: int = 80) -> str:
    """Return a cell for a message, shortened to one line."""
    return shorten(as_word(value), most)


def as_answer(value: object) -> str | None:
    """Return a cell as an answer; None if there is none, or if it is too long a text to compare."""
    if isinstance(value, list) and len(value) == 1:
        return as_answer(value[0])
    text = as_word(value)
    return text if text and len(text) <= _LONGEST_TEXT else None
