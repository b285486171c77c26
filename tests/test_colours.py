"""Colours that can be read and told apart, whose they are in a figure, and its fonts, style and scripts."""

from __future__ import annotations

import gzip
import json
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st
from vega import BUNDLE, make_bundle

from reportgen.figures.style import (
    DARK,
    DASHES,
    LIGHT,
    SLOTS,
    SYMBOL_PATHS,
    SYMBOLS,
    assign_slots,
    pick_slots,
    resolve,
    resolve_specification,
    resolve_svg,
)
from reportgen.figures.text import FONTS, UNITS_PER_EM, Weight, measure_text

ROOT = Path(__file__).parent.parent
ASSETS = ROOT / "reportgen" / "site" / "assets"
TOKENS = ASSETS / "tokens.css"
FloatArray = npt.NDArray[np.float64]

# Backgrounds a figure may stand on: ours, and those of the themes mkdocs, readthedocs and material.
FOREIGN = {"light": ("#ffffff", "#fcfcfc"), "dark": ("#212529", "#1e2129", "#0d1117")}

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision
# deficiency", IEEE TVCG 15(6), 2009: severity 1.0, on linear sRGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# Linear sRGB to CIE XYZ, D65 (IEC 61966-2-1).
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def blocks() -> list[tuple[str, dict[str, str]]]:
    """Return selector and custom properties of every rule, in order."""
    css = re.sub(r"/\*.*?\*/|@media[^{]*\{", "", TOKENS.read_text(encoding="utf-8"), flags=re.DOTALL)
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", css)
    return [
        (selector.strip(), dict(re.findall(r"--rg-([\w-]+):\s*([^;]+);", body))) for selector, body in rules
    ]


def theme(name: str) -> dict[str, str]:
    """Return the tokens of the light or the dark theme."""
    return blocks()[0 if name == "light" else 1][1]


def backgrounds(name: str) -> tuple[str, ...]:
    """Return every background that a text or a line may stand on."""
    return (theme(name)["bg"], theme(name)["surface"], *FOREIGN[name])


def series(name: str) -> list[str]:
    """Return the palette of a theme, in order."""
    return [theme(name)[f"series-{slot}"] for slot in range(1, 9)]


def linear(colour: str) -> FloatArray:
    """Return linear sRGB, shape (3,), of ``#rrggbb``."""
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2.2."""
    dark, light = sorted(float(linear(colour) @ XYZ[1]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(rgb: FloatArray) -> FloatArray:
    """Return CIE L*a*b*, shape (3,), of linear sRGB."""
    ratio = (XYZ @ np.clip(rgb, 0, 1)) / (XYZ @ np.ones(3))
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one: FloatArray, other: FloatArray) -> float:
    """Return the CIEDE2000 difference of two L*a*b* colours (Sharma, Wu and Dalal, 2005)."""
    mean_chroma = (np.hypot(*one[1:]) + np.hypot(*other[1:])) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean_chroma**7 / (mean_chroma**7 + 25.0**7))
    (l1, a1, b1), (l2, a2, b2) = (colour * np.array([1, stretch, 1]) for colour in (one, other))
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180
    lightness, chroma, hue = (l1 + l2) / 2, (c1 + c2) / 2, (h1 + turn / 2) % 360
    t = sum(
        weight * np.cos(np.radians(factor * hue + shift))
        for weight, factor, shift in ((1, 0, 0), (-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    )
    off = (lightness - 50) ** 2
    d_light = (l2 - l1) / (1 + 0.015 * off / np.sqrt(20 + off))
    d_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    d_hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2) / (1 + 0.015 * chroma * t)
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    rotation *= np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    return float(np.sqrt(d_light**2 + d_chroma**2 + d_hue**2 + rotation * d_chroma * d_hue))


def smallest_distance(colours: list[str], vision: str) -> float:
    """Return the smallest CIEDE2000 difference of any two colours, as seen by ``vision``."""
    seen = [lab(VISION[vision] @ linear(colour)) for colour in colours]
    return min(ciede2000(one, other) for one, other in combinations(seen, 2))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_agrees_with_published_pairs(
    one: tuple[float, ...], other: tuple[float, ...], expected: float
) -> None:
    """The formula gives the numbers of Sharma, Wu and Dalal's table."""
    assert ciede2000(np.array(one), np.array(other)) == pytest.approx(expected, abs=1e-4)


def test_themes_and_files_have_the_same_colours() -> None:
    """A reader whose system is dark sees what one sees who chose dark; what stands outside a page, too."""
    chosen, automatic = blocks()[1:]
    assert chosen[1] == automatic[1]
    assert automatic[0] == '[data-theme="auto"]'
    assert set(theme("light")) - set(theme("dark")) == {"font", "mono"}
    for name, known in (("light", LIGHT), ("dark", DARK)):
        assert known.keys() <= theme(name).keys() | {"font"}
        shared = theme(name).keys() & known.keys() - {"font"}
        assert {one: known[one] for one in shared} == {one: theme(name)[one] for one in shared}


