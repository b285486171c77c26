"""Axes: round ticks inside the domain, and labels to the letter those that Vega writes."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_figures import context, curve, curve_set, wanted
from msgspec.structs import replace
from tries import tries
from vega import VegaPicture, vega_words

from reportgen.figures.axis import (
    Axis,
    format_value,
    make_linear_axis,
    make_log2_axis,
    make_log_axis,
    make_time_axis,
    position,
    tick_step,
    use_percent,
)
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.live import build_spec, write_curves_csv
from reportgen.figures.paths import PIXELS_WIDE, UNITS_A_PIXEL, make_line_paths
from reportgen.figures.plot import get_shape

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


def test_times_are_those_that_vega_writes() -> None:
    """Labels of a time axis, and times read out along it, are what d3-time-format makes of them."""
    axes = sample_time_axes()
    pairs = [(tick, axis.format) for axis in axes for tick in axis.ticks]
    pairs += [(end, axis.read_format) for axis in axes for end in axis.domain]
    ours = [label for axis in axes for label in axis.labels]
    ours += [format_value(axis, end) for axis in axes for end in axis.domain]
    assert ours == vega_words(pairs, "utcFormat")


def test_numbers_are_those_that_vega_writes() -> None:
    """Labels of ticks, and what the static words and the live tooltip say of a value, are d3-format's."""
    axes = [*sample_axes(), make_log2_axis("k", 1, 2048)]
    places = [
        (axis, axis.domain[0] + (axis.domain[1] - axis.domain[0]) * share)
        for axis in axes
        for share in (0.0, 0.123456, 0.5, 0.98765, 1.0)
    ]
    ours = [label for axis in axes for label in axis.labels]
    ours += [format_value(axis, value) for axis, value in places]
    pairs = [(tick, axis.format) for axis in axes for tick in axis.ticks]
    assert ours == vega_words([*pairs, *((value, axis.read_format) for axis, value in places)])


def write(value: float, spec: str) -> str:
    """A number as an axis with this format says it."""
    return format_value(replace(make_linear_axis("", 0, 1, count=5), read_format=spec), value)


@settings(max_examples=tries(20, 100))
@given(
    st.lists(
        st.tuples(SIZES, st.sampled_from([",.0f", ",.2f", ".4~e", "~e", "~s", ",.6~r", ".1%", ",.2~%"])),
        min_size=1,
    )
)
def test_numbers_are_those_that_d3_writes(pairs: list[tuple[float, str]]) -> None:
    """Whatever the number, each kind of format gives d3's words."""
    assert [write(*pair) for pair in pairs] == vega_words(pairs)


@settings(max_examples=tries(20, 100))
@given(st.integers(-4000, 4000), st.integers(0, 4))
def test_ties_are_rounded_as_a_browser_does(eighths: int, digits: int) -> None:
    """Eighths stand exactly between two decimals; Python would round them to even, a browser does not."""
    pair = (eighths / 8, f",.{digits}f")
    assert write(*pair) == vega_words([pair])[0]


def test_formats_of_axes() -> None:
    """An accuracy of 1/8 in two digits is 0.13 everywhere, zero has no sign, and other formats are errors."""
    assert write(0.125, ",.2f") == "0.13"
    assert write(-0.001, ",.2f") == "0.00"
    assert write(-1234.5, ",.1f") == "\N{MINUS SIGN}1,234.5"
    with pytest.raises(ValueError, match="no such number format"):
        write(1.0, "+.2%")
    with pytest.raises(KeyError):
        format_value(replace(make_time_axis("", 0, DAY, count=6), read_format="%A"), 0.0)


@given(st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=2, unique=True))
def test_an_axis_in_percent_keeps_its_ticks_and_digits(ends: list[float]) -> None:
    """Labels are those of the hundredfold; single values have the digits that they have without."""
    axis = make_linear_axis("acc", min(ends), max(ends), count=5)
    percent = use_percent(axis)
    assert (percent.domain, percent.ticks) == (axis.domain, axis.ticks)
    assert all(label.endswith("%") for label in percent.labels)
    assert len(set(percent.labels)) == len(percent.labels)


