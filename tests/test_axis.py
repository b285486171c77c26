"""Axes: round ticks inside the domain, and labels to the letter those that Vega writes."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from seen_by_vega import vega_words
from tries import tries

from reportgen.figures.axis import (
    Axis,
    format_value,
    make_linear_axis,
    make_log_axis,
    make_time_axis,
    position,
    tick_step,
)
from reportgen.figures.number_format import format_d3, format_time

SIZES = st.floats(1e-12, 1e24) | st.floats(-1e24, -1e-12) | st.integers(-1000, 1000).map(float)
COUNTS = st.sampled_from([4, 5, 7])
MINUTE, HOUR, DAY = 60e3, 3600e3, 86400e3


@st.composite
def linear_axes(draw: st.DrawFn) -> Axis:
    """A linear axis over any range, narrow ones far from zero too."""
    low = draw(SIZES)
    high = low + abs(low or 1.0) * 10 ** draw(st.floats(-11, 3))
    return make_linear_axis("", low, high, count=draw(COUNTS), pad=draw(st.sampled_from([0.0, 0.04])))


@st.composite
def log_axes(draw: st.DrawFn) -> Axis:
    """A log axis over a fraction of a decade to dozens of decades."""
    low = draw(st.floats(1e-12, 1e12))
    return make_log_axis("", low, low * 10 ** draw(st.floats(0.01, 24)))


@st.composite
def time_axes(draw: st.DrawFn) -> Axis:
    """A time axis over milliseconds to centuries."""
    low = draw(st.floats(-6e13, 2e14))
    high = low + 10 ** draw(st.floats(2, 13.5))
    assume(high < 2.5e14)
    return make_time_axis("", low, high, count=6)


AXES = linear_axes() | log_axes() | time_axes()


def sample_axes() -> list[Axis]:
    """Axes of every kind that a report may hold, in an order that is always the same."""
    made: list[Axis] = []
    for size in (1e-12, 3.7e-8, 2e-4, 0.013, 0.86, 1.0, 41.0, 1234.5, 99_000.0, 3.2e6, 1e12, 7.7e17, 1e24):
        for low in (0.0, size, -size, -size / 3, size * 1e3):
            made.append(make_linear_axis("", low, low + size, count=5, pad=0.04))
            made.append(make_linear_axis("", low, low + size * 0.0037, count=7))
        made += [make_log_axis("", size, size * reach) for reach in (1.4, 9.0, 320.0, 8e4, 1e15)]
    return made


def sample_time_axes() -> list[Axis]:
    """Time axes from fifty milliseconds to a millennium."""
    start = datetime(2024, 2, 28, 21, 7, 11, tzinfo=UTC).timestamp() * 1000
    spans = (
        50,
        900,
        7e3,
        4e4,
        20 * MINUTE,
        5 * HOUR,
        DAY,
        3 * DAY,
        30 * DAY,
        300 * DAY,
        4e3 * DAY,
        4e5 * DAY,
    )
    return [make_time_axis("", start, start + span, count=6) for span in spans]


def test_labels_are_those_that_vega_writes() -> None:
    """A tick's label is what d3-format makes of its value with the axis' format."""
    axes = sample_axes()
    ours = [label for axis in axes for label in axis.labels]
    assert ours == vega_words((tick, axis.format) for axis in axes for tick in axis.ticks)


def test_times_are_those_that_vega_writes() -> None:
    """Labels of a time axis, and times read out along it, are what d3-time-format makes of them."""
    axes = sample_time_axes()
    pairs = [(tick, axis.format) for axis in axes for tick in axis.ticks]
    pairs += [(end, axis.read_format) for axis in axes for end in axis.domain]
    ours = [label for axis in axes for label in axis.labels]
    ours += [format_value(axis, end) for axis in axes for end in axis.domain]
    assert ours == vega_words(pairs, "utcFormat")


def test_values_read_out_are_those_that_vega_writes() -> None:
    """What the static words say of a value is what the live tooltip says of it."""
    axes = sample_axes()
    places = [
        (axis, axis.domain[0] + (axis.domain[1] - axis.domain[0]) * share)
        for axis in axes
        for share in (0.0, 0.123456, 0.5, 0.98765, 1.0)
    ]
    ours = [format_value(axis, value) for axis, value in places]
    assert ours == vega_words((value, axis.read_format) for axis, value in places)


@settings(max_examples=tries(20, 100))
@given(
    st.lists(
        st.tuples(SIZES, st.sampled_from([",.0f", ",.2f", ".4~e", "~e", "~s", ",.6~r", ".1%", ",.2~%"])),
        min_size=1,
    )
)
def test_numbers_are_those_that_d3_writes(pairs: list[tuple[float, str]]) -> None:
    """Whatever the number, each kind of format gives d3's words."""
    assert [format_d3(value, spec) for value, spec in pairs] == vega_words(pairs)


