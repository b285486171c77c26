"""What the data say to bound values and claims: the truth, and the words that make it plain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from made_figures import curve, curve_set
from made_outcomes import matrix
from made_scored import scored
from made_subjects import CURVES, MadeSubject
from msgspec.structs import replace

from reportgen.claims.agreement import agrees, get_typed_value
from reportgen.claims.fact_words import explain_fact, format_fact_interval
from reportgen.claims.judge import judge
from reportgen.claims.language import ExpressionError
from reportgen.claims.subjects import CurveSubject, ScoreSubject
from reportgen.claims.typed import read_typed
from reportgen.core.errors import SourceLocation
from reportgen.core.facts import FACTS
from reportgen.core.statements import Binding, Fact, Judgement, Quantity, Scale, Truth

if TYPE_CHECKING:
    from reportgen.claims.vocabulary import Subject

STEPS = [0.0, 40.0, 80.0, 120.0, 200.0]
ACCURACY = Scale("accuracy")
SHARE = Scale("pass@1", step_name="", bounds=(0.0, 1.0))
DAY = 86_400_000.0


def curves(
    mel: tuple[float, ...] = (0.2, 0.5, 0.7, 0.84, 0.82),
    grpo: tuple[float, ...] = (0.3, 0.45, 0.75, 0.8, 0.81),
    runs: int = 1,
    scale: Scale = ACCURACY,
) -> CurveSubject:
    """Two curves, with a band where there are several runs."""
    steps = [step * DAY for step in STEPS] if scale.step_is_time else STEPS
    half = 0.02 if runs > 1 else None
    made = [
        curve(name, list(values), steps=steps, half=half, runs=runs)
        for name, values in (("MEL", mel), ("GRPO", grpo))
    ]
    return CurveSubject(curve_set(*made), scale)


def shares() -> ScoreSubject:
    """A solves 39 of 40 problems, B 20 and C 19."""
    right = [[1.0] * count + [0.0] * (40 - count) for count in (39, 20, 19)]
    found = scored(matrix(np.array(right)[:, :, np.newaxis]))
    return ScoreSubject(found.scores, found.comparisons, found.groups, SHARE)


def bound(kind: Literal["value", "claim"], words: str, expression: str) -> Binding:
    """A binding of a page's first line."""
    place = SourceLocation("content/page.md", 1, 1)
    return Binding(kind, words, expression, None, "", "", place, place, 1, 1 + len(words))


def value(words: str, expression: str, subject: Subject) -> Judgement:
    """What the data say to a bound value."""
    return judge(bound("value", words, expression), subject)


def claim(expression: str, subject: Subject | None = None) -> Judgement:
    """What the data say to a claim."""
    return judge(bound("claim", "some words", expression), subject or curves())


@pytest.mark.parametrize(
    ("words", "expression", "found", "new"),
    [
        ("0.86", "peak(MEL)", "peak(MEL) = 0.84 at step 120: best of 5 checkpoints", "0.84"),
        ("86 %", "peak( MEL )", "peak(MEL) = 0.84 at step 120: best of 5 checkpoints", "84 %"),
        ("+3 points", "gap(MEL, GRPO, 120)", "gap(MEL, GRPO, 120) = +0.04", "+4 points"),
        ("step 100", "peak_step(MEL)", "peak_step(MEL) = step 120", "step 120"),
        ("0.81", "at(GRPO, peak_step(MEL))", "at(GRPO, 120) = 0.80", "0.80"),
        ("0.03", "final(MEL) - final(GRPO)", "final(MEL) - final(GRPO) = +0.01", "0.01"),
        (
            "80 steps",
            "peak_step(MEL)-peak_step(GRPO)",
            "peak_step(MEL)-peak_step(GRPO) = −80 steps",
            "−80 steps",
        ),
        (
            "2 times",
            "crossings(MEL, GRPO)",
            "crossings(MEL, GRPO) = 3 between step 26.6667 and step 102.222",
            "3 times",
        ),
    ],
)
def test_a_value_that_does_not_match(words: str, expression: str, found: str, new: str) -> None:
    """The expression with what the data say and where, and the words as they should be typed."""
    judged = value(words, expression, curves())
    assert (judged.truth, judged.found, judged.repaired) == (Truth.FAILS, found, new)
    assert value(new, expression, curves()).truth is Truth.HOLDS


