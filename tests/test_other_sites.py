"""The plugin in sites that others make: in several languages, with other themes, and published by MkDocs."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from command_line import call, call_mkdocs
from example_site import build, files_of, made_once, run, write_small_report
from html_tree import classed, read_html, table_rows, words
from made_projects import PAGE, share_cache, write_report
from markdown import Markdown
from tries import slow_after

from reportgen.core.errors import ReportError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

# ---- languages ----------------------------------------------------------------------------------

LANGUAGES = """
  - i18n:
      docs_structure: {structure}
      languages:
        - {{locale: en, name: English, default: true}}
        - {{locale: de, name: Deutsch}}
"""
SETTINGS = """
site_name: Small
site_url: https://example.org/small/
docs_dir: content
theme: {theme}
plugins:
  - search
"""
MATH = """---
benchmark: {{name: MATH, source: runs, metric: accuracy}}
---
# {title}

{words} [0.72]{{value="final(GRPO)"}}.

```curve
title: {title}
```
"""
ENGLISH, GERMAN = (
    MATH.format(title="Accuracy", words="It ends at"),
    MATH.format(title="Treffer", words="Ende"),
)
METHODS = """---
for: {{method: [GRPO, MEL]}}
---
# {word} {{{{ method }}}}

[MEL](methods-mel.md)

```curve
source: runs
series: ["{{{{ method }}}}"]
```
"""
OVERVIEW = "# Overview\n\n```overview\n```\n"
ONLY_ENGLISH = "# Notes\n\n```curve\nsource: runs\ntitle: Not translated\n```\n"
PAGES = {
    "index": (OVERVIEW, None),
    "math": (ENGLISH, GERMAN),
    "notes": (ONLY_ENGLISH, None),
    "methods": (METHODS.format(word="Method"), METHODS.format(word="Verfahren")),
    "more/index": (METHODS.format(word="Only").replace("methods-", ""), None),
}
NAMES: dict[str, Callable[[str, str], str]] = {
    "suffix": lambda page, language: f"content/{page}.md" if language == "en" else f"content/{page}.de.md",
    "folder": lambda page, language: f"content/{language}/{page}.md",
}


LAYOUTS = ["suffix first", "folder last", "suffix last", "folder first"]


@pytest.fixture(params=slow_after(1, LAYOUTS))
def layout(request: pytest.FixtureRequest) -> str:
    """How files of languages are told apart, and whether our plugin stands before the other or behind it."""
    return str(request.param)


def write_translated(root: Path, layout: str, theme: str = "reportgen") -> Path:
    """A report of three pages, one of them in German, too, and templates; a second benchmark has no page."""
    structure, order = layout.split()
    listed = [
        "  - reportgen:\n      benchmarks: [{name: Other, source: runs}]",
        LANGUAGES.format(structure=structure),
    ]
    settings = SETTINGS.format(theme=theme) + "\n".join(listed[:: 1 if order == "first" else -1])
    files: dict[str, str | None] = {"content/index.md": None, "mkdocs.yml": settings}
    for page, texts in PAGES.items():
        for language, text in zip(("en", "de"), texts, strict=True):
            if text is not None:
                files[NAMES[structure](page, language)] = text
    return write_report(root, files)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A translated report that was built: the figures of all others here are the same."""

    def make(folder: Path) -> Path:
        return build(write_translated(folder, LAYOUTS[0])).parent

    return made_once(tmp_path_factory, "translated", make)


def text_of(path: Path) -> str:
    """A built page."""
    return path.read_text(encoding="utf-8")


def broken_links(site: Path) -> list[str]:
    """Every page, with a file of ours that it names and that is not there."""
    found = []
    for page in sorted(site.rglob("*.html")):
        for link in re.findall(r'(?:href|src)="([^":#?]*(?:figures|reportgen)/[^":#?]+)"', text_of(page)):
            target = site / link.lstrip("/") if link.startswith("/") else page.parent / link
            if page.name != "404.html" and not target.resolve().exists():
                found.append(f"{page.relative_to(site)} {link}")
    return found


