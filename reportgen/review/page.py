"""A review in HTML: ``review.html``, without a script and without a network, and sections of a site's pages.

The templates escape every word of others and put it into an element of its own direction; characters that
would turn or hide words are made visible before.
"""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.review import words
from reportgen.review.compare import count_changes
from reportgen.review.document import make_document, order_figures
from reportgen.review.model import LONGEST_NAME, FigureChange, ProblemChanges, clip, write_review
from reportgen.review.pictures import (
    assign_review_slots,
    describe_both,
    draw_strip,
    draw_view,
    list_states,
)
from reportgen.review.quoting import make_visible
from reportgen.review.text import write_plain
from reportgen.site.reuse.added_files import Additions
from reportgen.site.reuse.templates import render_template
from reportgen.site.security import POLICY, write_single_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.review.document import Entry
    from reportgen.review.model import Review, TableChange
    from reportgen.review.pictures import State
    from reportgen.review.snapshot import Snapshot

_SHEETS: Final = ("tokens.css", "css/theme.css", "css/prose.css", "figure.css", "changes.css", "review.css")

_STATES: Final[dict[State, str]] = {"before": "Before", "after": "After"}
_VIEWS: Final = (("both", "Overlay"), ("side", "Side by side"), ("after", "After alone"))
_PARTS: Final = ("statements", "numbers", "figures", "tables", "pages", "sources")


def write_page(review: Review, links: Sequence[tuple[str, str]] = (), home: str = "") -> str:
    """The HTML of ``review.html``; equal reviews give equal bytes.

    It is complete in itself, or a page of a site, which has what it ``links`` and, at ``home``, a front page.
    """
    review = make_visible(review)
    given = {
        "review": review,
        "document": make_document(review),
        "draw": partial(_draw_entry, assign_review_slots(review)),
        "draw_strip": draw_strip,
        "links": links,
        "home": home,
    }
    if links:
        return render_template("review/page.html", style="", policy=POLICY, **given)
    return write_single_file("review/page.html", _SHEETS, **given)


def _draw_entry(slots: Mapping[str, int], entry: Entry) -> dict[str, Any]:
    """Pictures of a figure, or rows of a table, behind an entry."""
    figure = entry.shown
    if not isinstance(figure, FigureChange):
        return {"rows": _pair_cells(figure) if figure else [], "views": (), "pictures": []}
    states = list_states(figure)
    pictures = [
        {
            "state": state,
            "words": _STATES.get(state) if len(states) > 1 and state != "both" else describe_both(figure),
            "view": draw_view(
                figure,
                state,
                slots,
                name=f"{entry.anchor}-{state}",
                labelled_by=f"{entry.anchor}-title {entry.anchor}-{state}-words",
            ),
        }
        for state in states
    ]
    return {"rows": [], "views": _VIEWS if len(states) > 1 else (), "pictures": pictures}


def _pair_cells(table: TableChange) -> list[tuple[str, list[tuple[str, str]]]]:
    """The rows that changed, of each cell both sides."""
    rows = []
    for row in table.rows:
        before, after = row.before or (), row.after or ()
        kind = "changed" if before and after else "new" if after else "gone"
        rows.append((kind, list(zip_longest(before, after, fillvalue=""))))
    return rows


# ---- sections of a site


def make_additions(review: Review, head: Snapshot) -> Additions:
    """What a site says of the changes to its report, whose state is ``head``."""
    base = make_visible(review).base
    titles = {page["path"]: page["title"] for page in head.report["pages"]}
    pages = _split_by_page(review, head) if base.built else {}
    anchors = {(one.page, one.id): anchor for anchor, one in order_figures(make_visible(review))}
    sections = {path: _describe_part(part, anchors) for path, part in pages.items()}
    verdict = words.describe_findings(review)
    front = {
        "verdict": verdict if base.built else f"There is no earlier report to compare with: {base.why}",
        "pages": [(path, titles[path], section["summary"]) for path, section in sections.items()],
        "gone": [one.title or one.path for one in make_visible(review).pages if one.change == "gone"]
        if base.built
        else [],
    }
    name = words.format_origin(base)
    return Additions(name, sections, front, write_review(review), partial(write_page, review))


def _split_by_page(review: Review, head: Snapshot) -> dict[str, Review]:
    """The part of a review that is about each page of the report, where there is any."""
    sources = {one.name: one for one in review.sources}
    used = {(one.page, name) for one in head.figures for name in one.sources or ()}
    used |= {(one.page, name) for one in head.tables for name in one.sources or ()}
    used |= {(one.page, one.request.source) for one in (head.drafted.numbers if head.drafted else ())}
    known = sorted({(clip(page, LONGEST_NAME), clip(name, LONGEST_NAME)) for page, name in used})
    found = {}
    for path in (page["path"] for page in head.report["pages"]):
        place = clip(path, LONGEST_NAME)
        own: dict[str, Any] = {
            name: tuple(one for one in getattr(review, name) if getattr(one, "page", None) == place)
            for name in _PARTS
        }
        own["pages"] = tuple(one for one in review.pages if one.path == place)
        own["sources"] = tuple(sources[name] for page, name in known if page == place and name in sources)
        if any(own.values()):
            part = review.replace(**own, problems=ProblemChanges(), truncated=())
            found[path] = make_visible(part.replace(counts=count_changes(part)))
    return found


def _describe_part(part: Review, anchors: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """What a page's section says, for its template; ``part`` is about nothing else."""
    document = make_document(part, anchors)
    if any(one.change == "new" for one in part.pages):
        return {"summary": "New page.", "sections": ()}
    summary = document.verdict
    if not (part.statements or part.numbers):
        counts = [
            write_plain(section.groups[0].entries[0].what)
            if section.key == "pages"
            else f"{format_count(section.count, section.title[:-1].lower())} changed"
            for section in document.sections
        ]
        summary = f"{', '.join(counts).capitalize()}."
    return {"summary": summary, "sections": document.sections}
