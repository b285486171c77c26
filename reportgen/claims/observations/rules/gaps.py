"""The rules ``same start``, ``widest gap`` and ``converge``: how far series lie apart."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from reportgen.claims.facts.fact_words import describe_position, describe_step
from reportgen.claims.observations.field import align_series
from reportgen.claims.observations.phrases import (
    format_call_of,
    format_names,
    format_reading_fact,
    format_span,
    format_value_fact,
    format_with_values,
)
from reportgen.claims.observations.rules.leads import find_stretches
from reportgen.claims.observations.rules.moves import CLEAR
from reportgen.claims.observations.rules.ranking import group_values
from reportgen.claims.observations.thresholds import SAME, describe_share
from reportgen.core.statements import Observation
from reportgen.core.words import join_names
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.claims.observations.field import Field
    from reportgen.claims.observations.windows import Aligned, BoolArray


_COMMON_STRENGTH = 3.0
"""Strength of a common start, which no threshold measures."""


def observe_same_start(field: Field) -> Iterator[Observation]:
    """Where the readings of all series that begin at the first step start, and which clearly higher."""
    first = {name: field.get_points(name) for name in field.names}
    begin = min(float(one.steps[0]) for one in first.values())
    starts = {name: float(one.values[0]) for name, one in sorted(first.items()) if one.steps[0] == begin}
    if len(starts) < 2:  # noqa: PLR2004 - one series starts like itself
        return
    clear = _find_clear_order(field, starts)
    if clear is not None:
        yield _make_apart(field, starts, begin, clear)
    elif field.few and field.readings_alone.is_exceeded(_compute_spread(starts)):
        yield _make_apart(field, starts, begin, None)
    else:
        yield _make_common_start(field, starts, begin)


def _find_clear_order(field: Field, starts: Mapping[str, float]) -> tuple[str, str] | None:
    """The highest and the lowest start, where a test tells them apart."""
    both, tested = align_series(field), field.windows
    if tested is None:
        return None
    high, low = (pick(starts, key=lambda name: starts[name]) for pick in (max, min))
    ahead, behind = (high, low) if field.sign > 0 else (low, high)
    clear = tested.find_ahead(both.names.index(ahead), narrow=True)[both.names.index(behind), 0]
    return (high, low) if clear else None


def _make_common_start(field: Field, starts: Mapping[str, float], begin: float) -> Observation:
    names = tuple(starts)
    who = format_names(names, len(field.curves))
    until = _find_last_common(field, names) if field.few else begin
    more = ""
    if until > begin:
        last = max(float(field.get_points(name).steps[-1]) for name in names)
        end = "to the end" if until == last else f"up to {describe_step(until, field.scale)}"
        more = f", and they read the same {end}"
    readings = format_span(starts, names, field)
    lie = "lie at" if " to " in readings else "are"
    return Observation(
        rule=Rule.SAME_START,
        text=f"The first readings of {who} {lie} {readings} {describe_position(begin, field.scale)}{more}.",
        evidence=tuple(format_value_fact(field, "start", name, starts[name], begin) for name in names),
        threshold=field.readings_alone.describe(_compute_spread(starts)),
        series=names,
        strength=_COMMON_STRENGTH,
        from_step=begin,
        to_step=until,
    )


def _find_last_common(field: Field, names: tuple[str, ...]) -> float:
    """The last step up to which all readings are within 1 % of the range of each other."""
    both = align_series(field, names)
    most = np.ptp(both.good, axis=0)
    apart = ~(most <= both.least * (1 + SAME))
    first = int(np.argmax(apart)) if apart.any() else both.steps.size
    return float(both.steps[max(first - 1, 0)])


def _make_apart(
    field: Field, starts: Mapping[str, float], begin: float, clear: tuple[str, str] | None
) -> Observation:
    found = group_values(field, starts, lambda _, __: field.readings_alone)
    order = [name for group in found.members for name in group]
    spread = _compute_spread(starts)
    text = _describe_apart(field, starts, begin, found.members)
    if clear is not None:
        high, low = (field.format_reading(starts[name], name) for name in clear)
        text = (
            f"{clear[0]} starts higher than {clear[1]}: {high} against {low} "
            f"{describe_position(begin, field.scale)}"
        )
    held = field.readings_alone
    asks = f"means of the first readings differ, by t; {describe_share(field.share_of_leads)}"
    return Observation(
        rule=Rule.SAME_START,
        text=f"{text}.",
        evidence=tuple(format_value_fact(field, "start", name, starts[name], begin) for name in order),
        threshold=asks if clear is not None else held.describe(found.gap or spread),
        series=tuple(order) if clear is None else clear,
        strength=held.strength(spread),
        from_step=begin,
        to_step=begin,
    )


def _describe_apart(
    field: Field, starts: Mapping[str, float], begin: float, members: tuple[tuple[str, ...], ...]
) -> str:
    at = describe_position(begin, field.scale)
    order = [name for group in members for name in group]
    top, bottom = order[0], order[-1]
    if field.sign < 0:
        top, bottom = bottom, top
    if len(order) == 2:  # noqa: PLR2004 - a pair
        low, high = (field.format_reading(starts[name], name) for name in (bottom, top))
        return f"The first reading of {top} is higher than that of {bottom}: {high} against {low} {at}"
    if len(members) == 1 or len(members) == len(order):
        ends = format_with_values(starts, (bottom, top), field)
        return f"The first readings differ: {at} they lie between {ends}"
    said = [format_with_values(starts, group, field) for group in members[:-1]]
    rest = members[-1]
    others = f"the other {len(rest)} at {format_span(starts, rest, field)}"
    last = others if len(rest) > 2 else format_with_values(starts, rest, field)  # noqa: PLR2004 - short enough to name
    stand = "stands" if len(order) - len(rest) == 1 else "stand"
    return f"The first readings differ: {at} {'; '.join(said)} {stand} apart from {last}"


def _compute_spread(starts: Mapping[str, float]) -> float:
    return max(starts.values()) - min(starts.values())


_PAIR = 2
_USUAL = 3
"""The widest of many gaps of readings is a few times the noise anyhow."""


def observe_widest_gap(field: Field) -> Iterator[Observation]:
    """The largest difference of two series' readings, with its step and both values."""
    if len(field.curves) < _PAIR:
        return
    both = align_series(field)
    several = np.flatnonzero(np.isfinite(both.good).sum(axis=0) > 1)
    if not several.size:
        return
    values = field.sign * both.good
    spread = np.nanmax(values[:, several], axis=0) - np.nanmin(values[:, several], axis=0)
    # The first of the steps that share the largest, up to rounding.
    at = int(several[int(np.argmax(spread >= spread.max() * (1 - SAME)))])
    high, low = int(np.nanargmax(values[:, at])), int(np.nanargmin(values[:, at]))
    size = float(values[high, at] - values[low, at])
    step = float(both.steps[at])
    names = both.names[high], both.names[low]
    held = field.readings_alone
    if not held.is_exceeded(size):
        return
    ends = (float(values[high, at]), float(values[low, at]))
    widest = f"{format_call_of(field, 'widest_gap', *sorted(names))} = {field.format_size(size, *names)}"
    yield Observation(
        rule=Rule.WIDEST_GAP,
        text=_describe_gap(field, names, ends, step),
        evidence=(
            f"{widest} {describe_position(step, field.scale)}",
            *(format_reading_fact(field, name, step, end) for name, end in zip(names, ends, strict=True)),
        ),
        threshold=held.describe(size),
        series=names,
        strength=held.strength(size)
        if field.few
        else min(_strength(field, names, size), held.strength(size)),
        from_step=step,
        to_step=step,
        mark_series=names[1] if both.read[low, at] else names[0],
        mark=step,
        label=f"gap {field.format_size(size, *names)}",
    )


