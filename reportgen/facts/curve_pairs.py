"""Facts about two curves: how far apart they are, where they cross, and whether a test decides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.calls import Found
from reportgen.facts.curve_numbers import crossing_steps, differences, gap_at, value_at
from reportgen.facts.curve_values import INTERVALS, step_inside
from reportgen.facts.fact_words import at_step
from reportgen.facts.verdicts import VERDICT_FACTS, verdict_found
from reportgen.statistics.compare_curves import compare_at_end, compare_curves, last_common_step
from reportgen.statistics.verdicts import mirrored
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.model import Curve
    from reportgen.outcomes import Comparison
    from reportgen.statements import Scale

# A mean of runs and the same mean computed at every step agree up to rounding.
_SAME = 1e-9
_FEWEST_RUNS = 2


# Kept with the instance, hence no slots.
@dataclass(frozen=True, eq=False)
class Pairs:
    """All curves of a subject, each with at least one point, and what facts about two depend on.

    ``level`` and ``band`` are the curve set's.
    """

    curves: tuple[Curve, ...]
    scale: Scale
    level: float
    band: str

    @cached_property
    def _compared(self) -> dict[tuple[str, str], Comparison]:
        """All pairs that share a range of steps, adjusted together, by their names in both orders."""
        # Where neither way is better, a verdict says which is the higher one; nobody is called better then.
        higher = self.scale.higher_is_better is not False
        found = {}
        for one in compare_at_end(self.curves, level=self.level, higher_is_better=higher):
            found[one.a, one.b] = one
            found[one.b, one.a] = mirrored(one)
        return found

    def comparison(self, a: Curve, b: Curve) -> Comparison | None:
        """Welch's t over runs at the last step that both reach; Holm over all pairs. None without a step."""
        return self._compared.get((a.series, b.series))


def _gap(pairs: Pairs, a: Curve, b: Curve, step: float) -> Found:
    step = step_inside(b, step_inside(a, step, pairs.scale), pairs.scale)
    value, size = gap_at(a, b, step) or 0.0, abs(value_at(a, step) or 0.0)
    one = compare_curves(a, b, at=step, level=pairs.level)
    # Where runs are interpolated, the mean of the lines need not be the line of the means.
    same = one.difference is not None and math.isclose(
        one.difference, value, rel_tol=_SAME, abs_tol=_SAME * size
    )
    if pairs.band in INTERVALS and same:
        return Found(value, step=step, low=one.low, high=one.high, n=one.shared)
    return Found(value, step=step, n=one.shared)


def _widest_gap(_: Pairs, a: Curve, b: Curve) -> Found:
    steps, difference = differences(a, b)
    if not steps.size:
        return _apart(a, b)
    at = int(np.argmax(np.abs(difference)))
    return Found(abs(float(difference[at])), step=float(steps[at]))


def _widest_gap_step(pairs: Pairs, a: Curve, b: Curve) -> Found:
    found = _widest_gap(pairs, a, b)
    return found if found.step is None else Found(found.step, step=found.step)


def _crossings(_: Pairs, a: Curve, b: Curve) -> Found:
    steps, _difference = differences(a, b)
    if not steps.size:
        return _apart(a, b)
    crossed = crossing_steps(a, b).tolist()
    if len(crossed) == 1:
        return Found(1.0, step=crossed[0])
    if crossed:
        return Found(float(len(crossed)), from_step=crossed[0], to_step=crossed[-1])
    return Found(0.0, from_step=float(steps[0]), to_step=float(steps[-1]))


def _verdict(name: str, pairs: Pairs, a: Curve, b: Curve, *numbers: float) -> Found:
    one, step = pairs.comparison(a, b), last_common_step(a, b)
    if one is None or step is None:
        return _apart(a, b)
    runs = {curve.series: _runs_at(curve, step) for curve in (a, b)}
    few = [
        _few_runs(curve, runs[curve.series], step, pairs.scale)
        for curve in (a, b)
        if runs[curve.series] < _FEWEST_RUNS
    ]
    behind = _runs_said(runs)
    return verdict_found(name, one, pairs.scale, numbers, behind=behind, few=listing(few), step=step)


def _runs_at(curve: Curve, step: float) -> int:
    return sum(bool(run.steps.size) and run.steps[0] <= step <= run.steps[-1] for run in curve.runs)


def _runs_said(runs: dict[str, int]) -> str:
    """``5 runs a side``, ``5 runs of MEL and 3 of GRPO``."""
    (a, first), (b, second) = runs.items()
    return f"{counted(first, 'run')} {'a side' if first == second else f'of {a} and {second} of {b}'}"


def _few_runs(curve: Curve, count: int, step: float, scale: Scale) -> str:
    """``1 run of MEL``; where others end before, ``1 run of MEL at step 200``."""
    where = f" {at_step(step, scale)}" if count < len(curve.runs) else ""
    return f"{counted(count, 'run')} of {curve.series}{where}"


def _apart(a: Curve, b: Curve) -> Found:
    return Found(None, f"{a.series} and {b.series} share no step")


PAIR_FACTS: dict[str, Callable[..., Found]] = {
    "gap": _gap,
    "widest_gap": _widest_gap,
    "widest_gap_step": _widest_gap_step,
    "crossings": _crossings,
    **{name: partial(_verdict, name) for name in sorted(VERDICT_FACTS)},
}
"""What answers a fact about two series; called with ``Pairs``, both curves and the call's numbers."""
