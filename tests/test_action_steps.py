"""The scripts of the actions: inputs reach them as words, and what a step leaves is found by the next one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from made_archives import REPORT, commit
from made_projects import write_report

from reportgen.archive.publishing import previews

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "action").glob("*/action.yml")))
def test_values_reach_scripts_through_the_environment(name: str) -> None:
    """No expression stands in a script, and each script stops at its first failure."""
    action = yaml.safe_load((ROOT / "action" / name / "action.yml").read_text(encoding="utf-8"))
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    assert scripts
    for script in scripts:
        assert script.startswith("set -euo pipefail\n")
        assert "${{" not in script
        subprocess.run(["bash", "-n", "-c", script], check=True)  # noqa: S607 - on PATH everywhere


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """The temporary folder of a runner, with a reportgen that notes its arguments and a page, and fails."""
    for name in ("review", "publish"):
        folder = tmp_path / f"reportgen-{name}/bin"
        folder.mkdir(parents=True)
        program = folder / "reportgen"
        program.write_text(
            '#!/usr/bin/env bash\nprintf "%s\\n" "$@" ${SITE_URL:+"$SITE_URL"} >> "$RUNNER_TEMP/arguments"\n'
            'mkdir -p "$RUNNER_TEMP/report-review"\n'
            'echo page > "$RUNNER_TEMP/report-review/review.html"\n[ "$1" = build ] || [ "$1" = publish ]\n',
            encoding="utf-8",
        )
        program.chmod(0o755)
        (folder / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        (folder / "python").chmod(0o755)
    return tmp_path


def run_step(
    runner: Path,
    name: str,
    variables: dict[str, str],
    action: str = "review",
    *,
    folder: Path | None = None,
    more: dict[str, str] | None = None,
) -> int:
    """The exit code of a step of an action."""
    text = (ROOT / "action" / action / "action.yml").read_text(encoding="utf-8")
    (step,) = [one for one in yaml.safe_load(text)["runs"]["steps"] if one.get("name") == name]
    assert set(step["env"]) == set(variables)
    environment = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(runner),
        "GITHUB_OUTPUT": str(runner / "output"),
        "GITHUB_RUN_ATTEMPT": "2",
    }
    words = ["bash", "-c", step["run"]]
    return subprocess.run(
        words, env=environment | variables | (more or {}), cwd=folder or runner, check=False
    ).returncode


def test_the_review_is_red_and_its_page_is_kept(runner: Path) -> None:
    """Inputs are words and nothing else, and the page gets the name of its artifact."""
    hostile = '$(touch "$RUNNER_TEMP/ran"); `touch ran` --help'
    variables = {"CONFIG_FILE": hostile, "FAIL_ON": "flips"}
    assert run_step(runner, "Review the report", variables) == 1
    first, *others = (runner / "arguments").read_text(encoding="utf-8").splitlines()
    assert first == "review"
    assert f"--config-file={hostile}" in others
    assert run_step(runner, "Name review.html after its artifact", {"ARTIFACT": "-n a/b"}) == 0
    assert [path.name for path in (runner / "report-review-page").iterdir()] == ["-n a-b.html"]
    assert not (runner / "ran").exists()


def test_a_review_without_a_page_is_fine(runner: Path) -> None:
    """Then there is nothing to name."""
    assert run_step(runner, "Name review.html after its artifact", {"ARTIFACT": "report-review"}) == 0
    assert not (runner / "report-review-page").exists()


@pytest.fixture
def report(runner: Path) -> Path:
    """The settings of a report whose name and site_dir are no plain words."""
    path = runner / "$(touch ran) mkdocs.yml"
    (runner / "docs").mkdir()
    path.write_text("site_name: x\nsite_dir: the site\n", encoding="utf-8")
    return path


def test_a_report_that_fails_is_built_for_its_preview(runner: Path, report: Path) -> None:
    """The job is red, since a statement fails, and the page can be looked at."""
    assert run_step(runner, "Check and build the report", {"CONFIG_FILE": str(report)}) == 1
    arguments = (runner / "arguments").read_text(encoding="utf-8").splitlines()
    config = f"--config-file={report}"
    assert arguments == ["check", config, "--format=github", "build", config]
    assert (runner / "output").read_text(encoding="utf-8") == f"site={runner}/the site\n"
    assert not (runner / "ran").exists()


@pytest.mark.parametrize(("strict", "options"), [("true", ["--strict"]), ("false", [])])
def test_the_default_branch_is_built_strictly(strict: str, options: list[str], runner: Path) -> None:
    """Unless the input says otherwise; and it may know its address."""
    (runner / "report-collected").mkdir()
    (runner / "report-collected/arguments").write_text("--base-url=https://x/a/\0--version=1=b\0", "utf-8")
    variables = {"CONFIG_FILE": "a b.yml", "STRICT": strict}
    assert run_step(runner, "Build the site", variables, "publish") == 0
    arguments = (runner / "arguments").read_text(encoding="utf-8").splitlines()
    assert arguments == ["build", "--config-file=a b.yml", *options, "https://x/a/"]


@pytest.mark.parametrize("collected", [[], ["--base-url=https://x/", "--version=$(touch ran) `x` *=a b.zip"]])
def test_what_was_collected_is_assembled(collected: list[str], runner: Path, report: Path) -> None:
    """Each argument is a word, and the artifact has a name of its own in each attempt of a run."""
    (runner / "report-collected").mkdir()
    file = runner / "report-collected/arguments"
    file.write_text("".join(f"{one}\0" for one in collected), encoding="utf-8")
    step = "Assemble the site with its versions and previews"
    assert run_step(runner, step, {"CONFIG_FILE": str(report)}, "publish") == 0
    arguments = (runner / "arguments").read_text(encoding="utf-8").splitlines()
    known = ["publish", "assemble", f"--main={runner}/the site", f"--to={runner}/report-site"]
    assert arguments == [*known, *collected]
    assert (runner / "output").read_text(encoding="utf-8") == "artifact=github-pages-2\n"
    assert not (runner / "ran").exists()


def test_only_what_asks_github_has_the_token() -> None:
    """Neither the build nor what unpacks files of others."""
    for name in ("publish", "comment"):
        action = yaml.safe_load((ROOT / f"action/{name}/action.yml").read_text(encoding="utf-8"))
        steps = [step for step in action["runs"]["steps"] if "inputs.token" in str(step)]
        assert len(steps) == 1
        assert "reportgen " not in steps[0]["run"]


ARCHIVING = "Archive and verify the report"


def write_program(path: Path, script: str) -> None:
    """Write a program that stands for another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("version", "name"),
    [
        pytest.param("1.0", "some-report-1.0.zip", marks=pytest.mark.slow),
        pytest.param("", "some-report.zip", marks=pytest.mark.slow),
        ("a/$(touch${IFS}ran)*", "some-report-a---touch--IFS-ran--.zip"),
    ],
    ids=["version", "none", "hostile"],
)
def test_the_archive_is_where_the_output_says(tmp_path: Path, version: str, name: str) -> None:
    """The step runs the command itself: the archive has the site, and was verified."""
    write_program(tmp_path / "reportgen-archive/bin/reportgen", f'exec "{sys.executable}" -m reportgen "$@"')
    root = commit(write_report(tmp_path / "some report", REPORT))
    variables = {"CONFIG_FILE": "mkdocs.yml", "VERSION": version}
    assert run_step(tmp_path, ARCHIVING, variables, action="archive", folder=root) == 0
    path = tmp_path / "report-archive" / name
    assert (tmp_path / "output").read_text("utf-8") == f"archive={path}\n"
    with zipfile.ZipFile(path) as file:
        assert {"report.html", "site/index.html"} <= set(file.namelist())
        metadata = json.loads(file.read(".zenodo.json"))
    assert metadata["version"] == (version or "1.0")
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.slow
def test_a_report_that_is_not_committed_is_not_archived(tmp_path: Path) -> None:
    """A release that nobody can build again is no release."""
    write_program(tmp_path / "reportgen-archive/bin/reportgen", f'exec "{sys.executable}" -m reportgen "$@"')
    root = commit(write_report(tmp_path / "report", REPORT))
    (root / "data/other.csv").write_text(REPORT["data/other.csv"] + "MEL,3,0,0.2\n")
    variables = {"CONFIG_FILE": "mkdocs.yml", "VERSION": "1.0"}
    assert run_step(tmp_path, ARCHIVING, variables, action="archive", folder=root) == 1
    assert not (tmp_path / "output").exists()


