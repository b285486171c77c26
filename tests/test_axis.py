"""Axes: round ticks inside the domain, and labels to the letter those that Vega writes."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_figures import context, curve, curve_set, finish, plot, share_of, wanted
from msgspec.structs import replace
from tries import tries
from vega import VegaPicture, vega_words

from reportgen.core.errors import ReportError
from reportgen.figures.curves.plotting import describe_left_out, make_plot, place_end_labels
from reportgen.figures.paths import PIXELS_WIDE, UNITS_A_PIXEL, make_line_paths

SIZES = st.floats(1e-12, 1e24) | st.floats(-1e24, -1e-12) | st.integers(-1000, 1000).map(float)
HEIGHTS = st.sampled_from([200, 320])  # with four ticks, and with five
MINUTE, HOUR, DAY = 60e3, 3600e3, 86400e3
Axis: TypeAlias = Any  # of a plot


def over_values(low: float, high: float, *, padded: bool = False, **settings: Any) -> Axis:  # noqa: ANN401
    """The y axis of a plot over two values."""
    if not padded and low < high:
        settings["y_domain"] = low, high
    return plot(curve_set(curve("a", [low, high])), **settings).y


def over_steps(low: float, high: float, **fields: Any) -> Axis:  # noqa: ANN401
    """The x axis of a plot over two steps, or over a single one."""
    steps = sorted({low, high})
    curves = curve_set(curve("a", steps, steps=steps))
    around = context(curves, step_is_time=fields.pop("time", False))
    return make_plot(curves, replace(wanted(curves, around), **fields), around).x


def over_times(low: float, high: float) -> Axis:
    """The x axis of a plot over two times."""
    return over_steps(low, high, time=True)


def over_counts(low: float, high: float) -> Axis:
    """The x axis of a plot over two counts."""
    return over_steps(low, high, x_scale="log2")


def points(line: str) -> list[tuple[float, float]]:
    """The points of a path of relative steps, in pixels."""
    steps = np.array([int(number) for number in re.findall(r"-?\d+", line)]).reshape(-1, 2)
    return [(float(x), float(y)) for x, y in np.cumsum(steps, axis=0) / UNITS_A_PIXEL]


def read(axis: Axis, *values: float) -> list[str]:
    """Values as a figure's table says them along an axis, which is that of y unless it is of times."""
    time = axis.scale == "time"
    curves = curve_set(curve("a", values, steps=values if time else None))
    around = context(curves)
    one = wanted(curves, around)
    axes = {"x": axis} if time else {"y": replace(axis, precision=None)}
    made = replace(make_plot(curves, one, around), **axes)
    return [row[0 if time else 1] for row in finish(made, curves, one, around).table.rows]


@st.composite
def linear_axes(draw: st.DrawFn) -> Axis:
    """A linear axis over any range, narrow ones far from zero too."""
    low = draw(SIZES)
    high = low + abs(low or 1.0) * 10 ** draw(st.floats(-11, 3))
    return over_values(low, high, height=draw(HEIGHTS), padded=draw(st.booleans()))


@st.composite
def log_axes(draw: st.DrawFn) -> Axis:
    """A log axis over a fraction of a decade to dozens of decades."""
    low = draw(st.floats(1e-12, 1e12))
    return over_values(low, low * 10 ** draw(st.floats(0.01, 24)), y_scale="log")


@st.composite
def time_axes(draw: st.DrawFn) -> Axis:
    """A time axis over milliseconds to centuries."""
    low = draw(st.floats(-6e13, 2e14))
    high = low + 10 ** draw(st.floats(2, 13.5))
    assume(high < 2.5e14)
    return over_times(low, high)


AXES = linear_axes() | log_axes() | time_axes()


def sample_axes() -> list[Axis]:
    """Axes of every kind that a report may hold, in an order that is always the same."""
    made: list[Axis] = []
    for size in (1e-12, 3.7e-8, 2e-4, 0.013, 0.86, 1.0, 41.0, 1234.5, 99_000.0, 3.2e6, 1e12, 7.7e17, 1e24):
        for low in (0.0, size, -size, -size / 3, size * 1e3):
            made.append(over_values(low, low + size, padded=True))
            made.append(over_values(low, low + size * 0.0037, height=200))
        made += [over_values(size, size * reach, y_scale="log") for reach in (1.4, 9.0, 320.0, 8e4, 1e15)]
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
    return [over_times(start, start + span) for span in spans]


