"""The axis of all values of a scatter plot or of rows, with the scale, ends and lines of an author."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from reportgen.core.errors import ReportError
from reportgen.figures.axis import make_linear_axis, make_log_axis, position, use_percent
from reportgen.figures.curves.plotting import check_positive, fit_axis
from reportgen.figures.picture import format_position
from reportgen.figures.plot import Mark, make_diagnostic
from reportgen.figures.text import escape_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import SourceContext
    from reportgen.settings.block_parts import ReferenceLine
    from reportgen.settings.score_blocks import (
        DistributionSettings,
        LadderSettings,
        ScatterSettings,
        SweepSettings,
    )


_MUTED = "var(--rg-muted)"
_LINE = {"type": "rule", "strokeDash": [2, 3], "color": _MUTED}
_WORDS = {
    "x": {"type": "text", "align": "left", "baseline": "top", "dx": 4, "color": _MUTED},
    "y": {"type": "text", "align": "left", "dx": 4, "dy": -6, "color": _MUTED},
}
WIDE = 10
"""Factor between the smallest and largest x from which the axis is logarithmic."""


def make_references(lines: Iterable[ReferenceLine]) -> tuple[Mark, ...]:
    """Return the reference lines of an author as marks."""
    return tuple(Mark(text=line.label, x=line.x, y=line.y) for line in lines)


def make_value_axis(
    values: Sequence[float],
    title: str,
    settings: DistributionSettings | LadderSettings | ScatterSettings | SweepSettings,
    name: Literal["x", "y"],
    context: SourceContext,
    *,
    pad: float,
    percent: bool = False,
) -> Axis:
    """Make the axis of all values and reference lines; raise a ``ReportError`` if they do not fit it.

    ``pad`` is the part of the range that is free on both sides unless the author gives the ends.
    """
    scale, domain = getattr(settings, f"{name}_scale"), getattr(settings, f"{name}_domain")
    if domain == "auto":
        message = f"{name}_domain: auto leaves out values of lines, and this figure shows all of its values"
        step = f"Write {name}_domain: [LOWEST, HIGHEST], or leave it out"
        raise ReportError(make_diagnostic(context, message, step))
    marked = (getattr(line, name) for line in settings.reference)
    every = [*values, *(at for at in marked if at is not None)]
    low, high = min(every), max(every)
    if scale == "log":
        check_positive(low, high, name, context)
    if domain and not domain[0] <= low <= high <= domain[1]:
        message = f"values run from {low:g} to {high:g}, beyond {name}_domain: [{domain[0]:g}, {domain[1]:g}]"
        raise ReportError(make_diagnostic(context, message, "Show all of them, with their intervals"))
    is_log = scale == "log" or (scale is None and low > 0 and high / low >= WIDE)
    room = 0.0 if domain else pad
    low, high = domain or (low, high)
    if is_log:
        check_positive(low, high, name, context)
        axis = make_log_axis(title, low / (high / low) ** room, high * (high / low) ** room)
    else:
        axis = fit_axis(lambda count: make_linear_axis(title, low, high, count=count, pad=room))
    return use_percent(axis) if percent else axis


def draw_row_reference(axis: Axis, mark: Mark, height: int) -> str:
    """Draw a line across rows, with its words where a narrow figure has no names of rows."""
    x, late = format_position(axis, mark.y or 0.0), position(axis, mark.y or 0.0) > 1 / 2
    line = f'<line x1="{x}" x2="{x}" y2="{height}" stroke="var(--rg-muted)" stroke-dasharray="2 3"/>'
    side = 'dx="-5" text-anchor="end"' if late else 'dx="5"'
    words = (
        f'<text class="rg-wide" x="{x}" {side} y="10" fill="var(--rg-muted)">{escape_text(mark.text)}</text>'
    )
    return f'<g class="rg-reference">{line}{words if mark.text else ""}</g>'


def list_reference_layers(
    references: Iterable[Mark], channels: Mapping[str, tuple[str, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Return the layers of lines and their words; ``channels`` are channel and encoding of x and of y."""
    layers = []
    for mark in references:
        name = "y" if mark.x is None else "x"
        channel, encoding = channels[name]
        own = {key: part for key, part in encoding.items() if key != "field"} | {"datum": getattr(mark, name)}
        layers.append({"mark": _LINE, "encoding": {channel: own}})
        if mark.text:
            start = {"y" if channel == "x" else "x": {"value": 0}, "text": {"value": mark.text}}
            layers.append({"mark": _WORDS[channel], "encoding": {channel: own, **start}})
    return layers
