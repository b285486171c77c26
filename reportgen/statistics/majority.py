"""maj@k: the expected score of a majority vote among k of a problem's samples, exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.model import FloatArray, IntArray
    from reportgen.outcomes import ProblemScores

# Cells computed at once: a few MB of work space.
_AT_ONCE = 256


def compute_majority(scores: ProblemScores, k: int) -> FloatArray:
    """The expected score of the most frequent answer among k samples, over all C(n, k) choices of them.

    Answers are compared as they are written. If several are most frequent, each is taken with the same
    probability. A sample without an answer casts no vote; where nobody votes, the score is the lowest. An
    answer's score is the mean over the samples that gave it.

    No choice is enumerated or drawn. Let answer i be given n_i times. For each size t of the winning vote the
    choices in which no answer has more than t votes are counted by adding one answer after another to a
    table of (samples chosen so far, answers with t votes); a second table carries the sum of the scores of
    these answers. Each C(n_i, x) is multiplied by θ^x (1 - θ)^(n_i - x) with θ = k/n, which cancels in the
    division by C(n, k) θ^k (1 - θ)^(n - k) and keeps every number between 0 and 1.

    Args:
        scores: with ``votes``.
        k: votes, at least 1.

    Returns:
        Shape (R, P); NaN where a problem has fewer than k samples.
    """
    if scores.votes is None:
        raise ValueError("the problem scores have no answers: ask problem_scores for them")
    result = np.full(scores.samples.shape, np.nan)
    cells = np.flatnonzero(scores.samples >= k)
    padded = _pad_votes(scores, cells)
    # Cells of like size together: less padding.
    by_size = np.argsort(np.count_nonzero(padded[0], axis=1), kind="stable")
    for start in range(0, cells.size, _AT_ONCE):
        some = by_size[start : start + _AT_ONCE]
        count, score, silent = padded[0][some], padded[1][some], padded[2][some]
        width = max(1, int(np.count_nonzero(count, axis=1).max()))
        gain = _expect_score(count[:, :width], score[:, :width] - scores.lowest, silent, k)
        result.flat[cells[some]] = scores.lowest + gain
    return result.clip(scores.lowest, scores.highest)


def _pad_votes(scores: ProblemScores, cells: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
    """Counts and scores of each cell's answers, most frequent first, filled with 0; samples without one."""
    votes = scores.votes
    assert votes is not None  # noqa: S101 - for the type checker
    place = np.full(scores.samples.size, -1)
    place[cells] = np.arange(cells.size)
    cell = place[votes.run * scores.samples.shape[1] + votes.problem]
    voted = (cell >= 0) & (votes.voted > 0)
    order = np.flatnonzero(voted)
    order = order[np.lexsort((votes.score[order], -votes.count[order], cell[order]))]
    own = cell[order]
    rank = np.arange(own.size) - np.searchsorted(own, own)
    shape = (cells.size, int(rank.max()) + 1 if rank.size else 1)
    count, score = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    count[own, rank] = votes.count[order]
    score[own, rank] = votes.score[order]
    silent = np.zeros(cells.size, dtype=np.int64)
    quiet = (cell >= 0) & (votes.voted == 0)
    np.add.at(silent, cell[quiet], votes.count[quiet])
    return count, score, silent


def _expect_score(count: IntArray, score: FloatArray, silent: IntArray, k: int) -> FloatArray:
    """The expected score of the vote in each cell; ``count`` and ``score`` have shape (cells, answers)."""
    n = count.sum(axis=1) + silent
    share = k / n
    quiet = _compute_chances(silent, share, k)
    chances = [_compute_chances(count[:, place], share, k) for place in range(count.shape[1])]
    total = np.zeros(n.size)
    # If every answer has less than its share of the votes, they are fewer than k.
    fewest = max(1, -(-(k - int(silent.max())) // count.shape[1]))
    for top in range(fewest, min(k, int(count.max())) + 1):
        ties = min(k // top, int((count >= top).sum(axis=1).max()))
        ways = np.zeros((n.size, k + 1, ties + 1))
        ways[:, :, 0] = quiet
        gain = np.zeros_like(ways)
        for place, chance in enumerate(chances):
            most = min(top - 1, int(count[:, place].max()))
            more = sum_of_shifts(ways, chance, most)
            gains = sum_of_shifts(gain, chance, most)
            at_top = chance[:, top, np.newaxis, np.newaxis]
            won = ways[:, : k + 1 - top, :-1]
            more[:, top:, 1:] += at_top * won
            worth = score[:, place, np.newaxis, np.newaxis]
            gains[:, top:, 1:] += at_top * (gain[:, : k + 1 - top, :-1] + worth * won)
            ways, gain = more, gains
        total += (gain[:, k, 1:] / np.arange(1, ties + 1)).sum(axis=1)
    chance_of_k = _compute_chances(n, share, k)[:, k]
    expected: FloatArray = total / chance_of_k
    return expected


def sum_of_shifts(table: FloatArray, chance: FloatArray, most: int) -> FloatArray:
    """Σ over x ≤ ``most`` of chance[x] times ``table``, moved by x along its second axis."""
    result: FloatArray = chance[:, 0, np.newaxis, np.newaxis] * table
    for x in range(1, most + 1):
        result[:, x:] += chance[:, x, np.newaxis, np.newaxis] * table[:, :-x]
    return result


def _compute_chances(n: IntArray, share: FloatArray, k: int) -> FloatArray:
    """C(n, x) θ^x (1 - θ)^(n - x) for x of 0 to k, shape (cells, k + 1); 0 for x > n."""
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, max(int(n.max()), k) + 1)))])
    x = np.arange(k + 1)
    left = n[:, np.newaxis] - x
    ways = log_factorial[n][:, np.newaxis] - log_factorial[x] - log_factorial[np.maximum(left, 0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        stay = np.where(left > 0, left * np.log1p(-share)[:, np.newaxis], 0.0)
    logarithm = ways + x * np.log(share)[:, np.newaxis] + stay
    return np.where(left >= 0, np.exp(logarithm), 0.0)
