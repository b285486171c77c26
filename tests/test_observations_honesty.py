"""What a reviewer asks of observations: true of realistic curves, and at one with each other and with claims.

Rewards that rise and stay, losses that fall over decades, noise that is alike from step to step, that grows
or shrinks, runs that end early: what is said of them is what is known, and no sentence contradicts another.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from reportgen.claims.observations.choosing import observe_curves
from reportgen.claims.observations.thresholds import Threshold, format_scientific
from reportgen.claims.subjects import CurveSubject
from reportgen.core.model import ReducedMetric, Run
from reportgen.core.statements import Scale
from reportgen.settings.block_parts import Rule
from reportgen.statistics.curves.mean_curves import compute_curves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.model import CurveSet, FloatArray
    from reportgen.core.statements import Observation

HIGHER, LOWER = Scale("reward"), Scale("loss", higher_is_better=False)
SEEDS = 40


def measured(series: Mapping[str, Sequence[tuple[FloatArray, FloatArray]]]) -> CurveSet:
    """Curves of some runs, each with its steps and values, as a report draws them."""
    runs = tuple(
        Run(name, str(seed), str(seed), steps.astype(np.float64), values)
        for name, each in series.items()
        for seed, (steps, values) in enumerate(each)
    )
    return compute_curves(ReducedMetric("reward", runs, 0, 0, None, None))


def found(
    series: Mapping[str, Sequence[tuple[FloatArray, FloatArray]]], scale: Scale = HIGHER
) -> list[Observation]:
    """All that rules find in these runs."""
    return list(observe_curves([(measured(series), scale)]))


def texts(
    series: Mapping[str, Sequence[tuple[FloatArray, FloatArray]]], rule: Rule, scale: Scale = HIGHER
) -> list[str]:
    """The sentences of one rule."""
    return [one.text for one in found(series, scale) if one.rule == rule]


def rising(steps: FloatArray, end: float, tau: float) -> FloatArray:
    """A reward that rises from 0.2 and saturates."""
    return 0.2 + (end - 0.2) * (1 - np.exp(-steps / tau))


STEPS = np.arange(300.0)


def several(
    seed: int, ends: Mapping[str, float], runs: int, *, n: int = 60
) -> dict[str, list[tuple[FloatArray, FloatArray]]]:
    """Runs of rewards with noise between runs and between steps."""
    rng, steps = np.random.default_rng(seed), np.arange(float(n))
    return {
        name: [
            (steps, rising(steps, end, n / 6) + rng.normal(0, 0.02) + rng.normal(0, 0.02, n))
            for _ in range(runs)
        ]
        for name, end in ends.items()
    }


# ---- noise that changes, spikes, decades -----------------------------------------------------------


def test_a_spike_of_one_step_in_a_long_loss_is_found() -> None:
    """Step 618 of 1,000, where nothing else happens."""
    steps = np.arange(1.0, 1001.0)
    loss = (10 * steps**-0.5 + 1) * np.exp(np.random.default_rng(6).normal(0, 0.02, 1000))
    loss[617] += 2.5
    (told,) = texts({"run": [(steps, loss)]}, Rule.SPIKE, LOWER)
    assert re.match(r"run spikes from 1\.\d+ at step 617 to 3\.\d+ at step 618; by step 619 it is ", told)


def test_a_loss_that_still_falls_is_no_plateau() -> None:
    """Its late fall is less than 1% of where it came from, and still more than noise."""
    steps = np.arange(1.0, 1001.0)
    loss = (10 * steps**-0.5 + 1) * np.exp(np.random.default_rng(7).normal(0, 0.02, 1000))
    assert texts({"run": [(steps, loss)]}, Rule.PLATEAU, LOWER) == []


# ---- runs ------------------------------------------------------------------------------------------


def _groups(text: str) -> list[list[str]]:
    """The series of each group of a sentence about groups."""
    return [re.findall(r"\b([A-F])\b", part) for part in text.split(": ", 1)[1].split(";")]


@pytest.mark.parametrize("runs", [2, 3, 5, 10])
def test_sentences_about_the_end_say_what_claims_say(runs: int) -> None:
    """Who ends best, who is unclear, and groups, against ``better`` and ``unclear`` of the facts."""
    decided = 0
    for seed in range(25):
        rng = np.random.default_rng([seed, runs])
        names = "ABCDEF"[: int(rng.integers(2, 6))]
        made = measured(several(seed, {name: 0.6 + 0.03 * rng.normal() for name in names}, runs))
        subject = CurveSubject(made, HIGHER)
        better = {(a, b) for a in names for b in names if a != b and subject.fact("better", (a, b)).value}
        unclear = {pair for pair in combinations(names, 2) if subject.fact("unclear", pair).value}
        unclear |= {(b, a) for a, b in unclear}
        for one in observe_curves([(made, HIGHER)]):
            first = re.search(r"\b([A-F])(?: \([^)]*\))? ends highest", one.text)
            if first:
                decided += 1
                assert {(first[1], other) for other in names if other != first[1]} <= better, one.text
            open_ = re.search(r"last readings are (.*): no clear winner", one.text)
            if open_:
                who = re.findall(r"\b([A-F]) \(", open_[1])
                assert {(who[0], other) for other in who[1:]} <= unclear, one.text
            if one.rule == Rule.TIERS:
                pairs = combinations(_groups(one.text), 2)
                assert {(a, b) for above, below in pairs for a in above for b in below} <= better, one.text
            if one.rule == Rule.SAME_START and "to the end" in one.text:
                assert not better, one.text
            if one.rule == Rule.CONVERGE:
                assert {(one.series[0], other) for other in one.series[1:]} <= unclear, one.text
    assert decided or runs < 5


def test_two_runs_that_rise_are_not_called_unchanged() -> None:
    """The band of two runs is wide beyond measure; what both do is told."""
    told = found(several(1, {"A": 0.7, "B": 0.76}, 2, n=200))
    assert any(one.rule == Rule.RISE for one in told)


def test_runs_that_end_early_are_told() -> None:
    """A band is wide where one of three runs has ended, and who ends is told where it ends."""
    rng = np.random.default_rng(3)
    ended = [(STEPS[:end], rng.normal(0.5, 0.02, end)) for end in (300, 300, 150)]
    (wide,) = texts({"A": ended}, Rule.UNCERTAIN_HERE)
    assert wide.endswith("with 2 of its 3 runs.")
    short = {"A": [(STEPS, np.full(300, 0.5))], "B": [(STEPS[:100], np.full(100, 0.5))]}
    assert texts(short, Rule.SAME_START) == [
        "The first readings of A and B are 0.5 at step 0, and they read the same up to step 99."
    ]


def test_leads_of_three_say_who_is_absent() -> None:
    """B ends before A is said to lead."""
    three = {
        "A": [(STEPS, np.full(300, 0.5))],
        "B": [(STEPS[:100], np.full(100, 0.7))],
        "C": [(STEPS, np.full(300, 0.3))],
    }
    (told,) = [one for one in texts(three, Rule.CROSSING) if " is ahead" in one]
    assert told.startswith("By the readings alone, B is ahead from step 0 to 99, A from step 100 on")
    assert told.endswith("; B ends at step 99.")


# ---- words -----------------------------------------------------------------------------------------


def test_series_that_do_not_change_are_told_as_they_are() -> None:
    """Equal constants are the same; nothing is undecided, nothing is infinitely calmer than another."""
    steps = np.arange(50.0)
    same = found({name: [(steps, np.full(50, 0.5))] for name in "AB"})
    assert [one.text for one in same] == [
        "The first readings of A and B are 0.5 at step 0, and they read the same to the end.",
        "All readings of A are 0.5, from step 0 to step 49.",
        "All readings of B are 0.5, from step 0 to step 49.",
    ]
    moving = rising(steps, 0.8, 8) + np.random.default_rng(1).normal(0, 0.01, 50)
    told = found({"flat": [(steps, np.full(50, 0.5))], "moves": [(steps, moving)]})
    assert not any(one.rule == Rule.INSTABILITY for one in told)
    assert any(one.text == "All readings of flat are 0.5, from step 0 to step 49." for one in told)


def test_small_numbers_are_written_with_an_exponent() -> None:
    """All or none of a figure's."""
    assert [format_scientific(value, 7) for value in (1.6e-6, 0.0, 4e-9, 2.98e-4)] == [
        "1.6e−6",
        "0",
        "0",
        "2.980e−4",
    ]
    falling = 1e-6 * (2 + 6 * np.exp(-STEPS / 40) + np.random.default_rng(4).normal(0, 0.1, 300))
    for one in found({"A": [(STEPS, falling)]}, LOWER):
        assert "0.000" not in f"{one.text} {' '.join(one.evidence)} {one.threshold}"