@pytest.mark.parametrize("name", ["light", "dark"])
def test_colours_can_be_read(name: str) -> None:
    """Each for text has the contrast of WCAG AA on every background, each for lines 3 : 1."""
    for token in ("text", "muted", "faint", "accent", "good", "bad"):
        assert min(contrast(theme(name)[token], ground) for ground in backgrounds(name)) >= 4.5, token
    for colour in (*series(name), theme(name)["series-muted"], theme(name)["focus"]):
        assert min(contrast(colour, ground) for ground in backgrounds(name)) >= 3, colour


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_colours_can_be_told_apart(name: str, vision: str) -> None:
    """Few series are far apart, and even eight keep a distance for colour-blind readers."""
    for first, least in ((3, 17), (5, 11.5), (8, 9)):
        assert smallest_distance(series(name)[:first], vision) >= least
    assert smallest_distance([theme(name)["good"], theme(name)["bad"]], vision) >= 17


# ---- whose colours they are: a series has one on every page, and series drawn together differ -------------

NAMES = st.sampled_from([f"series {letter}" for letter in "abcdefghijkl"])
FIGURES = st.lists(st.lists(NAMES, min_size=1, max_size=6, unique=True).map(tuple), max_size=6)


@given(FIGURES, st.lists(NAMES, min_size=1, max_size=6, unique=True).map(tuple))
def test_series_drawn_together_differ_while_colours_last(
    figures: list[tuple[str, ...]], added: tuple[str, ...]
) -> None:
    """Two neighbours share one of eight places only where one of them has eight or more other neighbours.

    Series that are not in a figure added at the end keep their colour, whatever it holds.
    """
    slots = assign_slots(figures)
    assert set(slots) == {name for names in figures for name in names}
    assert all(0 <= slot < SLOTS for slot in slots.values())
    neighbours = {
        name: {other for names in figures if name in names for other in names} - {name} for name in slots
    }
    for names in figures:
        for one, other in combinations(names, 2):
            if slots[one] == slots[other]:
                assert max(len(neighbours[one]), len(neighbours[other])) >= SLOTS
    after = assign_slots([*figures, tuple(f"new {name}" for name in added)])
    assert all(after[name] == slot for name, slot in slots.items())


@given(FIGURES, st.dictionaries(NAMES, st.integers(0, SLOTS - 1), max_size=3))
def test_a_pinned_series_keeps_its_place(figures: list[tuple[str, ...]], pinned: dict[str, int]) -> None:
    """What the author fixed stays, and others make room, also where its owner comes later."""
    slots = assign_slots(figures, pinned)
    assert pinned.items() <= slots.items()
    assert assign_slots([("a", "b")], {"b": 0}) == {"b": 0, "a": 1}


@given(FIGURES, st.lists(NAMES, max_size=2))
def test_no_two_lines_of_a_figure_share_a_colour(
    figures: list[tuple[str, ...]], highlight: list[str]
) -> None:
    """Whatever is highlighted."""
    slots = assign_slots(figures)
    for names in figures:
        colours = [slot for slot in pick_slots(names, slots, tuple(highlight)).values() if slot is not None]
        assert len(set(colours)) == len(colours)


def test_a_figure_has_the_colours_of_the_report_or_grey() -> None:
    """Eight in the order of its series, later ones grey (None); with ``highlight`` all others are."""
    assert pick_slots(("a", "b"), {"a": 3, "b": 0, "c": 1}) == {"a": 3, "b": 0}
    assert pick_slots(("a", "b", "c"), {"a": 0, "b": 1, "c": 2}, ("b",)) == {"a": None, "b": 1, "c": None}
    names = tuple(f"series {n}" for n in range(12))
    assert assign_slots([names[:8]]) == {name: slot for slot, name in enumerate(names[:8])}
    drawn = pick_slots(names, assign_slots([names]))
    assert [drawn[name] for name in names] == [0, 1, 2, 3, 4, 5, 6, 7, None, None, None, None]


def test_each_colour_has_a_dash_and_a_symbol_of_its_own() -> None:
    """A second code for readers who see no colours; SVG would double an odd dash, the live view would not."""
    assert len(set(DASHES)) == len(set(SYMBOLS)) == SLOTS
    assert {*SYMBOLS, "none"} == set(SYMBOL_PATHS)
    assert all(len(pattern) % 2 == 0 for pattern in DASHES)


# ---- the width of a text agrees with the font that is shipped ---------------------------------------------

TEXT = "GRPO 0.82 ± 0.01, αβγ → ≈ −3 × 10⁻⁴, naïve Łódź"


