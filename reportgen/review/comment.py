"""A review in a pull request: a comment in Markdown within a limit, and annotations of a workflow.

Everything of a review is a stranger's: it is quoted, see ``quoting``, and no line of the comment begins with
it, since programs that obey comments look at the beginnings of lines.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from html import escape as escape_html
from typing import TYPE_CHECKING, Final

from reportgen.core.words import join_names
from reportgen.review import words
from reportgen.review.quoting import (
    LONGEST_NAME,
    clean_words,
    escape_words,
    quote,
    quote_in_table,
    quote_place,
)
from reportgen.review.strips import draw_strips
from reportgen.site.terminal import format_annotation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from reportgen.review.model import (
        FigureChange,
        NumberChange,
        Origin,
        PageChange,
        Review,
        ReviewProblem,
        SourceChange,
        StatementChange,
        TableChange,
    )

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


@dataclass(frozen=True, slots=True)
class CommentContext:
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

    def add(severity: str, said: str, **place: str | int | None) -> None:
        found[severity].append(format_annotation(severity, place, said))

    for change in review.statements:
        if change.is_broken:
            side, title = change.latest, f"{change.kind} {words.name_outcome(change)}".capitalize()
            said = f'"{clean_words(side.words)}": {clean_words(side.found)}'
            add("error", said, file=f"{pages}{change.page}", line=side.line, title=title)
    for number in words.rank_numbers(review.numbers):
        if number.good is False and number.verdict in {"higher", "lower"}:
            name = f"{clean_words(number.metric)} of {clean_words(number.series)}"
            said = f"{name}: {words.format_change(number)}, Δ {words.format_delta(number)}"
            add("warning", said, file=f"{pages}{number.page}", title="Number became worse")
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
    kinds = {"claim": "Claims that became false", "value": "Values that no longer match"} if rows else {}
    parts = [
        _write_alert(review),
        *(
            _write_list(f"### {title}", [one for one in broken if one.kind == kind], _describe_broken, rows)
            for kind, title in kinds.items()
        ),
        _write_table(review, ranked),
        draw_strips(ranked[:_MOST_STRIPS]),
        *(_show_pictures(review, around.picture_base) if rows and around.picture_base else ()),
        _write_details(review, lines) if lines else "",
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
    heading: str, changes: Sequence[_Change], describe: Callable[[_Change], str], most: int
) -> str:
    """A list of at most so many changes; empty if there is none."""
    lines = [f"- {describe(change)}" for change in changes[:most]]
    lines += [f"- and {len(changes) - most:,} more"] if len(changes) > most else []
    return "\n".join((heading, "", *lines)) if lines else ""


def _introduce(change: StatementChange) -> str:
    """Where a statement stands, what became of it, and why."""
    return f"{quote_place(change.page, change.latest.line)}: {words.describe_statement(change)}"


def _describe_broken(change: StatementChange) -> str:
    lines = [_introduce(change), f"  - says: {quote(change.latest.words)}"]
    for word, one in (("before", change.before), ("now", change.after)):
        if one:
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
            f"Figure {_describe_shown(figure)}\n\n"
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


def _write_details(review: Review, most: int) -> str:
    """Everything else, folded: lists, each of at most so many lines; empty if there is nothing to list."""
    others = [one for one in review.statements if not one.is_broken]
    sections = [
        _write_list("**Other statements**", others, _describe_statement, most),
        _write_list("**Figures**", review.figures, _describe_shown, most),
        _write_list("**Tables**", review.tables, _describe_shown, most),
        _write_list("**Pages**", review.pages, _describe_page, most),
        _write_list("**Data**", review.sources, _describe_source, most),
        _write_list("**New problems**", review.problems.new, _describe_problem, most),
        _write_list("**Problems that are gone**", review.problems.gone, _describe_problem, most),
        _write_list("**Left out**", review.truncated, quote, most),
        words.describe_tests(review),
    ]
    text = "\n\n".join(filter(None, sections))
    return f"<details>\n<summary>Everything else</summary>\n\n{text}\n\n</details>" if text else ""


def _describe_statement(change: StatementChange) -> str:
    return f"{_introduce(change)}: {quote(change.latest.words, 2 * LONGEST_NAME)}"


def _describe_shown(shown: FigureChange | TableChange) -> str:
    """A figure or table that changed: what, why, and where most."""
    title = f"{quote(shown.title or shown.id, LONGEST_NAME)} on {quote(shown.page, LONGEST_NAME)}"
    parts = [words.describe_shown(shown)]
    parts += [quote(one, LONGEST_NAME) for one in shown.definitions[:_MOST_NAMES]]
    for one, move in words.list_moves(shown, "step")[:_MOST_NAMES]:
        was = f" (was {quote(one.was_name, LONGEST_NAME)})" if one.was_name else ""
        parts.append(f"{quote(one.name, LONGEST_NAME)}{was} {move}")
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
