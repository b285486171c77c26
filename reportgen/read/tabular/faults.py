"""What is wrong in the rows of files, with line numbers: looked for only where reading failed."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb

from reportgen.errors import Problem, ReportError, Stage
from reportgen.read import sql
from reportgen.read.cells import is_missing, is_number, is_time
from reportgen.read.content import Content, limit_problems
from reportgen.read.find import locate_file
from reportgen.read.tabular import wandb_csv
from reportgen.read.tabular.formats import FORMATS
from reportgen.settings.parsing import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from reportgen.errors import SourceLocation
    from reportgen.read.cells import Text
    from reportgen.read.layout import FileLayout, Row

_LONGEST: Final = 60
_DUCKDB: Final = re.compile(
    r"on Line: (?P<line>\d+)\nOriginal Line: .*?\n(?P<reason>[^\n]+)\n.*?\n  file = (?P<file>[^\n]+)\n",
    re.DOTALL,
)


class Check(NamedTuple):
    """What a column's cells are held to.

    Attributes:
        wrong: what is wrong with a cell, as the end of a sentence, and the next step; None where it is right.
        typed: whether a cell may be wrong though the file gives its column a type.
    """

    wrong: Callable[[Text], tuple[str, str] | None]
    typed: bool = False


def _check_number(cell: Text) -> tuple[str, str] | None:
    if cell is None or is_missing(cell) or is_number(cell):
        return None
    return "is not a number", "Mend it, or leave the cell empty"


def _check_time(cell: Text) -> tuple[str, str] | None:
    if cell is None or is_missing(cell) or is_time(cell):
        return None
    return "is not a time", "Write times as 2026-05-31 or 2026-05-31T12:00:00Z"


def _check_name(cell: Text) -> tuple[str, str] | None:
    return None if cell else ("names nothing", "Fill the cell, or leave the row out")


NAMED: Final = Check(_check_name, typed=True)
NUMBER: Final = Check(_check_number)
TIME: Final = Check(_check_time)


def find_faults(
    root: Path, files: Iterable[FileLayout], numbers: Collection[str], times: Collection[str] = ()
) -> list[Problem]:
    """Every row that cannot be read, and every cell that is not what its column needs.

    Args:
        root: the folder that the files' paths start from.
        files: the files to go through.
        numbers: columns, as written, that hold numbers.
        times: columns that hold times.
    """
    return find_wrong_cells(root, files, {**dict.fromkeys(numbers, NUMBER), **dict.fromkeys(times, TIME)})


def find_wrong_cells(root: Path, files: Iterable[FileLayout], checks: Mapping[str, Check]) -> list[Problem]:
    """Every row that cannot be read, and every cell that is wrong.

    Args:
        root: the folder that the files' paths start from.
        files: the files to go through.
        checks: what the cells of columns, as written, are held to.
    """
    found: list[Problem] = []
    for file in files:
        content = Content(root / file.place, file.path, file.compression)
        try:
            found += limit_problems(_check_rows(content, file, checks))
        except ReportError as error:
            found += error.problems
    return found


@contextmanager
def explain_errors(
    root: Path, place: SourceLocation, faults: Callable[[], Iterable[Problem]]
) -> Iterator[None]:
    """Turn a failure of the database inside into what the user can mend.

    Args:
        root: what the places of problems are relative to.
        place: where a failure is told that nothing in the rows explains.
        faults: looks for what is wrong; called only then.

    Raises:
        ReportError: reading failed.
    """
    try:
        yield
    except duckdb.Error as error:
        problems = list(faults()) or [_explain_error(str(error), root, place)]
        raise ReportError(*problems) from error


def _explain_error(error: str, root: Path, place: SourceLocation) -> Problem:
    """What DuckDB says of a file that Python reads: a stray quote, or a line of megabytes."""
    if match := _DUCKDB.search(error):
        reason = shorten(match["reason"], 200).rstrip(".")
        message = f"the row cannot be read: {reason[:1].lower()}{reason[1:]}"
        place = locate_file(Path(match["file"]), root, int(match["line"]))
        return Problem(place, message, "Look for a stray quote or an overlong line", Stage.DATA)
    message = f"the data cannot be read: {shorten(error.partition(chr(10))[0], 200)}"
    return Problem(place, message, "Check the files, or write them again", Stage.DATA)


def _check_rows(content: Content, file: FileLayout, checks: Mapping[str, Check]) -> Iterator[Problem]:
    needed = {
        name: check
        for name, check in sorted(checks.items())
        if file.get_given(name) is None
        and (
            check.typed
            or name not in file.columns
            or file.type_of(name) == sql.TEXT
            or file.format == wandb_csv.WANDB_CHART
        )
    }
    for row in FORMATS[file.format].read_rows(content, file, tuple(needed)):
        if isinstance(row, Problem):
            yield row
            continue
        for name, check in needed.items():
            if wrong := check.wrong(row.cells.get(name)):
                yield _fault(content, row, name, *wrong)


def _fault(content: Content, row: Row, name: str, fault: str, advice: str) -> Problem:
    where = "" if row.line else f" of row {row.number}"
    cell, column = row.cells.get(name), shorten(name, _LONGEST)
    found = f'"{shorten(cell, _LONGEST)}"' if cell else "an empty cell"
    return content.make_problem(f'{found} in column "{column}"{where} {fault}', advice, row.line)
