"""JSON as loggers and harnesses write it: an object a file or a line; whole, torn, or not JSON at all."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json

from reportgen.formats.runs import Finding, UnreadableError
from reportgen.formats.text_files import Count, Decoder, read_head, read_lines, read_whole
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


_GAP: Final = re.compile(r"[\s,]*")
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_COLON: Final = re.compile(r"\s*:\s*")
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


class JsonListItems:
    """The items of a list in a text, one after the other, up to its end or to where the text breaks off."""

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at  # where the next item, the end of the list, or what is no item stands
        self.count = 0  # items so far
        self.ended = False  # whether the end of the list was reached

    def __iter__(self) -> Iterator[Any]:
        one_by_one_until = 0
        while True:
            self.at = _skip_gap(self._text, self.at)
            if self.at >= one_by_one_until:
                # A few hundred objects at once, which is quicker, up to what looks like the end of an item.
                # Where it stands inside one, what is unbalanced before it does not parse.
                between = _BETWEEN.search(self._text, self.at + _PIECE)
                end = between.end() if between else len(self._text)
                part = self._text[self.at : between.start() + 1] if between else ""
                many = parse_or_none(f"[{part}]") if between else None
                if many is not None:
                    self.at = end
                    self.count += len(many)
                    yield from many
                    continue
                one_by_one_until = end
            if self._text[self.at : self.at + 1] == "]":
                self.ended = True
                return
            try:
                item, self.at = _decode(self._text, self.at)
            except (ValueError, RecursionError):
                return
            self.count += 1
            yield item


def parse_beginning(text: str) -> dict[str, Any] | None:
    """The whole keys and values of an object that may be cut off; None where the text begins none."""
    at = _skip_gap(text, 0)
    return _parse_cut_off(text, at + 1, 0) if text[at : at + 1] == "{" else None


def _parse_cut_off(text: str, at: int, depth: int) -> dict[str, Any]:
    item: dict[str, Any] = {}
    while text[(at := _skip_gap(text, at)) : at + 1] == '"':
        try:
            key, at = _decode(text, at)
        except ValueError:
            break
        colon = _COLON.match(text, at)
        if not colon:
            break
        at = colon.end()
        try:
            item[key], at = _decode(text, at)
        except (ValueError, RecursionError):
            if text[at : at + 1] == "{" and depth < _DEEPEST:
                item[key] = _parse_cut_off(text, at + 1, depth + 1)
            break
    return item


def _skip_gap(text: str, at: int, gap: re.Pattern[str] = _GAP) -> int:
    """Where what follows spaces, line ends and commas begins."""
    match = gap.match(text, at)
    return match.end() if match else at


def iterate_cells(
    item: Mapping[str, Any], wrappers: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """Cells and their names, nested ones joined by ``/``, in the order of writing; a list is a cell.

    The names of ``wrappers``, objects directly in ``item``, are left out.
    """
    waiting = [(key, value, 1) for key, value in reversed(list(item.items()))]
    while waiting:
        name, value, depth = waiting.pop()
        if not isinstance(value, dict):
            yield name, value
        elif depth < _DEEPEST:
            prefix = "" if depth == 1 and name in wrappers else f"{name}/"
            waiting += [(prefix + key, child, depth + 1) for key, child in reversed(value.items())]


def read_head_text(path: Path) -> str:
    """The first 4 KiB of a file as text, to recognise it by."""
    return read_head(path).decode(errors="replace")


def read_json(
    path: Path, reduced: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> tuple[Any, tuple[Finding, ...]]:
    """What a JSON file holds.

    ``reduced`` shortens each object in it as it is parsed, so that not everything is in memory at once.
    Raises ``UnreadableError`` where it cannot be read, is too large, or is not whole JSON.
    """
    decoding = Decoder(path)
    value = parse_json(path, decoding.decode(read_whole(path)), reduced=reduced)
    return value, tuple(decoding.list_findings())


def read_json_object(
    path: Path, reduced: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> tuple[dict[str, Any], tuple[Finding, ...]]:
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
    text = decoding.decode(read_whole(path))
    findings += decoding.list_findings()
    at = _skip_gap(text, 0, _SPACE)
    if text[at : at + 1] != "[":
        raise UnreadableError(path, "a list is expected in the file", "Check its format")
    sign = ","
    at = _skip_gap(text, at + 1, _SPACE)
    if text[at : at + 1] == "]":
        at, sign = at + 1, "]"
    while sign == ",":
        with _explain_errors(path):
            item, at = _decode(text, _skip_gap(text, at, _SPACE))
            at = _skip_gap(text, at, _SPACE)
            sign, at = text[at : at + 1], at + 1
            if sign not in {",", "]"} or not sign:
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at - 1)
        yield item
    with _explain_errors(path):
        if _skip_gap(text, at, _SPACE) < len(text):
            raise json.JSONDecodeError("Extra data", text, at)


def parse_json(
    path: Path,
    text: str,
    what: str = "the file",
    reduced: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Any:  # noqa: ANN401 - JSON can be anything
    """The value of a JSON text; raises ``UnreadableError`` where it is none, or nested too deeply."""
    with _explain_errors(path, what):
        return json.loads(text, object_hook=reduced)


@contextmanager
def _explain_errors(path: Path, what: str = "the file") -> Iterator[None]:
    try:
        yield
    except json.JSONDecodeError as error:
        # Python ends some of its words with "at": "Unterminated string starting at".
        reason = error.msg.removesuffix(" at")
        message = f"{what} is not whole JSON: {reason} at line {error.lineno}, column {error.colno}"
        raise UnreadableError(path, message, "Write it again, or leave it out", error.lineno) from error
    except (ValueError, RecursionError) as error:
        message = f"{what} is JSON that cannot be read: it is nested too deeply or has an endless number"
        raise UnreadableError(path, message, "Write it again, or leave it out") from error


@dataclass(slots=True)
class JsonLines:
    """The objects of a JSON Lines file, in order; lines that are none are counted."""

    path: Path
    _bad: Count = field(default_factory=Count)
    _torn: int | None = None
    _decoding: Decoder | None = None

    def read_objects(self) -> Iterator[dict[str, Any]]:
        """Every object; afterwards ``list_findings`` is complete. Raises what ``read_lines`` raises."""
        self._decoding = Decoder(self.path)
        for number, data in read_lines(self.path):
            if not data.strip():
                continue
            value = parse_or_none(self._decoding.decode(data, number))
            if isinstance(value, dict):
                yield value
            elif not data.endswith(b"\n"):
                self._torn = number
            else:
                self._bad.add(number)

    def list_findings(self) -> Iterator[Finding]:
        """What was irregular."""
        yield from self._bad.describe(self.path, "line is", "lines are", " no JSON object: left out")
        if self._torn:
            yield Finding(self.path, "the last line is torn off: left out", self._torn)
        if self._decoding:
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
