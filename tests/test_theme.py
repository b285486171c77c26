"""The theme's pages: safe, complete, valid without scripts, and nothing from elsewhere.

Of made pages, of the example report, and of a report whose every name is hostile: its pages, pictures and
numbers are whole and harmless.
"""

from __future__ import annotations

import csv
import json
import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest
from example_site import build, made_once
from hostile_report import LAST, NAMES, WRITABLE, write_hostile_report
from html_tree import classed, read_html, table_rows, words
from hypothesis import given
from hypothesis import strategies as st
from theme_site import HASH, PAGE, PAGES, SITE, TOKENS, build_site

from reportgen.site.fragments import render_data_rows
from reportgen.site.security import POLICY

if TYPE_CHECKING:
    from collections.abc import Iterator

THEME = Path(__file__).parent.parent / "site_templates"
TEXT_FILES = sorted(path for path in THEME.rglob("*") if path.suffix in {".html", ".css", ".js", ".xml"})
CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
EVIL = "</script><img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """Every start tag of a page with its attributes, and the text in scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.inline = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        """Note what a script or a style holds."""
        if self.found and self.found[-1][0] in {"script", "style"}:
            self.inline += data.strip()

    def all(self, tag: str, **attributes: str) -> list[dict[str, str]]:
        """Return the attributes of every such tag."""
        return [found for name, found in self.found if name == tag and attributes.items() <= found.items()]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built site."""
    return build_site(tmp_path_factory.mktemp("theme"))


def pages(site: Path) -> Iterator[tuple[Path, Tags]]:
    """Yield every page of a site."""
    for path in sorted(site.rglob("*.html")):
        yield path, Tags(path.read_text("utf-8"))


def page(site: Path, path: str) -> str:
    """Return the HTML of a page."""
    return (site / path).read_text("utf-8")


def test_every_page_is_built(site: Path) -> None:
    """Each Markdown file and the page for missing ones come out."""
    built = {path.relative_to(site).as_posix() for path, _ in pages(site)}
    names = ("index", "math500/index", "guide/index", "guide/elements/index", "404", "problems", "pages")
    assert built == {f"{name}.html" for name in names}


def test_nothing_inline_is_needed(site: Path) -> None:
    """A policy without unsafe-inline holds: no inline script, style, handler or javascript: link."""
    for path, tags in pages(site):
        assert not tags.inline, path
        for name, attributes in tags.found:
            assert name != "style", path
            assert not [key for key in attributes if key == "style" or key.startswith("on")], (path, name)
            assert not attributes.get("href", "").startswith("javascript:"), path


def test_the_policy_comes_before_everything_it_governs(site: Path) -> None:
    """The meta element stands before the first script, style sheet or link."""
    for path, tags in pages(site):
        names = [name for name, attributes in tags.found if name != "meta" or "http-equiv" in attributes]
        assert names.index("meta") < min(names.index("script"), names.index("link")), path
        assert tags.all("meta", **{"http-equiv": "Content-Security-Policy", "content": POLICY}), path


def test_every_address_leads_to_a_file_of_the_site(site: Path) -> None:
    """What a page loads and links exists, under any path; nothing is loaded from elsewhere."""
    for path, tags in pages(site):
        for name, attributes in tags.found:
            address = attributes.get("src") or attributes.get("href") or ""
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                assert name == "a" or attributes.get("rel") == "canonical", (path, address)
            elif path.name != "404.html":
                target = path.parent / unquote(parts.path)
                assert not parts.path.startswith("/"), (path, address)
                assert (target / "index.html" if target.is_dir() else target).is_file(), (path, address)


def test_the_page_for_missing_pages_knows_the_sites_path(site: Path) -> None:
    """It may be shown at any address, so its addresses start at the site's own path."""
    tags = Tags(page(site, "404.html"))
    assert all(found["href"].startswith("/reports/") for found in tags.all("link"))


def test_a_template_needs_no_page_and_no_policy(tmp_path: Path) -> None:
    """A page for missing ones is told only the version; live reload needs an inline script."""
    site = build_site(tmp_path, site={"version": "1", "csp": ""})
    html = page(site, "404.html")
    assert "<h1>Page not found</h1>" in html
    assert "Data and provenance" not in html
    assert "Content-Security-Policy" not in page(site, "index.html")


