"""Simulated curves: bands, peaks and leaders cover what they say, and blocks find what is planted alone.

Of noise a block infers nothing in nineteen of twenty cases.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from simulated.curves import (
    Coverage,
    bands_without_width,
    coverage,
    drawn,
    leaders_among_equals,
    readings,
    shape,
)
from simulated.observations import (
    CHANGED,
    CHANGED_WALKS,
    LAWS,
    OTHER_WALKS,
    OTHERS,
    PLANTED,
    WALKS,
    block,
    curve,
    false_block,
    found_in_block,
    inferences,
    walk,
)

from reportgen.statistics.curves.bands import measure_search
from reportgen.statistics.curves.mean_curves import summarise_curves

_DRAWS = 150
# Three standard errors of a share of 0.95 in so many draws.
_ERROR = 3 * np.sqrt(0.95 * 0.05 / _DRAWS)


def _cells(noise: str, mean: str) -> dict[tuple[int, int], Coverage]:
    return {
        (runs, steps): coverage(noise, mean, runs, steps, draws=_DRAWS)
        for runs in (3, 5, 10)
        for steps in (14, 50, 200)
    }


@pytest.mark.parametrize(
    ("noise", "mean"),
    [("white", "flat"), ("AR(.9)", "hump"), ("run offsets", "flat"), ("accuracies", "hump")],
)
def test_a_simultaneous_band_and_peak_cover_what_they_say(noise: str, mean: str) -> None:
    """At 14, 50 and 200 steps, with 3, 5 and 10 runs; of steps that correlate it may be more."""
    cells = _cells(noise, mean)
    for cell, found in cells.items():
        assert found.band > 0.95 - _ERROR, cell
        assert found.picked > 0.95 - _ERROR, cell
        assert found.highest > 0.95 - _ERROR, cell
    shares = np.array([(one.band, one.picked, one.highest) for one in cells.values()]).mean(axis=0)
    assert np.all(shares > 0.93)
    if noise == "white":
        assert shares[0] < 0.975


def test_the_interval_of_a_step_is_none_of_a_picked_step() -> None:
    """What it would cover is why it is not printed."""
    shares = [coverage("white", "flat", 5, steps, draws=_DRAWS).plain for steps in (14, 50, 200)]
    assert shares == sorted(shares, reverse=True)
    assert 0.7 < shares[0] < 0.88
    assert shares[2] < 0.55


def test_a_peak_has_no_interval_unless_it_is_asked_for() -> None:
    """Neither of the mean nor of a single run."""
    values, _ = readings(np.random.default_rng(1), "white", shape("hump", 30), 5)
    for runs in (values, values[:1]):
        (ending,) = summarise_curves(drawn(runs))
        assert (ending.peak.low, ending.peak.high, ending.readings) == (None, None, 30)


@pytest.mark.parametrize("noise", ["white", "failing seeds", "accuracies"])
@pytest.mark.parametrize("series", [2, 4])
def test_equal_series_have_no_leader(noise: str, series: int) -> None:
    """In all but one of twenty draws, with 2, 3 and 5 runs a side."""
    for runs in (2, 3, 5):
        assert leaders_among_equals(noise, series, runs, draws=400) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)


def test_no_band_is_without_width() -> None:
    """Of accuracies of 30 problems two runs are equal at a fifth of the steps: there is no band there."""
    equal, banded = bands_without_width(2, draws=50)
    assert 0.1 < equal < 0.3
    assert banded == 0


BLOCKS, PLANTS = 35, 25
MOST_FALSE = 0.05
EVERY = LAWS | CHANGED | WALKS | CHANGED_WALKS | OTHERS | OTHER_WALKS


def most(share: float, of: int) -> float:
    """So many of a share may be found by chance: three standard errors more."""
    return of * share + 3 * math.sqrt(of * share * (1 - share))


@pytest.mark.parametrize("runs", [3, 5])
@pytest.mark.parametrize("law", EVERY)
def test_a_block_of_noise_infers_nothing(law: str, runs: int) -> None:
    """At each of three lengths, and in all together, also of random walks: each run wanders its own way."""
    wrong = {
        n: [seed for seed in range(BLOCKS) if false_block(EVERY[law], n, runs, seed)] for n in (14, 60, 300)
    }
    assert max(map(len, wrong.values())) <= most(MOST_FALSE, BLOCKS), wrong
    assert sum(map(len, wrong.values())) <= most(MOST_FALSE, BLOCKS * len(wrong)), wrong


@pytest.mark.parametrize("law", ["white", "AR(.9)"])
@pytest.mark.parametrize("effect", PLANTED)
def test_four_deviations_are_found(effect: str, law: str) -> None:
    """In a block of two series with five runs and 14 steps, of which one has it: 18 of 25."""
    found = sum(found_in_block(PLANTED[effect], LAWS[law], 14, 5, seed) for seed in range(PLANTS))
    assert found >= 18


def test_one_run_infers_nothing() -> None:
    """Nor do two, whatever they show."""
    for runs in (1, 2):
        rng = np.random.default_rng(runs)
        assert not inferences(block(*(curve(name, walk(rng, runs, 60)) for name in "ABC")))


@pytest.mark.parametrize(("attempts", "baselines", "again"), [(60, 3, 0), (20, 5, 1), (60, 2, 3), (10, 1, 3)])
def test_the_best_of_equal_attempts_is_rarely_beyond_luck(attempts: int, baselines: int, again: int) -> None:
    """At most 5% of 10,000 searches in noise; later repetitions of the best have a 95% interval."""
    rng, searches = np.random.default_rng(20261201), 10_000
    beyond, covered, given = 0, 0, 0
    for _ in range(searches):
        values = [rng.normal(size=baselines).tolist(), *([one] for one in rng.normal(size=attempts).tolist())]
        best = max(range(len(values)), key=lambda place: values[place][0])
        if best:
            values[best] += rng.normal(size=again).tolist()
        found = measure_search(values, best)
        beyond += found.beyond_luck is True
        if found.repeated and found.repeated.low is not None and found.repeated.high is not None:
            given += 1
            covered += found.repeated.low <= 0 <= found.repeated.high
    assert beyond / searches <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / searches)
    assert not given or 0.93 <= covered / given <= 0.97
