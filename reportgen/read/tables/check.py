"""Checks of files and tables: unknown formats, faulty rows and cells with their lines, missing columns."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, SourceLocation, Stage
from reportgen.core.words import join_names
from reportgen.formats import sql
from reportgen.formats.cells import Kind, is_missing, is_number, is_time, is_unix_time, parse_reported
from reportgen.formats.decode import LOG_ENDINGS
from reportgen.formats.files import natural_key
from reportgen.formats.layout import MOMENTS, RUN_SETTINGS, Content
from reportgen.formats.messages import advise_rows, limit_problems, list_names, merge_problems
from reportgen.formats.tables import FORMATS, delimited
from reportgen.read.find import locate_file
from reportgen.read.runs.stored import clean_text
from reportgen.read.tables.distinguish import (
    BENCHMARKS,
    advise_answers,
    advise_nested,
    choose_finished,
    find_run_table,
    find_states_by_column,
    lists_runs,
    suggest_distinct_totals,
)
from reportgen.read.tables.layout import OUTCOME_NAMES, match_columns
from reportgen.read.tables.rows import resolve_filters, select_files, select_series
from reportgen.settings.text import shorten
from reportgen.settings.yaml_tree import write_flow

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from reportgen.formats.cells import Text
    from reportgen.formats.layout import FileLayout, Look
    from reportgen.read.tables.layout import Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.source import SourceSettings


_LONGEST: Final = 60
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


def advise_step(root: Path, layout: Layout, settings: SourceSettings, place: SourceLocation) -> str:
    """Return the next step for a table in which no column is known as the step."""
    totals = suggest_distinct_totals(root, layout, settings, place)
    moment = next((name for name in layout.kinds if name.strip().casefold() in MOMENTS), "NAME")
    advice = f"name it in source.yml, as in columns: {write_flow({'step': moment})}, or as x: of the block"
    steps = [name for name in layout.kinds if is_number(name)]
    if len(steps) > 1 and len(layout.kinds) <= len(steps) + 1:
        return "If the columns are steps, say form: long in source.yml"
    states = choose_finished(found := find_states_by_column(root, layout, settings))
    chosen = f"filter: {write_flow(states)}" if states else ""
    unended = [name for name in found if name not in states]
    answers = advise_nested(root, layout) or advise_answers(root, layout, settings)
    if not answers and (runs := find_run_table(layout, settings)):
        ended = f", and choose those that ended well with {chosen}" if chosen else ""
        if unended and not chosen:
            ended = f" (no {list_names(unended)} says that a run ended well: choose states with filter:)"
        metrics = write_flow(runs.metrics)
        return (
            f"If a row is a finished run, say form: runs and metrics: {metrics} in source.yml{ended}, with "
            f"{list_names(runs.settings)} as its settings. Otherwise {advice}"
        )
    if lists_runs(root, layout, settings):
        first = f"Choose the runs that ended well with {chosen} in source.yml. Otherwise n" if chosen else "N"
        return f"{first}{advice[1:]}"
    problem = match_columns(OUTCOME_NAMES, layout.kinds, {}).get("problem")
    if answers := answers or (advise_rows(problem) if problem else ""):
        return f"{answers}. Otherwise {advice}"
    if totals is None:
        kinds = [*layout.kinds.values()]
        are_numbers = kinds.count(Kind.NUMBER) > 1 and Kind.MIXED not in kinds
        may_be_wide = are_numbers and _has_rows_of_models(root, layout, settings)
        first = "If its columns are scores, say form: wide in source.yml. Otherwise n" if may_be_wide else "N"
        return f"{first}{advice[1:]}"
    score = f" and columns: {{score: {totals['score']}}}" if totals else ""
    return (
        f"If a row is a score of a whole benchmark, say form: totals{score} in source.yml, or form: "
        f"wide with a column for each benchmark or model. "
        f"Otherwise {advice}"
    )


def _has_rows_of_models(root: Path, layout: Layout, settings: SourceSettings) -> bool:
    """Return whether each row is of another series, and of no benchmark."""
    if not layout.roles.series or any(name.casefold() in BENCHMARKS for name in layout.kinds):
        return False

    def list_names(rows: Rows) -> dict[str, str]:
        return {"series": select_series(rows, layout, {})}

    rows = select_files(root, layout, list_names, resolve_filters(settings.filter, tuple(layout.kinds)))
    # Faults in the rows are reported when they are read.
    with suppress(*sql.get_errors()):
        (found,) = sql.get_engine().fetch_rows(f"SELECT count(*) = count(DISTINCT series) FROM ({rows})")  # noqa: S608
        return bool(found[0])
    return False


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


_DATABASE: Final = re.compile(r".*\.(db3?|sqlite3?)", re.IGNORECASE)
_NAMES: Final = re.compile(r".*\.(db3?|sqlite3?|eval|wandb)|.*tfevents.*", re.IGNORECASE)
_SQLITE: Final = b"SQLite format 3\x00"
# Tables of a study in every version of Optuna's storage (optuna/storages/_rdb/models.py).
_OPTUNA: Final = frozenset(("studies", "trials", "trial_values"))
_COPY: Final = "Copy it again from where the run wrote it"
_PANDAS: Final = 'Write it as Parquet, as in pandas.{read}("{name}").to_parquet("{stem}.parquet")'
_HTML: Final = 'Write its table as CSV, as in pandas.read_html("{name}")[0].to_csv("{stem}.csv")'
_SHEET: Final = "Save it as .xlsx or CSV"
_ARRAYS: Final = (
    'Write its numbers with numpy.savez, as in numpy.savez("{stem}.npz", step=steps, loss=losses)'
)
# Kinds of files that are not read, by their suffix, and the next step.
_UNREAD: Final = {
    **dict.fromkeys((".h5", ".hdf5"), ("an HDF5 file", _PANDAS.replace("{read}", "read_hdf"))),
    **dict.fromkeys((".pkl", ".pickle"), ("a pickle, which runs code as it is read", _ARRAYS)),
    **dict.fromkeys((".pt", ".pth"), ("a file of PyTorch, which runs code as it is read", _ARRAYS)),
    **dict.fromkeys((".feather", ".arrow"), ("an Arrow file", _PANDAS.replace("{read}", "read_feather"))),
    **dict.fromkeys((".html", ".htm"), ("a page of HTML", _HTML)),
    **dict.fromkeys((".xls", ".xlsb"), ("an Excel file of an older or binary kind", _SHEET)),
    ".ods": ("an OpenDocument sheet", _SHEET),
    ".npy": ("a single NumPy array without a name", _ARRAYS),
    ".mat": ("a file of MATLAB", _ARRAYS),
    **dict.fromkeys(
        (".zip", ".tar", ".tgz"),
        ("an archive next to other files", "Unpack it, or make it a source of its own in the data folder"),
    ),
    **dict.fromkeys(
        (".bz2", ".xz", ".7z", ".rar"), ("packed in a way that is not read", "Pack it as .zip or .tar.gz")
    ),
}
_BEGINNING, _LOG, _MOST_ENDINGS = 1024, 64 << 10, 6
# The first line of a table in each format, as a regular expression.
_TABLES: Final = (
    *(("jsonl", r"\{.*"), ("json", r"\[.*"), ("tsv", r".*\t.*"), ("markdown", r"\|.*")),
    *(("latex", r"\\begin\{.*"), ("csv", r"[^\\<{]*,[^\\<{]*")),
)


def check_unknown_files(paths: Iterable[Path], root: Path) -> list[Diagnostic]:
    """Return the problems of a source's files if only loggers and harnesses write such files."""
    problems = Diagnostics()
    for path in paths:
        content = Content(path, locate_file(path, root).file)
        with problems.collecting():
            if _NAMES.fullmatch(path.name):
                content.check()
            if path.suffix.lower() in _UNREAD:
                raise _explain_unread(content)
            if _DATABASE.fullmatch(path.name):
                raise _explain_database(content)
    return problems.found


