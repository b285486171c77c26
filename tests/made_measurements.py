"""Measurements made in a test, as lazy as those that are read from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw

from reportgen.core.model import Measurements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COLUMNS = {
    "series": "VARCHAR",
    "run": "VARCHAR",
    "seed": "VARCHAR",
    "metric": "VARCHAR",
    "step": "DOUBLE",
    "value": "DOUBLE",
    "low": "DOUBLE",
    "high": "DOUBLE",
    "stderr": "DOUBLE",
    "n": "DOUBLE",
}


def measurements(
    rows: Iterable[dict[str, Any]],
    *,
    order: Sequence[str] | None = None,
    given_interval: str | None = None,
) -> Measurements:
    """Rows of names and numbers as ``Measurements``; ``row`` counts them unless they say it themselves."""
    listed = list(rows)
    given = [name for name in ("low", "high", "stderr", "n") if any(name in row for row in listed)]
    columns = ["series", "run", "seed", "metric", "step", "value", *given]
    defaults: dict[str, Any] = {"series": "A", "run": "1", "metric": "score"}
    lists = {name: [row.get(name, defaults.get(name)) for row in listed] for name in columns}
    picked = ", ".join(f"unnest(${name}::{_COLUMNS[name]}[]) AS {name}" for name in columns)
    connection = duckdb.connect()
    connection.execute(
        f'CREATE TABLE made AS SELECT {picked}, unnest($at::BIGINT[]) AS "row"',
        {**lists, "at": [row.get("row", place) for place, row in enumerate(listed)]},
    )
    return Measurements(
        frame=nw.from_native(connection.sql("FROM made")),
        step_name="step",
        step_is_time=False,
        given_interval=given_interval,
        order=tuple(order if order is not None else dict.fromkeys(row.get("series", "A") for row in listed)),
    )
