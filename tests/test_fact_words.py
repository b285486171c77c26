"""Facts in words: units, digits, places, and no rounding that lies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_scored import score_context

from reportgen.claims.fact_words import (
    describe_fact,
    describe_position,
    describe_step,
    format_fact_value,
    format_quantity,
    format_quantity_interval,
)
from reportgen.core.statements import Fact, Quantity, Scale
from reportgen.figures.scores.wording import format_interval, format_score

PLAIN = Scale("accuracy")
SHARE = Scale("pass@1", step_name="", bounds=(0.0, 1.0))
PERCENT = Scale("accuracy %", bounds=(0.0, 100.0), percent=True)
TEN = Scale("points", step_name="", bounds=(0.0, 10.0))
ITERATION = Scale("accuracy", step_name="iteration")
TIME = Scale("accuracy", step_is_time=True)
DAY = 86_400_000.0


@pytest.mark.parametrize(
    ("value", "quantity", "scale", "words"),
    [
        (0.84, Quantity.VALUE, PLAIN, "0.84"),
        (0.99996, Quantity.VALUE, PLAIN, "1"),
        (12345.678, Quantity.VALUE, PLAIN, "12,346"),
        (-0.2, Quantity.VALUE, PLAIN, "−0.2"),
        (0.621, Quantity.VALUE, SHARE, "62.1%"),
        (0.9996, Quantity.VALUE, SHARE, "99.9%"),
        (1.0, Quantity.VALUE, SHARE, "100.0%"),
        (84.125, Quantity.VALUE, PERCENT, "84.13%"),
        (99.9999, Quantity.VALUE, PERCENT, "99.99%"),
        (9.99999, Quantity.VALUE, TEN, "9.999"),
        (0.032, Quantity.DIFFERENCE, SHARE, "+3.2 points"),
        (-0.00001, Quantity.DIFFERENCE, SHARE, "−0.1 points"),
        (0.0, Quantity.DIFFERENCE, SHARE, "0.0 points"),
        (3.2, Quantity.DIFFERENCE, PERCENT, "+3.2 points"),
        (0.02, Quantity.DIFFERENCE, PLAIN, "+0.02"),
        (0.0, Quantity.DIFFERENCE, PLAIN, "0"),
        (120.0, Quantity.STEP, PLAIN, "step 120"),
        (1200000.0, Quantity.STEP, ITERATION, "iteration 1,200,000"),
        (45.3333333, Quantity.STEP, PLAIN, "step 45.3333"),
        (120.0, Quantity.STEP, SHARE, "step 120"),
        (19846 * DAY, Quantity.STEP, TIME, "2024-05-03"),
        (19846 * DAY + 45_000_000.0, Quantity.STEP, TIME, "2024-05-03 12:30"),
        (19846 * DAY + 1_500.0, Quantity.STEP, TIME, "2024-05-03 00:00:01.500"),
        (1e20, Quantity.STEP, TIME, "1e20 milliseconds"),
        (40.0, Quantity.STEPS, PLAIN, "40 steps"),
        (1.0, Quantity.STEPS, ITERATION, "1 iteration"),
        (-1.0, Quantity.STEPS, PLAIN, "−1 step"),
        (2 * DAY, Quantity.STEPS, TIME, "2 days"),
        (-DAY / 24, Quantity.STEPS, TIME, "−1 hour"),
        (90_000.0, Quantity.STEPS, TIME, "1.5 minutes"),
        (0.0, Quantity.STEPS, TIME, "0 milliseconds"),
        (0.0121, Quantity.PROBABILITY, PLAIN, "0.012"),
        (0.04999, Quantity.PROBABILITY, PLAIN, "0.049"),
        (1e-9, Quantity.PROBABILITY, SHARE, "< 0.001"),
        (1.0, Quantity.PROBABILITY, SHARE, "> 0.999"),
        (3.0, Quantity.NUMBER, SHARE, "3"),
        (2 / 3, Quantity.NUMBER, PLAIN, "0.6667"),
        (True, Quantity.TRUTH, PLAIN, "true"),
        (False, Quantity.TRUTH, PLAIN, "false"),
    ],
)
def test_values(value: float, quantity: Quantity, scale: Scale, words: str) -> None:
    """Each quantity has its unit, and what is inside its bounds does not seem to reach them."""
    assert format_quantity(value, quantity, scale) == words


@pytest.mark.parametrize(
    ("value", "quantity", "scale", "decimals", "words"),
    [
        (0.8214, Quantity.VALUE, PLAIN, 2, "0.82"),
        (0.8, Quantity.VALUE, PLAIN, 3, "0.800"),
        (0.62137, Quantity.VALUE, SHARE, 2, "62.14%"),
        (0.9996, Quantity.VALUE, SHARE, 0, "99%"),
        (0.0314, Quantity.DIFFERENCE, SHARE, 2, "+3.14 points"),
        (0.0004, Quantity.DIFFERENCE, PLAIN, 2, "+0.01"),
        (0.0496, Quantity.PROBABILITY, PLAIN, 4, "0.0496"),
        (0.25, Quantity.NUMBER, PLAIN, 3, "0.250"),
        (1.5, Quantity.STEPS, PLAIN, 2, "1.50 steps"),
    ],
)
def test_decimals_as_asked_for(
    value: float, quantity: Quantity, scale: Scale, decimals: int, words: str
) -> None:
    """They are counted as they are written, with the percent sign too."""
    assert format_quantity(value, quantity, scale, decimals=decimals) == words


def test_differences_without_a_plus() -> None:
    """A size has no sign to show."""
    assert format_quantity(0.02, Quantity.DIFFERENCE, PLAIN, signed=False) == "0.02"


@given(st.floats(0, 1), st.integers(0, 4))
def test_no_rounding_reaches_a_bound(value: float, decimals: int) -> None:
    """Only all is 100%, and only none is 0%."""
    words = format_quantity(value, Quantity.VALUE, SHARE, decimals=decimals)
    number = float(words.removesuffix("%"))
    assert (number == 100) is (value == 1)
    assert (number == 0) is (value == 0)


@given(st.floats(-1e9, 1e9), st.sampled_from([PLAIN, SHARE, PERCENT, TEN]))
def test_no_difference_seems_to_be_none(value: float, scale: Scale) -> None:
    """Unless it is, and the sign is its own."""
    words = format_quantity(value, Quantity.DIFFERENCE, scale)
    digits = words.partition(" ")[0].partition("e")[0].strip("+−").replace(",", "")
    assert (float(digits) == 0) is (value == 0)
    assert words.startswith("+" if value > 0 else "−" if value < 0 else "0")


def test_steps_in_a_sentence() -> None:
    """At a step, on a day, at a time of day."""
    assert describe_position(120.0, PLAIN) == "at step 120"
    assert describe_position(19846 * DAY, TIME) == "on 2024-05-03"
    assert describe_position(19846 * DAY + 1000, TIME) == "at 2024-05-03 00:00:01"
    assert describe_step(900.0, ITERATION) == "iteration 900"


@pytest.mark.parametrize(
    ("value", "low", "high", "scale", "words"),
    [
        (0.84, 0.82, 0.86, PLAIN, "0.840 [0.820, 0.860]"),
        (0.84, 0.4, 0.9, PLAIN, "0.84 [0.40, 0.90]"),
        (12345.6, 12000.0, 12700.0, PLAIN, "12,346 [12,000, 12,700]"),
        (0.5, 0.5, 0.5, PLAIN, "0.5 [0.5, 0.5]"),
        (1.5e-7, 1.4e-7, 1.6e-7, PLAIN, "1.5e−7 [1.4e−7, 1.6e−7]"),
        (1.0, 1 - 1e-15, 1 + 1e-15, PLAIN, "1 [1, 1]"),
        (0.61, 0.502, 0.711, SHARE, "61.0% [50.2, 71.1]"),
        (0.61, 0.6098, 0.6102, SHARE, "61.00% [60.98, 61.02]"),
        (61.0, 50.2, 71.1, PERCENT, "61% [50, 71]"),
        (5.0, 4.5, 5.5, TEN, "5.00 [4.50, 5.50]"),
    ],
)
def test_intervals(value: float, low: float, high: float, scale: Scale, words: str) -> None:
    """Value and ends share the digits that half the interval deserves."""
    assert format_quantity_interval(value, low, high, Quantity.VALUE, scale) == words


@given(st.floats(0, 1), st.floats(1e-9, 0.5), st.sampled_from([1.0, 10.0]))
def test_intervals_of_scores_are_those_of_tables(share: float, half: float, highest: float) -> None:
    """The same score reads the same in a fact and in a table, whatever its range."""
    context = score_context("A", highest=highest)
    value, low, high = share * highest, max(0.0, share - half) * highest, min(1.0, share + half) * highest
    ends = format_interval(low, high, context)
    said = f"{format_score(value, context, half=(high - low) / 2)} {ends}"
    scale = Scale("score", step_name="", bounds=(0.0, highest))
    assert format_quantity_interval(value, low, high, Quantity.VALUE, scale) == said


def test_facts() -> None:
    """A fact with where it stands, unless its call says that already."""
    peak = Fact("peak(MEL)", Quantity.VALUE, 0.84, series=("MEL",), step=120.0)
    assert describe_fact(peak, PLAIN) == "peak(MEL) = 0.84 at step 120"
    assert describe_fact(peak, TIME) == "peak(MEL) = 0.84 at 1970-01-01 00:00:00.120"
    at = Fact("at(MEL, 15)", Quantity.VALUE, 0.84, step=15.0)
    assert describe_fact(at, PLAIN) == "at(MEL, 15) = 0.84"
    assert describe_fact(Fact("peak_step(A)", Quantity.STEP, 9.0, step=9.0), PLAIN) == "peak_step(A) = step 9"
    widest = Fact("widest_gap(A, B)", Quantity.DIFFERENCE, 0.1, step=5.0)
    assert describe_fact(widest, PLAIN) == "widest_gap(A, B) = 0.1 at step 5"
    assert describe_fact(Fact("gap(A, B, 5)", Quantity.DIFFERENCE, 0.1, step=5.0), PLAIN) == (
        "gap(A, B, 5) = +0.1"
    )
    crossed = Fact("crossings(A, B)", Quantity.NUMBER, 2.0, from_step=5.0, to_step=9.0)
    assert describe_fact(crossed, PLAIN) == "crossings(A, B) = 2 between step 5 and step 9"
    better = Fact("better(A, B)", Quantity.TRUTH, value=True, step=9.0, note="difference +1")
    assert describe_fact(better, PLAIN) == "better(A, B) is true at step 9: difference +1"


def test_facts_without_a_value() -> None:
    """The reason stands where the value would."""
    undecided = Fact("better(A, B)", Quantity.TRUTH, None, "1 run of A")
    assert describe_fact(undecided, PLAIN) == "better(A, B) cannot be decided: 1 run of A"
    never = Fact("steps_to(A, 0.9)", Quantity.STEP, None, "A never reaches 0.9")
    assert describe_fact(never, PLAIN) == "steps_to(A, 0.9) has no value: A never reaches 0.9"
    assert format_fact_value(never, PLAIN) == ""


def test_what_was_found_alone() -> None:
    """For labels: no call, no interval, no place."""
    assert (
        format_fact_value(Fact("peak(A)", Quantity.VALUE, 0.84, step=9.0, low=0.8, high=0.9), PLAIN) == "0.84"
    )
    assert format_fact_value(Fact("volatility(A)", Quantity.DIFFERENCE, 0.1), PLAIN) == "0.1"
    assert format_fact_value(Fact("tied(A, B)", Quantity.TRUTH, value=False), PLAIN) == "false"
