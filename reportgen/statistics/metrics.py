"""What a metric gives for each problem: the values that scores and comparisons are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.outcomes import ScoresError
from reportgen.statistics.majority import compute_majority
from reportgen.statistics.pass_at_k import pass_all_k, pass_at_k, pass_variance

if TYPE_CHECKING:
    from reportgen.model import FloatArray, IntArray
    from reportgen.outcomes import Metric, ProblemScores

_METRICS = ("mean", "avg@n", "pass@k", "pass^k", "maj@k")
_NEEDS_K = ("pass@k", "pass^k", "maj@k")


class ProblemValues(NamedTuple):
    """A metric of each run and problem.

    Attributes:
        name: as shown: ``mean``, ``pass@4``.
        draws: samples that one draw of the metric takes: its k; 1 for a mean.
        runs: shape (R, P), NaN where a run lacks a problem.
        series: shape (S, P), the mean over the runs that have the problem.
    """

    name: str
    draws: int
    runs: FloatArray
    series: FloatArray


def compute_problem_values(
    scores: ProblemScores, metric: Metric | str = "mean", k: int | None = None
) -> ProblemValues:
    """The metric of each problem, first in each run, then averaged over the runs of a series.

    - ``mean``: mean score of all samples;
    - ``avg@n``: the same, with the number of samples named: ``k``, or all. What one expects of the average
      of n samples does not depend on n, so every sample counts;
    - ``pass@k``, ``pass^k``: see ``statistics.pass_at_k``; scores have to be right or wrong, and the chance
      is given on their scale, from the score of wrong to that of right;
    - ``maj@k``: see ``statistics.majority``; answers have to be there.

    k samples are those of one run: runs are different models, and one could not draw from several.

    Args:
        scores: of one benchmark.
        metric: which.
        k: for all but ``mean``.

    Raises:
        ScoresError: if a problem has fewer than k samples, or lacks what the metric needs; it is named.
        ValueError: if there is no such metric, or k is missing or below 1.
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
        name = f"avg@{k}" if k else _name_average(scores)
        return ProblemValues(name, 1, scores.mean, compute_series_means(scores, scores.mean))
    draws = k or 1
    values = _compute_draws(scores, metric, draws)
    return ProblemValues(f"{metric[:-1]}{draws}", draws, values, compute_series_means(scores, values))


def _compute_draws(scores: ProblemScores, metric: str, k: int) -> FloatArray:
    if metric == "maj@k":
        if scores.votes is None:
            raise ScoresError("maj@k needs the answers", "Give a column answer")
        return compute_majority(scores, k)
    mixed = [name for name, binary in zip(scores.series, scores.binary, strict=True) if not binary]
    if mixed:
        raise ScoresError(
            f"{metric} needs scores that are right or wrong; those of {', '.join(mixed)} are not",
            f"Use the mean, or scores of {scores.lowest:g} and {scores.highest:g} alone",
        )
    estimate = pass_at_k if metric == "pass@k" else pass_all_k
    chance = np.where(scores.samples > 0, estimate(scores.samples, scores.correct, k), np.nan)
    return scores.lowest + (scores.highest - scores.lowest) * chance


def compute_series_means(scores: ProblemScores, values: FloatArray) -> FloatArray:
    """The mean over a series' runs of what each run has, shape (S, P); NaN where no run has a value."""
    averaged = np.full((len(scores.series), values.shape[1]), np.nan)
    for place in range(len(scores.series)):
        own = values[find_rows(scores, place)]
        if own.shape[0] == 1:
            averaged[place] = own[0]
            continue
        known = np.isfinite(own)
        count = known.sum(axis=0)
        total = np.where(known, own, 0.0).sum(axis=0)
        averaged[place] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return averaged


def compute_sampling_variance(
    scores: ProblemScores, metric: Metric | str, k: int | None
) -> tuple[FloatArray, FloatArray] | None:
    """The variance of each problem's own value from sampling alone, and its degrees of freedom.

    Of a mean it is s²/m, of pass@k and pass^k the jackknife's (``pass_variance``); over r runs the sum
    divided by r². The degrees of freedom are those of all runs' samples together.

    Returns:
        Two arrays of shape (S, P), NaN where a problem has too few samples; None for maj@k, for which there
        is no such formula.
    """
    n = scores.samples
    if metric == "maj@k":
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = scores.variance / n
    if metric in ("pass@k", "pass^k"):
        width = scores.highest - scores.lowest
        variance = width**2 * pass_variance(n, scores.correct, k or 1, every=metric == "pass^k")
    variance = np.where(n > 0, variance, 0.0)
    freedom = np.where(n > 0, n - 1, 0)
    shape = (len(scores.series), n.shape[1])
    variances, freedoms = np.full(shape, np.nan), np.full(shape, np.nan)
    for place in range(shape[0]):
        own = find_rows(scores, place)
        runs = (n[own] > 0).sum(axis=0)
        variances[place] = np.where(runs > 0, variance[own].sum(axis=0) / np.maximum(runs, 1) ** 2, np.nan)
        freedoms[place] = np.where(runs > 0, freedom[own].sum(axis=0), np.nan)
    return variances, freedoms


def find_rows(scores: ProblemScores, place: int) -> list[int]:
    """The rows of a series' runs."""
    return [row for row, run in enumerate(scores.runs) if run.series == place]


def list_units(scores: ProblemScores) -> list[str] | None:
    """The cluster of each problem, or its own name where it has none; None where no problem has one."""
    if not any(scores.clusters):
        return None
    return [
        f"cluster\0{cluster}" if cluster else f"problem\0{problem}"
        for cluster, problem in zip(scores.clusters, scores.problems, strict=True)
    ]


def find_sample_range(samples: IntArray) -> tuple[int, int] | None:
    """Fewest and most samples of the cells that have any."""
    some = samples[samples > 0]
    return (int(some.min()), int(some.max())) if some.size else None


def _name_average(scores: ProblemScores) -> str:
    counts = find_sample_range(scores.samples)
    if counts and counts[0] == counts[1]:
        return f"avg@{counts[0]}"
    raise ScoresError(
        "avg@n over all samples needs the same number of samples everywhere", "Give n, or use mean"
    )


def _check_samples(scores: ProblemScores, metric: str, k: int | None) -> None:
    """Raises a ScoresError that names the problems with fewer than k samples."""
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
    raise ScoresError(
        f"{metric} with {letter} = {k} needs {k} samples of each problem{several}: {shown}{more}",
        "Ask for fewer; where runs are repeated samples of one model, give them as samples"
        if several
        else "Ask for fewer",
    )
