"""Links from a new site to bytes that are there already, in the cache or in the old site."""

from __future__ import annotations

import os
from pathlib import Path


def link(source: str, target: str) -> None:
    """Give a file a second name; the folder of ``target`` is made if need be.

    Raises:
        OSError: it lies on another file system, or on one without links.
    """
    try:
        os.link(source, target)
    except FileNotFoundError:  # cheaper than to ask of each of hundreds whether its folder is there
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        os.link(source, target)
