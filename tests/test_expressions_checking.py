"""Claims are checked by name and kind before anything is asked, and told with the next step."""

from __future__ import annotations

import pytest
from made_subjects import ACCURACY, CURVES, MadeSubject, faults, marked, result

from reportgen.claims.checking import Kind, check_expression, combine_kinds
from reportgen.claims.language import ExpressionError, Fault
from reportgen.core.facts import FACTS, ParameterKind, list_fact_kinds
from reportgen.core.statements import Quantity, Scale

SCORES = MadeSubject({"score(MEL)": 0.6}, holds="scores")
DATED = MadeSubject(
    {"peak_step(MEL)": 1714521600000.0, "at(MEL, '2024-05-01')": 0.8, "peak_step(GRPO)": 1714521600000.0},
    scale=Scale("accuracy", step_name="date", step_is_time=True),
)
PERCENT = MadeSubject({"final(MEL)": 84.0, "final(GRPO)": 80.0}, scale=Scale("accuracy", percent=True))
LOSS = MadeSubject({}, scale=Scale("loss", higher_is_better=False))

_OF = 'a value of "accuracy"'


@pytest.mark.parametrize(
    ("text", "about", "message", "step"),
    [
        (
            "peak(mel) > 1",
            "mel",
            'There is no series "mel"',
            "Did you mean MEL? The series are MEL, GRPO, 'Ser",
        ),
        ("peak(Series_A) > 1", "Series_A", 'no series "Series_A"', "Did you mean 'Series A'?"),
        ("peak(XYZW) > 1", "XYZW", 'There is no series "XYZW"', "The series are MEL"),
        (
            "paek(MEL) > 1",
            "paek",
            'There is no fact "paek"',
            "Did you mean peak(s)? The facts of curves are start(",
        ),
        ("max(MEL) > 1", "max", 'There is no fact "max"', "Did you mean peak(s)?"),
        ("average(MEL) > 1", "average", 'There is no fact "average"', "Did you mean mean(s, from, to)?"),
        (
            "score(MEL) > 1",
            "score",
            '"score" is a fact of scores, and the data here are curves',
            "mean final(s)?",
        ),
        ("acc(MEL) > 1", "acc", 'There is no fact "acc"', "Did you mean final(s)?"),
        ("peak() > 1", "peak()", '"peak" takes a series, and nothing stands here', "Write peak(s)"),
        (
            "gap(MEL) > 1",
            "gap(MEL)",
            "takes two series and a step, and 1 argument stands here",
            "Write gap(a, b, x)",
        ),
        (
            "mean(MEL, 1) > 1",
            "mean(MEL, 1)",
            "takes a series and two steps, and 2 arguments",
            "mean(s, from, to)",
        ),
        ("at(MEL, 1,200) > 1", "at(MEL, 1,200)", "and 3 arguments stand here", "without commas: 1200"),
        ("at(MEL, 0,5) > 1", "at(MEL, 0,5)", "and 3 arguments stand here", "without commas: 0.5"),
        ("at(MEL, 5, 200) > 1", "at(MEL, 5, 200)", "and 3 arguments stand here", "Write at(s, x)"),
        ("peak(4096) > 1", "4096", '"peak" takes a series, and "4096" is a number', "The series are MEL"),
        (
            "peak(Qwen / 7) > 1",
            "Qwen / 7",
            '"peak" takes a series, and "Qwen / 7" is no name',
            "mean 'Qwen/7B'?",
        ),
        ("gap(MEL, MEL, 3) > 1", "gap(MEL, MEL, 3)", "holds MEL against itself", "two different series"),
        ("better(MEL, MEL)", "better(MEL, MEL)", "holds MEL against itself", "two different series"),
        ("at(MEL, GRPO) > 1", "GRPO", "GRPO is a series and not yet a number", "such as peak_step(GRPO)"),
        (
            "at(MEL, final(MEL)) > 1",
            "final(MEL)",
            f'"at" takes a step, and final(MEL) is {_OF}',
            "such as peak_step(MEL)",
        ),
        (
            "at(MEL, crossings(MEL, GRPO)) > 1",
            "crossings(MEL, GRPO)",
            "is a count or a ratio",
            "Write a number",
        ),
        (
            "steps_to(MEL, peak_step(MEL)) > 1",
            "peak_step(MEL)",
            f'"steps_to" takes {_OF}, and peak_step',
            "final(MEL)",
        ),
        ("at(MEL, better(MEL, GRPO)) > 1", "better(MEL, GRPO)", "is true or false, and no number", '"and"'),
        (
            "at(MEL, '2024-05-01') > 1",
            "'2024-05-01'",
            "is a date, and the steps here are numbers",
            "as a number",
        ),
        ("MEL > 0.5", "MEL", "MEL is a series and not yet a number", "Ask a fact of it, such as final(MEL)"),
        ("peak > 0.5", "peak", '"peak" is a fact, and what it is about is missing', "Write peak(s)"),
        (
            "pek > 0.5",
            "pek",
            '"pek" is neither a number nor a fact',
            "Did you mean peak(s)? The facts of curves",
        ),
        ("grp > 0.5", "grp", '"grp" is neither a number nor a fact', "Did you mean GRPO?"),
        (
            "final(MEL) > peak_step(GRPO)",
            "final(MEL) > peak_step(GRPO)",
            f"final(MEL) is {_OF} and peak_step(GRPO) a step: they cannot be compared",
            "Put like and like together",
        ),
        (
            "2 * (final(MEL) + final(GRPO)) - peak_step(MEL) > 1",
            "2 * (final(MEL) + final(GRPO)) - peak_step(MEL)",
            f"2 * (final(MEL) + final(GRPO)) is {_OF} and peak_step(MEL) a step: they cannot be subtracted",
            "Put like and like together",
        ),
        (
            "final(MEL) + (final(GRPO)) - peak_step(MEL) > 1",
            "final(GRPO)) - peak_step(MEL)",
            f"final(MEL) + (final(GRPO)) is {_OF} and peak_step(MEL) a step: they cannot be subtracted",
            "Put like and like together",
        ),
        (
            "final(MEL) * final(GRPO) > 1",
            "final(MEL) * final(GRPO)",
            f"final(MEL) is {_OF} and final(GRPO) {_OF}: they cannot be multiplied",
            "Multiply with a number",
        ),
        (
            "1 / final(MEL) > 1",
            "1 / final(MEL)",
            f"1 is a number and final(MEL) {_OF}: they cannot be divided",
            "like",
        ),
        (
            "crossings(MEL, GRPO) < final(MEL)",
            None,
            f"is a count or a ratio and final(MEL) {_OF}",
            "Put like",
        ),
        (
            "final(MEL) and 1 < peak(MEL)",
            "final(MEL)",
            f'"and" takes what is true or false, and final(MEL) is {_OF}',
            "Comp",
        ),
        ("not final(MEL)", "final(MEL)", '"not" takes what is true or false', "Compare it with"),
        (
            "better(MEL, GRPO) = 1",
            "better(MEL, GRPO)",
            "is true or false, and no number",
            "Join what is true or false with",
        ),
        ("(1 < peak(MEL)) + 1 > 1", "1 < peak(MEL)", "1 < peak(MEL) is true or false", "Join"),
        ("-better(MEL, GRPO) > 1", "better(MEL, GRPO)", "is true or false", "Join"),
        ("1 < 2", "1 < 2", "This asks nothing of the data", "Write a fact in it, such as final(MEL)"),
        ("1 < 2 and not 3 < 2", None, "This asks nothing of the data", "final(MEL)"),
        ("0.84", "0.84", "This asks nothing of the data", "final(MEL)"),
    ],
)
def test_what_is_wrong_is_told_with_what_to_write(
    text: str, about: str | None, message: str, step: str
) -> None:
    """The words concerned, what was found, and the next step."""
    (fault,) = faults(text)
    assert (marked(text, fault), message in fault.message, step in fault.next_step) == (
        about or text,
        True,
        True,
    ), fault


