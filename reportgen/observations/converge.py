"""The rule ``observe_convergence``: series that were apart and end level, or whose readings meet on the way."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import describe_position
from reportgen.observations.aligned import SAME, align_series
from reportgen.observations.leads import find_stretches
from reportgen.observations.moves import CLEAR
from reportgen.observations.phrases import (
    format_call_of,
    format_names,
    format_reading_fact,
    format_span,
    format_value_fact,
)
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation
from reportgen.words import join_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.observations.aligned import Aligned, BoolArray
    from reportgen.observations.field import Field

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
            f"{join_names(pair)} come together: after a gap of about {size} {describe_position(step, field.scale)} "
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
            f"{describe_position(float(both.steps[place]), field.scale)}, at {format_span(values, both.names, field)}"
        )
    more = len(places) - len(said)
    return join_names([*said, f"{more:,} more times"] if more > 0 else said)


def _get_value(field: Field, both: Aligned, row: int, place: int) -> float:
    return float(field.sign * both.good[row, place])
