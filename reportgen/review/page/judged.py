"""What a review judges, made ready for the page: statements that flipped, and numbers that moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reportgen.core.words import format_equation, format_p
from reportgen.review.page import wording
from reportgen.review.page.pictures import draw_strip
from reportgen.review.page.wording import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.review.model import NumberChange, Review, StatementChange, StatementSide, Verdict

    Kinds: TypeAlias = tuple[tuple[str, frozenset[Verdict]], ...]

MOST_ROWS: Final = 100
"""Numbers of one kind in the table; the rest are in ``review.json``."""

_GROUPS: Final[Kinds] = (
    ("More than noise", frozenset({"higher", "lower"})),
    ("Within noise", frozenset({"unclear"})),
    ("Too few runs to tell", frozenset({"too few"})),
    ("Estimated anew", frozenset({"re-estimated"})),
    ("Measured differently", frozenset({"measured differently"})),
)
_OTHERS: Final[Kinds] = (
    ("Not comparable", frozenset({"not comparable"})),
    ("New numbers", frozenset({"new"})),
    ("Numbers that are gone", frozenset({"gone"})),
)
_ARROWS: Final[dict[Verdict, str]] = {"higher": "▲", "lower": "▼"}
_BADGES: Final = {
    ("broken", "claim"): "became false",
    ("broken", "value"): "no longer matches",
    ("mended", "claim"): "put right",
    ("mended", "value"): "matches again",
    ("changed", "claim"): "reworded",
    ("changed", "value"): "reworded",
    ("new", "claim"): "new",
    ("new", "value"): "new",
    ("gone", "claim"): "gone",
    ("gone", "value"): "gone",
}
_STATEMENTS: Final = (
    ("broken", "No longer true"),
    ("stale", "Numbers in the text that no longer match"),
    ("mended", "Put right"),
    ("others", "Written, reworded or removed"),
)


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
        _describe_side(side, change, label)
        for label, side in (("Before", change.before), ("After", change.after))
        if side
    ]
    line = next((one.line for one in (change.after, change.before) if one and one.line is not None), None)
    badge = _BADGES[change.change, change.kind]
    return {
        "badge": "new, and not so" if change.is_broken and change.before is None else badge,
        "place": change.page if line is None else f"{change.page}:{line}",
        "causes": wording.describe_causes(change.causes),
        "other_causes": wording.describe_causes(change.causes, ("data",)),
        "words": sides[0]["words"] if len({side["words"] for side in sides}) == 1 else "",
        "facts": list(_list_moved_facts(change)),
        "expressions": list(dict.fromkeys(side["expression"] for side in sides)),
        "sides": sides,
    }


def _list_moved_facts(change: StatementChange) -> Iterator[dict[str, str]]:
    """What a statement is decided by, where it is another value than before."""
    if change.before is None or change.after is None:
        return
    facts = [
        {name: value for name, found, value in (line.partition(" = ") for line in side.evidence) if found}
        for side in (change.before, change.after)
    ]
    for name, now in facts[1].items():
        if (was := facts[0].get(name, now)) != now:
            yield {"name": name, "was": was, "now": now}


def _describe_side(side: StatementSide, change: StatementChange, label: str) -> dict[str, Any]:
    words = {"holds": "matches", "fails": "does not match"} if change.kind == "value" else {}
    # What is found repeats the expression, which stands below the reasons.
    found = side.found.removeprefix(f"{side.expression} {side.truth}").removeprefix(": ")
    return {
        "label": label,
        "words": side.words,
        "expression": side.expression,
        "truth": words.get(side.truth, side.truth),
        "expected": side.expected,
        "found": found,
        # A value is found as its expression, an equals sign and the value.
        "value": side.found.removeprefix(f"{side.expression} = "),
        "evidence": side.evidence,
    }


# ---- numbers


def list_numbers(review: Review) -> dict[str, Any]:
    """The numbers that are others, in groups, and how they were judged."""
    groups, others = (list(_group_numbers(review, kinds)) for kinds in (_GROUPS, _OTHERS))
    methods = {one.method for one in review.numbers if any(one.verdict in words for _, words in _GROUPS)}
    return {
        "count": sum(group["listed"].count for group in (*groups, *others)),
        "groups": groups,
        "others": others,
        "tests": wording.describe_tests(review),
        "methods": [
            {"key": _name_method(name), "name": short, "words": words}
            for name, (short, words) in wording.METHODS.items()
            if name in methods
        ],
    }


def _group_numbers(review: Review, kinds: Kinds) -> Iterator[dict[str, Any]]:
    """The numbers of each kind that there is, the clearest difference first."""
    for title, verdicts in kinds:
        rows = sorted((one for one in review.numbers if one.verdict in verdicts), key=_rank)
        if rows:
            yield {"title": title, "listed": cut(rows, _describe_number, MOST_ROWS)}


def _rank(number: NumberChange) -> tuple[bool, float, str, str, str, str]:
    """How far a number moved, in half widths of its interval, farthest first; then those without one."""
    names = (number.page, number.block, number.series, number.metric)
    if number.delta is None:
        return (True, 0.0, *names)
    half = wording.get_half(number.delta)
    size = abs(number.delta.value)
    return (False, -size / half, *names) if half else (True, -size, *names)


def _name_method(name: str) -> str:
    return f"method-{name.replace(' ', '-')}"


def _describe_number(number: NumberChange) -> dict[str, Any]:
    percent, delta = number.percent, number.delta
    short, explained = wording.METHODS[number.method]
    verdict, meaning = wording.VERDICTS[number.verdict]
    good = {None: "", True: "better", False: "worse"}[number.good]
    p = None if delta is None else delta.p if delta.p_adjusted is None else delta.p_adjusted
    adjusted = "" if delta is None or delta.p_adjusted is None else " adjusted"
    return {
        "series": number.series,
        "was_series": number.was_series,
        "what": [word for word in (number.metric, number.benchmark) if word],
        "at": "" if number.step is None else wording.format_value(number.step, percent=False),
        "page": number.page,
        "title": number.title or number.block,
        "before": wording.format_side(number.before, percent=percent),
        "after": wording.format_side(number.after, percent=percent),
        "strip": draw_strip(delta) if delta else "",
        "delta": ""
        if delta is None
        else wording.format_delta(delta.value, percent=percent, half=wording.get_half(delta)),
        "interval": wording.format_delta_ends(delta, percent=percent) if delta else "",
        "p": "" if p is None else format_equation("p", format_p(p)) + adjusted,
        "verdict": verdict,
        "meaning": meaning,
        "arrow": _ARROWS.get(number.verdict, ""),
        "good": good,
        "method": short,
        "method_key": _name_method(number.method),
        "explained": explained,
        "units": wording.describe_units(number),
        "causes": wording.describe_causes(number.causes, ("data",)),
        "why": number.why,
    }
