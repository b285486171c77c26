"""Words at marks, names at line ends and labels of axes never lie on each other, wide or narrow."""

from __future__ import annotations

import json
import re
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from drafted_blocks import draft_block, write_table
from hypothesis import given, settings
from hypothesis import strategies as st
from made_figures import context, curve, curve_set, figure, plot, share_of, wave
from tries import tries

from reportgen.core.errors import ReportError
from reportgen.figures.curves.plotting import compute_margins, make_plot, place_end_labels, spread_apart
from reportgen.figures.paths import PIXELS_WIDE, make_line_paths
from reportgen.figures.picture import draw_body, draw_picture
from reportgen.figures.plot import EndLabel, SeriesLine, make_curve_spec
from reportgen.figures.style import LABEL_SIZE, TICK_SIZE
from reportgen.figures.text import measure_text
from reportgen.settings.blocks import CurveSettings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.core.model import CurveSet
    from reportgen.figures.plot import Label, Mark, Plot

ASCENT, DESCENT = 10, 4
NARROW = 300
WORDS = ("best 0.84", "dip 0.76", "late decline", "crossing", "widest gap 0.02", "GRPO and MEL meet here")


class Rectangle(NamedTuple):
    """What words cover, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


def label_of(mark: Mark) -> Label:
    """A mark's label, which must be there."""
    assert mark.label is not None
    return mark.label


def covered(made: Plot, mark: Mark, width: float) -> Rectangle:
    """What the words of a mark cover in a plot of this width."""
    label = label_of(mark)
    wide = measure_text(label.short if width <= NARROW else label.text, TICK_SIZE)
    part = {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor]
    left = share_of(made.x, mark.x or 0.0) * width + label.dx - part * wide
    y = label.dy + (0.0 if mark.y is None else (1 - share_of(made.y, mark.y)) * made.height)
    return Rectangle(left, left + wide, y - ASCENT, y + DESCENT)


def names_at_ends(made: Plot, width: float) -> list[Rectangle]:
    """What the names at the line ends cover; a narrow picture has none."""
    if width <= NARROW:
        return []
    ends = [(width + end.dx, measure_text(end.text, LABEL_SIZE, 600), end.y) for end in made.ends]
    return [Rectangle(left, left + wide, y - 8, y + 8) for left, wide, y in ends]


def overlap(a: Rectangle, b: Rectangle) -> bool:
    """Whether two rectangles have more than an edge in common."""
    return a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom


def overlaps(made: Plot, width: float) -> list[tuple[Rectangle, Rectangle]]:
    """Words that lie on others in a plot of this width, leaders on words too."""
    marks = [mark for mark in (*made.references, *made.annotations) if mark.label]
    words = [*(covered(made, mark, width) for mark in marks), *names_at_ends(made, width)]
    leaders = []
    for mark in marks:
        if label_of(mark).leader:
            x = share_of(made.x, mark.x or 0.0) * width
            y = (1 - share_of(made.y, mark.y or 0.0)) * made.height
            start, end = sorted(label_of(mark).leader or (0, 0))
            own = covered(made, mark, width)
            leaders.append((Rectangle(x - 0.5, x + 0.5, y + start, y + end), own))
    found = [(a, b) for a, b in combinations(words, 2) if overlap(a, b)]
    return found + [
        (line, word) for line, own in leaders for word in words if word != own and overlap(line, word)
    ]


CURVES = curve_set(
    curve("GRPO", [0.74, 0.77, 0.795, 0.8, 0.8, 0.815, 0.82, 0.82], steps=range(0, 160, 20)),
    curve("MEL", [0.74, 0.77, 0.76, 0.79, 0.81, 0.8, 0.84, 0.82], steps=[0, 20, 30, 40, 60, 80, 120, 140]),
)


def note(x: float, text: str, series: str | None = None) -> Any:  # noqa: ANN401 - an annotation of a block
    """What a block says to mark: a step, of a series if there is one."""
    said = {"x": x, "text": text, **({"series": series} if series else {})}
    return CurveSettings.model_validate({"title": "t", "annotations": [said]}).annotations[0]


def marked_plot(
    notes: Sequence[Any],
    curves: CurveSet = CURVES,
    *,
    own: Sequence[Any] = (),
    **block: Any,  # noqa: ANN401
) -> Plot:
    """The plot of series in which data or claims asked for marks, beside the author's own."""
    around = context(curves)
    settled = CurveSettings.model_validate({"title": "t", **block}).model_copy(
        update={"annotations": tuple(own)}
    )
    return make_plot(curves, make_curve_spec("one", settled, "accuracy", around, tuple(notes)), around)


