"""The rule ``crossing``: where the leader changes, who led in between, and who is never overtaken."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.observations.aligned import aligned
from reportgen.observations.lead_words import absent, in_means, lead_words, nobody, when
from reportgen.observations.leads import largest_of, leaders, stretches, turns
from reportgen.observations.leads_evidence import ahead_of_each, largest_leads, readings_alone
from reportgen.outcomes import Verdict
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.model import IntArray
    from reportgen.observations.aligned import Aligned
    from reportgen.observations.field import Field
    from reportgen.observations.leads import Stretch
    from reportgen.observations.thresholds import Held

_PAIR = 2
_MOSTLY = 0.5
"""Last throughout is who is last at more than this share of the steps, and nobody else at any."""


class _Lead(NamedTuple):
    """Where a series leads by most: by how many thresholds, and the threshold in words."""

    strength: float
    words: str


def crossing(field: Field) -> Iterator[Observation]:
    """Who leads where, by more than noise; and who is last throughout."""
    if len(field.curves) < _PAIR:
        return
    both = aligned(field, means=True)
    found = stretches(_as_tested(field, both, leaders(both)))
    if found:
        yield _leading(field, both, found)
    behind = stretches(_as_tested(field, both, leaders(both, last_place=True), last_place=True))
    mostly = sum(one.last - one.first + 1 for one in behind) > _MOSTLY * both.steps.size
    if len(both.names) > _PAIR and mostly and len({one.leader for one in behind}) == 1:
        yield _last_throughout(field, both, behind)


def _as_tested(field: Field, both: Aligned, led: IntArray, *, last_place: bool = False) -> IntArray:
    """Who leads the last step as the test over runs says.

    By running means one may lead without it, and one that leads nowhere else does not lead by them.
    """
    if not both.read[:, -1].all():
        return led
    finals = {name: field.sign * float(field.points(name).values[-1]) for name in both.names}
    name = (min if last_place else max)(both.names, key=lambda one: finals[one])
    first = both.names.index(name)
    tests = [field.tested(name, other) for other in both.names if other != name]
    if any(one is None for one in tests):
        return led
    wanted = Verdict.WORSE if last_place else Verdict.BETTER
    ahead = all(one is not None and one.verdict is wanted for one in tests)
    if max(both.widths) == 1:
        led[-1] = first if ahead else -1
    elif ahead and first in led:
        led[-1] = first
    return led


def _leading(field: Field, both: Aligned, found: list[Stretch]) -> Observation:
    merged = turns(found)
    who = list(dict.fromkeys(one.leader for one in found))
    said = [f"{both.names[one]} {when(field, both, found, one)}" for one in who]
    names = [both.names[one] for one in who]
    against = f" {both.names[1 - who[0]]}" if len(who) == 1 and len(both.names) == _PAIR else ""
    words = lead_words(field)
    leads = words.leads_other if against else words.leads
    said[0] = f"{names[0]} {leads}{against}{said[0].removeprefix(names[0])}"
    changes = len(merged) - 1
    times = {1: "once", 2: "twice"}.get(changes, f"{changes:,} times")
    head = f"{words.change} {times}: " if changes else ""
    weakest = min((_largest_lead(field, both, found, one) for one in who), key=lambda lead: lead.strength)
    last = merged[-1]
    rest = f"{in_means(both)}{nobody(field, both, found)}{absent(field, both, found)}"
    evidence = (*readings_alone(field, both), *ahead_of_each(field, both, last.leader))
    return Observation(
        rule=Rule.CROSSING,
        text=f"{head}{', '.join(said)}{rest}.",
        evidence=evidence or largest_leads(field, both, found),
        threshold=weakest.words,
        series=tuple(names) if changes else tuple(dict.fromkeys([*names, *both.names])),
        strength=weakest.strength,
        from_step=float(both.steps[merged[0].last if changes else found[0].first]),
        to_step=float(both.steps[last.first if changes else found[-1].last]),
        mark_series=both.names[last.leader] if changes else None,
        mark=float(both.steps[last.first]) if changes else None,
        label=words.label if changes else "",
    )


def _last_throughout(field: Field, both: Aligned, found: list[Stretch]) -> Observation:
    place = found[0].leader
    name = both.names[place]
    every = sum(one.last - one.first + 1 for one in found) == int(np.isfinite(both.good[place]).sum())
    where = "at every step" if every else when(field, both, found, place)
    last = lead_words(field).last
    others = "" if every else f"; nobody else is {last} by more than noise"
    lead = _largest_lead(field, both, found, place, last_place=True)
    evidence = ahead_of_each(field, both, place, last_place=True)
    return Observation(
        rule=Rule.CROSSING,
        text=f"{name} is {last} {where}{in_means(both)}{others}.",
        evidence=evidence or largest_leads(field, both, found, last_place=True),
        threshold=lead.words,
        series=(name, *(one for one in both.names if one != name)),
        strength=lead.strength,
        from_step=float(both.steps[found[0].first]),
        to_step=float(both.steps[found[-1].last]),
    )


def _largest_lead(
    field: Field, both: Aligned, found: list[Stretch], place: int, *, last_place: bool = False
) -> _Lead:
    """What the furthest that a series is ahead of the next, where it leads, is held against."""
    (largest,) = largest_of(both, found, (place,), last_place=last_place)
    pair = sorted((place, largest.rival))
    names = both.names[pair[0]], both.names[pair[1]]
    held: Held = field.threshold(
        *names,
        choices=both.choices,
        steps=(float(both.steps[largest.at]),),
        readings=(both.widths[pair[0]], both.widths[pair[1]]),
    )
    if largest.at == both.steps.size - 1 and not held.passed(largest.size):
        held = field.at_end(*names)
    return _Lead(held.strength(largest.size), held.words(largest.size))
