"""Tables of ``form: runs``: a row is a finished run with its settings and one value of each metric.

They are read as what a logger wrote. The only step of each run stands for none, and no page shows it.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.directions import has_better_direction
from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.words import join_names
from reportgen.formats.cells import MOST_EXACT, NUMERIC, is_missing, make_share, parse_reported
from reportgen.formats.layout import ENDED_WELL, Row
from reportgen.formats.messages import limit_problems, list_names
from reportgen.formats.registry import FoundUnits
from reportgen.formats.run_data import MetricsBuilder, parse_number_text
from reportgen.formats.runs import LoggedRun, Unit
from reportgen.formats.sql import check_texts
from reportgen.formats.tables import FORMATS
from reportgen.read.find import locate_file
from reportgen.read.runs.imported import ImportedRuns, ImportedUnit, survey_runs
from reportgen.read.runs.labels import Candidate, find_states, is_experiment_setting, is_metadata
from reportgen.read.runs.names import UNNAMED, Naming, RunName
from reportgen.read.runs.stored import UnitWriter
from reportgen.read.tables.check import NUMBER, find_wrong_cells
from reportgen.read.tables.layout import find_column, get_series_parts
from reportgen.read.tables.mapped_json import map_tables
from reportgen.read.tables.notations import check_setting_names, select_metrics
from reportgen.read.tables.survey import survey
from reportgen.settings.source import Columns
from reportgen.settings.yaml_tree import write_flow, write_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.cache import Cache
    from reportgen.core.model import SourceFile
    from reportgen.formats.layout import FileLayout
    from reportgen.read.find import Location
    from reportgen.read.tables.layout import Layout, Survey
    from reportgen.settings.source import SourceSettings


_NO_STEP: Final = 0.0


class _Entry(Struct, frozen=True):
    """A row of a table, with its cells, also those that its file gives, and the name of its run."""

    file: FileLayout
    row: Row
    cells: Mapping[str, str]  # without missing ones
    name: RunName
    is_numbered: bool = False  # whether the run has the number of its row, as others have its name


class _Columns(Struct, frozen=True):
    """The columns of run tables: those that name runs, those of metrics, and other numbers."""

    series: tuple[str, ...]
    run: str | None
    seed: str | None
    metrics: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    percentages: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Those that name runs."""
        return (*self.series, *filter(None, (self.run, self.seed)))


def read_finished_runs(
    location: Location,
    settings: SourceSettings,
    files: Sequence[FileLayout],
    hashed: Sequence[SourceFile],
    cache: Cache,
) -> tuple[ImportedRuns, Survey]:
    """Return the runs of tables, named by their columns, and their survey.

    Raises a ``ReportError`` for unknown columns, cells of metrics that are no numbers, and rows of one run.
    """
    root, place = location.root, location.place
    warnings: tuple[Diagnostic, ...] = ()
    if settings.format == "mapped":
        tables = map_tables(location, settings, files, hashed, cache)
        files, settings, warnings = tables.files, tables.settings, tables.warnings
    found = survey(root, files, settings, place)
    check_setting_names(found, settings, place)  # refuses metrics that no column has
    columns = _find_columns(found.layout, settings)
    if wrong := find_wrong_cells(root, found.layout.files, dict.fromkeys(columns.metrics, NUMBER)):
        raise ReportError(*wrong)
    entries = list(_number_rows(_read_entries(root, found.layout, columns, settings)))
    _check_states(location, entries, columns, settings)
    _check_repeats(root, entries, columns)
    free = (name for name, kind in found.layout.kinds.items() if kind in NUMERIC)
    free = (name for name in free if name not in {*columns.names, *columns.metrics})
    columns = replace(columns, numbers=tuple(name for name in free if _holds_numbers(entries, name)))
    units = _write_units(cache, root, hashed, entries, columns)
    runs = _make_runs(location, settings, units, entries, columns)
    surveyed = survey_runs(runs, cache)
    configs = ({n: t for n, t in one.items() if n not in columns.names} for one in surveyed.layout.settings)
    layout = replace(surveyed.layout, settings=tuple(configs), numbers=columns.numbers)
    surveyed = replace(surveyed, layout=layout, warnings=(*warnings, *found.warnings))
    return runs, check_setting_names(surveyed, settings, place)