def test_a_value_that_matches() -> None:
    """Nothing to repair; evidence is what ``found`` does not tell already."""
    judged = value("84 %", "peak(MEL)", curves())
    assert (judged.truth, judged.found, judged.evidence, judged.repaired) == (
        Truth.HOLDS,
        "peak(MEL) = 0.84 at step 120: best of 5 checkpoints",
        (),
        "",
    )
    assert [fact.call for fact in judged.facts] == ["peak(MEL)"]
    several = value("0.80", "at(GRPO, peak_step(MEL))", curves())
    assert several.found == "at(GRPO, 120) = 0.8"
    assert several.evidence == ("peak_step(MEL) = step 120",)
    computed = value("+0.01", "final(MEL) - final(GRPO)", curves())
    assert computed.evidence == ("final(MEL) = 0.82 at step 200", "final(GRPO) = 0.81 at step 200")


def test_a_value_with_its_interval() -> None:
    """The interval stands in ``found``; where its digits are too few to show a difference, more stand."""
    assert value("0.86", "at(MEL, 120)", curves(runs=3)).found == "at(MEL, 120) = 0.840 [0.820, 0.860]"
    near = curves(mel=(0.2, 0.5, 0.7, 0.84012, 0.82), runs=3)
    judged = value("0.8400", "at(MEL, 120)", near)
    assert judged.found == "at(MEL, 120) = 0.8401"
    assert judged.evidence == ("at(MEL, 120) = 0.840 [0.820, 0.860]",)
    assert judged.repaired == "0.8401"


def test_scores_are_told_in_percent() -> None:
    """With their interval; a difference in points, a p value with its relation."""
    of = shares()
    judged = value("96%", "score(A)", of)
    assert judged.found.startswith("score(A) = 97.5% [")
    assert judged.truth is Truth.FAILS
    assert judged.repaired == "97%"  # the double nearest to 0.975 lies below it
    assert value("98%", "score(A)", of).truth is Truth.HOLDS
    assert value("47.5 points", "difference(A, B)", of).truth is Truth.HOLDS
    assert value("p < 0.001", "p_value(A, B)", of).truth is Truth.HOLDS
    tiny = value("p = 0.04", "p_value(A, B)", of)
    assert tiny.found.startswith("p_value(A, B) < 0.001")
    assert tiny.repaired == "p < 0.01"
    assert value("100.0%", "score(A)", of).repaired == "97.5%"


def test_more_digits_until_a_reader_sees_the_difference() -> None:
    """Four digits of 0.84351 say 0.8435, which is no answer to 0.84352."""
    near = curves(mel=(0.2, 0.5, 0.7, 0.843514, 0.82))
    assert (
        value("0.84352", "peak(MEL)", near).found == "peak(MEL) = 0.84351 at step 120: best of 5 checkpoints"
    )
    assert value("84.352%", "peak(MEL) * 1", near).found == "peak(MEL) * 1 = 0.84351"
    stepped = MadeSubject({"steps_to(MEL, 0.5)": 118.6666666})
    assert value("118.6667 steps", "steps_to(MEL, 0.5)", stepped).truth is Truth.HOLDS
    assert value("118.6671", "steps_to(MEL, 0.5)", stepped).found == "steps_to(MEL, 0.5) = 118.6667"
    small = MadeSubject({"p_value(MEL, GRPO)": 0.0005})
    assert value("p < 0.0001", "p_value(MEL, GRPO)", small).found == "p_value(MEL, GRPO) = 0.0005"


