"""How often what a review says of numbers holds: its intervals, and verdicts where nothing changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from simulated.reviews import USUAL, Laws, Overlap, Shares, cover_items, cover_runs, find_false_verdicts
from simulation import Row, Setting, Task, format_share

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_Call: TypeAlias = "tuple[Callable[..., float | Shares], tuple[object, ...], Mapping[str, object]]"
_OVERLAPS = {
    "runs added": (Overlap(0, 2, 1), Overlap(0, 3, 2), Overlap(0, 2, 8), Overlap(0, 9, 1)),
    "runs replaced": (Overlap(1, 2, 1), Overlap(1, 4, 1), Overlap(2, 3, 2), Overlap(5, 5, 5)),
    "all runs others": (Overlap(2, 0, 2), Overlap(2, 0, 10), Overlap(5, 0, 5), Overlap(10, 0, 10)),
}
_OTHERS = (Laws("uniform", "logit t(3)"), Laws("t(5)", "logit t(3)"))
_DRAWS = {True: 600, False: 400}


def plan(setting: Setting) -> list[Row]:
    """Return the rows of what, measured, and what it must be."""
    return [row for laws in (_OTHERS if setting.is_other else (USUAL,)) for row in _plan_laws(setting, laws)]


def _plan_laws(setting: Setting, laws: Laws) -> list[Row]:
    draws = _DRAWS[setting.full] // (2 if setting.is_other else 1)
    head = "review" if laws == USUAL else f"review ({laws.runs}, {laws.chances})"

    def plan_row(what: str, must: str, times: int, calls: Sequence[_Call]) -> Row:
        more = {"draws": times, "laws": laws}
        tasks = [Task(measure, (setting, call, given, {**named, **more})) for call, given, named in calls]
        return Row(f"{head}{what}", must, tasks, lambda shares: _list(shares, times))

    rows = [
        plan_row(
            f", {name}: 95% intervals hold the truth",
            "93–97%",
            draws,
            [(cover_runs, (one,), {}) for one in overlaps],
        )
        for name, overlaps in _OVERLAPS.items()
    ]
    for shift, overlap in ((0.0, Overlap(1, 0, 1)), (0.05, Overlap(2, 0, 2)), (0.05, Overlap(5, 0, 5))):
        calls = [(cover_items, (overlap, n), {"shift": shift}) for n in (30, 100)]
        must = "93–97%" if overlap.added == 1 else "93–99%"
        rows.append(
            plan_row(f", {overlap.added} runs a side by item, 30 and 100 items", must, draws // 5, calls)
        )
    every = tuple(one for overlaps in _OVERLAPS.values() for one in overlaps)
    apart = (Overlap(2, 0, 2), Overlap(1, 0, 1), Overlap(5, 0, 5))
    numbers = [(find_false_verdicts, (every,), {"numbers": 20})]
    scores = [(find_false_verdicts, (apart,), {"numbers": 20, "items": 30})]
    rows.append(plan_row(", 20 numbers over runs, nothing changed: a verdict", "≤ 6%", draws // 2, numbers))
    rows.append(plan_row(", 20 scores on 30 items, nothing changed: a verdict", "≤ 6%", draws // 10, scores))
    return rows


def measure(
    setting: Setting,
    call: Callable[..., float | Shares],
    given: tuple[object, ...],
    named: Mapping[str, object],
) -> float:
    """Return the share that one simulation finds, with a seed of its own."""
    found = call(*given, seed=setting.derive_seed("reviews", call.__name__, given, named), **named)
    return found if isinstance(found, float) else found.covered


def _list(shares: list[float], times: int) -> str:
    return ", ".join(format_share(share * times, times) for share in shares) + " %"
