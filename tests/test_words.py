"""Words for numbers, names and moments: exact, readable, and never more or less than is known.

What facts and scores make of them is in ``transcripts/digits.md``.
"""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.core.model import Estimate
from reportgen.core.words import (
    choose_common_decimals,
    find_nearest,
    format_count,
    format_estimate,
    format_moment,
    format_nonzero,
    format_number,
    format_p,
    format_percent,
    format_step,
    join_names,
    keep_together,
    lower_axis_title,
    parse_moment,
    quote_names,
    suggest_name,
)

_number = st.floats(allow_nan=False, allow_infinity=False)
_usual = st.floats(-1e11, 1e11)


def _read(text: str) -> Decimal:
    return Decimal(text.replace("\N{MINUS SIGN}", "-").replace(",", "").removesuffix("%"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (0.5, "0.5"),
        (0.82137, "0.8214"),
        (0.99996, "1"),
        (12345.678, "12,346"),
        (1234567, "1,234,567"),
        (-3.25, "\N{MINUS SIGN}3.25"),
        (1.6e24, "1.6e24"),
        (9.9999e11, "999,990,000,000"),
        (9.99999e-5, "0.0001"),
        (-3.217e-5, "\N{MINUS SIGN}3.217e\N{MINUS SIGN}5"),
        (1e308, "1e308"),
    ],
)
def test_a_number_reads_as_a_person_would_write_it(value: float, text: str) -> None:
    """Four significant digits, thousands separators, exponents only where zeros are hard to count."""
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.5, 2, "0.50"),
        (2.675, 2, "2.67"),
        (-0.001, 2, "0.00"),
        (12345, -2, "12,300"),
        (0, 1, "0.0"),
    ],
)
def test_decimals_are_kept(value: float, decimals: int, text: str) -> None:
    """Exactly as many as asked for, of the number as it is stored, and no minus at zero."""
    assert format_number(value, decimals=decimals) == text


def test_a_difference_shows_its_sign() -> None:
    """Plus and minus, and neither at zero."""
    signs = [format_number(value, decimals=2, signed=True) for value in (0.5, -0.5, 0.0001)]
    assert signs == ["+0.50", "\N{MINUS SIGN}0.50", "0.00"]


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.9996, "99.9%"),
        (1, "100.0%"),
        (0.0001, "0.1%"),
        (0, "0.0%"),
        (0.8213, "82.1%"),
        (12.5, "1,250.0%"),
        (-0.0625, "\N{MINUS SIGN}6.3%"),
    ],
)
def test_percent_never_claims_all_or_nothing(share: float, text: str) -> None:
    """0.9996 is not everything and 0.0001 is not nothing."""
    assert format_percent(share) == text


def test_a_share_below_1_is_never_shown_as_1() -> None:
    """Bounds that are not reached are not shown, with any number of decimals."""
    assert format_number(0.996, decimals=2, within=(0, 1)) == "0.99"
    assert format_number(0.004, decimals=2, within=(0, 1)) == "0.01"
    assert format_number(0.996, decimals=0, within=(0, 1)) == "0.9"
    assert format_number(0.99999, within=(0, 1)) == "0.9999"
    assert format_number(12.3456, decimals=2, within=(-math.inf, math.inf)) == "12.35"
    assert format_number(0.0004, decimals=2, within=(0, math.inf)) == "0.01"
    assert format_number(1, decimals=2, within=(0, 1)) == "1.00"


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (0.8213, 0.0124, "0.821 ± 0.012"),
        (0.82, 0.00996, "0.820 ± 0.010"),
        (0.82, 0.5, "0.82 ± 0.50"),
        (12345.6, 1234.5, "12,300 ± 1,200"),
        (-3.0, 0.25, "\N{MINUS SIGN}3.00 ± 0.25"),
        (1.6e24, 1.2e23, "(1.60 ± 0.12)e24"),
        (3.2e-7, 1.5e-8, "(3.20 ± 0.15)e\N{MINUS SIGN}7"),
        (5.0, 0.0, "5 ± 0"),
        (1.0, 1e-14, "1 ± 1e\N{MINUS SIGN}14"),
    ],
)
def test_digits_follow_the_interval(value: float, half: float, text: str) -> None:
    """Two significant digits of the half-width decide how many the value gets."""
    assert format_estimate(Estimate(value, value - half, value + half, 5)) in {
        text,
        text.replace("1e", "9.99e"),
    }


