"""JSON of any shape as a table: ``source.yml`` has the path to the rows, and to each column in a row.

The rows are written to the cache as Parquet, all cells as texts, and read from there like a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping  # noqa: TC003 - the schema of stored files needs it at run time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, SourceLocation, Stage
from reportgen.formats.cells import is_number
from reportgen.formats.messages import list_names
from reportgen.formats.runs import warn
from reportgen.formats.tables.json_path import (
    JsonPath,
    MissingPathError,
    PathError,
    describe_dead_end,
    find_rows,
    get_value,
    parse_path,
    read_documents,
)
from reportgen.formats.tables.json_tables import as_text
from reportgen.read.find import locate_file
from reportgen.read.runs.labels import is_setting_number, is_setting_text
from reportgen.read.runs.stored import (
    clean_text,
    name_part,
    write_part,
)
from reportgen.read.tables.layout import get_mapped_columns, get_series_parts
from reportgen.settings.source import Columns
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.model import SourceFile
    from reportgen.formats.cells import Text
    from reportgen.formats.layout import Content, FileLayout
    from reportgen.formats.tables.json_path import Document, PathRow
    from reportgen.read.find import Location
    from reportgen.settings.source import SourceSettings


_LAST_KEY: Final = re.compile(r"(\w+)\W*$")
_ROWS_OF_A_PART: Final = 200_000
_LONGEST: Final = 40
_MOST_SERIES: Final = 500


class _Mapping(Struct, frozen=True):
    """Path to the rows in a file or line, None if not given, and to each column in a row."""

    rows: JsonPath | None
    columns: Mapping[str, JsonPath]
    place: SourceLocation


class _MappedFile(Struct, frozen=True):
    """The rows of a file in the cache, in so many parts, and what was seen of them."""

    parts: int
    warnings: tuple[Diagnostic, ...]
    row: str  # what a row is, as a sentence
    filled: Mapping[str, int]  # cells of each column
    held: Mapping[str, int]  # of these, lists and objects
    ends: Mapping[str, str]  # what the first row has in place of the columns that are empty
    settings: Mapping[str, Mapping[str, str]]  # beside the name of each series


def _find_faults(mapping: _Mapping, read: Sequence[_MappedFile]) -> Iterator[Diagnostic]:
    """Yield problems of paths that find nothing in any file, or no single value."""
    read_rows = [one for one in read if one.parts]
    if not read_rows:
        advice = "Mend rows: in source.yml, or leave the file out with files:"
        for one in (warning for file in read for warning in file.warnings):
            yield replace(one, next_step=advice, severity=Severity.ERROR)
        return
    for name, path in mapping.columns.items():
        column = f'"{path.text}", the column "{name}",'
        filled = sum(one.filled[name] for one in read_rows)
        if not filled:
            there = next((end for one in read_rows if (end := one.ends.get(name))), read_rows[0].row)
            yield Diagnostic(mapping.place, f"{column} finds nothing in any row", there, Stage.DATA)
        elif filled == sum(one.held[name] for one in read_rows):
            rows = mapping.rows.text.removesuffix("?") if mapping.rows else "$[*]"
            rest = "" if path.up else f", with rows: {rows}{path.text.removeprefix('$')}[*]"
            one_value = f"{path.text}[0] or {path.text}.name"
            advice = f"Select one value, as in {one_value}, or make its items the rows{rest}"
            message = f"{column} is a list or an object in every row"
            yield Diagnostic(mapping.place, message, advice, Stage.DATA)


class MappedTables(Struct, frozen=True):
    """JSON files as tables with their rows in the cache, and warnings about irregularities.

    In ``settings``, those of the source, each column has the role that it is named after.
    """

    files: tuple[FileLayout, ...]
    settings: SourceSettings
    warnings: tuple[Diagnostic, ...]


def map_tables(
    location: Location,
    settings: SourceSettings,
    files: Sequence[FileLayout],
    hashed: Sequence[SourceFile],
    cache: Cache,
) -> MappedTables:
    """Write rows of JSON files to the cache, or raise a ``ReportError`` of each wrong path or file."""
    mapping = _parse_mapping(settings, location.place)
    problems = Diagnostics()
    tables: list[FileLayout] = []
    read: list[_MappedFile] = []
    for file, known in zip(files, hashed, strict=True):
        with problems.collecting():
            paths = repr((mapping.rows, mapping.columns))
            key = cache.make_key("mapped", file.path, known.sha256, paths)
            mapped = cache.load(key, _MappedFile)
            names = [name_part(number) for number in range(mapped.parts)] if mapped else []
            if mapped is None or not all(Path(cache.get_text_path(key, name)).is_file() for name in names):
                mapped = _TableWriter(file.get_content(location.root), mapping, cache, key).read()
                cache.store(key, mapped)
            read.append(mapped)
            for number in range(mapped.parts):
                copy = locate_file(Path(cache.get_text_path(key, name_part(number))), location.root).file
                tables.append(replace(file, format="parquet", compression="", copy=copy))
    problems.raise_errors()
    problems.add(_find_faults(mapping, read))
    problems.raise_errors()
    parts = _name_series(settings)
    columns = Columns(**{part: part for part in get_mapped_columns(settings)})
    columns = columns.model_copy(update={"series": (*parts,)}) if parts else columns
    warnings = tuple(warning for one in read for warning in one.warnings)
    update = {"columns": columns, "fields": list_paths(settings)}
    if isinstance(series := settings.columns.series, str):
        named = [
            (name, file.path, words)
            for file, one in zip(files, read, strict=True)
            for name, words in one.settings.items()
        ]
        warnings = (*warnings, *_warn_differing(named, settings, series))
    return MappedTables(tuple(tables), settings.model_copy(update=update), warnings)


def list_paths(settings: SourceSettings) -> dict[str, str]:
    """Return the path of each column by its name in the table; empty without ``format: mapped``."""
    if settings.format != "mapped":
        return {}
    return {**get_mapped_columns(settings), **_name_series(settings), **settings.fields}


def _name_series(settings: SourceSettings) -> dict[str, str]:
    """Return the paths that name the series together, by their last keys; none if one path does."""
    names: dict[str, str] = {}
    taken = {*settings.fields, *get_mapped_columns(settings)} - {"series"}
    for number, path in enumerate(get_series_parts(settings), start=1):
        field = next((name for name, text in settings.fields.items() if text == path), "")
        name = field or next(iter(_LAST_KEY.findall(path)), "key")
        names[name if field or name not in {*names, *taken} else f"{name} {number}"] = path
    return names


def _warn_differing(
    named: Sequence[tuple[str, str, Mapping[str, str]]], settings: SourceSettings, series: str
) -> Iterator[Diagnostic]:
    """Warn of files with one name of a series and other settings, which are averaged as its runs.

    ``named`` has the name, file and settings of each series; ``series`` is the path of the names.
    """
    if settings.columns.run or settings.columns.seed:
        return
    filtered = {settings.fields.get(name, name).rpartition(".")[2] for name in settings.filter}
    keys = [key for key in dict.fromkeys(key for *_, words in named for key in words) if key not in filtered]
    for key in filter(is_setting_text, keys):
        texts = [words.get(key, "") for *_, words in named]
        if any(map(is_number, texts)):
            if not is_setting_number(key):
                continue
        elif len(set(texts)) == len(texts) and any(map(str.isdigit, "".join(texts))):
            continue  # as ids
        first: dict[str, tuple[str, str]] = {}
        for (name, file, _), text in zip(named, texts, strict=True):
            before, other = first.setdefault(name, (file, text))
            if other != text:
                shown, there, here = (f'"{shorten(one, _LONGEST)}"' for one in (name, other, text))
                message = f'runs of the series {shown} differ in "{key}", and are averaged as one: '
                message += f"it is {there} in {before} and {here} here"
                path = f"{series.rpartition('.')[0]}.{key}"
                step = f"Set columns: {{series: [{series}, {path}]}} in source.yml to compare them, or "
                step += f"columns: {{run: {path}}} if they are repetitions of one experiment"
                yield Diagnostic(SourceLocation(file), message, step, Stage.DATA, Severity.WARNING)
                return


def _parse_mapping(settings: SourceSettings, place: SourceLocation) -> _Mapping:
    texts = {"": ("rows:", settings.rows)}
    texts |= {name: (f"columns: {name}:", text) for name, text in get_mapped_columns(settings).items()}
    problems = [
        Diagnostic(place, f"fields: {name}: is already a column", "Give it another name", Stage.SETTINGS)
        for name in settings.fields
        if name in texts
    ]
    if several := _name_series(settings):
        del texts["series"]
        texts |= {name: (f"columns: series: {name}:", text) for name, text in several.items()}
    texts |= {name: (f"fields: {name}:", text) for name, text in settings.fields.items()}
    paths: dict[str, JsonPath] = {}
    for name, (key, text) in texts.items():
        if text is not None:
            try:
                paths[name] = parse_path(text, rows=not name)
            except PathError as error:
                advice = 'Write it as in $.meta.subject, $["a key"] or $.scores[0]'
                problems.append(Diagnostic(place, f'{key} "{text}" {error}', advice, Stage.SETTINGS))
    if problems:
        raise ReportError(*problems)
    return _Mapping(paths.pop("", None), paths, place)


class _TableWriter:
    """Writer of the rows of one file into the cache under a key, in parts."""

    def __init__(self, content: Content, mapping: _Mapping, cache: Cache, key: str) -> None:
        self._content, self._mapping, self._cache, self._key = content, mapping, cache, key
        self._rows_name = f'rows: "{mapping.rows.text}"' if mapping.rows else "the file"
        self._cells: dict[str, list[Text]] = {name: [] for name in mapping.columns}
        self._filled, self._held = Counter[str](), Counter[str]()
        self._parts = 0
        self._first: PathRow | None = None
        self._around: dict[str, dict[str, str]] = {}

    def read(self) -> _MappedFile:
        """Read and write the whole file; raises a ``ReportError`` if the path to its rows leads nowhere."""
        content, mapping = self._content, self._mapping
        warnings: list[Diagnostic] = []
        for document in read_documents(content):
            if isinstance(document, Diagnostic):
                warnings.append(document)
            else:
                self._read_rows(document)
        self._write()
        row, first = self._first, self._first.value if self._first else None
        ends: dict[str, str] = {}
        if row is None:
            warnings.append(warn(content.name, f"{self._rows_name} finds no rows"))
        else:
            empty = (name for name in mapping.columns if not self._filled[name])
            ends = {name: describe_dead_end(row, mapping.columns[name]) for name in empty}
        kind = f"A row is {'a list' if isinstance(first, list) else 'a single value'}. "
        kind += "Mend rows: in source.yml" if mapping.rows else "Say where they are, as in rows: $.results[*]"
        known = f"A row has {list_names(first)}" if first and isinstance(first, dict) else kind
        filled, held = (
            {name: count[name] for name in mapping.columns} for count in (self._filled, self._held)
        )
        return _MappedFile(self._parts, tuple(warnings), known, filled, held, ends, self._around)

    def _read_rows(self, document: Document) -> None:
        # Without a path to the rows, a line is a row, and a file is a list of rows.
        rows = self._mapping.rows or parse_path("$" if document.line else "$[*]", rows=True)
        advice = "Mend rows: in source.yml"
        try:
            for row in find_rows(document.value, rows):
                self._add(row)
        except PathError as error:
            if isinstance(error, MissingPathError):
                if rows.is_optional:
                    return
                advice += f', or say rows: "{rows.text}?" to pass over such lines' if document.line else ""
            message = f"{self._rows_name} {error}"
            raise self._content.make_error(message, advice, document.line) from None

    def _add(self, row: PathRow) -> None:
        self._first = self._first or row
        self._add_around(row)
        for name, path in self._mapping.columns.items():
            value = get_value(row, path)
            self._held[name] += isinstance(value, list | dict)
            cell = clean_text(as_text(value))
            self._filled[name] += cell is not None
            self._cells[name].append(cell)
        if len(next(iter(self._cells.values()))) >= _ROWS_OF_A_PART:
            self._write()

    def _add_around(self, row: PathRow) -> None:
        """Add the settings beside the name of a series, at its first row, unless they are those of a row."""
        path = self._mapping.columns.get("series")
        if path and not path.up and row is not self._first:
            self._around.clear()  # each of several rows has its own
            return
        name = as_text(get_value(row, path)) if path and not path.is_key else None
        if path is None or name is None or name in self._around or len(self._around) >= _MOST_SERIES:
            return
        holder = get_value(row, JsonPath(path.text, path.up, path.steps[:-1]))
        words = holder.items() if isinstance(holder, dict) else ()
        self._around[name] = {
            key: clean_text(as_text(one)) or "" for key, one in words if isinstance(one, str | int | float)
        }

    def _write(self) -> None:
        columns = {f"c{index}": np.array(cells, object) for index, cells in enumerate(self._cells.values())}
        if not len(columns["c0"]):
            return
        cells = {name: f"c{index}" for index, name in enumerate(self._cells)}
        write_part(self._cache, self._key, name_part(self._parts), columns, cells)
        self._parts += 1
        self._cells = {name: [] for name in self._cells}
