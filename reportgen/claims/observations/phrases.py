"""Parts of sentences that several rules share: steps, names with their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.claims.facts.fact_words import describe_position, describe_step
from reportgen.core.words import join_names

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


def format_stretches(ends: Sequence[tuple[float, float]], last: float, scale: Scale) -> str:
    """Several ranges of steps: ``from step 30 on``, ``at steps 30 to 40 and 110``.

    Args:
        ends: first and last step of each, one or more.
        last: the last step of all.
        scale: what steps are called.
    """
    if len(ends) == 1:
        return format_during(*ends[0], last, scale)
    if scale.step_is_time:
        return join_names([format_during(*pair, last, scale) for pair in ends])
    name = scale.step_name or "step"
    parts = [format_range(*pair, scale).removeprefix(f"{name} ") for pair in ends]
    return f"at {name}s {join_names(parts)}"


def format_names(names: Sequence[str], total: int) -> str:
    """Series at the head of a sentence: ``A and B``, ``All 5 series``, ``4 of the 5 series``."""
    if len(names) <= _MOST_IN_HEAD:
        return join_names(names)
    return f"All {len(names):,} series" if len(names) == total else f"{len(names):,} of the {total:,} series"


def format_few(names: Sequence[str], most: int) -> str:
    """Names in a sentence; so many and how many more, but never "1 more" in place of a name."""
    return join_names(names, most=most if len(names) > most + 1 else None)


def format_with_values(values: Mapping[str, float], names: Sequence[str], field: Field) -> str:
    """Names with their values: ``A (0.92) and B (0.91)``; ``A (0.9), B (0.8) and 4 more``."""
    return format_few(
        [f"{name} ({field.format_reading(values[name], *values)})" for name in names], _MOST_NAMED
    )


def format_span(values: Mapping[str, float], names: Sequence[str], field: Field) -> str:
    """The values of several series: ``0.25 to 0.28``, or ``0.25`` where all read the same."""
    low, high = (field.format_reading(pick(values[name] for name in names), *values) for pick in (min, max))
    return low if low == high else f"{low} to {high}"
