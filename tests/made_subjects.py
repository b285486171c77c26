"""Subjects whose facts are written down in the test."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - a field of a dataclass
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from reportgen.claims.checking import Purpose, check_expression
from reportgen.claims.evaluation import evaluate
from reportgen.claims.language import ExpressionError
from reportgen.claims.vocabulary import FactError, format_call
from reportgen.core.facts import FACTS
from reportgen.core.statements import Fact, Scale

if TYPE_CHECKING:
    from reportgen.claims.evaluation import Result
    from reportgen.claims.language import Fault
    from reportgen.claims.vocabulary import Argument, Subject

Answer: TypeAlias = float | str | FactError
"""A value or truth, the reason why there is none, or an error."""

ACCURACY = Scale("accuracy")
CURVES: dict[str, Answer] = {
    "final(MEL)": 0.82,
    "final(GRPO)": 0.8,
    "final('Series A')": 0.82,
    "final('Qwen/7B')": 0.82,
    "peak(MEL)": 0.84,
    "peak(GRPO)": 0.83,
    "peak_step(MEL)": 120.0,
    "peak_step(GRPO)": 100.0,
    "trough(MEL)": 0.2,
    "trough(GRPO)": 0.3,
    "at(GRPO, 120)": 0.81,
    "steps_to(GRPO, 0.9)": "GRPO never reaches 0.9",
    "steps_to(MEL, 0.9)": "MEL never reaches 0.9",
    "widest_gap(MEL, GRPO)": 0.1,
    "crossings(MEL, GRPO)": 2.0,
    "better(MEL, GRPO)": True,
    "tied(MEL, GRPO)": False,
    "better(GRPO, MEL)": "1 run of GRPO",
    "tied(GRPO, MEL)": "1 run of GRPO",
    "p_value(MEL, GRPO)": 0.03,
    "at(MEL, 999)": FactError("MEL has no step 999", "Its steps are 0 to 200"),
    "at(GRPO, 999)": FactError("GRPO has no step 999", "Its steps are 0 to 200"),
}
"""Facts of two curves."""


@dataclass(frozen=True)
class MadeSubject:
    """A subject that knows what it is told and nothing else; ``asked`` lists its calls in order."""

    known: Mapping[str, Answer]
    holds: Literal["curves", "scores"] = "curves"
    scale: Scale = ACCURACY
    series: tuple[str, ...] = ("MEL", "GRPO", "Series A", "4B", "Qwen/7B")
    asked: list[str] = field(default_factory=list)

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """The fact that is known; a call that is not known is a fault of the test."""
        call = format_call(name, arguments, self.scale)
        self.asked.append(call)
        answer = self.known[call]
        if isinstance(answer, FactError):
            raise answer
        value, reason = (None, answer) if isinstance(answer, str) else (answer, "")
        series = tuple(argument for argument in arguments if isinstance(argument, str))
        return Fact(call, FACTS[name].quantity, value, reason, series)


def result(text: str, subject: Subject | None = None, wanted: Purpose | None = None) -> Result:
    """What the data say to an expression."""
    subject = subject or MadeSubject(CURVES)
    return evaluate(check_expression(text, subject, wanted), subject)


def faults(text: str, subject: Subject | None = None, wanted: Purpose | None = None) -> tuple[Fault, ...]:
    """What is wrong with an expression; a test that finds nothing fails."""
    try:
        found = result(text, subject, wanted)
    except ExpressionError as error:
        return error.faults
    raise AssertionError(f"{text} gives {found.value}")


def marked(text: str, fault: Fault) -> str:
    """The characters that a fault is about."""
    return text[fault.position : fault.position + fault.length]
