"""What ``reportgen init`` makes a workflow install, by how reportgen itself was installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
import yaml
from command_line import call
from hypothesis import given
from hypothesis import strategies as st

from reportgen.site import starter

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "https://code.example.org/someone/reportgen.git"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SHA256 = "ab" * 32
UNREADABLE = "what its installation says of its origin cannot be read"
NOT_THE_TOP = "it came from something else than the top of a git repository"
NO_COMMIT = "the commit that it came from was not noted"
NO_HASH = "it came from an archive of which no SHA-256 was noted"
NO_PLAIN_ADDRESS = "it did not come from a plain https:// address without a user name"
WORKFLOW = ".github/workflows/pages.yml"


def git_record(url: str = ADDRESS, commit: str = COMMIT, vcs: str = "git", **more: str) -> dict[str, Any]:
    """What an installer notes of a repository."""
    return {"url": url, "vcs_info": {"vcs": vcs, "commit_id": commit}, **more}


def archive_record(url: str, **noted: object) -> dict[str, Any]:
    """What an installer notes of an archive."""
    return {"url": url, "archive_info": noted}


def init_installed_from(folder: Path, record: object) -> subprocess.CompletedProcess[str]:
    """Run ``reportgen init report`` as if an installer had noted this record, or (None) none."""
    noted = folder / "packages" / "mkdocs_reportgen-0.1.0.dist-info"
    noted.mkdir(parents=True)
    (noted / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: mkdocs-reportgen\nVersion: 0.1.0\n", "utf-8"
    )
    text = record if isinstance(record, str) else json.dumps(record)
    (noted / "direct_url.json").write_text(text, "utf-8")
    return init_again(folder, "report")


def init_again(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``reportgen init`` with the same record."""
    with patch.object(sys, "path", [str(folder / "packages"), *sys.path]):
        return call(folder, "init", *words)


def install_step(folder: Path) -> dict[str, Any]:
    """The step of the workflow that installs reportgen, as GitHub reads it."""
    workflow = yaml.safe_load((folder / "report" / WORKFLOW).read_text("utf-8"))
    (step,) = (one for one in workflow["jobs"]["build"]["steps"] if one.get("name") == "Install reportgen")
    return dict(step)


KNOWN = [
    (git_record(), f"git+{ADDRESS}@{COMMIT}"),
    (git_record(requested_revision="main"), f"git+{ADDRESS}@{COMMIT}"),
    (
        archive_record("https://example.org/reportgen-0.1.0.tar.gz", hashes={"sha256": SHA256}),
        f"https://example.org/reportgen-0.1.0.tar.gz#sha256={SHA256}",
    ),
    (
        archive_record("https://example.org/reportgen.whl", hash=f"sha256={SHA256}"),
        f"https://example.org/reportgen.whl#sha256={SHA256}",
    ),
]


@pytest.mark.parametrize(("record", "source"), KNOWN)
def test_a_workflow_installs_what_init_was_installed_from(
    record: dict[str, Any], source: str, tmp_path: Path
) -> None:
    """The commit of a repository or the hash of an archive goes into the workflow, and a line says so."""
    done = init_installed_from(tmp_path, record)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"report/{WORKFLOW} installs mkdocs-reportgen @ {source}\n" in done.stdout
    assert install_step(tmp_path)["env"] == {"REPORTGEN": f"mkdocs-reportgen @ {source}"}


UNKNOWN = [
    ("{", UNREADABLE),
    ("[]", UNREADABLE),
    ({"vcs_info": {}}, UNREADABLE),
    ({"url": "https://example.org/reportgen", "dir_info": {}}, UNREADABLE),
    (git_record(vcs="hg"), NOT_THE_TOP),
    (git_record(subdirectory="tools"), NOT_THE_TOP),
    (git_record(commit="main"), NO_COMMIT),
    (git_record(commit=f"{COMMIT}\n"), NO_COMMIT),
    *(
        (git_record(url), NO_PLAIN_ADDRESS)
        for url in (
            "https://someone:secret@example.org/reportgen.git",
            "https://token@example.org/reportgen.git",
            "ssh://git@example.org/someone/reportgen.git",
            "git@example.org:someone/reportgen.git",
            "http://example.org/reportgen.git",
            "https://localhost/reportgen.git",
            "https://10.0.0.7/reportgen.git",
            "https://example.org/a b",
            "https://example.org/$(id)",
            "https://example.org/`id`",
            'https://example.org/"; id; "',
            "https://example.org/reportgen.git\nREPORTGEN: x",
            "https://example.org/${{ github.token }}",
            "https://example.org/reportgen?token=secret",
        )
    ),
    (archive_record("https://example.org/reportgen.whl"), NO_HASH),
    (archive_record("https://example.org/reportgen.whl", hash="md5=0123"), NO_HASH),
    (archive_record("file:///tmp/reportgen.whl", hashes={"sha256": SHA256}), NO_PLAIN_ADDRESS),
]


@pytest.mark.parametrize(("record", "reason"), UNKNOWN)
def test_a_workflow_fails_where_nobody_can_know(record: object, reason: str, tmp_path: Path) -> None:
    """Nothing unknown is installed: the workflow has an empty line, and the terminal says which and why."""
    done = init_installed_from(tmp_path, record)
    assert done.returncode == 0
    assert done.stderr.startswith(
        f"warning: report/{WORKFLOW} fails until you set REPORTGEN in it to what it should "
    )
    assert done.stderr.endswith(f": {reason}.\n")
    assert "secret" not in done.stdout + done.stderr
    assert install_step(tmp_path)["env"] == {"REPORTGEN": ""}


