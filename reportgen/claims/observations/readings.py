"""Readings: what anyone can see again in the values, each sentence with these and their steps.

They hold whatever the noise is, and claim nothing about another run. Only values at steps at which a series
was read count, and values within the precision of their source are level.
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from reportgen.claims.fact_words import describe_step, format_few
from reportgen.claims.observations.field import observe
from reportgen.claims.vocabulary import format_call
from reportgen.core.words import format_count
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.claims.observations.field import Field, Reading, Series
    from reportgen.core.model import FloatArray, IntArray
    from reportgen.core.statements import Observation


_PAIR = 2
_MOST_NAMED = 8


def observe_ends(field: Field) -> Iterator[Observation]:
    """Yield where each series starts and ends."""
    moving = [one for one in field.series if one.steps.size > 1]
    if not moving:
        return
    ends = [(one.read(0), one.read(-1)) for one in moving]
    parts = [
        f"{first.series.name} starts at {first} {first.position} and ends at {last.placed}" if not place else
        f"{first.series.name} at {first.placed} and {last.placed}"
        for place, (first, last) in enumerate(ends)
    ]  # fmt: skip
    evidence = [
        reading.format_fact(fact)
        for pair in ends[:_MOST_NAMED]
        for fact, reading in zip(("start", "final"), pair, strict=True)
    ]
    steps = min(first.step for first, _ in ends), max(last.step for _, last in ends)
    basis = field.rate(max(abs(last.value - first.value) for first, last in ends))
    text = f"{'; '.join(parts[:_MOST_NAMED])}."
    yield observe(Rule.ENDS, text, evidence, basis, [one.name for one in moving], steps=steps)


def observe_best(field: Field) -> Iterator[Observation]:
    """Yield the best reading, and all series whose best is level with it; of two also the other one's."""
    if not field.plotted_range:
        return
    best = sorted(
        (one.find_best() for one in field.series),
        key=lambda one: (-field.sign * one.value, one.step, one.series.name),
    )
    first, *others = best
    most = "highest" if field.sign > 0 else "lowest"
    level = [one for one in others if field.is_level(first.value, one.value)]
    names = [one.series.name for one in best]
    if level:
        listed = [f"{one.series.name} ({one.placed})" for one in (first, *level)]
        text = f"The {most} values are level: {format_few(listed, _MOST_NAMED)}."
    else:
        other = f"; {names[1]} reaches {others[0].placed}" if len(best) == _PAIR else ""
        text = f"{names[0]} has the {most} value, {first.placed}{other}."
    yield observe(
        Rule.BEST,
        text,
        [one.format_fact("peak") for one in best[:_MOST_NAMED]],
        (field.criterion, 1.0),
        names,
        steps=(first.step, first.step),
        mark=first,
        label=f"{most} {first}",
    )


def observe_order(field: Field) -> Iterator[Observation]:
    """Yield the order of the last readings, each with its step if others end later, and who is level."""
    if len(field.series) < _PAIR:
        return
    read = [one.read(-1) for one in field.series]
    read.sort(key=lambda one: (-field.sign * one.value, one.series.name))
    latest = max(one.step for one in read)
    listed = [f"{one.series.name} ({one if one.step == latest else one.placed})" for one in read]
    level = [
        f"{a.series.name} and {b.series.name}" for a, b in pairwise(read) if field.is_level(a.value, b.value)
    ]
    direction = "best" if field.ranks else "highest"
    text = f"{listed[0]} ends {direction}, before {format_few(listed[1:], _MOST_NAMED)}."
    if level and len(read) == _PAIR:
        text = f"{listed[0]} and {listed[1]} end level."
    elif level:
        text = f"The last values, {direction} first: {format_few(listed, _MOST_NAMED)}; level: "
        text += f"{', '.join(level[:_MOST_NAMED])}."
    evidence = [one.format_fact("final") for one in read[:_MOST_NAMED]]
    basis, names = field.rate(read[0].value - read[-1].value), [one.series.name for one in read]
    steps = min(one.step for one in read), latest
    yield observe(Rule.ORDER, text, evidence, basis, names, steps=steps)