def test_times_are_those_that_vega_writes() -> None:
    """Labels of a time axis, and times read out along it, are what d3-time-format makes of them."""
    axes = sample_time_axes()
    pairs = [(tick, axis.format) for axis in axes for tick in axis.ticks]
    pairs += [(end, axis.read_format) for axis in axes for end in axis.domain]
    ours = [label for axis in axes for label in axis.labels]
    ours += [words for axis in axes for words in read(axis, *axis.domain)]
    assert ours == vega_words(pairs, "utcFormat")


def test_numbers_are_those_that_vega_writes() -> None:
    """Labels of ticks, and what words and tooltips say of a value, are those of d3-format, with B for G."""
    axes = [*sample_axes(), over_counts(1, 2048)]
    ours = [label for axis in axes for label in axis.labels]
    pairs = [(tick, axis.format) for axis in axes for tick in axis.ticks]
    for axis in axes:
        low, high = axis.domain
        values = [low + (high - low) * share for share in (0.0, 0.123456, 0.5, 0.98765, 1.0)]
        ours += read(axis, *values)
        pairs += [(value, axis.read_format) for value in values]
    assert ours == [words.replace("G", "B") for words in vega_words(pairs)]


UNIT = over_values(0, 1)


def write(value: float, spec: str) -> str:
    """A number as an axis with this format says it."""
    return read(replace(UNIT, read_format=spec), value)[0]


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
        read(replace(over_times(0, DAY), read_format="%A"), 0.0)


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=2, unique=True))
def test_an_axis_in_percent_keeps_its_ticks_and_digits(ends: list[float]) -> None:
    """Labels are those of the hundredfold; single values have the digits that they have without."""
    axis, percent = (over_values(min(ends), max(ends), format=one) for one in ("number", "percent"))
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
    low, high = axis.domain
    steps = [after - before for before, after in zip(axis.ticks, axis.ticks[1:], strict=False)]
    head = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-3)
    assert min(abs(head - round_head) for round_head in (1, 2, 5)) < 2e-3
    assert all(other == pytest.approx(steps[0], rel=1e-3) for other in steps)
    assert 0.1 < steps[0] / ((high - low) / 5) < 10


@given(log_axes())
def test_log_ticks_are_round(axis: Axis) -> None:
    """Each is 1, 2 or 5 times a power of ten, or an even round value where the range is short."""
    if len(axis.ticks) >= 3 and axis.ticks[-1] / axis.ticks[0] > 10:
        heads = {f"{tick:.6e}".split("e")[0].rstrip("0").rstrip(".") for tick in axis.ticks}
        assert heads <= {"1", "2", "5"}


@given(AXES, st.floats(0, 1))
def test_position_maps_the_domain_to_zero_to_one(axis: Axis, share: float) -> None:
    """The ends stand at 0 and 1, and what lies between stands between, in order; so does a name at it."""
    low, high = axis.domain
    inside = low * (high / low) ** share if axis.scale == "log" else low + share * (high - low)
    values = [low, inside, high]
    curves = curve_set(curve("a", values, steps=[0, 1, 2]))
    made = replace(plot(curves), y=axis)
    (_, start), (_, between), (_, end) = points(make_line_paths(made)[0].line)
    assert (start, end) == (made.height, 0)
    assert 1 - between / made.height == pytest.approx(share, abs=1e-3)
    (name,) = place_end_labels(plot(curve_set(curve("a", [low, inside]))).lines, axis, made.height)
    assert 1 - name.y / made.height == pytest.approx(share, abs=1e-3)


@given(SIZES, st.floats(1e-300, 1e300))
def test_a_constant_is_drawn_in_the_middle(value: float, positive: float) -> None:
    """Constant data have a range to stand in, as has the noise of adding them up; a log axis has factors."""
    log = over_values(positive, positive, y_scale="log")
    assert share_of(log, positive) == pytest.approx(0.5, abs=1e-6)
    for high in (value, math.nextafter(value, math.inf)):
        axis = over_values(value, high, padded=True)
        assert share_of(axis, value) == pytest.approx(0.5)
        assert len(axis.ticks) >= 2


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-308, -1e-308, 1e299, -1e299])
def test_numbers_at_the_ends_of_what_a_double_holds(value: float) -> None:
    """Neither the smallest nor the largest numbers stop a build."""
    axis = over_values(value, value)
    assert axis.domain[0] < value < axis.domain[1]
    assert all(math.isfinite(tick) for tick in axis.ticks)


