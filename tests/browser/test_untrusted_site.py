"""A report that trusts nobody works as any other, and runs no script but its own, from a disk and served."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from example_site import build, made_once
from hostile_report import LAST, write_hostile_report
from playwright.sync_api import expect

from browser.conftest import Site, Tabs, served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

EVIL = "document.documentElement.dataset.evil = 'ran';\n"
INTRUDERS = (
    '<script src="../evil.js"></script>',
    f"<script>{EVIL}</script>",
    f'<svg onload="{EVIL}"></svg>',
    '<iframe srcdoc="&lt;script src=../evil.js&gt;&lt;/script&gt;"></iframe>',
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The hostile report with ``untrusted: true``, built strictly, on disk and served."""
    folder = made_once(
        tmp_path_factory, "untrusted", lambda folder: build(write_hostile_report(folder, untrusted=True))
    )
    with served(folder) as address:
        yield Site(folder, address)


@pytest.fixture
def tabs(browser: Browser, site: Site) -> Iterator[Tabs]:
    """A way to open pages; what is refused is up to each test."""
    opened = Tabs(browser, site)
    yield opened
    opened.close()


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_figures_search_and_theme_work(tabs: Tabs, *, from_server: bool) -> None:
    """Scripts that the loader brings do what they did; nothing is refused or asked for elsewhere."""
    tab = tabs.open("series/index", served=from_server)
    figure = tab.locator("#all")
    figure.scroll_into_view_if_needed()
    figure.hover()
    expect(figure).to_have_class(re.compile("rg-is-live"))
    tab.get_by_role("button", name=re.compile("Colours")).click()
    expect(tab.locator("html")).to_have_attribute("data-theme", re.compile("light|dark"))
    tab.keyboard.press("/")
    tab.get_by_role("combobox").fill("hostile")
    expect(tab.get_by_role("option").first).to_be_visible()
    if from_server:  # from a disk this page has no place of its own
        tab.goto(f"{tabs.site.address}/404.html")
        expect(tab.locator("html")).to_have_class(re.compile(r"\bjs\b"))
    assert tabs.complaints == []


def test_scripts_from_a_server_are_checked(site: Site, tabs: Tabs) -> None:
    """Each script in the page has the hash that the loader asks for; a changed one would be refused."""
    tab = tabs.open("index", served=True)
    found = tab.evaluate("[...document.scripts].filter(s => s.src).map(s => [s.src, s.integrity])")
    assert {address.rpartition("/")[2] for address, _ in found} == {"theme.js", "search.js", "live.js"}
    assert all(integrity.startswith("sha256-") for _, integrity in found)
    policy = re.search(r'Policy" content="([^"]*)"', (site.folder / "index.html").read_text("utf-8"))
    assert policy
    (scripts,) = [part for part in policy[1].split("; ") if part.startswith("script-src")]
    assert "self" not in scripts
    assert "unsafe" not in scripts


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
@pytest.mark.parametrize("intruder", INTRUDERS)
def test_a_script_that_got_into_a_page_does_not_run(
    browser: Browser, site: Site, tmp_path: Path, intruder: str, *, from_server: bool
) -> None:
    """The policy would hold even if all the other walls had fallen."""
    (tmp_path / "p").mkdir()
    page = (site.folder / "index.html").read_text("utf-8")
    (tmp_path / "p/index.html").write_text(page.replace("</article>", f"{intruder}</article>"), "utf-8")
    (tmp_path / "evil.js").write_text(EVIL, "utf-8")
    with served(tmp_path) as address:
        tabs = Tabs(browser, Site(tmp_path, address))
        tab = tabs.open("p/index", served=from_server)
        expect(tab.get_by_role("heading", name=LAST)).to_be_visible()
        tab.wait_for_load_state("networkidle")
        assert tab.evaluate("document.documentElement.dataset.evil") is None
        tabs.close()
    assert any("violat" in one or "Content Security Policy" in one for one in tabs.complaints), (
        tabs.complaints
    )


