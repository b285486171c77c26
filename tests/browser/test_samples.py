"""Samples behind the cells of a problem map: opened from disk by key, click and tap; hostile texts."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import resize
from browser.live import box_of
from reportgen.archive.one_file import write_one_file
from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from browser.conftest import Site, Sites, Tabs

pytestmark = pytest.mark.browser

CASE = Path(__file__).parents[1] / "cases" / "problem-samples"


def publish_case(folder: Path) -> Path:
    """The site of the case, with all of it in one file."""
    root = shutil.copytree(CASE, folder)
    publish(root / "mkdocs.yml", strict=True, progress=lambda _done, _all: None, warn=lambda _: None)
    site = root / "site"
    (site / "report.html").write_text(write_one_file(site), "utf-8", newline="\n")
    return site


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """The site of the case."""
    return sites.make("samples", publish_case)


def surface(tab: Page) -> Locator:
    """What takes pointer and keyboard over the map."""
    found = tab.locator(".rg-figure .rg-surface")
    expect(found).to_be_attached()
    found.scroll_into_view_if_needed()
    return found


def loaded(tabs: Tabs) -> list[str]:
    """The scripts of samples that were loaded."""
    names = (url.rpartition("/")[2] for url in tabs.requests)
    return [name for name in names if "samples" in name]


def first_cell(tab: Page) -> tuple[float, float]:
    """The middle of the map's first cell."""
    surface(tab)
    box = box_of(tab.locator("svg.rg-heat"))
    return box["x"] + box["width"] / 8, box["y"] + box["height"] / 4


def open_by_keys(tab: Page, *keys: str) -> Locator:
    """The dialog of the cell that these keys lead to."""
    surface(tab).focus()
    for key in (*keys, "Enter"):
        tab.keyboard.press(key)
    box = tab.get_by_role("dialog")
    expect(box).to_be_visible()
    return box


def read_texts(box: Locator) -> list[tuple[str, str]]:
    """Each text of a dialog after what it is."""
    names = box.locator(".rg-sample-term").all_text_contents()
    return list(zip(names, box.locator(".rg-sample-text").all_text_contents(), strict=True))


def test_a_cell_opens_from_disk_and_escape_leads_back(tabs: Tabs) -> None:
    """Prompt and expected answer once, then a part a sample; nothing is loaded before, and once only."""
    tab = tabs.open("index")
    surface(tab).hover()
    tab.mouse.move(0, 0)  # a pointer that stays over the map points again when the dialog closes
    assert not loaded(tabs)
    box = open_by_keys(tab, "Home", "ArrowUp", "ArrowDown")
    expect(box).to_have_accessible_name("capital, small")
    assert box.locator("h3").all_text_contents() == ["sample 0: right", "sample 1: wrong"]
    shared = [("Prompt", "What is the capital of France?"), ("Expected", "Paris")]
    assert read_texts(box) == [*shared, ("Answer", "Paris"), ("Answer", "Lyon")]
    tab.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(surface(tab)).to_be_focused()
    expect(tab.locator(".rg-tooltip")).to_contain_text("small: 50.0%, 1 of 2 samples right")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("dialog")).to_be_visible()
    assert loaded(tabs) == ["live-samples.js", "problems-map.samples-0.js"]
    tab.get_by_role("button", name="Close").click()
    expect(box).to_have_count(0)
    expect(surface(tab)).to_be_focused()
    tab.keyboard.press("Space")
    expect(tab.locator("svg .rg-faded")).to_have_attribute("data-rg-series", "large")


def test_hostile_texts_are_text(tabs: Tabs) -> None:
    """Markup and scripts of a model do nothing, a direction does not leave its text, a long one says so."""
    tab = tabs.open("index")
    box = open_by_keys(tab, "ArrowRight", "ArrowRight", "ArrowRight")
    texts = [text for _, text in read_texts(box)]
    assert texts[0].startswith(
        "<script>document.title = 'run'</script> \u202eesrever\u202c </div> & <b>bold</b>"
    )
    assert texts[3] == "<img src=x onerror=\"document.title='run'\">"
    assert box.locator("script, img, b").count() == 0
    assert tab.title() == "problem-samples"
    styles = box.locator(".rg-sample-text").evaluate_all("ps => ps.map(p => getComputedStyle(p).unicodeBidi)")
    assert set(styles) == {"plaintext"}
    tab.keyboard.press("Escape")
    box = open_by_keys(tab, "ArrowRight", "ArrowDown")
    long = [text for _, text in read_texts(box) if "characters left out" in text]
    assert [re.findall(r"… \[([\d,]+) characters left out\] …", text) for text in long] == [
        ["4,996"],
        ["3,599"],
    ]
    assert all(len(text) <= 4000 for text in long)
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0


def test_clicks_open_one_dialog_that_all_can_read(tabs: Tabs) -> None:
    """A double click too, without a fault that axe finds."""
    tab, faults = tabs.open("index", served=True), []
    for width in (1280, 390):
        resize(tab, width)
        tab.mouse.dblclick(*first_cell(tab))
        box = tab.get_by_role("dialog")
        expect(box).to_have_accessible_name("capital, large")
        faults += tabs.find_faults(tab, widths=(width,))
        tab.get_by_role("button", name="Close").click()
        expect(box).to_have_count(0)
        tab.mouse.move(0, 0)
    assert faults == []


def test_a_second_tap_opens(tabs: Tabs) -> None:
    """The first one reads the cell."""
    tab = tabs.open("index", width=390, touch=True)
    place = first_cell(tab)
    tab.touchscreen.tap(*place)
    expect(tab.locator(".rg-tooltip")).to_contain_text("capital")
    expect(tab.get_by_role("dialog")).to_have_count(0)
    tab.touchscreen.tap(*place)
    expect(tab.get_by_role("dialog")).to_be_visible()


def test_one_file_has_none(tabs: Tabs) -> None:
    """Where no other file may be loaded, a cell promises nothing, and Enter isolates as in any map."""
    tab = tabs.open("report")
    surface(tab).focus()
    tab.keyboard.press("ArrowRight")
    assert "samples" not in tab.locator(".rg-tooltip > *").last.inner_text().replace("samples right", "")
    tab.keyboard.press("Enter")
    expect(tab.locator("svg .rg-faded")).to_have_attribute("data-rg-series", "small")