@pytest.mark.parametrize(
    ("text", "subject", "about", "message", "step"),
    [
        (
            "final(MEL) > 0.5",
            SCORES,
            "final",
            '"final" is a fact of curves, and the data here are scores',
            "score(s)?",
        ),
        ("max(MEL) > 0.5", SCORES, "max", 'There is no fact "max"', "Did you mean score(s)?"),
        (
            "diff(MEL, GRPO) > 0.5",
            SCORES,
            "diff",
            'There is no fact "diff"',
            "Did you mean difference(a, b)?",
        ),
        ("MEL > 0.5", SCORES, "MEL", "MEL is a series", "such as score(MEL)"),
        ("1 < 2", SCORES, "1 < 2", "asks nothing", "such as score(MEL)"),
        ("max(MEL) > 0.5", LOSS, "max", 'There is no fact "max"', "Did you mean trough(s)?"),
        ("lowest(MEL) > 0.5", LOSS, "lowest", 'There is no fact "lowest"', "Did you mean peak(s)?"),
        (
            "at(MEL, 2024-05-01) > 0.5",
            DATED,
            "2024-05-01",
            'The steps of "accuracy" are dates',
            "'2024-05-01T12:00'",
        ),
        ("at(MEL, 'May') > 0.5", DATED, "'May'", '"May" is no date', "Write the date in quotes"),
        ("at(MEL, '2024-02-30') > 0.5", DATED, "'2024-02-30'", '"2024-02-30" is no date', "Write the date"),
        (
            "peak_step(MEL) > 20240501",
            DATED,
            "20240501",
            "the other side is a date",
            "Write the date in quotes",
        ),
        ("7 < peak_step(MEL) - peak_step(GRPO)", DATED, "7", "is a stretch of time", "Hold dates against"),
        (
            "final(MEL) > peak_step(MEL)",
            DATED,
            None,
            f"final(MEL) is {_OF} and peak_step(MEL) a date",
            "like",
        ),
        (
            "final(MEL) > 84%",
            PERCENT,
            "84%",
            '"accuracy" is written in percent already',
            "without the percent sign",
        ),
        (
            "80% + 4% < final(MEL)",
            PERCENT,
            "80% + 4%",
            "would be a hundredth of it",
            "without the percent sign",
        ),
        ("steps_to(MEL, 84%) > 3", PERCENT, "84%", "written in percent already", "without the percent sign"),
    ],
)
def test_faults_follow_what_the_data_are(
    text: str, subject: MadeSubject, about: str | None, message: str, step: str
) -> None:
    """Scores, losses, dates and percentages each have their own next step."""
    (fault,) = faults(text, subject)
    assert (marked(text, fault), message in fault.message, step in fault.next_step) == (
        about or text,
        True,
        True,
    ), fault


