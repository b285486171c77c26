"""The rules ``instability`` and ``uncertain here``: volatile curves, and where runs differ most."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.fact_words import describe_position, format_few, format_stretches
from reportgen.claims.observations.dips import find_setbacks, format_fall
from reportgen.claims.observations.field import ERROR, JITTER, observe
from reportgen.claims.observations.noise import FEWEST_READINGS, get_half_widths
from reportgen.claims.observations.thresholds import Threshold, describe_share
from reportgen.core.digits import SAME
from reportgen.core.model import Curve
from reportgen.core.words import format_count, format_number
from reportgen.settings.block_parts import Rule
from reportgen.statistics.curves.readings import volatility
from reportgen.statistics.distributions import t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.claims.observations.field import Field, Series
    from reportgen.core.model import FloatArray, IntArray
    from reportgen.core.statements import Observation


_MORE_VOLATILE = 1.5  # smallest ratio of volatilities that is reported
_FEWEST_SHARED = 5
_LISTED, _IN_TEXT = 5, 2
_FEWEST_PARTS = 4
_TIMES = {1: "once", 2: "twice"}

_WIDER = 1.25  # smallest ratio of a wide band to the usual one
_ENOUGH_RUNS = 5  # with this many runs, widths are reported untested if there are too few steps
_FEWEST_STEPS = 4
_MOST_STRETCHES = 3
_SHARE, _WIDEST, _NARROWEST = 10, 21, 3


class _Part(NamedTuple):
    """Part of a curve: its volatility, the sum of its falls, and its number of readings."""

    volatility: float
    back: float
    readings: int


class _Pair(NamedTuple):
    """Two series, the more volatile first; ``where`` describes the steps compared."""

    first: str
    second: str
    ratio: float
    parts: tuple[_Part, _Part]
    where: str


def observe_instability(field: Field) -> Iterator[Observation]:
    """Yield the series that exceeds the most others in volatility."""
    names = sorted(field.series)
    whole = {name: _measure_part(field.series[name]) for name in names}
    above: dict[str, list[_Pair]] = {}
    for one, other in combinations(names, 2):
        pair = _compare_pair(field, one, other, whole)
        if pair is not None:
            above.setdefault(pair.first, []).append(pair)
    if not above:
        return
    most = min(above, key=lambda name: (-len(above[name]), -max(p.ratio for p in above[name]), name))
    pairs = sorted(above[most], key=lambda pair: (-pair.ratio, pair.second))
    widest, series = pairs[0], field.series[most]
    setbacks = find_setbacks(field.sign * series.points.values)
    falls, deepest = [" ".join(format_fall(series, fall)) for fall in setbacks], series.read(setbacks[0].end)
    high, low = (format_number(part.volatility, significant=2) for part in widest.parts)
    change = f"{widest.where}standard deviation of the change per reading"
    change = f"{change}: {widest.first} {high}, {widest.second} {low}"
    ratio, least = (format_number(value, significant=3) for value in (widest.ratio, _MORE_VOLATILE))
    share = describe_share(JITTER * ERROR / field.metrics)
    basis = "" if field.few else f", by t over parts of the curves; {share}"
    yield observe(
        Rule.INSTABILITY,
        _describe_instability(field, pairs, falls),
        (change, *falls[:_LISTED]),
        (f"{ratio} times as volatile is more than {least} times{basis}", widest.ratio / _MORE_VOLATILE),
        (most, *(pair.second for pair in pairs)),
        steps=(series.read(0).step, series.read(-1).step),
        mark=deepest,
        label=f"back to {deepest}",
    )


def _describe_instability(field: Field, pairs: list[_Pair], falls: list[str]) -> str:
    ratio = format_number(min(pair.ratio for pair in pairs), significant=2)
    others = format_few([pair.second for pair in pairs], 4)
    least = "at least " if len(pairs) > 1 else ""
    head = f"{pairs[0].first} moves {least}{ratio} times as much as {others}"
    verb = "falls back" if field.sign > 0 else "rises again"
    if not field.few:
        return f"{head}, and {verb} by up to {falls[0]}."
    times = _TIMES.get(len(falls), f"{len(falls):,} times")
    most = "" if len(falls) == 1 else "furthest "
    by = ", then by ".join(falls[:_IN_TEXT])
    return f"From one reading to the next {head}. It {verb} {times}, {most}by {by}."


def _compare_pair(field: Field, one: str, other: str, whole: Mapping[str, _Part]) -> _Pair | None:
    """Return a pair if one series is clearly more volatile and falls back more in total, else None.

    If steps differ, the series are compared at their common steps if there are enough, because a difference
    over a longer distance includes more of the curve's shape.
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
    # A tenth of the smallest effect reported, so that ratios to curves without noise stay finite.
    floor = max(low.volatility, 0.001 * field.plotted_range)
    ratio = high.volatility / floor if floor else 0.0
    # Any movement exceeds that of a constant series.
    if ratio <= _MORE_VOLATILE or high.back <= low.back or low.volatility == 0:
        return None
    if not field.few and not _is_clear(field, field.series[first], field.series[second]):
        return None
    where = f"at the {format_count(high.readings, 'step')} that both have, " if shared else ""
    return _Pair(first, second, ratio, (high, low), where)


