"""Rules held to planted curves: what is there is found, and of nothing nothing is said.

Effects are three noise scales; of pure noise at most one field in twenty may make a rule say something false.
What is false of flat curves of the same level is decided rule by rule in ``TRUE_OF_NOTHING``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from planted import EFFECT, KINDS, STEP, dipped, field, flat, length, noisy, risen

from reportgen.observations.field import Field
from reportgen.observations.part_company import part_company
from reportgen.observations.rules import RULES
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from planted import Kind

    from reportgen.statements import Observation

SEEDS, PLANTED_SEEDS = 500, 100
MOST_FALSE, LEAST_FOUND = 0.05, 0.9

# Of flat curves of the same level, what a rule may say; whatever else it says is false. Rules that are not
# here must say nothing: there is no rise, plateau, dip, spike, decline, crossing, gap, convergence, tier,
# difference of volatilities or width of a band to speak of. Leaving it open who is best, starting alike (not
# up to a step, which would say that they differ afterwards) and not changing are true.
TRUE_OF_NOTHING = {
    Rule.SAME_START: r"(?!.* up to ).* start (at|within noise) .*",
    Rule.BEST: r"(?!.*\bends? (highest|lowest)\b)Which of .* cannot be told .*",
    Rule.STEADY: r".*: no change beyond noise\.",
}
"""Patterns of sentences that are true of flat curves."""


@dataclass(frozen=True)
class Planted:
    """A field with something planted, and whether a sentence tells of it."""

    rule: Rule
    field: Field
    told: Callable[[Observation], bool]


def _around(step: float | None, share: float, n: int, within: float = 0.1) -> bool:
    """Whether a step is near a share of the steps."""
    return step is not None and abs(step / STEP / (n - 1) - share) <= within


def _rise(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    start = float(rng.uniform(0.1, 0.5))
    planted = field({"A": risen(n, start, start + 0.2)}, kind, rng)
    return Planted(Rule.RISE, planted, lambda one: _around(one.mark, start + 0.18, n, 0.15))


def _slow_rise(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    planted = field({"A": risen(n, 0.05, 0.2), "B": risen(n, 0.6, 0.75)}, kind, rng)
    return Planted(Rule.RISE, planted, lambda one: one.mark_series == "B" and "; B is slower" in one.text)


def _plateau(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    start = float(rng.uniform(0.2, 0.5))
    planted = field({"A": risen(n, start - 0.1, start)}, kind, rng)
    return Planted(Rule.PLATEAU, planted, lambda one: _around(one.from_step, start, n, 0.2))


def _steady(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    planted = field({"A": risen(n, 0.0, 1.0)}, kind, rng)
    return Planted(Rule.STEADY, planted, lambda one: one.text.startswith("A rises "))


def _dip(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    middle = float(rng.uniform(0.25, 0.75))
    planted = field({"A": dipped(n, middle)}, kind, rng)
    return Planted(Rule.DIP, planted, lambda one: "dips" in one.text and _around(one.mark, middle, n))


def _spike(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    middle = float(rng.uniform(0.25, 0.75))
    planted = field({"A": -dipped(n, middle)}, kind, rng)
    return Planted(Rule.SPIKE, planted, lambda one: _around(one.mark, middle, n))


def _decline(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    start = float(rng.uniform(0.75, 0.9))
    planted = field({"A": -risen(n, start, start + 0.1)}, kind, rng)
    return Planted(Rule.LATE_DECLINE, planted, lambda one: _around(one.from_step, start, n, 0.15))


def _lasting_drop(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    planted = field({"A": -risen(n, 0.3, 0.35)}, kind, rng)
    return Planted(Rule.LATE_DECLINE, planted, lambda one: "stays there" in one.text)


def _unsteady(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    curves = (noisy(flat(n), kind, rng), noisy(flat(n), kind, rng, series="B", spread=EFFECT))
    return Planted(
        Rule.INSTABILITY, Field(curves, Scale("score"), "ci"), lambda one: one.series == ("B", "A")
    )


def _wide_band(n: int, _: Kind, rng: np.random.Generator) -> Planted:
    middle = float(rng.uniform(0.25, 0.75))
    spread = np.where(np.abs(np.linspace(0, 1, n) - middle) <= 0.08, EFFECT, 1.0)
    curve = noisy(flat(n), "five runs", rng, spread=spread)
    return Planted(
        Rule.UNCERTAIN_HERE, Field((curve,), Scale("score"), "ci"), lambda one: _around(one.mark, middle, n)
    )


def _same_start(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    planted = field({"A": flat(n), "B": risen(n, 0.3, 0.5)}, kind, rng)
    return Planted(Rule.SAME_START, planted, lambda one: one.text.startswith("A and B start "))


def _other_start(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    planted = field({"A": flat(n), "B": EFFECT - risen(n, 0.3, 0.5)}, kind, rng)
    return Planted(Rule.SAME_START, planted, lambda one: one.text.startswith("B starts higher than A"))


def _best(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    planted = field({"A": risen(n, 0.2, 0.4), "B": flat(n), "C": flat(n)}, kind, rng)
    return Planted(Rule.BEST, planted, lambda one: one.mark_series == "A")


def _crossing(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    middle = float(rng.uniform(0.35, 0.65))
    turn = EFFECT - risen(n, middle - 0.1, middle + 0.1, 2 * EFFECT)
    planted = field({"A": turn, "B": flat(n)}, kind, rng)
    return Planted(Rule.CROSSING, planted, lambda one: one.text.startswith("The lead changes once: A leads"))


def _gap(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    middle = float(rng.uniform(0.25, 0.75))
    planted = field({"A": dipped(n, middle), "B": flat(n)}, kind, rng)
    return Planted(Rule.WIDEST_GAP, planted, lambda one: _around(one.mark, middle, n))


def _meet(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    planted = field({"A": risen(n, 0.4, 0.7), "B": EFFECT * np.ones(n)}, kind, rng)
    return Planted(Rule.CONVERGE, planted, lambda one: set(one.series) == {"A", "B"})


def _tiers(n: int, kind: Kind, rng: np.random.Generator) -> Planted:
    up = risen(n, 0.2, 0.4)
    planted = field({"A": up, "B": flat(n), "C": up}, kind, rng)
    return Planted(Rule.TIERS, planted, lambda one: one.series[2] == "B" and one.text.startswith("Two"))


PLANTED = [
    *(_rise, _slow_rise, _plateau, _steady, _dip, _spike, _decline, _lasting_drop, _unsteady, _wide_band),
    *(_same_start, _other_start, _best, _crossing, _gap, _meet, _tiers),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("plant", PLANTED, ids=[one.__name__.removeprefix("_") for one in PLANTED])
def test_what_is_planted_is_found(plant: Callable[..., Planted], kind: Kind) -> None:
    """An effect of three noise scales is told, where it is, in nine of ten cases."""
    found = 0
    for seed in range(PLANTED_SEEDS):
        planted = plant(length(seed), kind, np.random.default_rng([seed, 1]))
        found += any(planted.told(one) for one in RULES[planted.rule](planted.field))
    assert found >= LEAST_FOUND * PLANTED_SEEDS, found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", ["rise", "dip", "decline"])
def test_what_moves_is_not_called_flat(shape: str, kind: Kind) -> None:
    """Of an effect of three noise scales "no change beyond noise" is said in one case of twenty at most."""
    shapes = {"rise": lambda n: risen(n, 0.3, 0.5), "dip": lambda n: dipped(n, 0.5)}
    shapes["decline"] = lambda n: -risen(n, 0.8, 0.9)
    wrong = 0
    for seed in range(PLANTED_SEEDS):
        planted = field({"A": shapes[shape](length(seed))}, kind, np.random.default_rng([seed, 3]))
        wrong += any("no change" in one.text for one in RULES[Rule.STEADY](planted))
    assert wrong <= MOST_FALSE * PLANTED_SEEDS, wrong


@pytest.mark.parametrize("kind", KINDS)
def test_what_turns_back_is_not_called_steady(kind: Kind) -> None:
    """A rise that loses half of itself again is called steady in one case of twenty at most."""
    wrong = 0
    for seed in range(PLANTED_SEEDS):
        n = length(seed)
        truth = risen(n, 0.1, 0.3, 2 * EFFECT) - risen(n, 0.6, 0.7)
        planted = field({"A": truth}, kind, np.random.default_rng([seed, 4]))
        wrong += any(one.text.startswith("A rises") for one in RULES[Rule.STEADY](planted))
    assert wrong <= MOST_FALSE * PLANTED_SEEDS, wrong


@pytest.mark.parametrize("kind", KINDS)
def test_of_equal_rises_none_is_slower(kind: Kind) -> None:
    """Two series that rise alike are told apart by their speed in one case of twenty at most."""
    wrong = 0
    for seed in range(2 * PLANTED_SEEDS):
        n = length(seed)
        planted = field(dict.fromkeys("AB", risen(n, 0.2, 0.5)), kind, np.random.default_rng([seed, 5]))
        wrong += any("slower" in one.text for one in RULES[Rule.RISE](planted))
    assert wrong <= MOST_FALSE * 2 * PLANTED_SEEDS, wrong


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_that_part_company_are_found_and_others_are_not(kind: Kind) -> None:
    """One metric that rises while another falls is told in nine of ten cases; of two flat ones nothing."""
    found, wrong = 0, 0
    for seed in range(PLANTED_SEEDS):
        n, rng = length(seed), np.random.default_rng([seed, 6])
        up = field({"A": risen(n, 0.3, 0.8)}, kind, rng, metric="reward")
        down = field({"A": -risen(n, 0.3, 0.8)}, kind, rng, metric="accuracy")
        found += any(one.series == ("A",) for one in part_company([up, down]))
    for seed in range(SEEDS):
        n, rng = length(seed), np.random.default_rng([seed, 7])
        nothing = [field({"A": flat(n)}, kind, rng, metric=metric) for metric in ("reward", "accuracy")]
        wrong += any(True for _ in part_company(nothing))
    assert found >= LEAST_FOUND * PLANTED_SEEDS, found
    assert wrong <= MOST_FALSE * SEEDS, wrong


@cache
def _of_nothing(kind: Kind) -> tuple[dict[Rule, tuple[Observation, ...]], ...]:
    """What each rule says of two or three flat curves of pure noise, for every seed."""
    said = []
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, 2])
        n = length(seed)
        names = ("A", "B", "C")[: 2 + seed % 2]
        nothing = field(dict.fromkeys(names, flat(n)), kind, rng, lower_is_better=seed % 4 == 0)
        said.append({rule: tuple(find(nothing)) for rule, find in RULES.items()})
    return tuple(said)


def _is_true(rule: Rule, observation: Observation) -> bool:
    return rule in TRUE_OF_NOTHING and re.fullmatch(TRUE_OF_NOTHING[rule], observation.text) is not None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES, ids=list(RULES))
def test_of_nothing_nothing_is_said(rule: Rule, kind: Kind) -> None:
    """At most one field of pure noise in twenty makes a rule say something false."""
    false = [[one.text for one in said[rule] if not _is_true(rule, one)] for said in _of_nothing(kind)]
    wrong = [texts for texts in false if texts]
    assert len(wrong) <= MOST_FALSE * SEEDS, (len(wrong), wrong[:5])
