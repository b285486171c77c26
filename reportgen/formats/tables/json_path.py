"""Documents of a JSON file, and paths into them: the part of JSONPath that a mapping needs.

A document is a line of JSON Lines, or a whole JSON file. ``$`` is the row, ``^`` the parent of the list that
contains the row, ``^^`` the parent of the next outer list, and so on up to the whole file or line. Then
follow ``.name`` or ``["name"]``, ``[0]``, and in the path of the rows ``[*]``, which iterates over a list or
over the values of an object. ``@`` is the row's key in that object, or its 0-based index in that list, and
``^@`` that of the parent of the row's list. ``[@]`` is the item at the row's own key: ``^.tokens[@]`` for
lists of the same length. ``?`` at the end of the path of the rows passes over files and lines without any.
"""

from __future__ import annotations

import json
import re
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from reportgen.core.errors import Diagnostic, ReportError
from reportgen.formats.files import split_ending
from reportgen.formats.layout import NOT_UTF8
from reportgen.formats.messages import limit_problems, list_names
from reportgen.settings.text import CONFLICT, find_conflict_marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.formats.layout import Content


OWN_KEY: Final = -1
_KEY: Final = re.compile(r"\^*@")
_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]"'*\s][^.\[\]]*)|\[(?P<quoted>"(?:[^"\\]|\\.)*"|'[^']*')\]"""
    r"""|\[(?P<number>\d{1,9})\]|(?P<all>\[\*\])|(?P<own>\[@\])"""
)


class PathError(ValueError):
    """Error for an invalid path, or a path that leads nowhere; the message is the end of a sentence."""


class MissingPathError(PathError):
    """Error for a path to rows that a file or line does not have."""


class JsonPath(Struct, frozen=True):
    """Path as written, and how many lists it leaves (``up``) before it goes in.

    ``steps`` are names, numbers, None for every item, and ``OWN_KEY`` for the item at the row's
    own key; ``is_key`` is whether the path refers to the key.
    """

    text: str
    up: int
    steps: tuple[str | int | None, ...]
    is_key: bool = False
    is_optional: bool = False  # whether a file or line without rows is passed over

    @property
    def inward(self) -> list[str | int]:
        """Steps without those over every item, which only paths of rows have."""
        return [step for step in self.steps if step is not None]

    def start(self, row: PathRow) -> PathRow | None:
        """Return where the path starts for a row; None if the row is not nested deeply enough."""
        if self.up > len(row.around):
            return None
        return row.around[self.up - 1] if self.up else row


class PathRow(Struct, frozen=True):
    """Row, its key in its object or list, and the parents of the lists around it, innermost first."""

    value: Any
    key: str
    around: tuple[PathRow, ...] = ()


def parse_path(text: str, *, rows: bool) -> JsonPath:
    """Parse a path or raise ``PathError``; only that of ``rows`` may contain ``[*]``."""
    if _KEY.fullmatch(text) and not rows:
        return JsonPath(text, len(text) - 1, (), is_key=True)
    is_optional = rows and text.endswith("?")
    path = text.removesuffix("?") if is_optional else text
    start = re.match(r"\$|\^+", text)
    if start is None or (rows and text[0] != "$"):
        signs = "$" if rows else "$, ^ or @"
        raise PathError(f"does not begin with {signs}, as in $.{text.lstrip('.') or 'score'}")
    steps: list[str | int | None] = []
    index = start.end()
    while index < len(path):
        step = _STEP.match(path, index)
        if step is None:
            raise PathError(f'cannot be understood from "{path[index:]}" on')
        if step["all"] and not rows:
            raise PathError("has [*], which only rows: can have")
        if step["own"] and rows:
            raise PathError("has [@], which only columns can have")
        steps.append(_parse_step(step))
        index = step.end()
    up = 0 if text[0] == "$" else start.end()
    return JsonPath(text, up, tuple(steps), is_optional=is_optional)


def _parse_step(step: re.Match[str]) -> str | int | None:
    if step["all"] or step["own"]:
        return OWN_KEY if step["own"] else None
    if step["number"]:
        return int(step["number"])
    if step["name"]:
        return step["name"].strip()
    quoted = step["quoted"]
    if quoted.startswith("'"):
        return quoted[1:-1]
    try:
        return str(json.loads(quoted))
    except ValueError:
        raise PathError(f"cannot be understood at [{quoted}]") from None


def find_rows(root: Any, path: JsonPath) -> Iterator[PathRow]:  # noqa: ANN401 - whatever JSON holds
    """Yield the rows of a file or line; raise ``PathError`` if the path leads nowhere."""
    candidates: Iterable[PathRow] = [PathRow(root, "0")]
    inward: list[str | int] = []
    for step in path.steps:
        if step is None:
            candidates, inward = _iterate_items(candidates, tuple(inward)), []
        else:
            inward.append(step)
    for row, value in _follow_rows(candidates, inward):
        yield PathRow(value, row.key, row.around)


