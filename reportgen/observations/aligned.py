"""Several series side by side at common steps, with what a difference of two of them is held against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from reportgen.observations.noise import allowance, half_widths
from reportgen.observations.smoothing import ends, running_mean, window
from reportgen.observations.thresholds import SAME
from reportgen.statistics.align import on_steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray, IntArray
    from reportgen.observations.field import Field

__all__ = ["SAME", "Aligned", "BoolArray", "aligned"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Aligned:
    """Series at the union of their steps, each inside its own range only.

    Attributes:
        names: sorted, so that the order of series in a figure changes nothing.
        steps: shape (G,).
        good: values with the sign turned where lower is better, shape (S, G); NaN outside a series' range.
        read: where a series has a reading of its own, shape (S, G).
        scale: noise scale of each series, shape (S, G).
        band: half the band at a step where that is wider, otherwise the scale, shape (S, G).
        known: whether a series' noise is known, shape (S,).
        least: the smallest difference that counts.
        widths: of how many readings each value is the mean, one number a series.
    """

    names: tuple[str, ...]
    steps: FloatArray
    good: FloatArray
    read: BoolArray
    scale: FloatArray
    band: FloatArray
    known: BoolArray
    least: float
    widths: tuple[int, ...]

    @property
    def choices(self) -> int:
        """How many differences are looked at: of every pair at every step, by readings and by means.

        Means that share half of their readings are as good as different ones. The 8 is from simulation: two
        curves of white noise are then said to part, or one to lead, in one of twenty cases at most.
        """
        pairs = len(self.names) * (len(self.names) - 1) // 2
        apart = max(min(self.widths) // 2, 1)
        return 8 * max(-(-self.steps.size // apart), 1) * max(pairs, 1)

    def part(self, rows: slice, columns: slice) -> Aligned:
        """Some neighbouring series at some neighbouring steps."""
        return Aligned(
            names=self.names[rows],
            steps=self.steps[columns],
            good=self.good[rows, columns],
            read=self.read[rows, columns],
            scale=self.scale[rows, columns],
            band=self.band[rows, columns],
            known=self.known[rows],
            least=self.least,
            widths=self.widths[rows],
        )

    def thresholds(self, one: int | IntArray, choices: int) -> FloatArray:
        """What the difference of a series to each series is held against at each step, shape (S, G).

        As ``Field.threshold`` says it of two readings.

        Args:
            one: place of the series, or one place for each step.
            choices: from how many differences a rule picks.
        """
        here = np.arange(self.steps.size)
        everywhere = allowance(choices) * np.hypot(self.scale, self.scale[one, here])
        held = np.maximum(everywhere, np.hypot(self.band, self.band[one, here]))
        known = self.known[:, None] | self.known[one]
        found: FloatArray = np.maximum(np.where(known, held, 0.0), self.least)
        return found


def aligned(field: Field, names: Sequence[str] | None = None, *, means: bool = False) -> Aligned:
    """The series of a field, or some of them, at the union of their steps.

    Args:
        field: has the curves and their noise.
        names: only these.
        means: running means in place of readings where there are many of them, see ``window``.
    """
    chosen = tuple(sorted(field.names if names is None else names))
    if (chosen, means) not in field.side_by_side:
        field.side_by_side[chosen, means] = _aligned(field, chosen, means=means)
    return field.side_by_side[chosen, means]


def _aligned(field: Field, chosen: tuple[str, ...], *, means: bool) -> Aligned:
    given = [field.points(name) for name in chosen]
    steps = np.unique(np.concatenate([one.steps for one in given]))
    widths = tuple(window(field, name) if means else 1 for name in chosen)
    values = [running_mean(one.values, width, level=True) for one, width in zip(given, widths, strict=True)]
    left = [_left(field, name, width) for name, width in zip(chosen, widths, strict=True)]
    scale = [
        np.interp(steps, one.steps, field.noise_along(name) * part)
        for name, one, part in zip(chosen, given, left, strict=True)
    ]
    wide = [
        np.interp(steps, one.steps, _half(field, name) * part)
        for name, one, part in zip(chosen, given, left, strict=True)
    ]
    return Aligned(
        names=chosen,
        steps=steps,
        good=np.stack(
            [field.sign * on_steps(steps, one.steps, mean) for one, mean in zip(given, values, strict=True)]
        ),
        read=np.stack([np.isin(steps, one.steps) for one in given]),
        scale=np.stack(scale),
        band=np.maximum(np.stack(scale), np.stack(wide)),
        known=np.array([field.noise(name).known for name in chosen]),
        least=field.least,
        widths=widths,
    )


def _left(field: Field, series: str, width: int) -> FloatArray:
    """The share of the noise that is left at each reading of a running mean, shape (readings,)."""
    count = field.points(series).steps.size
    if width == 1:
        return np.ones(count)
    first, last = ends(count, width, level=True)
    return field.left_in_mean(series, (last - first).astype(np.float64))


def _half(field: Field, series: str) -> FloatArray:
    """Half the band's width at each reading, shape (readings,); 0 where there is none."""
    curve = field.curve(series)
    known = np.isin(curve.steps, field.points(series).steps)
    return np.nan_to_num(half_widths(curve)[known])
