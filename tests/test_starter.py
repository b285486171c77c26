"""``reportgen init``: the small report it writes."""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command_line import call

from reportgen.core.errors import ReportError
from reportgen.settings.report import FrontMatter
from reportgen.settings.source import SourceSettings
from reportgen.site.starter import (
    PUBLISHING,
    REVIEWING,
    can_use_actions,
    check_workflows,
    write_starter,
    write_workflows,
)

if TYPE_CHECKING:
    from pathlib import Path

FILES = (
    ".github/PUBLISHING.md",
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
    with pytest.raises(ReportError, match="report: there is already a file"):
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


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("baseline,1,0,0.2465", "baseline,1,0,0.9465", "start(baseline)"),
        ("new method,1,0,0.2395", "new method,1,0,0.9395", "start('new method')"),
        ("new method,3,1000,0.7526", "new method,3,1000,0.0526", "better('new method', baseline)"),
        ("baseline,3,", "", "n(baseline)"),
        ("new method,3,", "", "n('new method')"),
    ],
)
def test_its_prose_is_bound_to_its_data(old: str, new: str, wrong: str, tmp_path: Path) -> None:
    """Whatever number of the data changes, the sentence about it is a warning."""
    write_starter(tmp_path)
    data = tmp_path / "data/first-benchmark/runs.csv"
    text = data.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not old.endswith(",") or not line.startswith(old)]
    data.write_text("\n".join(lines).replace(old, new) + "\n", encoding="utf-8")
    done = call(tmp_path, "check", "--format", "json")
    found = json.loads(done.stdout)["statements"]
    assert wrong in {one["expression"] for one in found if one["truth"] != "holds"}
    prose = (tmp_path / "content/first-benchmark.md").read_text(encoding="utf-8").partition("# First")[2]
    unbound = re.sub(r"\[[^\]]*\]\{[^}]*\}|```.*?```", "", prose, flags=re.DOTALL)
    assert re.findall(r"\d[\d.]*%?|\b(?:half|two|three|both)\b", unbound.lower()) == ["500", "95%"]


def test_it_builds_without_a_warning(tmp_path: Path) -> None:
    """What a newcomer sees first has a figure, a table and a card, and no complaint."""
    write_starter(tmp_path)
    built = call(tmp_path, "build", "--strict")
    assert built.returncode == 0, built.stderr
    assert "2 pages, 1 figure" in built.stdout
    page = (tmp_path / "site/first-benchmark/index.html").read_text(encoding="utf-8")
    assert "synthetic" in page
    overview = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert 'class="rg-card' in overview
    assert "<dt><a href=" in overview


def test_a_site_knows_the_address_that_the_workflow_says(tmp_path: Path) -> None:
    """Its page for addresses that do not exist works below one, and links to it have pictures."""
    write_starter(tmp_path)
    done = call(tmp_path, "build", "--strict", SITE_URL="https://lab.github.io/report/")
    assert done.returncode == 0, done.stderr
    assert '"/report/' in (tmp_path / "site/404.html").read_text(encoding="utf-8")
    page = (tmp_path / "site/first-benchmark/index.html").read_text(encoding="utf-8")
    assert '<link rel="canonical" href="https://lab.github.io/report/first-benchmark/">' in page


@pytest.mark.parametrize("below", ["mine/report", "mine/deep/report"])
def test_a_folder_that_cannot_be_made_is_a_problem(tmp_path: Path, below: str) -> None:
    """With the system's reason, and with nothing left behind."""
    (tmp_path / "mine").write_text("a file", encoding="utf-8")
    with pytest.raises(ReportError, match=r"Not a directory.*Name "):
        write_starter(tmp_path / below)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


ALL = (*REVIEWING, *PUBLISHING)
WORKFLOWS = {
    "report.yml": "review",
    "report-comment.yml": "comment",
    "pages.yml": "publish",
    "release.yml": "archive",
}
COMMIT = "1" * 40
KNOWN = f"mkdocs-reportgen @ git+https://github.com/lab/reportgen.git@{COMMIT}"


def read_steps(workflow: Path) -> list[dict[str, Any]]:
    """The steps of all jobs of a workflow that use actions."""
    jobs = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"].values()
    return [step for job in jobs for step in job["steps"] if "uses" in step]


@pytest.mark.parametrize("below", ["", "reports/of our lab"])
def test_workflows_stand_at_the_top_of_the_repository(below: str, tmp_path: Path) -> None:
    """They name the report, and the actions of the commit that init belonged to."""
    (tmp_path / ".git").mkdir()
    write_starter(tmp_path / below / "new", with_workflow=False)
    assert can_use_actions(KNOWN)
    written = write_workflows(tmp_path / below / "new", ALL, KNOWN)
    assert written == tuple(sorted(tmp_path / name for name in ALL))
    for name, action in WORKFLOWS.items():
        steps = read_steps(tmp_path / ".github/workflows" / name)
        (step,) = [one for one in steps if "reportgen" in one["uses"]]
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
    for path in write_workflows(tmp_path, REVIEWING, requirement):
        assert any("@" + 40 * "0" in step["uses"] for step in read_steps(path))


