"""Finds the statement behind each marked words of a page, and puts in what the data say to it.

The marks come from ``narrative.spans``, which reads the page as the draft did. Words that the draft did not
hold against the data become plain words again, with a warning: they never look checked.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.errors import Problem, Severity, SourceLocation, Stage
from reportgen.narrative.spans import ELEMENT, find_marks
from reportgen.site.statement_fragments import (
    choose_id_prefix,
    fill_statements,
    render_badge,
    render_checked_list,
    render_end,
    render_start,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.narrative.candidates import Candidate
    from reportgen.narrative.spans import Mark
    from reportgen.statements import Binding, Statement

_END = f"</{ELEMENT}>"


@dataclass(frozen=True, slots=True)
class BoundMarks:
    """The marked words of a page.

    Attributes:
        marks: in the order of the page, each with its statement or None.
        shown: the statements that the page shows, in their order.
        missing: the others.
        unchecked: marked words that the draft does not know.
    """

    marks: tuple[tuple[Mark, Statement | None], ...]
    shown: tuple[Statement, ...]
    missing: tuple[Statement, ...]
    unchecked: tuple[Candidate, ...]


def match_statements(
    html: str, seen: Mapping[str, tuple[Candidate, ...]], statements: Sequence[Statement]
) -> BoundMarks:
    """Pair a page's marks with its statements; among equal ones the order of writing decides.

    Args:
        html: the page as MkDocs made it.
        seen: what ``Spans`` saw.
        statements: those of the page, as drafted.
    """
    found = tuple(find_marks(html)) if f"<{ELEMENT}" in html else ()
    waiting: dict[tuple[object, ...], list[Statement]] = defaultdict(list)
    for statement in reversed(statements):
        waiting[_make_key(statement.binding)].append(statement)
    behind: dict[tuple[str, int], Statement | None] = {}
    unchecked = []
    for salt, number in sorted({(mark.salt, mark.number) for mark in found}):
        one = seen[salt][number] if number < len(seen.get(salt, ())) else None
        same = waiting[_make_key(one)] if one else []
        behind[salt, number] = same.pop() if same else None
        if one and behind[salt, number] is None:
            unchecked.append(one)
    numbers = {statement.number for statement in behind.values() if statement}
    return BoundMarks(
        marks=tuple((mark, behind[mark.salt, mark.number]) for mark in found),
        shown=tuple(one for one in statements if one.number in numbers),
        missing=tuple(one for one in statements if one.number not in numbers),
        unchecked=tuple(unchecked),
    )


def insert_statements(html: str, bound: BoundMarks) -> str:
    """The page with what the data say behind its marks, under its title and at its end."""
    parts: list[str] = []
    place = 0
    named: set[int] = set()
    prefix = choose_id_prefix(html)
    for mark, statement in bound.marks:
        end = html.find(_END, mark.end)
        if end < 0:
            continue
        words = html[mark.end : end]
        parts.append(html[place : mark.start])
        if statement is None:
            parts.append(words)
        else:
            first = statement.number not in named
            start = render_start(statement, prefix, in_link=mark.in_link, first=first)
            parts += [start, words, render_end(statement, in_link=mark.in_link)]
            named.add(statement.number)
        place = end + len(_END)
    page = "".join([*parts, html[place:]])
    return fill_statements(page, render_badge(bound.shown, prefix), render_checked_list(bound.shown, prefix))


def find_unmatched(bound: BoundMarks, file: str) -> Iterator[Problem]:
    """What the draft and the page do not agree on.

    Args:
        bound: the page's marked words.
        file: the page relative to the project.
    """
    for statement in bound.missing:
        said = f'"{statement.binding.words}" is not shown as checked: Markdown reads its braces as text'
        step = "Look for a missing extension in mkdocs.yml, such as admonition or pymdownx.tabbed"
        yield Problem(statement.binding.location, said, step, Stage.SITE, Severity.WARNING)
    for one in bound.unchecked:
        said = f'"{one.words}" was not held against the data: it came into the page after the draft'
        step = "Write it into the page itself, not by another plugin or extension"
        yield Problem(SourceLocation(file), said, step, Stage.SITE, Severity.WARNING)


def _make_key(one: Binding | Candidate) -> tuple[object, ...]:
    return one.kind, one.words, one.expression, one.of, one.name, one.fails
