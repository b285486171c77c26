"""The style and scripts of figures: in step with the palette and the layout, and small enough."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from make_vega_bundle import BUNDLE, make_bundle

from reportgen.figures.style import DASHES, SLOTS

ASSETS = Path(__file__).parents[1] / "reportgen" / "site" / "assets"
CSS = (ASSETS / "figure.css").read_text(encoding="utf-8")
OTHER_SCRIPTS = 20_000
"""Bytes left for the theme's own scripts and the search."""


def dash_of(slot: int, kind: str = "slot") -> tuple[float, ...]:
    """The lengths of the dash that a legend's swatch draws."""
    found = re.search(rf"\.rg-{kind}-{slot} {{\s*--rg-dash: ([^;]+);", CSS)
    ends = [float(end) for end in re.findall(r"0 ([\d.]+)px", found[1])] if found else []
    return tuple(end - start for start, end in zip([0.0, *ends], ends, strict=False))


@pytest.mark.parametrize("slot", range(SLOTS))
def test_swatches_have_the_dashes_of_the_lines(slot: int) -> None:
    """A legend shows the dash that the picture draws."""
    assert dash_of(slot) == pytest.approx(DASHES[slot])
    # In a plot of several metrics the dash does not follow the colour.
    assert dash_of(slot, "line") == pytest.approx(DASHES[slot] or (24.0,))


@pytest.mark.parametrize(("side", "widest"), [("left", 200), ("right", 208)])
def test_every_margin_has_its_class(side: str, widest: int) -> None:
    """Margins are classes, because a strict policy allows no style attribute."""
    found = re.findall(rf"\.rg-{side}-(\d+) {{ --rg-{side}: (\d+)px; }}", CSS)
    assert found == [(str(pixels), str(pixels)) for pixels in range(16, widest + 8, 8)]


def test_the_committed_vega_is_what_vl_convert_carries() -> None:
    """Figures are compiled for it; ``python tests/make_vega_bundle.py`` writes it again."""
    assert BUNDLE.read_text(encoding="utf-8") == make_bundle()


def test_scripts_are_small() -> None:
    """All that a site's figures load, compressed, leaves room under 310 kB for the theme."""
    scripts = [path.read_text(encoding="utf-8") for path in sorted(ASSETS.glob("live*.js"))]
    sizes = [len(gzip.compress(text.encode(), 9)) for text in (BUNDLE.read_text(encoding="utf-8"), *scripts)]
    assert sum(sizes) + OTHER_SCRIPTS <= 310_000


def test_scripts_never_read_data_as_markup() -> None:
    """No script of ours turns text into elements or code."""
    for path in ASSETS.glob("live*.js"):
        script = path.read_text(encoding="utf-8")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
        ):
            assert word not in script, path.name
