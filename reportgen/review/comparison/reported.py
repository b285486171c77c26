"""Numbers as two ``report.json`` files hold them, where the data behind one of them are not there.

Runs and items are not known, so nothing is paired and no difference is tested.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

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


@dataclass(frozen=True, slots=True)
class _Reported:
    """A number of a page, and how it is defined and was measured."""

    page: str  # its path after, if it was renamed
    block: str
    title: str
    benchmark: str
    series: str
    step: float | None
    estimate: Estimate
    higher_is_better: bool | None
    definition: Mapping[str, str]
    protocol: Mapping[str, str]


def compare_reported(
    base: Snapshot, head: Snapshot, around: ChangeContext
) -> tuple[tuple[NumberChange, ...], int]:
    """Every number that differs, and how many are the same."""
    matched = match(
        list(_list_numbers(base.report, around.renamed)),
        list(_list_numbers(head.report, {})),
        lambda one: (one.page, one.block, one.benchmark, one.series, one.definition["metric"]),
        lambda one: (one.page, one.benchmark, one.series, one.definition["metric"]),
        lambda one: (one.page, one.block, one.series),
    )
    moved = [_compare(before, after, around) for before, after in matched.pairs]
    moved += [replace(_describe(one), before=one.estimate) for one in matched.gone]
    moved += [replace(_describe(one), after=one.estimate) for one in matched.new]
    judged = [judge(one, None) for one in moved]
    numbers = tuple(one for one in judged if one is not None)
    return numbers, len(judged) - len(numbers)


def _compare(before: _Reported, after: _Reported, around: ChangeContext) -> Moved:
    moved = replace(
        _describe(after),
        before=before.estimate,
        after=after.estimate,
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


def _describe(one: _Reported) -> Moved:
    return Moved(
        page=one.page,
        block=one.block,
        title=one.title,
        benchmark=one.benchmark,
        series=one.series,
        metric=one.definition["metric"],
        step=one.step,
        higher_is_better=one.higher_is_better,
        before=None,
        after=None,
    )


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
                ends = value.get("low"), value.get("high")
                n = value.get("n") or value.get("problems")
                yield _Reported(
                    page=path,
                    block=shown["id"],
                    title=shown["title"],
                    benchmark=benchmark,
                    series=name,
                    step=value.get("step"),
                    estimate=Estimate(value=value["value"], low=ends[0], high=ends[1], n=n),
                    higher_is_better=numbers.get("higher_is_better"),
                    definition=define_numbers(numbers) | {"metric": metric},
                    protocol={name: text for name, text in protocol.items() if name not in NO_METHOD},
                )


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
