"""The static picture: valid, harmless, complete, and where Vega draws the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from made_figures import HOSTILE, context, curve, curve_set, figure, plot, spec, wave
from tries import tries
from vega import VegaPicture

from reportgen.figures.paths import (
    PIXELS_WIDE,
    UNITS_A_PIXEL,
    make_line_paths,
    thin,
    write_band_path,
    write_line_path,
)
from reportgen.figures.picture import draw_body, draw_card, draw_file, draw_picture
from reportgen.figures.style import LABEL_SIZE
from reportgen.figures.text import measure_text, wrap_words

if TYPE_CHECKING:
    from reportgen.core.model import CurveSet, Figure
    from reportgen.figures.plot import Plot

SVG = "{http://www.w3.org/2000/svg}"
NAN = float("nan")
BANDED = curve_set(
    curve("MEL", wave(), half=0.3, runs=3),
    curve("GRPO", wave(shift=1.0), half=0.2, runs=3),
)
FALLING = [float(value) for value in np.exp(-np.arange(60) / 9)]


def parsed(svg: str) -> ET.Element:
    """The inline picture as XML, which is stricter than HTML."""
    return ET.fromstring(f'<body xmlns="http://www.w3.org/2000/svg">{svg}</body>')  # noqa: S314 - our own


def drawn(made: Plot, kind: str) -> list[list[list[tuple[float, float]]]]:
    """Each path of a class as stretches of points in pixels, in the picture of fixed size."""
    root = parsed(draw_body(made, make_line_paths(made), fluid=False))
    paths = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("class") == f"rg-{kind}"]
    return [[_points(part) for part in path.split("M")[1:]] for path in paths]


def _points(part: str) -> list[tuple[float, float]]:
    numbers = [int(number) for number in re.findall(r"-?\d+", part.replace("h0", ""))]
    points = np.cumsum(np.array(numbers).reshape(-1, 2), axis=0) / UNITS_A_PIXEL
    return [(float(x), float(y)) for x, y in points]


def words_of(svg: str) -> list[str]:
    """Every text of a picture."""
    return [text.text or "" for text in parsed(svg).iter(f"{SVG}text")]


def hostile_figure(name: str) -> Figure:
    """A figure that has a name wherever an author or a file can put one."""
    curves = curve_set(curve(name, wave(5)), curve("plain", wave(5, shift=1)), metric=name)
    return figure(
        curves,
        context(curves, step_title=name, source=name, approximate=name),
        title=name,
        caption=name,
        y_title=name,
        reference=[{"y": 2.5, "label": name}],
        annotations=[{"x": 1, "text": name, "series": name.strip()}] if name == name.strip() else [],
    )


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_a_picture(name: str) -> None:
    """Both pictures are XML and hold drawing elements only, whatever the names."""
    made = hostile_figure(name)
    allowed = {"body", "svg", "g", "path", "line", "text", "use", "defs", "rect", "title"}
    for svg in (str(made.inline_svg), str(made.file_svg)):
        found = {element.tag.removeprefix(SVG) for element in parsed(svg).iter()}
        assert found <= allowed
        assert not any(key.startswith("on") for element in parsed(svg).iter() for key in element.keys())  # noqa: SIM118 - an element, not a dict


def test_names_are_shown_as_they_are() -> None:
    """Markup is text; a control character, which would make the file unreadable, keeps a visible place."""
    name = '"><img src=x onerror=alert(1)>'
    assert name in words_of(str(hostile_figure(name).inline_svg))
    made = hostile_figure("bell\x07 end")
    assert "bell\ufffd end" in words_of(str(made.inline_svg))
    assert "\x07" not in str(made.inline_svg) + str(made.file_svg)


@settings(max_examples=tries(20, 120))
@given(st.text(min_size=1, max_size=40))
def test_any_text_at_all_may_be_a_name(name: str) -> None:
    """Lone surrogates, noncharacters, markup: the picture is XML that can be written as UTF-8."""
    curves = curve_set(curve(name, wave(4)), metric=name)
    made = figure(curves)
    assert len(parsed(str(made.inline_svg))) == 1
    assert parsed(str(made.file_svg).encode("utf-8").decode())[0].tag == f"{SVG}svg"


def test_the_picture_is_one_image_with_ids_of_its_own() -> None:
    """It says what labels it, each of its ids starts with the figure's, and drawn again it is the same."""
    few = curve_set(curve("a", wave(5)), curve("b", wave(5, shift=1)))
    made = figure(few)
    assert made == figure(few)
    elements = list(parsed(str(made.inline_svg)).iter())
    images = [one for one in elements if one.get("role") == "img"]
    assert [image.get("aria-labelledby") for image in images] == ["one-title one-summary"]
    ids = [one.get("id", "") for one in elements if one.get("id")]
    assert ids
    assert len(set(ids)) == len(ids)
    assert all(name.startswith("one-") for name in ids)