def test_times() -> None:
    """On an axis of times a step is a date, and a number of steps a span of time."""
    of = curves(scale=Scale("accuracy", step_is_time=True))
    judged = value("1970-05-02", "peak_step(MEL)", of)
    assert (judged.found, judged.repaired) == ("peak_step(MEL) = 1970-05-01", "1970-05-01")
    assert value("80 days", "peak_step(GRPO) - peak_step(MEL)", of).truth is Truth.HOLDS
    assert claim("peak_step(MEL) < peak_step(GRPO)", of).found == (
        "peak_step(MEL) < peak_step(GRPO) holds: 1970-05-01 is before 1970-07-20"
    )


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("steps_to(MEL, 0.9)", "steps_to(MEL, 0.9) has no value: MEL never reaches 0.9"),
        ("2 * steps_to(MEL, 0.9)", "2 * steps_to(MEL, 0.9) has no value: MEL never reaches 0.9"),
        ("at(GRPO, steps_to(MEL, 0.9))", "at(GRPO, steps_to(MEL, 0.9)) has no value: MEL never reaches 0.9"),
    ],
)
def test_a_value_that_nobody_can_know(expression: str, found: str) -> None:
    """Undecided, with the reason, and nothing to type instead."""
    judged = value("0.5" if expression.startswith("at") else "100", expression, curves())
    assert (judged.truth, judged.found, judged.repaired) == (Truth.UNDECIDED, found, "")


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("final(MEL) > final(GRPO)", "holds: 0.82 is above 0.81"),
        ("final(MEL) < final(GRPO)", "fails: 0.82 is not below 0.81"),
        ("final(GRPO) > final(MEL)", "fails: 0.81 is not above 0.82"),
        ("final(MEL) > final(MEL)", "fails: 0.82 equals 0.82"),
        ("final(MEL) >= final(MEL)", "holds: 0.82 equals 0.82"),
        ("final(MEL) ≥ final(GRPO)", "holds: 0.82 is above 0.81"),
        ("final(GRPO) >= final(MEL)", "fails: 0.81 is below 0.82"),
        ("final(MEL) <= final(GRPO)", "fails: 0.82 is above 0.81"),
        ("final(MEL) = peak(MEL)", "fails: 0.82 differs from 0.84"),
        ("final(MEL) != peak(MEL)", "holds: 0.82 differs from 0.84"),
        ("final(MEL) = 82%", "holds: 0.82 equals 0.82"),
        ("final(MEL) != 0.82", "fails: 0.82 equals 0.82"),
        ("peak_step(MEL) > 150", "fails: step 120 is not after step 150"),
        ("peak_step(MEL) < peak_step(GRPO)", "holds: step 120 is before step 200"),
        ("widest_gap(MEL, GRPO) > 0.05", "holds: 0.1 is above 0.05"),
        ("crossings(MEL, GRPO) = 3", "holds: 3 equals 3"),
        ("final(MEL) * 1.0000001 > final(MEL)", "holds: 0.8200001 is above 0.8200000"),
        ("final(MEL) * 1.0000000001 > final(MEL)", "fails: 0.82 equals 0.82"),
        ("not final(MEL) > final(GRPO)", "fails: final(MEL) > final(GRPO) holds (0.82 is above 0.81)"),
        ("not final(MEL) < 0.5", "holds: final(MEL) < 0.5 fails (0.82 is not below 0.5)"),
        ("0.8 < final(MEL) < 0.82", "fails: final(MEL) < 0.82 fails (0.82 equals 0.82)"),
        (
            "final(MEL) > 0.8 and final(GRPO) > 0.82",
            "fails: final(GRPO) > 0.82 fails (0.81 is not above 0.82)",
        ),
        (
            "final(MEL) < 0.8 or final(GRPO) > 0.82",
            (
                "fails: final(MEL) < 0.8 fails (0.82 is not below 0.8); "
                "final(GRPO) > 0.82 fails (0.81 is not above 0.82)"
            ),
        ),
        ("final(MEL) < 0.8 or final(GRPO) > 0.8", "holds: final(GRPO) > 0.8 holds (0.81 is above 0.8)"),
        ("better(MEL, GRPO)", "cannot be decided: 1 run of MEL and 1 run of GRPO"),
        (
            "final(MEL) > 0.8 and tied(MEL, GRPO)",
            "cannot be decided: tied(MEL, GRPO) cannot be decided (1 run of MEL and 1 run of GRPO)",
        ),
        ("final(MEL) < 0.8 and tied(MEL, GRPO)", "fails: final(MEL) < 0.8 fails (0.82 is not below 0.8)"),
        ("steps_to(MEL, 0.9) < 100", "cannot be decided: MEL never reaches 0.9"),
    ],
)
def test_claims_in_words(expression: str, found: str) -> None:
    """The numbers that decide, with enough digits to differ; of several parts those that decide."""
    judged = claim(expression)
    assert judged.found == f"{expression} {found}"
    assert judged.found.startswith(f"{expression} {judged.truth}")
    assert not judged.repaired


