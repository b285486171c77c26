"""The rules ``instability`` and ``uncertain here``: how much curves move, and where runs differ most."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.facts.fact_words import describe_position
from reportgen.claims.observations.phrases import format_few, format_stretches
from reportgen.claims.observations.rules.dips import find_setbacks
from reportgen.claims.observations.thresholds import (
    FEWEST_READINGS,
    SAME,
    Threshold,
    describe_share,
    get_half_widths,
)
from reportgen.core.model import Curve
from reportgen.core.statements import Observation
from reportgen.core.words import format_count, format_number
from reportgen.settings.blocks import Rule
from reportgen.statistics.curves.readings import volatility
from reportgen.statistics.distributions import t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.claims.observations.field import Field, Series
    from reportgen.claims.observations.rules.dips import Setback
    from reportgen.claims.observations.windows import BoolArray
    from reportgen.core.model import FloatArray, IntArray


_MORE_VOLATILE = 1.5
"""A volatility has to be so many times another's."""

_FEWEST_SHARED = 5
_LISTED, _IN_TEXT = 5, 2
_FEWEST_PARTS = 4
_TIMES = {1: "once", 2: "twice"}

_WIDER = 1.25
"""A band has to be so many times as wide as usual before it is called wide."""

_ENOUGH_RUNS = 5
"""Of so many runs a band's width is reported as it is, where steps are too few for a test."""

_FEWEST_STEPS = 4
_MOST_STRETCHES = 3
_SHARE, _WIDEST, _NARROWEST = 10, 21, 3


class _Part(NamedTuple):
    """What of a curve counts: its volatility, how far it falls back in all, and its number of readings."""

    volatility: float
    back: float
    readings: int


class _Pair(NamedTuple):
    """Two series, the more volatile first; ``shared`` where both are read at the steps that both have."""

    first: str
    second: str
    ratio: float
    parts: tuple[_Part, _Part]
    shared: bool


def observe_instability(field: Field) -> Iterator[Observation]:
    """The series that is more volatile than the most others, with the one that it exceeds most."""
    names = sorted(field.series)
    whole = {name: _measure_part(field.series[name]) for name in names}
    above: dict[str, list[_Pair]] = {}
    for one, other in combinations(names, 2):
        pair = _compare_pair(field, one, other, whole)
        if pair is not None:
            above.setdefault(pair.first, []).append(pair)
    if above:
        most = min(above, key=lambda name: (-len(above[name]), -max(p.ratio for p in above[name]), name))
        yield _make_observation(field, sorted(above[most], key=lambda pair: (-pair.ratio, pair.second)))


def _compare_pair(field: Field, one: str, other: str, whole: Mapping[str, _Part]) -> _Pair | None:
    """A pair of which one is clearly more volatile, and falls back more in all; otherwise None.

    A series read at shorter distances than the other is read at the steps that both have, because a
    difference over a longer distance holds more of the curve's own shape.
    """
    parts = {name: whole[name] for name in (one, other)}
    steps, others = (field.series[name].points.steps for name in parts)
    shared = np.array_equal(steps, others)
    if not shared:
        common = np.intersect1d(steps, others)
        shared = common.size >= _FEWEST_SHARED
        parts = {name: _measure_part(field.series[name], common) for name in parts} if shared else parts
    if min(part.readings for part in parts.values()) < _FEWEST_SHARED:
        return None
    first, second = sorted(parts, key=lambda name: -parts[name].volatility)
    high, low = parts[first], parts[second]
    # A tenth of the smallest effect that is reported anywhere: a curve without noise is not infinitely calm.
    floor = max(low.volatility, 0.001 * field.plotted_range)
    ratio = high.volatility / floor if floor else 0.0
    # Whatever moves at all moves more than a series that does not.
    if ratio <= _MORE_VOLATILE or high.back <= low.back or low.volatility == 0:
        return None
    if not field.few and not _is_clear(field, field.series[first], field.series[second]):
        return None
    return _Pair(first, second, ratio, (high, low), shared)


def _measure_part(series: Series, steps: FloatArray | None = None) -> _Part:
    """The readings of a series, or those at some of its steps."""
    own = series.points
    chosen = slice(None) if steps is None else np.isin(own.steps, steps)
    values = own.values[chosen]
    runs = np.ones(values.size, np.int64)
    curve = Curve(series.name, own.steps[chosen], values, values, values, runs, ())
    falls = -np.minimum(np.diff(series.field.sign * values), 0)
    return _Part(volatility(curve) or 0.0, float(falls.sum()), values.size)


