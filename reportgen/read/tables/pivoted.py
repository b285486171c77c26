"""Curve tables with several header rows, or with steps in their header, as long tables: a row for each value.

``DataFrame.to_csv`` writes a row for each level of the columns, with its name first, and a row with the names
of the index alone. A table is one of curves if the index has a step; others are read as tables of scores.
Transposed, with a column for each step, it has one header row.
"""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.directions import has_better_direction
from reportgen.core.errors import Diagnostics, ReportError
from reportgen.core.words import join_names
from reportgen.formats.cells import is_missing, is_number, parse_reported
from reportgen.formats.files import split_ending
from reportgen.formats.messages import limit_problems
from reportgen.formats.tables import FORMATS, delimited
from reportgen.formats.tables.delimited import write_separated
from reportgen.read.find import locate_file
from reportgen.read.tables.layout import is_name_of
from reportgen.read.tables.statistics import STATISTICS, name_statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.errors import Diagnostic
    from reportgen.core.model import SourceFile
    from reportgen.formats.files import Content
    from reportgen.formats.layout import FileLayout
    from reportgen.read.find import Location
    from reportgen.settings.source import SourceSettings


_MOST_LEVELS: Final = 8
# Of ``df.describe(include="all")``, with some percentiles more, and the name of the index.
_MOST_STATISTICS: Final = 20
_LARGEST_SUMMARY: Final = 100_000  # bytes
_NO_NAMES: Final = frozenset(("", "__index_level_0__"))
_ROWS_OF_A_LOOK: Final = 20
_STEP: Final = re.compile(
    r"(?P<word>step|iter|iteration|epoch|checkpoint|ckpt|)[ _=-]?(?P<step>\d+(\.\d+)?)", re.IGNORECASE
)
_ROLES: Final = ("run", "seed", "step", "metric")
# Names of statistics, and the column of a long table that holds each.
_COLUMNS: Final = {"value": "value", "se": "stderr", "sd": "std", "n": "n"}


class _Header(Struct, frozen=True):
    """Header of a pivot: names of the index, and of the levels, with the label of each column of values."""

    index: tuple[str, ...]
    levels: tuple[str, ...]  # empty for a level without a name
    labels: tuple[tuple[str, ...], ...]  # by level, then by column
    height: int  # number of header rows


def map_pivots(
    location: Location,
    settings: SourceSettings,
    files: Sequence[FileLayout],
    hashed: Sequence[SourceFile],
    cache: Cache,
) -> tuple[tuple[FileLayout, ...], SourceSettings]:
    """Write the values of pivots of curves to the cache; return all files, and the settings to read them.

    A ``ReportError`` has every cell that is not a number, and tables whose step has no name.
    """
    if settings.form in {"totals", "outcomes"}:
        return tuple(files), settings
    problems = Diagnostics()
    tables = []
    names: dict[str, None] = {}
    height, read_by = 0, settings.model_dump_json()
    for file, known in zip(files, hashed, strict=True):
        header, content = None, file.get_content(location.root)
        form = FORMATS.get(file.format)
        if form is delimited or (form and known.size <= _LARGEST_SUMMARY):
            key = cache.make_key("header of a pivot", file.path, file.format, known.sha256, read_by)
            with problems.collecting():
                header = _load_header(content, file.format, settings, cache, key)
        if header is None:
            tables.append(file)
            continue
        height = max(height, header.height)
        levels = zip(header.levels, header.labels, strict=True)
        names |= dict.fromkeys([*header.index, *(name for name, of in levels if not _holds_statistics(of))])
        key = cache.make_key("pivot", file.path, known.sha256, repr((file, header)))
        path = Path(cache.get_text_path(key, "rows.tsv"))
        with problems.collecting():
            if not path.exists():
                cache.put_text(key, "rows.tsv", _write_rows(content, file, header))
        copy = locate_file(path, location.root).file
        tables.append(replace(file, format="tsv", compression="", copy=copy))
    problems.raise_errors()
    if not names:
        return tuple(files), settings
    settings = _complete_settings(settings, tuple(names))
    return tuple(tables), settings.model_copy(update={"wide": "series"} if height > 1 else {})


def _complete_settings(settings: SourceSettings, names: Sequence[str]) -> SourceSettings:
    """Return the settings of long tables; names of levels without another role are those of the series."""
    columns = settings.columns
    taken = columns.model_dump(exclude_none=True).values()
    labels = [name for name in names if name and name not in taken]
    labels = [name for name in labels if not any(is_name_of(role, name) for role in _ROLES)]
    if labels and not (columns.series or any(is_name_of("series", name) for name in labels)):
        columns = columns.model_copy(update={"series": tuple(labels)})
    return settings.model_copy(update={"form": "long", "columns": columns})


