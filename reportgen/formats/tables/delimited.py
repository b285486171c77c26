"""CSV and TSV: a header line, then one row per line; every cell is read as text.

CSV exports of W&B ("Export CSV" of a panel and of the runs table in the W&B app) are recognised by their
header: a chart, whose columns are runs, or the runs table. A chart's first column is its x, mostly ``Step``;
then come ``RUN - METRIC``, ``RUN - METRIC__MIN`` and ``…__MAX`` for each run, and the same for ``_step`` if x
is something else. Runs with the same name have columns with the same name. If runs are grouped (``Group:
NAME`` or ``SETTING: VALUE``) or steps are, a value summarises several. The runs table has one row per run:
settings and last values.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from datetime import datetime, time
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from reportgen.core.errors import ReportError
from reportgen.core.score_names import is_run_score
from reportgen.formats import sql
from reportgen.formats.cells import Kind, infer_kind, is_missing, is_number, parse_percent
from reportgen.formats.decode import LARGEST_DOCUMENT, MOST_COLUMNS, format_mebibytes
from reportgen.formats.layout import NOT_UTF8, ROLE_NAMES, FileLayout, Look, Row
from reportgen.formats.messages import limit_problems, list_names
from reportgen.settings.text import CONFLICT, find_conflict_marks
from reportgen.settings.yaml_tree import write_scalar

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.layout import Content, LastLine, Sample


WANDB_CHART: Final = "wandb-csv"
TABLE_OF_RUNS: Final = "it is the table of runs that W&B exports: settings and last values, but no curves"
RUNS_TABLE_ADVICE: Final = "Export the panel of a metric as CSV instead, or put the folders wandb/run-* here"
_SEPARATOR: Final = " - "
_EXTREMES: Final = ("__MIN", "__MAX")
_STEP: Final = "Step"
WANDB_STEP: Final = "_step"
"""Metric that counts the calls of ``log``."""
# Marks the second of two runs with the same name; this character does not occur in names.
_TWIN_SIGN: Final = "\u00a0"
# A table without any of these may have its step in an index without a name, as pandas writes it.
_ALL_NAMES: Final = frozenset(name for names in ROLE_NAMES.values() for name in names) | {"index"}
_OF_A_TABLE: Final = frozenset(("Name", "State", "Runtime"))
_OTHERS_OF_A_TABLE: Final = frozenset(("Created", "Notes", "Sweep", "Tags", "User"))
_OF_A_SCRIPT: Final = frozenset(("config", "name", "summary"))


class ChartColumn(NamedTuple):
    """Content of a chart's column: a metric of a run; ``twin`` numbers runs with the same name from 1."""

    run: str
    twin: int
    metric: str


def is_chart(columns: Sequence[str]) -> bool:
    """Return whether a header is that of a chart exported from W&B."""
    first, *others = columns or ("",)
    if not others or _SEPARATOR in first or not all(_SEPARATOR in column for column in others):
        return False
    extremes = any(base + ending in columns for base in others for ending in _EXTREMES)
    return extremes or first == _STEP


def advise_runs(columns: Sequence[str]) -> str:
    """Return the next step for a table of runs, with the keys that read its last values."""
    pairs = (("run", name) if name == "Name" else ("seed", name) for name in columns)
    roles = ", ".join(f"{role}: {name}" for role, name in pairs if role == "run" or name.casefold() == "seed")
    keys = ["form: runs", f"columns: {{{roles}}}" if roles else ""]
    keys += ["filter: {State: finished}" if "State" in columns else ""]
    metrics = ", ".join(write_scalar(name) for name in columns if is_run_score(name)) or "NAME"
    lines = f"{', '.join(filter(None, keys))} and metrics: [{metrics}]"
    return f"{RUNS_TABLE_ADVICE}; for the last values say {lines} in source.yml"


def parse_chart(columns: Sequence[str]) -> dict[str, ChartColumn]:
    """Parse a chart's columns, without the smallest and largest values and columns that name no metric."""
    parsed = {}
    for column in columns[1:]:
        run, separator, metric = column.rpartition(_SEPARATOR)
        extreme = any(column.endswith(end) and column.removesuffix(end) in columns for end in _EXTREMES)
        if separator and not extreme:
            name, _, twin = run.partition(_TWIN_SIGN)
            parsed[column] = ChartColumn(name, int(twin or 1), metric)
    return parsed


def find_joined(columns: Sequence[str], rows: Collection[Sequence[str | None]]) -> dict[str, ChartColumn]:
    """Return the columns with a value that summarises several: its smallest and largest differ."""
    indices = {column: index for index, column in enumerate(columns)}

    def is_joined(column: str) -> bool:
        low, high = map(indices.get, name_extremes(column))
        return low is not None and high is not None and any(row[low] != row[high] for row in rows)

    charted = parse_chart(columns).items()
    return {column: held for column, held in charted if held.metric != WANDB_STEP and is_joined(column)}


def name_extremes(column: str) -> tuple[str, str]:
    """Return the columns of the smallest and the largest value that a column summarises."""
    return column + _EXTREMES[0], column + _EXTREMES[1]


