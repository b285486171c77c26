"""Laws of typed numbers and of what is said of them; single ones are in ``transcripts/typed_numbers.md``."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from made_figures import ACCURACY, MadeSubject, judge_claim, judge_value
from msgspec.structs import replace

from reportgen.core.statements import ExpressionError, Scale, Truth

SHARE = Scale("score", step_name="", bounds=(0.0, 1.0))
PERCENT = Scale("score", step_name="", bounds=(0.0, 100.0), percent=True)
EPOCHS = Scale("loss", higher_is_better=False, step_name="Epoch")
TIMES = Scale("accuracy", step_is_time=True)
DAY = 86_400_000.0
# An expression of each quantity, and the fact that gives its value.
EXPRESSIONS = {
    "value": ("final(A)", "final(A)"),
    "difference": ("sd(A)", "sd(A)"),
    "number": ("crossings(A, B)", "crossings(A, B)"),
    "step": ("peak_step(A)", "peak_step(A)"),
    "steps": ("peak_step(A) - peak_step(B)", "peak_step(A)"),
    "p": ("p_value(A, B)", "p_value(A, B)"),
}


def mend(words: str, value: float, quantity: str = "value", scale: Scale = ACCURACY) -> str:
    """The words after a repair, which agree and stay."""
    expression, fact = EXPRESSIONS[quantity]
    around = {"peak_step(B)": 0.0, "peak(A)": 1.0, "trough(A)": 0.0}
    subject = MadeSubject({**around, fact: value}, scale=scale)
    judged = judge_value(words, expression, subject)
    assert bool(judged.repaired) is (judged.truth is Truth.FAILS)
    after = judged.repaired or words
    again = judge_value(after, expression, subject)
    assert (again.truth, again.repaired) == (Truth.HOLDS, "")
    return after


def holds(words: str, value: float, scale: Scale = ACCURACY) -> bool:
    """Whether the words agree with a value."""
    return judge_value(words, "final(A)", MadeSubject({"final(A)": value}, scale=scale)).truth is Truth.HOLDS


def read_plain(words: str) -> float:
    """A number that is written plainly, or in percent."""
    number = float(re.sub(r"[^\d.e-]", "", words.replace("−", "-")))
    return number / 100 if "%" in words else number


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
NUMBERS = st.one_of(
    st.floats(-1e9, 1e9),
    st.floats(0, 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.decimals(-1000, 1000, places=3).map(float),
)


@given(
    words=STYLES,
    value=NUMBERS,
    quantity=st.sampled_from(["value", "difference", "number"]),
    scale=st.sampled_from([ACCURACY, SHARE, PERCENT]),
)
@example(words="0.0", value=5e-324, quantity="value", scale=SHARE)
@example(words="100.0 %", value=1.7976931348623157e308, quantity="value", scale=ACCURACY)
@example(words="9.9e-9", value=0.9999999, quantity="value", scale=SHARE)
@example(words="1.0e310", value=0.5, quantity="value", scale=ACCURACY)
def test_repairing_is_a_projection(words: str, value: float, quantity: str, scale: Scale) -> None:
    """What is repaired agrees, is not repaired again, and keeps its style and its decimals."""
    after = mend(words, value, quantity, scale)
    style = re.compile(r"[0-9⁰¹²³⁴-⁹.,\u202f+−–⁻ -]|&minus;|[eE]|× ?10\^?")
    assert style.sub("", after) == style.sub("", words)
    if not re.search(r"[eE×]", words + after) and scale is ACCURACY:
        assert len(re.findall(r"\.\d*", after)) == len(re.findall(r"\.\d*", words))
        assert [len(one) for one in re.findall(r"\.\d*", after)] == [
            len(one) for one in re.findall(r"\.\d*", words)
        ]


@given(
    value=st.floats(0, 1),
    words=st.sampled_from(["p = 0.03", "p<0.001", "0.5", "> 0.1", "*p* ≈ 3 %", "p = 1e-4"]),
)
@example(value=0.25, words="p = 1e-4")
@example(value=5e-324, words="p = 0.03")
@example(value=1 - 2**-53, words="0.5")
def test_repairing_p_values_is_a_projection(value: float, words: str) -> None:
    """With all their relations; and none reads as 0 or 1 that is not."""
    after = mend(words, value, "p")
    if 1e-9 < value < 1 - 1e-9 and not re.search("[<>≈]", after):
        assert 0 < read_plain(after.removeprefix("p =")) < 1


@given(value=st.floats(-6e13, 2.5e14), clock=st.sampled_from(["", " 12:30", "T12:30:15Z"]))
def test_repairing_dates_is_a_projection(value: float, clock: str) -> None:
    """In the precision typed, over all years that have dates."""
    after = mend(f"**2024-05-03{clock}**", value, "step", TIMES)
    assert len(after) == len(f"**2024-05-03{clock}**")


@pytest.mark.parametrize("value", [1e18, -1e18, 1e300])
def test_what_has_no_date_is_left_as_it_is(value: float) -> None:
    """Beyond the year 9999 there is nothing to write."""
    judged = judge_value("2024-05-03", "peak_step(A)", MadeSubject({"peak_step(A)": value}, scale=TIMES))
    assert (judged.truth, judged.repaired) == (Truth.FAILS, "")


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


@pytest.mark.parametrize(("words", "value"), [("0.29", 0.1 + 0.19), ("0.35", 0.35 - 1e-16), ("0.4", 0.35)])
def test_rounding_is_of_the_decimals_that_a_person_sees(words: str, value: float) -> None:
    """Not of the binary number behind them; a mean of ones that became a little smaller is 1."""
    assert holds(words, value)
    assert holds("100 %", 1 - 2e-16, SHARE)


@given(value=st.floats(1e-9, 1 - 1e-9, exclude_min=True, exclude_max=True), places=st.integers(0, 12))
def test_no_share_is_typed_as_a_bound_it_does_not_reach(value: float, places: int) -> None:
    """Whatever the digits, repaired words stay inside the bounds."""
    for words in (f"{0.5:.{places}f}", f"{50:.{places}f} %"):
        assert 0 < read_plain(mend(words, value, scale=SHARE)) < 1
    assert not holds("100 %", value, SHARE)
    assert not holds("0 %", value, SHARE)


NEAR = st.lists(
    st.sampled_from(
        [*"0123456789.,+−-–~≈%×x^*_`<>=≤ (p)k", "e-", "×10", "steps", "points", "&nbsp;", "<b>", "⁻³", "\n"]
    ),
    max_size=14,
).map("".join)


@given(
    words=st.one_of(st.text(max_size=250), NEAR),
    quantity=st.sampled_from(list(EXPRESSIONS)),
    scale=st.sampled_from([ACCURACY, SHARE, EPOCHS, TIMES]),
)
@example(words="", quantity="value", scale=ACCURACY)
@example(words=" " * 1001, quantity="value", scale=ACCURACY)
def test_any_words_are_read_or_faulted(words: str, quantity: str, scale: Scale) -> None:
    """No text breaks the reader; what is no number has one fault with a next step."""
    try:
        mend(words, 0.5, quantity, scale)
    except ExpressionError as error:
        (fault,) = error.faults
        assert fault.position == -1
        assert fault.next_step
        assert not fault.message.endswith(".")


FINALS = st.one_of(st.floats(-10, 10), st.integers(-4, 4).map(lambda whole: whole / 4))


@given(left=FINALS, right=FINALS, operator=st.sampled_from(["<", "<=", ">", ">=", "=", "!="]))
@example(left=0.849999999, right=0.850000001, operator=">")
@example(left=1.0, right=1.0 + 2e-9, operator="<=")
@example(left=5e-324, right=0.0, operator="<")
def test_words_of_a_comparison_never_contradict_its_truth(left: float, right: float, operator: str) -> None:
    """Numbers that differ are shown to differ, in the right order; equal ones are said to be."""
    subject = MadeSubject({"final(A)": left, "final(B)": right})
    judged = judge_claim(f"final(A) {operator} final(B)", subject)
    words = judged.found.partition(": ")[2]
    first, last = (float(word.replace("−", "-")) for word in (words.split()[0], words.split()[-1]))
    if " equals " in words:
        assert (judged.truth is Truth.HOLDS) is (operator in {"=", "<=", ">="})
        assert first == last
        assert abs(left - right) <= 1e-9 * max(abs(left), abs(right))
        return
    assert (first > last) is (left > right)
    assert first != last
    assert (" not " in words) is (operator in {"<", ">"} and judged.truth is Truth.FAILS)
    less, more = left < right, left > right
    expected = {"<": less, "<=": less, ">": more, ">=": more, "=": False, "!=": True}
    assert (judged.truth is Truth.HOLDS) is expected[operator]


TYPED = {"0.84": 0.84, "84 %": 0.84, "84.352 %": 0.84352, "1e-3": 0.001, "1.2k": 1200.0}
TYPED |= {"0.123456789": 0.123456789, "−0.5": -0.5, "100 %": 1.0, "0": 0.0}


@given(
    number=st.one_of(st.floats(0, 1), st.floats(-1e6, 1e6), st.decimals(0, 1, places=3).map(float)),
    words=st.sampled_from(list(TYPED)),
    scale=st.sampled_from([ACCURACY, replace(ACCURACY, bounds=(0.0, 1.0)), replace(ACCURACY, percent=True)]),
)
@example(number=0.843514, words="84.352 %", scale=ACCURACY)
@example(number=1 - 1e-15, words="100 %", scale=replace(ACCURACY, bounds=(0.0, 1.0)))
def test_a_failing_value_is_seen_to_differ(number: float, words: str, scale: Scale) -> None:
    """The number that is told is not one that the typed words would agree with, nor the other way round."""
    assume(scale.bounds is None or 0 <= number <= 1)
    judged = judge_value(words, "final(A)", MadeSubject({"final(A)": number}, scale=scale))
    assert bool(judged.repaired) is (judged.truth is Truth.FAILS)
    if judged.repaired:
        mend(words, number, scale=scale)
        told = judged.found.partition(" = ")[2]
        factor = 100 if scale.percent and "%" in told else 1
        assert not holds(words, read_plain(told) * factor, scale)
        assert not holds(told, TYPED[words] * (100 if scale.percent and "%" in words else 1), scale)
