"""A review in words, for the terminal, the page and the comment alike: numbers, verdicts, causes and counts.

Numbers of a review are finite, but nothing else is certain of them: a file may hold 1e308, or an interval
that ends before it begins. Names and sentences may be a stranger's: who shows them escapes or quotes them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.comparisons import VERDICT_WORDS, Verdict
from reportgen.core.digits import choose_decimals, choose_percent_decimals
from reportgen.core.words import (
    format_count,
    format_nonzero,
    format_number,
    join_names,
)
from reportgen.review.model import FigureChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.review.model import (
        Causes,
        Delta,
        Estimate,
        NumberChange,
        Origin,
        PageChange,
        Review,
        SourceChange,
        StatementChange,
        StatementSide,
        TableChange,
    )

_SHORT_COMMIT: Final = 8
# Shares beyond are no shares, and decimals of larger or finer numbers are written with an exponent.
_MOST_SHARE, _LARGEST, _FINEST = 1e6, 1e9, 1e-5
_GOOD: Final = {True: ", better", False: ", worse", None: ""}
_CAUSES: Final = {"data": "the data", "text": "the text", "definition": "its definition", "tool": "reportgen"}
_CORRECTIONS: Final = {
    "none": "",
    "holm": "Holm's method",
    "step-down": "a step-down test",
    "step-down and holm": "a step-down test where problems are shared, and Holm's method elsewhere",
}
_SHOWN: Final = {
    "data": "changed",
    "definition": "defined differently",
    "looks": "looks different, with the same numbers",
    "new": "new",
    "gone": "gone",
}
_OBVIOUS: Final[dict[str, Causes]] = {
    "data": ("data",),
    "definition": ("definition",),
    "looks": ("definition",),
}
_STATEMENTS: Final = {
    ("broken", "claim"): "became false",
    ("broken", "value"): "no longer matches",
    ("mended", "claim"): "put right",
    ("mended", "value"): "matches again",
    ("changed", "claim"): "reworded",
    ("changed", "value"): "reworded",
}


# ---- numbers


class Digits(NamedTuple):
    """How the values of one number are written."""

    share: bool  # in percent; differences in percentage points
    decimals: int | None  # None for four significant digits
    signed: bool = False  # whether they are differences

    def write(self, value: float) -> str:
        """A value without its unit."""
        scaled = value * 100 if self.share else value
        if self.signed:
            return format_nonzero(scaled, decimals=self.decimals, signed=True)
        return format_number(scaled, decimals=self.decimals)

    def format_value(self, value: float) -> str:
        """A value with its unit: ``28.0%``, ``+4.0 points``."""
        unit = (" points" if self.signed else "%") if self.share else ""
        return f"{self.write(value)}{unit}"

    def format_ends(self, low: float | None, high: float | None) -> str:
        """An interval: ``[17.0, 42.0]``; empty where there is none."""
        if low is None or high is None:
            return ""
        return f"[{self.write(min(low, high))}, {self.write(max(low, high))}]"

    def format_estimate(self, value: float, low: float | None = None, high: float | None = None) -> str:
        """A value with its interval: ``28.0% [17.0, 42.0]``."""
        return f"{self.format_value(value)} {self.format_ends(low, high)}".rstrip()


def choose_digits(
    values: Iterable[float | None], half: float | None, *, percent: bool, signed: bool = False
) -> Digits:
    """The digits that values deserve of which ``half`` an interval, or a difference, is known."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if percent and largest < _MOST_SHARE:
        return Digits(True, choose_percent_decimals(half), signed)
    fits = half is not None and half > _FINEST and largest < _LARGEST
    return Digits(False, choose_decimals(half) if fits else None, signed)


def measure_half(low: float | None, high: float | None) -> float | None:
    """Half an interval, 0 or more; None where there is none."""
    return None if low is None or high is None else abs(high / 2 - low / 2)


def choose_number_digits(number: NumberChange) -> Digits:
    """The digits of a number before and after: by half the interval of the difference, or of a value."""
    parts: list[Delta | Estimate] = [one for one in (number.delta, number.after, number.before) if one]
    halves = [measure_half(one.low, one.high) for one in parts]
    size = abs(number.delta.value) if number.delta else None
    values = [end for one in parts for end in (one.value, one.low, one.high)]
    return choose_digits(values, next(filter(None, (*halves, size)), None), percent=number.percent)


def measure_effect(number: NumberChange) -> float | None:
    """How many half-widths of its interval a difference has; None where there is no interval."""
    half = measure_half(number.delta.low, number.delta.high) if number.delta else None
    if number.delta is None or half is None:
        return None
    return abs(number.delta.value) / half if half else math.copysign(math.inf, abs(number.delta.value))