def _write_column(values: list[tuple[float, float | None]], *, percent: bool = False) -> list[str]:
    column = [
        Estimate(value, None if half is None else value - half, None if half is None else value + half, 3)
        for value, half in values
    ]
    decimals = choose_common_decimals(column, percent=percent)
    return [format_estimate(one, percent=percent, decimals=decimals) for one in column]


def test_a_column_has_one_precision() -> None:
    """The typical interval decides; without intervals, every value has four digits."""
    values = [(0.8061, 0.0031), (0.7714, 0.015), (0.76, None)]
    assert _write_column(values) == ["0.8061 ± 0.0031", "0.7714 ± 0.0150", "0.7600"]
    values = [(0.8061, 0.031), (0.7714, 0.015), (0.5, 0.0021)]
    assert _write_column(values, percent=True) == ["80.6 ± 3.1%", "77.1 ± 1.5%", "50.0 ± 0.2%"]
    assert _write_column([(3.0, None), (2.25, None)]) == ["3.00", "2.25"]
    values = [(0.35, 0.15), (0.000109, None), (-0.0047, None), (0.0, None)]
    assert _write_column(values) == ["0.35 ± 0.15", "0.000109", "−0.0047", "0.00"]


def test_a_common_precision_hides_no_interval() -> None:
    """A half-width that it would round to 0 has its own digits, and so has a number with an exponent."""
    assert _write_column([(51.2, 1.1), (35.25, 0.042), (40.1, 2.0)])[1] == "35.250 ± 0.042"
    assert _write_column([(1.5e13, 1e12), (2.0, 0.25)]) == ["(1.50 ± 0.10)e13", "2.00 ± 0.25"]
    assert _write_column([(1.5e-9, None), (2.0, None)]) == ["1.5e\N{MINUS SIGN}9", "2"]


def test_running_text_takes_one_digit() -> None:
    """The short form of sentences."""
    assert format_estimate(Estimate(0.8213, 0.8113, 0.8313, 3), significant=1) == "0.82 ± 0.01"


def test_an_uneven_interval_is_written_out() -> None:
    """Plus-minus would be wrong where the middle is not the value."""
    assert format_estimate(Estimate(0.82, 0.8, 0.85, 9)) == "0.820 [0.800, 0.850]"


def test_an_unknown_interval_is_not_written() -> None:
    """A number alone, with no band of zero width."""
    assert format_estimate(Estimate(0.82, None, None, 1)) == "0.82"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(value: float) -> None:
    """Nobody reads NaN on a page."""
    with pytest.raises(ValueError, match="not a number"):
        format_number(value)
    with pytest.raises(ValueError, match="not a number"):
        format_percent(value)


def test_steps_lists_and_counts() -> None:
    """The small change of sentences."""
    assert format_step(120.0) == "step 120"
    assert format_step(1.2e6, "iteration") == "iteration 1,200,000"
    assert format_step(0.25, "epoch") == "epoch 0.25"
    assert [join_names("ABC"[:count]) for count in range(4)] == ["", "A", "A and B", "A, B and C"]
    assert join_names(["A", "B", "C", "D"], most=2) == "A, B and 2 more"
    assert join_names(["A", "B"], most=2) == "A and B"
    assert [format_count(n, "run") for n in (0, 1, 3, 1000)] == ["0 runs", "1 run", "3 runs", "1,000 runs"]
    assert format_count(2, "series", "series") == "2 series"