@pytest.mark.parametrize("name", REVIEWING)
def test_a_workflow_is_never_overwritten(name: str, tmp_path: Path) -> None:
    """Neither is the other one written then."""
    write_starter(tmp_path)
    path = tmp_path / name
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(ReportError, match=f"{name}: there is such a file"):
        write_workflows(tmp_path, REVIEWING)
    assert path.read_text(encoding="utf-8") == "mine"
    assert {one.name for one in path.parent.iterdir()} == {"pages.yml", path.name}


def test_workflows_need_a_report(tmp_path: Path) -> None:
    """A typing error in the folder's name makes no files."""
    with pytest.raises(ReportError, match=r"there is no mkdocs\.yml"):
        write_workflows(tmp_path, ALL)
    assert list(tmp_path.iterdir()) == []


def test_both_ways_to_publish_say_which_clicks_switch_it_on(tmp_path: Path) -> None:
    """Whether the workflow uses our actions or pip, in the words of GitHub's menus."""
    write_starter(tmp_path / "pip")
    write_starter(tmp_path / "actions", with_workflow=False)
    write_workflows(tmp_path / "actions", PUBLISHING, KNOWN)
    for kind in ("pip", "actions"):
        page = (tmp_path / kind / ".github/PUBLISHING.md").read_text(encoding="utf-8")
        for word in ("Settings", "Pages", "Build and deployment", "Source", "GitHub Actions"):
            assert f"**{word}**" in page
        assert "PUBLISHING.md" in (tmp_path / kind / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def complete(tmp_path: Path) -> Path:
    """A report with all four workflows, as init writes them."""
    write_starter(tmp_path, with_workflow=False)
    write_workflows(tmp_path, ALL, KNOWN)
    return tmp_path


def test_workflows_as_written_are_complete(complete: Path) -> None:
    """Nothing is missing in what init writes, and names that are waited for are there."""
    check_workflows(complete)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("report-comment.yml", "      actions: read #", "      contents: write\n      actions: read #"),
        ("pages.yml", "branches: [main]", "branches: [trunk]"),
        ("pages.yml", "config-file: mkdocs.yml", "config-file: other.yml\n          strict: false"),
        ("report.yml", "fail-on: flips", "fail-on: never"),
        ("report.yml", "    steps:\n", "    steps:\n      - uses: ./.github/actions/mine\n"),
    ],
)
def test_what_users_may_change_is_fine(name: str, old: str, new: str, complete: Path) -> None:
    """Pictures in comments, another default branch, inputs of actions, and steps of their own."""
    change_workflow(complete, name, old, new)
    check_workflows(complete)


FAULTS = [
    ("report.yml", "name: Report", "name: Review", 'waits for the name of this one. Write "name: Report"'),
    ("report.yml", "name: Report\n", "", "waits for the name of this one"),
    ("report.yml", "closed]", "edited]", 'types of "pull_request" lack closed'),
    (
        "report.yml",
        "  pull_request:\n",
        "  pull_request_target:\n",
        "gives rights to what a pull request brings",
    ),
    ("report.yml", "  pull_request:\n", "  push:\n", 'does not run on "pull_request"'),
    ("report.yml", "contents: read", "contents: write", 'does not need the permission "contents: write"'),
    (
        "report.yml",
        "permissions:\n  contents: read\n",
        "",
        'permission "the default of the repository: write"',
    ),
    ("report.yml", "permissions:\n  contents: read\n", "permissions: write-all\n", '"write-all: write"'),
    (
        "report-comment.yml",
        "      pull-requests: write",
        "      pull-requests: read",
        '"pull-requests: write". Add',
    ),
    (
        "report-comment.yml",
        "workflows: [Report]",
        "workflows: [CI]",
        'workflows of "workflow_run" lack Report',
    ),
    ("pages.yml", "[Report, Release]", "Report", "lack Release"),
    ("pages.yml", "  workflow_dispatch:\n", "", 'does not run on "workflow_dispatch"'),
    ("pages.yml", "      id-token: write", "      id-token: none", '"id-token: write". Add'),
    ("pages.yml", "  deploy:\n    name", "  send:\n    name", 'there is no job "deploy"'),
    ("pages.yml", f"publish@{COMMIT}", f"publish@{'2' * 40}", "different commits of reportgen"),
    (
        "pages.yml",
        f"lab/reportgen/action/publish@{COMMIT}",
        f"lab/other@{COMMIT}",
        "no step uses action/publish",
    ),
    (
        "pages.yml",
        "deploy-pages@cd2ce8fcbc39b97be8ca5fce6e763baed58fa128",
        "deploy-pages@v5",
        "is not pinned",
    ),
    ("release.yml", f"archive@{COMMIT}", f"archive@{'0' * 40}", "nothing says which reportgen this is"),
    ("release.yml", "lab/reportgen/action", "OWNER/reportgen/action", "nothing says which reportgen this is"),
    ("release.yml", "jobs:\n", "jobs: [\n", "release.yml:"),
]


