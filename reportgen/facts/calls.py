"""Facts as they are written and put together, whatever they are about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reportgen.facts.names import quote_name
from reportgen.facts.subject import FactError
from reportgen.facts.vocabulary import FACTS, ParameterKind
from reportgen.moments import format_moment
from reportgen.statements import Fact, Quantity
from reportgen.words import join_names

if TYPE_CHECKING:
    from reportgen.facts.subject import Argument, Subject
    from reportgen.statements import Scale

# Beyond these a whole number is written with its exponent, as 1e16 and not as digits nobody can count.
_PLAIN_BELOW = 1e15
TOO_LARGE = "the numbers are too large to compute with"


@dataclass(frozen=True, slots=True)
class Answer:
    """What there is to say of a call; the fields are those of ``Fact``."""

    value: float | bool | None
    reason: str = ""
    step: float | None = None
    from_step: float | None = None
    to_step: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A fact that is asked for: its name, the series it names, and its other numbers, each in order."""

    name: str
    text: str
    quantity: Quantity
    series: tuple[str, ...]
    numbers: tuple[float, ...]


def make_call(name: str, arguments: tuple[Argument, ...], subject: Subject) -> Call:
    """A fact's call, from its name and arguments.

    Raises:
        FactError: there is no such series, one is held against itself, or a number is not finite.
    """
    series = tuple(one for one in arguments if isinstance(one, str))
    for one in series:
        if one not in subject.series:
            raise FactError(f"There is no series {one}", f"The series are {join_names(subject.series)}")
    numbers = tuple(float(one) for one in arguments if not isinstance(one, str))
    if len(set(series)) < len(series):
        raise FactError(f"{name} holds {series[0]} against itself", "Name two different series")
    if not all(math.isfinite(one) for one in numbers):
        raise FactError(f"{name} is asked for a number that is not finite", "Give a finite number")
    return Call(name, format_call(name, arguments, subject.scale), FACTS[name].quantity, series, numbers)


def format_call(name: str, arguments: tuple[Argument, ...], scale: Scale) -> str:
    """A call as an expression has it: ``peak(MEL)``, ``at('Series A', 15)``, ``at(A, '2024-05-01')``."""
    kinds = (parameter.kind for parameter in FACTS[name].parameters)
    texts = (
        quote_name(one)
        if isinstance(one, str)
        else _format_number(float(one), dated=scale.step_is_time and kind is ParameterKind.STEP)
        for one, kind in zip(arguments, kinds, strict=True)
    )
    return f"{name}({', '.join(texts)})"


def make_fact(call: Call, found: Answer) -> Fact:
    """The fact that answers a call; a number that is too large for a float is none."""
    low, high = _keep_finite(found.low), _keep_finite(found.high)
    if any(one is not None and not math.isfinite(one) for one in (found.value, found.step)):
        return Fact(call.text, call.quantity, None, TOO_LARGE, call.series)
    if low is None or high is None:
        low = high = None
    return Fact(
        call=call.text,
        quantity=call.quantity,
        value=found.value,
        reason=found.reason,
        series=call.series,
        step=found.step,
        from_step=found.from_step,
        to_step=found.to_step,
        low=low,
        high=high,
        n=found.n,
        note=found.note,
    )


def _keep_finite(end: float | None) -> float | None:
    return end if end is not None and math.isfinite(end) else None


def _format_number(number: float, *, dated: bool) -> str:
    moment = format_moment(number) if dated else None
    if moment is not None:
        return f"'{moment}'"
    return str(int(number)) if number == round(number) and abs(number) < _PLAIN_BELOW else repr(number)