def test_a_strict_policy_finds_nothing_to_refuse() -> None:
    """No style attribute, no style or script element, no address outside the picture itself.

    A file outside a page resolves every colour, since it knows no variables.
    """
    figure_made = hostile_figure("plain")
    made = str(figure_made.inline_svg)
    assert "style" not in {key for element in parsed(made).iter() for key in element.keys()}  # noqa: SIM118
    assert not re.search(r"<(style|script|image|foreignObject|a)\b", made)
    assert all(use.get("href", "").startswith("#one") for use in parsed(made).iter(f"{SVG}use"))
    assert "var(--rg-series-1)" in made
    assert "var(" not in str(figure_made.file_svg)


@pytest.mark.parametrize(
    ("curves", "block"),
    [
        (BANDED, {}),
        (BANDED, {"y_domain": (1.5, 2.5), "x_domain": (10, 40)}),
        (BANDED, {"height": 180}),
        (curve_set(curve("a", FALLING, half=0.05, runs=3)), {"y_scale": "log"}),
        (curve_set(curve("a", FALLING, half=0.05, runs=3)), {"x_scale": "log"}),
        (curve_set(curve("a", [*FALLING[:30], 0.0, -1.0, *FALLING[32:]])), {"y_scale": "log"}),
        (curve_set(curve("a", [v if abs(i - 30) > 3 else NAN for i, v in enumerate(wave())])), {}),
        (curve_set(curve("a", wave(), raw=wave(shift=0.2), runs=3), smooth=0.6), {}),
        (curve_set(curve("a", [1e-12 * v for v in wave()], half=1e-12)), {}),
        (curve_set(curve("a", [1e24 * v for v in wave()], half=1e24)), {}),
        (curve_set(curve('=a,"b"\n', wave()), curve("__proto__", wave(shift=1)), metric="a.b[0]'/"), {}),
    ],
    ids=[
        "bands", "domains", "low", "log y", "log x", "not positive", "gap", "smooth", "tiny", "huge", "names",
    ],
)  # fmt: skip
def test_lines_stand_where_vega_draws_them(curves: CurveSet, block: dict[str, Any]) -> None:
    """Means, bands, runs and raw lines of the static picture are those of its specification in Vega."""
    ours, vega = plot(curves, **block), VegaPicture(spec(curves, **block), width=PIXELS_WIDE)
    for kind, layer in (("line", "lines"), ("raw", "raw")):
        same_paths(drawn(ours, kind), vega.paths(layer))
    # Vega walks a band along its lower edge first.
    bands = [[part[::-1] for part in path] for path in vega.paths("bands")]
    bottom = (PIXELS_WIDE, ours.height) if ours.y.scale == "log" else np.inf
    same_paths(drawn(ours, "band"), bands, lowest=bottom)
    # We write the runs of a series as one path, Vega writes one for each.
    runs = ([[part for path in paths for part in path]] for paths in (drawn(ours, "run"), vega.paths("runs")))
    same_paths(*runs)


def same_paths(
    ours: list[list[list[tuple[float, float]]]],
    vegas: list[list[list[tuple[float, float]]]],
    *,
    lowest: tuple[float, float] | float = np.inf,
) -> None:
    """Both have the same stretches of the same points, within half a pixel."""
    assert [[len(part) for part in path] for path in ours] == [[len(part) for part in path] for path in vegas]
    for mine, theirs in zip(ours, vegas, strict=True):
        for part, other in zip(mine, theirs, strict=True):
            # Vega draws what is below the plot, too, and clips it.
            assert np.abs(np.array(part) - np.minimum(np.array(other), lowest)).max() <= 0.5


