"""The chart of a file and of ``rg.draw`` outside of our pages: in vega-embed, as Altair shows it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import reportgen as rg

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from altair import LayerChart
    from playwright.sync_api import Browser, FloatRect, Locator, Page

RUNS = pd.DataFrame(
    {"model": name, "seed": seed, "step": step, "accuracy": round(start + step / 100 + (seed - 2) * 0.02, 4)}
    for name, start in (("MEL", 0.2), ("GRPO", 0.5))
    for seed in (1, 2, 3)
    for step in range(30)
)
CLEAR = "() => document.querySelectorAll('#vg-tooltip-element.visible').length === 0"


@cache
def draw_chart() -> LayerChart:
    """The chart of two curves, as a notebook gets it."""
    return rg.draw(RUNS, "accuracy", title="Accuracy")


@pytest.fixture(scope="module")
def embedded(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, list[str]]]:
    """A page with the chart of two curves, and what its console says."""
    path: Path = tmp_path_factory.mktemp("altair") / "chart.html"
    draw_chart().save(str(path), inline=True, embed_options={"renderer": "svg"})
    page, said = browser.new_page(viewport={"width": 900, "height": 520}), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_selector(".vega-embed svg .mark-line path")
    yield page, said
    page.close()


@pytest.mark.parametrize("away", [0, 6, 15], ids=["on a marker", "beside a line", "at the edge of a band"])
def test_the_nearest_point_tells_its_numbers(embedded: tuple[Page, list[str]], away: float) -> None:
    """Wherever the pointer is: series, step, value, interval and runs."""
    page, _ = embedded
    plot = find_box(page.locator(".vega-embed svg .mark-group.role-frame .background").first)
    drawn = draw_chart().to_dict()
    (first, last), (low, high) = (drawn["encoding"][name]["scale"]["domain"] for name in "xy")
    x, y = (12 - first) / (last - first) * drawn["width"], (high - 0.32) / (high - low) * drawn["height"]
    page.mouse.move(0, 0)
    page.wait_for_function(CLEAR)
    page.mouse.move(plot["x"] + x, plot["y"] + y - away, steps=2)
    cells = page.locator("#vg-tooltip-element.visible td.value")
    cells.first.wait_for()
    half = 4.302653 * 0.02 / 3**0.5  # Student's t of two degrees of freedom
    numbers = [f"{0.32 + by * half:.2f}" for by in (0, -1, 1)]
    assert cells.all_inner_texts() == ["MEL", "12", *numbers, "3"]


def test_nothing_is_cut_and_the_console_is_silent(embedded: tuple[Page, list[str]]) -> None:
    """Names, labels and titles are inside the picture."""
    page, said = embedded
    frame = find_box(page.locator(".vega-embed svg").first)
    texts = page.locator(".vega-embed svg text").all()
    assert {"MEL", "GRPO", "Accuracy", "step"} <= {text.text_content() for text in texts}
    for box in map(find_box, texts):
        assert frame["x"] <= box["x"] < box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] < box["y"] + box["height"] <= frame["y"] + frame["height"]
    assert said == []


def find_box(part: Locator) -> FloatRect:
    """Where something stands in the window, in pixels."""
    box = part.bounding_box()
    assert box
    return box
