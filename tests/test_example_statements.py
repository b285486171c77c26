"""The example report's own words: bound throughout, and true.

What is said when a number of its data changes is in ``transcripts/example_changes.md``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from example_site import ROOT

from reportgen.core.model import Observations
from reportgen.core.statements import Truth
from reportgen.settings.blocks import CurveSettings
from reportgen.site.checking import draft_report

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.draft.report import Report

# A page, how many statements it has at least, and how many blocks of observations.
PAGES = {
    "index.md": (3, 0),
    "math500.md": (25, 1),
    "aime.md": (40, 1),
    "model-comparison.md": (25, 0),
    "training-accuracy.md": (30, 2),
    "training-diagnostics.md": (35, 2),
}
GUIDE = {"guide/statements.md": 6, "guide/scores.md": 3}

# Decimals in the prose that the data do not give: what a script or a formula knows, and limits that are set.
OWN_NUMBERS = {
    "math500.md": {"0.82", "0.18", "0.017", "0.005"},  # a standard error, and the precision of reading
    "aime.md": {"3.3"},  # one problem of 30, in points
    "model-comparison.md": {"17.0", "13.0", "3.0", "0.0", "0.05"},  # true differences, and a level
}
BOUND = re.compile(r"\[[^\[\]]*\]\{[^{}]*\}")
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+")


@pytest.fixture(scope="module")
def report(example_site: Path) -> Report:
    """The draft of the example report."""
    return draft_report(example_site.parent / "mkdocs.yml", progress=lambda _done, _all: None)[0]


def test_every_statement_is_as_expected(report: Report) -> None:
    """What the example says of its data is so."""
    statements = [one for several in report.statements.values() for one in several]
    assert [one.judgement.found for one in statements if not one.as_expected] == []
    assert report.problems == ()


@pytest.mark.parametrize(
    ("page", "least"), [*((page, least) for page, (least, _) in PAGES.items()), *GUIDE.items()]
)
def test_pages_state_what_they_say(report: Report, page: str, least: int) -> None:
    """The narrative is bound throughout, by values and by claims."""
    statements = report.statements[page]
    assert len(statements) >= least
    assert "claim" in {one.binding.kind for one in statements}


@pytest.mark.parametrize(("page", "blocks"), [(page, blocks) for page, (_, blocks) in PAGES.items()])
def test_pages_show_observations(report: Report, page: str, blocks: int) -> None:
    """Beside each figure of curves stands what rules find in it, linked to it."""
    found = [one for (path, _), one in report.shown.items() if path == page and isinstance(one, Observations)]
    assert len(found) == blocks
    assert all(one.items and all(item.state for item in one.items) for one in found)


def test_claims_are_marked_in_two_figures(report: Report) -> None:
    """Two figures mark claims by name, and two mark what rules find."""
    marked = [
        (page.path, set(block.settings.annotate))
        for page in report.pages
        for block in page.blocks
        if isinstance(block.settings, CurveSettings) and page.path in PAGES
    ]
    named = {page: {one.binding.name for one in report.statements[page]} for page, _ in marked}
    assert sum(bool(names & named[page]) for page, names in marked) >= 2
    assert sum("observations" in names for _, names in marked) >= 2


def test_one_claim_is_known_to_fail(report: Report) -> None:
    """Damson is worse by the script's own numbers, and thirty problems cannot show it."""
    failing = [one for page in PAGES for one in report.statements[page] if one.binding.fails]
    assert [(one.binding.words, one.judgement.truth) for one in failing] == [
        ("Damson is worse than Birch and Cedar", Truth.FAILS)
    ]


@pytest.mark.parametrize("page", PAGES)
def test_no_number_of_the_data_is_unbound(page: str) -> None:
    """Every decimal in the prose is bound, but for those that are no result."""
    text = (ROOT / "content" / page).read_text("utf-8").split("\n---\n", 1)[1]
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert set(DECIMAL.findall(BOUND.sub("", prose))) == OWN_NUMBERS.get(page, set())
