"""JSON objects of a log: whole, cut off in the middle, and flattened to names and cells."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import from_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_GAP: Final = re.compile(r"[\s,]*")
_COLON: Final = re.compile(r"\s*:\s*")
_BETWEEN: Final = re.compile(r"\}\s*,\s*(?=\{)")
_PIECE: Final = 1 << 18
_DEEPEST: Final = 20


def parse_object(text: str) -> dict[str, Any] | None:
    """An object, in which NaN and infinities may stand bare; None where the text is anything else."""
    try:
        item = from_json(text)
    except ValueError:
        # Half characters and deep nesting are refused there alone; three times as fast with all else.
        item = _loaded(text)
    return item if isinstance(item, dict) else None


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_whole(text: str) -> bool:
    """Whether a text is one JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class JsonListItems:
    """The items of a list in a text, one after the other, up to its end or to where the text breaks off.

    Attributes:
        at: where the next item, the end of the list, or what is no item stands.
        count: items so far.
        ended: whether the end of the list was met.
    """

    def __init__(self, text: str, at: int) -> None:
        self._text = text
        self.at = at
        self.count = 0
        self.ended = False

    def __iter__(self) -> Iterator[Any]:
        decode = json.JSONDecoder().raw_decode
        one_by_one_until = 0
        while True:
            self.at = skip_gap(self._text, self.at)
            if self.at >= one_by_one_until:
                many, end = self._parse_many()
                if many is None:
                    one_by_one_until = end
                else:
                    self.at = end
                    self.count += len(many)
                    yield from many
                    continue
            if self._text[self.at : self.at + 1] == "]":
                self.ended = True
                return
            try:
                item, self.at = decode(self._text, self.at)
            except (ValueError, RecursionError):
                return
            self.count += 1
            yield item

    def _parse_many(self) -> tuple[list[Any] | None, int]:
        """A few hundred objects at once, which is quicker, and where the next one begins.

        None where the place looked like the end of an item but stands inside one: then what is unbalanced
        before it does not parse.
        """
        found = _BETWEEN.search(self._text, self.at + _PIECE)
        if not found:
            return None, len(self._text)
        try:
            many = json.loads(f"[{self._text[self.at : found.start() + 1]}]")
        except (ValueError, RecursionError):
            return None, found.end()
        return many, found.end()


def parse_beginning(text: str) -> dict[str, Any] | None:
    """The keys and values of an object as far as they are there; None where the text begins none.

    A value that is cut off is left out, but of an object that is cut off its own beginning is kept.
    """
    at = skip_gap(text, 0)
    return _parse_cut_off(text, at + 1, 0) if text[at : at + 1] == "{" else None


def skip_gap(text: str, at: int) -> int:
    """Where what follows spaces, line ends and commas begins."""
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def iterate_cells(
    item: Mapping[str, Any], wrappers: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
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


def _parse_cut_off(text: str, at: int, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    decoder = json.JSONDecoder()
    while text[(at := skip_gap(text, at)) : at + 1] == '"':
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
                found[key] = _parse_cut_off(text, at + 1, depth + 1)
            break
    return found
