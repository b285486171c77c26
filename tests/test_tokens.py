"""Pictures outside a page have the colours of the page's light theme."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from test_colours import theme

from reportgen.figures.style import LIGHT, resolve, resolve_specification, resolve_svg
from reportgen.figures.text import measure_text

FIGURES = Path(__file__).parent.parent / "reportgen" / "figures"


@pytest.mark.parametrize("name", sorted(set(LIGHT) - {"font"}))
def test_a_colour_is_that_of_the_style_sheet(name: str) -> None:
    """One contract in two languages is held by this test."""
    assert LIGHT[name] == theme("light")[name]


def test_the_font_starts_with_ours() -> None:
    """The style sheet's and the picture's fonts begin with the family whose widths are known."""
    assert LIGHT["font"].split(",")[0] == theme("light")["font"].split(",")[0].strip('"') == "Reportgen Sans"
    assert measure_text("m", 10) > measure_text("i", 10)


def test_every_variable_of_a_figure_can_be_resolved() -> None:
    """No picture names a colour that its file would not know."""
    named = {
        name
        for path in FIGURES.glob("*.py")
        for name in re.findall(r"var\(--rg-([a-z0-9-]+)\)", path.read_text(encoding="utf-8"))
    }
    assert named >= {"text", "muted", "bg"}
    assert named <= set(LIGHT)


def test_variables_become_values() -> None:
    """Every variable in a text is replaced, and nothing else."""
    assert resolve('fill="var(--rg-bg)" stroke="var(--rg-series-2)" x') == 'fill="#ffffff" stroke="#d47104" x'


def test_an_unknown_variable_is_a_fault() -> None:
    """A misspelled one is found by the tests, not by a reader of a black picture."""
    with pytest.raises(KeyError):
        resolve("var(--rg-none)")


def test_a_picture_s_colours_become_values_and_its_words_stay() -> None:
    """A series may be called like a token, one of ours or not, and quotes stay quotes in Vega's texts."""
    words = 'var(--rg-bg) fill="var(--rg-bg)" var(--rg-none)'
    svg = '<text fill="{}" font-family="{}" aria-label="var(--rg-bg)">' + words + "</text>"
    assert resolve_svg(svg.format("var(--rg-text)", "var(--rg-font)")) == svg.format(
        LIGHT["text"], LIGHT["font"]
    )


def test_a_specification_s_colours_become_values_and_its_words_stay() -> None:
    """Names of series stand in domains, titles, texts and data."""
    ink, name = "var(--rg-series-1)", "var(--rg-bg)"

    def written(colour: str) -> dict[str, object]:
        return {
            "title": {"text": name, "subtitle": name, "color": colour},
            "datasets": {"rows": [{"series": name}]},
            "data": {"values": [{"fill": name}]},
            "config": {"text": {"color": colour}},
            "layer": [{"mark": {"type": "text", "text": name, "color": colour, "stroke": "var(--rg-none)"}}],
            "encoding": {
                "color": {"scale": {"domain": [name], "range": [colour]}, "value": colour},
                "x": {"field": name, "axis": {"title": name, "labelColor": colour}},
                "y": {"datum": name},
                "text": {"value": name},
            },
        }

    assert resolve_specification(written(ink)) == written(LIGHT["series-1"])
