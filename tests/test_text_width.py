"""The width of a text agrees with the font that is shipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st

from reportgen.figures.text import FONTS as TTF
from reportgen.figures.text import UNITS_PER_EM, Weight, measure_text

ROOT = Path(__file__).parent.parent
WEB = ROOT / "site_templates" / "fonts"
WEIGHTS: tuple[Weight, ...] = (400, 600)
TEXT = "GRPO 0.82 ± 0.01, αβγ → ≈ −3 × 10⁻⁴, naïve Łódź"


@pytest.mark.parametrize("weight", WEIGHTS)
def test_width_is_the_sum_of_the_advances_in_the_font_file(weight: Weight) -> None:
    """The table is the one of the TTF that draws the static picture."""
    font = TTFont(TTF / f"reportgen-sans-{weight}.ttf")
    cmap, metrics = font.getBestCmap(), font["hmtx"]
    units = sum(metrics[cmap[ord(char)]][0] for char in TEXT)
    assert measure_text(TEXT, 13, weight) == pytest.approx(units * 13 / font["head"].unitsPerEm)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_every_character_of_the_font_is_in_the_table(weight: Weight) -> None:
    """No letter that the font draws is estimated."""
    advances = json.loads((TTF / "advances.json").read_bytes())[str(weight)]
    known = {int(first) + i for first, run in advances.items() for i in range(len(run))}
    assert known == set(TTFont(TTF / f"reportgen-sans-{weight}.ttf").getBestCmap())


@pytest.mark.parametrize("weight", WEIGHTS)
def test_browser_and_picture_use_the_same_widths(weight: Weight) -> None:
    """The WOFF2 for browsers and the TTF for the static picture have equal advances."""
    fonts = (TTFont(WEB / f"reportgen-sans-{weight}.woff2"), TTFont(TTF / f"reportgen-sans-{weight}.ttf"))
    web, ttf = ({c: f["hmtx"][g][0] for c, g in f.getBestCmap().items()} for f in fonts)
    assert web == ttf
    assert all(font["head"].unitsPerEm == UNITS_PER_EM for font in fonts)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_figures_are_tabular(weight: Weight) -> None:
    """Numbers stand under each other: every digit is equally wide, and so are the signs."""
    assert len({measure_text(digit, 10, weight) for digit in "0123456789"}) == 1
    assert len({measure_text(sign, 10, weight) for sign in "+−±"}) == 1


@given(st.text(), st.text(), st.floats(0.1, 100))
def test_width_adds_up_and_is_never_negative(left: str, right: str, size: float) -> None:
    """Whatever the characters, two texts are as wide as their parts."""
    whole = measure_text(left + right, size)
    assert whole >= 0
    assert whole == pytest.approx(measure_text(left, size) + measure_text(right, size))


def test_characters_outside_the_font_are_estimated() -> None:
    """A wide character takes an em, a combining or invisible one nothing, another an average letter."""
    assert measure_text("漢", 10) == 10
    assert measure_text("e\u0301\u200b", 10) == measure_text("e", 10)
    assert measure_text("\u0434", 10) == measure_text("x", 10)
