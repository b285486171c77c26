"""The reader's choice of x: lines and values over it, named when the author's is left, kept in links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from browser.conftest import Site, Tabs, served
from browser.test_link_state import follow, line
from browser.test_linked_live import SAVED, copied_state
from browser.test_live import drag, point_at, said, tool, tooltip_rows, wake

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser
NAME = "choice-of-x"


@pytest.fixture
def tabs(browser: Browser, example_site: Path) -> Iterator[Tabs]:
    """A way to open pages of the example site, from disk and from a server."""
    with served(example_site) as address:
        opened = Tabs(browser, Site(example_site, address))
        yield opened
        opened.close()
        assert opened.complaints == []


def choose(figure: Locator, words: str) -> None:
    """Choose an axis in the menu."""
    tool(figure, "Choose the x axis").click()
    figure.locator(".rg-menu:visible").get_by_role("button", name=words, exact=True).click()


def ticks(figure: Locator) -> Locator:
    """Numbers of the axes."""
    return figure.locator(".rg-live .role-axis-label text")


def test_lines_are_shown_over_the_chosen_x(tabs: Tabs) -> None:
    """The same values at another place; a zoom belongs to its axis; the author's choice brings that back."""
    tab = tabs.open("guide/curve/index")
    figure = wake(tab, NAME)
    before = sorted(ticks(figure).all_text_contents())
    point_at(figure, 0.995)
    own = tooltip_rows(figure)
    assert own[0][0] == "step 1,199"
    drag(figure, 0.2, 0.6)
    choose(figure, "samples")
    expect(said(figure)).to_have_text("Lines by samples")
    expect(figure.locator(".rg-pinned span").first).to_have_text("By samples; the page has step.")
    expect(tool(figure, "Reset zoom")).to_be_hidden()
    point_at(figure, 0.995)
    rows = tooltip_rows(figure)
    assert rows[0][0] == "samples 76,736"
    assert rows[1:] == own[1:]
    choose(figure, "epoch")
    point_at(figure, 0.995)
    assert tooltip_rows(figure)[0][0] == "epoch 11"
    tool(figure, "As on the page").click()
    expect(figure.locator(".rg-pinned")).to_have_count(0)
    tool(figure, "Reset zoom").click()
    expect(tool(figure, "Reset zoom")).to_be_hidden()
    assert sorted(ticks(figure).all_text_contents()) == before


def test_a_link_keeps_the_x(tabs: Tabs) -> None:
    """With a part of that axis; a link that names no x of the figure shows the author's."""
    tab = tabs.open("guide/curve/index", script=SAVED, served=True)
    figure = wake(tab, NAME)
    choose(figure, "samples")
    drag(figure, 0.2, 0.6)
    state = copied_state(figure)
    assert state.startswith(f"{NAME}~x=")
    assert state.endswith("~over=samples")
    tool(figure, "As on the page").click()
    follow(tab, state)
    expect(line(figure)).to_contain_text("the lines by samples")
    expect(tool(figure, "Reset zoom")).to_be_visible()
    assert copied_state(figure) == state
    tab.keyboard.press("Escape")
    expect(figure.locator(".rg-pinned")).to_have_count(0)
    follow(tab, f"{NAME}~over=nothing")
    expect(line(figure)).to_have_count(0)
