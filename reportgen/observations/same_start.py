"""The rule ``same start``: where series start, and how long their readings stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.fact_words import describe_position, describe_step
from reportgen.observations.aligned import SAME, align_series
from reportgen.observations.groups import group_values
from reportgen.observations.phrases import format_names, format_span, format_value_fact, format_with_values
from reportgen.observations.thresholds import describe_share
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.observations.field import Field


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
        text = f"{clear[0]} starts higher than {clear[1]}: {high} against {low} {describe_position(begin, field.scale)}"
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