NOTES = st.builds(
    note,
    x=st.integers(0, 140).map(float),
    text=st.sampled_from(WORDS) | st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=40),
    series=st.sampled_from(["GRPO", "MEL", None]),
)


@given(st.lists(NOTES, max_size=12), st.sampled_from([120, 220, 320]), st.sampled_from([(), (NOTES,)]))
def test_words_never_lie_on_each_other(notes: list[Any], height: int, own: tuple[Any, ...]) -> None:
    """Not on other marks' words, not on names at the line ends, nor does a leader cross words."""
    made = marked_plot(notes[3:] if own else notes, own=notes[:3] if own else (), height=height)
    for width in (NARROW, 600, 900, 1600):
        assert overlaps(made, width) == [], width


@settings(max_examples=tries(20, 200))
@given(st.lists(NOTES, min_size=1, max_size=5))
def test_words_stay_inside_a_narrow_picture(notes: list[Any]) -> None:
    """On a telephone nothing reaches beyond the figure, or the page would scroll sideways."""
    made = marked_plot(notes)
    for mark in (*made.references, *made.annotations):
        if mark.label:
            left, right, top, bottom = covered(made, mark, NARROW)
            assert left >= -8
            assert right <= NARROW + 16
            assert top >= -11
            assert bottom <= made.height + DESCENT


def test_a_few_marks_all_get_their_words() -> None:
    """Five or six sentences about a curve are told in it, ring and words together, always alike."""
    notes = [
        note(120, "best 0.84", "MEL"),
        note(30, "dip 0.76", "MEL"),
        note(120, "widest gap 0.02", "GRPO"),
        note(60, "plateau", "GRPO"),
        note(140, "both 0.82", "MEL"),
        note(50, "crossing", "GRPO"),
    ]
    assert all(mark.label for mark in marked_plot(notes).annotations)
    assert marked_plot(notes) == marked_plot(notes)
    assert marked_plot([]).annotations == ()


def test_words_without_room_are_told_below_and_keep_their_ring(tmp_path: Path) -> None:
    """What is most important has its words in the picture; the rest stands in the caption."""
    rows = [
        (line.series, *point) for line in CURVES.curves for point in zip(line.steps, line.values, strict=True)
    ]
    notes = [{"x": 60 + n, "text": f"mark number {n}", "series": "MEL"} for n in range(60)]
    data = {"runs.csv": write_table(("series", "step", "accuracy"), rows)}
    shown = draft_block(tmp_path, "curve", data, id="one", source="runs", annotations=notes)
    svg = str(shown.inline_svg)
    labelled = re.findall(r"<text[^>]*>(mark number \d+)</text>", svg)
    left = re.findall(r"<title>(mark number \d+)</title>", svg)
    assert labelled[0] == "mark number 0"
    assert len(left) > len(labelled) > 5
    assert sorted([*labelled, *left]) == sorted(str(one["text"]) for one in notes)
    assert f" and {left[-1]} (at step {60 + int(left[-1].split()[-1])})." in shown.caption
    assert "mark number 0 " not in shown.caption
    assert svg.count('<g class="rg-annotation">') == 60


def test_words_far_from_their_point_have_a_leader() -> None:
    """A thin line says whose words they are; words at their point need none."""
    notes = [note(60 + 6 * n, words, "GRPO") for n, words in enumerate(WORDS[:5])]
    labels = [label_of(mark) for mark in marked_plot(notes).annotations]
    away = [label for label in labels if label.leader]
    assert away
    for label in away:
        start, end = label.leader or (0, 0)
        assert 9 < abs(end - start) < 200
        assert {start, end} & {-6.0, 6.0}


def test_lines_are_left_clear_where_that_costs_little() -> None:
    """Above a falling line there is room at the right of a mark, below it at the left."""
    falling = curve_set(curve("a", [3.0, 2.0, 1.0, 0.0]))
    (mark,) = plot(falling, annotations=[{"x": 1, "text": "here", "series": "a"}]).annotations
    label = label_of(mark)
    assert (label.anchor, label.dx, label.dy) in {("start", 0, -12), ("middle", 10, -12), ("end", 0, 22)}