def _measure_part(series: Series, steps: FloatArray | None = None) -> _Part:
    own = series.points
    chosen = slice(None) if steps is None else np.isin(own.steps, steps)
    values = own.values[chosen]
    runs = np.ones(values.size, np.int64)
    curve = Curve(series.name, own.steps[chosen], values, values, values, runs, ())
    falls = -np.minimum(np.diff(series.field.sign * values), 0)
    return _Part(volatility(curve) or 0.0, float(falls.sum()), values.size)


def _is_clear(field: Field, first: Series, second: Series) -> bool:
    """Test whether one series is more volatile than the other, by t over parts of their curves.

    The values are logarithms of the mean squared residuals; parts of curves with equal steps are compared in
    pairs, others as two groups (Welch).
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
    return float(a.mean() - b.mean()) > t_quantile(1 - JITTER * ERROR / field.metrics / pairs / 2, df) * error


# ---- uncertain here ----------------------------------------------------------------------------------


def observe_uncertainty(field: Field) -> Iterator[Observation]:
    """Yield series with a band that is wider at some steps than elsewhere."""
    for name, series in field.series.items():
        curve, every = series.curve, get_half_widths(series.curve)
        known = np.isfinite(every)
        half, steps = every[known], curve.steps[known]
        if half.size < _FEWEST_STEPS or float(half.max()) <= 0:
            continue
        usual, width, least = _compute_least(series, half)
        widths = running_mean(half, width)
        if not (widths > least * (1 + SAME)).any():
            continue
        # The whole wide stretch is reported, not only where it is significant.
        top = int(np.argmax(widths / least))
        widest, needed, mark = float(widths[top]), float(least[top]), float(steps[top])
        level = max(_WIDER * usual, (usual + widest) / 2)
        wide = np.concatenate([[False], widths >= level * (1 - SAME), [False]])
        stretches = np.flatnonzero(wide[1:] != wide[:-1]).reshape(-1, 2).tolist()
        stretches.sort(key=lambda ends: (-float(widths[ends[0] : ends[1]].max()), ends[0]))
        ends = sorted((float(steps[a]), float(steps[b - 1])) for a, b in stretches[:_MOST_STRETCHES])
        at = describe_position(mark, field.scale)
        alone = len(ends) == 1 and ends[0][0] == ends[0][1]
        runs, all_runs = int(curve.n[known][top]), int(curve.n.max())
        fewer = f", with {runs:,} of its {all_runs:,} runs" if runs < all_runs and not curve.given else ""
        ratio, shown, average = (format_number(one, significant=2) for one in (widest / usual, widest, usual))
        smoothed = f", mean of {width:,} steps" if width > 1 else ""
        evidence = (
            f"half the band of {name} {at} = {shown}{smoothed}",
            f"on average over {format_count(half.size, 'step')} = {average}",
        )
        times = format_number(needed / usual, significant=3)
        basis = Threshold(needed, f"{times} × the average").describe(widest), widest / needed
        where = f"{format_stretches(ends, float(steps[-1]), field.scale)}{', where' if alone else f': {at}'}"
        text = (
            f"The readings of the runs of {name} lie furthest apart {where} "
            f"its band is {ratio} times its average width{fewer}."
        )
        area, point = (ends[0][0], ends[-1][1]), (name, mark)
        yield observe(
            Rule.UNCERTAIN_HERE, text, evidence, basis, (name,), steps=area, mark=point, label="widest band"
        )


def _compute_least(series: Series, half: FloatArray) -> tuple[float, int, FloatArray]:
    """Return the average half width, the window of the running mean, and the threshold of wide bands, (n,).

    The window is an odd number, about a tenth of the steps. The width of a band of r runs has a relative
    standard error of about 1 / √(2 (r − 1)), its running mean that over the root of the number of readings;
    the largest of n such means is about √(2 ln n) of these above the average.
    """
    n, usual, runs = half.size, float(half.mean()), int(series.curve.n.max())
    tenth = n // _SHARE
    width = 1 if n < FEWEST_READINGS else max(min(tenth - 1 + tenth % 2, _WIDEST), _NARROWEST)
    few = n < FEWEST_READINGS and runs >= _ENOUGH_RUNS
    if series.curve.given or runs <= 1 or few:
        return usual, width, usual * np.full(n, _WIDER)
    first, last = _find_window_ends(n, width)
    spread = 1 / np.sqrt((last - first) * 2 * (runs - 1))
    most = math.sqrt(2 * math.log(n * len(series.field.series)))
    return usual, width, usual * np.asarray(np.maximum(_WIDER, np.exp(most * spread)))


def running_mean(values: FloatArray, width: int) -> FloatArray:
    """Return the mean of the ``width`` (odd) readings around each, or of those that exist near the ends."""
    if width == 1:
        return values
    total = np.concatenate([[0.0], np.cumsum(values - values[0])])
    first, last = _find_window_ends(values.size, width)
    return np.asarray(values[0] + (total[last] - total[first]) / (last - first))


def _find_window_ends(n: int, width: int) -> tuple[IntArray, IntArray]:
    """Return the first place of each reading's window and the place after its last, each of shape (n,)."""
    places = np.arange(n)
    return np.maximum(places - width // 2, 0), np.minimum(places + width // 2 + 1, n)
