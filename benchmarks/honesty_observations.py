"""How often blocks of observations on two series infer something from noise, and find what is planted."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from honesty_observers import find_at_most, find_by_knowing, find_by_learning
from simulated.observations import (
    CHANGED,
    CHANGED_WALKS,
    EVERY_LAW,
    LAWS,
    NARROW,
    OTHER_PLANTED,
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

_BLOCKS, _PLANTS = {True: 150, False: 20}, {True: 40, False: 15}
_LENGTHS = {True: (20, 30, 60, 100, 300, 1000), False: (20, 60, 300)}
_FROM = {True: (60, 100, 300, 1000), False: (60, 100)}
# A random walk of one run is a trend: of five each wanders its own way.
_LISTED = {1: tuple(LAWS), 5: (*LAWS, *WALKS)}
_UNLISTED = {1: tuple(CHANGED), 5: (*CHANGED, *CHANGED_WALKS)}
_OTHERS = {1: tuple(OTHERS), 5: (*OTHERS, *OTHER_WALKS)}
_MUST = {
    "usual": {"white": "≥ 90%", "AR(.9)": "≥ 75%"},
    "other": {"white": "≥ 90%", "Laplace": "≥ 90%", "AR(2), waves": "≥ 75%"},
}
_STRENGTH = {"white": 0.0, "AR(.9)": 0.9}  # noise whose law an observer can know
_EVERY_PLANT = PLANTED | NARROW | OTHER_PLANTED
_ANY_TEST, _ANY_WIDTH = "any test at most", "any test at most on average over widths"
_SHORT = 100  # the most readings at which observers are simulated


def plan(setting: Setting) -> list[Row]:
    """Return the rows of what, measured, and what it must be."""
    return [*_plan_false(setting), *_plan_found(setting)]


def _plan_false(setting: Setting) -> list[Row]:
    """The share of blocks with any false inference, by runs and law, at each length and at all."""
    rows = []
    blocks = _BLOCKS[setting.full]
    for runs in (1, 5):
        laws = _OTHERS[runs] if setting.is_other else (*_LISTED[runs], *_UNLISTED[runs])
        for law in laws:
            lengths = _LENGTHS[setting.full and law not in _UNLISTED[runs]]
            rows.append(
                Row(
                    f"blocks with a false inference, {_count_runs(runs)}, {law}",
                    "≤ 5%",
                    [Task(count_false, (setting, law, n, runs, blocks)) for n in lengths],
                    lambda wrong, lengths=lengths: _describe(lengths, wrong, blocks),  # type: ignore[misc]
                )
            )
    return rows


def _count_runs(runs: int) -> str:
    return f"{runs} run{'s' * (runs > 1)} each"


def count_false(setting: Setting, law: str, n: int, runs: int, blocks: int) -> int:
    """Return how many blocks of nothing but noise infer something."""
    first = setting.derive_seed("false", law, n, runs)
    return sum(bool(false_block(EVERY_LAW[law], n, runs, seed)) for seed in range(first, first + blocks))


def _describe(lengths: Sequence[int], counts: Sequence[int], times: int) -> str:
    every = format_share(sum(counts), times * len(counts))
    shares = [f"{n}: {format_share(count, times)}" for n, count in zip(lengths, counts, strict=True)]
    return f"{', '.join(shares)}; all: {every}%"


def _plan_found(setting: Setting) -> list[Row]:
    """The share of planted effects that are found, by runs and law, at each length.

    Next to it, what likelihood ratio tests find at the same error: of an observer who knows the law of the
    noise and the effect's shape; for one run, of one who has to estimate the autocorrelation; and of one who
    has to find the width of the effect as well; and what no test exceeds.
    """
    rows = []
    lengths = _FROM[setting.full]
    plants = OTHER_PLANTED if setting.is_other else PLANTED | NARROW
    for runs, name, (law, must) in product((1, 5), plants, _MUST[setting.generators].items()):
        times = _PLANTS[setting.full]
        tasks = [Task(count_planted, (setting, name, law, (n, runs), times)) for n in lengths]
        kinds: list[str] = []
        if law in _STRENGTH:
            for kind in _list_observers(name, runs):
                if kind in {_ANY_TEST, _ANY_WIDTH} and _STRENGTH[law]:
                    continue  # a bound of white noise
                kinds += [f"{kind}, {n}" for n in lengths if n <= _SHORT]
                tasks += [
                    Task(observe, (setting, kind, name, law, (n, runs))) for n in lengths if n <= _SHORT
                ]

        def describe(found: list[float], kinds: Sequence[str] = kinds, times: int = times) -> str:
            said = _describe(lengths, [int(one) for one in found[: len(lengths)]], times)
            known = (
                f"{kind}: {100 * one:.0f}" for kind, one in zip(kinds, found[len(lengths) :], strict=True)
            )
            return "; ".join([said, *known])

        rows.append(Row(f"{name}, 3 deviations, {_count_runs(runs)}, {law}", must, tasks, describe))
    return rows


def _list_observers(name: str, runs: int) -> tuple[str, ...]:
    """What observers know of an effect: all, all but the noise, or of wide ones the shape alone."""
    if runs > 1 or _EVERY_PLANT[name].rule == "crossing":
        return ("knows all",)
    if name in NARROW:
        return "knows all", "knows width"
    return "knows all", "knows width", "knows shape", _ANY_TEST, _ANY_WIDTH


def count_planted(setting: Setting, name: str, law: str, size: tuple[int, int], times: int) -> int:
    """Return how many planted effects are found."""
    n, runs = size
    first = setting.derive_seed("found", name, law, n, runs)
    planted, noise = _EVERY_PLANT[name], EVERY_LAW[law]
    return sum(found_in_block(planted, noise, n, runs, seed) for seed in range(first, first + times))


def observe(setting: Setting, kind: str, name: str, law: str, size: tuple[int, int]) -> float:
    """Return the share of planted effects that an observer finds."""
    n, runs = size
    seed = setting.derive_seed("observer", kind, name, n, runs)
    planted, strength = _EVERY_PLANT[name], _STRENGTH[law]
    if kind == "knows all":
        return find_by_knowing(planted, strength, n, runs, seed)
    if kind in {_ANY_TEST, _ANY_WIDTH}:
        return find_at_most(planted, n, seed, search_widths=kind == _ANY_WIDTH)
    return find_by_learning(planted, strength, n, seed, search_widths=kind == "knows shape")
