"""The details of a comment: everything else that changed, a line each, in lists of a bounded length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.core.words import format_count, format_number, join_names
from reportgen.review.markdown.number_words import clamp_count
from reportgen.review.markdown.quoting import LONGEST_NAME, quote, quote_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
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
_CORRECTIONS = {
    "none": "not adjusted",
    "holm": "adjusted for one another (Holm)",
    "step-down": "adjusted for one another (step-down)",
    "step-down and holm": "adjusted for one another (step-down where problems are shared, else Holm)",
}


def write_details(review: Review, most: int) -> str:
    """A fold of lists, each of at most so many lines; empty if there is nothing to list."""
    statements = [one for one in review.statements if not one.is_broken]
    sections = [
        _write_list("Other statements", statements, _describe_statement, most),
        _write_list("Figures", review.figures, describe_figure, most),
        _write_list("Tables", review.tables, _describe_table, most),
        _write_list("Pages", review.pages, _describe_page, most),
        _write_list("Data", review.sources, _describe_source, most),
        _write_list("New problems", review.problems.new, _describe_problem, most),
        _write_list("Problems that are gone", review.problems.gone, _describe_problem, most),
        _write_list("Left out", review.truncated, quote, most),
        _describe_family(review),
    ]
    text = "\n\n".join(filter(None, sections))
    return f"<details>\n<summary>Everything else</summary>\n\n{text}\n\n</details>" if text else ""


def describe_figure(figure: FigureChange) -> str:
    """A figure that changed: what, why, and where most."""
    title = f"{quote(figure.title or figure.id, LONGEST_NAME)} on {quote(figure.page, LONGEST_NAME)}"
    parts = [_add_causes(figure.change, figure.causes)]
    parts += [quote(one, LONGEST_NAME) for one in figure.definitions[:_MOST_NAMES]]
    places = [(series.name, series.at) for series in figure.series if series.at]
    for name, place in places[:_MOST_NAMES]:
        step = "" if place.step is None else f" at step {format_number(place.step, significant=6)}"
        beyond = ", outside the old band" if place.beyond_band else ""
        parts.append(f"{quote(name, LONGEST_NAME)} {format_number(place.delta, signed=True)}{step}{beyond}")
    return f"{title}: {'; '.join(parts)}"


def _write_list(title: str, changes: Sequence[_Change], describe: Callable[[_Change], str], most: int) -> str:
    lines = [f"- {describe(change)}" for change in changes[:most]]
    lines += [f"- and {len(changes) - most:,} more"] if len(changes) > most else []
    return "\n".join((f"**{title}**", "", *lines)) if lines else ""


def _describe_statement(change: StatementChange) -> str:
    side = change.after or change.before
    words = f"{quote(side.words, 2 * LONGEST_NAME)}: {side.truth}" if side else ""
    kind = {"value": "value", "claim": "claim"}[change.kind]
    where = quote(change.page, LONGEST_NAME)
    return ", ".join(filter(None, [f"{_add_causes(change.change, change.causes)}, {kind} on {where}", words]))


def _describe_table(table: TableChange) -> str:
    rows = f", {format_count(len(table.rows), 'row')}" if table.rows else ""
    title = f"{quote(table.title or table.id, LONGEST_NAME)} on {quote(table.page, LONGEST_NAME)}"
    return f"{title}: {_add_causes(table.change, table.causes)}{rows}"


def _describe_page(page: PageChange) -> str:
    before = f", was {quote(page.was_path, LONGEST_NAME)}" if page.was_path else ""
    added, removed = clamp_count(page.lines_added), clamp_count(page.lines_removed)
    lines = f", +{added:,} −{removed:,} lines" if added or removed else ""
    return f"{quote(page.path, LONGEST_NAME)}: {page.change}{before}{lines}"


def _describe_source(source: SourceChange) -> str:
    parts: list[str] = []
    parts += [source.change] if source.change != "changed" else []
    parts += _list_names("added", source.files_added)
    parts += _list_names("removed", source.files_removed)
    parts += _list_names("changed", source.files_changed)
    parts += _list_names("settings", source.settings_changed)
    return f"{quote(source.name, LONGEST_NAME)}: {'; '.join(parts) or source.change}"


def _list_names(word: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        shown = [quote(name, LONGEST_NAME) for name in names[:_MOST_NAMES]]
        more = len(names) - len(shown)
        yield f"{word} {join_names([*shown, f'{more:,} more'] if more else shown)}"


def _describe_problem(problem: ReviewProblem) -> str:
    return f"{problem.severity} in {quote_place(problem.file, problem.line)}: {quote(problem.message)}"


def _add_causes(change: str, causes: Sequence[str]) -> str:
    others = sorted(set(causes) - {change})
    return f"{change} ({join_names(others)})" if others else change


def _describe_family(review: Review) -> str:
    tests = clamp_count(review.family.tests)
    correction = _CORRECTIONS[review.family.correction]
    adjusted = f", {correction}" if tests > 1 else ""
    return f"{format_count(tests, 'test')}{adjusted}." if tests else ""
