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

CASES = read_pages(Path(__file__).parent)


@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_a_page_shows_what_was_accepted(
    case: Case, tabs: Tabs, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """After each thing that a reader does, the page shows what somebody read and accepted, and no more."""
    accepting = request.config.getoption("--accept")
    found = Session(tabs, tmp_path, accepting=accepting).run(case.expected)
    case.compare(found, accept=accepting)
