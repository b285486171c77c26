"""A review in lines for the terminal: what flipped first, then numbers, then all else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.core.words import (
    choose_decimals,
    format_count,
    format_equation,
    format_nonzero,
    format_number,
    format_p,
    format_step,
    join_names,
)
from reportgen.review.model import FigureChange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.review.model import (
        Delta,
        Estimate,
        NumberChange,
        Origin,
        PageChange,
        Review,
        SourceChange,
        StatementChange,
        TableChange,
    )


def describe_origin(origin: Origin) -> str:
    """A state in a few words."""
    commit = origin.commit[:8]
    notes = ["" if commit in origin.name else commit, "modified" if origin.modified else ""]
    notes += ["" if origin.built else f"no report: {origin.why}"]
    known = ", ".join(filter(None, notes))
    return f"{origin.name} ({known})" if known else origin.name


def format_estimate(estimate: Estimate | Delta, *, percent: bool, signed: bool = False) -> str:
    """A number with its interval: ``0.28 [0.17, 0.42]``, ``+4.0 [−1.0, +9.0] %``."""
    factor = 100.0 if percent else 1.0
    low, high = estimate.low, estimate.high
    decimals = 1 if percent else None
    if low is not None and high is not None:
        decimals = choose_decimals((high - low) / 2 * factor)

    def write(value: float) -> str:
        if signed and value:
            return format_nonzero(value * factor, decimals=decimals, signed=True)
        return format_number(value * factor, decimals=decimals)

    ends = "" if low is None or high is None else f" [{write(low)}, {write(high)}]"
    return f"{write(estimate.value)}{ends}{' %' if percent else ''}"


def describe_number(number: NumberChange) -> str:
    """One number in a line: series, before and after, the difference, the verdict and why."""
    name = number.series if not number.was_series else f"{number.series} (was {number.was_series})"
    at = "" if number.step is None else f" at {format_step(number.step)}"
    sides = [
        format_estimate(one, percent=number.percent) if one else "none"
        for one in (number.before, number.after)
    ]
    parts = [f"{number.page}: {name}, {number.metric}{at}: {sides[0]} → {sides[1]}"]
    if delta := number.delta:
        p = "" if delta.p_adjusted is None else f", {format_equation('p', format_p(delta.p_adjusted))}"
        parts.append(f"Δ {format_estimate(delta, percent=number.percent, signed=True)}{p}")
    judged = {True: " (better)", False: " (worse)", None: ""}[number.good]
    why = f": {number.why}" if number.why else ""
    return "; ".join([*parts, f"{number.verdict}{judged}{why}"])


def describe_statement(statement: StatementChange) -> str:
    """What became of a statement, with what the data said before and say now."""
    known = statement.after or statement.before
    where = f"{statement.page}:{known.line}" if known and known.line else statement.page
    words = known.words if known else ""
    found = " → ".join(one.found for one in (statement.before, statement.after) if one)
    return f'{where}: {statement.kind} {statement.change}: "{words}": {found}'


def list_lines(review: Review) -> Iterator[str]:
    """The review in lines, headings without an indent."""
    yield f"Before: {describe_origin(review.base)}"
    yield f"After:  {describe_origin(review.head)}"
    if review.is_empty:
        yield ""
        yield "Nothing changed."
        return
    broken_first = sorted(review.statements, key=lambda one: not one.is_broken)
    shown: list[FigureChange | TableChange] = [*review.figures, *review.tables]
    sections = {
        "Statements": [describe_statement(one) for one in broken_first],
        "Numbers": [describe_number(one) for one in review.numbers],
        "Figures and tables": [_describe_shown(one) for one in shown],
        "Pages": [_describe_page(one) for one in review.pages],
        "Sources": [_describe_source(one) for one in review.sources],
        "New problems": [f"{one.file}: {one.severity}: {one.message}" for one in review.problems.new],
        "Left out for size": review.truncated,
    }
    for title, lines in sections.items():
        if lines:
            yield from ("", f"{title}:", *(f"  {line}" for line in lines))
    yield from ("", summarize(review))


def _describe_shown(shown: FigureChange | TableChange) -> str:
    kind, definitions = "table", []
    if isinstance(shown, FigureChange):
        kind, definitions = "figure", [*shown.definitions]
    causes = f" changed because of {join_names(shown.causes)}" if shown.causes else f" is {shown.change}"
    return "; ".join([f"{shown.page}: {kind} {shown.title}{causes}", *definitions])


def _describe_page(page: PageChange) -> str:
    if page.change == "text":
        return f"{page.path}: {page.lines_added} lines added, {page.lines_removed} removed"
    return f"{page.path}: {page.change}{f' from {page.was_path}' if page.was_path else ''}"


def _describe_source(source: SourceChange) -> str:
    counts = {
        "added": source.files_added,
        "changed": source.files_changed,
        "removed": source.files_removed,
    }
    parts = [f"{format_count(len(files), 'file')} {verb}" for verb, files in counts.items() if files]
    parts += [f"{name}: changed" for name in source.settings_changed]
    return f"{source.name}: {', '.join(parts) or source.change}"


def summarize(review: Review) -> str:
    """The most important counts in a line."""
    counts = review.counts
    statements = counts.flipped + counts.stale_values
    worse = f" ({counts.worse} worse)" if counts.worse else ""
    parts = [
        f"{format_count(statements, 'statement')} broken",
        f"{format_count(counts.differences, 'number')} clearly different{worse}",
        f"{counts.unclear} unclear",
        *([f"{counts.re_estimated} re-estimated"] if counts.re_estimated else []),
        *([f"{counts.measured_differently} measured differently"] if counts.measured_differently else []),
        *([f"{counts.not_comparable} not comparable"] if counts.not_comparable else []),
        *([f"{counts.new} new"] if counts.new else []),
        *([f"{counts.gone} gone"] if counts.gone else []),
        f"{counts.same} the same",
    ]
    return ", ".join(parts) + "."
