"""What the data say to a claim: full precision, three truths, whole evidence, and the laws that hold."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_figures import curve, curve_set
from made_subjects import Answer, MadeSubject, faults, marked, result

from reportgen.claims.subjects import CurveSubject
from reportgen.core.statements import Quantity, Scale, Truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.claims.evaluation import Part, Result

_LEFT, _RIGHT = "final(MEL)", "final(GRPO)"


def about(left: float, right: float, **others: Answer) -> MadeSubject:
    """A subject with two final values."""
    return MadeSubject({_LEFT: left, _RIGHT: right, **others})


def asked(text: str, left: float, right: float) -> float | bool | None:
    """What an expression of ``final(MEL)`` and ``final(GRPO)`` gives."""
    return result(text, about(left, right)).value


def texts(parts: tuple[Part, ...]) -> list[str]:
    """The words of some parts."""
    return [part.text for part in parts]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("final(MEL) > final(GRPO)", True),
        ("final(MEL) < final(GRPO)", False),
        ("final(MEL) = final('Series A')", True),
        ("final(MEL) >= final('Series A') and not final(MEL) > final('Series A')", True),
        ("final(MEL) != final(GRPO)", True),
        ("at(GRPO, peak_step(MEL)) = 0.81", True),
        ("trough(MEL) < trough(GRPO) < final(GRPO) <= final(MEL)", True),
        ("final(GRPO) < final(MEL) < final('Series A')", False),
        ("better(MEL, GRPO) and not tied(MEL, GRPO)", True),
        ("final(MEL) - final(GRPO) = 0.02", True),
        ("(final(MEL) + final(GRPO)) / 2 = 0.81", True),
        ("final(MEL) / final(GRPO) > 102%", True),
        ("-final(MEL) < final(GRPO) - final(MEL) < 0", True),
        ("crossings(MEL, GRPO) = 2 and p_value(MEL, GRPO) < 5%", True),
        ("peak_step(MEL) - peak_step(GRPO)", 20.0),
        ("2 * final(MEL) - 1", 0.64),
        ("final(MEL) * 0", 0.0),
    ],
)
def test_expressions_say_what_the_data_say(text: str, value: float | bool) -> None:  # noqa: FBT001 - a truth is a value here
    """Comparisons, chains, arithmetic, logic and facts of facts."""
    found = result(text).value
    assert found is value if isinstance(value, bool) else found == pytest.approx(value)


def test_zero_has_no_sign() -> None:
    """No reader is told of minus nothing."""
    for text in ("-(0 * final(MEL))", "0 * -final(MEL)", "0 * final(MEL) / -final(MEL)"):
        found = result(text).value
        assert isinstance(found, float)
        assert math.copysign(1, found) == 1


def test_every_fact_is_asked_and_told_once() -> None:
    """Also behind what decides already; what a step is taken from comes first."""
    found = result(
        "final(MEL) > 1 and at(GRPO, peak_step(MEL)) > 0 and final(MEL) < peak(GRPO) or better(MEL, GRPO)"
    )
    calls = ["final(MEL)", "peak_step(MEL)", "at(GRPO, 120)", "peak(GRPO)", "better(MEL, GRPO)"]
    assert [fact.call for fact in found.facts] == calls


def test_a_comparison_has_its_two_sides() -> None:
    """Words, kinds and values, whatever they are made of, with the fact where a side is one."""
    (part,) = result("final(MEL) - 0.02 >= final(GRPO)").parts
    left, right = part.sides
    assert (part.operator, part.truth, part.text) == (">=", Truth.HOLDS, "final(MEL) - 0.02 >= final(GRPO)")
    assert (left.text, left.quantity, left.fact) == ("final(MEL) - 0.02", Quantity.VALUE, None)
    assert left.value == pytest.approx(0.8)
    assert right.fact is not None
    assert (right.text, right.value, right.fact.call) == ("final(GRPO)", 0.8, "final(GRPO)")


def test_a_chain_has_a_part_for_each_operator() -> None:
    """Each pair is told with its own words and its own place, in any parentheses."""
    text = "not (trough(MEL) < final(MEL) <= (final(GRPO))) and better(MEL, GRPO)"
    found = result(text)
    assert texts(found.parts) == [
        "trough(MEL) < final(MEL)",
        "final(MEL) <= final(GRPO)",
        "better(MEL, GRPO)",
    ]
    assert [part.truth for part in found.parts] == [Truth.HOLDS, Truth.FAILS, Truth.HOLDS]
    assert texts(found.deciding) == ["final(MEL) <= final(GRPO)", "better(MEL, GRPO)"]


@pytest.mark.parametrize(
    ("text", "truth", "deciding"),
    [
        ("final(MEL) < 0 and final(MEL) > 0", False, ["final(MEL) < 0"]),
        ("final(MEL) < 0 and final(GRPO) < 0", False, ["final(MEL) < 0", "final(GRPO) < 0"]),
        ("final(MEL) < 0 or final(GRPO) > 0", True, ["final(GRPO) > 0"]),
        ("not (final(MEL) < 0 or final(GRPO) > 0)", False, ["final(GRPO) > 0"]),
        ("final(MEL) < 0 and better(GRPO, MEL)", False, ["final(MEL) < 0"]),
        ("final(MEL) > 0 and better(GRPO, MEL)", None, ["better(GRPO, MEL)"]),
        ("final(MEL) < 0 or not better(GRPO, MEL)", None, ["better(GRPO, MEL)"]),
        ("trough(MEL) < 0.3 < final(MEL)", True, ["trough(MEL) < 0.3", "0.3 < final(MEL)"]),
    ],
)
def test_what_decides_is_known(text: str, truth: bool | None, deciding: list[str]) -> None:  # noqa: FBT001 - three truths
    """What has to change before a failing claim holds, what a holding one rests on, what is undecided."""
    found = result(text)
    assert found.value is truth
    assert texts(found.deciding) == [
        one.replace("trough(MEL) < 0.1", "trough(MEL) < 0.3") for one in deciding
    ]


def test_what_is_undecided_has_its_reasons_once() -> None:
    """Only of the parts that leave it undecided."""
    found = result("better(GRPO, MEL) and tied(GRPO, MEL) and steps_to(MEL, 0.9) < 3 or final(MEL) < 0")
    assert (found.value, found.reason) == (None, "1 run of GRPO; MEL never reaches 0.9")
    assert result("better(GRPO, MEL) or final(MEL) > 0").reason == ""


def test_without_a_value_a_number_has_its_reason() -> None:
    """A level never reached, both of them, and what is computed from it."""
    found = result("steps_to(MEL, 0.9) - steps_to(GRPO, 0.9)", wanted="value")
    assert (found.value, found.reason) == (None, "MEL never reaches 0.9; GRPO never reaches 0.9")
    nested = result("at(GRPO, steps_to(MEL, 0.9)) > 0")
    assert (nested.value, nested.reason) == (None, "MEL never reaches 0.9")
    assert [(fact.call, fact.value, fact.series) for fact in nested.facts] == [
        ("steps_to(MEL, 0.9)", None, ("MEL",)),
        ("at(GRPO, steps_to(MEL, 0.9))", None, ("GRPO",)),
    ]


@pytest.mark.parametrize(
    ("text", "left", "right", "reason"),
    [
        ("1 < final(MEL) / final(GRPO)", 1.0, 0.0, "final(GRPO) is 0, and nothing can be divided by it"),
        ("1 < final(MEL) / (final(MEL) - final(GRPO))", 0.3, 0.1 + 0.2, "final(MEL) - final(GRPO) is 0, and"),
        ("1 < final(MEL) * 1e308 * 1e308", 1.0, 1.0, "the numbers become too large"),
        ("1 < final(MEL) + final(GRPO)", 1e308, 1e308, "the numbers become too large"),
        ("1 < final(MEL) / 1e-308", 1e10, 1.0, "the numbers become too large"),
    ],
)
def test_no_number_comes_out_of_nothing(text: str, left: float, right: float, reason: str) -> None:
    """Divided by zero, or too large: undecided, with the reason; never infinite, never a crash."""
    found = result(text, about(left, right))
    assert found.value is None
    assert found.reason.startswith(reason)


def test_questions_without_an_answer_are_faults_where_they_stand() -> None:
    """All of them, also in parts that decide nothing, each at its call."""
    text = "final(MEL) > 1 and at(MEL, 999) > 0.5 or at(GRPO, 999) > 3"
    found = faults(text)
    assert [marked(text, fault) for fault in found] == ["at(MEL, 999)", "at(GRPO, 999)"]
    assert (found[0].message, found[0].next_step) == ("MEL has no step 999", "Its steps are 0 to 200")


# -- laws ---------------------------------------------------------------------------------------------------

_VALUES = st.floats(1e-3, 1e3) | st.floats(-1e3, -1e-3)
_OFFSETS = st.sampled_from([0.0, 1e-16, 1e-13, 1e-11, 1e-7, 1e-4, 0.3])
_OPERATORS = st.sampled_from(["<", "<=", ">", ">=", "=", "!="])


@given(_VALUES, _OFFSETS, st.booleans())
def test_exactly_one_of_less_equal_and_more_holds(value: float, offset: float, up: bool) -> None:  # noqa: FBT001 - which side
    """And the other three comparisons follow from them; what is not close is compared in full."""
    other = value * (1 + (offset if up else -offset))
    less, equal, more = (asked(f"{_LEFT} {sign} {_RIGHT}", value, other) for sign in "<=>")
    assert [less, equal, more].count(True) == 1
    assert equal is (offset < 1e-9)
    assert asked(f"{_LEFT} <= {_RIGHT}", value, other) is (less or equal)
    assert asked(f"{_LEFT} >= {_RIGHT}", value, other) is (more or equal)
    assert asked(f"{_LEFT} != {_RIGHT}", value, other) is (not equal)
    assert asked(f"not {_LEFT} < {_RIGHT}", value, other) is (more or equal)


@given(_VALUES, _OFFSETS, st.floats(1e-6, 1e6), _OPERATORS)
def test_scaling_both_sides_changes_no_comparison(
    value: float, offset: float, factor: float, sign: str
) -> None:
    """Whether the data are scaled or the expression; a negative factor turns the comparison round."""
    other = value * (1 + offset)
    truth = asked(f"{_LEFT} {sign} {_RIGHT}", value, other)
    assert asked(f"{_LEFT} {sign} {_RIGHT}", value * factor, other * factor) is truth
    assert asked(f"{_LEFT} * {factor!r} {sign} {factor!r} * {_RIGHT}", value, other) is truth
    assert asked(f"{_LEFT} / {factor!r} {sign} {_RIGHT} / {factor!r}", value, other) is truth
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(sign, sign)
    assert asked(f"-{factor!r} * {_LEFT} {turned} -{factor!r} * {_RIGHT}", value, other) is truth


@given(st.floats(0, 1), st.floats(0, 1))
def test_rounding_never_flips_a_claim(left: float, right: float) -> None:
    """Two values that read alike are still the larger and the smaller one, in a part as in the whole."""
    assume(abs(left - right) > 1e-8)
    found = result(f"{_LEFT} > {_RIGHT}", about(left, right))
    assert found.value is (left > right)
    assert [side.value for side in found.parts[0].sides] == [left, right]
    close = result(f"{_LEFT} > {_RIGHT}", about(0.8204 + 1e-5 * left, 0.8204 + 1e-5 * right))
    assert close.value is (left > right) or abs(left - right) < 1e-3


@pytest.mark.parametrize(
    "number", ["0.84", "0.840", ".84", "84%", "84 %", "8.4e-1", "840e-3", "0.84000000000001"]
)
def test_a_number_may_be_written_in_any_way(number: str) -> None:
    """Equal is what is equal, however many digits its author writes."""
    assert result(f"peak(MEL) = {number} and {number} <= peak(MEL) <= {number}").value is True


def test_equality_minds_where_numbers_come_from() -> None:
    """0.9 - 0.8 is 0.1 although no machine says so, and a gap of rounding errors is none."""
    assert asked(f"{_LEFT} - {_RIGHT} = 0.1", 0.9, 0.8) is True
    assert asked(f"{_LEFT} - {_RIGHT} > 0.1", 0.9, 0.8) is False
    assert asked(f"{_LEFT} - {_RIGHT} = 0", 0.3, 0.1 + 0.2) is True
    assert asked(f"({_LEFT} - {_RIGHT}) / {_RIGHT} = 0", 0.3, 0.1 + 0.2) is True
    assert asked(f"1000 * {_RIGHT} / ({_LEFT} - {_RIGHT}) / 1e11 = 1", 1e7 + 0.1, 1e7) is True
    assert asked(f"{_LEFT} = 0", 1e-17, 1.0) is False
    gap = {
        "widest_gap(MEL, GRPO)": 1e-17,
        "peak(MEL)": 0.8,
        "peak(GRPO)": 0.8,
        "trough(MEL)": 0.1,
        "trough(GRPO)": 0.1,
    }
    assert (
        result("widest_gap(MEL, GRPO) = 0", MadeSubject({**gap, "widest_gap(MEL, GRPO)": 5e-10})).value
        is True
    )
    assert (
        result("widest_gap(MEL, GRPO) = 0", MadeSubject({**gap, "widest_gap(MEL, GRPO)": 1e-9})).value
        is False
    )
    found = result("widest_gap(MEL, GRPO) = 0", MadeSubject(gap))
    assert found.value is True
    assert [fact.call for fact in found.facts] == ["widest_gap(MEL, GRPO)"]
    scores = {"difference(MEL, GRPO)": 1e-17, "score(MEL)": 0.8, "score(GRPO)": 0.8}
    assert result("difference(MEL, GRPO) = 0", MadeSubject(scores, holds="scores")).value is True


def test_dates_are_told_apart_by_the_second() -> None:
    """A billionth of the time since 1970 is no measure for equal dates."""
    scale = Scale("accuracy", step_is_time=True)
    subject = MadeSubject(
        {"peak_step(MEL)": 1714521601000.0, "peak_step(GRPO)": 1714521600000.0}, scale=scale
    )
    assert result("peak_step(MEL) > '2024-05-01' and peak_step(MEL) > peak_step(GRPO)", subject).value is True


_TRUTHS: tuple[bool | None, ...] = (True, False, None)
_LETTERS = ("MEL", "GRPO", "Z")


def truths(values: Mapping[str, bool | None]) -> MadeSubject:
    """A subject that knows three truths: whether each letter is better than X."""
    known = {f"better({name}, X)": "1 run of X" if truth is None else truth for name, truth in values.items()}
    return MadeSubject(known, series=(*_LETTERS, "X"))


@pytest.mark.parametrize(("left", "right"), list(product(_TRUTHS, repeat=2)))
def test_truth_has_three_values(left: bool | None, right: bool | None) -> None:  # noqa: FBT001 - three truths
    """Kleene's tables of and, or and not."""
    subject = truths({"MEL": left, "GRPO": right})
    pair = {left, right}
    a, b = "better(MEL, X)", "better(GRPO, X)"
    assert result(f"{a} and {b}", subject).value is (
        False if False in pair else None if None in pair else True
    )
    assert result(f"{a} or {b}", subject).value is (True if True in pair else None if None in pair else False)
    assert result(f"not {a}", subject).value is (None if left is None else not left)
    assert result(f"not ({a} and {b})", subject).value is result(f"not {a} or not {b}", subject).value


