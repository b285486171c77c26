"""Metrics of each problem: means, pass@k, pass^k and majority votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.core.comparisons import ScoresError

if TYPE_CHECKING:
    from reportgen.core.comparisons import Metric, ProblemScores
    from reportgen.core.model import FloatArray, IntArray


def pass_at_k(n: IntArray, c: IntArray, k: int) -> FloatArray:
    """Return pass@k, the chance that any of k samples is right: 1 - C(n - c, k) / C(n, k) (Chen et al. 2021).

    ``n`` samples of each problem, ``c`` of them right; the result has their shape, NaN if n < k. As a product
    of k factors nothing overflows, and it never decreases in k.
    """
    return np.where(n >= k, 1 - _product(n, n - c, k), np.nan)


def pass_all_k(n: IntArray, c: IntArray, k: int) -> FloatArray:
    """Return the chance that all k samples are right, C(c, k) / C(n, k) (Yao et al. 2024, "τ-bench", 3)."""
    return np.where(n >= k, _product(n, c, k), np.nan)


def pass_variance(n: IntArray, c: IntArray, k: int, *, every: bool = False) -> FloatArray:
    """Return the jackknife variance of pass@k (pass^k if ``every``) over the samples of a problem.

    (n - 1)/n Σ (θ₋ᵢ - mean of θ₋ᵢ)² (Efron and Stein 1981), where θ₋ᵢ is θ(n - 1, c - 1) without a right
    sample, θ(n - 1, c) without another. At k = 1 it is s²/n exactly. NaN if n ≤ k.
    """
    estimate = pass_all_k if every else pass_at_k
    less = np.maximum(n - 1, 0)
    without_right = np.where(c > 0, estimate(less, np.maximum(c - 1, 0), k), 0.0)
    without_wrong = np.where(c < n, estimate(less, np.minimum(c, less), k), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Two values, c and n - c times: Σ of squares about their mean is c (n - c)/n times their difference².
        variance = (n - 1) / n * (c * (n - c) / n) * (without_right - without_wrong) ** 2
    return np.where(n > k, variance, np.nan)


def _product(n: IntArray, usable: IntArray, k: int) -> FloatArray:
    """Return Π (usable - j) / (n - j), j < k: the chance that k of n, without replacement, are usable."""
    product: FloatArray = np.ones(np.shape(n))
    for j in range(k):
        product = product * (np.maximum(usable - j, 0) / np.maximum(n - j, 1))
    return product


# Cells computed at once: a few MB of memory.
_AT_ONCE = 256


def _compute_majority(scores: ProblemScores, k: int) -> FloatArray:
    """Return the expected score of the most frequent answer among k samples, over all C(n, k) choices.

    Ties are broken at random; a sample without an answer casts no vote, and if there are no votes, the score
    is the lowest. Shape (R, P); NaN if a problem has fewer than k samples.
    """
    votes = scores.votes
    if votes is None:
        raise ScoresError("maj@k needs the answers", "Give a column answer")
    cells = np.flatnonzero(scores.samples >= k)
    index = np.full(scores.samples.size, -1)
    index[cells] = np.arange(cells.size)
    cell = index[votes.run * scores.samples.shape[1] + votes.problem]
    # Counts and scores of each cell's answers, most frequent first, padded with 0; samples without an answer.
    order = np.flatnonzero((cell >= 0) & (votes.voted > 0))
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
    # Group cells of similar size: less padding.
    by_size = np.argsort(np.count_nonzero(count, axis=1), kind="stable")
    result = np.full(scores.samples.shape, np.nan)
    for start in range(0, cells.size, _AT_ONCE):
        some = by_size[start : start + _AT_ONCE]
        width = max(1, int(np.count_nonzero(count[some], axis=1).max()))
        gain = _expect_score(count[some, :width], score[some, :width] - scores.lowest, silent[some], k)
        result.flat[cells[some]] = scores.lowest + gain
    return result.clip(scores.lowest, scores.highest)


def _expect_score(count: IntArray, score: FloatArray, silent: IntArray, k: int) -> FloatArray:
    """Return the expected score of the vote in each cell; ``count`` and ``score`` are (cells, answers).

    For each size t of the winning vote the choices in which no answer has more are counted by adding one
    answer after another to a table of (samples chosen, answers with t votes); a second table carries the sum
    of their scores. Each C(n_i, x) is multiplied by θ^x (1 - θ)^(n_i - x) with θ = k/n, which cancels and
    keeps every number between 0 and 1.
    """
    n = count.sum(axis=1) + silent
    share = k / n
    quiet = _compute_chances(silent, share, k)
    chances = [_compute_chances(count[:, answer], share, k) for answer in range(count.shape[1])]
    total = np.zeros(n.size)
    # If every answer has less than its share of the votes, there are fewer than k.
    fewest = max(1, -(-(k - int(silent.max())) // count.shape[1]))
    for top in range(fewest, min(k, int(count.max())) + 1):
        ties = min(k // top, int((count >= top).sum(axis=1).max()))
        ways = np.zeros((n.size, k + 1, ties + 1))
        ways[:, :, 0] = quiet
        gain = np.zeros_like(ways)
        for answer, chance in enumerate(chances):
            most = min(top - 1, int(count[:, answer].max()))
            more, gains = _sum_shifts(ways, chance, most), _sum_shifts(gain, chance, most)
            at_top, worth = (
                column[:, np.newaxis, np.newaxis] for column in (chance[:, top], score[:, answer])
            )
            won = ways[:, : k + 1 - top, :-1]
            more[:, top:, 1:] += at_top * won
            gains[:, top:, 1:] += at_top * (gain[:, : k + 1 - top, :-1] + worth * won)
            ways, gain = more, gains
        total += (gain[:, k, 1:] / np.arange(1, ties + 1)).sum(axis=1)
    expected: FloatArray = total / _compute_chances(n, share, k)[:, k]
    return expected


def _sum_shifts(table: FloatArray, chance: FloatArray, most: int) -> FloatArray:
    """Return Σ over x ≤ ``most`` of chance[x] times ``table`` shifted by x along its second axis."""
    result: FloatArray = chance[:, 0, np.newaxis, np.newaxis] * table
    for x in range(1, most + 1):
        result[:, x:] += chance[:, x, np.newaxis, np.newaxis] * table[:, :-x]
    return result


def _compute_chances(n: IntArray, share: FloatArray, k: int) -> FloatArray:
    """Return C(n, x) θ^x (1 - θ)^(n - x) for x of 0 to k, shape (cells, k + 1); 0 for x > n."""
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, max(int(n.max()), k) + 1)))])
    x = np.arange(k + 1)
    left = n[:, np.newaxis] - x
    ways = log_factorial[n][:, np.newaxis] - log_factorial[x] - log_factorial[np.maximum(left, 0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        stay = np.where(left > 0, left * np.log1p(-share)[:, np.newaxis], 0.0)
    logarithm = ways + x * np.log(share)[:, np.newaxis] + stay
    return np.where(left >= 0, np.exp(logarithm), 0.0)


_METRICS = ("mean", "avg@n", "pass@k", "pass^k", "maj@k")
_NEEDS_K = ("pass@k", "pass^k", "maj@k")


class ProblemValues(NamedTuple):
    """Metric of each run and problem; ``name`` is the displayed one: ``mean``, ``pass@4``."""

    name: str
    # samples per draw of the metric: its k, or 1 for a mean
    draws: int
    # shape (R, P), NaN if a run does not have a problem
    runs: FloatArray
    # shape (S, P), the mean over the runs that have the problem
    series: FloatArray


def compute_problem_values(
    scores: ProblemScores, metric: Metric | str = "mean", k: int | None = None
) -> ProblemValues:
    """Compute the metric of each problem in each run, and averaged over the runs of a series.

    ``avg@n`` is the mean with the number of samples named. ``pass@k`` and ``pass^k`` need scores that are
    right or wrong and give the chance on their scale, ``maj@k`` needs answers. k samples are those of one
    run: runs are different models. Raises a ScoresError that names problems with fewer than k samples or
    without what the metric needs, a ValueError if there is no such metric, or k is missing or below 1.
    """
    if metric not in _METRICS:
        raise ValueError(f"there is no metric {metric!r}; there are {', '.join(_METRICS)}")
    if metric in _NEEDS_K and k is None:
        raise ValueError(f"{metric} needs k")
    if k is not None and k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    if metric == "mean":
        return ProblemValues("mean", 1, scores.mean, compute_series_means(scores, scores.mean))
    _check_samples(scores, metric, k)
    if metric == "avg@n":
        if k is None:
            counts = find_sample_range(scores.samples)
            if counts is None or counts[0] < counts[1]:
                raise ScoresError(
                    "avg@n over all samples needs the same number of samples everywhere",
                    "Give n, or use mean",
                )
            k = counts[0]
        return ProblemValues(f"avg@{k}", 1, scores.mean, compute_series_means(scores, scores.mean))
    draws = k or 1
    if metric == "maj@k":
        values = _compute_majority(scores, draws)
    else:
        mixed = [name for name, binary in zip(scores.series, scores.binary, strict=True) if not binary]
        if mixed:
            raise ScoresError(
                f"{metric} needs scores that are right or wrong; those of {', '.join(mixed)} are not",
                f"Use the mean, or scores of {scores.lowest:g} and {scores.highest:g} alone",
            )
        estimate = pass_at_k if metric == "pass@k" else pass_all_k
        chance = np.where(scores.samples > 0, estimate(scores.samples, scores.correct, draws), np.nan)
        values = scores.lowest + (scores.highest - scores.lowest) * chance
    return ProblemValues(f"{metric[:-1]}{draws}", draws, values, compute_series_means(scores, values))


def compute_series_means(scores: ProblemScores, values: FloatArray) -> FloatArray:
    """Return the mean over each series' runs, shape (S, P); NaN if no run has a value."""
    averaged = np.full((len(scores.series), values.shape[1]), np.nan)
    for place in range(len(scores.series)):
        own = values[find_rows(scores, place)]
        averaged[place] = own[0] if own.shape[0] == 1 else mean_of_known(own)
    return averaged


