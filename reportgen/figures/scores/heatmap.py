"""The ``heatmap`` block: a colour and a number for each series on each benchmark, or on each problem.

A cell is a mark, as the dots of other blocks are, so that it is read out by pointer and keyboard. Its number
stands in the ink of text on at most ``STRONGEST`` of the colour: a contrast of at least 4.5 in every cell, in
light and dark. Less colour is brighter in grey, too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from reportgen.core.model import Figure, Table
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.picture import Frame, draw_framed
from reportgen.figures.plot import Margins
from reportgen.figures.style import (
    LABEL_SIZE,
    TICK_SIZE,
    apply_house_style,
    resolve,
    resolve_specification,
)
from reportgen.figures.text import cut_label, escape_text, measure_text, write_compact_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.figures.plot import ScoreContext


MOST_NUMBERS: Final = 20
"""Most columns with a number in each cell, 30 pixels each."""
FAINTEST, STRONGEST = 0.06, 0.62
"""Opacity of the lowest and the highest score. On the latter text has a contrast of 4.8, in dark of 5.5."""
DASH: Final = "\N{EN DASH}"
"""Stands for a missing score."""
_INK: Final = "var(--rg-series-1)"
_PITCH, _ITEM_PITCH = 34, 24  # distance of rows in pixels; series have names above them in narrow figures
_WIDEST_HEADING, _WIDEST_ITEM, _WIDEST_SERIES = 120, 120, 180  # pixels
_NARROWEST_FILE: Final = 360  # pixels, so that its title has room
_NARROW: Final = 330  # pixels of the cells of a narrow figure
_MOST_NARROW: Final = 10  # most columns with numbers there
_BELOW: Final = 52  # pixels for the colour key
_GAP: Final = 0.1  # between the average and the benchmarks, in columns
WIDEST_COLUMN: Final = 120
"""In pixels; the style sheet has the same for up to 4 columns."""
_KEY: Final = 7  # colours in the key


class Tile(Struct, frozen=True):
    """A cell: its number, its words a line each, and its place between the lowest and highest score."""

    number: str
    words: tuple[str, ...]
    series: str
    share: float | None  # None for a missing score
    value: float | None


class HeatMap(Struct, frozen=True):
    """Rows of cells below the names of columns."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Tile, ...]], ...]
    ends: (
        tuple[str, str] | None
    )  # words for the lowest and the highest colour; None if columns differ in them
    of_items: bool = False
    has_average: bool = False  # whether the first column is the average of the others

    @property
    def pitch(self) -> int:
        """Distance of rows in pixels."""
        return _ITEM_PITCH if self.of_items else _PITCH

    @property
    def wide(self) -> int:
        """Width of all columns in pixels in a wide figure."""
        return min(PIXELS_WIDE, WIDEST_COLUMN * len(self.columns))

    @property
    def left(self) -> int:
        """Room for the names of rows in pixels, as the style sheet has it: a multiple of 8."""
        widest = max((measure_text(self.cut_name(name), LABEL_SIZE) for name, _ in self.rows), default=0)
        return min(200, max(16, 8 * math.ceil((widest + 12) / 8)))

    def cut_name(self, name: str) -> str:
        """Cut the name of a row to one line."""
        return cut_label(" ".join(name.split()), _WIDEST_ITEM if self.of_items else _WIDEST_SERIES)

    def list_edges(self) -> list[tuple[float, float]]:
        """List where columns begin and end, in percent of the width."""
        count, gap = len(self.columns), _GAP if self.has_average and len(self.columns) > 1 else 0.0
        starts = [100 * (place + gap * (place > 0)) / (count + gap) for place in range(count)]
        return [(start, start + 100 / (count + gap)) for start in starts]

    def is_upright(self, room: float) -> bool:
        """Return whether the names of columns do not fit beside each other in ``room`` pixels."""
        edges = [(stop - start) * room / 100 for start, stop in self.list_edges()]
        names = (measure_text(_cut_heading(name), TICK_SIZE) + 8 for name in self.columns)
        return any(width > room for width, room in zip(names, edges, strict=True))

    @property
    def head(self) -> int:
        """Height of the names of columns in pixels."""
        if not (self.is_upright(min(_NARROW, self.wide)) or self.is_upright(self.wide)):
            return 24
        return 16 + math.ceil(max(measure_text(_cut_heading(name), TICK_SIZE) for name in self.columns))

    @property
    def height(self) -> int:
        """Height of the picture in pixels, without the key."""
        return self.head + self.pitch * len(self.rows)

    def draw(self, *, alive: bool) -> str:
        """Draw the elements of the fluid picture; with ``alive``, a page can read cells out."""
        wide, narrow = self.is_upright(self.wide), self.is_upright(min(_NARROW, self.wide))
        parts = ['<g class="rg-x-labels" fill="var(--rg-muted)">']
        if wide == narrow or not alive:
            parts += self._draw_headings(upright=wide)
        else:
            parts += ['<g class="rg-wide">', *self._draw_headings(upright=wide), "</g>"]
            parts += ['<g class="rg-narrow">', *self._draw_headings(upright=narrow), "</g>"]
        parts.append("</g>")
        for place, (name, tiles) in enumerate(self.rows):
            parts += self._draw_row(self.head + self.pitch * place, name, tiles, alive=alive)
        return "".join([*parts, *self._draw_key()])

    def _draw_headings(self, *, upright: bool) -> Iterator[str]:
        for name, (start, stop) in zip(self.columns, self.list_edges(), strict=True):
            words, x = escape_text(_cut_heading(name)), f"{(start + stop) / 2:.3f}%"
            if upright:
                yield f'<svg x="{x}" y="{self.head - 8}" overflow="visible">'
                yield f'<text transform="rotate(-90)" y="4">{words}</text></svg>'
            else:
                yield f'<text x="{x}" y="{self.head - 9}" text-anchor="middle">{words}</text>'

    def _draw_row(self, top: int, name: str, tiles: Sequence[Tile], *, alive: bool) -> Iterator[str]:
        own = f' data-rg-series="{escape_text(name)}"' if alive and not self.of_items else ""
        middle = self.pitch / 2 + 4.5
        css = "" if self.of_items else ' class="rg-heat-name"'
        yield f'<g{own}><text{css} x="-10" y="{top + middle:g}" text-anchor="end" '
        yield f'font-size="{LABEL_SIZE}" fill="var(--rg-text)">{escape_text(self.cut_name(name))}</text></g>'
        yield f'<svg y="{top}" width="100%" height="{self.pitch}">'
        for tile, (start, stop) in zip(tiles, self.list_edges(), strict=True):
            if alive:
                words = "&#10;".join(map(escape_text, tile.words))
                yield f'<g class="rg-mark" data-rg-tip="{words}" data-rg-series="{escape_text(tile.series)}">'
            yield f'<rect class="rg-tile" x="{start:.3f}%" y="0" width="{stop - start:.3f}%" '
            yield f'height="{self.pitch}" {_paint(tile.share)}/>'
            shown = tile.share is None or len(self.columns) <= MOST_NUMBERS
            ink = "muted" if tile.share is None else "text"
            if shown:
                yield f'<text class="rg-tile-number" x="{(start + stop) / 2:.3f}%" y="{middle:g}" '
                yield f'text-anchor="middle" fill="var(--rg-{ink})">{escape_text(tile.number)}</text>'
            if alive:
                yield "</g>"
        yield "</svg>"

    def _draw_key(self) -> Iterator[str]:
        """Draw the colours from the lowest to the highest score, and what is missing."""
        y, x = self.height + 20, 0.0
        yield '<g class="rg-heat-key" fill="var(--rg-muted)">'
        if self.ends:
            low, high = self.ends
            yield f'<text x="0" y="{y + 10}">{escape_text(low)}</text>'
            x = measure_text(low, TICK_SIZE) + 7
            for step in range(_KEY):
                yield f'<rect x="{x:.0f}" y="{y}" width="18" height="12" {_paint(step / (_KEY - 1))}/>'
                x += 18
            yield f'<text x="{x + 7:.0f}" y="{y + 10}">{escape_text(high)}</text>'
            x += measure_text(high, TICK_SIZE) + 28
        if any(tile.share is None for _, tiles in self.rows for tile in tiles):
            yield f'<text x="{x:.0f}" y="{y + 10}">{DASH} missing</text>'
        yield "</g>"

    def build_spec(self, *, title: str, subtitle: str) -> dict[str, Any]:
        """Build the specification: a rectangle and a number for each cell that is not missing."""
        pairs = zip(*(bytes.fromhex(resolve(name)[1:]) for name in ("var(--rg-bg)", _INK)), strict=True)
        grounds = [(ground, ink - ground) for ground, ink in pairs]
        colours = [
            "#" + "".join(f"{round(ground + opacity * way):02x}" for ground, way in grounds)
            for opacity in (FAINTEST, STRONGEST)
        ]
        labels: dict[str, Any] = {"title": None, "labelLimit": 320, "ticks": False, "domain": False}
        across: dict[str, Any] = {
            "field": "column",
            "type": "nominal",
            "sort": None,
            "axis": {**labels, "orient": "top"},
        }
        colour: dict[str, Any] = {"field": "share", "type": "quantitative", "legend": None}
        colour |= {"scale": {"domain": [0, 1], "range": colours, "interpolate": "rgb"}}
        tooltip: Any = [{"field": name, "type": "nominal"} for name in ("row", "column", "number")]
        layers: list[dict[str, Any]] = [
            {"mark": {"type": "rect"}, "encoding": {"color": colour, "tooltip": tooltip}}
        ]
        if len(self.columns) <= MOST_NUMBERS:
            layers.append({"mark": {"type": "text"}, "encoding": {"text": {"field": "number"}}})
        spec = {
            "width": PIXELS_WIDE,
            "height": self.pitch * len(self.rows),
            "background": "var(--rg-bg)",
            "encoding": {"x": across, "y": {"field": "row", "type": "nominal", "sort": None, "axis": labels}},
            "layer": layers,
        }
        ours: dict[str, Any] = resolve_specification(apply_house_style(spec))
        values = [
            {"row": name, "column": column, "number": tile.number, "value": tile.value, "share": tile.share}
            for name, tiles in self.rows
            for column, tile in zip(self.columns, tiles, strict=True)
            if tile.share is not None
        ]
        heading = {"text": title, "subtitle": subtitle, "anchor": "start"}
        return {**ours, "title": heading, "data": {"values": values}}


