"""Tables as grids: the header rows and the label columns of a file.

``DataFrame.to_csv`` writes a row for each level of the columns, with its name first, and a row with the names
of the index alone. A table with several header rows is copied to the cache with one header row.
"""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError
from reportgen.core.words import quote_names
from reportgen.formats.cells import is_number, parse_reported
from reportgen.formats.layout import BENCHMARKS, ROLE_NAMES
from reportgen.formats.messages import limit_problems
from reportgen.formats.tables import FORMATS, delimited
from reportgen.formats.tables.delimited import write_separated
from reportgen.read.find import locate_file
from reportgen.read.tables.check import ESTIMATE
from reportgen.read.tables.layout import get_mapped_columns, is_name_of
from reportgen.read.tables.statistics import name_statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.model import SourceFile
    from reportgen.formats.layout import Content, FileLayout
    from reportgen.read.find import Location
    from reportgen.settings.source import SourceSettings


Line: TypeAlias = tuple[int | None, list[str]]
UNNAMED: Final = "(unnamed)"
"""Name of a column of labels without one, such as the index that pandas writes."""
_MOST_LEVELS: Final = 8
_ROWS_OF_A_LOOK: Final = 24
_DASHES: Final = re.compile(r":?-{3,}:?")
_STEP: Final = re.compile(
    r"(?P<word>step|iter|iteration|epoch|checkpoint|ckpt|)[ _=-]?(?P<step>\d+(\.\d+)?)", re.IGNORECASE
)
# Of ``df.describe()``, with some percentiles more, and the name of the index.
_SUMMARY: Final = frozenset(("count", "mean", "std", "min", "max"))
_MOST_STATISTICS: Final = 20
_NO_NAMES: Final = frozenset(("", "__index_level_0__"))


class Level(Struct, frozen=True):
    """A header row: its name, empty if it has none, and the label of each column of values."""

    name: str
    labels: tuple[str, ...]


