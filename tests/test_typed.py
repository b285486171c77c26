"""Typed numbers: all that may be typed, nothing else; and how they read where the data say otherwise."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from reportgen.claims.agreement import agrees, check_unit, get_typed_value, repair
from reportgen.claims.language import ExpressionError
from reportgen.claims.typed import Typed, read_typed
from reportgen.core.statements import Quantity, Scale

PLAIN = Scale("accuracy")
SHARE = Scale("score", step_name="", bounds=(0.0, 1.0))
PERCENT = Scale("score", step_name="", bounds=(0.0, 100.0), percent=True)
EPOCHS = Scale("loss", higher_is_better=False, step_name="Epoch")
TIMES = Scale("accuracy", step_is_time=True)
V, D, STEP, STEPS = Quantity.VALUE, Quantity.DIFFERENCE, Quantity.STEP, Quantity.STEPS
P, N = Quantity.PROBABILITY, Quantity.NUMBER
DAY = 86_400_000.0
THIRD_OF_MAY = 19_846 * DAY  # 2024-05-03


def mended(words: str, value: float, quantity: Quantity = V, scale: Scale = PLAIN) -> str:
    """The words after a repair, which agree and stay."""
    typed = read_typed(words, scale)
    assert check_unit(typed, quantity, scale) is None
    after = repair(typed, value, quantity, scale)
    again = read_typed(after, scale)
    assert agrees(again, value, quantity, scale)
    assert repair(again, value, quantity, scale) == after
    assert (after == words) is agrees(typed, value, quantity, scale)
    return after


def holds(words: str, value: float, quantity: Quantity = V, scale: Scale = PLAIN) -> bool:
    """Whether the words agree."""
    return agrees(read_typed(words, scale), value, quantity, scale)


def fault(words: str, quantity: Quantity = V, scale: Scale = PLAIN) -> str:
    """What is said of words that cannot be checked."""
    try:
        found = check_unit(read_typed(words, scale), quantity, scale)
    except ExpressionError as error:
        (found,) = error.faults
    assert found is not None
    assert found.position == -1
    assert found.next_step
    assert not found.message.endswith(".")
    return found.message


@pytest.mark.parametrize(
    ("words", "value", "quantity"),
    [
        ("0.84", 0.84, V),
        (".84", 0.84, V),
        ("84 %", 0.84, V),
        ("84%", 0.84, V),
        ("84 percent", 0.84, V),
        ("84&nbsp;%", 0.84, V),
        ("+3.2 points", 0.032, D),
        ("3.2 pp", 0.032, D),
        ("3.2 percentage points", 0.032, D),
        ("1 point", 0.01, D),
        ("−0.2", -0.2, V),
        ("-0.2", -0.2, V),
        ("–0.2", -0.2, V),
        ("&minus;0.2", -0.2, V),
        ("120 steps", 120, STEPS),
        ("1 step", 1, STEPS),
        ("120 steps", 120, STEP),
        ("step 120", 120, STEP),
        ("Step 1.2k", 1200, STEP),
        ("120", 120, STEP),
        ("1.2k", 1200, V),
        ("1.2 M", 1_200_000, V),
        ("1.2 million", 1_200_000, V),
        ("3B", 3e9, V),
        ("2.5T", 2.5e12, V),
        ("1e-3", 0.001, V),
        ("1E−3", 0.001, V),
        ("1e+3", 1000, V),
        ("1e03", 1000, V),
        ("1.6 × 10^3", 1600, V),
        ("1.6×10^-3", 0.0016, V),
        ("1.6 x 10⁻³", 0.0016, V),
        ("12,345", 12_345, V),
        ("12\u202f345", 12_345, V),
        ("1,234,567.5", 1_234_567.5, V),
        ("12345", 12_345, V),
        ("2×", 2, N),
        ("2x", 2, N),
        ("2 times", 2, N),
        ("≈ 0.84", 0.84, V),
        ("~0.84", 0.84, V),
        ("about 84 %", 0.84, V),
        ("about step 120", 120, STEP),
        ("= 0.84", 0.84, V),
        ("p = 0.03", 0.03, P),
        ("*p* ≈ 0.03", 0.03, P),
        ("P < 0.001", 0.0004, P),
        ("p &lt; 0.001", 0.0004, P),
        ("p <= 0.05", 0.05, P),
        ("p ≥ 0.05", 0.05, P),
        ("> 0.05", 0.06, P),
        ("0.03", 0.03, P),
        ("3 %", 0.03, P),
        ("**0.84**", 0.84, V),
        ("`0.84`", 0.84, V),
        ("_84_ %", 0.84, V),
        ("<b>84</b> %", 0.84, V),
        ("(0.84)", 0.84, V),
        ("“0.84”.", 0.84, V),
        ("\\-0.2", -0.2, V),
    ],
)
def test_what_may_be_typed(words: str, value: float, quantity: Quantity) -> None:
    """Every form is read as the value it says, and stays as it is."""
    typed = read_typed(words, PLAIN)
    assert check_unit(typed, quantity, PLAIN) is None
    assert agrees(typed, value, quantity, PLAIN)
    assert repair(typed, value, quantity, PLAIN) == words
    if not typed.relation.strip("=") and "k" not in words:
        assert get_typed_value(typed, quantity, PLAIN) == pytest.approx(value)


@pytest.mark.parametrize(
    ("words", "value", "quantity", "scale"),
    [
        ("3 epochs", 3, STEP, EPOCHS),
        ("epoch 3", 3, STEP, EPOCHS),
        ("step 3", 3, STEP, EPOCHS),
        ("6 batches", 6, STEPS, Scale("loss", step_name="batch")),
        ("6 queries", 6, STEPS, Scale("loss", step_name="query")),
        ("global_step 6", 6, STEP, Scale("loss", step_name="global_step")),
        ("training steps 6", 6, STEP, Scale("loss", step_name="Training Step")),
        ("84 %", 84, V, PERCENT),
        ("84", 84, V, PERCENT),
        ("3.2 points", 3.2, D, PERCENT),
        ("50 %", 0.5, N, PERCENT),
        ("2024-05-03", THIRD_OF_MAY, STEP, TIMES),
        ("2024-05-03", THIRD_OF_MAY + DAY - 1, STEP, TIMES),
        ("*2024-05-03 12:30* UTC", THIRD_OF_MAY + DAY / 2 + 1_800_000, STEP, TIMES),
        ("2024-05-03T12:30:15Z", THIRD_OF_MAY + DAY / 2 + 1_815_000, STEP, TIMES),
        ("3 days", 3 * DAY, STEPS, TIMES),
        ("1.5 hours", 5_400_000, STEPS, TIMES),
    ],
)
def test_units_of_a_scale(words: str, value: float, quantity: Quantity, scale: Scale) -> None:
    """The step's own name, percentages that the data write themselves, dates and spans of time."""
    assert mended(words, value, quantity, scale) == words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", '"" holds no number'),
        ("a lot", '"a lot" holds no number'),
        ("v10-l1", '"v10-l1" holds no number'),
        ("0.82 ± 0.01", '"0.82 ± 0.01" holds more than one number: 0.82, 0.01'),
        ("0.82–0.84", '"0.82–0.84" holds more than one number: 0.82, 0.84'),
        ("2024-05-03", '"2024-05-03" holds more than one number: 2024, 05, 03'),
        ("1.2.3", '"1.2.3" holds more than one number: 1.2, .3'),
        ("0,84", '"0,84" has a comma that parts no thousands'),
        ("1,23,456", '"1,23,456" has a comma that parts no thousands'),
        ("5 apples", '"5 apples" holds "apples", which is no number and no unit'),
        ("nearly 5", '"nearly 5" holds "nearly", which is no number and no unit'),
        ("$5", '"$5" holds "$", which is no number and no unit'),
        ("5 −", '"5 −" holds "−", which is no number and no unit'),
        ("+-5", '"+-5" holds "+", which is no number and no unit'),
        ("5 ~", '"5 ~" holds "~", which is no number and no unit'),
        ("p = < 5", '"p = < 5" holds "<", which is no number and no unit'),
        ("step 5 steps", '"step 5 steps" holds "steps", which is no number and no unit'),
        ("1e-999", '"1e-999" has more digits, or a larger exponent, than any number here'),
        ("9" * 41, f'"{"9" * 41}" has more digits, or a larger exponent, than any number here'),
        (" " * 1001, "a bound value has 1,001 characters, and there may be 1,000"),
        ("84 steps", '"84 steps" is typed, but the expression is a value'),
        ("3 points", '"3 points" is typed, but the expression is a value'),
        ("2 times", '"2 times" is typed, but the expression is a value'),
        ("> 0.8", '"> 0.8" is typed, but the expression is a value'),
        ("p = 0.8", '"p = 0.8" is typed, but the expression is a value'),
    ],
)
def test_what_cannot_be_checked_is_a_fault(words: str, message: str) -> None:
    """No number, several, an unknown unit, or one that does not go with a value: said, never guessed."""
    assert fault(words) == message


