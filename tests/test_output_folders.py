"""Nothing that reportgen did not write is replaced or deleted, whichever command writes, and wherever to."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import call, run_until
from made_projects import SETTINGS, files_below, share_cache, write_file, write_report
from made_sites import make_report, make_site, write_hub, write_site
from mkdocs.commands.build import build as build_with_mkdocs
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from tries import slow_after, tries

from reportgen.core import CACHE_DIR
from reportgen.core.errors import ReportError
from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from collections.abc import Callable

WRITING = [f"os.{name}" for name in ("rename", "replace", "link", "unlink", "rmdir")]
FORGED = '{"format": 1, "generator": {"name": "reportgen", "version": "0.1.0"}}'
COMMANDS = {
    "build": ("build",),
    "archive": ("archive", "--to", "site/report.zip"),
    "one file": ("archive", "--one-file", "site/report.html"),
    "review": ("review", "--out", "site"),
    "publish": ("publish", "--main", "main", "--to", "site"),
    "hub": ("hub", "--to", "site"),
}
"""Each writes into the folder "site" of the report."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report with its site."""
    root = write_report(tmp_path_factory.mktemp("built") / "report")
    build(root)
    return root


@pytest.fixture
def copied(built: Path, tmp_path: Path) -> Path:
    """The same in a folder of the test's own; here it is known that reportgen wrote the site."""
    root = Path(shutil.copytree(built, tmp_path / "report"))
    share_cache(built, root)
    return root


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report without a site, a site and a report that can be published, and files of the user's."""
    mine = {"data/mine.txt": "untracked", "notes/mine.txt": "mine"}
    root = write_report(tmp_path / "home" / "report", mine)
    write_site(root / "main", make_site())
    write_hub(root, {"one": make_report("First")})
    subprocess.run(["git", "init", "-q", root], check=True)  # noqa: S607 - found on PATH everywhere
    return root


def build(root: Path, progress: Callable[[int, int], None] = lambda _done, _all: None) -> None:
    """Build a report; ``progress`` is called in the middle."""
    publish(root / "mkdocs.yml", strict=False, progress=progress, warn=lambda _: None)


