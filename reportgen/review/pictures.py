"""A changed figure in pictures: before, after, and both in one; and the strip of a difference.

They are drawn from the numbers of ``review.json`` alone, with the axes, lines and labels of the report's own
figures. In the picture of both, what was is grey: a dashed line behind the new one, a hollow dot above it.
What did not change is faint.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.figures.axis import Axis, make_linear_axis, make_log_axis, make_time_axis, position
from reportgen.figures.curves.plotting import compute_margins, fit_axis, place_end_labels
from reportgen.figures.paths import PIXELS_WIDE, make_line_paths
from reportgen.figures.picture import draw_body, format_position, set_into_page
from reportgen.figures.plot import Look, Plot, SeriesLine
from reportgen.figures.scores.dot_plot import Before, Row, draw_rows, name_rows_class
from reportgen.figures.style import SYMBOL_PATHS, SYMBOLS, TICK_SIZE, assign_slots, get_colour, pick_slots
from reportgen.figures.text import cut_text
from reportgen.review.words import choose_digits, measure_half

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.review.model import Delta, FigureChange, Points, Review, SeriesChange

State: TypeAlias = Literal["both", "before", "after"]
Slots: TypeAlias = "Mapping[str, int]"
Score: TypeAlias = "tuple[float, float | None, float | None]"

_HEIGHT, _NARROW_HEIGHT, _NARROW_RIGHT = 280, 240, 24
_MOST_FOR_LABELS: Final = 0.3
_LARGEST: Final = 1e300
_SMALLEST: Final = 1e-300
_PAD: Final = 0.04
_MOST_SYMBOLS: Final = 25
_MOST_BANDS: Final = 3
MOST_ROWS: Final = 16
"""Of scores in a picture of both; with more, what did not change is left out."""
_WIDEST_TITLE: Final = 240.0
_SHORTEST_ARROW: Final = 12.0
_STRIP, _STRIP_HEIGHT, _STRIP_EDGE = 128, 20, 6


class View(NamedTuple):
    """One picture of a figure for a page, the classes of its plot, and the entries of its legend."""

    svg: str
    plot_class: str
    legend: tuple[tuple[str, int | None], ...]


def assign_review_slots(review: Review) -> dict[str, int]:
    """A colour for each series of a review, the same in all its figures, changed series first."""
    return assign_slots(tuple(one.name for one in _sort_series(figure)) for figure in review.figures)


def list_states(figure: FigureChange) -> tuple[State, ...]:
    """The pictures that there are of a figure."""
    if not figure.has_points:
        return ()
    if figure.change in {"new", "gone"}:
        return ("after",) if figure.change == "new" else ("before",)
    return ("both", "before", "after")


def draw_view(figure: FigureChange, state: State, slots: Slots, *, name: str, labelled_by: str) -> View:
    """A picture for a page; ``name`` begins the ids of its parts, ``labelled_by`` holds ids of its words."""
    chart = Chart(figure, pick_review_slots(figure, slots))
    if chart.has_rows:
        rows = list(chart.list_rows(state))
        svg = draw_rows(rows, chart.make_score_axis(), labelled_by=labelled_by, rule=chart.rule)
        return View(svg, name_rows_class(rows), ())
    plot = chart.make_plot(state, name)
    symbols = plot.symbols or state == "both"
    has = (" rg-has-ends" if plot.ends else "") + (" rg-has-symbols" if symbols else "")
    drawing = draw_body(plot, make_line_paths(plot), fluid=True) + chart.draw_marks(plot, state)
    legend = tuple((line.name, line.slot) for line in plot.lines if line.look != "before")
    room = f"rg-left-{min(200, plot.margins.left)} rg-right-{min(208, plot.margins.right)}"
    return View(set_into_page(drawing, plot.height, labelled_by), f"{room}{has}", legend)


def is_unchanged(one: SeriesChange) -> bool:
    """Whether a series is drawn faint in a picture of both."""
    return not one.before and one.change in {"same", "renamed"}


def describe_both(figure: FigureChange) -> str:
    """How to read the picture of both."""
    if figure.change in {"new", "gone"}:
        return "As it is now" if figure.change == "new" else "As it was"
    faint = any(map(is_unchanged, figure.series))
    if figure.x.scale == "series":
        unchanged = ", unchanged series filled and grey" if faint else ""
        return f"Before hollow and grey, after in colour{unchanged}"
    unchanged = ", unchanged series faint" if faint else ""
    return f"Before grey and dashed, after in colour{unchanged}; an arrow where a series moved most"


def _sort_series(figure: FigureChange) -> list[SeriesChange]:
    return sorted(figure.series, key=is_unchanged)


def pick_review_slots(figure: FigureChange, slots: Slots) -> dict[str, int | None]:
    """The colour of each series of one figure, as on the report's own page where known; None is grey."""
    if any(one.slot is not None for one in figure.series):
        return {one.name: one.slot for one in figure.series}
    return pick_slots(tuple(one.name for one in _sort_series(figure)), slots)


