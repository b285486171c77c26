"""The rules ``same start``, ``widest gap`` and ``converge``: how far series lie apart."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from reportgen.claims.facts.fact_words import describe_position, describe_step
from reportgen.claims.observations.phrases import format_names, format_span, format_with_values
from reportgen.claims.observations.rules.leads import find_stretches
from reportgen.claims.observations.rules.moves import CLEAR
from reportgen.claims.observations.rules.ranking import group_values
from reportgen.claims.observations.thresholds import SAME, describe_share
from reportgen.core.statements import Observation
from reportgen.core.words import join_names
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.claims.observations.field import Field, Reading
    from reportgen.claims.observations.windows import Aligned, BoolArray


_PAIR = 2
_COMMON_STRENGTH = 3.0
"""Strength of a common start, which no threshold measures."""

_USUAL = 3
"""The widest of many gaps of readings is a few times the noise anyhow."""

_REST = 0.25
"""Those that are left with more of their widest gap have not come together."""

_MOST_MEETINGS = 3
_MEETING_SERIES = 4
"""Of more series nobody wants to know each pair's meetings."""


def observe_same_start(field: Field) -> Iterator[Observation]:
    """Where the readings of all series that begin at the first step start, and which clearly higher."""
    first = {name: field.series[name].read(0) for name in sorted(field.series)}
    begin = min(reading.step for reading in first.values())
    starts = {name: reading for name, reading in first.items() if reading.step == begin}
    if len(starts) < _PAIR:
        return
    values = {name: reading.value for name, reading in starts.items()}
    clear = _find_clear_order(field, values)
    apart = field.few and field.readings_alone.is_exceeded(_compute_spread(values))
    if clear is not None or apart:
        yield _make_apart(field, starts, values, clear)
    else:
        yield _make_common_start(field, starts, values)


def _find_clear_order(field: Field, values: Mapping[str, float]) -> tuple[str, str] | None:
    """The highest and the lowest start, where a test tells them apart."""
    if field.windows is None:
        return None
    high, low = (pick(values, key=lambda name: values[name]) for pick in (max, min))
    ahead, behind = (
        field.aligned.names.index(name) for name in ((high, low) if field.sign > 0 else (low, high))
    )
    return (high, low) if field.windows.find_ahead(ahead, narrow=True)[behind, 0] else None


def _compute_spread(values: Mapping[str, float]) -> float:
    return max(values.values()) - min(values.values())


def _make_start(
    text: str, order: Sequence[Reading], threshold: str, strength: float, until: float | None = None
) -> Observation:
    begin = order[0].step
    return Observation(
        rule=Rule.SAME_START,
        text=text,
        evidence=tuple(reading.format_fact("start") for reading in order),
        threshold=threshold,
        series=tuple(reading.series.name for reading in order),
        strength=strength,
        from_step=begin,
        to_step=begin if until is None else until,
    )


def _make_common_start(
    field: Field, starts: Mapping[str, Reading], values: Mapping[str, float]
) -> Observation:
    names, order = tuple(starts), list(starts.values())
    who, begin = format_names(names, len(field.curves)), order[0]
    until = _find_last_common(field, names) if field.few else begin.step
    more = ""
    if until > begin.step:
        last = max(field.series[name].read(-1).step for name in names)
        end = "to the end" if until == last else f"up to {describe_step(until, field.scale)}"
        more = f", and they read the same {end}"
    readings = format_span(values, names, field)
    lie = "lie at" if " to " in readings else "are"
    text = f"The first readings of {who} {lie} {readings} {begin.position}{more}."
    threshold = field.readings_alone.describe(_compute_spread(values))
    return _make_start(text, order, threshold, _COMMON_STRENGTH, until)


def _find_last_common(field: Field, names: tuple[str, ...]) -> float:
    """The last step up to which all readings are within 1 % of the range of each other."""
    aligned = field.align(names)
    apart = ~(np.ptp(aligned.good, axis=0) <= aligned.least * (1 + SAME))
    first = int(np.argmax(apart)) if apart.any() else aligned.steps.size
    return float(aligned.steps[max(first - 1, 0)])


