"""Export of a source as one Parquet file, and ``origin.json`` of a table that was reduced where it lies."""

from __future__ import annotations

import hashlib
import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from reportgen.core.errors import Diagnostic, ReportError, Stage, make_error
from reportgen.core.words import join_names
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.layout import ROLE_NAMES
from reportgen.formats.sql import get_engine, quote
from reportgen.read.find import SETTINGS
from reportgen.read.groups import list_experiment_settings
from reportgen.read.scored.outcomes import get_score_names
from reportgen.read.tables.check import explain_faults
from reportgen.read.tables.layout import (
    INTERVAL_PARTS,
    add_settings,
    get_layout,
    match_columns,
    resolve_column,
)
from reportgen.read.tables.rows import resolve_filters, select_files, select_run
from reportgen.read.tables.survey import complete_layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.read.tables.layout import Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Keys that no longer matter: one file replaces all, and filtered rows are gone.
_DONE: Final = {
    *("files", "format", "sheet", "query", "lines", "series_from", "seed_from", "run_from", "rows", "fields"),
    *("filter", "columns", "form", "wide", "interval", "unit", "rename_benchmarks"),
}
_COUNTED: Final = ("tokens", "seconds", "cost")
_ROW: Final = "row of the source"
# Placeholders for roles without a column; no column has such a name.
_MARKS: Final = {"series": "\0series", "run": "\0run"}


class FrozenTable(Struct, frozen=True):
    """A source as a table: the ordered SELECT of its rows, and the settings for its ``source.yml``."""

    select: str
    settings: Mapping[str, object]