def _get_before(one: SeriesChange) -> Points:
    return one.after if is_unchanged(one) else one.before


class Chart(Struct, frozen=True):
    """A figure that changed, with the colours of its series."""

    figure: FigureChange
    slots: Mapping[str, int | None]

    @property
    def scale(self) -> float:
        """What values are multiplied by to be shown."""
        return 100.0 if self.figure.y.percent else 1.0

    @property
    def rule(self) -> float | None:
        """Where a line stands among differences."""
        return 0.0 if self.figure.y.difference else None

    @property
    def has_rows(self) -> bool:
        """Whether series are rows of dots: scores have no steps."""
        points = [point for one in self.figure.series for point in (*one.before, *one.after)]
        return self.figure.x.scale == "series" or all(point[0] is None for point in points)

    # ---- curves

    def make_plot(self, state: State, name: str, room: int | None = None) -> Plot:
        """The plot of a state; ``room`` is the width with margins of a narrow one."""
        height = _HEIGHT if room is None else _NARROW_HEIGHT
        lines = tuple(self._make_lines(state))
        every = [
            self._make_line(one, points, "full")
            for one in self.figure.series
            for points in (one.before, one.after)
            if points
        ]
        y = self._make_y_axis(every)
        drawn = [line for line in lines if line.look == "full"]
        faint = [replace(line, slot=None) for line in lines if line.look == "pale"]
        ends = place_end_labels([*drawn, *faint], y, height) or place_end_labels(drawn, y, height)
        margins, across = compute_margins(y, ends), PIXELS_WIDE
        if room is not None:
            if margins.right > room * _MOST_FOR_LABELS:
                ends = ()
            if not ends:
                margins = replace(compute_margins(y, ()), right=_NARROW_RIGHT)
            across = room - margins.left - margins.right
        return Plot(
            id=name,
            x=self._make_x_axis(every, across),
            y=y,
            lines=lines,
            margins=margins,
            height=height,
            symbols=all(np.isfinite(line.values).sum() <= _MOST_SYMBOLS for line in every),
            clip=y.scale == "log",
            band="band" if any(np.isfinite(line.low).any() for line in every) else "none",
            ends=ends,
        )

    def _make_lines(self, state: State) -> Iterator[SeriesLine]:
        banded = sum(bool(one.before) for one in self.figure.series) <= _MOST_BANDS
        for one in self.figure.series:
            if state != "both":
                points = one.after if state == "after" else _get_before(one)
                if points:
                    yield self._make_line(one, points, "full")
                continue
            if one.before:
                line = self._make_line(one, one.before, "before")
                yield line if banded else replace(line, low=line.low * np.nan, high=line.high * np.nan)
            if one.after:
                yield self._make_line(one, one.after, "pale" if is_unchanged(one) else "full")

    def _make_line(self, one: SeriesChange, points: Points, look: Look) -> SeriesLine:
        known = sorted((point for point in points if point[0] is not None), key=lambda point: point[0] or 0.0)
        table = np.array(known, dtype=np.float64).reshape(-1, 4).clip(-_LARGEST, _LARGEST)
        steps, values, low, high = table.T
        n = np.zeros(steps.size, dtype=np.int64)
        slot = self.slots[one.name]
        bounds = (low, high) if look != "pale" else (np.full_like(low, np.nan),) * 2
        scaled = [(part * self.scale).clip(-_LARGEST, _LARGEST) for part in (values, *bounds)]
        return SeriesLine(one.name, slot, steps, scaled[0], scaled[1], scaled[2], n, look=look)

    def _make_x_axis(self, lines: Sequence[SeriesLine], across: int) -> Axis:
        steps, axis = np.concatenate([line.steps for line in lines]), self.figure.x
        title = _cut_title(axis.title or "step")
        if axis.scale == "log" and (positive := steps[steps > _SMALLEST]).size:
            return make_log_axis(title, float(positive.min()), float(positive.max()))
        low, high = float(steps.min()), float(steps.max())
        if axis.scale == "time":
            try:
                return fit_axis(lambda count: make_time_axis(title, low, high, count=count), across)
            except OverflowError:  # beyond the calendar, where a number is all that can be shown
                pass
        whole = bool((steps == np.rint(steps)).all())
        return fit_axis(lambda count: make_linear_axis(title, low, high, count=count, whole=whole), across)

    def _make_y_axis(self, lines: Sequence[SeriesLine]) -> Axis:
        axis = self.figure.y
        title = _cut_title(axis.title)
        title = f"{title} (%)".lstrip() if axis.percent and "%" not in title else title
        values = np.concatenate([part for line in lines for part in (line.values, line.low, line.high)])
        values = values[np.isfinite(values)]
        if axis.scale == "log" and (positive := values[values > _SMALLEST]).size:
            return make_log_axis(title, float(positive.min()), float(positive.max()))
        return make_linear_axis(title, float(values.min()), float(values.max()), count=5, pad=_PAD)

    def draw_marks(self, plot: Plot, state: State) -> str:
        """In a picture of both: an arrow where a series differs most, and its symbol at its end.

        A series has no dash there, as only what was is dashed.
        """
        if state != "both":
            return ""
        symbols = []
        for line in plot.lines if not plot.symbols else ():
            known = np.flatnonzero(np.isfinite(line.values))
            if line.look == "before" or line.slot is None or not known.size:
                continue
            step, value = float(line.steps[known[-1]]), float(line.values[known[-1]])
            if 0 <= position(plot.x, step) <= 1 and 0 <= position(plot.y, value) <= 1:
                place = f'x="{format_position(plot.x, step)}" y="{plot.find_pixel(value):.4g}"'
                ink = f'fill="{get_colour(line.slot)}"' + (
                    ' fill-opacity=".5"' if line.look == "pale" else ""
                )
                path = f'<path d="{SYMBOL_PATHS[SYMBOLS[line.slot]]}" {ink}/>'
                symbols.append(f'<svg {place} overflow="visible">{path}</svg>')
        return "".join([*symbols, *self._list_moves(plot)])

    def _list_moves(self, plot: Plot) -> Iterator[str]:
        lines = {(line.name, line.look): line for line in plot.lines}
        for one in self.figure.series:
            sides = [lines.get((one.name, "before")), lines.get((one.name, "full"))]
            if one.at is None or one.at.step is None or not 0 <= position(plot.x, one.at.step) <= 1:
                continue
            ends = [
                plot.find_pixel(float(np.interp(one.at.step, line.steps, line.values)))
                for line in sides
                if line and line.steps.size
            ]
            if len(ends) == len(sides) and abs(ends[1] - ends[0]) >= _SHORTEST_ARROW:
                # A thin arrow down or up to the second of the two heights.
                (start, end), x = ends, format_position(plot.x, one.at.step)
                back, ink = -6 if end > start else 6, get_colour(self.slots[one.name])
                yield (
                    f'<g class="rg-move" stroke="{ink}" stroke-width="1.5" fill="none">'
                    f'<line x1="{x}" x2="{x}" y1="{start:.4g}" y2="{end:.4g}"/>'
                    f'<svg x="{x}" y="{end:.4g}" overflow="visible">'
                    f'<path d="M-4 {back}L0 0L4 {back}"/></svg></g>'
                )

    # ---- scores

    def list_rows(self, state: State) -> Iterator[Row]:
        """The rows of a state, each drawn when it is taken: a stranger's figure may have very many."""
        series = self.figure.series
        if state == "both" and len(series) > MOST_ROWS:
            series = tuple(one for one in series if not is_unchanged(one)) or series
        for one in series:
            sides = ((point[1:] for point in points) for points in (_get_before(one), one.after))
            pairs = (
                (before, after)
                for before, after in zip_longest(*sides)
                if {"both": before or after, "before": before, "after": after}[state]
            )
            for index, (before, after) in enumerate(pairs):
                shown, slot = before if state == "before" else after, self.slots[one.name]
                if state != "both" or is_unchanged(one):
                    said = self._write(shown) if shown else ""
                    # In a picture of both, only what was is hollow.
                    both = state == "both"
                    row = replace(self._draw_row(one.name, None if both else slot, said, shown), full=both)
                else:
                    said = " → ".join(self._write((side[0], None, None)) for side in (before, after) if side)
                    said = said if before and after else f"{'new' if after else 'gone'}: {said}"
                    ghost = Before(*self._to_axis(before)) if before else None
                    row = replace(self._draw_row(one.name, slot, said, after), before=ghost, full=True)
                # Of several rows of one series, such as its runs, the first one has the name.
                yield row if index == 0 else replace(row, name="")

    def _write(self, score: Score) -> str:
        y, half = self.figure.y, measure_half(*score[1:])
        return choose_digits(score, half, percent=y.percent, signed=y.difference).format_estimate(*score)

    def _draw_row(self, name: str, slot: int | None, words: str, shown: Score | None) -> Row:
        value, low, high = self._to_axis(shown) if shown else (None, None, None)
        return Row(name, slot, words, value, low, high, (name, words))

    def _to_axis(self, score: Score) -> Score:
        value, low, high = (
            None if end is None else max(-_LARGEST, min(_LARGEST, end * self.scale)) for end in score
        )
        return value or 0.0, low, high

    def make_score_axis(self, count: int = 6) -> Axis:
        """The axis of all rows, with about so many ticks."""
        points = [p for one in self.figure.series for p in (*one.before, *one.after)]
        ends = [end for p in points for end in self._to_axis(p[1:]) if end is not None]
        ends += [] if self.rule is None else [self.rule]
        title = _cut_title(self.figure.y.title)
        axis = make_linear_axis(title, min(ends), max(ends), count=count, pad=_PAD)
        if not self.figure.y.percent:
            return axis
        if self.figure.y.difference:
            return replace(axis, title=f"{title} (points)".lstrip())
        return replace(axis, labels=tuple(f"{label}%" for label in axis.labels))


