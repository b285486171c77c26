"""A review in lines for the terminal: what flipped first, then numbers, then all else, the verdict last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.core.words import format_equation
from reportgen.review import words
from reportgen.review.model import FigureChange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.review.model import (
        NumberChange,
        PageChange,
        Review,
        SourceChange,
        StatementChange,
        TableChange,
    )


def list_lines(review: Review) -> Iterator[str]:
    """The review in lines, headings without an indent."""
    yield f"Before: {words.format_origin(review.base)}"
    yield f"After:  {words.format_origin(review.head)}"
    if not review.is_empty:
        broken_first = sorted(review.statements, key=lambda one: not one.is_broken)
        shown: tuple[FigureChange | TableChange, ...] = (*review.figures, *review.tables)
        sections = {
            "Statements": map(_list_statement, broken_first),
            "Numbers": map(_list_number, words.rank_numbers(review.numbers)),
            "Figures and tables": map(_list_shown, shown),
            "Pages": map(_list_page, review.pages),
            "Sources": map(_list_source, review.sources),
            "New problems": ([f"{one.file}: {one.severity}: {one.message}"] for one in review.problems.new),
            "Left out for size": ([one] for one in review.truncated),
        }
        for title, entries in sections.items():
            heading = ["", f"{title}:"]
            for first, *more in entries:
                yield from (*heading, f"  {first}", *(f"    {line}" for line in more if line))
                heading = []
    yield from ("", words.describe_findings(review))
    if rest := words.describe_rest(review):
        yield rest


def _list_statement(statement: StatementChange) -> list[str]:
    """What became of a statement, and below it what the data said before and say now."""
    known = statement.latest
    where = f"{statement.page}:{known.line}" if known.line else statement.page
    sides = [("before: ", statement.before), ("after:  ", statement.after)]
    found = [f"{word}{one.found}" for word, one in sides if one]
    return [f'{where}: "{known.words}": {words.describe_statement(statement)}', *found]


def _list_number(number: NumberChange) -> list[str]:
    """What a number is and its verdict; below, before and after, the difference, and what is behind it."""
    name = _name(number.series, number.was_series)
    metric = f"{number.metric} on {number.benchmark}" if number.benchmark else number.metric
    at = "" if number.step is None else f" at {words.describe_step(number.step)}"
    p, delta = words.format_adjusted_p(number), words.format_delta(number)
    sides = [words.format_side(number, one) for one in (number.before, number.after)]
    why = [words.describe_units(number), words.describe_reason(number), number.why]
    return [
        f"{number.page}: {name}, {metric}{at}: {words.format_verdict(number)}",
        ", ".join(filter(None, [f"{sides[0]} → {sides[1]}", f"Δ {delta}" if delta else "",
                                format_equation("p", p) if p else ""])),
        "; ".join(filter(None, why)),
    ]  # fmt: skip


def _name(series: str, was: str) -> str:
    return f"{series} (was {was})" if was else series


def _list_shown(shown: FigureChange | TableChange) -> list[str]:
    kind = "figure" if isinstance(shown, FigureChange) else "table"
    moves = (f"{_name(one.name, one.was_name)}: {move}" for one, move in words.list_moves(shown))
    first = f"{shown.page}: {kind} {shown.title or shown.id}: {words.describe_shown(shown)}"
    return [first, *shown.definitions, *moves]


def _list_page(page: PageChange) -> list[str]:
    change = {"renamed": f"renamed from {page.was_path}", "text": ""}.get(page.change, page.change)
    lines = words.describe_page(page) or ("" if change else "another title")
    return [f"{page.path}: {', '.join(filter(None, [change, lines]))}"]


def _list_source(source: SourceChange) -> list[str]:
    changes = [said for said, _ in words.list_source_changes(source)]
    settings = f" ({', '.join(source.settings_changed)})" if source.settings_changed else ""
    kind = "" if source.change == "changed" else source.change
    return [f"{source.name}: {', '.join(filter(None, [kind, *changes])) or 'changed'}{settings}"]
