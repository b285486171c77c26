"""Laws of observations, by definitions written anew; single sentences are in ``transcripts/observations.md``.

Readings are values at steps that were read, and inferences agree with t tests by scipy, and with claims.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_figures import curve, curve_set
from made_outcomes import matrix, scored
from msgspec.structs import replace
from scipy import stats
from tries import tries

from reportgen.claims.observations.choosing import (
    READINGS,
    describe_runs,
    observe_curves,
    observe_scores,
    order_observations,
)
from reportgen.core.model import ReducedMetric, Run
from reportgen.core.statements import Observation, Scale
from reportgen.core.words import format_equation, format_p
from reportgen.statistics.curves.mean_curves import compute_curves
from reportgen.statistics.verdicts import compare_curves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.model import Curve, CurveSet, FloatArray

HIGHER, LOWER = Scale("reward"), Scale("loss", higher_is_better=False)
ROOT = Path(__file__).parents[1]
SHARE = Scale("mean score", step_name="", bounds=(0.0, 1.0))


def observe(
    *curves: Curve, scale: Scale = HIGHER, rule: str = "", precision: float = 0.0
) -> tuple[Observation, ...]:
    """What a rule of readings, or all of them, find in curves of one metric."""
    rules = [one for one in READINGS if rule in {"", one}]
    return observe_curves([(curve_set(*curves), scale)], rules, [precision])


def measure(series: Mapping[str, Sequence[tuple[FloatArray, FloatArray]]]) -> CurveSet:
    """Curves of some runs, each with its steps and values, as a report draws them."""
    runs = tuple(
        Run(name, str(seed), str(seed), steps.astype(np.float64), values)
        for name, each in series.items()
        for seed, (steps, values) in enumerate(each)
    )
    return compute_curves(ReducedMetric("reward", runs, 0, 0, None, None))


def find(
    series: Mapping[str, Sequence[tuple[FloatArray, FloatArray]]], scale: Scale = HIGHER
) -> tuple[Observation, ...]:
    """All that rules find in these runs."""
    return observe_curves([(measure(series), scale)])


def make_runs(
    seed: int, ends: Mapping[str, float], runs: int, *, n: int = 60
) -> dict[str, list[tuple[FloatArray, FloatArray]]]:
    """Runs of rewards that rise from 0.2, with noise between runs and between steps."""
    rng, steps = np.random.default_rng(seed), np.arange(float(n))
    return {
        name: [
            (
                steps,
                0.2
                + (end - 0.2) * (1 - np.exp(-6 * steps / n))
                + rng.normal(0, 0.02)
                + rng.normal(0, 0.02, n),
            )
            for _ in range(runs)
        ]
        for name, end in ends.items()
    }


# ---- readings -------------------------------------------------------------------------------------

READING = st.integers(0, 40).map(lambda n: n / 40)
SERIES = st.lists(READING, min_size=1, max_size=12)
SETS = st.tuples(st.lists(SERIES, min_size=1, max_size=5), st.integers(0, 1))


def make_curves(values: list[list[float]], steps_apart: int = 0, factor: float = 1.0) -> list[Curve]:
    """A curve for each list; some have every step, others every second."""
    made = []
    for place, one in enumerate(values):
        stride = 2 if steps_apart and place % 2 else 1
        steps = [float(stride * at) for at in range(len(one))]
        made.append(curve("ABCDE"[place], [factor * value for value in one], steps=steps))
    return made


def list_events(found: Sequence[Observation]) -> list[tuple[object, ...]]:
    """Rules, series, steps and marks."""
    return sorted(
        (one.rule, one.series, one.from_step, one.to_step, one.mark_series or "", one.mark or 0.0)
        for one in found
    )


# Powers of two, which round nothing: of equal readings, rounding could make one the larger. An example is
# observed several times.
@settings(max_examples=tries(20, 200))
@given(SETS, st.sampled_from([HIGHER, LOWER]), st.sampled_from([2.0**-10, 0.25, 8.0, 1024.0]))
def test_order_and_size_change_nothing(
    made: tuple[list[list[float]], int], scale: Scale, factor: float
) -> None:
    """The same sentences with the same evidence whichever series is first; scaled, the same events."""
    found = observe(*make_curves(*made), scale=scale)
    assert found == observe(*make_curves(*made)[::-1], scale=scale)
    assert list_events(found) == list_events(observe(*make_curves(*made, factor=factor), scale=scale))


def test_the_order_of_noisy_series_and_of_metrics_changes_nothing() -> None:
    """Also with bands, with many steps, and with the metrics of one block."""
    for runs, n in ((1, 60), (5, 40), (5, 8)):
        made = measure(make_runs(7, {"A": 0.7, "B": 0.4, "C": 0.6}, runs, n=n))
        turned = replace(made, curves=made.curves[::-1])
        metrics = [(made, HIGHER), (made, LOWER)]
        assert observe_curves(metrics) == observe_curves([(turned, scale) for _, scale in metrics[::-1]])


@given(st.lists(SERIES, min_size=2, max_size=2), READING)
def test_better_turned_is_worse(values: list[list[float]], shift: float) -> None:
    """Negative values where lower is better say the same as the values where higher is."""
    curves = make_curves(values)
    turned = [replace(one, values=shift - one.values) for one in curves]
    for rule in ("crossing", "fall from best", "best"):
        plain = list_events(observe(*curves, rule=rule))
        assert plain == list_events(observe(*turned, scale=LOWER, rule=rule))


FEW = st.lists(st.integers(0, 9), min_size=1, max_size=12)


@given(FEW, FEW, st.integers(0, 3))
def test_crossings_and_gaps_agree_with_their_definition(
    first: list[int], second: list[int], precision: int
) -> None:
    """The last two common steps, neither level, of which different series are the better one; by hand."""
    pair = curve("A", first), curve("B", second, steps=[2.0 * at for at in range(len(second))])
    values = [(2 * at, first[2 * at] - b) for at, b in enumerate(second) if 2 * at < len(first)]
    apart = [(step, gap > 0) for step, gap in values if abs(gap) > precision]
    turns = [(a[0], b[0]) for a, b in pairwise(apart) if a[1] != b[1]]
    found = observe(*pair, rule="crossing", precision=precision)
    assert bool(found) is bool(apart)
    assert [(one.from_step, one.to_step) for one in found if turns] == turns[-1:]
    where = f" at {'all ' if len(apart) == len(values) else ''}{len(apart)}"
    where = f"changes {len(turns)} times" if len(turns) > 1 else " changes between" if turns else where
    assert all(where in one.text for one in found)
    widest = observe(*pair, rule="widest gap", precision=precision)
    largest = max(values, key=lambda one: abs(one[1]))
    assert [one.mark for one in widest] == ([largest[0]] if abs(largest[1]) > precision else [])


@given(FEW, st.integers(0, 3))
def test_a_series_falls_from_its_best_by_more_than_the_precision(values: list[int], precision: int) -> None:
    """The first of its highest readings is marked."""
    found = observe(curve("A", values), rule="fall from best", precision=precision)
    falls = max(values) - values[-1] > precision
    assert [(one.mark, one.to_step) for one in found] == [
        (values.index(max(values)), len(values) - 1)
    ] * falls


def test_what_is_interpolated_is_no_reading() -> None:
    """A mean of runs is read where each run was that has not ended; a pair where both series were."""
    steps = np.arange(6.0)
    runs = [(steps, steps), (steps[[0, 1, 2, 4, 5]], steps[[0, 1, 2, 4, 5]] + 1), (steps[:3], steps[:3])]
    runs[0][1][3] = 99.0
    (best,) = [one for one in find({"A": runs}) if one.rule == "best"]
    assert best.mark == 5
    assert describe_runs([measure({"A": runs})]) == MEANS


# ---- inferences -----------------------------------------------------------------------------------

MEANS = "Readings of several runs are those of their mean."
NUMBERS = re.compile(r"([+−]?[\d.]+) \[([+−]?[\d.]+), ([+−]?[\d.]+)\]")


def read_numbers(text: str) -> list[tuple[float, ...]]:
    """Each value with its interval."""
    return [tuple(float(part.replace("−", "-")) for part in found) for found in NUMBERS.findall(text)]


def test_changes_are_t_tests_by_scipy() -> None:
    """Of the runs' own means of fifths: value, interval, p and Holm's adjustment of four tests."""
    values = np.array([one for _, one in make_runs(3, {"A": 0.5}, 4, n=23)["A"]])
    parts = np.array_split(np.arange(23), 5)
    fifths = np.stack([values[:, part].mean(axis=1) for part in parts], axis=1)
    tests = [stats.ttest_1samp(fifths[:, -1] - fifths[:, part], 0) for part in range(4)]
    p = [float(one.pvalue) for one in tests]
    holm = max((4 - rank) * one for rank, one in enumerate(sorted(p)) if one <= p[0])
    found = find({"A": list(zip([np.arange(23.0)] * 4, values, strict=True))})
    (rise,) = [one for one in found if one.rule == "rise"]
    start, end, change = read_numbers(rise.text)
    assert (start[0], end[0]) == pytest.approx(tuple(fifths.mean(axis=0)[[0, -1]]), abs=5e-4)
    ends = tests[0].confidence_interval()
    assert change == pytest.approx((end[0] - start[0], ends.low, ends.high), abs=2e-3)
    assert holm < 0.001
    assert "adjusted p < 0.001, 4 tests in the block" in rise.threshold


def test_a_difference_at_a_step_is_that_of_claims() -> None:
    """One difference has one interval, whether an observation tells of it or a fact."""
    series = {name: [(np.arange(4.0), np.full(4, end) + shift) for shift in (0, 0.01, 0.03)]
              for name, end in (("A", 0.4), ("B", 0.9))}  # fmt: skip
    (lead,) = [one for one in find(series) if one.rule == "lead"]
    one = compare_curves(*measure(series).curves[::-1], at=3.0)
    assert "B is ahead of A from step 0 on" in lead.text
    assert read_numbers(lead.text)[0] == pytest.approx((one.difference, one.low, one.high), abs=2e-3)


@given(st.floats(0.07, 0.2), st.floats(0.5, 2.0), st.integers(1, 4))
def test_p_at_a_step_is_that_of_scipy(apart: float, wider: float, count: int) -> None:
    """Welch's, of few degrees of freedom and broken ones, times the number of steps with equal p."""
    first, second = np.array([0, 0.01, 0.03]), apart + wider * np.array([0, 0.02, 0.01, 0.025])
    steps = np.arange(float(count))
    series = {
        name: [(steps, np.full(count, end)) for end in ends] for name, ends in (("A", first), ("B", second))
    }
    p = count * float(stats.ttest_ind(first, second, equal_var=False).pvalue)
    leads = [one for one in find(series) if one.rule == "lead"]
    assert [format_equation("adjusted p", format_p(p)) in one.text for one in leads] == [True] * (p < 0.05)


