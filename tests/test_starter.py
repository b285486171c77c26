"""``reportgen init``: the small report it writes."""

from __future__ import annotations

import csv
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from reportgen.core.errors import ReportError
from reportgen.settings.report import FrontMatter
from reportgen.settings.source import SourceSettings
from reportgen.site.starter import write_starter

if TYPE_CHECKING:
    from pathlib import Path

FILES = (
    ".github/workflows/pages.yml",
    ".gitignore",
    "README.md",
    "content/first-benchmark.md",
    "content/index.md",
    "data/first-benchmark/runs.csv",
    "data/first-benchmark/source.yml",
    "mkdocs.yml",
    "requirements.txt",
)


def test_writes_every_file_under_its_own_name(tmp_path: Path) -> None:
    """A new folder holds the whole report, dotfiles with their dots, and the paths are returned."""
    target = tmp_path / "deep" / "my-report"
    assert write_starter(target) == FILES
    assert sorted(p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file()) == sorted(FILES)


def test_takes_an_empty_folder(tmp_path: Path) -> None:
    """A folder that exists and is empty is filled."""
    assert write_starter(tmp_path) == FILES


def test_refuses_a_folder_with_something_in_it(tmp_path: Path) -> None:
    """Nothing of the user's is ever overwritten, not even beside our files."""
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ReportError, match=r"the folder is not empty\. Name a folder that does not exist yet"):
        write_starter(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_refuses_a_file(tmp_path: Path) -> None:
    """A file in the place of the folder is a problem of the user's, with its place."""
    target = tmp_path / "report"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(ReportError, match="report: there is a file"):
        write_starter(target)


def test_its_settings_are_valid(tmp_path: Path) -> None:
    """The front matter and source.yml of the starter follow our own settings."""
    write_starter(tmp_path)
    source = yaml.safe_load((tmp_path / "data/first-benchmark/source.yml").read_text(encoding="utf-8"))
    assert "synthetic" in (SourceSettings.model_validate(source).approximate or "")
    page = (tmp_path / "content/first-benchmark.md").read_text(encoding="utf-8")
    benchmark = FrontMatter.model_validate(yaml.safe_load(page.split("---\n")[1])).benchmark
    assert benchmark is not None
    assert (benchmark.source, benchmark.metric) == ("first-benchmark", "accuracy")


def test_its_data_are_two_methods_with_three_seeds(tmp_path: Path) -> None:
    """The runs are what the page says they are."""
    write_starter(tmp_path)
    with (tmp_path / "data/first-benchmark/runs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["method"], row["seed"]) for row in rows} == {
        (method, seed) for method in ("baseline", "new method") for seed in "123"
    }


def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    """What a newcomer sees first has a figure, a table and a card, and no complaint."""
    write_starter(tmp_path)
    command = [sys.executable, "-m", "reportgen", "build", "--strict"]
    built = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert "2 pages, 1 figure" in built.stdout
    page = (tmp_path / "site/first-benchmark/index.html").read_text(encoding="utf-8")
    assert "synthetic" in page
    overview = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert 'class="rg-card' in overview
    assert "<dt><a href=" in overview


@pytest.mark.parametrize("below", ["mine/report", "mine/deep/report"])
def test_a_folder_that_cannot_be_made_is_a_problem(tmp_path: Path, below: str) -> None:
    """With the system's reason, and with nothing left behind."""
    (tmp_path / "mine").write_text("a file", encoding="utf-8")
    with pytest.raises(ReportError, match=r"Not a directory.*Name "):
        write_starter(tmp_path / below)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