def _find_columns(layout: Layout, settings: SourceSettings) -> _Columns:
    roles = layout.roles
    series = get_series_parts(settings) or tuple(filter(None, [roles.series]))
    raw = select_metrics((name for name in layout.kinds if name not in series), settings).values()
    metrics = tuple(name for raws in raw for name in raws)
    return _Columns(series, roles.run, roles.seed, metrics, percentages=frozenset(layout.percentages))


def _read_entries(root: Path, layout: Layout, columns: _Columns, settings: SourceSettings) -> list[_Entry]:
    """Return the rows that ``filter:`` accepts."""
    entries = list[_Entry]()
    for file in layout.files:
        given = {name: cells[0] for name, cells in file.given}
        read = FORMATS[file.format].read_rows(file.get_content(root), file, tuple(filter(None, file.columns)))
        for row in read:
            if isinstance(row, Row):
                every = {**given, **row.cells}
                cells = {name: cell for name, cell in every.items() if cell and not is_missing(cell)}
                entries.append(_Entry(file, row, cells, _name_run(cells, columns, file.label)))
    for name, accepted in settings.filter.items():
        column = find_column(name, tuple(layout.kinds)) or name
        entries = [*compress(entries, check_texts([one.cells.get(column) for one in entries], accepted))]
    return entries


def _number_rows(entries: Sequence[_Entry]) -> Iterator[_Entry]:
    """Yield rows, with their numbers as runs where series and seed do not tell these apart."""
    counts = Counter((one.name.series, one.name.run) for one in entries)
    several = len({one.file.path for one in entries}) > 1
    for one in entries:
        run, is_numbered = one.name.run, counts[one.name.series, one.name.run] > 1
        if is_numbered:
            place = f"{one.file.label} row" if several else "row"
            run = f"{run}, {place} {one.row.number}".removeprefix(", ")
        yield replace(one, name=replace(one.name, run=run), is_numbered=is_numbered)


def _name_run(cells: Mapping[str, str], columns: _Columns, label: str) -> RunName:
    first, *others = (cells.get(name, "") for name in columns.series or ("",))
    pairs = zip(columns.series[1:], others, strict=False)
    parts = [first, *(f"{name}={cell}" for name, cell in pairs if cell)]
    series = ", ".join(filter(None, parts)) or (UNNAMED if columns.series else label)
    seed = cells.get(columns.seed or "")
    return RunName(series, cells.get(columns.run or "", seed or ""), seed)


def _holds_numbers(entries: Sequence[_Entry], name: str) -> bool:
    return all(_parse(one.cells[name]) is not None for one in entries if name in one.cells)


def _parse(cell: str) -> float | None:
    number = parse_number_text(cell)
    found = parse_reported(cell) if number is None else None
    return found.value if found and found.spread is None else number


def _check_states(
    location: Location, entries: Sequence[_Entry], columns: _Columns, settings: SourceSettings
) -> None:
    """Refuse runs with values that ended in several ways: a crashed one has a last value, too."""
    measured = [one.cells for one in entries if not one.cells.keys().isdisjoint(columns.metrics)]
    for name in find_states(dict.fromkeys(name for cells in measured for name in cells)):
        states = dict.fromkeys(cells.get(name, "empty") for cells in measured)
        if len(states) > 1 and name not in {*settings.filter, *columns.names}:
            message = (
                f'the runs differ in "{name}": {list_names(states)}; a crashed one has a last value, too'
            )
            ended = [state for state in states if state.casefold() in ENDED_WELL]
            line = f"filter: {write_flow({name: ended})}"
            advice = f"Keep those that ended well in {line} in source.yml"
            if not ended:
                advice = f"Choose the states that count with filter: and {write_scalar(name)} in source.yml"
            raise ReportError(Diagnostic(location.place, message, advice, Stage.DATA))


def _check_repeats(root: Path, entries: Sequence[_Entry], columns: _Columns) -> None:
    """Refuse rows of one run, as its columns name it, that no setting tells apart.

    Without a column of runs or seeds, each row is a run of its own.
    """
    if not (columns.run or columns.seed):
        return
    known = dict.fromkeys(name for one in entries for name in one.cells)
    settings = [name for name in known if name not in columns.metrics and _is_setting(name)]
    first: dict[tuple[str | None, ...], _Entry] = {}
    problems = []
    for one in entries:
        key = tuple(one.cells.get(name) for name in (*columns.names, *settings))
        other = first.setdefault((one.name.series, *key), one)
        if other is not one:
            problems.append(_explain_repeat(root, other, one, columns, known))
    if problems:
        raise ReportError(*limit_problems(problems))


