"""Series ranked by one value each, with those that cannot be told from the best.

Where neither way of a metric is better, best is highest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.observations.field import Field
    from reportgen.observations.thresholds import Criterion


class Ranking(NamedTuple):
    """Who is best in one respect.

    Attributes:
        values: of every series, as measured.
        steps: where they stand.
        order: names, best first; of equal values in the order of steps, then of names.
        level: the first of ``order`` and all that cannot be told from it.
        lead: the difference of the first and the best of those that are not level; of the second if all are.
        held: what ``lead`` is held against.
        open: whether it is noise that leaves those level.
    """

    values: Mapping[str, float]
    steps: Mapping[str, float]
    order: tuple[str, ...]
    level: tuple[str, ...]
    lead: float
    held: Criterion
    open: bool

    @property
    def first(self) -> str:
        """The best, or the first of those that share its value."""
        return self.order[0]


def rank_peaks(field: Field) -> Ranking:
    """The best reading of each of two or more series, at the first step that has it."""
    values, steps = {}, {}
    for name in sorted(field.names):
        own = field.get_points(name)
        at = int(np.argmax(field.sign * own.values))
        values[name], steps[name] = float(own.values[at]), float(own.steps[at])
    order = _order_series(field, values, steps)
    return _make_ranking(values, steps, order, dict.fromkeys(order[1:], field.readings_alone))


def rank_ends(field: Field) -> Ranking:
    """The last value of each of two or more series; those are level that the test over runs calls tied."""
    last = {name: field.get_points(name) for name in sorted(field.names)}
    values = {name: float(own.values[-1]) for name, own in last.items()}
    steps = {name: float(own.steps[-1]) for name, own in last.items()}
    order = _order_series(field, values, steps)
    held = {name: field.choose_end_criterion(order[0], name) for name in order[1:]}
    return _make_ranking(values, steps, order, held)


def _order_series(field: Field, values: Mapping[str, float], steps: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(sorted(values, key=lambda name: (-field.sign * values[name], steps[name], name)))


def _make_ranking(
    values: Mapping[str, float],
    steps: Mapping[str, float],
    order: tuple[str, ...],
    held: Mapping[str, Criterion],
) -> Ranking:
    first = order[0]
    behind = {name: abs(values[first] - values[name]) for name in held}
    level = [name for name in held if not held[name].is_exceeded(behind[name])]
    rest = [name for name in held if name not in set(level)] or list(held)
    noisy = any(held[name].noisy for name in level)
    return Ranking(values, steps, order, (first, *level), behind[rest[0]], held[rest[0]], noisy)
