"""The rule ``part company``: one metric gets better, or just moves, while another gets worse.

Both are of the same series. A metric just moves where neither way of it is better: a KL that rises.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.observations.phrases import format_range
from reportgen.claims.observations.rules.moves import CLEAR
from reportgen.claims.observations.thresholds import SAME
from reportgen.core.statements import Observation
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.claims.observations.field import Field, Series
    from reportgen.core.model import FloatArray
    from reportgen.core.statements import Scale


_MOST_STEPS = 300
"""Of more steps evenly spaced ones are used, since every pair of them is compared."""

_SHARE = 0.1
"""What is less than this share of the plotted range is no parting of ways."""


class _Move(NamedTuple):
    """What one metric of a series does between two steps: its values there, and whether that is tested."""

    series: Series
    before: float
    after: float
    inferred: bool

    @property
    def scale(self) -> Scale:
        return self.series.field.scale

    @property
    def size(self) -> float:
        return abs(self.after - self.before)

    @property
    def strength(self) -> float:
        return self.series.field.readings_alone.strength(self.size)

    def is_clear(self, first: float, last: float) -> bool:
        """Whether it is more than the least that is reported; of a course also more than its error."""
        field = self.series.field
        if not self.inferred:
            return field.readings_alone.is_exceeded(self.size)
        places = (self.series.find_course_place(step) for step in (first, last))
        return self.size > max(CLEAR * self.series.course.compute_error(*places), field.least)

    def describe(self) -> str:
        """What a metric does, and which way is better where that is down: ``loss rises from 1 to 2``."""
        verb = "goes"
        if self.inferred:
            verb = "rises" if self.after > self.before else "falls"
        ends = " to ".join(self.series.format(value) for value in (self.before, self.after))
        lower = " (lower is better)" if self.scale.higher_is_better is False else ""
        return f"{self.scale.metric} {verb} from {ends}{lower}"

    def list_evidence(self, first: float, last: float) -> Iterator[str]:
        """The values at both ends, such as ``loss: at(A, 10) = 0.3``."""
        for step, value in ((first, self.before), (last, self.after)):
            call = self.series.field.format_call("at", self.series.name, step)
            yield f"{self.scale.metric}: {call} = {self.series.format(value)}"


def observe_part_company(fields: Sequence[Field]) -> Iterator[Observation]:
    """For each series and two metrics the steps over which one improves while the other worsens most.

    The steps are those where the smaller of the two moves is largest, each as a share of its plotted range.
    A metric of which neither way is better may move either way while the other worsens; it never worsens.
    The order of the metrics does not matter.
    """
    for one, other in combinations(sorted(fields, key=lambda field: field.scale.metric), 2):
        if one.scale.metric != other.scale.metric and min(one.plotted_range, other.plotted_range) > 0:
            for name in sorted(set(one.series) & set(other.series)):
                pair = one.series[name], other.series[name]
                partings = [*_find_parting(*pair), *_find_parting(*reversed(pair))]
                if partings:
                    yield max(partings, key=lambda observation: observation.strength)


def _find_parting(better: Series, worse: Series) -> Iterator[Observation]:
    inferred = better.is_moving and worse.is_moving
    if not inferred and not (better.field.few and worse.field.few):
        return
    steps, up, down = _find_common_steps(better, worse, inferred=inferred)
    if not worse.field.ranks or steps.size < 2:  # noqa: PLR2004 - nothing moves at one step
        return
    gain = (up[None, :] - up[:, None]) / better.field.plotted_range
    gain = gain if better.field.ranks else np.abs(gain)
    loss = (down[:, None] - down[None, :]) / worse.field.plotted_range
    both = np.triu(np.minimum(gain, loss), 1)
    largest = float(both.max())
    if largest < _SHARE:
        return
    # Of equal ones the shortest, then the first.
    starts, ends = np.nonzero(both >= largest * (1 - SAME))
    first = int(np.lexsort((starts, ends - starts))[0])
    places = [int(starts[first]), int(ends[first])]
    moves = []
    for series, values in ((better, up), (worse, down)):
        before, after = (series.field.sign * values[places]).tolist()
        moves.append(_Move(series, before, after, inferred))
    start, end = steps[places].tolist()
    if all(move.is_clear(start, end) for move in moves):
        yield _make_observation(start, end, moves)


def _find_common_steps(
    better: Series, worse: Series, *, inferred: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Steps that both metrics reach, and the courses or readings of both there, more being better."""
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


def _make_observation(start: float, end: float, moves: Sequence[_Move]) -> Observation:
    better, worse = moves
    name, scale = worse.series.name, worse.scale
    weaker = min(moves, key=lambda move: move.strength)
    basis = weaker.series.describe_threshold(weaker.size, inferred=weaker.inferred)
    return Observation(
        rule=Rule.PART_COMPANY,
        text=(
            f"{name}{'' if better.inferred else ', by its readings,'} "
            f"from {format_range(start, end, scale)}: {better.describe()}, while {worse.describe()}."
        ),
        evidence=tuple(text for move in moves for text in move.list_evidence(start, end)),
        threshold=f"{weaker.scale.metric}: {basis}",
        series=(name,),
        strength=weaker.strength,
        metric=scale.metric,
        from_step=start,
        to_step=end,
    )