_CLAIMS = st.recursive(
    st.sampled_from([f"better({name}, X)" for name in _LETTERS]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or"]), inner)
        | inner.map("not {}".format)
    ),
    max_leaves=10,
)


@given(_CLAIMS, st.tuples(*[st.sampled_from(_TRUTHS)] * 3))
def test_what_decides_is_enough(claim: str, values: tuple[bool | None, ...]) -> None:
    """With everything but the deciding facts unknown, a decided claim stays what it is."""
    found = result(claim, truths(dict(zip(_LETTERS, values, strict=True))))
    deciding = {part.fact.series[0]: part.fact.value for part in found.deciding if part.fact}
    assert deciding
    if found.value is None:
        assert set(deciding.values()) == {None}
        assert found.reason == "1 run of X"
        return
    assert found.reason == ""
    alone = {name: bool(deciding[name]) if name in deciding else None for name in _LETTERS}
    assert result(claim, truths(alone)).value is found.value
    known = {name: True if value is None else value for name, value in zip(_LETTERS, values, strict=True)}
    assert result(claim, truths(known)).value is found.value


_NUMBERS = st.recursive(
    st.sampled_from(["crossings(MEL, GRPO)", "rank", "2", "3.5", "0.25", "1e-3"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner)
        | st.builds("{} {} {}".format, inner, st.sampled_from("+-*/"), st.sampled_from(["2", "4.0", "0.5"]))
        | inner.map("-{}".format)
    ),
    max_leaves=10,
)


