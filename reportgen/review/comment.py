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

from reportgen.core.words import join_names
from reportgen.review import words
from reportgen.review.markdown.details import describe_figure, introduce_statement, write_details
from reportgen.review.markdown.quoting import (
    LONGEST_NAME,
    clean_words,
    escape_words,
    quote,
    quote_in_table,
)
from reportgen.review.markdown.strips import draw_strips
from reportgen.site.terminal import format_annotation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.review.model import FigureChange, NumberChange, Origin, Review, StatementChange

MOST_CHARACTERS: Final = 60_000
"""Of a comment: GitHub takes 65,536, and GitLab more."""
FEWEST_CHARACTERS: Final = 4_000
"""Any comment fits into so many."""
MOST_PICTURES: Final = 4
"""In a comment."""
PICTURE_WIDTH: Final = 440
"""Pixels of a page that a picture is drawn for; its file has twice as many."""

_MOST_STRIPS = 8
_LONGEST_FILE_NAME = 80
# Annotations of one severity that GitHub shows of a step.
_MOST_ANNOTATIONS = 10
# Rows of the table (and statements), and lines of each list of the details; the first that fits is written.
_SIZES = ((20, 50), (20, 10), (20, 0), (5, 0), (0, 0))
_ADDRESS = re.compile(r"https?://[^\s()<>\"'`\\|]{1,500}")


class CommentContext(Struct, frozen=True):
    """What a comment says besides the review.

    ``config_path`` is the report's ``mkdocs.yml`` as the repository has it: a comment is found again by it.
    ``link`` leads to ``review.html``. In the folder ``picture_base`` are the pictures of ``name_pictures``; a
    ``?query`` at its end belongs behind each name.
    ``from_fork`` says that a fork's own workflow computed the numbers.
    """

    config_path: str = "mkdocs.yml"
    link: str = ""
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
    for address in filter(None, (around.link, around.picture_base)):
        if not _ADDRESS.fullmatch(address):
            raise ValueError("not an address that a comment can link to")
    parts = (_join_parts(review, around, rows, lines) for rows, lines in _SIZES)
    return next(text for text in parts if len(text) <= most_characters)


