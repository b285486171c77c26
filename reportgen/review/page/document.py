"""``review.html``: one file that shows a review to people, without a script and without a network.

What stands in it comes from ``review.json`` and may be a stranger's. The template escapes every word and puts
it into an element of its own direction; characters that would turn or hide words are made visible before.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count, lower_axis_title
from reportgen.review import words
from reportgen.review.page.judged import list_numbers, list_statements
from reportgen.review.page.pictures import assign_review_slots, draw_view, list_states
from reportgen.review.page.wording import cut, describe_both, describe_unchanged, make_visible
from reportgen.site.fragments import render_template
from reportgen.site.security import POLICY, write_single_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.review.model import (
        FigureChange,
        Origin,
        PageChange,
        Review,
        ReviewProblem,
        SourceChange,
        TableChange,
    )
    from reportgen.review.page.pictures import State

MOST_FIGURES: Final = 60

_SHEETS: Final = ("tokens.css", "figure.css", "review.css")
_STATES: Final[dict[State, str]] = {"before": "Before", "after": "After"}
_VIEWS: Final = (("both", "Overlay"), ("side", "Side by side"), ("after", "After alone"))
_FIRST: Final = ("data", "definition", "new", "gone", "looks")


def write_page(review: Review, links: Sequence[tuple[str, str]] = (), home: str = "") -> str:
    """The HTML of ``review.html``; equal reviews give equal bytes.

    It is complete in itself, or a page of a site, which has what it ``links`` and, at ``home``, a front page.
    """
    review = make_visible(review)
    given = {
        "statements": list_statements(review),
        "numbers": list_numbers(review),
        "figures": _list_figures(review),
        "tables": cut(review.tables, _describe_table, MOST_FIGURES),
        "pages": cut(review.pages, describe_page),
        "sources": cut(review.sources, describe_source),
        "problems": _list_problems(review),
        "title": f"Review of {review.head.name} against {review.base.name}",
        "verdict": words.describe_findings(review),
        "rest": words.describe_rest(review),
        "sides": [
            {"label": label, "why": "" if origin.built else origin.why or "There is no report."}
            | _describe_origin(origin)
            for label, origin in (("Before", review.base), ("After", review.head))
        ],
        "truncated": review.truncated,
        "empty": review.is_empty,
        "generator": review.generator,
        "level": f"{review.family.level * 100:.10g} %",
        "links": links,
        "home": home,
    }
    if links:
        return render_template("review/page.html", style="", policy=POLICY, **given)
    return write_single_file("review/page.html", _SHEETS, **given)


def _describe_origin(origin: Origin) -> dict[str, str]:
    found = words.describe_origin(origin)
    tool = f"reportgen {origin.tool}" if origin.tool else ""
    extra = " · ".join(filter(None, (*found.notes, tool)))
    return {"name": found.name, "commit": found.commit, "full": origin.commit, "extra": extra}


# ---- figures and tables


def order_figures(review: Review) -> list[FigureChange]:
    """The changed figures as the page shows them: the first is ``#figure-1``."""
    return sorted(review.figures, key=lambda figure: _FIRST.index(figure.change))


def _list_figures(review: Review) -> dict[str, Any]:
    slots = assign_review_slots(review)
    listed = cut(order_figures(review), most=MOST_FIGURES)
    return {
        "count": listed.count,
        "rest": listed.rest,
        "shown": [
            _describe_figure(figure, f"figure-{number}", slots)
            for number, figure in enumerate(listed.shown, start=1)
        ],
    }


def _describe_figure(figure: FigureChange, name: str, slots: Mapping[str, int]) -> dict[str, Any]:
    states, x = list_states(figure), lower_axis_title(figure.x.title) or "step"
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
    return {
        "name": name,
        "title": figure.title,
        "place": f"{figure.page} · {figure.id}",
        "was": f"{figure.was_page or figure.page} · {figure.was_id or figure.id}" if moved_from else "",
        "change": words.describe_shown(figure),
        "rows": figure.x.scale == "series",
        "definitions": figure.definitions,
        "views": _VIEWS if len(states) > 1 else (),
        "pictures": pictures,
        "series": [
            {"name": one.name, "was": one.was_name, "words": move}
            for one in figure.series
            if (move := words.describe_move(one, figure, x))
        ],
        "unchanged": describe_unchanged(figure),
    }


def _describe_table(table: TableChange) -> dict[str, Any]:
    rows = []
    for row in table.rows:
        before, after = row.before or (), row.after or ()
        kind = "changed" if before and after else "new" if after else "gone"
        rows.append({"kind": kind, "cells": list(_compare_cells(before, after))})
    return {
        "title": table.title or table.id,
        "place": f"{table.page} · {table.id}",
        "change": words.describe_shown(table),
        "definitions": table.definitions,
        "header": table.header,
        "rows": rows,
    }


def _compare_cells(before: Sequence[str], after: Sequence[str]) -> Iterator[dict[str, str]]:
    """What each cell was and is; ``same`` where that is one thing."""
    for was, now in zip_longest(before, after, fillvalue=""):
        if was == now:
            yield {"same": now, "was": "", "now": ""}
        else:
            yield {"same": "", "was": was, "now": now}


# ---- pages, sources and problems


def describe_page(page: PageChange) -> dict[str, str]:
    """What became of a page, in words for a template."""
    return {
        "title": page.title or page.path,
        "path": page.path,
        "was_path": page.was_path,
        "change": page.change,
        "lines": words.describe_page(page),
    }


def describe_source(source: SourceChange) -> dict[str, Any]:
    """What became of a source, in words for a template."""
    return {
        "name": source.name,
        "change": source.change,
        "lists": [{"words": said, "names": cut(names)} for said, names in words.list_source_changes(source)],
    }


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
            {"title": title, "listed": cut(problems, _describe_problem)}
            for title, problems in (("New", new), ("Gone", gone))
            if problems
        ],
    }


def _describe_problem(problem: ReviewProblem) -> dict[str, str]:
    place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
    return {"place": place, "severity": problem.severity, "message": problem.message}
