"""Parts of sentences that several rules share: steps, runs, names with their values, facts as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.claims.facts.calls import format_call
from reportgen.claims.facts.fact_words import describe_position, describe_step
from reportgen.core.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.claims.observations.field import Field
    from reportgen.core.statements import Scale


_MOST_NAMED = 8
_MOST_IN_HEAD = 3


def format_range(first: float, last: float, scale: Scale) -> str:
    """Steps from one to another, both included: ``step 30 to 40``; one of them: ``step 30``."""
    if first == last:
        return describe_step(first, scale)
    start, end = describe_step(first, scale), describe_step(last, scale)
    return f"{start} to {end.removeprefix(f'{scale.step_name} ')}"


def format_during(first: float, last: float, end: float, scale: Scale) -> str:
    """When something holds: ``at step 30``, ``from step 30 to 40``, ``from step 30 on`` up to the end."""
    if first == last:
        return describe_position(first, scale)
    if last == end:
        return f"from {describe_step(first, scale)} on"
    return f"from {format_range(first, last, scale)}"


def format_names(names: Sequence[str], total: int) -> str:
    """Series at the head of a sentence: ``A and B``, ``All 5 series``, ``4 of the 5 series``."""
    if len(names) <= _MOST_IN_HEAD:
        return join_names(names)
    return f"All {len(names):,} series" if len(names) == total else f"{len(names):,} of the {total:,} series"


def format_runs(field: Field, names: Sequence[str], step: float | None = None) -> str:
    """How much stands behind a doubt: ``with 1 to 5 runs each``; the runs that reach a step."""
    if any(field.get_curve(name).given for name in names):
        return "with the intervals that the data give"
    counts = sorted({_runs(field, name, step) for name in names})
    if len(counts) == 1:
        return f"with {format_count(counts[0], 'run')} each"
    return f"with {counts[0]:,} to {format_count(counts[-1], 'run')} each"


def _runs(field: Field, name: str, step: float | None) -> int:
    curve = field.get_curve(name)
    reached = curve.n[curve.steps <= step] if step is not None else curve.n[:0]
    return int(reached[-1]) if reached.size else len(curve.runs)


def describe_level(values: Mapping[str, float], names: Sequence[str], field: Field) -> str:
    """How near values lie: ``are level``, or that they are within 1 % of the range."""
    same = len({field.format_reading(values[name], name) for name in names}) == 1
    return "are level" if same else "lie within 1 % of the range of each other"


def format_with_values(values: Mapping[str, float], names: Sequence[str], field: Field) -> str:
    """Names with their values: ``A (0.92) and B (0.91)``; ``A (0.9), B (0.8) and 4 more``."""
    return format_few(
        [f"{name} ({field.format_reading(values[name], *values)})" for name in names], _MOST_NAMED
    )


def format_few(names: Sequence[str], most: int) -> str:
    """Names in a sentence; so many and how many more, but never "1 more" in place of a name."""
    return join_names(names, most=most if len(names) > most + 1 else None)


def format_span(values: Mapping[str, float], names: Sequence[str], field: Field) -> str:
    """The values of several series: ``0.25 to 0.28``, or ``0.25`` where all read the same."""
    low, high = (pick(names, key=lambda name: values[name]) for pick in (min, max))
    ends = [field.format_reading(values[name], *values) for name in (low, high)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def format_call_of(field: Field, name: str, *arguments: str | float) -> str:
    """A fact's call as an author would write it: ``at('Series A', 15)``."""
    return format_call(name, arguments, field.scale)


def format_value_fact(field: Field, name: str, series: str, value: float, step: float | None = None) -> str:
    """A series' fact in words: ``peak(MEL) = 0.84 at step 120``."""
    there = "" if step is None else f" {describe_position(step, field.scale)}"
    return f"{format_call_of(field, name, series)} = {field.format_reading(value, series)}{there}"


def format_reading_fact(field: Field, series: str, step: float, value: float) -> str:
    """A value at a step in words: ``at(MEL, 80) = 0.8``."""
    return f"{format_call_of(field, 'at', series, step)} = {field.format_reading(value, series)}"


def format_stretches(ends: Sequence[tuple[float, float]], last: float, scale: Scale) -> str:
    """Several ranges of steps: ``from step 30 on``, ``at steps 30 to 40 and 110``.

    Args:
        ends: first and last step of each, one or more.
        last: the last step there is.
        scale: what steps are called.
    """
    if len(ends) == 1:
        return format_during(*ends[0], last, scale)
    if scale.step_is_time:
        return join_names([format_during(*one, last, scale) for one in ends])
    name = scale.step_name or "step"
    parts = [format_range(*one, scale).removeprefix(f"{name} ") for one in ends]
    return f"at {name}s {join_names(parts)}"
