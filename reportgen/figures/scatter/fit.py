"""The fitted line of a scatter plot: its drawing, its words and its layers in Vega-Lite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec.structs import replace

from reportgen.core.model import Estimate
from reportgen.core.words import format_estimate
from reportgen.figures.paths import make_line_paths
from reportgen.figures.picture import draw_body
from reportgen.figures.plot import SeriesLine

if TYPE_CHECKING:
    from reportgen.core.comparisons import Fit
    from reportgen.figures.plot import Plot

_COLUMNS: Final = ("x", "y", "low", "high")


def make_fit_line(fit: Fit) -> SeriesLine:
    """Return the fitted line as a line of a plot."""
    x, mean, low, high = fit.line
    return SeriesLine("fit", None, x, mean, low, high, np.full(x.size, fit.slope.n))


def draw_ground(plot: Plot, fit: Fit | None) -> str:
    """Draw the axes of a plot without its points, and the line with the interval of the fitted mean."""
    bare = replace(plot, lines=(), annotations=(), whiskers=False)
    if fit is None:
        return draw_body(bare, (), fluid=True)
    drawn = replace(bare, lines=(make_fit_line(fit),), band="ci", clip=True)
    return draw_body(drawn, make_line_paths(drawn), fluid=True)


def describe_fit(fit: Fit, level: float, *, units: str, percent: bool) -> tuple[str, str]:
    """Return the equation with the interval of its slope or exponent, and how it was fitted.

    ``units`` are what each point is, in the plural; with ``percent``, y is in percent.
    """
    scale, note = (100.0, " (y in %)") if percent else (1.0, "")
    slope, n = fit.slope, fit.slope.n
    if not fit.is_power:
        low, high = (None if end is None else end * scale for end in (slope.low, slope.high))
        slope = Estimate(slope.value * scale, low, high, n)
    constant, alone = (
        format_estimate(Estimate(value, None, None, n)) for value in (fit.constant * scale, slope.value)
    )
    interval = f"{format_estimate(slope)}, {level * 100:g}% CI over {n} {units}"
    if fit.is_power:
        equation = f"Power law: y = {constant} · x^{alone}{note}, exponent {interval}."
    else:
        sign, size = ("−", alone.removeprefix("−")) if slope.value < 0 else ("+", alone)
        equation = f"Line: y = {constant} {sign} {size} · x{note}, slope {interval}."
    of_logs = " of log y on log x" if fit.is_power else ""
    how = f"Fit: least squares{of_logs}, one value for each of the {units}; the band is for the fitted mean."
    return equation, f"{how} Both intervals: Student's t with {n - 2} degrees of freedom."


def collect_fit(fit: Fit) -> dict[str, Any]:
    """Return the entry in ``report.json``."""
    ends = [fit.slope.value, fit.slope.low, fit.slope.high]
    kind, name = ("power", "exponent") if fit.is_power else ("linear", "slope")
    return {"kind": kind, "constant": fit.constant, name: ends}


def list_fit_layers(fit: Fit, x: dict[str, Any], y: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the layers of band and line; ``x`` and ``y`` are the encodings of the points."""
    rows = [dict(zip(_COLUMNS, row, strict=True)) for row in fit.line.T.tolist()]
    ink = {"color": {"value": "var(--rg-muted)"}}
    area = {"type": "area", "opacity": 0.16, "clip": True}
    band = {"x": x, "y": y | {"field": "low"}, "y2": {"field": "high"}}
    line = {"type": "line", "strokeWidth": 2, "clip": True}
    return [
        {"data": {"values": rows}, "mark": area, "encoding": band | ink},
        {"data": {"values": rows}, "mark": line, "encoding": {"x": x, "y": y} | ink},
    ]
