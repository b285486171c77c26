"""How often blocks of observations on two series infer something from noise, and find what is planted."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from simulated.observations import CHANGED, CHANGED_WALKS, LAWS, PLANTED, WALKS, false_block, found_in_block

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCKS, _PLANTS = {True: 200, False: 40}, {True: 50, False: 15}
_LENGTHS = {True: (20, 30, 60, 100, 300, 1000), False: (20, 60, 300)}
_FROM = (60, 100, 300, 1000)
# A random walk of one run is a trend: of five each wanders its own way.
_LAWS = {1: LAWS | CHANGED, 5: LAWS | WALKS | CHANGED | CHANGED_WALKS}
_MUST = {"white": "≥ 90 %", "AR(.9)": "≥ 75 %"}


def measure(*, full: bool, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """Rows of what, measured, and what it must be.

    Args:
        full: as many repetitions as the figures need; otherwise about a fifth.
        seed: of the generators.
    """
    yield from _false(seed, full=full)
    yield from _found(seed, full=full)


def _false(first: int, *, full: bool) -> list[tuple[str, str, str]]:
    """The share of blocks with any false inference, by runs and law, at each length."""
    rows = []
    for runs, laws in _LAWS.items():
        for name, law in laws.items():
            listed = name in LAWS or name in WALKS
            blocks = _BLOCKS[full] if listed else _BLOCKS[full] // 2
            shares = []
            for n in _LENGTHS[full] if listed else _LENGTHS[False]:
                wrong = sum(bool(false_block(law, n, runs, seed)) for seed in range(first, first + blocks))
                shares.append(f"{n}: {100 * wrong / blocks:.1f}")
            what = f"blocks with a false inference, {runs} run{'s' * (runs > 1)} each, {name}"
            rows.append((what, f"{', '.join(shares)} %", "≤ 5 %"))
    return rows


def _found(first: int, *, full: bool) -> list[tuple[str, str, str]]:
    """The share of planted effects that are found, by runs and law, at each length."""
    rows = []
    for runs, (name, planted), law in product((1, 5), PLANTED.items(), _MUST):
        plants = _PLANTS[full]
        shares = []
        for n in _FROM[: 4 if full else 2]:
            seen = sum(
                found_in_block(planted, LAWS[law], n, runs, seed) for seed in range(first, first + plants)
            )
            shares.append(f"{n}: {100 * seen / plants:.0f}")
        what = f"{name} of 3 deviations, {runs} run{'s' * (runs > 1)} each, {law}"
        rows.append((what, f"{', '.join(shares)} %", _MUST[law]))
    return rows
