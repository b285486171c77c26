"""A straight line through points, and a power law, by least squares."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from reportgen.core.model import Estimate, Fit
from reportgen.statistics.distributions import t_quantile

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray

_FEWEST_POINTS = 3
_PLACES = 61  # of the drawn line; a power law is straight on log axes and smooth on others


def fit_points(x: FloatArray, y: FloatArray, kind: Literal["linear", "power"], level: float) -> Fit:
    """Fit y = a + b·x, or y = a·x^b as a line through the logarithms, to points (n,) and (n,).

    The intervals of b and of the fitted mean are those of ordinary least squares: errors are independent, of
    equal size and normal, for a power law on the log scale (Draper and Smith, *Applied Regression Analysis*,
    3rd edition, sections 1.4 and 3.1). Raises a ValueError for fewer than three points, one x, or values that
    have no logarithm.
    """
    if x.size < _FEWEST_POINTS or np.unique(x).size < 2:  # noqa: PLR2004 - a line needs two places
        count = f"there are {x.size}" if x.size < _FEWEST_POINTS else "all have one"
        raise ValueError(f"a fit needs {_FEWEST_POINTS} points or more, at two values of x, and {count}")
    is_power = kind == "power"
    if is_power and min(x.min(), y.min()) <= 0:
        raise ValueError("a power law is for values above 0")
    u, v = (np.log(x), np.log(y)) if is_power else (x, y)
    middle, centre = math.fsum(u) / u.size, math.fsum(v) / v.size
    spread = math.fsum((u - middle) ** 2)
    slope = math.fsum((u - middle) * (v - centre)) / spread
    rest = v - centre - slope * (u - middle)
    df = x.size - 2
    sd, t = math.sqrt(math.fsum(rest**2) / df), t_quantile((1 + level) / 2, df)
    half = t * sd / math.sqrt(spread)
    places = np.linspace(u.min(), u.max(), _PLACES)
    mean = centre + slope * (places - middle)
    around = t * sd * np.sqrt(1 / u.size + (places - middle) ** 2 / spread)
    line = np.array([places, mean, mean - around, mean + around])
    constant = centre - slope * middle
    return Fit(
        is_power,
        Estimate(slope, slope - half, slope + half, x.size),
        math.exp(constant) if is_power else constant,
        np.exp(line) if is_power else line,
    )
