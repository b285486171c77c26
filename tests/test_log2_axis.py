"""The axis of counts: powers of two, drawn where Vega draws them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_figures import context, curve, curve_set, wanted
from msgspec.structs import replace
from seen_by_vega import VegaPicture, vega_words

from reportgen.figures.altair_chart import write_chart_spec
from reportgen.figures.axis import format_value, make_log2_axis, position
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.live import build_spec, write_curves_csv
from reportgen.figures.paths import PIXELS_WIDE, UNITS_A_PIXEL, make_line_paths
from reportgen.figures.plot import get_shape

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray
    from reportgen.figures.plot import Plot

KS = [1, 2, 4, 8, 16, 30]
CURVES = curve_set(
    curve("A", [20, 31, 44, 58, 70, 80], steps=KS, half=6), curve("B", [25, 33, 41, 50, 57, 61], steps=KS)
)


def made() -> Plot:
    """The plot of ``CURVES`` over a log2 axis."""
    around = context(CURVES)
    return make_plot(CURVES, replace(wanted(CURVES, around), x_scale="log2", x_title="k"), around)


def written(ours: Plot) -> dict[str, Any]:
    """Its specification."""
    skeleton = write_chart_spec(get_shape(ours))
    return build_spec(ours, CURVES, write_curves_csv(CURVES), skeleton, title="", subtitle="")


def pixels(path: str) -> FloatArray:
    """The points of path data in relative steps, in pixels; shape (points, 2)."""
    numbers = [int(number) for number in re.findall(r"-?\d+", path)]
    points: FloatArray = np.cumsum(np.array(numbers).reshape(-1, 2), axis=0) / UNITS_A_PIXEL
    return points


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1, 64, "1 2 4 8 16 32 64"),
        (1, 30, "1 2 4 8 16"),
        (1, 2048, "1 2 4 8 16 32 64 128 256 512 1,024 2,048"),
        (1, 4096, "1 4 16 64 256 1,024 4,096"),
        (1, 3, "1 2 3"),
        (1, 2, "1 2"),
        (1, 1, "1 2"),
        (5, 6, "5 6"),
        (3, 3, "2 3 4 5 6"),
    ],
)
def test_ticks_stand_at_powers_of_two(low: float, high: float, labels: str) -> None:
    """Every power as long as there are at most a dozen; whole numbers where there are hardly any."""
    assert " ".join(make_log2_axis("k", low, high).labels) == labels


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_ticks_are_whole_and_rise_inside_the_domain(low: int, more: int) -> None:
    """There is no half of a sample, and no tick outside the plot."""
    axis = make_log2_axis("k", low, low + more)
    assert 2 <= len(axis.ticks) <= 12
    assert list(axis.ticks) == sorted(set(axis.ticks))
    assert all(tick == round(tick) and tick >= 1 for tick in axis.ticks)
    assert all(-1e-9 <= position(axis, tick) <= 1 + 1e-9 for tick in axis.ticks)
    assert len(set(axis.labels)) == len(axis.ticks)


def test_doublings_are_equally_far_apart() -> None:
    """1 to 2 takes as much room as 8 to 16, and a single count stands in the middle."""
    axis = make_log2_axis("k", 1, 16)
    assert [position(axis, k) for k in (1, 2, 4, 8, 16)] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert position(make_log2_axis("k", 1, 1), 1) == pytest.approx(0.5)


def test_words_are_those_that_vega_writes() -> None:
    """Labels and values read out are what d3-format makes of them."""
    axis = make_log2_axis("k", 1, 2048)
    pairs = [(tick, axis.format) for tick in axis.ticks] + [(1500.0, axis.read_format)]
    assert [*axis.labels, format_value(axis, 1500.0)] == vega_words(pairs)


def test_the_picture_is_the_one_that_vega_draws() -> None:
    """Ticks, lines, band and symbols of a log2 axis stand where its specification puts them in Vega."""
    ours = made()
    vega = VegaPicture(written(ours), width=PIXELS_WIDE)
    assert vega.words("role-axis-label") == [*ours.x.labels, *ours.y.labels]
    assert ours.x.labels == ("1", "2", "4", "8", "16")
    paths = make_line_paths(ours)
    for mine, theirs in zip([path.line for path in paths], vega.paths("lines"), strict=True):
        assert np.abs(pixels(mine) - np.array(theirs[0])).max() <= 0.5
    places = [(position(ours.x, k) * PIXELS_WIDE) for line in ours.lines for k in line.steps.tolist()]
    assert [x for x, _ in vega.places("points")] == pytest.approx(places, abs=0.5)
    (band,) = vega.paths("bands")[:1]
    assert np.abs(pixels(paths[0].band.removesuffix("z")) - np.array(band[0][::-1])).max() <= 0.5


def test_the_specification_says_base_two() -> None:
    """An editor that opens the file counts in doublings too."""
    scales = [
        layer["encoding"]["x"]["scale"] for layer in written(made())["layer"] if layer.get("name") == "lines"
    ]
    assert scales == [{"type": "log", "base": 2, "domain": [1.0, 30.0], "nice": False, "zero": False}]
