"""Places for the words of a plot's marks, so that none lies on another however wide the picture is.

The picture is fluid: a mark stands at a fraction of its width, and its words reach from there by a number of
pixels. Two labels side by side that are clear of each other in the narrowest picture, and in the order of
their marks, stay clear in every wider one and in every zoomed one, since their marks only move apart.
A narrow picture may have shorter words, and has no names at the line ends; everything stands at the same
heights in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.model import FloatArray

WIDTHS = (270, 360)
"""Pixels of the narrowest plot, on a small telephone, and of the narrowest one that is not called narrow."""
RING = 6
Anchor: TypeAlias = Literal["start", "middle", "end"]
Sides: TypeAlias = tuple[float, float]

_ASCENT, _DESCENT = 10, 4
_LEVEL = 15
_ABOVE, _BELOW = -12, 22
_TOP, _LINE_GAP, _ASIDE = 10, 5, 11
_GAP, _CLOSE = 6, 3
_LEFT_EDGE, _RIGHT_EDGE, _TOP_EDGE = -4, 12, -11
_SAMPLES = 481
_SEEN_AT = (300, 700)

# What a place costs, in pixels that the words may as well stand farther away.
_LEADER, _OTHER_SIDE, _OTHER_ANCHOR = 8, 5, 4
_ON_A_LINE, _AT_LEAST, _ON_A_MARK, _BEYOND_THE_EDGE = 0.3, 30, 40, 1.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in a fluid picture.

    Attributes:
        x: where it hangs, as a fraction of the plot's width.
        sides: pixels from there to its left and right, in a narrow picture and in any other; None where it
            is not drawn.
        top, bottom: pixels from the top of the plot.
    """

    x: float
    sides: tuple[Sides | None, Sides | None]
    top: float
    bottom: float


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """A place for a label.

    Attributes:
        anchor: which end of the words stands at the mark's step, ``dx`` pixels to the right of it.
        baseline: pixels from the top of the plot.
        box: what the words cover.
        leader: the thin line from mark to words, where they stand away from it.
        cost: how much worse than the best place this is, before anything else is drawn.
    """

    anchor: Anchor
    dx: float
    baseline: float
    box: Box
    leader: Box | None
    cost: float


def is_apart(a: Box, b: Box, gap: float = _GAP) -> bool:
    """Whether one is above the other or ``gap`` pixels beside it, in a plot of ``WIDTHS`` pixels or more."""
    if a.bottom <= b.top or b.bottom <= a.top:
        return True
    here = zip(WIDTHS, a.sides, b.sides, strict=True)
    return all(
        (a.x <= b.x and (b.x - a.x) * width + of_b[0] - of_a[1] >= gap)
        or (b.x <= a.x and (a.x - b.x) * width + of_a[0] - of_b[1] >= gap)
        for width, of_a, of_b in here
        if of_a and of_b
    )


def measure_room(x: float) -> float:
    """Pixels of a narrow plot for words on one side of a vertical line, or at a point."""
    return max((1 - x) * WIDTHS[0] + _RIGHT_EDGE, x * WIDTHS[0] - _LEFT_EDGE) - _LINE_GAP


def list_places_at_point(x: float, y: float, widths: Sides, height: float) -> Iterator[LabelPlace]:
    """Places for words above, below and beside a point, inside a plot of this ``height``.

    ``x`` is a fraction of the plot's width, ``y`` pixels from its top; ``widths`` are those of the words in
    a narrow picture and in any other.
    """
    usual = "start" if x < 1 / 3 else "end" if x > 2 / 3 else "middle"
    up_first = y > height / 6
    for anchor in _ANCHORS:
        for up in (True, False):
            base = (_OTHER_ANCHOR if anchor != usual else 0) + (_OTHER_SIDE if up != up_first else 0)
            for level in range(int(height / _LEVEL) + 1):
                away = level * _LEVEL
                baseline = y + (_ABOVE - away if up else _BELOW + away)
                box = _make_box(x, anchor, 0, widths, baseline)
                if not (box.top >= _TOP_EDGE and box.bottom <= height + _DESCENT and _is_inside(box)):
                    break
                ends = (box.bottom, y - RING) if up else (y + RING, box.top)
                leader = Box(x, ((0, 0), (0, 0)), *ends) if level else None
                yield LabelPlace(anchor, 0, baseline, box, leader, base + away + (_LEADER if level else 0))
    for anchor, dx in _BOTH_SIDES:
        box = _make_box(x, anchor, dx * _ASIDE, widths, min(max(y + _DESCENT, _ASCENT), height))
        if _is_inside(box):
            cost = _OTHER_ANCHOR + _OTHER_SIDE
            yield LabelPlace(anchor, dx * _ASIDE, box.bottom - _DESCENT, box, None, cost)


