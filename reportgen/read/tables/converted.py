"""Tables first written to the cache as text: sheets, YAML, arrays, queries, printed numbers, UTF-16.

What follows reads the copy as a table like any other, and names the original in messages.
"""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, SourceLocation, Stage
from reportgen.core.words import join_names
from reportgen.formats import sql
from reportgen.formats.decode import is_utf16, read_head
from reportgen.formats.files import PRINTED, WEAK_ENDINGS, get_archive_ending, split_weak_ending
from reportgen.formats.json_files import iterate_cells, parse_or_none
from reportgen.formats.layout import Row
from reportgen.formats.messages import list_names
from reportgen.formats.runs import warn
from reportgen.formats.sql import get_engine
from reportgen.formats.tables import FORMATS
from reportgen.formats.tables.arrays import write_arrays
from reportgen.formats.tables.delimited import write_separated
from reportgen.formats.tables.excel import write_sheet
from reportgen.formats.tables.json_tables import as_text, list_records
from reportgen.formats.tables.printed import write_printed
from reportgen.formats.tables.queries import write_query
from reportgen.read.find import locate_file
from reportgen.read.runs.stored import clean_text
from reportgen.read.tables.check import check_nul
from reportgen.read.tables.layout import OUTCOME_NAMES
from reportgen.settings.text import MAX_CHARACTERS, normalise_text
from reportgen.settings.yaml_tree import Origin, parse, to_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.model import SourceFile
    from reportgen.formats.layout import Content, FileLayout
    from reportgen.read.find import Location
    from reportgen.read.tables.layout import Layout
    from reportgen.settings.source import SourceSettings


SQLITE: Final = "sqlite"
"""Format of a database that ``query:`` selects rows from."""
_CONVERTED: Final = frozenset(("xlsx", SQLITE, *WEAK_ENDINGS.values()))
_TITLES: Final = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON Lines",
    "json": "JSON",
    "parquet": "Parquet",
    "xlsx": "Excel",
    "yaml": "YAML",
    "npz": "NumPy arrays",
    "markdown": "Markdown",
    "latex": "LaTeX",
    "sqlite": "a query of a database",
    "wandb-csv": "a chart that W&B exported as CSV",
}


class _Copy(Struct, frozen=True):
    """A converted table: the format of its copy, its size in bytes, warnings, and lines above it."""

    format: str
    size: int
    warnings: tuple[str, ...] = ()
    above: int | None = None


class ConvertedTables(Struct, frozen=True):
    """Tables with their rows in the cache, and warnings of what was left out."""

    files: tuple[FileLayout, ...]
    warnings: tuple[Diagnostic, ...]


def convert_tables(
    location: Location,
    settings: SourceSettings,
    files: Sequence[FileLayout],
    hashed: Sequence[SourceFile],
    cache: Cache,
) -> ConvertedTables:
    """Write the tables that are not read in place to the cache; raise a ``ReportError`` of all faults."""
    problems = Diagnostics()
    if settings.sheet and not any(file.format == "xlsx" for file in files):
        message, advice = "sheet: applies to Excel files, and there is none here", "Remove it"
        problems.add([Diagnostic(location.place, message, advice, Stage.SETTINGS)])
    tables: list[FileLayout] = []
    warnings: list[Diagnostic] = []
    for file, known in zip(files, hashed, strict=True):
        form = file.format
        if form == "mapped" and split_weak_ending(Path(file.path))[1] == "yaml":
            form = "yaml"
        content = file.get_content(location.root)
        is_text = form not in _CONVERTED and not (form == "json" and _is_json_object(content))
        if is_text and not (form in FORMATS and is_utf16(content.path)):
            tables.append(file)
            continue
        target = form if is_text else "mapped" if file.format == "mapped" else "tsv"
        with problems.collecting():
            identity = repr((form, file.format, settings.sheet, settings.query))
            key = cache.make_key("converted", file.path, known.sha256, identity)
            name = "rows.json" if target == "mapped" else "rows.tsv"
            path = Path(cache.get_text_path(key, name))
            copy = cache.load(key, _Copy)
            if copy is None or not path.is_file() or path.stat().st_size != copy.size:
                text, said, above = _write_text(content, form, target, settings)
                size = cache.put_text(key, name, clean_text(text) or "").size
                copy = _Copy(target, size, said, above)
                cache.store(key, copy)
            warnings += (warn(file.path, message) for message in copy.warnings)
            stored = locate_file(path, location.root).file
            tables.append(replace(file, format=copy.format, compression="", copy=stored, above=copy.above))
    problems.raise_errors()
    return ConvertedTables(tuple(tables), tuple(warnings))