def test_a_label_is_moved_off_a_line_next_to_it() -> None:
    """A line that rises at the left of the last mark leaves room below it, a little to the right."""
    level = curve("a", [0.9375] * 11, steps=range(0, 110, 10))
    rising = curve("b", [0.8125, 1.0], steps=[78, 86])
    block: dict[str, Any] = {
        "annotations": [{"x": 100, "text": "ends here", "series": "a"}],
        "y_domain": (0, 1),
    }
    usual, moved = (
        label_of(plot(curve_set(*curves), **block).annotations[0]) for curves in ([level], [level, rising])
    )
    assert (usual.anchor, usual.dx, usual.dy) == ("end", 0, 22)
    assert (moved.anchor, moved.dx, moved.dy) == ("end", 10, 22)


def test_symbols_are_left_clear_where_that_costs_little() -> None:
    """Where the best place is on the symbol of another value, the words take another."""
    marked = curve("a", [0.61, 0.4, 0.65, 0.32, 0.43], steps=[0, 25, 50, 75, 100])
    other = curve("b", [0.38, 0.53, 0.7, 0.42, 0.33], steps=[0, 30, 52, 80, 100])
    block: dict[str, Any] = {"y_domain": (0, 1), "height": 160}
    block["annotations"] = [{"x": 50, "text": "here it is", "series": "a"}]
    made = plot(curve_set(marked, other), **block)
    (mark,) = made.annotations
    x, y = 0.52 * PIXELS_WIDE, 0.3 * 160
    symbol = Rectangle(x - 3, x + 3, y - 3, y + 3)
    below = covered(made, mark, PIXELS_WIDE)
    assert (label_of(mark).anchor, label_of(mark).dy) == ("middle", 22)
    assert not overlap(below, symbol)
    assert overlap(below._replace(top=below.top - 34, bottom=below.bottom - 34), symbol)


def test_words_at_the_right_edge_stand_inside_the_plot() -> None:
    """A name at the line's end pushes them away, and a line down turns them to the left."""
    made = marked_plot([note(140, "ends level", "MEL")])
    assert label_of(made.annotations[0]).anchor == "end"
    first, last = marked_plot([note(20, "new data"), note(140, "end")]).references
    assert (label_of(first).anchor, label_of(last).anchor) == ("start", "end")


def test_long_words_are_shortened_in_a_narrow_picture_only() -> None:
    """A wide picture, and the file, have all of them; the rest shows when it is pointed at."""
    words = "learning rate lowered to a tenth of what it was before"
    curves = curve_set(curve("a", wave()))
    made = plot(curves, annotations=[{"x": 30, "text": words, "series": "a"}])
    label = label_of(made.annotations[0])
    assert label.text == words
    assert label.short.endswith("…")
    fluid = draw_picture(made, make_line_paths(made), labelled_by="x")
    assert re.search(f'<text class="rg-wide"[^>]*>{words}<', fluid)
    assert re.search(f'<text class="rg-narrow"[^>]*>{label.short}<', fluid)
    assert f"<title>{words}</title>" in fluid
    assert draw_body(made, make_line_paths(made), fluid=False).count("learning rate") == 1


@pytest.mark.parametrize("block", [{"x_domain": (0, 50)}, {"y_domain": (0.7, 0.78)}])
def test_what_was_marked_outside_the_axes_is_left_out(block: dict[str, Any]) -> None:
    """Data and claims ask for marks without knowing the axes; an author is told."""
    notes = [note(120, "best", "MEL"), note(30, "dip", "MEL")]
    assert [mark.text for mark in marked_plot(notes, **block).annotations] == ["dip"]
    with pytest.raises(ReportError, match="axis runs from"):
        marked_plot((), own=notes, **block)


def test_what_was_marked_is_left_out_where_lines_strike_out_its_words() -> None:
    """Level lines leave no place beside a point; what an author marks keeps its words."""
    levels = curve_set(*(curve(f"level {n}", [n / 20] * 9) for n in range(21)))
    found, own = note(4, "best by far", "level 10"), note(2, "an author's words", "level 10")
    made = marked_plot([found], levels, own=[own])
    assert [mark.text for mark in made.annotations] == ["an author's words"]


def test_what_was_marked_of_a_series_or_step_that_is_not_there_is_left_out() -> None:
    """A figure may show fewer series than its source, and a log axis fewer values."""
    notes = [
        note(20, "a", "PPO"),
        note(500, "b", "MEL"),
        note(900, "c"),
        note(0, "d", "MEL"),
        note(20, "e", "MEL"),
        note(20, "e", "MEL"),
    ]
    made = marked_plot(notes, x_scale="log", x_domain=(10, 140))
    assert [mark.text for mark in (*made.references, *made.annotations)] == ["e"]


