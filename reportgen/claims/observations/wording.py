"""Sentences of inferences: each has the difference, its interval and the adjusted p."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from reportgen.claims.fact_words import format_quantity_interval, format_range, format_stretches
from reportgen.claims.observations.field import observe
from reportgen.claims.observations.inferences import FIFTHS
from reportgen.claims.vocabulary import format_call
from reportgen.core.statements import Quantity
from reportgen.core.words import format_equation, format_p, join_names
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.claims.observations.field import Field
    from reportgen.claims.observations.inferences import Inference, Parts
    from reportgen.core.statements import Observation


_FIFTH = ("first", "second", "third", "fourth", "last")
_BEFORE_LAST = FIFTHS - 2
_MOST_IN_EVIDENCE = 8


class Findings(Struct, frozen=True):
    """The tests of one metric's curves, adjusted over the block."""

    field: Field
    inferences: Sequence[Inference]
    parts: Mapping[str, Parts]

    def format_difference(self, one: Inference) -> str:
        """Format a difference with its interval: ``+0.12 [+0.10, +0.14]``."""
        low, high, difference = one.low, one.high, one.difference
        if len(one.series) > 1 and self.names_second(one):
            low, high, difference = -high, -low, -difference
        return format_quantity_interval(difference, low, high, Quantity.DIFFERENCE, self.field.scale)

    def names_second(self, one: Inference) -> bool:
        """Return whether the second series of a pair is the better one, which is named first."""
        return one.difference * self.field.sign < 0

    def format_mean(self, series: str, part: int) -> str:
        """Format the mean of a fifth of a series with its interval across runs."""
        mean = self.parts[series].average(part)
        return format_quantity_interval(mean.value, mean.low, mean.high, Quantity.VALUE, self.field.scale)

    def format_fact(self, series: str, part: int) -> str:
        """Format the mean of a fifth as a fact, with the runs that have all of its steps."""
        own = self.parts[series]
        call = format_call("mean", (series, *own.steps[part]), self.field.scale)
        left_out = len(own.means) - own.select(part).size
        without = f"; {left_out:,} of {len(own.means):,} runs lack steps and are left out" if left_out else ""
        return f"{call} = {self.format_mean(series, part)}{without}"

    def rate(self, one: Inference) -> tuple[str, float]:
        """Return the test in words, and the difference over half its interval."""
        kind = "t" if len(one.series) == 1 else "Welch's t"
        runs = " and ".join(str(count) for count in one.runs)
        p = format_equation("adjusted p", format_p(one.adjusted_p))
        half = (one.high - one.low) / 2
        strength = min(abs(one.difference) / half, 100.0) if half else 1.0
        return f"{kind} across {runs} runs, {p}, {one.tested_together:,} tests in the block", strength

    def group_by_series(self) -> Iterator[tuple[list[Inference], list[Inference]]]:
        """Yield the tests of each series, then of each pair, and those that are shown.

        What is not more than the precision of the source is not shown.
        """
        grouped: dict[tuple[str, ...], list[Inference]] = {}
        for one in self.inferences:
            grouped.setdefault(one.series, []).append(one)
        for tests in grouped.values():
            yield tests, [one for one in tests if one.is_shown and abs(one.difference) > self.field.precision]


def describe_inferences(findings: Findings) -> Iterator[Observation]:
    """Yield the sentences about each series, then about each pair."""
    for tests, shown in findings.group_by_series():
        if len(tests[0].series) == 1:
            yield from _describe_series(findings, tests, shown)
            continue
        every = [one for one in tests if one.part is None]
        yield from _describe_fifths(findings, [one for one in shown if one.part is not None])
        yield from _describe_steps(findings, every, [one for one in shown if one.part is None])


def _describe_series(
    findings: Findings, changes: Sequence[Inference], shown: Sequence[Inference]
) -> Iterator[Observation]:
    by_part, said = {one.part: one for one in changes}, {one.part for one in shown}
    series, field = changes[0].series[0], findings.field
    if 0 in by_part:
        yield _describe_change(findings, by_part[0], is_shown=0 in said)
    if 0 in said and _BEFORE_LAST in by_part and _BEFORE_LAST not in said:
        late = by_part[_BEFORE_LAST]
        text = f"No change of {series} could be shown between the fourth and the last fifth of its steps: "
        text += f"{findings.format_difference(late)}."
        yield _observe(findings, Rule.PLATEAU, text, late)
    means = [findings.parts[series].average(part).value for part in range(FIFTHS)]
    best = int(np.argmax(field.sign * np.array(means)))
    if best in said and best and field.sign * by_part[best].difference < 0:
        most = ("lowest" if field.sign < 0 else "highest") if not field.ranks else "best"
        text = (
            f"{series} ends {'below' if field.sign > 0 else 'above'} its {most} fifth: "
            f"{findings.format_mean(series, best)} in the {_FIFTH[best]}, "
            f"{findings.format_mean(series, FIFTHS - 1)} in the last, {_add_p(findings, by_part[best])}."
        )
        yield _observe(findings, Rule.DECLINE, text, by_part[best])