def explain_unknown_format(path: Path, root: Path) -> list[Diagnostic]:
    """Return why a named file is not read: neither its suffix nor its content shows a format."""
    content = Content(path, locate_file(path, root).file)
    problems = Diagnostics()
    with problems.collecting():
        content.check()
        with content.open() as file:
            beginning = file.read(_BEGINNING)
        if _DATABASE.fullmatch(path.name) or beginning.startswith(_SQLITE):
            raise _explain_database(content)
        if path.suffix.lower() in _UNREAD:
            raise _explain_unread(content)
        message = "neither its ending nor its content is that of a known format, logger or harness"
        if b"\0" in beginning:
            advice = "Export a table from it as CSV, or leave it out with files: in source.yml"
            raise content.make_error(f"{message}, and it is not text", advice)
        line = next(iter(beginning.decode(errors="replace").lstrip().splitlines()), "")
        form = next((name for name, sign in _TABLES if re.fullmatch(sign, line)), "")
        kind = f"format: {form}" if form else "which: format: csv, tsv, json, jsonl or parquet,"
        advice = f"If it is a table, say {kind} in source.yml; otherwise leave it out with files:"
        if not form.startswith("json") and (keys := _suggest_lines([path])):
            advice = f"If it is a log, say {keys} in source.yml; otherwise leave it out with files:"
        raise content.make_error(f'{message}: it begins with "{shorten(line, _LONGEST)}"', advice)
    return problems.found


