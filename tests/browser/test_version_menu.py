"""The menu of versions, and the note on an old one, where several states of a report are published."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest
from example_site import build
from hostile_report import write_hostile_report
from playwright.sync_api import expect
from theme_site import build_site

from browser.conftest import opened, resize
from browser.live import box_of

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from browser.conftest import Pool, Site, Sites, Tabs

pytestmark = pytest.mark.browser

LISTED = [
    {"version": "1.1", "title": "1.1", "aliases": ["latest"]},
    {"version": "1.0+b", "title": "1.0, second build", "aliases": []},
    {"version": "0.9", "title": "0.9", "aliases": []},
]
PLACES = ("", "v/1.1/", "v/1.0+b/", "v/0.9/", "pr/12/")
META = '<meta name="reportgen-versions">'
NO_VERSIONS = ("../../x", "javascript:alert(1)", "//example.org", "", "a" * 101, 1, ["1.0"])
STRANGE: tuple[object, ...] = (
    *(None, 7, "x", [], {"title": "no version"}),
    *({"version": version} for version in NO_VERSIONS),
    {"version": "1.1", "title": "<img src=x onerror=alert(1)>", "aliases": "latest"},
    {"version": "0.9", "title": {"toString": 1}, "aliases": {"includes": 1}},
)


def write_versions(folder: Path, listed: object = LISTED) -> None:
    """Write ``versions.js`` as publishing does."""
    text = f"globalThis.reportgenVersions = {json.dumps(listed)};\n"
    (folder / "versions.js").write_text(text, encoding="utf-8")


def publish(built: Path, folder: Path) -> None:
    """Lay copies of a site out as main, versions and a preview; pages of main are marked."""
    for place in PLACES:
        shutil.copytree(built, folder / place, dirs_exist_ok=True)
    for page in built.rglob("*.html"):
        copy = folder / page.relative_to(built)
        copy.write_text(copy.read_text("utf-8").replace("<title>", f"{META}<title>", 1), encoding="utf-8")


def write_published(folder: Path) -> Path:
    """The theme's site in several versions, and once more alone."""
    built = build_site(folder / "source")
    publish(built, folder / "repo")
    shutil.copytree(built, folder / "repo" / "alone")
    write_versions(folder / "repo")
    return folder / "repo"


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """The theme's site in several versions below ``/repo/``."""
    return sites.make("versions", write_published)


def menu_of(tab: Page) -> Locator:
    """The menu's button."""
    return tab.locator(".rg-versions summary")


def list_choices(tab: Page) -> list[str]:
    """Open the menu and read its entries, the current one with a star."""
    menu_of(tab).click()
    links = tab.get_by_role("list", name="Versions of this report").get_by_role("link")
    return [f"{link.inner_text()}{'*' if link.get_attribute('aria-current') else ''}" for link in links.all()]


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_the_menu_lists_all_versions_and_marks_the_own_one(tabs: Tabs, *, from_server: bool) -> None:
    """Each state of the report is named in words, newest first, and the menu leads to its first page."""
    end = "" if from_server else "index.html"
    tab = tabs.open("v/1.0+b/guide/elements/index", served=from_server)
    expect(menu_of(tab)).to_have_text("Version: 1.0, second build")
    entries = ["main (unreleased)", "1.1 (latest)", "1.0, second build*", "0.9"]
    assert list_choices(tab) == entries
    tab.get_by_role("link", name="0.9").click()
    tab.wait_for_url(f"**/repo/v/0.9/{end}")
    expect(menu_of(tab)).to_have_text("Version: 0.9")
    # An old version says so, and leads to the newest one, which has no note, as main and a preview have none.
    note = tab.get_by_role("note")
    expect(note).to_have_text("This is version 0.9. The newest is 1.1.")
    assert list_choices(tab)[-1] == "0.9*"
    tab.get_by_role("link", name="main (unreleased)").click()
    tab.wait_for_url(f"**/repo/{end}")
    expect(menu_of(tab)).to_have_text("Version: main")
    assert list_choices(tab)[0] == "main (unreleased)*"
    tabs.go(tab, "v/0.9/index")
    note.get_by_role("link", name="1.1").click()
    tab.wait_for_url(f"**/repo/v/1.1/{end}")
    for place in ("v/1.1/index", "index", "pr/12/index"):
        tabs.go(tab, place)
        expect(menu_of(tab)).to_be_visible()
        expect(note).to_have_count(0)


def test_a_preview_says_what_it_is_and_paper_which_version(tabs: Tabs) -> None:
    """A preview stands first in its own menu, and in no other; a printed page is without its address."""
    tab = tabs.open("pr/12/math500/index", served=True)
    expect(menu_of(tab)).to_have_text("Version: Preview 12")
    assert list_choices(tab)[:2] == ["Preview of pull request 12*", "main (unreleased)"]
    tab.get_by_role("link", name="Preview of pull request 12").click()
    tab.wait_for_url("**/repo/pr/12/")
    for place, words in (
        ("v/0.9/", "This is version 0.9. The newest is 1.1."),
        ("v/1.1/", "Version 1.1"),
        ("pr/12/", "Preview of pull request 12"),
        ("", "main (unreleased)"),
    ):
        tab.emulate_media(media="screen")
        tabs.go(tab, f"{place}index")
        expect(menu_of(tab)).to_be_visible()
        tab.emulate_media(media="print")
        expect(tab.get_by_role("note")).to_have_text(words)
        expect(menu_of(tab)).to_be_hidden()


