"""Runs brought to common steps, so that they can be averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray


def find_common_steps(steps: Sequence[FloatArray]) -> tuple[FloatArray, bool]:
    """The steps that runs are brought to, and whether all runs have exactly these.

    Args:
        steps: one array a run, each 1-d and strictly increasing.

    Returns:
        The union of the steps, sorted; True where every run has every step.
    """
    first = steps[0]
    if all(other is first or np.array_equal(other, first) for other in steps[1:]):
        return first, True
    return np.unique(np.concatenate(steps)), False


def interpolate(grid: FloatArray, steps: FloatArray, values: FloatArray) -> FloatArray:
    """One run's values at the steps of ``grid``: its own where it has them, else interpolated linearly.

    Nothing is extrapolated: before the run's first step and after its last the result is NaN.

    Args:
        grid: shape (G,), sorted.
        steps: shape (S,), strictly increasing, S >= 1.
        values: shape (S,).

    Returns:
        Shape (G,); every number lies between the two values it was interpolated from.
    """
    if steps.size == 1:
        return np.where(grid == steps[0], values[0], np.nan)
    left = np.clip(np.searchsorted(steps, grid, side="right") - 1, 0, steps.size - 2)
    share = (grid - steps[left]) / (steps[left + 1] - steps[left])
    inside = (share >= 0) & (share <= 1)
    below, above = values[left], values[left + 1]
    # Weighted this way a difference of large values cannot overflow, and the ends are hit exactly.
    between = below * (1 - share) + above * share
    between = np.clip(between, np.minimum(below, above), np.maximum(below, above))
    return np.where(inside, between, np.nan)


def align(
    grid: FloatArray, steps: Sequence[FloatArray], values: Sequence[FloatArray], *, exact: bool
) -> FloatArray:
    """Every run's values at the steps of ``grid``.

    Args:
        grid: shape (G,), from ``find_common_steps``.
        steps: one array a run.
        values: one array a run, of the same length as its steps.
        exact: as ``find_common_steps`` said; then no interpolation is done.

    Returns:
        Shape (R, G), NaN where a run does not reach.
    """
    if exact:
        return np.stack(values)
    return np.stack([interpolate(grid, x, y) for x, y in zip(steps, values, strict=True)])
