"""The rule ``same start``: whether series start alike, and how long they stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.aligned import SAME, aligned
from reportgen.observations.groups import groups
from reportgen.observations.phrases import named, runs_each, span, value_fact, with_values
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.observations.field import Field, Threshold

_ALIKE = 3.0
"""Strength of a common start, which no threshold measures."""


def same_start(field: Field) -> Iterator[Observation]:
    """That all series which begin at the first step start alike, or which of them start higher."""
    first = {name: field.points(name) for name in field.names}
    begin = min(float(one.steps[0]) for one in first.values())
    starts = {name: float(one.values[0]) for name, one in sorted(first.items()) if one.steps[0] == begin}
    if len(starts) < 2:  # noqa: PLR2004 - one series starts like itself
        return
    low, high = (pick(starts, key=lambda name: starts[name]) for pick in (min, max))
    pairs = len(starts) * (len(starts) - 1) // 2
    held = field.threshold(*sorted((low, high)), choices=pairs, steps=(begin,))
    spread = starts[high] - starts[low]
    if spread > held.value * (1 + SAME):
        yield _apart(field, starts, begin, held)
    else:
        yield _alike(field, starts, begin, held)


def _alike(field: Field, starts: Mapping[str, float], begin: float, held: Threshold) -> Observation:
    names = tuple(starts)
    who = named(names, len(field.curves))
    readings = span(starts, names, field)
    at = at_step(begin, field.scale)
    how = (
        f"start at {readings}" if " to " not in readings else f"start within noise of each other, {readings},"
    )
    until = _together_until(field, names)
    more = ""
    if until is not None and until > begin:
        known = any(field.noise(name).known for name in names)
        stay = f"cannot be told apart {runs_each(field, names)}" if known else "read the same"
        last = until == max(float(field.points(name).steps[-1]) for name in names)
        more = f" and {stay} {'to the end' if last else f'up to {step_said(until, field.scale)}'}"
    return Observation(
        rule=Rule.SAME_START,
        text=f"{who} {how} {at}{more}.",
        evidence=tuple(value_fact(field, "start", name, starts[name], begin) for name in names),
        threshold=held.words(max(starts.values()) - min(starts.values())),
        series=names,
        strength=_ALIKE,
        from_step=begin,
        to_step=begin if until is None else until,
    )


def _apart(field: Field, starts: Mapping[str, float], begin: float, held: Threshold) -> Observation:
    found = groups(field, starts, (begin,))
    order = [name for group in found.members for name in group]
    return Observation(
        rule=Rule.SAME_START,
        text=f"{_unlike(field, starts, begin, found.members)}.",
        evidence=tuple(value_fact(field, "start", name, starts[name], begin) for name in order),
        threshold=found.threshold.words(found.gap) if found.gap else held.words(_spread(starts)),
        series=tuple(order),
        strength=held.strength(_spread(starts)),
        from_step=begin,
        to_step=begin,
    )


def _unlike(
    field: Field, starts: Mapping[str, float], begin: float, members: tuple[tuple[str, ...], ...]
) -> str:
    at = at_step(begin, field.scale)
    order = [name for group in members for name in group]
    top, bottom = order[0], order[-1]
    if field.sign < 0:
        top, bottom = bottom, top
    if len(order) == 2:  # noqa: PLR2004 - a pair
        low, high = (field.reading(starts[name], name) for name in (bottom, top))
        return f"{top} starts higher than {bottom}: {high} against {low} {at}"
    if len(members) == 1 or len(members) == len(order):
        ends = with_values(starts, (bottom, top), field)
        return f"Series do not start alike: {at} they lie between {ends}"
    said = [with_values(starts, group, field) for group in members[:-1]]
    rest = members[-1]
    others = f"the other {len(rest)} at {span(starts, rest, field)}"
    last = others if len(rest) > 2 else with_values(starts, rest, field)  # noqa: PLR2004 - short enough to name
    return f"Series do not start alike: {at} {'; '.join(said)} stand apart from {last}"


def _spread(starts: Mapping[str, float]) -> float:
    return max(starts.values()) - min(starts.values())


def _together_until(field: Field, names: tuple[str, ...]) -> float | None:
    """The last step before two of them first differ by more than noise; None if they differ at once."""
    side_by_side = aligned(field, names)
    apart = np.zeros(side_by_side.steps.size, dtype=np.bool_)
    for one in range(len(names)):
        # That they part is said of one step of many and of nothing else: doubly sure, or not at all.
        held = side_by_side.thresholds(one, (side_by_side.steps.size * len(names)) ** 2)
        with np.errstate(invalid="ignore"):
            apart |= (np.abs(side_by_side.good - side_by_side.good[one]) > held * (1 + SAME)).any(axis=0)
    first = int(np.argmax(apart)) if apart.any() else apart.size
    return float(side_by_side.steps[first - 1]) if first else None
