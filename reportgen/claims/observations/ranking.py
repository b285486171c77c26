"""The rules ``best`` and ``tiers``: the best series, the best at the end, and separate groups."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from reportgen.claims.fact_words import format_few
from reportgen.claims.observations.field import observe
from reportgen.core.comparisons import Verdict
from reportgen.core.digits import SAME
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reportgen.claims.observations.field import Field, Reading
    from reportgen.claims.observations.thresholds import Threshold
    from reportgen.core.statements import Observation


_STRENGTH = 3.0  # readers look for this first
_PAIR, _FEWEST = 2, 3
_MOST_IN_EVIDENCE, _MOST_NAMED, _MOST_IN_GROUP = 8, 5, 8

COUNT_WORDS = {2: "Two", 3: "Three", 4: "Four", 5: "Five", 6: "Six"}  # numbers at the start of a sentence


class Groups(NamedTuple):
    """Series in groups, best first, and the smallest gap between two groups."""

    members: tuple[tuple[str, ...], ...]  # best first; ties in the order of names
    gap: float  # the smallest difference of neighbouring groups; 0 with one group
    criterion: Threshold  # what this gap has to exceed


def group_values(
    field: Field, values: Mapping[str, float], choose_criterion: Callable[[str, str], Threshold]
) -> Groups:
    """Group values by cuts where every series above differs from every one below by more than noise.

    If the noise of a series is unknown, cuts must also be natural: wider than the mean gap between
    neighbours, and all wider than the range of any group. ``values``, as measured, are of two or more series;
    ``choose_criterion`` takes the better series first.
    """
    choose = cache(choose_criterion)  # each cut needs all pairs around it
    order = sorted(values, key=lambda name: (-field.sign * values[name], name))
    gaps = np.abs(np.diff([values[name] for name in order])).tolist()
    # Gaps between neighbours get smaller with more values, so no correction for the choice is needed.
    criteria = [choose(*pair) for pair in pairwise(order)]
    cuts = [
        place
        for place, gap in enumerate(gaps)
        if criteria[place].is_exceeded(gap)
        and all(
            choose(above, below).is_exceeded(values[above] - values[below])
            for above, below in product(order[: place + 1], order[place + 1 :])
        )
    ]
    if len(gaps) > 1 and not all(field.series[name].noise.known for name in order):
        mean = sum(gaps) / len(gaps)
        cuts = [place for place in cuts if gaps[place] > mean * (1 + SAME)]
        widest = max(sum(gaps[a + 1 : b]) for a, b in pairwise([-1, *cuts, len(gaps)]))
        cuts = cuts if all(gaps[place] > widest * (1 + SAME) for place in cuts) else []
    bounds = [0, *(place + 1 for place in cuts), len(order)]
    members = tuple(tuple(order[start:end]) for start, end in pairwise(bounds))
    narrowest = min(cuts, key=lambda place: gaps[place], default=0)
    return Groups(members, gaps[narrowest] if cuts else 0.0, criteria[narrowest])


class _Ranking(NamedTuple):
    """Ranking of the series by one reading each."""

    field: Field
    readings: Mapping[str, Reading]  # the readings compared
    order: tuple[str, ...]  # names, best first; ties in the order of steps, then of names
    level: tuple[str, ...]  # the first of ``order`` and all that do not clearly differ from it
    lead: float  # of the first over the best that is not level; over the second if all are
    criterion: Threshold  # what ``lead`` has to exceed

    @property
    def first(self) -> str:
        """The best series, or the first of those that share its value."""
        return self.order[0]

    @property
    def superlative(self) -> str:
        return "highest" if self.field.sign > 0 else "lowest"

    @property
    def latest(self) -> float:
        return max(reading.step for reading in self.readings.values())

    def format(self, name: str) -> str:
        """Format the reading of a series with the digits that the noise of all justifies."""
        return self.field.format_reading(self.readings[name].value, *self.order)

    def format_placed(self, name: str) -> str:
        return f"{self.format(name)} {self.readings[name].position}"

    def format_end(self, name: str) -> str:
        """Format the reading of a series, with its step if it ends before others."""
        return self.format_placed(name) if self.readings[name].step < self.latest else self.format(name)

    def describe_peaks(self) -> str:
        """Describe the best reading and its series; of two series, also the other's."""
        most, first = self.superlative, self.first
        if len(self.level) == 1:
            head = f"The {most} reading is {self.format(first)}, of {first} {self.readings[first].position}"
            if len(self.order) > _PAIR:
                return head
            return f"{head}; that of {self.order[1]} is {self.format_placed(self.order[1])}"
        if len({self.format(name) for name in self.level}) == 1:
            places = [f"{name} {self.readings[name].position}" for name in self.level]
            return f"The {most} reading is {self.format(first)}, of {format_few(places, _MOST_NAMED)}"
        places = [f"{name} {self.format_placed(name)}" for name in self.level]
        return f"The {most} readings are {format_few(places, _MOST_NAMED)}"

    def describe_ends(self) -> str:
        """Describe who ends best if a test shows it, otherwise the last readings."""
        most, first, reading = self.superlative, self.first, self.format(self.first)
        parts = [f"{name} ({self.format_end(name)})" for name in self.order]
        last = f"The last readings are {format_few(parts, _MOST_NAMED)}"
        follows = f"{parts[1]} {'is next' if len(self.order) > _PAIR else 'follows'}"
        if self.criterion.clear is not None:
            if len(self.level) == 1:
                return f"{first} ends {most}, at {reading}; {follows}"
            if self.criterion.over_runs:
                others = (self.field.test_ends(first, name) for name in self.order[1:])
                won = any(test is not None and test.verdict is not Verdict.UNCLEAR for test in others)
                return last if won else f"{last}: no clear winner"
        if len({self.format(name) for name in self.level}) == 1 and len(self.level) > 1:
            return f"The {most} last reading is {reading}, of {format_few(self.level, _MOST_NAMED)}"
        return (
            last
            if len(self.order) == _PAIR
            else f"The {most} last reading is {reading}, of {first}; {follows}"
        )


