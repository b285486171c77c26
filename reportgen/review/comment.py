"""A review in a pull request: a comment in Markdown within a limit, and annotations of a workflow.

Everything of a review is a stranger's: it is quoted, see ``quoting``, and no line of the comment begins with
it, since programs that obey comments look at the beginnings of lines.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from html import escape as escape_html
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.core.terminal import format_annotation
from reportgen.review import words
from reportgen.review.document import make_document, order_figures
from reportgen.review.quoting import clean_words, escape_words, quote, quote_in_table
from reportgen.review.strips import draw_strips
from reportgen.review.text import join_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.review.document import Document, Entry, Group, Section, Text
    from reportgen.review.model import FigureChange, Review

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
# Below one entry.
_MOST_LINES = 4
# Rows and serious entries, entries of each list of the details, and lines below one of these; the first that
# fits is written.
_SIZES = ((20, 50, 4), (20, 10, 2), (20, 5, 0), (20, 0, 0), (5, 0, 0), (0, 0, 0))
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
    document = make_document(review)
    parts = (_join_parts(review, document, around, size) for size in _SIZES)
    return next(text for text in parts if len(text) <= most_characters)


def write_annotations(review: Review, *, folder: str = "", pages: str = "content/") -> str:
    """Workflow commands for GitHub Actions, a line each: broken statements, numbers to look at, new problems.

    ``folder`` is that of the report in the repository, and ``pages`` that of its pages in the report, both
    with a slash at the end. Of each severity as many are
    written as GitHub shows.
    """
    found: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}

    def add(severity: str, said: str, **place: str | int | None) -> None:
        found[severity].append(format_annotation(severity, place, said))

    def locate(page: str) -> str:
        """Return a page's file; the path of a document is relative to the report already."""
        is_document = page.startswith(("./", "../"))
        return posixpath.normpath(f"{folder}{page}") if is_document else f"{folder}{pages}{page}"

    for change in review.statements:
        if change.is_broken:
            side, title = change.latest, f"{change.kind} {words.name_outcome(change)}".capitalize()
            said = f'"{clean_words(side.words)}": {clean_words(side.found)}'
            add("error", said, file=locate(change.page), line=side.line, title=title)
    for number in words.rank_numbers(review.numbers):
        reported = number.verdict == "reported value changed"
        if reported or (number.good is False and number.verdict in {"higher", "lower"}):
            name = f"{clean_words(number.metric)} of {clean_words(number.series)}"
            said = f"{name}: {words.format_change(number)}, Δ {words.format_delta(number)}"
            title = "Reported value changed" if reported else "Number became worse"
            add("warning", said, file=locate(number.page), title=title)
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
    """Figures that changed in what they show, in the document's order, by the names of their pictures.

    A name has letters, digits and dashes, and is followed by ``-light.png`` or ``-dark.png``. The first names
    are the same whatever ``most`` is.
    """
    drawn = [
        one
        for _, one in order_figures(review)
        if one.change in {"data", "definition", "new"} and one.has_points
    ]
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