@settings(max_examples=tries(20, 100))
@given(st.integers(-4000, 4000), st.integers(0, 4))
def test_ties_are_rounded_as_a_browser_does(eighths: int, digits: int) -> None:
    """Eighths stand exactly between two decimals; Python would round them to even, a browser does not."""
    pair = (eighths / 8, f",.{digits}f")
    assert [format_d3(*pair)] == vega_words([pair])


def test_a_tie_is_rounded_up() -> None:
    """An accuracy of 1/8 in two digits is 0.13, in the caption as in the tooltip; zero has no sign."""
    assert format_d3(0.125, ",.2f") == "0.13"
    assert format_d3(-0.001, ",.2f") == "0.00"
    assert format_d3(-1234.5, ",.1f") == "\N{MINUS SIGN}1,234.5"


def test_a_format_that_no_axis_uses_is_refused() -> None:
    """A specifier or a directive outside the few that are translated is an error, not a wrong word."""
    with pytest.raises(ValueError, match="no such number format"):
        format_d3(1.0, "+.2%")
    with pytest.raises(KeyError):
        format_time(0.0, "%A")


@given(AXES)
def test_ticks_rise_inside_the_domain(axis: Axis) -> None:
    """No tick stands outside the plot, none twice, and each has a label."""
    low, high = axis.domain
    room = 1e-9 * (high - low)
    assert all(low - room <= tick <= high + room for tick in axis.ticks)
    assert list(axis.ticks) == sorted(set(axis.ticks))
    assert len(axis.labels) == len(axis.ticks)


@given(linear_axes() | log_axes())
def test_every_axis_of_numbers_has_two_to_a_dozen_ticks(axis: Axis) -> None:
    """A reader can measure: there is a scale, and it is not a ruler's."""
    assert 2 <= len(axis.ticks) <= 12


@given(AXES)
def test_no_two_ticks_have_the_same_label(axis: Axis) -> None:
    """Labels have the digits that tell their ticks apart."""
    assert len(set(axis.labels)) == len(axis.labels)


@given(linear_axes())
def test_linear_ticks_are_round(axis: Axis) -> None:
    """They stand at multiples of 1, 2 or 5 times a power of ten, evenly."""
    steps = [after - before for before, after in zip(axis.ticks, axis.ticks[1:], strict=False)]
    step = tick_step(*axis.domain, 5)
    head = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-3)
    assert min(abs(head - round_head) for round_head in (1, 2, 5)) < 2e-3
    assert all(other == pytest.approx(steps[0], rel=1e-3) for other in steps)
    assert 0.1 < steps[0] / step < 10


@given(log_axes())
def test_log_ticks_are_round(axis: Axis) -> None:
    """Each is 1, 2 or 5 times a power of ten, or an even round value where the range is short."""
    if len(axis.ticks) >= 3 and axis.ticks[-1] / axis.ticks[0] > 10:
        heads = {f"{tick:.6e}".split("e")[0].rstrip("0").rstrip(".") for tick in axis.ticks}
        assert heads <= {"1", "2", "5"}


@given(AXES, st.floats(0, 1))
def test_position_maps_the_domain_to_zero_to_one(axis: Axis, share: float) -> None:
    """The ends stand at 0 and 1, and what lies between stands between, in order."""
    low, high = axis.domain
    inside = low * (high / low) ** share if axis.scale == "log" else low + share * (high - low)
    assert position(axis, low) == pytest.approx(0, abs=1e-9)
    assert position(axis, high) == pytest.approx(1, abs=1e-9)
    assert position(axis, inside) == pytest.approx(share, abs=1e-3)


@given(SIZES)
def test_a_constant_is_drawn_in_the_middle(value: float) -> None:
    """Constant data have a range to stand in, and so does the noise of adding them up."""
    for high in (value, math.nextafter(value, math.inf)):
        axis = make_linear_axis("", value, high, count=5, pad=0.04)
        assert position(axis, value) == pytest.approx(0.5)
        assert len(axis.ticks) >= 2


