"""Tables as pandas frames: for notebooks, and for specifications of an author's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.read.cells import Kind
from reportgen.read.columns import resolve_filters
from reportgen.read.engine import get_engine
from reportgen.read.layout import get_layout
from reportgen.read.tabular.faults import explain_errors, find_faults
from reportgen.read.tabular.rows import group_files, make_where, select_run, select_series

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd

    from reportgen.model import Measurements, Source
    from reportgen.read.layout import Layout
    from reportgen.read.tabular.rows import Rows

_ALWAYS: Final = ("series", "run")
_PARTS: Final = (*_ALWAYS, "seed", "step", "metric", "value")


def make_frame(measurements: Measurements) -> pd.DataFrame:
    """Measurements as a frame, in the order of writing, times as timestamps in UTC.

    Returns:
        Columns ``series, run, seed, metric, step, value`` and those of the input's own interval.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    import pandas as pd  # noqa: PLC0415 - costs half a second where no frame is asked for

    with measurements.reading():
        table: pd.DataFrame = measurements.frame.sort("row", "metric").drop("row").to_native().df()
    if measurements.step_is_time:
        table["step"] = pd.to_datetime(table["step"], unit="ms", utc=True)
    return table


def read_raw_frame(project_root: Path, source: Source) -> pd.DataFrame:
    """Every column of a source as it is written, and beside them those that reportgen recognised.

    ``series`` (renamed as the source says, as metrics are) and ``run`` are always there; ``seed``,
    ``step``, ``metric`` and ``value`` where a column plays that part under another name.

    Returns:
        One row for each row of the data that the source's filter keeps, in the order of writing.
        Numbers are float64, words str, missing cells None or NaN.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    layout = get_layout(source)
    columns = _list_columns(layout)
    selects = []
    for rows in group_files(project_root, layout):
        named = {
            "series": select_series(rows, layout, source.settings.rename),
            "run": select_run(rows, layout),
        }
        # A column that has such a name without playing the part stays what it is.
        named = {
            part: cell for part, cell in named.items() if columns[part] in {"", getattr(layout.roles, part)}
        }
        cells = [named.get(part) or _cell(rows, layout, name) for part, name in columns.items()]
        listed = ", ".join(f"{cell} AS c{index}" for index, cell in enumerate(cells))
        where = make_where(rows, resolve_filters(source.settings.filter, tuple(layout.kinds)))
        selects.append(f"SELECT {listed}, {rows.get_position()} AS row FROM {rows.build_source()}{where}")  # noqa: S608
    numbers = {name for name, kind in layout.kinds.items() if kind is Kind.NUMBER}
    with explain_errors(
        project_root, source.location, lambda: find_faults(project_root, layout.files, numbers)
    ):
        ordered = f"SELECT * EXCLUDE (row) FROM ({' UNION ALL '.join(selects)}) ORDER BY row"  # noqa: S608
        table: pd.DataFrame = get_engine().open_cursor().sql(ordered).df()
    table.columns = list(columns)
    return _rename_metrics(table, source.settings.rename_metrics)


def _rename_metrics(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Metrics under their names in the report: as columns, and in the column that names them."""
    if "metric" in table.columns:
        table["metric"] = table["metric"].replace(dict(names))
    return table.rename(columns=dict(names))


def _list_columns(layout: Layout) -> dict[str, str]:
    """Name in the frame: column of the data; what a column is called stands before what part it plays."""
    columns = {name: name for name in layout.kinds}
    for part in _PARTS:
        column = getattr(layout.roles, part)
        if part not in columns and (column is not None or part in _ALWAYS):
            columns[part] = column or ""
    return columns


def _cell(rows: Rows, layout: Layout, name: str) -> str:
    return rows.as_number(name) if layout.kinds[name] is Kind.NUMBER else rows.as_written(name)