def _make_apart(
    field: Field,
    starts: Mapping[str, Reading],
    values: Mapping[str, float],
    clear: tuple[str, str] | None,
) -> Observation:
    groups = group_values(field, values, lambda *_: field.readings_alone)
    order = [starts[name] for group in groups.members for name in group]
    spread = _compute_spread(values)
    strength = field.readings_alone.strength(spread)
    if clear is None:
        text = _describe_apart(field, values, order, groups.members)
        return _make_start(text, order, field.readings_alone.describe(groups.gap or spread), strength)
    top, bottom = (starts[name] for name in clear)
    text = f"{clear[0]} starts higher than {clear[1]}: {top} against {bottom} {top.position}."
    threshold = f"means of the first readings differ, by t; {describe_share(field.share_of_leads)}"
    return replace(_make_start(text, order, threshold, strength), series=clear)


def _describe_apart(
    field: Field,
    values: Mapping[str, float],
    order: Sequence[Reading],
    members: tuple[tuple[str, ...], ...],
) -> str:
    at = order[0].position
    top, bottom = (order[0], order[-1]) if field.sign > 0 else (order[-1], order[0])
    ends = bottom.series.name, top.series.name
    if len(order) == _PAIR:
        return (
            f"The first reading of {ends[1]} is higher than that of {ends[0]}: {top} against {bottom} {at}."
        )
    if len(members) == 1 or len(members) == len(order):
        return f"The first readings differ: {at} they lie between {format_with_values(values, ends, field)}."
    rest = members[-1]
    groups = "; ".join(format_with_values(values, group, field) for group in members[:-1])
    last = f"the other {len(rest)} at {format_span(values, rest, field)}"
    last = last if len(rest) > _PAIR else format_with_values(values, rest, field)
    stand = "stands" if len(order) - len(rest) == 1 else "stand"
    return f"The first readings differ: {at} {groups} {stand} apart from {last}."


def observe_widest_gap(field: Field) -> Iterator[Observation]:
    """The largest difference of two series' readings, with its step and both values."""
    if len(field.curves) < _PAIR:
        return
    aligned = field.aligned
    several = np.flatnonzero(np.isfinite(aligned.good).sum(axis=0) > 1)
    if not several.size:
        return
    values = field.sign * aligned.good
    spread = np.nanmax(values[:, several], axis=0) - np.nanmin(values[:, several], axis=0)
    # The first of the steps that share the largest, up to rounding.
    place = int(several[int(np.argmax(spread >= spread.max() * (1 - SAME)))])
    rows = int(np.nanargmax(values[:, place])), int(np.nanargmin(values[:, place]))
    high, low = (field.read_aligned(aligned, row, place) for row in rows)
    size = high.value - low.value
    threshold = field.readings_alone
    if not threshold.is_exceeded(size):
        return
    names = high.series.name, low.series.name
    shown = field.format_size(size, *names)
    noise = max(high.series.noise.value, low.series.noise.value)
    times_noise = size / (_USUAL * noise) if noise else _USUAL
    strength = threshold.strength(size)
    if len(field.curves) == _PAIR:
        who, ends = "The readings", f"{names[0]} {high}, {names[1]} {low}"
    else:
        who, ends = "The readings of all series", f"from {low} ({names[1]}) to {high} ({names[0]})"
    call = field.format_call("widest_gap", *sorted(names))
    yield Observation(
        rule=Rule.WIDEST_GAP,
        text=f"{who} are furthest apart {high.position}, by {shown}: {ends}.",
        evidence=(f"{call} = {shown} {high.position}", high.format_at(), low.format_at()),
        threshold=threshold.describe(size),
        series=names,
        strength=strength if field.few else min(times_noise, strength),
        from_step=high.step,
        to_step=high.step,
        mark_series=names[1] if aligned.read[rows[1], place] else names[0],
        mark=high.step,
        label=f"gap {shown}",
    )


def observe_convergence(field: Field) -> Iterator[Observation]:
    """Pairs that end level after having been apart, and meetings on the way."""
    if len(field.curves) < _PAIR:
        return
    aligned = field.aligned
    if field.windows is not None:
        for row, name in enumerate(aligned.names[:-1]):
            apart = field.windows.find_ahead(row, either=True)
            for other in range(row + 1, len(aligned.names)):
                yield from _find_clear(field, (name, aligned.names[other]), apart[other])
    if not field.few:
        return
    for names in _group_level_ends(aligned):
        yield from _find_converging(field, names)
    if len(aligned.names) <= _MEETING_SERIES:
        for pair in combinations(aligned.names, 2):
            yield from _find_meetings(field, field.align(pair))


