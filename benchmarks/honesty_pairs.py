"""How often clear pairs are found beside series that are unlike them: few answers, a copy, unstable seeds."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from made_outcomes import matrix
from simulated.answers import DIFFICULTIES, SHIFTS, TASTES, answer
from simulation import Row, Setting, Task, format_share

from reportgen.core.comparisons import Verdict
from reportgen.statistics.compare import compare_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import FloatArray

_TIMES = {True: 60, False: 20}
# Law of difficulty, of tastes, and of what distinguishes seeds.
_LAWS = {"usual": ("normal", "normal", "normal"), "other": ("Gumbel", "Laplace", "two camps")}


def plan(setting: Setting) -> list[Row]:
    """Return the rows of what, measured, and what it must be."""
    times = _TIMES[setting.full]

    def plan_row(what: str, must: str, count: Callable[..., int]) -> Row:
        return Row(
            what,
            must,
            [Task(count, (setting, times))],
            lambda found: f"{format_share(found[0], times)}%",
        )

    return [
        plan_row("best of 5 models, 20 points ahead on 500 problems: found", "≥ 95%", count_five),
        plan_row("the same beside a sixth with 12 of the problems: found", "≥ 95%", count_sixth),
        plan_row("own model 4 points above its near-copy, among 8 others: found", "≥ 90%", count_copy),
        plan_row("all 6 pairs of 4 stable methods × 4 seeds: found", "≥ 85%", count_stable),
        plan_row("the same beside an unstable fifth: found", "≥ 85%", count_unstable),
    ]


def count_five(setting: Setting, times: int, known: int = 500) -> int:
    """Return how often the best of five models is found better than each of the others.

    If ``known`` is below 500, a sixth model has answered only as many problems.
    """
    law, tastes, _ = _LAWS[setting.generators]
    rng, found = setting.make_rng("five", known), 0
    for _ in range(times):
        chance = _draw_chances(rng, law, tastes, [1.4, 0, 0, 0, 0, 0])
        values = (rng.random(chance.shape) < chance)[..., np.newaxis].astype(np.float64)
        values[5, known:] = np.nan
        pairs = compare_all(matrix(values if known < values.shape[1] else values[:5]))
        found += all(one.verdict is Verdict.BETTER for one in pairs if one.a == "A" and one.b != "F")
    return found


def count_sixth(setting: Setting, times: int) -> int:
    """Return the same beside a sixth model with few answers."""
    return count_five(setting, times, 12)


def _draw_chances(rng: np.random.Generator, law: str, tastes: str, abilities: Sequence[float]) -> FloatArray:
    """Draw the chances of right answers by models, each with a taste of its own, to 500 problems."""
    liked = TASTES[tastes](rng, (len(abilities), 500)) + np.array(abilities)[:, np.newaxis]
    chance: FloatArray = 1 / (1 + np.exp(-DIFFICULTIES[law](rng, 500) - liked))
    return chance


def count_copy(setting: Setting, times: int) -> int:
    """Return how often a model is found better than a copy that has 4 points less on every problem."""
    law, tastes, _ = _LAWS[setting.generators]
    rng, found = setting.make_rng("copy"), 0
    for _ in range(times):
        chance = _draw_chances(rng, law, tastes, [0.0] * 10)
        chance[0] = np.clip(chance[0], 0.04, 1)
        chance[1] = chance[0] - 0.04
        values = rng.random((*chance.shape, 16)) < chance[..., np.newaxis]
        found += _find(compare_all(matrix(values.astype(np.float64))), [("A", "B")])
    return found


def count_stable(setting: Setting, times: int, unstable: float | None = None) -> int:
    """Return how often four methods that differ are all told apart, with a fifth if it is ``unstable``."""
    law, tastes, shape = _LAWS[setting.generators]
    abilities = [-1.5, -0.5, 0.5, 1.5] + [0.0] * (unstable is not None)
    deviations = np.array([0.1, 0.1, 0.1, 0.1, unstable or 0.0])[: len(abilities)]
    rng, found = setting.make_rng("stable", unstable), 0
    for _ in range(times):
        problems = DIFFICULTIES[law](rng, 100) + 0.5 * TASTES[tastes](rng, (len(abilities), 100))
        seeds = deviations[:, np.newaxis] * SHIFTS[shape](rng, (len(abilities), 4))
        logits = problems[:, np.newaxis] + (np.array(abilities)[:, np.newaxis] + seeds)[..., np.newaxis]
        names = [f"m{place:02}" for place in range(4)]
        found += _find(compare_all(answer(rng, logits, 4)), list(combinations(names, 2)))
    return found


def count_unstable(setting: Setting, times: int) -> int:
    """Return the same beside a fifth method whose seeds differ by far more."""
    return count_stable(setting, times, 1.5)


def _find(found: Sequence[Comparison], pairs: Sequence[tuple[str, str]]) -> bool:
    """Return whether each of these pairs has a verdict."""
    clear = {(one.a, one.b) for one in found if one.verdict in {Verdict.BETTER, Verdict.WORSE}}
    return all(pair in clear for pair in pairs)
