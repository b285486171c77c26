"""Files that hold nothing that is read: what they are as far as can be seen, and what to do about it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Problems, Stage
from reportgen.read.content import Content
from reportgen.read.find import locate_file
from reportgen.read.wording import list_names
from reportgen.settings.parsing import shorten
from reportgen.words import join_names

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reportgen.errors import ReportError

_DATABASE: Final = re.compile(r".*\.(db3?|sqlite3?)", re.IGNORECASE)
_NAMES: Final = re.compile(r".*\.(db3?|sqlite3?|eval|wandb)|.*tfevents.*", re.IGNORECASE)
_SQLITE: Final = b"SQLite format 3\x00"
# Tables of a study in every version of Optuna's storage (optuna/storages/_rdb/models.py).
_OPTUNA: Final = frozenset(("studies", "trials", "trial_values"))
_COPY: Final = "Copy it again from where the run wrote it"
_BEGINNING, _LONGEST, _MOST_ENDINGS = 1024, 60, 6
# What a first line shows of a table.
_TABLES: Final = (("jsonl", r"\{.*"), ("json", r"\[.*"), ("tsv", r".*\t.*"), ("csv", r".*,.*"))


def check_unknown_files(paths: Iterable[Path], root: Path) -> list[Problem]:
    """What is wrong with files that only loggers and harnesses write, and no reader knows.

    Args:
        paths: files of a source that holds nothing else.
        root: what the places of problems are relative to.
    """
    problems = Problems()
    for path in paths:
        if not _NAMES.fullmatch(path.name):
            continue
        content = Content(path, locate_file(path, root).file, "")
        with problems.collecting():
            content.check()
            if _DATABASE.fullmatch(path.name):
                raise _explain_database(content)
    return problems.found


def explain_unknown_format(path: Path, root: Path) -> list[Problem]:
    """Why a file that was named is not read: neither its ending nor its content tells a format.

    Args:
        path: the file.
        root: what the place of the problem is relative to.
    """
    content = Content(path, locate_file(path, root).file, "")
    problems = Problems()
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


def report_no_data(folder: Path, paths: Iterable[Path], root: Path) -> Problem:
    """What to tell of a folder in which no file is data.

    Args:
        folder: the folder.
        paths: its files.
        root: what the place of the problem is relative to.
    """
    held = count_endings(paths)
    message = (
        f"the folder has no data file: it holds {held}"
        if held
        else "the folder has no data file: it is empty"
    )
    advice = "Put CSV, TSV, JSON, JSON Lines or Parquet files in it, or name others with files: and format:"
    if held:
        message += ", none of which is known by its name or by what it holds"
    return Problem(locate_file(folder, root), message, advice, Stage.DATA)


def count_endings(paths: Iterable[Path]) -> str:
    """How many files there are of each ending, as words, most first; empty where there are none."""
    counts = Counter(path.suffix.lower() or "without an ending" for path in paths)
    sorted_counts = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return (
        join_names([f"{count:,} {ending}" for ending, count in sorted_counts], most=_MOST_ENDINGS)
        if counts
        else ""
    )


def _explain_database(content: Content) -> ReportError:
    """What a file is that is called like a database: a store of something else, or damaged."""
    from reportgen.read.logged import UnreadableError  # noqa: PLC0415 - seldom needed
    from reportgen.read.loggers.sqlite_copy import open_store  # noqa: PLC0415

    with content.open() as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return content.make_error("it is no SQLite database", _COPY)
    try:
        with open_store(content.path) as store:
            tables = sorted(store.columns)
    except UnreadableError as error:
        return content.make_error(error.message, error.next_step or _COPY)
    if set(tables) >= _OPTUNA:
        message = "it is a database of Optuna studies, which cannot be read yet"
        advice = (
            "Export the trials of a study in Python, as in optuna.load_study(study_name=NAME, "
            f'storage="sqlite:///{content.path.name}").trials_dataframe().to_csv("trials.csv"), and read that'
        )
        return content.make_error(message, advice)
    if not tables:
        return content.make_error(
            "the database has no tables yet", "Wait until something is written, or copy it again"
        )
    message = f"the database is of no program that is known: it has the tables {list_names(tables)}"
    if len(tables) == 1:
        message = f'the database is of no program that is known: it has the table "{tables[0]}"'
    advice = "Those of MLflow and Trackio are read; of others export a table as CSV, and read that"
    return content.make_error(message, advice)
