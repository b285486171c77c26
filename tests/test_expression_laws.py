"""Laws of expressions in claims; what single ones say is in ``transcripts/expressions.md``."""

from __future__ import annotations

import math
import re
import sys
from contextlib import suppress
from itertools import combinations, product
from random import Random
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_figures import MadeSubject, compare, find_truth, judge_claim, judge_value
from tries import tries

from reportgen.core.facts import FACTS, ParameterKind
from reportgen.core.statements import ExpressionError, Fact, Judgement, Quantity, Scale, Truth

A, B = "final(A)", "final(B)"
VALUES = st.floats(1e-3, 1e3) | st.floats(-1e3, -1e-3)
OFFSETS = st.sampled_from([0.0, 1e-16, 1e-13, 1e-11, 1e-7, 1e-4, 0.3])
OPERATORS = st.sampled_from(["<", "<=", ">", ">=", "=", "!="])


@given(VALUES, OFFSETS, st.booleans())
def test_exactly_one_of_less_equal_and_more_holds(value: float, offset: float, up: bool) -> None:  # noqa: FBT001 - which side
    """And the other three comparisons follow from them; what is not close is compared in full."""
    other = value * (1 + (offset if up else -offset))
    less, equal, more = (compare(f"{A} {sign} {B}", value, other) for sign in "<=>")
    assert [less, equal, more].count(True) == 1
    assert equal is (offset < 1e-9)
    assert compare(f"{A} <= {B}", value, other) is (less or equal)
    assert compare(f"{A} >= {B}", value, other) is (more or equal)
    assert compare(f"{A} != {B}", value, other) is (not equal)
    assert compare(f"not {A} < {B}", value, other) is (more or equal)


@given(VALUES, OFFSETS, st.floats(1e-6, 1e6), OPERATORS)
def test_scaling_both_sides_changes_no_comparison(
    value: float, offset: float, factor: float, sign: str
) -> None:
    """Whether the data are scaled or the expression; a negative factor turns the comparison round."""
    other = value * (1 + offset)
    truth = compare(f"{A} {sign} {B}", value, other)
    assert compare(f"{A} {sign} {B}", value * factor, other * factor) is truth
    assert compare(f"{A} * {factor!r} {sign} {factor!r} * {B}", value, other) is truth
    assert compare(f"{A} / {factor!r} {sign} {B} / {factor!r}", value, other) is truth
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
    assert compare(f"-{factor!r} * {A} {turned} -{factor!r} * {B}", value, other) is truth


@given(st.floats(0, 1), st.floats(0, 1))
def test_rounding_never_flips_a_claim(left: float, right: float) -> None:
    """Two values that read alike are still the larger and the smaller one."""
    assume(abs(left - right) > 1e-8)
    assert compare(f"{A} > {B}", left, right) is (left > right)
    close = compare(f"{A} > {B}", 0.8204 + 1e-5 * left, 0.8204 + 1e-5 * right)
    assert close is (left > right) or abs(left - right) < 1e-3


def test_equality_minds_where_numbers_come_from() -> None:
    """0.9 - 0.8 is 0.1 although no machine says so, and a gap of rounding errors is none."""
    assert compare(f"{A} - {B} = 0.1", 0.9, 0.8) is True
    assert compare(f"{A} - {B} > 0.1", 0.9, 0.8) is False
    assert compare(f"{A} - {B} = 0", 0.3, 0.1 + 0.2) is True
    assert compare(f"({A} - {B}) / {B} = 0", 0.3, 0.1 + 0.2) is True
    assert compare(f"1000 * {B} / ({A} - {B}) / 1e11 = 1", 1e7 + 0.1, 1e7) is True
    assert compare(f"{A} = 0", 1e-17, 1.0) is False
    sides = {"peak(A)": 0.8, "peak(B)": 0.8, "trough(A)": 0.1, "trough(B)": 0.1}
    for gap, equal in ((1e-17, True), (5e-10, True), (1e-9, False)):
        found = judge_claim("widest_gap(A, B) = 0", MadeSubject({**sides, "widest_gap(A, B)": gap}))
        assert (found.truth is Truth.HOLDS) is equal
        assert [fact.call for fact in found.facts] == ["widest_gap(A, B)"]
    scores = {"difference(A, B)": 1e-17, "score(A)": 0.8, "score(B)": 0.8}
    assert find_truth("difference(A, B) = 0", MadeSubject(scores, holds="scores")) is True
    times = {"peak_step(A)": 1714521601000.0, "peak_step(B)": 1714521600000.0}
    dated = MadeSubject(times, scale=Scale("accuracy", step_is_time=True))
    # A billionth of the time since 1970 is no measure for equal dates.
    assert find_truth("peak_step(A) > '2024-05-01' and peak_step(A) > peak_step(B)", dated) is True


