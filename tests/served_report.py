"""``reportgen serve`` in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REPORTGEN = (sys.executable, "-m", "reportgen")
MKDOCS = (sys.executable, "-m", "mkdocs")


@contextmanager
def serving(folder: Path, port: int, *command: str) -> Iterator[int]:
    """Serve a report until the end of the block; gives the port."""
    words = [*(command or REPORTGEN), "serve", "--dev-addr", f"127.0.0.1:{port}"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(words, cwd=folder, **pipes) as process:  # type: ignore[call-overload]
        said = []
        for line in process.stdout:
            said.append(line)
            if "Serving on" in line:
                break
        else:
            raise AssertionError("".join(said))
        try:
            yield port
        finally:
            process.terminate()
