"""Names of series as expressions hold them."""

from __future__ import annotations

import re

KEYWORDS = ("and", "or", "not")
"""Words of the language that are no names."""

# Every branch that repeats can match in one way only, so that reading takes linear time.
PLAIN_NAME = r"[^\W\d][\w.]*(?:-[\w.]+)*"
"""A name that needs no quotes, as a pattern."""


def quote_name(name: str) -> str:
    """A name as expressions hold it: ``MEL``, and in quotes where it needs them: ``'Series A'``."""
    if re.fullmatch(PLAIN_NAME, name) and name not in KEYWORDS:
        return name
    return "'" + name.replace("'", "''") + "'"
