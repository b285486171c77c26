"""Changes with a known truth: how often intervals of a review hold it, and how often nothing gets a verdict.

Runs are draws of one distribution; the runs of a benchmark differ by a common shift of every item's chance.
Items have chances of their own, and a state is another set of answers to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.review.comparison.effects import (
    ALPHA,
    Effect,
    ItemChanges,
    ItemSides,
    RunGroups,
    adjust_family,
    estimate_over_runs,
)
from reportgen.statistics.permutation_tests import count_draws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.core.model import FloatArray
    from reportgen.statistics.permutation_tests import Hypothesis

_LEVEL, _SAMPLES = 0.95, 4

RUNS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(-(3**0.5), 3**0.5, n),
    "t(5)": lambda rng, n: rng.standard_t(5, n) / (5 / 3) ** 0.5,
}
"""Laws of the mean of a run."""

CHANCES: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "beta": lambda rng, n: rng.beta(0.6, 0.4, n),
    "logit t(3)": lambda rng, n: 1 / (1 + np.exp(-0.5 - 1.2 * rng.standard_t(3, n))),
}
"""Laws of the chance that an item is solved."""


class Laws(NamedTuple):
    """Names of the laws of runs and of items."""

    runs: str = "normal"
    chances: str = "beta"


USUAL = Laws()


class Overlap(NamedTuple):
    """How many runs two states do not share, and share."""

    removed: int
    shared: int
    added: int


class Shares(NamedTuple):
    """Of simulated changes: intervals that hold the truth, and those that have an interval."""

    covered: float
    known: float


def draw_runs(
    rng: np.random.Generator, overlap: Overlap, spread: float = 1.0, laws: Laws = USUAL
) -> RunGroups:
    """Runs of two states between which nothing changed; ``spread`` is that of added runs by the others'."""
    removed, shared, added = (RUNS[laws.runs](rng, count) for count in overlap)
    return RunGroups(removed, shared, added * spread)


def cover_runs(
    overlap: Overlap, *, draws: int, seed: int = 0, difference: float = 0.0, laws: Laws = USUAL
) -> Shares:
    """How often the interval holds ``difference``, by which all added runs are better; 0 if any is shared."""
    rng = np.random.default_rng([seed, *overlap])
    held = []
    for _ in range(draws):
        groups = draw_runs(rng, overlap, laws=laws)
        effect = estimate_over_runs(groups._replace(added=groups.added + difference), _LEVEL)
        if effect.low is not None and effect.high is not None:
            held.append(effect.low <= difference <= effect.high)
    return Shares(float(np.mean(held)) if held else 0.0, len(held) / draws)


def draw_items(
    rng: np.random.Generator, overlap: Overlap, items: int, shift: float = 0.0, laws: Laws = USUAL
) -> ItemSides:
    """One series on one benchmark between whose states nothing changed; ``shift`` is what a run adds."""
    chance = CHANCES[laws.chances](rng, items)
    groups = []
    for count in overlap:
        moved = np.clip(chance + shift * RUNS[laws.runs](rng, count)[:, None], 0, 1)
        groups.append(rng.binomial(_SAMPLES, moved) / _SAMPLES)
    removed, shared, added = groups
    before, after = np.concatenate([shared, removed]), np.concatenate([shared, added])
    return ItemSides("A", before.mean(axis=0), after.mean(axis=0), RunGroups(removed, shared, added))


def cover_items(
    overlap: Overlap, items: int, *, draws: int, seed: int = 0, shift: float = 0.0, laws: Laws = USUAL
) -> Shares:
    """How often the interval holds 0 where nothing changed but runs and answers."""
    rng = np.random.default_rng([seed, items, *overlap])
    names = [f"item {number}" for number in range(items)]
    held = []
    for _ in range(draws):
        sides = draw_items(rng, overlap, items, shift, laws)
        if not sides.runs.are_paired_by_item:
            effect = estimate_over_runs(RunGroups(*(group.mean(axis=1) for group in sides.runs)), _LEVEL)
        else:
            effect = ItemChanges("exam", names, (0, 1), [sides], 0).estimate(0, _LEVEL)
        if effect.low is not None and effect.high is not None:
            held.append(effect.low <= 0 <= effect.high)
    return Shares(float(np.mean(held)) if held else 0.0, len(held) / draws)


def count_verdicts(effects: Sequence[Effect], hypotheses: Sequence[Hypothesis | None], draws: int) -> int:
    """How many of a family get a verdict."""
    adjusted = adjust_family(effects, hypotheses, draws).adjusted
    clear = zip(adjusted, effects, strict=True)
    return sum(p is not None and p < ALPHA and effect.excludes_zero for p, effect in clear)


def find_false_verdicts(
    overlaps: Sequence[Overlap],
    *,
    numbers: int,
    draws: int,
    seed: int = 0,
    items: int = 0,
    laws: Laws = USUAL,
) -> float:
    """The share of changes of so many numbers that give any verdict where nothing changed.

    Numbers are means of runs or, where there are ``items``, scores of one benchmark over these, for which the
    ``overlaps`` have no shared run. One run a side is about these very runs, which differ by answers alone.
    """
    rng = np.random.default_rng([seed, numbers, items])
    names = [f"item {number}" for number in range(items)]
    chosen = [overlaps[number % len(overlaps)] for number in range(numbers)]
    chances, wrong = count_draws(numbers), 0
    for _ in range(draws):
        hypotheses: list[Hypothesis | None] = [None] * numbers
        if items:
            shifts = [0.0 if one.added == 1 else 0.05 for one in chosen]
            both = zip(chosen, shifts, strict=True)
            sides = [draw_items(rng, one, items, by, laws) for one, by in both]
            changes = ItemChanges("exam", names, (0, 1), sides, chances)
            effects = [changes.estimate(place, _LEVEL) for place in range(numbers)]
            hypotheses = [changes.make_hypothesis(place) for place in range(numbers)]
        else:
            effects = [estimate_over_runs(draw_runs(rng, one, laws=laws), _LEVEL) for one in chosen]
        wrong += count_verdicts(effects, hypotheses, chances) > 0
    return wrong / draws
