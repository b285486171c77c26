"""Series ranked by one value each, with those that cannot be told from the best."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.observations.aligned import SAME

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.observations.field import Field, Threshold


class Ranked(NamedTuple):
    """Who is best in one respect.

    Attributes:
        values: of every series, as measured.
        steps: where they stand.
        order: names, best first; of equal values in the order of steps, then of names.
        level: the first of ``order`` and all that cannot be told from it.
        lead: the difference of the first and the best of those that are not level; of the second if all are.
        held: what ``lead`` is held against.
    """

    values: Mapping[str, float]
    steps: Mapping[str, float]
    order: tuple[str, ...]
    level: tuple[str, ...]
    lead: float
    held: Threshold

    @property
    def first(self) -> str:
        """The best, or the first of those that share its value."""
        return self.order[0]


def ranked_peaks(field: Field) -> Ranked:
    """The best value of each of two or more series, at the first step that has it."""
    values, steps = {}, {}
    for name in sorted(field.names):
        own = field.points(name)
        at = int(np.argmax(field.sign * own.values))
        values[name], steps[name] = float(own.values[at]), float(own.steps[at])
    return _ranked(field, values, steps)


def ranked_ends(field: Field) -> Ranked:
    """The last value of each of two or more series."""
    last = {name: field.points(name) for name in sorted(field.names)}
    values = {name: float(own.values[-1]) for name, own in last.items()}
    return _ranked(field, values, {name: float(own.steps[-1]) for name, own in last.items()})


def _ranked(field: Field, values: Mapping[str, float], steps: Mapping[str, float]) -> Ranked:
    order = tuple(sorted(values, key=lambda name: (-field.sign * values[name], steps[name], name)))
    first = order[0]
    held = {
        name: field.threshold(first, name, choices=len(order) - 1, steps=(steps[first], steps[name]))
        for name in order[1:]
    }
    behind = {name: abs(values[first] - values[name]) for name in held}
    level = [name for name in held if behind[name] <= held[name].value * (1 + SAME)]
    rest = [name for name in held if name not in set(level)] or list(held)
    return Ranked(values, steps, order, (first, *level), behind[rest[0]], held[rest[0]])
