"""Placement of labels in a plot, without overlaps at any width of the picture.

The picture is fluid: a mark is at a fraction of its width, and its label extends from there by a number of
pixels. Two labels that do not overlap in the narrowest picture, and are in the order of their marks, do not
overlap in any wider or zoomed picture, since their marks only move apart. A narrow picture may have shorter
labels, and none at the line ends; heights are the same in both.
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.words import join_names, lower_axis_title
from reportgen.figures.axis import format_value, position
from reportgen.figures.paths import positions
from reportgen.figures.plot import Anchor, Label
from reportgen.figures.style import LABEL_SIZE, TICK_SIZE
from reportgen.figures.text import cut_text, measure_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.model import FloatArray
    from reportgen.figures.plot import Plot


WIDTHS = (270, 360)
"""Widths in pixels of the narrowest plot (on a small phone) and of the narrowest not called narrow."""
RING = 6
Sides: TypeAlias = tuple[float, float]

_ASCENT, _DESCENT = 10, 4
_LEVEL = 15
_ABOVE, _BELOW = -12, 22
_TOP, _LINE_GAP, _ASIDE = 10, 5, 11
_GAP, _CLOSE, _LEADER_GAP = 6, 3, 3
_LEFT_EDGE, _RIGHT_EDGE, _TOP_EDGE = -4, 12, -11
_POINT = 3  # half the size of a symbol
_SAMPLES = 481
_SEEN_AT = (300, 700)
_ROUNDS = 8
_ACROSS_X, _ACROSS_TOP, _ACROSS_BOTTOM = 4, -15, -1
_END_HALF = 8
_LONGEST = 480

# Costs of a place, in pixels of distance from the mark that would be equally bad.
_LEADER, _OTHER_SIDE, _OTHER_ANCHOR, _NUDGED = 8, 5, 4, 2
_ON_A_LINE, _AT_LEAST, _ON_A_MARK, _ON_A_POINT, _BEYOND_THE_EDGE = 0.3, 40, 40, 15, 0.3
_NO_ROOM = 60  # of lines and rings below words
_CROSSED, _STRUCK = 40, 2  # a line along more pixels than this strikes words out, which costs more

# Fraction of the label that is left of its anchor.
_ANCHORS: dict[Anchor, float] = {"start": 0.0, "middle": 0.5, "end": 1.0}
# Pixels by which a label may be moved and still be above or below its mark.
_NUDGES: dict[Anchor, tuple[int, ...]] = {"start": (0, -10), "middle": (0, -10, 10), "end": (0, 10)}
_BOTH_SIDES: tuple[tuple[Anchor, int], ...] = (("start", 1), ("end", -1))


class Box(Struct, frozen=True):
    """Rectangle in a fluid picture; ``top`` and ``bottom`` are pixels from the top of the plot."""

    x: float  # the anchor, as a fraction of the plot's width
    # Pixels from ``x`` to the left and right edges, in a narrow and in any other picture; None if not drawn.
    sides: tuple[Sides | None, Sides | None]
    top: float
    bottom: float


class LabelPlace(Struct, frozen=True):
    """Place for a label, in pixels."""

    anchor: Anchor  # the end of the label that is ``dx`` pixels to the right of the mark
    dx: float
    baseline: float  # from the top of the plot
    box: Box  # the extent of the label
    leader: Box | None  # the thin line from the mark to a label away from it
    cost: float  # additional cost over the best place in an empty plot


def is_apart(a: Box, b: Box, gap: float = _GAP) -> bool:
    """Return whether two boxes do not overlap vertically, or are ``gap`` pixels apart at all ``WIDTHS``."""
    if a.bottom <= b.top or b.bottom <= a.top:
        return True
    return all(
        (a.x <= b.x and (b.x - a.x) * width + of_b[0] - of_a[1] >= gap)
        or (b.x <= a.x and (a.x - b.x) * width + of_a[0] - of_b[1] >= gap)
        for width, of_a, of_b in zip(WIDTHS, a.sides, b.sides, strict=True)
        if of_a and of_b
    )


def list_places_at_point(
    x: float, y: float, widths: Sides, height: float, *, aside: float = 0
) -> Iterator[LabelPlace]:
    """List places for a label above, below, left and right of a point, inside a plot of this ``height``.

    ``x`` is a fraction of the plot's width, ``y`` pixels from its top; ``widths`` are those of the label in a
    narrow and in any other picture. Above and below, labels are ``aside`` pixels from a vertical interval.
    """
    usual = "start" if x < 1 / 3 else "end" if x > 2 / 3 else "middle"
    up_first = y > height / 6
    nudged = (
        (anchor, nudge) for anchor, nudges in _NUDGES.items() for nudge in nudges[: 1 if aside else None]
    )
    for (anchor, nudge), up in product(nudged, (True, False)):
        dx = aside * (1 - 2 * _ANCHORS[anchor]) + nudge
        base = (_OTHER_ANCHOR if anchor != usual else 0) + (_OTHER_SIDE if up != up_first else 0)
        base += _NUDGED if nudge else 0
        for level in range(int(height / _LEVEL) + 1):
            away = level * _LEVEL
            baseline = y + (_ABOVE - away if up else _BELOW + away)
            box = _make_box(x, anchor, dx, widths, baseline)
            if not (box.top >= _TOP_EDGE and box.bottom <= height + _DESCENT and _is_inside(box)):
                break
            ends = (box.bottom, y - RING) if up else (y + RING, box.top)
            leader = Box(x, ((0, 0), (0, 0)), *ends) if level else None
            yield LabelPlace(anchor, dx, baseline, box, leader, base + away + (_LEADER if level else 0))
    for anchor, side in _BOTH_SIDES:
        box = _make_box(x, anchor, side * _ASIDE, widths, min(max(y + _DESCENT, _ASCENT), height))
        if _is_inside(box):
            cost = _OTHER_ANCHOR + _OTHER_SIDE
            yield LabelPlace(anchor, side * _ASIDE, box.bottom - _DESCENT, box, None, cost)


def list_places_at_line(x: float, widths: Sides, height: float) -> Iterator[LabelPlace]:
    """List places for a label on either side of a vertical line, from the top down."""
    for anchor, side in _BOTH_SIDES:
        for level in range(int((height - _TOP) / _LEVEL) + 1):
            box = _make_box(x, anchor, side * _LINE_GAP, widths, _TOP + level * _LEVEL)
            cost = level * _LEVEL + (_OTHER_SIDE if anchor == "end" else 0)
            if _is_inside(box):
                yield LabelPlace(anchor, side * _LINE_GAP, box.bottom - _DESCENT, box, None, cost)


def _make_box(x: float, anchor: Anchor, dx: float, widths: Sides, baseline: float) -> Box:
    part = _ANCHORS[anchor]
    narrow, wide = ((dx - part * width, dx + (1 - part) * width) for width in widths)
    return Box(x, (narrow, wide), baseline - _ASCENT, baseline + _DESCENT)


def _is_inside(box: Box) -> bool:
    """Return whether a label is inside the edges of a narrow plot."""
    left, right = box.sides[0] or (0, 0)
    return box.x * WIDTHS[0] + left >= _LEFT_EDGE and (box.x - 1) * WIDTHS[0] + right <= _RIGHT_EDGE


class Obstacles(Struct, frozen=True):
    """Everything else that is drawn in a plot."""

    words: Sequence[Box]  # labels already placed; overlaps are not allowed
    marks: Sequence[Box]  # rings and vertical lines; overlaps are costly
    # Heights of lines in pixels at ``_SAMPLES`` even fractions of the width; a row per line, NaN for gaps.
    strokes: FloatArray
    points: Sequence[Box] = ()  # symbols of single values

    def compute_cost(self, box: Box) -> float:
        """Return the cost of a box that overlaps marks and lines or extends beyond the plot."""
        on_marks = sum(_ON_A_MARK for mark in self.marks if not is_apart(box, mark, _CLOSE))
        on_marks += _ON_A_POINT * any(not is_apart(box, point, _CLOSE) for point in self.points)
        cells, covered = _SAMPLES - 1, 0.0
        for width, sides in zip(_SEEN_AT, box.sides, strict=True):
            if sides:
                # Pixels of the box's width crossed by a line, plus a fixed cost if there are any.
                ends = (sides[0] - _CLOSE, sides[1] + _CLOSE)
                first, last = (int(np.clip((box.x + end / width) * cells, 0, cells)) for end in ends)
                part = self.strokes[:, first : last + 2]
                low, high = np.minimum(part[:, :-1], part[:, 1:]), np.maximum(part[:, :-1], part[:, 1:])
                hits = (low <= box.bottom) & (high >= box.top)
                crossed = float(hits.any(axis=0).sum()) * width / cells
                along = float(hits.sum(axis=1).max(initial=0)) * width / cells
                struck = _STRUCK * max(0.0, along - _CROSSED)
                covered += (_AT_LEAST * (crossed > 0) + crossed + struck) / len(_SEEN_AT)
        left, right = box.sides[1] or (0, 0)
        beyond = max(0.0, -(box.x * WIDTHS[1] + left)) + max(0.0, (box.x - 1) * WIDTHS[1] + right)
        return on_marks + _ON_A_LINE * covered + _BEYOND_THE_EDGE * beyond


def choose_places(
    candidates: Sequence[Sequence[LabelPlace]], obstacles: Obstacles
) -> list[LabelPlace | None]:
    """Choose a place for each label, most important first; None if there is no room.

    Each label takes the cheapest free place in turn. A label that finds none goes first in another round. The
    best round omits the fewest labels, and the least important ones.
    """
    cheapest = [sorted(places, key=lambda place: place.cost) for places in candidates]
    order = list(range(len(candidates)))
    rounds = [_place_in_turn(order, cheapest, obstacles)]
    for _ in range(_ROUNDS):
        left_out = _list_unplaced(rounds[-1])
        if not left_out:
            break
        order.remove(left_out[0])
        order.insert(0, left_out[0])
        rounds.append(_place_in_turn(order, cheapest, obstacles))
    # Prefer fewer omitted labels, then less important ones.
    return min(rounds, key=lambda places: (len(out := _list_unplaced(places)), [-number for number in out]))


def _list_unplaced(places: Sequence[LabelPlace | None]) -> list[int]:
    return [number for number, place in enumerate(places) if place is None]


def _place_in_turn(
    order: Sequence[int], candidates: Sequence[Sequence[LabelPlace]], obstacles: Obstacles
) -> list[LabelPlace | None]:
    words, leaders = list(obstacles.words), list[Box]()
    chosen: list[LabelPlace | None] = [None] * len(candidates)
    for number in order:
        best, least = None, math.inf
        for place in candidates[number]:
            if place.cost >= least:
                # Places are sorted by their own cost.
                break
            free = (
                all(is_apart(place.box, word) for word in words)
                and all(is_apart(place.box, leader, _LEADER_GAP) for leader in leaders)
                and (not place.leader or all(is_apart(place.leader, word, _LEADER_GAP) for word in words))
            )
            cost = place.cost + obstacles.compute_cost(place.box) if free else math.inf
            if cost < least:
                best, least = place, cost
        chosen[number] = best
        if best:
            words.append(best.box)
            leaders += [best.leader] if best.leader else []
    return chosen


def place_labels(plot: Plot) -> Plot:
    """Place the labels of vertical reference lines and annotations.

    Lines come before annotations. If there is no room for all labels, the later ones are omitted; their marks
    stay, and ``describe_unplaced`` lists them. Marks from data are left out where their words would be on a
    line or a ring.
    """
    marks = [*plot.references, *plot.annotations]
    if not any(mark.text and mark.x is not None for mark in marks):
        return plot
    obstacles = _collect_obstacles(plot)
    numbers, texts, candidates = [], [], []
    for number, mark in enumerate(marks):
        if mark.text and mark.x is not None:
            x = position(plot.x, mark.x)
            # The full label, and one cut to fit on one side of its mark in a narrow picture.
            long = cut_text(" ".join(mark.text.split()), TICK_SIZE, 400, _LONGEST)
            room = max((1 - x) * WIDTHS[0] + _RIGHT_EDGE, x * WIDTHS[0] - _LEFT_EDGE) - _LINE_GAP
            short = cut_text(long, TICK_SIZE, 400, room)
            widths = (measure_text(short, TICK_SIZE), measure_text(long, TICK_SIZE))
            y = None if mark.y is None else plot.find_pixel(mark.y, plot.get_y(mark))
            at_line = list_places_at_line(x, widths, plot.height)
            aside = _LINE_GAP * plot.whiskers
            at_point = list_places_at_point(x, y or 0.0, widths, plot.height, aside=aside)
            places = at_line if y is None else at_point
            numbers.append(number)
            texts.append((long, short, y or 0.0))
            candidates.append(
                [place for place in places if not mark.found or obstacles.compute_cost(place.box) < _NO_ROOM]
            )
    chosen = choose_places(candidates, obstacles)
    for number, (long, short, y), place in zip(numbers, texts, chosen, strict=True):
        if place is not None:
            ends = (place.leader.top, place.leader.bottom) if place.leader else ()
            leader = (round(ends[0] - y, 1), round(ends[1] - y, 1)) if ends else None
            label = Label(long, short, place.anchor, place.dx, round(place.baseline - y, 1), leader)
            marks[number] = replace(marks[number], label=label)
    count = len(plot.references)
    references, annotations = (
        tuple(mark for mark in part if mark.label or mark.x is None or not (mark.text and mark.found))
        for part in (marks[:count], marks[count:])
    )
    return replace(plot, references=references, annotations=annotations)


def place_names_of_groups(plot: Plot, groups: Sequence[str]) -> Plot:
    """Place the names of annotations, or those of their groups at one of each if there is no room for all.

    Without groups, or if each is one of its own, the names that have no room are omitted.
    """
    placed, names = place_labels(plot), dict.fromkeys(groups)
    if all(mark.label for mark in placed.annotations) or "" in names or len(names) == len(groups):
        return placed
    xs, ys = (np.array([getattr(mark, axis) for mark in plot.annotations], float) for axis in "xy")
    places = np.column_stack([positions(plot.x, xs), positions(plot.y, ys)])
    marks = [replace(mark, text="") for mark in plot.annotations]
    for name in names:
        own = [number for number, group in enumerate(groups) if group == name]
        away = np.linalg.norm(places[own] - np.median(places[own], axis=0), axis=1)
        middle = own[int(away.argmin())]
        marks[middle] = replace(marks[middle], text=name)
    return place_labels(replace(plot, annotations=tuple(marks)))


def _iterate_end_boxes(plot: Plot) -> Iterator[Box]:
    """Yield the boxes of names at line ends, and of the lines that lead to them."""
    for end in plot.ends:
        sides = (end.dx, end.dx + measure_text(end.text, LABEL_SIZE, 600))
        yield Box(1, (None, sides), end.y - _END_HALF, end.y + _END_HALF)
        if end.at is not None:
            yield Box(1, (None, (0, end.dx)), min(end.y, end.at), max(end.y, end.at))


def _collect_obstacles(plot: Plot) -> Obstacles:
    """Collect names at line ends, labels of horizontal lines, rings, vertical lines and the line heights."""
    words, rings, lines = list(_iterate_end_boxes(plot)), [], []
    grid = np.linspace(0, 1, _SAMPLES)
    rows = [np.full(grid.size, plot.find_pixel(m.y)) for m in plot.references if m.y is not None]
    for mark in plot.references:
        if mark.x is not None:
            lines.append(Box(position(plot.x, mark.x), ((0, 0), (0, 0)), 0, plot.height))
        if mark.y is not None and mark.text:
            y, sides = plot.find_pixel(mark.y), (_ACROSS_X, _ACROSS_X + measure_text(mark.text, TICK_SIZE))
            words.append(Box(0, (sides, sides), y + _ACROSS_TOP, y + _ACROSS_BOTTOM))
    for mark in plot.annotations:
        if mark.x is not None and mark.y is not None:
            y = plot.find_pixel(mark.y, plot.get_y(mark))
            rings.append(Box(position(plot.x, mark.x), ((-RING, RING),) * 2, y - RING, y + RING))
    for line in plot.lines if plot.whiskers else ():
        ends = zip(line.steps, line.high, line.low, strict=True)
        lines += [
            Box(position(plot.x, step), ((0, 0), (0, 0)), plot.find_pixel(high), plot.find_pixel(low))
            for step, high, low in ends
            if math.isfinite(high)
        ]
    points: list[Box] = []
    for line in plot.lines:
        across, down = positions(plot.x, line.steps), positions(plot.get_y(line), line.values)
        known = np.isfinite(across) & np.isfinite(down)
        if plot.symbols:
            pairs = zip(across[known].tolist(), ((1 - down[known]) * plot.height).tolist(), strict=True)
            points += [Box(x, ((-_POINT, _POINT),) * 2, y - _POINT, y + _POINT) for x, y in pairs]
        if known.any():
            along = np.interp(grid, across[known], down[known], left=np.nan, right=np.nan)
            rows.append((1 - along) * plot.height)
    strokes = np.array(rows) if rows else np.empty((0, grid.size))
    return Obstacles(words=words, marks=[*rings, *lines], strokes=strokes, points=points)


def describe_unplaced(plot: Plot) -> str:
    """Return a sentence listing the labels that did not fit, or "" if all did."""
    where = lower_axis_title(plot.x.title)
    left_out = [
        f"{mark.text} (at {where} {format_value(plot.x, mark.x)})"
        for mark in (*plot.references, *plot.annotations)
        if mark.text and mark.x is not None and mark.label is None
    ]
    return f"Marked without room for the words: {join_names(left_out)}." if left_out else ""
