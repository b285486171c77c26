"""Two states of a report, made of a review: sites with nothing but ``report.json`` and points of figures."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal

from command_line import call
from made_projects import write_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from subprocess import CompletedProcess

    from reportgen.review.model import FigureChange, NumberChange, Origin, Review, StatementSide

Side = Literal["before", "after"]
_MISSING = {"before": "new", "after": "gone"}
_LISTS = ("figures", "tables", "stacks", "statements", "observations")


def review_again(folder: Path, review: Review) -> CompletedProcess[str]:
    """Review two states that differ in what a review says, as far as a ``report.json`` has it.

    That is all but tests of differences, shares, and the colours of a report's page.
    """
    write_states(folder, review)
    return call(folder, "review", "before", "after", "--fail-on", "never")


def make_review_page(folder: Path, review: Review) -> str:
    """The page of that review."""
    done = review_again(folder, review)
    assert done.returncode == 0, done.stderr
    return (folder / "review/review.html").read_text("utf-8")


def write_states(folder: Path, review: Review) -> None:
    """Write what a review says of each state into a site of its own."""
    origins: dict[Side, Origin] = {"before": review.base, "after": review.head}
    for side, origin in origins.items():
        report = {
            "format": 1,
            "generator": {"name": "reportgen", "version": origin.tool},
            "commit": origin.commit or None,
            "pages": _list_pages(folder / side, review, side),
            "sources": _list_sources(review, side),
            "problems": [
                one.model_dump() for one in getattr(review.problems, {"before": "gone", "after": "new"}[side])
            ],
        }
        write_file(folder / side / "report.json", json.dumps(report))


def _list_pages(site: Path, review: Review, side: Side) -> list[dict[str, Any]]:
    pages: defaultdict[str, dict[str, Any]] = defaultdict(lambda: {name: [] for name in _LISTS})
    for page in review.pages:
        if page.change != _MISSING[side]:
            pages[page.path]["title"] = page.title
    for path, name, described in (*_list_said(review, side), *_list_shown(site, review, side)):
        pages[path][name].append(described)
    return [{"path": path, "title": path, **page} for path, page in pages.items()]


def _list_said(review: Review, side: Side) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Statements and numbers of one state, each with its page and the list that it stands in."""
    for statement in review.statements:
        if known := getattr(statement, side):
            yield statement.page, "statements", _describe_statement(statement.kind, known)
    for number in review.numbers:
        if getattr(number, side):
            yield number.page, "stacks", _describe_number(number, side)


def _list_shown(site: Path, review: Review, side: Side) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The same of figures, whose points are written, and tables."""
    for place, figure in enumerate(review.figures):
        if figure.change != _MISSING[side]:
            path = f"figures/{place}.csv"
            write_file(site / path, _write_points(figure, side))
            yield figure.page, "figures", _describe_figure(figure, side) | {"files": [path]}
    for table in review.tables:
        if table.change != _MISSING[side]:
            rows = [getattr(row, side) for row in table.rows if getattr(row, side)]
            one = {"id": table.id, "title": table.title, "header": table.header, "rows": rows}
            yield table.page, "tables", one


def _describe_statement(kind: str, side: StatementSide) -> dict[str, Any]:
    own = side.model_dump() | {"kind": kind, "of": "", "name": "", "as_expected": side.expected}
    return own | {"expected_to_fail": False, "facts": [side.found, *side.evidence]}


def _describe_number(number: NumberChange, side: Side) -> dict[str, Any]:
    known = getattr(number, side)
    score = {"series": number.series, "estimate": known.value, "low": known.low, "high": known.high}
    protocol = {"temperature": side} if number.verdict == "measured differently" else {}
    numbers = {
        "metric": number.metric,
        "smooth": side if number.verdict == "not comparable" else None,
        "scores": [score | {"problems": known.n}],
        "protocol": {number.series: protocol},
    }
    return {"id": number.block, "title": number.title, "numbers": numbers}


def _describe_figure(figure: FigureChange, side: Side) -> dict[str, Any]:
    numbers = {"metric": figure.y.title, "smooth": side if figure.change == "definition" else None}
    own = {"id": figure.id, "kind": figure.kind, "title": figure.title, "numbers": numbers}
    return own | {"caption": side if figure.change == "looks" else "", "summary": ""}


def _write_points(figure: FigureChange, side: Side) -> str:
    """The CSV of what a figure draws; what did not change is the same in both states."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(("series", "step", "value", "low", "high"))
    for one in figure.series:
        points = one.after if one.change == "same" else getattr(one, side)
        writer.writerows((one.name, *point) for point in points)
    return file.getvalue()


def _list_sources(review: Review, side: Side) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "files": [
                *({"path": path, "sha256": side} for path in one.files_changed),
                *({"path": path, "sha256": ""} for path in getattr(one, _OWN_FILES[side])),
            ],
        }
        for one in review.sources
    ]


_OWN_FILES = {"before": "files_removed", "after": "files_added"}