def test_symbols_stand_where_vega_draws_them() -> None:
    """Few points have a symbol each, at the same place and of the same shape."""
    curves = curve_set(curve("a", wave(12)), curve("b", wave(12, shift=1)))
    root = parsed(draw_body(plot(curves), make_line_paths(plot(curves)), fluid=False))
    ours = [
        (float(use.get("x", "").rstrip("%")) * PIXELS_WIDE / 100, float(use.get("y", "")))
        for use in root.iter(f"{SVG}use")
    ]
    vega = VegaPicture(spec(curves), width=PIXELS_WIDE).places("points")
    assert np.abs(np.array(ours) - np.array(vega)).max() <= 0.5


DAYS = curve_set(curve("a", wave(40), steps=[1.7e12 + day * 86400e3 for day in range(40)]))


@pytest.mark.parametrize(
    ("curves", "block"), [(BANDED, {}), (BANDED, {"x_scale": "log", "y_scale": "log"}), (DAYS, {})]
)
def test_words_are_those_that_vega_writes(curves: CurveSet, block: dict[str, Any]) -> None:
    """Tick labels, axis titles and the names at line ends are the same words at the same heights.

    Times are in UTC, whatever the machine's zone.
    """
    around = context(curves, step_is_time=curves is DAYS)
    made, vega = plot(curves, around, **block), VegaPicture(spec(curves, around, **block), width=PIXELS_WIDE)
    labels = vega.words("role-axis-label")
    # Vega chooses the days of ticks itself.
    assert labels[-len(made.y.labels) :] == list(made.y.labels)
    assert labels[: -len(made.y.labels)] == list(made.x.labels) or curves is DAYS
    assert vega.words("role-axis-title") == [made.x.title, made.y.title]
    assert vega.words("names_marks") == [end.text for end in made.ends]
    ends = [(PIXELS_WIDE + 10, end.y + 0.32 * LABEL_SIZE) for end in made.ends]
    assert np.abs(np.array(vega.places("names")) - np.array(ends)).max() <= 0.5


def test_each_picture_names_every_series() -> None:
    """Names stand at the line ends, or in the file's own legend where they do not fit."""
    few = figure(BANDED)
    assert {"MEL", "GRPO"} <= set(words_of(str(few.inline_svg)))
    assert {"MEL", "GRPO"} <= set(words_of(str(few.file_svg)))
    many = curve_set(*(curve(f"series {n}", wave(shift=n)) for n in range(12)))
    assert {f"series {n}" for n in range(12)} <= set(words_of(str(figure(many).file_svg)))
    assert "series 0" not in words_of(str(figure(many).inline_svg))


def test_reference_lines_and_annotations_stand_at_their_values() -> None:
    """A line at a value stands at its height; an annotation's ring on its curve, with its words."""
    curves = curve_set(curve("a", [0.0, 1.0, 0.0] * 20))
    block: dict[str, Any] = {
        "y_domain": (0, 2),
        "reference": [{"y": 0.5, "label": "chance"}, {"x": 59, "label": "end"}],
        "annotations": [{"x": 1, "text": "first", "series": "a"}, {"x": 30, "text": "halfway"}],
    }
    inline = str(figure(curves, **block).inline_svg)
    assert 'x2="100%" y1="240" y2="240"' in inline
    assert 'x1="100%" x2="100%" y2="320"' in inline
    assert f'x1="{3000 / 59:.6g}%"' in inline
    assert f'<svg x="{100 / 59:.6g}%" y="160"' in inline
    assert {"chance", "end", "first", "halfway"} <= set(words_of(inline))


def test_a_series_of_one_point_can_be_seen() -> None:
    """A line through one point has no length: a ring with the series' name shows where it is."""
    curves = curve_set(curve("long", wave()), curve("once", [2.0], steps=[30]))
    made = plot(curves)
    assert [(mark.text, mark.x, mark.y) for mark in made.annotations] == [("once", 30.0, 2.0)]
    assert str(figure(curves).inline_svg).count('<g class="rg-annotation">') == 1


def test_grey_lines_lie_behind_coloured_ones() -> None:
    """A highlighted series is never covered by one that is not."""
    root = parsed(str(figure(BANDED, highlight=["MEL"]).inline_svg))
    lines = [path.get("stroke") for path in root.iter(f"{SVG}path") if path.get("class") == "rg-line"]
    assert lines == ["var(--rg-series-muted)", "var(--rg-series-1)"]


