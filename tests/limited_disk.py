"""A disk that takes no more."""

from __future__ import annotations

import re
import resource
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_SPACE = re.compile("File too large. Free some space.|No usable temporary directory found")


@contextmanager
def limited_disk(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond ``size`` bytes: the one fault that needs no disk of its own."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python itself would keep a module compiled in half, and every later test would fail on it; and it looks
    # for a temporary folder once in a process.
    with patch.object(sys, "dont_write_bytecode", True), patch.object(tempfile, "tempdir", None):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
