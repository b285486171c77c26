"""A review in a pull request: a comment in Markdown within a limit, and annotations of a workflow.

Everything of a review is a stranger's: it is quoted, see ``quoting``, and no line of the comment begins with
it, since programs that obey comments look at the beginnings of lines.
"""

from __future__ import annotations

import hashlib
import re
from html import escape as escape_html
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.core.terminal import format_annotation
from reportgen.core.words import join_names
from reportgen.review import words
from reportgen.review.model import (
    FigureChange,
    PageChange,
    ReviewProblem,
    SourceChange,
    StatementChange,
    TableChange,
)
from reportgen.review.quoting import (
    LONGEST_NAME,
    clean_words,
    escape_words,
    quote,
    quote_in_table,
    quote_place,
)
from reportgen.review.strips import draw_strips

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from reportgen.review.model import NumberChange, Origin, Review, Value

    _Change = TypeVar("_Change")

MOST_CHARACTERS: Final = 60_000
"""Of a comment: GitHub takes 65,536, and GitLab more."""
FEWEST_CHARACTERS: Final = 4_000
"""Any comment fits into so many."""
MOST_PICTURES: Final = 4
"""In a comment."""
PICTURE_WIDTH: Final = 440
"""Pixels of a page that a picture is drawn for; its file has twice as many."""

_MOST_STRIPS = 8
# Names in one line of the details.
_MOST_NAMES = 3
_LONGEST_FILE_NAME = 80
# Annotations of one severity that GitHub shows of a step.
_MOST_ANNOTATIONS = 10
# Rows of the table (and statements), and lines of each list of the details; the first that fits is written.
_SIZES = ((20, 50), (20, 10), (20, 0), (5, 0), (0, 0))
_ADDRESS = re.compile(r"https?://[^\s()<>\"'`\\|]{1,500}")


class CommentContext(Struct, frozen=True):
    """What a comment says besides the review.

    ``config_path`` is the report's ``mkdocs.yml`` as the repository has it: a comment is found again by it.
    ``link`` leads to ``review.html``, ``preview`` to the site as the pull request makes it. In the folder
    ``picture_base`` are the pictures of ``name_pictures``; a ``?query`` at its end belongs behind each name.
    ``from_fork`` says that a fork's own workflow computed the numbers.
    """

    config_path: str = "mkdocs.yml"
    link: str = ""
    preview: str = ""
    picture_base: str = ""
    from_fork: bool = False


def write_comment(
    review: Review,
    *,
    most_characters: int = MOST_CHARACTERS,
    surroundings: CommentContext | None = None,
) -> str:
    """A comment of at most so many characters, which ends with its marker; shorter, it says less.

    What does not fit is left out as a whole: the details, rows of the table, and at last everything but
    counts and a link. Raises a ValueError if ``most_characters`` is less than ``FEWEST_CHARACTERS``, or if an
    address is none.
    """
    if most_characters < FEWEST_CHARACTERS:
        raise ValueError(f"a comment needs {FEWEST_CHARACTERS:,} characters")
    around = surroundings or CommentContext()
    for address in filter(None, (around.link, around.preview, around.picture_base)):
        if not _ADDRESS.fullmatch(address):
            raise ValueError("not an address that a comment can link to")
    parts = (_join_parts(review, around, rows, lines) for rows, lines in _SIZES)
    return next(text for text in parts if len(text) <= most_characters)


def write_annotations(review: Review, *, pages: str = "content/") -> str:
    """Workflow commands for GitHub Actions, a line each: broken statements, numbers to look at, new problems.

    ``pages`` is the folder of the pages and ``/``, as the repository has it. Of each severity as many are
    written as GitHub shows.
    """
    found: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}

    def add(severity: str, said: str, **place: str | int | None) -> None:
        found[severity].append(format_annotation(severity, place, said))

    for change in review.statements:
        if change.is_broken:
            side, title = change.latest, f"{change.kind} {words.name_outcome(change)}".capitalize()
            said = f'"{clean_words(side.words)}": {clean_words(side.found)}'
            add("error", said, file=f"{pages}{change.page}", line=side.line, title=title)
    for number in words.rank_numbers(review.numbers):
        reported = number.verdict == "reported value changed"
        if reported or (number.good is False and number.verdict in {"higher", "lower"}):
            name = f"{clean_words(number.metric)} of {clean_words(number.series)}"
            said = f"{name}: {words.format_change(number)}, Δ {words.format_delta(number)}"
            title = "Reported value changed" if reported else "Number became worse"
            add("warning", said, file=f"{pages}{number.page}", title=title)
    for problem in review.problems.new:
        severity, said = problem.severity.replace("note", "notice"), clean_words(problem.message)
        add(severity, said, file=problem.file, line=problem.line, title="New problem")
    lines = [line for of_one in found.values() for line in of_one[:_MOST_ANNOTATIONS]]
    return "".join(f"{line}\n" for line in lines)