def _write_text(
    content: Content, form: str, target: str, settings: SourceSettings
) -> tuple[str, tuple[str, ...], int | None]:
    """Return a table as text, tab-separated or, to be mapped, as JSON, warnings, and the lines above it.

    A text in UTF-16 stays as it is. Records of YAML have a column for each key, in order of first appearance.
    """
    if form == target:
        return content.decode_text(content.read_all()), (), 0
    if form in {"xlsx", SQLITE}:
        is_sheet = form == "xlsx"
        rows = (
            write_sheet(content, settings.sheet) if is_sheet else write_query(content, settings.query or "")
        )
        return rows, (), 0 if is_sheet else None
    if form == "npz":
        return *write_arrays(content), None
    content.check()
    text = normalise_text(content.decode_text(content.read_all()))
    if form != "json" and len(text) > MAX_CHARACTERS:
        message = f"the file has more than {MAX_CHARACTERS:,} characters"
        raise content.make_error(message, "Write JSON Lines, which are read line by line, or Parquet")
    if form in PRINTED:
        table, line = write_printed(content, text, form)
        return table, (), line - 1
    tree = parse(text, Origin(content.name)) if form == "yaml" else None
    if form == "yaml" and tree is None:
        raise content.make_error("the file holds nothing", "Remove it or write it again")
    values = json.loads(text) if tree is None else to_values(tree)
    if target == "mapped":
        return json.dumps(values), (), None
    records = [
        {" ".join(name.split()): as_text(cell) for name, cell in iterate_cells(record)}
        for record in list_records(content, values, may_be_one=form == "yaml")
    ]
    names = tuple(dict.fromkeys(name for record in records for name in record if name))
    if not names:
        raise content.make_error("the file has no rows", "Remove it or write it again")
    check_nul(SourceLocation(content.name), column=names)
    cells = ([record.get(name) for name in names] for record in records)
    return write_separated(content, chain([names], cells)), (), None


def _is_json_object(content: Content) -> bool:
    """Return whether a JSON file is one object, of columns or of rows by name, as YAML may be."""
    with suppress(ReportError):  # whoever reads it says what is wrong
        if read_head(content.path).lstrip().startswith(b"{"):
            return isinstance(parse_or_none(content.read_all()), dict)
    return False


# Parts of an answer that a list may hold for each sample.
_OF_A_SAMPLE: Final = ("score", "answer", "response", "explanation", "tokens", "seconds", "cost")


def split_samples(
    location: Location, layout: Layout, hashed: Sequence[SourceFile], cache: Cache
) -> tuple[FileLayout, ...] | None:
    """Write tables of outcomes with a list of samples a problem as a row for each; None if there are none.

    ``layout`` is that of the tables. A ``ReportError`` has the rows whose lists have different lengths.
    """
    roles = layout.outcomes
    if roles is None or roles.sample is not None:
        return None
    # A list of numbers plays no part yet, since it is no number.
    named = {name for part in _OF_A_SAMPLE for name in (*OUTCOME_NAMES[part], getattr(roles, part))}
    problems = Diagnostics()
    tables = []
    for file, known in zip(layout.files, hashed, strict=True):
        content = file.get_content(location.root)
        names = (name for name in file.columns if name.casefold() in named or name in named)
        lists = [name for name in names if _holds_lists(content, file, name)]
        if roles.score not in lists:
            return None
        with problems.collecting():
            key = cache.make_key("samples", file.path, known.sha256, repr((file, lists)))
            path = Path(cache.get_text_path(key, "rows.parquet"))
            if not path.exists():
                _write_samples(content, file, lists, cache, key)
            copy = locate_file(path, location.root).file
            tables.append(replace(file, format="parquet", compression="", copy=copy, keep=None, above=None))
    problems.raise_errors()
    return tuple(tables)