def rank_numbers(numbers: Iterable[NumberChange]) -> list[NumberChange]:
    """Changed numbers: reported values first, then by the difference in half-widths of its interval."""

    def rank(number: NumberChange) -> tuple[float, str, str, str, str]:
        effect = measure_effect(number)
        reported = number.verdict == "reported value changed"
        order = -math.inf if reported else math.inf if effect is None else -effect
        return order, number.page, number.block, number.series, number.metric

    return sorted((one for one in numbers if one.verdict != "same"), key=rank)


def format_side(number: NumberChange, side: Estimate | None) -> str:
    """The value before or after with its interval: ``28.0% [17.0, 42.0]``."""
    digits = choose_number_digits(number)
    return digits.format_estimate(side.value, side.low, side.high) if side else "none"


def format_change(number: NumberChange) -> str:
    """Both values: ``28.0 → 32.0%``; empty where there is none."""
    digits = choose_number_digits(number)
    values = [digits.write(one.value) for one in (number.before, number.after) if one]
    return f"{' → '.join(values)}{'%' if values and digits.share else ''}"


def format_delta(number: NumberChange) -> str:
    """The difference with its interval: ``+4.0 points [−1.0, +9.0]``; empty where there is none."""
    digits, delta = choose_number_digits(number)._replace(signed=True), number.delta
    return digits.format_estimate(delta.value, delta.low, delta.high) if delta else ""


def format_verdict(number: NumberChange) -> str:
    """The verdict: ``higher, better``, ``unclear``."""
    if number.verdict == "too few":
        return VERDICT_WORDS[Verdict.TOO_FEW]
    return f"{number.verdict}{_GOOD[number.good] if number.verdict in {'higher', 'lower'} else ''}"


def describe_step(step: float) -> str:
    """A step of any size: ``step 1,200``."""
    return f"step {format_number(step, significant=6)}"


def format_place(file: str, line: int | None) -> str:
    """A file with a line in it: ``math500.md:14``."""
    return file if line is None else f"{file}:{line}"


def describe_units(number: NumberChange) -> str:
    """Which runs and problems both sides share: ``3 runs shared, 2 added; 448 problems shared``."""
    others = {"only_base": "only before", "only_head": "only after"}
    sides = [(noun, one) for noun, one in (("run", number.runs), ("problem", number.problems)) if one]
    parts = (join_counts(noun, *((n, others.get(word, word)) for word, n in one)) for noun, one in sides)
    return "; ".join(filter(None, parts))


def describe_reason(number: NumberChange) -> str:
    """Why a number changed, where that is not plain: the data, or what its verdict says."""
    defined = number.verdict in {"not comparable", "measured differently"}
    return describe_causes(number.causes, ("definition",) if defined else ("data",))


def join_counts(noun: str, *counts: tuple[int, str]) -> str:
    """``3 runs shared, 2 added``; empty if all are 0."""
    (first, *more) = [(count, word) for count, word in counts if count] or [(0, "")]
    said = [f"{format_count(first[0], noun)} {first[1]}"] if first[0] else []
    return ", ".join([*said, *(f"{count:,} {word}" for count, word in more)])


# ---- counts


def list_findings(review: Review) -> list[str]:
    """What a reviewer has to know, gravest first: ``1 claim became false``."""
    counts = review.counts
    known = {"worse": counts.worse, "better": sum(one.good is True for one in review.numbers)}
    way = next((word for word, count in known.items() if count == counts.differences), "")
    directions = ", ".join(f"{count:,} {word}" for word, count in known.items() if count)
    noise = "by more than noise" + (f" ({directions})" if directions and not way else "")
    found = [
        (counts.flipped, "claim became false", "claims became false"),
        (
            counts.stale_values,
            "number in the text no longer matches the data",
            "numbers in the text no longer match the data",
        ),
        (review.reported, "reported value changed", "reported values changed"),
        (
            counts.differences,
            f"number {f'is {way}' if way else 'moved'} {noise}",
            f"numbers {f'are {way}' if way else 'moved'} {noise}",
        ),
        (counts.unclear - _count_few(review), "change may be noise", "changes may be noise"),
        (counts.mended, "statement was put right", "statements were put right"),
    ]
    said = [format_count(count, one, many) for count, one, many in found if count > 0]
    both = review.base.built and review.head.built and not review.is_empty
    which = "no number that can be judged" if _count_few(review) or counts.not_comparable else "no number"
    return said or [f"No statement became false, and {which} moved by more than noise"] * both


def describe_findings(review: Review) -> str:
    """The same in one sentence."""
    built = review.base.built and review.head.built
    found = ", ".join(list_findings(review))
    return f"{found or ('Nothing changed' if built else 'There is no report to compare with')}."


