"""What the last build wrote: pages and cards that would come out the same are linked, not made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.site.links import link

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class LastBuild:
    """The site of the last build, which stands until the new one takes its place.

    Attributes:
        keys: what decided each file of this build that the next may take over, by its path below the site.
    """

    def __init__(self, site: Path, written: Mapping[str, tuple[str, int, int]]) -> None:
        """Take a site and its files: by path below it the key, the size, and the time of change in ns."""
        self._site = site
        self._written = written
        self.keys: dict[str, str] = {}

    def link(self, path: str, key: str, site: Path) -> bool:
        """Put a file into a new site if this key decided it and nobody has written into it since."""
        self.keys[path] = key
        known, size, changed = self._written.get(path, ("", 0, 0))
        if known != key:
            return False
        source = self._site / path
        try:
            found = source.stat()
            if (found.st_size, found.st_mtime_ns) != (size, changed):
                return False
            link(str(source), str(site / path))
        except OSError:  # gone, or a file system without links
            return False
        return True