def test_ranges_beyond_numbers_and_calendars() -> None:
    """A run that reaches the largest double is drawn from edge to edge; a time of no calendar is refused.

    A single moment stands in the middle of its day.
    """
    axis = over_values(-1.7e308, 1.7e308)
    assert axis.domain == (-1e300, 1e300)
    assert len(axis.ticks) >= 2
    axis = over_times(1.7e12, 1.7e12)
    assert share_of(axis, 1.7e12) == pytest.approx(0.5)
    assert axis.domain[1] - axis.domain[0] == DAY
    with pytest.raises(ReportError):
        over_times(0.0, 1e18)


USUAL = [
    (over_values(0.0, 1.0), "0.0 0.2 0.4 0.6 0.8 1.0"),
    (over_values(0.0, 120.0), "0 20 40 60 80 100 120"),
    (over_values(0.0, 3.1e6), "0 500k 1M 1.5M 2M 2.5M 3M"),
    (over_values(0.0, 7.1e9), "0 2B 4B 6B"),
    (over_values(0.0, 2e-6), "0e+0 5e-7 1e-6 1.5e-6 2e-6"),
    (over_values(-3.0, 1.0), "\N{MINUS SIGN}3 \N{MINUS SIGN}2 \N{MINUS SIGN}1 0 1"),
    (over_values(1e6, 1e6 + 4), "1,000,000 1,000,001 1,000,002 1,000,003 1,000,004"),
    (over_values(0, 1, format="percent"), "0% 20% 40% 60% 80% 100%"),
    (over_values(0.84, 0.85, format="percent"), "84.0% 84.2% 84.4% 84.6% 84.8% 85.0%"),
    # Powers of ten; 2 and 5 on a short range; round values within less than a decade.
    (over_values(0.01, 1, y_scale="log", format="percent"), "1% 10% 100%"),
    (over_values(0.001, 1.0, y_scale="log"), "0.001 0.01 0.1 1"),
    (over_values(0.3, 20.0, y_scale="log"), "0.5 1 2 5 10 20"),
    (over_values(3.1, 4.4, y_scale="log"), "3.2 3.4 3.6 3.8 4.0 4.2 4.4"),
    (over_values(1e-9, 1e9, y_scale="log"), "1e-9 1e-6 1e-3 1e+0 1e+3 1e+6 1e+9"),
    (over_values(1.0, 1e5, y_scale="log"), "1 10 100 1,000 10,000 100,000"),
    # Powers of two as long as there are at most a dozen; whole numbers where there are hardly any.
    (over_counts(1, 64), "1 2 4 8 16 32 64"),
    (over_counts(1, 30), "1 2 4 8 16"),
    (over_counts(1, 2048), "1 2 4 8 16 32 64 128 256 512 1,024 2,048"),
    (over_counts(1, 4096), "1 4 16 64 256 1,024 4,096"),
    (over_counts(1, 3), "1 2 3"),
    (over_counts(1, 2), "1 2"),
    (over_counts(1, 1), "1 2"),
    (over_counts(5, 6), "5 6"),
    (over_counts(3, 3), "2 3 4 5 6"),
]


@pytest.mark.parametrize(("axis", "labels"), USUAL)
def test_labels_of_usual_ranges(axis: Axis, labels: str) -> None:
    """Ticks as a person would choose them."""
    assert " ".join(axis.labels) == labels


def test_values_in_percent_have_the_digits_that_they_have_without() -> None:
    """Of a wide range, of a narrow one, and on a log axis."""
    linear = [over_values(*ends, format="percent") for ends in ((0, 1), (0.84, 0.85))]
    axes = (*linear, over_values(0.01, 1, y_scale="log", format="percent"))
    assert [read(axis, 0.84321)[0] for axis in axes] == ["84%", "84.32%", "84.32%"]


@given(st.integers(-1000, 10**9), st.integers(1, 10**6))
def test_whole_steps_have_whole_ticks(low: int, span: int) -> None:
    """There is no step 0.5."""
    axis = over_steps(low, low + span)
    assert all(tick == round(tick) for tick in axis.ticks)
    assert axis.ticks


@pytest.mark.parametrize(
    ("span", "words", "words_read"),
    [
        (8 * MINUTE, r"\d\d:\d\d", "2024-02-28 21:07"),
        (9 * HOUR, r"Feb \d\d \d\d:\d\d", "2024-02-28 21:07"),
        (10 * DAY, r"(Feb|Mar) \d\d", "2024-02-28"),
        (400 * DAY, r"[A-Z][a-z]{2} 202[45]", "2024-02-28"),
        (4000 * DAY, r"20[23]\d", "2024-02-28"),
    ],
)
def test_labels_of_time_axes(span: float, words: str, words_read: str) -> None:
    """Times of day where one day is shown, with the day where midnight passes, then days, months, years."""
    start = datetime(2024, 2, 28, 21, 7, tzinfo=UTC).timestamp() * 1000
    axis = over_times(start, start + span)
    assert all(re.fullmatch(words, label) for label in axis.labels)
    assert read(axis, start) == [words_read]


