"""Equal-width bins on x."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.model import FloatArray


@dataclass(frozen=True, slots=True)
class Bins:
    """``count`` bins of equal ``width`` from ``start`` on; the last one includes its upper end."""

    start: float
    width: float
    count: int

    def locate(self, steps: FloatArray) -> FloatArray:
        """The bin of each step, 0 to count - 1, as whole floats.

        ``reduce_large`` computes the same in the database, operation by operation.
        """
        return np.minimum(np.floor((steps - self.start) / self.width), self.count - 1)

    def get_centres(self, index: FloatArray) -> FloatArray:
        """The steps in the middle of these bins."""
        return self.start + (index + 0.5) * self.width


def make_bins(first: float, last: float, count: int) -> Bins:
    """Bins that cover the steps from ``first`` to ``last``, which differ."""
    return Bins(start=first, width=(last - first) / count, count=count)
