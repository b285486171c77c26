"""Sentences that compare two series, and the claims that say the same: proposed, and never written.

A sentence is read only as a whole. With any condition, negation or quantity that its pattern does not have,
it may mean something else, and nothing is proposed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.claims.vocabulary import quote_name
from reportgen.core.digits import split_sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.draft.finding import Topic


class Proposal(Struct, frozen=True):
    """A claim that some words make; offsets are in the text."""

    start: int
    end: int
    expression: str
    of: str | None


_MUCH: Final = r"(?:(?:clearly|significantly|slightly|also|still|much|far)\s+)?"
_IS: Final = rf"(?:is|was|does|did|performs|performed)\s+{_MUCH}"
_ABOVE, _BELOW = rf"\s+{_MUCH}(?:above|higher\s+than)", rf"\s+{_MUCH}(?:below|lower\s+than)"
_ENDS, _STARTS = "(?:ends?|ended|finish(?:es|ed)?)", "(?:starts?|started|begins?|began)"
# What stands between two series, the fact that it is about, and the claim.
_COMPARISONS: Final = (
    (rf"{_IS}better\s+than|{_MUCH}(?:outperforms|outperformed|beats)", "better", "better({a}, {b})"),
    (rf"{_IS}worse\s+than", "better", "better({b}, {a})"),
    (f"{_ENDS}{_ABOVE}", "final", "final({a}) > final({b})"),
    (f"{_ENDS}{_BELOW}", "final", "final({a}) < final({b})"),
    (f"{_STARTS}{_ABOVE}", "start", "start({a}) > start({b})"),
    (f"{_STARTS}{_BELOW}", "start", "start({a}) < start({b})"),
    (rf"peak(?:s|ed)\s+{_MUCH}later\s+than", "peak_step", "peak_step({a}) > peak_step({b})"),
    (rf"peak(?:s|ed)\s+{_MUCH}(?:earlier|sooner)\s+than", "peak_step", "peak_step({a}) < peak_step({b})"),
    (f"score[sd]{_ABOVE}", "score", "score({a}) > score({b})"),
    (f"score[sd]{_BELOW}", "score", "score({a}) < score({b})"),
)
# What is said of two series together.
_SAME: Final = r"\s+(?:level|in\s+the\s+same\s+place|at\s+the\s+same\s+(?:value|level|score))"
_OF_BOTH: Final = (
    (r"(?:do|did)\s+not\s+differ(?:\s+significantly)?", "unclear", "unclear({a}, {b})"),
    (r"(?:are|were)\s+not\s+significantly\s+different", "unclear", "unclear({a}, {b})"),
    (f"{_ENDS}{_SAME}", "final", "final({a}) = final({b})"),
    (f"{_STARTS}{_SAME}", "start", "start({a}) = start({b})"),
)
_BETWEEN: Final = r"there\s+(?:is|was)\s+no\s+(?:(?:significant|clear)\s+)?difference\s+between"
_LEAD: Final = (
    r"(?:(?:overall|in\s+short|in\s+summary|so|thus|hence|therefore|moreover|furthermore|however|notably"
    r"|as\s+expected|surprisingly|interestingly),?\s+|we\s+(?:find|found|see|saw|observe|observed|conclude)\s+that\s+"
    r"|(?:this|the\s+figure|the\s+data)\s+shows?\s+that\s+)?"
)


_COMPARES: Final = re.compile(r"\b(?:than|outperform|beats|above|below|differ|level|same)", re.IGNORECASE)


def propose_claims(prose: str, topics: Sequence[Topic]) -> Iterator[Proposal]:
    """Yield the claims of a text, in order, where only one topic has the series and the fact."""
    for start, sentence in split_sentences(prose):
        found = dict[str | None, Proposal]()
        for topic in topics if _COMPARES.search(sentence) else ():
            claim, is_named = _read_sentence(start, sentence, topic)
            if claim is None:
                continue
            if is_named:  # the sentence says which topic it is about
                found = {topic.of: claim}
                break
            found[topic.of] = claim
        if None in found or len(found) == 1:
            yield found[None] if None in found else next(iter(found.values()))


def _read_sentence(start: int, sentence: str, topic: Topic) -> tuple[Proposal | None, bool]:
    """Return what a sentence claims about two series of a topic, and whether it names the topic."""
    for pattern, kind, claim in _compile_patterns(topic.series, topic.names):
        match = pattern.fullmatch(sentence)
        if match is None:
            continue
        known = {_join_words(name): name for name in topic.series}
        series = known[_join_words(match["a"])], known[_join_words(match["b"])]
        if _has_fact(topic, kind, series):
            first, last = match.span("words")
            expression = claim.format(a=quote_name(series[0]), b=quote_name(series[1]))
            return Proposal(start + first, start + last, expression, topic.of), match["name"] is not None
    return None, False


@lru_cache(maxsize=64)
def _compile_patterns(
    names: tuple[str, ...], topic: tuple[str, ...]
) -> tuple[tuple[re.Pattern[str], str, str], ...]:
    """Return patterns of whole sentences about series and a topic with these names, and their claims."""
    series, own = ("|".join(sorted(map(_spell, some), key=len, reverse=True)) for some in (names, topic))
    a, b = (rf"(?:[Tt]he\s+)?[*_]*(?P<{one}>{series})[*_]*" for one in "ab")
    lead = rf"\s*(?:[-*+>]\s+|\d+[.)]\s+)?(?i:{_LEAD})"
    end = rf"(?:\s+on\s+(?P<name>{own or '(?!)'}))?[*_]*[.!]?\s*"
    words = [(rf"{a}\s+(?i:{between})\s+{b}", kind, claim) for between, kind, claim in _COMPARISONS]
    both = rf"(?:[Bb]oth\s+)?{a}\s+and\s+{b}"
    words += [(rf"{both}\s+(?i:{behind})", kind, claim) for behind, kind, claim in _OF_BOTH]
    words.append((rf"(?i:{_BETWEEN})\s+{a}\s+and\s+{b}", "unclear", "unclear({a}, {b})"))
    return tuple((re.compile(f"{lead}(?P<words>{one}){end}"), kind, claim) for one, kind, claim in words)


def _spell(name: str) -> str:
    """Return the pattern of a name, which may begin a sentence."""
    first, rest = name[:1], r"[\s_]+".join(map(re.escape, filter(None, re.split(r"[\s_]+", name))))
    return f"[{first}{first.upper()}]{rest[1:]}" if first.isalpha() and first.islower() else rest


def _join_words(name: str) -> str:
    words = " ".join(filter(None, re.split(r"[\s_]+", name)))
    return words[:1].lower() + words[1:]


def _has_fact(topic: Topic, kind: str, series: tuple[str, ...]) -> bool:
    """Return whether two different series of a topic have a fact, alone or together."""
    return len(set(series)) > 1 and any(
        fact.name == kind and {*fact.series} in ({*series}, {series[0]}) for fact in topic.facts
    )