def describe_rest(review: Review) -> str:
    """What else became of numbers, in one sentence; empty if nothing did."""
    counts = review.counts
    found = [
        (_count_few(review), "cannot be judged", "cannot be judged"),
        (counts.re_estimated, "was estimated anew from other runs", "were estimated anew from other runs"),
        (counts.measured_differently, "was measured differently", "were measured differently"),
        (counts.not_comparable, "cannot be compared", "cannot be compared"),
        (counts.new, "is new", "are new"),
        (counts.gone, "is gone", "are gone"),
        (counts.same, "is the same", "are the same"),
    ]
    said = [(count, one if count == 1 else many) for count, one, many in found if count > 0]
    if not said or review.is_empty:
        return ""
    others = review.reported or counts.differences or counts.unclear > _count_few(review)
    if len(said) > 1:
        parts = join_names([f"{count:,} {verb}" for count, verb in said])
        return f"Of the {'other ' if others else ''}numbers {parts}."
    ((count, verb),) = said
    if count == 1:
        return f"The {'other' if others else 'only'} number {verb}."
    return f"{'The other' if others else 'All'} {count:,} numbers {verb}."


def _count_few(review: Review) -> int:
    return min(review.counts.unclear, sum(number.verdict == "too few" for number in review.numbers))


def describe_tests(review: Review) -> str:
    """How many tests there were and how they were adjusted; empty if there was none."""
    family = review.family
    if not family.tests:
        return ""
    level = f"Intervals are {family.level * 100:.10g}%"
    correction = _CORRECTIONS[family.correction]
    if not correction or family.tests == 1:
        return f"{level}."
    many = format_count(family.tests, "test")
    adjusted = f"p and verdicts are adjusted for all {many} of this change together, by {correction}"
    return f"{level}, each by itself; {adjusted}."


# ---- states, causes, statements


class OriginWords(NamedTuple):
    """A state in words; ``commit`` is empty where the name has it."""

    name: str
    commit: str
    notes: tuple[str, ...]


def describe_origin(origin: Origin) -> OriginWords:
    """The name and commit of a state, and what else has to be known of it."""
    commit = origin.commit[:_SHORT_COMMIT]
    notes = (
        f"built as merge {origin.merge[:_SHORT_COMMIT]}" if origin.merge else "",
        "with uncommitted changes" if origin.modified else "",
    )
    return OriginWords(origin.name, "" if commit in origin.name else commit, tuple(filter(None, notes)))


def format_origin(origin: Origin) -> str:
    """The same on one line."""
    found = describe_origin(origin)
    known = ", ".join(filter(None, (found.commit, *found.notes)))
    return f"{found.name} ({known})" if known else found.name


def describe_causes(causes: Causes, plain: Causes = ()) -> str:
    """``the data and its definition changed``; empty where they are the ``plain`` ones."""
    return "" if causes in {plain, ()} else f"{join_names([_CAUSES[one] for one in causes])} changed"


def name_outcome(change: StatementChange) -> str:
    """What became of a statement: ``became false``, ``new, and not so``."""
    if change.is_broken and change.before is None:
        return "new, and not so"
    return _STATEMENTS.get((change.change, change.kind), change.change)


def name_truth(change: StatementChange, side: StatementSide) -> str:
    """Whether a claim holds, or a bound value matches."""
    words = {"holds": "matches", "fails": "does not match"} if change.kind == "value" else {}
    return words.get(side.truth, side.truth)


def describe_statement(change: StatementChange) -> str:
    """The same with its kind and its causes: ``claim became false, because the data changed``."""
    causes = f", because {describe_causes(change.causes)}" if change.causes else ""
    return f"{change.kind} {name_outcome(change)}{causes}"


def shorten_found(side: StatementSide) -> str:
    """What the data say of a claim, without its expression and truth in front; empty if that is all."""
    return side.found.removeprefix(f"{side.expression} {side.truth}").removeprefix(": ")


def describe_page(page: PageChange) -> str:
    """How many lines of a page are others: ``2 lines added, 1 removed``."""
    return join_counts("line", (page.lines_added, "added"), (page.lines_removed, "removed"))


def list_source_changes(source: SourceChange) -> list[tuple[str, Sequence[str]]]:
    """What changed of a source, and its names: ``2 files added``."""
    found = [
        (source.files_added, "file added", "files added"),
        (source.files_removed, "file removed", "files removed"),
        (source.files_changed, "file changed", "files changed"),
        (source.settings_changed, "setting changed", "settings changed"),
    ]
    return [(format_count(len(names), one, many), names) for names, one, many in found if names]


# ---- figures and tables


def describe_shown(shown: FigureChange | TableChange) -> str:
    """What became of a figure or table: ``changed in 2 of 5 series``, and why if that is not plain."""
    words = _SHOWN[shown.change]
    if isinstance(shown, FigureChange):
        changed = sum(one.change == "data" for one in shown.series)
        if shown.change == "data" and changed and len(shown.series) > 1:
            noun = ("run", "runs") if shown.kind == "run-scores" else ("series", "series")
            words += f" in {changed:,} of {format_count(len(shown.series), *noun)}"
    elif shown.rows and shown.change in {"data", "definition"}:
        words += f" in {format_count(len(shown.rows), 'row')}"
    causes = describe_causes(shown.causes, _OBVIOUS.get(shown.change, ()))
    return f"{words}, because {causes}" if causes else words
