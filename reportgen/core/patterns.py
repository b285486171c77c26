"""Names chosen by patterns: ``base*`` for several, ``!base-old`` for all but one."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct

from reportgen.core.words import quote_names, suggest_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_WILD = frozenset("*?")
_NO_WILD = dict.fromkeys(map(ord, _WILD))


class ChosenNames(Struct, frozen=True):
    """The names that patterns choose, in their order, and the patterns that choose or exclude nothing."""

    names: tuple[str, ...]
    unmatched: tuple[str, ...]


def is_pattern(text: str) -> bool:
    """Return whether a text may choose several names or exclude some."""
    return text.startswith("!") or not _WILD.isdisjoint(text)


def matches(pattern: str, name: str) -> bool:
    """Return whether a pattern without ``!`` chooses a name: ``*`` is any text, also with slashes."""
    # Brackets are part of many names: "acc [%]" and "layers[0]".
    return pattern == name or fnmatchcase(name, pattern.replace("[", "[[]"))


def choose_names(patterns: Sequence[str], known: Sequence[str]) -> ChosenNames:
    """Choose among known names: those that a pattern names or matches, without those behind ``!``.

    A name that is written exactly comes before any other meaning of it. With exclusions alone all others are
    chosen, in the order of ``known``; otherwise the order is that of the patterns.
    """
    excluding = {text: text[1:].strip() for text in patterns if text.startswith("!") and text not in known}
    found = {
        text: [text] if text in known else [name for name in known if matches(text, name)]
        for text in patterns
        if text not in excluding
    }
    gone = {text: {name for name in known if matches(pattern, name)} for text, pattern in excluding.items()}
    left_out = set().union(*gone.values())
    chosen: Iterable[str] = known if not found else (name for names in found.values() for name in names)
    return ChosenNames(
        tuple(dict.fromkeys(name for name in chosen if name not in left_out)),
        tuple(text for text in patterns if not (found.get(text) or gone.get(text))),
    )


def explain_unmatched(pattern: str, what: str, known: Sequence[str], owner: str) -> tuple[str, str]:
    """Explain why a pattern chooses nothing, and the next step with the nearest name.

    ``what`` is one of the named things, such as ``metric``, and ``owner`` where they are.
    """
    plain = pattern.removeprefix("!").strip()
    near = suggest_name(plain.translate(_NO_WILD), known, cutoff=0.5)
    verb = "leaves out" if pattern.startswith("!") else "matches"
    return f'"{pattern}" {verb} no {what} of {owner}', f"{near}It has {quote_names(known) or 'none'}"
