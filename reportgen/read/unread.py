"""Files that are not read and why: links out of the repository, files without permission, unknown formats."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, SourceLocation, Stage
from reportgen.core.words import join_names
from reportgen.formats.files import Content, split_ending
from reportgen.formats.messages import list_names, merge_problems
from reportgen.formats.registry import is_unit_name
from reportgen.read.find import locate_file
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.read.find import Location


_ADVICE: Final = (
    "Put what it leads to into the repository, or set follow_links: true for the reportgen plugin in "
    "mkdocs.yml if you trust everyone who may change the data"
)


def refuse_outward_links(found: Mapping[Path, str], location: Location) -> None:
    """Refuse links of a source that lead out of the repository, given with where they lead.

    Raises:
        ReportError: there are some.
    """
    for link, target in found.items():
        if location.path.parent not in link.parents:
            # What concerns the whole data folder is reported at the page that uses something of it.
            place = locate_file(link, location.root)
            raise ReportError(_report_link(place, f'the link "{place}"', target))
    if found:
        raise ReportError(*report_links(found, location.root))


def report_links(
    found: Mapping[Path, str], root: Path, severity: Severity = Severity.ERROR
) -> Iterator[Diagnostic]:
    """Problems of links that lead out, many to one place in one."""
    problems = (_report_link(locate_file(link, root), "this link", target) for link, target in found.items())
    return merge_problems(replace(one, severity=severity) for one in problems)


def _report_link(place: SourceLocation, name: str, target: str) -> Diagnostic:
    # Quoted as Python does: a terminal obeys none of it.
    return Diagnostic(place, f"{name} leads out of the repository, to {target!r}", _ADVICE, Stage.DATA)


_DATABASE_PARTS: Final = ("-wal", "-shm", "-journal")


def find_outward_source(location: Location) -> dict[Path, str]:
    """Of a source's file or folder and its ``source.yml``: the link that leads out, and where to."""
    return _find_outward([location.path, location.settings], location)


def find_outward_files(paths: Iterable[Path], location: Location) -> dict[Path, str]:
    """Links on the way to files that were named, and next to these, and where they lead.

    ``paths`` are files, or folders of such, of a source whose own file or folder is known to be within.
    """
    paths = list(paths)
    linked = [path for path in paths if path.is_symlink()]
    folders = {
        folder
        for path in paths
        for folder in path.parents
        if folder == path.parent or folder.is_relative_to(location.path)
    }
    if location.path.is_dir():
        links = [link for folder in sorted(folders) for link in _list_links(folder)]
    else:
        # Beside a source that is one file stand other sources, which may be thousands.
        parts = (location.path.with_name(location.path.name + ending) for ending in _DATABASE_PARTS)
        links = [part for part in parts if part.is_symlink()]
    return _find_outward([*sorted(folders - set(location.path.parents)), *linked, *links], location)


def _find_outward(paths: Iterable[Path], location: Location) -> dict[Path, str]:
    """Paths that lead out, each as the first link on its way that does, and where they lead."""
    boundary = location.boundary
    if boundary is None:
        return {}
    found: dict[Path, str] = {}
    for path in paths:
        if target := boundary.resolve_outside(path):
            below = (one for one in (*reversed(path.parents), path) if one.is_relative_to(location.root))
            link = next((one for one in below if one.is_symlink() and boundary.resolve_outside(one)), path)
            found[link] = boundary.resolve_outside(link) or target
    return found


