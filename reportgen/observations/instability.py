"""The rule ``observe_instability``: a series that moves about more than another, and where it falls back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.facts.curve_numbers import volatility
from reportgen.facts.fact_words import describe_position
from reportgen.observations.phrases import format_few
from reportgen.observations.thresholds import describe_share
from reportgen.observations.turns import Setback, find_setbacks
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation
from reportgen.statistics.student_t import t_quantile
from reportgen.words import format_count, format_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.model import Curve, FloatArray
    from reportgen.observations.field import Field

MORE_VOLATILE = 1.5
"""A volatility has to be so many times another's."""

_FEWEST_READINGS = 5
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


def observe_instability(field: Field) -> Iterator[Observation]:
    """The series that is more volatile than the most others, with the one that it exceeds most."""
    names = sorted(field.names)
    whole = {name: _measure_part(field, name, field.get_points(name).steps) for name in names}
    found = [
        pair
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if (pair := _compare_pair(field, one, other, whole)) is not None
    ]
    if not found:
        return
    above = {first: [pair for pair in found if pair.first == first] for first in {p.first for p in found}}
    most = min(above, key=lambda name: (-len(above[name]), -max(p.ratio for p in above[name]), name))
    yield _make_observation(field, sorted(above[most], key=lambda pair: (-pair.ratio, pair.second)))


def _compare_pair(field: Field, one: str, other: str, whole: Mapping[str, _Part]) -> _Pair | None:
    """A pair of which one is clearly more volatile, and falls back more in all; otherwise None.

    A series read at shorter distances than the other is read at the steps that both have, because a
    difference over a longer distance holds more of the curve's own shape.
    """
    parts = {name: whole[name] for name in (one, other)}
    shared = np.array_equal(field.get_points(one).steps, field.get_points(other).steps)
    if not shared:
        common = np.intersect1d(field.get_points(one).steps, field.get_points(other).steps)
        shared = common.size >= _FEWEST_READINGS
        parts = {name: _measure_part(field, name, common) for name in parts} if shared else parts
    if min(part.readings for part in parts.values()) < _FEWEST_READINGS:
        return None
    first, second = sorted(parts, key=lambda name: -parts[name].volatility)
    high, low = parts[first], parts[second]
    least = MORE_VOLATILE
    # A tenth of the smallest effect that is told anywhere: a curve without noise is not infinitely calm.
    floor = max(low.volatility, 0.001 * field.plotted_range)
    ratio = high.volatility / floor if floor else 0.0
    # Whatever moves at all moves more than a series that does not.
    if ratio <= least or high.back <= low.back or low.volatility == 0:
        return None
    if not field.few and not _is_clear(field, first, second):
        return None
    pair = (high.volatility, low.volatility)
    return _Pair(first, second, ratio, least, pair, (high.readings, low.readings), shared)


def _measure_part(field: Field, series: str, steps: FloatArray) -> _Part:
    own = field.get_points(series)
    at = np.isin(own.steps, steps)
    curve = field.get_curve(series)
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


def _is_clear(field: Field, first: str, second: str) -> bool:
    """Whether one moves about more than the other beyond doubt: by t over parts of their curves.

    In each part the logarithm of the mean square of its residuals; parts of curves read at the same steps are
    compared one by one, others as two groups (Welch).
    """
    if not (field.is_noise_known(first) and field.is_noise_known(second)):
        return False
    a, b = (field.compute_bends(name) for name in (first, second))
    if min(a.size, b.size) < _FEWEST_PARTS:
        return False
    pairs = len(field.names) * (len(field.names) - 1) / 2
    if np.array_equal(field.get_points(first).steps, field.get_points(second).steps):
        apart = a - b
        error, df = float(apart.std(ddof=1)) / math.sqrt(a.size), a.size - 1.0
    else:
        errors = a.var(ddof=1) / a.size, b.var(ddof=1) / b.size
        error, df = math.sqrt(sum(errors)), min(a.size, b.size) - 1.0
    return float(a.mean() - b.mean()) > t_quantile(1 - field.share_of_jitter / pairs / 2, df) * error


def _make_observation(field: Field, pairs: list[_Pair]) -> Observation:
    widest = pairs[0]
    first = widest.first
    steps, values = field.get_points(first)
    falls = find_setbacks(field.sign * values)
    ratio, least = (format_number(value, significant=3) for value in (widest.ratio, widest.least))
    deepest = falls[0]
    return Observation(
        rule=Rule.INSTABILITY,
        text=_describe_instability(field, pairs, falls),
        evidence=(
            _volatilities(widest),
            *(_format_fall(field, first, fall) for fall in falls[:_LISTED]),
        ),
        threshold=f"{ratio} times as volatile is more than {least} times{_tested(field)}",
        series=(first, *(pair.second for pair in pairs)),
        strength=widest.ratio / widest.least,
        from_step=float(steps[0]),
        to_step=float(steps[-1]),
        mark_series=first,
        mark=float(steps[deepest.end]),
        label=f"back to {field.format_reading(float(values[deepest.end]), first)}",
    )


def _tested(field: Field) -> str:
    return "" if field.few else f", by t over parts of the curves; {describe_share(field.share_of_jitter)}"


def _describe_instability(field: Field, pairs: list[_Pair], falls: list[Setback]) -> str:
    widest = pairs[0]
    first = widest.first
    ratio = format_number(min(pair.ratio for pair in pairs), significant=2)
    others = format_few([pair.second for pair in pairs], 4)
    least = "at least " if len(pairs) > 1 else ""
    head = f"{first} moves {least}{ratio} times as much as {others}"
    if field.few:
        head = f"From one reading to the next {head}"
    verb = "falls back" if field.sign > 0 else "rises again"
    if not field.few:
        return f"{head}, and {verb} by up to {_format_fall(field, first, falls[0])}."
    falls_text = ", then by ".join(_format_fall(field, first, fall) for fall in falls[:_IN_TEXT])
    times = _TIMES.get(len(falls), f"{len(falls):,} times")
    most = "" if len(falls) == 1 else "furthest "
    return f"{head}. It {verb} {times}, {most}by {falls_text}."


def _volatilities(pair: _Pair) -> str:
    high, low = (format_number(value, significant=2) for value in pair.volatilities)
    where = f"at the {format_count(pair.readings[0], 'step')} that both have, " if pair.shared else ""
    return f"{where}standard deviation of the change per reading: {pair.first} {high}, {pair.second} {low}"


def _format_fall(field: Field, series: str, fall: Setback) -> str:
    """``0.02 from 0.84 at step 120 to 0.82 at step 140``."""
    steps, values = field.get_points(series)
    start, end = (
        f"{field.format_reading(float(values[place]), series)} {describe_position(float(steps[place]), field.scale)}"
        for place in (fall.start, fall.end)
    )
    return f"{field.format_size(fall.depth, series)} from {start} to {end}"
