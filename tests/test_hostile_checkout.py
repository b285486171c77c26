"""A checkout is a stranger's: no file in it runs, and none of it is taken for what an earlier build left."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import call
from made_projects import PAGE, RUNS, files_below, write_file, write_report

from reportgen.core import CACHE_DIR
from reportgen.core.cache import cache_folder, make_temporary_folder

# Every module that Python imports before a worker process does its work may be looked for in its folder.
MODULES = ("signal", "struct", "json", "multiprocessing", "pickle", "tempfile", "click", "duckdb", "numpy")
# More views than are compiled without a second process.
PAGES = {f"content/p{number}.md": PAGE.replace("Accuracy", f"Accuracy {number}") for number in range(4)}
# As a user starts it: ``python -P`` would hand its caution on to the processes that it starts.
REPORTGEN = str(Path(sys.executable).with_name("reportgen"))


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str | None]:
    """What makes of an environment one with an empty home and no cache."""
    (tmp_path / "home").mkdir()
    without = (name for name in os.environ if name.startswith(("XDG_", "REPORTGEN")))
    return {**dict.fromkeys(without), "HOME": str(tmp_path / "home")}


def git(root: Path, *words: str) -> str:
    """A git command whose outcome is expected."""
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words],  # noqa: S607 - on PATH everywhere
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def trap(folder: Path) -> Path:
    """A program that leaves a mark when it runs; returns the mark."""
    mark = folder.parent / "it-ran"
    write_file(folder / "trap.sh", f"#!/bin/sh\necho x >> '{mark}'\n")
    (folder / "trap.sh").chmod(0o755)
    return mark


@pytest.mark.slow
def test_a_module_beside_the_settings_is_not_imported(tmp_path: Path, home: dict[str, str | None]) -> None:
    """Neither by the build nor by the processes that it starts."""
    root = write_report(tmp_path / "report", PAGES)
    mark = tmp_path / "it-ran"
    for name in MODULES:
        write_file(
            root / f"{name}.py", f"open({str(mark)!r}, 'a').write({name!r} + chr(10))\nraise SystemExit(3)\n"
        )
    words = [REPORTGEN, "build", "--strict"]
    clean = {name: value for name, value in os.environ.items() if name not in home} | {"HOME": str(tmp_path)}
    built = subprocess.run(words, cwd=root, env=clean, capture_output=True, text=True, check=False)
    assert not mark.exists(), mark.read_text()
    assert built.returncode == 0, built.stderr


@pytest.mark.parametrize("around", ["a checkout", "nothing"])
def test_a_bare_repository_in_a_report_runs_nothing(
    tmp_path: Path, home: dict[str, str | None], around: str
) -> None:
    """Files beside ``mkdocs.yml`` that git would take for a repository, with programs in its settings."""
    root = write_report(tmp_path / "checkout" / "reports")
    mark = trap(root)
    if around == "a checkout":
        git(tmp_path / "checkout", "init", "--quiet")
        git(tmp_path / "checkout", "add", ".")
        git(tmp_path / "checkout", "commit", "--quiet", "--message", "x")
    git(root, "init", "--quiet", "--bare", str(tmp_path / "bare"))
    shutil.copytree(tmp_path / "bare", root, dirs_exist_ok=True)
    signed = (
        f"tree {'4b825dc642cb6eb9a060e54bf8d69288fbee4904'}\nauthor A <a> 0 +0000\ncommitter A <a> 0 +0000\n"
    )
    signed += "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nx\n"
    (tmp_path / "commit").write_text(signed, "utf-8")
    commit = git(
        root, "--git-dir", ".", "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit")
    )
    (root / "HEAD").write_text(commit, "utf-8")
    for key, value in (
        ("log.showSignature", "true"),
        ("gpg.program", "./trap.sh"),
        ("core.fsmonitor", "./trap.sh"),
    ):
        git(root, "config", "--file", "config", key, value)
    built = call(root, "build", **home)
    assert built.returncode == 0, built.stderr
    assert not mark.exists()


def test_signed_commits_give_a_date(tmp_path: Path, home: dict[str, str | None]) -> None:
    """What git would say of a signature, since the user's settings ask for it, is not taken for a date."""
    root = write_report(tmp_path / "report")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "x", "--date", "@86400 +0000")
    body = git(root, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    (tmp_path / "commit").write_text(body, "utf-8")
    commit = git(root, "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit")).strip()
    git(root, "update-ref", "HEAD", commit)
    git(root, "config", "log.showSignature", "true")
    built = call(root, "build", "--strict", **home)
    assert built.returncode == 0, built.stderr
    assert commit in (root / "site" / "report.json").read_text("utf-8")


