"""Running means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.model import FloatArray, IntArray


def running_mean(values: FloatArray, width: int) -> FloatArray:
    """The mean of the ``width`` readings around each; towards the ends of those that there are.

    Args:
        values: shape (n,).
        width: odd.
    """
    if width == 1:
        return values
    total = np.concatenate([[0.0], np.cumsum(values - values[0])])
    first, last = find_window_ends(values.size, width)
    means: FloatArray = values[0] + (total[last] - total[first]) / (last - first)
    return means


def find_window_ends(n: int, width: int) -> tuple[IntArray, IntArray]:
    """First place of each reading's window, and the place after its last; each of shape (n,)."""
    at = np.arange(n)
    return np.maximum(at - width // 2, 0), np.minimum(at + width // 2 + 1, n)
