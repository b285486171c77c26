"""How often verdicts, ranks and intervals of scores are wrong, and how often they are right."""

from __future__ import annotations

import csv
import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from made_outcomes import matrix
from simulated.answers import Field, count_called

from reportgen.core.comparisons import Verdict
from reportgen.statistics.compare import compare_all, compare_pairs_across
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import holm, rank_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.core.comparisons import Comparison, ProblemScores
    from reportgen.core.model import FloatArray

_REAL = Path(__file__).parents[1] / "tests" / "simulated" / "matharena_aime_II.csv"
_ALPHA = 0.05
_SEEDS = [
    Field(problems=problems, samples=samples, runs=runs, tau=tau, taste=taste, law=law, shape=shape)
    for problems, samples in ((30, 4), (200, 2))
    for runs in (3, 5)
    for tau, taste, law, shape in (
        (0.1, 0.5, "normal", "normal"),
        (0.2, 0.5, "beta", "skewed"),
        (0.25, 0.5, "easy", "failing"),
        (0.3, 0.0, "uniform", "heavy"),
        (0.25, 1.0, "two heaps", "normal"),
    )
]
_FAMILIES = [
    Field(models=20, problems=15, law="wide", taste=1.0),
    Field(models=20, problems=15, law="normal", taste=0.5),
    Field(models=8, problems=30, samples=1, law="beta", taste=2.0),
    Field(models=8, problems=60, runs=3, tau=0.2, law="easy", shape="skewed"),
]
_LAWS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "Beta(0.6, 0.4)": lambda rng, size: rng.beta(0.6, 0.4, size),
    "Beta(0.9, 0.1)": lambda rng, size: rng.beta(0.9, 0.1, size),
    "Beta(5, 1)": lambda rng, size: rng.beta(5, 1, size),
    "Beta(2, 2)": lambda rng, size: rng.beta(2, 2, size),
    "Beta(1, 3)": lambda rng, size: rng.beta(1, 3, size),
    "logit normal(0, 1.5)": lambda rng, size: 1 / (1 + np.exp(-rng.normal(0, 1.5, size))),
    "logit normal(2, 2)": lambda rng, size: 1 / (1 + np.exp(-rng.normal(2, 2, size))),
}
_DRAWS = ((1, 1), (4, 1), (16, 1), (64, 1), (16, 4), (64, 4), (64, 16))


def measure(*, full: bool, seed: int = 0) -> Iterator[tuple[str, str, str]]:
    """Rows of what, measured, and what it must be.

    Args:
        full: as many repetitions as the figures need; otherwise a tenth.
        seed: of the generators.
    """
    rng = np.random.default_rng(seed)
    times = 1 if full else 0.1
    yield _equal_methods(rng, max(int(200 * times), 20))
    yield from _families(rng, max(int(120 * times), 10))
    yield _real_table()
    yield from _large_families(rng)
    yield _borders(rng, max(int(60 * times), 5))
    yield _intervals(rng, max(int(1000 * times), 100))


def _equal_methods(rng: np.random.Generator, times: int) -> tuple[str, str, str]:
    rates = []
    for field in _SEEDS:
        called = sum(count_called(compare_all(field.draw(rng))) for _ in range(times))
        rates.append(100 * called / times)
    said = f"{np.mean(rates):.1f} % on average, {max(rates):.1f} % at most of {len(rates)} × {times}"
    return "equal methods of 3 and 5 seeds called different", said, "≤ 6 %"


def _families(rng: np.random.Generator, times: int) -> Iterator[tuple[str, str, str]]:
    rates = []
    for field in _FAMILIES:
        halves = np.where(np.arange(field.models) % 2, 0.7, -0.7)
        for abilities in (np.zeros(field.models), halves):
            wrong = 0
            for _ in range(times):
                found = compare_all(field.draw(rng, abilities.tolist()))
                wrong += bool(count_called([one for one in found if _equal(one, found, abilities)]))
            rates.append(100 * wrong / times)
    said = f"{np.mean(rates):.1f} % on average, {max(rates):.1f} % at most of {len(rates)} × {times}"
    yield "any wrong verdict in a family", said, "≤ 6 %"
    field, counts = _FAMILIES[0], Counter[str]()
    for _ in range(times):
        found = compare_all(field.draw(rng, np.linspace(-1.7, 1.7, field.models).tolist()))
        counts["pairs"] += len(found)
        counts["step-down"] += count_called(found)
        counts["Holm"] += sum(p < _ALPHA for p in holm([_t_test(one) for one in found]))
    share = {name: f"{100 * counts[name] / counts['pairs']:.1f} %" for name in ("step-down", "Holm")}
    said = f"{share['step-down']} (Holm of t tests {share['Holm']})"
    yield "power for a pair among 20 models, 15 problems × 4 samples", said, "≥ 12 %"