def test_a_claim_that_is_a_fact() -> None:
    """The evidence of a verdict stands in ``found`` and is not told twice; that of comparisons beside it."""
    judged = claim("better(MEL, GRPO)", curves(runs=3))
    assert judged.found.startswith("better(MEL, GRPO) fails at step 200: difference +0.010 [")
    assert "p = " in judged.found
    assert judged.evidence == ()
    assert claim("better(MEL, GRPO)", MadeSubject(CURVES)).found == "better(MEL, GRPO) holds"
    compared = claim("final(MEL) > final(GRPO) and final(MEL) > 0.5")
    assert compared.evidence == ("final(MEL) = 0.82 at step 200", "final(GRPO) = 0.81 at step 200")


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("score(B) > score(C)", "holds: 50.0% is above 47.5%, but {noise}"),
        ("score(C) < score(B)", "holds: 47.5% is below 50.0%, but {turned}"),
        ("score(B) - score(C) > 0", "holds: 2.5 points is above 0.0 points, but {noise}"),
        ("difference(B, C) > 0", "holds: 2.5 points is above 0.0 points, but {noise}"),
        ("score(B) > score(C) and score(A) > 90%", "holds, but {noise} (score(B) > score(C))"),
        ("rank(B) = 2", "holds: 2 equals 2, but the verdicts leave it the ranks 2 to 3"),
        ("rank(B) < rank(C)", "holds: 2 is below 3, but {noise}"),
        ("score(A) > score(B)", "holds: 97.5% is above 50.0%"),
        ("rank(A) = 1", "holds: 1 equals 1"),
        ("score(C) > score(B)", "fails: 47.5% is not above 50.0%"),
    ],
)
def test_what_holds_only_within_noise(expression: str, said: str) -> None:
    """The interval of the difference holds what it is compared with, and the words say so."""
    of = shares()
    (one,) = [one for one in of.comparisons if {one.a, one.b} == {"B", "C"}]
    assert one.low is not None
    assert one.low < 0
    noise, turned = (
        format_fact_interval(of.fact("difference", pair), SHARE) for pair in (("B", "C"), ("C", "B"))
    )
    holds = "the interval of the difference includes 0: "
    said = said.format(noise=f"{holds}{noise}", turned=f"{holds}{turned}")
    assert claim(expression, of).found == f"{expression} {said}"


def test_curves_that_differ_only_within_noise() -> None:
    """By runs, at the step of both; with one run nothing is known."""
    found = claim("final(MEL) > final(GRPO)", curves(runs=3)).found
    assert "holds: 0.82 is above 0.81, but the interval of the difference includes 0: +0.010 [" in found
    assert "but" in claim("at(MEL, 120) - at(GRPO, 120) > 0.03", curves(runs=3)).found
    assert "but" not in claim("final(MEL) > final(GRPO)").found