def make_figure(figure_id: str, heat: HeatMap, title: str, subtitle: str, context: ScoreContext) -> Figure:
    """Make a figure of the pictures and the specification, still without words, table and numbers."""
    margins = Margins(top=8, right=16, bottom=_BELOW, left=heat.left)
    labels = escape_text(f"{figure_id}-title {figure_id}-summary")
    many = " rg-many" if len(heat.columns) > _MOST_NARROW else ""
    frame, across = Frame(title, subtitle, f"Source: {context.source}"), max(_NARROWEST_FILE, heat.wide)
    return Figure(
        id=figure_id,
        kind="heatmap",
        title=title,
        subtitle=subtitle,
        caption="",
        summary="",
        inline_svg=(
            f'<svg class="rg-picture rg-heat" role="img" aria-labelledby="{labels}" width="100%" '
            f'height="{heat.height}" font-size="{TICK_SIZE}">{heat.draw(alive=True)}</svg>'
        ),
        file_svg=draw_framed(heat.draw(alive=False), heat.height, margins, frame, across=across),
        table_data=Table((), ()),
        csv="",
        spec=write_compact_json(heat.build_spec(title=title, subtitle=subtitle)) + "\n",
        view="",
        payload="",
        numbers_data={},
        plot_class=(
            f"rg-tiles{'' if heat.of_items else ' rg-heat'}{many} rg-columns-{len(heat.columns)} "
            f"rg-left-{margins.left} rg-right-{margins.right}"
        ),
    )


def _paint(share: float | None) -> str:
    """Return the attributes of a rectangle of this place between the lowest and the highest colour."""
    edge = 'stroke="var(--rg-bg)" stroke-width="2"'
    if share is None:
        return f'fill="none" {edge}'
    return f'fill="{_INK}" fill-opacity="{FAINTEST + (STRONGEST - FAINTEST) * share:.3f}" {edge}'


def _cut_heading(name: str) -> str:
    return cut_label(" ".join(name.split()), _WIDEST_HEADING)
