"""A hub of reports in a real browser, under a path and from disk: its search, and pages that fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_archives import CITED, REPORT, commit, invoke
from made_projects import write_report
from made_sites import list_hub, make_page, make_report, make_score, update, write_site
from playwright.sync_api import expect

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from browser.conftest import Site, Sites, Tabs

pytestmark = pytest.mark.browser

NAMES = ("index", "team-foundation-models", "benchmark-contest")
SEARCHED = CITED.replace("plugins:\n", "plugins:\n  - search\n")
LONG = "A very long title of a report with the name_of_a_configuration_file_that_has_no_space_anywhere.yaml"


def write_hub(folder: Path) -> Path:
    """Write a hub of a real report and of two others, one with a long title, and one that is broken."""
    folder.mkdir()
    report = commit(write_report(folder / "report", REPORT | {"mkdocs.yml": SEARCHED}))
    assert invoke("build", "--config-file", report / "mkdocs.yml")[0] == 0
    scored = make_page(make_score("MEL", 0.8), title="Ablations", statements=(True, False))
    write_site(folder / "long", make_report(LONG, scored, version="1.0"))
    write_site(folder / "short", make_report("Short", make_page(make_score("GRPO", 0.7)), version="2"))
    listed = [
        {"name": "small", "from": "report/site", "team": "Foundation models"},
        {"name": "long", "from": "long", "team": "Foundation models"},
        {"name": "short", "from": "short", "team": "Post-training"},
        {"name": "lost", "from": "lost.zip", "team": "Post-training"},
    ]
    list_hub(folder, listed, description="What our teams have measured.")
    assert update(folder, "served/hub")[0] == 3
    return folder / "served/hub"


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """The hub, on disk and below a path."""
    return sites.make("hub", write_hub)


def search(tab: Page, words: str) -> list[str]:
    """Search, and return the titles that are found."""
    tab.wait_for_load_state()  # its scripts come after its text
    if not tab.get_by_role("combobox").is_visible():
        tab.keyboard.press("/")
    tab.get_by_role("combobox").fill(words)
    expect(tab.locator("[role=option]").first).to_be_visible()
    return tab.locator("[role=option] strong").all_inner_texts()


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_a_search_leads_through_titles_into_a_report(tabs: Tabs, *, from_server: bool) -> None:
    """By keyboard alone: a page of a report, a benchmark, and at last the search of the report itself."""
    tab = tabs.open("index", served=from_server)
    assert search(tab, "abl")[0] == "Ablations"
    assert search(tab, "contest")[0] == "Contest"
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("heading", level=1)).to_have_text("Contest")

    assert "Search in Small" in search(tab, "small")
    words = "reaches the highest mean"
    assert all(title.startswith("Search in ") for title in search(tab, words))
    tab.locator("[role=option]", has_text="Search in Small").click()
    expect(tab.get_by_role("combobox")).to_have_value(words)
    expect(tab.locator("[role=option]").first).to_contain_text(words)
    assert "/hub/r/small/" in tab.url


def test_pages_fit_and_can_be_read_by_everybody(tabs: Tabs) -> None:
    """Nothing scrolls sideways, and axe finds nothing."""
    tab, faults = tabs.open("index", served=True), []
    for name in NAMES:
        tabs.go(tab, name)
        faults += tabs.find_faults(tab)
    assert faults == []


def test_everything_reads_without_scripts(tabs: Tabs) -> None:
    """Each list and number is in the page; what needs a script is not shown."""
    tab = tabs.open("index", width=390, javascript=False, served=True)
    for name in NAMES:
        tabs.go(tab, name)
        expect(tab.get_by_role("link", name=LONG).first).to_be_visible()
        expect(tab.get_by_role("button", name="Search")).to_have_count(0)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390, name
        for words in tab.locator(".rg-hub-list td", has_text="as expected").all_inner_texts():
            assert "statement" in words, name


def test_links_lead_to_the_reports(tabs: Tabs) -> None:
    """From the index to a team, a benchmark and a report, from disk."""
    tab = tabs.open("index")
    expect(tab.get_by_text("lost was never published.")).to_be_visible()
    tab.locator("main").get_by_role("link", name="Foundation models", exact=True).click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Foundation models")
    tab.locator("main").get_by_role("link", name="Contest").first.click()
    expect(tab.locator(".rg-hub-interval")).to_have_count(2)
    tab.locator("main").get_by_role("link", name="Short").first.click()
    assert tab.url.endswith("/r/short/a/index.html")
