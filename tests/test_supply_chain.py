"""What others install and run is one fixed content: actions, packages, and no other project of our name."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tries import slow_after

from reportgen.site.starter import PUBLISHING, REVIEWING, write_starter, write_workflows

ROOT = Path(__file__).parents[1]
STARTER = "reportgen/site/starter"
WORKFLOWS = [
    *sorted((ROOT / ".github" / "workflows").glob("*.yml")),
    ROOT / STARTER / "github" / "workflows" / "pages.yml",
    *sorted((ROOT / f"{STARTER}_workflows" / "github" / "workflows").glob("*.yml")),
    *sorted((ROOT / "action").glob("*/action.yml")),
]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NEEDED = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
# Which client of Spark fits is up to a user's cluster, so it is in no lock.
LOCKED = [name for name in PROJECT["project"]["optional-dependencies"] if name != "spark"]
EXTRAS = [one for extra in LOCKED for one in PROJECT["project"]["optional-dependencies"][extra]]
LOCKS = {f"{STARTER}/requirements.txt": NEEDED, "requirements.lock": [*NEEDED, *EXTRAS]}
PYTHONS = ("3.11.9", "3.12.0", "3.13.0", "3.14.0")


@pytest.mark.parametrize(
    "requirement",
    slow_after(1, ["", f"mkdocs-reportgen @ git+https://github.com/lab/reportgen.git@{'1' * 40}"]),
)
def test_workflows_have_no_known_weakness(requirement: str, tmp_path: Path) -> None:
    """An auditor of workflows, at its strictest, finds nothing in ours and in those that init writes."""
    write_starter(tmp_path / "pip", requirement)
    write_starter(tmp_path / "actions", requirement, with_workflow=False)
    write_workflows(tmp_path / "actions", (*REVIEWING, *PUBLISHING), requirement)
    auditor = Path(sys.executable).with_name("zizmor")
    options = ["--offline", "--no-config", "--persona=auditor", "--strict-collection", "--no-progress"]
    folders = [str(folder / ".github" / "workflows") for folder in (ROOT, *tmp_path.iterdir())]
    actions = [str(path) for path in WORKFLOWS if path.name == "action.yml"]
    done = subprocess.run(
        [auditor, *options, *folders, *actions], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.count("completed") == len(WORKFLOWS)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_actions_are_pinned_to_a_commit_with_its_version(workflow: Path) -> None:
    """A tag can be moved; the comment says which release the commit is, the same in every workflow."""
    everywhere = set(re.findall(r"uses: *(.*)", "".join(path.read_text("utf-8") for path in WORKFLOWS)))
    used = re.findall(r"uses: *(.*)", workflow.read_text("utf-8"))
    assert used
    for one in used:
        if one.startswith("OWNER/"):  # filled in by init, with a commit of ours
            assert re.fullmatch(r"OWNER/reportgen/action/(archive|comment|publish|review)@0{40}", one)
            continue
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one)
        assert {other for other in everywhere if other.split("@")[0] == one.split("@")[0]} == {one}


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("python", PYTHONS)
def test_every_dependency_is_locked_within_its_bounds(lock: str, python: str) -> None:
    """One version for each Python that we support, with hashes; make lock writes it again."""
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", " ")
    environment = {"python_full_version": python, "python_version": python[:4]}
    pinned: dict[str, str] = {}
    for line in text.splitlines():
        words, *hashes = line.split(" --hash=")
        requirement = Requirement(words)
        assert hashes, words
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64} *", one) for one in hashes)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            assert requirement.name not in pinned
            pinned[requirement.name] = str(requirement.specifier).removeprefix("==")
    for one in map(Requirement, LOCKS[lock]):
        if one.marker is None or one.marker.evaluate(environment):
            assert one.specifier.contains(pinned[one.name.lower()]), f"{one}: run make lock"


@pytest.mark.parametrize("dependency", [*PROJECT["project"]["dependencies"], *EXTRAS])
def test_every_dependency_has_an_upper_bound(dependency: str) -> None:
    """A next major version may break what we use: it is let in after a look."""
    assert {"<", "=="} & {one.operator for one in Requirement(dependency).specifier}


def test_nothing_installs_the_other_project_of_our_name() -> None:
    """On the package index "reportgen" is somebody else's; ours comes from a folder or an address."""
    assert PROJECT["project"]["name"] == "mkdocs-reportgen"
    files = [*WORKFLOWS, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "Makefile"]
    for folder in ("content", "reportgen"):
        files += [path for path in (ROOT / folder).rglob("*") if path.suffix in {".md", ".py", ".yml"}]
    # In a sentence, as the name of a danger, it stands in code marks.
    installed = re.compile(r"(?<!`)\bpip3? install (?:-\S+ )*[\"']?reportgen\b")
    for path in files:
        assert not installed.search(path.read_text(encoding="utf-8")), path
