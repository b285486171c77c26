"""Of noise a block infers nothing in nineteen of twenty cases, and what is planted it finds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from simulated.observations import (
    CHANGED,
    CHANGED_WALKS,
    LAWS,
    NARROW,
    OTHER_WALKS,
    OTHERS,
    PLANTED,
    WALKS,
    block,
    curve,
    false_block,
    found_in_block,
    inferences,
    white,
)

BLOCKS, PLANTS = 50, 25
MOST_FALSE = 0.05


def most(share: float, of: int) -> float:
    """So many of a share may be found by chance: three standard errors more."""
    return of * share + 3 * math.sqrt(of * share * (1 - share))


@pytest.mark.parametrize("n", [20, 60, 300])
@pytest.mark.parametrize("law", [*LAWS, *CHANGED])
def test_a_block_of_noise_of_one_run_infers_nothing(law: str, n: int) -> None:
    """Two series of one run each."""
    wrong = [seed for seed in range(BLOCKS) if false_block((LAWS | CHANGED)[law], n, 1, seed)]
    assert len(wrong) <= most(MOST_FALSE, BLOCKS), wrong


@pytest.mark.parametrize("n", [20, 60, 300])
@pytest.mark.parametrize("law", [*LAWS, *WALKS, *CHANGED, *CHANGED_WALKS])
def test_a_block_of_noise_of_five_runs_infers_nothing(law: str, n: int) -> None:
    """Also of random walks, where each run wanders its own way."""
    every = LAWS | WALKS | CHANGED | CHANGED_WALKS
    wrong = [seed for seed in range(BLOCKS) if false_block(every[law], n, 5, seed)]
    assert len(wrong) <= most(MOST_FALSE, BLOCKS), wrong


@pytest.mark.parametrize(
    "law", ["AR(2), long", "AR(2), waves", "MA(8)", "Laplace", "sd largest midway", "50 problems, 90%"]
)
def test_a_block_of_other_noise_of_one_run_infers_nothing(law: str) -> None:
    """Waves, and noise that is largest midway: of laws that no test was calibrated with."""
    wrong = [seed for seed in range(BLOCKS) if false_block(OTHERS[law], 60, 1, seed)]
    assert len(wrong) <= most(MOST_FALSE, BLOCKS), wrong


@pytest.mark.parametrize("law", [*OTHERS, *OTHER_WALKS])
def test_a_block_of_other_noise_of_five_runs_infers_nothing(law: str) -> None:
    """Whatever the law: the runs show what their noise is."""
    wrong = [seed for seed in range(BLOCKS) if false_block((OTHERS | OTHER_WALKS)[law], 60, 5, seed)]
    assert len(wrong) <= most(MOST_FALSE, BLOCKS), wrong


@pytest.mark.parametrize(
    ("law", "least", "runs"), [("white", 0.9, 1), ("white", 0.9, 5), ("AR(.9)", 0.75, 5)]
)
@pytest.mark.parametrize("effect", PLANTED)
def test_three_deviations_are_found(effect: str, law: str, least: float, runs: int) -> None:
    """In a block of two series, of which one has it."""
    found = sum(found_in_block(PLANTED[effect], LAWS[law], 100, runs, seed) for seed in range(PLANTS))
    missed = PLANTS - found
    assert missed <= most(1 - least, PLANTS), found


@pytest.mark.parametrize(
    ("law", "least", "runs"), [("white", 0.9, 5), ("AR(.9)", 0.75, 5), ("AR(.9)", 0.75, 1)]
)
@pytest.mark.parametrize("effect", NARROW)
def test_few_readings_that_stand_apart_are_found(effect: str, law: str, least: float, runs: int) -> None:
    """Also of one run, where neighbours are alike: white noise of one run makes such readings itself."""
    found = sum(found_in_block(NARROW[effect], LAWS[law], 100, runs, seed) for seed in range(PLANTS))
    assert PLANTS - found <= most(1 - least, PLANTS), found


def test_a_sentence_is_a_reading_or_an_inference() -> None:
    """Every sentence about fewer than 20 readings of one run says that it is one of readings."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        few = [curve(name, np.cumsum(rng.standard_normal((1, 12)), axis=1)) for name in "ABC"]
        assert not inferences(block(*few))


def test_one_metric_more_asks_for_more() -> None:
    """A block with several metrics shares its error among them."""
    rng = np.random.default_rng(1)
    found = block(curve("A", white(rng, 5, 60)), curve("B", 3 + white(rng, 5, 60)))
    (led,) = [one for one in inferences(found) if one.rule == "crossing"]
    assert "the block asks for p ≤ 0.015" in led.threshold