def _is_clear(field: Field, first: Series, second: Series) -> bool:
    """Whether one moves about more than the other beyond doubt: by t over parts of their curves.

    In each part the logarithm of the mean square of its residuals; parts of curves read at the same steps are
    compared one by one, others as two groups (Welch).
    """
    if not (first.is_noise_known and second.is_noise_known):
        return False
    a, b = first.bends, second.bends
    if min(a.size, b.size) < _FEWEST_PARTS:
        return False
    if np.array_equal(first.points.steps, second.points.steps):
        error, df = float((a - b).std(ddof=1)) / math.sqrt(a.size), a.size - 1.0
    else:
        error = math.sqrt(a.var(ddof=1) / a.size + b.var(ddof=1) / b.size)
        df = min(a.size, b.size) - 1.0
    pairs = len(field.series) * (len(field.series) - 1) / 2
    return float(a.mean() - b.mean()) > t_quantile(1 - field.share_of_jitter / pairs / 2, df) * error


def _make_observation(field: Field, pairs: list[_Pair]) -> Observation:
    widest = pairs[0]
    series = field.series[widest.first]
    falls = find_setbacks(field.sign * series.points.values)
    deepest = series.read(falls[0].end)
    ratio, least = (format_number(value, significant=3) for value in (widest.ratio, _MORE_VOLATILE))
    basis = "" if field.few else f", by t over parts of the curves; {describe_share(field.share_of_jitter)}"
    return Observation(
        rule=Rule.INSTABILITY,
        text=_describe_instability(series, pairs, falls),
        evidence=(_format_volatilities(widest), *(_format_fall(series, fall) for fall in falls[:_LISTED])),
        threshold=f"{ratio} times as volatile is more than {least} times{basis}",
        series=(series.name, *(pair.second for pair in pairs)),
        strength=widest.ratio / _MORE_VOLATILE,
        from_step=series.read(0).step,
        to_step=series.read(-1).step,
        mark_series=series.name,
        mark=deepest.step,
        label=f"back to {deepest}",
    )


def _describe_instability(series: Series, pairs: list[_Pair], falls: list[Setback]) -> str:
    ratio = format_number(min(pair.ratio for pair in pairs), significant=2)
    others = format_few([pair.second for pair in pairs], 4)
    least = "at least " if len(pairs) > 1 else ""
    head = f"{series.name} moves {least}{ratio} times as much as {others}"
    verb = "falls back" if series.field.sign > 0 else "rises again"
    if not series.field.few:
        return f"{head}, and {verb} by up to {_format_fall(series, falls[0])}."
    falls_text = ", then by ".join(_format_fall(series, fall) for fall in falls[:_IN_TEXT])
    times = _TIMES.get(len(falls), f"{len(falls):,} times")
    most = "" if len(falls) == 1 else "furthest "
    return f"From one reading to the next {head}. It {verb} {times}, {most}by {falls_text}."


def _format_volatilities(pair: _Pair) -> str:
    high, low = (format_number(part.volatility, significant=2) for part in pair.parts)
    steps = format_count(pair.parts[0].readings, "step")
    where = f"at the {steps} that both have, " if pair.shared else ""
    return f"{where}standard deviation of the change per reading: {pair.first} {high}, {pair.second} {low}"


def _format_fall(series: Series, fall: Setback) -> str:
    """``0.02 from 0.84 at step 120 to 0.82 at step 140``."""
    start, end = series.read(fall.start), series.read(fall.end)
    size = series.field.format_size(fall.depth, series.name)
    return f"{size} from {start} {start.position} to {end} {end.position}"


def observe_uncertainty(field: Field) -> Iterator[Observation]:
    """Where the band of a series is wider than it is elsewhere, as the runs read."""
    for series in field.series.values():
        half = get_half_widths(series.curve)
        known = np.isfinite(half)
        if known.sum() >= _FEWEST_STEPS and float(half[known].max()) > 0:
            yield from _find_wide(series, half[known], known)