def _load_header(
    content: Content, name: str, settings: SourceSettings, cache: Cache, key: str
) -> _Header | None:
    """Return the header of an unchanged file from the cache, otherwise from the file."""
    headers = cache.load(key, list[_Header])
    if headers is None:
        found = _find_header(content, name, settings)
        headers = [found] if found else []
        cache.store(key, headers)
    return headers[0] if headers else None


def _find_header(content: Content, name: str, settings: SourceSettings) -> _Header | None:
    """Return the header of a pivot with a step in its index.

    Raises for one whose step may have no name, and for a table with a row for each statistic, unless it is a
    long one of values.
    """
    form = FORMATS.get(name)
    rows: list[list[str]] = []
    # Whoever reads it as another table reports what is wrong with it.
    with Diagnostics().collecting(), suppress(csv.Error):
        if form is delimited:
            content.check()
            rows = [cells for _, cells in islice(delimited.read_grid(content, name), _ROWS_OF_A_LOOK)]
        elif form:
            seen = form.look(content, name, (), whole=False)
            rows = [list(seen.file.columns), *([cell or "" for cell in row] for row in seen.rows)]
    _refuse_summary(content, rows)
    if form is not delimited:
        return None
    top = rows[0] if rows else []
    body = [row for row in rows[1:] if len(row) == len(top) and is_number(row[-1])]
    is_long = any(is_name_of(role, name) for name in top for role in ("metric", "value"))
    for labels in zip(*body, strict=True) if not is_long else ():
        if name_statistics(list(filter(None, labels))):
            shown = join_names([f'"{name}"' for name in dict.fromkeys(filter(None, labels))])
            message = f"{shown} name rows, but are only read as names of columns"
            advice = "Write the table the other way round, as in df.T.to_csv() for a data frame df"
            raise content.make_error(message, advice)
    if header := _find_step_columns(rows, settings):
        return header
    for place, cells in enumerate(rows[:_MOST_LEVELS]):
        count = cells.index("") if "" in cells else len(cells)
        named = any(name == settings.columns.step or is_name_of("step", name) for name in cells[:count])
        if place and named and count < len(cells) and not any(cells[count:]):
            return _build_header(cells[:count], rows[:place], len(cells))
    return None if settings.form or settings.wide else _find_step_below(content, rows)


def _find_step_below(content: Content, rows: Sequence[Sequence[str]]) -> _Header | None:
    """Return the header of a pivot whose index has no row for its name, if its numbers rise as steps do.

    Its name may be in one of the header rows, as people write it; raises if it has none.
    """
    height = next((place for place, cells in enumerate(rows) if is_number(cells[0])), 0)
    top, steps = rows[0] if rows else [], [cells[0] for cells in rows[height:]]
    is_pivot = height > 1 and len(set(top[1:])) < len(top[1:]) and all(map(is_number, steps))
    if not is_pivot or any(float(step) >= float(after) for step, after in pairwise(steps)):
        return None
    names = [cells[0] for cells in rows[:height] if cells[0]]
    if len(names) == 1 and is_name_of("step", names[0]):
        header = _build_header(names, [["", *cells[1:]] for cells in rows[:height]], len(top))
        return replace(header, levels=_name_levels(header), height=height) if header else None
    message = f"the first column below {height} header rows has no name, and may be the step"
    advice = 'Name it before it is written, as in df.index.name = "step"'
    raise content.make_error(message, f"{advice}; if its rows are not steps, say form: wide", 1)


def _name_levels(header: _Header) -> tuple[str, ...]:
    """Return names for two levels without any: metrics are above, unless only those below look like some."""
    match [any(map(has_better_direction, labels)) for labels in header.labels]:
        case [False, True]:
            return "series", "metric"
        case [_, _]:
            return "metric", "series"
    return header.levels


def _refuse_summary(content: Content, rows: Sequence[Sequence[str]]) -> None:
    """Raise for what ``df.describe()`` of pandas writes: a row, or transposed a column, a statistic.

    Its index is the first column, or in Parquet the last one, without a name.
    """
    header = [cell.casefold() for cell in rows[0]] if rows else []
    unnamed = [index for index in {0, len(header) - 1} if header and header[index] in _NO_NAMES]
    columns = [[row[index].casefold() for row in rows[1:] if index < len(row)] for index in (0, *unnamed)]
    for names in (*columns, header if unnamed else []):
        if {"count", "mean", "std", "min", "max"} <= {*names} and len(names) <= _MOST_STATISTICS:
            shown = join_names([name for name in names if name not in _NO_NAMES], most=4)
            message = f"this is a summary, as df.describe() of pandas writes it: {shown}"
            advice = "Export the data themselves, as in df.to_csv() for the data frame df that it describes"
            raise content.make_error(message, advice, 1)


