"""A small report that can be cited, its archive, and what a test does with one."""

from __future__ import annotations

import hashlib
import json
import subprocess
import zipfile
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner
from command_line import call
from made_projects import PAGE, RUNS, files_below

from reportgen.cli.main import cli
from reportgen.core import intact

if TYPE_CHECKING:
    from pathlib import Path

CITED = """
site_name: Small
site_description: Two methods on a small benchmark.
docs_dir: content
theme: {name: reportgen}
plugins:
  - reportgen:
      citation:
        authors:
          - {name: Ada Lovelace, orcid: 0000-0002-1825-0097, affiliation: Analytical Engines}
          - {name: Example Lab, kind: organization}
        license: CC-BY-4.0
        version: "1.0"
        doi: 10.5281/zenodo.1234567
"""
REPORT = {
    "mkdocs.yml": CITED,
    "content/index.md": PAGE + "\nMEL ends [above GRPO]{claim='final(MEL) > final(GRPO)'}.\n",
    "content/other.md": "# Other\n\n```curve\nsource: other\ntitle: Other accuracy\npdf: true\n```\n",
    "data/other.csv": RUNS,
    "LICENSE": "Do as you like.\n",
}


def git(root: Path, *words: str) -> str:
    """What a git command prints, which has to succeed, at a date of its own."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    date = {"GIT_AUTHOR_DATE": "2026-11-20T12:00:00Z", "GIT_COMMITTER_DATE": "2026-11-20T12:00:00Z"}
    command = ["git", *who, *words]
    done = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, env=date | _PATH)
    return done.stdout.strip()


_PATH = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


def commit(root: Path) -> Path:
    """Put all files of a report into a repository."""
    git(root, "init", "--quiet")
    git(root, "add", "-A")
    git(root, "commit", "--quiet", "-m", "All")
    return root


def invoke(*words: object) -> tuple[int, str]:
    """A command, and what it says; an error of the program itself is raised."""
    done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
    return done.exit_code, done.output


def archive(root: Path, name: str = "report.zip", *options: str) -> Path:
    """The archive of a report, which can be made without a warning."""
    target = root.parent / f"{root.name}-{name}"
    done = call(root, "archive", "--to", str(target), "--strict", *options)
    assert done.returncode == 0, done.stderr
    return target


def unpack(path: Path, folder: Path) -> Path:
    """The files of an archive."""
    with zipfile.ZipFile(path) as file:
        file.extractall(folder)
    return folder


def pack(folder: Path, path: Path) -> Path:
    """An archive of changed files, whose manifest is that of these."""
    content = {name: data for name, data in files_below(folder).items() if name != intact.MANIFEST}
    lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(content.items()))
    content[intact.MANIFEST] = "".join(lines).encode()
    with zipfile.ZipFile(path, "w") as file:
        for name, data in content.items():
            file.writestr(name, data)
    return path


def read_provenance(path: Path) -> dict[str, Any]:
    """The figures of an archive's ``provenance.json``, by id."""
    with zipfile.ZipFile(path) as file:
        return {one["id"]: one for one in json.loads(file.read("provenance.json"))["figures"]}