def _list_links(folder: Path) -> Iterator[Path]:
    """The links to files in a folder, such as the parts of a database next to it."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for entry in entries if entry.is_symlink() and not entry.is_dir()]
    except OSError:
        return
    yield from (folder / name for name in found)


_UNREAD: Final = "the file cannot be read: Permission denied; it is left out"


def find_unreadable(paths: Sequence[Path], *, named: bool) -> frozenset[Path]:
    """Files that may not be read, of those that the user named or whose names may be of data."""
    data = (path for path in paths if named or split_ending(path)[1] or is_unit_name(path.name))
    return frozenset(path for path in data if not os.access(path, os.R_OK) and path.exists())


def report_unread(folders: Mapping[Path, str], files: Iterable[Path], root: Path) -> Iterator[Diagnostic]:
    """Warnings of folders that are not gone into, and why, and of files that may not be read."""
    reasons = (*folders.items(), *((file, _UNREAD) for file in files))
    advice = "Check who may read it, and where links lead"
    return merge_problems(
        Diagnostic(locate_file(path, root), message, advice, Stage.DATA, Severity.WARNING)
        for path, message in reasons
    )


_DATABASE: Final = re.compile(r".*\.(db3?|sqlite3?)", re.IGNORECASE)
_NAMES: Final = re.compile(r".*\.(db3?|sqlite3?|eval|wandb)|.*tfevents.*", re.IGNORECASE)
_SQLITE: Final = b"SQLite format 3\x00"
# Tables of a study in every version of Optuna's storage (optuna/storages/_rdb/models.py).
_OPTUNA: Final = frozenset(("studies", "trials", "trial_values"))
_COPY: Final = "Copy it again from where the run wrote it"
_BEGINNING, _LONGEST, _MOST_ENDINGS = 1024, 60, 6
# What a first line shows of a table.
_TABLES: Final = (("jsonl", r"\{.*"), ("json", r"\[.*"), ("tsv", r".*\t.*"), ("csv", r".*,.*"))


def check_unknown_files(paths: Iterable[Path], root: Path) -> list[Diagnostic]:
    """What is wrong with files that only loggers and harnesses write, in a source that holds nothing else."""
    problems = Diagnostics()
    for path in paths:
        if not _NAMES.fullmatch(path.name):
            continue
        content = Content(path, locate_file(path, root).file, "")
        with problems.collecting():
            content.check()
            if _DATABASE.fullmatch(path.name):
                raise _explain_database(content)
    return problems.found


def explain_unknown_format(path: Path, root: Path) -> list[Diagnostic]:
    """Why a file that was named is not read: neither its ending nor its content tells a format."""
    content = Content(path, locate_file(path, root).file, "")
    problems = Diagnostics()
    with problems.collecting():
        content.check()
        with content.open() as file:
            beginning = file.read(_BEGINNING)
        if _DATABASE.fullmatch(path.name) or beginning.startswith(_SQLITE):
            raise _explain_database(content)
        message = "its ending tells no format, and no logger or harness that is known writes what it holds"
        if b"\0" in beginning:
            advice = "Export a table from it as CSV, or leave it out with files: in source.yml"
            raise content.make_error(f"{message}, which is no text", advice)
        line = next(iter(beginning.decode(errors="replace").lstrip().splitlines()), "")
        form = next((name for name, sign in _TABLES if re.fullmatch(sign, line)), "")
        kind = f"format: {form}" if form else "which: format: csv, tsv, json, jsonl or parquet,"
        advice = f"If it is a table, say {kind} in source.yml; otherwise leave it out with files:"
        raise content.make_error(f'{message}: it begins with "{shorten(line, _LONGEST)}"', advice)
    return problems.found


def report_no_data(folder: Path, paths: Iterable[Path], root: Path) -> Diagnostic:
    """The problem of a folder in which no file is data."""
    held = count_endings(paths)
    message = f"the folder has no data file: it {f'holds {held}' if held else 'is empty'}"
    advice = "Put CSV, TSV, JSON, JSON Lines or Parquet files in it, or name others with files: and format:"
    if held:
        message += ", none of which is known by its name or by what it holds"
    return Diagnostic(locate_file(folder, root), message, advice, Stage.DATA)


def count_endings(paths: Iterable[Path]) -> str:
    """How many files there are of each ending, as words, most first; empty where there are none."""
    counts = Counter(path.suffix.lower() or "without an ending" for path in paths)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return join_names([f"{count:,} {ending}" for ending, count in ordered], most=_MOST_ENDINGS)


def _explain_database(content: Content) -> ReportError:
    """What a file is that is called like a database: a store of something else, or damaged."""
    from reportgen.formats.runs import UnreadableError  # noqa: PLC0415 - seldom needed
    from reportgen.formats.sqlite import open_store  # noqa: PLC0415

    with content.open() as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return content.make_error("it is no SQLite database", _COPY)
    try:
        with open_store(content.path) as store:
            tables = sorted(store.columns)
    except UnreadableError as error:
        return content.make_error(error.message, error.next_step or _COPY)
    if set(tables) >= _OPTUNA:
        advice = (
            "Export the trials of a study in Python, as in optuna.load_study(study_name=NAME, "
            f'storage="sqlite:///{content.path.name}").trials_dataframe().to_csv("trials.csv"), and read that'
        )
        return content.make_error("it is a database of Optuna studies, which cannot be read yet", advice)
    if not tables:
        advice = "Wait until something is written, or copy it again"
        return content.make_error("the database has no tables yet", advice)
    named = f'the table "{tables[0]}"' if len(tables) == 1 else f"the tables {list_names(tables)}"
    message = f"the database is of no program that is known: it has {named}"
    advice = "Those of MLflow and Trackio are read; of others export a table as CSV, and read that"
    return content.make_error(message, advice)
