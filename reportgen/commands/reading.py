"""What is being read, on a terminal: how many files so far, and which."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def show_reading(hashes: Callable[[Path], str]) -> Iterator[Callable[[Path], str]]:
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

    from reportgen.site.checking.excerpts import clean_text

    seen: set[Path] = set()
    with Console(stderr=True).status("Looking for files") as status:

        def hash_file(path: Path) -> str:
            seen.add(path)
            status.update(f"Reading file {len(seen):,}: {escape(clean_text(path.name))}")
            return hashes(path)

        yield hash_file
