"""The command line as a user runs it: in this process, in one of its own, or on a terminal."""

from __future__ import annotations

import logging
import os
import pty
import subprocess
import sys
from contextlib import chdir, contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING
from unittest.mock import patch
from warnings import catch_warnings

from click.testing import CliRunner
from mkdocs.__main__ import cli as mkdocs

from reportgen.cli.main import cli
from reportgen.core.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click import Command

# What the tests' own terminal or workflow says must not decide.
_OUTSIDE = {
    *("FORCE_COLOR", "NO_COLOR", "SOURCE_DATE_EPOCH", "MKDOCSCONFIG", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
    *("GITHUB_BASE_REF", "GITHUB_REF", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"),
}
_CLEAN: dict[str, str | None] = {**dict.fromkeys(_OUTSIDE), "COLUMNS": "120"}
REPORTGEN = (sys.executable, "-m", "reportgen")
MKDOCS = (sys.executable, "-m", "mkdocs")


def call(folder: Path, *words: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, in this process, which takes no second for imports.

    ``variables`` are put into its environment, or taken out where they are None.

    Whatever it changes in this process (its folder and environment, and what it knows of them) is restored.
    """
    return _invoke(cli, "reportgen", folder, words, variables)


def call_mkdocs(folder: Path, *words: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
    """The same with ``mkdocs`` itself."""
    logger, builds = logging.getLogger("mkdocs"), logging.getLogger("mkdocs.commands.build")
    before, filters = (logger.level, logger.propagate), [*builds.filters]
    try:
        with catch_warnings():
            return _invoke(mkdocs, "mkdocs", folder, words, variables)
    finally:
        logger.level, logger.propagate = before
        # Each command adds one, which leaves out what any before it has said.
        builds.filters = filters


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


def run_on_terminal(folder: Path, *words: str, **variables: str | None) -> str:
    """Everything that a command writes to a terminal, with the orders that it gives the terminal."""
    own, its = pty.openpty()
    parts: list[bytes] = []
    reader = Thread(target=_read_terminal, args=(own, parts))
    reader.start()
    with os.fdopen(its, "w", buffering=1, encoding="utf-8") as terminal, _inside(folder):
        for name, value in {**_CLEAN, "TERM": "xterm-256color", **variables}.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})
        to_terminal = patch.multiple(sys, stdout=terminal, stderr=terminal)
        with to_terminal, suppress(SystemExit):
            cli.main(words, prog_name="reportgen")
    reader.join()
    os.close(own)
    return b"".join(parts).decode().replace("\r\n", "\n")


def _read_terminal(own: int, parts: list[bytes]) -> None:
    with suppress(OSError):  # how Linux says that the other end was closed
        while part := os.read(own, 4096):
            parts.append(part)


def _invoke(
    command: Command, name: str, folder: Path, words: tuple[str, ...], variables: dict[str, str | None]
) -> subprocess.CompletedProcess[str]:
    with _inside(folder):
        runner = CliRunner(env={**_CLEAN, **variables})
        done = runner.invoke(command, words, prog_name=name, catch_exceptions=False)
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """In a folder; what the process knows of it and its environment are restored."""
    with chdir(folder), patch.dict(os.environ):
        cache_folder.cache_clear()
        try:
            yield
        finally:
            cache_folder.cache_clear()


def _words(*words: str) -> list[str]:
    return [sys.executable, "-m", "reportgen", *words]


def _environment(variables: dict[str, str]) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if name not in _OUTSIDE}
    return clean | {"COLUMNS": "120"} | variables


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