@pytest.mark.parametrize(
    ("words", "quantity", "scale", "message"),
    [
        ("step 5", STEPS, PLAIN, '"step 5" is typed, but the expression is a number of steps'),
        ("5 %", STEP, PLAIN, '"5 %" is typed, but the expression is a step'),
        ("5 points", N, PLAIN, '"5 points" is typed, but the expression is a plain number'),
        ("5 steps", P, PLAIN, '"5 steps" is typed, but the expression is a p value'),
        ("5 steps", D, PLAIN, '"5 steps" is typed, but the expression is a difference of values'),
        ("5", STEP, TIMES, '"5" is typed, but the expression is a date'),
        ("5 steps", STEPS, TIMES, '"5 steps" is typed, but the expression is a span of time'),
        ("2024-05-03", V, TIMES, '"2024-05-03" is typed, but the expression is a value'),
        ("2024-13-03", STEP, TIMES, '"2024-13-03" is no date there is'),
        ("-2024-05-03", STEP, TIMES, '"-2024-05-03" has a sign before a date'),
        ("2024-05-03 days", STEP, TIMES, '"2024-05-03 days" holds "days", which is no number and no unit'),
    ],
)
def test_units_that_do_not_go_with_a_quantity(
    words: str, quantity: Quantity, scale: Scale, message: str
) -> None:
    """Percent is no step, and a step no number of steps; on an axis of times a step is a date."""
    assert fault(words, quantity, scale) == message