def _equal(one: Comparison, found: tuple[Comparison, ...], abilities: FloatArray) -> bool:
    names = list(dict.fromkeys(name for pair in found for name in (pair.a, pair.b)))
    return bool(abilities[names.index(one.a)] == abilities[names.index(one.b)])


def _t_test(one: Comparison) -> float:
    from reportgen.statistics.distributions import t_tail  # noqa: PLC0415 - the peer of one row

    if not one.stderr or one.df is None:
        return 1.0
    return 2 * t_tail(abs(one.difference or 0.0) / one.stderr, one.df)


def _real_table() -> tuple[str, str, str]:
    with _REAL.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    values = np.array([[float(cell) for cell in row[1:]] for row in rows])
    made = matrix(values.reshape(15, 4, 19).transpose(2, 0, 1), series=header[1:])
    return "AIME 2025 II, 19 models: pairs called of 171", str(count_called(compare_all(made))), "≥ 55"


def _large_families(rng: np.random.Generator) -> Iterator[tuple[str, str, str]]:
    made = Field(models=46, problems=100, samples=4).draw(rng, np.linspace(-2, 2, 46).tolist())
    yield "46 series on 100 problems: pairs called of 1,035", str(count_called(compare_all(made))), "no floor"
    field = Field(models=15, problems=20, samples=4)
    parts = {f"b{place}": field.draw(rng, np.linspace(-3, 3, 15).tolist()) for place in range(10)}
    called = count_called([one.comparison for one in compare_pairs_across(parts)])
    yield "15 models × 10 benchmarks and their average: called of 1,155", str(called), "no floor"


def _borders(rng: np.random.Generator, times: int) -> tuple[str, str, str]:
    borders, undecided = 0, 0
    for field in (Field(models=8, problems=60), Field(models=8, problems=200, samples=16, law="beta")):
        for _ in range(times):
            made = field.draw(rng, [-1.5, -1.4, -1.3, 0, 0.1, 0.2, 1.8, 2.0])
            found = compare_all(made)
            better = {(one.a, one.b) for one in found if one.verdict is Verdict.BETTER}
            better |= {(one.b, one.a) for one in found if one.verdict is Verdict.WORSE}
            for upper, lower in pairwise(rank_groups(score_series(made), found)):
                borders += 1
                undecided += (upper.series[-1], lower.series[0]) not in better
    return "borders between groups whose neighbours are undecided", f"{undecided} of {borders}", "0"


def _intervals(rng: np.random.Generator, times: int) -> tuple[str, str, str]:
    """Coverage in 147 cells: 7 laws of difficulty, 15, 30 and 100 problems, 7 pairs of samples and k."""
    covered = []
    for law in _LAWS.values():
        chances = law(rng, 400_000)
        for problems in (15, 30, 100):
            for samples, k in _DRAWS:
                truth = float(np.mean(1 - (1 - chances) ** k))
                made = _answered(rng, law(rng, times * problems).reshape(times, problems), samples)
                found = score_series(made, "pass@k", k)
                inside = [(one.low or 0.0) <= truth <= (one.high or math.inf) for one in found]
                covered.append(float(np.mean(inside)))
    cells = np.array(covered)
    within = int(np.count_nonzero((cells >= 0.93) & (cells <= 0.97)))
    said = (
        f"{100 * cells.min():.1f} % at least; {within} of {cells.size} within 93 to 97 %, "
        f"{int(np.count_nonzero(cells > 0.97))} above"
    )
    return "pass@k intervals cover, 147 cells", said, "≥ 92 %, 93–97 % in nine of ten"


def _answered(rng: np.random.Generator, chance: FloatArray, samples: int) -> ProblemScores:
    """Answers of a series a row; the interval needs counts alone."""
    right = rng.binomial(samples, chance)
    values = (np.arange(samples) < right[:, :, np.newaxis]).astype(np.float64)
    return matrix(values, series=[str(place) for place in range(len(chance))])
