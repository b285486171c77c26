"""Facts about the curves of one metric, on the unsmoothed centre of each series."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from reportgen.facts.calls import TOO_LARGE, Answer, Call, make_call, make_fact
from reportgen.facts.curve_numbers import get_points
from reportgen.facts.curve_pairs import PAIR_FACTS, Pairs
from reportgen.facts.curve_values import SERIES_FACTS, CurveContext
from reportgen.words import join_names

if TYPE_CHECKING:
    from reportgen.facts.subject import Argument
    from reportgen.model import Curve, CurveSet
    from reportgen.statements import Fact, Scale


# Kept with the instance, hence no slots.
@dataclass(frozen=True, eq=False)
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