def can_freeze(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether a table can replace a source.

    It cannot for rows without a step that only an author's chart reads, nor for logs whose prompts and
    answers a page shows.
    """
    texts, named = layout.outcomes, settings.columns
    is_read = texts or layout.totals or layout.roles.step is not None
    is_read = is_read and settings.form != "runs"
    return bool(is_read) and not (texts and (texts.prompt, texts.response) != (named.prompt, named.response))


def freeze_table(root: Path, source: Source) -> FrozenTable:
    """Return a source as a table with the settings that still matter; raises if its files have faults."""
    if source.settings.form == "runs":
        message = "a table of finished runs has nothing to freeze: it is as small as what would be written"
        raise ReportError(Diagnostic(source.location, message, "Commit the file itself", Stage.DATA))
    layout = complete_layout(root, source)
    # Blocks group, filter and colour by what a logger recorded of each run.
    # Of a search, the commit says which of its attempts are repetitions.
    is_search = any({"commit", "status"} <= run.keys() for run in layout.settings)
    layout = add_settings(layout, [*list_experiment_settings(layout), *["commit"] * is_search])
    stated = source.settings.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    settings = {key: value for key, value in stated.items() if key not in _DONE and key != "provenance"}
    if layout.outcomes or layout.totals:
        # Only the chosen scores of a harness are left.
        settings.pop("metrics", None)
        if names := get_score_names(source):
            same = len(set(names.values())) == 1 and set(names) >= set(source.benchmarks)
            settings["score_name"] = next(iter(names.values())) if same else dict(names)
    if source.lower_is_better:
        everywhere = set(source.lower_is_better) >= set(source.benchmarks)
        settings["lower_is_better"] = True if everywhere else list(source.lower_is_better)
    elif ways := {name: way for name, way in source.higher_is_better.items() if name in source.metrics}:
        settings["lower_is_better"] = [name for name, way in ways.items() if not way] or False
    form = "long" if layout.long else "wide"
    settings["form"] = "outcomes" if layout.outcomes else "totals" if layout.totals else form
    if layout.repeat and not layout.totals:
        # A table does not say what repeated steps of a logger mean.
        settings.setdefault("repeat", layout.repeat)
    names, columns = _name_columns(layout)
    if columns:
        settings["columns"] = columns
    if layout.long and len(layout.metrics) > 1 and "metrics" not in settings:
        # A sample of the rows would not show them all.
        settings["metrics"] = list(_list_raw_metrics(layout))
    return FrozenTable(_select_rows(root, layout, source, names), settings)


def write_table(root: Path, source: Source, table: FrozenTable, path: Path) -> None:
    """Write a table as Parquet, the same rows as the same bytes; raises as ``freeze_table`` does."""
    layout = get_layout(source)
    numbers = _list_numbers(layout) & layout.kinds.keys()
    options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880"
    with explain_faults(root, source.location, layout.files, numbers):
        get_engine().open_cursor().execute(f"COPY ({table.select}) TO {sql.quote(str(path))} ({options})")


def _name_columns(layout: Layout) -> tuple[dict[str, str], dict[str, object]]:
    """Return the names of columns in the table, and those that have a role under another name.

    A role without a column gets one, under its placeholder.
    """
    names = {name: name for name in layout.kinds}
    if layout.step_name and layout.roles.step and layout.step_name not in names:
        names[layout.roles.step] = layout.step_name
    played: dict[str, str | None] = {}
    for roles in (layout.roles, layout.outcomes, layout.totals):
        played |= asdict(roles) if roles else {}
    for part, mark in _MARKS.items():
        if part == "series" or len(layout.files) > 1:
            if getattr(layout.roles, part) is None:
                names[mark] = part if part not in names else f"{part} of the file"
            played[part] = played[part] or mark
    # The table has more columns than the files, and another of them may be known for a role.
    found = match_columns(ROLE_NAMES, names.values(), {})
    # Answers without a known benchmark have no such column.
    columns: dict[str, object] = {
        part: names[name]
        for part, name in played.items()
        # A status has its role only where that is stated.
        if name in names and (names[name] != part or found.get(part, part) != part or part == "status")
    }
    if layout.series_parts:
        columns["series"] = [names[name] for name in layout.series_parts]
    return names, columns


def _select_rows(root: Path, layout: Layout, source: Source, names: Mapping[str, str]) -> str:
    """Return the SELECT of the rows of all files, in the order of writing."""
    numbers = _list_numbers(layout)
    metric, run = layout.roles.metric, layout.roles.run

    def select_cell(rows: Rows, name: str) -> str:
        if name == _MARKS["series"]:
            return rows.label(layout.labels)
        if name == _MARKS["run"] or (name == run and len(layout.files) > 1):
            return select_run(rows, layout)
        if layout.outcomes and name == layout.outcomes.score:
            return rows.as_score(name, source.score_range)
        if name in numbers:
            return rows.as_number(name)
        types = {file.type_of(name) for file in layout.files if name in file.names}
        typed = layout.kinds[name] is Kind.TIME and len(types) == 1 and sql.TEXT not in types
        return f"CAST({rows.as_written(name)} AS {types.pop()})" if typed else rows.as_words(name)

    def list_cells(rows: Rows) -> dict[str, str]:
        return {**{names[name]: select_cell(rows, name) for name in names}, _ROW: rows.get_position()}

    def is_chosen(rows: Rows) -> str:
        if layout.totals and layout.totals.metric:
            # Scores of a harness that were not chosen have no metric.
            return f"{rows.as_text(layout.totals.metric)} IS NOT NULL"
        if layout.long and metric:
            return f"{rows.as_words(metric)} IN ({sql.quote_all(_list_raw_metrics(layout)) or 'NULL'})"
        return ""

    filters = resolve_filters(source.settings.filter, tuple(layout.kinds))
    filters = tuple((resolve_column(name, layout) or name, cell) for name, cell in filters)
    select = select_files(root, layout, list_cells, filters, is_chosen)
    listed = ", ".join(map(sql.quote_name, names.values()))
    return f"SELECT {listed} FROM ({select}) ORDER BY {sql.quote_name(_ROW)}"  # noqa: S608 - quoted


def _list_numbers(layout: Layout) -> frozenset[str]:
    """Return the columns that are read as numbers; all others stay as written."""
    parts = ("value", *INTERVAL_PARTS) if layout.long else INTERVAL_PARTS
    found = {getattr(layout.roles, part) for part in parts}
    if layout.outcomes:
        found |= {getattr(layout.outcomes, part) for part in _COUNTED}
    elif layout.totals:
        found |= {layout.totals.score, layout.totals.stderr, layout.totals.std, layout.totals.n}
    elif not layout.long:
        metrics = _list_raw_metrics(layout)
        companions = {f"{raw}_{part}" for raw in metrics for part in INTERVAL_PARTS}
        found |= {*metrics, *(companions & layout.kinds.keys())}
    step = layout.roles.step
    if step and layout.kinds[step] is not Kind.TIME:
        found.add(step)
    return frozenset(name for name in found if name)


def _list_raw_metrics(layout: Layout) -> tuple[str, ...]:
    return tuple(chain.from_iterable(layout.metrics.values()))


# ---- tables of a database or a cluster ---------------------------------------------------------------------

ORIGIN: Final = "origin.json"
POINTS: Final = "points.parquet"
OUTCOMES: Final = "outcomes.parquet"
_FORMAT: Final = 1
_LEFT: Final = re.compile(r"\.\d+$")


class FrozenPart(Struct, frozen=True):
    """One metric or benchmark of a frozen table: its rows, their SHA-256, and its bins if there are any."""

    rows: int
    sha256: str
    bins: int | None = None


class TableOrigin(Struct, frozen=True):
    """A table that was reduced where it lies, and what it was reduced to."""

    format: int
    engine: str  # with its version: "Spark 4.1.4"
    table: str  # as its user names it, such as "lake.runs@snapshot 4711"; may be empty
    rows: int  # before freezing
    columns: dict[str, str]  # those that the user named, by role
    metrics: tuple[str, ...] | None
    reduce: int
    types: dict[str, str]  # of all columns of the table, as narwhals names them
    schema_sha256: str
    parts: dict[str, FrozenPart]
    file: str
    sha256: str
    reportgen: str


def hash_types(types: Mapping[str, str]) -> str:
    """Return the SHA-256 of a schema: names and types of columns in any order."""
    return hashlib.sha256(msgspec.json.encode(sorted(types.items()))).hexdigest()


def encode_origin(origin: TableOrigin) -> bytes:
    """Return an origin as JSON with a line for each key."""
    return msgspec.json.format(msgspec.json.encode(origin), indent=2) + b"\n"


def read_origin(folder: Path) -> TableOrigin | None:
    """Read the origin of a frozen folder; None without one, ``ReportError`` if it is damaged."""
    path = folder / ORIGIN
    if not path.is_file():
        return None
    try:
        origin = msgspec.json.decode(path.read_bytes(), type=TableOrigin)
    except msgspec.MsgspecError as error:
        raise _fail(path, f"it is damaged: {error}") from None
    if origin.format != _FORMAT:
        raise _fail(path, f"it has format {origin.format}, and this version reads {_FORMAT}")
    return origin


def check_intact(folder: Path, origin: TableOrigin) -> None:
    """Raise ``ReportError`` unless the frozen file is the one that its origin describes."""
    path = folder / origin.file
    if not path.is_file():
        raise _fail(path, "the frozen table is missing")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != origin.sha256:
        raise _fail(path, f"it is not the table that was frozen: its SHA-256 is {digest[:12]}…")


def refuse_foreign(folder: Path) -> None:
    """Raise ``ReportError`` if a folder is a file, or holds files that freezing a table did not write."""
    if folder.exists() and not folder.is_dir():
        raise _fail(folder, "there is already a file with this name", "Name a folder")
    # A file with a number at its end is what a killed process left.
    names = {_LEFT.sub("", path.name) for path in folder.iterdir()} if folder.is_dir() else set()
    if names and (ORIGIN not in names or names - {ORIGIN, SETTINGS, POINTS, OUTCOMES}):
        message = "the folder holds files that reportgen.freeze did not write"
        raise _fail(folder, message, "Name a folder that is empty or does not exist yet")


def list_differences(old: TableOrigin, new: TableOrigin) -> Iterator[str]:
    """Yield a sentence for each way in which a table differs from when it was frozen."""
    for verb, before, after in (("lost", old, new), ("gained", new, old)):
        if names := [name for name in before.types if name not in after.types]:
            yield f"The table {verb} the columns {join_names(names, most=8)}."
    for name in (name for name in old.types if name in new.types and old.types[name] != new.types[name]):
        yield f"The column {name} was {old.types[name]} and is {new.types[name]}."
    if old.rows != new.rows:
        yield f"The table had {old.rows:,} rows and has {new.rows:,}."
    for name in dict.fromkeys((*old.parts, *new.parts)):
        part, other = old.parts.get(name), new.parts.get(name)
        if part is None or other is None:
            yield f"{name} is {'new' if part is None else 'gone'}."
        elif part.sha256 != other.sha256:
            yield f"The values of {name} differ."


def match_usual_columns(
    names: Sequence[str], given: Mapping[str, str], roles: Sequence[str]
) -> dict[str, str]:
    """Return the column of each role: one that is given, otherwise one with a usual name, as in a file."""
    return match_columns({role: ROLE_NAMES.get(role, (role,)) for role in roles}, names, given)


def encode_rows(columns: Mapping[str, Any], file: Path, select: str = "FROM frozen") -> bytes:
    """Return a SELECT of columns called ``frozen`` as the bytes of Parquet, written to ``file`` first."""
    cursor = get_engine().open_cursor()
    cursor.register("frozen", dict(columns))
    options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880"
    cursor.execute(f"COPY ({select}) TO {quote(str(file))} ({options})")
    cursor.unregister("frozen")
    return file.read_bytes()


def _fail(path: Path, message: str, step: str = "Freeze the table again, or restore the file") -> Exception:
    return make_error(str(path), message, step, Stage.DATA)