def change_workflow(report: Path, name: str, old: str, new: str) -> None:
    """Replace a part of a workflow that is there."""
    path = report / ".github/workflows" / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(("name", "old", "new", "words"), FAULTS)
def test_a_workflow_that_does_not_fit_is_reported(
    name: str, old: str, new: str, words: str, complete: Path
) -> None:
    """What keeps the four from working together, with its place and what to do."""
    change_workflow(complete, name, old, new)
    with pytest.raises(ReportError) as caught:
        check_workflows(complete)
    assert any(words in str(problem) for problem in caught.value.problems), str(caught.value)
    assert {problem.location.file.rpartition("/")[2] for problem in caught.value.problems} <= set(WORKFLOWS)


@pytest.mark.parametrize("content", ["", "# later", "release", "[1]", "jobs: {}"])
def test_a_workflow_without_content_is_reported(content: str, complete: Path) -> None:
    """With what it lacks."""
    (complete / ".github/workflows/release.yml").write_text(content, encoding="utf-8")
    with pytest.raises(ReportError, match='does not run on "release"'):
        check_workflows(complete)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_that_is_missing_is_reported(name: str, complete: Path) -> None:
    """With the command that writes it."""
    (complete / ".github/workflows" / name).unlink()
    with pytest.raises(
        ReportError, match=rf"{name}: there is no such workflow\. \"reportgen init --"
    ) as caught:
        check_workflows(complete)
    assert len(caught.value.problems) == 1


def test_the_command_leaves_with_1_if_something_is_missing(tmp_path: Path, complete: Path) -> None:
    """All at once, and with 0 and one line if nothing is."""
    done = call(complete, "init", "--check-actions")
    assert (done.returncode, done.stdout) == (0, "The four workflows are complete and fit together.\n")
    for name in WORKFLOWS:
        (tmp_path / ".github/workflows" / name).unlink()
    done = call(complete, "init", "--check-actions")
    assert done.returncode == 1
    assert done.stderr.endswith("4 problems; the workflows do not work together yet.\n")


def test_no_workflow_gives_rights_to_a_pull_request(complete: Path) -> None:
    """What runs the code of a pull request may only read, and what may do more checks none of it out."""
    for name in WORKFLOWS:
        text = (complete / ".github/workflows" / name).read_text(encoding="utf-8")
        workflow = yaml.safe_load(text)
        events = workflow[True]  # "on" is a truth value to YAML 1.1
        assert "pull_request_target" not in events
        if "pull_request" in events:
            assert workflow["permissions"] == {"contents": "read"}
            assert all("permissions" not in job for job in workflow["jobs"].values())
            assert "secrets" not in text
        else:
            assert workflow["permissions"] == {}
        if "workflow_run" in events:
            checkouts = [
                one for one in read_steps(complete / ".github/workflows" / name) if "checkout" in one["uses"]
            ]
            assert all("ref" not in one["with"] for one in checkouts)
            assert "download-artifact" not in text


def test_what_publishes_runs_on_the_default_branch_and_one_after_the_other(complete: Path) -> None:
    """GitHub lets no tag and no pull request deploy; and what was collected last is deployed last."""
    text = (complete / ".github/workflows/pages.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert set(workflow[True]) == {"push", "workflow_run", "workflow_dispatch"}
    assert workflow["concurrency"] == {"group": "pages", "cancel-in-progress": False}
    assert {name for name, job in workflow["jobs"].items() if "write" in job["permissions"].values()} == {
        "deploy"
    }


@pytest.mark.parametrize("action", ["labeled", "unlabeled", "closed"])
def test_what_changes_only_what_is_published_builds_nothing(action: str, complete: Path) -> None:
    """The run is only there for pages.yml to follow; that of a label does not cancel a build, either."""
    workflow = yaml.safe_load((complete / ".github/workflows/report.yml").read_text(encoding="utf-8"))
    assert action in workflow[True]["pull_request"]["types"]
    assert f'"{action}"' not in workflow["jobs"]["report"]["if"]
    assert workflow["concurrency"]["group"].endswith("-${{ endsWith(github.event.action, 'labeled') }}")
