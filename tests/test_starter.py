"""What others install and run is one fixed content: workflows that init writes, actions, and packages.

What init writes and says, and which faults of workflows it names, stands in ``transcripts/starting.md``.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from email import message_from_bytes
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml
from command_line import call
from example_site import copy_example, files_of
from hypothesis import given
from hypothesis import strategies as st
from made_projects import write_file
from packaging.requirements import Requirement
from tries import slow_after

from reportgen.cli.main import cli
from reportgen.core import __version__
from reportgen.site.starter import (
    PUBLISHING,
    REVIEWING,
    UnknownSourceError,
    find_requirement,
    write_starter,
    write_workflows,
)

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
ADDRESS = "https://code.example.org/someone/reportgen.git"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
KNOWN = f"mkdocs-reportgen @ git+https://github.com/lab/reportgen.git@{COMMIT}"


def test_its_prose_is_bound_to_its_data(tmp_path: Path) -> None:
    """No other number stands in the text of the small report."""
    write_starter(tmp_path)
    prose = (tmp_path / "content/first-benchmark.md").read_text(encoding="utf-8").partition("# First")[2]
    unbound = re.sub(r"\[[^\]]*\]\{[^}]*\}|```.*?```", "", prose, flags=re.DOTALL)
    assert re.findall(r"\d[\d.]*%?|\b(?:half|two|three|both)\b", unbound.lower()) == ["500", "95%"]


def write_skill(report: Path) -> str:
    """Write the skill as a user does; returns what the file says."""
    done = call(report, "skills", "add")
    assert done.returncode == 0, done.stderr
    return (report / ".agents/skills/reportgen/SKILL.md").read_text("utf-8")


def list_shown_commands(skill: str) -> list[list[str]]:
    """The words of each command line in the skill, without the program's name."""
    steps = re.findall(r"^ *```sh\n(.*?)^ *```$", skill, re.MULTILINE | re.DOTALL)
    lines = [shlex.split(line) for line in "".join(steps).splitlines()]
    assert {program for program, *_ in lines} == {"reportgen"}
    return [words for _, *words in lines]


def test_the_skill_is_short_and_its_commands_exist(tmp_path: Path) -> None:
    """Its head is what a program reads first; each command takes its options, and the loop names all."""
    skill = write_skill(tmp_path)
    assert len(skill.splitlines()) <= 150
    said = yaml.safe_load(skill.split("---\n")[1])
    assert (said["name"], said["metadata"]["version"]) == ("reportgen", __version__)
    assert len(said["description"]) <= 1024
    shown = list_shown_commands(skill)
    for name, *words in shown:
        cli.commands[name].make_context(name, words)
    loop = ["describe", "add", "facts", "check", "bind", "check", "fix", "build", "review"]
    assert [name for name, _ in groupby(name for name, *_ in shown)] == loop
    assert "<!-- end -->" not in skill


@pytest.mark.slow
def test_every_command_of_the_skill_runs_as_written(tmp_path: Path) -> None:
    """In a new report, one after the other; what it shows of bindings holds there, too."""
    report = tmp_path / "my-report"
    write_starter(report)
    shutil.copytree(ROOT / "data/aime", tmp_path / "runs")
    for words in ("init -q -b main", "add .", "commit -q -m Begin"):
        git(report, *words.split())
    skill = write_skill(report)
    page, readme = re.findall(r"^```markdown\n(.*?)^```$", skill, re.MULTILINE | re.DOTALL)
    for name, example in (("content/first-benchmark.md", page), ("README.md", readme)):
        with (report / name).open("a", encoding="utf-8") as file:
            file.write(f"\n{example}")
    for shown in list_shown_commands(skill):
        done = call(report, *shown)
        assert done.returncode == 0, (shown, done.stdout, done.stderr)


@pytest.fixture
def complete(tmp_path: Path) -> dict[str, str]:
    """The four workflows as init writes them, by their names."""
    write_starter(tmp_path, with_workflow=False)
    written = write_workflows(tmp_path, (*REVIEWING, *PUBLISHING), KNOWN)
    return {path.name: path.read_text("utf-8") for path in written if path.suffix == ".yml"}


