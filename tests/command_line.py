"""The command line as a user runs it: in this process, in one of its own, or on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import chdir
from typing import TYPE_CHECKING
from unittest.mock import patch

from click.testing import CliRunner

from reportgen.cli.main import cli
from reportgen.core.cache import cache_folder

if TYPE_CHECKING:
    from pathlib import Path

# What the tests' own terminal or workflow says must not decide.
_OUTSIDE = {"FORCE_COLOR", "NO_COLOR", "SOURCE_DATE_EPOCH", "GITHUB_WORKSPACE", "MKDOCSCONFIG"}


def call(folder: Path, *words: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, in this process, which takes no second for imports.

    ``variables`` are put into its environment, or taken out where they are None.

    Whatever it changes in this process (its folder and environment, and what it knows of them) is restored.
    """
    environment = {**dict.fromkeys(_OUTSIDE), "COLUMNS": "120", **variables}
    with chdir(folder), patch.dict(os.environ):
        cache_folder.cache_clear()
        done = CliRunner(env=environment).invoke(cli, words, prog_name="reportgen", catch_exceptions=False)
        cache_folder.cache_clear()
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def run(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own: for tests of starting and ending, and of what is outside Python."""
    return subprocess.run(
        _words(*words),
        cwd=folder,
        env=_environment(variables),
        capture_output=True,
        text=True,
        check=False,
    )


def run_on_terminal(folder: Path, *words: str, **variables: str) -> str:
    """Everything that a command writes to a terminal, with the orders that it gives the terminal."""
    own, its = pty.openpty()
    terminal = {"TERM": "xterm-256color"} | variables
    with subprocess.Popen(
        _words(*words), cwd=folder, env=_environment(terminal), stdout=its, stderr=its
    ) as process:
        os.close(its)
        parts = []
        try:
            while part := os.read(own, 4096):
                parts.append(part)
        except OSError:  # how Linux says that the other end was closed
            pass
        finally:
            os.close(own)
        process.wait(timeout=60)
    return b"".join(parts).decode().replace("\r\n", "\n")


def _words(*words: str) -> list[str]:
    return [sys.executable, "-m", "reportgen", *words]


def _environment(variables: dict[str, str]) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if name not in _OUTSIDE}
    return clean | {"COLUMNS": "120"} | variables
