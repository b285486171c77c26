"""A live figure shows the numbers of the still one: digits of the values, whatever the height of the plot."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from browser.test_live import drag, point_at, tooltip_rows, wake

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from browser.conftest import Tabs

pytestmark = pytest.mark.browser


def read_table(figure: Locator) -> list[list[str]]:
    """The rows of the data table, with its header."""
    rows = figure.locator(".rg-data tr").all()
    return [row.locator("th, td").all_text_contents() for row in rows]


@pytest.mark.parametrize(
    ("name", "few"),
    [
        ("decay", ["2.51e-5 [1.61e-5, 3.42e-5]", "1.42e-7 [9.1e-8, 1.93e-7]"]),
        ("wide", ["900", "3", "0.5200", "\u22120.0042", "3e-8", "0.0300 [0.0251, 0.0349]"]),
    ],
)
def test_the_tooltip_says_what_the_data_table_does(tabs: Tabs, name: str, few: list[str]) -> None:
    """At each step, with the interval."""
    figure = wake(tabs.open(name), name)
    header, *rows = read_table(figure)
    for place, row in enumerate(rows):
        point_at(figure, 0.002 + 0.996 * place / (len(rows) - 1))
        _, *readings = tooltip_rows(figure)
        shown = {words[0]: " ".join(words[1:3]) for words in readings if words[0] in header}
        assert shown == dict(zip(header[1:], row[1:], strict=True))
    assert set(few) <= {cell for row in rows for cell in row}


def test_a_smooth_curve_has_no_stairs_when_zoomed(tabs: Tabs) -> None:
    """Each of its values is below the one before."""
    figure = wake(tabs.open("smooth"), "smooth")
    drag(figure, 0.5, 0.6)
    path = figure.locator(".lines_marks path").first.get_attribute("d") or ""
    heights = [float(height) for height in re.findall(r"[ML][\d.-]+,([\d.-]+)", path)]
    assert len(heights) > 200
    assert all(before < after for before, after in pairwise(heights))
