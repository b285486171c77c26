"""How often verdicts, ranks and intervals of scores are wrong, and how often they are right."""

from __future__ import annotations

import csv
import math
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from made_outcomes import matrix
from msgspec.structs import replace
from simulated.answers import Field, count_called
from simulation import Row, Setting, Task, estimate_error

from reportgen.core.comparisons import Verdict
from reportgen.statistics.compare import compare_all, compare_pairs_across
from reportgen.statistics.distributions import t_tail
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import holm, rank_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.core.comparisons import Comparison, ProblemScores
    from reportgen.core.model import FloatArray, IntArray

_REAL = Path(__file__).parents[1] / "tests" / "simulated" / "matharena_aime_II.csv"
_ALPHA = 0.05
_METHODS = {
    "usual": (
        (0.1, 0.5, "normal", "normal", "normal"),
        (0.2, 0.5, "beta", "skewed", "normal"),
        (0.25, 0.5, "easy", "failing", "normal"),
        (0.3, 0.0, "uniform", "heavy", "normal"),
        (0.25, 1.0, "two heaps", "normal", "normal"),
    ),
    "other": (
        (0.1, 0.7, "t(3)", "uniform", "Laplace"),
        (0.2, 0.4, "Gumbel", "lognormal", "skewed"),
        (0.3, 0.5, "mostly hard", "one of twelve fails", "Laplace"),
        (0.3, 0.0, "triangular", "two camps", "normal"),
        (0.25, 1.2, "three heaps", "uniform", "Laplace"),
    ),
}
_FAMILIES = {
    "usual": (
        Field(models=20, problems=15, law="wide", taste=1.0),
        Field(models=20, problems=15, law="normal", taste=0.5),
        Field(models=8, problems=30, samples=1, law="beta", taste=2.0),
        Field(models=8, problems=60, runs=3, tau=0.2, law="easy", shape="skewed"),
    ),
    "other": (
        Field(models=20, problems=15, law="triangular", taste=1.0, tastes="Laplace"),
        Field(models=20, problems=15, law="Gumbel", taste=0.6, tastes="skewed"),
        Field(models=8, problems=30, samples=1, law="three heaps", taste=1.5, tastes="Laplace"),
        Field(models=8, problems=60, runs=3, tau=0.2, law="t(3)", shape="two camps", tastes="skewed"),
    ),
}
_LAWS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "Beta(0.6, 0.4)": lambda rng, size: rng.beta(0.6, 0.4, size),
    "Beta(0.9, 0.1)": lambda rng, size: rng.beta(0.9, 0.1, size),
    "Beta(5, 1)": lambda rng, size: rng.beta(5, 1, size),
    "Beta(2, 2)": lambda rng, size: rng.beta(2, 2, size),
    "Beta(1, 3)": lambda rng, size: rng.beta(1, 3, size),
    "logit normal(0, 1.5)": lambda rng, size: 1 / (1 + np.exp(-rng.normal(0, 1.5, size))),
    "logit normal(2, 2)": lambda rng, size: 1 / (1 + np.exp(-rng.normal(2, 2, size))),
}
_OTHER_LAWS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "Beta(0.3, 0.3)": lambda rng, size: rng.beta(0.3, 0.3, size),
    "Beta(3, 1.5)": lambda rng, size: rng.beta(3, 1.5, size),
    "uniform": lambda rng, size: rng.uniform(0, 1, size),
    "logit t(3)": lambda rng, size: 1 / (1 + np.exp(-1.2 * rng.standard_t(3, size))),
    "logit Laplace(-1, 1)": lambda rng, size: 1 / (1 + np.exp(-rng.laplace(-1, 1, size))),
    "cube of uniform": lambda rng, size: rng.uniform(0, 1, size) ** 3,
    "two heaps": lambda rng, size: np.where(
        rng.random(size) < 0.4, rng.beta(2, 8, size), rng.beta(8, 2, size)
    ),
}
_DRAWS = ((1, 1), (4, 1), (16, 1), (64, 1), (16, 4), (64, 4), (64, 16))
_PROBLEMS = (15, 30, 100)
_CLUSTERS: dict[str, Callable[[np.random.Generator], IntArray]] = {
    "15 of skewed sizes": lambda rng: rng.lognormal(1.5, 1, 15).astype(int) + 1,
    "40 of skewed sizes": lambda rng: rng.lognormal(1.5, 1, 40).astype(int) + 1,
    "14 of 3 and one of 60": lambda _rng: np.array([60] + [3] * 14),
}
_METHOD_TIMES, _FAMILY_TIMES = {True: 100, False: 20}, {True: 60, False: 10}
_BORDER_TIMES, _INTERVAL_TIMES = {True: 30, False: 5}, {True: 800, False: 100}


