"""Files that are called as loggers call theirs, and hold nothing that is known: why that may be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problems
from reportgen.read.content import Content
from reportgen.read.find import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reportgen.errors import Problem

_DATABASE: Final = re.compile(r".*\.(db|sqlite3?)", re.IGNORECASE)
_NAMES: Final = re.compile(r".*\.(db|sqlite3?|eval|wandb)|.*tfevents.*", re.IGNORECASE)
_SQLITE: Final = b"SQLite format 3\x00"


def unrecognised(paths: Iterable[Path], root: Path) -> list[Problem]:
    """What is wrong with files that only loggers and harnesses write, and no reader knows.

    Args:
        paths: files of a source that holds nothing else.
        root: what the places of problems are relative to.
    """
    problems = Problems()
    for path in paths:
        if not _NAMES.fullmatch(path.name):
            continue
        content = Content(path, place_of(path, root).file, "")
        with problems.collecting():
            content.check()
            if _DATABASE.fullmatch(path.name):
                raise content.error(_of_database(content), "Copy it again from where the run wrote it")
    return problems.found


def _of_database(content: Content) -> str:
    with content.open() as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return "it is no SQLite database"
    return "the database is damaged or cut short, or none of those that MLflow and Trackio write"
