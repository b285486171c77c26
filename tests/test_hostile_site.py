"""The site of a report whose every name is hostile: pages, pictures and numbers are whole and harmless."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from example_site import build, made_once
from hostile_report import LAST, NAMES, WRITABLE, write_hostile_report
from html_tree import classed, read_html, words

if TYPE_CHECKING:
    from pathlib import Path

PAGES = ("index", "series/index", "metrics/index", "words/index", "scores/index")
FIGURES = {
    "series/index": 5,
    "metrics/index": len(WRITABLE),
    "words/index": len(WRITABLE),
    "scores/index": 5,
}
MARKS = ("=", "+", "-", "@", "\t", "\r", "\n")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile report's site, built strictly."""
    return made_once(tmp_path_factory, "hostile", lambda folder: build(write_hostile_report(folder)))


def test_pages_are_well_nested(hostile: Path) -> None:
    """No name closes an element: the tree of each page is whole, with all its figures."""
    for page in PAGES:
        tree = read_html((hostile / f"{page}.html").read_text("utf-8"))
        assert len(classed(tree, "rg-figure")) == FIGURES.get(page, 0)
        for figure in classed(tree, "rg-figure"):
            assert len(classed(figure, "rg-data")) == 1
        assert words(tree).count(LAST) >= 1


def test_marks_that_an_author_wrote_stay_words(hostile: Path) -> None:
    """Raw HTML that looks like our own marks is neither filled nor a fault."""
    html = (hostile / "index.html").read_text("utf-8")
    for words_of_it in ("of no block", "of another page", "with a salt", "bound to nothing"):
        assert words_of_it in html
    assert 'data-rg-block="nope"' in html
    assert "<rg-bound n=" not in html


def test_pictures_are_well_formed(hostile: Path) -> None:
    """Every SVG file is XML without script, handler or outside address."""
    found = sorted(hostile.glob("figures/**/*.svg"))
    assert len(found) == sum(FIGURES.values())
    for path in found:
        for element in ET.fromstring(path.read_text("utf-8")).iter():  # noqa: S314 - our own output
            assert not element.tag.lower().endswith(("script", "foreignobject", "}image")), path
            assert not [name for name in element.attrib if name.lower().startswith("on")], path


def test_no_cell_is_a_formula(hostile: Path) -> None:
    """A spreadsheet runs nothing of a CSV file; names are there, whole."""
    for path in sorted(hostile.glob("figures/**/*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert {len(row) for row in rows} == {len(rows[0])}, path
        for cell in (cell for row in rows for cell in row):
            assert _is_number(cell) or not cell.startswith(MARKS), (path, cell)
    with (hostile / "figures/series/all.csv").open(encoding="utf-8", newline="") as file:
        series = {row["series"].removeprefix("'") for row in csv.DictReader(file)}
    assert {name.removeprefix("'") for name in NAMES} == series


def test_scores_name_everything_as_it_is(hostile: Path) -> None:
    """Series, benchmarks and what was measured otherwise stand whole in the numbers."""
    report = json.loads((hostile / "report.json").read_text("utf-8"))
    [page] = [page for page in report["pages"] if page["path"] == "scores.md"]
    stacks = {stack["id"]: stack["numbers"] for stack in page["stacks"]}
    assert {score["series"] for score in stacks["dots"]["scores"]} == set(NAMES)
    assert set(stacks["both"]["benchmarks"]) == {NAMES[5], NAMES[1]}
    assert stacks["dots"]["mixed_protocol"]["prompt"][NAMES[3]] == [NAMES[1]]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_report_json_names_everything_as_it_is(hostile: Path) -> None:
    """The data of the report are JSON with the names of the data."""
    report = json.loads((hostile / "report.json").read_text("utf-8"))
    [page] = [page for page in report["pages"] if page["path"] == "series.md"]
    [figure] = [figure for figure in page["figures"] if figure["id"] == "all"]
    assert {series["name"] for series in figure["numbers"]["series"]} == set(NAMES)
    assert figure["title"] == NAMES[0]
