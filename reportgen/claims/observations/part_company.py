"""The rule ``part company``: where two metrics of the same runs diverge."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from reportgen.claims.fact_words import format_range
from reportgen.claims.observations.field import observe
from reportgen.claims.observations.moves import CLEAR
from reportgen.core.digits import SAME
from reportgen.settings.block_parts import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.claims.observations.field import Field, Series
    from reportgen.core.model import FloatArray
    from reportgen.core.statements import Observation


_MOST_STEPS = 300  # more steps are thinned evenly, since all pairs of steps are compared
_SHARE = 0.1  # smallest share of the plotted range that counts as diverging


class _Change(NamedTuple):
    """Change of one metric of a series between two steps, and whether it is tested."""

    series: Series
    steps: tuple[float, float]
    values: tuple[float, float]
    inferred: bool

    @property
    def size(self) -> float:
        return abs(self.values[1] - self.values[0])

    @property
    def is_clear(self) -> bool:
        """Whether it exceeds the least size reported and, for a course, its error."""
        field = self.series.field
        if not self.inferred:
            return field.readings_alone.is_exceeded(self.size)
        places = (self.series.find_course_place(step) for step in self.steps)
        return self.size > max(CLEAR * self.series.course.compute_error(*places), field.least)

    def describe(self) -> tuple[str, list[str]]:
        """Return ``loss rises from 1 to 2 (lower is better)`` and both values: ``loss: at(A, 10) = 0.3``."""
        series, scale = self.series, self.series.field.scale
        moves = "rises" if self.values[1] > self.values[0] else "falls"
        words = [series.format(value) for value in self.values]
        lower = " (lower is better)" if scale.higher_is_better is False else ""
        text = f"{scale.metric} {moves if self.inferred else 'goes'} from {' to '.join(words)}{lower}"
        calls = (series.field.format_call("at", series.name, step) for step in self.steps)
        return text, [f"{scale.metric}: {call} = {one}" for call, one in zip(calls, words, strict=True)]


def observe_part_company(fields: Sequence[Field]) -> Iterator[Observation]:
    """Yield for each series and two metrics the steps over which one improves and the other worsens most.

    These maximize the smaller of the two changes, each as a share of its plotted range. A metric without a
    better direction, such as a KL, may change either way while the other worsens; it never worsens. The order
    of the metrics does not matter.
    """
    for one, other in combinations(sorted(fields, key=lambda field: field.scale.metric), 2):
        if one.scale.metric != other.scale.metric and min(one.plotted_range, other.plotted_range) > 0:
            for name in sorted(set(one.series) & set(other.series)):
                pair = one.series[name], other.series[name]
                partings = [_find_parting(*pair), _find_parting(*reversed(pair))]
                found = [observation for observation in partings if observation is not None]
                if found:
                    yield max(found, key=lambda observation: observation.strength)


def _find_parting(better: Series, worse: Series) -> Observation | None:
    inferred = better.is_moving and worse.is_moving
    if not inferred and not (better.field.few and worse.field.few):
        return None
    steps, up, down = _align_metrics(better, worse, inferred=inferred)
    if not worse.field.ranks or steps.size < 2:  # noqa: PLR2004 - nothing moves at one step
        return None
    gain = (up[None, :] - up[:, None]) / better.field.plotted_range
    gain = gain if better.field.ranks else np.abs(gain)
    loss = (down[:, None] - down[None, :]) / worse.field.plotted_range
    both = np.triu(np.minimum(gain, loss), 1)
    largest = float(both.max())
    if largest < _SHARE:
        return None
    # Of equal ones, the shortest, then the first.
    starts, ends = np.nonzero(both >= largest * (1 - SAME))
    first = int(np.lexsort((starts, ends - starts))[0])
    places = [int(starts[first]), int(ends[first])]
    start, end = steps[places].tolist()
    changes = []
    for series, values in ((better, up), (worse, down)):
        before, after = (series.field.sign * values[places]).tolist()
        changes.append(_Change(series, (start, end), (before, after), inferred))
    if not all(change.is_clear for change in changes):
        return None
    rated = [
        (change.series.field.scale.metric, *change.series.rate(change.size, inferred=inferred))
        for change in changes
    ]
    metric, words, strength = min(rated, key=lambda one: one[2])
    (gains, evidence), (loses, more) = (change.describe() for change in changes)
    name, where = worse.name, f"from {format_range(start, end, worse.field.scale)}"
    text = f"{name}{'' if inferred else ', by its readings,'} {where}: {gains}, while {loses}."
    basis, evidence = (f"{metric}: {words}", strength), [*evidence, *more]
    observation = observe(Rule.PART_COMPANY, text, evidence, basis, (name,), steps=(start, end))
    return replace(observation, metric=worse.field.scale.metric)


def _align_metrics(
    better: Series, worse: Series, *, inferred: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the steps that both metrics reach, and both courses or readings there, higher is better."""
    sides = []
    for series in (better, worse):
        steps, values = (series.course_steps, series.course.level) if inferred else series.points
        sides.append((steps, series.field.sign * values))
    steps = np.union1d(sides[0][0], sides[1][0])
    start, end = max(side[0][0] for side in sides), min(side[0][-1] for side in sides)
    steps = steps[(steps >= start) & (steps <= end)]
    if steps.size > _MOST_STEPS:
        steps = steps[np.unique(np.linspace(0, steps.size - 1, _MOST_STEPS).round().astype(np.int64))]
    return steps, *(np.interp(steps, *side) for side in sides)
