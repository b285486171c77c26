"""A report that trusts nobody works as any other, and runs no script but its own, from a disk and served."""

from __future__ import annotations

import re
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