@given(st.text(max_size=200), st.integers(60, 400))
def test_words_are_wrapped_to_their_room(text: str, width: int) -> None:
    """No line of a title is wider than its room, and no word is lost but the end of one too long."""
    lines = wrap_words(text, 17, 600, width)
    assert all(measure_text(line, 17, 600) <= width for line in lines)
    if "…" not in "".join(lines):
        assert " ".join(lines).split() == text.split()


def test_a_long_title_makes_the_picture_higher_not_wider() -> None:
    """Titles of any length stay inside the file's picture."""
    made = plot(BANDED)
    short = draw_file(made, make_line_paths(made), title="short", subtitle="", source="")
    for title in ("A title " * 30, "x" * 500):
        long = draw_file(made, make_line_paths(made), title=title, subtitle="", source="")
        assert parsed(long)[0].get("width") == parsed(short)[0].get("width")
        assert all(measure_text(word, 17, 600) < 800 for word in words_of(long))


def test_the_fluid_picture_and_the_file_have_the_same_paths() -> None:
    """One is stretched, the other is not; both hold the same points."""
    made = plot(BANDED)
    fluid = draw_picture(made, make_line_paths(made), labelled_by="x")
    fixed = draw_body(made, make_line_paths(made), fluid=False)
    assert re.findall(r' d="(M[^"]*)"', fluid) == re.findall(r' d="(M[^"]*)"', fixed)
    assert 'vector-effect="non-scaling-stroke"' in fluid
    assert "vector-effect" not in fixed


def test_a_file_keeps_the_caution_about_its_numbers() -> None:
    """A picture that leaves its page still says that its numbers were read from another picture."""
    made = figure(BANDED, context(BANDED, approximate="digitised from a figure"))
    assert "Source: a source (digitised from a figure)" in words_of(str(made.file_svg))
    long = figure(BANDED, context(BANDED, source="a source " * 40))
    (origin,) = [word for word in words_of(str(long.file_svg)) if word.startswith("Source: ")]
    assert origin.endswith(" …")
    assert measure_text(origin, 11) < 800


def test_a_card_holds_the_whole_picture() -> None:
    """A link preview has the usual size, and the figure is scaled to fit.

    Setting a text takes the rasteriser the square of its length, so long ones are cut; entities stay whole.
    """
    made = str(figure(BANDED).file_svg)
    card = parsed(draw_card(made))[0]
    assert (card.get("width"), card.get("height")) == ("1200", "630")
    scale = float(re.search(r"scale\(([\d.]+)\)", draw_card(made))[1])  # type: ignore[index]
    inner = parsed(made)[0]
    assert float(inner.get("width", "0")) * scale <= 1200
    assert float(inner.get("height", "0")) * scale <= 630
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30"><text>{}</text></svg>'
    for text in ("x" * 100_000, "a&amp;b&lt;" * 20_000):
        cut = draw_card(picture.format(text))
        parsed(cut)
        assert len(cut) < 5_000
    assert "x" * 400 + "</text>" in draw_card(picture.format("x" * 400))


# ---- path data: what is left out cannot be seen, and what is written can be read back --------------------

UNITS = st.floats(-5000, 5000)
MOST = 20
Line = tuple[np.ndarray, np.ndarray]


@st.composite
def lines(draw: st.DrawFn, gaps: st.SearchStrategy[float] = UNITS) -> Line:
    """Points with rising x, crowded or spread out."""
    steps = draw(hnp.arrays(np.float64, st.integers(1, 120), elements=st.floats(1e-3, 100)))
    x = np.cumsum(steps)
    return x, draw(hnp.arrays(np.float64, x.size, elements=gaps))


def absolute(path: str) -> list[list[tuple[int, int]]]:
    """The points of each stretch of a path of relative whole steps."""
    stretches = []
    for start, kind, rest in re.findall(r"M(-?\d+ -?\d+)([lh])([-\d ]*)z?", path):
        x, y = map(int, start.split())
        points = [(x, y)]
        steps = [int(number) for number in re.findall(r"-?\d+", rest)] if kind == "l" else []
        for dx, dy in zip(steps[::2], steps[1::2], strict=True):
            points.append((points[-1][0] + dx, points[-1][1] + dy))
        stretches.append(points)
    return stretches


