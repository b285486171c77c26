"""All numbers of two states that are not the same, and the tests of their differences as one family."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from reportgen.core.report_json import NO_METHOD, list_values
from reportgen.review.comparison.effects import Effect, ItemChanges, adjust_family
from reportgen.review.comparison.identity import match, match_requests
from reportgen.review.comparison.readings import PairOfReadings, Reading
from reportgen.review.comparison.verdicts import Moved, judge, list_differences
from reportgen.review.model import Estimate, Family
from reportgen.review.snapshot import define_numbers
from reportgen.statistics.permutation_tests import count_draws

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from reportgen.core.model import Request
    from reportgen.review.comparison.effects import ItemSides
    from reportgen.review.comparison.figures import ChangeContext
    from reportgen.review.model import NumberChange
    from reportgen.review.snapshot import Drafted, RequestedNumbers, Snapshot
    from reportgen.statistics.permutation_tests import Hypothesis

_UNPAIRED: Final = "cannot be paired from report.json"


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
        fresh = tuple(name for name in pair[1].series if changes.take(*pair, name))
        changes.add_pair(PairOfReadings(Reading(base, pair[0]), Reading(head, pair[1]), fresh))
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
        changes.add_alone(Reading(own, requested), names, is_new=is_new)
    return changes.test()


def _identify(request: Request, series: str) -> Hashable:
    """What a number is, whatever block shows it."""
    which = (request.source, request.metric, request.where, series)
    return type(request), getattr(request, "x", None), getattr(request, "benchmark", None), *which


class _Changes:
    """Collects what moved, and tests it as one family."""

    def __init__(self) -> None:
        self._moved: list[Moved] = []
        # What is paired by item on one benchmark, with its places among all that moved.
        self._items: list[tuple[PairOfReadings, list[tuple[int, ItemSides]]]] = []
        self._seen: set[Hashable] = set()
        self._same = 0

    def take(self, before: RequestedNumbers, after: RequestedNumbers, series: str) -> bool:
        """Whether a number, or one that takes the place of another, comes for the first time."""
        key = tuple(_identify(one.request, series) for one in (before, after))
        fresh = key not in self._seen
        self._seen.add(key)
        return fresh

    def add_pair(self, pair: PairOfReadings) -> None:
        """What a block shows in both states."""
        if pair.is_same:
            self._same += len(pair.names)
            return
        items = []
        for moved, sides in pair.compare():
            if sides is not None:
                items.append((len(self._moved), sides))
            self._moved.append(moved)
        if items:
            self._items.append((pair, items))
        self.add_alone(pair.before, pair.series.gone, is_new=False)
        fresh = [name for name in pair.series.new if name in pair.names]
        self.add_alone(pair.after, fresh, is_new=True)

    def add_alone(self, reading: Reading, names: Iterable[str], *, is_new: bool) -> None:
        """Series that one state alone has."""
        requested = reading.requested
        for name in names:
            own = reading.estimates.get(name)
            if own and (is_new or self.take(requested, requested, f"gone\0{name}")):
                sides = (None, own) if is_new else (own, None)
                moved = replace(reading.describe(name), causes=("data",), before=sides[0], after=sides[1])
                self._moved.append(moved)

    def test(self) -> ComparedNumbers:
        """Estimate and test everything that moved, and judge it."""
        moved = [*self._moved]
        draws = count_draws(sum(len(items) for _, items in self._items))
        hypotheses: list[Hypothesis | None] = [None] * len(moved)
        for pair, items in self._items:
            changes = ItemChanges(*pair.describe_items(), [sides for _, sides in items], draws)
            for index, (place, _) in enumerate(items):
                effect = changes.estimate(index, pair.after.requested.request.level)
                moved[place] = replace(moved[place], effect=effect)
                hypotheses[place] = changes.make_hypothesis(index) if effect.p is not None else None
        effects = [one.effect if one.effect and one.is_testable else Effect("none", None) for one in moved]
        family = adjust_family(effects, hypotheses, draws)
        judged = [judge(one, p) for one, p in zip(moved, family.adjusted, strict=True)]
        numbers = tuple(one for one in judged if one is not None)
        counts = {"step-down": family.stepped, "holm": family.others}
        correction = " and ".join(name for name, count in counts.items() if count) or "none"
        tested = Family.fit(tests=sum(counts.values()), correction=correction)
        return ComparedNumbers(numbers, tested, self._same + len(judged) - len(numbers))


class _Reported(NamedTuple):
    """A number of a page as if it were new, and how it is defined and was measured."""

    number: Moved
    definition: Mapping[str, str]
    protocol: Mapping[str, str]

    @property
    def name(self) -> tuple[str, str, str, str]:
        """What it is, whatever block shows it."""
        return self.number.page, self.number.benchmark, self.number.series, self.number.metric


def compare_reported(base: Snapshot, head: Snapshot, around: ChangeContext) -> ComparedNumbers:
    """Compare numbers as two ``report.json`` hold them, where the data behind one of them are not there.

    Runs and items are not known, so nothing is paired and no difference is tested.
    """
    matched = match(
        list(_list_numbers(base.report, around.renamed)),
        list(_list_numbers(head.report, {})),
        lambda one: (one.name, one.number.block),
        lambda one: one.name,
        lambda one: (one.number.page, one.number.block, one.number.series),
    )
    moved = []
    for before, after in matched.pairs:
        was, now = before.number.after, after.number.after
        definitions = list_differences(before.definition, after.definition)
        protocol = list_differences(before.protocol, after.protocol)
        defined = bool(definitions or protocol)
        causes = around.find_causes(None, numbers=was != now, words=False, defined=defined)
        effect = None
        if was and now and was != now:
            if causes == ("tool",):
                protocol = ("the same data, computed by another version of reportgen",)
            effect = Effect("none", now.value - was.value, reason=_UNPAIRED)
        found = {"definitions": definitions, "protocol": protocol, "causes": causes, "effect": effect}
        moved.append(replace(after.number, before=was, **found))
    moved += [replace(one.number, before=one.number.after, after=None) for one in matched.gone]
    judged = [judge(one, None) for one in (*moved, *(one.number for one in matched.new))]
    numbers = tuple(one for one in judged if one is not None)
    return ComparedNumbers(numbers, Family(), len(judged) - len(numbers))


def _list_numbers(report: Mapping[str, Any], renamed: Mapping[str, str]) -> Iterator[_Reported]:
    """Every number once: the ends of curves, and scores of blocks about scores."""
    seen = set()
    for page in report["pages"]:
        path = renamed.get(page["path"], page["path"])
        for shown in (*page["stacks"], *page["figures"]):
            numbers = shown["numbers"]
            for name, benchmark, value, protocol in list_values(numbers):
                metric = value.get("metric") or numbers.get("metric") or "score"
                key = path, benchmark, name, metric
                if value["value"] is None or key in seen:
                    continue
                seen.add(key)
                n = value.get("n") or value.get("problems")
                estimate = Estimate(value=value["value"], low=value.get("low"), high=value.get("high"), n=n)
                number = Moved(
                    page=path,
                    block=shown["id"],
                    title=shown["title"],
                    benchmark=benchmark,
                    series=name,
                    metric=metric,
                    step=value.get("step"),
                    higher_is_better=numbers.get("higher_is_better"),
                    after=estimate,
                )
                method = {name: text for name, text in protocol.items() if name not in NO_METHOD}
                yield _Reported(number, define_numbers(numbers) | {"metric": metric}, method)
