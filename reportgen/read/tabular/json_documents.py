"""The documents of a file for a mapping: each line of JSON Lines, or a JSON file as a whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reportgen.errors import Problem, ReportError
from reportgen.read.content import limit_problems
from reportgen.read.find import split_ending
from reportgen.read.tabular.sampling import NOT_UTF8, decode_text, is_utf8, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.read.content import Content


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON value and, in JSON Lines, the 1-based line that it stands on; None for a whole file."""

    value: Any
    line: int | None


def read_documents(content: Content) -> Iterator[Document | Problem]:
    """The documents of a file, and a warning in place of a last line that is torn off.

    Raises:
        ReportError: the file cannot be read, or lines of it are no JSON.
    """
    content.check()
    if split_ending(content.path)[1] == "jsonl":
        yield from _read_lines(content)
        return
    text = decode_text(content, content.read_all())
    try:
        yield Document(json.loads(text), None)
    except RecursionError:
        raise content.make_error("the JSON is nested too deeply", "Write it with fewer levels") from None
    except ValueError as error:
        if getattr(error, "msg", "") == "Extra data" and "\n" in text.strip():
            yield from _read_lines(content)
            return
        reason, line = getattr(error, "msg", str(error)), getattr(error, "lineno", None)
        message = f"the file is not JSON: {reason[:1].lower()}{reason[1:]}"
        raise content.make_error(message, "Write it again, or leave it out with files:", line) from None


def _read_lines(content: Content) -> Iterator[Document | Problem]:
    wrong: list[tuple[Problem, bool]] = []
    for number, line in enumerate(read_lines(content), 1):
        if not line.strip():
            continue
        found = _value(line)
        if found is not None and is_utf8(line):
            yield Document(found[0], number)
            continue
        fault = ("the line is not JSON", "Mend or remove it") if is_utf8(line) else NOT_UTF8
        wrong.append((content.make_problem(*fault, number), line.endswith(("\n", "\r"))))
    if wrong and not wrong[-1][1]:
        torn, _ = wrong.pop()
        yield content.make_warning("the last line is torn off and was left out", torn.place.line)
    if wrong:
        raise ReportError(*limit_problems(problem for problem, _ in wrong))


def _value(line: str) -> tuple[Any] | None:
    try:
        return (json.loads(line),)
    except (ValueError, RecursionError):
        return None