def test_head_says_what_the_page_is(site: Path) -> None:
    """Title, description, canonical address and the card of the page, escaped once."""
    html = page(site, "math500/index.html")
    tags = Tags(html)
    assert "<title>MATH &amp; 500 · Reports &amp; &lt;more&gt;</title>" in html
    assert tags.all("link", rel="canonical", href="https://example.org/reports/math500/")
    assert tags.all("meta", property="og:title", content="MATH & 500")
    assert tags.all("meta", property="og:image", content="card.png")
    assert tags.all("meta", name="description", content="Every number from its data")
    assert tags.all("meta", name="twitter:card", content="summary_large_image")


def test_a_page_says_its_own_description(tmp_path: Path) -> None:
    """What happened on the page goes before what the site is about; provenance is on every page."""
    site = build_site(tmp_path, page=PAGE | {"description": "MEL leads", "sources": []})
    html = page(site, "index.html")
    assert Tags(html).all("meta", name="description", content="MEL leads")
    assert Tags(html).all("meta", property="og:description", content="MEL leads")
    assert "All data of this report" in html


def test_headings_are_escaped_once_wherever_they_are_shown(tmp_path: Path) -> None:
    """A title from a heading is HTML for MkDocs, a title from the navigation is text; both read the same."""
    html = page(build_site(tmp_path, nav=None), "math500/index.html")
    assert "<title>MEL &amp; &lt;GRPO&gt; x · " in html
    assert 'aria-current="page">MEL &amp; &lt;GRPO&gt; x</a>' in html
    assert ">A &amp; B</a>" in html
    assert "&amp;amp;" not in html
    assert "&amp;lt;" not in html


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    """Names from settings, data and file names are never markup."""
    source = {
        "name": EVIL,
        "title": EVIL,
        "labels": [EVIL],
        "approximate": EVIL,
        "files": [{"path": EVIL, "sha256": HASH, "size": 1}],
    }
    told = PAGE | {"sources": [source], "description": EVIL, "og_image": EVIL}
    site = build_site(tmp_path, site=SITE | {"date": EVIL, "commit": EVIL}, page=told, site_name=EVIL)
    for path, tags in pages(site):
        assert not tags.all("img"), path
        assert not tags.inline, path


def test_navigation_marks_where_the_reader_is(site: Path) -> None:
    """The current page is marked, its section is open, and crumbs lead back."""
    html = page(site, "guide/elements/index.html")
    assert re.search(r"<details open>\s*<summary>Guide</summary>", html)
    assert '<a href="./" aria-current="page">Elements</a>' in html
    assert re.search(r'<li><a href="\.\./\.\.">Overview</a></li>\s*<li><a href="\.\./">Guide</a></li>', html)


def test_neighbours_and_the_source_of_a_page_are_linked(site: Path) -> None:
    """Previous, next and edit lead on; the first page has nothing before it."""
    tags = Tags(page(site, "math500/index.html"))
    assert tags.all("a", rel="prev", href="..")
    assert tags.all("a", rel="next", href="../guide/")
    assert tags.all("a", href="https://example.org/lab/report/edit/main/docs/math500.md")
    assert not Tags(page(site, "index.html")).all("a", rel="prev")


def test_the_footer_says_where_the_numbers_come_from(site: Path) -> None:
    """Sources with their hashes, the tool's version, the commit and the date."""
    html = page(site, "math500/index.html")
    footer = html[html.index("<footer") :]
    assert "The data behind this page" in footer
    assert "MATH500 &lt;validation&gt;" in footer
    assert "Approximate: digitised from a figure." in footer
    assert footer.count(HASH) == 2
    built = (
        r"Built with reportgen 0\.1\.0 from commit <code [^>]*>517d30f</code>, <span [^>]*>2025-11-20</span>"
    )
    assert re.search(built, footer)


def test_what_is_not_given_is_not_made_up(tmp_path: Path) -> None:
    """No link to edit, no canonical address, no field for a search that there is not; pages may be files."""
    none: dict[str, Any] = {"repo_url": None, "edit_uri": None, "site_url": None, "plugins": ["reportgen"]}
    site = build_site(tmp_path, use_directory_urls=False, **none)
    assert not [word for word in ("Edit this page", "canonical") if word in page(site, "index.html")]
    assert "earch" not in page(site, "404.html")
    assert Tags(page(site, "math500.html")).all("a", rel="next", href="guide/index.html")


def test_contents_are_left_out_where_there_is_nothing_to_choose(site: Path) -> None:
    """A page with one section or none has no table of contents."""
    assert "On this page" in page(site, "math500/index.html")
    assert "On this page" not in page(site, "guide/index.html")