def write_annotations(review: Review, *, pages: str = "content/") -> str:
    """Workflow commands for GitHub Actions, a line each: broken statements, worse numbers, new problems.

    ``pages`` is the folder of the pages and ``/``, as the repository has it. Of each severity as many are
    written as GitHub shows.
    """
    found: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for change in review.statements:
        if change.is_broken:
            side, title = change.latest, f"{change.kind} {words.name_outcome(change)}".capitalize()
            place = {"file": f"{pages}{change.page}", "line": side.line, "title": title}
            said = f'"{clean_words(side.words)}": {clean_words(side.found)}'
            found["error"].append(format_annotation("error", place, said))
    for number in words.rank_numbers(review.numbers):
        if number.good is False and number.verdict in {"higher", "lower"}:
            name = f"{clean_words(number.metric)} of {clean_words(number.series)}"
            said = f"{name}: {words.format_change(number)}, Δ {words.format_delta(number)}"
            place = {"file": f"{pages}{number.page}", "title": "Number became worse"}
            found["warning"].append(format_annotation("warning", place, said))
    for problem in review.problems.new:
        severity = problem.severity.replace("note", "notice")
        place = {"file": problem.file, "line": problem.line, "title": "New problem"}
        found[severity].append(format_annotation(severity, place, clean_words(problem.message)))
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
    parts = [
        _write_alert(review),
        *(_write_statements(review, rows) if rows else ()),
        _write_table(review, ranked),
        draw_strips(ranked[:_MOST_STRIPS]),
        *(_show_pictures(review, around.picture_base) if rows and around.picture_base else ()),
        write_details(review, lines) if lines else "",
        _write_last_line(review, around),
        make_marker(around.config_path),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _write_alert(review: Review) -> str:
    if review.is_empty and review.head.built and review.base.built:
        return "Nothing changed: every statement, number, figure, table and page is as it was."
    counts = review.counts
    errors = any(problem.severity == "error" for problem in review.problems.new)
    severe = counts.flipped or not review.head.built
    kind = "CAUTION" if severe else "WARNING" if counts.stale_values or counts.worse or errors else "NOTE"
    first, *others = [
        *_explain(review.head, "The report could not be built"),
        *words.list_findings(review),
        *_explain(review.base, "There is nothing to compare with"),
    ]
    lines = [f"**{first}.**", *(f"{one}." for one in others), words.describe_rest(review)]
    return "\n".join((f"> [!{kind}]", *(f"> {line}" for line in lines if line)))


def _explain(origin: Origin, sentence: str) -> list[str]:
    return [] if origin.built else [f"{sentence}: {quote(origin.why, 2 * LONGEST_NAME)}"]


def _write_statements(review: Review, most: int) -> Iterator[str]:
    broken = [one for one in review.statements if one.is_broken]
    for kind, title in (("claim", "Claims that became false"), ("value", "Values that no longer match")):
        members = [one for one in broken if one.kind == kind]
        if members:
            entries = [_describe_statement(one) for one in members[:most]]
            rest = len(members) - most
            entries += [f"- and {rest:,} more"] if rest > 0 else []
            yield "\n".join((f"### {title}", "", *entries))


def _describe_statement(change: StatementChange) -> str:
    sides = [(word, one) for word, one in (("before", change.before), ("now", change.after)) if one]
    lines = [f"- {introduce_statement(change)}", f"  - says: {quote(change.latest.words)}"]
    for word, one in sides:
        found = words.shorten_found(one) or one.found
        lines.append(f"  - {word} ({words.name_truth(change, one)}): {quote(found)}")
    return "\n".join(lines)


def _write_table(review: Review, numbers: Sequence[NumberChange]) -> str:
    if not numbers:
        return ""
    interval = f" with {review.family.level * 100:.4g} % interval"
    lines = [
        "### Numbers",
        "",
        f"| series | metric | before → after | Δ{interval} | p | verdict | page |",
        "| --- | --- | --: | --- | --: | --- | --- |",
        *map(_write_row, numbers),
    ]
    shown = sum(number.verdict != "same" for number in review.numbers)
    if shown > len(numbers):
        lines += ["", f"{len(numbers)} of {shown:,} numbers that changed, the clearest differences first."]
    return "\n".join(lines)


def _write_row(number: NumberChange) -> str:
    series = quote_in_table(number.series)
    if number.was_series:
        series += f", was {quote_in_table(number.was_series)}"
    metric = quote_in_table(number.metric)
    if number.benchmark:
        metric += f" on {quote_in_table(number.benchmark)}"
    if number.step is not None:
        metric += f" at {words.describe_step(number.step)}"
    verdict = words.format_verdict(number)
    verdict = f"**{verdict}**" if number.verdict in {"higher", "lower"} else verdict
    why = [words.describe_units(number), words.describe_reason(number)]
    why += [quote_in_table(number.why, 2 * LONGEST_NAME)] if number.why else []
    verdict = ": ".join(filter(None, [verdict, "; ".join(filter(None, why))]))
    change, delta = words.format_change(number), words.format_delta(number)
    cells = (series, metric, change, delta, words.format_adjusted_p(number), verdict)
    return f"| {' | '.join(cells)} | {quote_in_table(number.page)} |"


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
            f"Figure {describe_figure(figure)}\n\n"
            f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
            f'<img width="{PICTURE_WIDTH}" alt="{alternative}" src="{light}"></picture>'
        )


def _write_last_line(review: Review, around: CommentContext) -> str:
    tools = sorted({quote(one, LONGEST_NAME) for one in (review.base.tool, review.head.tool) if one})
    parts = [
        f"{_name_state(review.base)} → {_name_state(review.head)}",
        f"reportgen {join_names(tools)}" if tools else "",
        "computed in the fork's own run" if around.from_fork else "",
        f"[review.html]({around.link})" if around.link else "",
    ]
    return " · ".join(filter(None, parts))


def _name_state(origin: Origin) -> str:
    found = words.describe_origin(origin)
    return " ".join([quote(found.commit or found.name, LONGEST_NAME), *found.notes])
