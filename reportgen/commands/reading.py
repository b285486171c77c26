"""What is being read, on a terminal: how many files so far, and which."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def reading_told(hashes: Callable[[Path], str]) -> Iterator[Callable[[Path], str]]:
    """Show on a terminal what is read; nothing elsewhere.

    Args:
        hashes: SHA-256 of a file in hex, which every file is asked for before it is read.

    Yields:
        The same, to be used in its place.
    """
    if not sys.stderr.isatty():
        yield hashes
        return
    from rich.console import Console
    from rich.markup import escape

    from reportgen.site.checking.excerpts import printable

    seen: set[Path] = set()
    with Console(stderr=True).status("Looking for files") as status:

        def hashed(path: Path) -> str:
            seen.add(path)
            status.update(f"Reading file {len(seen):,}: {escape(printable(path.name))}")
            return hashes(path)

        yield hashed
