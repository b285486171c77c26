"""The paired randomisation test: how often random signs give a mean difference as large as the one seen.

If two series are alike, each problem's difference could as well have the other sign (Fisher 1935, "The
Design of Experiments", 21; Dror et al. 2018 for its use in evaluation). Problems are flipped, never samples.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.model import FloatArray, IntArray

# All sign vectors are counted up to this many problems that differ.
EXACT = 20
FLIPS = 20_000
EXACT_FLIPS = "exact sign-flip"
_METHOD = {True: EXACT_FLIPS, False: f"{FLIPS // 1000} 000 seeded flips"}

# Problems whose signs are in memory at once: 256 × 20 000 float64 are 41 MB.
_PROBLEMS_AT_ONCE = 256
_COLUMNS_AT_ONCE = 256
# Whole numbers up to this are exact in a float64, and so are their sums below it, in any order.
_EXACT_BITS = 53


class FlipTest(NamedTuple):
    """A two-sided p, in (0, 1], and how it was computed."""

    p: float
    method: str


def flip_tests(
    values: FloatArray,
    pairs: Sequence[tuple[int, int]],
    problems: Sequence[str],
    ends: tuple[float, float],
    seed: int = 0,
) -> list[FlipTest]:
    """The sign-flip test of each pair of rows, on the problems that both have.

    Up to ``EXACT`` problems that differ, p is the share of all sign vectors whose sum is at least as far from
    0 as the one seen; otherwise (1 + r)/(1 + ``FLIPS``) with r such sums among random ones (Phipson and Smyth
    2010), which is never 0.

    The signs of a problem come from a hash of the seed and its name. So the same input gives the same p on
    every machine, in any order, and neither another series nor another pair moves it. Values are put on a
    grid of 2^36 steps (fewer above 65 000 problems): all sums are then exact, and sums that differ by less
    than rounding to the grid can do count as ties.

    All pairs share the signs: the flipped sum of a pair is the difference of two flipped sums.

    Args:
        values: shape (S, P), NaN where a series lacks a problem.
        pairs: rows of ``values``.
        problems: P names.
        ends: the range of values.
        seed: of the report.

    Returns:
        One a pair; p = 1 where nothing differs, or nothing is shared.
    """
    known = np.isfinite(values)
    bits = min(36, _EXACT_BITS - 1 - len(problems).bit_length())
    share = (np.where(known, values, ends[0]) - ends[0]) / (ends[1] - ends[0])
    grid = np.rint(share * 2.0**bits).astype(np.int64)
    found: dict[int, FlipTest] = {}
    alike, apart = [], []
    for place, (a, b) in enumerate(pairs):
        shared = known[a] & known[b]
        difference = np.where(shared, grid[a] - grid[b], 0)
        differing = difference[np.abs(difference) > 1]
        if differing.size <= EXACT:
            found[place] = FlipTest(_exact(differing), _METHOD[True])
        elif np.array_equal(known[a], known[b]):
            alike.append(place)
        else:
            apart.append(place)
    for place, p in _of_rows(grid * known, [pairs[place] for place in alike], problems, seed).items():
        found[alike[place]] = FlipTest(p, _METHOD[False])
    for start in range(0, len(apart), _COLUMNS_AT_ONCE):
        some = apart[start : start + _COLUMNS_AT_ONCE]
        both = [(known[a] & known[b]) * (grid[a] - grid[b]) for a, b in (pairs[place] for place in some)]
        for place, p in zip(some, _random(np.array(both), problems, seed), strict=True):
            found[place] = FlipTest(p, _METHOD[False])
    return [found[place] for place in range(len(pairs))]


def flip_test(differences: FloatArray, names: Sequence[str], seed: int = 0) -> FlipTest:
    """The sign-flip test of one set of differences, shape (P,), whose mean may weigh problems differently.

    Args:
        differences: each already multiplied by its weight, without NaN.
        names: of the problems; they make the signs.
        seed: of the report.
    """
    total = float(np.abs(differences).sum())
    if not total:
        return FlipTest(1.0, _METHOD[True])
    grid = np.rint(differences / total * 2.0**50).astype(np.int64)
    # A difference of two equal scores may be the rounding of either: 2^-40 of all is nothing.
    differing = np.where(np.abs(grid) > 2**10, grid, 0)
    if np.count_nonzero(differing) <= EXACT:
        return FlipTest(_exact(differing[differing != 0]), _METHOD[True])
    return FlipTest(_random(differing[np.newaxis], names, seed)[0], _METHOD[False])


def _exact(differences: IntArray) -> float:
    """The share of all 2^n sign vectors with a sum at least as far from 0 as the one seen.

    Every sum is one of the first half plus one of the second (Horowitz and Sahni 1974): 2 · 2^(n/2) sums
    and their counting by bisection in place of 2^n.
    """
    seen = _least(int(differences.sum()), differences.size)
    if seen <= 0:
        return 1.0
    half = differences.size // 2
    first, second = np.sort(_all_sums(differences[:half])), _all_sums(differences[half:])
    above = first.size - np.searchsorted(first, seen - second, side="left")
    below = np.searchsorted(first, -seen - second, side="right")
    return float((above.sum() + below.sum()) / (first.size * second.size))


def _least(total: int, count: int) -> int:
    """What a sum has to reach: each of ``count`` numbers may be one step off, in both sums."""
    return abs(total) - 2 * count


def _all_sums(numbers: IntArray) -> IntArray:
    sums = np.zeros(1, dtype=np.int64)
    for number in numbers.tolist():
        sums = np.concatenate([sums + number, sums - number])
    return sums


def _of_rows(
    grid: IntArray, pairs: Sequence[tuple[int, int]], problems: Sequence[str], seed: int
) -> dict[int, float]:
    """The p of pairs of rows that have the same problems."""
    rows = sorted({row for pair in pairs for row in pair})
    place = {row: at for at, row in enumerate(rows)}
    sums = _flipped_sums(grid[rows], problems, seed)
    totals = grid[rows].sum(axis=1)
    found = {}
    for at, (a, b) in enumerate(pairs):
        least = _least(int(totals[place[a]] - totals[place[b]]), int(np.count_nonzero(grid[a] - grid[b])))
        found[at] = _share(sums[place[a]] - sums[place[b]], least)
    return found


def _random(differences: IntArray, problems: Sequence[str], seed: int) -> list[float]:
    """The p of each row of differences."""
    sums = _flipped_sums(differences, problems, seed)
    return [
        _share(flipped, _least(int(row.sum()), int(np.count_nonzero(row))))
        for flipped, row in zip(sums, differences, strict=True)
    ]


def _share(sums: FloatArray, least: int) -> float:
    return float((1 + np.count_nonzero(np.abs(sums) >= least)) / (1 + FLIPS))


def _flipped_sums(rows: IntArray, problems: Sequence[str], seed: int) -> FloatArray:
    """Each row's sum under every flip, shape (rows, FLIPS), whole numbers."""
    sums = np.zeros((rows.shape[0], FLIPS))
    if not rows.shape[0]:
        return sums
    for start, heads in _signs(problems, seed):
        sums += rows[:, start : start + heads.shape[0]].astype(np.float64) @ heads
    sums *= 2
    sums -= rows.sum(axis=1)[:, np.newaxis]
    return sums


def _signs(problems: Sequence[str], seed: int) -> Iterator[tuple[int, FloatArray]]:
    """First problem and signs of blocks of problems, 1 for plus and 0 for minus; the array is used again."""
    work = np.empty((min(_PROBLEMS_AT_ONCE, len(problems)), FLIPS))
    for start in range(0, len(problems), _PROBLEMS_AT_ONCE):
        names = problems[start : start + _PROBLEMS_AT_ONCE]
        digests = [
            hashlib.shake_256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest(FLIPS // 8)
            for name in names
        ]
        packed = np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(names), -1)
        heads = work[: len(names)]
        # Into the same memory again: fresh pages cost more than the sums.
        heads[...] = np.unpackbits(packed, axis=1)
        yield start, heads
