"""All observations by the rules, each event once, most informative first."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from reportgen.claims.observations.dips import observe_turns
from reportgen.claims.observations.field import Field
from reportgen.claims.observations.gaps import observe_convergence, observe_same_start, observe_widest_gap
from reportgen.claims.observations.instability import observe_instability, observe_uncertainty
from reportgen.claims.observations.leads import observe_crossing
from reportgen.claims.observations.moves import observe_rises, observe_steady
from reportgen.claims.observations.part_company import observe_part_company
from reportgen.claims.observations.plateaus import observe_late_decline, observe_plateaus
from reportgen.claims.observations.ranking import observe_best, observe_tiers
from reportgen.claims.observations.score_rules import SCORE_RULES, ScoreField
from reportgen.claims.subjects import ScoreSubject
from reportgen.core.statements import Observation
from reportgen.settings.block_parts import Rule
from reportgen.statistics.curves.readings import get_points

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from reportgen.core.comparisons import Comparison, RankGroup, Score
    from reportgen.core.model import CurveSet
    from reportgen.core.statements import Scale


FieldRule: TypeAlias = Callable[[Field], Iterator[Observation]]

# Each yields its observations on the curves of one metric; ``PART_COMPANY`` takes two and is separate.
RULES: dict[Rule, FieldRule] = {
    Rule.SAME_START: observe_same_start,
    Rule.BEST: observe_best,
    Rule.RISE: observe_rises,
    Rule.PLATEAU: observe_plateaus,
    Rule.STEADY: observe_steady,
    Rule.DIP: partial(observe_turns, sign=1.0),
    Rule.SPIKE: partial(observe_turns, sign=-1.0),
    Rule.LATE_DECLINE: observe_late_decline,
    Rule.CROSSING: observe_crossing,
    Rule.WIDEST_GAP: observe_widest_gap,
    Rule.CONVERGE: observe_convergence,
    Rule.TIERS: observe_tiers,
    Rule.INSTABILITY: observe_instability,
    Rule.UNCERTAIN_HERE: observe_uncertainty,
}


_MOST_STRENGTH = 10.0  # exceeding more thresholds than this adds no weight
# What readers look for first has more weight, and what nobody would miss has less.
_WEIGHTS = {
    Rule.BEST: 3.5,
    Rule.TIERS: 1.3,
    Rule.CROSSING: 1.2,
    Rule.LATE_DECLINE: 1.2,
    Rule.RISE: 0.8,
    Rule.SAME_START: 0.8,
    Rule.STEADY: 0.6,
}
# Weight of each further observation of a rule, about a single series, or about a metric.
_SAME_RULE, _SAME_SERIES, _SAME_METRIC = 0.4, 0.8, 0.7
_READING = 0.6  # weight of an observation of readings, relative to one from a test
_ORDER = {rule: place for place, rule in enumerate(Rule)}

# If two rules report one event, the first of these is dropped.
_COVERED_BY = {
    Rule.WIDEST_GAP: Rule.SAME_START,
    Rule.SPIKE: Rule.BEST,
    Rule.LATE_DECLINE: Rule.BEST,
}


def observe_curves(
    curve_sets: Sequence[tuple[CurveSet, Scale]],
    rules: Collection[Rule] = (),
    precisions: Sequence[float] = (),
) -> tuple[Observation, ...]:
    """Return the rules' observations on a figure or the panels of a block, most informative first.

    Each metric has a curve set, unsmoothed and unbinned, and its scale. ``rules`` selects some rules, all if
    empty; ``precisions`` are the possible errors of readings by metric, 0 if empty.
    """
    fields = []
    for (curve_set, scale), precision in zip(curve_sets, precisions or [0.0] * len(curve_sets), strict=True):
        curves = tuple(curve for curve in curve_set.curves if get_points(curve).steps.size)
        if curves:
            metrics = len(curve_sets)
            fields.append(Field(curves, scale, curve_set.band, metrics=metrics, precision=precision))
    observations = [
        replace(observation, metric=field.scale.metric)
        for field in fields
        for rule, find in RULES.items()
        if not rules or rule in rules
        for observation in find(field)
    ]
    if not rules or Rule.PART_COMPANY in rules:
        observations += observe_part_company(fields)
    return order_observations(merge_duplicates(observations))


def observe_scores(
    scores: Sequence[Score],
    comparisons: Sequence[Comparison],
    groups: Sequence[RankGroup],
    scale: Scale,
    rules: Collection[Rule] = (),
) -> tuple[Observation, ...]:
    """Return the rules' observations on the scores of one benchmark, most informative first.

    ``comparisons`` holds all pairs, adjusted together; ``rules`` selects some rules, all if empty.
    """
    field = ScoreField(ScoreSubject(tuple(scores), tuple(comparisons), tuple(groups), scale))
    return order_observations(
        replace(observation, metric=scale.metric)
        for rule, several in SCORE_RULES.items()
        if not rules or rule in rules
        for find in several
        for observation in find(field)
    )


def merge_duplicates(found: Sequence[Observation]) -> list[Observation]:
    """Drop observations whose event another one reports, adding their evidence to that one.

    Events are equal if a spike or late decline is marked at the best point of all series, or if the widest
    gap is at the first step of series that start apart.
    """
    remaining: dict[str, Observation] = {f"{one.metric}\n{one.text}": one for one in found}
    for key, one in list(remaining.items()):
        for other_key, other in list(remaining.items()):
            if key not in remaining or one.metric != other.metric or "reading" not in one.text:
                continue
            if _COVERED_BY.get(Rule(one.rule)) != other.rule:
                continue
            if one.rule == Rule.WIDEST_GAP:
                first = one.mark == other.from_step == other.to_step
                covered = first and set(one.series) <= set(other.series)
            else:
                point = one.mark, one.mark_series
                covered = other.mark is not None and point == (other.mark, other.mark_series)
            if covered:
                evidence = tuple(dict.fromkeys([*remaining[other_key].evidence, *one.evidence]))
                remaining[other_key] = replace(remaining[other_key], evidence=evidence)
                del remaining[key]
    return list(remaining.values())


def order_observations(found: Iterable[Observation]) -> tuple[Observation, ...]:
    """Sort by strength, most informative first, with less weight for repeated rules, series or metrics."""
    rules: Counter[str] = Counter()
    series: Counter[str] = Counter()
    metrics: Counter[str] = Counter()

    def weigh(one: Observation) -> float:
        voice = _READING if "reading" in one.text and one.rule != Rule.BEST else 1.0
        weight = voice * _WEIGHTS.get(Rule(one.rule), 1.0) * math.log1p(min(one.strength, _MOST_STRENGTH))
        alone = series[one.series[0]] if len(one.series) == 1 else 0
        many = _SAME_RULE ** rules[one.rule] * _SAME_SERIES**alone
        # Values equal up to rounding are ties, which the order of names decides.
        return round(weight * many * _SAME_METRIC ** metrics[one.metric], 9)

    def sort_key(one: Observation) -> tuple[object, ...]:
        step = -math.inf if one.from_step is None else one.from_step
        return (_ORDER[Rule(one.rule)], one.metric, step, one.series, one.text)

    left = sorted(found, key=sort_key)
    chosen: list[Observation] = []
    while left:
        best = max(left, key=weigh)
        left.remove(best)
        chosen.append(best)
        rules[best.rule] += 1
        metrics[best.metric] += 1
        if len(best.series) == 1:
            series[best.series[0]] += 1
    return tuple(chosen)
