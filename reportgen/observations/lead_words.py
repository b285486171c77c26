"""What is said of leads: where a series leads, by what it is told, and where nobody does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.facts.fact_words import describe_position
from reportgen.observations.leads import merge_stretches
from reportgen.observations.phrases import format_few, format_range, format_stretches
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.observations.aligned import Aligned
    from reportgen.observations.field import Field
    from reportgen.observations.leads import Stretch

_PAIR = 2
_MOST_SAID = 3
"""More stretches of one series than these are put together, or counted."""


class LeadWords(NamedTuple):
    """What is said of who leads; where neither way is better, of who is highest.

    Attributes:
        leads: that one leads, with the steps behind it.
        leads_other: that one of two leads throughout, with the other's name behind it.
        change: the head of a sentence about changes, before how often.
        last: the last place.
        ahead, behind: how one stands to another.
        alone: which of two reads higher, noise or not.
        label: at the step at which a series takes the lead.
    """

    leads: str
    leads_other: str
    change: str
    last: str
    ahead: str
    behind: str
    alone: str
    label: str


_LEADING = LeadWords(
    leads="leads",
    leads_other="leads",
    change="The lead changes",
    last="last",
    ahead="ahead of",
    behind="behind",
    alone="ahead",
    label="takes the lead",
)
_HIGHEST = LeadWords(
    leads="is highest",
    leads_other="is above",
    change="Which is highest changes",
    last="lowest",
    ahead="above",
    behind="below",
    alone="above",
    label="becomes highest",
)


def get_lead_words(field: Field) -> LeadWords:
    """The words for who leads a metric, or stands highest where neither way is better."""
    if not field.ranks:
        return _HIGHEST
    if field.sign > 0:
        return _LEADING
    return _LEADING._replace(change="The lead, which the lower value has, changes")


def describe_when(field: Field, both: Aligned, found: Sequence[Stretch], leader: int) -> str:
    """The steps at which one series leads: each stretch, or how many steps of a range, or of all."""
    own = [one for one in found if one.leader == leader]
    if len(own) <= _MOST_SAID:
        ends = [(float(both.steps[one.first]), float(both.steps[one.last])) for one in own]
        return format_stretches(ends, float(both.steps[-1]), field.scale)
    merged = [one for one in merge_stretches(found) if one.leader == leader]
    if len(merged) == 1:
        (whole,) = merged
        total = sum(one.last - one.first + 1 for one in own)
        first, last = float(both.steps[whole.first]), float(both.steps[whole.last])
        steps = f"{whole.last - whole.first + 1:,} steps"
        return f"at {total:,} of the {steps} from {format_range(first, last, field.scale)}"
    total = sum(one.last - one.first + 1 for one in own)
    return f"at {format_count(total, 'step')} of {both.steps.size:,}"


def describe_absent(field: Field, both: Aligned, found: Sequence[Stretch]) -> str:
    """Which series have no readings at some of the steps that are told, where there are three or more."""
    places = np.concatenate([np.arange(one.first, one.last + 1) for one in found])
    said = []
    for place, name in enumerate(both.names):
        there = np.flatnonzero(np.isfinite(both.good[place]))
        if places.min() < there[0]:
            said.append(f"{name} starts {describe_position(float(both.steps[there[0]]), field.scale)}")
        if places.max() > there[-1]:
            said.append(f"{name} ends {describe_position(float(both.steps[there[-1]]), field.scale)}")
    if len(both.names) == _PAIR or not said:
        return ""
    return f"; {format_few(said, _MOST_SAID)}"
