"""Statements about data whose facts are written down in the test, judged as a report judges them."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - a field of a dataclass
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from reportgen.claims.judge import judge
from reportgen.core.errors import SourceLocation
from reportgen.core.facts import FACTS
from reportgen.core.statements import Binding, Fact, Scale, Truth

if TYPE_CHECKING:
    from reportgen.claims.vocabulary import Subject
    from reportgen.core.statements import Judgement

ACCURACY = Scale("accuracy")
TRUTHS = {Truth.HOLDS: True, Truth.FAILS: False, Truth.UNDECIDED: None}


@dataclass(frozen=True)
class MadeSubject:
    """A subject that knows some answers (a value, or the reason why there is none) and nothing else.

    ``asked`` lists its calls in order.
    """

    known: Mapping[str, float | str]
    holds: Literal["curves", "scores"] = "curves"
    scale: Scale = ACCURACY
    series: tuple[str, ...] = ("A", "B")
    asked: list[str] = field(default_factory=list)

    def fact(self, name: str, arguments: tuple[str | float, ...]) -> Fact:
        """The fact that is known; a call that is not known is a fault of the test."""
        call = f"{name}({', '.join(map(_write_argument, arguments))})"
        self.asked.append(call)
        answer = self.known[call]
        value, reason = (None, answer) if isinstance(answer, str) else (answer, "")
        series = tuple(one for one in arguments if isinstance(one, str))
        return Fact(call, FACTS[name].quantity, value, reason, series)


def _write_argument(argument: str | float) -> str:
    if isinstance(argument, str):
        return argument if argument.isalpha() else "'{}'".format(argument.replace("'", "''"))
    return f"{argument:g}"


def judge_value(words: str, expression: str, subject: Subject) -> Judgement:
    """What the data say to a bound value."""
    return _judge("value", words, expression, subject)


def judge_claim(expression: str, subject: Subject) -> Judgement:
    """What the data say to a claim."""
    return _judge("claim", "some words", expression, subject)


def find_truth(expression: str, subject: Subject) -> bool | None:
    """Whether a claim holds, if the data decide it."""
    return TRUTHS[judge_claim(expression, subject).truth]


def compare(expression: str, left: float, right: float) -> bool | None:
    """Whether a claim about ``final(A)`` and ``final(B)`` holds."""
    return find_truth(expression, MadeSubject({"final(A)": left, "final(B)": right}))


def _judge(kind: Literal["value", "claim"], words: str, expression: str, subject: Subject) -> Judgement:
    place = SourceLocation("content/page.md", 1, 1)
    return judge(Binding(kind, words, expression, None, "", "", place, place, 1, 1 + len(words)), subject)