def test_an_effect_and_its_threshold_never_read_the_same() -> None:
    """Digits are added until they differ."""
    assert Threshold(0.0652, "half the band").describe(0.0653) == "0.0653 is more than 0.0652, half the band"
    assert Threshold(0.0652, "half the band").describe(0.2) == "0.2 is more than 0.065, half the band"


def test_one_name_is_never_left_out() -> None:
    """Of seven names seven are told, where six would leave one more."""
    steps = np.array([0.0, 250.0, 500.0, 1000.0])
    values = np.array([20.0, 50.0, 60.0, 60.0])
    eight = {f"model {at}": [(steps, values + 7 * at)] for at in range(7)}
    eight["late"] = [(steps, np.array([20.0, 20.0, 20.0, 90.0]))]
    (told,) = texts(eight, Rule.RISE)
    assert "rise: model 0, model 1, model 2, model 3, model 4, model 5 and model 6 by step" in told


def test_one_series_stands_apart_in_the_singular() -> None:
    """And several stand."""
    steps = np.array([0.0, 1.0])
    three = {name: [(steps, np.array([start, 5.0]))] for name, start in (("A", 9.0), ("B", 2.0), ("C", 1.0))}
    assert texts(three, Rule.SAME_START) == [
        "The first readings differ: at step 0 A (9) stands apart from B (2) and C (1)."
    ]


def test_every_sentence_rests_on_something() -> None:
    """Also one about leads of many series of which nobody leads to the end."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        many = {
            name: [(STEPS[:80], rising(STEPS[:80], 0.6 + 0.05 * rng.normal(), 20) + rng.normal(0, 0.02, 80))]
            for name in "ABCDE"
        }
        for one in found(many):
            assert one.evidence, one.text
            assert one.threshold, one.text


def test_numbers_of_any_size_are_no_trouble() -> None:
    """Where squares and fourth powers are none any more."""
    for size in (1e-300, 1e-140, 1e140, 1e300):
        rng = np.random.default_rng(6)
        for runs in (1, 3):
            huge = {name: [(STEPS[:60], size * rng.random(60)) for _ in range(runs)] for name in "AB"}
            assert all(one.text.endswith(".") for one in found(huge))


def test_who_is_best_is_told_first() -> None:
    """Also where it is open: that is what a reader asks."""
    two = several(4, {"A": 0.7, "B": 0.7}, 5)
    assert found(two)[0].rule == Rule.BEST
