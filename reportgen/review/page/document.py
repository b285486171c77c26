"""``review.html``: one file that shows a review to people, without a script and without a network.

What stands in it comes from ``review.json`` and may be a stranger's. The template escapes every word and puts
it into an element of its own direction; characters that would turn or hide words are made visible before.
"""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count, join_names
from reportgen.review import words
from reportgen.review.page.judged import cut, list_numbers, list_statements
from reportgen.review.page.pictures import assign_review_slots, describe_both, draw_view, list_states
from reportgen.review.quoting import make_visible
from reportgen.site.reuse.templates import render_template
from reportgen.site.security import POLICY, write_single_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.review.model import (
        FigureChange,
        Review,
        ReviewProblem,
        SourceChange,
        TableChange,
    )
    from reportgen.review.page.judged import Listed
    from reportgen.review.page.pictures import State

MOST_FIGURES: Final = 60

_MOST_NAMES: Final = 4
_SHEETS: Final = ("tokens.css", "figure.css", "review.css")
_STATES: Final[dict[State, str]] = {"before": "Before", "after": "After"}
_VIEWS: Final = (("both", "Overlay"), ("side", "Side by side"), ("after", "After alone"))
_FIRST: Final = ("data", "definition", "new", "gone", "looks")


def write_page(review: Review, links: Sequence[tuple[str, str]] = (), home: str = "") -> str:
    """The HTML of ``review.html``; equal reviews give equal bytes.

    It is complete in itself, or a page of a site, which has what it ``links`` and, at ``home``, a front page.
    """
    review = make_visible(review)
    slots = assign_review_slots(review)
    sides = []
    for label, origin in (("Before", review.base), ("After", review.head)):
        found, tool = words.describe_origin(origin), f"reportgen {origin.tool}" if origin.tool else ""
        why = "" if origin.built else origin.why or "There is no report."
        extra = " · ".join(filter(None, (*found.notes, tool)))
        sides.append({"label": label, "found": found, "full": origin.commit, "extra": extra, "why": why})
    given = {
        "review": review,
        "statements": list_statements(review),
        "numbers": list_numbers(review),
        "figures": cut(order_figures(review), partial(_describe_figure, slots), MOST_FIGURES),
        "tables": cut(review.tables, _describe_table, MOST_FIGURES),
        "pages": cut(review.pages, lambda page: (page, words.describe_page(page))),
        "sources": cut(review.sources, describe_source),
        "problems": _list_problems(review),
        "title": f"Review of {review.head.name} against {review.base.name}",
        "verdict": words.describe_findings(review),
        "rest": words.describe_rest(review),
        "sides": sides,
        "level": f"{review.family.level * 100:.10g}%",
        "links": links,
        "home": home,
    }
    if links:
        return render_template("review/page.html", style="", policy=POLICY, **given)
    return write_single_file("review/page.html", _SHEETS, **given)


# ---- figures and tables


def order_figures(review: Review) -> list[tuple[str, FigureChange]]:
    """The changed figures as the page shows them, with their anchors: ``figure-1``."""
    ordered = sorted(review.figures, key=lambda figure: _FIRST.index(figure.change))
    return [(f"figure-{number}", figure) for number, figure in enumerate(ordered, start=1)]


def _describe_figure(slots: Mapping[str, int], named: tuple[str, FigureChange]) -> dict[str, Any]:
    name, figure = named
    states = list_states(figure)
    pictures = [
        {
            "state": state,
            "words": _STATES.get(state) if len(states) > 1 and state != "both" else describe_both(figure),
            "view": draw_view(
                figure, state, slots, name=f"{name}-{state}", labelled_by=f"{name}-title {name}-{state}-words"
            ),
        }
        for state in states
    ]
    moved_from = (figure.was_page not in {"", figure.page}) or (figure.was_id not in {"", figure.id})
    unchanged = [one.name for one in figure.series if one.change == "same"]
    return {
        "name": name,
        "figure": figure,
        "place": f"{figure.page} · {figure.id}",
        "was": f"{figure.was_page or figure.page} · {figure.was_id or figure.id}" if moved_from else "",
        "change": words.describe_shown(figure),
        "views": _VIEWS if len(states) > 1 else (),
        "pictures": pictures,
        "moves": words.list_moves(figure),
        "unchanged": f"No change in {join_names(unchanged, most=_MOST_NAMES)}." if unchanged else "",
    }


def _describe_table(table: TableChange) -> dict[str, Any]:
    rows = []
    for row in table.rows:
        before, after = row.before or (), row.after or ()
        kind = "changed" if before and after else "new" if after else "gone"
        rows.append((kind, list(zip_longest(before, after, fillvalue=""))))
    place, change = f"{table.page} · {table.id}", words.describe_shown(table)
    return {"table": table, "place": place, "change": change, "rows": rows}


# ---- sources and problems


def describe_source(source: SourceChange) -> tuple[SourceChange, list[tuple[str, Listed]]]:
    """A source with what changed of it, in words, and the names of that."""
    return source, [(said, cut(names)) for said, names in words.list_source_changes(source)]


def _list_problems(review: Review) -> dict[str, Any]:
    # What is wrong with a statement stands above already.
    broken = [one for one in review.statements if one.is_broken and one.after]
    known = {(one.page, f'"{one.after.words}"') for one in broken if one.after}
    pages = {page for page, _ in known}

    def is_known(problem: ReviewProblem) -> bool:
        page = next((page for page in pages if problem.file.endswith(page)), None)
        return any(said in problem.message for one, said in known if one == page)

    new = [problem for problem in review.problems.new if not is_known(problem)]
    gone = review.problems.gone
    repeated = len(review.problems.new) - len(new)
    return {
        "count": len(review.problems.new) + len(gone),
        "repeated": f"{format_count(repeated, 'new warning')} about the statements above."
        if repeated
        else "",
        "groups": [
            {
                "title": title,
                "listed": cut(problems, lambda one: (words.format_place(one.file, one.line), one)),
            }
            for title, problems in (("New", new), ("Gone", gone))
            if problems
        ],
    }
