"""What the choice of runs adds to the variance of a score, and random draws of it."""

from __future__ import annotations

import hashlib
import math
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.statistics.intervals import deviation, mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.model import FloatArray

# A draw of 16 bits picks one of so many quantiles.
_QUANTILES = 1 << 16
_BYTES_A_NORMAL = 2


class RunVariance(NamedTuple):
    """The variance between the runs of a series, in the unit of its squared scores.

    Attributes:
        runs: r, at least 2.
        between: S², the variance (ddof = 1) of the runs' own scores.
        residual: what of it the answers alone explain: the mean square of run × problem, over the problems.
    """

    runs: int
    between: float
    residual: float

    @property
    def excess(self) -> float:
        """τ², the variance between runs that answers do not explain; never below 0."""
        return max(0.0, self.between - self.residual)

    @property
    def of_mean(self) -> float:
        """τ²/r, which the mean of the runs inherits."""
        return self.excess / self.runs

    @property
    def df(self) -> float:
        """Degrees of freedom of τ²: (r - 1)(τ²/S²)², as Satterthwaite (1946) has for a difference."""
        return (self.runs - 1) * (self.excess / self.between) ** 2 if self.excess else math.inf


def estimate_run_variance(values: FloatArray) -> RunVariance | None:
    """The analysis of variance of runs × problems, one value a cell (Searle et al. 1992, 4.7).

    With S² the variance of the runs' scores and M the mean square of what neither run nor problem explains,
    S² estimates τ² + (variance of run × problem and of sampling)/P and M/P the latter part alone.

    Args:
        values: shape (r, P), NaN where a run lacks a problem; problems that a run lacks are left out.

    Returns:
        None under 2 runs or 2 problems that all of them have.
    """
    whole = values[:, np.isfinite(values).all(axis=0)]
    runs, problems = whole.shape
    if min(runs, problems) < 2:  # noqa: PLR2004 - one says nothing of how others vary
        return None
    scores = np.array([mean(row) for row in whole])
    rest = whole - scores[:, np.newaxis] - whole.mean(axis=0) + mean(scores)
    square = math.fsum((rest**2).ravel()) / ((runs - 1) * (problems - 1))
    return RunVariance(runs, deviation(scores) ** 2, square / problems)


def shrink_variances(found: Sequence[RunVariance | None]) -> list[RunVariance | None]:
    """Variances of several series, each halfway to their mean, and with twice the degrees of freedom.

    Two to five runs say little about their own variance. In a family of comparisons the series with the
    smallest estimates would win by that alone; the mean over series, weighed by r - 1, makes them alike.
    """
    known = [one for one in found if one is not None]
    weight = sum(one.runs - 1 for one in known)
    if not weight:
        return list(found)
    between = math.fsum((one.runs - 1) * one.between for one in known) / weight
    residual = math.fsum((one.runs - 1) * one.residual for one in known) / weight
    return [
        None
        if one is None
        else RunVariance(one.runs, (one.between + between) / 2, (one.residual + residual) / 2)
        for one in found
    ]


def draw_t(name: str, df: int, count: int, seed: int = 0) -> FloatArray:
    """Draws of Student's t that come from a hash of the seed and a name, shape (count,).

    A normal over the root of the mean of ``df`` squared normals, each one of 65,536 quantiles.
    """
    size = _BYTES_A_NORMAL * (df + 1) * count
    digest = hashlib.shake_256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest(size)
    normals = _normal_quantiles()[np.frombuffer(digest, dtype="<u2").reshape(df + 1, count)]
    drawn: FloatArray = normals[0] / np.sqrt((normals[1:] ** 2).mean(axis=0))
    return drawn


@cache
def _normal_quantiles() -> FloatArray:
    """Rounded, so that they are the same numbers on every machine."""
    half = [NormalDist().inv_cdf(0.5 + (place + 0.5) / _QUANTILES) for place in range(_QUANTILES // 2)]
    upper = np.round(np.array(half), 9)
    return np.concatenate([-upper[::-1], upper])