def test_a_run_that_lacks_steps_is_left_out_and_named() -> None:
    """It counts in the fifths whose steps it has; with two left there is no test."""
    steps = np.arange(10.0)
    runs = [(steps, steps * (1 + shift)) for shift in (0, 0.1, 0.3)]
    short = [*runs, (steps[:9], 1 + steps[:9])]
    (rise,) = [one for one in find({"A": short}) if one.rule == "rise"]
    assert "1 of 4 runs lack steps and are left out" in rise.evidence[1]
    inferred = {"rise", "level", "plateau", "decline", "lead", "crossover"}
    assert not [one for one in find({"A": [*runs[:2], short[-1]]}) if one.rule in inferred]


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        ({"A": 1}, "One run: nothing is inferred, since three are needed."),
        ({"A": 1, "B": 1}, "One run of each series: nothing is inferred, since three are needed."),
        (
            {"A": 2, "B": 1},
            f"Two runs of a series at most: nothing is inferred, since three are needed. {MEANS}",
        ),
        (
            {"A": 3, "B": 1},
            f"Nothing is inferred about B: three runs are needed. {MEANS}",
        ),
    ],
)
def test_few_runs_infer_nothing(runs: Mapping[str, int], says: str) -> None:
    """It is said once a block."""
    series = {name: make_runs(1, {name: 0.9}, count)[name] for name, count in runs.items()}
    inferred = {one.series for one in find(series) if one.rule in {"rise", "lead", "decline", "crossover"}}
    assert inferred == {(name,) for name, count in runs.items() if count > 2}
    assert describe_runs([measure(series)]) == says


