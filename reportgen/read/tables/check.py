"""Checks of files and tables: unknown formats, faulty rows and cells with their lines, missing columns."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.cells import (
    is_missing,
    is_number,
    is_time,
    is_unix_time,
    parse_reported,
)
from reportgen.formats.messages import limit_problems, list_names
from reportgen.formats.tables import FORMATS, delimited
from reportgen.read.find import locate_file
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from reportgen.formats.cells import Text
    from reportgen.formats.layout import Content, FileLayout, Look
    from reportgen.read.tables.layout import Layout


_LONGEST: Final = 60
_ROWS: Final = 500  # of JSON, to see its keys and states
_DUCKDB: Final = re.compile(
    r"on Line: (?P<line>\d+)\nOriginal Line: .*?\n(?P<reason>[^\n]+)\n.*?\n  file = (?P<file>[^\n]+)\n",
    re.DOTALL,
)


class Check(NamedTuple):
    """A check of the cells of a column."""

    # Returns the end of a sentence about a faulty cell and the next step, or None.
    find_fault: Callable[[Text], tuple[str, str] | None]
    # Whether to check cells even if the file gives their column a type.
    typed: bool = False


def make_check(is_right: Callable[[str], bool], fault: str, advice: str) -> Check:
    """Return a check of filled cells; an empty one is missing, not faulty."""
    return Check(lambda cell: None if cell is None or is_missing(cell) or is_right(cell) else (fault, advice))


NAMED: Final = Check(
    lambda cell: None if cell else ("names nothing", "Fill the cell, or leave the row out"), typed=True
)
NUMBER: Final = make_check(
    lambda cell: is_number(cell) or ((one := parse_reported(cell)) is not None and one.spread is None),
    "is not a number",
    "Mend it, or leave the cell empty",
)
ESTIMATE: Final = make_check(
    lambda cell: is_number(cell) or parse_reported(cell) is not None,
    "is not a number",
    "Mend it, or leave the cell empty",
)
TIME: Final = make_check(
    lambda cell: is_time(cell) or is_unix_time(cell),
    "is not a time",
    "Write times as 2026-05-31 or 2026-05-31T12:00:00Z",
)


def find_faults(
    root: Path, files: Iterable[FileLayout], numbers: Collection[str], times: Collection[str] = ()
) -> list[Diagnostic]:
    """Return a problem for each unreadable row, and each cell that should be a number or a time."""
    return find_wrong_cells(root, files, {**dict.fromkeys(numbers, NUMBER), **dict.fromkeys(times, TIME)})


def find_wrong_cells(
    root: Path, files: Iterable[FileLayout], checks: Mapping[str, Check]
) -> list[Diagnostic]:
    """Return a problem for each unreadable row, and each cell that fails the check of its column."""
    problems: list[Diagnostic] = []
    for file in files:
        try:
            problems += limit_problems(check_rows(file.get_content(root), file, checks))
        except ReportError as error:
            problems += error.problems
    return problems


def check_rows(content: Content, file: FileLayout, checks: Mapping[str, Check]) -> Iterator[Diagnostic]:
    """Yield a problem for each unreadable row, and each cell that fails the check of its column."""

    def may_be_wrong(name: str) -> bool:
        if name not in file.columns or checks[name].typed or file.format == delimited.WANDB_CHART:
            return file.get_given(name) is None
        return file.get_given(name) is None and file.type_of(name) == sql.TEXT

    needed = {name: checks[name] for name in sorted(checks) if may_be_wrong(name)}
    for row in FORMATS[file.format].read_rows(content, file, tuple(needed)):
        if isinstance(row, Diagnostic):
            yield row
            continue
        for name, check in needed.items():
            cell = row.cells.get(name)
            if fault := check.find_fault(cell):
                where = "" if row.line else f" of row {row.number}"
                shown = f'"{shorten(cell, _LONGEST)}"' if cell else "an empty cell"
                message = f'{shown} in column "{shorten(name, _LONGEST)}"{where} {fault[0]}'
                yield content.make_problem(message, fault[1], row.line)


def explain_faults(
    root: Path, place: SourceLocation, files: Iterable[FileLayout], numbers: Collection[str]
) -> AbstractContextManager[None]:
    """Turn a database failure into the problems from ``find_faults``; see ``explain_errors``."""
    return explain_errors(root, place, lambda: find_faults(root, files, numbers))


@contextmanager
def explain_errors(
    root: Path, place: SourceLocation, faults: Callable[[], Iterable[Diagnostic]]
) -> Iterator[None]:
    """Turn a database failure in the ``with`` block into a ``ReportError`` about what the user can fix.

    ``faults`` is called only then, and checks files below ``root``; a failure that no row explains is
    reported at ``place``.
    """
    try:
        yield
    except sql.get_errors() as error:
        problems = list(faults())
        if not problems:
            text = str(error)
            message = f"the data cannot be read: {shorten(text.partition(chr(10))[0], 200)}"
            advice = "Check the files, or write them again"
            # DuckDB may refuse a file that Python reads: a stray quote, or a line of megabytes.
            if match := _DUCKDB.search(text):
                reason = shorten(match["reason"], 200).rstrip(".")
                message = f"the row cannot be read: {reason[:1].lower()}{reason[1:]}"
                place = locate_file(Path(match["file"]), root, int(match["line"]))
                advice = "Look for a stray quote or an overlong line"
            problems = [Diagnostic(place, message, advice, Stage.DATA)]
        raise ReportError(*problems) from error


def check_columns(layout: Layout, looks: Sequence[Look]) -> tuple[Diagnostic, ...]:
    """Return a warning for each file without a metric, run or seed column that others have.

    A missing column of series, step, metric, value, problem or score is an error. JSON Lines omit keys
    without a value, so a sample of them proves nothing.
    """
    roles = layout.roles
    needed = [name for name in (roles.series, roles.step, roles.metric, roles.value) if name]
    if layout.outcomes:
        needed += [layout.outcomes.problem, layout.outcomes.score]
    raw = [] if layout.long else [name for raws in layout.metrics.values() for name in raws]
    optional = [name for name in (roles.run, roles.seed, *raw) if name]
    advice = "Rename its columns, or leave the file out with files: in source.yml"
    found: dict[Severity, list[Diagnostic]] = {Severity.ERROR: [], Severity.WARNING: []}
    for look in looks:
        if look.file.format == "jsonl" and not look.exhaustive:
            continue
        place, there = SourceLocation(look.file.path), set(look.file.names)
        for names, severity, step in ((needed, Severity.ERROR, advice), (optional, Severity.WARNING, "")):
            if absent := [f'"{name}"' for name in names if name not in there]:
                message = f"the file has no column {list_names(absent)}, which others of the source have"
                found[severity].append(Diagnostic(place, message, step, Stage.DATA, severity))
                break
    if found[Severity.ERROR]:
        raise ReportError(*found[Severity.ERROR])
    return tuple(found[Severity.WARNING])


def check_nul(place: SourceLocation, **names: Iterable[str]) -> None:
    """Refuse names with a NUL, as a flipped bit may give: neither SQL nor pages can hold them."""
    problems = []
    wrong = {(kind, name): None for kind, several in names.items() for name in several if "\0" in name}
    for kind, name in wrong:
        shown = name.replace("\0", "\ufffd")
        message = f'the name of the {kind} "{shown}" has a NUL character (U+0000) where \ufffd stands'
        problems.append(Diagnostic(place, message, "Rename it, or write the file again", Stage.DATA))
    if problems:
        raise ReportError(*problems)
