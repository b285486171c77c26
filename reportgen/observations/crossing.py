"""The rule ``observe_crossing``: where the leader changes, who led in between, and who is last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.observations.lead_words import describe_absent, describe_when, get_lead_words
from reportgen.observations.leads import find_largest_leads, find_leads, find_stretches, merge_stretches
from reportgen.observations.leads_evidence import describe_ahead, describe_largest_leads, describe_readings
from reportgen.observations.thresholds import describe_share
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.observations.field import Field
    from reportgen.observations.leads import Leads, Stretch

_FEWEST_SERIES = 2
_MOSTLY = 0.5
"""Last throughout is who is last at more than this share of the steps, and nobody else at any."""
_TESTED = 8.0
"""Strength of what a test says."""


def observe_crossing(field: Field) -> Iterator[Observation]:
    """Who leads where; and who is last throughout."""
    if len(field.curves) < _FEWEST_SERIES:
        return
    side = find_leads(field)
    if side is not None and (found := find_stretches(side.led)):
        yield _make_lead_observation(field, side, found)
    last = find_leads(field, turned=True) if len(field.curves) > _FEWEST_SERIES else None
    behind = find_stretches(last.led) if last is not None else []
    mostly = last is not None and sum(one.last - one.first + 1 for one in behind) > _MOSTLY * last.led.size
    if last is not None and mostly and len({one.leader for one in behind}) == 1:
        yield _make_last_observation(field, last, behind)


def _make_lead_observation(field: Field, side: Leads, found: list[Stretch]) -> Observation:
    both, merged = side.both, merge_stretches(found)
    who = list(dict.fromkeys(one.leader for one in found))
    names = [both.names[one] for one in who]
    changes = len(merged) - 1
    last = merged[-1]
    evidence = (*describe_readings(field, both), *describe_ahead(field, side, last.leader))
    strength, threshold = _describe_basis(field, side, found)
    return Observation(
        rule=Rule.CROSSING,
        text=f"{_describe_leaders(field, side, found)}{describe_absent(field, both, found)}.",
        evidence=evidence or describe_largest_leads(field, side, found),
        threshold=threshold,
        series=tuple(names) if changes else tuple(dict.fromkeys([*names, *both.names])),
        strength=strength,
        from_step=float(both.steps[merged[0].last if changes else found[0].first]),
        to_step=float(both.steps[last.first if changes else found[-1].last]),
        mark_series=both.names[last.leader] if changes else None,
        mark=float(both.steps[last.first]) if changes else None,
        label=get_lead_words(field).label if changes else "",
    )


def _describe_leaders(field: Field, side: Leads, found: list[Stretch]) -> str:
    """Who leads where: that the lead changes is said only where a test has found each leader."""
    both, words = side.both, get_lead_words(field)
    who = list(dict.fromkeys(one.leader for one in found))
    said = [f"{both.names[one]} {describe_when(field, both, found, one)}" for one in who]
    first = both.names[who[0]]
    against = f" {both.names[1 - who[0]]}" if len(who) == 1 and len(both.names) == _FEWEST_SERIES else ""
    rest = said[0].removeprefix(first)
    if side.tested is None:
        ahead = f"is {words.ahead}{against}" if against else "is ahead" if field.ranks else "is highest"
        return f"By the readings alone, {', '.join([f'{first} {ahead}{rest}', *said[1:]])}"
    said[0] = f"{first} {words.leads_other if against else words.leads}{against}{rest}"
    changes = len(merge_stretches(found)) - 1
    times = {1: "once", 2: "twice"}.get(changes, f"{changes:,} times")
    return f"{f'{words.change} {times}: ' if changes else ''}{', '.join(said)}"


def _make_last_observation(field: Field, side: Leads, found: list[Stretch]) -> Observation:
    both, place = side.both, found[0].leader
    name = both.names[place]
    every = sum(one.last - one.first + 1 for one in found) == int(np.isfinite(both.good[place]).sum())
    where = "at every step" if every else describe_when(field, both, found, place)
    alone = "By the readings alone, " if side.tested is None else ""
    strength, threshold = _describe_basis(field, side, found)
    return Observation(
        rule=Rule.CROSSING,
        text=f"{alone}{name} is {get_lead_words(field).last} {where}.",
        evidence=describe_ahead(field, side, place) or describe_largest_leads(field, side, found),
        threshold=threshold,
        series=(name, *(one for one in both.names if one != name)),
        strength=strength,
        from_step=float(both.steps[found[0].first]),
        to_step=float(both.steps[found[-1].last]),
    )


def _describe_basis(field: Field, side: Leads, found: list[Stretch]) -> tuple[float, str]:
    """How clear the weakest lead is, and in words."""
    if side.tested is not None:
        by = "means over windows of readings differ, by t over all windows and pairs"
        return _TESTED, f"{by}; {describe_share(field.share_of_leads)}"
    largest = find_largest_leads(side, found, list(dict.fromkeys(one.leader for one in found)))
    weakest = min(one.size for one in largest)
    return field.readings_alone.strength(weakest), field.readings_alone.describe(weakest)
