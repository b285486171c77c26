"""How often blocks of observations on two series infer something from noise, and find what is planted."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from simulated.observations import (
    CHANGED,
    CHANGED_WALKS,
    EVERY_LAW,
    LAWS,
    OTHER_WALKS,
    OTHERS,
    PLANTED,
    WALKS,
    false_block,
    found_in_block,
)
from simulation import Row, Setting, Task, format_share

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCKS, _PLANTS = {True: 120, False: 40}, {True: 50, False: 25}
_LENGTHS = (14, 60, 300)
_RUNS = (3, 5)
_USUAL = (*LAWS, *CHANGED, *WALKS, *CHANGED_WALKS)
_OTHERS = (*OTHERS, *OTHER_WALKS)
_MUST = {5: "≥ 72% at 14", 3: "as found"}  # 18 of 25; more single steps are more tests
_PLANTED_IN = {"usual": ("white", "AR(.9)"), "other": ("Laplace", "GARCH")}


def plan(setting: Setting) -> list[Row]:
    """Return the rows of what, measured, and what it must be."""
    return [_plan_single(setting), *_plan_false(setting), *_plan_found(setting)]


def _plan_single(setting: Setting) -> Row:
    """The number of blocks with an inference, from single runs of 100 readings."""
    blocks, laws = _BLOCKS[setting.full], ("GARCH", "AR(2), long", "random walk")
    tasks = [Task(count_false, (setting, law, 100, 1, blocks)) for law in laws]
    what = f"blocks with any inference, one run of 100 readings each, {', '.join(laws)}"
    return Row(what, "0", tasks, lambda counts: f"{', '.join(map(str, counts))} of {blocks} each")


def _plan_false(setting: Setting) -> list[Row]:
    """The share of blocks with any false inference, by runs and law, at each length and at all."""
    blocks = _BLOCKS[setting.full]
    return [
        Row(
            f"blocks with a false inference, {runs} runs each, {law}",
            "≤ 5%",
            [Task(count_false, (setting, law, n, runs, blocks)) for n in _LENGTHS],
            lambda wrong: _describe(wrong, blocks),
        )
        for runs, law in product(_RUNS, _OTHERS if setting.is_other else _USUAL)
    ]


def count_false(setting: Setting, law: str, n: int, runs: int, blocks: int) -> int:
    """Return how many blocks of nothing but noise infer something."""
    first = setting.derive_seed("false", law, n, runs)
    return sum(bool(false_block(EVERY_LAW[law], n, runs, seed)) for seed in range(first, first + blocks))


def _describe(counts: Sequence[int], times: int) -> str:
    every = format_share(sum(counts), times * len(counts))
    shares = [f"{n}: {format_share(count, times)}" for n, count in zip(_LENGTHS, counts, strict=True)]
    return f"{', '.join(shares)}; all: {every}%"


def _plan_found(setting: Setting) -> list[Row]:
    """The share of planted effects of four standard deviations that are found, by runs and law."""
    times = _PLANTS[setting.full]
    return [
        Row(
            f"{name}, 4 deviations, {runs} runs each, {law}",
            _MUST[runs],
            [Task(count_planted, (setting, name, law, (n, runs), times)) for n in _LENGTHS],
            lambda found: _describe(found, times),
        )
        for runs, name, law in product(_RUNS, PLANTED, _PLANTED_IN[setting.generators])
    ]


def count_planted(setting: Setting, name: str, law: str, size: tuple[int, int], times: int) -> int:
    """Return in how many blocks a planted effect is found."""
    n, runs = size
    first = setting.derive_seed("found", name, law, n, runs)
    return sum(
        found_in_block(PLANTED[name], EVERY_LAW[law], n, runs, seed) for seed in range(first, first + times)
    )
