"""The rule ``converge``: series that differed by more than noise and end within it, or meet on the way."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import at_step
from reportgen.observations.aligned import SAME, aligned
from reportgen.observations.leads import stretches
from reportgen.observations.phrases import (
    fact,
    named,
    reading_fact,
    runs_each,
    span,
    value_fact,
)
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation
from reportgen.words import listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.observations.aligned import Aligned
    from reportgen.observations.field import Field

_REST = 0.25
"""Where noise is not known, those that are left with more of their widest gap have not come together."""

_MOST_MEETINGS = 3
_MEETING_SERIES = 4
"""Of more series nobody wants to know each pair's meetings."""


def converge(field: Field) -> Iterator[Observation]:
    """Groups of series that end within noise after having been further apart; and meetings on the way."""
    if len(field.curves) < 2:  # noqa: PLR2004 - one series meets nobody
        return
    every = aligned(field)
    for names in _ending_level(field, every):
        yield from _converging(field, names, float(every.steps[-1]))
    if len(every.names) <= _MEETING_SERIES and not field.noisy(*every.names):
        for pair in combinations(every.names, 2):
            yield from _meeting(field, aligned(field, pair))


def _ending_level(field: Field, every: Aligned) -> Iterator[tuple[str, ...]]:
    """Series with a reading at the last step that cannot be told from the best of their group, best first."""
    finals = every.good[:, -1]
    there = [place for place in range(len(every.names)) if every.read[place, -1]]
    left = sorted(there, key=lambda place: (-finals[place], every.names[place]))
    means = aligned(field, every.names, means=True)
    while left:
        first, *others = left
        # One reading is easily within noise: those before it have to be, too.
        apart = np.abs(means.good[:, -1] - means.good[first, -1])
        beyond = apart > means.thresholds(first, len(every.names))[:, -1] * (1 + SAME)
        group = [first]
        for one in others:
            held = field.at_end(every.names[first], every.names[one])
            if not held.passed(float(finals[first] - finals[one])) and not beyond[one]:
                group.append(one)
        if len(group) > 1:
            yield tuple(every.names[place] for place in group)
        left = [place for place in left if place not in group]


def _converging(field: Field, names: tuple[str, ...], end: float) -> Iterator[Observation]:
    both = aligned(field, names)
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
    choices = several.size * len(names) * (len(names) - 1) // 2
    held = field.threshold(*sorted(pair), choices=choices, steps=(step,))
    # Less than a threshold gained is no coming together.
    if gap - rest <= held.value * (1 + SAME) or (not field.noisy(*names) and rest > _REST * gap):
        return
    finals = {name: float(values[both.names.index(name), -1]) for name in names}
    yield Observation(
        rule=Rule.CONVERGE,
        text=_sentence(field, names, finals, end, (field.size(gap, *pair), step)),
        evidence=(
            *(value_fact(field, "final", name, finals[name], end) for name in names),
            f"{fact(field, 'gap', *pair, step)} = {field.size(gap, *pair)}",
        ),
        threshold=held.words(gap),
        series=names,
        strength=held.strength(gap - rest),
        from_step=step,
        to_step=end,
        mark_series=names[0],
        mark=end,
        label="level again",
    )


def _sentence(
    field: Field,
    names: tuple[str, ...],
    finals: dict[str, float],
    end: float,
    gap: tuple[str, float],
) -> str:
    readings = span(finals, names, field)
    before = f"after a gap of {gap[0]} {at_step(gap[1], field.scale)}"
    how = "" if " to " in readings else "level "
    ends = f"{named(names, len(field.curves))} come together: {before} they end {how}at {readings}"
    there = f"{ends}, {at_step(end, field.scale)}"
    if field.noisy(*names):
        return f"{there}, where they cannot be told apart {runs_each(field, names, end)}."
    return f"{there}."


def _meeting(field: Field, both: Aligned) -> Iterator[Observation]:
    """Readings of both at one step that are equal, between steps at which they differ."""
    ahead = both.good[0] - both.good[1]
    inside = np.isfinite(ahead)
    held = both.thresholds(0, 1)[1]
    apart = np.abs(ahead) > held * (1 + SAME)
    level = stretches(np.where(inside & ~apart, 0, -1))
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
    pair_held = field.threshold(*both.names, steps=(float(both.steps[at]),))
    yield Observation(
        rule=Rule.CONVERGE,
        text=f"{listing(both.names)} meet {_meetings_said(field, both, places)}.",
        evidence=tuple(
            reading_fact(field, name, float(both.steps[place]), _value(field, both, row, place))
            for place in places[:_MOST_MEETINGS]
            for row, name in enumerate(both.names)
        ),
        threshold=pair_held.words(float(ahead[at])),
        series=both.names,
        strength=pair_held.strength(float(min(before, after))),
        from_step=float(both.steps[places[0]]),
        to_step=float(both.steps[places[-1]]),
        mark_series=both.names[0],
        mark=float(both.steps[at]),
        label="level",
    )


def _meetings_said(field: Field, both: Aligned, places: Sequence[int]) -> str:
    said = []
    for place in places[:_MOST_MEETINGS]:
        values = {name: _value(field, both, row, place) for row, name in enumerate(both.names)}
        said.append(f"{at_step(float(both.steps[place]), field.scale)}, at {span(values, both.names, field)}")
    more = len(places) - len(said)
    return listing([*said, f"{more:,} more times"] if more > 0 else said)


def _value(field: Field, both: Aligned, row: int, place: int) -> float:
    return float(field.sign * both.good[row, place])