def _strength(field: Field, names: tuple[str, str], size: float) -> float:
    noise = max(field.get_noise(name).value for name in names)
    return size / (_USUAL * noise) if noise else _USUAL


def _describe_gap(field: Field, names: tuple[str, str], ends: tuple[float, float], step: float) -> str:
    where = describe_position(step, field.scale)
    size = field.format_size(ends[0] - ends[1], *names)
    high, low = (field.format_reading(end, name) for end, name in zip(ends, names, strict=True))
    if len(field.curves) == _PAIR:
        return f"The readings are furthest apart {where}, by {size}: {names[0]} {high}, {names[1]} {low}."
    return (
        f"The readings of all series are furthest apart {where}, by {size}: from {low} ({names[1]}) "
        f"to {high} ({names[0]})."
    )


_REST = 0.25
"""Those that are left with more of their widest gap have not come together."""

_MOST_MEETINGS = 3
_MEETING_SERIES = 4
"""Of more series nobody wants to know each pair's meetings."""


def observe_convergence(field: Field) -> Iterator[Observation]:
    """Pairs that end level after having been apart, and meetings on the way."""
    if len(field.curves) < 2:  # noqa: PLR2004 - one series meets nobody
        return
    every = align_series(field)
    if field.windows is not None:
        for row, name in enumerate(every.names[:-1]):
            apart = field.windows.find_apart(row)
            for other in range(row + 1, len(every.names)):
                yield from _find_clear(field, (name, every.names[other]), apart[other])
    if not field.few:
        return
    for names in _group_level_ends(every):
        yield from _find_converging(field, names, float(every.steps[-1]))
    if len(every.names) <= _MEETING_SERIES:
        for pair in combinations(every.names, 2):
            yield from _find_meetings(field, align_series(field, pair))


