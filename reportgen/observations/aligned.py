"""Several series side by side at common steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from reportgen.observations.thresholds import SAME
from reportgen.statistics.align import interpolate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray
    from reportgen.observations.field import Field

__all__ = ["SAME", "Aligned", "BoolArray", "align_series"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Aligned:
    """Series at the union of their steps, each inside its own range only.

    Attributes:
        names: sorted, so that the order of series in a figure changes nothing.
        steps: shape (G,).
        good: values with the sign turned where lower is better, shape (S, G); NaN outside a series' range.
        read: where a series has a reading of its own, shape (S, G).
        least: the smallest difference that counts.
    """

    names: tuple[str, ...]
    steps: FloatArray
    good: FloatArray
    read: BoolArray
    least: float

    @property
    def pairs(self) -> int:
        """How many pairs of series there are, at least 1."""
        return max(len(self.names) * (len(self.names) - 1) // 2, 1)


def align_series(field: Field, names: Sequence[str] | None = None) -> Aligned:
    """The series of a field, or some of them, at the union of their steps."""
    chosen = tuple(sorted(field.names if names is None else names))
    if chosen not in field.side_by_side:
        field.side_by_side[chosen] = _align(field, chosen)
    return field.side_by_side[chosen]


def _align(field: Field, chosen: tuple[str, ...]) -> Aligned:
    given = [field.get_points(name) for name in chosen]
    steps = np.unique(np.concatenate([one.steps for one in given]))
    return Aligned(
        names=chosen,
        steps=steps,
        good=np.stack([field.sign * interpolate(steps, one.steps, one.values) for one in given]),
        read=np.stack([np.isin(steps, one.steps) for one in given]),
        least=field.least,
    )