def mean_of_known(values: FloatArray) -> FloatArray:
    """Return the mean of each column's finite values, or NaN if it has none."""
    known = np.isfinite(values)
    count, total = known.sum(axis=0), np.where(known, values, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def compute_sampling_variance(
    scores: ProblemScores, metric: Metric | str, k: int | None
) -> tuple[FloatArray, FloatArray] | None:
    """Return the sampling variance of each problem's value and its degrees of freedom, shape (S, P).

    For a mean it is s²/m, for pass@k and pass^k the jackknife's; over r runs the sum divided by r². NaN if a
    problem has too few samples; None for maj@k, for which there is no such formula.
    """
    n = scores.samples
    if metric == "maj@k":
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = scores.variance / n
    if metric in ("pass@k", "pass^k"):
        width = scores.highest - scores.lowest
        variance = width**2 * pass_variance(n, scores.correct, k or 1, every=metric == "pass^k")
    variance, freedom = np.where(n > 0, variance, 0.0), np.where(n > 0, n - 1, 0)
    variances, freedoms = np.full((2, len(scores.series), n.shape[1]), np.nan)
    for place in range(len(scores.series)):
        own = find_rows(scores, place)
        runs = (n[own] > 0).sum(axis=0)
        variances[place] = np.where(runs > 0, variance[own].sum(axis=0) / np.maximum(runs, 1) ** 2, np.nan)
        freedoms[place] = np.where(runs > 0, freedom[own].sum(axis=0), np.nan)
    return variances, freedoms


def find_rows(scores: ProblemScores, place: int) -> list[int]:
    """Return the rows of a series' runs."""
    return [row for row, run in enumerate(scores.runs) if run.series == place]


def list_units(scores: ProblemScores) -> list[str] | None:
    """Return each problem's cluster, or its name if it has none; None if there are no clusters."""
    if not any(scores.clusters):
        return None
    return [
        f"cluster\0{cluster}" if cluster else f"problem\0{problem}"
        for cluster, problem in zip(scores.clusters, scores.problems, strict=True)
    ]


def find_sample_range(samples: IntArray) -> tuple[int, int] | None:
    """Return the fewest and most samples of the cells that have any."""
    some = samples[samples > 0]
    return (int(some.min()), int(some.max())) if some.size else None


def _check_samples(scores: ProblemScores, metric: str, k: int | None) -> None:
    """Raise a ScoresError that names the problems with fewer than k samples."""
    short = np.argwhere((scores.samples > 0) & (scores.samples < (k or 1)))
    if not short.size:
        return
    shown = "; ".join(
        f"{scores.series[scores.runs[run].series]} has {scores.samples[run, problem]} of problem "
        f"{scores.problems[problem]}"
        for run, problem in short[:3].tolist()
    )
    more = f"; and {len(short) - 3} more" if len(short) > 3 else ""  # noqa: PLR2004 - as many as shown
    several = " in a run" if len(scores.runs) > len(scores.series) else ""
    letter = "n" if metric == "avg@n" else "k"
    runs = "; where runs are repeated samples of one model, give them as samples" if several else ""
    raise ScoresError(
        f"{metric} with {letter} = {k} needs {k} samples of each problem{several}: {shown}{more}",
        f"Ask for fewer{runs}",
    )
