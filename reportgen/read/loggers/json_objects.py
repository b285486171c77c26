"""JSON objects of a log: whole, cut off in the middle, and flattened to names and cells."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_GAP: Final = re.compile(r"[\s,]*")
_COLON: Final = re.compile(r"\s*:\s*")
_DEEPEST: Final = 20


def whole_object(text: str) -> dict[str, Any] | None:
    """An object, in which NaN and infinities may stand bare; None where the text is anything else."""
    try:
        item = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None


def beginning(text: str) -> dict[str, Any] | None:
    """The keys and values of an object as far as they are there; None where the text begins none.

    A value that is cut off is left out, but of an object that is cut off its own beginning is kept.
    """
    at = after_gap(text, 0)
    return _cut_off(text, at + 1, 0) if text[at : at + 1] == "{" else None


def after_gap(text: str, at: int) -> int:
    """Where what follows spaces, line ends and commas begins."""
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def leaves(item: Mapping[str, Any], wrappers: frozenset[str] = frozenset()) -> Iterator[tuple[str, Any]]:
    """Cells and their names, those within joined by ``/``, in the order of writing; a list is a cell.

    Args:
        item: what was parsed.
        wrappers: objects directly in ``item`` whose own names are left out.
    """
    waiting = [(key, value, 1) for key, value in reversed(list(item.items()))]
    while waiting:
        name, value, depth = waiting.pop()
        if not isinstance(value, dict):
            yield name, value
        elif depth < _DEEPEST:
            prefix = "" if depth == 1 and name in wrappers else f"{name}/"
            waiting += [(prefix + key, child, depth + 1) for key, child in reversed(value.items())]


def _cut_off(text: str, at: int, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    decoder = json.JSONDecoder()
    while text[(at := after_gap(text, at)) : at + 1] == '"':
        try:
            key, at = decoder.raw_decode(text, at)
        except ValueError:
            break
        colon = _COLON.match(text, at)
        if not colon:
            break
        at = colon.end()
        try:
            found[key], at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            if text[at : at + 1] == "{" and depth < _DEEPEST:
                found[key] = _cut_off(text, at + 1, depth + 1)
            break
    return found
