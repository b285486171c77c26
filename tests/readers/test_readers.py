"""The contract of all readers: files in, and kinds, names, rows and diagnostics out, as accepted.

The paths of a page are below ``data/``. Where its head says so, sources within other sources are left out:
each folder of a run is one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from case_pages import Case, name_case, read_pages
from described_sources import describe_sources

CASES = read_pages(Path(__file__).parent)
OUTER = "Sources within others are left out."


@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_the_sources_are_as_accepted(case: Case, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """What is said of the files of a case is what somebody read and accepted."""
    case.write_files(tmp_path / "data")
    found = describe_sources(tmp_path, outer=OUTER in case.head)
    case.compare(found, accept=request.config.getoption("--accept"))