def test_the_site_map_lists_every_page_without_a_date(site: Path) -> None:
    """The same input gives the same bytes, so there is no build date in it."""
    tree = ET.parse(site / "sitemap.xml")  # noqa: S314 - our own file
    found = {element.text for element in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")}
    assert found == {
        f"https://example.org/reports/{path}" for path in ("", "math500/", "guide/", "guide/elements/")
    }
    assert "lastmod" not in (site / "sitemap.xml").read_text("utf-8")


def test_a_report_can_change_the_template(tmp_path: Path) -> None:
    """A main.html of its own fills the blocks of the base."""
    (tmp_path / "mine").mkdir()
    override = '{% extends "base.html" %}{% block extrahead %}<meta name="mine">{% endblock %}'
    (tmp_path / "mine" / "main.html").write_text(override)
    theme = {"name": "reportgen", "custom_dir": str(tmp_path / "mine")}
    assert '<meta name="mine">' in page(build_site(tmp_path, PAGES, theme=theme), "index.html")


def test_no_file_of_the_theme_names_an_outside_address() -> None:
    """Nothing is ever loaded from another site; names of XML formats are no addresses."""
    for path in TEXT_FILES:
        found = re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", path.read_text("utf-8"))
        assert not [one for one in found if not one.startswith("http://www.sitemaps.org/schemas/")], path


def test_every_token_that_the_styles_use_is_defined() -> None:
    """A misspelt custom property would silently be nothing."""
    sheets = [TOKENS, *(path for path in TEXT_FILES if path.suffix == ".css")]
    css = "".join(path.read_text("utf-8") for path in sheets)
    assert set(re.findall(r"var\((--[\w-]+)", css)) <= set(re.findall(r"(--[\w-]+):", css))


def test_fonts_are_small_and_used(site: Path) -> None:
    """Each font has 35 kB or less, the style sheet names it, and its licence travels onto every site."""
    for path in (THEME / "fonts").glob("*.woff2"):
        assert path.stat().st_size <= 35_000
        assert path.name in (THEME / "fonts" / "fonts.css").read_text("utf-8")
    found = {path.name for path in (site / "fonts").glob("OFL-*.txt")}
    assert found == {"OFL-Inter.txt", "OFL-JetBrainsMono.txt"}


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=4))
def test_rows_of_data_tables_are_escaped_as_cell_by_cell(rows: list[list[str]]) -> None:
    """Whatever stands in the cells, markup and separators included."""
    cells = [[re.sub("[\x1e\x1f]", " ", cell) for cell in row] for row in rows]
    expected = ""
    for first, *others in cells:
        data = "".join(f"<td>{escape(cell)}</td>" for cell in others)
        expected += f'<tr><th scope="row">{escape(first)}</th>{data}</tr>'
    assert render_data_rows(rows) == expected.replace("&quot;", "&#34;").replace("&#x27;", "&#39;")


# ---- the example report


BENCHMARKS = ("math500", "aime", "model-comparison", "training-accuracy", "training-diagnostics")


def read_page(site: Path, name: str) -> ET.Element:
    """A page by its folder; the front page has none."""
    return read_html((site / name / "index.html").read_text("utf-8"))


def list_words(element: ET.Element, name: str) -> list[str]:
    """The words of each element inside that carries a class."""
    return [words(found) for found in classed(element, name)]


def test_the_overview_says_what_its_pages_say(example_site: Path) -> None:
    """The page's name, its verdict in the same words, how its numbers came about, and the date."""
    (strip,) = classed(read_page(example_site, ""), "rg-strip")
    rows = [one for one in strip if one.tag == "li"]
    assert "+12.7 points [+6.8, +18.5] on Textbook" in words(rows[2]).replace("\u00a0", " ")
    for name, row in zip(BENCHMARKS, rows, strict=True):
        page, link = read_page(example_site, name), next(row.iter("a"))
        assert link.get("href") == f"{name}/"
        (heading,) = page.iter("h1")
        assert words(heading).rstrip("¶") == words(link)
        (claim,) = list_words(page, "rg-claim")
        (verdict,) = classed(row, "rg-strip-verdict")
        assert words(next(verdict.iter("strong"))) in claim
        (evidence,) = classed(page, "rg-evidence")
        assert words(next(evidence.iter("time"))) in words(row)
        assert list_words(evidence, "rg-flag")[0] in words(row)


