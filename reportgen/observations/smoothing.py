"""Running means, to tell where a noisy curve rises and rests; what a sentence tells are readings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from reportgen.observations.noise import FEWEST_READINGS

if TYPE_CHECKING:
    from reportgen.model import FloatArray, IntArray
    from reportgen.observations.field import Field

_SHARE, _WIDEST = 10, 21


def window(field: Field, series: str) -> int:
    """How many readings a running mean takes, an odd number: a tenth of them, 21 at most.

    1 where there are few readings, which are all there is, and where they hardly jitter.
    """
    count = field.points(series).steps.size
    if not field.noisy(series) or count < FEWEST_READINGS:
        return 1
    tenth = count // _SHARE
    return max(min(tenth - 1 + tenth % 2, _WIDEST), 3)


def running_mean(values: FloatArray, width: int, *, level: bool = False) -> FloatArray:
    """The mean of the ``width`` readings around each; towards the ends of those that there are.

    Args:
        values: shape (n,).
        width: odd.
        level: at the start of as many after a reading as before it, so that the first is what it is.
    """
    if width == 1:
        return values
    total = np.concatenate([[0.0], np.cumsum(values - values[0])])
    first, last = ends(values.size, width, level=level)
    means: FloatArray = values[0] + (total[last] - total[first]) / (last - first)
    return means


def ends(n: int, width: int, *, level: bool = False) -> tuple[IntArray, IntArray]:
    """First place of each reading's window, and the place after its last; each of shape (n,)."""
    at = np.arange(n)
    last = np.minimum(at + width // 2 + 1, n)
    return np.maximum(at - width // 2, 0), np.minimum(last, 2 * at + 1) if level else last


def independent(n: int, width: int) -> int:
    """How many running means share no reading."""
    return max(math.ceil(n / width), 1)