def keep_git_out(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, but for those of git, which commands that read it may renew."""
    return {path: content for path, content in files_below(folder).items() if ".git/" not in path}


def refuse(root: Path, *words: str) -> str:
    """What a refused command says; every file is as it was afterwards."""
    before = keep_git_out(root.parent)
    done = call(root, *words)
    assert done.returncode in {1, 2}, done.stdout
    assert keep_git_out(root.parent) == before
    assert not [path for path in root.rglob(".site.*") if ".git" not in path.parts]
    return done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_link_is_not_followed(report: Path, command: str) -> None:
    """Neither to files of the report, nor out of it, nor to a file that says reportgen wrote it.

    A folder in the report that is a link leads somewhere else, whatever is below it.
    """
    write_file(report / "data/report.json", FORGED)
    for target in ("data", "content", "notes", "..", "/tmp", "nothing"):  # noqa: S108 - is only refused
        (report / "site").symlink_to(target)
        assert "link" in refuse(report, *COMMANDS[command]), target
        (report / "site").unlink()
    (report / "out").symlink_to("data")
    words = [word.replace("site", "out/site") for word in COMMANDS[command]]
    if command != "build":
        assert 'is below the link "out"' in refuse(report, *words)


def test_a_site_below_a_link_is_refused(report: Path) -> None:
    """The same for ``site_dir``, and for the server, which writes no site."""
    (report / "out").symlink_to("data")
    write_file(report / "mkdocs.yml", f"{SETTINGS}site_dir: out/site\n")
    (report / "site").symlink_to("data")
    for command in ("build", "serve"):
        assert 'is below the link "out"' in refuse(report, command)
        write_file(report / "mkdocs.yml", SETTINGS)
        assert '"site" is a link' in refuse(report, command)
        write_file(report / "mkdocs.yml", f"{SETTINGS}site_dir: out/site\n")


def test_a_report_below_a_link_is_built(report: Path) -> None:
    """Links around the report are the user's: only those inside it are not followed."""
    (report.parent / "link").symlink_to("report")
    build(report.parent / "link")
    assert (report / "site/index.html").is_file()


PLACES = ("data", "data/site", "content/site", ".git/site", ".GIT/site", "notes")


@pytest.mark.parametrize("command", ["build", "publish", "hub"])
def test_folders_of_the_report_are_refused(
    report: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is made of, git's files, the home folder, and any folder that has other files."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    write_file(report / "theme/main.html", "")
    settings = SETTINGS.replace("{name: reportgen}", "{name: reportgen, custom_dir: theme}")
    # The other commands use no theme.
    for place in (*PLACES, str(tmp_path / "home"), *(["theme/site"] if command == "build" else [])):
        write_file(report / "mkdocs.yml", f"{settings}site_dir: {place}\n")
        refuse(report, *(["build"] if command == "build" else (*COMMANDS[command][:-1], place)))


def test_a_second_name_of_a_folder_is_the_folder(report: Path) -> None:
    """As on a file system that ignores case, or where it is mounted twice, if this machine allows that."""
    write_file(report / "mkdocs.yml", f"{SETTINGS}site_dir: DATA\n")
    (report / "DATA").mkdir()
    mount = ["mount", "--bind", str(report / "data"), str(report / "DATA")]
    if subprocess.run(mount, check=False, capture_output=True).returncode == 0:
        try:
            assert "which the report is made of" in refuse(report, "build")
        finally:
            subprocess.run(["umount", report / "DATA"], check=True)  # noqa: S607 - found on PATH everywhere


@pytest.mark.parametrize("command", ["build", "publish", "hub"])
def test_a_folder_with_other_files_is_refused(report: Path, command: str) -> None:
    """One file of somebody else's is enough; a forged ``report.json`` or record beside it proves nothing."""
    write_file(report / ".reportgen/manifest.json", '{"outputs": {}}')
    for name in ("thesis.tex", ".git", "index.html", "deep/er/notes.md"):
        write_file(report / f"site/{name}", "mine")
        for forged in ("report.json", "publish.json", "hub.json"):
            write_file(report / "site" / forged, FORGED)
        assert "reportgen" in refuse(report, *COMMANDS[command]), name
        shutil.rmtree(report / "site")


@pytest.mark.parametrize("command", ["archive", "one file", "review"])
def test_a_file_of_somebody_else_is_not_replaced(report: Path, command: str) -> None:
    """As an archive or a review of that name."""
    for name in ("report.zip", "report.html", "review.json", "review.html"):
        write_file(report / "site" / name, "mine")
    assert "is there already" in refuse(report, *COMMANDS[command])


def test_a_site_with_one_more_file_stays(copied: Path) -> None:
    """A file that was added, or a page that was changed, is named; a file manager's own file is not."""
    root, page = copied, copied / "site/index.html"
    was = page.read_bytes()
    write_file(root / "site/CNAME", "example.org")
    assert "CNAME" in refuse(root, "build")
    (root / "site/CNAME").unlink()
    page.write_bytes(b"mine")
    assert "index.html" in refuse(root, "build", "--force")
    shutil.rmtree(root / "site")
    build(root)
    write_file(root / "site/.DS_Store", "")
    build(root)
    assert page.read_bytes() == was


def test_a_site_of_another_machine_stays(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether MkDocs wrote it or reportgen: here nobody knows, and the message says how to go on.

    The cache folder of the user is not used inside the repository, which could come with one.
    """
    root = Path(shutil.copytree(built, tmp_path / "report"))
    said = refuse(root, "build")
    assert "did not write" in said
    assert "delete it yourself" in said
    (root / ".git").mkdir()
    monkeypatch.delenv(CACHE_DIR)
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / ".cache"))
    assert f"set {CACHE_DIR} to a folder outside" in refuse(root, "build")


@pytest.mark.parametrize("put", ["link", "file", "files"])
def test_what_appears_during_a_build_stays(copied: Path, put: str) -> None:
    """Between the check and the swap somebody replaces the site, or puts a file there."""
    root = copied
    write_file(root / "content/index.md", (root / "content/index.md").read_text("utf-8") + "\nMore.\n")
    site, aside = root / "site", root / "aside"

    def meddle(_done: int, _all: int) -> None:
        if put == "files":
            write_file(site / "notes.txt", "mine")
        elif not aside.exists():
            site.rename(aside)
            site.symlink_to("data") if put == "link" else site.write_text("mine")

    data = files_below(root / "data")
    what = "holds 1 file that" if put == "files" else "became a link or a file meanwhile"
    with pytest.raises(ReportError, match=f'"site" {what}'):
        build(root, meddle)
    assert files_below(root / "data") == data
    if put == "files":
        assert (site / "notes.txt").read_text("utf-8") == "mine"
        assert (site / "index.html").is_file()
    else:
        assert site.is_symlink() if put == "link" else site.read_text("utf-8") == "mine"
        assert (aside / "index.html").is_file()
    assert not [*root.glob(".site.*")]


def test_a_link_that_appears_above_is_not_followed(copied: Path) -> None:
    """The folder that has the site was opened before: what is at its path by now is not touched."""
    root = copied
    write_file(root / "mkdocs.yml", f"{SETTINGS}site_dir: out/site\n")
    shutil.rmtree(root / "site")
    for site in ("out/site", "elsewhere/site"):
        write_site(root / site, {"index.html": b"mine"} if "else" in site else {})
    (root / "out").mkdir()

    def meddle(_done: int, _all: int) -> None:
        if not (root / "moved").exists():
            (root / "out").rename(root / "moved")
            (root / "out").symlink_to("elsewhere")

    with pytest.raises(ReportError, match='"out/site" was moved while it was written'):
        build(root, meddle)
    assert files_below(root / "elsewhere/site") == {"index.html": b"mine"}


def test_a_folder_that_cannot_be_removed_is_no_error(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new site is there by then; the old one stays next to it."""
    root = copied

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    write_file(root / "content/index.md", "# New\n")
    monkeypatch.setattr(os, "unlink", fail)
    build(root)
    assert "New" in (root / "site/index.html").read_text("utf-8")


def make_layout(root: Path, chance: random.Random) -> list[str]:
    """Make a random site folder, with links, nested folders, forged records and files of the user's."""
    places = ["site", "out/site", "data/site", "site/deep", "deep/er/site", "content", "data", "deep"]
    place = chance.choice(places)
    for _ in range(chance.randrange(4)):
        name = chance.choice(["notes.txt", "report.json", "publish.json", "hub.json", "a/b.txt", ".hidden"])
        write_file(root / chance.choice(places) / name, chance.choice([FORGED, "mine", ""]))
    for _ in range(chance.randrange(3)):
        link = root / chance.choice(["site", "out", "deep/er", "site/link", "data/link", "out/site"])
        target = chance.choice(["data", "../data", ".", "..", "content", "../other", "x"])
        if not (os.path.lexists(link) or link.parent.is_symlink()):
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
    if chance.random() < 0.3 and not os.path.lexists(root / "site"):
        (root / "site").mkdir()
    command = chance.choice(["build", "publish", "hub", "review", "archive"])
    if command == "build":
        write_file(root / "mkdocs.yml", f"{SETTINGS}site_dir: {place}\n")
        return ["build"]
    return [word.replace("site", place, 1) for word in COMMANDS[command]]


@pytest.mark.random
@pytest.mark.parametrize("seed", range(tries(12, 100)))
def test_nothing_is_lost_in_a_random_layout(built: Path, tmp_path: Path, seed: int) -> None:
    """Every file of the user's has its bytes afterwards, whether the command ran or not."""
    root = tmp_path / "report"
    write_report(root, {"data/mine.txt": "untracked"})
    share_cache(built, root)
    write_site(root / "main", make_site())
    write_hub(root, {"one": make_report("First")})
    write_file(tmp_path / "other/mine.txt", "mine")
    words = make_layout(root, random.Random(seed))  # noqa: S311 - no secret
    before = files_below(tmp_path)
    for _ in range(2):
        done = call(root, *words)
        assert "Traceback" not in done.stderr
        after = files_below(tmp_path)
        assert before.items() <= after.items(), (words, done.stdout, done.stderr)


@pytest.mark.parametrize("calls", slow_after(1, [5, *range(1, 5), *range(6, 40)]))
def test_a_hub_that_was_killed_is_updated(report: Path, calls: int) -> None:
    """Whenever an update is killed, while it moves files or removes old ones, the next one finishes."""
    write_hub(report, {"one": make_report("First"), "two": make_report("Second")})
    assert call(report, *COMMANDS["hub"]).returncode == 0
    write_hub(report, {"one": make_report("First, again"), "three": make_report("Third")})
    killed = run_until(report, *COMMANDS["hub"], at=WRITING, calls=calls)
    assert killed.returncode in {0, -signal.SIGKILL}
    write_hub(report, {"one": make_report("First, once more"), "three": make_report("Third")})
    done = call(report, *COMMANDS["hub"])
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (report / "site/r").iterdir()) == ["one", "three"]
    assert not [*(report / "site").glob(".hub-*")]


@pytest.mark.parametrize("option", ["--to", "--one-file"])
def test_a_file_that_appears_while_a_report_is_archived_stays(report: Path, option: str) -> None:
    """Another program writes it during the build: it is looked at again before it would be replaced."""
    write_file(report / "mine", "mine")
    write_file(report / "hook.py", "import os\n\ndef on_post_build(**_):\n    os.rename('mine', 'packed')\n")
    write_file(report / "mkdocs.yml", f"{SETTINGS}hooks: [hook.py]\n")
    assert "is there already" in call(report, "archive", option, "packed").stderr
    assert (report / "packed").read_text("utf-8") == "mine"


def test_a_name_that_is_not_utf_8_is_recorded(tmp_path: Path) -> None:
    """A picture may be called so: its site can be built again."""
    root = write_report(tmp_path / "report")
    name = os.fsdecode(b"caf\xe9.png")
    write_file(root / "content" / name, b"")
    for words in ("first", "second"):
        write_file(root / "content/index.md", f"# {words}\n")
        build(root)
    assert (root / "site" / name).is_file()


def test_a_site_that_mkdocs_writes_in_place(report: Path) -> None:
    """``mkdocs build`` empties the folder itself: it is checked before, and recorded afterwards."""
    config = str(report / "mkdocs.yml")
    for _ in range(2):
        build_with_mkdocs(load_config(config))
    write_file(report / "site/notes.txt", "mine")
    with pytest.raises(Abort):
        build_with_mkdocs(load_config(config))
    assert (report / "site/notes.txt").is_file()
    (report / "site/notes.txt").unlink()
    build(report)
    shutil.rmtree(report / "site")
    (report / "site").symlink_to("data")
    with pytest.raises(Abort):
        build_with_mkdocs(load_config(config))
    assert (report / "data/mine.txt").is_file()
