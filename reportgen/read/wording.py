"""Names in sentences: the nearest one, and those there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.naming import suggest_name
from reportgen.settings.parsing import shorten
from reportgen.settings.wording import join_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_NAMES: Final = 12
_LONGEST: Final = 60


def suggest_names(word: str, known: Sequence[str], says: str) -> str:
    """A next step: the name that was most likely meant, and what names there are.

    Args:
        word: the unknown name.
        known: the names there are.
        says: how the list begins, such as "It has".
    """
    if not known:
        return ""
    return f"{suggest_name(word, known)}{says} {list_names(known)}"


def list_names(words: Iterable[str]) -> str:
    """Names as a list in a sentence, of very many the first twelve."""
    shown = [shorten(word, _LONGEST) for word in words]
    more = len(shown) - _MOST_NAMES
    if more > 1:
        shown = [*shown[:_MOST_NAMES], f"{more} more"]
    return join_words(shown)