@given(st.floats(1e-300, 1e300))
def test_a_constant_on_a_log_axis_is_drawn_in_the_middle(value: float) -> None:
    """A log axis has a factor of two on both sides of a constant."""
    assert position(make_log_axis("", value, value), value) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-308, -1e-308, 1e299, -1e299])
def test_numbers_at_the_ends_of_what_a_double_holds(value: float) -> None:
    """Neither the smallest nor the largest numbers stop a build."""
    axis = make_linear_axis("", value, value, count=5)
    assert axis.domain[0] < value < axis.domain[1]
    assert all(math.isfinite(tick) for tick in axis.ticks)


def test_a_range_that_no_double_can_hold_is_cut() -> None:
    """A diverged run that reaches the largest double is drawn from edge to edge, and stops no build."""
    axis = make_linear_axis("", -1.7e308, 1.7e308, count=5)
    assert axis.domain == (-1e300, 1e300)
    assert len(axis.ticks) >= 2


def test_a_single_moment_is_drawn_in_the_middle_of_its_day() -> None:
    """Half a day on both sides."""
    axis = make_time_axis("", 1.7e12, 1.7e12, count=6)
    assert position(axis, 1.7e12) == pytest.approx(0.5)
    assert axis.domain[1] - axis.domain[0] == DAY


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.0, 1.0, ("0.0", "0.2", "0.4", "0.6", "0.8", "1.0")),
        (0.0, 120.0, ("0", "20", "40", "60", "80", "100", "120")),
        (0.0, 3.1e6, ("0", "500k", "1M", "1.5M", "2M", "2.5M", "3M")),
        (0.0, 2e-6, ("0e+0", "5e-7", "1e-6", "1.5e-6", "2e-6")),
        (-3.0, 1.0, ("−3", "−2", "−1", "0", "1")),
        (1_000_000.0, 1_000_004.0, ("1,000,000", "1,000,001", "1,000,002", "1,000,003", "1,000,004")),
    ],
)
def test_labels_of_usual_ranges(low: float, high: float, labels: tuple[str, ...]) -> None:
    """Ticks as a person would choose them."""
    assert make_linear_axis("", low, high, count=5).labels == labels


@given(st.integers(-1000, 10**9), st.integers(1, 10**6), COUNTS)
def test_whole_steps_have_whole_ticks(low: int, span: int, count: int) -> None:
    """There is no step 0.5."""
    axis = make_linear_axis("", low, low + span, count=count, whole=True)
    assert all(tick == round(tick) for tick in axis.ticks)
    assert axis.ticks


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.001, 1.0, ("0.001", "0.01", "0.1", "1")),
        (0.3, 20.0, ("0.5", "1", "2", "5", "10", "20")),
        (3.1, 4.4, ("3.2", "3.4", "3.6", "3.8", "4.0", "4.2", "4.4")),
        (1e-9, 1e9, ("1e-9", "1e-6", "1e-3", "1e+0", "1e+3", "1e+6", "1e+9")),
        (1.0, 1e5, ("1", "10", "100", "1,000", "10,000", "100,000")),
    ],
)
def test_labels_of_usual_log_ranges(low: float, high: float, labels: tuple[str, ...]) -> None:
    """Powers of ten; 2 and 5 on a short range; round values within less than a decade."""
    assert make_log_axis("", low, high).labels == labels


@pytest.mark.parametrize(
    ("span", "words", "read"),
    [
        (8 * MINUTE, r"\d\d:\d\d", "2024-02-28 21:07"),
        (9 * HOUR, r"Feb \d\d \d\d:\d\d", "2024-02-28 21:07"),
        (10 * DAY, r"(Feb|Mar) \d\d", "2024-02-28"),
        (400 * DAY, r"[A-Z][a-z]{2} 202[45]", "2024-02-28"),
        (4000 * DAY, r"20[23]\d", "2024-02-28"),
    ],
)
def test_labels_of_time_axes(span: float, words: str, read: str) -> None:
    """Times of day where one day is shown, with the day where midnight passes, then days, months, years."""
    start = datetime(2024, 2, 28, 21, 7, tzinfo=UTC).timestamp() * 1000
    axis = make_time_axis("", start, start + span, count=6)
    assert all(re.fullmatch(words, label) for label in axis.labels)
    assert format_value(axis, start) == read


def test_times_that_no_calendar_holds_are_refused() -> None:
    """The caller can tell the author; see ``plotting``."""
    with pytest.raises(OverflowError):
        make_time_axis("", 0.0, 1e18, count=6)
