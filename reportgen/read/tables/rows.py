"""Files as SQL: a FROM clause with only the requested columns, and the position of every row."""

from __future__ import annotations

import hashlib
import math
import sys
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final

from msgspec.structs import astuple, replace

from reportgen.formats import sql
from reportgen.formats.cells import is_missing, is_number, parse_reported
from reportgen.formats.layout import Row
from reportgen.formats.sql import get_engine
from reportgen.formats.tables import FORMATS, FREE_COLUMNS
from reportgen.read.tables.layout import find_column

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.cells import Kind, Text
    from reportgen.formats.layout import FileLayout
    from reportgen.read.tables.layout import Filters, Layout
    from reportgen.settings.base import CellValue


RIGHT: Final = frozenset(("true", "correct", "right", "pass", "passed", "yes"))
WRONG: Final = frozenset(("false", "incorrect", "wrong", "fail", "failed", "no"))
ANSWERS: Final = RIGHT | WRONG | {"0", "1", "0.0", "1.0"}
"""Cells that say right or wrong."""


def parse_score(expression: str, kind: str, ends: tuple[float, float]) -> str:
    """Return SQL for a cell as a score; a missing word is NULL, any other word fails the statement.

    Truth values and words mean ``ends``, the lowest and the highest possible score.
    """
    low, high = (f"CAST({sql.quote(repr(end))} AS DOUBLE)" for end in ends)
    if kind == "BOOLEAN":
        return f"CASE WHEN {expression} THEN {high} WHEN NOT {expression} THEN {low} END"
    if kind != sql.TEXT:
        return sql.parse_number(expression, kind)
    return (
        f"coalesce({sql.try_number(expression)}, CASE "
        f"WHEN {sql.is_one_of(expression, RIGHT)} THEN {high} "
        f"WHEN {sql.is_one_of(expression, WRONG)} THEN {low} "
        f"WHEN {sql.is_missing(expression)} THEN NULL ELSE CAST({expression} AS DOUBLE) END)"
    )


def check_range(name: str, ends: tuple[float, float]) -> str:
    """Return SQL for a column of scores that fails the statement at a score out of range.

    NaN and infinite scores pass: they are missing, not wrong, and counted as such.
    """
    low, high = (f"CAST({sql.quote(repr(end))} AS DOUBLE)" for end in ends)
    outside = f"isfinite({name}) AND {name} NOT BETWEEN {low} AND {high}"
    return f"CASE WHEN {outside} THEN error('a score is out of range') ELSE {name} END"


def check_score(cell: Text, ends: tuple[float, float]) -> tuple[str, str] | None:
    """Return the fault of a score cell and the next step, or None if it is a score or missing."""
    if cell is None or is_missing(cell) or cell.strip(" ").lower() in RIGHT | WRONG:
        return None
    found = parse_reported(cell)
    if not is_number(cell) and (found is None or found.spread is not None):
        return "is not a score", "Write a number, true or false, or correct or incorrect"
    value = found.value if found else float(cell)
    if math.isfinite(value) and not ends[0] <= value <= ends[1]:
        advice = "State the possible scores in source.yml, as in score_range: [0, 100], or mend it"
        return f"is outside {ends[0]:g} to {ends[1]:g}", advice
    return None


UNNAMED: Final = "(unnamed)"
FILE_ROWS: Final = 1 << 40
"""Factor of the index of a file in a position, to which the smaller number of a row is added."""
_PIECE: Final = 1 << 20