@pytest.mark.parametrize("weight", [400, 600])
def test_widths_are_those_of_the_font_files(weight: Weight) -> None:
    """Of the TTF that draws the static picture, of which no letter is estimated, and of the browser's WOFF2.

    Numbers stand under each other: every digit is equally wide, and so are the signs.
    """
    font = TTFont(FONTS / f"reportgen-sans-{weight}.ttf")
    cmap, metrics = font.getBestCmap(), font["hmtx"]
    units = sum(metrics[cmap[ord(char)]][0] for char in TEXT)
    assert measure_text(TEXT, 13, weight) == pytest.approx(units * 13 / font["head"].unitsPerEm)
    advances = json.loads((FONTS / "advances.json").read_bytes())[str(weight)]
    assert {int(first) + i for first, run in advances.items() for i in range(len(run))} == set(cmap)
    web = TTFont(ROOT / "site_templates" / "fonts" / f"reportgen-sans-{weight}.woff2")
    ours, theirs = ({c: f["hmtx"][g][0] for c, g in f.getBestCmap().items()} for f in (font, web))
    assert ours == theirs
    assert font["head"].unitsPerEm == web["head"].unitsPerEm == UNITS_PER_EM
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


# ---- variables of figures outside a page ------------------------------------------------------------------


def test_every_variable_of_a_figure_has_a_value() -> None:
    """No picture names a colour that its file would not know, and a misspelt one is an error of ours."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "reportgen/figures").rglob("*.py")]
    named = {name for text in texts for name in re.findall(r"var\(--rg-([a-z0-9-]+)\)", text)}
    assert {"text", "muted", "bg"} <= named <= set(LIGHT)
    assert resolve('fill="var(--rg-bg)" stroke="var(--rg-series-2)" x') == 'fill="#ffffff" stroke="#d47104" x'
    with pytest.raises(KeyError):
        resolve("var(--rg-none)")
    fonts = [one["font"].split(",")[0].strip('"') for one in (LIGHT, theme("light"))]
    assert fonts == ["Reportgen Sans"] * 2  # whose widths are known


def test_colours_become_values_and_words_stay() -> None:
    """A series may be called like a variable, one of ours or not: in SVG and in texts of Vega."""
    ink, name = "var(--rg-series-1)", "var(--rg-bg)"
    words = 'var(--rg-bg) fill="var(--rg-bg)" var(--rg-none)'
    svg = '<text fill="{}" font-family="{}" aria-label="var(--rg-bg)">' + words + "</text>"
    shown = svg.format(LIGHT["text"], LIGHT["font"])
    assert resolve_svg(svg.format("var(--rg-text)", "var(--rg-font)")) == shown

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


# ---- the style and scripts of figures ---------------------------------------------------------------------

CSS = (ASSETS / "figure.css").read_text(encoding="utf-8")


def dash_of(slot: int, kind: str = "slot") -> tuple[float, ...]:
    """The lengths of the dash that a legend's swatch draws."""
    found = re.search(rf"\.rg-{kind}-{slot} {{\s*--rg-dash: ([^;]+);", CSS)
    ends = [float(end) for end in re.findall(r"0 ([\d.]+)px", found[1])] if found else []
    return tuple(end - start for start, end in zip([0.0, *ends], ends, strict=False))


def test_styles_are_in_step_with_what_is_drawn() -> None:
    """A swatch has the dash of its line; margins are classes, because a strict policy allows no style."""
    for slot in range(SLOTS):
        assert dash_of(slot) == pytest.approx(DASHES[slot])
        # In a plot of several metrics the dash does not follow the colour.
        assert dash_of(slot, "line") == pytest.approx(DASHES[slot] or (24.0,))
    for side, widest in (("left", 200), ("right", 208)):
        found = re.findall(rf"\.rg-{side}-(\d+) {{ --rg-{side}: (\d+)px; }}", CSS)
        assert found == [(str(pixels), str(pixels)) for pixels in range(16, widest + 8, 8)]


def test_the_committed_vega_is_what_vl_convert_carries() -> None:
    """Figures are compiled for it; ``python tests/vega.py`` writes it again."""
    assert BUNDLE.read_text(encoding="utf-8") == make_bundle()


def test_scripts_are_small_and_never_read_data_as_markup() -> None:
    """Compressed, all that a site's figures load stays under 310 kB with the theme and the search."""
    scripts = {path.name: path.read_text(encoding="utf-8") for path in sorted(ASSETS.glob("live*.js"))}
    sizes = [
        len(gzip.compress(text.encode(), 9))
        for text in (BUNDLE.read_text(encoding="utf-8"), *scripts.values())
    ]
    assert sum(sizes) + 20_000 <= 310_000
    forbidden = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function")
    assert not [name for name, script in scripts.items() if any(word in script for word in forbidden)]