def test_facts_are_named_once_and_asked_after_all_is_checked() -> None:
    """Also behind what decides already; what a step is taken from comes first."""
    known = {"final(A)": 0.5, "peak_step(A)": 9.0, "at(B, 9)": 0.5, "peak(B)": 1.0}
    subject = MadeSubject(known)
    found = judge_claim("final(A) > 1 and at(B, peak_step(A)) > 0 or final(A) < peak(B)", subject)
    assert [fact.call for fact in found.facts] == list(known)
    silent = MadeSubject(known)
    with pytest.raises(ExpressionError):
        judge_claim("final(A) > final(C)", silent)
    assert silent.asked == []


# -- three truths -------------------------------------------------------------------------------------------

THREE: tuple[bool | None, ...] = (True, False, None)


def known_truths(**values: bool | None) -> MadeSubject:
    """A subject that knows three truths: whether each letter is better than X."""
    known = {f"better({name}, X)": "1 run of X" if truth is None else truth for name, truth in values.items()}
    return MadeSubject(known, series=(*values, "X"))


@pytest.mark.parametrize(("left", "right"), list(product(THREE, repeat=2)))
def test_truth_has_three_values(left: bool | None, right: bool | None) -> None:  # noqa: FBT001 - three truths
    """Kleene's tables of and, or and not."""
    subject, pair = known_truths(A=left, B=right), {left, right}
    a, b = "better(A, X)", "better(B, X)"
    both = False if False in pair else None if None in pair else True
    either = True if True in pair else None if None in pair else False
    assert find_truth(f"{a} and {b}", subject) is both
    assert find_truth(f"{a} or {b}", subject) is either
    assert find_truth(f"not {a}", subject) is (None if left is None else not left)
    assert find_truth(f"not {a} or not {b}", subject) is (None if both is None else not both)