def _join_parts(
    review: Review, document: Document, around: CommentContext, size: tuple[int, int, int]
) -> str:
    rows, most, most_lines = size
    states = [_write(state) for _, state in document.states]
    last_line = [
        " → ".join(states),
        "computed in the fork's own run" if around.from_fork else "",
        f"[review.html]({around.link})" if around.link else "",
        f"[preview]({around.preview}) in a few minutes" if around.preview else "",
    ]
    groups = [(group, group.title or one.title) for one in document.sections for group in one.groups]
    serious = [(group, title) for group, title in groups if group.serious]
    rest = [
        _write_group(f"**{title}**", group, most, most_lines) for group, title in groups if not group.serious
    ]
    parts = [
        _write_alert(review, document),
        *(_write_group(f"### {title}", group, rows, _MOST_LINES) for group, title in serious),
        *(_write_table(one, rows) for one in document.sections if one.rows),
        *(_show_pictures(review, document, around.picture_base) if rows and around.picture_base else ()),
        _fold(list(filter(None, rest))),
        " · ".join(filter(None, last_line)),
        make_marker(around.config_path),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _write(text: Text, *, in_table: bool = False) -> str:
    """A text in Markdown, with the words of others as code."""
    code = quote_in_table if in_table else quote
    return "".join(part if isinstance(part, str) else code(part.words, part.most) for part in text)


def _write_alert(review: Review, document: Document) -> str:
    if not document.sections and review.is_empty and not document.warnings:
        return document.verdict
    counts = review.counts
    errors = any(problem.severity == "error" for problem in review.problems.new)
    severe = counts.flipped or not review.head.built
    doubtful = counts.stale_values or review.reported or counts.worse or errors
    kind = "CAUTION" if severe else "WARNING" if doubtful else "NOTE"
    first, *others = [*map(_write, document.warnings), *words.list_findings(review)]
    lines = [f"**{first}.**", *(f"{one}." for one in others), document.rest]
    return "\n".join((f"> [!{kind}]", *(f"> {line}" for line in lines if line)))


def _write_group(heading: str, group: Group, most: int, most_lines: int) -> str:
    """A list of at most so many entries; empty if there is none."""
    if not most:
        return ""
    lines = [line for entry in group.entries[:most] for line in _list_entry(entry, most_lines)]
    rest = group.count - min(most, len(group.entries))
    lines += [f"- and {rest:,} more"] if rest > 0 else []
    return "\n".join((heading, "", *lines)) if lines else ""


def _list_entry(entry: Entry, most: int) -> Iterator[str]:
    yield f"- {_describe(entry)}"
    for label, text in entry.lines[:most]:
        yield f"  - {_write(label)}: {_write(text)}"
    if most and len(entry.lines) > most:
        yield f"  - and {len(entry.lines) - most:,} more"


def _describe(entry: Entry) -> str:
    place = quote(clean_words(entry.place)) if entry.place else ""
    return ": ".join(filter(None, (place, _write(entry.title), _write(entry.what))))


def _write_table(section: Section, most: int) -> str:
    """The first rows, and below them their intervals."""
    rows = section.rows[:most]
    if not rows:
        return ""
    lines = [
        f"### {section.title}",
        "",
        f"| {' | '.join(section.header)} |",
        "| --- " * len(section.header) + "|",
    ]
    for row in rows:
        cells = (join_lines([_write(line, in_table=True) for line in cell]) for cell in row.cells)
        lines.append(f"| {' | '.join(cells)} |")
    if section.count > len(rows):
        lines += ["", f"{len(rows)} of {section.count:,} numbers that changed."]
    return "\n\n".join(
        filter(None, ("\n".join(lines), draw_strips([row.number for row in rows[:_MOST_STRIPS]])))
    )


def _show_pictures(review: Review, document: Document, base: str) -> Iterator[str]:
    folder, mark, query = base.partition("?")
    names = {id(figure): name for name, figure in name_pictures(review).items()}
    entries = [entry for one in document.sections for group in one.groups for entry in group.entries]
    shown = [(entry, names[id(entry.shown)]) for entry in entries if id(entry.shown) in names]
    if shown:
        yield "### Figures"
    for entry, name in shown:
        light, dark = (
            escape_html(f"{folder.rstrip('/')}/{name}-{ground}.png{mark}{query}")
            for ground in ("light", "dark")
        )
        title = "".join(escape_words(part.words) for part in entry.title if not isinstance(part, str))
        alternative = f"{title} as it is now" if entry.what[0] == "new" else f"{title} before and after"
        yield (
            f"Figure {_describe(entry)}\n\n"
            f'<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">'
            f'<img width="{PICTURE_WIDTH}" alt="{alternative}" src="{light}"></picture>'
        )


def _fold(lists: list[str]) -> str:
    """Everything else, folded; empty if there is nothing to list."""
    text = "\n\n".join(lists)
    return f"<details>\n<summary>Everything else</summary>\n\n{text}\n\n</details>" if text else ""
