"""A small report that can be cited, its archive, and what a test does with one."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from command_line import call
from made_projects import PAGE, RUNS, files_below
from made_sources import mutations

from reportgen.cli.main import cli
from reportgen.core import intact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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


def zip_files(path: Path, content: Mapping[str, bytes]) -> None:
    """Write a zip file that is the same each time."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in content.items():
            file.writestr(zipfile.ZipInfo(name), data)


def list_names(path: Path) -> str:
    """The names in an archive, a line each, in their order."""
    with zipfile.ZipFile(path) as file:
        return "".join(f"{name}\n" for name in file.namelist())


def pack(folder: Path, path: Path) -> Path:
    """An archive of changed files, whose manifest is that of these."""
    content = {name: data for name, data in files_below(folder).items() if name != intact.MANIFEST}
    lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(content.items()))
    content[intact.MANIFEST] = "".join(lines).encode()
    zip_files(path, content)
    return path


def read_provenance(path: Path) -> dict[str, Any]:
    """The figures of an archive's ``provenance.json``, by id."""
    with zipfile.ZipFile(path) as file:
        return {one["id"]: one for one in json.loads(file.read("provenance.json"))["figures"]}


# ---- archives that were damaged, or written to do harm

LINE = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty.txt\n"
NAMES = (
    *("../x", "/etc/x", "a/../../x", "..", "C:\\x", "a\\..\\x", "a//b", "./x", "a/./b", "x/"),
    *("\x00x", "a\nb", "con", "a" * 300, "\u202egpj.exe", "é", "e\u0301", "~/x", "$HOME/x", "-rf"),
)
MANIFESTS = (
    *("", "x", LINE * 2, LINE[:-1], LINE.upper(), LINE.replace("  ", " "), f"\ufeff{LINE}", "\n" * 100),
    *(LINE.replace("empty.txt", name) for name in ("../x", "/x", "manifest-sha256.txt", "a\\b", "")),
)


def write_zip(path: Path, members: dict[str, bytes], manifest: str | bytes = LINE) -> Path:
    """A small archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content)
        file.writestr(intact.MANIFEST, manifest)
    return path


def list_hostile(folder: Path) -> Iterator[Path]:
    """A hundred and more of them."""
    good = write_zip(folder / "good.zip", {"empty.txt": b""})
    for number, name in enumerate(NAMES):
        yield write_zip(folder / f"name{number}.zip", {"empty.txt": b"", name: b"x"})
    for number, manifest in enumerate(MANIFESTS):
        yield write_zip(folder / f"manifest{number}.zip", {"empty.txt": b""}, manifest)
    whole = good.read_bytes()
    damaged = {f"torn{number}": content for number, content in enumerate(mutations(whole, 40))}
    damaged |= {f"cut{size}": whole[:-size] for size in range(1, len(whole), len(whole) // 40)}
    for name, content in damaged.items():
        (folder / f"{name}.zip").write_bytes(content)
        yield folder / f"{name}.zip"
    yield from _list_special(folder, whole)


def _list_special(folder: Path, whole: bytes) -> Iterator[Path]:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    path = folder / "link.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(link, "/etc/passwd")
        file.writestr(intact.MANIFEST, LINE)
    yield path
    path = folder / "twice.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("empty.txt", "")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("empty.txt", "x")
        file.writestr(intact.MANIFEST, LINE)
    yield path
    # The flag of encryption, in both headers of the first member.
    path, locked = folder / "encrypted.zip", bytearray(whole)
    locked[6] |= 1
    locked[whole.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(locked)
    yield path
    # A size that is not the member's own.
    path, larger = folder / "size.zip", bytearray(whole)
    struct.pack_into("<I", larger, whole.index(b"PK\x01\x02") + 24, 0xFFFFFFF0)
    path.write_bytes(larger)
    yield path
    yield write_zip(folder / "bomb.zip", {"empty.txt": b"\0" * 300_000_000})
    for name in ("report.json", "provenance.json", "ro-crate-metadata.json", "report.html"):
        deep = "[" * 100_000
        yield write_zip(folder / f"deep-{name}.zip", {name: deep.encode(), "empty.txt": b""})
