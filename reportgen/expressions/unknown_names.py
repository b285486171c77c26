"""Names that there are not: what there is instead, and which of it was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.facts.names import quote_name
from reportgen.facts.vocabulary import FACTS, list_fact_kinds
from reportgen.naming import find_nearest
from reportgen.words import join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.facts.subject import Subject
    from reportgen.facts.vocabulary import Held

_MOST_NAMES = 12
# What somebody means who asks curves for a fact of scores, or the other way round.
_COUNTERPARTS = {
    "score": "final",
    "difference": "gap",
    "final": "score",
    "peak": "score",
    "gap": "difference",
    "widest_gap": "difference",
}
# Words that others use for a fact.
_SYNONYMS = {
    "best": "peak",
    "worst": "trough",
    "best_step": "peak_step",
    "worst_step": "trough_step",
    **dict.fromkeys(("last", "end", "value"), "final"),
    **dict.fromkeys(("first", "initial", "begin"), "start"),
    **dict.fromkeys(("avg", "average"), "mean"),
    **dict.fromkeys(("diff", "delta"), "difference"),
    **dict.fromkeys(("std", "noise"), "volatility"),
    **dict.fromkeys(("p", "pvalue"), "p_value"),
    **dict.fromkeys(("accuracy", "acc"), "score"),
    **dict.fromkeys(("beats", "wins"), "better"),
    **dict.fromkeys(("equal", "same"), "equivalent"),
}
_HIGHEST, _LOWEST = {"max", "maximum", "highest"}, {"min", "minimum", "lowest"}


def suggest_series(name: str, series: Sequence[str]) -> str:
    """The next step for a series that there is not."""
    near = find_nearest(name, series)
    names = join_names([quote_name(one) for one in series], most=_MOST_NAMES)
    verb = "series are" if len(series) > 1 else "only series is"
    there = f"The {verb} {names}" if series else "There are no series"
    return f"Did you mean {quote_name(near)}? {there}" if near else there


def suggest_fact(name: str, subject: Subject, *, brief: bool = False) -> str:
    """The next step for a fact that there is not, or not for what the subject holds.

    Args:
        name: the fact asked for.
        subject: what it is asked of.
        brief: whether another fault lists all facts already.
    """
    facts = list_fact_kinds(subject.holds)
    signatures = {fact.name: fact.signature for fact in facts}
    synonym = _synonym(name.lower(), subject)
    meant = (
        synonym,
        _COUNTERPARTS.get(name),
        find_nearest(name, list(signatures)),
        _COUNTERPARTS.get(synonym),
    )
    near = next((signatures[one] for one in meant if one in signatures), "")
    if brief:
        return f"Did you mean {near}?" if near else ""
    there = f"The facts of {subject.holds} are {join_names(list(signatures.values()))}"
    return f"Did you mean {near}? {there}" if near else there


def explain_unknown_fact(name: str, holds: Held) -> str:
    """What is wrong with the name of a fact; empty if nothing is."""
    if name not in FACTS:
        return f'There is no fact "{name}"'
    if holds not in FACTS[name].holds:
        (other,) = FACTS[name].holds
        return f'"{name}" is a fact of {other}, and the data here are {holds}'
    return ""


def _synonym(name: str, subject: Subject) -> str:
    # The highest value is the best one only where higher is better.
    best, worst = (_LOWEST, _HIGHEST) if subject.scale.higher_is_better is False else (_HIGHEST, _LOWEST)
    return "peak" if name in best else "trough" if name in worst else _SYNONYMS.get(name, "")