def test_a_percentage_of_a_percentage_is_fine() -> None:
    """Only beside a value does the sign change what is meant."""
    assert result("final(GRPO) > 90% * final(MEL)", PERCENT).value is True
    assert result("final(GRPO) / final(MEL) > 90%", PERCENT).value is True
    assert result("80 <= final(GRPO) < final(MEL) - 3", PERCENT).value is True


def test_a_name_that_needs_quotes_is_told_so() -> None:
    """A series whose name reads as arithmetic or as a number."""
    subject = MadeSubject({}, series=("a / b", "4096"))
    assert [fault.next_step for fault in faults("gap(a / b, 4096, 3) > 0", subject)] == [
        "This name has to be in quotes: 'a / b'",
        "This name has to be in quotes: '4096'",
    ]


def test_everything_wrong_is_told_at_once() -> None:
    """Four mistakes are four faults in the order of the text, and the facts are listed once."""
    text = "foo(MEL) > 1 and peak(GRPOO) > peak_step(MEL) or bar(X) > 2 or final(MEL)"
    found = faults(text)
    assert [marked(text, fault) for fault in found] == [
        "foo",
        "peak(GRPOO) > peak_step(MEL)",
        "GRPOO",
        "bar",
        "final(MEL)",
    ]
    assert sum("The facts of curves" in fault.next_step for fault in found) == 1


def test_what_is_known_to_be_wrong_is_told_once() -> None:
    """An unknown fact is no mismatch besides, and arguments of a wrong count are not told one by one."""
    assert len(faults("foo(MEL) + peak_step(MEL) > final(MEL)")) == 1
    assert len(faults("at(3) > 1")) == 1


def test_a_value_is_a_number_and_a_claim_a_truth() -> None:
    """Whoever takes the wrong attribute is told the other one."""
    assert "claim= instead of value=" in faults("better(MEL, GRPO)", wanted="value")[0].next_step
    (fault,) = faults("final(MEL)", wanted="claim")
    assert fault.message == f"A claim holds or not, and final(MEL) is {_OF}"
    assert fault.next_step == "Compare it, such as final(MEL) > 0.5, or write value= instead of claim="
    assert result("final(MEL)", wanted="value").value == 0.82
    assert result("better(MEL, GRPO)", wanted="claim").value is True


def test_nothing_is_asked_before_all_is_checked() -> None:
    """Checking touches no data."""
    subject = MadeSubject(CURVES)
    check_expression("final(MEL) > at(GRPO, peak_step(MEL))", subject)
    with pytest.raises(ExpressionError):
        check_expression("final(MEL) > final(NO)", subject)
    assert subject.asked == []