def _holds_lists(content: Content, file: FileLayout, name: str) -> bool:
    """Return whether the first filled cell of a column is a list."""
    if file.format == "parquet":
        return file.type_of(name).endswith("[]")
    rows = FORMATS[file.format].read_rows(content, file, (name,))
    cells = (row.cells.get(name) for row in rows if isinstance(row, Row))
    return next((cell.startswith("[") for cell in cells if cell), False)


def _write_samples(content: Content, file: FileLayout, lists: Sequence[str], cache: Cache, key: str) -> None:
    scanned = FORMATS[file.format].scan([content.path], file, file.columns)
    items = {name: f"k{file.columns.index(name)}" for name in lists}
    for name, column in items.items():
        cell = f"CAST({column} AS VARCHAR[])"
        if file.format != "parquet":
            parsed = f"from_json({column}, '[\"VARCHAR\"]')"
            is_list = f"{column} LIKE '[%' AND json_valid({column})"
            cell = f"CASE WHEN {is_list} THEN {parsed} ELSE [{column}] END"
        # A problem without samples is one that has no score.
        items[name] = f"CASE WHEN len({cell}) > 0 THEN {cell} ELSE [NULL] END"
    lengths = " OR ".join(f"len({cell}) != len({items[lists[0]]})" for cell in items.values())
    cursor = get_engine().open_cursor()
    wrong = cursor.execute(f"SELECT row FROM ({scanned}) WHERE {lengths} ORDER BY row LIMIT 5").fetchall()  # noqa: S608
    if wrong:
        named = list_names(f'"{name}"' for name in lists)
        advice = "Give each list an item for each sample"
        message = f"the lists of {named} have different lengths"
        raise ReportError(*(content.make_problem(f"{message} in row {row}", advice) for (row,) in wrong))
    cells = [
        f"{f'unnest({items[name]})' if name in items else f'k{index}'} AS {sql.quote_name(name)}"
        for index, name in enumerate(file.columns)
    ]
    numbers = f"unnest(range(1, len({items[lists[0]]}) + 1)) AS sample"
    with cache.write_file(key, "rows.parquet") as path:
        select = f"SELECT {', '.join(cells)}, {numbers} FROM (FROM ({scanned}) ORDER BY row)"  # noqa: S608
        cursor.execute(f"COPY ({select}) TO {sql.quote(str(path))} (FORMAT parquet)")


def describe_formats(layout: Layout, settings: SourceSettings) -> str:
    """Describe the formats of the files and how they are packed."""
    if settings.format == "mapped":
        kinds = (split_weak_ending(Path(file.path))[1] for file in layout.files)
        named = dict.fromkeys("JSON Lines" if kind == "jsonl" else "JSON" for kind in kinds)
        return f"{' and '.join(named)} mapped by source.yml"
    titles: dict[str, None] = {}
    for file in layout.files:
        path = Path(file.path)
        # Some tables are read from copies in another format.
        stated = settings.format if settings.format in _CONVERTED else None
        copied = stated or split_weak_ending(path)[1] or (SQLITE if settings.query else file.format)
        form = copied if file.copy else file.format
        form = file.variant if layout.is_chart else form
        title = _TITLES.get(form, form)
        title = f"{title} ({file.compression})" if file.compression else title
        is_packed = any(get_archive_ending(part) for part in path.parent.parts)
        titles[f"{title} in an archive" if is_packed else title] = None
    return join_names(list(titles))
