"""A review in the pages of a built site: what changed on each, and on the front page of them all."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.review import words
from reportgen.review.compare import count_changes
from reportgen.review.model import LONGEST_NAME, FigureChange, ProblemChanges, clip, write_review
from reportgen.review.page.document import MOST_FIGURES, describe_source, order_figures, write_page
from reportgen.review.page.judged import cut, list_numbers, list_statements
from reportgen.review.quoting import make_visible
from reportgen.site.assembly import Additions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.review.model import PageChange, Review, TableChange
    from reportgen.review.snapshot import Snapshot

MOST_ROWS: Final = 20
"""Numbers of a page; the review's own page has the others."""

_PARTS: Final = ("statements", "numbers", "figures", "tables", "pages", "sources")


def make_additions(review: Review, head: Snapshot) -> Additions:
    """What a site says of the changes to its report, whose state is ``head``."""
    base = make_visible(review).base
    titles = {page["path"]: page["title"] for page in head.report["pages"]}
    pages = _split_by_page(review, head) if base.built else {}
    anchors = {(one.page, one.id): anchor for anchor, one in order_figures(review)[:MOST_FIGURES]}
    sections = {path: _describe_changes(page, anchors) for path, page in pages.items()}
    gone = [one for one in make_visible(review).pages if one.change == "gone"]
    front = {
        "verdict": words.describe_findings(review)
        if base.built
        else f"There is no earlier report to compare with: {base.why}",
        "pages": [
            {"path": path, "title": titles[path], "summary": section["summary"]}
            for path, section in sections.items()
        ],
        "gone": cut(gone if base.built else ()),
    }
    name = words.format_origin(base.replace(built=True))
    return Additions(name, sections, front, write_review(review), partial(write_page, review))


def _split_by_page(review: Review, head: Snapshot) -> dict[str, Review]:
    """The part of a review that is about each page of the report, where there is any."""
    parts: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for name in ("statements", "numbers", "figures", "tables"):
        for one in getattr(review, name):
            parts[one.page][name].append(one)
    for page in review.pages:
        parts[page.path]["pages"].append(page)
    sources = {one.name: one for one in review.sources}
    used = {(one.page, name) for one in head.figures for name in one.sources or ()}
    used |= {(one.page, name) for one in head.tables for name in one.sources or ()}
    used |= {(one.page, one.request.source) for one in (head.drafted.numbers if head.drafted else ())}
    for path, name in sorted({(clip(page, LONGEST_NAME), clip(name, LONGEST_NAME)) for page, name in used}):
        if name in sources:
            parts[path]["sources"].append(sources[name])
    found = {}
    for path in (page["path"] for page in head.report["pages"]):
        if own := parts.get(clip(path, LONGEST_NAME)):
            update = {name: tuple(own[name]) for name in _PARTS}
            part = review.replace(**update, problems=ProblemChanges())
            found[path] = make_visible(part.replace(counts=count_changes(part)))
    return found


def _describe_changes(review: Review, anchors: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """What a page's section says, for its template; ``review`` is about nothing else."""
    page = next(iter(review.pages), None)
    if page is not None and page.change == "new":
        return {"summary": "New page.", "is_new": True}
    numbers = list_numbers(review)
    rows = [row for group in (*numbers["groups"], *numbers["others"]) for row in group["listed"].shown]
    statements = list_statements(review)["groups"]
    # What matters most on the page, in one sentence.
    summary = words.describe_findings(review)
    if not (review.statements or review.numbers):
        figures, tables = len(review.figures), len(review.tables)
        said = [
            f"{format_count(figures, 'figure')} changed" if figures else "",
            f"{format_count(tables, 'table')} changed" if tables else "",
            _describe_text(page),
        ]
        summary = ", ".join(filter(None, said)) or "data changed, and nothing that is shown of them"
        summary = f"{summary[0].upper()}{summary[1:]}."
    return {
        "summary": summary,
        "is_new": False,
        "statements": [group for group in statements if group["key"] != "others"],
        "reworded": next((one["listed"].count for one in statements if one["key"] == "others"), 0),
        "rows": rows[:MOST_ROWS],
        "more_rows": max(0, numbers["count"] - MOST_ROWS),
        "tests": numbers["tests"] if any(row["p"] for row in rows) else "",
        "shown": [
            *(_describe_shown(one, anchors) for one in review.figures),
            *(_describe_shown(one, {}) for one in review.tables),
        ],
        "text": _describe_text(page),
        "sources": [describe_source(one) for one in review.sources],
    }


def _describe_text(page: PageChange | None) -> str:
    """``renamed from old.md, 3 lines added``; empty where the text is as it was."""
    return (", ".join(words.list_page_changes(page)) or "another title") if page else ""


def _describe_shown(
    shown: FigureChange | TableChange, anchors: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    """A figure or table, and its picture by ``anchors`` of the review's page."""
    is_figure = isinstance(shown, FigureChange)
    return {
        "title": shown.title if is_figure else shown.title or shown.id,
        "anchor": "" if shown.change == "gone" else shown.id,
        "words": words.describe_shown(shown),
        "notes": shown.definitions if is_figure else (),
        "review": anchors.get((shown.page, shown.id), ""),
    }
