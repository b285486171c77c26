"""Answers of a table, counted where they lie: equal scores of a problem become one row with their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import narwhals as nw
import numpy as np

from reportgen.core.words import format_count
from reportgen.notebook.lazy_tables import LazyTable, as_number, fail, refuse_repeats
from reportgen.read.queries.engines import fetch, last_written
from reportgen.read.queries.points import LARGEST_FLOAT, as_counts, as_floats, as_texts

if TYPE_CHECKING:
    import numpy.typing as npt


MOST_ANSWERS: Final = 100_000_000
_KEY: Final = ("benchmark", "series", "run", "seed", "problem")
OUTCOMES_SELECT: Final = (
    "SELECT * EXCLUDE (count, before), unnest(range(before + 1, before + count + 1)) AS sample FROM frozen"
)
"""The answers again, numbered within each problem of a run."""


def count_outcomes(table: LazyTable, most: int) -> tuple[dict[str, dict[str, npt.NDArray[Any]]], list[str]]:
    """Count the answers of each benchmark by run, problem and score; and sentences on what was left out.

    Of several rows of one sample the last written counts. Raises ``TooManyRowsError`` beyond ``most`` rows.
    """
    score = as_number(table.get("score"))
    # NaN is larger than every number.
    finite = nw.when(score.is_between(-LARGEST_FLOAT, LARGEST_FLOAT)).then(score).alias("score")
    keys = (*_KEY, *(["sample"] if "sample" in table.roles else []))
    texts = [table.get_text(name, None) for name in keys if name not in {"series", "run", "seed"}]
    tidy = table.frame.select(*table.select_runs(), *texts, finite)
    missing = as_counts(fetch(tidy.select(nw.col("score").null_count()))["score"])[0]
    tidy = tidy.filter(~nw.col("score").is_null())
    found = [f"Before freezing, {format_count(missing, 'answer')} had no score."] if missing else []
    if "sample" in table.roles:
        repeats = tidy.group_by(*keys).agg((nw.len() - 1).alias("repeats"))
        if replaced := int(np.sum(as_floats(fetch(repeats.select(nw.col("repeats").sum()))["repeats"]))):
            refuse_repeats(table, tidy, keys)
            be = "was" if replaced == 1 else "were"
            found.append(f"Before freezing, {format_count(replaced, 'row')} {be} replaced by a later one.")
        tidy = last_written(tidy, keys, "row", ("score",))
    columns = _fetch_counts(tidy, most)
    if int(columns["count"].sum()) > MOST_ANSWERS:
        step = "Freeze a part of the table: fewer series or benchmarks"
        raise fail(f"the table has more than {MOST_ANSWERS:,} answers", step)
    return _split_benchmarks(columns), found


def _fetch_counts(tidy: nw.LazyFrame[Any], most: int) -> dict[str, npt.NDArray[Any]]:
    """Fetch a row for each score of a problem of a run, sorted: how many answers have it, and come before."""
    fetched = fetch(tidy.group_by(*_KEY, "score").agg(nw.len().alias("count")), most)
    names = [as_texts(fetched[name]) for name in _KEY]
    rows = sorted(
        zip(*names, as_floats(fetched["score"]).tolist(), as_counts(fetched["count"]), strict=True),
        key=lambda row: tuple(cell if cell is not None else "" for cell in row),
    )
    cells = list(zip(*rows, strict=True)) or [()] * (len(_KEY) + 2)
    columns: dict[str, npt.NDArray[Any]] = {
        name: np.array(cells[place], dtype=object) for place, name in enumerate(_KEY)
    }
    columns["score"] = np.array(cells[-2], dtype=np.float64)
    columns["count"] = np.array(cells[-1], dtype=np.int64)
    columns["before"] = _count_before(columns)
    return columns


def _count_before(columns: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """Return the answers before each row that are of the same run and problem."""
    counts = columns["count"]
    total = np.cumsum(counts) - counts
    keys = list(zip(*(columns[name] for name in _KEY), strict=True))
    starts = np.array(
        [place == 0 or keys[place] != keys[place - 1] for place in range(len(keys))], dtype=bool
    )
    first = (
        np.maximum.accumulate(np.where(starts, np.arange(len(keys)), 0)) if keys else np.empty(0, np.int64)
    )
    before: npt.NDArray[np.int64] = total - total[first]
    return before


def _split_benchmarks(columns: dict[str, npt.NDArray[Any]]) -> dict[str, dict[str, npt.NDArray[Any]]]:
    names = [name or "answers" for name in columns["benchmark"]]
    parts = {}
    for name in dict.fromkeys(names):
        inside = np.array([one == name for one in names])
        parts[name] = {column: cells[inside] for column, cells in columns.items()}
    return parts
