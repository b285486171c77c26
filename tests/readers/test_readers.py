"""The contract of all readers: files in, and kinds, names, rows and diagnostics out, as accepted."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from source_cases import Case, describe_sources, read_cases

HERE = Path(__file__).parent
PAGES = sorted(path.stem for path in HERE.glob("*.md"))
CASES = [(page, case) for page in PAGES for case in read_cases((HERE / f"{page}.md").read_text("utf-8"))[1]]


@pytest.mark.parametrize(("page", "case"), CASES, ids=[f"{page}-{case.name}" for page, case in CASES])
def test_the_sources_are_as_accepted(
    page: str, case: Case, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """What is said of the files of a case is what somebody read and accepted."""
    case.write_files(tmp_path)
    found = describe_sources(tmp_path, outer=case.outer)
    if request.config.getoption("--accept") and found != case.expected:
        accept(page, case, found)
        return
    how = f'If the change is right: python -m pytest tests/readers -k "{page}" --accept'
    assert found == case.expected, f"{page}.md, {case.name}\n{compare(case.expected, found)}\n{how}"


def accept(page: str, case: Case, found: str) -> None:
    """Write what was found into the page."""
    path = HERE / f"{page}.md"
    head, cases = read_cases(path.read_text("utf-8"))
    now = [one._replace(expected=found) if one.name == case.name else one for one in cases]
    path.write_text("\n".join([head.rstrip("\n") + "\n", *(one.format() for one in now)]), "utf-8")


def compare(was: str, now: str) -> str:
    """Return the lines that differ."""
    return "\n".join(
        difflib.unified_diff(was.splitlines(), now.splitlines(), "accepted", "now", "", "", 2, "")
    )


def test_names_of_cases_are_unique() -> None:
    """A case is found by its page and name."""
    assert len({(page, case.name) for page, case in CASES}) == len(CASES)
