"""A report published by mike, which keeps versions on a branch, with reportgen as one of its plugins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from made_archives import REPORT, commit, git
from made_projects import write_report

from writers.test_validators import VALIDATORS
from writers.writing import OFFLINE, TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

WHO = {
    "AUTHOR_NAME": "A",
    "AUTHOR_EMAIL": "a@example.org",
    "COMMITTER_NAME": "A",
    "COMMITTER_EMAIL": "a@b.org",
}


def run_mike(root: Path, *words: str) -> None:
    """A command of mike in the environment of reportgen, where it is not installed."""
    mike = next((VALIDATORS.parent / "lib").glob("python*/site-packages"))
    # reportgen first: the environment that mike is in has older versions of what both need.
    places = (TESTS.parent, sysconfig.get_path("purelib"), mike)
    environment: Mapping[str, str] = {
        **os.environ,
        **OFFLINE,
        **{f"GIT_{name}": value for name, value in WHO.items()},
        "HOME": str(root.parent),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }
    command = [sys.executable, "-c", "from mike.driver import main; main()", *words]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_mike_keeps_versions_as_they_were_built(tmp_path: Path) -> None:
    """Each in a folder of its own, with figures; an older one stays as it is when a newer one comes."""
    root = commit(write_report(tmp_path / "report", REPORT))
    run_mike(root, "deploy", "1.0")
    first = git(root, "rev-parse", "gh-pages:1.0")
    page = root / "content" / "index.md"
    page.write_text(page.read_text("utf-8") + "\nA newer sentence.\n", "utf-8")
    run_mike(root, "deploy", "2.0", "latest")
    run_mike(root, "set-default", "latest")
    assert git(root, "rev-parse", "gh-pages:1.0") == first
    assert "A newer sentence." in git(root, "show", "gh-pages:2.0/index.html")
    assert "A newer sentence." not in git(root, "show", "gh-pages:1.0/index.html")
    assert "<svg" in git(root, "show", "gh-pages:1.0/other/index.html")
    # "reportgen publish assemble" writes versions.json in the same form.
    assert json.loads(git(root, "show", "gh-pages:versions.json")) == [
        {"version": "2.0", "title": "2.0", "aliases": ["latest"]},
        {"version": "1.0", "title": "1.0", "aliases": []},
    ]
