"""The rule ``part company``: one metric gets better, or just moves, while another gets worse.

Both are of the same series. A metric just moves where neither way of it is better: a KL that rises.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.observations.aligned import SAME, aligned
from reportgen.observations.phrases import fact, range_said
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.model import FloatArray
    from reportgen.observations.field import Field, Threshold

_MOST_STEPS = 300
"""Of more steps evenly spaced ones are looked at: every pair of them is."""

_SHARE = 0.1
"""What is less than this share of the plotted range is no parting of ways."""


class _Move(NamedTuple):
    """What one metric of a series does between two steps: its values there, as measured."""

    field: Field
    before: float
    after: float
    held: Threshold

    @property
    def size(self) -> float:
        return abs(self.after - self.before)

    @property
    def strength(self) -> float:
        return self.held.strength(self.size)


def part_company(fields: Sequence[Field]) -> Iterator[Observation]:
    """For each series and two metrics the steps over which one improves while the other worsens most.

    The steps are those where the smaller of the two moves is largest, each as a share of its plotted range.
    A metric of which neither way is better may move either way while the other worsens; it never worsens.

    Args:
        fields: the metrics of one block, in any order.
    """
    for one, other in combinations(sorted(fields, key=lambda field: field.scale.metric), 2):
        if one.scale.metric != other.scale.metric and min(one.plotted_range, other.plotted_range) > 0:
            for series in sorted(set(one.names) & set(other.names)):
                found = [*_parting(one, other, series), *_parting(other, one, series)]
                if found:
                    yield max(found, key=lambda observation: observation.strength)


def _parting(better: Field, worse: Field, series: str) -> Iterator[Observation]:
    steps, up, down = _common(better, worse, series)
    if not worse.ranks or steps.size < 2:  # noqa: PLR2004 - nothing moves at one step
        return
    gain = (up[None, :] - up[:, None]) / better.plotted_range
    gain, ways = (gain, 1) if better.ranks else (np.abs(gain), 2)
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
        held = field.threshold(series, choices=ways * steps.size**2, steps=ends_at)
        moves.append(_Move(field, before, after, held))
    if all(move.size > move.held.value * (1 + SAME) for move in moves):
        yield _observation(series, ends_at, moves)


def _common(better: Field, worse: Field, series: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Steps that both metrics reach, and both metrics there, more being better."""
    sides = [aligned(field, (series,)) for field in (better, worse)]
    steps = np.union1d(sides[0].steps, sides[1].steps)
    start, end = max(side.steps[0] for side in sides), min(side.steps[-1] for side in sides)
    steps = steps[(steps >= start) & (steps <= end)]
    if steps.size > _MOST_STEPS:
        steps = steps[np.unique(np.linspace(0, steps.size - 1, _MOST_STEPS).round().astype(np.int64))]
    return steps, *(np.interp(steps, side.steps, side.good[0]) for side in sides)


def _observation(series: str, ends: tuple[float, float], moves: Sequence[_Move]) -> Observation:
    better, worse = moves
    scale = worse.field.scale
    weaker = min(moves, key=lambda move: move.strength)
    return Observation(
        rule=Rule.PART_COMPANY,
        text=(
            f"{series} from {range_said(*ends, scale)}: {_said(better, series)}, "
            f"while {_said(worse, series)}."
        ),
        evidence=tuple(
            f"{move.field.scale.metric}: {fact(move.field, 'at', series, step)} = "
            f"{move.field.reading(value, series)}"
            for move in moves
            for step, value in zip(ends, (move.before, move.after), strict=True)
        ),
        threshold=f"{weaker.field.scale.metric}: {weaker.held.words(weaker.size)}",
        series=(series,),
        strength=weaker.strength,
        metric=scale.metric,
        from_step=ends[0],
        to_step=ends[1],
    )


def _said(move: _Move, series: str) -> str:
    """What a metric does, and which way is better where that is down: ``loss rises from 1 to 2``."""
    verb = "rises" if move.after > move.before else "falls"
    ends = " to ".join(move.field.reading(value, series) for value in (move.before, move.after))
    lower = " (lower is better)" if move.field.scale.higher_is_better is False else ""
    return f"{move.field.scale.metric} {verb} from {ends}{lower}"
