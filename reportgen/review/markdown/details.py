"""The details of a comment: everything else that changed, a line each, in lists of a bounded length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.core.words import join_names
from reportgen.review import words
from reportgen.review.markdown.quoting import LONGEST_NAME, quote, quote_place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from reportgen.review.model import (
        FigureChange,
        PageChange,
        Review,
        ReviewProblem,
        SourceChange,
        StatementChange,
        TableChange,
    )

    _Change = TypeVar("_Change")

# Names in one line.
_MOST_NAMES = 3


def write_details(review: Review, most: int) -> str:
    """A fold of lists, each of at most so many lines; empty if there is nothing to list."""
    statements = [one for one in review.statements if not one.is_broken]

    def describe_statement(one: StatementChange) -> str:
        return f"{introduce_statement(one)}: {quote(one.latest.words, 2 * LONGEST_NAME)}"

    sections = [
        _write_list("Other statements", statements, describe_statement, most),
        _write_list("Figures", review.figures, describe_figure, most),
        _write_list("Tables", review.tables, _describe_table, most),
        _write_list("Pages", review.pages, _describe_page, most),
        _write_list("Data", review.sources, _describe_source, most),
        _write_list("New problems", review.problems.new, _describe_problem, most),
        _write_list("Problems that are gone", review.problems.gone, _describe_problem, most),
        _write_list("Left out", review.truncated, quote, most),
        words.describe_tests(review),
    ]
    text = "\n\n".join(filter(None, sections))
    return f"<details>\n<summary>Everything else</summary>\n\n{text}\n\n</details>" if text else ""


def describe_figure(figure: FigureChange) -> str:
    """A figure that changed: what, why, and where most."""
    title = f"{quote(figure.title or figure.id, LONGEST_NAME)} on {quote(figure.page, LONGEST_NAME)}"
    parts = [words.describe_shown(figure)]
    parts += [quote(one, LONGEST_NAME) for one in figure.definitions[:_MOST_NAMES]]
    moves = [(one, move) for one in figure.series if (move := words.describe_move(one, figure))]
    for one, move in moves[:_MOST_NAMES]:
        was = f" (was {quote(one.was_name, LONGEST_NAME)})" if one.was_name else ""
        parts.append(f"{quote(one.name, LONGEST_NAME)}{was} {move}")
    return f"{title}: {'; '.join(parts)}"


def _write_list(title: str, changes: Sequence[_Change], describe: Callable[[_Change], str], most: int) -> str:
    lines = [f"- {describe(change)}" for change in changes[:most]]
    lines += [f"- and {len(changes) - most:,} more"] if len(changes) > most else []
    return "\n".join((f"**{title}**", "", *lines)) if lines else ""


def introduce_statement(change: StatementChange) -> str:
    """Where a statement stands, what became of it, and why."""
    return f"{quote_place(change.page, change.latest.line)}: {words.describe_statement(change)}"


def _describe_table(table: TableChange) -> str:
    title = f"{quote(table.title or table.id, LONGEST_NAME)} on {quote(table.page, LONGEST_NAME)}"
    parts = [words.describe_shown(table)]
    parts += [quote(one, LONGEST_NAME) for one in table.definitions[:_MOST_NAMES]]
    return f"{title}: {'; '.join(parts)}"


def _describe_page(page: PageChange) -> str:
    change = f"renamed from {quote(page.was_path, LONGEST_NAME)}" if page.was_path else page.change
    lines = words.describe_page(page)
    said = lines if page.change == "text" and lines else ", ".join(filter(None, [change, lines]))
    return f"{quote(page.path, LONGEST_NAME)}: {said}"


def _describe_source(source: SourceChange) -> str:
    parts: list[str] = [source.change] if source.change != "changed" else []
    for said, names in words.list_source_changes(source):
        shown = [quote(name, LONGEST_NAME) for name in names]
        parts.append(f"{said} ({join_names(shown, most=_MOST_NAMES)})")
    return f"{quote(source.name, LONGEST_NAME)}: {'; '.join(parts) or source.change}"


def _describe_problem(problem: ReviewProblem) -> str:
    return f"{problem.severity} in {quote_place(problem.file, problem.line)}: {quote(problem.message)}"
