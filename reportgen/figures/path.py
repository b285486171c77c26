"""SVG path data from arrays: thinned to what pixels can show, in whole units, relative steps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.model import FloatArray, IntArray

_MOST_POINTS = 320


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
    """At most about ``most`` points that look the same: each bucket's lowest and highest are kept.

    The reduction is that of min-max decimation (Jugel et al. 2014, M4), so no spike is lost.
    """
    if x.size <= most:
        return x, y
    width = math.ceil(x.size / (most // 2))
    buckets = math.ceil(x.size / width)
    padded = np.full(buckets * width, np.nan)
    padded[: x.size] = y
    grid = padded.reshape(buckets, width)
    gap = np.isnan(grid)
    lowest = np.where(gap, np.inf, grid).argmin(axis=1)
    highest = np.where(gap, -np.inf, grid).argmax(axis=1)
    starts = np.arange(buckets) * width
    ends = np.array([0, x.size - 1])
    chosen = np.unique(np.concatenate([starts + lowest, starts + highest, ends]))
    return x[chosen], y[chosen]


def _stretches(y: FloatArray) -> list[slice]:
    known = np.isfinite(y)
    if known.all():
        return [slice(0, y.size)] if y.size else []
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.view(np.int8), [0]])))
    return [slice(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _stretch(x: FloatArray, y: FloatArray) -> str:
    points: IntArray = np.rint(np.column_stack([x, y])).astype(np.int64)
    first = points[0]
    if len(points) == 1:
        return f"M{first[0]} {first[1]}h0"
    steps = " ".join(map(str, np.diff(points, axis=0).ravel().tolist())).replace(" -", "-")
    return f"M{first[0]} {first[1]}l{steps}"
