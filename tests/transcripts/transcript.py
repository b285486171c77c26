"""A transcript: commands as a user types them, in this process, with what they print.

Beside ``reportgen`` and ``mkdocs`` there are commands of our own. For files: ``cat FILE``, ``ls FOLDER``
(all files below it), ``rm FILE``, ``cp FILE FILE``, ``mv FILE FILE``, ``ln TARGET LINK``, ``mkfifo FILE``,
and ``replace OLD NEW FILE``, and ``echo TEXT > FILE`` (or ``>> FILE``). For a report: ``show [PAGE |
PAGE#BLOCK]`` prints the blocks of the drafted pages in words, without MkDocs; ``statements`` how its
statements are explained to readers; ``page [PAGE]`` what is read from its pages before anything is drawn;
``words FILE`` the words of a built page; ``json FILE KEY.KEY`` a part of a file. ``python FILE`` runs
statements as cells of a notebook; ``sources`` prints what is read below ``data/``. After ``reportgen
describe``: ``described PATH KEY …`` prints parts of its JSON, and ``paste PATH [PURPOSE]`` writes what it
suggests. ``drawn_report`` has commands about drafted blocks. A command may have settings of the
environment before it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from typing import TYPE_CHECKING

from command_line import call, call_mkdocs
from described_sources import describe_sources
from drawn_report import COMMANDS, run_drawing_command
from notebook_cells import run_cells
from shown_report import list_pages, show_built_page, show_report
from shown_statements import show_statements
from suggestions import list_parts, paste_suggestions

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
    match name:
        case "reportgen":
            yield from _print_output(call(root, *rest, **variables))
        case "mkdocs":
            yield from _print_output(call_mkdocs(root, *rest, **variables))
        case "rm" | "cp" | "mv" | "ln" | "mkfifo" | "replace" | "echo":
            _change_files(root, name, rest)
        case "statements":
            yield show_statements(root)
        case "described":
            yield from list_parts(root, rest[0], rest[1:])
        case "paste":
            yield paste_suggestions(root, rest[0], " ".join(rest[1:]))
        case _ if name in COMMANDS:
            yield run_drawing_command(root, name, rest)
        case _:
            yield from _print_files(root, name, rest)


def _print_files(root: Path, name: str, words: list[str]) -> Iterator[str]:
    match name, words:
        case "show", _:
            yield show_report(root, words)
        case "page", _:
            yield list_pages(root, words)
        case "sources", _:
            yield describe_sources(root, outer=True)
        case "words", [file]:
            yield show_built_page((root / file).read_text("utf-8"))
        case "python", [file]:
            yield run_cells(root, file)
        case "json", [file, path]:
            value = json.loads((root / file).read_text("utf-8"))
            for key in path.split("."):
                value = value[int(key) if isinstance(value, list) else key]
            yield json.dumps(value, indent=1, ensure_ascii=False)
        case "cat", [file]:
            yield (root / file).read_text("utf-8")
        case "ls", [folder]:
            files = sorted(path for path in (root / folder).rglob("*") if path.is_file())
            yield "".join(f"{path.relative_to(root).as_posix()}\n" for path in files)
        case _:
            raise AssertionError(f"no such command in a transcript: {name} {words}")


def _change_files(root: Path, name: str, words: list[str]) -> None:
    match name, words:
        case "rm", [file]:
            (root / file).unlink()
        case "mkfifo", [file]:
            os.mkfifo(root / file)
        case "replace", [old, new, file]:
            text = (root / file).read_text("utf-8")
            assert old in text, f"{file} has no {old}"
            (root / file).write_text(text.replace(old, new), "utf-8")
        case "echo", [text, (">" | ">>") as mark, file]:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            with (root / file).open("a" if mark == ">>" else "w", encoding="utf-8") as opened:
                opened.write(text.replace("\\n", "\n") + "\n")
        case (("cp" | "mv" | "ln"), [source, target]):
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            if name == "cp":
                shutil.copyfile(root / source, root / target)
            elif name == "mv":
                (root / source).rename(root / target)
            else:
                (root / target).symlink_to(source)
        case _:
            raise AssertionError(f"no such command in a transcript: {name} {words}")


def _print_output(done: CompletedProcess[str]) -> Iterator[str]:
    yield done.stdout
    if done.stderr:
        yield done.stderr
    if done.returncode:
        yield f"exit status {done.returncode}\n"
