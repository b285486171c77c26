"""JSON as harnesses write it: one object a file, or an object a line; whole, torn, or not JSON at all."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.logged import Finding, UnreadableError
from reportgen.read.loggers.text_file import Decoding, head, lines, whole
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LONGEST_TEXT: Final = 200


def head_text(path: Path) -> str:
    """The first 4 KiB of a file as text, to recognise it by."""
    return head(path).decode(errors="replace")


def json_value(path: Path) -> tuple[Any, tuple[Finding, ...]]:
    """What a JSON file holds.

    Raises:
        UnreadableError: it cannot be read, is too large, or is not whole JSON.
    """
    decoding = Decoding(path)
    return parsed(path, decoding.text(whole(path))), tuple(decoding.findings())


def json_object(path: Path) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """What a JSON file holds that has to be an object; see ``json_value``."""
    value, findings = json_value(path)
    if not isinstance(value, dict):
        raise UnreadableError(path, f"an object is expected, and it holds {_kind(value)}", "Check its format")
    return value, findings


def parsed(path: Path, text: str, what: str = "the file") -> Any:  # noqa: ANN401 - JSON can be anything
    """The value of a JSON text.

    Raises:
        UnreadableError: it is not JSON, or nested too deeply.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"{what} is not whole JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise UnreadableError(path, message, "Write it again, or leave it out", error.lineno) from error
    except (ValueError, RecursionError) as error:
        message = f"{what} is JSON that cannot be read: it is nested too deeply or has an endless number"
        raise UnreadableError(path, message, "Write it again, or leave it out") from error


@dataclass(slots=True)
class Lines:
    """The objects of a JSON Lines file, in order; what is none is counted.

    Attributes:
        path: the file.
        bad: lines that are no JSON object.
        first_bad: the first of them, 1-based.
        torn: the last line, if it is not whole and lacks its end.
    """

    path: Path
    bad: int = 0
    first_bad: int | None = None
    torn: int | None = None
    _decoding: Decoding | None = field(default=None, repr=False)

    def objects(self) -> Iterator[dict[str, Any]]:
        """Every object; afterwards ``findings`` is complete.

        Raises:
            UnreadableError: the file cannot be read, or has a line that is too long.
        """
        self._decoding = Decoding(self.path)
        for number, data in lines(self.path):
            if not data.strip():
                continue
            try:
                value = json.loads(self._decoding.text(data, number))
            except (ValueError, RecursionError):
                value = None
            if isinstance(value, dict):
                yield value
            elif not data.endswith(b"\n"):
                self.torn = number
            else:
                self.bad += 1
                self.first_bad = self.first_bad or number

    def findings(self) -> Iterator[Finding]:
        """What was irregular."""
        if self.bad:
            message = f"{counted(self.bad, 'line is', 'lines are')} no JSON object: left out"
            yield Finding(self.path, message, self.first_bad)
        if self.torn:
            yield Finding(self.path, "the last line is torn off: left out", self.torn)
        if self._decoding:
            yield from self._decoding.findings()


def mapping(value: object) -> dict[str, Any]:
    """A value that should be an object; an empty one where it is none."""
    return value if isinstance(value, dict) else {}


def word(value: object) -> str:
    """A cell as a name or a word: one that can be written as UTF-8; empty where there is none."""
    if isinstance(value, str):
        return (value if value.isascii() else value.encode(errors="replace").decode()).strip()
    if value is None or isinstance(value, dict | list):
        return ""
    return json.dumps(value)


def told(value: object, most: int = 80) -> str:
    """A cell inside a message: one line, not too long."""
    text = " ".join(word(value).split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def short_text(value: object) -> str | None:
    """A cell as an answer; None where there is none, or where it is a long text and no answer to compare."""
    if isinstance(value, list) and len(value) == 1:
        return short_text(value[0])
    text = word(value)
    return text if text and len(text) <= _LONGEST_TEXT else None


def _kind(value: object) -> str:
    return {list: "a list", str: "a text", type(None): "null"}.get(type(value), "a single value")