@given(lines(), lines(UNITS | st.just(NAN)))
def test_a_path_read_back_is_within_half_a_unit(whole: Line, broken: Line) -> None:
    """Rounding does not add up along the line; nothing is drawn between two stretches of known values."""
    (points,) = absolute(write_line_path(*whole))
    assert np.abs(np.array(points) - np.column_stack(whole)).max() <= 0.5
    stretches = absolute(write_line_path(*broken))
    known = np.isfinite(broken[1])
    assert sum(len(points) for points in stretches) == known.sum()
    assert len(stretches) == (np.diff(known.astype(int), prepend=0) == 1).sum()


def test_lines_without_length_and_beyond_all_measure() -> None:
    """No value is no path, one point has a round end, and a diverged run is a number that browsers read."""
    assert write_line_path(np.array([1.0, 2.0]), np.array([NAN, NAN])) == ""
    assert write_line_path(np.array([]), np.array([])) == ""
    assert write_line_path(np.array([3.4]), np.array([5.6])) == "M3 6h0"
    far = write_line_path(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1e30, -1e30]))
    assert absolute(far) == [[(0, 0), (1, 10_000_000), (2, -10_000_000)]]


@given(lines(), st.floats(0, 100))
def test_a_band_goes_there_and_back(line: Line, half: float) -> None:
    """The upper edge, then the lower one backwards, closed, to half a pixel; broken at what is unknown."""
    x, y = line
    path = write_band_path(x, y - half, y + half)
    (points,) = absolute(path)
    wanted = np.concatenate([np.column_stack([x, y + half]), np.column_stack([x, y - half])[::-1]])
    assert path.endswith("z")
    assert (np.abs(np.array(points) - wanted) <= (0.5, 1)).all()
    assert all(down % 2 == 0 for _, down in points)
    x, edge = np.arange(5.0), np.array([1.0, NAN, 1.0, 1.0, 1.0])
    assert [len(points) for points in absolute(write_band_path(x, edge, edge[::-1]))] == [2, 2, 2]


@given(lines())
def test_thinning_keeps_ends_and_extremes(line: Line) -> None:
    """First, last, highest and lowest point stay, also of each bucket of x; what is left is of the line."""
    x, y = line
    few_x, few_y = thin(x, y, MOST)
    assert (few_x[0], few_x[-1]) == (x[0], x[-1])
    assert (few_y.min(), few_y.max()) == (y.min(), y.max())
    assert set(zip(few_x, few_y, strict=True)) <= set(zip(x, y, strict=True))
    assert (np.diff(few_x) > 0).all()
    edges = np.linspace(x[0], x[-1], MOST // 2 + 1)[1:-1]
    before, after = np.digitize(x, edges), np.digitize(few_x, edges)
    for bucket in set(before) - {0}:
        # A point on an edge may be counted to either side, so neighbours may help out.
        near = np.abs(after - bucket) <= 1
        assert few_y[near].max() >= y[before == bucket].max() or x.size <= MOST
        assert few_y[near].min() <= y[before == bucket].min() or x.size <= MOST


@given(lines(UNITS | st.just(NAN)))
def test_thinning_keeps_gaps_and_leaves_few_points(line: Line) -> None:
    """Two a bucket, one more for a gap in it, and the two ends; a line that is broken stays so."""
    few_x, few_y = thin(*line, MOST)
    assert np.isnan(few_y).any() == np.isnan(line[1]).any()
    assert few_x.size <= max(MOST, MOST * 3 // 2 + 2)


def test_thinning_looks_at_where_points_stand_not_at_how_many_there_are() -> None:
    """A crowd of early steps does not cost the few late ones their place; a short line is drawn as it is."""
    x = np.concatenate([np.linspace(0, 1, 1000), np.arange(2.0, 100.0, 10.0)])
    kept = thin(x, np.sin(x), 100)[0]
    assert set(np.arange(2.0, 100.0, 10.0)) <= set(kept)
    for count in (1, MOST):
        x = np.arange(float(count))
        assert [part.tolist() for part in thin(x, x, MOST)] == [x.tolist(), x.tolist()]