@given(AXES)
def test_ticks_rise_inside_the_domain(axis: Axis) -> None:
    """No tick stands outside the plot, none twice, and each has a label that tells it from the others.

    Of numbers there are two to a dozen: a reader can measure, and it is not a ruler.
    """
    low, high = axis.domain
    room = 1e-9 * (high - low)
    assert all(low - room <= tick <= high + room for tick in axis.ticks)
    assert list(axis.ticks) == sorted(set(axis.ticks))
    assert len(set(axis.labels)) == len(axis.labels) == len(axis.ticks)
    assert axis.scale == "time" or 2 <= len(axis.ticks) <= 12


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


@given(SIZES, st.floats(1e-300, 1e300))
def test_a_constant_is_drawn_in_the_middle(value: float, positive: float) -> None:
    """Constant data have a range to stand in, as has the noise of adding them up; a log axis has factors."""
    assert position(make_log_axis("", positive, positive), positive) == pytest.approx(0.5, abs=1e-6)
    for high in (value, math.nextafter(value, math.inf)):
        axis = make_linear_axis("", value, high, count=5, pad=0.04)
        assert position(axis, value) == pytest.approx(0.5)
        assert len(axis.ticks) >= 2


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-308, -1e-308, 1e299, -1e299])
def test_numbers_at_the_ends_of_what_a_double_holds(value: float) -> None:
    """Neither the smallest nor the largest numbers stop a build."""
    axis = make_linear_axis("", value, value, count=5)
    assert axis.domain[0] < value < axis.domain[1]
    assert all(math.isfinite(tick) for tick in axis.ticks)


def test_ranges_beyond_numbers_and_calendars() -> None:
    """A run that reaches the largest double is drawn from edge to edge; a time of no calendar is refused.

    A single moment stands in the middle of its day.
    """
    axis = make_linear_axis("", -1.7e308, 1.7e308, count=5)
    assert axis.domain == (-1e300, 1e300)
    assert len(axis.ticks) >= 2
    axis = make_time_axis("", 1.7e12, 1.7e12, count=6)
    assert position(axis, 1.7e12) == pytest.approx(0.5)
    assert axis.domain[1] - axis.domain[0] == DAY
    with pytest.raises(OverflowError):
        make_time_axis("", 0.0, 1e18, count=6)


USUAL = [
    (make_linear_axis("", 0.0, 1.0, count=5), "0.0 0.2 0.4 0.6 0.8 1.0"),
    (make_linear_axis("", 0.0, 120.0, count=5), "0 20 40 60 80 100 120"),
    (make_linear_axis("", 0.0, 3.1e6, count=5), "0 500k 1M 1.5M 2M 2.5M 3M"),
    (make_linear_axis("", 0.0, 2e-6, count=5), "0e+0 5e-7 1e-6 1.5e-6 2e-6"),
    (make_linear_axis("", -3.0, 1.0, count=5), "\N{MINUS SIGN}3 \N{MINUS SIGN}2 \N{MINUS SIGN}1 0 1"),
    (make_linear_axis("", 1e6, 1e6 + 4, count=5), "1,000,000 1,000,001 1,000,002 1,000,003 1,000,004"),
    (use_percent(make_linear_axis("", 0, 1, count=5)), "0% 20% 40% 60% 80% 100%"),
    (use_percent(make_linear_axis("", 0.84, 0.85, count=5)), "84.0% 84.2% 84.4% 84.6% 84.8% 85.0%"),
    # Powers of ten; 2 and 5 on a short range; round values within less than a decade.
    (use_percent(make_log_axis("", 0.01, 1)), "1% 10% 100%"),
    (make_log_axis("", 0.001, 1.0), "0.001 0.01 0.1 1"),
    (make_log_axis("", 0.3, 20.0), "0.5 1 2 5 10 20"),
    (make_log_axis("", 3.1, 4.4), "3.2 3.4 3.6 3.8 4.0 4.2 4.4"),
    (make_log_axis("", 1e-9, 1e9), "1e-9 1e-6 1e-3 1e+0 1e+3 1e+6 1e+9"),
    (make_log_axis("", 1.0, 1e5), "1 10 100 1,000 10,000 100,000"),
    # Powers of two as long as there are at most a dozen; whole numbers where there are hardly any.
    (make_log2_axis("k", 1, 64), "1 2 4 8 16 32 64"),
    (make_log2_axis("k", 1, 30), "1 2 4 8 16"),
    (make_log2_axis("k", 1, 2048), "1 2 4 8 16 32 64 128 256 512 1,024 2,048"),
    (make_log2_axis("k", 1, 4096), "1 4 16 64 256 1,024 4,096"),
    (make_log2_axis("k", 1, 3), "1 2 3"),
    (make_log2_axis("k", 1, 2), "1 2"),
    (make_log2_axis("k", 1, 1), "1 2"),
    (make_log2_axis("k", 5, 6), "5 6"),
    (make_log2_axis("k", 3, 3), "2 3 4 5 6"),
]


