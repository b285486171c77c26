"""Facts about the curves of one metric, on the unsmoothed centre of each series."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from reportgen.claims.facts.calls import (
    TOO_LARGE,
    VERDICT_FACTS,
    Answer,
    Call,
    evaluate_verdict,
    make_call,
    make_fact,
)
from reportgen.claims.facts.fact_words import describe_position, describe_step
from reportgen.claims.facts.vocabulary import FactError
from reportgen.core.words import format_count, format_number, join_names
from reportgen.statistics.curves.mean_curves import compare_at_end, compare_curves, find_last_common_step
from reportgen.statistics.curves.readings import (
    compute_differences,
    compute_gap,
    find_crossings,
    find_step_reaching,
    get_points,
    interpolate_band,
    interpolate_value,
    match_step,
    mean_between,
    volatility,
)
from reportgen.statistics.verdicts import swap_sides

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.claims.facts.vocabulary import Argument
    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import Curve, CurveSet
    from reportgen.core.statements import Fact, Scale


INTERVALS = frozenset({"ci", "simultaneous"})
"""Bands that are confidence intervals of the mean."""


@dataclass(frozen=True, slots=True)
class CurveContext:
    """A curve with at least one point, and what its facts depend on: ``band`` is its curve set's."""

    curve: Curve
    scale: Scale
    band: str


def check_step(curve: Curve, step: float, scale: Scale) -> float:
    """A step inside a curve's range, as the curve has it where both are the same but for rounding.

    Raises:
        FactError: it is outside.
    """
    step = match_step(curve, step)
    if interpolate_value(curve, step) is None:
        raise FactError(
            f"{curve.series} has no value {describe_position(step, scale)}", _describe_range(curve, scale)
        )
    return step


def _describe_range(curve: Curve, scale: Scale) -> str:
    steps = get_points(curve).steps
    first, last = (describe_step(float(step), scale) for step in (steps[0], steps[-1]))
    return f"Its only value is at {first}" if steps.size == 1 else f"It has values from {first} to {last}"


def _evaluate_end(context: CurveContext, place: int) -> Answer:
    return _evaluate_at(context, float(get_points(context.curve).steps[place]))


def _evaluate_inside(context: CurveContext, step: float) -> Answer:
    return _evaluate_at(context, check_step(context.curve, step, context.scale))


def _evaluate_mean(context: CurveContext, first: float, last: float) -> Answer:
    curve, scale = context.curve, context.scale
    said = f"from {describe_step(first, scale)} to {describe_step(last, scale)}"
    if first > last:
        raise FactError(f"There is no range {said}", "Write the earlier step first")
    first, last = match_step(curve, first), match_step(curve, last)
    value = mean_between(curve, first, last)
    if value is None:
        raise FactError(f"{curve.series} has no step {said}", _describe_range(curve, scale))
    return Answer(value, from_step=first, to_step=last)


def _steps_to(context: CurveContext, level: float) -> Answer:
    step = find_step_reaching(context.curve, level, higher_is_better=context.scale.higher_is_better)
    if step is None:
        return Answer(None, f"{context.curve.series} never reaches {format_number(level)}")
    return _report_step(context, step)


def _evaluate_volatility(context: CurveContext) -> Answer:
    steps = get_points(context.curve).steps
    value = volatility(context.curve)
    if value is None:
        return Answer(None, f"3 steps are needed, {context.curve.series} has {steps.size}")
    return Answer(value, from_step=float(steps[0]), to_step=float(steps[-1]), n=int(context.curve.n.min()))


def _evaluate_band_width(context: CurveContext, step: float) -> Answer:
    curve = context.curve
    step = check_step(curve, step, context.scale)
    low, high, n = interpolate_band(curve, step)
    if low is None or high is None:
        return Answer(None, _explain_missing_band(context, n), step=step, n=n)
    return Answer(high - low, step=step, n=n)


def _explain_missing_band(context: CurveContext, n: int) -> str:
    if context.curve.raw is not None:
        return f"the band of {context.curve.series} is that of the smoothed curve"
    if context.band == "none" and not context.curve.given:
        return "no band is asked for"
    if context.curve.given:
        return f"no interval of {context.curve.series} is given there"
    series = context.curve.series
    return f"1 run of {series}" if n == 1 else f"all runs of {series} are equal there"


def _evaluate_at(context: CurveContext, step: float) -> Answer:
    """The value at a step inside the range, with its interval at that step where the band is one."""
    low, high, n = interpolate_band(context.curve, step)
    value = interpolate_value(context.curve, step)
    if context.band not in INTERVALS and not context.curve.given:
        low = high = None
    return Answer(value, step=step, low=low, high=high, n=n)


