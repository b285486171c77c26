"""The rule ``best``: who has the best value and where, and who ends best."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reportgen.facts.fact_words import at_step
from reportgen.observations.phrases import few, level_said, runs_each, value_fact
from reportgen.observations.ranked import ranked_ends, ranked_peaks
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.observations.field import Field
    from reportgen.observations.ranked import Ranked

_UNDECIDED = 1.0
"""Strength of a doubt."""

_PAIR = 2
_MOST_IN_EVIDENCE, _MOST_NAMED = 8, 5


def best(field: Field) -> Iterator[Observation]:
    """Who has the best value, told together with where it ends, and who ends best.

    Where neither way is better: who has the highest value and who the lowest, but for what is only the start.
    """
    if len(field.curves) < _PAIR or not field.plotted_range:
        return
    if field.ranks:
        yield _observation(field, ranked_peaks(field), "peak")
        return
    turned = replace(field, scale=replace(field.scale, higher_is_better=False))
    for one, fact in ((field, "peak"), (turned, "trough")):
        extreme = ranked_peaks(one)
        if any(extreme.steps[name] > one.points(name).steps[0] for name in extreme.level):
            yield _observation(one, extreme, fact)


def _observation(field: Field, peak: Ranked, fact: str) -> Observation:
    """Who has the best value by a field's way, and who ends best; ``fact`` is what claims call that value."""
    end = ranked_ends(field)
    decided = len(peak.level) == 1
    names = tuple(dict.fromkeys([*peak.order, *end.order]))
    where = [peak.steps[name] for name in peak.level]
    reading = field.reading(peak.values[peak.first], peak.first)
    return Observation(
        rule=Rule.BEST,
        text=_one_best(field, peak, end) if decided else _several_best(field, peak, end),
        evidence=tuple(
            value_fact(field, name, series, found.values[series], found.steps[series])
            for series in names[:_MOST_IN_EVIDENCE]
            for name, found in ((fact, peak), ("final", end))
        ),
        threshold=peak.held.words(peak.lead),
        series=names,
        strength=peak.held.strength(peak.lead) if decided else _UNDECIDED,
        from_step=min(where),
        to_step=max(where),
        mark_series=peak.first if decided else None,
        mark=peak.steps[peak.first] if decided else None,
        label=f"{_superlative(field)} {reading}" if decided else "",
    )


def _one_best(field: Field, peak: Ranked, end: Ranked) -> str:
    """One series has the best value: where, and how it and the others end."""
    first, most = peak.first, _superlative(field)
    head = f"{first} has the {most} value, {_reading(field, peak, first)} {_there(field, peak, first)}"
    finish = _reading(field, end, first)
    others = [name for name in end.level if name != first]
    if first not in end.level:
        verb = "ends" if len(end.level) == 1 else "end"
        return f"{head}, but ends at {finish}; {_ended(field, end, end.level)} {verb} {most}."
    if others and end.open:
        doubt = f"cannot be told from {_ended(field, end, others)} {_runs_at_end(field, end)}"
        return f"{head}, and ends at {finish}, where it {doubt}."
    if others:
        same = all(_reading(field, end, name) == finish for name in others)
        if same:
            return f"{head}, and ends at {finish}, level with {few(others, _MOST_NAMED)}."
        return f"{head}, and ends at {finish}, within 1 % of the range of {_ended(field, end, others)}."
    at_last = peak.steps[first] == end.steps[first]
    ended = f", and ends {most}" if at_last else f", and ends {most}, at {finish}"
    return f"{head}{ended}; {_next(field, end)}."


def _several_best(field: Field, peak: Ranked, end: Ranked) -> str:
    """Several share the best value, or cannot be told apart; and how they end."""
    most = _superlative(field)
    who = few(sorted(peak.level), _MOST_NAMED)
    readings = {_reading(field, peak, name) for name in peak.level}
    places = few([f"{name} {_there(field, peak, name)}" for name in peak.level], _MOST_NAMED)
    valued = few(
        [f"{name} {_reading(field, peak, name)} {_there(field, peak, name)}" for name in peak.level],
        _MOST_NAMED,
    )
    if peak.open:
        doubt = f"cannot be told {runs_each(field, peak.level)}"
        which = most if len(peak.level) > _PAIR else "higher" if field.sign > 0 else "lower"
        head = f"Which of {who} has the {which} {'peak' if field.sign > 0 else 'minimum'} {doubt}: {valued}"
    elif len(readings) == 1:
        head = f"{who} reach the same {most} value, {readings.pop()}: {places}"
    else:
        head = f"{who} reach nearly the same {most} value: {valued}"
    if len(end.level) == 1:
        return f"{head}. {end.first} ends {most}, at {_reading(field, end, end.first)}; {_next(field, end)}."
    ends = _ended(field, end, end.level)
    if not end.open:
        return f"{head}. At the end {ends} {level_said(end.values, end.level, field)}."
    if set(end.level) == set(peak.level) and all(peak.steps[name] == end.steps[name] for name in end.level):
        return f"{head}, where they end."
    if set(end.level) == set(peak.level) and peak.open:
        return f"{head}. Nor can they be told apart by their last readings: {ends}."
    return f"{head}. By their last readings {ends} cannot be told apart."


def _runs_at_end(field: Field, end: Ranked) -> str:
    return runs_each(field, end.level, end.steps[end.first])


def _next(field: Field, end: Ranked) -> str:
    second = end.order[1]
    return f"{_ended(field, end, (second,))} {'is next' if len(end.order) > _PAIR else 'follows'}"


def _ended(field: Field, end: Ranked, names: Sequence[str]) -> str:
    """Names with their last values, and the step where a series stops before others."""
    latest = max(end.steps.values())
    early = {name: f" {_there(field, end, name)}" for name in names if end.steps[name] < latest}
    said = [f"{name} ({_reading(field, end, name)}{early.get(name, '')})" for name in names]
    return few(said, _MOST_NAMED)


def _there(field: Field, found: Ranked, name: str) -> str:
    return at_step(found.steps[name], field.scale)


def _reading(field: Field, found: Ranked, name: str) -> str:
    return field.reading(found.values[name], *found.order)


def _superlative(field: Field) -> str:
    return "highest" if field.sign > 0 else "lowest"
