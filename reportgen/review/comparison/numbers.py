"""All numbers of two drafts that are not the same, and the tests of their differences as one family."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.model import CurveRequest
from reportgen.review.comparison.effects import Effect, ItemChanges, adjust_family
from reportgen.review.comparison.identity import match_requests
from reportgen.review.comparison.readings import PairOfReadings, describe_number, read_estimates
from reportgen.review.comparison.verdicts import judge
from reportgen.review.model import Family
from reportgen.statistics.permutation_tests import count_draws

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from reportgen.core.model import Request
    from reportgen.review.comparison.effects import ItemSides
    from reportgen.review.comparison.verdicts import Moved
    from reportgen.review.model import Correction, NumberChange
    from reportgen.review.snapshot import Drafted, RequestedNumbers
    from reportgen.statistics.permutation_tests import Hypothesis

_CORRECTIONS: Final[Mapping[tuple[bool, bool], Correction]] = {
    (False, False): "none",
    (True, False): "step-down",
    (False, True): "holm",
    (True, True): "step-down and holm",
}


class ComparedNumbers(NamedTuple):
    """Every number that is not the same, the family of the tests, and how many numbers are the same."""

    numbers: tuple[NumberChange, ...]
    family: Family
    same: int


def compare_numbers(base: Drafted, head: Drafted, renamed: Mapping[str, str]) -> ComparedNumbers:
    """Compare all numbers of two drafts; ``renamed`` has the new paths of pages by their old ones."""
    matched = match_requests(base.numbers, head.numbers, renamed)
    changes = _Changes()
    uses = Counter((side, one.request.source) for pair in matched.pairs for side, one in enumerate(pair))
    for pair in matched.pairs:
        fresh = tuple(name for name in pair[1].series if changes.take(pair[1].request, name))
        changes.add_pair(PairOfReadings((base, head), pair, fresh))
        for side, one in enumerate(pair):
            uses[side, one.request.source] -= 1
            if not uses[side, one.request.source]:  # all curves of a large change would fill the memory
                (base, head)[side].results.forget(one.request.source)
    # A number that another block shows in the other state is neither new nor gone.
    for requested, own, others, is_new in (
        *((one, base, head.numbers, False) for one in matched.gone),
        *((one, head, base.numbers, True) for one in matched.new),
    ):
        elsewhere = {_identify(one.request, name) for one in others for name in one.series}
        names = [name for name in requested.series if _identify(requested.request, name) not in elsewhere]
        changes.add_alone(requested, own, names, is_new=is_new)
    return changes.test()


def _identify(request: Request, series: str) -> Hashable:
    """What a number is, whatever block shows it."""
    if isinstance(request, CurveRequest):
        return request.source, request.metric, request.x, request.where, series
    return request.source, request.benchmark, request.metric, request.where, series


class _Items(Struct):
    """What is paired by item on one benchmark, and its places in the list of all that moved."""

    pair: PairOfReadings
    sides: list[ItemSides] = field(default_factory=list)
    places: list[int] = field(default_factory=list)


class _Changes:
    """Collects what moved, and tests it as one family."""

    def __init__(self) -> None:
        self._moved: list[Moved] = []
        self._items: list[_Items] = []
        self._seen: set[Hashable] = set()
        self._same = 0

    def take(self, request: Request, series: str) -> bool:
        """Whether a number comes for the first time."""
        key = _identify(request, series)
        fresh = key not in self._seen
        self._seen.add(key)
        return fresh

    def add_pair(self, pair: PairOfReadings) -> None:
        """What a block shows in both states."""
        if pair.is_same:
            self._same += len(pair.names)
            return
        items = _Items(pair)
        for moved, sides in pair.compare():
            if sides is not None:
                items.sides.append(sides)
                items.places.append(len(self._moved))
            self._moved.append(moved)
        if items.sides:
            self._items.append(items)
        (base, head), (before, after) = pair.drafts, pair.requested
        self.add_alone(before, base, pair.series.gone, is_new=False)
        fresh = [name for name in pair.series.new if name in pair.names]
        self.add_alone(after, head, fresh, is_new=True)

    def add_alone(
        self, requested: RequestedNumbers, draft: Drafted, names: Iterable[str], *, is_new: bool
    ) -> None:
        """Series that one state alone has."""
        estimates = read_estimates(draft, requested.request) if names else {}
        for name in names:
            if name in estimates and (is_new or self.take(requested.request, f"gone\0{name}")):
                moved = replace(describe_number(requested, name), causes=("data",))
                own = estimates[name]
                self._moved.append(replace(moved, after=own) if is_new else replace(moved, before=own))

    def test(self) -> ComparedNumbers:
        """Estimate and test everything that moved, and judge it."""
        moved = [*self._moved]
        draws = count_draws(sum(len(one.sides) for one in self._items))
        hypotheses: list[Hypothesis | None] = [None] * len(moved)
        for items in self._items:
            changes = ItemChanges(*items.pair.describe_items(), items.sides, draws)
            for index, place in enumerate(items.places):
                effect = changes.estimate(index, items.pair.requested[1].request.level)
                moved[place] = replace(moved[place], effect=effect)
                hypotheses[place] = changes.make_hypothesis(index) if effect.p is not None else None
        effects = [one.effect if one.effect and one.is_testable else Effect("none", None) for one in moved]
        family = adjust_family(effects, hypotheses, draws)
        judged = [judge(one, p) for one, p in zip(moved, family.adjusted, strict=True)]
        numbers = tuple(one for one in judged if one is not None)
        return ComparedNumbers(
            numbers,
            Family(
                tests=family.stepped + family.others,
                correction=_CORRECTIONS[family.stepped > 0, family.others > 0],
            ),
            self._same + len(judged) - len(numbers),
        )