def _rank_ends(field: Field) -> _Ranking:
    """Rank two or more series by their last values; those tied by the test over runs are level."""
    readings = {name: series.read(-1) for name, series in field.series.items()}
    return _rank(field, readings, field.choose_end_criterion)


def _rank(
    field: Field, readings: Mapping[str, Reading], choose_criterion: Callable[[str, str], Threshold]
) -> _Ranking:
    order = sorted(readings, key=lambda name: (-field.sign * readings[name].value, readings[name].step, name))
    first, *others = order
    criteria = {name: choose_criterion(first, name) for name in others}
    behind = {name: abs(readings[first].value - readings[name].value) for name in others}
    level = [name for name in others if not criteria[name].is_exceeded(behind[name])]
    rest = [name for name in others if name not in level] or others
    return _Ranking(field, readings, tuple(order), (first, *level), behind[rest[0]], criteria[rest[0]])


def observe_best(field: Field) -> Iterator[Observation]:
    """Yield the series with the best value, and the one that ends best.

    If neither direction is better: the highest and the lowest value, unless it is only the start.
    """
    if len(field.curves) < _PAIR or not field.plotted_range:
        return
    turned = replace(field, scale=replace(field.scale, higher_is_better=False))
    for own, fact in [(field, "peak")] if field.ranks else [(field, "peak"), (turned, "trough")]:
        # The best reading of each series, at the first step that has it.
        places = {name: np.argmax(own.sign * series.points.values) for name, series in own.series.items()}
        readings = {name: own.series[name].read(int(place)) for name, place in places.items()}
        peak, end = _rank(own, readings, lambda *_: field.readings_alone), _rank_ends(own)
        reached = [peak.readings[name].step for name in peak.level]
        starts = [own.series[name].points.steps[0] for name in peak.level]
        if not field.ranks and reached == starts:
            continue
        names = tuple(dict.fromkeys([*peak.order, *end.order]))
        best = peak.readings[peak.first] if len(peak.level) == 1 else None
        evidence = [
            ranking.readings[name].format_fact(call)
            for name in names[:_MOST_IN_EVIDENCE]
            for call, ranking in ((fact, peak), ("final", end))
        ]
        text = f"{peak.describe_peaks()}. {end.describe_ends()}."
        basis, steps = (end.criterion.describe(end.lead), _STRENGTH), (min(reached), max(reached))
        label = f"{peak.superlative} {best}" if best else ""
        yield observe(Rule.BEST, text, evidence, basis, names, steps=steps, mark=best, label=label)


def observe_tiers(field: Field) -> Iterator[Observation]:
    """Yield separate groups of three or more series by their last values, unless each is a group."""
    if len(field.curves) < _FEWEST:
        return
    end = _rank_ends(field)
    values = {name: reading.value for name, reading in end.readings.items()}
    groups = group_values(field, values, field.choose_end_criterion)
    count = len(groups.members)
    if count == 1 or (count == len(end.order) and not field.digits.is_noisy(end.order)):
        return
    described = []
    for names in groups.members:
        parts = {name: end.format_end(name) for name in names}
        whole = all(end.readings[name].step == end.latest for name in names)
        if whole and len(names) > 1 and len(set(parts.values())) == 1:
            every = "both" if len(names) == _PAIR else "all"
            described.append(f"{format_few(names, _MOST_IN_GROUP)} ({every} {parts[names[0]]})")
        else:
            listed = [f"{name} ({part})" for name, part in parts.items()]
            described.append(format_few(listed, _MOST_IN_GROUP))
    alone = "; all differ by more than noise" if count == len(end.order) else ""
    first = "best" if field.ranks else "highest"
    by = "by the last readings alone" if groups.criterion.clear is None else "at the end"
    head = f"{COUNT_WORDS.get(count, str(count))} groups {by}, {first} first"
    yield observe(
        Rule.TIERS,
        f"{head}: {'; '.join(described)}{alone}.",
        [end.readings[name].format_fact("final") for name in end.order],
        groups.criterion.rate(groups.gap),
        end.order,
        steps=(min(reading.step for reading in end.readings.values()), end.latest),
    )