def list_places_at_line(x: float, widths: Sides, height: float) -> Iterator[LabelPlace]:
    """Places for words at a vertical line, on either side of it, from its top down."""
    for anchor, dx in _BOTH_SIDES:
        for level in range(int((height - _TOP) / _LEVEL) + 1):
            box = _make_box(x, anchor, dx * _LINE_GAP, widths, _TOP + level * _LEVEL)
            cost = level * _LEVEL + (_OTHER_SIDE if anchor == "end" else 0)
            if _is_inside(box):
                yield LabelPlace(anchor, dx * _LINE_GAP, box.bottom - _DESCENT, box, None, cost)


_ANCHORS: tuple[Anchor, ...] = ("start", "middle", "end")
_BOTH_SIDES: tuple[tuple[Anchor, int], ...] = (("start", 1), ("end", -1))


def _make_box(x: float, anchor: Anchor, dx: float, widths: Sides, baseline: float) -> Box:
    part = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor]
    narrow, wide = ((dx - part * width, dx + (1 - part) * width) for width in widths)
    return Box(x, (narrow, wide), baseline - _ASCENT, baseline + _DESCENT)


def _is_inside(box: Box) -> bool:
    """Whether words reach no farther than a narrow plot's edges."""
    left, right = box.sides[0] or (0, 0)
    return box.x * WIDTHS[0] + left >= _LEFT_EDGE and (box.x - 1) * WIDTHS[0] + right <= _RIGHT_EDGE


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What else is drawn in a plot.

    Attributes:
        words: labels that have their place already; nothing may lie on them.
        marks: rings and vertical lines, better left clear.
        strokes: heights of lines in pixels at even fractions of the width, a row a line; NaN is a gap.
    """

    words: Sequence[Box]
    marks: Sequence[Box]
    strokes: FloatArray

    def compute_cost(self, box: Box) -> float:
        """What it costs that words in a box lie on marks and lines, or reach beyond the plot."""
        on_marks = sum(_ON_A_MARK for mark in self.marks if not is_apart(box, mark, _CLOSE))
        covered = sum(
            self._measure_covered(box, sides, width) / len(_SEEN_AT)
            for width, sides in zip(_SEEN_AT, box.sides, strict=True)
            if sides
        )
        left, right = box.sides[1] or (0, 0)
        beyond = max(0.0, -(box.x * WIDTHS[1] + left)) + max(0.0, (box.x - 1) * WIDTHS[1] + right)
        return on_marks + _ON_A_LINE * covered + _BEYOND_THE_EDGE * beyond

    def _measure_covered(self, box: Box, sides: Sides, width: float) -> float:
        """Pixels of a box's width in which a line runs through it, and some more if one does."""
        cells = _SAMPLES - 1
        ends = (sides[0] - _CLOSE, sides[1] + _CLOSE)
        first, last = (int(np.clip((box.x + end / width) * cells, 0, cells)) for end in ends)
        part = self.strokes[:, first : last + 2]
        low, high = np.minimum(part[:, :-1], part[:, 1:]), np.maximum(part[:, :-1], part[:, 1:])
        hit = int(((low <= box.bottom) & (high >= box.top)).any(axis=0).sum())
        return _AT_LEAST * (hit > 0) + hit * width / cells


def list_fractions() -> FloatArray:
    """The fractions of the width at which ``Drawn.strokes`` has heights."""
    return np.linspace(0, 1, _SAMPLES)
