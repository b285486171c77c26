"""A site in two languages, built by the real mkdocs-static-i18n beside our plugin, in either order."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from command_line import call, call_mkdocs
from example_site import build, made_once
from made_projects import share_cache, write_file, write_report
from tries import slow_after

from reportgen.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

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
PAGES = {"index": (OVERVIEW, None), "math": (ENGLISH, GERMAN), "notes": (ONLY_ENGLISH, None)}
NAMES: dict[str, Callable[[str, str], str]] = {
    "suffix": lambda page, language: f"content/{page}.md" if language == "en" else f"content/{page}.de.md",
    "folder": lambda page, language: f"content/{language}/{page}.md",
}
ORDERS = {"first": (0, 1), "last": (1, 0)}


LAYOUTS = ["suffix first", "folder last", "suffix last", "folder first"]


@pytest.fixture(params=slow_after(2, LAYOUTS))
def layout(request: pytest.FixtureRequest) -> list[str]:
    """A structure and an order."""
    return str(request.param).split()


@pytest.fixture
def structure(layout: list[str]) -> str:
    """How the files of a language are told from those of another."""
    return layout[0]


@pytest.fixture
def order(layout: list[str]) -> tuple[int, ...]:
    """Whether our plugin is listed before the other or behind it."""
    return ORDERS[layout[1]]


def write_translated(root: Path, structure: str, order: tuple[int, ...], theme: str = "reportgen") -> Path:
    """A report of three pages, one of them in German, too; a second benchmark has no page."""
    listed = [
        "  - reportgen:\n      benchmarks: [{name: Other, source: runs}]",
        LANGUAGES.format(structure=structure),
    ]
    settings = SETTINGS.format(theme=theme) + "\n".join(listed[place] for place in order)
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
        return build(write_translated(folder, "suffix", ORDERS["first"])).parent

    return made_once(tmp_path_factory, "translated", make)


def text_of(path: Path) -> str:
    """A built page."""
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("theme", ["reportgen", "material"])
def test_each_language_has_its_pages_with_their_figures(
    theme: str, structure: str, order: tuple[int, ...], tmp_path: Path, drawn: Path
) -> None:
    """Translated pages have their own figures, others those of the default language; twice the same site."""
    root = write_translated(tmp_path, structure, order, theme)
    share_cache(drawn, root)
    for _ in range(2):
        done = call(root, "build", "--force")
        assert (done.returncode, done.stderr) == (0, "")
        site = root / "site"
        for folder, title, ours in (("", "Accuracy", "Treffer"), ("de/", "Treffer", "Accuracy")):
            page = text_of(site / folder / "math" / "index.html")
            assert page.count('<figure class="rg-figure') == 1
            assert title in page
            assert ours not in page
            assert "Not translated" in text_of(site / folder / "notes" / "index.html")
            overview = text_of(site / folder / "index.html")
            links = re.findall(r'class="rg-card-name" href="([^"]+)"', overview)
            assert len(links) == 2
            assert all((site / folder / link / "index.html").is_file() for link in links)
        assert broken_links(site) == []
        for folder, name in (("", "Accuracy"), ("de", "Treffer")):
            told = text_of(site / folder / "report.json")
            assert name in told
            assert json.loads(told)["generator"]["name"] == "reportgen"
        parts = "texts-*.js" if theme == "reportgen" else "search_index.json"
        index = "".join(map(text_of, (site / "search").glob(parts)))
        assert "Accuracy" in index
        assert "Treffer" in index


def test_pages_from_one_file_are_pages_of_their_language(
    structure: str, order: tuple[int, ...], tmp_path: Path, drawn: Path
) -> None:
    """At the address that a page of the same name would have, and with links to those of its language."""
    root = write_translated(tmp_path, structure, order)
    share_cache(drawn, root)
    english, german = METHODS.format(word="Method"), METHODS.format(word="Verfahren")
    alone = METHODS.format(word="Only").replace("methods-", "")
    for page, language, text in (
        ("methods", "en", english),
        ("methods", "de", german),
        ("more/index", "en", alone),
    ):
        write_file(root / NAMES[structure](page, language), text)
    site = build(root)
    for folder, word in (("", "Method"), ("de/", "Verfahren")):
        for page, first in (
            ("methods-grpo", word),
            ("methods-mel", word),
            ("more/grpo", "Only"),
            ("more/mel", "Only"),
        ):
            built = text_of(site / folder / page / "index.html")
            assert f"{first} {page[-4:].strip('-/').upper()}" in built
            assert built.count('<figure class="rg-figure') == 1
    assert broken_links(site) == []
    pages = {path.parent.relative_to(site).as_posix() for path in site.rglob("index.html")} - {".", "de"}
    assert {page for page in pages if not page.startswith("de/")} == {
        page[3:] for page in pages if page.startswith("de/")
    }


def test_the_language_switch_of_a_generated_page_is_its_own(
    structure: str, order: tuple[int, ...], tmp_path: Path, drawn: Path
) -> None:
    """It led to the translation of the page before; other languages may have no such page."""
    root = write_translated(tmp_path, structure, order, "material")
    share_cache(drawn, root)
    page = text_of(build(root) / "de/other/index.html")
    assert re.findall(r'<a href="([^"]*)" hreflang="(\w+)"', page) == [("/small/", "en"), ("./", "de")]


def test_what_changed_is_said_in_the_default_language(
    structure: str, order: tuple[int, ...], tmp_path: Path, drawn: Path
) -> None:
    """Its pages say what changed in them; those of the others, which are built later, say nothing."""
    base, root = (write_translated(tmp_path / name, structure, order) for name in ("base", "report"))
    share_cache(drawn, root)
    for language in ("en", "de"):
        page = root / NAMES[structure]("math", language)
        page.write_text(text_of(page).replace("# ", "# New: "), encoding="utf-8")
    done = call(root, "build", "--since", str(base))
    assert (done.returncode, done.stderr) == (0, "")
    front = text_of(root / "site/index.html")
    assert re.search(r'<a href="math/"><bdi>New: Accuracy</bdi></a>: <bdi>1 line added', front)
    assert "Gone." not in front
    assert broken_links(root / "site") == []
    assert "rg-changed" in text_of(root / "site/math/index.html")
    assert "rg-changed" not in text_of(root / "site/de/math/index.html")


def broken_links(site: Path) -> list[str]:
    """Every page, with a file of ours that it names and that is not there."""
    found = []
    for page in sorted(site.rglob("*.html")):
        for link in re.findall(r'(?:href|src)="([^":#?]*(?:figures|reportgen)/[^":#?]+)"', text_of(page)):
            target = site / link.lstrip("/") if link.startswith("/") else page.parent / link
            if page.name != "404.html" and not target.resolve().exists():
                found.append(f"{page.relative_to(site)} {link}")
    return found


def say(root: Path, *words: str) -> Result:
    """A command without a process of its own."""
    command = [*words, "--config-file", str(root / "mkdocs.yml")]
    return CliRunner().invoke(cli, command, prog_name="reportgen")


def test_every_translation_is_checked_and_mended(
    structure: str, order: tuple[int, ...], tmp_path: Path
) -> None:
    """Problems of all languages are told together, once each; a statement is typed anew where it stands."""
    root = write_translated(tmp_path, structure, order)
    fine = say(root, "check")
    assert (fine.exit_code, fine.stderr) == (0, "")
    assert fine.stdout.endswith("2 statements: 2 hold\n")
    page = root / NAMES[structure]("math", "de")
    page.write_text(page.read_text("utf-8").replace("0.72", "0.99"), "utf-8")
    notes = root / NAMES[structure]("notes", "en")
    wrong = say(root, "check")
    assert (wrong.exit_code, wrong.stdout.count("error: ")) == (1, 1)
    assert f"{page.relative_to(root).as_posix()}:6:6: error: " in wrong.stdout
    assert say(root, "fix", "--write").exit_code == 0
    assert "[0.72]" in page.read_text("utf-8")
    page.write_text(page.read_text("utf-8").replace("curve", "curve\nnone: 1"), "utf-8")
    notes.write_text(notes.read_text("utf-8").replace("curve", "curve\nnone: 1"), "utf-8")
    assert say(root, "check").stdout.count('"none" is not a key of a curve block') == 2


def test_mkdocs_builds_it_too(structure: str, order: tuple[int, ...], tmp_path: Path, drawn: Path) -> None:
    """Without our command, strictly."""
    root = write_translated(tmp_path, structure, order)
    share_cache(drawn, root)
    done = call_mkdocs(root, "build", "--strict")
    assert done.returncode == 0, done.stderr
    assert (root / "site" / "de" / "math" / "index.html").is_file()