def number_twins(columns: Sequence[str]) -> tuple[str, ...]:
    """Make a chart's header unique: a second ``a - loss`` belongs to another run ``a``."""
    seen: Counter[str] = Counter()
    names = []
    for column in columns:
        seen[column] += 1
        run, separator, metric = column.rpartition(_SEPARATOR)
        twin = f"{_TWIN_SIGN}{seen[column]}" if seen[column] > 1 and separator else ""
        names.append(f"{run}{twin}{separator}{metric}")
    return tuple(names)


def is_table_of_runs(columns: Sequence[str], cells: Collection[str | None] = ()) -> bool:
    """Return whether a file is W&B's runs table, or what the script in its guide writes instead.

    That script writes settings as JSON objects, which is visible in some cells.
    """
    there = set(columns)
    if there >= _OF_A_TABLE and len(there & _OTHERS_OF_A_TABLE) > 1:
        return True
    return there >= _OF_A_SCRIPT and any(cell and cell.startswith("{") for cell in cells)


_HEAD: Final = 64 << 10
_ROWS_OF_A_HEAD: Final = 200
_FEW_LONG_ROWS: Final = 5
_QUOTE: Final = '"'
# Each further word costs time in readers that parse millions of numbers.
_NOTHING: Final = ("", "null", "None", "NA")
_LINE_END: Final = re.compile(r"[\r\n]")
_CONTROL: Final = re.compile(r"[\t\r\n]+")
# A cell may hold a whole document; the default limit of Python's reader is 128 kB.
csv.field_size_limit(16 << 20)


def look(content: Content, form: str, mapped: Collection[str], *, whole: bool) -> Look:  # noqa: ARG001
    """Return header and a bounded sample; raise ``ReportError`` with the first problems found in it."""
    sample = content.read_sample(_HEAD)
    header, delimiter = _parse_header(content, sample.text, form)
    if not header[0] and _ALL_NAMES.isdisjoint(name.casefold() for name in header):
        header = ("index", *header[1:])
    rows = islice(_parse(sample.text, delimiter), 1, None if sample.complete else _ROWS_OF_A_HEAD + 1)
    cells = [row for row in rows if row]
    file = FileLayout(content.name, form, content.compression, header, (sql.TEXT,) * len(header), delimiter)
    torn = _find_torn_line(content, file, sample, cells)
    if torn:
        cells = cells[: -1 if sample.complete else None]
        file = replace(file, keep=torn.offset)
    if _QUOTE not in sample.text:
        # A piece with a quote may start inside a cell.
        pieces = (piece.decode(errors="replace") for piece in sample.pieces if _QUOTE.encode() not in piece)
        cells += [row for piece in pieces for row in _parse(piece, delimiter) if row]
    if any(len(row) != len(header) or (len(row) == 1 and find_conflict_marks(row[0])) for row in cells):
        raise ReportError(*limit_problems(_find_wrong_rows(read_rows(content, file, ()))))
    if not cells and not sample.complete:
        # The head holds no whole row.
        if wrong := list(_find_wrong_rows(islice(read_rows(content, file, ()), _FEW_LONG_ROWS))):
            raise ReportError(*wrong)
        reader = csv.reader(content.read_lines(), delimiter=delimiter)
        cells = [row for row in islice(reader, 1, _FEW_LONG_ROWS + 1) if row]
    if not cells:
        raise content.make_error("the file has a header and no rows", "Remove it or write it again", 1)
    file = replace(file, even_ends=sample.even_ends)
    return Look(file, list(map(tuple, cells)), sample.complete, content.warn_torn_line(torn))


def scan(files: Sequence[Path], file: FileLayout, columns: Sequence[str]) -> str:
    """Return a SELECT of some columns of files that all have the layout of ``file``.

    Its columns are ``k0, k1, ...``, in the order of ``columns``, ``file`` (index in ``files``) and ``row``.
    """
    types = (
        kind if name in columns else sql.TEXT for name, kind in zip(file.columns, file.types, strict=True)
    )
    safe = {f"c{index}": kind for index, kind in enumerate(types)}
    # If the reader parses numbers itself, it needs the words for missing values.
    nulls = f"nullstr=[{sql.quote_all(_NOTHING)}], " if set(safe.values()) != {sql.TEXT} else ""
    picked = "".join(f"c{file.columns.index(name)} AS k{index}, " for index, name in enumerate(columns))
    return (
        f"SELECT {picked}CAST(file_index AS BIGINT) AS file, row_number() OVER () AS row "  # noqa: S608 - quoted
        f"FROM read_csv({sql.quote_paths(files)}, columns={sql.make_struct(safe)}, auto_detect=false, "
        f"header=true, delim={sql.quote(file.variant)}, quote='\"', escape='\"', {nulls}"
        f"compression={sql.quote(file.compression or 'none')})"
    )