# ---- counts: powers of two, drawn where Vega draws them ---------------------------------------------------

KS = [1, 2, 4, 8, 16, 30]
CURVES = curve_set(
    curve("A", [20, 31, 44, 58, 70, 80], steps=KS, half=6), curve("B", [25, 33, 41, 50, 57, 61], steps=KS)
)


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_ticks_of_counts_are_whole(low: int, more: int) -> None:
    """There is no half of a sample, and no tick outside the plot."""
    axis = over_counts(low, low + more)
    assert 2 <= len(axis.ticks) <= 12
    assert list(axis.ticks) == sorted(set(axis.ticks))
    assert all(tick == round(tick) and tick >= 1 for tick in axis.ticks)
    assert all(-1e-9 <= share_of(axis, tick) <= 1 + 1e-9 for tick in axis.ticks)
    assert len(set(axis.labels)) == len(axis.ticks)


def test_doublings_are_equally_far_apart() -> None:
    """1 to 2 takes as much room as 8 to 16, and a single count stands in the middle."""
    axis = over_counts(1, 16)
    made = replace(plot(curve_set(curve("a", [0] * 5, steps=[1, 2, 4, 8, 16]))), x=axis)
    places = [x / PIXELS_WIDE for x, _ in points(make_line_paths(made)[0].line)]
    assert places == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=1e-3)
    assert share_of(over_counts(1, 1), 1) == pytest.approx(0.5)


def test_a_picture_over_counts_is_the_one_that_vega_draws() -> None:
    """Ticks, lines, band and symbols are where its specification, which says base two, puts them."""
    around = context(CURVES)
    one = replace(wanted(CURVES, around), x_scale="log2", x_title="k")
    ours = make_plot(CURVES, one, around)
    written = json.loads(str(finish(ours, CURVES, one, around).spec))
    assert written["encoding"]["x"]["scale"] == {"type": "log", "base": 2, "domain": [1.0, 30.0]}
    vega = VegaPicture(written, width=PIXELS_WIDE)
    assert vega.words("role-axis-label") == [*ours.x.labels, *ours.y.labels]
    assert ours.x.labels == ("1", "2", "4", "8", "16")
    paths = make_line_paths(ours)
    (band,) = vega.paths("bands")[:1]
    drawn = [path.line for path in paths] + [paths[0].band.removesuffix("z")]
    expected = [*(theirs[0] for theirs in vega.paths("lines")), band[0][::-1]]
    for mine, theirs in zip(drawn, expected, strict=True):
        assert np.abs(np.array(points(mine)) - np.array(theirs)).max() <= 0.5
    places = [(share_of(ours.x, k) * PIXELS_WIDE) for line in ours.lines for k in line.steps.tolist()]
    assert [x for x, _ in vega.places("points")] == pytest.approx(places, abs=0.5)


LATER = [30 - place / 10 for place in range(100)]
# Values, the ends of the axis by ``y_domain: auto`` and how many of the values are beyond.
FAR = {
    "a perplexity before training": ([50257.0, *LATER], (19, 31), 1),
    "below 0": ([-900.0, *(value - 25 for value in LATER)], (-6, 6), 1),
    "falling by equal factors": ([10 * 0.9**place for place in range(100)], (-1, 11), 0),
    "nothing far": (LATER, (19, 31), 0),
    "constant but for one": ([1.0] * 50 + [9.0], (0, 10), 0),
}


@pytest.mark.parametrize(("values", "ends", "count"), FAR.values(), ids=FAR)
def test_auto_leaves_out_what_is_far_from_the_others(
    values: list[float], ends: tuple[float, float], count: int
) -> None:
    """The rest fills the plot, the caption counts what is missing, and a reference line is always inside."""
    made = plot(curve_set(curve("a", values)), y_domain="auto")
    assert ends[0] < made.y.domain[0] < made.y.domain[1] < ends[1]
    assert made.y.left_out == count
    said = describe_left_out(made.y)
    assert (
        said.startswith(f"{count} value far from the others is not shown: the y axis is")
        if count
        else not said
    )
    log = plot(curve_set(curve("a", values)), y_domain="auto", y_scale="log") if min(values) > 0 else made
    assert log.y.left_out == count
    lined = plot(curve_set(curve("a", values)), y_domain="auto", reference=[{"y": 100.0}])
    assert lined.y.domain[1] > 100