@given(_NUMBERS, _NUMBERS, st.sampled_from(["<", ">"]))
def test_arithmetic_is_that_of_python(left: str, right: str, sign: str) -> None:
    """The same text, computed by another reader of it."""
    text = f"{left} {sign} {right}".replace("rank", "crossings(GRPO, MEL)")
    known = {("MEL", "GRPO"): 3.0, ("GRPO", "MEL"): 0.7}
    subject = MadeSubject({f"crossings({a}, {b})": value for (a, b), value in known.items()})
    names = {"MEL": "MEL", "GRPO": "GRPO", "crossings": lambda a, b: known[a, b], "__builtins__": {}}
    if "crossings" not in text:
        text += " + 0 * crossings(MEL, GRPO)"
    expected = eval(f"({text.replace(f' {sign} ', ', ', 1)})", names)  # noqa: S307 - our own arithmetic, as an oracle
    found = result(text, subject)
    assert [side.value for side in found.parts[0].sides] == pytest.approx(
        list(expected), rel=1e-12, abs=1e-12
    )


# -- real curves --------------------------------------------------------------------------------------------


def real(factor: float = 1.0) -> CurveSubject:
    """Two curves of three runs, scaled."""
    steps = [0.0, 40.0, 80.0, 120.0, 200.0]
    named = {"MEL": [0.2, 0.5, 0.7, 0.84, 0.82], "GRPO": [0.3, 0.45, 0.75, 0.8, 0.81]}
    made = [
        curve(name, [factor * value for value in values], steps=steps, half=0.02 * factor, runs=3)
        for name, values in named.items()
    ]
    return CurveSubject(curve_set(*made), Scale("accuracy"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("final(MEL) > final(GRPO)", True),
        ("peak(MEL) = 84% and peak_step(MEL) = 120", True),
        ("at(GRPO, peak_step(MEL)) = 0.8", True),
        ("gap(MEL, GRPO, peak_step(MEL)) = 0.04", True),
        ("gap(MEL, GRPO, 120) = final(MEL) - final(GRPO) + 0.03", True),
        ("widest_gap(MEL, GRPO) < final(MEL) / 2", True),
        ("crossings(MEL, GRPO) >= 2", True),
        ("start(MEL) < start(GRPO) and final(MEL) < final(GRPO)", False),
        ("steps_to(MEL, 0.9) > 0", None),
        ("mean(MEL, 0, 200) > trough(MEL)", True),
    ],
)
def test_claims_are_held_against_real_curves(text: str, value: bool | None) -> None:  # noqa: FBT001 - three truths
    """The language and the facts of curves go together."""
    found: Result = result(text, real())
    assert found.value is value
    assert bool(found.reason) is (value is None)


@given(st.floats(1e-3, 1e3))
def test_scaling_curves_scales_values_and_flips_no_claim(factor: float) -> None:
    """What is compared with itself, times whatever, stays the same; values go with the factor."""
    for text in ("final(MEL) > final(GRPO)", "peak(MEL) - peak(GRPO) = 0.03 / 0.84 * peak(MEL)"):
        assert result(text, real(factor)).value is True
    found = result("gap(MEL, GRPO, 80)", real(factor), "value")
    assert found.value == pytest.approx(-0.05 * factor)


def test_a_step_outside_real_curves_is_a_fault_at_its_call() -> None:
    """Nothing is extrapolated, and the author sees which call asks for it."""
    text = "final(MEL) > at(GRPO, 999)"
    (fault,) = faults(text, real())
    assert marked(text, fault) == "at(GRPO, 999)"
    assert fault.message
