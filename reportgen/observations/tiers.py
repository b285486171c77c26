"""The rule ``observe_tiers``: groups of series by their last values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.facts.fact_words import describe_position
from reportgen.observations.groups import group_values
from reportgen.observations.phrases import format_few, format_value_fact
from reportgen.observations.ranked import rank_ends
from reportgen.observations.thresholds import Threshold
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.observations.field import Field
    from reportgen.observations.ranked import Ranking

_BOTH, _FEWEST = 2, 3
_MOST_IN_GROUP = 8
_COUNT_WORDS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six"}


def observe_tiers(field: Field) -> Iterator[Observation]:
    """Groups of three or more series whose last values stand apart; silent where each stands alone."""
    if len(field.curves) < _FEWEST:
        return
    end = rank_ends(field)
    last = max(end.steps.values())
    found = group_values(field, end.values, field.choose_end_criterion)
    count = len(found.members)
    if count == 1 or (count == len(end.order) and not field.is_noisy(*end.order)):
        return
    said = [_describe_group(field, end, names, last) for names in found.members]
    alone = "; all differ by more than noise" if count == len(end.order) else ""
    first = "best" if field.ranks else "highest"
    by = "by the last readings alone" if isinstance(found.threshold, Threshold) else "at the end"
    yield Observation(
        rule=Rule.TIERS,
        text=f"{_COUNT_WORDS.get(count, str(count))} groups {by}, {first} first: {'; '.join(said)}{alone}.",
        evidence=tuple(
            format_value_fact(field, "final", name, end.values[name], end.steps[name]) for name in end.order
        ),
        threshold=found.threshold.describe(found.gap),
        series=end.order,
        strength=found.threshold.strength(found.gap),
        from_step=min(end.steps.values()),
        to_step=last,
    )


def _describe_group(field: Field, end: Ranking, names: Sequence[str], last: float) -> str:
    """The series of a group, with one value where they share it."""
    readings = [field.format_reading(end.values[name], *end.order) for name in names]
    early = {
        name: f" {describe_position(end.steps[name], field.scale)}" if end.steps[name] < last else ""
        for name in names
    }
    if len(names) > 1 and len(set(readings)) == 1 and not any(early.values()):
        every = "both" if len(names) == _BOTH else "all"
        return f"{format_few(names, _MOST_IN_GROUP)} ({every} {readings[0]})"
    said = [f"{name} ({reading}{early[name]})" for name, reading in zip(names, readings, strict=True)]
    return format_few(said, _MOST_IN_GROUP)
