"""A transcript: commands as a user types them, in this process, with what they print.

Beside ``reportgen`` and ``mkdocs`` there are commands of our own. For files: see ``file_commands``. For a
report: ``show [PAGE | PAGE#BLOCK]`` prints the blocks of the drafted pages in words, without MkDocs;
``statements`` how its statements are explained to readers; ``page [PAGE]`` what is read from its pages before
anything is drawn; ``words FILE [ID | TAG | CLASS]`` the words of a built page (its article); ``links SITE
CLASS …`` dead links in elements of these classes. ``states FILE`` writes what a review says of each state
into sites, ``before`` and ``after``. ``python FILE`` runs statements as cells of a notebook; ``sources``
prints what is read below ``data/``. After ``reportgen describe``: ``described PATH KEY …`` prints parts of
its JSON, and ``paste PATH [PURPOSE]`` writes what it suggests. ``drawn_report`` has commands about drafted
blocks. ``feeds FOLDER [KEY …]`` prints what its feeds say, or some of each entry. What stands in
``packages/`` is installed for ``reportgen``. A command may have settings of the environment before it, and
``| grep PATTERN``, ``| head N`` or ``| tail N`` behind it.
"""

from __future__ import annotations

import re
import shlex
import sys
from typing import TYPE_CHECKING
from unittest.mock import patch

from command_line import call, call_mkdocs
from described_sources import describe_sources
from drawn_report import COMMANDS, run_drawing_command
from file_commands import run_file_command
from made_states import write_states
from notebook_cells import run_cells
from published_feeds import show_feeds
from shown_report import list_dead_links, list_pages, show_built_page, show_report
from shown_statements import show_statements
from suggestions import list_parts, paste_suggestions

from reportgen.review.model import read_review

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from subprocess import CompletedProcess

_PROMPT = "$ "
_DURATION = re.compile(r"\b\d+(\.\d+)? (s|ms)\b(?=[.,;)]|$| \()", re.MULTILINE)
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
_SIZE = re.compile(
    r"(?:(?<= files, )|(?<=\.html: )|(?<= frozen into ))[\d.]+ [kMG]?B\b|(?<=\()[\d.]+ \w+(?=\),? frozen)"
)
_ENGINE = re.compile(r"(?<=DuckDB )\d[\d.]*\d")
_VARIABLE = re.compile(r"(?P<name>[A-Z][A-Z0-9_]*)=(?P<value>.*)", re.DOTALL)


def run_transcript(root: Path, transcript: str) -> str:
    """Run the commands of a transcript in a folder, and return it as it is now."""
    commands = [line.removeprefix(_PROMPT) for line in transcript.splitlines() if line.startswith(_PROMPT)]
    return "".join(_write_command(root, command) for command in commands)


def _write_command(root: Path, command: str) -> str:
    run, *filters = command.split(" | ")
    lines = [line.rstrip() for line in "".join(_run(root, run)).splitlines()]
    for one in filters:
        lines = _filter_lines(lines, *shlex.split(one))
    said = "\n".join(lines).strip("\n").replace(str(root), "ROOT")
    said = _SIZE.sub("… kB", _DIGEST.sub("SHA256", said))
    said = _ENGINE.sub("VERSION", said)
    said = _DURATION.sub(r"… \2", said)
    # What begins like a prompt would be taken for a command when the page is read again.
    said = re.sub(r"^(?=\$ )", "\\\\", said, flags=re.MULTILINE)
    return f"{_PROMPT}{command}\n{said}\n" if said else f"{_PROMPT}{command}\n"


def _filter_lines(lines: list[str], name: str, word: str) -> list[str]:
    match name:
        case "grep":
            return [line for line in lines if re.search(word, line)]
        case "head":
            return lines[: int(word)]
        case "tail":
            return lines[-int(word) :]
    raise AssertionError(f"no such command in a transcript: {name}")


def _run(root: Path, command: str) -> Iterator[str]:
    words = shlex.split(command)
    variables = {}
    while words and (match := _VARIABLE.fullmatch(words[0])):
        variables[match["name"]] = match["value"]
        words.pop(0)
    name, *rest = words
    match name:
        case "reportgen":
            with patch.object(sys, "path", [str(root / "packages"), *sys.path]):
                yield from _print_output(call(root, *rest, **variables))
        case "mkdocs":
            yield from _print_output(call_mkdocs(root, *rest, **variables))
        case "statements":
            yield show_statements(root)
        case "feeds":
            yield show_feeds(root / rest[0], *rest[1:])
        case "described":
            yield from list_parts(root, rest[0], rest[1:])
        case "paste":
            yield paste_suggestions(root, rest[0], " ".join(rest[1:]))
        case _ if name in COMMANDS:
            yield run_drawing_command(root, name, rest)
        case _:
            yield from _print_report(root, name, rest)


def _print_report(root: Path, name: str, words: list[str]) -> Iterator[str]:
    match name, words:
        case "show", _:
            yield show_report(root, words)
        case "page", _:
            yield list_pages(root, words)
        case "sources", _:
            yield describe_sources(root, outer=True)
        case "words", [file, *part]:
            yield show_built_page((root / file).read_text("utf-8"), *part)
        case "states", [file]:
            write_states(root, read_review((root / file).read_bytes()))
        case "links", [site, *classes]:
            yield list_dead_links(root / site, classes)
        case "python", [file]:
            yield run_cells(root, file)
        case _:
            yield run_file_command(root, name, words)


def _print_output(done: CompletedProcess[str]) -> Iterator[str]:
    yield done.stdout
    if done.stderr:
        yield done.stderr
    if done.returncode:
        yield f"exit status {done.returncode}\n"
