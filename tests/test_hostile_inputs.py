"""The table of the guide's page on security: each command with hostile input of each kind that it takes.

Each input would leave a mark if anything of it ran, and has a way to a file outside in every place that can
name one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from made_archives import CITED, REPORT, archive, commit, git, pack, unpack
from made_projects import PAGE, RUNS, SETTINGS, files_below, write_file, write_report
from made_sites import pack_site
from tries import is_slow

from reportgen.cli.main import cli
from reportgen.core import CACHE_DIR
from reportgen.core.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GUIDE = Path(__file__).parents[1] / "content/guide/untrusted.md"
LEAKED = "only-on-this-machine"
ROW = re.compile(r"^\| (`[a-z].*?`) \| (.+?) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
WRITTEN = {
    "nothing": "\0",
    "the site": "work/site",
    "the archive": "work/x.zip",
    "`--out`": "work/out",
    "`--to`": "work/to",
    "`--pictures`": "work/to",
}


def read_table() -> Iterator[tuple[str, str, str, str]]:
    """Command, kind of input, what runs and what is written, of each row of the table."""
    text = GUIDE.read_text("utf-8")
    for commands, kinds, runs, reads, writes in ROW.findall(text[text.index("| command | input") :]):
        assert reads in {"the input", "the repository"}
        for command in commands.replace("`", "").split(", "):
            for kind in kinds.replace("`", "").split(", "):
                yield command, kind, runs, writes


def test_the_table_names_what_is_tried() -> None:
    """Every command that takes something of others, and every kind."""
    assert {kind for _, kind, _, _ in read_table()} == MAKERS.keys()
    assert {command for command, _, _, _ in read_table()} == CALLS.keys()


class Place:
    """A folder with the report that is checked out, files outside, and a program that leaves a mark."""

    def __init__(self, folder: Path, good: Path) -> None:
        self.folder, self.good, self.mark = folder, good, folder / "it-ran"
        self.work, self.inputs, self.outside = folder / "work", folder / "inputs", folder / "outside"
        commit(write_report(self.work, REPORT | {"mkdocs.yml": CITED}))
        write_file(self.outside / "runs.csv", RUNS.replace("MEL", LEAKED))
        write_file(self.outside / "page.md", f"# {LEAKED}\r\n\r\n```altair\r\nx\r\n```\r\n")
        self.trap = f"open({str(self.mark)!r}, 'w').close()\nimport altair\n"
        self.trap += "def draw(frame):\n    return altair.Chart(frame).mark_point()\n"

    def write_code(self, root: Path) -> Path:
        """Put everything into a report that can run in its own build."""
        tag = f'!!python/object/apply:os.system ["touch {self.mark}"]'
        settings = f"hooks: [trap.py]\nextra: {{evil: {tag}, home: !ENV HOME}}\nmarkdown_extensions: [trap]\n"
        allowed = "      allow_code: true\n      follow_links: true\n      citation:"
        settings += CITED.replace("      citation:", allowed).replace(
            "{name: reportgen}", "{name: reportgen, custom_dir: theme}"
        )
        block = "\n```altair\nfunction: trap.py:draw\nsource: other\n```\n"
        write_file(root / "mkdocs.yml", settings)
        write_file(root / "trap.py", self.trap)
        write_file(root / "theme/main.html", "{{ x }}")
        write_file(root / "content/other.md", REPORT["content/other.md"] + block)
        return root

    def write_outside(self, root: Path, *, links: bool = True) -> Iterator[Path]:
        """Variants of a report that name data, settings and pages outside."""
        ways = {
            "data": {"mkdocs.yml": _add_option(f"data_dir: {self.outside}")},
            "up": {"mkdocs.yml": _add_option("data_dir: ../../outside")},
            "pages": {"mkdocs.yml": SETTINGS.replace("docs_dir: content", f"docs_dir: {self.outside}")},
            "inherited": {"mkdocs.yml": f"INHERIT: {self.outside}/page.md\n{SETTINGS}"},
        }
        for name, files in ways.items():
            yield write_report(root / name, files)
        if links:
            linked = write_report(root / "linked", {"data/runs.csv": None})
            (linked / "data").mkdir()
            (linked / "data/runs.csv").symlink_to(self.outside / "runs.csv")
            (linked / "content/x.txt").symlink_to(self.outside / "runs.csv")
            yield linked


def _add_option(option: str) -> str:
    return SETTINGS.replace("[reportgen]", f"[{{reportgen: {{{option}, follow_links: true}}}}]")


def make_checkout(place: Place) -> Iterator[str]:
    """All but the settings is a stranger's: what git would run, modules, links, a page with a function."""
    work, program = place.work, place.folder / "trap.sh"
    write_file(program, f"#!/bin/sh\ntouch {place.mark}\ncat\n")
    program.chmod(0o755)
    inner = work / "data/inner"
    write_file(inner / ".gitattributes", "* filter=evil diff=evil\n")
    git(inner, "init", "--quiet")
    for one in (inner, work):
        git(one, "add", "-A")
        git(one, "commit", "--quiet", "-m", "More")
    for key in (
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.external",
        "gpg.program",
    ):
        for one in (inner, work):
            git(one, "config", key, str(program))
            git(one, "config", "core.fsmonitor", str(program))
    os.utime(inner / ".gitattributes", (1, 1))
    for name in ("json.py", "signal.py", "trap.py"):
        write_file(work / name, place.trap)
    place.mark.unlink(missing_ok=True)
    yield ""
    write_file(work / "content/code.md", f"{PAGE}\n```altair\nfunction: trap.py:draw\nsource: other\n```\n")
    yield ""
    (work / "content/code.md").unlink()
    (work / "content/x.txt").symlink_to(place.outside / "runs.csv")
    (work / "data/more.csv").symlink_to(place.outside / "runs.csv")
    yield ""


