"""The rule ``same start``: whether series start alike, and how long they stay together."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.aligned import SAME, aligned
from reportgen.observations.groups import groups
from reportgen.observations.leads import first_apart
from reportgen.observations.phrases import named, runs_each, span, value_fact, with_values
from reportgen.outcomes import Verdict
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.observations.field import Field, Threshold


class _Together(NamedTuple):
    """The last step before two series first differ by more than noise, or one of them ends.

    Attributes:
        until: that step.
        same: whether all read the same up to there.
        parted: whether two of them differ right after.
    """

    until: float
    same: bool
    parted: bool


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
    near = "within noise of each other" if held.noisy else "close together"
    how = f"start at {readings}" if " to " not in readings else f"start {near}, {readings},"
    together = _together(field, names)
    until = begin if together is None else together.until
    more = "" if together is None or together.until <= begin else _for_how_long(field, names, together)
    return Observation(
        rule=Rule.SAME_START,
        text=f"{who} {how} {at_step(begin, field.scale)}{more}.",
        evidence=tuple(value_fact(field, "start", name, starts[name], begin) for name in names),
        threshold=held.words(max(starts.values()) - min(starts.values())),
        series=names,
        strength=_ALIKE,
        from_step=begin,
        to_step=until,
    )


def _for_how_long(field: Field, names: tuple[str, ...], together: _Together) -> str:
    """`` and cannot be told apart with 5 runs each up to step 500``."""
    if field.noisy(*names):
        stay = f"cannot be told apart {runs_each(field, names)}"
    else:
        stay = "read the same" if together.same else "stay within 1 % of the range of each other"
    ends = {name: float(field.points(name).steps[-1]) for name in names}
    if together.until == max(ends.values()):
        return f" and {stay} to the end"
    first = min(ends, key=lambda name: ends[name])
    stops = f", where {first} ends" if together.until == ends[first] and not together.parted else ""
    return f" and {stay} up to {step_said(together.until, field.scale)}{stops}"


def _apart(field: Field, starts: Mapping[str, float], begin: float, held: Threshold) -> Observation:
    found = groups(field, starts, lambda a, b: field.threshold(*sorted((a, b)), steps=(begin,)))
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
    stand = "stands" if len(order) - len(rest) == 1 else "stand"
    return f"Series do not start alike: {at} {'; '.join(said)} {stand} apart from {last}"


def _spread(starts: Mapping[str, float]) -> float:
    return max(starts.values()) - min(starts.values())


def _together(field: Field, names: tuple[str, ...]) -> _Together | None:
    """How long series stay together, by readings and means; None where only tests part their ends."""
    side_by_side = aligned(field, names)
    size = side_by_side.steps.size
    differ = min(first_apart(side_by_side), first_apart(aligned(field, names, means=True)))
    tests = (field.tested(*pair) for pair in combinations(names, 2))
    if differ == size and any(one is not None and one.verdict is not Verdict.UNCLEAR for one in tests):
        return None
    shared = np.isfinite(side_by_side.good).all(axis=0)
    first = min(differ, size if shared.all() else int(np.argmin(shared)))
    if not first:
        return None
    inside = side_by_side.good[:, :first]
    most = float(np.ptp(inside, axis=0).max())
    same = most <= SAME * float(np.abs(inside).max())
    return _Together(float(side_by_side.steps[first - 1]), same, first == differ)
