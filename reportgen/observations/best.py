"""The rule ``observe_best``: who has the best value and where, and who ends best."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.facts.fact_words import describe_position
from reportgen.observations.phrases import format_few, format_value_fact
from reportgen.observations.ranked import rank_ends, rank_peaks
from reportgen.observations.thresholds import Tested, Threshold
from reportgen.outcomes import Verdict
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.observations.field import Field
    from reportgen.observations.ranked import Ranking

_STRENGTH = 3.0
"""It is what a reader asks for first."""

_PAIR = 2
_MOST_IN_EVIDENCE, _MOST_NAMED = 8, 5


def observe_best(field: Field) -> Iterator[Observation]:
    """Who has the best value, told together with where it ends, and who ends best.

    Where neither way is better: who has the highest value and who the lowest, but for what is only the start.
    """
    if len(field.curves) < _PAIR or not field.plotted_range:
        return
    if field.ranks:
        yield _make_observation(field, rank_peaks(field), "peak")
        return
    turned = replace(field, scale=replace(field.scale, higher_is_better=False))
    for one, fact in ((field, "peak"), (turned, "trough")):
        extreme = rank_peaks(one)
        if any(extreme.steps[name] > one.get_points(name).steps[0] for name in extreme.level):
            yield _make_observation(one, extreme, fact)


def _make_observation(field: Field, peak: Ranking, fact: str) -> Observation:
    """Who has the best value by a field's way, and who ends best; ``fact`` is what claims call that value."""
    end = rank_ends(field)
    decided = len(peak.level) == 1
    names = tuple(dict.fromkeys([*peak.order, *end.order]))
    where = [peak.steps[name] for name in peak.level]
    reading = field.format_reading(peak.values[peak.first], peak.first)
    return Observation(
        rule=Rule.BEST,
        text=f"{_describe_peaks(field, peak)}. {_describe_ends(field, end)}.",
        evidence=tuple(
            format_value_fact(field, name, series, found.values[series], found.steps[series])
            for series in names[:_MOST_IN_EVIDENCE]
            for name, found in ((fact, peak), ("final", end))
        ),
        threshold=end.held.describe(end.lead),
        series=names,
        strength=_STRENGTH,
        from_step=min(where),
        to_step=max(where),
        mark_series=peak.first if decided else None,
        mark=peak.steps[peak.first] if decided else None,
        label=f"{_get_superlative(field)} {reading}" if decided else "",
    )


def _describe_peaks(field: Field, peak: Ranking) -> str:
    """The best reading of all, and whose it is; of a pair the other's, too."""
    most, first = _get_superlative(field), peak.first
    reading = _format_reading(field, peak, first)
    if len(peak.level) == 1:
        head = f"The {most} reading is {reading}, of {first} {_format_position(field, peak, first)}"
    elif len({_format_reading(field, peak, name) for name in peak.level}) == 1:
        places = format_few(
            [f"{name} {_format_position(field, peak, name)}" for name in peak.level], _MOST_NAMED
        )
        return f"The {most} reading is {reading}, of {places}"
    else:
        return f"The {most} readings are {_valued(field, peak, peak.level)}"
    second = peak.order[1]
    if len(peak.order) > _PAIR:
        return head
    return f"{head}; that of {second} is {_format_reading(field, peak, second)} {_format_position(field, peak, second)}"


def _describe_ends(field: Field, end: Ranking) -> str:
    """Who ends best, where a test tells; otherwise the last readings."""
    most, words = _get_superlative(field), "end" if len(end.level) > 1 else "ends"
    tested = not isinstance(end.held, Threshold)
    if tested and len(end.level) == 1:
        return f"{end.first} {words} {most}, at {_format_reading(field, end, end.first)}; {_describe_next(field, end)}"
    if tested and isinstance(end.held, Tested):
        last = f"The last readings are {_format_ends(field, end, end.order)}"
        others = (field.test_ends(end.first, name) for name in end.order[1:])
        won = any(one is not None and one.verdict is not Verdict.UNCLEAR for one in others)
        return last if won else f"{last}: no clear winner"
    same = len({_format_reading(field, end, name) for name in end.level}) == 1 and len(end.level) > 1
    if same:
        return f"The {most} last reading is {_format_reading(field, end, end.first)}, of {format_few(end.level, _MOST_NAMED)}"
    if len(end.order) == _PAIR:
        return f"The last readings are {_format_ends(field, end, end.order)}"
    return f"The {most} last reading is {_format_reading(field, end, end.first)}, of {end.first}; {_describe_next(field, end)}"


def _valued(field: Field, found: Ranking, names: Sequence[str]) -> str:
    said = [
        f"{name} {_format_reading(field, found, name)} {_format_position(field, found, name)}"
        for name in names
    ]
    return format_few(said, _MOST_NAMED)


def _describe_next(field: Field, end: Ranking) -> str:
    second = end.order[1]
    return f"{_format_ends(field, end, (second,))} {'is next' if len(end.order) > _PAIR else 'follows'}"


def _format_ends(field: Field, end: Ranking, names: Sequence[str]) -> str:
    """Names with their last values, and the step where a series stops before others."""
    latest = max(end.steps.values())
    early = {name: f" {_format_position(field, end, name)}" for name in names if end.steps[name] < latest}
    said = [f"{name} ({_format_reading(field, end, name)}{early.get(name, '')})" for name in names]
    return format_few(said, _MOST_NAMED)


def _format_position(field: Field, found: Ranking, name: str) -> str:
    return describe_position(found.steps[name], field.scale)


def _format_reading(field: Field, found: Ranking, name: str) -> str:
    return field.format_reading(found.values[name], *found.order)


def _get_superlative(field: Field) -> str:
    return "highest" if field.sign > 0 else "lowest"
