"""The command line as a user runs it: in this process, in one of its own until a signal, or on a terminal."""

from __future__ import annotations

import json
import logging
import os
import pty
import select
import signal
import subprocess
import sys
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from warnings import catch_warnings

from click.testing import CliRunner
from mkdocs.__main__ import cli as mkdocs

from reportgen.cli.main import cli
from reportgen.core.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def ask(folder: Path, *words: str, **variables: str | None) -> dict[str, Any]:
    """The envelope that a command prints with ``--format json``."""
    envelope: dict[str, Any] = json.loads(call(folder, *words, "--format", "json", **variables).stdout)
    return envelope


def describe(folder: Path, path: str, *words: str) -> dict[str, Any]:
    """What ``describe`` says of a path, its ``problems``, and whether it ``fails``."""
    said = ask(folder, "describe", path, *words)
    return (said["result"] or {"kind": ""}) | {"problems": said["diagnostics"], "fails": not said["ok"]}


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


# Runs a command that gets a signal when functions were called, or modules looked for, so many times. What
# looks at the functions of os when it is imported is imported before they are replaced.
_STOPPER = """
import os, shutil, signal, sys
from pkgutil import resolve_name

number, left, *moments = sys.argv.pop(1).split(",")
left = int(left)

def count():
    global left
    left -= 1
    if not left:
        signal.raise_signal(int(number))  # to this thread, so that it comes at once

class Imports:
    def find_spec(self, name, path=None, target=None):
        if f"import {name}" in moments:
            count()

def watch(owner, name):
    real = getattr(owner, name)
    def counted(*args, **named):
        count()
        return real(*args, **named)
    setattr(owner, name, counted)

sys.meta_path.insert(0, Imports())
functions = [moment for moment in moments if not moment.startswith("import ")]
if functions:
    import reportgen.site.replacing.records
for moment in functions:
    owner, _, name = moment.rpartition(".")
    watch(resolve_name(owner), name)
from reportgen.__main__ import main
main()
"""


def run_until(
    folder: Path, *words: str, at: Sequence[str], calls: int = 1, sent: int = signal.SIGKILL
) -> subprocess.CompletedProcess[str]:
    """The same until any of some functions were called so many times, when the process gets a signal.

    ``at`` has functions as ``os.rename``, or modules as ``import numpy``, when they are first looked for. Of
    what the command started nothing is waited for, as it were by a pipe for what it says.
    """
    stop = ",".join((str(int(sent)), str(calls), *at))
    with TemporaryFile("w+", encoding="utf-8") as out, TemporaryFile("w+", encoding="utf-8") as err:
        command = [sys.executable, "-c", _STOPPER, stop, *words]
        done = subprocess.run(command, cwd=folder, env=_environment({}), stdout=out, stderr=err, check=False)
        said = [file.read() for file in (out, err) if file.seek(0) == 0]
    return subprocess.CompletedProcess(words, done.returncode, *said)


def wait_for_processes(folder: Path) -> None:
    """Wait until no process works in a folder, where the system lists them; fail after a minute."""
    for process in Path("/proc").glob("[0-9]*"):
        # It ended, or is another user's.
        with suppress(OSError):
            if (process / "cwd").readlink() == folder:
                one = os.pidfd_open(int(process.name))
                ended, _, _ = select.select([one], [], [], 60)
                os.close(one)
                if not ended:
                    raise AssertionError(process)


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