@pytest.mark.parametrize(
    ("words", "value", "quantity", "scale", "after"),
    [
        ("0.84", 0.8612, V, PLAIN, "0.86"),
        ("84 %", 0.8612, V, PLAIN, "86 %"),
        ("**84**%", 0.8612, V, PLAIN, "**86**%"),
        ("+3.2 points", -0.0123, D, PLAIN, "−1.2 points"),
        ("-3.2 points", -0.0123, D, PLAIN, "-1.2 points"),
        ("–3.2 points", -0.0123, D, PLAIN, "–1.2 points"),
        ("&minus;**0.2**", -0.31, V, PLAIN, "&minus;**0.3**"),
        ("− **0.2**", 0.31, V, PLAIN, "**0.3**"),
        ("+0.2", 0.0, D, PLAIN, "0.0"),
        ("−0.0", 0.04, V, PLAIN, "0.0"),
        ("120 steps", 1_840, STEPS, PLAIN, "1,840 steps"),
        ("1200 steps", 11_840, STEPS, PLAIN, "11840 steps"),
        ("1\u202f200 steps", 11_840, STEPS, PLAIN, "11\u202f840 steps"),
        ("1,200", 12, STEP, PLAIN, "12"),
        ("step 120", 118.7, STEP, PLAIN, "step 119"),
        ("step−120", 118, STEP, PLAIN, "step 118"),
        ("1 Step", 3, STEPS, PLAIN, "3 Steps"),
        ("3 epochs", 1, STEPS, EPOCHS, "1 epoch"),
        ("1 point", 0.03, D, PLAIN, "3 points"),
        ("1 pp", 0.03, D, PLAIN, "3 pp"),
        ("2×", 3.2, N, PLAIN, "3×"),
        ("1 time", 2, N, PLAIN, "2 times"),
        ("1.2k", 1_849, V, PLAIN, "1.8k"),
        ("1.2 M", 1_849_000, V, PLAIN, "1.8 M"),
        ("1e-3", 0.0042, V, PLAIN, "4e-3"),
        ("1.6e3", 0.0042, V, PLAIN, "4.2e-3"),
        ("1e+3", 42_000, V, PLAIN, "4e+4"),
        ("1.60e-03", 9.999e-10, V, PLAIN, "1.00e-09"),
        ("1.6e3", 0, V, PLAIN, "0.0"),
        ("1.6 × 10^3", 0.0123, V, PLAIN, "1.2 × 10^−2"),
        ("1.6×10³", 0.000123, V, PLAIN, "1.2×10⁻⁴"),
        ("-1.6×10⁻³", 123, V, PLAIN, "1.2×10²"),
        (".84", 0.9, V, PLAIN, ".90"),
        ("0.84", 1.23456e20, V, PLAIN, "1.235e20"),
        ("-8 %", -1.7976931348623157e308, V, PLAIN, "-1.798e310 %"),
        (".84", 1.9, V, PLAIN, "1.90"),
        ("about `0.84`.", 0.9, V, PLAIN, "about `0.90`."),
        ("84 %", 84.6, V, PERCENT, "85 %"),
        ("100 %", 0.9996, V, SHARE, "99 %"),
        ("100.0 %", 0.9996, V, SHARE, "99.9 %"),
        ("0 %", 0.0004, V, SHARE, "1 %"),
        ("1", 0.9996, V, SHARE, "0.9"),
        ("1e0", 0.9996, V, SHARE, "9e-1"),
        ("100 %", 99.96, V, PERCENT, "99 %"),
        ("100 %", 0.9996, V, PLAIN, "100 %"),
        ("p = 0.03", 0.0003, P, PLAIN, "p < 0.01"),
        ("p = 0.03", 0.9996, P, PLAIN, "p > 0.99"),
        ("p = 0.03", 0.0, P, PLAIN, "p = 0.00"),
        ("p = 3 %", 0.0003, P, PLAIN, "p < 1 %"),
        ("p = 1", 0.0303, P, PLAIN, "p = 0.03"),
        ("*p* ≈ 0.03", 0.0003, P, PLAIN, "*p* < 0.01"),
        ("p < 0.001", 0.0034, P, PLAIN, "p = 0.003"),
        ("p &lt; 0.001", 0.0034, P, PLAIN, "p = 0.003"),
        ("<  **0.001**", 0.0034, P, PLAIN, "**0.003**"),
        ("p > 0.05", 0.04, P, PLAIN, "p = 0.04"),
        ("p = 1e-3", 3.4e-7, P, PLAIN, "p = 3e-7"),
        ("p = 1e-3", 0.97, P, PLAIN, "p > 9e-1"),
        ("0.03", 0.0003, P, PLAIN, "< 0.01"),
        ("2024-05-03", THIRD_OF_MAY + 4 * DAY, STEP, TIMES, "2024-05-07"),
        ("2024-05-03 10:30Z", THIRD_OF_MAY + 3_600_000, STEP, TIMES, "2024-05-03 01:00Z"),
        ("3 days", DAY, STEPS, TIMES, "1 day"),
    ],
)
def test_repairs_keep_what_their_author_typed(
    words: str, value: float, quantity: Quantity, scale: Scale, after: str
) -> None:
    """Digits, unit, signs, separators, emphasis and exponents stay; what is singular becomes plural."""
    assert mended(words, value, quantity, scale) == after


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("0.12", 0.125),
        ("0.13", 0.125),
        ("0.84", 0.845),
        ("0.85", 0.845),
        ("−0.13", -0.125),
        ("12 %", 0.125),
        ("13 %", 0.125),
        ("0.29", 0.1 + 0.19),
        ("0.35", 0.35 - 1e-16),
        ("0.3", 0.1 + 0.25 - 1e-17),
        ("0.4", 0.35),
        ("1.2k", 1_250),
        ("1.3k", 1_250),
    ],
)
def test_a_tie_may_be_rounded_either_way(words: str, value: float) -> None:
    """To even, or away from zero, in the decimals that a person sees."""
    assert holds(words, value)


