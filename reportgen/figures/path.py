"""SVG path data from arrays: thinned to what pixels can show, in whole units, relative steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.model import FloatArray, IntArray

_MOST_POINTS = 320
_FARTHEST = 10_000_000
"""Drawing units; a point so far outside the picture may as well stand here."""


def line_path(x: FloatArray, y: FloatArray) -> str:
    """Path data of a line through the points (drawing units); NaN in ``y`` breaks the line."""
    return "".join(_stretch(x[part], y[part]) for part in _stretches(y))


def band_path(x: FloatArray, low: FloatArray, high: FloatArray) -> str:
    """Path data of the area between ``low`` and ``high``; NaN in either breaks it."""
    parts = []
    for part in _stretches(low + high):
        there, back = x[part], x[part][::-1]
        outline = _stretch(np.concatenate([there, back]), np.concatenate([high[part], low[part][::-1]]))
        parts.append(outline + "z")
    return "".join(parts)


def thin(x: FloatArray, y: FloatArray, most: int = _MOST_POINTS) -> tuple[FloatArray, FloatArray]:
    """About ``most`` points, at most half as many again, that look the same.

    The range of ``x``, which rises, is cut into buckets of equal width; the lowest and highest point of
    each are kept, so no spike is lost (min-max decimation, after M4 of Jugel et al. 2014), and so is the
    first gap of each, so that a gap stays one.
    """
    if x.size <= most:
        return x, y
    if np.isfinite(y).all() and _even(x):
        return _thin_even(x, y, most)
    span = x[-1] - x[0]
    bucket = np.minimum((x - x[0]) * (most // 2 / span), most // 2 - 1).astype(np.int64)
    known = np.isfinite(y)
    ranked = np.lexsort((y, bucket))
    ranked = ranked[known[ranked]]
    change = np.flatnonzero(np.diff(bucket[ranked], prepend=-1, append=-1))
    gaps = np.flatnonzero(~known)
    first_gaps = gaps[np.diff(bucket[gaps], prepend=-1) > 0]
    ends = np.array([0, x.size - 1])
    chosen = np.unique(np.concatenate([ends, ranked[change[:-1]], ranked[change[1:] - 1], first_gaps]))
    return x[chosen], y[chosen]


def _even(x: FloatArray) -> bool:
    gaps = np.diff(x)
    return bool(np.allclose(gaps, gaps[0], rtol=1e-9, atol=0.0))


def _thin_even(x: FloatArray, y: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """The same for even steps without gaps, several times as fast: a bucket is a row of a table."""
    width = math.ceil(x.size / (most // 2))
    rows = math.ceil(x.size / width)
    table = np.full(rows * width, y[-1])
    table[: y.size] = y
    grid = table.reshape(rows, width)
    starts = np.arange(rows) * width
    pairs = np.sort([starts + grid.argmin(axis=1), starts + grid.argmax(axis=1)], axis=0).T.ravel()
    chosen = np.concatenate([[0], pairs.clip(max=x.size - 1), [x.size - 1]])
    chosen = chosen[np.diff(chosen, prepend=-1) > 0]
    return x[chosen], y[chosen]


def _stretches(y: FloatArray) -> list[slice]:
    known = np.isfinite(y)
    if known.all():
        return [slice(0, y.size)] if y.size else []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.view(np.int8), [0]])))
    return [slice(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _stretch(x: FloatArray, y: FloatArray) -> str:
    points: IntArray = np.rint(np.column_stack([x, y]).clip(-_FARTHEST, _FARTHEST)).astype(np.int64)
    first = points[0]
    if len(points) == 1:
        return f"M{first[0]} {first[1]}h0"
    steps = " ".join(map(str, np.diff(points, axis=0).ravel().tolist())).replace(" -", "-")
    return f"M{first[0]} {first[1]}l{steps}"
