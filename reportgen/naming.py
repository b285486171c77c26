"""Names in messages: those that there are, and the one that was meant."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST = 100
"""Characters of a name that are looked at: comparing takes the square of its length."""


def find_nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known name that is most like this one, whatever its capitals; empty if none is.

    Args:
        name: what was written.
        known: the names there are; of equals the first counts.
        cutoff: how like it has to be: 0 for everything, 1 for the same letters.
    """
    return _match_nearest(name, tuple(known), cutoff)


def suggest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The nearest name as a question with a space behind; empty if there is none."""
    near = find_nearest(name, known, cutoff)
    return f'Did you mean "{near}"? ' if near else ""


def quote_names(names: Sequence[str], most: int = 12) -> str:
    """Names in quotes, the first ``most`` of them."""
    shown = ", ".join(f'"{name}"' for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


# A name that was changed is asked for on many lines, and comparing it with all others takes a while.
@lru_cache(maxsize=256)
def _match_nearest(name: str, known: tuple[str, ...], cutoff: float) -> str:
    by_small = {one.lower(): one for one in reversed(known)}
    found = get_close_matches(name.lower()[:_LONGEST], list(by_small), n=1, cutoff=cutoff)
    return by_small[found[0]] if found else ""
