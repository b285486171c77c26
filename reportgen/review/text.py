"""A review in lines for the terminal: what flipped first, then numbers, then all else, the verdict last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.core.words import format_equation
from reportgen.review import words
from reportgen.review.model import (
    FigureChange,
    NumberChange,
    PageChange,
    SourceChange,
    StatementChange,
    TableChange,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.review.model import Review, Value


def list_lines(review: Review) -> Iterator[str]:
    """The review in lines, headings without an indent."""
    yield f"Before: {words.format_origin(review.base)}"
    yield f"After:  {words.format_origin(review.head)}"
    broken_first = sorted(review.statements, key=lambda one: not one.is_broken)
    sections: dict[str, Sequence[Value | str]] = {
        "Statements": broken_first,
        "Numbers": words.rank_numbers(review.numbers),
        "Figures and tables": (*review.figures, *review.tables),
        "Pages": review.pages,
        "Sources": review.sources,
        "New problems": [f"{one.file}: {one.severity}: {one.message}" for one in review.problems.new],
        "Left out for size": review.truncated,
    }
    for title, changes in sections.items():
        heading = ["", f"{title}:"]
        for first, *more in map(_list_change, changes if not review.is_empty else ()):
            yield from (*heading, f"  {first}", *(f"    {line}" for line in more if line))
            heading = []
    yield from ("", words.describe_findings(review))
    if rest := words.describe_rest(review):
        yield rest


def _list_change(change: Value | str) -> list[str]:
    """What changed and what became of it, and in lines below what is behind that."""
    match change:
        case StatementChange():
            known = change.latest
            where = f"{change.page}:{known.line}" if known.line else change.page
            sides = [("before: ", change.before), ("after:  ", change.after)]
            found = [f"{word}{one.found}" for word, one in sides if one]
            return [f'{where}: "{known.words}": {words.describe_statement(change)}', *found]
        case NumberChange():
            name = _name(change.series, change.was_series)
            metric = f"{change.metric} on {change.benchmark}" if change.benchmark else change.metric
            at = "" if change.step is None else f" at {words.describe_step(change.step)}"
            p, delta = words.format_adjusted_p(change), words.format_delta(change)
            values = " → ".join(words.format_side(change, one) for one in (change.before, change.after))
            found = [values, f"Δ {delta}" if delta else "", format_equation("p", p) if p else ""]
            why = [words.describe_units(change), words.describe_reason(change), change.why]
            flips = words.describe_flips(change)
            first = f"{change.page}: {name}, {metric}{at}: {words.format_verdict(change)}"
            return [first, ", ".join(filter(None, found)), "; ".join(filter(None, why)), flips]
        case FigureChange() | TableChange():
            kind = "figure" if isinstance(change, FigureChange) else "table"
            moves = (f"{_name(one.name, one.was_name)}: {move}" for one, move in words.list_moves(change))
            first = f"{change.page}: {kind} {change.title or change.id}: {words.describe_shown(change)}"
            return [first, *change.definitions, *moves]
        case PageChange():
            return [f"{change.path}: {', '.join(words.list_page_changes(change)) or 'another title'}"]
        case SourceChange():
            changes = [said for said, _ in words.list_source_changes(change)]
            changes = [change.change, *changes] if change.change != "changed" else changes
            settings = f" ({', '.join(change.settings_changed)})" if change.settings_changed else ""
            return [f"{change.name}: {', '.join(changes) or 'changed'}{settings}"]
    return [str(change)]


def _name(series: str, was: str) -> str:
    return f"{series} (was {was})" if was else series
