"""What readers do with a page in a browser, and what it then shows, as accepted: the pages of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from case_pages import Case, name_case, read_pages

from browser.session import Session

if TYPE_CHECKING:
    from browser.conftest import Tabs

pytestmark = pytest.mark.browser

# Of these pages, which few changes concern, the first session is fast and the others are slow tests.
RARE = ("citing", "links", "one_file", "versions")


CASES = read_pages(Path(__file__).parent)
FIRST = {case.page: case.name for case in reversed(CASES)}


def is_slow(case: Case) -> bool:
    """Whether a session is run as a slow test only."""
    return case.page.stem in RARE and case.name != FIRST[case.page]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=name_case(case), marks=[pytest.mark.slow] * is_slow(case)) for case in CASES],
)
def test_a_page_shows_what_was_accepted(
    case: Case, tabs: Tabs, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """After each thing that a reader does, the page shows what somebody read and accepted, and no more."""
    accepting = request.config.getoption("--accept")
    found = Session(tabs, tmp_path, accepting=accepting).run(case.expected)
    case.compare(found, accept=accepting)
