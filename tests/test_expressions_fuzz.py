"""Thousands of expressions, most of them broken: a value, or faults that a person can use."""

from __future__ import annotations

import math
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Literal

import pytest
from tries import tries

from reportgen.claims.checking import Purpose, check_expression
from reportgen.claims.evaluation import evaluate
from reportgen.claims.language import ExpressionError
from reportgen.claims.vocabulary import FactError, format_call
from reportgen.core.facts import FACTS, ParameterKind
from reportgen.core.statements import Fact, Quantity, Scale

if TYPE_CHECKING:
    from reportgen.claims.evaluation import Result
    from reportgen.claims.vocabulary import Argument, Subject

STRINGS = tries(4_000, 100_000)
WANTED: tuple[Purpose | None, ...] = ("value", "claim", None, None)
SERIES = ("MEL", "GRPO", "Series A", "v10-l1-length-4096", "4B", "Bob's", "and")
VALUES = (0.0, -0.0, 0.82, 1.0, -3.5, 1e-300, 1.7e308, -1.7e308, 5e-324, 120.0)

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
PIECES = (
    *(
        " ",
        "(",
        ")",
        ",",
        "'",
        '"',
        "%",
        "+",
        "-",
        "*",
        "/",
        "<",
        ">",
        "=",
        "!",
        "&",
        "|",
        "−",
        "×",
        "≤",
        "–",
        "“",
    ),
    *(
        "and ",
        "or ",
        "not ",
        "not",
        "<=",
        "==",
        "=>",
        "1e999",
        "1e-999",
        "1e308",
        "0",
        "0.5",
        "1,200",
        "84%",
        "7B",
    ),
    *(
        "MEL",
        "'Series A'",
        "Series A",
        "''",
        "'2024-05-01'",
        "\x00",
        "\n",
        "²",
        "٣",
        "é",
        "😀",
        "\ud800",
        ".",
        "_",
        "\\",
    ),
    *(
        "__class__",
        "MEL.__init__",
        "lambda: 1",
        "[0]",
        "{x}",
        ";",
        "#",
        "final(MEL)",
        "peak_step(MEL)",
        "tied(MEL, GRPO)",
    ),
    *(f"{name}(" for name in FACTS),
    *VALID,
)


class Anything:
    """Knows an answer to everything: a number of any size, none, or a fault; the same to the same call."""

    def __init__(self, holds: Literal["curves", "scores"], scale: Scale) -> None:
        self.holds = holds
        self.scale = scale
        self.series = SERIES

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """Something; fails the test if it is asked what a subject may not be asked."""
        fact = FACTS[name]
        assert self.holds in fact.holds
        for argument, parameter in zip(arguments, fact.parameters, strict=True):
            if parameter.kind is ParameterKind.SERIES:
                assert argument in SERIES
            else:
                assert isinstance(argument, float)
                assert math.isfinite(argument)
        call = format_call(name, arguments, self.scale)
        dice = Random(call)  # noqa: S311 - no secret
        value: float | bool | None = dice.choice((*VALUES, dice.uniform(0, 1), None))
        if dice.random() < 0.02 and name not in {"peak", "trough", "score"}:
            raise FactError("There is no answer", "Ask something else")
        if fact.quantity is Quantity.TRUTH and value is not None:
            value = value > 0.5
        series = tuple(argument for argument in arguments if isinstance(argument, str))
        return Fact(call, fact.quantity, value, "" if value is not None else "1 run", series)


SUBJECTS: tuple[Subject, ...] = (
    Anything("curves", Scale("accuracy")),
    Anything("curves", Scale("loss", higher_is_better=False, step_name="date", step_is_time=True)),
    Anything("scores", Scale("accuracy", percent=True, step_name="")),
)


def made(dice: Random) -> str:
    """A string: pieces in any order, or a valid expression that is mutated up to a few times."""
    if dice.random() < 0.2:
        text = "".join(dice.choices(PIECES, k=dice.randrange(1, 12)))
    elif dice.random() < 0.05:
        text = "".join(chr(dice.choice((dice.randrange(128), dice.randrange(0x3000)))) for _ in range(20))
    else:
        text = dice.choice(VALID)
        for _ in range(dice.choice((0, 0, 1, 1, 2, 5))):
            text = mutated(text, dice)
    return text if dice.random() < 0.99 else (text * 100)[: dice.choice((999, 1000, 1001))]


def mutated(text: str, dice: Random) -> str:
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


def outcome(text: str, subject: Subject, wanted: Purpose | None = None) -> Result | ExpressionError:
    """What comes out; anything that is neither of the two fails the test by being raised."""
    try:
        return evaluate(check_expression(text, subject, wanted), subject)
    except ExpressionError as error:
        return error


def hold_faults(text: str, error: ExpressionError) -> None:
    """Faults have a place in the text, in its order, and words to go on with."""
    assert error.faults
    assert list(error.faults) == sorted(error.faults)
    for fault in error.faults:
        assert fault.length >= 1
        assert 0 <= fault.position <= len(text)
        assert fault.position + fault.length <= len(text) + (fault.position == len(text))
        assert fault.message
        assert len(fault.message) < 1200
        assert not fault.message.endswith((".", " "))
        assert not fault.next_step.endswith((".", " "))


def hold_result(result: Result) -> None:
    """A finite number or a truth, or a reason; and what makes it is there."""
    if result.value is None:
        assert result.reason
    elif result.quantity is Quantity.TRUTH:
        assert isinstance(result.value, bool)
    else:
        assert isinstance(result.value, float)
        assert math.isfinite(result.value)
    assert result.facts
    assert len(set(result.facts)) == len(result.facts)
    assert bool(result.parts) is bool(result.deciding) is (result.quantity is Quantity.TRUTH)
    for part in result.parts:
        assert len(part.sides) == 2 if part.operator else part.fact
        assert all(side.value is None or math.isfinite(side.value) for side in part.sides)


@pytest.mark.random
@pytest.mark.parametrize("seed", range(4))
def test_any_text_is_a_value_or_clean_faults(seed: int) -> None:
    """No crash, no endless work, no number that is none, whatever is typed and whatever the data say."""
    dice = Random(seed)  # noqa: S311 - no secret
    values = 0
    for number in range(STRINGS // 4):
        text, subject = made(dice), SUBJECTS[number % 3]
        found = outcome(text, subject, dice.choice(WANTED))
        if isinstance(found, ExpressionError):
            hold_faults(text, found)
        else:
            values += 1
            hold_result(found)
    # The rest tests errors: both have to be many.
    assert STRINGS // 4 // 15 < values < STRINGS // 4 // 2


@pytest.mark.parametrize("text", VALID)
def test_the_seeds_of_the_fuzz_are_valid(text: str) -> None:
    """Each can be asked of one of the subjects at least, so that mutants stay near the language."""
    readings = []
    for subject in SUBJECTS:
        with suppress(ExpressionError):
            readings.append(check_expression(text, subject))
    assert readings