class Rows:
    """The rows of some files of one shape, and the columns requested so far."""

    def __init__(self, root: Path, layout: Layout, indices: Sequence[int]) -> None:
        self._root, self._layout, self._indices = root, layout, indices
        self._files = [layout.files[index] for index in indices]
        self._paths = [_prepare_file(root, file) for file in self._files]
        self._selected: list[str] = []
        self.columnar: Final = self._files[0].format == "parquet"

    def copy(self) -> Rows:
        """Return the same files, with no column requested yet."""
        return Rows(self._root, self._layout, self._indices)

    def has(self, name: str | None) -> bool:
        """Return whether any of the files has the column."""
        return name is not None and any(file.has(name) for file in self._files)

    def as_number(self, name: str | None) -> str:
        """Return the column as numbers, or NULL without one."""
        return self._make_shares(name, self._convert(sql.parse_number, name, "DOUBLE"))

    def as_estimate(self, name: str) -> tuple[str, str]:
        """Return the column as the numbers before ±, and those after it."""
        number, spread = sql.parse_estimate(self.as_words(name))
        return self._make_shares(name, number), self._make_shares(name, spread)

    def as_score(self, name: str, ends: tuple[float, float]) -> str:
        """Return the column as scores between two ends."""
        return self._convert(lambda cell, kind: parse_score(cell, kind, ends), name, "DOUBLE")

    def as_time(self, name: str | None) -> str:
        """Return the column as milliseconds since 1970 UTC."""
        return self._convert(sql.parse_time, name, "DOUBLE")

    def as_words(self, name: str | None) -> str:
        """Return the column as texts."""
        return self._convert(sql.as_text, name, sql.TEXT)

    def as_text(self, name: str | None) -> str:
        """Return the column as texts, with NULL for empty cells."""
        if name in self._layout.gapless:
            return self.as_words(name)
        return f"nullif({self.as_words(name)}, '')"

    def as_written(self, name: str) -> str:
        """Return the column as the files have it."""
        return self._select_cell(name) if self.has(name) else f"CAST(NULL AS {sql.TEXT})"

    def is_equal(self, name: str, cell: CellValue | tuple[CellValue, ...]) -> str:
        """Return a test for this value of the column, or one of these."""
        return sql.is_equal(self._select_cell(name), self._type(name), cell) if self.has(name) else "FALSE"

    def label(self, labels: Sequence[str]) -> str:
        """Return the label of a row's file, given one label for each file of the source."""
        picked = [labels[index] for index in self._indices]
        if len(set(picked)) == 1:
            return sql.quote(picked[0])
        return f"{sql.make_list(picked)}[file + 1]"

    def get_position(self) -> str:
        """Return the position in the order of writing: by file, then by row."""
        if len(self._layout.files) == 1:
            return "row"
        return f"[{', '.join(map(str, self._indices))}][file + 1] * {FILE_ROWS} + row"

    def build_source(self) -> str:
        """Build the FROM clause; request all columns before."""
        file = self._files[0]
        compression = file.compression if file.as_it_is else ""
        scan = FORMATS[file.format].scan(self._paths, replace(file, compression=compression), self._selected)
        return f"({scan})"

    def _make_shares(self, name: str | None, number: str) -> str:
        """Return numbers of a column as shares where it has percentages; a cell with a % is one already."""
        if name is None or name not in self._layout.percentages or not self.has(name):
            return number
        by, names = self._layout.percentages[name]
        tests = [f"{self.as_text(by)} IN ({sql.quote_all(names)})"] if by else []
        if self._type(name) == sql.TEXT:
            tests.append(f"NOT contains({self._select_cell(name)}, '%')")
        share = f"share({number})"
        return f"CASE WHEN {' AND '.join(tests)} THEN {share} ELSE {number} END" if tests else share

    def _convert(self, meaning: sql.Meaning, name: str | None, kind: str) -> str:
        if name is None or not self.has(name):
            return f"CAST(NULL AS {kind})"
        return meaning(self._select_cell(name), self._type(name))

    def _select_cell(self, name: str) -> str:
        cell, names = self._find_cell(name), self._layout.new_names.get(name)
        return rename_texts(sql.as_text(cell, self._find_type(name)), names) if names else cell

    def _find_cell(self, name: str) -> str:
        if all(file.get_given(name) is None for file in self._files):
            if name not in self._selected:
                self._selected.append(name)
            return f"k{self._selected.index(name)}"
        # The values are given for each file, or for each code in it.
        values: list[Text] = []
        begins = []
        for file in self._files:
            begins.append(len(values))
            values += file.get_given(name) or (None,)
        if len(set(values)) == 1:
            return f"CAST(NULL AS {sql.TEXT})" if values[0] is None else sql.quote(values[0])
        begin = str(begins[0]) if len(begins) == 1 else f"[{', '.join(map(str, begins))}][file + 1]"
        code = self._files[0].code
        index = f"{begin} + {self._select_cell(code)}" if code else begin
        return f"{sql.make_list(values)}[{index} + 1]"

    def _type(self, name: str) -> str:
        return sql.TEXT if name in self._layout.new_names else self._find_type(name)

    def _find_type(self, name: str) -> str:
        return next(file.type_of(name) for file in self._files if file.has(name))


def group_files(root: Path, layout: Layout) -> Iterator[Rows]:
    """Yield the files of a source by shape: one reader for all of a shape costs least."""
    shapes: dict[object, list[int]] = defaultdict(list)
    for index, file in enumerate(layout.files):
        compression = file.compression if file.as_it_is else ""
        columns = () if file.format in FREE_COLUMNS else (file.columns, file.types)
        given = (file.code, tuple(name for name, _ in file.given))
        shapes[file.format, compression, file.variant, columns, given].append(index)
    for indices in shapes.values():
        yield Rows(root, layout, indices)


def select_series(rows: Rows, layout: Layout, rename: Mapping[str, str]) -> str:
    """Return SQL for the name of a row's series in the report."""
    column = layout.roles.series
    if column is None:
        return rows.label([rename.get(label, label) for label in layout.labels])
    name = rows.as_text(column)
    if layout.series_parts:
        others = (f"{sql.quote(f'{part}=')} || {rows.as_text(part)}" for part in layout.series_parts[1:])
        name = f"nullif(concat_ws(', ', {', '.join([name, *others])}), '')"
    if layout.series_parts or column not in layout.gapless:
        name = f"coalesce({name}, {sql.quote(UNNAMED)})"
    return rename_texts(name, rename)