def _find_extreme(context: CurveContext, *, best: bool) -> Answer:
    """The best or the worst value, without an interval: that of its step does not know that it was picked."""
    step, count = _find_extreme_step(context, best=best), get_points(context.curve).steps.size
    ranked = context.scale.higher_is_better is not None
    most = ("best" if best else "worst") if ranked else "highest" if best else "lowest"
    noun = "reading" if context.scale.step_is_time else "checkpoint"
    note = f"{most} of {format_count(count, noun)}" if count > 1 else ""
    value, n = interpolate_value(context.curve, step), interpolate_band(context.curve, step).n
    return Answer(value, step=step, n=n, note=note)


def _report_step(context: CurveContext, step: float) -> Answer:
    return Answer(step, step=step, n=interpolate_band(context.curve, step).n)


def _report_extreme_step(context: CurveContext, *, best: bool) -> Answer:
    return _report_step(context, _find_extreme_step(context, best=best))


def _find_extreme_step(context: CurveContext, *, best: bool) -> float:
    """The first step that has the best or the worst value; the highest or lowest where neither is better."""
    steps, values = get_points(context.curve)
    pick = np.argmax if best is (context.scale.higher_is_better is not False) else np.argmin
    return float(steps[int(pick(values))])


SERIES_FACTS: dict[str, Callable[..., Answer]] = {
    "start": partial(_evaluate_end, place=0),
    "final": partial(_evaluate_end, place=-1),
    "peak": partial(_find_extreme, best=True),
    "peak_step": partial(_report_extreme_step, best=True),
    "trough": partial(_find_extreme, best=False),
    "trough_step": partial(_report_extreme_step, best=False),
    "at": _evaluate_inside,
    "mean": _evaluate_mean,
    "steps_to": _steps_to,
    "volatility": _evaluate_volatility,
    "band_width": _evaluate_band_width,
}
"""What answers a fact about one series; called with ``CurveContext`` and the call's numbers."""


# A mean of runs and the same mean computed at every step agree up to rounding.
_SAME = 1e-9
_FEWEST_RUNS = 2


@dataclass(frozen=True, eq=False)  # no slots: derived values are cached in the instance
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
    first, second = (
        sum(bool(run.steps.size) and run.steps[0] <= step <= run.steps[-1] for run in curve.runs)
        for curve in (a, b)
    )
    few = [
        _format_few_runs(curve, count, step, pairs.scale)
        for curve, count in ((a, first), (b, second))
        if count < _FEWEST_RUNS
    ]
    whose = "a side" if first == second else f"of {a.series} and {second} of {b.series}"
    behind = f"{format_count(first, 'run')} {whose}"
    return evaluate_verdict(name, one, pairs.scale, numbers, behind=behind, few=join_names(few), step=step)


def _format_few_runs(curve: Curve, count: int, step: float, scale: Scale) -> str:
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


@dataclass(frozen=True, eq=False)  # no slots: derived values are cached in the instance
class CurveSubject:
    """The curves of one metric: a ``Subject``.

    Facts are about each series' centre before smoothing: the mean across runs, for ``iqr`` the median. Reduce
    with ``max_points=None`` for facts about every step. An interval is given where the band is a confidence
    interval, or the input's own; a peak or trough has none, since its step was picked for its value.

    Attributes:
        curve_set: the curves.
        scale: what their numbers mean.
    """

    curve_set: CurveSet
    scale: Scale

    @property
    def holds(self) -> Literal["curves"]:
        """Which of the vocabulary's facts there are."""
        return "curves"

    @cached_property
    def series(self) -> tuple[str, ...]:
        """The names of its series, also of those without a finite value."""
        empty = (name for name, _ in self.curve_set.without_values)
        return tuple(dict.fromkeys((*(curve.series for curve in self.curve_set.curves), *empty)))

    @cached_property
    def _curves(self) -> dict[str, Curve]:
        """The curves that have a point."""
        return {curve.series: curve for curve in self.curve_set.curves if get_points(curve).steps.size}

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs(tuple(self._curves.values()), self.scale, self.curve_set.level, self.curve_set.band)

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """A fact of the vocabulary; see ``Subject``."""
        call = make_call(name, arguments, self)
        return make_fact(call, self._compute_answer(call))

    def _compute_answer(self, call: Call) -> Answer:
        missing = [name for name in call.series if name not in self._curves]
        if missing:
            return Answer(None, f"no finite value of {join_names(missing)}")
        curves = [self._curves[name] for name in call.series]
        try:
            if call.name in PAIR_FACTS:
                return PAIR_FACTS[call.name](self._pairs, curves[0], curves[1], *call.numbers)
            return SERIES_FACTS[call.name](
                CurveContext(curves[0], self.scale, self.curve_set.band), *call.numbers
            )
        except OverflowError:
            return Answer(None, TOO_LARGE)