def test_the_package_for_latex_has_commands_of_the_kernel_alone(tmp_path: Path) -> None:
    """Braces and conditionals are balanced, and no line defines what another package may have."""
    assert call(tmp_path, "init", "--latex", ".").returncode == 0
    text = (tmp_path / "reportgen.sty").read_text("ascii")
    code = re.sub(r"(?m)%.*\n", "", text)
    depths = [code[:at].count("{") - code[:at].count("}") for at in range(len(code) + 1)]
    assert min(depths) == depths[-1] == 0
    assert len(re.findall(r"\\if\w+", code)) == len(re.findall(r"\\fi\b", code)) == 1
    defined = re.findall(r"\\providecommand\{(\\\w+)\}\[\d\]\{", code)
    assert all(name.startswith("\\rg") for name in defined)
    # ifcsname is of e-TeX, which LaTeX has required since 2017.
    primitives = {"expandafter", "gdef", "csname", "endcsname", "ifcsname", "else", "fi", "endinput"}
    kernel = {"NeedsTeXFormat", "ProvidesPackage", "providecommand", "PackageError"}
    assert set(re.findall(r"\\([A-Za-z@]+)", code)) == {one[1:] for one in defined} | primitives | kernel
    assert not re.search(r"[^\x20-\x7e\n]", text)


def test_the_workflow_names_new_numbers_that_nobody_bound(tmp_path: Path) -> None:
    """In a pull request, whose merge commit follows its base: 4 of 5 new numbers are not enough."""
    write_starter(tmp_path)
    workflow = yaml.safe_load((tmp_path / ".github/workflows/pages.yml").read_text("utf-8"))
    ran = [step.get("run", "") for step in workflow["jobs"]["build"]["steps"]]
    words = next(one for one in ran if "--new" in one).split()[1:]
    assert words[:5] == ["check", "--format", "github", "--new", "HEAD^1"]
    git(tmp_path, "init", "--quiet")
    for command in (("add", "-A"), ("commit", "--quiet", "--message", "All")):
        git(tmp_path, *command)
    page = tmp_path / "content/first-benchmark.md"
    bound = "[0.75]{value=\"final('new method')\"}"
    page.write_text(f"{page.read_text('utf-8')}\n{', '.join([bound] * 4)} and 0.75.\n", "utf-8")
    git(tmp_path, "commit", "--quiet", "--all", "--message", "Say more")
    done = call(tmp_path, *words)
    assert (done.returncode, "4 of 5 numbers are bound, less than 95%" in done.stdout) == (1, True)
    page.write_text(page.read_text("utf-8").replace("and 0.75.", f"and {bound}."), "utf-8")
    assert call(tmp_path, *words).returncode == 0


def test_no_workflow_gives_rights_to_a_pull_request(complete: dict[str, str]) -> None:
    """What runs the code of a pull request may only read, and what may do more checks none of it out."""
    assert len(complete) == 4
    for text in complete.values():
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
            steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
            checkouts = [one for one in steps if "checkout" in one.get("uses", "")]
            assert all("ref" not in one["with"] for one in checkouts)
            assert "download-artifact" not in text


def test_what_publishes_runs_on_the_default_branch_and_one_after_the_other(complete: dict[str, str]) -> None:
    """GitHub lets no tag and no pull request deploy; and what was collected last is deployed last."""
    workflow = yaml.safe_load(complete["pages.yml"])
    assert set(workflow[True]) == {"push", "workflow_run", "workflow_dispatch"}
    assert workflow["concurrency"] == {"group": "pages", "cancel-in-progress": False}
    writing = {name for name, job in workflow["jobs"].items() if "write" in job["permissions"].values()}
    assert writing == {"deploy"}


def test_what_changes_only_what_is_published_builds_nothing(complete: dict[str, str]) -> None:
    """The run is only there for pages.yml to follow; that of a label does not cancel a build, either."""
    workflow = yaml.safe_load(complete["report.yml"])
    assert {"labeled", "unlabeled", "closed"} <= {*workflow[True]["pull_request"]["types"]}
    assert not re.search('"(labeled|unlabeled|closed)"', workflow["jobs"]["report"]["if"])
    assert workflow["concurrency"]["group"].endswith("-${{ endsWith(github.event.action, 'labeled') }}")


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


def test_every_dependency_has_an_upper_bound() -> None:
    """A next major version may break what we use: it is let in after a look."""
    for dependency in (*PROJECT["project"]["dependencies"], *EXTRAS):
        assert {"<", "=="} & {one.operator for one in Requirement(dependency).specifier}, dependency


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


# ---- installed from a checkout on this machine


