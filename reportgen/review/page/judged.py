"""What a review judges, made ready for the page: statements that flipped, and numbers that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from msgspec import Struct

from reportgen.core.words import format_equation, format_p
from reportgen.review import words
from reportgen.review.page.pictures import draw_strip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.review.model import (
        Estimate,
        Method,
        NumberChange,
        Review,
        StatementChange,
        Verdict,
    )
    from reportgen.review.words import Digits

    Kinds: TypeAlias = tuple[tuple[str, frozenset[Verdict]], ...]

MOST_ROWS: Final = 100
"""Numbers of one kind in the table; the rest are in ``review.json``."""
MOST_LISTED: Final = 200
"""Statements, tables, pages, sources or problems of one kind."""

MEANINGS: Final[dict[Verdict, str]] = {
    "higher": "The interval of the difference lies above 0, and p stays below 5% after adjusting.",
    "lower": "The interval of the difference lies below 0, and p stays below 5% after adjusting.",
    "unclear": "A difference of this size is not unusual where nothing changed.",
    "re-estimated": "The same thing measured with more or fewer runs.",
    "same": "Nothing that decides this number changed.",
    "reported value changed": "The data give this value without an interval, and it was edited.",
    "measured differently": "The protocol changed, so the difference is not judged.",
    "not comparable": "Before and after are not the same quantity.",
    "too few": "One run says nothing about how much runs differ.",
    "new": "There was no such number before.",
    "gone": "There is no such number any more.",
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

_GROUPS: Final[Kinds] = (
    ("Reported values that changed", frozenset({"reported value changed"})),
    ("More than noise", frozenset({"higher", "lower"})),
    ("May be noise", frozenset({"unclear"})),
    ("Not tested", frozenset({"too few"})),
    ("Estimated anew", frozenset({"re-estimated"})),
    ("Measured differently", frozenset({"measured differently"})),
)
_OTHERS: Final[Kinds] = (
    ("Not comparable", frozenset({"not comparable"})),
    ("New numbers", frozenset({"new"})),
    ("Numbers that are gone", frozenset({"gone"})),
)
_ARROWS: Final[dict[Verdict, str]] = {"higher": "▲", "lower": "▼"}
_STATEMENTS: Final = (
    ("broken", "No longer true"),
    ("stale", "Numbers in the text that no longer match"),
    ("mended", "Put right"),
    ("others", "Written, reworded or removed"),
)

_Thing = TypeVar("_Thing")


class Listed(Struct, frozen=True):
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


# ---- statements


def list_statements(review: Review) -> dict[str, Any]:
    """The statements that flipped, and the others that changed, in groups."""
    groups: dict[str, list[StatementChange]] = {key: [] for key, _ in _STATEMENTS}
    for change in review.statements:
        stale = change.is_broken and change.kind == "value" and change.before is not None
        key = "stale" if stale else "broken" if change.is_broken else change.change
        groups[key if key in groups else "others"].append(change)
    return {
        "count": len(review.statements),
        "groups": [
            {"title": title, "key": key, "listed": cut(groups[key], _describe_statement)}
            for key, title in _STATEMENTS
            if groups[key]
        ],
    }


def _describe_statement(change: StatementChange) -> dict[str, Any]:
    sides = [
        {
            "label": label,
            "side": side,
            "truth": words.name_truth(change, side),
            # The expression stands below the reasons.
            "found": words.shorten_found(side),
            # A value is found as its expression, an equals sign and the value.
            "value": side.found.removeprefix(f"{side.expression} = "),
        }
        for label, side in (("Before", change.before), ("After", change.after))
        if side
    ]
    # What it is decided by, where it is another value than before.
    known = [
        {name: value for name, found, value in (line.partition(" = ") for line in side.evidence) if found}
        for side in (change.before, change.after)
        if side
    ]
    was = known[0] if len(known) > 1 else {}
    facts = [(name, was[name], now) for name, now in known[-1].items() if was.get(name, now) != now]
    said = dict.fromkeys(one.words for one in (change.before, change.after) if one)
    return {
        "badge": words.name_outcome(change),
        "place": words.format_place(change.page, change.latest.line),
        "causes": words.describe_causes(change.causes),
        "other_causes": words.describe_causes(change.causes, ("data",)),
        "words": change.latest.words if len(said) == 1 else "",
        "facts": facts,
        "expressions": list(dict.fromkeys(one.expression for one in (change.before, change.after) if one)),
        "sides": sides,
    }


# ---- numbers


def list_numbers(review: Review) -> dict[str, Any]:
    """The numbers that are others, in groups, and how they were judged."""
    # Of each kind that there is the clearest difference comes first.
    ranked = words.rank_numbers(review.numbers)
    groups: dict[str, list[dict[str, Any]]] = {
        key: [
            {"title": title, "listed": cut(rows, _describe_number, MOST_ROWS)}
            for title, verdicts in kinds
            if (rows := [one for one in ranked if one.verdict in verdicts])
        ]
        for key, kinds in (("groups", _GROUPS), ("others", _OTHERS))
    }
    methods = {
        one.method for one in review.numbers if any(one.verdict in verdicts for _, verdicts in _GROUPS)
    }
    return {
        "count": sum(one["listed"].count for kinds in groups.values() for one in kinds),
        **groups,
        "tests": words.describe_tests(review),
        "methods": [
            {"key": _name_method(name), "name": short, "words": explained}
            for name, (short, explained) in METHODS.items()
            if name in methods
        ],
    }


def _name_method(name: str) -> str:
    return f"method-{name.replace(' ', '-')}"


def _describe_number(number: NumberChange) -> dict[str, Any]:
    delta, digits = number.delta, words.choose_number_digits(number)
    change = digits._replace(signed=True)
    short, explained = METHODS[number.method]
    p = None if delta is None else delta.p if delta.p_adjusted is None else delta.p_adjusted
    adjusted = "" if delta is None or delta.p_adjusted is None else " adjusted"
    judged = words.format_verdict(number).partition(", ")
    return {
        "number": number,
        "what": [word for word in (number.metric, number.benchmark) if word],
        "at": "" if number.step is None else words.describe_step(number.step),
        "before": _describe_estimate(number.before, digits),
        "after": _describe_estimate(number.after, digits),
        "strip": draw_strip(delta) if delta else "",
        "delta": change.format_value(delta.value) if delta else "",
        "interval": change.format_ends(delta.low, delta.high) if delta else "",
        "p": "" if p is None else format_equation("p", format_p(p)) + adjusted,
        "verdict": judged[0],
        "meaning": MEANINGS[number.verdict],
        "arrow": _ARROWS.get(number.verdict, ""),
        "good": judged[2],
        "method": short,
        "method_key": _name_method(number.method),
        "explained": explained,
        "units": "; ".join(filter(None, [words.describe_units(number), words.describe_flips(number)])),
        "causes": words.describe_reason(number),
    }


def _describe_estimate(estimate: Estimate | None, digits: Digits) -> dict[str, str]:
    """One side of a number: its value, its interval, and how many it is from."""
    if estimate is None:
        return {"value": "none", "interval": "", "n": ""}
    return {
        "value": digits.format_value(estimate.value),
        "interval": digits.format_ends(estimate.low, estimate.high),
        "n": "" if estimate.n is None else f"n = {estimate.n:,}",
    }
