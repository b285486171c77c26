"""Comparisons as CSV: one row a pair with everything that is known of it, in the unit of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.pairs import VERDICT_WORDS
from reportgen.figures.tidy import write_table_csv

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.outcomes import Comparison

PAIR_COLUMNS = (
    *("a", "b", "metric", "difference", "low", "high", "level", "p", "adjusted_p", "tested_together"),
    *("shared_problems", "only_a", "only_b", "verdict", "test", "interval_method", "reason"),
)


def write_pairs_csv(compared: Iterable[Comparison]) -> str:
    """The columns ``PAIR_COLUMNS``: a minus b; what is not known is empty."""
    return write_table_csv(PAIR_COLUMNS, map(list_pair_fields, compared))


def list_pair_fields(one: Comparison) -> tuple[object, ...]:
    """A comparison in the order of ``PAIR_COLUMNS``."""
    return (
        *(one.a, one.b, one.metric, one.difference, one.low, one.high, one.level, one.p, one.adjusted_p),
        *(one.tested_together, one.shared, "; ".join(one.only_a), "; ".join(one.only_b)),
        *(VERDICT_WORDS[one.verdict], one.method, one.interval_method, one.reason),
    )
