"""The pictures of a comment: changed figures as PNG files, light and dark, from ``review.json`` alone.

They are narrow enough that a telephone shows their words in a size that can be read, and on the ground that
GitHub has. The review may be a stranger's: however much it holds, a picture has only so many series, rows
and words.
"""

from __future__ import annotations

import struct
import zlib
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from reportgen.figures.paths import make_line_paths
from reportgen.figures.picture import Frame, draw_body, draw_framed
from reportgen.figures.render import render_png
from reportgen.figures.scores.dot_plot import draw_narrow_rows
from reportgen.figures.style import DARK, LIGHT, SLOTS, assign_slots
from reportgen.figures.text import cut_text
from reportgen.review.comment import PICTURE_WIDTH, name_pictures
from reportgen.review.pictures import (
    MOST_ROWS,
    Chart,
    assign_review_slots,
    describe_both,
    is_unchanged,
    list_states,
    pick_review_slots,
)
from reportgen.review.quoting import make_visible
from reportgen.review.words import describe_origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.review.model import FigureChange, Review, SeriesChange
    from reportgen.review.pictures import Slots

_GROUNDS: Final = {"light": LIGHT, "dark": DARK | {"bg": "#0d1117"}}
_EDGE: Final = 8
_SCALE: Final = 2
_ROOM: Final = PICTURE_WIDTH - 2 * _EDGE
_WIDEST_TITLE: Final = 1.8 * _ROOM
_SUB: Final = 1
_COLOURS, _AT_ONCE = 256, 4096


def draw_pictures(review: Review, most: int) -> Iterator[tuple[str, bytes]]:
    """PNG files by their names, two of each figure in ``name_pictures``."""
    for name, svg in draw_svgs(review, most):
        yield f"{name}.png", _reduce_colours(render_png(svg, scale=_SCALE))


def draw_svgs(review: Review, most: int) -> Iterator[tuple[str, str]]:
    """The same pictures as SVG, with all colours resolved."""
    # A comment names them by what the review holds, before anything is made visible.
    names, raw, review = name_pictures(review, most), review.figures, make_visible(review)
    visible = {id(one): shown for one, shown in zip(raw, review.figures, strict=True)}
    slots = assign_review_slots(review)
    origins = (describe_origin(origin) for origin in (review.base, review.head))
    states = " → ".join(origin.commit or origin.name for origin in origins)
    for name, figure in names.items():
        for ground in _GROUNDS:
            svg = _draw(visible[id(figure)], slots, states, ground)
            # The font of figures has no such character, and one line should have one font.
            yield f"{name}-{ground}", svg.replace("\N{REPLACEMENT CHARACTER}", "?")


def _choose_series(figure: FigureChange) -> FigureChange:
    """The figure with as many series as colours can distinguish: of those that changed the farthest moved."""

    def rank(one: SeriesChange) -> float:
        return abs(one.at.delta) if one.at else 0.0

    drawn = [one for one in figure.series if one.before or one.after]
    changed = [one for one in drawn if not is_unchanged(one)]
    if len(changed) <= SLOTS and len(drawn) <= MOST_ROWS:
        return figure
    chosen = {id(one) for one in sorted(changed or drawn, key=rank, reverse=True)[:SLOTS]}
    series = tuple(one for one in drawn if id(one) in chosen)
    return figure.replace(series=series)


def _draw(figure: FigureChange, slots: Slots, states: str, ground: str) -> str:
    """The SVG of what a figure was and is."""
    count = len(figure.series)
    figure = _choose_series(figure)
    if len(figure.series) < count:
        slots = assign_slots([tuple(one.name for one in figure.series)])
    chart, state = Chart(figure, pick_review_slots(figure, slots)), list_states(figure)[0]
    how = describe_both(figure).partition(";")[0]
    how += f"; {len(figure.series)} of {count} series" if len(figure.series) < count else ""
    rows = list(islice(chart.list_rows(state), MOST_ROWS + 1)) if chart.has_rows else []
    how += f"; the first {MOST_ROWS} rows" if len(rows) > MOST_ROWS else ""
    frame = Frame(
        cut_text(figure.title or figure.id, 17, 600, _WIDEST_TITLE),
        how,
        f"{cut_text(figure.page, 11, 400, _ROOM / 2)}, {states}",
        edge=_EDGE,
        tokens=_GROUNDS[ground],
    )
    if chart.has_rows:
        return draw_narrow_rows(
            rows[:MOST_ROWS], chart.make_score_axis(4), frame, room=_ROOM, rule=chart.rule
        )
    plot = chart.make_plot(state, "figure", _ROOM)
    across = _ROOM - plot.margins.left - plot.margins.right
    body = draw_body(plot, make_line_paths(plot, across), fluid=False, width=across)
    body += chart.draw_marks(plot, state)
    # Grey lines cannot be distinguished, so the legend leaves them out.
    named = tuple(line for line in plot.lines if line.slot is not None)
    legend = replace(plot, lines=named, symbols=plot.symbols or state == "both")
    return draw_framed(body, plot.height, plot.margins, frame, plot=legend, across=across)


def _reduce_colours(png: bytes) -> bytes:
    """The picture with a palette, in a fifth of the bytes: a comment's repository holds each for ever.

    The most frequent colours stay as they are; others, at the edges of lines and letters, become the nearest
    of these.
    """
    width, height = struct.unpack(">II", png[16:24])
    raw, place = b"", 8
    while place < len(png):
        length = int.from_bytes(png[place : place + 4], "big")
        if png[place + 4 : place + 8] == b"IDAT":
            raw += png[place + 8 : place + 8 + length]
        place += length + 12
    rows = np.frombuffer(zlib.decompress(raw), np.uint8).reshape(height, 1 + 4 * width)
    if not (rows[:, 0] == _SUB).all():
        return png
    # Each pixel is stored as the difference from the one to its left.
    pixels = rows[:, 1:].reshape(height, width, 4).cumsum(axis=1, dtype=np.uint8)[:, :, :3]
    codes = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    known, where, counts = np.unique(codes, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    colours = np.stack([known >> 16, known >> 8 & 255, known & 255], axis=1).astype(np.int32)
    palette = colours[order[:_COLOURS]]
    sizes = (palette**2).sum(axis=1)
    parts = np.array_split(colours, len(colours) // _AT_ONCE + 1)
    nearest = np.concatenate([(sizes - 2 * part @ palette.T).argmin(axis=1) for part in parts])
    indices = nearest[where].astype(np.uint8).reshape(height, width)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), indices], axis=1)
    return b"".join(
        [
            png[:8],
            _write_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _write_chunk(b"PLTE", palette.astype(np.uint8).tobytes()),
            _write_chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _write_chunk(b"IEND", b""),
        ]
    )


def _write_chunk(kind: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")
