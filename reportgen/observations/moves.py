"""How far a series moves from where it starts, up or down, and by when it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reportgen.observations.field import SAME

if TYPE_CHECKING:
    from reportgen.model import FloatArray
    from reportgen.observations.field import Field

DONE = 0.9
"""A move is as good as done at this share of it."""

CLEAR = 3.0
"""A part of a course that is so many standard errors high is clear, where the course itself is."""

STAYS = 0.35
"""What loses more than the rest of it again is a peak or a dip."""

_DOUBT = 2.0


@dataclass(frozen=True, slots=True)
class Move:
    """A rise or fall from the start to the level that a series gets to.

    Attributes:
        series: whose.
        up: True where values rise, as measured.
        inferred: whether a test has found it; otherwise it is one of the readings.
        start, end: the first value, and the furthest one: of the course, or of the readings.
        start_step: the first step.
        reached: the first step with 90 % of the move.
        earliest: the first step at which noise leaves open whether it is there.
    """

    series: str
    up: bool
    inferred: bool
    start: float
    end: float
    start_step: float
    reached: float
    earliest: float

    @property
    def size(self) -> float:
        """How far it goes, 0 or more."""
        return abs(self.end - self.start)


def find_move(field: Field, series: str) -> Move | None:
    """The larger of the rise and the fall of a series from its start; None if there is none to tell of."""
    if field.is_moving(series):
        course = field.get_course(series)
        level = course.level
        far = int(np.argmax(np.abs(level - level[0])))
        error, size = course.compute_error(far, 0), float(level[far] - level[0])
        stays = float(level[-1] - level[0]) / size if size else 0.0
        if abs(size) > max(CLEAR * error, field.least) and stays >= STAYS:
            return _make_move(
                series, field.get_course_steps(series), level, doubt=_DOUBT * error, inferred=True
            )
    if not field.few:
        return None
    own = field.get_points(series)
    found = _make_move(series, own.steps, own.values, doubt=0.0, inferred=False)
    return found if found is not None and field.readings_alone.is_exceeded(found.size) else None


def _make_move(
    series: str, steps: FloatArray, values: FloatArray, *, doubt: float, inferred: bool
) -> Move | None:
    up = bool(values.max() - values[0] >= values[0] - values.min())
    risen = (1.0 if up else -1.0) * (values - values[0])
    size = float(risen.max())
    if size <= 0:
        return None
    reached, earliest = (
        float(steps[np.flatnonzero(risen >= level - SAME * abs(level))[0]])
        for level in (DONE * size, max(DONE * size - doubt, 0.0))
    )
    end = float(values[0]) + (size if up else -size)
    return Move(series, up, inferred, float(values[0]), end, float(steps[0]), reached, earliest)
