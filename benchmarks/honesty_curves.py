"""How often what is said of curves holds: simultaneous bands, peaks, leaders, bands of equal runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from simulated.curves import NOISES, bands_without_width, coverage, leaders_among_equals

if TYPE_CHECKING:
    from collections.abc import Iterator

_SYMMETRIC = ("white", "AR(.5)", "AR(.9)", "run offsets", "falls tenfold", "random walks")
_STEPS, _RUNS = (14, 50, 200), (3, 5, 10)


def measure(*, full: bool, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """Rows of what, measured, and what it must be.

    Args:
        full: as many repetitions as the figures need; otherwise about a third.
        seed: of the generators.
    """
    draws = 110 if full else 40
    error = f"± {100 * np.sqrt(0.95 * 0.05 / draws / 9):.1f}"
    for noise in (*NOISES, "accuracies"):
        cells = [
            coverage(noise, "hump" if steps == 50 else "flat", runs, steps, draws=draws, seed=seed)
            for runs in _RUNS
            for steps in _STEPS
        ]
        must = f"93–97 % ({error}), or more" if noise in _SYMMETRIC else "said in the guide"
        for name, found in (
            ("band: simultaneous, the whole mean curve", [one.band for one in cells]),
            ("peak: simultaneous, the true mean at the picked step", [one.picked for one in cells]),
            ("peak: simultaneous, the true maximum", [one.highest for one in cells]),
            ("(the interval of the picked step by itself, not printed)", [one.plain for one in cells]),
        ):
            yield f"{noise}: {name}", _shares(found), "none printed" if name[0] == "(" else must
    yield from _leaders(1500 if full else 300, seed)
    yield from _widths(200 if full else 50, seed)


def _shares(found: list[float]) -> str:
    """The mean over runs and steps, and the cells with the smallest and the largest share."""
    percent = 100 * np.array(found)
    return f"{percent.mean():.1f} % (cells {percent.min():.0f} to {percent.max():.0f})"


def _leaders(draws: int, seed: int) -> list[tuple[str, str, str]]:
    noises = ("white", "skewed", "failing seeds", "accuracies")
    return [
        (
            f"{series} equal series, 2, 3 and 5 runs: one is said to lead ({noise})",
            " ".join(
                f"{100 * leaders_among_equals(noise, series, n, draws=draws, seed=seed):.1f}"
                for n in (2, 3, 5)
            )
            + " %",
            "≤ 5 %",
        )
        for noise in noises
        for series in (2, 4)
    ]


def _widths(draws: int, seed: int) -> list[tuple[str, str, str]]:
    found = [bands_without_width(runs, draws=draws, seed=seed) for runs in (2, 3)]
    equal = " and ".join(f"{100 * share:.0f} %" for share, _ in found)
    banded = max(share for _, share in found)
    said = f"{100 * banded:.0f} % banded ({equal} are equal, and said so)"
    return [("steps with a band of zero width, 2 and 3 runs of 30 problems", said, "none without a word")]