def _find_wide(series: Series, half: FloatArray, known: BoolArray) -> Iterator[Observation]:
    curve, scale, steps = series.curve, series.field.scale, series.curve.steps[known]
    usual = float(half.mean())
    width = _choose_width(half.size)
    widths = running_mean(half, width)
    least = usual * _compute_least(series, half.size, width)
    if not (widths > least * (1 + SAME)).any():
        return
    # The band is reported where it is wide, not only where chance is ruled out.
    top = int(np.argmax(widths / least))
    widest, needed = float(widths[top]), float(least[top])
    stretches = _find_stretches(widths, max(_WIDER * usual, (usual + widest) / 2))[:_MOST_STRETCHES]
    ends = sorted((float(steps[first]), float(steps[last])) for first, last in stretches)
    at = describe_position(float(steps[top]), scale)
    alone = len(ends) == 1 and ends[0][0] == ends[0][1]
    runs, all_runs = int(curve.n[known][top]), int(curve.n.max())
    fewer = f", with {runs:,} of its {all_runs:,} runs" if runs < all_runs and not curve.given else ""
    ratio, shown, average = (format_number(value, significant=2) for value in (widest / usual, widest, usual))
    smoothed = f", mean of {width:,} steps" if width > 1 else ""
    times = format_number(needed / usual, significant=3)
    yield Observation(
        rule=Rule.UNCERTAIN_HERE,
        text=(
            f"The readings of the runs of {series.name} lie furthest apart "
            f"{format_stretches(ends, float(steps[-1]), scale)}{', where' if alone else f': {at}'} "
            f"its band is {ratio} times its average width{fewer}."
        ),
        evidence=(
            f"half the band of {series.name} {at} = {shown}{smoothed}",
            f"on average over {format_count(half.size, 'step')} = {average}",
        ),
        threshold=Threshold(needed, f"{times} × the average").describe(widest),
        series=(series.name,),
        strength=widest / needed,
        from_step=ends[0][0],
        to_step=ends[-1][1],
        mark_series=series.name,
        mark=float(steps[top]),
        label="widest band",
    )


def _choose_width(n: int) -> int:
    """The odd number of steps over which widths are averaged: a tenth of all."""
    if n < FEWEST_READINGS:
        return 1
    tenth = n // _SHARE
    return max(min(tenth - 1 + tenth % 2, _WIDEST), _NARROWEST)


def _compute_least(series: Series, n: int, width: int) -> FloatArray:
    """How many times the average width is worth reporting; shape (n,).

    The width of a band of r runs has a relative standard error of about 1 / √(2 (r − 1)), its running mean
    less by the root of its readings; the largest of n such means lies √(2 ln n) of them above.
    """
    runs = int(series.curve.n.max())
    few = n < FEWEST_READINGS and runs >= _ENOUGH_RUNS
    if series.curve.given or runs <= 1 or few:
        return np.full(n, _WIDER)
    first, last = _find_window_ends(n, width)
    spread = 1 / np.sqrt((last - first) * 2 * (runs - 1))
    most = math.sqrt(2 * math.log(n * len(series.field.series)))
    return np.asarray(np.maximum(_WIDER, np.exp(most * spread)))


def _find_stretches(widths: FloatArray, level: float) -> list[tuple[int, int]]:
    """First and last places of neighbouring steps at or above a level, the widest first."""
    wide = np.concatenate([[False], widths >= level * (1 - SAME), [False]])
    edges = np.flatnonzero(wide[1:] != wide[:-1]).reshape(-1, 2).tolist()
    edges.sort(key=lambda ends: (-float(widths[ends[0] : ends[1]].max()), ends[0]))
    return [(first, end - 1) for first, end in edges]


def running_mean(values: FloatArray, width: int) -> FloatArray:
    """The mean of the ``width`` readings around each, an odd number; towards the ends of those that exist."""
    if width == 1:
        return values
    total = np.concatenate([[0.0], np.cumsum(values - values[0])])
    first, last = _find_window_ends(values.size, width)
    return np.asarray(values[0] + (total[last] - total[first]) / (last - first))


def _find_window_ends(n: int, width: int) -> tuple[IntArray, IntArray]:
    """First place of each reading's window, and the place after its last; each of shape (n,)."""
    places = np.arange(n)
    return np.maximum(places - width // 2, 0), np.minimum(places + width // 2 + 1, n)