def make_revision(place: Place) -> Iterator[str]:
    """Branches of the repository that is checked out."""
    work = place.work
    git(work, "branch", "mine")
    place.write_code(work)
    for name in ("code", "outside"):
        git(work, "checkout", "--quiet", "-b", name)
        git(work, "add", "-A")
        git(work, "commit", "--quiet", "-m", name)
        write_file(work / "mkdocs.yml", _add_option(f"data_dir: {place.outside}"))
    git(work, "checkout", "--quiet", "--force", "mine")
    yield from ("code", "outside")


def make_folder(place: Place) -> Iterator[str]:
    """Reports that somebody sent."""
    yield str(place.write_code(write_report(place.inputs / "code", REPORT)))
    yield from map(str, place.write_outside(place.inputs))


def make_archive(place: Place) -> Iterator[str]:
    """Archives with a manifest that is right, and everything else as an attacker wants it."""
    good = unpack(place.good, place.inputs / "good")
    report = json.loads((good / "report.json").read_text("utf-8"))

    def change(name: str, change_it: Callable[[Path], object]) -> str:
        folder = shutil.copytree(good, place.inputs / name)
        change_it(folder)
        return str(pack(folder, place.inputs / f"{name}.zip"))

    def name_page(key: str, path: str) -> Callable[[Path], object]:
        page = report["pages"][0] | {key: path}
        text = json.dumps(report | {"pages": [page, *report["pages"][1:]]})
        return lambda folder: (folder / "report.json").write_text(text)

    def name_figure(path: str) -> Callable[[Path], object]:
        figure = report["pages"][0]["figures"][0] | {"files": [path]}
        page = report["pages"][0] | {"figures": [figure]}
        text = json.dumps(report | {"pages": [page, *report["pages"][1:]]})
        return lambda folder: (folder / "report.json").write_text(text)

    yield change("code", place.write_code)
    yield change("page", name_page("path", str(place.outside / "page.md")))
    yield change("up", name_page("template", f"../../../{place.outside.relative_to(place.folder)}/page.md"))
    yield change("figure", name_figure(str(place.outside / "runs.csv")))
    yield change("drive", name_figure("C:runs.csv"))
    options = _add_option(f"data_dir: {place.outside}")
    yield change("data", lambda folder: write_file(folder / "mkdocs.yml", options))
    yield change("git", lambda folder: write_file(folder / ".git/config", "x"))
    members = files_below(good)
    yield str(pack_site(place.inputs / "above.zip", {**members, "../../above.txt": b"x"}))


def make_site(place: Place) -> Iterator[str]:
    """Built sites whose report.json names files outside, or that have links to some."""
    site = unpack(place.good, place.inputs / "good") / "site"
    report = json.loads((site / "report.json").read_text("utf-8"))
    for number, name in enumerate((str(place.outside / "runs.csv"), "../../outside/runs.csv", "link.csv")):
        folder = shutil.copytree(site, place.inputs / f"site{number}")
        figure = report["pages"][0]["figures"][0] | {"files": [name]}
        pages = [
            report["pages"][0] | {"figures": [figure], "path": f"../../{number}.md"},
            *report["pages"][1:],
        ]
        (folder / "report.json").write_text(json.dumps(report | {"pages": pages}))
        if name == "link.csv":
            (folder / name).symlink_to(place.outside / "runs.csv")
        yield str(folder)


