"""A report published by mike, which keeps versions on a branch, with reportgen as one of its plugins."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from made_archives import REPORT, commit, git
from made_projects import write_report

from writers.neighbours import run_python

if TYPE_CHECKING:
    from pathlib import Path


def run_mike(root: Path, *words: str) -> None:
    """A command of mike, which has to succeed."""
    done = run_python(root, "-c", "from mike.driver import main; main()", *words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("plugins", ["[mike, reportgen]", "[reportgen, mike]"])
def test_mike_keeps_versions_as_they_were_built(plugins: str, tmp_path: Path) -> None:
    """Each in a folder of its own, with figures; an older one stays as it is when a newer one comes."""
    settings = f"site_name: Small\ndocs_dir: content\ntheme: reportgen\nplugins: {plugins}\n"
    root = commit(write_report(tmp_path / "report", {**REPORT, "mkdocs.yml": settings}))
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