def hash_path(config_path: str) -> str:
    """Eight digits that tell the reports of a repository apart."""
    return hashlib.sha256(config_path.encode()).hexdigest()[:8]


def make_marker(config_path: str) -> str:
    """The last line of a comment, by which it is found again."""
    return f"<!-- reportgen:review:{hash_path(config_path)} -->"


def name_pictures(review: Review, most: int = MOST_PICTURES) -> dict[str, FigureChange]:
    """Figures that changed in what they show, the clearest differences first, by the names of their pictures.

    A name has letters, digits and dashes, and is followed by ``-light.png`` or ``-dark.png``. The first names
    are the same whatever ``most`` is.
    """
    ranks: dict[tuple[str, str], int] = {}
    for number in words.rank_numbers(review.numbers):
        ranks.setdefault((number.page, number.block), len(ranks))
    drawn = [one for one in review.figures if one.change in {"data", "definition", "new"} and one.has_points]
    drawn.sort(key=lambda one: ranks.get((one.page, one.id), len(ranks)))
    names: dict[str, FigureChange] = {}
    for figure in drawn[:most]:
        plain = re.sub("[^a-z0-9]+", "-", f"{figure.page.removesuffix('.md')}-{figure.id}".lower())
        stem = name = plain.strip("-")[:_LONGEST_FILE_NAME] or "figure"
        count = 1
        while name in names:
            count += 1
            name = f"{stem}-{count}"
        names[name] = figure
    return names