class _Shared(NamedTuple):
    """Two series at the steps at which both were read."""

    a: Series
    b: Series
    steps: FloatArray
    places: tuple[IntArray, IntArray]
    difference: FloatArray  # a minus b, positive where a is better
    signs: FloatArray  # of the difference; 0 where they are level

    def read(self, place: int) -> tuple[Reading, Reading]:
        """Return both readings at a place of the steps."""
        return self.a.read(int(self.places[0][place])), self.b.read(int(self.places[1][place]))


def _share(a: Series, b: Series) -> _Shared:
    steps, first, second = np.intersect1d(a.steps, b.steps, assume_unique=True, return_indices=True)
    sides = a.values[first], b.values[second]
    difference = a.field.sign * (sides[0] - sides[1])
    signs = a.field.find_signs(difference, np.maximum(np.abs(sides[0]), np.abs(sides[1])))
    return _Shared(a, b, steps, (first, second), difference, signs)


def observe_crossings(field: Field) -> Iterator[Observation]:
    """Yield between which common steps the order of a pair changes; of two series also that it does not."""
    for a, b in combinations(field.series, 2):
        shared = _share(a, b)
        apart = np.flatnonzero(shared.signs)
        turns = np.flatnonzero(np.diff(shared.signs[apart]))
        if turns.size:
            yield _describe_crossing(shared, apart, turns)
        elif len(field.series) == _PAIR and apart.size:
            yield _describe_lead(shared, apart)


def _describe_crossing(shared: _Shared, apart: IntArray, turns: IntArray) -> Observation:
    field, names = shared.a.field, (shared.a.name, shared.b.name)
    before, after = int(apart[turns[-1]]), int(apart[turns[-1] + 1])
    turned = int(shared.signs[after] < 0)
    winner = names[turned]
    first, last = float(shared.steps[before]), float(shared.steps[after])
    between = f"between {describe_step(first, field.scale)} and {describe_step(last, field.scale)}"
    readings = [*shared.read(before), *shared.read(after)]
    left, right = (f"{pair[0]} and {pair[1]}" for pair in (readings[:2], readings[2:]))
    times = "" if turns.size == 1 else f" {turns.size:,} times, last"
    ahead = "is better" if field.ranks else "is higher"
    text = (
        f"The order of {names[0]} and {names[1]} changes{times} {between}, "
        f"from {left} to {right}; {winner} {ahead} afterwards."
    )
    evidence = [one.format_fact() for one in readings]
    basis = field.rate(min(abs(shared.difference[before]), abs(shared.difference[after])))
    mark = readings[2 + turned]
    label = f"{winner} ahead" if field.ranks else f"{winner} above"
    return observe(Rule.CROSSING, text, evidence, basis, names, steps=(first, last), mark=mark, label=label)


def _describe_lead(shared: _Shared, apart: IntArray) -> Observation:
    field, names = shared.a.field, [shared.a.name, shared.b.name]
    if shared.signs[apart[0]] < 0:
        names.reverse()
    count, ahead = shared.steps.size, "better" if field.ranks else "higher"
    where = f"all {count:,}" if apart.size == count else f"{apart.size:,} of {count:,}"
    level = count - apart.size
    rest = f", and level with it at {level:,}" if level else ""
    text = f"{names[0]} is {ahead} than {names[1]} at {where} common steps{rest}."
    closest = int(apart[np.argmin(np.abs(shared.difference[apart]))])
    evidence = [one.format_fact() for one in shared.read(closest)]
    basis = field.rate(float(shared.difference[closest]))
    steps = float(shared.steps[0]), float(shared.steps[-1])
    return observe(Rule.CROSSING, text, evidence, basis, names, steps=steps)