def test_words_of_a_live_figure_stand_where_the_picture_has_them() -> None:
    """By the distances from their marks."""
    block: dict[str, Any] = {
        "annotations": [
            {"x": 120, "text": "best", "series": "MEL"},
            {"x": 120, "text": "level", "series": "GRPO"},
            {"x": 110, "text": "new data"},
        ]
    }
    made = plot(CURVES, **block)
    drawn = draw_body(made, make_line_paths(made), fluid=False)
    rows = json.loads(str(figure(CURVES, **block).payload))
    for mark, row in zip(
        (*made.references, *made.annotations), (*rows["references"], *rows["annotations"]), strict=True
    ):
        box = covered(made, mark, PIXELS_WIDE)
        assert f'y="{box.bottom - DESCENT:.4g}" text-anchor="{label_of(mark).anchor}"' in drawn
        assert (row["dx"], row["dy"]) == (label_of(mark).dx, label_of(mark).dy)


def test_the_more_important_label_keeps_its_place_when_not_all_fit() -> None:
    """Another round counts only if it leaves out fewer words, or less important ones."""
    notes = [{"x": 50, "text": f"line number {n} is here"} for n in range(20)]
    curves = curve_set(curve("a", [0.1] * 3, steps=[0, 50, 100]))
    made = plot(curves, annotations=notes, height=120, y_domain=(0, 1))
    assert [bool(mark.label) for mark in made.references] == [True] * 16 + [False] * 4


def test_words_that_found_no_room_take_the_first_turn() -> None:
    """A mark that the words of lines shut in gets the place beside it, since the lines have several."""
    notes: list[dict[str, Any]] = [{"x": 40, "text": f"line number {n} is here"} for n in range(3)]
    notes.append({"x": 50, "text": "highest", "series": "a"})
    curves = curve_set(curve("a", [0.1, 0.97, 0.1], steps=[0, 50, 100]))
    made = plot(curves, annotations=notes, y_domain=(0, 1))
    (highest,) = made.annotations
    assert (label_of(highest).anchor, label_of(highest).leader) == ("start", None)
    assert all(mark.label for mark in made.references)


# ---- names at line ends, and labels of steps ---------------------------------------------------------------