# What scripts read of a document, and of a window that has it only later or never.
OF_DOCUMENT = (
    *("activeElement", "addEventListener", "appendChild", "baseURI", "body", "contains", "createElement"),
    *("createElementNS", "createTextNode", "currentScript", "defaultView", "documentElement", "execCommand"),
    *("fonts", "fullscreenElement", "getElementById", "head", "implementation", "nodeType", "ownerDocument"),
    *("querySelector", "querySelectorAll", "readyState", "removeEventListener", "scripts", "title"),
)
OF_WINDOW = (
    *("define", "exports", "global", "lunr", "module", "reportgenFreeDocument", "reportgenLive"),
    *("reportgenSamples", "reportgenSearch", "reportgenSearchDialog", "reportgenVersions", "vega"),
    *("checked-1", "navigation", "search-results"),
)
ELSEWHERE = 'src="https://elsewhere.example/picture/" data-js="https://elsewhere.example/js/"'
NAMED = {
    "images": f"<img {{0}} {ELSEWHERE}>",
    "forms": '<form {0}><input name="removeAttribute"><input name="src"></form>',
    "embedded": "<object {0}></object><iframe {0}></iframe><embed {0}>",
}
STATEMENT = """<a class="rg-bound" href="#checked-1">bound</a> <section class="rg-checked"><ol>
<li id="checked-1"><span class="rg-says">it holds</span></li></ol></section>"""


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
@pytest.mark.parametrize("kind", NAMED)
def test_names_of_elements_do_not_change_what_scripts_do(
    browser: Browser, site: Site, tmp_path: Path, kind: str, *, from_server: bool
) -> None:
    """Every script of ours works beside elements with the names of what it reads, and loads ours only."""
    folder = tmp_path / "site"
    shutil.copytree(site.folder, folder, ignore=shutil.ignore_patterns("*.csv", "*.pdf", "*.png"))
    (folder / "versions.js").write_text('window.reportgenVersions = [{"version": "1.0"}];', "utf-8")
    names = "".join(NAMED[kind].format(f'id="{name}" name="{name}"') for name in OF_DOCUMENT)
    names += "".join(f'<span id="{name}"></span>' for name in OF_WINDOW)
    for name in ("series", "scores"):
        page = (folder / name / "index.html").read_text("utf-8")
        page = page.replace('<article class="rg-prose">', f'<article class="rg-prose">{names}', 1)
        page = page.replace("</article>", f"{STATEMENT}</article>", 1)
        page = page.replace("</head>", '<meta name="reportgen-versions" content=""></head>', 1)
        (folder / name / "index.html").write_text(page, "utf-8")
    with served(folder) as address:
        tabs = Tabs(browser, Site(folder, address))
        tab = tabs.open("series/index", served=from_server)
        expect(tab.locator(".rg-versions")).to_be_visible()
        tab.get_by_role("button", name=re.compile("Colours")).click()
        expect(tab.locator("html")).to_have_attribute("data-theme", re.compile("light|dark"))
        tab.keyboard.press("/")
        tab.get_by_role("combobox").fill("hostile")
        expect(tab.get_by_role("option").first).to_be_visible()
        tab.keyboard.press("Escape")
        tab.get_by_text("bound", exact=True).hover()
        expect(tab.get_by_role("tooltip")).to_have_text("it holds")
        figure = tab.locator("#all")
        figure.hover()
        expect(figure).to_have_class(re.compile("rg-is-live"))
        tab.locator("#results").get_by_role("button", name=re.compile("Cite")).click()
        expect(tab.get_by_role("button", name="Copy LaTeX table")).to_be_visible()
        marks = tabs.open("scores/index", served=from_server)
        expect(marks.locator("#dots .rg-surface, #dots .rg-toolbar").first).to_be_attached()
        tabs.close()
    others = [one for one in tabs.requests if "elsewhere" in one and "/picture/" not in one]
    assert others == []
    assert [one for one in tabs.complaints if one.startswith("error:")] == []
