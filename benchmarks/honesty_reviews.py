"""How often what a review says of numbers holds: its intervals, and verdicts where nothing changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulated.reviews import Overlap, cover_items, cover_runs, find_false_verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

_OVERLAPS = {
    "runs added": (Overlap(0, 2, 1), Overlap(0, 3, 2), Overlap(0, 2, 8), Overlap(0, 9, 1)),
    "runs replaced": (Overlap(1, 2, 1), Overlap(1, 4, 1), Overlap(2, 3, 2), Overlap(5, 5, 5)),
    "all runs others": (Overlap(2, 0, 2), Overlap(2, 0, 10), Overlap(5, 0, 5), Overlap(10, 0, 10)),
}


def measure(*, full: bool, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """Rows of what, measured, and what it must be.

    Args:
        full: as many repetitions as the figures need; otherwise about a fifth.
        seed: of the generators.
    """
    draws = 10_000 if full else 2_000
    for name, overlaps in _OVERLAPS.items():
        shares = [cover_runs(one, draws=draws, seed=seed).covered for one in overlaps]
        yield f"review, {name}: 95 % intervals hold the truth", _list(shares), "93–97 %"
    for shift, overlap in ((0.0, Overlap(1, 0, 1)), (0.05, Overlap(2, 0, 2)), (0.05, Overlap(5, 0, 5))):
        found = [cover_items(overlap, n, draws=draws // 5, seed=seed, shift=shift) for n in (30, 100)]
        shares = [one.covered for one in found]
        must = "93–97 %" if overlap.added == 1 else "93–99 %"
        yield f"review, {overlap.added} runs a side by item, 30 and 100 items", _list(shares), must
    every = [one for overlaps in _OVERLAPS.values() for one in overlaps]
    wrong = find_false_verdicts(every, numbers=20, draws=draws // 2, seed=seed)
    yield "review, 20 numbers over runs, nothing changed: a verdict", _list([wrong]), "≤ 6 %"
    apart = [Overlap(2, 0, 2), Overlap(1, 0, 1), Overlap(5, 0, 5)]
    wrong = find_false_verdicts(apart, numbers=20, draws=draws // 10, seed=seed, items=30)
    yield "review, 20 scores on 30 items, nothing changed: a verdict", _list([wrong]), "≤ 6 %"


def _list(shares: list[float]) -> str:
    return ", ".join(f"{100 * share:.1f}" for share in shares) + " %"
