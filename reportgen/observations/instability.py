"""The rule ``instability``: a series that moves about more than another, and where it falls back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.facts.curve_numbers import volatility
from reportgen.facts.fact_words import at_step
from reportgen.observations.phrases import few
from reportgen.observations.thresholds import asked
from reportgen.observations.turns import Setback, setbacks
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation
from reportgen.statistics.student_t import t_quantile
from reportgen.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.model import Curve, FloatArray
    from reportgen.observations.field import Field

MORE = 1.5
"""A volatility has to be so many times another's."""

_FEWEST = 5
_LISTED, _IN_TEXT = 5, 2
_FEWEST_PARTS = 4
_TIMES = {1: "once", 2: "twice"}


class _Pair(NamedTuple):
    """Two series, the more volatile first, at the steps that both have."""

    first: str
    second: str
    ratio: float
    least: float
    volatilities: tuple[float, float]
    readings: tuple[int, int]
    shared: bool


@dataclass(frozen=True, slots=True)
class _Part:
    """What of a curve counts: its volatility, how far it falls back in all, and its number of readings."""

    volatility: float
    back: float
    readings: int


def instability(field: Field) -> Iterator[Observation]:
    """The series that is more volatile than the most others, with the one that it exceeds most."""
    names = sorted(field.names)
    whole = {name: _part(field, name, field.points(name).steps) for name in names}
    found = [
        pair
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if (pair := _pair(field, one, other, whole)) is not None
    ]
    if not found:
        return
    above = {first: [pair for pair in found if pair.first == first] for first in {p.first for p in found}}
    most = min(above, key=lambda name: (-len(above[name]), -max(p.ratio for p in above[name]), name))
    yield _observation(field, sorted(above[most], key=lambda pair: (-pair.ratio, pair.second)))


def _pair(field: Field, one: str, other: str, whole: Mapping[str, _Part]) -> _Pair | None:
    """A pair of which one is clearly more volatile, and falls back more in all; otherwise None.

    A series read at shorter distances than the other is read at the steps that both have, because a
    difference over a longer distance holds more of the curve's own shape.
    """
    parts = {name: whole[name] for name in (one, other)}
    shared = np.array_equal(field.points(one).steps, field.points(other).steps)
    if not shared:
        common = np.intersect1d(field.points(one).steps, field.points(other).steps)
        shared = common.size >= _FEWEST
        parts = {name: _part(field, name, common) for name in parts} if shared else parts
    if min(part.readings for part in parts.values()) < _FEWEST:
        return None
    first, second = sorted(parts, key=lambda name: -parts[name].volatility)
    high, low = parts[first], parts[second]
    least = MORE
    # A tenth of the smallest effect that is told anywhere: a curve without noise is not infinitely calm.
    floor = max(low.volatility, 0.001 * field.plotted_range)
    ratio = high.volatility / floor if floor else 0.0
    # Whatever moves at all moves more than a series that does not.
    if ratio <= least or high.back <= low.back or low.volatility == 0:
        return None
    if not field.few and not _clear(field, first, second):
        return None
    pair = (high.volatility, low.volatility)
    return _Pair(first, second, ratio, least, pair, (high.readings, low.readings), shared)


def _part(field: Field, series: str, steps: FloatArray) -> _Part:
    own = field.points(series)
    at = np.isin(own.steps, steps)
    curve = field.curve(series)
    chosen: Curve = type(curve)(
        series,
        own.steps[at],
        own.values[at],
        own.values[at],
        own.values[at],
        np.ones(int(at.sum()), np.int64),
        (),
    )
    falls = -np.minimum(np.diff(field.sign * chosen.values), 0)
    return _Part(volatility(chosen) or 0.0, float(falls.sum()), int(chosen.steps.size))


def _clear(field: Field, first: str, second: str) -> bool:
    """Whether one moves about more than the other beyond doubt: by t over parts of their curves.

    In each part the logarithm of the mean square of its residuals; parts of curves read at the same steps are
    compared one by one, others as two groups (Welch).
    """
    if not (field.known(first) and field.known(second)):
        return False
    a, b = (field.bends_by_part(name) for name in (first, second))
    if min(a.size, b.size) < _FEWEST_PARTS:
        return False
    pairs = len(field.names) * (len(field.names) - 1) / 2
    if np.array_equal(field.points(first).steps, field.points(second).steps):
        apart = a - b
        error, df = float(apart.std(ddof=1)) / math.sqrt(a.size), a.size - 1.0
    else:
        errors = a.var(ddof=1) / a.size, b.var(ddof=1) / b.size
        error, df = math.sqrt(sum(errors)), min(a.size, b.size) - 1.0
    return float(a.mean() - b.mean()) > t_quantile(1 - field.share_of_jitter / pairs / 2, df) * error


def _observation(field: Field, pairs: list[_Pair]) -> Observation:
    widest = pairs[0]
    first = widest.first
    steps, values = field.points(first)
    falls = setbacks(field.sign * values)
    ratio, least = (number(value, significant=3) for value in (widest.ratio, widest.least))
    deepest = falls[0]
    return Observation(
        rule=Rule.INSTABILITY,
        text=_sentence(field, pairs, falls),
        evidence=(
            _volatilities(widest),
            *(_fall(field, first, fall) for fall in falls[:_LISTED]),
        ),
        threshold=f"{ratio} times as volatile is more than {least} times{_tested(field)}",
        series=(first, *(pair.second for pair in pairs)),
        strength=widest.ratio / widest.least,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
        mark_series=first,
        mark=float(steps[deepest.end]),
        label=f"back to {field.reading(float(values[deepest.end]), first)}",
    )


def _tested(field: Field) -> str:
    return "" if field.few else f", by t over parts of the curves; {asked(field.share_of_jitter)}"


def _sentence(field: Field, pairs: list[_Pair], falls: list[Setback]) -> str:
    widest = pairs[0]
    first = widest.first
    ratio = number(min(pair.ratio for pair in pairs), significant=2)
    others = few([pair.second for pair in pairs], 4)
    least = "at least " if len(pairs) > 1 else ""
    head = f"{first} moves {least}{ratio} times as much as {others}"
    if field.few:
        head = f"From one reading to the next {head}"
    verb = "falls back" if field.sign > 0 else "rises again"
    if not field.few:
        return f"{head}, and {verb} by up to {_fall(field, first, falls[0])}."
    told = ", then by ".join(_fall(field, first, fall) for fall in falls[:_IN_TEXT])
    times = _TIMES.get(len(falls), f"{len(falls):,} times")
    most = "" if len(falls) == 1 else "furthest "
    return f"{head}. It {verb} {times}, {most}by {told}."


def _volatilities(pair: _Pair) -> str:
    high, low = (number(value, significant=2) for value in pair.volatilities)
    where = f"at the {counted(pair.readings[0], 'step')} that both have, " if pair.shared else ""
    return f"{where}standard deviation of the change per reading: {pair.first} {high}, {pair.second} {low}"


def _fall(field: Field, series: str, fall: Setback) -> str:
    """``0.02 from 0.84 at step 120 to 0.82 at step 140``."""
    steps, values = field.points(series)
    start, end = (
        f"{field.reading(float(values[place]), series)} {at_step(float(steps[place]), field.scale)}"
        for place in (fall.start, fall.end)
    )
    return f"{field.size(fall.depth, series)} from {start} to {end}"