def _find_clear(field: Field, pair: tuple[str, str], apart: BoolArray) -> Iterator[Observation]:
    """Two series that were clearly apart, and of which courses bring them together."""
    both = align_series(field)
    rows = [both.names.index(name) for name in pair]
    if (
        not apart.any()
        or apart[-1]
        or not any(field.is_moving(name) for name in pair)
        or not both.read[rows, -1].all()
    ):
        return
    levels = [
        field.sign * np.interp(both.steps, field.get_course_steps(name), field.get_course(name).level)
        for name in pair
    ]
    between = levels[0] - levels[1]
    at = int(np.argmax(np.where(apart, np.abs(between), -np.inf)))
    gap, rest = abs(float(between[at])), abs(float(between[-1]))
    places = [int(np.argmin(np.abs(field.get_course_steps(name) - both.steps[at]))) for name in pair]
    errors = [
        field.get_course(name).compute_error(place, -1) for name, place in zip(pair, places, strict=True)
    ]
    if rest > _REST * gap or gap - rest <= CLEAR * math.hypot(*errors):
        return
    yield _make_convergence(field, pair, float(both.steps[at]), gap, rest)


def _make_convergence(
    field: Field, pair: tuple[str, str], step: float, gap: float, rest: float
) -> Observation:
    end = float(field.get_points(pair[0]).steps[-1])
    finals = {name: float(field.get_points(name).values[-1]) for name in pair}
    size = field.format_size(gap, *pair)
    return Observation(
        rule=Rule.CONVERGE,
        text=(
            f"{join_names(pair)} come together: after a gap of about {size} "
            f"{describe_position(step, field.scale)} "
            f"they end at {format_span(finals, pair, field)}."
        ),
        evidence=(
            *(format_value_fact(field, "final", name, finals[name], end) for name in pair),
            f"gap of the fitted courses {describe_position(step, field.scale)} = {size}",
        ),
        threshold=field.describe_course_test(next(name for name in pair if field.is_moving(name))),
        series=pair,
        strength=field.readings_alone.strength(gap - rest),
        from_step=step,
        to_step=end,
        mark_series=pair[0],
        mark=end,
        label="level again",
    )


def _group_level_ends(every: Aligned) -> Iterator[tuple[str, ...]]:
    """Series whose last readings are within 1 % of the range of the best of their group."""
    finals = every.good[:, -1]
    there = [place for place in range(len(every.names)) if every.read[place, -1]]
    left = sorted(there, key=lambda place: (-finals[place], every.names[place]))
    while left:
        first = left[0]
        group = [one for one in left if finals[first] - finals[one] <= every.least * (1 + SAME)]
        if len(group) > 1:
            yield tuple(every.names[place] for place in group)
        left = [place for place in left if place not in group]


