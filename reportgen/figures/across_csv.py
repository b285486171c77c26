"""Scores and comparisons on several benchmarks as CSV: one row a benchmark and series."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.pairs_csv import PAIR_COLUMNS, list_pair_fields
from reportgen.figures.tidy import write_table_csv

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.outcomes import AcrossBenchmarks

AVERAGE = "average"
"""What the average over benchmarks is called."""

_CSV_COLUMNS = (
    *("benchmark", "series", "metric", "score", "low", "high", "level", "problems", "estimand"),
    *("score_method", "score_reason"),
    *(f"against_{name}" if name in {"metric", "level", "low", "high"} else name for name in PAIR_COLUMNS),
)


def write_across_csv(across: AcrossBenchmarks) -> str:
    """Every number behind the table, the average first; what is not known is empty."""
    return write_table_csv(_CSV_COLUMNS, _list_csv_rows(across))


def _list_csv_rows(across: AcrossBenchmarks) -> Iterator[tuple[object, ...]]:
    columns = ((AVERAGE, across.macro), *zip(across.benchmarks, zip(*across.cells, strict=True), strict=True))
    for benchmark, cells in columns:
        for cell in cells:
            one, against = cell.score, cell.against
            yield (
                *(benchmark, one.series, one.metric, one.estimate, one.low, one.high, one.level),
                *(one.problems, one.estimand, one.method, one.reason or cell.reason),
                *(list_pair_fields(against) if against else (None,) * len(PAIR_COLUMNS)),
            )
