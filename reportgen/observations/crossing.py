"""The rule ``crossing``: where the leader changes, who led in between, and who is never overtaken."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.observations.aligned import aligned
from reportgen.observations.leads import leaders, stretches, turns
from reportgen.observations.leads_evidence import ahead_of_each, readings_alone
from reportgen.observations.phrases import known, runs_each, stretches_said
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.observations.aligned import Aligned
    from reportgen.observations.field import Field
    from reportgen.observations.leads import Stretch

_PAIR = 2
_MOST_STRETCHES = 6
"""More stretches than these are put together where nobody else leads in between."""

_MOST_SAID = 4
"""More stretches of one series than these are counted."""

_MOSTLY = 0.5
"""Last throughout is who is last at more than this share of the steps, and nobody else at any."""


class _Lead(NamedTuple):
    """Where a series leads by most: by how much, how many thresholds that is, and the threshold in words."""

    strength: float
    words: str
    step: float


def crossing(field: Field) -> Iterator[Observation]:
    """Who leads where, by more than noise; and who is last throughout."""
    if len(field.curves) < _PAIR:
        return
    both = aligned(field)
    found = stretches(leaders(both))
    if found:
        yield _leading(field, both, found)
    behind = stretches(leaders(both, last_place=True))
    mostly = sum(one.last - one.first + 1 for one in behind) > _MOSTLY * both.steps.size
    if len(both.names) > _PAIR and mostly and len({one.leader for one in behind}) == 1:
        yield _last_throughout(field, both, behind)


def _leading(field: Field, both: Aligned, found: list[Stretch]) -> Observation:
    merged = turns(found)
    rest = _rest(field, both, found)
    if len(found) > _MOST_STRETCHES:
        found = merged
    who = list(dict.fromkeys(one.leader for one in found))
    said = [f"{both.names[one]} {_when(field, both, found, one)}" for one in who]
    names = [both.names[one] for one in who]
    against = f" {_other(both, who[0])}" if len(who) == 1 and len(both.names) == _PAIR else ""
    said[0] = f"{names[0]} leads{against}{said[0].removeprefix(names[0])}"
    changes = len(merged) - 1
    times = {1: "once", 2: "twice"}.get(changes, f"{changes:,} times")
    lower = "" if field.sign > 0 else ", which the lower value has,"
    head = f"The lead{lower} changes {times}: " if changes else ""
    weakest = min((_largest_lead(field, both, found, one) for one in who), key=lambda lead: lead.strength)
    last = merged[-1]
    return Observation(
        rule=Rule.CROSSING,
        text=f"{head}{', '.join(said)}{rest}.",
        evidence=(*readings_alone(field, both), *ahead_of_each(field, both, last.leader)),
        threshold=weakest.words,
        series=tuple(names) if changes else tuple(dict.fromkeys([*names, *both.names])),
        strength=weakest.strength,
        from_step=float(both.steps[merged[0].last if changes else found[0].first]),
        to_step=float(both.steps[last.first if changes else found[-1].last]),
        mark_series=both.names[last.leader] if changes else None,
        mark=float(both.steps[last.first]) if changes else None,
        label="takes the lead" if changes else "",
    )


def _last_throughout(field: Field, both: Aligned, found: list[Stretch]) -> Observation:
    place = found[0].leader
    name = both.names[place]
    every = sum(one.last - one.first + 1 for one in found) == int(np.isfinite(both.good[place]).sum())
    where = "at every step" if every else _when(field, both, found, place)
    nobody = "" if every else ", and nobody else is last by more than noise"
    lead = _largest_lead(field, both, found, place, last_place=True)
    return Observation(
        rule=Rule.CROSSING,
        text=f"{name} is last {where}{nobody}.",
        evidence=ahead_of_each(field, both, place, last_place=True),
        threshold=lead.words,
        series=(name, *(one for one in both.names if one != name)),
        strength=lead.strength,
        from_step=float(both.steps[found[0].first]),
        to_step=float(both.steps[found[-1].last]),
    )


def _when(field: Field, both: Aligned, found: Sequence[Stretch], leader: int) -> str:
    """The steps at which one series leads: each stretch, or how many there are."""
    own = [one for one in found if one.leader == leader]
    if len(own) <= _MOST_SAID:
        ends = [(float(both.steps[one.first]), float(both.steps[one.last])) for one in own]
        return stretches_said(ends, float(both.steps[-1]), field.scale)
    total = sum(one.last - one.first + 1 for one in own)
    return f"at {counted(total, 'step')} of {both.steps.size:,}"


def _rest(field: Field, both: Aligned, found: Sequence[Stretch]) -> str:
    """What is to be said of the steps at which nobody leads."""
    led = np.zeros(both.steps.size, dtype=np.bool_)
    for one in found:
        led[one.first : one.last + 1] = True
    several = np.isfinite(both.good).sum(axis=0) > 1
    if not (several & ~led).any():
        return ""
    pair = len(both.names) == _PAIR
    who = "they" if pair else "the first two"
    noisy = known(field, both.names)
    doubt = f"{who} cannot be told apart {runs_each(field, both.names)}" if noisy else f"{who} are level"
    if len(found) > _MOST_STRETCHES:
        nobody = int((several & ~led).sum())
        return f"; at {nobody:,} of {both.steps.size:,} steps, some of them in between, {doubt}"
    if noisy:
        return f"; elsewhere {doubt}"
    level = stretches(np.where(several & ~led, 0, -1))
    ends = [(float(both.steps[one.first]), float(both.steps[one.last])) for one in level]
    if not pair or len(ends) > _MOST_SAID:
        return f"; elsewhere {doubt}"
    return f"; {doubt} {stretches_said(ends, float(both.steps[-1]), field.scale)}"


def _largest_lead(
    field: Field, both: Aligned, found: Sequence[Stretch], place: int, *, last_place: bool = False
) -> _Lead:
    """The step at which a series is furthest ahead of the next, among those where it leads."""
    good = -both.good if last_place else both.good
    rivals = np.delete(good, place, axis=0)
    leads = []
    for one in found:
        if one.leader == place:
            inside = slice(one.first, one.last + 1)
            ahead = good[place, inside] - np.nanmax(rivals[:, inside], axis=0)
            at = one.first + int(np.nanargmax(ahead))
            leads.append((float(np.nanmax(ahead)), at))
    largest, at = max(leads, key=lambda lead: (lead[0], -lead[1]))
    others = [name for name in both.names if name != both.names[place]]
    rival = others[int(np.nanargmax(rivals[:, at]))]
    choices = both.steps.size * (len(both.names) - 1)
    step = float(both.steps[at])
    held = field.threshold(*sorted((both.names[place], rival)), choices=choices, steps=(step,))
    return _Lead(held.strength(largest), held.words(largest), step)


def _other(both: Aligned, place: int) -> str:
    return both.names[1 - place]