def _describe_change(findings: Findings, one: Inference, *, is_shown: bool) -> Observation:
    """Describe the level at start and end, and the change between them if it is shown."""
    series = one.series[0]
    start, end = (findings.format_mean(series, part) for part in (0, FIFTHS - 1))
    if is_shown:
        verb = "rises" if one.difference > 0 else "falls"
        text = f"{series} {verb} from {start} in the first fifth of its steps to {end} in the last: "
        return _observe(findings, Rule.RISE, f"{text}{_add_p(findings, one)}.", one)
    text = f"No change of {series} could be shown between the first and the last fifth of its steps: "
    text += f"{start} and {end}, {findings.format_difference(one)}."
    return _observe(findings, Rule.LEVEL, text, one)


def _describe_fifths(findings: Findings, shown: Sequence[Inference]) -> Iterator[Observation]:
    """Describe who leads in which fifths, or that the lead changes."""
    sides = [[one for one in shown if (one.difference > 0) is positive] for positive in (True, False)]
    if all(sides):
        first, second = sorted((side[-1] for side in sides), key=lambda one: one.part or 0)
        described = [
            f"{_name_ahead(findings, one)} in the {_FIFTH[one.part or 0]} fifth ({_add_p(findings, one)})"
            for one in (first, second)
        ]
        text = f"The order changes: {described[0]}, and {described[1]}."
        weaker = min(first, second, key=lambda one: findings.rate(one)[1])
        yield _observe(findings, Rule.CROSSOVER, text, weaker, (first, second))
        return
    for side in sides:
        if side:
            last = side[-1]
            parts = join_names([_FIFTH[one.part or 0] for one in side])
            where = "every fifth" if len(side) == FIFTHS else f"the {parts} fifth"
            which = f"in the {_FIFTH[last.part or 0]} " if len(side) > 1 else ""
            text = f"{_name_ahead(findings, last)} in {where} of their common steps: "
            text += f"{which}{_add_p(findings, last)}."
            yield _observe(findings, Rule.LEAD, text, last, side)


def _describe_steps(
    findings: Findings, every: Sequence[Inference], shown: Sequence[Inference]
) -> Iterator[Observation]:
    """Describe at which single steps each of two series leads."""
    for positive in (True, False):
        side = [one for one in shown if (one.difference > 0) is positive]
        if not side:
            continue
        place = {one.steps[0]: at for at, one in enumerate(every)}
        runs = groupby(enumerate(side), key=lambda pair: place[pair[1].steps[0]] - pair[0])
        ends = [[one.steps[0] for _, one in group] for _, group in runs]
        stretches = [(group[0], group[-1]) for group in ends]
        largest = max(side, key=lambda one: abs(one.difference))
        where = format_stretches(stretches, every[-1].steps[0], findings.field.scale)
        most = "up to " if len(side) > 1 else ""
        text = f"{_name_ahead(findings, largest)} {where}: {most}{_add_p(findings, largest)}."
        yield _observe(findings, Rule.LEAD, text, largest, side)


def _name_ahead(findings: Findings, one: Inference) -> str:
    """Name both series, the better one first: ``MEL is ahead of GRPO``, without a better way ``is above``."""
    better, other = one.series[::-1] if findings.names_second(one) else one.series
    return f"{better} is {'ahead of' if findings.field.ranks else 'above'} {other}"


def _add_p(findings: Findings, one: Inference) -> str:
    p = format_equation("adjusted p", format_p(one.adjusted_p))
    return f"{findings.format_difference(one)}, {p}"


def _observe(
    findings: Findings, rule: Rule, text: str, one: Inference, several: Sequence[Inference] = ()
) -> Observation:
    """Make an observation with the means of fifths, or the differences, that it rests on."""
    if len(one.series) == 1:
        first = one.part or 0
        evidence = [findings.format_fact(one.series[0], part) for part in (first, FIFTHS - 1)]
        steps = one.steps[0], findings.parts[one.series[0]].steps[-1][1]
    else:
        listed = several or (one,)
        evidence = [_describe_difference(findings, other) for other in listed[:_MOST_IN_EVIDENCE]]
        steps = min(other.steps[0] for other in listed), max(other.steps[1] for other in listed)
    return observe(rule, text, evidence, findings.rate(one), one.series, steps=steps)


def _describe_difference(findings: Findings, one: Inference) -> str:
    """Describe a difference of a pair: ``A − B from step 0 to 20 = +0.05 [+0.03, +0.07], adjusted p = …``."""
    where = format_range(*one.steps, findings.field.scale)
    pair = one.series[::-1] if findings.names_second(one) else one.series
    return f"{' − '.join(pair)}, {where}: {_add_p(findings, one)}"