def test_numbers_of_any_size_are_no_trouble() -> None:
    """Where squares and fourth powers are none any more."""
    for size in (1e-300, 1e-140, 1e140, 1e300):
        rng = np.random.default_rng(6)
        for runs in (1, 3):
            huge = {name: [(np.arange(60.0), size * rng.random(60)) for _ in range(runs)] for name in "AB"}
            assert all(one.text.endswith(".") for one in find(huge))


# ---- scores and order -------------------------------------------------------------------------------


def test_the_order_of_series_changes_no_score_observation() -> None:
    """The same sentences, whichever series comes first."""
    chance = np.random.default_rng(3).random((4, 40, 4))
    right = (chance < np.array([0.8, 0.55, 0.5, 0.2])[:, None, None]).astype(np.float64)
    made = [
        scored(matrix(right[order], series=[f"S{at}" for at in order]))
        for order in ([0, 1, 2, 3], [3, 1, 0, 2])
    ]
    told = [observe_scores(one.scores, one.comparisons, one.groups, SHARE) for one in made]
    assert [one.text for one in told[0]] == [one.text for one in told[1]]
    assert len(told[0]) >= 3
    assert observe_scores((), (), (), SHARE) == ()


def test_the_strongest_of_each_rule_come_first() -> None:
    """Ten falls of one series do not hide a gap."""

    def one(rule: str, series: str, strength: float, step: float) -> Observation:
        return Observation(rule, f"{rule} {series} {step}.", (), "", (series,), strength, "m", step, step)

    falls = [one("fall from best", "A", 8.0 - step, step) for step in range(8)]
    gap, rise = one("widest gap", "B", 0.4, 3), one("rise", "A", 3.0, 1)
    expected = order_observations([*falls, gap, rise])
    assert expected == (rise, falls[0], gap, *falls[1:])
    assert order_observations([rise, gap, *falls[::-1]]) == expected
