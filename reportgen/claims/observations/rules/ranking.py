"""The rules ``best`` and ``tiers``: who is best, who ends best, and which groups stand apart."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.facts.fact_words import describe_position
from reportgen.claims.observations.phrases import format_few, format_value_fact
from reportgen.claims.observations.thresholds import SAME, Tested, Threshold
from reportgen.core.comparisons import Verdict
from reportgen.core.statements import Observation
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reportgen.claims.observations.field import Field
    from reportgen.claims.observations.thresholds import Criterion


class Groups(NamedTuple):
    """Series in groups, best first, and the smallest gap between two groups.

    Attributes:
        members: names, best first; of equal values in the order of names.
        gap: the smallest difference of neighbouring groups; 0 with one group.
        threshold: what this gap is held against.
    """

    members: tuple[tuple[str, ...], ...]
    gap: float
    threshold: Criterion


def group_values(
    field: Field, values: Mapping[str, float], held_to: Callable[[str, str], Criterion]
) -> Groups:
    """Cuts between values of which everyone above differs from everyone below by more than noise.

    Where the noise of a series is not known, a cut is also natural: wider than the mean gap of neighbours,
    and with all cuts wider than what they leave together. Otherwise there is no cut at all.

    Args:
        field: has the noise.
        values: of two or more series, as measured.
        held_to: what the difference of two of them is held against, the better one first.
    """
    held_to = cache(held_to)  # every cut asks for all pairs around it
    order = sorted(values, key=lambda name: (-field.sign * values[name], name))
    gaps = np.abs(np.diff([values[name] for name in order]))
    # Neighbours of many values lie closer together, not further apart: there is no choice to pay for.
    held = [held_to(*pair) for pair in pairwise(order)]
    cuts = [
        place
        for place, gap in enumerate(gaps.tolist())
        if held[place].is_exceeded(gap) and _is_separated(order, place + 1, values, held_to)
    ]
    if not all(field.get_noise(name).known for name in order):
        cuts = _choose_natural_cuts(gaps.tolist(), cuts)
    starts = [0, *(place + 1 for place in cuts), len(order)]
    members = tuple(tuple(order[a:b]) for a, b in pairwise(starts))
    narrowest = min(cuts, key=lambda place: gaps[place], default=0)
    return Groups(members, float(gaps[narrowest]) if cuts else 0.0, held[narrowest])


def _is_separated(
    order: Sequence[str], cut: int, values: Mapping[str, float], held_to: Callable[[str, str], Criterion]
) -> bool:
    return all(
        held_to(above, below).is_exceeded(values[above] - values[below])
        for above in order[:cut]
        for below in order[cut:]
    )


def _choose_natural_cuts(gaps: Sequence[float], cuts: Sequence[int]) -> list[int]:
    """The cuts that stand out among the gaps; none where what they leave together is as wide as one."""
    if len(gaps) == 1:
        return list(cuts)
    mean = sum(gaps) / len(gaps)
    chosen = [place for place in cuts if gaps[place] > mean * (1 + SAME)]
    if not chosen:
        return []
    bounds = [-1, *chosen, len(gaps)]
    widest = max(sum(gaps[a + 1 : b]) for a, b in pairwise(bounds))
    return chosen if min(gaps[place] for place in chosen) > widest * (1 + SAME) else []


class Ranking(NamedTuple):
    """Who is best in one respect.

    Attributes:
        values: of every series, as measured.
        steps: where they stand.
        order: names, best first; of equal values in the order of steps, then of names.
        level: the first of ``order`` and all that cannot be told from it.
        lead: the difference of the first and the best of those that are not level; of the second if all are.
        held: what ``lead`` is held against.
        open: whether it is noise that leaves those level.
    """

    values: Mapping[str, float]
    steps: Mapping[str, float]
    order: tuple[str, ...]
    level: tuple[str, ...]
    lead: float
    held: Criterion
    open: bool

    @property
    def first(self) -> str:
        """The best, or the first of those that share its value."""
        return self.order[0]


def rank_peaks(field: Field) -> Ranking:
    """The best reading of each of two or more series, at the first step that has it."""
    values, steps = {}, {}
    for name in sorted(field.names):
        own = field.get_points(name)
        at = int(np.argmax(field.sign * own.values))
        values[name], steps[name] = float(own.values[at]), float(own.steps[at])
    order = _order_series(field, values, steps)
    return _make_ranking(values, steps, order, dict.fromkeys(order[1:], field.readings_alone))


def rank_ends(field: Field) -> Ranking:
    """The last value of each of two or more series; those are level that the test over runs calls tied."""
    last = {name: field.get_points(name) for name in sorted(field.names)}
    values = {name: float(own.values[-1]) for name, own in last.items()}
    steps = {name: float(own.steps[-1]) for name, own in last.items()}
    order = _order_series(field, values, steps)
    held = {name: field.choose_end_criterion(order[0], name) for name in order[1:]}
    return _make_ranking(values, steps, order, held)


def _order_series(field: Field, values: Mapping[str, float], steps: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(values, key=lambda name: (-field.sign * values[name], steps[name], name)))


def _make_ranking(
    values: Mapping[str, float],
    steps: Mapping[str, float],
    order: tuple[str, ...],
    held: Mapping[str, Criterion],
) -> Ranking:
    first = order[0]
    behind = {name: abs(values[first] - values[name]) for name in held}
    level = [name for name in held if not held[name].is_exceeded(behind[name])]
    rest = [name for name in held if name not in set(level)] or list(held)
    noisy = any(held[name].noisy for name in level)
    return Ranking(values, steps, order, (first, *level), behind[rest[0]], held[rest[0]], noisy)


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
    return (
        f"{head}; that of {second} is {_format_reading(field, peak, second)} "
        f"{_format_position(field, peak, second)}"
    )


def _describe_ends(field: Field, end: Ranking) -> str:
    """Who ends best, where a test tells; otherwise the last readings."""
    most, words = _get_superlative(field), "end" if len(end.level) > 1 else "ends"
    tested = not isinstance(end.held, Threshold)
    if tested and len(end.level) == 1:
        return (
            f"{end.first} {words} {most}, at {_format_reading(field, end, end.first)}; "
            f"{_describe_next(field, end)}"
        )
    if tested and isinstance(end.held, Tested):
        last = f"The last readings are {_format_ends(field, end, end.order)}"
        others = (field.test_ends(end.first, name) for name in end.order[1:])
        won = any(one is not None and one.verdict is not Verdict.UNCLEAR for one in others)
        return last if won else f"{last}: no clear winner"
    same = len({_format_reading(field, end, name) for name in end.level}) == 1 and len(end.level) > 1
    if same:
        return (
            f"The {most} last reading is {_format_reading(field, end, end.first)}, of "
            f"{format_few(end.level, _MOST_NAMED)}"
        )
    if len(end.order) == _PAIR:
        return f"The last readings are {_format_ends(field, end, end.order)}"
    return (
        f"The {most} last reading is {_format_reading(field, end, end.first)}, of {end.first}; "
        f"{_describe_next(field, end)}"
    )


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
