"""Numbers as two ``report.json`` files hold them, where the data behind one of them are not there.

Runs and items are not known, so nothing is paired and no difference is tested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from reportgen.review.comparison.effects import Effect
from reportgen.review.comparison.identity import match
from reportgen.review.comparison.verdicts import Moved, judge, list_differences
from reportgen.review.model import Estimate
from reportgen.review.snapshot import NO_METHOD, define_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reportgen.review.comparison.figures import ChangeContext
    from reportgen.review.model import Cause, NumberChange
    from reportgen.review.snapshot import Snapshot

_UNPAIRED: Final = "cannot be paired from report.json"


class _Reported(NamedTuple):
    """A number of a page as if it were new, and how it is defined and was measured."""

    number: Moved
    estimate: Estimate
    definition: Mapping[str, str]
    protocol: Mapping[str, str]

    @property
    def name(self) -> tuple[str, str, str, str]:
        """What it is, whatever block shows it."""
        return self.number.page, self.number.benchmark, self.number.series, self.number.metric


def compare_reported(
    base: Snapshot, head: Snapshot, around: ChangeContext
) -> tuple[tuple[NumberChange, ...], int]:
    """Every number that differs, and how many are the same."""
    matched = match(
        list(_list_numbers(base.report, around.renamed)),
        list(_list_numbers(head.report, {})),
        lambda one: (one.name, one.number.block),
        lambda one: one.name,
        lambda one: (one.number.page, one.number.block, one.number.series),
    )
    moved = [_compare(before, after, around) for before, after in matched.pairs]
    moved += [replace(one.number, before=one.estimate, after=None) for one in matched.gone]
    judged = [judge(one, None) for one in (*moved, *(one.number for one in matched.new))]
    numbers = tuple(one for one in judged if one is not None)
    return numbers, len(judged) - len(numbers)


def _compare(before: _Reported, after: _Reported, around: ChangeContext) -> Moved:
    moved = replace(
        after.number,
        before=before.estimate,
        definitions=list_differences(before.definition, after.definition),
        protocol=list_differences(before.protocol, after.protocol),
    )
    differs = before.estimate != after.estimate
    defined = bool(moved.definitions or moved.protocol)
    causes: tuple[Cause, ...] = around.find_causes(None, numbers=differs, words=False, defined=defined)
    if not differs:
        return replace(moved, causes=causes)
    if causes == ("tool",):
        moved = replace(moved, protocol=("the same data, computed by another version of reportgen",))
    effect = Effect("none", after.estimate.value - before.estimate.value, reason=_UNPAIRED)
    return replace(moved, effect=effect, causes=causes)


def _list_numbers(report: Mapping[str, Any], renamed: Mapping[str, str]) -> Iterator[_Reported]:
    """Every number once: the ends of curves, and scores of blocks about scores."""
    seen = set()
    for page in report["pages"]:
        path = renamed.get(page["path"], page["path"])
        for shown in (*page["stacks"], *page["figures"]):
            numbers = shown["numbers"]
            for name, benchmark, value, protocol in _list_values(numbers):
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
                    before=None,
                    after=estimate,
                )
                method = {name: text for name, text in protocol.items() if name not in NO_METHOD}
                yield _Reported(number, estimate, define_numbers(numbers) | {"metric": metric}, method)


def _list_values(
    numbers: Mapping[str, Any],
) -> Iterator[tuple[str, str, Mapping[str, Any], Mapping[str, str]]]:
    """Series, benchmark, value with its interval, and protocol, of one block or figure."""
    series, protocols = numbers.get("series"), numbers.get("protocol", {})
    for one in numbers.get("scores", ()):
        yield one["series"], "", {**one, "value": one["estimate"]}, protocols.get(one["series"], {})
    if isinstance(series, list):
        for one in series:
            if isinstance(one, dict) and "last" in one:
                yield one["name"], "", one["last"], {}
    if isinstance(series, dict):
        for name, cells in series.items():
            for benchmark, cell in cells.items():
                score = cell["score"]
                protocol = numbers["benchmarks"][benchmark]["protocol"].get(name, {})
                yield name, benchmark, {**score, "value": score["estimate"]}, protocol
