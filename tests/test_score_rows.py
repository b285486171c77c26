"""Rows of dots and intervals: harmless, complete, in their place, and where Vega draws the same."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import altair as alt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_figures import HOSTILE
from made_outcomes import score_context
from tries import tries
from vega import VegaPicture, vega_words

import reportgen
from reportgen.figures.axis import format_value, position
from reportgen.figures.number_format import format_d3
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.scores.dot_plot import (
    SHIFT,
    Row,
    RowDot,
    compute_rows_margins,
    draw_rows,
    draw_rows_file,
    measure_rows,
    name_rows_class,
    write_rows_spec,
)
from reportgen.figures.scores.wording import make_difference_axis, make_score_axis
from reportgen.figures.style import LABEL_SIZE
from reportgen.figures.text import NARROWEST, WIDEST_NAME, break_name, measure_text, shorten_name

if TYPE_CHECKING:
    from reportgen.figures.axis import Axis

SVG = "{http://www.w3.org/2000/svg}"
SHARE = score_context()
SCORES = st.floats(0, 1)


def row(name: str = "A", value: float | None = 0.5, half: float | None = 0.1, **fields: object) -> Row:
    """A row with an interval of ``half`` on either side."""
    ends = (None, None) if value is None or half is None else (value - half, value + half)
    plain: dict[str, object] = {
        "slot": 0,
        "text": "50.0%" if value is not None else "no score",
        "tip": (name, "mean score 50.0%"),
    }
    return Row(name=name, value=value, low=ends[0], high=ends[1], **{**plain, **fields})  # type: ignore[arg-type]


def axis_of(rows: list[Row]) -> Axis:
    """An axis over everything that these rows have."""
    values = [value for one in rows for value in (one.value, one.low, one.high)]
    return make_score_axis(
        [*values, *(dot.value for one in rows for dot in one.dots)], SHARE, title="mean score"
    )


def drawn(rows: list[Row], axis: Axis | None = None, rule: float | None = None) -> ET.Element:
    """The inline picture as XML, which is stricter than HTML."""
    made = draw_rows(rows, axis or axis_of(rows), labelled_by="one-title one-summary", rule=rule)
    return ET.fromstring(f'<body xmlns="http://www.w3.org/2000/svg">{made}</body>')  # noqa: S314 - our own


def of_class(root: ET.Element, name: str) -> list[ET.Element]:
    """Every element with a class, in the order of the picture."""
    return [element for element in root.iter() if name in (element.get("class") or "").split()]


def words(element: ET.Element) -> list[str]:
    """Every text inside an element."""
    return [text.text or "" for text in element.iter(f"{SVG}text")]


MIXED = [
    row("Aspen", 0.8, 0.05, group="Group 1"),
    row(
        "Cedar",
        0.6,
        0.1,
        slot=1,
        group="Group 2",
        dots=(RowDot(0.58, ("Cedar", "run 1")), RowDot(0.62, ("x",))),
    ),
    row("Birch", 0.55, None, slot=2, group="Group 2"),
    row("Damson", None, None, slot=3),
]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_breaks_a_picture(name: str) -> None:
    """Both pictures are XML of drawing elements only, and the specification is JSON, whatever the names."""
    rows = [row(name, group=name, tip=(name,), text=name, dots=(RowDot(0.5, (name,)),))]
    axis = make_score_axis([0.4, 0.6], SHARE, title=name)
    file = ET.fromstring(draw_rows_file(rows, axis, title=name, subtitle=name, source=name))  # noqa: S314
    for root in (drawn(rows, axis), file):
        found = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert found <= {"body", "svg", "g", "line", "text", "rect", "circle", "title"}
        assert not any(key == "style" or key.startswith("on") for e in root.iter() for key in e.keys())  # noqa: SIM118
    assert (
        json.loads(write_rows_spec(rows, axis, title=name, subtitle=name))["datasets"]["rows"][0]["name"]
        == name
    )


def test_every_row_and_every_run_is_a_mark_with_its_words() -> None:
    """The picture is one image that says what labels it; a line of a tip is a line of the attribute."""
    root = drawn(MIXED)
    images = [element for element in root.iter() if element.get("role") == "img"]
    assert [image.get("aria-labelledby") for image in images] == ["one-title one-summary"]
    marks = of_class(root, "rg-mark")
    assert [mark.get("data-rg-series") for mark in marks] == ["Aspen", *["Cedar"] * 3, "Birch", "Damson"]
    assert marks[2].get("data-rg-tip") == "Cedar\nrun 1"
    assert all(mark.get("data-rg-tip") for mark in marks)
    # The words of a row need not be the series' name.
    (mark,) = of_class(drawn([row("Aspen − Cedar", series="Aspen")]), "rg-mark")
    assert mark.get("data-rg-series") == "Aspen"
    # No interval is a hollow dot, and not an interval without width; no score is said, without a dot at zero.
    birch, damson = marks[4:]
    assert list(birch.iter(f"{SVG}line")) == []
    (dot,) = birch.iter(f"{SVG}circle")
    assert (dot.get("fill"), dot.get("stroke")) == ("var(--rg-bg)", "var(--rg-series-3)")
    assert (words(damson), list(damson.iter(f"{SVG}circle"))) == (["no score"], [])
    # Runs at one value stay apart.
    rows = [row(dots=tuple(RowDot(value, ("",)) for value in (0.5, 0.5, 0.5, 0.6)))]
    dots = [next(one.iter(f"{SVG}circle")) for one in of_class(drawn(rows), "rg-mark")[1:]]
    assert len({(dot.get("cx"), dot.get("cy")) for dot in dots}) == 4


@given(st.lists(st.tuples(SCORES, SCORES), min_size=1, max_size=8))
def test_dots_and_intervals_stand_at_their_values(pairs: list[tuple[float, float]]) -> None:
    """In percent of the plot's width, inside of it, and the dot within its interval."""
    rows = [Row(str(n), 0, "", (a + b) / 2, min(a, b), max(a, b), ("",)) for n, (a, b) in enumerate(pairs)]
    axis = axis_of(rows)
    for one, mark in zip(rows, of_class(drawn(rows, axis), "rg-mark"), strict=True):
        (line,), (dot,) = mark.iter(f"{SVG}line"), mark.iter(f"{SVG}circle")
        places = [
            float(str(value).removesuffix("%")) for value in (line.get("x1"), dot.get("cx"), line.get("x2"))
        ]
        assert 0 <= places[0] <= places[1] + 1e-3 <= places[2] + 2e-3 <= 100 + 3e-3
        assert one.value is not None
        assert places[1] == pytest.approx(position(axis, one.value) * 100, abs=1e-3)


