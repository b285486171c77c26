"""Commands and what they print, in reports of a few lines, as accepted."""

from __future__ import annotations

from pathlib import Path

import pytest
from case_pages import Case, name_case, read_pages
from transcript import run_transcript

CASES = read_pages(Path(__file__).parent)


@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_the_commands_print_what_was_accepted(
    case: Case, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """What the commands of a case print is what somebody read and accepted."""
    case.write_files(tmp_path)
    found = run_transcript(tmp_path, case.expected)
    case.compare(found, accept=request.config.getoption("--accept"))