def test_the_menu_works_by_keys(tabs: Tabs) -> None:
    """Enter opens it, Tab goes through it, Escape closes it and gives the focus back."""
    tab = tabs.open("v/1.1/math500/index", served=True)
    menu_of(tab).focus()
    for key in ("Enter", "Tab", "Tab"):
        tab.keyboard.press(key)
    expect(tab.get_by_role("link", name="1.1 (latest)")).to_be_focused()
    versions = tab.get_by_role("list", name="Versions of this report")
    tab.keyboard.press("Escape")
    expect(versions).to_be_hidden()
    expect(menu_of(tab)).to_be_focused()
    menu_of(tab).click()
    tab.mouse.click(640, 600)
    expect(versions).to_be_hidden()


def test_menu_and_note_fit_and_axe_finds_nothing(tabs: Tabs) -> None:
    """They have names, landmarks and contrast, and fit the screen."""
    tab, faults = tabs.open("v/0.9/guide/elements/index", served=True), []
    list_choices(tab)
    for width in (1280, 390):
        resize(tab, width)
        faults += tabs.find_faults(tab, widths=(width,))
        box = box_of(tab.get_by_role("list", name="Versions of this report"))
        if box["x"] < 0 or box["right"] > width:
            faults.append(f"the list is outside at {width} px")
    assert faults == []


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_a_report_by_itself_has_no_menu(tabs: Tabs, *, from_server: bool) -> None:
    """It asks for no list, and nothing moves."""
    watch = """globalThis.shifts = [];
        new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => entry.value)))
            .observe({ type: "layout-shift", buffered: true });"""
    tab = tabs.open("alone/index", served=from_server, script=watch)
    tab.evaluate("new Promise((done) => requestIdleCallback(() => requestIdleCallback(done)))")
    assert not [one for one in tabs.requests if one.endswith(("/versions.js", "/version_menu.js"))]
    expect(menu_of(tab)).to_have_count(0)
    assert tab.evaluate("globalThis.shifts") == []


def test_a_damaged_list_does_no_harm(pool: Pool, site: Site, sites: Sites, tmp_path: Path) -> None:
    """What is no version is passed over, names stay text, and links stay within the site."""
    for place in ("v/1.1", "pr/12"):
        shutil.copytree(site.folder / place, tmp_path / "repo" / place)
    write_versions(tmp_path / "repo")
    with opened(pool, sites.find(tmp_path / "repo")) as tabs:
        tab = tabs.open("v/1.1/index", served=True, fresh=True)
        tab.route("**/versions.js", lambda route: route.fulfill(path=tmp_path / "repo/versions.js"))
        for listed in (STRANGE, None, {"length": 3}, "text", 5):
            write_versions(tmp_path / "repo", listed)
            tabs.go(tab, "v/1.1/index")  # has loaded what its scripts asked for
            if listed is STRANGE:
                choices = list_choices(tab)
                assert choices == ["main (unreleased)", "<img src=x onerror=alert(1)>*", "0.9"]
            else:
                expect(menu_of(tab)).to_have_count(0)
            links = tab.evaluate("[...document.querySelectorAll('.rg-versions a')].map((link) => link.href)")
            assert all(link.startswith(f"{tabs.site.address}/") for link in links)
            # A preview leads back to main, whatever the list says.
            tabs.go(tab, "pr/12/index")
            expect(menu_of(tab)).to_have_text("Version: Preview 12")
    assert tabs.complaints == []


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_without_a_list_there_is_no_menu(
    pool: Pool, site: Site, sites: Sites, tmp_path: Path, *, from_server: bool
) -> None:
    """A version that somebody unpacked alone works as any site."""
    shutil.copytree(site.folder / "v/1.1", tmp_path / "v/1.1")
    with opened(pool, sites.find(tmp_path)) as tabs:
        tab = tabs.open("v/1.1/index", served=from_server)
        tab.evaluate("new Promise((done) => requestIdleCallback(() => requestIdleCallback(done)))")
        expect(menu_of(tab)).to_have_count(0)
    # The browser itself says that the file is not there.
    assert all("Failed to load resource" in one for one in tabs.complaints), tabs.complaints


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_the_menu_works_where_nobody_is_trusted(
    pool: Pool, sites: Sites, tmp_path: Path, *, from_server: bool
) -> None:
    """The policy of ``untrusted: true`` lets the theme's own script load the list."""
    built = sites.make("untrusted", lambda folder: build(write_hostile_report(folder, untrusted=True)))
    shutil.copytree(built.folder, tmp_path / "repo/v/1.0+b")
    write_versions(tmp_path / "repo")
    with opened(pool, sites.find(tmp_path / "repo")) as tabs:
        tab = tabs.open("v/1.0+b/series/index", served=from_server)
        assert re.search("strict-dynamic", tab.content())
        assert "1.1 (latest)" in list_choices(tab)
        expect(tab.get_by_role("note")).to_contain_text("The newest is 1.1.")
    assert tabs.complaints == []
