"""The plugin in an existing MkDocs site: other themes, plain ``mkdocs``, its fork, and publishing."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from command_line import call_mkdocs
from example_site import files_of, made_once, run, write_small_report
from html_tree import classed, read_html, table_rows, words
from tries import slow_after

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path


def run_properdocs(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The fork, in a process of its own."""
    return run(folder, sys.executable, "-m", "properdocs", *words)


THEMES = {
    "mkdocs": call_mkdocs,
    "reportgen": call_mkdocs,
    "readthedocs": call_mkdocs,
    "material": call_mkdocs,
    "reportgen on properdocs": run_properdocs,
}
FIGURE = "figures/first-benchmark/accuracy"


@pytest.fixture(scope="module", params=slow_after(1, THEMES))
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small report, built strictly with a theme by the program that the theme belongs to."""
    name: str = request.param

    def make(folder: Path) -> Path:
        write_small_report(folder, theme=name.split(maxsplit=1)[0])
        built = THEMES[name](folder, "build", "--strict")
        assert built.returncode == 0, built.stdout + built.stderr
        return folder / "site"

    return made_once(tmp_path_factory, name.replace(" ", "-"), make)


def test_the_figure_is_on_the_page(site: Path) -> None:
    """Picture, summary and table are in the HTML, whatever stands around them."""
    html = (site / "first-benchmark/index.html").read_text("utf-8")
    found = re.search(r'<figure class="rg-figure".*?</figure>', html, re.DOTALL)
    assert found
    figure = read_html(found[0])
    assert figure.get("data-kind") == "curve"
    assert [svg.get("role") for svg in figure.iter("svg")].count("img") == 1
    assert "new method" in words(classed(figure, "rg-summary")[0])
    assert table_rows(figure)[0] == ["Training step", "baseline", "new method"]


def test_no_mark_of_a_block_is_left(site: Path) -> None:
    """No fence is shown as code, and no place holder stays."""
    for path in sorted(site.rglob("*.html")):
        html = path.read_text("utf-8")
        assert "language-curve" not in html, path
        assert "rg-block" not in re.sub(r'class="[^"]*"', "", html), path


def test_files_and_report_are_written(site: Path) -> None:
    """The output contract holds in every theme."""
    for ending in ("svg", "csv", "vl.json"):
        assert (site / f"{FIGURE}.{ending}").is_file()
    assert json.loads((site / "report.json").read_text("utf-8"))["format"] == 1
    assert (site / ".nojekyll").is_file()


def test_styles_and_scripts_of_figures_are_loaded_and_there(site: Path) -> None:
    """What our part of a page loads is in the site: the styles, the live script and the fonts."""
    page = site / "first-benchmark/index.html"
    loaded = re.findall(r'(?:src|href)="([^"]*(?:assets/reportgen|fonts)/[^"]*)"', page.read_text("utf-8"))
    names = {address.rpartition("/")[2] for address in loaded}
    assert {"tokens.css", "figure.css", "live.js", "fonts.css"} <= names
    for address in loaded:
        assert not urlsplit(address).netloc
        assert (page.parent / urlsplit(address).path).resolve().is_file(), address
    assert (site / "assets/reportgen/vega.js").is_file()


def test_search_reads_words_and_not_data(site: Path) -> None:
    """The index knows the page and what the author wrote, but neither numbers of pictures nor JSON."""
    index = "".join(path.read_text("utf-8") for path in (site / "search").iterdir() if path.stem != "lunr")
    assert "new method" in index
    assert "rg-payload" not in index
    assert "M0 " not in index


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A small report in a theme of MkDocs, with its site."""
    folder = write_small_report(tmp_path / "report", theme="mkdocs")
    assert call_mkdocs(folder, "build", "--strict").returncode == 0
    return folder


def test_a_problem_leaves_the_old_site(report: Path) -> None:
    """``mkdocs build`` stops before it clears the site, and says file, line and next step."""
    before = files_of(report / "site")
    page = report / "content/first-benchmark.md"
    page.write_text(page.read_text("utf-8").replace("x_title:", "xtitle:"), "utf-8")
    failed = call_mkdocs(report, "build")
    assert failed.returncode == 1
    assert "content/first-benchmark.md:17" in failed.stderr
    assert "x_title" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert files_of(report / "site") == before


def test_a_wrong_setting_is_told_by_mkdocs(report: Path) -> None:
    """A misspelled key of the plugin is refused with the nearest known one."""
    settings = report / "mkdocs.yml"
    text = settings.read_text("utf-8").replace("  - reportgen\n", "  - reportgen:\n      data_dirr: data\n")
    settings.write_text(text, "utf-8")
    failed = call_mkdocs(report, "build")
    assert failed.returncode == 1
    assert "data_dir" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_folder_of_somebody_else_is_not_cleared(report: Path) -> None:
    """``mkdocs build`` with our plugin refuses a site folder that no report made."""
    (report / "site/report.json").unlink()
    (report / "site/mine.txt").write_text("mine", "utf-8")
    failed = call_mkdocs(report, "build")
    assert failed.returncode == 1
    assert (report / "site/mine.txt").read_text("utf-8") == "mine"


def test_gh_deploy_pushes_the_site(report: Path, tmp_path: Path) -> None:
    """``mkdocs gh-deploy`` builds and pushes to the remote; here that is a folder."""
    remote = tmp_path / "remote.git"
    identity = {
        f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    alone = identity | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*words: str) -> str:
        done = run(report, "git", *words, environment=alone)
        assert done.returncode == 0, done.stderr
        return done.stdout

    git("init", "--quiet", "--bare", str(remote))
    git("init", "--quiet", "--initial-branch", "main")
    git("add", ".")
    git("commit", "--quiet", "--message", "The report")
    git("remote", "add", "origin", str(remote))
    commit = git("rev-parse", "HEAD").strip()
    deployed = call_mkdocs(report, "gh-deploy", "--strict", **alone)
    assert deployed.returncode == 0, deployed.stdout + deployed.stderr
    names = git("--git-dir", str(remote), "ls-tree", "-r", "--name-only", "gh-pages").splitlines()
    assert {f"{FIGURE}.svg", "first-benchmark/index.html", ".nojekyll", "report.json"} <= set(names)
    assert not [name for name in names if name.startswith((".site", "site/"))]
    pushed = json.loads(git("--git-dir", str(remote), "show", "gh-pages:report.json"))
    assert pushed["commit"] == commit
    assert git("status", "--porcelain") == ""