def _find_step_columns(rows: Sequence[Sequence[str]], settings: SourceSettings) -> _Header | None:
    """Return the header of a transposed table, with names at the left and a column for each step.

    Bare numbers in a row, such as 1, 2 and 3, may also be seeds or samples; ``form: long`` makes them steps.
    """
    if not rows or settings.form not in {None, "long"} or settings.wide not in {None, "series"}:
        return None
    parsed = [_STEP.fullmatch(cell) for cell in rows[0]]
    count = parsed.index(next(filter(None, parsed), None))
    found = [one for one in parsed[count:] if one]
    if not 0 < count == len(rows[0]) - len(found) < len(rows[0]) - 1 or not all(rows[0]):
        return None
    steps, words = [float(one["step"]) for one in found], {one["word"].casefold() for one in found}
    gaps = {after - step for step, after in pairwise(steps)}
    is_open = words == {""} and gaps == {1} and settings.form != "long"
    if len(words) > 1 or min(gaps) <= 0 or is_open:
        return None
    word = words.pop()
    name = word if is_name_of("step", word) else "step"
    return _Header(tuple(rows[0][:count]), (name,), (tuple(one["step"] for one in found),), 1)


def _build_header(index: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> _Header | None:
    """Return the header of these rows, with merged cells filled; None if a column has no label."""
    labels = []
    for cells in rows:
        filled = list(cells[len(index) :])
        for place in range(1, len(filled)):
            filled[place] = filled[place] or filled[place - 1]
        if len(cells) != width or not all(filled):
            return None
        labels.append(tuple(filled))
    levels = tuple(next(filter(None, cells[: len(index)]), "") for cells in rows)
    return _Header(tuple(index), levels, tuple(labels), len(rows) + 1)


class _Columns(Struct, frozen=True):
    """Columns of the long table: those of names, those of values, and where the cells of each row are."""

    names: tuple[str, ...]
    parts: tuple[str, ...]  # keys of ``_COLUMNS``
    cells: dict[tuple[str, ...], dict[str, int]]  # names in a row: the index of the cell of each part


def _plan_columns(header: _Header, metric: str) -> _Columns:
    """Return the columns of a pivot as a long table; ``metric`` names one that no level names."""
    levels = dict(enumerate(header.levels))
    kinds = ["value"] * len(header.labels[0])
    statistics = next((place for place in levels if _holds_statistics(header.labels[place])), None)
    if statistics is not None:
        del levels[statistics]
        kinds = [STATISTICS[label.casefold()] for label in header.labels[statistics]]
    unnamed = [place for place, name in levels.items() if not name]
    is_named = any(is_name_of("metric", name) for name in (*levels.values(), *header.index))
    if unnamed and not is_named:
        levels[unnamed[0]] = "metric"
    more = () if unnamed or is_named else (metric,)
    names = [*(name or f"level {place + 1}" for place, name in levels.items()), *("metric" for _ in more)]
    cells: dict[tuple[str, ...], dict[str, int]] = {}
    for place, kind in enumerate(kinds):
        key = (*(header.labels[level][place] for level in levels), *more)
        cells.setdefault(key, {})[kind] = len(header.index) + place
    return _Columns(tuple(names), tuple(kind for kind in _COLUMNS if kind in kinds), cells)


def _write_rows(content: Content, file: FileLayout, header: _Header) -> str:
    """Return the values of a pivot as tab-separated text, a row for each."""
    columns = _plan_columns(header, split_ending(Path(file.path))[0])
    width = len(header.index) + len(header.labels[0])
    problems: list[Diagnostic] = []

    def list_rows() -> Iterator[list[str]]:
        for line, cells in islice(delimited.read_grid(content, file.format), header.height, None):
            if len(cells) != width:
                message = f"the row has {len(cells)} cells where the header has {width}"
                problems.append(content.make_problem(message, "Look for a missing delimiter", line))
                continue
            for key, places in columns.cells.items():
                values = [cells[places[part]] if part in places else "" for part in columns.parts]
                for value in values:
                    if not (is_missing(value) or is_number(value) or parse_reported(value)):
                        message = f'"{value}" in the column of {", ".join(key)} is not a number'
                        problems.append(content.make_problem(message, "Mend it, or leave it empty", line))
                if not is_missing(values[0]):
                    yield [*cells[: len(header.index)], *key, *values]

    above = [*header.index, *columns.names, *(_COLUMNS[part] for part in columns.parts)]
    text = write_separated(content, chain([above], list_rows()))
    if problems:
        raise ReportError(*limit_problems(problems))
    return text


def _holds_statistics(labels: Sequence[str]) -> bool:
    """Return whether labels say what numbers are: a value, and how sure it is."""
    kinds = {STATISTICS.get(label.casefold()) for label in labels}
    return "value" in kinds and kinds <= _COLUMNS.keys()
