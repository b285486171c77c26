"""The theme's pages: safe, complete, valid without scripts, and nothing from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import pytest
from theme_site import HASH, PAGE, PAGES, SITE, TOKENS, build_site

from reportgen.site.security import POLICY

if TYPE_CHECKING:
    from collections.abc import Iterator

THEME = Path(__file__).parent.parent / "site_templates"
TEXT_FILES = sorted(path for path in THEME.rglob("*") if path.suffix in {".html", ".css", ".js", ".xml"})
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
    assert built == {
        "404.html",
        "problems.html",
        "pages.html",
        "index.html",
        "math500/index.html",
        "guide/index.html",
        "guide/elements/index.html",
    }


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


def test_no_policy_is_written_where_none_is_given(tmp_path: Path) -> None:
    """Live reload needs an inline script, so serving has no policy."""
    site = build_site(tmp_path, site=SITE | {"csp": ""})
    assert "Content-Security-Policy" not in page(site, "index.html")


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


def test_the_page_for_missing_pages_needs_nothing_of_a_page(tmp_path: Path) -> None:
    """A template without a page is told only the version and the policy."""
    html = page(build_site(tmp_path, site={"version": "1", "csp": ""}), "404.html")
    assert "<h1>Page not found</h1>" in html
    assert "Data and provenance" not in html


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
    """What happened on the page goes before what the site is about."""
    tags = Tags(page(build_site(tmp_path, page=PAGE | {"description": "MEL leads"}), "index.html"))
    assert tags.all("meta", name="description", content="MEL leads")
    assert tags.all("meta", property="og:description", content="MEL leads")


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


def test_without_a_repository_nothing_can_be_edited(tmp_path: Path) -> None:
    """No link is made up."""
    assert "Edit this page" not in page(build_site(tmp_path, repo_url=None, edit_uri=None), "index.html")


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


def test_a_page_without_figures_lists_the_data_of_the_report(tmp_path: Path) -> None:
    """Provenance is on every page."""
    assert "All data of this report" in page(build_site(tmp_path, page=PAGE | {"sources": []}), "index.html")


def test_without_search_there_is_no_field_for_it(tmp_path: Path) -> None:
    """A site that leaves the search plugin out has no button that does nothing."""
    html = page(build_site(tmp_path, plugins=[]), "404.html")
    assert "earch" not in html


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


def test_a_report_without_an_address_can_be_built(tmp_path: Path) -> None:
    """No canonical address is made up."""
    site = build_site(tmp_path, site_url=None)
    assert "canonical" not in page(site, "index.html")


def test_pages_may_be_files_instead_of_folders(tmp_path: Path) -> None:
    """Links are right without directory addresses, as a report read from a disk prefers."""
    site = build_site(tmp_path, use_directory_urls=False)
    assert Tags(page(site, "math500.html")).all("a", rel="next", href="guide/index.html")


def test_a_report_can_change_the_template(tmp_path: Path) -> None:
    """A main.html of its own fills the blocks of the base."""
    (tmp_path / "mine").mkdir()
    override = '{% extends "base.html" %}{% block extrahead %}<meta name="mine">{% endblock %}'
    (tmp_path / "mine" / "main.html").write_text(override)
    theme = {"name": "reportgen", "custom_dir": str(tmp_path / "mine")}
    assert '<meta name="mine">' in page(build_site(tmp_path, PAGES, theme=theme), "index.html")


@pytest.mark.parametrize("path", TEXT_FILES, ids=lambda path: path.relative_to(THEME).as_posix())
def test_no_file_of_the_theme_names_an_outside_address(path: Path) -> None:
    """Nothing is ever loaded from another site; names of XML formats are no addresses."""
    found = re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", path.read_text("utf-8"))
    assert not [address for address in found if not address.startswith("http://www.sitemaps.org/schemas/")]


def test_every_token_that_the_styles_use_is_defined() -> None:
    """A misspelt custom property would silently be nothing."""
    sheets = [TOKENS, *(path for path in TEXT_FILES if path.suffix == ".css")]
    css = "".join(path.read_text("utf-8") for path in sheets)
    assert set(re.findall(r"var\((--[\w-]+)", css)) <= set(re.findall(r"(--[\w-]+):", css))


@pytest.mark.parametrize("path", sorted((THEME / "fonts").glob("*.woff2")), ids=lambda path: path.name)
def test_fonts_are_small_and_used(path: Path) -> None:
    """Each font is at most 35 kB, and the style sheet names it."""
    assert path.stat().st_size <= 35_000
    assert path.name in (THEME / "fonts" / "fonts.css").read_text("utf-8")


def test_fonts_bring_their_licences(site: Path) -> None:
    """The licence travels with the fonts onto every site."""
    assert {path.name for path in (site / "fonts").glob("OFL-*.txt")} == {
        "OFL-Inter.txt",
        "OFL-JetBrainsMono.txt",
    }
