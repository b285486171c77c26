"""The x axis of a static picture: ticks and title below, and for rows a line up from each tick and a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.figures.axis import position
from reportgen.figures.svg_text import escape_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.figures.axis import Axis


def draw_x_grid(axis: Axis, height: int) -> Iterator[str]:
    """A line at each tick, ``height`` pixels high."""
    yield '<g class="rg-grid" stroke="var(--rg-grid)">'
    for tick in axis.ticks:
        x = format_position(axis, tick)
        yield f'<line x1="{x}" x2="{x}" y2="{height}"/>'
    yield "</g>"


def draw_rule(axis: Axis, height: int, rule: float | None) -> Iterator[str]:
    """A line at ``rule``, if there is to be one: where there is no difference, say."""
    if rule is not None:
        x = format_position(axis, rule)
        yield f'<line class="rg-zero" x1="{x}" x2="{x}" y2="{height}" stroke="var(--rg-muted)"/>'


def draw_x_axis(axis: Axis, bottom: int) -> Iterator[str]:
    """The axis below, ``bottom`` pixels down."""
    # In a narrow figure every second tick goes, with its label.
    ticks = [(format_position(axis, tick), ' class="rg-odd"' * (n % 2)) for n, tick in enumerate(axis.ticks)]
    yield f'<g class="rg-x-axis" stroke="var(--rg-rule)"><line x2="100%" y1="{bottom}" y2="{bottom}"/>'
    for x, odd in ticks:
        yield f'<line{odd} x1="{x}" x2="{x}" y1="{bottom}" y2="{bottom + 5}"/>'
    yield '</g><g class="rg-x-labels" text-anchor="middle" fill="var(--rg-muted)">'
    for (x, odd), label in zip(ticks, axis.labels, strict=True):
        yield f'<text{odd} x="{x}" y="{bottom + 19}">{escape_text(label)}</text>'
    yield f'</g><text class="rg-x-title" x="50%" y="{bottom + 38}" text-anchor="middle" '
    yield f'fill="var(--rg-text)">{escape_text(axis.title)}</text>'


def format_position(axis: Axis, value: float) -> str:
    """Where a value stands on the axis, as a length in SVG."""
    return f"{position(axis, value) * 100:.6g}%"
