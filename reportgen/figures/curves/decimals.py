"""The usual decimals of the values of curves, chosen from the data alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reportgen.core.digits import Precision, find_decimals
from reportgen.figures.axis import choose_axis_decimals, make_linear_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.model import Curve


_MOST_DECIMALS = 7
_FINEST = 14  # digits after the first one that a double always holds


def choose_precision(curves: Sequence[Curve], *, percent: bool = False) -> Precision:
    """Choose the decimals of values from the data alone, so that they are those of all figures of them.

    Beside intervals, they are those of the median half-width. Without any, they reach down to between a
    hundredth and a thousandth of the range if the values have as many. ``percent`` is for shares that are
    written as percentages; these have one decimal or more with intervals.
    """
    factor = 100 if percent else 1
    every = [curve.every_step or curve for curve in curves]
    sides = np.concatenate([(curve.high - curve.low) / 2 for curve in every]) * factor
    sides = sides[np.isfinite(sides) & (sides > 0)]
    values = np.concatenate([curve.values if curve.raw is None else curve.raw for curve in every]) * factor
    values = values[np.isfinite(values)]
    low, high = make_linear_axis("", float(values.min()), float(values.max()), count=5).domain
    counts = (count for count in range(_MOST_DECIMALS) if np.allclose(values, values.round(count), 0, 1e-9))
    exact = next(counts, _MOST_DECIMALS)
    plain = min(choose_axis_decimals(low, high), exact)
    plain = max(0, plain) if percent else plain
    if not sides.size:
        return Precision(plain, plain)
    half, least = float(np.median(sides)), 1 if percent else -_FINEST
    own = find_decimals(0.0, Precision(least, 0), half, percent=percent)
    # Values of fewer decimals have no more if their intervals need none.
    usual = find_decimals(0.0, Precision(max(least, min(own, exact)), 0), half, percent=percent)
    return Precision(min(usual, _FINEST - math.floor(math.log10(max(abs(low), abs(high))))), plain)