def test_the_signature_is_stored_beside_the_archive(tmp_path: Path) -> None:
    """With what it is checked by, so that no service has to be there then."""
    write_program(tmp_path / "programs/gh", '[ "$*" = "attestation trusted-root" ] && echo "{}"')
    (tmp_path / "bundle.json").write_text("signed", encoding="utf-8")
    archive = tmp_path / "report-archive/-n 1.zip"
    archive.parent.mkdir()
    variables = {"ARCHIVE": str(archive), "BUNDLE": str(tmp_path / "bundle.json"), "GH_TOKEN": "x"}
    path = {"PATH": f"{tmp_path / 'programs'}:{os.environ['PATH']}"}
    step = "Store the signature and what it is checked by"
    assert run_step(tmp_path, step, variables, action="archive", more=path) == 0
    assert (archive.parent / "-n 1.zip.sigstore.json").read_text("utf-8") == "signed"
    assert (archive.parent / "trusted_root.jsonl").read_text("utf-8") == "{}\n"


def test_only_an_archive_that_is_to_be_signed_is_signed() -> None:
    """Both steps that need the permissions of a signature depend on the input, which is off by default."""
    action = yaml.safe_load((ROOT / "action/archive/action.yml").read_text(encoding="utf-8"))
    assert action["inputs"]["attest"]["default"] == "false"
    signing = [step for step in action["runs"]["steps"] if "attest" in json.dumps(step)]
    assert [step["if"] for step in signing] == ["${{ inputs.attest == 'true' }}"] * 2


def test_actions_publish_the_previews_that_the_program_takes() -> None:
    """What a runner collects and links to, without the program at hand, has its limits."""
    action = Path(__file__).parents[1] / "action"
    for name in ("publish/collect.py", "comment/post_comment.py"):
        text = (action / name).read_text("utf-8")
        stated = {
            key: int(number) for key, number in re.findall(r"^(MOST_\w+) = ([\d_]+)$", text, re.MULTILINE)
        }
        assert stated["MOST_PREVIEW"] == previews.LARGEST
        assert stated.get("MOST_PREVIEWS", previews.MOST) == previews.MOST