def test_each_language_has_its_pages_with_their_figures(layout: str, tmp_path: Path, drawn: Path) -> None:
    """Translated pages have their own figures, others those of the default language; twice the same site."""
    root = write_translated(tmp_path, layout)
    share_cache(drawn, root)
    site = build(root)
    once = files_of(site)
    assert files_of(build(root, "--force")) == once
    for folder, title, ours in (("", "Accuracy", "Treffer"), ("de/", "Treffer", "Accuracy")):
        page = text_of(site / folder / "math/index.html")
        assert page.count('<figure class="rg-figure') == 1
        assert title in page
        assert ours not in page
        assert "Not translated" in text_of(site / folder / "notes/index.html")
        links = re.findall(r'class="rg-strip-page"><a href="([^"]+)"', text_of(site / folder / "index.html"))
        assert len(links) == 2
        assert all((site / folder / link / "index.html").is_file() for link in links)
        assert title in text_of(site / folder / "report.json")
        assert "](methods-grpo/index.md)" in text_of(site / folder / "llms.txt")
        assert title in text_of(site / folder / "math/index.md")
        assert json.loads(text_of(site / folder / "report.json"))["generator"]["name"] == "reportgen"
    for folder, word in (("", "Method"), ("de/", "Verfahren")):
        # Pages from one file are at the address that a page of the same name would have.
        for page, first in (("methods-grpo", word), ("methods-mel", word), ("more/mel", "Only")):
            built = text_of(site / folder / page / "index.html")
            assert f"{first} {page[-4:].strip('-/').upper()}" in built
            assert built.count('<figure class="rg-figure') == 1
    pages = {path.parent.relative_to(site).as_posix() for path in site.rglob("index.html")} - {".", "de"}
    english = {page for page in pages if not page.startswith("de/")}
    assert english == {page[3:] for page in pages - english}
    index = "".join(map(text_of, (site / "search").glob("texts-*.js")))
    assert {"Accuracy", "Treffer"} <= set(re.findall(r"\w+", index))
    assert broken_links(site) == []


def test_mkdocs_builds_it_with_another_theme(layout: str, tmp_path: Path, drawn: Path) -> None:
    """Strictly; the switch of a generated page led to the translation of the page before."""
    root = write_translated(tmp_path, layout, "material")
    share_cache(drawn, root)
    done = call_mkdocs(root, "build", "--strict")
    assert done.returncode == 0, done.stderr
    site = root / "site"
    assert broken_links(site) == []
    for folder, title in (("", "Accuracy"), ("de/", "Treffer")):
        page = text_of(site / folder / "math/index.html")
        assert (page.count('<figure class="rg-figure'), title in page) == (1, True)
        assert 'type="text/markdown" href="index.md"' in page
        assert "## Checked statements" in text_of(site / folder / "math/index.md")
        assert title in text_of(site / "search/search_index.json")
    other = text_of(site / "de/other/index.html")
    assert re.findall(r'<a href="([^"]*)" hreflang="(\w+)"', other) == [("/small/", "en"), ("./", "de")]


def test_what_changed_is_said_in_the_default_language(layout: str, tmp_path: Path, drawn: Path) -> None:
    """Its pages say what changed in them; those of the others, which are built later, say nothing."""
    base, root = (write_translated(tmp_path / name, layout) for name in ("base", "report"))
    share_cache(drawn, root)
    for language in ("en", "de"):
        page = root / NAMES[layout.split(maxsplit=1)[0]]("math", language)
        page.write_text(text_of(page).replace("# ", "# New: "), encoding="utf-8")
    done = call(root, "build", "--since", str(base))
    assert (done.returncode, done.stderr) == (0, "")
    front = text_of(root / "site/index.html")
    assert re.search(r'<a href="math/"><bdi>New: Accuracy</bdi></a>: <bdi>1 line added', front)
    assert "Gone." not in front
    assert broken_links(root / "site") == []
    assert "rg-changed" in text_of(root / "site/math/index.html")
    assert "rg-changed" not in text_of(root / "site/de/math/index.html")


