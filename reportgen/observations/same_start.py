"""The rule ``same start``: where series start, and how long their readings stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import at_step, step_said
from reportgen.observations.aligned import SAME, aligned
from reportgen.observations.groups import groups
from reportgen.observations.phrases import named, span, value_fact, with_values
from reportgen.observations.thresholds import asked
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.observations.field import Field


_ALIKE = 3.0
"""Strength of a common start, which no threshold measures."""


def same_start(field: Field) -> Iterator[Observation]:
    """Where the readings of all series that begin at the first step start, and which clearly higher."""
    first = {name: field.points(name) for name in field.names}
    begin = min(float(one.steps[0]) for one in first.values())
    starts = {name: float(one.values[0]) for name, one in sorted(first.items()) if one.steps[0] == begin}
    if len(starts) < 2:  # noqa: PLR2004 - one series starts like itself
        return
    clear = _clear_order(field, starts)
    if clear is not None:
        yield _apart(field, starts, begin, clear)
    elif field.few and field.readings_alone.passed(_spread(starts)):
        yield _apart(field, starts, begin, None)
    else:
        yield _alike(field, starts, begin)


def _clear_order(field: Field, starts: Mapping[str, float]) -> tuple[str, str] | None:
    """The highest and the lowest start, where a test tells them apart."""
    both, tested = aligned(field), field.windows
    if tested is None:
        return None
    high, low = (pick(starts, key=lambda name: starts[name]) for pick in (max, min))
    ahead, behind = (high, low) if field.sign > 0 else (low, high)
    clear = tested.ahead(both.names.index(ahead), narrow=True)[both.names.index(behind), 0]
    return (high, low) if clear else None


def _alike(field: Field, starts: Mapping[str, float], begin: float) -> Observation:
    names = tuple(starts)
    who = named(names, len(field.curves))
    until = _same_until(field, names) if field.few else begin
    more = ""
    if until > begin:
        last = max(float(field.points(name).steps[-1]) for name in names)
        end = "to the end" if until == last else f"up to {step_said(until, field.scale)}"
        more = f", and they read the same {end}"
    readings = span(starts, names, field)
    lie = "lie at" if " to " in readings else "are"
    return Observation(
        rule=Rule.SAME_START,
        text=f"The first readings of {who} {lie} {readings} {at_step(begin, field.scale)}{more}.",
        evidence=tuple(value_fact(field, "start", name, starts[name], begin) for name in names),
        threshold=field.readings_alone.words(_spread(starts)),
        series=names,
        strength=_ALIKE,
        from_step=begin,
        to_step=until,
    )


def _same_until(field: Field, names: tuple[str, ...]) -> float:
    """The last step up to which all readings are within 1 % of the range of each other."""
    both = aligned(field, names)
    most = np.ptp(both.good, axis=0)
    apart = ~(most <= both.least * (1 + SAME))
    first = int(np.argmax(apart)) if apart.any() else both.steps.size
    return float(both.steps[max(first - 1, 0)])


def _apart(
    field: Field, starts: Mapping[str, float], begin: float, clear: tuple[str, str] | None
) -> Observation:
    found = groups(field, starts, lambda _, __: field.readings_alone)
    order = [name for group in found.members for name in group]
    spread = _spread(starts)
    text = _unlike(field, starts, begin, found.members)
    if clear is not None:
        high, low = (field.reading(starts[name], name) for name in clear)
        text = f"{clear[0]} starts higher than {clear[1]}: {high} against {low} {at_step(begin, field.scale)}"
    held = field.readings_alone
    asks = f"means of the first readings differ, by t; {asked(field.share_of_leads)}"
    return Observation(
        rule=Rule.SAME_START,
        text=f"{text}.",
        evidence=tuple(value_fact(field, "start", name, starts[name], begin) for name in order),
        threshold=asks if clear is not None else held.words(found.gap or spread),
        series=tuple(order) if clear is None else clear,
        strength=held.strength(spread),
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
        return f"The first reading of {top} is higher than that of {bottom}: {high} against {low} {at}"
    if len(members) == 1 or len(members) == len(order):
        ends = with_values(starts, (bottom, top), field)
        return f"The first readings differ: {at} they lie between {ends}"
    said = [with_values(starts, group, field) for group in members[:-1]]
    rest = members[-1]
    others = f"the other {len(rest)} at {span(starts, rest, field)}"
    last = others if len(rest) > 2 else with_values(starts, rest, field)  # noqa: PLR2004 - short enough to name
    stand = "stands" if len(order) - len(rest) == 1 else "stand"
    return f"The first readings differ: {at} {'; '.join(said)} {stand} apart from {last}"


def _spread(starts: Mapping[str, float]) -> float:
    return max(starts.values()) - min(starts.values())