def get_value(row: PathRow, path: JsonPath) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value at a path of a row; None if there is none."""
    start = path.start(row)
    if start is None or path.is_key:
        return start and start.key
    reached, value = _follow(start.value, path.inward, row.key)
    return value if reached == len(path.inward) else None


def describe_dead_end(row: PathRow, path: JsonPath) -> str:
    """Describe in a sentence where a column's path stops; empty if that is the row itself."""
    start = path.start(row)
    if start is None or path.is_key:
        return ""
    reached, held = _follow(start.value, path.inward, row.key)
    if not (reached or path.up) or reached == len(path.inward):
        return ""
    reach = f"{path.text[0] * max(1, path.up)}{_format_steps(path.inward[:reached])}"
    return f'"{reach}" {_describe_content(held)}'


def _iterate_items(rows: Iterable[PathRow], steps: Sequence[str | int]) -> Iterator[PathRow]:
    """Yield every item of the list or object that each row has at some steps."""
    for row, held in _follow_rows(rows, steps):
        if not isinstance(held, list | dict):
            where = f" at {_format_steps(steps).lstrip('.')}" if steps else ""
            kind = _describe_kind(held)
            raise PathError(f"needs a list or an object{where} for [*], where there is {kind}")
        items = held.items() if isinstance(held, dict) else zip(map(str, count()), held, strict=False)
        yield from (PathRow(item, key, (row, *row.around)) for key, item in items)


def _follow_rows(rows: Iterable[PathRow], steps: Sequence[str | int]) -> Iterator[tuple[PathRow, Any]]:
    """Yield each row with its value at some steps; an item of a list may have none."""
    for row in rows:
        reached, held = _follow(row.value, steps)
        if reached == len(steps):
            yield row, held
        elif not row.around:
            path, known = _format_steps(steps).lstrip("."), ""
            if reached:
                known = f'; "{_format_steps(steps[:reached]).lstrip(".")}" {_describe_content(held)}'
            elif isinstance(held, dict) and held:
                known = f"; there are {list_names(held)}"
            raise MissingPathError(f"finds no {path}{known}")


def _follow(value: Any, steps: Sequence[str | int], own: str = "") -> tuple[int, Any]:  # noqa: ANN401
    """Return how many steps can be followed, and the value at the last; ``own`` is the row's key."""
    for index, given in enumerate(steps):
        own_step = int(own) if isinstance(value, list) and own.isdecimal() else own
        step = own_step if given == OWN_KEY else given
        in_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if not in_list and not (isinstance(value, dict) and isinstance(step, str) and step in value):
            return index, value
        value = value[step]
    return len(steps), value


def _describe_content(held: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if isinstance(held, dict) and held:
        return f"has {list_names(held)}"
    if isinstance(held, list):
        return f"is a list of {len(held):,}"
    return "is an empty object" if isinstance(held, dict) else f"is {_describe_kind(held)}"


def _describe_kind(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    return "nothing" if value is None else "a text" if isinstance(value, str) else "a number or truth value"


def _format_steps(steps: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


class Document(Struct, frozen=True):
    """JSON value and its 1-based line in JSON Lines; None for a whole file."""

    value: Any
    line: int | None


def read_documents(content: Content) -> Iterator[Document | Diagnostic]:
    """Yield the documents of a file or raise ``ReportError``; a torn last line becomes a warning."""
    content.check()
    if split_ending(content.path)[1] == "jsonl":
        yield from _read_lines(content)
        return
    text = content.decode_text(content.read_all())
    try:
        yield Document(json.loads(text), None)
    except (ValueError, RecursionError) as error:
        if getattr(error, "msg", "") != "Extra data" or "\n" not in text.strip():
            raise make_json_error(content, error, "Write it again, or leave it out with files:") from None
        yield from _read_lines(content)


def make_json_error(content: Content, error: Exception, advice: str) -> ReportError:
    """Return the exception for a file that ``json`` cannot parse."""
    if isinstance(error, RecursionError):
        return content.make_error("the JSON is nested too deeply", "Write it with fewer levels")
    if marks := find_conflict_marks(getattr(error, "doc", "")):
        return content.make_error(*CONFLICT, marks[0])
    reason = getattr(error, "msg", str(error))
    message = f"the file is not JSON: {reason[:1].lower()}{reason[1:]}"
    return content.make_error(message, advice, getattr(error, "lineno", None))


def _read_lines(content: Content) -> Iterator[Document | Diagnostic]:
    wrong: list[tuple[Diagnostic, bool]] = []
    invalid: list[int] = []
    for number, line in enumerate(content.read_lines(None, invalid), 1):
        if not line.strip():
            continue
        fault = NOT_UTF8 if number in invalid[-1:] else None
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            if find_conflict_marks(line):
                raise content.make_error(*CONFLICT, number) from None
            fault = fault or ("the line is not JSON", "Mend or remove it")
        if fault:
            wrong.append((content.make_problem(*fault, number), line.endswith(("\n", "\r"))))
        else:
            yield Document(value, number)
    if wrong and not wrong[-1][1]:
        torn, _ = wrong.pop()
        yield content.make_warning("the last line is torn off and was left out", torn.location.line)
    if wrong:
        raise ReportError(*limit_problems(problem for problem, _ in wrong))