def _is_setting(name: str) -> bool:
    """Return whether a column may be what tells runs apart, and neither a date nor a result."""
    return is_experiment_setting(name) and not (is_metadata(name) or has_better_direction(name))


def _get_line(entry: _Entry) -> int:
    return entry.row.line + (entry.file.above or 0) if entry.row.line else 0


def _explain_repeat(
    root: Path, first: _Entry, second: _Entry, columns: _Columns, known: Mapping[str, None]
) -> Diagnostic:
    named = join_names([f'{name} "{first.cells[name]}"' for name in columns.names if name in first.cells])
    differing = [name for name in known if first.cells.get(name) != second.cells.get(name)]
    where = f"{'line' if first.row.line else 'row'} {_get_line(first) or first.row.number}"
    where += f" of {first.file.path}" if first.file != second.file else ""
    own = "" if second.row.line else f"row {second.row.number}: "
    but = f", and differs in {list_names(differing)}" if differing else ", and is equal to it"
    message = f"{own}the row is of the same run as {where} ({named}){but}"
    free = next((name for name in differing if name not in columns.metrics), "NAME")
    advice = f"Remove one of the two, or name what distinguishes runs, as in columns: {{run: {free}}}"
    return second.file.get_content(root).make_problem(message, advice, second.row.line)


def _make_runs(
    location: Location,
    settings: SourceSettings,
    units: Sequence[ImportedUnit],
    entries: Sequence[_Entry],
    columns: _Columns,
) -> ImportedRuns:
    labels = [{name: one.cells.get(name) for name in columns.names} for one in entries]
    stored = (run for unit in units for run in unit.stored.runs)
    candidates = (Candidate(run, own, "", "") for run, own in zip(stored, labels, strict=True))
    words = {name: f'the column "{name}"' for name in columns.names}
    by = "".join(words[name] for name in columns.series)
    if len(columns.series) > 1:
        several = list_names(f'"{name}"' for name in columns.series)
        by = f"the columns {several}"
    naming = Naming(tuple(one.name for one in entries), by, words.get(columns.seed or "", ""))
    # Where settings alone tell runs apart, what names the series does not say that they are repetitions.
    series = () if any(one.is_numbered for one in entries) else columns.series
    stated = {"columns": Columns(), "filter": {}, "series_from": series or None, "unit": None}
    found = FoundUnits(tuple(one.unit for one in units))
    return ImportedRuns(
        location, settings.model_copy(update=stated), found, tuple(units), tuple(candidates), naming
    )


def _write_units(
    cache: Cache, root: Path, hashed: Sequence[SourceFile], entries: Sequence[_Entry], columns: _Columns
) -> list[ImportedUnit]:
    """Return the rows of each file as runs, whose values are in the cache."""
    units = []
    for file in hashed:
        path = root / file.path
        unit = Unit(path, (path,), "runs")
        own = [one for one in entries if one.file.path == file.path]
        key = cache.make_key("finished runs", file.path, ascii((own, columns)))
        stored = UnitWriter(cache, key, root).write(_make_run(path, one, columns) for one in own)
        parts = (root / cache.get_text_path(key, part.name) for part in stored.parts)
        copies = tuple(locate_file(part, root).file for part in parts)
        units.append(ImportedUnit(unit, (file,), stored, copies))
    return units


def _make_run(path: Path, entry: _Entry, columns: _Columns) -> LoggedRun:
    """Return a row as a run, whose settings are all columns that are no metrics and no names."""
    builder, config = MetricsBuilder(path), dict[str, str | float]()
    for name in (*columns.metrics, *columns.numbers):
        cell = entry.cells.get(name, "")
        value = _parse(cell)
        if value is not None and name in columns.percentages and "%" not in cell:
            value = make_share(value)
        builder.add(name, _NO_STEP, math.nan if value is None else value)
    for name, cell in entry.cells.items():
        if name not in {*columns.metrics, *columns.names}:
            number = None if cell.isdecimal() else parse_number_text(cell)
            is_whole = number is not None and number.is_integer() and abs(number) <= MOST_EXACT
            config[name] = cell if number is None else int(number) if is_whole else number
    return LoggedRun(path, config=config, metrics=builder.build(), step_name="")
