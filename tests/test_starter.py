"""``reportgen init``: the small report it writes."""

from __future__ import annotations

import csv
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from reportgen.core.errors import ReportError
from reportgen.settings.report import FrontMatter
from reportgen.settings.source import SourceSettings
from reportgen.site.starter import can_use_actions, write_review_workflows, write_starter

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


REVIEWS = ("report-comment.yml", "report.yml")
COMMIT = "1" * 40


def read_steps(workflow: Path) -> list[dict[str, Any]]:
    """The steps of a workflow's only job."""
    (job,) = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    steps: list[dict[str, Any]] = job["steps"]
    return steps


@pytest.mark.parametrize("below", ["", "reports/of our lab"])
def test_workflows_for_reviews_stand_at_the_top_of_the_repository(below: str, tmp_path: Path) -> None:
    """They name the report, and the actions of the commit that init belonged to."""
    (tmp_path / ".git").mkdir()
    write_starter(tmp_path / below / "new")
    requirement = f"mkdocs-reportgen @ git+https://github.com/lab/reportgen.git@{COMMIT}"
    assert can_use_actions(requirement)
    folder = tmp_path / ".github/workflows"
    assert write_review_workflows(tmp_path / below / "new", requirement) == tuple(folder / n for n in REVIEWS)
    for name, action in zip(REVIEWS, ("comment", "review"), strict=True):
        (step,) = [one for one in read_steps(folder / name) if "reportgen" in one["uses"]]
        assert step["uses"] == f"lab/reportgen/action/{action}@{COMMIT}"
        assert step["with"]["config-file"] == f"{below}/new/mkdocs.yml".lstrip("/")


@pytest.mark.parametrize(
    "requirement",
    [
        "",
        f"mkdocs-reportgen @ git+https://example.org/lab/reportgen@{COMMIT}",
        f"mkdocs-reportgen @ https://github.com/lab/reportgen/x.zip#sha256={64 * '1'}",
    ],
)
def test_an_unknown_commit_is_zeros(requirement: str, tmp_path: Path) -> None:
    """No repository has that commit, so that the workflow fails instead of running something else."""
    write_starter(tmp_path)
    assert not can_use_actions(requirement)
    for path in write_review_workflows(tmp_path, requirement):
        assert any("@" + 40 * "0" in step["uses"] for step in read_steps(path))


@pytest.mark.parametrize("name", REVIEWS)
def test_a_workflow_for_reviews_is_never_overwritten(name: str, tmp_path: Path) -> None:
    """Neither is the other one written then."""
    write_starter(tmp_path)
    path = tmp_path / ".github/workflows" / name
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ReportError, match=f"{name}: there is such a file"):
        write_review_workflows(tmp_path)
    assert path.read_text(encoding="utf-8") == "mine"
    assert {one.name for one in path.parent.iterdir()} == {"pages.yml", name}


def test_workflows_for_reviews_need_a_report(tmp_path: Path) -> None:
    """A typing error in the folder's name makes no files."""
    with pytest.raises(ReportError, match=r"there is no mkdocs\.yml"):
        write_review_workflows(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_comment_waits_for_the_workflow_of_its_name(tmp_path: Path) -> None:
    """workflow_run goes by the name, so no other workflow of the starter may have it."""
    write_starter(tmp_path)
    write_review_workflows(tmp_path)
    texts = {path.name: path.read_text("utf-8") for path in (tmp_path / ".github/workflows").iterdir()}
    names = [yaml.safe_load(text)["name"] for text in texts.values()]
    assert len({*names}) == len(names)
    assert f"workflows: [{yaml.safe_load(texts['report.yml'])['name']}]" in texts["report-comment.yml"]
