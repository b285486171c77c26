"""A report that trusts nobody works as any other, and runs no script but its own, from a disk and served."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from example_site import build
from hostile_report import LAST, write_hostile_report
from playwright.sync_api import expect

from browser.conftest import opened
from browser.live import ALIVE

if TYPE_CHECKING:
    from pathlib import Path

    from browser.conftest import Pool, Site, Sites, Tabs

pytestmark = pytest.mark.browser

EVIL = "document.documentElement.dataset.evil = 'ran';\n"
INTRUDERS = (
    '<script src="../evil.js"></script>',
    f"<script>{EVIL}</script>",
    f'<svg onload="{EVIL}"></svg>',
    '<iframe srcdoc="&lt;script src=../evil.js&gt;&lt;/script&gt;"></iframe>',
)


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """The hostile report with ``untrusted: true``, built strictly."""
    # Its 404 page looks for what it needs at the root.
    make = lambda folder: build(write_hostile_report(folder, untrusted=True))  # noqa: E731
    return sites.make("untrusted", make, at_root=True)


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_figures_search_and_theme_work(tabs: Tabs, *, from_server: bool) -> None:
    """Scripts that the loader brings do what they did; nothing is refused or asked for elsewhere."""
    tab = tabs.open("series/index", served=from_server, fresh=True)
    figure = tab.locator("#all")
    figure.scroll_into_view_if_needed()
    figure.hover()
    expect(figure).to_have_class(ALIVE)
    tab.get_by_role("button", name=re.compile("Colours")).click()
    expect(tab.locator("html")).to_have_attribute("data-theme", re.compile("light|dark"))
    tab.keyboard.press("/")
    tab.get_by_role("combobox").fill("hostile")
    expect(tab.get_by_role("option").first).to_be_visible()
    if from_server:  # from a disk this page has no place of its own
        tabs.go(tab, "404")
        expect(tab.locator("html")).to_have_class(re.compile(r"\bjs\b"))
        # Each script in the page has the hash that the loader asks for; a changed one would be refused.
        tabs.go(tab, "index")
        found = tab.evaluate("[...document.scripts].filter(s => s.src).map(s => [s.src, s.integrity])")
        assert {address.rpartition("/")[2] for address, _ in found} == {"theme.js", "search.js", "live.js"}
        assert all(integrity.startswith("sha256-") for _, integrity in found)


def test_the_policy_names_no_place_of_scripts(site: Site) -> None:
    """Nothing runs because of where it lies."""
    policy = re.search(r'Policy" content="([^"]*)"', (site.folder / "index.html").read_text("utf-8"))
    assert policy
    (scripts,) = [part for part in policy[1].split("; ") if part.startswith("script-src")]
    assert "self" not in scripts
    assert "unsafe" not in scripts


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_a_script_that_got_into_a_page_does_not_run(
    pool: Pool, site: Site, sites: Sites, tmp_path: Path, *, from_server: bool
) -> None:
    """The policy would hold even if all the other walls had fallen."""
    page = (site.folder / "index.html").read_text("utf-8")
    (tmp_path / "evil.js").write_text(EVIL, "utf-8")
    for number, intruder in enumerate(INTRUDERS):
        (tmp_path / f"{number}").mkdir()
        changed = page.replace("</article>", f"{intruder}</article>")
        (tmp_path / f"{number}/index.html").write_text(changed, "utf-8")
        with opened(pool, sites.find(tmp_path)) as tabs:
            tab = tabs.open(f"{number}/index", served=from_server)
            expect(tab.get_by_role("heading", name=LAST)).to_be_visible()
            tab.evaluate("new Promise((done) => requestIdleCallback(() => requestIdleCallback(done)))")
            assert tab.evaluate("document.documentElement.dataset.evil") is None, intruder
        found = [one for one in tabs.complaints if "violat" in one or "Content Security Policy" in one]
        assert found, (intruder, tabs.complaints)


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


@pytest.fixture(scope="module", params=NAMED)
def named(request: pytest.FixtureRequest, sites: Sites, site: Site) -> Site:
    """The site, with elements that have the names of what scripts read."""
    kind: str = request.param

    def make(folder: Path) -> Path:
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
        return folder

    return sites.make(f"named-{kind}", make)


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_names_of_elements_do_not_change_what_scripts_do(
    pool: Pool, named: Site, *, from_server: bool
) -> None:
    """Every script of ours works beside elements with the names of what it reads, and loads ours only."""
    with opened(pool, named) as tabs:
        tab = tabs.open("series/index", served=from_server, fresh=True)
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
        expect(figure).to_have_class(ALIVE)
        tab.locator("#results").get_by_role("button", name=re.compile("Cite")).click()
        expect(tab.get_by_role("button", name="Copy LaTeX table")).to_be_visible()
        tabs.go(tab, "scores/index")
        expect(tab.locator("#dots .rg-surface, #dots .rg-toolbar").first).to_be_attached()
    others = [one for one in tabs.requests if "elsewhere" in one and "/picture/" not in one]
    assert others == []
    assert [one for one in tabs.complaints if one.startswith("error:")] == []
