"""A review in words: its verdict, its numbers, how each was tested, and what became of figures and series."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reportgen.core.words import (
    choose_decimals,
    choose_percent_decimals,
    format_count,
    format_moment,
    format_nonzero,
    format_number,
    format_percent,
    format_step,
    join_names,
    lower_axis_title,
)
from reportgen.figures.text import clean_text
from reportgen.review.model import Review

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.review.model import (
        Causes,
        Delta,
        Estimate,
        FigureChange,
        Method,
        NumberChange,
        Origin,
        SeriesChange,
        Verdict,
    )

SHORT_COMMIT: Final = 8
MOST_LISTED: Final = 200
"""Statements, tables, pages, sources or problems of one kind."""

_LARGEST_SHARE: Final = 10.0
_LARGEST_PLAIN: Final = 1e9
_SMALLEST_HALF: Final = 1e-6
_MOST_NAMES: Final = 4

CAUSES: Final = {
    "data": "the data changed",
    "text": "the text changed",
    "definition": "its definition changed",
    "tool": "reportgen changed",
}
VERDICTS: Final[dict[Verdict, tuple[str, str]]] = {
    "higher": (
        "higher",
        "The interval of the difference lies above 0, and p stays below 5 % after adjusting.",
    ),
    "lower": ("lower", "The interval of the difference lies below 0, and p stays below 5 % after adjusting."),
    "unclear": ("within noise", "A difference of this size is not unusual where nothing changed."),
    "re-estimated": ("re-estimated", "The same thing measured with more or fewer runs."),
    "same": ("same", "Nothing that decides this number changed."),
    "measured differently": (
        "measured differently",
        "The protocol changed, so the difference is not judged.",
    ),
    "not comparable": ("not comparable", "Before and after are not the same quantity."),
    "too few": ("too few to tell", "One run says nothing about how much runs differ."),
    "new": ("new", "There was no such number before."),
    "gone": ("gone", "There is no such number any more."),
}
METHODS: Final[dict[Method, tuple[str, str]]] = {
    "paired": (
        "paired",
        "Before and after answered the same problems, so the difference is taken problem by problem.",
    ),
    "welch": (
        "Welch's t",
        "Before and after have different runs. Student's t for unequal variances; a shared run counts once.",
    ),
    "nested runs": (
        "nested runs",
        "Runs were only added, or only removed: the interval is about these, as shared runs cannot move.",
    ),
    "given": (
        "given errors",
        "From the standard errors that the input gives, as if before and after shared nothing.",
    ),
    "none": ("no test", "There is nothing that an interval could be built from."),
}
_CORRECTIONS: Final = {
    "none": "",
    "holm": "Holm's method",
    "step-down": "a step-down test",
    "step-down and holm": "a step-down test and Holm's method",
}
_FIGURES: Final = {
    "data": "changed",
    "definition": "defined differently",
    "looks": "looks different, with the same numbers",
    "new": "new",
    "gone": "gone",
}

# Characters that turn the words around them, or that nobody sees.
_TURNING: Final = dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x2060, 0xFEFF, *range(0x7F, 0xA0)),
    "\N{REPLACEMENT CHARACTER}",
)

_Thing = TypeVar("_Thing")


def make_visible(review: Review) -> Review:
    """The review with U+FFFD for characters that turn words, that nobody sees, or that XML forbids."""

    def clean(value: Any) -> Any:  # noqa: ANN401 - any part of a review
        if isinstance(value, str):
            return clean_text(value).translate(_TURNING)
        if isinstance(value, tuple):
            # Points are many, and numbers.
            return value if value and isinstance(value[0], tuple) else tuple(map(clean, value))
        return {name: clean(part) for name, part in value.items()} if isinstance(value, dict) else value

    return Review.model_validate(clean(review.model_dump()))


def describe_verdict(review: Review) -> str:
    """What matters most of what changed, in one sentence."""
    counts = review.counts
    numbers = ("number", "numbers") if not counts.differences else ("", "")
    few = _count_few(review)
    parts = [
        _say(counts.flipped, "statement became false", "statements became false"),
        _say(
            counts.stale_values, "number in the text no longer matches", "numbers in the text no longer match"
        ),
        _say(counts.mended, "statement was put right", "statements were put right"),
        _say(counts.differences, "number differs by more than noise", "numbers differ by more than noise")
        + _describe_directions(review),
        _say(counts.unclear - few, *(f"{noun} moved within noise".lstrip() for noun in numbers)),
    ]
    said = list(filter(None, parts))
    if said:
        return f"{', '.join(said)}."
    if review.is_empty:
        return "Nothing changed."
    return "No statement became false, and no number differs by more than noise."


def describe_rest(review: Review) -> str:
    """What else became of numbers, in one sentence; empty if nothing did."""
    counts = review.counts
    parts = [
        _say(_count_few(review), "has too few runs to tell", "have too few runs to tell"),
        _say(
            counts.re_estimated, "was estimated anew from other runs", "were estimated anew from other runs"
        ),
        _say(counts.measured_differently, "was measured differently", "were measured differently"),
        _say(counts.not_comparable, "cannot be compared", "cannot be compared"),
        _say(counts.new, "is new", "are new"),
        _say(counts.gone, "is gone", "are gone"),
        _say(counts.same, "is the same", "are the same"),
    ]
    said = list(filter(None, parts))
    return f"Of the other numbers {join_names(said)}." if said and not review.is_empty else ""


def _say(count: int, one: str, many: str) -> str:
    return format_count(count, one, many) if count > 0 else ""


def _count_few(review: Review) -> int:
    return min(review.counts.unclear, sum(number.verdict == "too few" for number in review.numbers))


def _describe_directions(review: Review) -> str:
    """``(1 better, 2 worse)``; empty where no direction is known."""
    better = sum(number.good is True for number in review.numbers)
    worse = review.counts.worse
    said = [f"{count:,} {word}" for count, word in ((better, "better"), (worse, "worse")) if count]
    return f" ({', '.join(said)})" if said and review.counts.differences else ""


def describe_tests(review: Review) -> str:
    """How many tests there were and how they were adjusted."""
    family = review.family
    if not family.tests:
        return ""
    level = f"Intervals are {family.level * 100:.10g} %, each by itself"
    correction = _CORRECTIONS[family.correction]
    if not correction:
        return f"{level}."
    many = format_count(family.tests, "test")
    return f"{level}; p and verdicts are adjusted for all {many} of this change together, by {correction}."


def describe_origin(origin: Origin) -> dict[str, str]:
    """The name, commit and version of a state."""
    commit = origin.commit[:SHORT_COMMIT]
    extra = [
        f"built as merge {origin.merge[:SHORT_COMMIT]}" if origin.merge else "",
        "with changes that are not committed" if origin.modified else "",
        f"reportgen {origin.tool}" if origin.tool else "",
    ]
    return {
        "name": origin.name,
        "commit": commit if commit != origin.name else "",
        "full": origin.commit,
        "extra": " · ".join(filter(None, extra)),
    }


def describe_causes(causes: Causes, plain: Causes = ()) -> str:
    """``the data changed and its definition changed``; empty where they are the ``plain`` ones."""
    return "" if causes == plain else join_names([CAUSES[cause] for cause in causes])


@dataclass(frozen=True, slots=True)
class Listed:
    """The first of several things, and a sentence about the rest."""

    shown: tuple[Any, ...]
    count: int
    rest: str = ""


def cut(
    things: Sequence[_Thing], describe: Callable[[_Thing], Any] | None = None, most: int = MOST_LISTED
) -> Listed:
    """The first ``most`` of several things, or what ``describe`` makes of them."""
    rest = len(things) - most
    shown = tuple(map(describe, things[:most]) if describe else things[:most])
    return Listed(shown, len(things), f"{rest:,} more are in review.json." if rest > 0 else "")


# ---- numbers


def format_value(value: float, *, percent: bool, half: float | None = None) -> str:
    """A value to read, in percent where it is a share, with as many digits as half its interval deserves."""
    half = half if half and math.isfinite(half) and half >= _SMALLEST_HALF else None
    if percent and abs(value) <= _LARGEST_SHARE:
        return format_percent(value, decimals=choose_percent_decimals(half)).replace("%", " %")
    if half is None or abs(value) >= _LARGEST_PLAIN:
        return format_number(value)
    return format_number(value, decimals=choose_decimals(half))


def format_estimate(
    value: float, low: float | None, high: float | None, *, percent: bool, interval: bool = True
) -> str:
    """A value with its interval: ``28.1 % [17.2, 42.0]``."""
    half = None if low is None or high is None else (high - low) / 2
    words = format_value(value, percent=percent, half=half)
    ends = format_ends(low, high, percent=percent) if interval else ""
    return f"{words} {ends}".rstrip()


def format_ends(low: float | None, high: float | None, *, percent: bool) -> str:
    """An interval: ``[17.2, 42.0]``; empty where there is none."""
    if low is None or high is None:
        return ""
    ends = [
        format_value(end, percent=percent, half=(high - low) / 2).removesuffix(" %") for end in (low, high)
    ]
    return f"[{ends[0]}, {ends[1]}]"


def format_side(estimate: Estimate | None, *, percent: bool) -> dict[str, str]:
    """One side of a number: its value, its interval, and how many it is from."""
    if estimate is None:
        return {"value": "none", "interval": "", "n": ""}
    low, high = estimate.low, estimate.high
    return {
        "value": format_estimate(estimate.value, low, high, percent=percent, interval=False),
        "interval": format_ends(low, high, percent=percent),
        "n": "" if estimate.n is None else f"n = {estimate.n:,}",
    }


def format_delta(value: float, *, percent: bool, half: float | None) -> str:
    """A difference with its sign: ``+4.3 points`` of shares, otherwise ``+0.043``."""
    half = half if half and math.isfinite(half) and half >= _SMALLEST_HALF else None
    if percent and abs(value) <= _LARGEST_SHARE:
        return f"{format_nonzero(value * 100, decimals=choose_percent_decimals(half), signed=True)} points"
    decimals = choose_decimals(half) if abs(value) < _LARGEST_PLAIN else None
    if not math.isfinite(10 * abs(value) + 10):
        return format_number(value, signed=True)
    return format_nonzero(value, decimals=decimals, signed=True)


def get_half(delta: Delta) -> float | None:
    """Half the interval of a difference."""
    return None if delta.low is None or delta.high is None else (delta.high - delta.low) / 2


def format_delta_ends(delta: Delta, *, percent: bool) -> str:
    """The interval of a difference: ``[+0.1, +8.5]``; empty where there is none."""
    if delta.low is None or delta.high is None:
        return ""
    half = get_half(delta)
    ends = [
        format_delta(end, percent=percent, half=half).removesuffix(" points")
        for end in (delta.low, delta.high)
    ]
    return f"[{ends[0]}, {ends[1]}]"


def describe_units(number: NumberChange) -> str:
    """Which runs and problems both sides share: ``3 shared runs, 2 added; 448 shared problems``."""
    parts = []
    if runs := number.runs:
        said = [(runs.shared, "shared"), (runs.added, "added"), (runs.removed, "removed")]
        parts.append(_join_counts(said, "run"))
    if items := number.problems:
        said = [(items.shared, "shared"), (items.only_base, "only before"), (items.only_head, "only after")]
        parts.append(_join_counts(said, "problem"))
    return "; ".join(filter(None, parts))


def _join_counts(counts: list[tuple[int, str]], noun: str) -> str:
    """``3 runs shared, 2 added``."""
    said = [(count, word) for count, word in counts if count]
    if not said:
        return ""
    first = f"{format_count(said[0][0], noun)} {said[0][1]}"
    return ", ".join([first, *(f"{count:,} {word}" for count, word in said[1:])])


# ---- figures


def describe_figure(figure: FigureChange) -> str:
    """What became of a figure: ``its numbers changed in 2 of 5 series``."""
    words = _FIGURES[figure.change]
    changed = sum(one.change == "data" for one in figure.series)
    if figure.change == "data" and changed and len(figure.series) > 1:
        words += f" in {changed:,} of {format_count(len(figure.series), 'series', 'series')}"
    return words


def describe_both(figure: FigureChange) -> str:
    """How to read the picture of both."""
    if figure.change in {"new", "gone"}:
        return "As it is now" if figure.change == "new" else "As it was"
    rows = figure.x.scale == "series"
    faint = any(one.change in {"same", "renamed"} and not one.before for one in figure.series)
    if rows:
        return "Before hollow and grey, after in colour" + (
            ", unchanged series filled and grey" if faint else ""
        )
    words = "Before grey and dashed, after in colour" + (", unchanged series faint" if faint else "")
    return f"{words}; an arrow where a series moved most"


def describe_series(one: SeriesChange, figure: FigureChange) -> str:
    """Where a series of a figure moved most, or what else became of it; empty where nothing did."""
    if one.change in {"new", "gone"}:
        return one.change if figure.change != one.change else ""
    words = ["renamed"] if one.change == "renamed" else []
    if one.at is not None:
        moved = format_delta(one.at.delta, percent=figure.y.percent, half=abs(one.at.delta) / 2)
        where = "" if one.at.step is None else f" at {_describe_place(one.at.step, figure)}"
        what = "interval" if one.at.step is None else "band"
        side = f", {'outside' if one.at.beyond_band else 'inside'} the old {what}"
        known = any(low is not None for _, _, low, _ in one.before)
        words.append(f"{moved}{where}{side if known else ''}")
    elif one.change == "data":
        words.append("changed")
    return "; ".join(words)


def _describe_place(step: float, figure: FigureChange) -> str:
    name = lower_axis_title(figure.x.title) or "step"
    if figure.x.scale == "time":
        return format_moment(step) or format_number(step)
    return format_step(step, name)


def describe_unchanged(figure: FigureChange) -> str:
    """Which series did not change: ``No change in PPO and 3 more.``."""
    names = [one.name for one in figure.series if one.change == "same"]
    return f"No change in {join_names(names, most=_MOST_NAMES)}." if names else ""
