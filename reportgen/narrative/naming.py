"""Names in messages: those that there are, and the one that was meant."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names in quotes, the first ``most`` of them."""
    shown = ", ".join(f'"{name}"' for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """The known name that is most like this one, as a question with a space behind; empty if none is."""
    nearest = get_close_matches(name, known, n=1)
    return f'Did you mean "{nearest[0]}"? ' if nearest else ""
