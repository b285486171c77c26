"""CSV that W&B exports, known by its header: a chart, whose columns are runs, and the table of runs.

Source: "Export CSV" of a panel and of the runs table in the W&B app, as exported files have them. A chart's
first column is its x, mostly ``Step``; then come ``RUN - METRIC``, ``RUN - METRIC__MIN`` and ``…__MAX`` for
each run, and the same of ``_step`` where x is something else. Runs of one name have columns of one name.
Where runs are grouped (``Group: NAME`` or ``SETTING: VALUE``), or steps are, a value stands for several. The
table of runs has a row a run: settings, last values.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

WANDB_CHART: Final = "wandb-csv"
WANDB_CHART_TITLE: Final = "W&B chart export"
TABLE_OF_RUNS: Final = "it is the table of runs that W&B exports: settings and last values, but no curves"
RUNS_TABLE_ADVICE: Final = "Export the panel of a metric as CSV instead, or put the folders wandb/run-* here"
_SEPARATOR: Final = " - "
_EXTREMES: Final = ("__MIN", "__MAX")
_STEP: Final = "Step"
WANDB_STEP: Final = "_step"
"""The metric that counts the calls of ``log``."""
# A space that stands in no name tells the second of two runs of one name.
_TWIN_SIGN: Final = "\u00a0"
_OF_A_TABLE: Final = frozenset(("Name", "State", "Runtime"))
_OTHERS_OF_A_TABLE: Final = frozenset(("Created", "Notes", "Sweep", "Tags", "User"))
_OF_A_SCRIPT: Final = frozenset(("config", "name", "summary"))


class ChartColumn(NamedTuple):
    """What a column of a chart holds: a metric of a run; of runs of one name the second has ``twin`` 2."""

    run: str
    twin: int
    metric: str


def is_chart(columns: Sequence[str]) -> bool:
    """Whether a header is that of a chart that W&B exported."""
    first, *others = columns or ("",)
    if not others or _SEPARATOR in first or not all(_SEPARATOR in column for column in others):
        return False
    extremes = any(base + ending in columns for base in others for ending in _EXTREMES)
    return extremes or first == _STEP


def parse_chart(columns: Sequence[str]) -> dict[str, ChartColumn]:
    """What the columns of a chart hold, without smallest and largest values and what names no metric."""
    found = {}
    for column in columns[1:]:
        run, separator, metric = column.rpartition(_SEPARATOR)
        if separator and not _is_extreme(column, columns):
            name, _, twin = run.partition(_TWIN_SIGN)
            found[column] = ChartColumn(name, int(twin or 1), metric)
    return found


def find_joined(columns: Sequence[str], rows: Collection[Sequence[str | None]]) -> dict[str, ChartColumn]:
    """What columns hold of which some value stands for several: its smallest and largest differ.

    Args:
        columns: the header.
        rows: some rows.
    """
    places = {column: place for place, column in enumerate(columns)}
    found = {}
    for column, one in parse_chart(columns).items():
        low, high = map(places.get, name_extremes(column))
        if low is None or high is None or one.metric == WANDB_STEP:
            continue
        if any(row[low] != row[high] for row in rows):
            found[column] = one
    return found


def name_extremes(column: str) -> tuple[str, str]:
    """The columns of the smallest and the largest of the values that one of a column stands for."""
    low, high = _EXTREMES
    return column + low, column + high


def number_twins(columns: Sequence[str]) -> tuple[str, ...]:
    """The header of a chart with names that differ: a second ``a - loss`` is one of another run ``a``."""
    seen: Counter[str] = Counter()
    found = []
    for column in columns:
        seen[column] += 1
        run, separator, metric = column.rpartition(_SEPARATOR)
        twin = f"{_TWIN_SIGN}{seen[column]}" if seen[column] > 1 and separator else ""
        found.append(f"{run}{twin}{separator}{metric}")
    return tuple(found)


def is_table_of_runs(columns: Sequence[str], cells: Collection[str | None] = ()) -> bool:
    """Whether a file is W&B's table of runs, or what the script in its guide writes in its place.

    Args:
        columns: the header.
        cells: some cells; the script writes settings as JSON objects.
    """
    there = set(columns)
    if there >= _OF_A_TABLE and len(there & _OTHERS_OF_A_TABLE) > 1:
        return True
    return there >= _OF_A_SCRIPT and any(cell and cell.startswith("{") for cell in cells)


def _is_extreme(column: str, columns: Sequence[str]) -> bool:
    return any(column.removesuffix(ending) in columns for ending in _EXTREMES if column.endswith(ending))