@given(_usual, st.integers(-3, 8))
def test_a_rounded_number_is_within_half_a_unit(value: float, decimals: int) -> None:
    """Of the last place that is shown."""
    shown = _read(format_number(value, decimals=decimals))
    assert abs(shown - Decimal(value)) <= Decimal(10) ** -decimals / 2


@given(_number, st.integers(1, 12))
def test_significant_digits_are_kept(value: float, significant: int) -> None:
    """The relative error is at most half a unit of the last significant digit."""
    shown = _read(format_number(value, significant=significant))
    assert abs(shown - Decimal(value)) <= abs(Decimal(value)) * Decimal(10) ** (1 - significant) / 2


@given(st.floats(0, 1), st.integers(0, 6))
def test_a_bound_that_is_not_reached_is_not_shown(share: float, decimals: int) -> None:
    """And the number shown is within one unit even next to the bound."""
    for text, size in ((format_percent(share, decimals=decimals), 100), (_bounded(share, decimals), 1)):
        shown = _read(text)
        assert (shown == size) == (share == 1)
        assert (shown == 0) == (share == 0)
        assert abs(shown - Decimal(share) * size) <= Decimal(10) ** -decimals


def _bounded(share: float, decimals: int) -> str:
    return format_number(share, decimals=decimals, within=(0, 1))


@given(st.floats(-1e9, 1e9), st.one_of(st.none(), st.integers(0, 6)))
def test_no_difference_seems_to_be_none(value: float, decimals: int | None) -> None:
    """Unless it is, and its sign is its own, so that an interval without 0 does not look like one with it."""
    text = format_nonzero(value, decimals=decimals, signed=True)
    assert (_read(text.replace("+", "")) == 0) is (value == 0)
    assert text.startswith("+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else "0")


@given(st.floats(0.001, 1))
def test_rounding_never_carries_p_over_the_line(p: float) -> None:
    """What is below 0.05 reads as below it, what is above as above, also of the doubles next to it."""
    for value in (p, math.nextafter(0.05, 0), math.nextafter(0.05, 1)):
        shown = float(format_p(value).split()[-1])
        assert (shown < 0.05) == (value < 0.05)
        assert abs(shown - value) <= 0.001 + 1e-12


def test_p_has_three_decimals() -> None:
    """And none seems to be 0 or 1."""
    shown = {0.012: "0.012", 0.0009: "< 0.001", 1.0: "> 0.999", 0.05: "0.050", 0.0499: "0.049"}
    shown |= {1e-9: "< 0.001", math.nextafter(0.05, 1): "0.051"}
    assert {p: format_p(p) for p in shown} == shown


@given(_usual, st.floats(1e-6, 1e9), st.integers(1, 3))
def test_an_estimate_says_what_it_knows(value: float, half: float, significant: int) -> None:
    """Value and half-width are near what they are by the half-width's last digit, which is not zero.

    A value that is far larger than its interval has twelve digits of its own.
    """
    low, high = value - half, value + half
    text = format_estimate(Estimate(value, low, high, 5), significant=significant)
    exact_half = (Decimal(high) - Decimal(low)) / 2
    if "±" in text and "e" not in text and exact_half > 0:
        shown, width = (_read(part) for part in text.split(" ± "))
        unit = Decimal(10) ** (exact_half.adjusted() + 1 - significant)
        assert width > 0
        assert abs(width - exact_half) <= unit * 5
        twelfth = Decimal(10) ** (Decimal(value).adjusted() - 11)
        assert abs(shown - Decimal(value)) <= max(unit * 5, twelfth / 2)


@given(_number, _number, _number)
def test_every_estimate_has_words(value: float, low: float, high: float) -> None:
    """No interval, however strange, ends in an error, NaN or a hyphen for a minus."""
    text = format_estimate(Estimate(value, min(low, high), max(low, high), 2))
    assert "nan" not in text.lower()
    assert "-" not in text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "v1 starts at 29.4% [29.0, 29.8] at iteration 100.",
            ["v1", "starts", "at", "29.4%~[29.0,~29.8]", "at", "iteration~100."],
        ),
        (
            "peak at training step 75, from 4 checkpoints",
            ["peak", "at", "training", "step~75,", "from", "4~checkpoints"],
        ),
        ("from iteration 500 on, p < 0.001", ["from", "iteration~500", "on,", "p~<~0.001"]),
    ],
)
def test_a_quantity_stays_on_one_line(text: str, parts: list[str]) -> None:
    """A number with its unit, and a step with its name."""
    assert keep_together(text).replace("\N{NO-BREAK SPACE}", "~").split(" ") == parts