def plan(setting: Setting) -> list[Row]:
    """Return the rows of what, measured, and what it must be."""
    families = _FAMILIES[setting.generators]
    times = _FAMILY_TIMES[setting.full]
    laws = _OTHER_LAWS if setting.is_other else _LAWS
    return [
        _plan_methods(setting, count_equal, "equal methods of 3 and 5 seeds called different"),
        _plan_methods(setting, count_lone, "equal methods, one run against 3 and 5, called different"),
        Row(
            "any wrong verdict in a family",
            "≤ 6%",
            [Task(count_wrong, (setting, one, apart, times)) for one in families for apart in (False, True)],
            lambda counts: _describe_counts(counts, times),
        ),
        Row(
            "wrong share of verdicts with adjust: fdr, and verdicts for one of fwer",
            "≤ 6%",
            [Task(count_explored, (setting, one, times)) for one in families],
            _describe_explored,
        ),
        Row(
            "power for a pair among 20 models, 15 problems × 4 samples",
            "≥ 6%",
            [Task(count_found, (setting, families[0], times))],
            _describe_found,
        ),
        Row(
            "AIME 2025 II, 19 models: pairs called of 171",
            "≥ 55",
            [Task(count_real, ())],
            lambda found: str(found[0]),
        ),
        Row(
            "46 series on 100 problems: called of 1,035; 15 × 10 benchmarks: of 1,155",
            "no floor",
            [Task(count_large, (setting,))],
            lambda found: "; ".join(map(str, found[0])),
        ),
        Row(
            "borders between groups whose neighbours are undecided",
            "0",
            [Task(count_borders, (setting, _BORDER_TIMES[setting.full]))],
            lambda found: "{1} of {0}".format(*found[0]),
        ),
        Row(
            "pass@k intervals cover, 147 cells",
            "≥ 92%, 93–97% in nine of ten",
            [
                Task(cover, (setting, law, n, _INTERVAL_TIMES[setting.full]))
                for law in laws
                for n in _PROBLEMS
            ],
            lambda cells: _describe_cells(np.concatenate(cells), _INTERVAL_TIMES[setting.full]),
        ),
        Row(
            "intervals over clusters of unequal sizes cover, 18 cells",
            "93–97%, more with one giant",
            [
                Task(cover_clusters, (setting, sizes, alike, _INTERVAL_TIMES[setting.full]))
                for sizes in _CLUSTERS
                for alike in (0.0, 0.5, 1.5)
            ],
            lambda cells: _describe_cells(np.concatenate(cells), _INTERVAL_TIMES[setting.full]),
        ),
    ]


def _plan_methods(setting: Setting, count: Callable[..., int], what: str) -> Row:
    times = _METHOD_TIMES[setting.full]
    fields = [
        Field(2, problems, samples, runs, tau, taste, law, shape, tastes)
        for problems, samples in ((30, 4), (200, 2))
        for runs in (3, 5)
        for tau, taste, law, shape, tastes in _METHODS[setting.generators]
    ]
    return Row(
        what,
        "≤ 6%",
        [Task(count, (setting, field, times)) for field in fields],
        lambda counts: _describe_counts(counts, times),
    )


def _describe_counts(counts: Sequence[int], times: int) -> str:
    rates = 100 * np.array(counts) / times
    error = 100 * estimate_error(float(rates.max()) / 100, times)
    whole = 100 * estimate_error(float(rates.mean()) / 100, times * len(counts))
    return (
        f"{rates.mean():.1f} ± {whole:.1f}% on average, {rates.max():.1f} ± {error:.1f}% at most "
        f"of {len(counts)} × {times}"
    )


def count_equal(setting: Setting, field: Field, times: int) -> int:
    """Return how often two equal methods are called different."""
    rng = setting.make_rng("methods", field)
    return sum(count_called(compare_all(field.draw(rng))) for _ in range(times))


