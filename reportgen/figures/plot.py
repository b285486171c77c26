"""A plot as values: everything that the static picture, the specification and the live view share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reportgen.figures.axis import Axis
    from reportgen.figures.label_places import Anchor
    from reportgen.model import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class RunLine:
    """A thin line: one run. Arrays are 1-d, of equal length."""

    name: str
    steps: FloatArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class SeriesLine:
    """One series: its mean line, band and runs. Arrays are 1-d, of equal length; NaN is a gap."""

    name: str
    slot: int | None
    steps: FloatArray
    values: FloatArray
    low: FloatArray
    high: FloatArray
    n: IntArray
    runs: tuple[RunLine, ...] = ()
    raw: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class Label:
    """Where the words of a mark stand. Pixels count from the mark down; from a vertical line's top.

    Attributes:
        text, short: the words, and what a narrow picture shows of them.
        anchor: which end of them stands at the mark's step, ``dx`` pixels to the right of it.
        dx, dy: pixels to the anchor and down to the baseline.
        leader: first and last pixel of the thin line to words that stand away from their point.
    """

    text: str
    short: str
    anchor: Anchor
    dx: float
    dy: float
    leader: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A reference line (``x`` or ``y``) or an annotation (``x`` and ``y``, with its series' slot).

    ``label`` is None for a line across, whose words have a place of their own, and where there is no room.
    """

    text: str
    x: float | None = None
    y: float | None = None
    slot: int | None = None
    label: Label | None = None


@dataclass(frozen=True, slots=True)
class EndLabel:
    """A series' name at the end of its line; ``y`` is in pixels from the top of the plot."""

    text: str
    slot: int | None
    y: float


@dataclass(frozen=True, slots=True)
class Margins:
    """Room around the plot in pixels, left and right in multiples of 8 (each has a CSS class)."""

    top: int
    right: int
    bottom: int
    left: int


@dataclass(frozen=True, slots=True)
class Plot:
    """Lines over two axes.

    ``height`` is that of the plot rectangle in pixels, without margins; the width is the page's.
    ``symbols`` says whether each point gets its series' symbol (few points) rather than a dash.
    """

    id: str
    x: Axis
    y: Axis
    lines: tuple[SeriesLine, ...]
    margins: Margins
    height: int
    symbols: bool
    clip: bool
    band: str
    references: tuple[Mark, ...] = ()
    annotations: tuple[Mark, ...] = ()
    ends: tuple[EndLabel, ...] = ()