def test_words_of_wide_and_narrow_pictures_stand_twice() -> None:
    """The style sheet shows one of each, and may hide every second tick and its label in a narrow one."""
    root, labels = drawn(MIXED), axis_of(MIXED).labels[1::2]
    for name in ("rg-wide", "rg-narrow"):
        assert [words(one) for one in of_class(root, name)][:2] == [["Aspen", "50.0%"], ["Cedar", "50.0%"]]
    assert {one.get("display") for one in of_class(root, "rg-narrow")} == {"none"}
    assert [one.text for one in of_class(root, "rg-odd") if one.text] == list(labels)
    assert len(of_class(root, "rg-odd")) == 2 * len(labels)


def test_the_style_sheet_moves_dots_as_far_as_rows_have_room_for() -> None:
    """Below their name in a narrow picture, and still inside their row."""
    css = (Path(reportgen.__file__).parent / "site/assets/figure.css").read_text(encoding="utf-8")
    assert re.search(rf"\.rg-drawn {{\s*transform: translateY\({SHIFT}px\)", css)
    for rows in ([row()], [row(dots=tuple(RowDot(0.5, ("",)) for _ in range(5)))]):
        circles = [one for mark in of_class(drawn(rows), "rg-mark") for one in mark.iter(f"{SVG}circle")]
        low = max(float(one.get("cy") or 0) + float(one.get("r") or 0) for one in circles)
        assert low + SHIFT <= measure_rows(rows)


def test_groups_are_bands_with_their_word() -> None:
    """Every second is shaded, a band a stretch, by name where groups mix; a rule stands at its value."""
    root = drawn(MIXED)
    assert words(of_class(root, "rg-tier-words")[0]) == ["Group 1", "Group 2"]
    (shade,) = of_class(root, "rg-tiers")[0].iter(f"{SVG}rect")
    first, second = of_class(root, "rg-mark")[:2]
    top, bottom = float(shade.get("y") or 0), float(shade.get("y") or 0) + float(shade.get("height") or 0)
    inside = [top < float(next(m.iter(f"{SVG}circle")).get("cy") or 0) < bottom for m in (first, second)]
    assert inside == [True, False]
    root = drawn([row("A", group="Group 2"), row("B", group="Group 1"), row("C", group="Group 2")])
    assert words(of_class(root, "rg-tier-words")[0]) == ["Group 2", "Group 1", "Group 2"]
    assert len(list(of_class(root, "rg-tiers")[0])) == 2
    axis = make_difference_axis([-0.1, 0.1], SHARE, title="difference in points")
    (rule,) = of_class(drawn([row(value=0.05, half=0.02)], axis, rule=0.0), "rg-zero")
    assert rule.get("x1") == rule.get("x2") == "50%"


@given(st.text(min_size=1, max_size=80))
def test_a_name_fits_beside_its_row(name: str) -> None:
    """At most two lines, none wider than its room; a short name is whole."""
    lines = break_name(name)
    assert 1 <= len(lines) <= 2
    assert all(measure_text(line, LABEL_SIZE) <= WIDEST_NAME for line in lines)
    for words in ("", "84.2%", "+23.3 points"):
        taken = measure_text(shorten_name(name, words), LABEL_SIZE) + measure_text(words, LABEL_SIZE)
        assert taken < NARROWEST - 16