def read_rows(content: Content, file: FileLayout, columns: Collection[str]) -> Iterator[Row | Diagnostic]:
    """Yield every row with its line number, and a problem for each that cannot be read."""
    invalid: list[int] = []
    reader = csv.reader(content.read_lines(file.keep, invalid), delimiter=file.variant)
    indices = [(name, file.columns.index(name)) for name in columns if name in file.columns]
    has_lines = not file.copy or file.above is not None
    line, count = 1, 0
    try:
        for cells in reader:
            yield from (content.make_problem(*NOT_UTF8, number) for number in invalid)
            invalid.clear()
            if len(cells) == 1 and find_conflict_marks(cells[0]):
                yield content.make_problem(*CONFLICT, line)
                return
            if cells and len(cells) != len(file.columns):
                message = f"the row has {len(cells)} cells where the header has {len(file.columns)}"
                yield content.make_problem(message, "Look for a missing delimiter or an open quote", line)
            elif cells and line > 1:
                count += 1
                yield Row(line if has_lines else None, count, {name: cells[index] for name, index in indices})
            line = reader.line_num + 1
    except csv.Error as error:
        yield content.make_problem(f"the row cannot be read: {error}", "Look for an open quote", line)


def _find_wrong_rows(rows: Iterable[Row | Diagnostic]) -> Iterator[Diagnostic]:
    return (row for row in rows if not isinstance(row, Row))


def _parse(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _find_delimiter(first: str, form: str) -> str:
    """Return the sign between the cells of a first line."""
    if form == "tsv":
        return "\t"
    return "," if "," in first else max(",;\t|", key=first.count)


def _parse_header(content: Content, text: str, form: str) -> tuple[tuple[str, ...], str]:
    first = _LINE_END.split(text, maxsplit=1)[0]
    delimiter = _find_delimiter(first, form)
    if first.count(delimiter) >= MOST_COLUMNS:
        raise content.make_columns_error(first.count(delimiter) + 1)
    header = tuple(cell.strip() for cell in next(_parse(text, delimiter), []))
    if not any(header):
        raise content.make_error("the first line is empty; it should hold the column names", "Add them", 1)
    if all(is_missing(cell) or is_number(cell) for cell in header):
        raise content.make_error("the first line holds numbers, not column names", "Add a line of names", 1)
    twice = [name for name, count in Counter(header).items() if name and count > 1]
    if twice and form != "tsv" and is_table_of_runs(header):
        raise content.make_error(TABLE_OF_RUNS, RUNS_TABLE_ADVICE, 1)
    if twice and not is_chart(header):
        message = f"more than one column is called {list_names(twice)}"
        raise content.make_error(message, "Give each column a name of its own", 1)
    return number_twins(header) if twice else header, delimiter


def _find_torn_line(
    content: Content, file: FileLayout, sample: Sample, cells: list[list[str]]
) -> LastLine | None:
    """Return the last line if it was written only in part."""
    last = sample.last
    line = last.data.decode(errors="replace") if last else ""
    if last and line.count(_QUOTE) % 2:
        # Either a quote was open when writing stopped, or the line ends a cell of several lines.
        reader = csv.reader(content.read_lines(), delimiter=file.variant)
        begin, following = 1, 1
        for _ in reader:
            begin, following = following, reader.line_num + 1
        return last if begin == content.find_line_number(last.offset) else None
    row = next(csv.reader([line], delimiter=file.variant), [])
    if not line.strip() or len(row) > len(file.columns):
        return None
    if len(row) < len(file.columns):
        return last
    cut_number = not (is_missing(row[-1]) or is_number(row[-1]) or parse_percent(row[-1]) is not None)
    return last if cut_number and infer_kind(row[-1] for row in cells[:-1] if row) is Kind.NUMBER else None


def write_separated(content: Content, rows: Iterable[Iterable[object]]) -> str:
    """Return rows, the names of columns first, as tab-separated text with a line for each.

    Raises ``ReportError`` beyond 256 MiB.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    for row in rows:
        texts: list[str] = []
        for cell in row:
            # Times and truth values as other formats write them.
            if cell is None or isinstance(cell, bool):
                texts.append({None: "", True: "true", False: "false"}[cell])
            elif isinstance(cell, datetime):
                is_date = cell.time() == time()
                texts.append(str(cell.date()) if is_date else cell.isoformat(" ", "milliseconds"))
            else:
                written = cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)
                texts.append(_CONTROL.sub(" ", written))
        writer.writerow(texts)
        if text.tell() > LARGEST_DOCUMENT:
            message = f"the table is more than {format_mebibytes(LARGEST_DOCUMENT)} as text"
            raise content.make_error(message, "Write Parquet, which is read without loading it")
    return text.getvalue()


def read_grid(content: Content, form: str) -> Iterator[tuple[int, list[str]]]:
    """Yield every line with cells, the header included, with its line number; rows may differ in length."""
    lines = content.read_lines()
    first = next(lines, "")
    reader = csv.reader(chain([first], lines), delimiter=_find_delimiter(first.rstrip("\r\n"), form))
    line = 1
    for cells in reader:
        stripped = [cell.strip() for cell in cells]
        if any(stripped):
            yield line, stripped
        line = reader.line_num + 1