def test_messages_have_one_shape() -> None:
    """Sentences without their full stop, and a long expression does not flood its message."""
    text = "final(MEL) > " + " + ".join(["peak_step(MEL)"] * 40)
    (fault,) = faults(text)
    assert len(fault.message) < 200
    assert not fault.message.endswith(".")
    assert not fault.next_step.endswith(".")
    assert fault == Fault(0, len(text), fault.message, fault.next_step)


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("final(MEL)", Quantity.VALUE),
        ("-final(MEL)", Quantity.VALUE),
        ("final(MEL) - final(GRPO)", Quantity.DIFFERENCE),
        ("final(MEL) - final(GRPO) - peak(MEL)", Quantity.VALUE),
        ("final(MEL) + final(GRPO)", Quantity.VALUE),
        ("(final(MEL) + final(GRPO)) / 2", Quantity.VALUE),
        ("final(MEL) - 0.1", Quantity.VALUE),
        ("1 - final(MEL)", Quantity.VALUE),
        ("final(MEL) + widest_gap(MEL, GRPO)", Quantity.VALUE),
        ("widest_gap(MEL, GRPO) + final(MEL)", Quantity.VALUE),
        ("widest_gap(MEL, GRPO) - widest_gap(MEL, GRPO)", Quantity.DIFFERENCE),
        ("peak_step(MEL) - peak_step(GRPO)", Quantity.STEPS),
        ("peak_step(MEL) + (peak_step(MEL) - peak_step(GRPO))", Quantity.STEP),
        ("peak_step(MEL) - 10", Quantity.STEP),
        ("peak_step(MEL) * 2", Quantity.STEP),
        ("final(MEL) / final(GRPO)", Quantity.NUMBER),
        ("(final(MEL) - final(GRPO)) / final(GRPO)", Quantity.NUMBER),
        ("final(MEL) * (final(GRPO) / final(MEL))", Quantity.VALUE),
        ("(peak_step(MEL) - peak_step(GRPO)) / peak_step(GRPO)", Quantity.NUMBER),
        ("crossings(MEL, GRPO) * 2 + 1", Quantity.NUMBER),
        ("p_value(MEL, GRPO)", Quantity.PROBABILITY),
        ("1 - p_value(MEL, GRPO)", Quantity.PROBABILITY),
        ("p_value(MEL, GRPO) < 5%", Quantity.TRUTH),
        ("p_value(MEL, GRPO) < crossings(MEL, GRPO)", Quantity.TRUTH),
        ("widest_gap(MEL, GRPO) < 10% * final(MEL)", Quantity.TRUTH),
        ("peak_step(MEL) - peak_step(GRPO) < 2 * peak_step(MEL)", Quantity.TRUTH),
    ],
)
def test_quantities_come_out_as_they_are_meant(text: str, quantity: Quantity) -> None:
    """Like from like is a distance, like by like a ratio, and a plain number changes nothing."""
    found = result(text)
    assert found.quantity is quantity
    assert check_expression(text, MadeSubject(CURVES)).quantity is quantity


def test_dates_are_steps_on_an_axis_of_time() -> None:
    """A quoted date is asked as milliseconds, and compared with steps."""
    assert result("at(MEL, '2024-05-01') > 0.5", DATED).value is True
    assert result("'2024-04-30' < peak_step(MEL) < '2024-05-01T00:00:01'", DATED).value is True
    assert result("peak_step(MEL) = '2024-05-01T02:00+02:00'", DATED).value is True


def test_the_vocabulary_is_whole() -> None:
    """Every fact names its series first, has a sentence, and takes no step beside a level."""
    for fact in FACTS.values():
        kinds = [parameter.kind for parameter in fact.parameters]
        series = kinds.count(ParameterKind.SERIES)
        assert kinds[:series] == [ParameterKind.SERIES] * series
        assert 1 <= series <= 2
        assert {ParameterKind.STEP, ParameterKind.LEVEL} - set(kinds)
        assert fact.says.endswith(".")
        assert fact.holds
    assert {fact.name for fact in list_fact_kinds("curves")} & {
        fact.name for fact in list_fact_kinds("scores")
    } == {*("p_value", "better", "unclear", "equivalent")}
    assert FACTS["mean"].signature == "mean(s, from, to)"


def test_sums_do_not_mind_their_order() -> None:
    """What a sum is does not depend on which side comes first, for every pair of quantities."""
    kinds = [Kind(quantity, constant) for quantity in Quantity for constant in (False, True)]
    for left in kinds:
        for right in kinds:
            assert combine_kinds("+", left, right) == combine_kinds("+", right, left)
            assert combine_kinds("*", left, right) == combine_kinds("*", right, left)


def test_a_subject_without_series_is_told_so() -> None:
    """There is nothing to name, and the message says that."""
    (fault,) = faults("final(MEL) > 1", MadeSubject({}, series=()))
    assert fault.next_step == "There are no series"
    assert ACCURACY.metric == "accuracy"