def test_small_p_values_are_compared_as_numbers() -> None:
    """``< 0.001 is below 0.05`` reads badly, and 0.0496 is below 0.05 in words too."""
    of = MadeSubject({"p_value(MEL, GRPO)": 0.00034, "p_value(GRPO, MEL)": 0.0496})
    assert claim("p_value(MEL, GRPO) < 0.05", of).found.endswith("holds: 0.00034 is below 0.050")
    assert claim("p_value(GRPO, MEL) < 0.05", of).found.endswith("holds: 0.049 is below 0.050")


def test_every_fault_is_told_together() -> None:
    """Those of the words have no place in the expression; a unit is held against what the expression is."""
    with pytest.raises(ExpressionError) as caught:
        value("a lot", "peek(MEL) + peak(MLE)", curves())
    assert [fault.position for fault in caught.value.faults] == [-1, 0, 17]
    with pytest.raises(ExpressionError) as caught:
        value("84 steps", "peak(MEL)", curves())
    (fault,) = caught.value.faults
    assert (fault.position, fault.message) == (-1, '"84 steps" is typed, but the expression is a value')
    with pytest.raises(ExpressionError, match="true or false"):
        value("1", "better(MEL, GRPO)", curves())
    with pytest.raises(ExpressionError, match="A claim holds or not"):
        claim("peak(MEL)")


FINALS = st.one_of(st.floats(-10, 10), st.integers(-4, 4).map(lambda whole: whole / 4))


@given(left=FINALS, right=FINALS, operator=st.sampled_from(["<", "<=", ">", ">=", "=", "!="]))
@example(left=0.849999999, right=0.850000001, operator=">")
@example(left=1.0, right=1.0 + 2e-9, operator="<=")
@example(left=5e-324, right=0.0, operator="<")
def test_words_of_a_comparison_never_contradict_its_truth(left: float, right: float, operator: str) -> None:
    """Numbers that differ are shown to differ, in the right order; equal ones are said to be."""
    of = MadeSubject({"final(MEL)": left, "final(GRPO)": right})
    judged = claim(f"final(MEL) {operator} final(GRPO)", of)
    words = judged.found.partition(": ")[2]
    first, last = (float(word.replace("−", "-")) for word in (words.split()[0], words.split()[-1]))
    if " equals " in words:
        assert (judged.truth is Truth.HOLDS) is (operator in {"=", "<=", ">="})
        assert first == last
        assert abs(left - right) <= 1e-9 * max(abs(left), abs(right))
    else:
        assert (first > last) is (left > right)
        assert first != last
        assert (" not " in words) is (operator in {"<", ">"} and judged.truth is Truth.FAILS)
        assert (judged.truth is Truth.HOLDS) is {
            **dict.fromkeys(("<", "<="), left < right),
            **dict.fromkeys((">", ">="), left > right),
            "=": False,
            "!=": True,
        }[operator]


@given(
    number=st.one_of(st.floats(0, 1), st.floats(-1e6, 1e6), st.decimals(0, 1, places=3).map(float)),
    words=st.sampled_from(["0.84", "84 %", "84.352 %", "1e-3", "1.2k", "0.123456789", "−0.5", "100 %", "0"]),
    scale=st.sampled_from([ACCURACY, replace(ACCURACY, bounds=(0.0, 1.0)), replace(ACCURACY, percent=True)]),
)
@example(number=0.843514, words="0.84352", scale=ACCURACY)
@example(number=1 - 1e-15, words="100 %", scale=replace(ACCURACY, bounds=(0.0, 1.0)))
def test_a_failing_value_is_seen_to_differ(number: float, words: str, scale: Scale) -> None:
    """The number in ``found`` is not one that the typed words would agree with; repaired words are."""
    assume(scale.bounds is None or 0 <= number <= 1)
    of = MadeSubject({"peak(MEL)": number}, scale=scale)
    judged = value(words, "peak(MEL)", of)
    typed = read_typed(words, scale)
    assert (judged.truth is Truth.HOLDS) is agrees(typed, number, Quantity.VALUE, scale)
    assert bool(judged.repaired) is (judged.truth is Truth.FAILS)
    if judged.repaired:
        shown = read_typed(judged.found.partition(" = ")[2], scale)
        assert not agrees(typed, get_typed_value(shown, Quantity.VALUE, scale), Quantity.VALUE, scale)
        assert not agrees(shown, get_typed_value(typed, Quantity.VALUE, scale), Quantity.VALUE, scale)
        assert value(judged.repaired, "peak(MEL)", of).truth is Truth.HOLDS


