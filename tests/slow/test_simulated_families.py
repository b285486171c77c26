"""Verdicts of methods and of families, by simulation: equal is rarely called different, power is as stated.

A share found in n simulations has a standard error of √(p (1 - p)/n); the limits below leave two of them.
"""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from made_outcomes import matrix
from msgspec.structs import replace
from simulated.answers import Field, count_called
from simulated.power import ALONE, FAMILIES, measure_power

from reportgen.core.comparisons import Verdict
from reportgen.statistics.compare import compare_all, compare_pairs_across
from reportgen.statistics.scores import score_series
from reportgen.statistics.verdicts import rank_groups

if TYPE_CHECKING:
    from reportgen.core.comparisons import Comparison

_REAL = Path(__file__).parents[1] / "simulated/matharena_aime_II.csv"
_METHODS = [
    Field(problems=30, samples=4, runs=3, tau=0.2, law="beta", shape="skewed"),
    Field(problems=30, samples=4, runs=5, tau=0.3, law="uniform", shape="heavy", taste=0.0),
    Field(problems=200, samples=4, runs=3, tau=0.25, law="easy", shape="failing"),
    Field(problems=200, samples=1, runs=5, tau=0.15, law="two heaps", taste=1.0),
]
_FAMILIES = [
    Field(models=10, problems=15, law="wide", taste=1.0),
    Field(models=6, problems=30, samples=1, law="normal"),
    Field(models=5, problems=60, runs=3, tau=0.2, law="beta", shape="skewed"),
]


@pytest.mark.parametrize("field", _METHODS, ids=repr)
def test_equal_methods_are_rarely_called_different(field: Field) -> None:
    """Seeds that move a score by 1 to 6 points, in any shape: at most 6% of pairs of equal methods."""
    rng = np.random.default_rng(20261122)
    called = np.mean([count_called(compare_all(field.draw(rng))) for _ in range(300)])
    assert called <= 0.06 + 2 * (0.06 * 0.94 / 300) ** 0.5


def test_intervals_of_methods_cover_what_other_runs_would_score() -> None:
    """Three runs of 40 problems; the truth is the difference of methods, 0, and not of these checkpoints."""
    rng = np.random.default_rng(3)
    field = Field(problems=40, samples=4, runs=3, tau=0.3, law="normal", shape="heavy")
    covered = 0
    for _ in range(400):
        (one,) = compare_all(field.draw(rng))
        covered += (one.low or 0.0) <= 0 <= (one.high or 0.0)
    assert 0.93 <= covered / 400 <= 0.995


@pytest.mark.parametrize("field", _FAMILIES, ids=repr)
def test_a_family_of_equal_models_has_hardly_a_verdict(field: Field) -> None:
    """Any verdict at all in at most 6% of blocks, also where half of the models are better than the rest."""
    rng = np.random.default_rng(5)
    times = 120
    any_called = [bool(count_called(compare_all(field.draw(rng)))) for _ in range(times)]
    assert np.mean(any_called) <= 0.06 + 2 * (0.06 * 0.94 / times) ** 0.5
    halves = np.where(np.arange(field.models) % 2, 0.7, -0.7).tolist()
    wrong = [_between_equals(compare_all(field.draw(rng, halves)), halves) for _ in range(times)]
    assert np.mean([count > 0 for count in wrong]) <= 0.06 + 2 * (0.06 * 0.94 / times) ** 0.5


def _between_equals(found: tuple[Comparison, ...], abilities: list[float]) -> int:
    names = list(dict.fromkeys(name for one in found for name in (one.a, one.b)))
    ability = dict(zip(names, abilities, strict=True))
    return count_called([one for one in found if ability[one.a] == ability[one.b]])


def test_a_family_finds_three_times_what_holm_finds() -> None:
    """20 models, 15 problems × 4 samples: of the pairs that differ, Holm's t test finds one in fifty."""
    rng = np.random.default_rng(7)
    field = Field(models=20, problems=15, law="wide", taste=1.0)
    abilities = np.linspace(-1.7, 1.7, 20).tolist()
    stepped, holm = [], []
    for _ in range(25):
        made = field.draw(rng, abilities)
        found = compare_all(made)
        stepped.append(count_called(found))
        alone = sorted(one.p or 1.0 for one in found)
        holm.append(next((at for at, p in enumerate(alone) if p * (len(alone) - at) > 0.05), len(alone)))
    assert np.mean(stepped) >= 3 * np.mean(holm)


def test_a_real_table_of_19_models_is_decided_in_a_third_of_its_pairs() -> None:
    """AIME 2025 II, 15 problems × 4 samples: 16 of 171 pairs by Holm, 108 without any adjustment.

    The largest difference is 90 points. No border stands between neighbours that no test separates.
    """
    with _REAL.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    values = np.array([[float(cell) for cell in row[1:]] for row in rows])
    made = matrix(values.reshape(15, 4, 19).transpose(2, 0, 1), series=header[1:])
    found = compare_all(made)
    assert 55 <= count_called(found) <= 108
    decided = {(one.a, one.b) for one in found if one.verdict is Verdict.BETTER}
    decided |= {(one.b, one.a) for one in found if one.verdict is Verdict.WORSE}
    groups = rank_groups(score_series(made), found)
    for upper, lower in pairwise(groups):
        assert (upper.series[-1], lower.series[0]) in decided


def test_large_families_have_no_floor() -> None:
    """15 models on 10 benchmarks of 20 problems: 1,155 comparisons, differences up to 80 points."""
    rng = np.random.default_rng(9)
    field = Field(models=15, problems=20, samples=4)
    abilities = np.linspace(-3, 3, 15).tolist()
    parts = {f"b{place}": field.draw(rng, abilities) for place in range(10)}
    found = [one.comparison for one in compare_pairs_across(parts)]
    assert len(found) == 1155
    assert count_called(found) >= 300


def test_clusters_widen_and_do_not_move() -> None:
    """Questions of one passage vary together: equal models are called different in at most 7% by cluster."""
    rng = np.random.default_rng(11)
    plain, clustered = 0, 0
    for _ in range(250):
        shared = rng.normal(0, 1.5, (2, 12)).repeat(8, axis=1)
        values = (rng.random((2, 96, 1)) < (1 / (1 + np.exp(-shared)))[:, :, None]).astype(np.float64)
        made = matrix(values)
        by_cluster = replace(made, clusters=tuple(f"passage {place // 8}" for place in range(96)))
        plain += count_called(compare_all(made))
        clustered += count_called(compare_all(by_cluster))
        assert score_series(made)[0].estimate == score_series(by_cluster)[0].estimate
    assert plain / 250 >= 0.2
    assert clustered / 250 <= 0.07 + 2 * (0.06 * 0.94 / 250) ** 0.5


# The power that a page states is that simulated: so far apart at most.
_APART = 0.05


@pytest.mark.parametrize("field", [*ALONE[:2], ALONE[5]], ids=repr)
def test_the_power_of_a_pair_is_as_stated(field: Field) -> None:
    """Two models, right or wrong answers of several laws: within 5 points and the error of 400 draws."""
    found = measure_power(field, 400, np.random.default_rng(2026))
    assert abs(found) <= _APART + 2 * (0.2 / 400) ** 0.5, found


@pytest.mark.parametrize("field", FAMILIES[:1], ids=repr)
def test_the_power_in_a_family_is_as_stated(field: Field) -> None:
    """One pair apart among six models of one ability."""
    found = measure_power(field, 250, np.random.default_rng(2026))
    assert abs(found) <= _APART + 2 * (0.2 / 250) ** 0.5, found