class Header(Struct, frozen=True):
    """The header of a table: the names of all columns, those of labels first if it has levels."""

    names: tuple[str, ...]
    levels: tuple[Level, ...] = ()  # empty for one header row whose columns are to be found
    height: int = 1

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns of labels of a table with levels."""
        return self.names[: len(self.names) - len(self.levels[0].labels)] if self.levels else ()


class Grid(Struct, frozen=True):
    """A table and its header; ``file`` has one header row and plain numbers."""

    file: FileLayout
    header: Header
    content: Content  # as the user wrote it
    format: str

    def read_rows(self) -> list[Line]:
        """Return the rows below the header as the user wrote them, each with its line."""
        return list(islice(read_lines(self.content, self.format), self.header.height, None))


def read_lines(content: Content, form: str) -> Iterator[Line]:
    """Yield the header and all rows of a table, each with its line; raise for one that cannot be read."""
    if FORMATS[form] is delimited:
        yield from delimited.read_grid(content, form)
        return
    seen = FORMATS[form].look(content, form, (), whole=True).file
    yield None, list(seen.columns)
    for row in FORMATS[form].read_rows(content, seen, seen.columns):
        if isinstance(row, Diagnostic):
            raise ReportError(row)
        yield row.line, [row.cells.get(name) or "" for name in seen.columns]


def read_grids(
    location: Location,
    settings: SourceSettings,
    files: Sequence[FileLayout],
    hashed: Sequence[SourceFile],
    cache: Cache,
) -> tuple[Grid, ...]:
    """Return the tables as grids, copied where they have several header rows.

    A ``ReportError`` has each cell of such a table that is no number, and summaries, which hold no data.
    """
    problems, grids = Diagnostics(), list[Grid]()
    stated = settings.model_dump_json()
    for file, known in zip(files, hashed, strict=True):
        content = file.get_content(location.root)
        with problems.collecting():
            key = cache.make_key("header", file.path, file.format, known.sha256, stated)
            header = cache.load(key, Header) if file.format in FORMATS else Header(())
            if header is None:
                header = _find_header(content, file.format, settings)
                cache.store(key, header)
            copied = file
            if header.height > 1:
                key = cache.make_key("plain", file.path, known.sha256, repr((file, header)))
                path = Path(cache.get_text_path(key, "rows.tsv"))
                if not path.exists():
                    cache.put_text(key, "rows.tsv", _write_plain(content, file.format, header))
                copy = locate_file(path, location.root).file
                copied = replace(file, format="tsv", compression="", copy=copy, above=None)
            grids.append(Grid(copied, header, content, file.format))
    problems.raise_errors()
    return tuple(grids)


def _find_header(content: Content, form: str, settings: SourceSettings) -> Header:
    """Return the header of a table, going by its first rows; raise for a table of statistics only."""
    rows = _read_first(content, form, settings)
    is_text = FORMATS.get(form) is delimited
    if not rows or (is_text and delimited.is_chart(rows[0])):
        return Header(tuple(rows[0]) if rows else ())
    _refuse_statistics(content, rows)
    header = Header(tuple(rows[0]))
    if is_text and any(rows[1:2]) and all(map(_DASHES.fullmatch, filter(None, rows[1]))):
        raise content.make_error("it is a table of Markdown", "Say format: markdown in source.yml", 1)
    if is_text and settings.form not in {"totals", "outcomes"}:
        header = _find_levels(rows) or _find_step_columns(rows[0], settings) or header
    if header.labels == (UNNAMED,) and any(is_number(row[0]) for row in rows[header.height :]):
        message = f"the first column below {header.height} header rows has no name, and may be the step"
        raise content.make_error(message, 'Name it before it is written, as in df.index.name = "step"', 1)
    return header


def _read_first(content: Content, form: str, settings: SourceSettings) -> list[list[str]]:
    """Return the first rows of a table; whoever reads it next reports what is wrong with it."""
    with Diagnostics().collecting(), suppress(csv.Error):
        if FORMATS.get(form) is delimited:
            content.check()
            return [cells for _, cells in islice(read_lines(content, form), _ROWS_OF_A_LOOK)]
        if form in FORMATS:
            seen = FORMATS[form].look(
                content, form, tuple(get_mapped_columns(settings).values()), whole=False
            )
            return [
                [*seen.file.columns],
                *([cell or "" for cell in row] for row in seen.rows[:_ROWS_OF_A_LOOK]),
            ]
    return []


def _refuse_statistics(content: Content, rows: Sequence[Sequence[str]]) -> None:
    """Raise for what ``df.describe()`` of pandas writes, and for rows of statistics beside columns of names.

    The index of a summary is the first column, or in Parquet the last one, without a name.
    """
    header = [cell.casefold() for cell in rows[0]]
    unnamed = [index for index in {0, len(header) - 1} if header[index] in _NO_NAMES]
    columns = [[row[index].casefold() for row in rows[1:] if index < len(row)] for index in (0, *unnamed)]
    for names in (*columns, header if unnamed else []):
        if {*names} >= _SUMMARY and len(names) <= _MOST_STATISTICS:
            message = "this is a summary, as df.describe() of pandas writes it"
            advice = "Export the data themselves, as in df.to_csv() for the data frame df that it describes"
            raise content.make_error(message, advice, 1)
    if any(is_name_of(role, name) for name in header for role in ("metric", "value")):
        return
    body = [row for row in rows[1:] if len(row) == len(header) and is_number(row[-1])]
    for labels in zip(*body, strict=True):
        if name_statistics(list(filter(None, labels))):
            shown = quote_names(list(dict.fromkeys(filter(None, labels))))
            message = f"{shown} name rows, but are only read as names of columns"
            advice = "Write the table the other way round, as in df.T.to_csv() for a data frame df"
            raise content.make_error(message, advice)


def _find_levels(rows: Sequence[Sequence[str]]) -> Header | None:
    """Return a header of several rows, of which the first repeats labels or leaves them out, or None.

    Below them pandas names the index in a row of its own. Without one, the only name in the first column is
    that of the index, and several are those of the levels.
    """
    top = rows[0]
    repeats = len(set(top[1:])) < len(top) - 1 or "" in top[1:]
    for height, cells in enumerate(rows[1:_MOST_LEVELS], 1):
        index = cells[: cells.index("") if "" in cells else 0]
        if (
            index
            and not any(cells[len(index) :])
            and (repeats or any(is_name_of("step", one) for one in index))
        ):
            names = [next(filter(None, row[: len(index)]), "") for row in rows[:height]]
            return _build_levels(rows[:height], index, names, height + 1)
    height = next((place for place, row in enumerate(rows) if any(map(parse_reported, row[1:]))), 0)
    names = [row[0] for row in rows[:height]]
    if height < 2 or not repeats or any(name and not _is_usual(name) for name in names[1:]):  # noqa: PLR2004
        return None
    below = list(zip(*rows[1:height], strict=False))
    count = next((place for place, labels in enumerate(below) if place and any(labels)), 1)
    is_of_index = len(list(filter(None, names))) == 1
    index = ["".join(names) if is_of_index else UNNAMED, *top[1:count]]
    return _build_levels(rows[:height], index, [""] * height if is_of_index else names, height)


def _is_usual(name: str) -> bool:
    return any(is_name_of(role, name) for role in ROLE_NAMES) or name.casefold() in BENCHMARKS


def _build_levels(
    rows: Sequence[Sequence[str]], index: Sequence[str], names: Sequence[str], height: int
) -> Header | None:
    """Return the header of these rows, with merged cells filled; None if a column has no label."""
    levels = []
    for number, row in enumerate(rows, 1):
        labels = list(row[len(index) :])
        for place in range(1, len(labels) if number < len(rows) else 0):
            labels[place] = labels[place] or labels[place - 1]
        levels.append(Level(names[number - 1], tuple(labels)))
    if len({len(level.labels) for level in levels}) > 1:
        return None
    columns = [
        ", ".join(filter(None, labels)) for labels in zip(*(one.labels for one in levels), strict=True)
    ]
    return Header((*index, *columns), tuple(levels), height) if all(columns) else None


def _find_step_columns(top: Sequence[str], settings: SourceSettings) -> Header | None:
    """Return the header of a transposed table, with names at the left and a column for each step.

    Bare numbers in a row, such as 1, 2 and 3, may also be seeds or samples; ``form: long`` makes them steps.
    """
    if settings.form not in {None, "long"} or settings.wide not in {None, "series"}:
        return None
    parsed = [_STEP.fullmatch(cell) for cell in top]
    count = parsed.index(next(filter(None, parsed), None))
    found = [one for one in parsed[count:] if one]
    if not 0 < count == len(top) - len(found) < len(top) - 1 or not all(top):
        return None
    steps, words = [float(one["step"]) for one in found], {one["word"].casefold() for one in found}
    gaps = {after - step for step, after in pairwise(steps)}
    if len(words) > 1 or min(gaps) <= 0 or (words == {""} and gaps == {1} and settings.form != "long"):
        return None
    word = words.pop()
    name = word if is_name_of("step", word) else "step"
    return Header(tuple(top), (Level(name, tuple(one["step"] for one in found)),))


def _write_plain(content: Content, form: str, header: Header) -> str:
    """Return a table with several header rows as tab-separated text with one.

    A ``ReportError`` has rows of another length, and cells that are no numbers.
    """
    problems: list[Diagnostic] = []

    def write_row(line: int | None, cells: list[str]) -> list[str]:
        if len(cells) != len(header.names):
            message = f"the row has {len(cells)} cells where the header has {len(header.names)}"
            problems.append(content.make_problem(message, "Look for a missing delimiter", line))
        numbers = range(len(header.labels), len(cells)) if header.levels and not problems else ()
        for index in numbers:
            if fault := ESTIMATE.find_fault(cells[index]):
                message = f'"{cells[index]}" in column "{header.names[index]}" {fault[0]}'
                problems.append(content.make_problem(message, fault[1], line))
        return cells

    rows = (write_row(*line) for line in islice(read_lines(content, form), header.height, None))
    text = write_separated(content, chain([header.names], rows))
    if problems:
        raise ReportError(*limit_problems(problems))
    return text