def _suggest_lines(paths: Iterable[Path]) -> str:
    """Return the keys of ``source.yml`` that read texts as logs; empty if no line names a step."""
    from reportgen.formats.logs.text_lines import suggest_patterns  # noqa: PLC0415 - rarely needed

    for path in islice(paths, _MOST_ENDINGS):
        with suppress(ReportError), Content(path, path.name).open() as file:
            if patterns := suggest_patterns(file.read(_LOG).decode(errors="replace")):
                lines = patterns if len(patterns) > 1 else patterns[0]
                return f"format: lines and lines: {json.dumps(lines, ensure_ascii=False)}"
    return ""


def report_unused_settings(
    paths: Iterable[Path], used: Iterable[str], place: SourceLocation
) -> Iterator[Diagnostic]:
    """Yield a warning of files with settings of runs, if the tables hold several runs or name them."""
    read = {Path(path).name for path in used}
    left = [path for path in paths if RUN_SETTINGS.fullmatch(path.name) and path.name not in read]
    if left:
        names = list_names(dict.fromkeys(path.name for path in left))
        message = f"the settings in {names} are left out, since the tables do not hold one run each"
        advice = "Put them into columns of the tables, or leave the files out with files: in source.yml"
        yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)


def report_no_data(folder: Path, paths: Iterable[Path], root: Path) -> Diagnostic:
    """Return the problem of a folder without data files."""
    paths = sorted(paths, key=natural_key)
    held = list_endings(paths)
    if inner := sorted(folder.glob("*/source.yml")):
        place, own = locate_file(folder, root), locate_file(inner[0].parent, root)
        message = f"the folder has no data file of its own: {own} has a source.yml, so it is another source"
        advice = f"Name that source in blocks, or move the file to {place.file}/source.yml"
        return Diagnostic(place, message, advice, Stage.DATA)
    message = f"the folder has no data file: it {f'holds {held}' if held else 'is empty'}"
    advice = "Put CSV, TSV, JSON, JSON Lines or Parquet files in it, or name others with files: and format:"
    if held:
        message += ", none of which is recognised by its name or content"
        if keys := _suggest_lines(path for path in paths if path.suffix.lower() in LOG_ENDINGS):
            advice = f"If these are logs, say {keys} in source.yml"
    return Diagnostic(locate_file(folder, root), message, advice, Stage.DATA)


def count_endings(paths: Iterable[Path]) -> list[tuple[str, int]]:
    """Count the files of each suffix, the most frequent first."""
    counts = Counter(path.suffix.lower() or "without an ending" for path in paths)
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def list_endings(paths: Iterable[Path]) -> str:
    """Return these counts in words, or an empty text if there are no files."""
    return join_names([f"{count:,} {ending}" for ending, count in count_endings(paths)], most=_MOST_ENDINGS)


def _explain_unread(content: Content) -> ReportError:
    """Return an error with what a file is that is not read, and what to write instead."""
    kind, advice = _UNREAD[content.path.suffix.lower()]
    names = {"name": content.path.name, "stem": content.path.stem}
    return content.make_error(f"it is {kind}, and is not read", advice.format(**names))


def _explain_database(content: Content) -> ReportError:
    """Return an error with what a file named like a database is: another program's, or damaged."""
    from reportgen.formats.runs import UnreadableError  # noqa: PLC0415 - seldom needed
    from reportgen.formats.sqlite import open_store  # noqa: PLC0415

    with content.open() as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return content.make_error("it is not an SQLite database", _COPY)
    try:
        with open_store(content.path) as store:
            tables = sorted(store.columns)
    except UnreadableError as error:
        return content.make_error(error.problem.message, error.problem.next_step or _COPY)
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
    message = f"the database is not one of a known program: it has {named}"
    advice = f"Select its rows with query: in source.yml, as in query: SELECT * FROM {tables[0]}"  # noqa: S608 - shown
    return content.make_error(message, advice)


def check_file_names(paths: Iterable[Path], root: Path) -> None:
    """Refuse tables in files that the database cannot open, because of bytes in their names."""
    message, advice = "the name of the file has bytes that are not UTF-8", "Rename it"
    # Shown with a mark for each of these bytes.
    names = [(locate_file(path, root).file, clean_text(str(path)) != str(path)) for path in paths]
    wrong = [SourceLocation(clean_text(name) or "") for name, is_wrong in names if is_wrong]
    if wrong:
        raise ReportError(*(Diagnostic(place, message, advice, Stage.DATA) for place in wrong))


def report_unread(folders: Mapping[Path, str], files: Iterable[Path], root: Path) -> Iterator[Diagnostic]:
    """Yield warnings of folders that were skipped, with the reason, and of unreadable files."""
    unread = "the file cannot be read: Permission denied; it is left out"
    advice = "Check who may read it, and where links lead"
    return merge_problems(
        Diagnostic(locate_file(path, root), message, advice, Stage.DATA, Severity.WARNING)
        for path, message in (*folders.items(), *((file, unread) for file in files))
    )
