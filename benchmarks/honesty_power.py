"""How often differences are found, beside the power that is stated of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from simulated.power import ALONE, FAMILIES, measure_power

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulated.answers import Field


def measure(*, full: bool, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """Rows of what, measured, and what it must be.

    Args:
        full: as many repetitions as the figures need; otherwise a tenth.
        seed: of the generators.
    """
    rng = np.random.default_rng(seed)
    yield _row("two models alone", ALONE, 1000 if full else 100, rng)
    yield _row("a pair in its family", FAMILIES, 250 if full else 40, rng)


def _row(what: str, fields: Sequence[Field], times: int, rng: np.random.Generator) -> tuple[str, str, str]:
    apart = [100 * measure_power(field, times, rng).furthest for field in fields]
    said = f"{min(apart):+.1f} to {max(apart):+.1f} points"
    error = 100 * 2 * (0.2 / times) ** 0.5
    return (
        f"power stated less power simulated, {what}, {len(fields)} laws",
        said,
        f"±5 points (± {error:.1f})",
    )
