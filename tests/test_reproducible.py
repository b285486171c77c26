"""The same input gives the same bytes: in another folder, zone and language, with other hashes, or kept."""

from __future__ import annotations

import json
import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from command_line import run
from example_site import build, copy_example, files_of, write_small_report
from tries import slow_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TOKYO = {"TZ": "Asia/Tokyo", "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "PYTHONHASHSEED": "7"}
NAMED_INPUTS = re.compile(rb"(?<= inputs=)[0-9a-f]{16}(?= definition=)")
PLAIN = {"TZ": "America/New_York", "LC_ALL": "C", "PYTHONHASHSEED": "8", "COLUMNS": "40"}


def differing(first: Path, second: Path) -> list[str]:
    """Names of files that only one site has or that differ."""
    one, two = files_of(first), files_of(second)
    return sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))


@pytest.mark.parametrize("write", slow_after(1, [write_small_report, copy_example]))
def test_two_builds_are_the_same_bytes(write: Callable[[Path], Path], tmp_path: Path) -> None:
    """First with nothing cached, then with everything cached: each time the site of the other folder."""
    site, folder = build(write(tmp_path / "report")), write(tmp_path / "another folder, with ünïcode")
    first = run(folder, "build", "--strict", **TOKYO)
    assert first.returncode == 0, first.stderr
    assert differing(folder / "site", site) == []
    again = run(folder, "build", "--strict", "--force", **PLAIN)
    assert again.returncode == 0, again.stderr
    assert " 0 cache hits" not in again.stdout
    assert differing(folder / "site", site) == []


@pytest.mark.parametrize("theme", ["reportgen", "mkdocs"])
def test_the_day_of_the_build_is_not_in_the_site(tmp_path: Path, theme: str) -> None:
    """Nothing in the site takes the clock's word, in another theme neither."""
    before = datetime.now(UTC)
    site = build(write_small_report(tmp_path / "report", theme=theme))
    days = {day.date().isoformat().encode() for day in (before, datetime.now(UTC))}
    found = [name for name, content in files_of(site).items() if any(day in content for day in days)]
    assert found == []


def test_the_folder_of_the_build_is_not_in_the_site(example_site: Path) -> None:
    """No path of the machine that built it gets out."""
    folder = str(example_site.parent).encode()
    assert [name for name, content in files_of(example_site).items() if folder in content] == []


def test_order_of_rows_and_files_does_not_matter(tmp_path: Path) -> None:
    """Runs in one file, or a file a seed with its rows from last to first, draw the same figures.

    Their pictures name the files that they were drawn from, and these are others.
    """
    one, two = (write_small_report(tmp_path / name) for name in ("one", "two"))
    runs = two / "data/first-benchmark/runs.csv"
    head, *rows = runs.read_text("utf-8").splitlines()
    runs.unlink()
    for number, seed in enumerate("123"):
        kept = [row for row in reversed(rows) if row.split(",")[1] == seed]
        assert kept
        # What is met first decides the order of the series.
        kept.sort(key=lambda row: row.split(",")[0])
        (runs.parent / f"{number}.csv").write_text("\n".join([head, *kept, ""]), "utf-8")
    figures = [
        {n: NAMED_INPUTS.sub(b"", c) for n, c in files_of(build(folder)).items() if n.startswith("figures/")}
        for folder in (one, two)
    ]
    assert figures[0] == figures[1]


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Far from UTC."""
    monkeypatch.setenv("TZ", TOKYO["TZ"])
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("tokyo")
@pytest.mark.parametrize("epoch", ["1700000000", "86400"])
def test_a_given_date_is_the_date(tmp_path: Path, epoch: str) -> None:
    """``SOURCE_DATE_EPOCH`` decides the date of the report, in UTC wherever it is built."""
    folder = write_small_report(tmp_path / "report")
    site = build(folder, environment={"SOURCE_DATE_EPOCH": epoch})
    day = datetime.fromtimestamp(int(epoch), UTC).date().isoformat()
    assert json.loads((site / "report.json").read_text("utf-8"))["date"] == day
