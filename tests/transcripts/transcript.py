"""A transcript: commands as a user types them, in this process, with what they print.

Beside ``reportgen`` and ``mkdocs`` there are commands of our own: ``cat FILE``, ``ls FOLDER`` (all files
below it), ``rm FILE``, ``cp FILE FILE``, and ``show [PAGE | PAGE#BLOCK]``, which prints the blocks of the
drafted pages in words, without MkDocs. A command may have settings of the environment before it.
"""

from __future__ import annotations

import re
import shlex
import shutil
from typing import TYPE_CHECKING

from command_line import call, call_mkdocs
from shown_report import show_report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from subprocess import CompletedProcess

_PROMPT = "$ "
_DURATION = re.compile(r"\b\d+(\.\d+)? (s|ms)\b(?=[.,;)]|$| \()", re.MULTILINE)
_VARIABLE = re.compile(r"(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>.*)", re.DOTALL)


def run_transcript(root: Path, transcript: str) -> str:
    """Run the commands of a transcript in a folder, and return it as it is now."""
    commands = [line.removeprefix(_PROMPT) for line in transcript.splitlines() if line.startswith(_PROMPT)]
    return "".join(_write_command(root, command) for command in commands)


def _write_command(root: Path, command: str) -> str:
    lines = "\n".join(line.rstrip() for line in "".join(_run(root, command)).splitlines()).strip("\n")
    said = lines.replace(str(root), "ROOT")
    said = _DURATION.sub(r"… \2", said)
    # What begins like a prompt would be taken for a command when the page is read again.
    said = re.sub(r"^(?=\$ )", "\\\\", said, flags=re.MULTILINE)
    return f"{_PROMPT}{command}\n{said}\n" if said else f"{_PROMPT}{command}\n"


def _run(root: Path, command: str) -> Iterator[str]:
    words = shlex.split(command)
    variables = {}
    while words and (match := _VARIABLE.fullmatch(words[0])):
        variables[match["name"]] = match["value"]
        words.pop(0)
    name, *rest = words
    match name, rest:
        case "reportgen", _:
            yield from _print_output(call(root, *rest, **variables))
        case "mkdocs", _:
            yield from _print_output(call_mkdocs(root, *rest, **variables))
        case "show", _:
            yield show_report(root, rest)
        case "cat", [file]:
            yield (root / file).read_text("utf-8")
        case "ls", [folder]:
            files = sorted(path for path in (root / folder).rglob("*") if path.is_file())
            yield "".join(f"{path.relative_to(root).as_posix()}\n" for path in files)
        case "rm", [file]:
            (root / file).unlink()
        case "cp", [source, target]:
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / source, root / target)
        case _:
            raise AssertionError(f"no such command in a transcript: {command}")


def _print_output(done: CompletedProcess[str]) -> Iterator[str]:
    yield done.stdout
    if done.stderr:
        yield done.stderr
    if done.returncode:
        yield f"exit status {done.returncode}\n"
