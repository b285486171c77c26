"""Names at line ends: apart from each other, inside the plot, and near their lines."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_figures import context, curve, curve_set, plot, wave

from reportgen.figures.axis import Axis, format_value, make_linear_axis, make_log_axis, position
from reportgen.figures.curves.plotting import compute_margins, place_end_labels, spread_apart
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.plot import EndLabel, SeriesLine
from reportgen.figures.style import LABEL_SIZE, TICK_SIZE
from reportgen.figures.text import measure_text

if TYPE_CHECKING:
    from reportgen.figures.plot import Plot

HEIGHT, DISTANCE = 320, 16
PLACES = st.lists(st.floats(0, HEIGHT), min_size=1, max_size=HEIGHT // DISTANCE)
Y = make_linear_axis("y", 0, 1, count=5)


def line(name: str, *values: float) -> SeriesLine:
    """A series that ends at the last of these values."""
    y = np.array(values)
    unknown = np.full(y.size, np.nan)
    return SeriesLine(name, 0, np.arange(float(y.size)), y, unknown, unknown, np.ones(y.size, dtype=np.int64))


@given(PLACES)
def test_places_are_apart_and_inside(wanted: list[float]) -> None:
    """No two names touch and none leaves the plot."""
    placed = spread_apart(wanted, DISTANCE, 0, HEIGHT)
    ordered = sorted(placed)
    assert all(b - a >= DISTANCE - 1e-6 for a, b in itertools.pairwise(ordered))
    assert ordered[0] >= -1e-6
    assert ordered[-1] <= HEIGHT + 1e-6


@given(PLACES)
def test_places_keep_their_order(wanted: list[float]) -> None:
    """A name above another stays above it; of two equal ones the first given does."""
    placed = spread_apart(wanted, DISTANCE, 0, HEIGHT)
    before = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    assert sorted(range(len(placed)), key=placed.__getitem__) == before


@given(PLACES)
def test_places_that_are_apart_stay(wanted: list[float]) -> None:
    """Who does not touch is not moved."""
    placed = spread_apart(wanted, DISTANCE, 0, HEIGHT)
    if all(b - a >= DISTANCE for a, b in itertools.pairwise(sorted(wanted))):
        assert placed == pytest.approx(wanted)
    assert spread_apart(placed, DISTANCE, 0, HEIGHT) == pytest.approx(placed)


@given(PLACES, st.data())
def test_no_other_places_move_less(wanted: list[float], data: st.DataObject) -> None:
    """Any other allowed places in the same order are farther from the wanted ones, in squares."""
    placed = spread_apart(wanted, DISTANCE, 0, HEIGHT)
    rest = HEIGHT - DISTANCE * (len(wanted) - 1)
    slack = sorted(data.draw(st.lists(st.floats(0, rest), min_size=len(wanted), max_size=len(wanted))))
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    other = [0.0] * len(wanted)
    for rank, (index, room) in enumerate(zip(order, slack, strict=True)):
        other[index] = room + rank * DISTANCE

    def moved(places: list[float]) -> float:
        return sum((place - wish) ** 2 for place, wish in zip(places, wanted, strict=True))

    assert moved(placed) <= moved(other) + 1e-6


def test_two_names_at_one_place_share_the_move() -> None:
    """Both go half the way."""
    assert spread_apart([100.0, 100.0], 16, 0, 320) == [92.0, 108.0]


def test_names_stand_at_the_last_known_value() -> None:
    """A line that ends early has its name at its own end."""
    nan = float("nan")
    found = place_end_labels([line("early", 0.25, nan), line("late", 0.1, 0.75)], Y, HEIGHT)
    assert found == (EndLabel("early", 0, 240.0), EndLabel("late", 0, 80.0))


def test_a_series_without_values_has_no_name_at_its_end() -> None:
    """There is no end to stand at."""
    assert place_end_labels([line("none", float("nan"))], Y, HEIGHT) == ()


def test_a_line_that_ends_outside_has_its_name_at_the_edge() -> None:
    """A domain may cut a line off; its name stays beside the plot."""
    found = place_end_labels([line("over", 7.0), line("under", -7.0)], Y, HEIGHT)
    assert [end.y for end in found] == [0.0, 320.0]


def test_what_a_log_axis_cannot_show_ends_at_its_foot() -> None:
    """A loss of exactly 0 on a log axis stops no build."""
    axis: Axis = make_log_axis("y", 0.01, 1.0)
    assert [end.y for end in place_end_labels([line("zero", 0.5, 0.0)], axis, HEIGHT)] == [320.0]


def test_a_name_away_from_its_line_has_a_leader() -> None:
    """It starts where the line ends; all names then stand farther from the plot."""
    found = place_end_labels([line("a", 0.5), line("b", 0.5), line("c", 0.1)], Y, HEIGHT)
    assert [(end.y, end.at) for end in found] == [(152.0, 160.0), (168.0, 160.0), (288.0, None)]
    assert len({end.dx for end in found}) == 1
    assert found[0].dx > EndLabel("", None, 0.0).dx


def test_a_line_that_ends_early_is_led_to_its_name() -> None:
    """From its own last step to the edge of the plot."""
    axis = make_linear_axis("x", 0, 2, count=3)
    found = place_end_labels([line("early", 0.5, 0.9), line("late", 0.1, 0.2, 0.25)], Y, HEIGHT, axis)
    assert [(end.at, end.step) for end in found] == [(32.0, 1.0), (None, None)]


@pytest.mark.parametrize(
    "names", [[f"series {n}" for n in range(9)], ["a name that is much too long to stand at a line's end"]]
)
def test_names_that_do_not_fit_give_way_to_a_legend(names: list[str]) -> None:
    """Nine names are too many, and one too long would squeeze the plot."""
    assert place_end_labels([line(name, 0.5) for name in names], Y, HEIGHT) == ()


def test_names_that_are_higher_than_the_plot_give_way_to_a_legend() -> None:
    """Eight names need 128 pixels."""
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


def test_without_names_the_plot_gets_their_room() -> None:
    """Only the half of a last tick label reaches out at the right."""
    assert compute_margins(Y, ()).right == 16


@pytest.mark.parametrize("high", [4, 1000, 90_000, 12_345_678])
@pytest.mark.parametrize("low", [0, 12_345_000])
def test_step_labels_stand_beside_each_other(low: int, high: int) -> None:
    """However long the labels are, there are as many as fit."""
    steps = [float(low + high * share / 40) for share in range(41)]
    assert fits(plot(curve_set(curve("a", wave(41), steps=[round(step) for step in steps]))))


@pytest.mark.parametrize("span", [0.2, 90, 4e3, 9e4, 3e5, 4e6, 5e7, 3e9])
def test_times_stand_beside_each_other(span: float) -> None:
    """From milliseconds to a century, over midnight too."""
    start = 1_709_243_000_000.0
    curves = curve_set(curve("a", wave(9), steps=[start + 1000 * span * share / 8 for share in range(9)]))
    assert fits(plot(curves, context(curves, step_is_time=True)))


def fits(made: Plot) -> bool:
    """Whether no two labels of the x axis touch in a picture of usual width."""
    places = [position(made.x, tick) * PIXELS_WIDE for tick in made.x.ticks]
    halves = [measure_text(label, TICK_SIZE) / 2 for label in made.x.labels]
    ends = list(zip(places, halves, strict=True))
    return all(b - a > half + other for (a, half), (b, other) in itertools.pairwise(ends)) and len(ends) > 1


def test_days_are_read_as_days() -> None:
    """A measurement of a day has no time of day."""
    days = [86_400_000.0 * (19_000 + day) for day in range(4)]
    curves = curve_set(curve("a", wave(4), steps=days))
    made = plot(curves, context(curves, step_is_time=True))
    assert format_value(made.x, days[1]) == "2022-01-09"