def _find_converging(field: Field, names: tuple[str, ...], end: float) -> Iterator[Observation]:
    both = align_series(field, names)
    several = np.flatnonzero(np.isfinite(both.good).all(axis=0))
    if several.size < 2:  # noqa: PLR2004 - no way to the end
        return
    values = field.sign * both.good
    spread = values[:, several].max(axis=0) - values[:, several].min(axis=0)
    at = int(several[int(np.argmax(spread >= spread.max() * (1 - SAME)))])
    high, low = int(np.argmax(values[:, at])), int(np.argmin(values[:, at]))
    gap, rest = float(values[high, at] - values[low, at]), float(spread[-1])
    step = float(both.steps[at])
    pair = both.names[high], both.names[low]
    held = field.readings_alone
    # Less than a threshold gained is no coming together.
    if gap - rest <= held.value * (1 + SAME) or rest > _REST * gap:
        return
    finals = {name: float(values[both.names.index(name), -1]) for name in names}
    readings = format_span(finals, names, field)
    yield Observation(
        rule=Rule.CONVERGE,
        text=(
            f"The readings of {format_names(names, len(field.curves))} end "
            f"{'' if ' to ' in readings else 'level '}at {readings}, {describe_position(end, field.scale)}, "
            f"after {field.format_size(gap, *pair)} between them {describe_position(step, field.scale)}."
        ),
        evidence=(
            *(format_value_fact(field, "final", name, finals[name], end) for name in names),
            f"{format_call_of(field, 'gap', *pair, step)} = {field.format_size(gap, *pair)}",
        ),
        threshold=held.describe(gap),
        series=names,
        strength=held.strength(gap - rest),
        from_step=step,
        to_step=end,
        mark_series=names[0],
        mark=end,
        label="level again",
    )


def _find_meetings(field: Field, both: Aligned) -> Iterator[Observation]:
    """Readings of both at one step that are equal, between steps at which they differ."""
    ahead = both.good[0] - both.good[1]
    inside = np.isfinite(ahead)
    apart = np.abs(ahead) > both.least * (1 + SAME)
    level = find_stretches(np.where(inside & ~apart, 0, -1))
    differing = np.flatnonzero(inside & apart)
    found = []
    for one in level:
        read = [place for place in range(one.first, one.last + 1) if both.read[:, place].all()]
        if read and differing.size and differing[0] < one.first and differing[-1] > one.last:
            found.append((one, read[-1]))
    if not found:
        return
    places = [place for _, place in found]
    at = places[0]
    between = ahead[differing]
    before, after = (np.abs(between[side]).max() for side in (differing < at, differing > at))
    held = field.readings_alone
    yield Observation(
        rule=Rule.CONVERGE,
        text=f"The readings of {join_names(both.names)} meet {_describe_meetings(field, both, places)}.",
        evidence=tuple(
            format_reading_fact(field, name, float(both.steps[place]), _get_value(field, both, row, place))
            for place in places[:_MOST_MEETINGS]
            for row, name in enumerate(both.names)
        ),
        threshold=held.describe(float(ahead[at])),
        series=both.names,
        strength=held.strength(float(min(before, after))),
        from_step=float(both.steps[places[0]]),
        to_step=float(both.steps[places[-1]]),
        mark_series=both.names[0],
        mark=float(both.steps[at]),
        label="level",
    )


def _describe_meetings(field: Field, both: Aligned, places: Sequence[int]) -> str:
    said = []
    for place in places[:_MOST_MEETINGS]:
        values = {name: _get_value(field, both, row, place) for row, name in enumerate(both.names)}
        said.append(
            f"{describe_position(float(both.steps[place]), field.scale)}, at "
            f"{format_span(values, both.names, field)}"
        )
    more = len(places) - len(said)
    return join_names([*said, f"{more:,} more times"] if more > 0 else said)


def _get_value(field: Field, both: Aligned, row: int, place: int) -> float:
    return float(field.sign * both.good[row, place])
