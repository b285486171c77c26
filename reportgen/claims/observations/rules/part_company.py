"""The rule ``part company``: one metric gets better, or just moves, while another gets worse.

Both are of the same series. A metric just moves where neither way of it is better: a KL that rises.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.claims.observations.phrases import format_call_of, format_range
from reportgen.claims.observations.rules.moves import CLEAR
from reportgen.claims.observations.thresholds import SAME
from reportgen.core.statements import Observation
from reportgen.settings.blocks import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.claims.observations.field import Field
    from reportgen.core.model import FloatArray


_MOST_STEPS = 300
"""Of more steps evenly spaced ones are looked at: every pair of them is."""

_SHARE = 0.1
"""What is less than this share of the plotted range is no parting of ways."""


class _Move(NamedTuple):
    """What one metric of a series does between two steps: its values there, and whether that is tested."""

    field: Field
    before: float
    after: float
    inferred: bool

    @property
    def size(self) -> float:
        return abs(self.after - self.before)

    @property
    def strength(self) -> float:
        return self.field.readings_alone.strength(self.size)


def observe_part_company(fields: Sequence[Field]) -> Iterator[Observation]:
    """For each series and two metrics the steps over which one improves while the other worsens most.

    The steps are those where the smaller of the two moves is largest, each as a share of its plotted range.
    A metric of which neither way is better may move either way while the other worsens; it never worsens.

    Args:
        fields: the metrics of one block, in any order.
    """
    for one, other in combinations(sorted(fields, key=lambda field: field.scale.metric), 2):
        if one.scale.metric != other.scale.metric and min(one.plotted_range, other.plotted_range) > 0:
            for series in sorted(set(one.names) & set(other.names)):
                found = [*_find_parting(one, other, series), *_find_parting(other, one, series)]
                if found:
                    yield max(found, key=lambda observation: observation.strength)


def _find_parting(better: Field, worse: Field, series: str) -> Iterator[Observation]:
    inferred = better.is_moving(series) and worse.is_moving(series)
    if not inferred and not (better.few and worse.few):
        return
    steps, up, down = _find_common_steps(better, worse, series, inferred=inferred)
    if not worse.ranks or steps.size < 2:  # noqa: PLR2004 - nothing moves at one step
        return
    gain = (up[None, :] - up[:, None]) / better.plotted_range
    gain = gain if better.ranks else np.abs(gain)
    loss = (down[:, None] - down[None, :]) / worse.plotted_range
    both = np.triu(np.minimum(gain, loss), 1)
    largest = float(both.max())
    if largest < _SHARE:
        return
    # Of equal ones the shortest, then the first.
    starts, ends = np.nonzero(both >= largest * (1 - SAME))
    first = int(np.lexsort((starts, ends - starts))[0])
    places = [int(starts[first]), int(ends[first])]
    ends_at = (float(steps[places[0]]), float(steps[places[1]]))
    moves = []
    for field, values in ((better, up), (worse, down)):
        before, after = (field.sign * values[places]).tolist()
        moves.append(_Move(field, before, after, inferred))
    if all(_is_clear(move, series, ends_at) for move in moves):
        yield _make_observation(series, ends_at, moves)


def _is_clear(move: _Move, series: str, ends: tuple[float, float]) -> bool:
    """Whether a move is more than the least that is told, and of a course clear beside its error."""
    if not move.inferred:
        return move.field.readings_alone.is_exceeded(move.size)
    course, steps = move.field.get_course(series), move.field.get_course_steps(series)
    places = [int(np.argmin(np.abs(steps - end))) for end in ends]
    return move.size > max(CLEAR * course.compute_error(*places), move.field.least)


def _find_common_steps(
    better: Field, worse: Field, series: str, *, inferred: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Steps that both metrics reach, and the courses or readings of both there, more being better."""
    sides = [
        (field.get_course_steps(series), field.sign * field.get_course(series).level)
        if inferred
        else (field.get_points(series).steps, field.sign * field.get_points(series).values)
        for field in (better, worse)
    ]
    steps = np.union1d(sides[0][0], sides[1][0])
    start, end = max(side[0][0] for side in sides), min(side[0][-1] for side in sides)
    steps = steps[(steps >= start) & (steps <= end)]
    if steps.size > _MOST_STEPS:
        steps = steps[np.unique(np.linspace(0, steps.size - 1, _MOST_STEPS).round().astype(np.int64))]
    return steps, *(np.interp(steps, *side) for side in sides)


def _make_observation(series: str, ends: tuple[float, float], moves: Sequence[_Move]) -> Observation:
    better, worse = moves
    scale = worse.field.scale
    weaker = min(moves, key=lambda move: move.strength)
    return Observation(
        rule=Rule.PART_COMPANY,
        text=(
            f"{series}{'' if better.inferred else ', by its readings,'} from {format_range(*ends, scale)}: "
            f"{_describe_move(better, series)}, while {_describe_move(worse, series)}."
        ),
        evidence=tuple(
            f"{move.field.scale.metric}: {format_call_of(move.field, 'at', series, step)} = "
            f"{move.field.format_reading(value, series)}"
            for move in moves
            for step, value in zip(ends, (move.before, move.after), strict=True)
        ),
        threshold=f"{weaker.field.scale.metric}: {_threshold(weaker, series)}",
        series=(series,),
        strength=weaker.strength,
        metric=scale.metric,
        from_step=ends[0],
        to_step=ends[1],
    )


def _threshold(move: _Move, series: str) -> str:
    return (
        move.field.describe_course_test(series)
        if move.inferred
        else move.field.readings_alone.describe(move.size)
    )


def _describe_move(move: _Move, series: str) -> str:
    """What a metric does, and which way is better where that is down: ``loss rises from 1 to 2``."""
    verb = "goes"
    if move.inferred:
        verb = "rises" if move.after > move.before else "falls"
    ends = " to ".join(move.field.format_reading(value, series) for value in (move.before, move.after))
    lower = " (lower is better)" if move.field.scale.higher_is_better is False else ""
    return f"{move.field.scale.metric} {verb} from {ends}{lower}"
