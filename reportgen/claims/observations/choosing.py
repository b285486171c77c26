"""All observations of a block, readings and inferences, in the order in which they are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from reportgen.claims.observations.field import Field
from reportgen.claims.observations.inferences import FEWEST_RUNS, adjust, find_inferences, make_parts
from reportgen.claims.observations.readings import (
    observe_best,
    observe_crossings,
    observe_ends,
    observe_falls,
    observe_order,
    observe_part_company,
    observe_widest_gap,
)
from reportgen.claims.observations.score_rules import SCORE_RULES, ScoreField
from reportgen.claims.observations.wording import Findings, describe_inferences
from reportgen.claims.subjects import ScoreSubject
from reportgen.core.statements import Observation
from reportgen.core.words import join_names
from reportgen.settings.block_parts import Rule
from reportgen.statistics.curves.readings import get_points

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from reportgen.core.comparisons import Comparison, RankGroup, Score
    from reportgen.core.model import CurveSet
    from reportgen.core.statements import Scale


FieldRule: TypeAlias = Callable[[Field], Iterator[Observation]]

# Each yields readings of the curves of one metric; ``PART_COMPANY`` takes several and is separate.
READINGS: dict[Rule, FieldRule] = {
    Rule.BEST: observe_best,
    Rule.ORDER: observe_order,
    Rule.CROSSING: observe_crossings,
    Rule.FALL: observe_falls,
    Rule.WIDEST_GAP: observe_widest_gap,
    Rule.ENDS: observe_ends,
}
_ORDER = {rule: place for place, rule in enumerate(Rule)}
_MOST_NAMED = 4


def observe_curves(
    curve_sets: Sequence[tuple[CurveSet, Scale]],
    rules: Collection[Rule] = (),
    precisions: Sequence[float] = (),
) -> tuple[Observation, ...]:
    """Return the rules' observations on a figure or the panels of a block, in the order of showing.

    Each metric has a curve set, unsmoothed and unbinned, and its scale. ``rules`` selects some rules, all if
    empty, and does not change the tests; ``precisions`` are the possible errors of readings by metric, 0 if
    empty.
    """
    fields = []
    for (curve_set, scale), precision in zip(curve_sets, precisions or [0.0] * len(curve_sets), strict=True):
        curves = tuple(curve for curve in curve_set.curves if get_points(curve).steps.size)
        if curves:
            fields.append(Field(curves, scale, precision))
    found = [
        replace(observation, metric=field.scale.metric)
        for field in fields
        for find in READINGS.values()
        for observation in find(field)
    ]
    found += observe_part_company(fields)
    for findings in _infer(fields):
        metric = findings.field.scale.metric
        found += (replace(one, metric=metric) for one in describe_inferences(findings))
    return order_observations(one for one in found if not rules or one.rule in rules)


def _infer(fields: Sequence[Field]) -> Iterator[Findings]:
    """Test the curves of all metrics, adjusted together."""
    made = []
    for field in fields:
        repeated = sorted(
            (one for one in field.curves if len(one.runs) >= FEWEST_RUNS and not one.illustrative),
            key=lambda one: one.series,
        )
        parts = {curve.series: make_parts(curve) for curve in repeated}
        made.append((field, parts, list(find_inferences(repeated, parts))))
    adjusted = iter(adjust([one for *_, tests in made for one in tests]))
    for field, parts, tests in made:
        yield Findings(field, [next(adjusted) for _ in tests], parts)


def describe_runs(curve_sets: Sequence[CurveSet]) -> str:
    """Say of which series nothing is inferred for want of runs, and that readings are of means."""
    runs = {curve.series: len(curve.runs) for one in curve_sets for curve in one.curves}
    few = [name for name, count in runs.items() if count < FEWEST_RUNS]
    mean = " Readings of several runs are those of their mean." if max(runs.values(), default=0) > 1 else ""
    if any(curve.illustrative for one in curve_sets for curve in one.curves):
        return f"The runs are illustrative: nothing is inferred.{mean}"
    if not few:
        return mean.strip()
    if len(few) < len(runs):
        return f"Nothing is inferred about {join_names(few, most=_MOST_NAMED)}: three runs are needed.{mean}"
    most = max(runs.values())
    which = "One run" if most == 1 else "Two runs"
    each = "" if len(runs) == 1 else " of each series" if most == 1 else " of a series at most"
    return f"{which}{each}: nothing is inferred, since three are needed.{mean}"


def observe_scores(
    scores: Sequence[Score],
    comparisons: Sequence[Comparison],
    groups: Sequence[RankGroup],
    scale: Scale,
    rules: Collection[Rule] = (),
) -> tuple[Observation, ...]:
    """Return the rules' observations on the scores of one benchmark, in the order of showing.

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


def order_observations(found: Iterable[Observation]) -> tuple[Observation, ...]:
    """Sort observations: the strongest of each rule in the order of rules, then the next of each."""
    count: Counter[str] = Counter()
    keyed = []
    for one in sorted(found, key=lambda one: (-round(one.strength, 9), one.metric, one.series, one.text)):
        keyed.append(((count[one.rule], _ORDER[Rule(one.rule)]), one))
        count[one.rule] += 1
    return tuple(one for _, one in sorted(keyed, key=lambda pair: pair[0]))
