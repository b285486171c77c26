"""Warnings that an author accepts with a reason, beside where they arise: a block, a page or a source.

A warning has an id made of its words, without names, numbers and paths, so that it stays when counts change.
An accepted warning that no longer arises is a warning, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.core.words import quote_names, suggest_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.statements import Statement
    from reportgen.settings.inputs import Page, Source


_FEWEST_WORDS, _MOST_WORDS = 3, 6
_NAMES = re.compile(r'"[^"]*"|\S*[/\\]\S*|\S*\w\.\w\S*|[^\s]*\d\S*')
_SMALL = frozenset(
    re.findall(
        r"\w+",
        """a an and are as at be been by for from has have here in is it its of on or so than that the
        their them there these they this to was were what where which with""",
    )
)


def make_warning_id(message: str) -> str:
    """Return the id of a warning, such as ``last-line-torn-off-left-out``, from its message.

    Quoted names, paths and numbers do not count, nor does what follows a colon.
    """
    plain: list[str] = []
    for part in _NAMES.sub(" ", message).lower().split(": "):
        if len(plain) >= _FEWEST_WORDS:  # what follows are particulars
            break
        words = (word for word in re.findall(r"[a-z]+", part) if word not in _SMALL)
        plain += (re.sub(r"(?<=\w\w\w)(?<!s)(?<!serie)s$", "", word) for word in words)
    return "-".join(plain[:_MOST_WORDS]) or "warning"


class AcceptedWarning(Struct, frozen=True):
    """A warning that its author accepts, and why."""

    problem: Diagnostic
    reason: str


def accept_warnings(
    problems: Sequence[Diagnostic],
    pages: Sequence[Page],
    sources: Mapping[str, Source],
    statements: Mapping[str, Sequence[Statement]],
) -> tuple[tuple[Diagnostic, ...], tuple[AcceptedWarning, ...]]:
    """Return the warnings that remain, with their ids, and those that authors accept.

    Statements that do not hold have ``fails=`` instead, and no id. An id that an ``accept`` names and that
    does not arise is a warning of its own. Raises a ``ReportError`` with all that remain if one is an error,
    which may hide warnings that an ``accept`` names.
    """
    judged = {one.binding.location for some in statements.values() for one in some if not one.as_expected}
    open_ = [
        problem
        if problem.location in judged or problem.severity is not Severity.WARNING
        else replace(problem, id=make_warning_id(problem.message))
        for problem in problems
    ]
    accepted: dict[Diagnostic, AcceptedWarning] = {}
    stale: list[Diagnostic] = []
    warnings = [problem for problem in open_ if problem.id]
    for place, entries, near in _list_places(pages, sources, warnings):
        known = tuple(dict.fromkeys(problem.id for problem in near))
        there = f"Those that arise here are {quote_names(known)}" if known else "Take it out of accept:"
        for name, reason in entries.items():
            if found := [problem for problem in near if problem.id == name]:
                accepted |= {problem: AcceptedWarning(problem, reason) for problem in found}
                continue
            message = f'accept names "{name}", and no such warning arises here any more'
            step = f"{suggest_name(name, known)}{there}"
            if elsewhere := next((problem for problem in warnings if problem.id == name), None):
                message = f'accept names "{name}", which arises at {elsewhere.location} and not here'
                step = "Write it there: in the block, the front matter of the page, or the source.yml"
            stale.append(Diagnostic(place, message, step, Stage.SETTINGS, Severity.WARNING))
    remaining = [problem for problem in open_ if problem not in accepted]
    if any(problem.severity is Severity.ERROR for problem in remaining):
        raise ReportError(*remaining)
    return tuple(dict.fromkeys((*remaining, *stale))), tuple(accepted.values())


def _list_places(
    pages: Sequence[Page], sources: Mapping[str, Source], warnings: Sequence[Diagnostic]
) -> Iterator[tuple[SourceLocation, Mapping[str, str], list[Diagnostic]]]:
    """Yield each ``accept`` of blocks, pages and sources: its place, reasons by id, and warnings there."""
    for page in pages:
        on_page = [one for one in warnings if one.location.file == page.file]
        for block in page.blocks:
            if entries := block.settings.accept:
                first = block.location.line or 0
                lines = range(first, first + block.body.count("\n") + 3)
                yield block.location, entries, [one for one in on_page if one.location.line in lines]
    for page in pages:
        if entries := page.front_matter.accept:
            on_page = [one for one in warnings if one.location.file == page.file]
            yield SourceLocation(page.file, 1), entries, on_page
    for source in sources.values():
        if (entries := source.settings.accept) and not source.parts:
            yield (
                source.location,
                entries,
                [one for one in warnings if replace(one, id="") in source.warnings],
            )
