"""What is wrong with tables: rows and cells with their lines, columns and metrics that are not there."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind, is_missing, is_number, is_time
from reportgen.formats.files import Content
from reportgen.formats.messages import limit_problems, list_names, suggest_names
from reportgen.formats.tables import delimited
from reportgen.formats.tables.table_formats import FORMATS
from reportgen.read.find import locate_file
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from reportgen.formats.cells import Text
    from reportgen.formats.layout import FileLayout, Look, Row
    from reportgen.read.tables.layout import Layout, Survey
    from reportgen.settings.source import SourceSettings


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
) -> list[Diagnostic]:
    """Every row that cannot be read, and every cell that is not what its column needs.

    Args:
        root: the folder that the files' paths start from.
        files: the files to go through.
        numbers: columns, as written, that hold numbers.
        times: columns that hold times.
    """
    return find_wrong_cells(root, files, {**dict.fromkeys(numbers, NUMBER), **dict.fromkeys(times, TIME)})


def find_wrong_cells(
    root: Path, files: Iterable[FileLayout], checks: Mapping[str, Check]
) -> list[Diagnostic]:
    """Every row that cannot be read, and every cell that is wrong.

    Args:
        root: the folder that the files' paths start from.
        files: the files to go through.
        checks: what the cells of columns, as written, are held to.
    """
    found: list[Diagnostic] = []
    for file in files:
        content = Content(root / file.place, file.path, file.compression)
        try:
            found += limit_problems(_check_rows(content, file, checks))
        except ReportError as error:
            found += error.problems
    return found


@contextmanager
def explain_errors(
    root: Path, place: SourceLocation, faults: Callable[[], Iterable[Diagnostic]]
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


def _explain_error(error: str, root: Path, place: SourceLocation) -> Diagnostic:
    """What DuckDB says of a file that Python reads: a stray quote, or a line of megabytes."""
    if match := _DUCKDB.search(error):
        reason = shorten(match["reason"], 200).rstrip(".")
        message = f"the row cannot be read: {reason[:1].lower()}{reason[1:]}"
        place = locate_file(Path(match["file"]), root, int(match["line"]))
        return Diagnostic(place, message, "Look for a stray quote or an overlong line", Stage.DATA)
    message = f"the data cannot be read: {shorten(error.partition(chr(10))[0], 200)}"
    return Diagnostic(place, message, "Check the files, or write them again", Stage.DATA)


def _check_rows(content: Content, file: FileLayout, checks: Mapping[str, Check]) -> Iterator[Diagnostic]:
    needed = {
        name: check
        for name, check in sorted(checks.items())
        if file.get_given(name) is None
        and (
            check.typed
            or name not in file.columns
            or file.type_of(name) == sql.TEXT
            or file.format == delimited.WANDB_CHART
        )
    }
    for row in FORMATS[file.format].read_rows(content, file, tuple(needed)):
        if isinstance(row, Diagnostic):
            yield row
            continue
        for name, check in needed.items():
            if wrong := check.wrong(row.cells.get(name)):
                yield _fault(content, row, name, *wrong)


def _fault(content: Content, row: Row, name: str, fault: str, advice: str) -> Diagnostic:
    where = "" if row.line else f" of row {row.number}"
    cell, column = row.cells.get(name), shorten(name, _LONGEST)
    found = f'"{shorten(cell, _LONGEST)}"' if cell else "an empty cell"
    return content.make_problem(f'{found} in column "{column}"{where} {fault}', advice, row.line)


def check_columns(layout: Layout, looks: Sequence[Look]) -> tuple[Diagnostic, ...]:
    """What to tell of files that lack columns which others have.

    JSON Lines have a key only where there is something to say, so a sample proves nothing.

    Returns:
        A warning for each file without some of the metrics or without a run or seed.

    Raises:
        ReportError: files lack the column of series, step, metric or value, or of problem or score.
    """
    roles = layout.roles
    needed = [name for name in (roles.series, roles.step, roles.metric, roles.value) if name]
    if layout.outcomes:
        needed += [layout.outcomes.problem, layout.outcomes.score]
    raw = [] if layout.long else [name for raws in layout.metrics.values() for name in raws]
    optional = [name for name in (roles.run, roles.seed, *raw) if name]
    errors, warnings = [], []
    for look in looks:
        if look.file.format == "jsonl" and not look.exhaustive:
            continue
        place, there = SourceLocation(look.file.path), set(look.file.names)
        if absent := [name for name in needed if name not in there]:
            message = f"the file has no column {_quote_columns(absent)}, which others of the source have"
            advice = "Rename its columns, or leave the file out with files: in source.yml"
            errors.append(Diagnostic(place, message, advice, Stage.DATA))
        elif absent := [name for name in optional if name not in there]:
            message = f"the file has no column {_quote_columns(absent)}, which others of the source have"
            warnings.append(Diagnostic(place, message, "", Stage.DATA, Severity.WARNING))
    if errors:
        raise ReportError(*errors)
    return tuple(warnings)


def _quote_columns(columns: Sequence[str]) -> str:
    return list_names(f'"{column}"' for column in columns)


def warn_no_metrics(found: Survey, place: SourceLocation) -> Iterator[Diagnostic]:
    """A warning of a source of measurements that has nothing to draw, as where decimals have commas."""
    layout = found.layout
    if layout.metrics or layout.outcomes or layout.totals:
        return
    played = astuple(layout.roles)
    rest = {name: kind for name, kind in layout.kinds.items() if name not in played and kind not in NUMERIC}
    texts = [f'"{name}"' for name, kind in rest.items() if kind is not Kind.EMPTY]
    empty = [f'"{name}"' for name, kind in rest.items() if kind is Kind.EMPTY]
    message = "no column holds the numbers of a metric"
    advice = "Write numbers as 0.5, not as 0,5, and commas, semicolons or tabs between cells"
    if layout.long:
        message = f'no row names a metric: the column "{layout.roles.metric}" is empty'
        advice = "Fill it with what each value is of"
    elif texts:
        message = f"{message}: {list_names(texts)} {'holds' if len(texts) == 1 else 'hold'} texts"
    elif empty:
        message = f"{message}: {list_names(empty)} {'is' if len(empty) == 1 else 'are'} empty"
        advice = "Wait for the first values, or name other files with files:"
    yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)


def check_setting_names(found: Survey, settings: SourceSettings, place: SourceLocation) -> Survey:
    """A survey with what the settings name in vain among the warnings.

    Raises:
        ReportError: what they name in vain cannot be done without.
    """
    problems = list(find_unmatched_names(found, settings, place))
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ReportError(*problems)
    return replace(found, warnings=(*found.warnings, *problems))


def find_unmatched_names(
    found: Survey, settings: SourceSettings, place: SourceLocation
) -> Iterator[Diagnostic]:
    """Names in the settings that the data do not have."""
    known = (*found.raw_metrics, *found.layout.metrics)
    for name in settings.metrics or ():
        if name not in known:
            message = f'metrics: there is no metric "{name}"'
            yield Diagnostic(place, message, suggest_names(name, found.raw_metrics, "There are"), Stage.DATA)
    layout, lower, named = found.layout, settings.lower_is_better, settings.score_name
    for key, kind, given, there in (
        ("rename_metrics", "metric", settings.rename_metrics, found.raw_metrics),
        ("lower_is_better", "benchmark", lower if isinstance(lower, tuple) else (), layout.benchmarks),
        ("score_name", "benchmark", named if isinstance(named, dict) else (), layout.benchmarks),
        ("protocols", "series", settings.protocols, layout.series),
    ):
        for name in given:
            if name not in there:
                yield _warn_unmatched(key, kind, name, there, place)
    for old, new in settings.rename.items():
        if new not in layout.series:
            yield _warn_unmatched("rename", "series", old, layout.series, place)


def _warn_unmatched(
    key: str, kind: str, name: str, there: Sequence[str], place: SourceLocation
) -> Diagnostic:
    message = f'{key}: there is no {kind} "{name}"'
    return Diagnostic(place, message, suggest_names(name, there, "There are"), Stage.DATA, Severity.WARNING)
