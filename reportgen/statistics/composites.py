"""Benchmarks that are means, sums or totals over others: beside these they are in no average."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.score_names import is_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from reportgen.core.comparisons import Score


# Fewer tables than one in a thousand agree by chance, if values are uniform between those of the parts.
_CHANCE: Final = 1e-3
_LEAST_PARTS: Final = 2


class _Value(NamedTuple):
    """A score, its number of problems, 0 if unknown, and half a unit of its last digit."""

    score: float
    problems: int
    rounding: float


def find_composites(
    table: Mapping[str, Mapping[str, Score]], known: Mapping[str, Collection[str]]
) -> tuple[str, ...]:
    """Return the benchmarks of a table that are means or sums over others of it, in its order.

    ``table`` has scores by benchmark and series, ``known`` the parts that a harness names for a benchmark,
    each without a metric in brackets. Others are called a mean, or their scores show it: for every series
    they are the sum of others, or their mean with equal weights or by numbers of problems, within rounding
    and not by chance. Such others are all benchmarks, those that are no composites, or those whose names
    begin with that of the benchmark.
    """
    found = {name for name in table if is_mean(name)}
    for name, parts in known.items():
        is_part = (any(other == one or other.startswith(f"{one} (") for one in parts) for other in table)
        found |= {name} if any(is_part) else set()
    columns = {name: _list_values(column) for name, column in table.items()}
    for name in table.keys() - found:
        begun = [other for other in table if other != name and other.startswith(name)]
        others = [other for other in table if other != name]
        single = [other for other in others if other not in found]
        for parts in (begun, single, others):
            if len(parts) >= _LEAST_PARTS and _is_over(
                columns[name], [columns[one] for one in parts], len(table)
            ):
                found.add(name)
                break
    return tuple(name for name in table if name in found) if len(found) < len(table) else ()


def _list_values(column: Mapping[str, Score]) -> dict[str, _Value]:
    """Return the known scores by series; the last digit is that of the longest number of the column."""
    known = {name: score for name, score in column.items() if score.estimate is not None}
    digits = (Decimal(repr(score.estimate)).normalize().as_tuple().exponent for score in known.values())
    unit = 10.0 ** min((int(one) for one in digits), default=0) / 2
    return {name: _Value(score.estimate or 0.0, score.problems, unit) for name, score in known.items()}


def _is_over(whole: Mapping[str, _Value], parts: Sequence[Mapping[str, _Value]], tables: int) -> bool:
    """Return whether a benchmark is the same mean or sum of the parts for all series with all scores."""
    series = [name for name in whole if all(name in part for part in parts)]
    columns = [(whole[name], [part[name] for part in parts]) for name in series]
    return (
        any(_agrees(columns, how) < _CHANCE / tables for how in ("equal", "problems", "sum"))
        if series
        else False
    )


def _agrees(columns: Sequence[tuple[_Value, Sequence[_Value]]], how: str) -> float:
    """Return how likely all series agree by chance, 1 if one does not agree."""
    # A number of problems is that of others by chance once in as many.
    chance = 1 / max(1, *(whole.problems for whole, _ in columns)) if how == "problems" else 1.0
    for whole, parts in columns:
        weights = [float(part.problems) for part in parts] if how == "problems" else [1.0] * len(parts)
        if not all(weights) or (how == "problems" and whole.problems != sum(weights)):
            return 1.0
        total = 1.0 if how == "sum" else sum(weights)
        low, high = (end(part.score for part in parts) for end in (min, max))
        expected = sum(weight * part.score for weight, part in zip(weights, parts, strict=True)) / total
        rounding = sum(weight * part.rounding for weight, part in zip(weights, parts, strict=True)) / total
        tolerance = whole.rounding + rounding + 1e-9 * max(abs(low), abs(high), math.ulp(0))
        if abs(whole.score - expected) > tolerance:
            return 1.0
        spread = (high - low) * (len(parts) if how == "sum" else 1)
        chance *= min(1.0, 2 * tolerance / spread) if spread else 1.0
    return chance