def count_lone(setting: Setting, field: Field, times: int) -> int:
    """Return how often two equal methods are called different, if one of them has a single run."""
    rng = setting.make_rng("lone", field)
    return sum(count_called(compare_all(_keep_one_run(field.draw(rng)))) for _ in range(times))


def _keep_one_run(made: ProblemScores) -> ProblemScores:
    """Return the scores with the first run alone of the last series."""
    rows = [row for row, run in enumerate(made.runs) if run.series == 0]
    rows.append(len(rows))
    arrays = ("samples", "correct", "mean", "variance", "tokens", "seconds", "cost")
    return replace(
        made,
        runs=tuple(made.runs[row] for row in rows),
        **{name: getattr(made, name)[rows] for name in arrays},
    )


def count_wrong(setting: Setting, field: Field, apart: bool, times: int) -> int:  # noqa: FBT001 - of a task
    """Return how often equal models get a verdict, all equal or every other one better."""
    rng = setting.make_rng("families", field, apart)
    abilities = np.where(np.arange(field.models) % 2, 0.7, -0.7) * apart
    wrong = 0
    for _ in range(times):
        found = compare_all(field.draw(rng, abilities.tolist()))
        wrong += bool(count_called([one for one in found if _equal(one, found, abilities)]))
    return wrong


def count_explored(setting: Setting, field: Field, times: int) -> FloatArray:
    """Return verdicts, wrong ones, and those without fdr, of blocks with every other model better."""
    rng = setting.make_rng("fdr", field)
    abilities = np.where(np.arange(field.models) % 2, 0.7, -0.7)
    counts = np.zeros((times, 3))
    for row in counts:
        made = field.draw(rng, abilities.tolist())
        explored = [one for one in compare_all(made, adjust="fdr") if count_called([one])]
        wrong = [one for one in explored if not _is_right(one, tuple(made.series), abilities)]
        row[:] = len(explored), len(wrong), count_called(compare_all(made))
    return counts


def _is_right(one: Comparison, names: tuple[str, ...], abilities: FloatArray) -> bool:
    difference = abilities[names.index(one.a)] - abilities[names.index(one.b)]
    return bool(difference > 0) if one.verdict is Verdict.BETTER else bool(difference < 0)


def _describe_explored(found: Sequence[FloatArray]) -> str:
    every = np.concatenate(found)
    shares = every[:, 1] / np.maximum(every[:, 0], 1)
    error = 196 * np.std(shares, ddof=1) / len(shares) ** 0.5
    more = every[:, 0].sum() / max(every[:, 2].sum(), 1)
    return f"{100 * shares.mean():.1f} ± {error:.1f}%, {more:.1f} times as many"


def _equal(one: Comparison, found: tuple[Comparison, ...], abilities: FloatArray) -> bool:
    names = list(dict.fromkeys(name for pair in found for name in (pair.a, pair.b)))
    return bool(abilities[names.index(one.a)] == abilities[names.index(one.b)])


def count_found(setting: Setting, field: Field, times: int) -> tuple[list[float], list[float]]:
    """Return the shares of pairs that get a verdict in each block, by the step-down test and by Holm's."""
    rng = setting.make_rng("power", field)
    stepped, adjusted = [], []
    for _ in range(times):
        found = compare_all(field.draw(rng, np.linspace(-1.7, 1.7, field.models).tolist()))
        stepped.append(count_called(found) / len(found))
        adjusted.append(sum(p < _ALPHA for p in holm([_t_test(one) for one in found])) / len(found))
    return stepped, adjusted


def _describe_found(found: Sequence[tuple[list[float], list[float]]]) -> str:
    """Means over blocks; pairs of one block share its problems, so that blocks are what varies."""
    shares = [
        f"{100 * np.mean(one):.1f} ± {196 * np.std(one, ddof=1) / len(one) ** 0.5:.1f}%" for one in found[0]
    ]
    return f"{shares[0]} (Holm of t tests {shares[1]})"


def _t_test(one: Comparison) -> float:
    if not one.stderr or one.df is None:
        return 1.0
    return 2 * t_tail(abs(one.difference or 0.0) / one.stderr, one.df)


def count_real() -> int:
    """Return how many pairs of a real table get a verdict."""
    with _REAL.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    values = np.array([[float(cell) for cell in row[1:]] for row in rows])
    made = matrix(values.reshape(15, 4, 19).transpose(2, 0, 1), series=header[1:])
    return count_called(compare_all(made))


