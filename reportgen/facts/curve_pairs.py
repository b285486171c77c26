"""Facts about two curves: how far apart they are, where they cross, and whether a test decides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from reportgen.facts.calls import Answer
from reportgen.facts.curve_numbers import compute_differences, compute_gap, find_crossings, interpolate_value
from reportgen.facts.curve_values import INTERVALS, check_step
from reportgen.facts.fact_words import describe_position
from reportgen.facts.verdicts import VERDICT_FACTS, evaluate_verdict
from reportgen.statistics.compare_curves import compare_at_end, compare_curves, find_last_common_step
from reportgen.statistics.verdicts import swap_sides
from reportgen.words import format_count, join_names

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
            found[one.b, one.a] = swap_sides(one)
        return found

    def get_comparison(self, a: Curve, b: Curve) -> Comparison | None:
        """Welch's t over runs at the last step that both reach; Holm over all pairs. None without a step."""
        return self._compared.get((a.series, b.series))


def _evaluate_gap(pairs: Pairs, a: Curve, b: Curve, step: float) -> Answer:
    step = check_step(b, check_step(a, step, pairs.scale), pairs.scale)
    value, size = compute_gap(a, b, step) or 0.0, abs(interpolate_value(a, step) or 0.0)
    one = compare_curves(a, b, at=step, level=pairs.level)
    # Where runs are interpolated, the mean of the lines need not be the line of the means.
    same = one.difference is not None and math.isclose(
        one.difference, value, rel_tol=_SAME, abs_tol=_SAME * size
    )
    if pairs.band in INTERVALS and same:
        return Answer(value, step=step, low=one.low, high=one.high, n=one.shared)
    return Answer(value, step=step, n=one.shared)


def _evaluate_widest_gap(_: Pairs, a: Curve, b: Curve) -> Answer:
    steps, difference = compute_differences(a, b)
    if not steps.size:
        return _report_no_overlap(a, b)
    at = int(np.argmax(np.abs(difference)))
    return Answer(abs(float(difference[at])), step=float(steps[at]))


def _widest_gap_step(pairs: Pairs, a: Curve, b: Curve) -> Answer:
    found = _evaluate_widest_gap(pairs, a, b)
    return found if found.step is None else Answer(found.step, step=found.step)


def _count_crossings(_: Pairs, a: Curve, b: Curve) -> Answer:
    steps, _difference = compute_differences(a, b)
    if not steps.size:
        return _report_no_overlap(a, b)
    crossed = find_crossings(a, b).tolist()
    if len(crossed) == 1:
        return Answer(1.0, step=crossed[0])
    if crossed:
        return Answer(float(len(crossed)), from_step=crossed[0], to_step=crossed[-1])
    return Answer(0.0, from_step=float(steps[0]), to_step=float(steps[-1]))


def _evaluate_verdict(name: str, pairs: Pairs, a: Curve, b: Curve, *numbers: float) -> Answer:
    one, step = pairs.get_comparison(a, b), find_last_common_step(a, b)
    if one is None or step is None:
        return _report_no_overlap(a, b)
    runs = {curve.series: _runs_at(curve, step) for curve in (a, b)}
    few = [
        _few_runs(curve, runs[curve.series], step, pairs.scale)
        for curve in (a, b)
        if runs[curve.series] < _FEWEST_RUNS
    ]
    behind = _runs_said(runs)
    return evaluate_verdict(name, one, pairs.scale, numbers, behind=behind, few=join_names(few), step=step)


def _runs_at(curve: Curve, step: float) -> int:
    return sum(bool(run.steps.size) and run.steps[0] <= step <= run.steps[-1] for run in curve.runs)


def _runs_said(runs: dict[str, int]) -> str:
    """``5 runs a side``, ``5 runs of MEL and 3 of GRPO``."""
    (a, first), (b, second) = runs.items()
    return f"{format_count(first, 'run')} {'a side' if first == second else f'of {a} and {second} of {b}'}"


def _few_runs(curve: Curve, count: int, step: float, scale: Scale) -> str:
    """``1 run of MEL``; where others end before, ``1 run of MEL at step 200``."""
    where = f" {describe_position(step, scale)}" if count < len(curve.runs) else ""
    return f"{format_count(count, 'run')} of {curve.series}{where}"


def _report_no_overlap(a: Curve, b: Curve) -> Answer:
    return Answer(None, f"{a.series} and {b.series} share no step")


PAIR_FACTS: dict[str, Callable[..., Answer]] = {
    "gap": _evaluate_gap,
    "widest_gap": _evaluate_widest_gap,
    "widest_gap_step": _widest_gap_step,
    "crossings": _count_crossings,
    **{name: partial(_evaluate_verdict, name) for name in sorted(VERDICT_FACTS)},
}
"""What answers a fact about two series; called with ``Pairs``, both curves and the call's numbers."""