@pytest.mark.parametrize(
    ("words", "value"),
    [("0.37", 0.375), ("0.83", 0.84), ("0.8401", 0.84), ("−0.84", 0.84), ("+0.84", -0.84), ("+0.0", -0.01)],
)
def test_what_is_no_correct_rounding(words: str, value: float) -> None:
    """Cutting off, rounding a tie down to an odd digit, digits too many, and a wrong sign."""
    assert not holds(words, value)


def test_nothing_is_said_to_be_reached_that_is_not() -> None:
    """A share near its bounds; a mean of ones that a machine's sum made a little smaller is 1."""
    assert not holds("100 %", 0.9996, scale=SHARE)
    assert not holds("1.000", 0.9996, scale=SHARE)
    assert not holds("0.0 %", 0.0004, scale=SHARE)
    assert holds("99.96 %", 0.9996, scale=SHARE)
    assert holds("99.9 %", 0.9996, scale=SHARE)
    assert holds("100 %", 1.0, scale=SHARE)
    assert holds("100 %", 1 - 2e-16, scale=SHARE)
    assert holds("0 %", 0.0, scale=SHARE)
    assert not holds("p = 0.00", 0.0004, P)
    assert not holds("p = 1.00", 0.9996, P)
    assert not holds("p < 0.001", 0.001, P)
    assert not holds("p < 0.3", 0.3, P)
    assert holds("p ≤ 0.3", 0.1 + 0.2, P)