def select_run(rows: Rows, layout: Layout) -> str:
    """Return SQL for what identifies a run in its series: run, otherwise seed, otherwise file; settings."""
    roles = layout.roles
    named = [rows.as_text(name) for name in (roles.run, roles.seed) if name is not None]
    last = rows.label(layout.labels) if len(layout.files) > 1 else "''"
    run = named[0] if roles.run in layout.gapless else f"coalesce({', '.join([*named, last])})"
    parts = "".join(f", {sql.quote(f'{name}=')} || {rows.as_text(name)}" for name in layout.run_parts)
    return f"concat_ws(', ', nullif({run}, ''){parts})" if parts else run


def select_names(rows: Rows, layout: Layout, rename: Mapping[str, str]) -> dict[str, str]:
    """Return SQL for a row's series, run and seed, which is NULL if unknown."""
    names = {"series": select_series(rows, layout, rename), "run": select_run(rows, layout)}
    return {**names, "seed": rows.as_text(layout.roles.seed)}


def keep_series(select: str, series: Iterable[str] | None) -> str:
    """Limit a SELECT to the rows of some series, or return it unchanged if all count."""
    if series is None:
        return select
    return f"SELECT * FROM ({select}) WHERE series IN ({sql.quote_all(series) or 'NULL'})"  # noqa: S608 - quoted


def rename_texts(cell: str, names: Mapping[str, str]) -> str:
    """Return SQL for a text, under its new name if it has one."""
    if not names:
        return cell
    cases = " ".join(f"WHEN {sql.quote(old)} THEN {sql.quote(new)}" for old, new in names.items())
    return f"CASE {cell} {cases} ELSE {cell} END"


def select_fields(rows: Rows, fields: Mapping[str, str], filters: Filters = (), *tests: str) -> str:
    """Return the SELECT of named cells in rows that pass filters and tests; no cell can be added later."""
    conditions = [*(rows.is_equal(column, cell) for column, cell in filters), *filter(None, tests)]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {list_cells(fields)} FROM {rows.build_source()}{where}"  # noqa: S608 - quoted


def list_cells(fields: Mapping[str, str]) -> str:
    """Return named cells as the list of a SELECT."""
    return ", ".join(f"{cell} AS {sql.quote_name(name)}" for name, cell in fields.items())


def select_files(
    root: Path,
    layout: Layout,
    list_fields: Callable[[Rows], Mapping[str, str]],
    filters: Filters = (),
    test: Callable[[Rows], str] = lambda _: "",
) -> str:
    """Return the SELECT of named cells from all files of a source; see ``select_fields``."""
    groups = group_files(root, layout)
    return " UNION ALL ".join(select_fields(rows, list_fields(rows), filters, test(rows)) for rows in groups)


def _prepare_file(root: Path, file: FileLayout) -> Path:
    """Return the file, or a copy without what DuckDB cannot read, made once per process."""
    path = root / file.place
    if file.as_it_is:
        return path
    status = path.stat()
    key = f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0{file}"
    copy = get_engine().folder / hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
    if not copy.exists():
        unfinished = copy.with_suffix(".part")
        left = sys.maxsize if file.keep is None else file.keep
        with file.get_content(root).open() as source, unfinished.open("wb") as target:
            # A whole line at a time if its end may have to be changed.
            read = source.read if file.even_ends else source.readline
            while left and (piece := read(min(left, _PIECE) if file.even_ends else left)):
                target.write(piece if file.even_ends else piece.replace(b"\r\n", b"\n"))
                left -= len(piece)
        unfinished.replace(copy)
    return copy


def locate_row(root: Path, layout: Layout, position: int) -> tuple[str, int | None, int | None]:
    """Return the path of a row's file, its line, None in a binary file, and its number in the file.

    Both are None for a logger's files, since their rows are reordered.
    """
    index = position // FILE_ROWS if len(layout.files) > 1 else 0
    file = layout.files[index]
    if file.copy and file.given:
        return file.path, None, None
    positions = select_files(root, layout, lambda rows: {"row": rows.get_position()})
    first_of_file = f'SELECT min("row") FROM ({positions}) WHERE "row" // {FILE_ROWS} = {index}'  # noqa: S608 - our own names
    number = position - get_engine().fetch_rows(first_of_file)[0][0] + 1
    if file.copy and file.above is None:
        return file.path, None, number
    rows = FORMATS[file.format].read_rows(file.get_content(root), file, ())
    written = (row for row in rows if isinstance(row, Row))
    found = next(islice(written, number - 1, None), None)
    return file.path, found.line + (file.above or 0) if found and found.line else None, number


def list_free_columns(layout: Layout, kinds: Container[Kind]) -> list[str]:
    """Return the columns of some kinds that have no role; numbers include metrics."""
    parts = (layout.roles, layout.outcomes, layout.totals)
    taken = {name for part in parts if part for name in astuple(part)}
    return [name for name, kind in layout.kinds.items() if name not in taken and kind in kinds]


def resolve_filters(
    filters: Mapping[str, CellValue | tuple[CellValue, ...]], columns: Sequence[str]
) -> Filters:
    """Return filters with columns as they are written."""
    return tuple((find_column(name, columns) or name, cell) for name, cell in filters.items())
