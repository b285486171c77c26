"""Comparisons as CSV: one row a pair with everything that is known of it, in the unit of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.pairs import WORDS
from reportgen.figures.tidy import table_csv

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.outcomes import Comparison

COLUMNS = (
    *("a", "b", "metric", "difference", "low", "high", "level", "p", "adjusted_p", "tested_together"),
    *("shared_problems", "only_a", "only_b", "verdict", "test", "interval_method", "reason"),
)


def pairs_csv(compared: Iterable[Comparison]) -> str:
    """The columns ``COLUMNS``: a minus b; what is not known is empty."""
    return table_csv(COLUMNS, map(csv_row, compared))


def csv_row(one: Comparison) -> tuple[object, ...]:
    """A comparison in the order of ``COLUMNS``."""
    return (
        *(one.a, one.b, one.metric, one.difference, one.low, one.high, one.level, one.p, one.adjusted_p),
        *(one.tested_together, one.shared, "; ".join(one.only_a), "; ".join(one.only_b)),
        *(WORDS[one.verdict], one.method, one.interval_method, one.reason),
    )