def observe_falls(field: Field) -> Iterator[Observation]:
    """Yield the series that end worse than their best reading; of no metric without a better direction."""
    for one in field.series if field.ranks else ():
        best, last = one.find_best(), one.read(-1)
        if field.is_level(best.value, last.value):
            continue
        size = field.format_size(last.value - best.value)
        below = f"{size} {'below' if field.sign > 0 else 'above'} its best"
        text = f"{one.name} ends {below}: {last.placed}, after {best.placed}."
        evidence, basis = (
            [best.format_fact("peak"), last.format_fact("final")],
            field.rate(best.value - last.value),
        )
        steps = best.step, last.step
        yield observe(
            Rule.FALL, text, evidence, basis, [one.name], steps=steps, mark=best, label=f"best {best}"
        )


def observe_widest_gap(field: Field) -> Iterator[Observation]:
    """Yield where the readings of two series are furthest apart."""
    if len(field.series) < _PAIR:
        return
    steps = np.unique(np.concatenate([one.steps for one in field.series]))
    values = np.full((len(field.series), steps.size), np.nan)
    for row, one in zip(values, field.series, strict=True):
        row[np.searchsorted(steps, one.steps)] = one.values
    shared = np.flatnonzero(np.isfinite(values).sum(axis=0) >= _PAIR)
    if not shared.size:
        return
    apart = np.nanmax(values[:, shared], axis=0) - np.nanmin(values[:, shared], axis=0)
    place = int(shared[np.argmax(apart)])
    step = float(steps[place])
    pair = [field.series[int(pick(values[:, place]))] for pick in (np.nanargmax, np.nanargmin)]
    high, low = (one.read(int(np.searchsorted(one.steps, step))) for one in pair)
    if field.is_level(high.value, low.value):
        return
    size, names = field.format_size(high.value - low.value), [one.name for one in pair]
    which = (
        "readings"
        if len(field.series) == _PAIR
        else f"readings of {format_count(len(field.series), 'series', 'series')}"
    )
    text = f"The {which} are furthest apart {high.position}: {names[0]} {high} and {names[1]} {low}."
    gap = f"{format_call('gap', (*names, step), field.scale)} = {size}"
    evidence, basis = [gap, high.format_fact(), low.format_fact()], field.rate(high.value - low.value)
    yield observe(
        Rule.WIDEST_GAP, text, evidence, basis, names, steps=(step, step), mark=high, label=f"gap {size}"
    )


def observe_part_company(fields: Sequence[Field]) -> Iterator[Observation]:
    """Yield for each series and two metrics that they are best at different steps.

    Nothing is said if one metric, at the best step of the other, is level with its best.
    """
    ranked = sorted((field for field in fields if field.ranks), key=lambda field: field.scale.metric)
    for one, other in combinations(ranked, 2):
        known = {series.name: series for series in other.series}
        for series in one.series:
            rival = known.get(series.name)
            if rival is None or one.scale.metric == other.scale.metric:
                continue
            if not _is_best_at(series, rival.find_best().step) and not _is_best_at(
                rival, series.find_best().step
            ):
                yield replace(_describe_parting(series, rival), metric=one.scale.metric)


def _is_best_at(series: Series, step: float) -> bool:
    there = np.flatnonzero(series.steps == step)
    best = series.find_best().value
    return bool(there.size) and series.field.is_level(float(series.values[there[0]]), best)


def _describe_parting(series: Series, rival: Series) -> Observation:
    best = [one.find_best() for one in (series, rival)]
    parts = [
        f"{one.series.field.scale.metric} is {'highest' if one.series.field.sign > 0 else 'lowest'} "
        f"{one.position} ({one})"
        for one in best
    ]
    text = f"Two metrics of {series.name} part company: {', '.join(parts)}."
    evidence = [f"{one.series.field.scale.metric}: {one.format_fact('peak')}" for one in best]
    steps = sorted(one.step for one in best)
    ends = [max(one.series.steps[-1] for one in best), min(one.series.steps[0] for one in best)]
    basis = series.field.criterion, abs(steps[1] - steps[0]) / (float(ends[0] - ends[1]) or 1.0)
    return observe(Rule.PART_COMPANY, text, evidence, basis, [series.name], steps=(steps[0], steps[1]))
