"""Unbiased pass@k and pass^k of each problem, with their sampling variance, and pass@k against k."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from reportgen.model import FloatArray, IntArray


def pass_at_k(n: IntArray, c: IntArray, k: int) -> FloatArray:
    """The chance that at least one of k samples is right: 1 - C(n - c, k) / C(n, k).

    The unbiased estimator of Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
    equation 1. As a product of k factors (n - c - j) / (n - j) nothing overflows, and rising in k is exact.

    Args:
        n: samples of each problem.
        c: how many of them are right; same shape.
        k: at least 1.

    Returns:
        Same shape; NaN where n < k.
    """
    return np.where(n >= k, 1 - _product(n, n - c, k), np.nan)


def pass_all_k(n: IntArray, c: IntArray, k: int) -> FloatArray:
    """The chance that all of k samples are right, pass^k: C(c, k) / C(n, k).

    The unbiased estimator of Yao et al. 2024, "τ-bench", section 3; shapes as in ``pass_at_k``.
    """
    return np.where(n >= k, _product(n, c, k), np.nan)


def pass_variance(n: IntArray, c: IntArray, k: int, *, every: bool = False) -> FloatArray:
    """The jackknife variance of pass@k (or of pass^k with ``every``) over the samples of a problem.

    (n - 1)/n Σ (θ₋ᵢ - mean of θ₋ᵢ)² (Efron and Stein 1981). Without one of the c right samples the estimate
    is θ(n - 1, c - 1), without one of the others θ(n - 1, c), so the sum has two kinds of terms. At k = 1
    it is s²/n exactly.

    Returns:
        Same shape; NaN where n ≤ k, because without one sample too few are left.
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
    """Π (usable - j) / (n - j) for j < k: the chance that k samples drawn without replacement are usable."""
    product: FloatArray = np.ones(np.shape(n))
    for j in range(k):
        product = product * (np.maximum(usable - j, 0) / np.maximum(n - j, 1))
    return product
