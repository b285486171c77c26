"""The numbers of a figure as CSV: one row a point drawn, before any thinning for pixels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.paths import thin_together

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.core.model import CurveSet, FloatArray


_RUN_POINTS = 100
_FORMULA_MARKS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
CURVE_COLUMNS = ("series", "metric", "step", "value", "low", "high", "n")


def write_curves_csv(curve_set: CurveSet) -> str:
    """Columns ``series,metric,step,value,low,high,n``, and ``raw`` where the line is smoothed.

    A value that is not known is empty. Ten significant digits, of steps fifteen; lines end in a single
    newline.
    """
    smoothed = any(curve.raw is not None for curve in curve_set.curves)
    metric = escape_field(curve_set.metric)
    parts = [",".join((*CURVE_COLUMNS, "raw") if smoothed else CURVE_COLUMNS) + "\n"]
    form = "%.15g,%.10g,%.10g,%.10g,%d" + ",%.10g" * smoothed
    for curve in curve_set.curves:
        columns = [curve.steps, curve.values, curve.low, curve.high, curve.n.astype(np.float64)]
        if smoothed:
            columns.append(curve.values if curve.raw is None else curve.raw)
        parts.append(_format_rows(f"{escape_field(curve.series)},{metric},", form, columns))
    return "".join(parts)


def write_runs_csv(curve_set: CurveSet) -> str:
    """Columns ``series,run,step,value`` of every run's thin line, thinned to what pixels can show."""
    parts = ["series,run,step,value\n"]
    for curve in curve_set.curves:
        lines = [(run.steps, run.values if run.smoothed is None else run.smoothed) for run in curve.runs]
        starts = [f"{escape_field(curve.series)},{escape_field(run.run)}," for run in curve.runs]
        for start, points in zip(starts, thin_together(lines, _RUN_POINTS), strict=True):
            parts.append(_format_rows(start, "%.15g,%.6g", points))
    return "".join(parts)


def _format_rows(start: str, form: str, columns: Sequence[FloatArray]) -> str:
    """Lines of ``start`` and a row's numbers in ``form``; not a number is empty.

    One formatting call for all rows is several times as fast as one for each number.
    """
    table = np.column_stack(columns)
    if np.isfinite(table).all():
        return (start.replace("%", "%%") + form + "\n") * len(table) % tuple(table.ravel().tolist())
    lines = ((form + "\n") * len(table) % tuple(table.ravel().tolist())).splitlines()
    known = np.isfinite(table)
    for row in np.flatnonzero(~known.all(axis=1)).tolist():
        cells = zip(lines[row].split(","), known[row], strict=True)
        lines[row] = ",".join(cell if here else "" for cell, here in cells)
    return "".join(f"{start}{line}\n" for line in lines)


def escape_field(text: str) -> str:
    """A CSV field, quoted where needed, harmless in a spreadsheet."""
    text = escape_formula(text)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def escape_formula(text: str) -> str:
    """A name that a spreadsheet would run as a formula gets an apostrophe before it.

    The marks are those of OWASP's page on CSV injection, in their full-width forms too.
    """
    return f"'{text}" if text.startswith(_FORMULA_MARKS) else text


def write_table_csv(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as CSV: words as they are, numbers with ten significant digits, None as an empty cell."""
    return "".join(",".join(_format_cell(cell) for cell in row) + "\n" for row in (header, *rows))


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.10g}" if math.isfinite(value) else ""
    return str(value) if isinstance(value, int) else escape_field(str(value))