def test_a_claim_of_several_parts_that_hold_is_told_shortly() -> None:
    """Its facts are the evidence; told by each part again they would fill a page."""
    found = claim("final(MEL) > 0.5 and final(GRPO) > 0.5 and peak(MEL) < 1")
    assert found.found.endswith("peak(MEL) < 1 holds")
    assert len(found.evidence) == 3


@pytest.mark.parametrize(
    ("expression", "sentences"),
    [
        ("final(MEL) = final(MEL)", "MEL ends at 0.82 at step 200"),
        ("final(MEL) > 0.5", "MEL ends at 0.82 at step 200"),
        ("final(MEL) > 0.9", "MEL ends at 0.82 at step 200. 0.82 is not above 0.9"),
        (
            "at(MEL, 120) - final(MEL) < 0.1",
            "MEL has 0.84 at step 120. MEL ends at 0.82 at step 200. 0.02 is below 0.1",
        ),
        ("better(MEL, GRPO)", "1 run of MEL and 1 run of GRPO"),
        ("steps_to(MEL, 0.9) < 100", "MEL never reaches 0.9"),
        (
            "crossings(MEL, GRPO) = 3",
            "The number of times that MEL and GRPO change places is 3 between step 26.6667 and step 102.222",
        ),
        ("mean(MEL, 0, 200) > 0.5", "The mean of MEL is 0.612 from step 0 to 200"),
        ("last(MEL, 2) > 0.5", "The mean of the last 2 readings of MEL is 0.83"),
        ("steps_to(MEL, 0.7) = 80", "MEL reaches 0.7 at step 80"),
    ],
)
def test_readers_get_sentences(expression: str, sentences: str) -> None:
    """Without a word of the language of claims, which stands behind them."""
    judged = claim(expression)
    assert ". ".join(judged.sentences) == sentences
    assert judged.written == expression


def test_readers_get_doubts_and_the_result_of_a_sum() -> None:
    """What holds only within noise is said last, and a sum stands with its result in the expression."""
    assert (
        claim("score(B) > score(C)", shares()).sentences[-1].startswith("But the interval of the difference")
    )
    difference = value("0.02", "peak(MEL) - final(MEL)", curves())
    assert difference.written == "peak(MEL) - final(MEL) = +0.02"
    wrong = value("0.844", "peak(MEL)", curves())
    assert wrong.sentences == ("The best value of MEL is 0.840 at step 120: best of 5 checkpoints",)
    assert value("0.5", "sd(MEL)", curves()).sentences == ("1 run of MEL at step 200",)


def test_every_fact_has_words_for_readers() -> None:
    """Also the old names."""
    for kind in FACTS.values():
        names = [
            "A" if one.name in {"a", "s"} else "B" if one.name == "b" else "5" for one in kind.parameters
        ]
        truths: tuple[float, ...] = (True, False) if kind.quantity is Quantity.TRUTH else (0.25,)
        said = [
            explain_fact(Fact(f"{kind.name}({', '.join(names)})", kind.quantity, one), ACCURACY)
            for one in truths
        ]
        assert len(set(said)) == len(truths)
        assert all("A" in one and "(" not in one and not one.startswith(kind.name) for one in said)
