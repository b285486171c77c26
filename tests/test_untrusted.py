"""Nobody is trusted: no page brings HTML in, and no file of a checkout runs or counts as an earlier build.

What ``untrusted: true`` refuses, and with which words, stands in ``transcripts/untrusted.md``.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import call
from example_site import ROOT
from html_tree import read_html
from made_projects import PAGE, RUNS, files_below, write_file, write_report
from tries import tries

from reportgen.core import CACHE_DIR
from reportgen.core.cache import cache_folder, make_temporary_folder
from reportgen.site.security import ENDINGS, EXTENSIONS


def test_the_guide_lists_what_is_allowed() -> None:
    """Every ending of files and every extension of Markdown, and no other."""
    guide = (ROOT / "content/guide/untrusted.md").read_text("utf-8").split("## untrusted")[1].split("## ")[0]
    endings, extensions = re.findall(r"^```text\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    assert {one.removeprefix(".") for one in endings.split()} == ENDINGS - {"md"}
    plain, _, own = extensions.partition("pymdownx:")
    assert {*plain.split(), *(f"pymdownx.{name}" for name in own.split())} == EXTENSIONS


# What a page may be made of at random: pieces of Markdown, of HTML and of attribute lists.
# fmt: off
PIECES = (
    "<", ">", "/", "<b>", "<script>", "</script>", "<img src=x onerror=alert(1)>", "<!--", "-->",
    "<?", "?>", "<![CDATA[", "]]>", "&lt;", "&#60;", "\\", "`", "``", "```", "~~~", "    ", "\n",
    "\n\n", "> ", "- ", "# ", "[x](", ")", "![", "](", "javascript:alert(1)", "[x]: ",
    "{: onclick=x }", "{.x}", '"', "'", "*", "_", "|", "!!! note\n    ", '=== "t"\n    ', "[^1]",
    "[^1]: ", "<a@b>", "<https://x>", "x", " ", "\t", "<DIV\n", "=x", "++", "[[", "]]", "*[x]: ",
    '!!! "', '??? note "', '=== "', "{: #x onclick=y }", "::: ", "%%%", "--8<-- ", "{{",
    "{: data-toc-label='<img src=x onerror=alert(1)>' }", "<svg/onload=alert(1)>", "<<b>>",
    "<b\n\nc>",
)
# fmt: on
DANGEROUS = {"script", "img", "svg", "iframe", "object", "b", "style", "form", "base", "meta", "link"}


def check_page(html: str, source: str) -> None:
    """Look for what only raw HTML could give an article or its table of contents."""
    article = re.search(r'<article class="rg-prose">(.*?)</article>', html, re.DOTALL)
    assert article
    for part in (article[1], *re.findall(r'<nav class="rg-toc.*?</nav>', html, re.DOTALL)):
        for element in read_html(f"<div>{part}</div>").iter():
            pictured = element.tag == "img" and "onerror" not in element.attrib
            assert pictured or element.tag not in DANGEROUS, source
            assert not [one for one in element.attrib if one.startswith("on")], source
            assert not str(element.get("href", "")).lower().startswith("javascript"), source


@pytest.mark.random
def test_no_page_of_pieces_brings_html_in(tmp_path: Path) -> None:
    """A page is refused, or its HTML has no element, handler or address that only raw HTML could give it."""
    chance = random.Random(11)  # noqa: S311 - no secret
    names = sorted(EXTENSIONS - {"fenced_code", "codehilite", "smarty", "nl2br"})
    given = {
        "site_name": "Small",
        "docs_dir": "content",
        "theme": {"name": "reportgen"},
        "plugins": ["search", {"reportgen": {"untrusted": True}}],
        "markdown_extensions": [
            {one: {"alternate_style": True}} if "tabbed" in one else one for one in names
        ],
    }
    root = write_report(tmp_path, {"mkdocs.yml": json.dumps(given)})
    count = tries(60, 600)
    pages = {f"p{n}.md": "".join(chance.choices(PIECES, k=chance.randint(2, 25))) for n in range(count)}
    for name, text in pages.items():
        write_file(root / "content" / name, f"Page\n\n{text}\n")
    for problem in (r"^content/(p\d+\.md)", r"^content/(p\d+\.md)[:\d]*: error"):
        said = call(root, "build").stderr
        for name in set(re.findall(problem, said, re.MULTILINE)):
            (root / "content" / name).unlink()
    done = call(root, "build")
    assert done.returncode == 0, done.stderr
    left = [name for name in pages if (root / "content" / name).exists()]
    assert 1 / 15 < len(left) / len(pages) < 14 / 15
    for name in left:
        check_page((root / "site" / name.removesuffix(".md") / "index.html").read_text("utf-8"), pages[name])


# ---- the checkout of a stranger


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


SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"


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
    signed = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a> 0 +0000\ncommitter A <a> 0 +0000\n"
    (tmp_path / "commit").write_text(f"{signed}{SIGNATURE}\nx\n", "utf-8")
    words = ("hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit"))
    (root / "HEAD").write_text(git(root, "--git-dir", ".", *words), "utf-8")
    for key in ("log.showSignature=true", "gpg.program=./trap.sh", "core.fsmonitor=./trap.sh"):
        git(root, "config", "--file", "config", *key.split("="))
    built = call(root, "build", **home)
    assert built.returncode == 0, built.stderr
    assert not mark.exists()


def test_signed_commits_give_a_date(tmp_path: Path, home: dict[str, str | None]) -> None:
    """What git would say of a signature, since the user's settings ask for it, is not taken for a date."""
    root = write_report(tmp_path / "report")
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "x", "--date", "@86400 +0000")
    body = git(root, "cat-file", "commit", "HEAD").replace("\n\n", f"\n{SIGNATURE}\n", 1)
    (tmp_path / "commit").write_text(body, "utf-8")
    commit = git(root, "hash-object", "-t", "commit", "-w", "--literally", str(tmp_path / "commit")).strip()
    git(root, "update-ref", "HEAD", commit)
    git(root, "config", "log.showSignature", "true")
    built = call(root, "build", "--strict", **home)
    assert built.returncode == 0, built.stderr
    assert commit in (root / "site" / "report.json").read_text("utf-8")


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


def test_content_is_not_walked_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links from each folder to all of the next make many files of a few."""
    monkeypatch.setattr("reportgen.site.files.MOST_ENTRIES", 6)
    root = write_report(tmp_path / "report", {f"content/b/{name}.txt": name for name in "xyz"})
    assert call(root, "check").returncode == 0
    (root / "content/c").symlink_to("b")
    said = "content: error: it holds more than 6 files, those that links lead to included."
    assert said in call(root, "check").stdout


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


def test_a_home_that_cannot_be_written_is_no_obstacle(tmp_path: Path, home: dict[str, str | None]) -> None:
    """What would be kept is then kept for as long as the process lives."""
    root = write_report(tmp_path / "report")
    # A file where a folder would have to be stops even root.
    write_file(tmp_path / "no-home", "x")
    for command in ("check", "facts runs", "describe data/runs.csv", "build"):
        done = call(root, *command.split(), **home | {"HOME": str(tmp_path / "no-home")})
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