def _find_clear(field: Field, names: tuple[str, str], apart: BoolArray) -> Iterator[Observation]:
    """Two series that were clearly apart, and of which courses bring them together."""
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
    finals = [series.read(-1) for series in pair]
    size, where = field.format_size(gap, *names), describe_position(step, field.scale)
    ends = format_span({final.series.name: final.value for final in finals}, names, field)
    yield Observation(
        rule=Rule.CONVERGE,
        text=f"{join_names(names)} come together: after a gap of about {size} {where} they end at {ends}.",
        evidence=(
            *(final.format_fact("final") for final in finals),
            f"gap of the fitted courses {where} = {size}",
        ),
        threshold=moving.describe_test(),
        series=names,
        strength=field.readings_alone.strength(gap - rest),
        from_step=step,
        to_step=finals[0].step,
        mark_series=names[0],
        mark=finals[0].step,
        label="level again",
    )


def _group_level_ends(aligned: Aligned) -> Iterator[tuple[str, ...]]:
    """Series whose last readings are within 1 % of the range of the best of their group."""
    finals, names = aligned.good[:, -1], aligned.names
    left = sorted(np.flatnonzero(aligned.read[:, -1]).tolist(), key=lambda row: (-finals[row], names[row]))
    while left:
        group = [row for row in left if finals[left[0]] - finals[row] <= aligned.least * (1 + SAME)]
        if len(group) > 1:
            yield tuple(names[row] for row in group)
        left = [row for row in left if row not in group]


def _find_converging(field: Field, names: tuple[str, ...]) -> Iterator[Observation]:
    """Series whose readings end level after having been apart."""
    aligned = field.align(names)
    several = np.flatnonzero(np.isfinite(aligned.good).all(axis=0))
    if several.size < 2:  # noqa: PLR2004 - no way to the end
        return
    values = field.sign * aligned.good
    spread = values[:, several].max(axis=0) - values[:, several].min(axis=0)
    place = int(several[int(np.argmax(spread >= spread.max() * (1 - SAME)))])
    high, low = (
        field.read_aligned(aligned, int(pick(values[:, place])), place) for pick in (np.argmax, np.argmin)
    )
    gap, rest = high.value - low.value, float(spread[-1])
    threshold = field.readings_alone
    # Less than a threshold gained is no coming together.
    if gap - rest <= threshold.value * (1 + SAME) or rest > _REST * gap:
        return
    finals = [field.series[name].read(-1) for name in names]
    end = finals[0]
    readings = format_span({final.series.name: final.value for final in finals}, names, field)
    pair = high.series.name, low.series.name
    size = field.format_size(gap, *pair)
    gap_fact = f"{field.format_call('gap', *pair, high.step)} = {size}"
    yield Observation(
        rule=Rule.CONVERGE,
        text=(
            f"The readings of {format_names(names, len(field.curves))} end "
            f"{'' if ' to ' in readings else 'level '}at {readings}, {end.position}, "
            f"after {size} between them {high.position}."
        ),
        evidence=(*(final.format_fact("final") for final in finals), gap_fact),
        threshold=threshold.describe(gap),
        series=names,
        strength=threshold.strength(gap - rest),
        from_step=high.step,
        to_step=end.step,
        mark_series=names[0],
        mark=end.step,
        label="level again",
    )


def _find_meetings(field: Field, pair: Aligned) -> Iterator[Observation]:
    """Readings of both at one step that are equal, between steps at which they differ."""
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
    meetings = [
        [field.read_aligned(pair, row, place) for row in range(_PAIR)] for place in places[:_MOST_MEETINGS]
    ]
    yield Observation(
        rule=Rule.CONVERGE,
        text=(
            f"The readings of {join_names(pair.names)} meet "
            f"{_describe_meetings(field, meetings, len(places))}."
        ),
        evidence=tuple(reading.format_at() for readings in meetings for reading in readings),
        threshold=field.readings_alone.describe(float(ahead[first])),
        series=pair.names,
        strength=field.readings_alone.strength(float(min(before, after))),
        from_step=float(pair.steps[first]),
        to_step=float(pair.steps[places[-1]]),
        mark_series=pair.names[0],
        mark=float(pair.steps[first]),
        label="level",
    )


def _describe_meetings(field: Field, meetings: Sequence[Sequence[Reading]], total: int) -> str:
    parts = []
    for readings in meetings:
        values = {reading.series.name: reading.value for reading in readings}
        parts.append(f"{readings[0].position}, at {format_span(values, tuple(values), field)}")
    more = total - len(parts)
    return join_names([*parts, f"{more:,} more times"] if more > 0 else parts)
