"""The write-ups of the example: what their first screen holds, how long they are, and how many Tab stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

# Height in pixels at 1280, Tab stops.
LIMITS = {
    "math500": (3_000, 60),
    "aime": (4_500, 80),
    "training-diagnostics": (3_500, 60),
    "model-comparison": (8_000, 120),
    "training-accuracy": (4_200, 60),
}
_COUNT_STOPS = """() => [...document.querySelectorAll("a[href], button, input, summary, [tabindex]")].filter(
    (node) => node.tabIndex >= 0 && !node.disabled
        && node.checkVisibility({ checkVisibilityCSS: true, contentVisibilityAuto: true })).length"""


@pytest.fixture(params=LIMITS)
def page(request: pytest.FixtureRequest, browser: Browser, example_site: Path) -> Iterator[tuple[str, Page]]:
    """A write-up on a laptop's screen, from disk."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    tab = context.new_page()
    tab.goto((example_site / request.param / "index.html").as_uri())
    yield request.param, tab
    context.close()


def test_the_first_screen_has_verdict_and_whole_figure(page: tuple[str, Page]) -> None:
    """Who leads in 20 px, its values in 15 px and each on one line, then a figure that is not cut."""
    _, tab = page
    verdict = tab.locator(".rg-key-results strong").first
    assert verdict.evaluate("node => getComputedStyle(node).fontSize") == "20px"
    for value in tab.locator(".rg-quantity").all():
        assert value.evaluate("node => getComputedStyle(node).fontSize") == "15px"
        assert value.evaluate("node => node.getBoundingClientRect().height") < 30
    box = tab.locator(".rg-plot").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 800
    assert tab.locator(".rg-breadcrumbs").count() == 0


def test_write_ups_stay_short(page: tuple[str, Page]) -> None:
    """Neither scrolling nor the Tab key takes forever."""
    name, tab = page
    height, stops = LIMITS[name]
    assert tab.evaluate("document.documentElement.scrollHeight") <= height
    assert tab.evaluate(_COUNT_STOPS) <= stops


def test_notes_are_two_lines_and_statements_one(page: tuple[str, Page]) -> None:
    """The method is folded, and a link to a statement unfolds the list without a script."""
    _, tab = page
    for note in tab.locator(":is(.rg-figure, .rg-stack, .rg-result) .rg-notes").all():
        if note.is_visible():
            assert note.evaluate("node => node.getBoundingClientRect().height") <= 42, note.inner_text()
    assert tab.locator("#checked-1").is_hidden()
    tab.goto(f"{tab.url}#checked-1")
    assert tab.locator("#checked-1").is_visible()
