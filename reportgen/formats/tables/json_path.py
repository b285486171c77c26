"""Documents of a JSON file, and paths into them: the part of JSONPath that a mapping needs.

A document is a line of JSON Lines, or a JSON file as a whole. ``$`` is the row, ``^`` what holds the list
that
the row stands in, ``^^`` what holds the one around that, and so on to the whole file or line. Behind it come
``.name`` or ``["name"]``, ``[0]``, and in the path of the rows ``[*]``, which goes through a list or
through the
values of an object. ``@`` is the row's key in that object, or its number in that list from 0, and ``^@``
that of
what holds the row's list. ``[@]`` is the item at the row's own key: ``^.tokens[@]`` for lists of one length.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.errors import Diagnostic, ReportError
from reportgen.formats.files import NOT_UTF8, decode_text, is_utf8, read_lines, split_ending
from reportgen.formats.messages import limit_problems, list_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.formats.files import Content


OWN_KEY: Final = -1
_KEY: Final = re.compile(r"\^*@")
_NOTHING: Final = object()
_STEP: Final = re.compile(
    r"""\.(?P<name>[^.\[\]"'*\s][^.\[\]]*)|\[(?P<quoted>"(?:[^"\\]|\\.)*"|'[^']*')\]"""
    r"""|\[(?P<number>\d{1,9})\]|(?P<all>\[\*\])|(?P<own>\[@\])"""
)


class PathError(ValueError):
    """A text that is no path, or a path that leads nowhere; the message is the end of a sentence."""


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A path.

    Attributes:
        text: as written.
        up: how many lists it goes out of before it goes in.
        steps: names, numbers, None for every item, and ``OWN_KEY`` for that at the row's own key.
        is_key: whether it is the key that is asked for.
    """

    text: str
    up: int
    steps: tuple[str | int | None, ...]
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class PathRow:
    """A row, its key in its object or list, and what holds the lists around it, the nearest first."""

    value: Any
    key: str
    around: tuple[PathRow, ...] = ()


def parse_path(text: str, *, rows: bool = False) -> JsonPath:
    """A path as its steps.

    Args:
        text: the path.
        rows: whether it tells the rows, which may be every item of a list.

    Raises:
        PathError: it is none.
    """
    if _KEY.fullmatch(text) and not rows:
        return JsonPath(text, len(text) - 1, (), is_key=True)
    start = re.match(r"\$|\^+", text)
    if start is None or (rows and text[0] != "$"):
        signs = "$" if rows else "$, ^ or @"
        raise PathError(f"does not begin with {signs}, as in $.{text.lstrip('.') or 'score'}")
    steps: list[str | int | None] = []
    place = start.end()
    while place < len(text):
        step = _STEP.match(text, place)
        if step is None:
            raise PathError(f'cannot be understood from "{text[place:]}" on')
        if step["all"] and not rows:
            raise PathError("has [*], which only rows: can have")
        if step["own"] and rows:
            raise PathError("has [@], which only columns can have")
        steps.append(_parse_step(step))
        place = step.end()
    return JsonPath(text, 0 if text[0] == "$" else start.end(), tuple(steps))


def find_rows(root: Any, path: JsonPath) -> Iterator[PathRow]:  # noqa: ANN401 - whatever JSON holds
    """The rows of a file or line.

    Raises:
        PathError: the path leads nowhere.
    """
    found: Iterable[PathRow] = [PathRow(root, "0")]
    inward: list[str | int] = []
    for step in path.steps:
        if step is None:
            found, inward = _iterate_items(found, tuple(inward)), []
        else:
            inward.append(step)
    for row in found:
        value = _follow(row.value, inward)
        if value is not _NOTHING:
            yield PathRow(value, row.key, row.around)
        elif not row.around:
            raise PathError(_describe_missing(row.value, inward))


def get_value(row: PathRow, path: JsonPath) -> Any:  # noqa: ANN401 - whatever JSON holds
    """What a row has at a path; None where it has nothing there."""
    if path.up > len(row.around):
        return None
    start = row.around[path.up - 1] if path.up else row
    if path.is_key:
        return start.key
    value = _follow(start.value, [step for step in path.steps if step is not None], row.key)
    return None if value is _NOTHING else value


def _iterate_items(rows: Iterable[PathRow], steps: Sequence[str | int]) -> Iterator[PathRow]:
    """Every item of the list or object that each row has at a place; one that lacks it has none."""
    for row in rows:
        held = _follow(row.value, steps)
        if held is _NOTHING and row.around:
            continue
        if held is _NOTHING:
            raise PathError(_describe_missing(row.value, steps))
        if not isinstance(held, list | dict):
            place = f" at {_format_steps(steps)}" if steps else ""
            raise PathError(
                f"needs a list or an object{place} for [*], where there is {_describe_kind(held)}"
            )
        items = (
            held.items() if isinstance(held, dict) else ((str(key), item) for key, item in enumerate(held))
        )
        yield from (PathRow(item, key, (row, *row.around)) for key, item in items)


def describe_dead_end(row: PathRow, path: JsonPath) -> str:
    """What there is where a column's path leads nowhere, as a sentence; empty if that is the row itself."""
    if path.is_key or path.up > len(row.around):
        return ""
    start = row.around[path.up - 1] if path.up else row
    steps = [step for step in path.steps if step is not None]
    reached, held = _follow_far(start.value, steps, row.key)
    if not (reached or path.up) or reached == len(steps):
        return ""
    place = f'"{path.text[0] * max(1, path.up)}{_format_steps(steps[:reached], begins=".")}"'
    return f"{place} {_describe_content(held)}"


def _describe_content(held: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if isinstance(held, dict) and held:
        return f"has {list_names(held)}"
    if isinstance(held, list):
        return f"is a list of {len(held):,}"
    return "is an empty object" if isinstance(held, dict) else f"is {_describe_kind(held)}"


def _follow_far(value: Any, steps: Sequence[str | int], own: str = "") -> tuple[int, Any]:  # noqa: ANN401
    """How many steps lead somewhere, and where the last of these leads."""
    for place, step in enumerate(steps):
        held = _follow(value, [step], own)
        if held is _NOTHING:
            return place, value
        value = held
    return len(steps), value


def _follow(value: Any, steps: Sequence[str | int], own: str = "") -> Any:  # noqa: ANN401 - whatever JSON holds
    for said in steps:
        at_own = int(own) if isinstance(value, list) and own.isdecimal() else own
        step = at_own if said == OWN_KEY else said
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else _NOTHING
        else:
            value = value.get(step, _NOTHING) if isinstance(value, dict) else _NOTHING
    return value


def _describe_missing(value: Any, steps: Sequence[str | int]) -> str:  # noqa: ANN401 - whatever JSON holds
    """The end of a sentence about a path that leads nowhere."""
    reached, held = _follow_far(value, steps)
    if reached:
        return (
            f'finds no {_format_steps(steps)}; "{_format_steps(steps[:reached])}" {_describe_content(held)}'
        )
    known = f"; there are {list_names(value)}" if isinstance(value, dict) and value else ""
    return f"finds no {_format_steps(steps)}{known}"


def _format_steps(steps: Sequence[str | int], begins: str = "") -> str:
    shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return shown if begins else shown.lstrip(".")


def _describe_kind(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    return "nothing" if value is None else "a text" if isinstance(value, str) else "a number or truth value"


def _parse_step(found: re.Match[str]) -> str | int | None:
    if found["all"]:
        return None
    if found["own"]:
        return OWN_KEY
    if found["number"]:
        return int(found["number"])
    if found["name"]:
        return found["name"].strip()
    quoted = found["quoted"]
    if quoted.startswith("'"):
        return quoted[1:-1]
    try:
        return str(json.loads(quoted))
    except ValueError:
        raise PathError(f"cannot be understood at [{quoted}]") from None


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON value and, in JSON Lines, the 1-based line that it stands on; None for a whole file."""

    value: Any
    line: int | None


def read_documents(content: Content) -> Iterator[Document | Diagnostic]:
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


def _read_lines(content: Content) -> Iterator[Document | Diagnostic]:
    wrong: list[tuple[Diagnostic, bool]] = []
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
        yield content.make_warning("the last line is torn off and was left out", torn.location.line)
    if wrong:
        raise ReportError(*limit_problems(problem for problem, _ in wrong))


def _value(line: str) -> tuple[Any] | None:
    try:
        return (json.loads(line),)
    except (ValueError, RecursionError):
        return None