@pytest.mark.parametrize("given", ["99999999999999", "4294967296", "-1", "yesterday", "1e9", "٣"])
def test_a_date_that_is_none_is_refused(tmp_path: Path, home: dict[str, str | None], given: str) -> None:
    """With the name of the variable."""
    root = write_report(tmp_path / "report")
    built = call(root, "build", **home | {"SOURCE_DATE_EPOCH": given})
    assert built.returncode == 1
    assert f'SOURCE_DATE_EPOCH is "{given}", which is no number of seconds' in built.stderr


def test_what_a_build_left_in_a_checkout_is_not_believed(tmp_path: Path, home: dict[str, str | None]) -> None:
    """A manifest and a cache that somebody committed are not read, and a site is not replaced."""
    theirs = write_report(tmp_path / "report", {"data/runs.csv": RUNS.replace("0.84", "0.99")})
    asked_for = home | {CACHE_DIR: str(theirs / ".reportgen")}
    assert call(theirs, "build", **asked_for).returncode == 0
    write_file(theirs / "site" / "index.html", "foreign")
    write_file(theirs / "data" / "runs.csv", RUNS)
    assert "did not write" in call(theirs, "build", **home).stderr
    shutil.rmtree(theirs / "site")
    built = call(theirs, "build", **home)
    assert built.stdout.startswith("Built 1 page"), built.stdout + built.stderr
    assert "0.99" not in (theirs / "site" / "figures" / "index" / "accuracy.csv").read_text("utf-8")
    assert "foreign" not in (theirs / "site" / "index.html").read_text("utf-8")


@pytest.mark.parametrize("home_is_the_checkout", [True, False])
def test_a_cache_is_never_inside_the_checkout_unless_it_is_asked_for(
    tmp_path: Path, home: dict[str, str | None], *, home_is_the_checkout: bool
) -> None:
    """Not even where the checkout is the home of whoever builds, as in some containers."""
    root = write_report(tmp_path / "home" / "report" if home_is_the_checkout else tmp_path / "report")
    checkout = tmp_path / "home" if home_is_the_checkout else root
    git(checkout, "init", "--quiet")
    before = files_below(root)
    for _ in range(2):
        built = call(root, "build", **home)
        assert built.returncode == 0, built.stderr
        shutil.rmtree(root / "site")
    assert files_below(root) == before
    assert (tmp_path / "home" / ".cache" / "reportgen").exists() != home_is_the_checkout
    assert call(root, "build", "--cache-dir", "own", **home).returncode == 0
    assert len(list((root / "own").glob("report-*/manifest.json"))) == 1


def test_a_link_in_the_cache_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that the user wants in a checkout: what a link in it leads to is neither pruned nor read."""
    root = write_report(tmp_path / "report")
    monkeypatch.setenv(CACHE_DIR, str(root / "caches"))
    cache_folder.cache_clear()
    own = cache_folder(root)
    (tmp_path / "objects" / "ab").mkdir(parents=True)
    write_file(tmp_path / "objects" / "ab" / ("c" * 62), "an object of git")
    shutil.rmtree(own)
    own.symlink_to(tmp_path / "objects")
    cache_folder.cache_clear()
    assert not cache_folder(root).is_relative_to(root)
    cache_folder.cache_clear()


def test_folders_of_killed_processes_are_removed(tmp_path: Path) -> None:
    """Those of running ones stay, and so does what only looks like one."""
    names = (
        "reportgen-999999999-x",
        f"reportgen-{os.getppid()}-x",
        "reportgen-mine-x",
        "reportgen-999999997-new",
    )
    for name in names:
        write_file(tmp_path / name / "file", "x")
        if not name.endswith("new"):
            os.utime(tmp_path / name, (1000, 1000))
    (tmp_path / "reportgen-999999998-link").symlink_to(tmp_path / names[2])
    ours = make_temporary_folder(tmp_path)
    os.utime(ours, (1000, 1000))
    made = make_temporary_folder(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [ours.name, made.name, *names[1:], "reportgen-999999998-link"]
    )
    assert (tmp_path / names[2] / "file").exists()


@pytest.fixture
def read_only(tmp_path: Path) -> Path:
    """A home that nobody may write; a file where a folder would have to be stops even root."""
    write_file(tmp_path / "no-home", "x")
    return tmp_path / "no-home"


@pytest.mark.parametrize("command", [["check"], ["facts", "runs"], ["describe", "data/runs.csv"], ["build"]])
def test_a_home_that_cannot_be_written_is_no_obstacle(
    tmp_path: Path, home: dict[str, str | None], read_only: Path, command: list[str]
) -> None:
    """What would be kept is then kept for as long as the process lives."""
    root = write_report(tmp_path / "report")
    done = call(root, *command, **home | {"HOME": str(read_only)})
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