STYLES = st.builds(
    "{0}{1}{2}{3}".format,
    st.sampled_from(["", "**", "≈ ", "~", "about `", "_"]),
    st.sampled_from(["", "", "+", "−", "-", "– "]),
    st.one_of(
        st.from_regex(r"[0-9]{1,6}(\.[0-9]{1,6})?", fullmatch=True),
        st.from_regex(r"\.[0-9]{1,4}", fullmatch=True),
        st.from_regex(r"[1-9][0-9]{0,2}(,[0-9]{3}){1,3}(\.[0-9])?", fullmatch=True),
        st.from_regex(r"[0-9](\.[0-9]{1,4})?[eE][+−-]?0?[0-9]", fullmatch=True),
        st.from_regex(r"[0-9]\.[0-9] ?× ?10(\^[−-]?[0-9]|⁻?[⁰¹²³⁴-⁹])", fullmatch=True),
    ),
    st.sampled_from(["", "`", "**", "k", " M", " %", "%", "**%"]),
)
VALUES = st.one_of(
    st.floats(-1e9, 1e9),
    st.floats(0, 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-1000, 1000, places=3).map(float),
)
SCALES = st.sampled_from([PLAIN, SHARE, PERCENT])


@given(words=STYLES, value=VALUES, quantity=st.sampled_from([V, D, N]), scale=SCALES)
@example(words="0.0", value=5e-324, quantity=V, scale=SHARE)
@example(words="100.0 %", value=1.7976931348623157e308, quantity=V, scale=PLAIN)
@example(words="9.9e-9", value=0.9999999, quantity=V, scale=SHARE)
def test_repairing_is_a_projection(words: str, value: float, quantity: Quantity, scale: Scale) -> None:
    """What is repaired agrees, is not repaired again, and what agrees is left as it is."""
    after = mended(words, value, quantity, scale)
    style = re.compile(r"[0-9⁰¹²³⁴-⁹.,\u202f+−–⁻ -]|&minus;|[eE]|× ?10\^?")
    assert style.sub("", after) == style.sub("", words)
    old, new = read_typed(words, scale), read_typed(after, scale)
    assert (new.unit, new.magnitude, new.p) == (old.unit, old.magnitude, old.p)
    if new.exponent_mark == old.exponent_mark == "" and scale is PLAIN:
        assert new.decimals == old.decimals


