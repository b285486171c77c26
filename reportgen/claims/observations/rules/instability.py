"""The rules ``instability`` and ``uncertain here``: how much curves move, and where runs differ most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.facts.fact_words import describe_position
from reportgen.claims.observations.phrases import format_few, format_stretches
from reportgen.claims.observations.rules.dips import Setback, find_setbacks
from reportgen.claims.observations.thresholds import (
    FEWEST_READINGS,
    SAME,
    Threshold,
    describe_share,
    get_half_widths,
)
from reportgen.core.statements import Observation
from reportgen.core.words import format_count, format_number
from reportgen.settings.blocks import Rule
from reportgen.statistics.curves.readings import volatility
from reportgen.statistics.distributions import t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.claims.observations.field import Field
    from reportgen.claims.observations.windows import BoolArray
    from reportgen.core.model import Curve, FloatArray, IntArray


def running_mean(values: FloatArray, width: int) -> FloatArray:
    """The mean of the ``width`` readings around each; towards the ends of those that there are.

    Args:
        values: shape (n,).
        width: odd.
    """
    if width == 1:
        return values
    total = np.concatenate([[0.0], np.cumsum(values - values[0])])
    first, last = find_window_ends(values.size, width)
    means: FloatArray = values[0] + (total[last] - total[first]) / (last - first)
    return means


def find_window_ends(n: int, width: int) -> tuple[IntArray, IntArray]:
    """First place of each reading's window, and the place after its last; each of shape (n,)."""
    at = np.arange(n)
    return np.maximum(at - width // 2, 0), np.minimum(at + width // 2 + 1, n)


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
        f"{field.format_reading(float(values[place]), series)} "
        f"{describe_position(float(steps[place]), field.scale)}"
        for place in (fall.start, fall.end)
    )
    return f"{field.format_size(fall.depth, series)} from {start} to {end}"


WIDER = 1.25
"""A band has to be so many times as wide as usual before it is called wide."""

_ENOUGH_RUNS = 5
"""Of so many runs a band's width is told as it is, where steps are too few to say what chance makes of it."""

_FEWEST_STEPS = 4
_MOST_STRETCHES = 3
_SHARE, _WIDEST, _NARROWEST = 10, 21, 3


class _Stretch(NamedTuple):
    """Neighbouring steps with a wide band, by places in the curve, and the place where it is widest."""

    first: int
    last: int
    top: int


class _Words(NamedTuple):
    """The widths that count, for sentences: on average, at the widest place, and what was asked there."""

    usual: float
    top: float
    least: float
    steps: int
    width: int

    @property
    def ratio(self) -> str:
        return format_number(self.top / self.usual, significant=2)

    @property
    def threshold(self) -> str:
        times = format_number(self.least / self.usual, significant=3)
        return Threshold(self.least, f"{times} × the average").describe(self.top)

    def list_evidence(self, series: str, at: str) -> tuple[str, ...]:
        """Half the band there and on average."""
        top, usual = (format_number(value, significant=2) for value in (self.top, self.usual))
        mean = f", mean of {self.width:,} steps" if self.width > 1 else ""
        return (
            f"half the band of {series} {at} = {top}{mean}",
            f"on average over {format_count(self.steps, 'step')} = {usual}",
        )


def observe_uncertainty(field: Field) -> Iterator[Observation]:
    """Where the band of a series is wider than it is elsewhere, as the runs read."""
    for series in field.names:
        curve = field.get_curve(series)
        half = get_half_widths(curve)
        known = np.isfinite(half)
        if known.sum() >= _FEWEST_STEPS and float(half[known].max()) > 0:
            yield from _find_wide(field, curve, known)


def _find_wide(field: Field, curve: Curve, known: BoolArray) -> Iterator[Observation]:
    series, steps, half = curve.series, curve.steps[known], get_half_widths(curve)[known]
    usual = float(half.mean())
    width = _window(half.size)
    widths = running_mean(half, width)
    least = usual * _compute_least(field, series, half.size, width)
    if not (widths > least * (1 + SAME)).any():
        return
    # Told is where the band is wide, not only where chance is ruled out.
    top = int(np.argmax(widths / least))
    stretches = _find_stretches(widths, max(WIDER * usual, (usual + float(widths[top])) / 2))
    shown = sorted(stretches[:_MOST_STRETCHES])
    last = float(steps[-1])
    parts = [(float(steps[one.first]), float(steps[one.last])) for one in shown]
    places = format_stretches(parts, last, field.scale)
    at = describe_position(float(steps[top]), field.scale)
    alone = len(shown) == 1 and shown[0].first == shown[0].last
    where = ", where" if alone else f": {at}"
    words = _Words(usual, float(widths[top]), float(least[top]), half.size, width)
    left, runs = (int(n) for n in (curve.n[known][top], curve.n.max()))
    fewer = f", with {left:,} of its {runs:,} runs" if left < runs and not curve.given else ""
    wide = f"its band is {words.ratio} times its average width{fewer}"
    yield Observation(
        rule=Rule.UNCERTAIN_HERE,
        text=f"The readings of the runs of {series} lie furthest apart {places}{where} {wide}.",
        evidence=words.list_evidence(series, at),
        threshold=words.threshold,
        series=(series,),
        strength=words.top / words.least,
        from_step=float(steps[shown[0].first]),
        to_step=float(steps[shown[-1].last]),
        mark_series=series,
        mark=float(steps[top]),
        label="widest band",
    )


def _window(n: int) -> int:
    if n < FEWEST_READINGS:
        return 1
    tenth = n // _SHARE
    return max(min(tenth - 1 + tenth % 2, _WIDEST), _NARROWEST)


def _compute_least(field: Field, series: str, n: int, width: int) -> FloatArray:
    """How many times the average width is worth telling; shape (n,).

    The width of a band of r runs has a relative standard error of about 1 / √(2 (r − 1)), its running mean
    less by the root of its readings; the largest of n such means lies √(2 ln n) of them above.
    """
    runs = int(field.get_curve(series).n.max())
    few = n < FEWEST_READINGS and runs >= _ENOUGH_RUNS
    if field.get_curve(series).given or runs <= 1 or few:
        return np.full(n, WIDER)
    first, last = find_window_ends(n, width)
    spread = 1 / np.sqrt((last - first) * 2 * (runs - 1))
    least: FloatArray = np.maximum(WIDER, np.exp(math.sqrt(2 * math.log(n * len(field.names))) * spread))
    return least


def _find_stretches(widths: FloatArray, level: float) -> list[_Stretch]:
    """Neighbouring steps at or above a level, the widest first."""
    wide = np.concatenate([[False], widths >= level * (1 - SAME), [False]])
    edges = np.flatnonzero(wide[1:] != wide[:-1]).reshape(-1, 2)
    found = [
        _Stretch(first, last - 1, first + int(np.argmax(widths[first:last])))
        for first, last in edges.tolist()
    ]
    return sorted(found, key=lambda stretch: (-float(widths[stretch.top]), stretch.first))
