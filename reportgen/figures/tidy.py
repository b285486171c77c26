"""The figure's numbers as CSV: one row a point drawn, before any thinning for pixels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reportgen.figures.path import thin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.model import CurveSet, FloatArray

_RUN_POINTS = 160
COLUMNS = ("series", "metric", "step", "value", "low", "high", "n")


def csv_text(curve_set: CurveSet) -> str:
    """Columns ``series,metric,step,value,low,high,n``, and ``raw`` where the line is smoothed.

    A value that is not known is empty. Ten significant digits; lines end in a single newline.
    """
    smoothed = any(curve.raw is not None for curve in curve_set.curves)
    metric = field(curve_set.metric)
    lines = [",".join((*COLUMNS, "raw") if smoothed else COLUMNS)]
    for curve in curve_set.curves:
        start = f"{field(curve.series)},{metric},"
        columns = [numbers(part) for part in (curve.steps, curve.values, curve.low, curve.high)]
        columns.append([str(n) for n in curve.n.tolist()])
        if smoothed:
            columns.append(numbers(curve.values if curve.raw is None else curve.raw))
        lines += [start + ",".join(row) for row in zip(*columns, strict=True)]
    return "\n".join(lines) + "\n"


def runs_csv(curve_set: CurveSet) -> str:
    """Columns ``series,run,step,value`` of every run's thin line, thinned to what pixels can show."""
    lines = ["series,run,step,value"]
    for curve in curve_set.curves:
        for run in curve.runs:
            start = f"{field(curve.series)},{field(run.run)},"
            steps, values = thin(run.steps, run.values if run.smoothed is None else run.smoothed, _RUN_POINTS)
            pairs = zip(numbers(steps), numbers(values, "{:.6g}"), strict=True)
            lines += [f"{start}{step},{value}" for step, value in pairs]
    return "\n".join(lines) + "\n"


def numbers(values: FloatArray, form: str = "{:.10g}") -> list[str]:
    """Ten significant digits, or as ``form`` says; not a number is empty."""
    if np.isfinite(values).all():
        return list(map(form.format, values.tolist()))
    return [form.format(value) if math.isfinite(value) else "" for value in values.tolist()]


def field(text: str) -> str:
    """A CSV field, quoted where needed, harmless in a spreadsheet."""
    text = spreadsheet_safe(text)
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def spreadsheet_safe(text: str) -> str:
    """A name that a spreadsheet would run as a formula gets an apostrophe before it (OWASP)."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def table_csv(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A finished table as CSV."""
    return "".join(",".join(field(cell) for cell in row) + "\n" for row in (header, *rows))