@given(
    value=st.floats(0, 1),
    words=st.sampled_from(["p = 0.03", "p<0.001", "0.5", "> 0.1", "*p* ≈ 3 %", "p = 1e-4"]),
)
@example(value=5e-324, words="p = 0.03")
@example(value=1 - 2**-53, words="0.5")
def test_repairing_p_values_is_a_projection(value: float, words: str) -> None:
    """With all their relations; and none reads as 0 or 1 that is not."""
    after = read_typed(mended(words, value, P), PLAIN)
    if 1e-9 < value < 1 - 1e-9 and after.relation in {"", "="}:
        assert 0 < get_typed_value(after, P, PLAIN) < 1


@given(value=st.floats(-6e13, 2.5e14), clock=st.sampled_from(["", " 12:30", "T12:30:15Z"]))
def test_repairing_dates_is_a_projection(value: float, clock: str) -> None:
    """In the precision typed, over all years that have dates."""
    after = mended(f"**2024-05-03{clock}**", value, STEP, TIMES)
    assert len(after) == len(f"**2024-05-03{clock}**")
    assert get_typed_value(read_typed(after, TIMES), STEP, TIMES) <= value + 1


@pytest.mark.parametrize("value", [1e18, -1e18, 1e300])
def test_what_has_no_date_is_left_as_it_is(value: float) -> None:
    """Beyond the year 9999 there is nothing to write."""
    typed = read_typed("2024-05-03", TIMES)
    assert not agrees(typed, value, STEP, TIMES)
    assert repair(typed, value, STEP, TIMES) == "2024-05-03"


@given(value=st.decimals(-10_000, 10_000, places=6), places=st.integers(0, 6), percent=st.booleans())
def test_every_correct_rounding_holds(value: Decimal, places: int, percent: bool) -> None:  # noqa: FBT001 - drawn
    """Half to even and half away from zero, of the decimal that stands in a file; its neighbours do not."""
    unit = Decimal(1).scaleb(-places)
    shown = value * 100 if percent else value
    roundings = {shown.quantize(unit, rounding) for rounding in (ROUND_HALF_EVEN, ROUND_HALF_UP)}
    for rounding in roundings:
        assume(rounding)
        assert holds(f"{rounding:,f}{' %' if percent else ''}", float(value))
    roundings.add((Decimal(float(value)) * (100 if percent else 1)).quantize(unit, ROUND_HALF_EVEN))
    for away in (max(roundings) + unit, min(roundings) - unit):
        assume(away)
        assert not holds(f"{away:f}{' %' if percent else ''}", float(value))


@given(value=st.floats(0, 1, exclude_min=True, exclude_max=True), places=st.integers(0, 12))
def test_no_share_is_typed_as_a_bound_it_does_not_reach(value: float, places: int) -> None:
    """Whatever the digits, repaired words stay inside the bounds; what is as good as a bound is the bound."""
    assume(1e-9 < value < 1 - 1e-9)
    for words in (f"{0.5:.{places}f}", f"{50:.{places}f} %"):
        after = read_typed(mended(words, value, V, SHARE), SHARE)
        assert 0 < get_typed_value(after, V, SHARE) < 1
    assert not holds("100 %", value, scale=SHARE)
    assert not holds("0 %", value, scale=SHARE)


NEAR = st.lists(
    st.sampled_from(
        [*"0123456789.,+−-–~≈%×x^*_`<>=≤ (p)k", "e-", "×10", "steps", "points", "&nbsp;", "<b>", "⁻³", "\n"]
    ),
    max_size=14,
).map("".join)


@given(words=st.one_of(st.text(max_size=250), NEAR), scale=st.sampled_from([PLAIN, SHARE, EPOCHS, TIMES]))
def test_any_words_are_read_or_faulted(words: str, scale: Scale) -> None:
    """No text breaks the reader; what is read can be held against anything, and repaired."""
    try:
        typed = read_typed(words, scale)
    except ExpressionError:
        assert fault(words, scale=scale)
        return
    assert isinstance(typed, Typed)
    assert words[typed.start : typed.end].strip()
    for quantity in set(Quantity) - {Quantity.TRUTH}:
        if check_unit(typed, quantity, scale) is None:
            mended(words, 0.5, quantity, scale)