def _cut_title(title: str) -> str:
    """The title of an axis, which a narrow page has to hold."""
    return cut_text(title, TICK_SIZE, 400, _WIDEST_TITLE)


def draw_strip(delta: Delta) -> str:
    """A difference on its interval, and a line at 0, each strip on a scale of its own.

    The words beside it say the same, so it is not read out.
    """
    ends = [end for end in (delta.low, delta.high) if end is not None]
    reach = max(map(abs, (delta.value, *ends))) or 1.0
    middle = _STRIP / 2
    x, *bounds = (middle + end / reach * (middle - _STRIP_EDGE) for end in (delta.value, *ends))
    y = _STRIP_HEIGHT / 2
    parts = [f'<line class="rg-zero" x1="{middle:g}" x2="{middle:g}" y2="{_STRIP_HEIGHT}"/>']
    if len(bounds) > 1:
        parts.append(
            f'<line class="rg-range" x1="{bounds[0]:.4g}" x2="{bounds[1]:.4g}" y1="{y:g}" y2="{y:g}"/>'
        )
    dot = "rg-dot" if len(bounds) > 1 else "rg-dot rg-hollow"
    parts.append(f'<circle class="{dot}" cx="{x:.4g}" cy="{y:g}" r="4"/>')
    return (
        f'<svg class="rg-strip" aria-hidden="true" width="{_STRIP}" height="{_STRIP_HEIGHT}" '
        f'viewBox="0 0 {_STRIP} {_STRIP_HEIGHT}">{"".join(parts)}</svg>'
    )