def test_long_names_break_at_their_joints() -> None:
    """As a reader would; margins have a class, in eights up to 200, as the style sheet has them."""
    long = "meta-llama/Meta-Llama-3.1-70B-Instruct"
    assert break_name(long) == ("meta-llama/Meta-Llama-3.1-", "70B-Instruct")
    assert break_name("GRPO") == ("GRPO",)
    assert break_name("m" * 200)[0].endswith("…")
    for rows in ([row("A")], [row("m" * 300, text="m" * 99)]):
        room = compute_rows_margins(rows)
        assert name_rows_class(rows) == f"rg-rows rg-left-{room.left} rg-right-{room.right}"
        assert {room.left % 8, room.right % 8} == {0}
        assert max(room.left, room.right) <= 200


def test_a_file_and_a_specification_need_no_page() -> None:
    """Colours are resolved, nothing of a page's script is left, and Altair's schema accepts the whole."""
    made = draw_rows_file(MIXED, axis_of(MIXED), title="Scores", subtitle="mean score", source="a table")
    assert "var(" not in made
    assert "data-rg" not in made
    assert {"Scores", "mean score", "Source: a table", "Aspen", "Group 1", "no score"} <= set(
        words(ET.fromstring(made))  # noqa: S314 - our own
    )
    spec = json.loads(write_rows_spec(MIXED, axis_of(MIXED), title="Scores", subtitle="how", rule=0.5))
    alt.LayerChart.from_dict(spec, validate=True)
    assert "var(" not in json.dumps({**spec, "datasets": {}})
    assert [one["head"] for one in spec["datasets"]["rows"]] == ["Group 1", "Group 2", "", ""]
    assert spec["datasets"]["rows"][3]["value"] is None


def test_vega_draws_the_same_dots() -> None:
    """In the same order, at the same places along the axis, with the same labels."""
    axis = axis_of(MIXED)
    spec = json.loads(write_rows_spec(MIXED, axis, title="Scores", subtitle="how"))
    vega = VegaPicture(spec, width=PIXELS_WIDE)
    ours = [
        float(str(circle.get("cx")).removesuffix("%")) / 100 * PIXELS_WIDE
        for mark in of_class(drawn(MIXED, axis), "rg-mark")
        for circle in mark.iter(f"{SVG}circle")
        if circle.get("r") != "3"
    ]
    places = vega.places("points")
    assert [x for x, _ in places] == pytest.approx(ours, abs=0.01)
    assert [y for _, y in places] == sorted(y for _, y in places)
    assert vega.words("role-axis-label")[: len(axis.labels)] == list(axis.labels)


@settings(max_examples=tries(20, 200))
@given(st.lists(SCORES, max_size=5))
def test_an_axis_of_scores_shows_them_all_and_nothing_beyond_their_range(values: list[float]) -> None:
    """With labels in percent, also for one value, equal ones and none."""
    axis = make_score_axis(values, SHARE, title="mean score")
    low, high = axis.domain
    assert 0 <= low < high <= 1
    assert all(low <= value <= high for value in values)
    assert all(label.endswith("%") for label in axis.labels)
    assert all(
        math.isclose(float(label[:-1]) / 100, tick)
        for label, tick in zip(axis.labels, axis.ticks, strict=True)
    )


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=5))
def test_an_axis_of_differences_has_no_difference_on_it(values: list[float]) -> None:
    """And says the sign of both sides."""
    low, high = make_difference_axis(values, SHARE, title="difference").domain
    assert low <= min(0.0, *values)
    assert high >= max(0.0, *values)


def test_labels_of_differences_are_signed_points() -> None:
    """0 has no sign; other ranges are plain numbers. What a harness reported beyond a range is not cut."""
    assert make_difference_axis([-0.1, 0.1], SHARE, title="d").labels == ("−10", "−5", "0", "+5", "+10")
    plain = make_difference_axis([-1, 1], score_context(lowest=0.0, highest=10.0), title="d")
    assert plain.labels == ("−1.0", "−0.5", "0.0", "+0.5", "+1.0")
    assert make_score_axis([0.9, 0.98, 1.05], SHARE, title="acc").domain[1] == 1.05


@pytest.mark.parametrize("values", [[0.2, 0.9], [0.91234, 0.91239], [0.0, 1.0], [-0.3, 1e-7]])
def test_values_are_read_out_along_an_axis_of_scores(values: list[float]) -> None:
    """Its formats are among those that static words know, and they say what a browser would."""
    for axis in (
        make_score_axis(values, SHARE, title="score"),
        make_difference_axis(values, SHARE, title="difference"),
    ):
        pairs = [
            (value, form) for value in (*values, *axis.ticks) for form in (axis.format, axis.read_format)
        ]
        ours = [format_d3(value, form) for value, form in pairs]
        assert ours == vega_words(pairs)
        assert [format_value(axis, value) for value in values] == ours[1 : 2 * len(values) : 2]
