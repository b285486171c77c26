"""The rules ``same start``, ``widest gap`` and ``converge``: how far apart series are."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from reportgen.claims.fact_words import describe_position, describe_step, format_names
from reportgen.claims.observations.field import observe
from reportgen.claims.observations.leads import find_stretches
from reportgen.claims.observations.moves import CLEAR
from reportgen.claims.observations.ranking import group_values
from reportgen.claims.observations.thresholds import describe_share
from reportgen.core.digits import SAME
from reportgen.core.words import join_names
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.claims.observations.field import Field, Reading
    from reportgen.claims.observations.thresholds import Aligned, BoolArray
    from reportgen.core.statements import Observation


_PAIR = 2
_COMMON_STRENGTH = 3.0  # strength of a common start, which has no threshold
_USUAL = 3  # the widest of many gaps between readings is a few times the noise anyway
_REST = 0.25  # series that end with more of their widest gap have not converged
_MOST_MEETINGS = 3
_MEETING_SERIES = 4  # with more series, meetings of pairs are not reported


def observe_same_start(field: Field) -> Iterator[Observation]:
    """Yield the first readings of series that begin at the first step, or the clearly different ones."""
    first = {name: field.series[name].read(0) for name in sorted(field.series)}
    begin = min(reading.step for reading in first.values())
    starts = {name: reading for name, reading in first.items() if reading.step == begin}
    if len(starts) < _PAIR:
        return
    values = {name: reading.value for name, reading in starts.items()}
    high, low = (pick(values, key=lambda name: values[name]) for pick in (max, min))
    spread, until, series = values[high] - values[low], begin, tuple(starts)
    order, (threshold, strength) = list(starts.values()), field.readings_alone.rate(spread)
    clear = False
    if field.windows is not None:
        ahead, behind = (high, low) if field.sign > 0 else (low, high)
        rows = [field.aligned.names.index(name) for name in (ahead, behind)]
        clear = bool(field.windows.find_ahead(rows[0], narrow=True)[rows[1], 0])
    if clear or (field.few and field.readings_alone.is_exceeded(spread)):
        groups = group_values(field, values, lambda *_: field.readings_alone)
        order = [starts[name] for group in groups.members for name in group]
        if clear:
            series, position = (high, low), starts[high].position
            text = f"{high} starts higher than {low}: {starts[high]} against {starts[low]} {position}."
            threshold = f"means of the first readings differ, by t; {describe_share(field.share_of_leads)}"
        else:
            series = tuple(reading.series.name for reading in order)
            text = _describe_apart(field, values, order, groups.members)
            threshold = field.readings_alone.describe(groups.gap or spread)
    else:
        strength = _COMMON_STRENGTH
        text, until = _describe_together(field, values, order[0])
    evidence = [reading.format_fact("start") for reading in order]
    yield observe(Rule.SAME_START, text, evidence, (threshold, strength), series, steps=(begin, until))


def _describe_together(field: Field, values: Mapping[str, float], begin: Reading) -> tuple[str, float]:
    """Describe the first readings, and return the last step until which all are within 1% of the range."""
    until, more = begin.step, ""
    if field.few:
        aligned = field.align(values).select_read()
        apart = ~(np.ptp(aligned.good, axis=0) <= aligned.least * (1 + SAME))
        first = int(np.argmax(apart)) if apart.any() else aligned.steps.size
        until = float(aligned.steps[max(first - 1, 0)])
    if until > begin.step:
        last = max(field.series[name].read(-1).step for name in values)
        end = "to the end" if until == last else f"up to {describe_step(until, field.scale)}"
        more = f", and they read the same {end}"
    readings = field.format_span(values)
    lie = "lie at" if " to " in readings else "are"
    who = format_names(tuple(values), len(field.curves))
    return f"The first readings of {who} {lie} {readings} {begin.position}{more}.", until


def _describe_apart(
    field: Field, values: Mapping[str, float], order: Sequence[Reading], members: tuple[tuple[str, ...], ...]
) -> str:
    at = order[0].position
    top, bottom = (order[0], order[-1]) if field.sign > 0 else (order[-1], order[0])
    ends = bottom.series.name, top.series.name
    if len(order) == _PAIR:
        return (
            f"The first reading of {ends[1]} is higher than that of {ends[0]}: {top} against {bottom} {at}."
        )
    if len(members) == 1 or len(members) == len(order):
        low, high = (f"{field.format_reading(values[end], *values)} ({end})" for end in ends)
        return f"The first readings differ: {at} they range from {low} to {high}."
    rest = members[-1]
    groups = "; ".join(field.format_with_values(values, group) for group in members[:-1])
    last = f"the other {len(rest)} at {field.format_span(values, rest)}"
    last = last if len(rest) > _PAIR else field.format_with_values(values, rest)
    stand = "stands" if len(order) - len(rest) == 1 else "stand"
    return f"The first readings differ: {at} {groups} {stand} apart from {last}."


def _find_widest(field: Field, aligned: Aligned, *, fewest: int) -> tuple[Reading, Reading, float] | None:
    """Find the highest and lowest reading where they are furthest apart, and the gap at the end.

    Only steps that at least ``fewest`` series reach count, ties go to the first; None if there is none.
    """
    several = np.flatnonzero(np.isfinite(aligned.good).sum(axis=0) >= fewest)
    if not several.size:
        return None
    values = field.sign * aligned.good
    spread = np.nanmax(values[:, several], axis=0) - np.nanmin(values[:, several], axis=0)
    place = int(several[int(np.argmax(spread >= spread.max() * (1 - SAME)))])
    rows = int(np.nanargmax(values[:, place])), int(np.nanargmin(values[:, place]))
    high, low = (field.read_aligned(aligned, row, place) for row in rows)
    return high, low, float(spread[-1])


def observe_widest_gap(field: Field) -> Iterator[Observation]:
    """Yield the largest difference between readings of two series, with its step and both values."""
    aligned = field.aligned
    widest = _find_widest(field, aligned, fewest=_PAIR)
    if widest is None:
        return
    high, low, _ = widest
    size = high.value - low.value
    if not field.readings_alone.is_exceeded(size):
        return
    names = high.series.name, low.series.name
    shown = field.format_size(size, *names)
    noise = max(high.series.noise.value, low.series.noise.value)
    threshold, strength = field.readings_alone.rate(size)
    if not field.few:
        strength = min(size / (_USUAL * noise) if noise else _USUAL, strength)
    is_read = [one.step in one.series.points.steps for one in (high, low)]
    who = "The readings" if all(is_read) else "Interpolated between readings, the lines"
    if len(field.curves) == _PAIR:
        ends = f"{names[0]} {high}, {names[1]} {low}"
    else:
        who, ends = f"{who} of all series", f"from {low} ({names[1]}) to {high} ({names[0]})"
    call = field.format_call("widest_gap", *sorted(names))
    text = f"{who} are furthest apart {high.position}, by {shown}: {ends}."
    evidence = (f"{call} = {shown} {high.position}", high.format_fact(), low.format_fact())
    mark, steps = (names[1] if is_read[1] else names[0], high.step), (high.step, high.step)
    basis = threshold, strength
    yield observe(Rule.WIDEST_GAP, text, evidence, basis, names, steps=steps, mark=mark, label=f"gap {shown}")


def observe_convergence(field: Field) -> Iterator[Observation]:
    """Yield pairs that end level after a gap, and their meetings on the way."""
    if len(field.curves) < _PAIR:
        return
    aligned = field.aligned
    names = aligned.names
    if field.windows is not None:
        for row, other in combinations(range(len(names)), 2):
            apart = field.windows.find_ahead(row, either=True)[other]
            yield from _find_clear(field, (names[row], names[other]), apart)
    if not field.few:
        return
    # Series whose last readings are within 1% of the range of the best of their group.
    finals = aligned.good[:, -1]
    left = sorted(np.flatnonzero(aligned.read[:, -1]).tolist(), key=lambda row: (-finals[row], names[row]))
    while left:
        group = [row for row in left if finals[left[0]] - finals[row] <= aligned.least * (1 + SAME)]
        if len(group) > 1:
            yield from _find_converging(field, tuple(names[row] for row in group))
        left = [row for row in left if row not in group]
    if len(names) <= _MEETING_SERIES:
        for pair in combinations(names, 2):
            yield from _find_meetings(field, field.align(pair))


def _find_clear(field: Field, names: tuple[str, str], apart: BoolArray) -> Iterator[Observation]:
    """Yield a pair that was clearly apart and whose courses converge."""
    aligned = field.aligned
    pair = [field.series[name] for name in names]
    moving = next((series for series in pair if series.is_moving), None)
    end_together = all(aligned.read[aligned.names.index(name), -1] for name in names)
    if not apart.any() or apart[-1] or moving is None or not end_together:
        return
    levels = [
        field.sign * np.interp(aligned.steps, series.course_steps, series.course.level) for series in pair
    ]
    between = levels[0] - levels[1]
    place = int(np.argmax(np.where(apart, np.abs(between), -np.inf)))
    gap, rest = abs(float(between[place])), abs(float(between[-1]))
    step = float(aligned.steps[place])
    errors = [series.course.compute_error(series.find_course_place(step), -1) for series in pair]
    if rest > _REST * gap or gap - rest <= CLEAR * math.hypot(*errors):
        return
    size, where = field.format_size(gap, *names), describe_position(step, field.scale)
    ends, evidence, end = _read_ends(field, names)
    text = f"{join_names(names)} come together: after a gap of about {size} {where} they end at {ends}."
    evidence.append(f"gap of the fitted courses {where} = {size}")
    basis, steps = (moving.describe_test(), field.readings_alone.strength(gap - rest)), (step, end.step)
    yield observe(Rule.CONVERGE, text, evidence, basis, names, steps=steps, mark=end, label="level again")


def _read_ends(field: Field, names: Sequence[str]) -> tuple[str, list[str], Reading]:
    """Return the span of the last readings of some series, each as a fact, and the first of them."""
    finals = [field.series[name].read(-1) for name in names]
    span = field.format_span({final.series.name: final.value for final in finals})
    return span, [final.format_fact("final") for final in finals], finals[0]


def _find_converging(field: Field, names: tuple[str, ...]) -> Iterator[Observation]:
    widest = _find_widest(field, field.align(names).select_read(), fewest=len(names))
    if widest is None:
        return
    high, low, rest = widest
    gap, threshold = high.value - low.value, field.readings_alone
    # A gap that closes by less than the threshold is no convergence.
    if gap - rest <= threshold.value * (1 + SAME) or rest > _REST * gap:
        return
    readings, evidence, end = _read_ends(field, names)
    pair = high.series.name, low.series.name
    size = field.format_size(gap, *pair)
    text = (
        f"The readings of {format_names(names, len(field.curves))} end "
        f"{'' if ' to ' in readings else 'level '}at {readings}, {end.position}, "
        f"after {size} between them {high.position}."
    )
    evidence.append(f"{field.format_call('gap', *pair, high.step)} = {size}")
    basis, steps = (threshold.describe(gap), threshold.strength(gap - rest)), (high.step, end.step)
    yield observe(Rule.CONVERGE, text, evidence, basis, names, steps=steps, mark=end, label="level again")


def _find_meetings(field: Field, pair: Aligned) -> Iterator[Observation]:
    """Yield steps at which both readings are equal, between steps at which they differ."""
    ahead = pair.good[0] - pair.good[1]
    known = np.isfinite(ahead)
    apart = np.abs(ahead) > pair.least * (1 + SAME)
    differing = np.flatnonzero(known & apart)
    places = []
    for level in find_stretches(np.where(known & ~apart, 0, -1)):
        read = [place for place in range(level.first, level.last + 1) if pair.read[:, place].all()]
        if read and differing.size and differing[0] < level.first and differing[-1] > level.last:
            places.append(read[-1])
    if not places:
        return
    first = places[0]
    before, after = (np.abs(ahead[differing][side]).max() for side in (differing < first, differing > first))
    evidence, parts = [], []
    for place in places[:_MOST_MEETINGS]:
        readings = [field.read_aligned(pair, row, place) for row in range(_PAIR)]
        evidence += [reading.format_fact() for reading in readings]
        span = field.format_span({reading.series.name: reading.value for reading in readings})
        parts.append(f"{readings[0].position}, at {span}")
    more = len(places) - len(parts)
    parts += [f"{more:,} more times"] if more > 0 else []
    text = f"The readings of {join_names(pair.names)} meet {join_names(parts)}."
    alone = field.readings_alone
    basis = alone.describe(float(ahead[first])), alone.strength(float(min(before, after)))
    steps = float(pair.steps[first]), float(pair.steps[places[-1]])
    mark = pair.names[0], steps[0]
    yield observe(Rule.CONVERGE, text, evidence, basis, pair.names, steps=steps, mark=mark, label="level")