@pytest.mark.parametrize(
    ("page", "figure", "step", "cells"),
    [
        ("math500", "scores", "120", {"MEL": "0.840", "GRPO": "0.820"}),
        ("math500", "scores", "140", {"GRPO": "0.820"}),
        ("aime", "pass-at-1", "900", {"v10": "32.1%", "v1": "28.0%"}),
    ],
)
def test_facts_can_be_read_from_the_data_table(
    example_site: Path, page: str, figure: str, step: str, cells: dict[str, str]
) -> None:
    """A reader without scripts opens the table under the figure and reads the number."""
    (drawn,) = [one for one in read_page(example_site, page).iter("figure") if one.get("id") == figure]
    (data,) = classed(drawn, "rg-data")
    assert data.tag == "details"
    head, *rows = table_rows(next(data.iter("table")))
    (row,) = [row for row in rows if row[0] == step]
    shown = dict(zip(head, row, strict=True))
    for series, value in cells.items():
        assert shown[series].startswith(value), shown


# ---- a report whose every name is hostile

HOSTILE_PAGES = ("index", "series/index", "metrics/index", "words/index", "scores/index")
FIGURES = {f"{name}/index": 5 for name in ("series", "scores")}
FIGURES |= {f"{name}/index": len(WRITABLE) for name in ("metrics", "words")}
MARKS = ("=", "+", "-", "@", "\t", "\r", "\n")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile report's site, built strictly."""
    return made_once(tmp_path_factory, "hostile", lambda folder: build(write_hostile_report(folder)))


def test_pages_are_well_nested(hostile: Path) -> None:
    """No name closes an element: the tree of each page is whole, with all its figures."""
    for name in HOSTILE_PAGES:
        tree = read_html((hostile / f"{name}.html").read_text("utf-8"))
        assert len(classed(tree, "rg-figure")) == FIGURES.get(name, 0)
        for figure in classed(tree, "rg-figure"):
            assert len(classed(figure, "rg-data")) == 1
        assert words(tree).count(LAST) >= 1


def test_marks_that_an_author_wrote_stay_words(hostile: Path) -> None:
    """Raw HTML that looks like our own marks is neither filled nor a fault."""
    html = (hostile / "index.html").read_text("utf-8")
    for words_of_it in ("of no block", "of another page", "with a salt", "bound to nothing"):
        assert words_of_it in html
    assert 'data-rg-block="nope"' in html
    assert "<rg-bound n=" not in html


def test_pictures_are_well_formed(hostile: Path) -> None:
    """Every SVG file is XML without script, handler or outside address."""
    found = sorted(hostile.glob("figures/**/*.svg"))
    assert len(found) == sum(FIGURES.values())
    for path in found:
        for element in ET.fromstring(path.read_text("utf-8")).iter():  # noqa: S314 - our own output
            assert not element.tag.lower().endswith(("script", "foreignobject", "}image")), path
            assert not [name for name in element.attrib if name.lower().startswith("on")], path


def test_no_cell_is_a_formula(hostile: Path) -> None:
    """A spreadsheet runs nothing of a CSV file; names are there, whole."""
    for path in sorted(hostile.glob("figures/**/*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert {len(row) for row in rows} == {len(rows[0])}, path
        for cell in (cell for row in rows for cell in row):
            assert _is_number(cell) or not cell.startswith(MARKS), (path, cell)
    with (hostile / "figures/series/all.csv").open(encoding="utf-8", newline="") as file:
        series = {row["series"].removeprefix("'") for row in csv.DictReader(file)}
    assert {name.removeprefix("'") for name in NAMES} == series


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_report_json_names_everything_as_it_is(hostile: Path) -> None:
    """Series, benchmarks and what was measured otherwise stand whole in the numbers."""
    report = json.loads((hostile / "report.json").read_text("utf-8"))
    by_path = {page["path"]: page for page in report["pages"]}
    stacks = {stack["id"]: stack["numbers"] for stack in by_path["scores.md"]["stacks"]}
    assert {score["series"] for score in stacks["dots"]["scores"]} == set(NAMES)
    assert set(stacks["both"]["benchmarks"]) == {NAMES[5], NAMES[1]}
    assert stacks["dots"]["mixed_protocol"]["prompt"][NAMES[3]] == [NAMES[1]]
    [figure] = [figure for figure in by_path["series.md"]["figures"] if figure["id"] == "all"]
    assert {series["name"] for series in figure["numbers"]["series"]} == set(NAMES)
    assert figure["title"] == NAMES[0]