# ---- themes -------------------------------------------------------------------------------------


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
def themed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small report, built strictly with a theme by the program that the theme belongs to."""
    name: str = request.param

    def make(folder: Path) -> Path:
        write_small_report(folder, theme=name.split(maxsplit=1)[0])
        built = THEMES[name](folder, "build", "--strict")
        assert built.returncode == 0, built.stdout + built.stderr
        return folder / "site"

    return made_once(tmp_path_factory, name.replace(" ", "-"), make)


def test_a_theme_shows_all_that_a_report_has(themed: Path) -> None:
    """Picture, summary and table are in the HTML, and the output contract holds, whatever stands around."""
    page = themed / "first-benchmark/index.html"
    html = page.read_text("utf-8")
    found = re.search(r'<figure class="rg-figure".*?</figure>', html, re.DOTALL)
    assert found
    figure = read_html(found[0])
    assert figure.get("data-kind") == "curve"
    assert [svg.get("role") for svg in figure.iter("svg")].count("img") == 1
    assert "new method" in words(classed(figure, "rg-summary")[0])
    assert table_rows(figure)[0] == ["Training step", "baseline", "new method"]
    for path in sorted(themed.rglob("*.html")):
        text = path.read_text("utf-8")
        assert "language-curve" not in text, path
        assert "rg-block" not in re.sub(r'class="[^"]*"', "", text), path
    assert {f"{FIGURE}.{ending}" for ending in ("svg", "csv", "vl.json")} <= set(files_of(themed))
    assert json.loads((themed / "report.json").read_text("utf-8"))["format"] == 1
    assert (themed / ".nojekyll").is_file()
    loaded = re.findall(r'(?:src|href)="([^"]*(?:assets/reportgen|fonts)/[^"]*)"', html)
    names = {address.rpartition("/")[2] for address in loaded}
    assert {"tokens.css", "figure.css", "live.js", "fonts.css"} <= names
    for address in loaded:
        assert not urlsplit(address).netloc
        assert (page.parent / urlsplit(address).path).resolve().is_file(), address
    assert (themed / "assets/reportgen/vega.js").is_file()
    # The search knows what the author wrote, but neither numbers of pictures nor JSON.
    index = "".join(path.read_text("utf-8") for path in (themed / "search").iterdir() if path.stem != "lunr")
    assert "new method" in index
    assert "rg-payload" not in index
    assert "M0 " not in index


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# Hi\n\n```curve\nsource: runs\n```\n", 'the block "curve" in line 3'),
        ('# Hi\n\nIt ends at [0.7]{value="final(MEL)"}.\n', '"[0.7]{value=…}" in line 3'),
        ("# Hi\n\n````\n```curve\nsource: runs\n```\n````\n\n`[0.7]{value=x}`\n", ""),
    ],
)
def test_an_engine_without_the_plugin_fails(text: str, found: str) -> None:
    """It would publish blocks as code and claims unchecked; what a page only shows as code is no block."""
    engine = Markdown(extensions=["reportgen.guard", "pymdownx.superfences"])
    if not found:
        assert "curve" in engine.convert(text)
        return
    with pytest.raises(ReportError, match=re.escape(found)):
        engine.convert(text)


def test_gh_deploy_pushes_the_site(tmp_path: Path) -> None:
    """``mkdocs gh-deploy`` builds and pushes to the remote; here that is a folder."""
    report = write_small_report(tmp_path / "report", theme="mkdocs")
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


@pytest.mark.slow
@pytest.mark.parametrize("plugins", ["reportgen, material/blog", "material/blog, reportgen"])
def test_lists_of_posts_say_what_their_figures_show(tmp_path: Path, plugins: str) -> None:
    """A list of Material's blog repeats beginnings of posts: words of blocks, and values as plain words."""
    post = f"---\ndate: 2026-11-20\n---\n{PAGE}" + 'It ends at [0.72]{value="final(GRPO)"}.\n'
    files = {
        "content/index.md": "# Home\n",
        "content/blog/index.md": "# Blog\n",
        "content/blog/posts/one.md": post + "\n<!-- more -->\n\nMore.\n",
        "content/blog/posts/two.md": post.replace("Small", "Two") + "\n<!-- more -->\n\nMore.\n",
    }
    settings = f"site_name: Small\ndocs_dir: content\ntheme: material\nplugins: [search, {plugins}]\n"
    build(write_report(tmp_path, {"mkdocs.yml": settings, **files}))
    listed = (tmp_path / "site/blog/index.html").read_text("utf-8")
    assert listed.count("<p>") >= 2
    assert listed.count("At the end (step 10)") == 2
    assert "<figure" not in listed
    assert "rg-checked" not in listed
    (page,) = (tmp_path / "site/blog").glob("*/*/*/small/index.html")
    assert page.read_text("utf-8").count('<figure class="rg-figure') == 1
