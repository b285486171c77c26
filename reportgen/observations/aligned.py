"""Several series side by side at common steps, with what a difference of two of them is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.observations.noise import allowance, half_widths
from reportgen.statistics.align import on_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray
    from reportgen.observations.field import Field

# Numbers that differ by less than this share are one number, computed in two ways.
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Aligned:
    """Series at the union of their steps, each inside its own range only.

    Attributes:
        names: sorted, so that the order of series in a figure changes nothing.
        steps: shape (G,).
        good: values with the sign turned where lower is better, shape (S, G); NaN outside a series' range.
        read: where a series has a reading of its own, shape (S, G).
        scale: noise scale of each series, shape (S,).
        noise: the same, or half the band at a step where that is wider, shape (S, G).
        known: whether a series' noise is known, shape (S,).
    """

    names: tuple[str, ...]
    steps: FloatArray
    good: FloatArray
    read: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    scale: FloatArray
    noise: FloatArray
    known: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def thresholds(self, one: int, choices: int) -> FloatArray:
        """What the difference of a series to each series is held against at each step, shape (S, G).

        As ``Field.threshold`` says it of two readings.

        Args:
            one: place of the series.
            choices: from how many differences a rule picks.
        """
        everywhere = allowance(choices) * np.hypot(self.scale, self.scale[one])
        held = np.maximum(everywhere[:, None], np.hypot(self.noise, self.noise[one]))
        known = (self.known | self.known[one])[:, None]
        found: FloatArray = np.where(known, held, np.maximum(self.scale, self.scale[one])[:, None])
        return found


def aligned(field: Field, names: Sequence[str] | None = None) -> Aligned:
    """The series of a field, or some of them, at the union of their steps."""
    chosen = tuple(sorted(field.names if names is None else names))
    given = [field.points(name) for name in chosen]
    steps = np.unique(np.concatenate([one.steps for one in given]))
    good = np.stack([field.sign * on_steps(steps, one.steps, one.values) for one in given])
    return Aligned(
        names=chosen,
        steps=steps,
        good=good,
        read=np.stack([np.isin(steps, one.steps) for one in given]),
        scale=np.array([field.noise(name).value for name in chosen]),
        noise=np.stack([_noise_along(field, name, steps) for name in chosen]),
        known=np.array([field.noise(name).known for name in chosen]),
    )


def _noise_along(field: Field, series: str, steps: FloatArray) -> FloatArray:
    curve = field.curve(series)
    half = half_widths(curve)
    there = np.isfinite(half)
    scale = np.full(steps.size, field.noise(series).value)
    if not there.any():
        return scale
    here = np.interp(steps, curve.steps[there], half[there])
    wider: FloatArray = np.maximum(scale, here)
    return wider