def _join_parts(review: Review, around: CommentContext, rows: int, lines: int) -> str:
    ranked = words.rank_numbers(review.numbers)[:rows]
    broken = [one for one in review.statements if one.is_broken]
    tools = sorted({_quote_name(one) for one in (review.base.tool, review.head.tool) if one})
    last_line = [
        f"{_name_state(review.base)} → {_name_state(review.head)}",
        f"reportgen {join_names(tools)}" if tools else "",
        "computed in the fork's own run" if around.from_fork else "",
        f"[review.html]({around.link})" if around.link else "",
        f"[preview]({around.preview}) in a few minutes" if around.preview else "",
    ]
    kinds = {"claim": "Claims that became false", "value": "Values that no longer match"} if rows else {}
    parts = [
        _write_alert(review),
        *(
            _write_list(f"### {title}", [one for one in broken if one.kind == kind], rows, _describe_broken)
            for kind, title in kinds.items()
        ),
        _write_table(review, ranked),
        draw_strips(ranked[:_MOST_STRIPS]),
        *(_show_pictures(review, around.picture_base) if rows and around.picture_base else ()),
        _write_details(review, lines) if lines else "",
        " · ".join(filter(None, last_line)),
        make_marker(around.config_path),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _write_alert(review: Review) -> str:
    if review.is_empty and review.head.built and review.base.built:
        return "Nothing changed: every statement, number, figure, table and page is as it was."
    counts = review.counts
    errors = any(problem.severity == "error" for problem in review.problems.new)
    severe = counts.flipped or not review.head.built
    doubtful = counts.stale_values or review.reported or counts.worse or errors
    kind = "CAUTION" if severe else "WARNING" if doubtful else "NOTE"
    head, base = (
        [] if origin.built else [f"{sentence}: {quote(origin.why, 2 * LONGEST_NAME)}"]
        for origin, sentence in (
            (review.head, "The report could not be built"),
            (review.base, "There is nothing to compare with"),
        )
    )
    first, *others = [*head, *words.list_findings(review), *base]
    lines = [f"**{first}.**", *(f"{one}." for one in others), words.describe_rest(review)]
    return "\n".join((f"> [!{kind}]", *(f"> {line}" for line in lines if line)))


def _write_list(
    heading: str, changes: Sequence[_Change], most: int, describe: Callable[[_Change], str]
) -> str:
    """A list of at most so many changes; empty if there is none."""
    lines = [f"- {describe(change)}" for change in changes[:most]]
    lines += [f"- and {len(changes) - most:,} more"] if len(changes) > most else []
    return "\n".join((heading, "", *lines)) if lines else ""


def _describe_broken(change: StatementChange) -> str:
    place = quote_place(change.page, change.latest.line)
    lines = [f"{place}: {words.describe_statement(change)}", f"  - says: {quote(change.latest.words)}"]
    for word, one in (("before", change.before), ("now", change.after)):
        if one:
            found = words.shorten_found(one) or one.found
            lines.append(f"  - {word} ({words.name_truth(change, one)}): {quote(found)}")
    return "\n".join(lines)


def _write_table(review: Review, numbers: Sequence[NumberChange]) -> str:
    if not numbers:
        return ""
    interval = f" with {review.family.level * 100:.4g}% CI"
    lines = [
        "### Numbers",
        "",
        f"| series | metric | before → after | Δ{interval} | p | verdict | page |",
        "| --- | --- | --: | --- | --: | --- | --- |",
    ]
    for number in numbers:
        series = quote_in_table(number.series)
        if number.was_series:
            series += f", was {quote_in_table(number.was_series)}"
        metric = quote_in_table(number.metric)
        if number.benchmark:
            metric += f" on {quote_in_table(number.benchmark)}"
        if number.step is not None:
            metric += f" at {words.describe_step(number.step)}"
        verdict = words.format_verdict(number)
        clear = number.verdict in {"higher", "lower", "reported value changed"}
        verdict = f"**{verdict}**" if clear else verdict
        flips = words.describe_flips(number, quote_in_table)
        why = [words.describe_units(number), flips, words.describe_reason(number)]
        why += [quote_in_table(number.why, 2 * LONGEST_NAME)] if number.why else []
        verdict = ": ".join(filter(None, [verdict, "; ".join(filter(None, why))]))
        change, delta = words.format_change(number), words.format_delta(number)
        cells = (series, metric, change, delta, words.format_adjusted_p(number), verdict)
        lines.append(f"| {' | '.join(cells)} | {quote_in_table(number.page)} |")
    shown = sum(number.verdict != "same" for number in review.numbers)
    if shown > len(numbers):
        lines += ["", f"{len(numbers)} of {shown:,} numbers that changed, the clearest differences first."]
    return "\n".join(lines)


def _show_pictures(review: Review, base: str) -> Iterator[str]:
    folder, mark, query = base.partition("?")
    pictures = name_pictures(review)
    if pictures:
        yield "### Figures"
    for name, figure in pictures.items():
        light, dark = (
            escape_html(f"{folder.rstrip('/')}/{name}-{ground}.png{mark}{query}")
            for ground in ("light", "dark")
        )
        shown = "as it is now" if figure.change == "new" else "before and after"
        alternative = f"{escape_words(figure.title or figure.id)} {shown}"
        yield (
            f"Figure {_describe(figure)}\n\n"
            f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
            f'<img width="{PICTURE_WIDTH}" alt="{alternative}" src="{light}"></picture>'
        )


def _name_state(origin: Origin) -> str:
    found = words.describe_origin(origin)
    return " ".join([_quote_name(found.commit or found.name), *found.notes])


def _write_details(review: Review, most: int) -> str:
    """Everything else, folded: lists, each of at most so many lines; empty if there is nothing to list."""
    sections: dict[str, Sequence[Value | str]] = {
        "Other statements": [one for one in review.statements if not one.is_broken],
        "Figures": review.figures,
        "Tables": review.tables,
        "Pages": review.pages,
        "Data": review.sources,
        "New problems": review.problems.new,
        "Problems that are gone": review.problems.gone,
        "Left out": review.truncated,
    }
    lists = [_write_list(f"**{title}**", changes, most, _describe) for title, changes in sections.items()]
    text = "\n\n".join(filter(None, [*lists, words.describe_tests(review)]))
    return f"<details>\n<summary>Everything else</summary>\n\n{text}\n\n</details>" if text else ""


def _describe(change: Value | str) -> str:
    """What changed and what became of it, on one line."""
    match change:
        case StatementChange():
            place, said = quote_place(change.page, change.latest.line), words.describe_statement(change)
            return f"{place}: {said}: {quote(change.latest.words, 2 * LONGEST_NAME)}"
        case FigureChange() | TableChange():
            title = f"{_quote_name(change.title or change.id)} on {_quote_name(change.page)}"
            parts = [words.describe_shown(change), *map(_quote_name, change.definitions[:_MOST_NAMES])]
            for one, move in words.list_moves(change, "step")[:_MOST_NAMES]:
                was = f" (was {_quote_name(one.was_name)})" if one.was_name else ""
                parts.append(f"{_quote_name(one.name)}{was} {move}")
            return f"{title}: {'; '.join(parts)}"
        case PageChange():
            said = ", ".join(words.list_page_changes(change, _quote_name))
            return f"{_quote_name(change.path)}: {said or change.change}"
        case SourceChange():
            parts = [change.change] if change.change != "changed" else []
            for said, names in words.list_source_changes(change):
                parts.append(f"{said} ({join_names([*map(_quote_name, names)], most=_MOST_NAMES)})")
            return f"{_quote_name(change.name)}: {'; '.join(parts) or change.change}"
        case ReviewProblem():
            place = quote_place(change.file, change.line)
            return f"{change.severity} in {place}: {quote(change.message)}"
    return quote(str(change))


def _quote_name(name: str) -> str:
    return quote(name, LONGEST_NAME)