def init_installed_from(folder: Path, record: object) -> str:
    """Run ``reportgen init report`` as if an installer had noted this record; return what it warns of."""
    noted = folder / "packages" / "mkdocs_reportgen-0.1.0.dist-info"
    noted.mkdir(parents=True)
    (noted / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: mkdocs-reportgen\nVersion: 0.1.0\n", "utf-8"
    )
    (noted / "direct_url.json").write_text(json.dumps(record), "utf-8")
    with patch.object(sys, "path", [str(folder / "packages"), *sys.path]):
        done = call(folder, "init", "report")
    assert done.returncode == 0, done.stderr
    return done.stderr


def install_step(folder: Path) -> dict[str, Any]:
    """The step of the workflow that installs reportgen, as GitHub reads it."""
    workflow = yaml.safe_load((folder / "report/.github/workflows/pages.yml").read_text("utf-8"))
    (step,) = (one for one in workflow["jobs"]["build"]["steps"] if one.get("name") == "Install reportgen")
    return dict(step)


@pytest.mark.parametrize("requirement", ["", f"mkdocs-reportgen @ git+{ADDRESS}@{COMMIT}"])
def test_the_step_that_installs_runs_in_a_shell(requirement: str, tmp_path: Path) -> None:
    """Run as GitHub runs it, with a pip that prints what it is given: locked versions first, or nothing."""
    init_installed_from(tmp_path, {})
    pip = tmp_path / "pip"
    pip.write_text('#!/bin/sh\nfor word in "$@"; do echo "<$word>"; done\n', "utf-8")
    pip.chmod(0o755)
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "REPORTGEN": requirement}
    command = ["bash", "-e", "-c", install_step(tmp_path)["run"]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if requirement:
        assert done.returncode == 0
        first = ["install", "--require-hashes", "--only-binary", ":all:", "-r", "requirements.txt"]
        then = ["install", "--no-deps", "--no-build-isolation", requirement]
        assert done.stdout.split("\n")[:-1] == [f"<{word}>" for word in (*first, *then)]
    else:
        assert done.returncode == 1
        assert done.stdout.startswith("::error::Nothing says which reportgen to install.")


def git(folder: Path, *words: str) -> str:
    """Run git as nobody in particular."""
    names = [f"GIT_{role}_{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    who = dict.fromkeys(names, "a@example.org")
    alone = os.environ | who | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, env=alone, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone whose commit and tag are published, of which git believes that it came from ``ADDRESS``."""
    first, clone = tmp_path / "first", tmp_path / "clone"
    first.mkdir()
    git(first, "init", "--quiet", "--initial-branch", "main")
    git(first, "commit", "--quiet", "--allow-empty", "--message", "One")
    git(first, "tag", "--annotate", "--message", "The first", "v1")
    git(first, "commit", "--quiet", "--allow-empty", "--message", "Two")
    git(tmp_path, "clone", "--quiet", str(first), "clone")
    git(clone, "remote", "set-url", "origin", ADDRESS)
    return clone


def told_from(folder: Path, tmp_path: Path) -> str:
    """What ``init`` writes into the workflow if reportgen was installed from a folder, or why nothing."""
    warned = init_installed_from(tmp_path, {"url": folder.as_uri(), "dir_info": {"editable": True}})
    return str(install_step(tmp_path)["env"]["REPORTGEN"]) or warned


@pytest.mark.parametrize("place", ["branch", "worktree", "tag", "packed tag"])
def test_a_clone_names_a_commit_that_others_can_have(checkout: Path, tmp_path: Path, place: str) -> None:
    """The last one of a branch of origin, or one with a tag, whether or not it has a message of its own."""
    folder = checkout
    if place == "worktree":  # its .git is a file, and its branches are those of the repository
        folder = tmp_path / "other"
        git(checkout, "worktree", "add", "--quiet", "-b", "other", str(folder))
    elif "tag" in place:
        git(checkout, "checkout", "--quiet", "--detach", "v1")
        git(checkout, "pack-refs", "--all")
        if place == "tag":
            git(checkout, "tag", "lightweight")
    commit = git(checkout, "rev-parse", "HEAD")
    assert told_from(folder, tmp_path) == f"mkdocs-reportgen @ git+{ADDRESS}@{commit}"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            "commit --quiet --allow-empty --message Mine",
            "is not the last one of a branch of its origin; push it",
        ),
        ("remote set-url origin git@example.org:someone/reportgen", "it did not come from a plain https://"),
        (
            "remote set-url origin https://me:secret@example.org/reportgen",
            "it did not come from a plain https://",
        ),
        ("remote remove origin", "the repository there has no remote called origin"),
        ("", "which is no checkout of a git repository"),
    ],
)
def test_what_nobody_else_has_is_not_named(checkout: Path, tmp_path: Path, words: str, reason: str) -> None:
    """A commit of one's own, an origin that is not public, and a folder that was unpacked or is gone."""
    if words:
        git(checkout, *words.split())
    told = told_from(checkout if words else tmp_path / "gone", tmp_path)
    assert (reason in told, "secret" in told) == (True, False), told


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just(ADDRESS) | st.just(COMMIT),
    lambda part: st.lists(part, max_size=2) | st.dictionaries(st.text(max_size=8), part, max_size=3),
    max_leaves=4,
)
BEGUN = st.builds("{}{}".format, st.sampled_from([ADDRESS, COMMIT]), st.text(max_size=3))
TEXTS = st.text(max_size=8) | BEGUN | JSON
RECORDS = JSON | st.fixed_dictionaries(
    {"url": TEXTS},
    optional={
        "vcs_info": JSON | st.fixed_dictionaries({"vcs": st.just("git"), "commit_id": TEXTS}),
        "archive_info": JSON | st.fixed_dictionaries({"hash": TEXTS, "hashes": JSON}),
        "dir_info": JSON,
    },
)


@given(RECORDS)
def test_whatever_is_noted_gives_a_safe_requirement_or_a_reason(record: object) -> None:
    """No record gets a character that a shell, YAML or pip obeys into a workflow; none gives a traceback."""

    class Noted:
        """An installed distribution, as far as it is asked."""

        def read_text(self, _name: str) -> str:
            return json.dumps(record)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reportgen.site.starter.distributions", lambda **_: [Noted()])
        try:
            requirement = find_requirement()
        except UnknownSourceError:
            return
    assert re.fullmatch(r"mkdocs-reportgen @ (git\+)?https://[\w.:/~+@#=-]+", requirement, re.ASCII)


# ---- the release, which ``make release-check`` checks

UV = Path(sys.executable).with_name("uv")
MOST_BYTES_OF_WHEEL = 2_150_000
CARRIED = {"LICENSE", "reportgen/site/assets/LICENSES.md"} | {
    f"site_templates/fonts/OFL-{font}.txt" for font in ("Inter", "JetBrainsMono")
}


def build_wheel() -> Path:
    """Build what release.yml publishes into dist/: a source distribution, and the wheel out of that."""
    for old in ("dist", "mkdocs_reportgen.egg-info"):  # which lists what an older build packed
        shutil.rmtree(ROOT / old, ignore_errors=True)
    subprocess.run([UV, "build", "--quiet", "--out-dir", "dist"], cwd=ROOT, check=True)
    version = PROJECT["project"]["version"]
    wheel = ROOT / "dist" / f"mkdocs_reportgen-{version}-py3-none-any.whl"
    assert {path.name for path in (ROOT / "dist").glob("*.*z*")} == {f"mkdocs_reportgen-{version}.tar.gz"}
    return wheel


def check_wheel(wheel: Path) -> None:
    """It is small, holds what git knows and no more, and says what it is and whose fonts it carries."""
    assert wheel.stat().st_size <= MOST_BYTES_OF_WHEEL
    with zipfile.ZipFile(wheel) as packed:
        about = f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info"
        names = {name for name in packed.namelist() if not name.startswith(about)}
        metadata = message_from_bytes(packed.read(f"{about}/METADATA"))
        assert all(packed.read(f"{about}/licenses/{name}") for name in CARRIED)
    listed = ["git", "ls-files", "reportgen", "site_templates"]
    known = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert names == {re.sub("^site_templates", "reportgen/site_templates", name) for name in known}
    assert {*metadata.get_all("License-File", [])} == CARRIED
    assert metadata["License-Expression"] == "MIT"
    supported = {f"Programming Language :: Python :: {python[:4]}" for python in PYTHONS}
    assert {*metadata.get_all("Classifier", [])} >= supported
    assert metadata.get_payload() == (ROOT / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_release_check(example_site: Path, tmp_path: Path) -> None:
    """The wheel, run by uvx, starts a report and checks it, and builds the same example as the checkout."""
    wheel = build_wheel()
    check_wheel(wheel)
    versions = subprocess.check_output([UV, "pip", "freeze", "--python", sys.executable], text=True)
    (tmp_path / "versions.txt").write_text(re.sub("(?m)^(-e|.* @ ).*\n", "", versions), "utf-8")
    copy_example(tmp_path / "example")
    start = f"{UV.with_name('uvx')} --constraints {tmp_path}/versions.txt --from {wheel} reportgen".split()
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    for folder, words in (
        ("", ["init", "my-report"]),
        ("my-report", ["build", "--strict"]),
        ("my-report", ["check"]),
        ("example", ["build", "--strict"]),
    ):
        environment = clean | {"REPORTGEN_CACHE_DIR": str(tmp_path / "cache")}
        subprocess.run([*start, *words], cwd=tmp_path / folder, env=environment, check=True)
    assert files_of(tmp_path / "example" / "site") == files_of(example_site)


# ---- an agent ------------------------------------------------------------------------------------------


def write_curves(folder: Path, chance: random.Random) -> None:
    """A table of losses, with a column for the seed."""
    rows = ["schedule,seed,step,val_loss"]
    for schedule, end in (("cosine", 2.1), ("linear", 2.4)):
        for seed in range(3):
            losses = (end + 3 * 0.7**step + chance.gauss(0, 0.01) for step in range(11))
            rows += (f"{schedule},{seed},{step * 100},{loss:.4f}" for step, loss in enumerate(losses))
    write_file(folder / "curves.csv", "\n".join([*rows, ""]))


def write_logs(folder: Path, chance: random.Random) -> None:
    """A folder for each run, with a log in it."""
    for method, end in (("ppo", 0.8), ("reinforce", 0.6)):
        for seed in range(1, 4):
            rewards = (end * (1 - 0.7**step) + chance.gauss(0, 0.01) for step in range(13))
            lines = (json.dumps({"step": step, "reward": reward}) for step, reward in enumerate(rewards))
            write_file(folder / f"{method}-seed{seed}/metrics.jsonl", "\n".join([*lines, ""]))


def write_answers(folder: Path, chance: random.Random) -> None:
    """Answers to problems, several by each model."""
    rows = ["model,problem,sample,correct"]
    for problem in range(40):
        easy = chance.random()
        for model, skill in (("Oak", 0.25), ("Pine", -0.05)):
            rows += (f"{model},p{problem},{one},{int(chance.random() < easy + skill)}" for one in range(4))
    write_file(folder / "answers.csv", "\n".join([*rows, ""]))


def write_totals(folder: Path, chance: random.Random) -> None:
    """Scores of whole benchmarks."""
    names = [(model, benchmark) for model in ("Ash", "Elm", "Yew") for benchmark in ("Algebra", "Geometry")]
    rows = (f"{model},{benchmark},{chance.uniform(0.5, 0.8):.3f},400" for model, benchmark in names)
    write_file(folder / "scores.csv", "\n".join(["model,benchmark,accuracy,n", *rows, ""]))


def write_finished(folder: Path, chance: random.Random) -> None:
    """A row for each finished run."""
    optimizers = {"adam": 0.80, "lion": 0.82, "sgd": 0.74}
    runs = [
        (name, seed, value + chance.gauss(0, 0.004))
        for name, value in optimizers.items()
        for seed in range(4)
    ]
    rows = (f"{name},{seed},{value:.4f}" for name, seed, value in runs)
    write_file(folder / "runs.csv", "\n".join(["optimizer,seed,test_accuracy", *rows, ""]))


FOLDERS = {
    "schedules": write_curves,
    "policies": write_logs,
    "exam": write_answers,
    "board": write_totals,
    "optimizers": write_finished,
}


class Agent:
    """One that knows the text of the skill and what commands print as JSON; it counts what it runs."""

    def __init__(self, report: Path) -> None:
        self.report, self.count = report, 0
        self.commands = {name for name, *_ in list_shown_commands(write_skill(report))}

    def run(self, *words: str) -> tuple[int, str]:
        """Run a command that the skill names, and return its exit code and what it printed."""
        assert words[0] in self.commands
        self.count += 1
        done = call(self.report, *words)
        return done.returncode, done.stdout

    def read(self, *words: str) -> tuple[Any, list[dict[str, Any]]]:
        """Run a command, and return the result and the diagnostics of its envelope."""
        code, printed = self.run(*words, "--format", "json")
        envelope = json.loads(printed)
        assert (envelope["format"], envelope["command"], envelope["ok"]) == (1, words[0], code == 0)
        return envelope["result"], envelope["diagnostics"]

    def list_facts(self, name: str, benchmarks: list[str]) -> list[tuple[str, str, float]]:
        """The numbers of a source as they are written: the fact, its text and its value."""
        option = ("--benchmark", benchmarks[0]) if len(benchmarks) > 1 else ()
        found, _ = self.read("facts", name, *option)
        if len(found["series"]) == 1:  # over several settings, which the skill says not to average
            settings = self.report / f"data/{name}/source.yml"
            (column,) = re.findall(r"(?m)^x: (.+)", (self.report / f"content/{name}.md").read_text("utf-8"))
            text = settings.read_text("utf-8")
            settings.write_text(text.replace("columns:\n", f"columns:\n  series: {column}\n"), "utf-8")
            return self.list_facts(name, benchmarks)
        texts = [(re.fullmatch(r".* = ([^ :]+)(?:[ :].*)?", one["words"]), one) for one in found["facts"]]
        kinds = {"value", "difference"}
        return [
            (one["call"], text[1], one["value"]) for text, one in texts if text and one["quantity"] in kinds
        ]

    def write_page(self, name: str, benchmarks: list[str]) -> Path:
        """Write what a page says, with a wrong digit and the wrong way round in a claim."""
        facts = self.list_facts(name, benchmarks)
        (wrong, text, _), *others = facts[:6]
        finals = [one for one in facts if one[0].startswith(("final", "score"))]
        (low, _, _), *_, (high, _, _) = sorted(finals, key=lambda fact: fact[2])
        typed = re.sub(r"\d(?=\D*$)", lambda digit: str((int(digit[0]) + 5) % 10), text)
        lines = [f'- `{call}` is [{text}]{{value="{call}" of="results"}}.' for call, text, _ in others]
        lines.append(f'- `{wrong}` is [{typed}]{{value="{wrong}" of="results"}}.')
        lines.append(f'- [The first is above the last]{{claim="{low} > {high}" of="results"}}.')
        page = self.report / f"content/{name}.md"
        page.write_text("\n".join([page.read_text("utf-8"), *lines, ""]), "utf-8")
        return page

    def correct(self, page: Path) -> None:
        """Do what the check says of each problem: let numbers be written, and turn the claim round."""
        found, problems = self.read("check")
        assert [one["id"] for one in problems] == ["statement-fails"] * 2
        failing = [one for one in found["statements"] if not one["as_expected"]]
        assert {(one["kind"], one["truth"]) for one in failing} == {("value", "fails"), ("claim", "fails")}
        lines = page.read_text("utf-8").splitlines()
        for one in failing:
            assert one["file"] == f"content/{page.name}"
            if one["kind"] == "claim":
                line = lines[one["line"] - 1]
                assert line[one["column"] - 1 :].startswith(f"[{one['words']}]")
                line = line.replace(one["expression"], one["expression"].replace(">", "<"))
                lines[one["line"] - 1] = line.replace("above", "below")
        page.write_text("\n".join([*lines, ""]), "utf-8")
        (edit,) = self.read("fix", "--write")[0]["edits"]
        assert (edit["file"], edit["old"] != edit["new"]) == (f"content/{page.name}", True)


@pytest.mark.slow
def test_an_agent_writes_honest_pages_from_the_skill_alone(tmp_path: Path) -> None:
    """From five folders, in at most 12 commands a page: it corrects a wrong number and claim of each."""
    report, chance = tmp_path / "report", random.Random(48)  # noqa: S311 - data, no secrets
    write_starter(report)
    agent = Agent(report)
    for name, write in FOLDERS.items():
        write(tmp_path / name, chance)
        agent.count = 0
        described, _ = agent.read("describe", f"../{name}")
        assert agent.read("add", f"../{name}", "--as", name, "--page")[0]["source"] == name
        page = agent.write_page(name, described["benchmarks"])
        agent.correct(page)
        found, problems = agent.read("check", "--require-bound", "95")
        assert problems == []
        kinds = Counter(one["kind"] for one in found["statements"] if one["file"] == f"content/{name}.md")
        assert (kinds["value"] >= 5, kinds["claim"] >= 1) == (True, True), name
        assert agent.count <= 12
    assert agent.run("build", "--strict")[0] == 0