def test_a_reportgen_from_github_brings_workflows_that_use_its_actions(tmp_path: Path) -> None:
    """All four, complete; a second report of the repository leaves them as they are, and that is said."""
    (tmp_path / ".git").mkdir()
    done = init_installed_from(tmp_path, git_record("https://github.com/lab/reportgen.git"))
    assert (done.returncode, done.stderr) == (0, "")
    assert f"  {tmp_path / '.github/PUBLISHING.md'}\n" in done.stdout
    assert ".github/PUBLISHING.md says which two clicks switch publishing on.\n" in done.stdout
    assert not (tmp_path / "report/.github").exists()
    checked = call(tmp_path, "init", "--check-actions", "report")
    assert (checked.returncode, checked.stderr) == (0, "")
    before = (tmp_path / WORKFLOW).read_bytes()
    again = init_again(tmp_path, "second")
    assert again.returncode == 0
    assert again.stderr.startswith("warning: the workflows of this repository publish another report")
    assert (tmp_path / WORKFLOW).read_bytes() == before
    assert (tmp_path / "second/mkdocs.yml").is_file()


def test_workflows_for_publishing_can_be_added_later(tmp_path: Path) -> None:
    """To a report that exists; without a known commit they fail until it is written, and that is said."""
    init_installed_from(tmp_path, {})
    done = init_again(tmp_path, "--review", "--publish", "report")
    assert done.returncode == 1
    assert "there is such a file" in done.stderr
    for name in (WORKFLOW, ".github/PUBLISHING.md"):
        (tmp_path / "report" / name).unlink()
    done = init_again(tmp_path, "--review", "--publish", "report")
    assert done.returncode == 0
    assert "fail until you write owner and commit of reportgen there" in done.stderr
    assert call(tmp_path, "init", "--check-actions", "report").returncode == 1


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


# ---- from a checkout on this machine ------------------------------------------------------------


def git(folder: Path, *words: str) -> str:
    """Run git as nobody in particular."""
    who = {
        f"GIT_{role}_{what}": "a@example.org"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
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
    record = {"url": folder.as_uri(), "dir_info": {"editable": True}}
    done = init_installed_from(tmp_path, record)
    assert done.returncode == 0, done.stderr
    return str(install_step(tmp_path)["env"]["REPORTGEN"]) or done.stderr


def test_a_fresh_clone_names_its_commit(checkout: Path, tmp_path: Path) -> None:
    """The last commit of a branch of origin is one that others can have."""
    commit = git(checkout, "rev-parse", "HEAD")
    assert told_from(checkout, tmp_path) == f"mkdocs-reportgen @ git+{ADDRESS}@{commit}"


def test_a_worktree_names_its_commit(checkout: Path, tmp_path: Path) -> None:
    """Its .git is a file, and its branches are those of the repository that it belongs to."""
    git(checkout, "worktree", "add", "--quiet", "-b", "other", str(tmp_path / "other"))
    commit = git(checkout, "rev-parse", "HEAD")
    assert told_from(tmp_path / "other", tmp_path) == f"mkdocs-reportgen @ git+{ADDRESS}@{commit}"


@pytest.mark.parametrize("packed", [True, False])
def test_a_clone_at_a_release_names_its_commit(checkout: Path, tmp_path: Path, *, packed: bool) -> None:
    """A tag is published like a branch, and names a commit whether or not it has a message of its own."""
    git(checkout, "checkout", "--quiet", "--detach", "v1")
    git(checkout, "pack-refs", "--all")
    if not packed:
        git(checkout, "tag", "lightweight")
    commit = git(checkout, "rev-parse", "HEAD")
    assert told_from(checkout, tmp_path) == f"mkdocs-reportgen @ git+{ADDRESS}@{commit}"


def test_a_commit_that_was_not_pushed_is_not_named(checkout: Path, tmp_path: Path) -> None:
    """Nobody else could install it."""
    git(checkout, "commit", "--quiet", "--allow-empty", "--message", "Mine alone")
    commit = git(checkout, "rev-parse", "HEAD")
    told = told_from(checkout, tmp_path)
    assert (
        f"commit {commit[:12]} of {checkout} is not the last one of a branch of its origin; push it" in told
    )


@pytest.mark.parametrize(
    "url", ["git@example.org:someone/reportgen", "https://me:secret@example.org/reportgen"]
)
def test_an_origin_that_is_not_public_is_not_named(url: str, checkout: Path, tmp_path: Path) -> None:
    """Neither is what stands before its @."""
    git(checkout, "remote", "set-url", "origin", url)
    told = told_from(checkout, tmp_path)
    assert NO_PLAIN_ADDRESS in told
    assert "secret" not in told


def test_a_checkout_without_origin_is_not_named(checkout: Path, tmp_path: Path) -> None:
    """A repository that nobody else has."""
    git(checkout, "remote", "remove", "origin")
    told = told_from(checkout, tmp_path)
    assert f"it came from {checkout}, and the repository there has no remote called origin" in told


def test_a_folder_that_is_no_checkout_is_not_named(tmp_path: Path) -> None:
    """Unpacked from an archive, or gone."""
    told = told_from(tmp_path / "gone", tmp_path)
    assert f"it came from {tmp_path / 'gone'}, which is no checkout of a git repository" in told


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
        patch.setattr(starter, "distributions", lambda **_: [Noted()])
        try:
            requirement = starter.find_requirement()
        except starter.UnknownSourceError:
            return
    assert re.fullmatch(r"mkdocs-reportgen @ (git\+)?https://[\w.:/~+@#=-]+", requirement, re.ASCII)