# ---- names in messages ----------------------------------------------------------------------------------


def test_the_nearest_name_is_found_whatever_its_capitals() -> None:
    """Of names that differ in capitals alone the first, and none where nothing is like it."""
    assert find_nearest("grpo", ("MEL", "GRPO", "Grpo")) == "GRPO"
    assert find_nearest("paek", iter(["start", "peak"])) == "peak"
    assert find_nearest("QXJZ", ("MEL", "GRPO")) == ""
    assert find_nearest("MEL", ()) == ""


def test_the_cutoff_says_how_like_it_has_to_be() -> None:
    """A key that may well be another program's is taken for ours only where it is nearly the same."""
    assert find_nearest("bench", ("benchmark",)) == "benchmark"
    assert find_nearest("bench", ("benchmark",), cutoff=0.88) == ""


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=5))
def test_the_nearest_name_is_one_there_is(name: str, known: list[str]) -> None:
    """Or none; a name that is there is its own nearest, unless another differs in capitals alone."""
    assert find_nearest(name, known) in {*known, ""}
    for one in known:
        assert find_nearest(one, known).lower() == one.lower()


def test_a_question_ends_as_one() -> None:
    """Alone or with a sentence behind, and without a full stop of its own."""
    step = suggest_name("lable", ("label",)).rstrip()
    assert str(Diagnostic(SourceLocation("a.md", 3), "this is no key", step)) == (
        'a.md:3: this is no key. Did you mean "label"?'
    )
    assert suggest_name("xyz", ("label",)) == ""


def test_an_axis_title_inside_a_sentence() -> None:
    """A sentence has no capital in its middle, but an abbreviation keeps its own."""
    titles = {"Training step": "training step", "GPU hours": "GPU hours", "x": "x", "": ""}
    assert {title: lower_axis_title(title) for title in titles} == titles


def test_names_are_listed_up_to_a_dozen() -> None:
    """In quotes; the others are counted."""
    assert quote_names(("A", "B")) == '"A", "B"'
    assert quote_names(tuple("ABCDE"), most=2) == '"A", "B" and 3 more'


# ---- moments ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1970-01-02", 86_400_000.0),
        ("1970-01-01T00:00:01.5", 1500.0),
        ("1970-01-01 01:00+01:00", 0.0),
        ("1970-01-01T00:00Z", 0.0),
        ("1969-12-31", -86_400_000.0),
        ("2024-02-30", None),
        ("20240501", None),
        ("2024-W18", None),
        ("0001-01-01T00:00+23:59", -62_135_683_140_000.0),
        ("", None),
    ],
)
def test_moments_are_read_in_utc(text: str, moment: float | None) -> None:
    """ISO dates and times, UTC without an offset, and no other spelling."""
    assert parse_moment(text) == moment


@given(st.floats(-62_135_596_800_000, 253_402_300_799_000))
def test_moments_are_read_back(milliseconds: float) -> None:
    """A date that is written for a step is that step, to the microsecond that calendars count."""
    text = format_moment(milliseconds)
    assert text is not None
    read = parse_moment(text)
    assert read is not None
    assert math.isclose(read, milliseconds, abs_tol=1e-3, rel_tol=1e-15)


def test_there_are_no_dates_before_the_first_year_or_behind_the_last() -> None:
    """Steps so far away are told as numbers."""
    assert format_moment(-62_135_596_800_001) is None
    assert format_moment(253_402_300_800_000) is None
