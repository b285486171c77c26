"""Checks of files and tables: unknown formats, faulty rows and cells with their lines, missing columns."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.core.words import join_names
from reportgen.formats import sql
from reportgen.formats.cells import (
    NUMERIC,
    Kind,
    is_missing,
    is_number,
    is_time,
    is_unix_time,
    parse_reported,
)
from reportgen.formats.layout import BENCHMARKS, MOMENTS, ROLE_NAMES, Content, Row
from reportgen.formats.messages import limit_problems, list_names
from reportgen.formats.tables import FORMATS, delimited
from reportgen.formats.tables.json_mapping import suggest_mapping
from reportgen.read.find import locate_file
from reportgen.read.scored.answer_tables import advise_answers
from reportgen.read.tables.distinguish import (
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


def advise_step(root: Path, layout: Layout, settings: SourceSettings, place: SourceLocation) -> str:
    """Return the next step for a table in which no column is known as the step."""
    moment = next((name for name in layout.kinds if name.strip().casefold() in MOMENTS), "NAME")
    advice = f"name it in source.yml, as in columns: {write_flow({'step': moment})}, or as x: of the block"
    steps = [name for name in layout.kinds if is_number(name)]
    if len(steps) > 1 and len(layout.kinds) <= len(steps) + 1:
        return "If the columns are steps, say form: long in source.yml"
    first = (
        _advise_nested(root, layout)
        or advise_answers(root, layout, settings)
        or ("" if find_run_table(layout, settings) else advise_objects(root, layout))
        or _advise_runs(root, layout, settings)
        or _advise_scores(root, layout, settings, place)
    )
    return f"{first}. Otherwise {advice}" if first else f"N{advice[1:]}"


def _advise_nested(root: Path, layout: Layout) -> str:
    """Return the next step for JSON whose rows contain lists of rows, as its first one shows, or nothing."""
    file = layout.files[0]
    if file.format not in {"json", "jsonl"} or file.copy:
        return ""
    rows = FORMATS[file.format].read_rows(file.get_content(root), file, file.columns)
    cells = next((row.cells for row in rows if isinstance(row, Row)), {})
    lists = {name: one for name, one in cells.items() if name.isidentifier() and one and one[:2] == "[{"}
    for name, one in lists.items():
        keys = [*json.loads(one)[0]]
        inner = match_columns(OUTCOME_NAMES, filter(str.isidentifier, keys), {})
        names = {"series": ROLE_NAMES["series"], "problem": OUTCOME_NAMES["problem"]}
        outer = match_columns(names, filter(str.isidentifier, cells), {})
        columns = f"and columns: in source.yml; a row has {join_names(keys)}"
        if "problem" in outer and "score" in inner:
            paths = [f"{role}: ^.{key}" for role, key in outer.items()]
            listed = ", ".join([*paths, "sample: '@'", f"score: $.{inner['score']}"])
            columns = f"and columns: {{{listed}}} in source.yml"
        return f"Say format: mapped, rows: $.{name}[*] {columns}"
    return ""


def advise_objects(root: Path, layout: Layout) -> str:
    """Return the next step for JSON whose rows have their numbers in objects, or nothing."""
    file = layout.files[0]
    if file.format not in {"json", "jsonl"} or file.copy:
        return ""
    read = FORMATS[file.format].read_rows(file.get_content(root), file, file.columns)
    rows = [row.cells for row in islice(read, _ROWS) if isinstance(row, Row)]
    if not any(cell and cell.startswith("{") for row in rows for cell in row.values()):
        return ""
    advice = suggest_mapping([{name: _parse_json(cell) for name, cell in row.items()} for row in rows])
    return advice.removesuffix(", or leave the file out with files:")


def _parse_json(cell: Text) -> Any:  # noqa: ANN401 - whatever JSON holds
    with suppress(ValueError):
        return json.loads(cell or "null")
    return cell


def _advise_runs(root: Path, layout: Layout, settings: SourceSettings) -> str:
    """Return the next step for a table whose rows may be finished runs, or nothing."""
    found = find_states_by_column(root, layout, settings)
    states = choose_finished(found)
    chosen = f"filter: {write_flow(states)}" if states else ""
    runs = find_run_table(layout, settings)
    if runs is None:
        return f"Choose the runs that ended well with {chosen} in source.yml" if chosen else ""
    unended = [name for name in found if name not in states]
    ended = f", and choose those that ended well with {chosen}" if chosen else ""
    if unended and not chosen:
        ended = f" (no {list_names(unended)} says that a run ended well: choose states with filter:)"
    keys = f"form: runs and metrics: {write_flow(runs.metrics)}"
    named = f", with {list_names(runs.settings)} as its settings" if runs.settings else ""
    return f"If a row is a finished run, say {keys} in source.yml{ended}{named}"


def _advise_scores(root: Path, layout: Layout, settings: SourceSettings, place: SourceLocation) -> str:
    """Return the next step for a table whose rows may be scores or runs without a usual metric."""
    if lists_runs(root, layout, settings):
        return ""
    if "problem" in match_columns(OUTCOME_NAMES, layout.kinds, {}):
        return "If a row is an answer, name its score in source.yml, as in columns: {score: NAME}"
    totals, kinds = suggest_distinct_totals(root, layout, settings, place), [*layout.kinds.values()]
    if totals is not None:
        score = f" and columns: {{score: {totals['score']}}}" if totals else ""
        return (
            f"If a row is a score of a whole benchmark, say form: totals{score} in source.yml, or form: wide "
            "with a column for each benchmark or model"
        )
    are_numbers = kinds.count(Kind.NUMBER) > 1 and Kind.MIXED not in kinds
    if are_numbers and _has_rows_of_models(root, layout, settings):
        return "If its columns are scores, say form: wide in source.yml"
    step = (
        "If a row is a finished run, say form: runs and name its scores in source.yml, as in metrics: [NAME]"
    )
    return "" if NUMERIC.isdisjoint(kinds) else step


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