def count_large(setting: Setting) -> tuple[int, int]:
    """Return how many pairs of two large families get a verdict."""
    rng, (first, *_) = setting.make_rng("large"), _FAMILIES[setting.generators]
    many, few = (Field(models, problems, law=first.law) for models, problems in ((46, 100), (15, 20)))
    together = count_called(compare_all(many.draw(rng, np.linspace(-2, 2, 46).tolist())))
    parts = {f"b{place}": few.draw(rng, np.linspace(-3, 3, 15).tolist()) for place in range(10)}
    return together, count_called([one.comparison for one in compare_pairs_across(parts)])


def count_borders(setting: Setting, times: int) -> tuple[int, int]:
    """Return the numbers of borders between groups, and of those whose neighbours are undecided."""
    rng, families = setting.make_rng("borders"), _FAMILIES[setting.generators]
    borders, undecided = 0, 0
    for field in (Field(8, 60, law=families[1].law), Field(8, 200, 16, law=families[2].law)):
        for _ in range(times):
            made = field.draw(rng, [-1.5, -1.4, -1.3, 0, 0.1, 0.2, 1.8, 2.0])
            found = compare_all(made)
            better = {(one.a, one.b) for one in found if one.verdict is Verdict.BETTER}
            better |= {(one.b, one.a) for one in found if one.verdict is Verdict.WORSE}
            for upper, lower in pairwise(rank_groups(score_series(made), found)):
                borders += 1
                undecided += (upper.series[-1], lower.series[0]) not in better
    return borders, undecided


def cover(setting: Setting, name: str, problems: int, times: int) -> FloatArray:
    """Return the shares of intervals that cover, with 7 pairs of samples and k."""
    rng, law = setting.make_rng("intervals", name, problems), (_LAWS | _OTHER_LAWS)[name]
    chances = law(rng, 400_000)
    covered = []
    for samples, k in _DRAWS:
        truth = float(np.mean(1 - (1 - chances) ** k))
        made = _answer(rng, law(rng, times * problems).reshape(times, problems), samples)
        found = score_series(made, "pass@k", k)
        covered.append(np.mean([(one.low or 0.0) <= truth <= (one.high or math.inf) for one in found]))
    return np.array(covered)


def cover_clusters(setting: Setting, sizes: str, alike: float, times: int) -> FloatArray:
    """Return the shares of intervals that cover, answers right or wrong and partly right ones.

    ``alike`` is the standard deviation of clusters on the logit scale.
    """
    rng = setting.make_rng("clusters", sizes, alike)
    whole = rng.normal(0.4, np.hypot(alike, 1), 400_000)
    truth = float(np.mean(1 / (1 + np.exp(-whole))))
    covered = []
    for samples in (1, 4):
        found = []
        for _ in range(times):
            count = _CLUSTERS[sizes](rng)
            cluster = np.repeat(np.arange(count.size), count)
            logits = 0.4 + rng.normal(0, alike, count.size)[cluster] + rng.normal(0, 1, cluster.size)
            made = _answer(rng, 1 / (1 + np.exp(-logits))[np.newaxis], samples)
            made = replace(made, clusters=tuple(f"c{one}" for one in cluster.tolist()))
            (one,) = score_series(made)
            found.append((one.low or 0.0) <= truth <= (one.high or math.inf))
        covered.append(np.mean(found))
    return np.array(covered)


def _answer(rng: np.random.Generator, chance: FloatArray, samples: int) -> ProblemScores:
    """Answers of a series a row; the interval needs counts alone."""
    right = rng.binomial(samples, chance)
    values = (np.arange(samples) < right[:, :, np.newaxis]).astype(np.float64)
    return matrix(values, series=[str(place) for place in range(len(chance))])


def _describe_cells(cells: FloatArray, times: int) -> str:
    within = int(np.count_nonzero((cells >= 0.93) & (cells <= 0.97)))
    error = 100 * estimate_error(float(cells.min()), times)
    return (
        f"{100 * cells.min():.1f} ± {error:.1f}% at least, {np.count_nonzero(cells < 0.92)} below 92; "
        f"{within} of {cells.size} within 93 to 97%, {np.count_nonzero(cells > 0.97)} above"
    )
