"""How much of a file is held in memory at once; a file that needs more is refused, with its place.

What is really unpacked counts, whatever a packed file says of itself.
"""

from __future__ import annotations

from typing import Final

LARGEST_DOCUMENT: Final = 256 << 20
"""Bytes of the largest file that is one value, such as JSON."""
LARGEST_PART: Final = 128 << 20
"""Bytes of the longest line, and of the largest record, member of an archive or window of a stream."""

MOST_COLUMNS: Final = 20_000
"""Columns of a table; some kilobytes are known of each."""


def format_mebibytes(size: int) -> str:
    """A limit in words."""
    return f"{size >> 20:,} MiB"
