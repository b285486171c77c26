"""The colours of ``tokens.css`` can be read, and told apart by colour-blind readers too."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from reportgen.figures.style import DARK, LIGHT

TOKENS = Path(__file__).parent.parent / "reportgen" / "site" / "assets" / "tokens.css"
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


def test_both_dark_blocks_are_equal() -> None:
    """A reader whose system is dark sees what a reader sees who chose dark."""
    chosen, automatic = blocks()[1:]
    assert chosen[1] == automatic[1]
    assert automatic[0] == '[data-theme="auto"]'


@pytest.mark.parametrize(("name", "known"), [("light", LIGHT), ("dark", DARK)])
def test_files_have_the_colours_of_pages(name: str, known: dict[str, str]) -> None:
    """What stands outside of a page has its colours, and no style sheet."""
    assert known.keys() <= theme(name).keys() | {"font"}
    shared = theme(name).keys() & known.keys() - {"font"}
    assert {one: known[one] for one in shared} == {one: theme(name)[one] for one in shared}


def test_both_themes_define_the_same_colours() -> None:
    """No colour is left to the light theme by accident."""
    assert set(theme("light")) - set(theme("dark")) == {"font", "mono"}


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("token", ["text", "muted", "faint", "accent", "good", "bad"])
def test_text_can_be_read(name: str, token: str) -> None:
    """Every colour used for text has the contrast of WCAG AA on every background."""
    assert min(contrast(theme(name)[token], ground) for ground in backgrounds(name)) >= 4.5


@pytest.mark.parametrize("name", ["light", "dark"])
def test_lines_can_be_seen(name: str) -> None:
    """Every series, the muted grey and the focus ring stand out 3 : 1 on every background."""
    for colour in (*series(name), theme(name)["series-muted"], theme(name)["focus"]):
        assert min(contrast(colour, ground) for ground in backgrounds(name)) >= 3, colour


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize(("first", "least"), [(3, 17), (5, 11.5), (8, 9)])
def test_series_can_be_told_apart(name: str, vision: str, first: int, least: float) -> None:
    """Few series are far apart, and even eight keep a distance for colour-blind readers."""
    assert smallest_distance(series(name)[:first], vision) >= least


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_better_and_worse_can_be_told_apart(name: str, vision: str) -> None:
    """Good and bad differ for colour-blind readers; words say it as well."""
    assert smallest_distance([theme(name)["good"], theme(name)["bad"]], vision) >= 17