HEIGHT, DISTANCE = 320, 16
PLACES = st.lists(st.floats(0, HEIGHT), min_size=1, max_size=HEIGHT // DISTANCE)
Y = plot(curve_set(curve("a", [0, 1])), y_domain=(0, 1)).y


def line(name: str, *values: float) -> SeriesLine:
    """A series that ends at the last of these values."""
    y = np.array(values)
    unknown = np.full(y.size, np.nan)
    return SeriesLine(name, 0, np.arange(float(y.size)), y, unknown, unknown, np.ones(y.size, dtype=np.int64))


@given(PLACES, st.data())
def test_names_are_apart_inside_and_in_order(wanted: list[float], data: st.DataObject) -> None:
    """A name above another stays above it; who does not touch is not moved, and nobody further than needed.

    Any other allowed places in the same order are farther from the wanted ones, in squares.
    """
    placed = spread_apart(wanted, DISTANCE, 0, HEIGHT)
    ordered = sorted(placed)
    assert all(b - a >= DISTANCE - 1e-6 for a, b in pairwise(ordered))
    assert ordered[0] >= -1e-6
    assert ordered[-1] <= HEIGHT + 1e-6
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    assert sorted(range(len(placed)), key=placed.__getitem__) == order
    if all(b - a >= DISTANCE for a, b in pairwise(sorted(wanted))):
        assert placed == pytest.approx(wanted)
    assert spread_apart(placed, DISTANCE, 0, HEIGHT) == pytest.approx(placed)
    rest = HEIGHT - DISTANCE * (len(wanted) - 1)
    slack = sorted(data.draw(st.lists(st.floats(0, rest), min_size=len(wanted), max_size=len(wanted))))
    other = [0.0] * len(wanted)
    for rank, (index, room) in enumerate(zip(order, slack, strict=True)):
        other[index] = room + rank * DISTANCE
    moved, others = (
        sum((place - wish) ** 2 for place, wish in zip(places, wanted, strict=True))
        for places in (placed, other)
    )
    assert moved <= others + 1e-6


def test_names_stand_at_the_last_known_value() -> None:
    """Of a line that ends early at its own end, of one cut off at the edge; without values there is none.

    Two names at one place go half the way each; a loss of 0 on a log axis is at its foot.
    """
    assert spread_apart([100.0, 100.0], 16, 0, 320) == [92.0, 108.0]
    assert spread_apart([100.0, 100.0, 118.0], 16, 0, 320) == [90.0, 106.0, 122.0]
    assert spread_apart([310.0, 320.0, 320.0], 16, 0, 320) == [288.0, 304.0, 320.0]
    nan = float("nan")
    found = place_end_labels([line("early", 0.25, nan), line("late", 0.1, 0.75)], Y, HEIGHT)
    assert found == (EndLabel("early", 0, 240.0), EndLabel("late", 0, 80.0))
    assert place_end_labels([line("none", nan)], Y, HEIGHT) == ()
    found = place_end_labels([line("over", 7.0), line("under", -7.0)], Y, HEIGHT)
    assert [end.y for end in found] == [0.0, 320.0]
    axis = plot(curve_set(curve("a", [0.01, 1.0])), y_scale="log").y
    assert [end.y for end in place_end_labels([line("zero", 0.5, 0.0)], axis, HEIGHT)] == [320.0]


def test_a_name_away_from_its_line_has_a_leader() -> None:
    """It starts where the line ends, or at its last step; all names then stand farther from the plot."""
    found = place_end_labels([line("a", 0.5), line("b", 0.5), line("c", 0.1)], Y, HEIGHT)
    assert [(end.y, end.at) for end in found] == [(152.0, 160.0), (168.0, 160.0), (288.0, None)]
    assert len({end.dx for end in found}) == 1
    assert found[0].dx > EndLabel("", None, 0.0).dx
    axis = plot(curve_set(curve("a", [0, 1, 2]))).x
    found = place_end_labels([line("early", 0.5, 0.9), line("late", 0.1, 0.2, 0.25)], Y, HEIGHT, axis)
    assert [(end.at, end.step) for end in found] == [(32.0, 1.0), (None, None)]


def test_names_that_do_not_fit_give_way_to_a_legend() -> None:
    """Nine are too many, one too long would squeeze the plot, and eight need 128 pixels."""
    for names in (
        [f"series {n}" for n in range(9)],
        ["a name that is much too long to stand at a line's end"],
    ):
        assert place_end_labels([line(name, 0.5) for name in names], Y, HEIGHT) == ()
    eight = [line(str(n), 0.5) for n in range(8)]
    assert len(place_end_labels(eight, Y, 128)) == 8
    assert place_end_labels(eight, Y, 127) == ()


@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=8))
def test_names_fit_into_the_margin_made_for_them(names: list[str]) -> None:
    """Tick labels fit at the left and names at the right; both margins have a class in the style sheet."""
    ends = tuple(EndLabel(name, 0, 0.0) for name in names)
    room = compute_margins(Y, ends)
    assert room.right >= 10 + max(measure_text(name, LABEL_SIZE, 600) for name in names)
    assert room.left >= 8 + max(measure_text(label, 12) for label in Y.labels)
    assert (room.left % 8, room.right % 8) == (0, 0)
    # Only the half of a last tick label reaches out at the right.
    assert compute_margins(Y, ()).right == 16


def test_labels_of_steps_and_times_stand_beside_each_other() -> None:
    """However long they are, there are as many as fit; from milliseconds to a century, over midnight too."""
    for low, high in product((0, 12_345_000), (4, 1000, 90_000, 12_345_678)):
        steps = [round(low + high * share / 40) for share in range(41)]
        assert fits(plot(curve_set(curve("a", wave(41), steps=steps))))
    for span in (0.2, 90, 4e3, 9e4, 3e5, 4e6, 5e7, 3e9):
        start = 1_709_243_000_000.0
        times = [start + 1000 * span * share / 8 for share in range(9)]
        curves = curve_set(curve("a", wave(9), steps=times))
        assert fits(plot(curves, context(curves, step_is_time=True)))
    # A measurement of a day has no time of day.
    days = [86_400_000.0 * (19_000 + day) for day in range(4)]
    curves = curve_set(curve("a", wave(4), steps=days))
    assert figure(curves, context(curves, step_is_time=True)).table.rows[1][0] == "2022-01-09"
    times = [days[0], days[0] + 43_200_000, days[1]]
    curves = curve_set(curve("a", wave(3), steps=times))
    assert figure(curves, context(curves, step_is_time=True)).table.rows[2][0] == "2022-01-09 00:00"


def fits(made: Plot) -> bool:
    """Whether no two labels of the x axis touch in a picture of usual width."""
    places = [share_of(made.x, tick) * PIXELS_WIDE for tick in made.x.ticks]
    halves = [measure_text(label, TICK_SIZE) / 2 for label in made.x.labels]
    ends = list(zip(places, halves, strict=True))
    return all(b - a > half + other for (a, half), (b, other) in pairwise(ends)) and len(ends) > 1
