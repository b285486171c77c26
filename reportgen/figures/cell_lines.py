"""Long words in a table's cell, in lines: a cell of a block's tables breaks only where its text does."""

from __future__ import annotations

import textwrap

_WIDEST = 34
"""Letters of a line: about as wide as a score with its interval."""


def wrap_cell(text: str) -> str:
    """The text broken between words; a word longer than a line stays whole."""
    return "\n".join(textwrap.wrap(text, _WIDEST, break_long_words=False, break_on_hyphens=False))