@pytest.mark.parametrize(("axis", "labels"), USUAL)
def test_labels_of_usual_ranges(axis: Axis, labels: str) -> None:
    """Ticks as a person would choose them."""
    assert " ".join(axis.labels) == labels


def test_values_in_percent_have_the_digits_that_they_have_without() -> None:
    """Of a wide range, of a narrow one, and on a log axis."""
    linear = (make_linear_axis("", 0, 1, count=5), make_linear_axis("", 0.84, 0.85, count=5))
    axes = (*linear, make_log_axis("", 0.01, 1))
    assert [format_value(use_percent(axis), 0.84321) for axis in axes] == ["84%", "84.32%", "84.32%"]


@given(st.integers(-1000, 10**9), st.integers(1, 10**6), COUNTS)
def test_whole_steps_have_whole_ticks(low: int, span: int, count: int) -> None:
    """There is no step 0.5."""
    axis = make_linear_axis("", low, low + span, count=count, whole=True)
    assert all(tick == round(tick) for tick in axis.ticks)
    assert axis.ticks


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


# ---- counts: powers of two, drawn where Vega draws them ---------------------------------------------------

KS = [1, 2, 4, 8, 16, 30]
CURVES = curve_set(
    curve("A", [20, 31, 44, 58, 70, 80], steps=KS, half=6), curve("B", [25, 33, 41, 50, 57, 61], steps=KS)
)


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_ticks_of_counts_are_whole(low: int, more: int) -> None:
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


def test_a_picture_over_counts_is_the_one_that_vega_draws() -> None:
    """Ticks, lines, band and symbols are where its specification, which says base two, puts them."""
    around = context(CURVES)
    ours = make_plot(CURVES, replace(wanted(CURVES, around), x_scale="log2", x_title="k"), around)
    skeleton = around.get_chart_spec(get_shape(ours))
    written = build_spec(ours, CURVES, write_curves_csv(CURVES), skeleton, title="", subtitle="")
    (lines,) = (layer for layer in written["layer"] if layer.get("name") == "lines")
    scale = {"type": "log", "base": 2, "domain": [1.0, 30.0], "nice": False, "zero": False}
    assert lines["encoding"]["x"]["scale"] == scale
    vega = VegaPicture(written, width=PIXELS_WIDE)
    assert vega.words("role-axis-label") == [*ours.x.labels, *ours.y.labels]
    assert ours.x.labels == ("1", "2", "4", "8", "16")
    paths = make_line_paths(ours)
    (band,) = vega.paths("bands")[:1]
    drawn = [path.line for path in paths] + [paths[0].band.removesuffix("z")]
    expected = [*(theirs[0] for theirs in vega.paths("lines")), band[0][::-1]]
    for mine, theirs in zip(drawn, expected, strict=True):
        steps = np.array([int(number) for number in re.findall(r"-?\d+", mine)]).reshape(-1, 2)
        assert np.abs(np.cumsum(steps, axis=0) / UNITS_A_PIXEL - np.array(theirs)).max() <= 0.5
    places = [(position(ours.x, k) * PIXELS_WIDE) for line in ours.lines for k in line.steps.tolist()]
    assert [x for x, _ in vega.places("points")] == pytest.approx(places, abs=0.5)
