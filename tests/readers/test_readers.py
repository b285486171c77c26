"""The contract of all readers: files in, and kinds, names, rows and diagnostics out, as accepted.

The paths of a page are below ``data/``. Where its head says so, sources within other sources are left out:
each folder of a run is one.

What holds of any source: frozen it is the same, and what is suggested for it works when it is followed.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import command_line
import pytest
import yaml
from case_pages import Case, name_case, read_pages
from command_line import call
from described_sources import describe_sources
from made_files import copy_kept
from made_projects import write_file, write_report
from tries import slow_after

CASES = read_pages(Path(__file__).parent)
OUTER = "Sources within others are left out."


@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_the_sources_are_as_accepted(case: Case, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """What is said of the files of a case is what somebody read and accepted."""
    case.write_files(tmp_path / "data")
    found = describe_sources(tmp_path, outer=OUTER in case.head)
    case.compare(found, accept=request.config.getoption("--accept"))


# ---- laws --------------------------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
KEPT = [
    path.relative_to(ROOT).as_posix()
    for pattern in ("data/*", "tests/data/*", "tests/shapes/*", "tests/cases/recipe-*/data/*")
    for path in sorted(ROOT.glob(pattern))
    if path.is_dir() and path.name != "promptfoo"  # one of its files has no name of a benchmark
]
CONFIRMING = {"source.yml", "source.yml for roles"}
COUNTED = ("runs", "metrics", "evaluations", "totals")
# Parquet has no two columns whose names differ in capitals alone, and a spread that is drawn is no metric.
EXCEPT = {
    *(
        "Names that differ only in capitals are two columns",
        "Keys that have signs of pointers are names as others",
    ),
    # No settings are read where two sources have one name.
    *("A file and a folder of one name are an error", "A folder and a file of one name are an error"),
    *("Settings answer what a spread is", "Settings make each column a metric"),
    *("An older store of Trackio knows a run by its name", "The step may be named in a header row"),
}
PAGES = [case for case in CASES if "Sources within" not in case.head and case.name not in EXCEPT]
# Of the cases of a page, which are alike, every second one, and of all cases some in the fast tests.
QUICK = [*PAGES[::47], *KEPT[::4]]
GIVEN: list[Any] = slow_after(
    len(QUICK), [*QUICK, *(one for one in [*PAGES[1::2], *KEPT] if one not in QUICK)]
)


def write_given(root: Path, given: Any) -> list[str]:  # noqa: ANN401 - a case of a page, or a folder
    """Write a report with sources and nothing on its page; list their paths."""
    write_report(root, {"data/runs.csv": None, "content/index.md": "# Empty\n"})
    if isinstance(given, str):
        copy_kept(given, root / "data" / given.rpartition("/")[2])
    else:
        given.write_files(root / "data")
    tops = sorted((root / "data").iterdir())
    return [f"data/{path.name}" for path in tops if not path.name.endswith((".source.yml", ".source.yaml"))]


def describe(root: Path, path: str) -> dict[str, Any]:
    """Return what ``describe`` says of a path; ``fails`` is whether that is an error."""
    described = command_line.describe(root, path)
    for run in described.get("runs", ()):
        del run["path"], run["config"]
    return described


def name_given(given: Case | str) -> str:
    """Name what is given by its folder, or page and heading."""
    return given if isinstance(given, str) else name_case(given)


def sort(found: list[dict[str, Any]]) -> list[str]:
    """Put runs or scores into an order of their own: that of writing may differ."""
    return sorted(json.dumps(one, sort_keys=True) for one in found)


def freeze(root: Path, path: str, before: dict[str, Any]) -> None:
    """Runs, metrics and scores with all counts, also of repeated and missing values."""
    if before["fails"] or before["sources"] or not any(before[key] for key in COUNTED):
        return
    name = before["name"]
    done = call(root, "freeze", path, "--to", f"cold/data/{name}")
    if done.returncode:  # a cell that only reading meets
        assert "nothing was written" in done.stderr
        return
    write_report(root / "cold", {"data/runs.csv": None})
    after = describe(root / "cold", f"data/{name}")
    shutil.rmtree(root / "cold")
    assert after["kind"] == before["kind"]
    assert sorted(after["series"]) == sorted(before["series"])
    assert sort(after["evaluations"]) == sort(before["evaluations"])
    # An interval is no metric any more, and of answers the totals of their harness are not kept.
    assert all(one in before["totals"] for one in after["totals"])
    assert bool(after["totals"]) == (before["kind"] == "totals")
    assert all(one in before["metrics"] for one in after["metrics"])
    if len(after["metrics"]) == len(before["metrics"]):
        assert sort(after["runs"]) == sort(before["runs"])
    assert len(after["problems"]) <= len(before["problems"])


def follow(root: Path, path: str, before: dict[str, Any]) -> None:
    """Settings that confirm what was guessed change nothing, and none is left to suggest; the block draws."""
    suggested = before["suggested"]
    file = root / suggested["file"]
    stated = file.read_text("utf-8") if file.is_file() else ""
    for purpose in [key for key in suggested if key.startswith("source.yml") and suggested[key]] or [""]:
        if purpose:
            settings = {**(yaml.safe_load(stated) or {}), **yaml.safe_load(suggested[purpose])}
            write_file(file, yaml.safe_dump(settings, sort_keys=False))
        after = describe(root, path)
        # Files that differ in a setting are an error that no word about columns settles.
        differ = any("would be averaged as one" in one["message"] for one in before["problems"])
        assert not (purpose and after["fails"]) or differ, after["problems"]
        assert not (purpose and after["suggested"].get(purpose))
        is_read = not before["fails"] and any(before[key] for key in COUNTED)
        if purpose in CONFIRMING and is_read and not {"repeat", "filter"} & {*settings}:
            assert [after[key] for key in COUNTED] == [before[key] for key in COUNTED]
            assert not [one for one in after["problems"] if "distinguished by" in one["message"]]
        if (block := after["suggested"]["block"]) and not after["fails"]:
            write_file(root / "content/index.md", f"# Followed\n\n{block}")
            done = call(root, "check")
            errors = [line for line in done.stdout.splitlines() if ": error: " in line]
            # A cell that only reading meets, and scores that have no average.
            assert all(line.startswith("data/") or "they have no average" in line for line in errors), errors
        if file.is_file():
            write_file(file, stated) if stated else file.unlink()


@pytest.mark.parametrize("given", GIVEN, ids=name_given)
def test_what_is_frozen_is_the_same_and_what_is_suggested_works(tmp_path: Path, given: object) -> None:
    """Of each source that can be read as it is, or after a suggestion, whatever the format."""
    for path in write_given(tmp_path, given):
        described = describe(tmp_path, path)
        if described["kind"]:
            freeze(tmp_path, path, described)
            follow(tmp_path, path, described)