CLAIMS = st.recursive(
    st.sampled_from([f"better({name}, X)" for name in "ABC"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
        | inner.map("not {}".format)
    ),
    max_leaves=10,
)
NAMED = re.compile(r"better\((\w), X\) (?:holds|fails|cannot be decided)")


@given(CLAIMS, st.tuples(*[st.sampled_from(THREE)] * 3))
def test_what_is_named_is_enough(claim: str, values: tuple[bool | None, ...]) -> None:
    """With everything but the facts that its words name unknown, a claim stays what it is."""
    all_known = dict(zip("ABC", values, strict=True))
    found = judge_claim(claim, known_truths(**all_known))
    named = set(NAMED.findall(found.found.removeprefix(f"{claim} ")))
    if found.truth is Truth.UNDECIDED:
        assert {all_known[name] for name in named} <= {None}
        assert "1 run of X" in found.sentences
    elif named:
        alone = {name: truth if name in named else None for name, truth in all_known.items()}
        assert judge_claim(claim, known_truths(**alone)).truth is found.truth
        certain = {name: True if truth is None else truth for name, truth in all_known.items()}
        assert judge_claim(claim, known_truths(**certain)).truth is found.truth


# -- arithmetic and kinds -----------------------------------------------------------------------------------

NUMBERS = st.recursive(
    st.sampled_from(["crossings(A, B)", "crossings(B, A)", "2", "3.5", "0.25", "1e-3"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
        | st.builds("{} {} {}".format, inner, st.sampled_from("+-*/"), st.sampled_from(["2", "4.0", "0.5"]))
        | inner.map("-{}".format)
    ),
    max_leaves=10,
)


@given(NUMBERS, NUMBERS)
def test_arithmetic_is_that_of_python(left: str, right: str) -> None:
    """The same text, computed by another reader of it."""
    known = {("A", "B"): 3.0, ("B", "A"): 0.7}
    subject = MadeSubject({f"crossings({a}, {b})": value for (a, b), value in known.items()})
    names = {"A": "A", "B": "B", "crossings": lambda a, b: known[a, b], "__builtins__": {}}
    first, second = (float(eval(text, names)) for text in (left, right))  # noqa: S307 - our own arithmetic, as an oracle
    asks = "crossings(A, B) = 3 and "
    assert find_truth(f"{asks}{left} = {first!r}", subject) is True
    if abs(first - second) > 1e-6:
        assert find_truth(f"{asks}{left} < {right}", subject) is (first < second)


def test_sums_and_products_do_not_mind_their_order() -> None:
    """Whether two kinds of numbers can be added, multiplied or compared does not depend on which is first."""
    calls = {"final(A)": 1.0, "gap(A, B, 5)": 1.0, "peak_step(A)": 1.0, "peak_step(B)": 2.0}
    calls |= {"p_value(A, B)": 0.5, "crossings(A, B)": 1.0}
    operands = [*calls, "(peak_step(A) - peak_step(B))", "0.5", "50%", "(final(A) / final(A))"]
    others = dict.fromkeys(("peak(A)", "peak(B)", "trough(A)", "trough(B)"), 1.0)
    subject = MadeSubject(calls | others | {"final(B)": 1.0, "better(A, B)": True})

    def is_allowed(text: str) -> bool:
        with suppress(ExpressionError):
            judge_claim(f"better(A, B) and {text} > 0", subject)
            return True
        return False

    for sign, (left, right) in product("+*", combinations(operands, 2)):
        assert is_allowed(f"{left} {sign} {right}") is is_allowed(f"{right} {sign} {left}"), (left, right)
    for number in ("0.5", "crossings(A, B)"):
        assert is_allowed(f"final(A) * {number}")


# -- text ---------------------------------------------------------------------------------------------------


@given(st.text(max_size=30).filter(str.strip))
def test_every_name_can_be_written(name: str) -> None:
    """In quotes, which are doubled inside."""
    call = "peak('{}')".format(name.replace("'", "''"))
    subject = MadeSubject({call: 1.0, f"peak({name})": 1.0}, series=(name,))
    assert find_truth(f"{call} > 0", subject) is True


@pytest.mark.parametrize(
    "piece", [*"()-'\"1,&²%\x00 ", "not ", "a-", "''", "1.", "1e", "a<", "f(", "a.", "-a-", "4B/"]
)
def test_no_text_takes_the_stack_or_more_than_linear_time(piece: str) -> None:
    """The longest text of anything ends quickly, with half of the usual stack left."""
    text = (piece * 1000)[:1000]
    frames = 0
    frame = sys._getframe()
    while frame.f_back:
        frames, frame = frames + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(frames + 400)
    try:
        with suppress(ExpressionError):
            judge_claim(text, MadeSubject({}))
    finally:
        sys.setrecursionlimit(limit)


def test_an_expression_of_nothing_is_refused() -> None:
    """Words in a page are refused before."""
    with pytest.raises(ExpressionError) as error:
        judge_claim("  ", MadeSubject({}))
    assert [fault.message for fault in error.value.faults] == ["The expression is empty"]


def test_no_character_is_passed_over() -> None:
    """Every character between two names is part of a name, a mark, a space or a fault."""
    for code in (*range(0x3000), 0xD800, 0xFEFF, 0x1F600):
        with pytest.raises(ExpressionError) as error:
            judge_claim(f"a{chr(code)}b", MadeSubject({}))
        (first, *_) = error.value.faults
        # Spaces leave two names without anything between; what is left of the character is named otherwise.
        assert ("Nothing connects" in first.message) is chr(code).isspace(), hex(code)


# -- thousands of expressions, most of them broken ----------------------------------------------------------

STRINGS = tries(4_000, 100_000)
SERIES = ("MEL", "GRPO", "Series A", "v10-l1-length-4096", "4B", "Bob's", "and")
ANSWERS = (0.0, -0.0, 0.82, 1.0, -3.5, 1e-300, 1.7e308, -1.7e308, 5e-324, 120.0)
VALID = (
    "final(MEL) > final(GRPO)",
    "peak(MEL) = 0.84 and peak_step(MEL) < 200",
    "not (tied(MEL, GRPO) or better(GRPO, MEL))",
    "at(GRPO, peak_step(MEL)) / final('Series A') >= 84%",
    "0.1 < mean(v10-l1-length-4096, 10, 1e2) - start('4B') ≤ 3 × volatility(\"Bob's\")",
    "steps_to(MEL, final(GRPO) - 0.1) - steps_to(GRPO, 0.9) != 2.5e-3 * peak_step('and')",
    "(widest_gap(MEL, GRPO) + gap(MEL, GRPO, 120)) / 2",
    "p_value(MEL, GRPO) < 0.05 and -final(MEL) − -1 <= band_width(MEL, 3)",
    "score(MEL) - low(MEL) = high(MEL) - score(MEL) or rank(MEL) = tier('Bob''s')",
    "difference(MEL, GRPO) > 3 and better(MEL, 'Series A')",
    "at(MEL, '2024-05-01') < 1 or peak_step(MEL) > '2024-05-01T12:00'",
)
WORDS = """not <= == => 1e999 1e-999 1e308 0 0.5 1,200 84% 7B MEL 'Series A' '' '2024-05-01' __class__
MEL.__init__ [0] {x} final(MEL) peak_step(MEL) tied(MEL,GRPO)"""
PIECES = (
    *" (),'\"%+-*/<>=!&|−×≤–“\x00\n²٣é😀\ud800._\\;#",
    *("and ", "or ", "not ", "Series A", "lambda: 1"),
    *WORDS.split(),
    *(f"{name}(" for name in FACTS),
    *VALID,
)


class Anything:
    """Knows an answer to everything: a number of any size, or none; the same to the same call."""

    def __init__(self, holds: Literal["curves", "scores"], scale: Scale) -> None:
        self.holds = holds
        self.scale = scale
        self.series = SERIES

    def fact(self, name: str, arguments: tuple[str | float, ...]) -> Fact:
        """Something; fails the test if it is asked what a subject may not be asked."""
        fact = FACTS[name]
        assert self.holds in fact.holds
        for argument, parameter in zip(arguments, fact.parameters, strict=True):
            if parameter.kind is ParameterKind.SERIES:
                assert argument in SERIES
            else:
                assert isinstance(argument, float)
                assert math.isfinite(argument)
        series = tuple(argument for argument in arguments if isinstance(argument, str))
        written = [
            "'{}'".format(one.replace("'", "''")) if isinstance(one, str) else repr(one) for one in arguments
        ]
        call = f"{name}({', '.join(written)})"
        dice = Random(call)  # noqa: S311 - no secret
        value: float | bool | None = dice.choice((*ANSWERS, dice.uniform(0, 1), None))
        if fact.quantity is Quantity.TRUTH and value is not None:
            value = value > 0.5
        return Fact(call, fact.quantity, value, "" if value is not None else "1 run", series)


SUBJECTS = (
    Anything("curves", Scale("accuracy")),
    Anything("curves", Scale("loss", higher_is_better=False, step_name="date", step_is_time=True)),
    Anything("scores", Scale("accuracy", percent=True, step_name="")),
)


def write_text(dice: Random) -> str:
    """A string: pieces in any order, or a valid expression that is mutated up to a few times."""
    if dice.random() < 0.2:
        text = "".join(dice.choices(PIECES, k=dice.randrange(1, 12)))
    elif dice.random() < 0.05:
        text = "".join(chr(dice.choice((dice.randrange(128), dice.randrange(0x3000)))) for _ in range(20))
    else:
        text = dice.choice(VALID)
        for _ in range(dice.choice((0, 0, 1, 1, 2, 5))):
            text = mutate(text, dice)
    return text if dice.random() < 0.99 else (text * 100)[: dice.choice((999, 1000, 1001))]


def mutate(text: str, dice: Random) -> str:
    """The string with one change."""
    at, to = sorted(dice.randrange(len(text) + 1) for _ in range(2))
    near = min(to, at + dice.randrange(1, 4))
    return dice.choice(
        (
            text[:at] + text[near:],
            text[:at] + dice.choice(PIECES) + text[at:],
            text[:at] + dice.choice(PIECES) + text[near:],
            text[:at] + text[at:near] * 2 + text[near:],
            text[:at] + text[at:near][::-1] + text[near:],
            text[:at] + f"({text[at:to]})" + text[to:],
            text[at:to] or "(",
            f"{text} {dice.choice(('and', 'or', '-', '/', '<'))} {dice.choice(VALID)}",
        )
    )


def assert_faults_are_usable(text: str, error: ExpressionError) -> None:
    """Faults have a place in the text, in its order, and words to go on with."""
    assert error.faults
    assert list(error.faults) == sorted(error.faults)
    for fault in error.faults:
        if fault.position >= 0:  # not one of the words, which are a number but may be of another quantity
            assert fault.length >= 1
            assert fault.position + fault.length <= len(text) + (fault.position == len(text))
        assert fault.message
        assert len(fault.message) < 1200
        assert not fault.message.endswith((".", " "))
        assert not fault.next_step.endswith((".", " "))


def judge_text(text: str, subject: Anything, kind: str) -> Judgement | None:
    """What is said of a text; None, with usable faults, if it is no expression."""
    try:
        return judge_claim(text, subject) if kind == "claim" else judge_value("0.84", text, subject)
    except ExpressionError as error:
        assert_faults_are_usable(text, error)
        return None


@pytest.mark.random
@pytest.mark.parametrize("seed", range(4))
def test_any_text_is_a_value_or_clean_faults(seed: int) -> None:
    """No crash, no endless work, no number that is none, whatever is typed and whatever the data say."""
    dice = Random(seed)  # noqa: S311 - no secret
    judged = 0
    for number in range(STRINGS // 4):
        found = judge_text(write_text(dice), SUBJECTS[number % 3], dice.choice(("value", "claim", "claim")))
        if found:
            judged += 1
            assert found.sentences
            assert found.facts
            assert len(set(found.facts)) == len(found.facts)
            assert not re.search(r"\b(nan|inf)\b", found.found)
    # The rest tests errors: both have to be many.
    assert STRINGS // 4 // 20 < judged < STRINGS // 4 // 2


@pytest.mark.parametrize("text", VALID)
def test_the_seeds_of_the_fuzz_are_valid(text: str) -> None:
    """Each can be asked of one of the subjects at least, so that mutants stay near the language."""
    found = [judge_text(f"{text}{rest}", one, "claim") for one in SUBJECTS for rest in ("", " > 0")]
    assert any(found)