def make_review(place: Place) -> Iterator[str]:
    """A review whose pages and figures have names that lead out."""
    changed = REPORT | {"data/runs.csv": RUNS.replace("0.84", "0.64")}
    states = [
        str(write_report(place.inputs / name, files)) for name, files in (("a", REPORT), ("b", changed))
    ]
    CliRunner().invoke(cli, ["review", *states, "--out", str(place.inputs)])
    value: Any = json.loads((place.inputs / "review.json").read_text("utf-8"))
    for figure in value["figures"]:
        figure |= {"page": "../../../evil.md", "id": f"/{figure['id']}/../x"}
    write_file(place.inputs / "review.json", json.dumps(value))
    yield str(place.inputs / "review.json")


def make_data(place: Place) -> Iterator[str]:
    """Data in the report that is checked out."""
    data = place.work / "data/sent"
    write_file(data / "runs.csv", RUNS)
    write_file(data / "trap.py", place.trap)
    # A pickle that opens a file for writing.
    write_file(data / "weights.pkl", f"cbuiltins\nopen\n(S'{place.mark}'\nS'w'\ntR.".encode())
    yield str(data)
    (data / "more.csv").symlink_to(place.outside / "runs.csv")
    yield str(data)


MAKERS: dict[str, Callable[[Place], Iterator[str]]] = {
    "the repository that is checked out": make_checkout,
    "a revision": make_revision,
    "a folder with a report": make_folder,
    "an archive": make_archive,
    "a built site": make_site,
    "a review.json": make_review,
    "a folder with data": make_data,
}
CALLS: dict[str, Callable[[str], list[str]]] = {
    "build": lambda _: ["build", "--force"],
    "check": lambda _: ["check"],
    "archive": lambda _: ["archive", "--to", "x.zip"],
    "review": lambda one: ["review", *filter(None, [one]), *(["HEAD"] if not one else []), "--out", "out"],
    "build --since": lambda one: ["build", "--since", one],
    "verify": lambda one: ["verify", one, "--level", "statements"],
    "verify --level rebuild": lambda one: ["verify", one, "--level", "rebuild", "--python", sys.executable],
    "publish": lambda one: [
        *("publish", "--to", "to", "--main"),
        *((one,) if Path(one).is_dir() else ("../good-site", "--version", f"1.0={one}")),
    ],
    "hub": lambda _: ["hub", "hub.yml", "--to", "to"],
    "review --read": lambda one: ["review", "--read", one, "--format", "markdown", "--pictures", "to"],
    "describe": lambda one: ["describe", one],
    "freeze": lambda one: ["freeze", one, "--to", "to"],
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with its site."""
    root = commit(write_report(tmp_path_factory.mktemp("good") / "report", REPORT))
    return archive(root, "good.zip", "--site")


def take_stock(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but those of git, the cache and temporary ones; links are not followed."""
    apart = tuple(str(folder / name) for name in ("temporary", "cache", "work/.git/", "inputs"))
    found = {}
    for path in folder.rglob("*"):
        if not str(path).startswith(apart) and (path.is_symlink() or path.is_file()):
            content = bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[path.relative_to(folder).as_posix()] = content
    return found


@pytest.mark.parametrize("row", [*read_table()], ids=lambda row: f"{row[0]}, {row[1]}")
def test_hostile_input_does_what_the_table_says(
    row: tuple[str, str, str, str], good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No mark is left, nothing outside is read, and only what the table names is written."""
    command, kind, runs, writes = row
    assert "nothing" in runs or kind == "the repository that is checked out"
    place = Place(tmp_path, good)
    shutil.copytree(unpack(good, tmp_path / "unpacked") / "site", tmp_path / "good-site")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv(CACHE_DIR, str(tmp_path / "cache"))
    cache_folder.cache_clear()
    for number, given in enumerate(MAKERS[kind](place)):
        # What these build they read as "review" and "verify" do, which try all.
        if number % 3 and command in {"build --since", "verify --level rebuild"} and not is_slow():
            continue
        entry = f"title: Hub\nreports:\n  - {{name: one, from: {given!r}}}\n"
        write_file(place.work / "hub.yml", entry)
        before, inputs = take_stock(tmp_path), take_stock(place.inputs)
        with chdir(place.work):
            done = CliRunner().invoke(cli, CALLS[command](given))
        assert done.exception is None or isinstance(done.exception, SystemExit), (given, done.exception)
        assert not place.mark.exists(), given
        after = take_stock(tmp_path)
        changed = {name for name in before | after if before.get(name) != after.get(name)}
        allowed = tuple(WRITTEN[part] for part in writes.split(", "))
        assert all(name.startswith(allowed) for name in changed), (given, changed)
        assert inputs == take_stock(place.inputs), given
        assert LEAKED not in done.output, given
        assert not any(LEAKED.encode() in after.get(name, b"") for name in changed), given
        for name in ("site", "out", "to"):
            shutil.rmtree(place.work / name, ignore_errors=True)
    cache_folder.cache_clear()
