"""Wide tables of scores, as papers and pandas write them, as totals: a row for each score.

The rows are written to the cache as Parquet, and read from there like any table of totals.
"""

from __future__ import annotations

from collections import Counter
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, Stage
from reportgen.core.score_names import is_metric
from reportgen.core.words import join_names, quote_names
from reportgen.formats import sql
from reportgen.formats.cells import parse_reported
from reportgen.formats.layout import ROLE_NAMES
from reportgen.formats.messages import limit_problems, suggest_names
from reportgen.read.find import locate_file
from reportgen.read.runs.stored import StoredRun, name_part, write_part
from reportgen.read.tables.layout import get_series_parts
from reportgen.read.tables.mapped_json import warn_differing
from reportgen.read.tables.statistics import HALF_WIDTH, SD_ALONE, ask_spread
from reportgen.read.tables.wide_grid import (
    UNNAMED,
    chooses_rows,
    find_across,
    find_benchmark_label,
    find_filtered,
    find_label,
    find_only_label,
    is_empty,
    is_table_of_scores,
    join_labels,
    read_grid,
)
from reportgen.settings.source import Columns
from reportgen.settings.yaml_tree import write_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.model import SourceFile
    from reportgen.formats.cells import Reported
    from reportgen.formats.layout import FileLayout
    from reportgen.read.find import Location
    from reportgen.read.tables.wide_grid import Across, Grid, ScoreColumn
    from reportgen.settings.source import SourceSettings


# Larger tables are read as wide ones only where ``form: wide`` says so.
_LARGEST_FOUND: Final = 256 << 10
_STEPS: Final = frozenset(
    (*ROLE_NAMES["step"], *ROLE_NAMES["metric"], "problem", "problem_id", "question_id")
)


_ROLES: Final = ("series", "benchmark", "metric", "seed", "score", "stderr", "n")


class WideTables(Struct, frozen=True):
    """Wide tables as totals with their rows in the cache, the settings to read these, and warnings."""

    files: tuple[FileLayout, ...]
    settings: SourceSettings
    warnings: tuple[Diagnostic, ...]


def map_wide_tables(
    location: Location,
    settings: SourceSettings,
    files: Sequence[FileLayout],
    hashed: Sequence[SourceFile],
    cache: Cache,
) -> WideTables | None:
    """Write the scores of wide tables to the cache, or return None if the files are no such tables.

    Where ``source.yml`` does not say so, only small tables count whose rows and columns are named as scores
    are. A ``ReportError`` has every cell that is no score, and whatever the tables leave open.
    """
    if settings.form not in {None, "wide", "totals"} or settings.columns.score or settings.columns.step:
        return None
    stated = settings.form == "wide" or settings.wide is not None
    if not stated and sum(file.size for file in hashed) > _LARGEST_FOUND:
        return None
    if not (grids := _read_grids(location, settings, files, stated=stated)):
        return None
    problems = Diagnostics()
    tables, warnings, names, runs = [], list[Diagnostic](), set[str](), list[StoredRun]()
    for grid, file, known in zip(grids, files, hashed, strict=True):
        with problems.collecting():
            reader = _GridReader(grid, settings, location)
            columns = reader.read()
            runs, warnings = runs + reader.list_runs(), warnings + reader.warnings
            key = cache.make_key("wide", file.path, known.sha256, settings.model_dump_json())
            if columns:
                names |= columns.keys()
                copy = locate_file(_write_columns(columns, key, cache), location.root).file
                tables.append(replace(file, format="parquet", compression="", copy=copy))
    problems.raise_errors()
    if not tables:
        step = "Check filter: and metrics: in source.yml"
        raise ReportError(Diagnostic(location.place, "no score is left of the tables", step, Stage.DATA))
    warnings += warn_differing(runs, settings, find_label(grids[0], "series", settings) or "")
    update = {
        "form": "totals",
        "columns": Columns(**{role: role for role in _ROLES if role in names}),
        "wide": reader.across,
        "filter": reader.filter,
        "metrics": None,
        "rename_metrics": {},
    }
    return WideTables(tuple(tables), settings.model_copy(update=update), tuple(warnings))


def _read_grids(
    location: Location, settings: SourceSettings, files: Sequence[FileLayout], *, stated: bool
) -> list[Grid]:
    """Return the tables as grids; none if one has steps, or is not recognised as a table of scores.

    A ``ReportError`` has the names in ``metrics`` that no table has.
    """
    grids = []
    for file in files:
        content = file.get_content(location.root)
        grid = None
        # Whoever reads it as another table reports what is wrong with it.
        with Diagnostics().collecting():
            grid = read_grid(content, file, _STEPS, settings)
        if grid and (parts := get_series_parts(settings)):
            grid = join_labels(grid, parts)
        if grid is None:
            return []
        if not stated and not is_table_of_scores(grid, settings):
            return []
        grids.append(grid)
    _check_metrics(grids, settings, location)
    if not (stated or settings.metrics):
        for grid in grids:
            _check_scores(grid, settings)
    return grids


def _write_columns(columns: dict[str, list[str | None]], key: str, cache: Cache) -> Path:
    """Write columns to the cache, unless it has them, and return the file."""
    name = name_part(0)
    path = Path(cache.get_text_path(key, name))
    if not path.exists():
        cells = {f"c{index}": np.array(column, object) for index, column in enumerate(columns.values())}
        write_part(cache, key, name, cells, {name: f"c{index}" for index, name in enumerate(columns)})
    return path


def _check_scores(grid: Grid, settings: SourceSettings) -> None:
    """Refuse a table that nothing describes if its numbers seem to be no scores, or its columns no series."""
    names, message, step = [one.name for one in grid.scores], "may be counts or settings", ""
    across, label = find_across(grid, settings, find_only_label(grid)), find_benchmark_label(grid, settings)
    if label and (metric := next(filter(is_metric, names), "")):
        message = "may be metrics of one series"
        score = f"form: totals and columns: {{score: {write_scalar(metric)}}}"
        step = f"If so, say {score}; if each is a series, say wide: series"
    elif label and not chooses_rows(grid, label, settings):
        names, found = [*dict.fromkeys(grid.get_cells(label))], grid.list_rows(label)[None]
        step = "" if found else f"If they are scores, say filter: {{benchmark: {_write_names(names)}}}"
    elif across == "benchmarks" and not grid.find_scores(across):
        step = f"If they are scores, say metrics: {_write_names(names)}"
    if step:
        message = f"{quote_names(names)} {message}"
        raise ReportError(grid.content.make_problem(message, f"{step} in source.yml", 1))


def _check_metrics(grids: Sequence[Grid], settings: SourceSettings, location: Location) -> None:
    """Refuse names in ``metrics`` that no table has as a column of scores."""
    columns = list(dict.fromkeys(one.name for grid in grids for one in grid.scores))
    known = {*columns, *(settings.rename_metrics.get(name, name) for name in columns)}
    problems = [
        Diagnostic(
            location.place,
            f'metrics: there is no column of scores "{name}"',
            suggest_names(name, columns, "There are"),
            Stage.DATA,
        )
        for name in settings.metrics or ()
        if name not in known
    ]
    if problems:
        raise ReportError(*problems)


def _write_names(names: Sequence[str]) -> str:
    """Return names as a list in YAML."""
    return f"[{', '.join(map(write_scalar, names))}]"


class _GridReader:
    """Reader of one grid into columns of totals."""

    def __init__(self, grid: Grid, settings: SourceSettings, location: Location) -> None:
        rows = grid.rows
        self.filter = dict(settings.filter)  # those of other columns
        of_rows = find_benchmark_label(grid, settings)
        for name, accepted in settings.filter.items():
            if label := find_filtered(name, grid, of_rows):
                del self.filter[name]
                cells = [row[grid.labels[label]] for _, row in rows]
                rows = tuple(compress(rows, sql.check_texts(cells, accepted)))
        self._grid, self._settings, self._location = replace(grid, rows=rows), settings, location
        self.warnings: list[Diagnostic] = []
        self.across = find_across(self._grid, settings, find_only_label(self._grid))
        self._columns = [
            replace(one, name=settings.rename_metrics.get(one.name, one.name))
            for one in grid.scores
            if settings.metrics is None
            or {one.name, settings.rename_metrics.get(one.name)} & {*settings.metrics}
        ]
        # A column n holds the number behind every score of its row.
        counts = [one for one in grid.scores if one.name == (settings.columns.n or "n")]
        self._count_column = counts[0].index if counts else None
        self._means, self._described = (
            [] if settings.metrics else self._grid.find_others(self.across, means=means)
            for means in (True, False)
        )
        others = {one.index for one in (*counts, *self._means, *self._described)}
        self._columns = [one for one in self._columns if one.index not in others]
        if of_rows and chooses_rows(grid, of_rows, settings):
            of_rows = None  # the rows are chosen
        found = self._grid.list_rows(of_rows) if of_rows else {None: []}
        self._other_rows: tuple[list[str], list[str]] = ([], [])
        self._rows = found[None]
        if of_rows and self._rows and (left_out := {*found[True], *found[False]}):
            self._other_rows = found[True], found[False]
            at = self._grid.labels[of_rows]
            rows = tuple(row for row in self._grid.rows if row[1][at] not in left_out)
            self._grid = replace(self._grid, rows=rows)

    def read(self) -> dict[str, list[str | None]]:
        """Return the columns of the totals, or raise a ``ReportError`` of all that is wrong or left open."""
        label = find_only_label(self._grid)
        across = self.across
        if across is None:
            shown = join_names([column.name for column in self._columns[:3]])
            where = f'the column "{label}"' if label else quote_names(list(self._grid.labels)) or "no column"
            message = f"it is unclear whether the columns ({shown}) are series or benchmarks"
            step = "Say wide: series or wide: benchmarks in source.yml"
            raise ReportError(self._diagnose(f"{message}: {where} does not say", step, 1))
        roles = self._find_roles(across, label)
        problems = [*self._find_repeated_rows(roles), *self._find_wrong_cells()]
        if self._settings.interval is None:
            # The first ± of which neither the table nor ``source.yml`` says what it is.
            for line, column, one in self._iterate_scores():
                if one.spread is not None or column.spread_kind == "±":
                    problems.append(ask_spread(self._grid.content, column.name, line))
                    break
        if problems:
            raise ReportError(*limit_problems(problems))
        named = f"metrics: {_write_names([one.name for one in self._columns])}"
        self._warn_left_out("column", self._find_unused(roles), [one.name for one in self._means], named)
        means, others = self._other_rows
        self._warn_left_out("row", others, means, f"filter: {{benchmark: {_write_names(self._rows)}}}")
        return self._melt(across, roles)

    def list_runs(self) -> list[StoredRun]:
        """Return the series that have one row here, with the cells of it that are no scores."""
        grid, label = self._grid, find_label(self._grid, "series", self._settings)
        if label is None or self._settings.columns.series:
            return []  # what is stated is what is compared
        names = Counter(grid.get_cells(label))
        used = {one.index for one in (*self._columns, *self._means)}
        others = {name: index for name, index in grid.labels.items() if name != label}
        others |= {one.name: one.index for one in grid.scores if one.index not in used}
        path = grid.content.name
        return [
            StoredRun(
                path, "", model=cells[grid.labels[label]], protocol={n: cells[i] for n, i in others.items()}
            )
            for _, cells in grid.rows
            if names[cells[grid.labels[label]]] == 1
        ]

    def _warn_left_out(self, noun: str, others: list[str], means: list[str], named: str) -> None:
        """Warn of columns or rows without scores, and of means over others; ``named`` names the rest."""
        confirm = f"To confirm it, say {named}, with further names if they are scores, in source.yml"
        for names, one, several in (
            (others, "is not known to hold scores and is", "are not known to hold scores and are"),
            (means, "is a mean of others and is", "are means of others and are"),
        ):
            if names:
                what = f"{noun}{'s' * (len(names) > 1)} {quote_names(names)}"
                message = f"the {what} {one if len(names) == 1 else several} left out"
                self.warnings.append(replace(self._diagnose(message, confirm, 1), severity=Severity.WARNING))

    def _find_unused(self, roles: dict[str, str]) -> list[str]:
        """Return the columns that are neither scores nor names, unless ``metrics`` or ``filter`` says so."""
        if self._settings.metrics is not None:
            return []
        used = {*_ROLES, UNNAMED, *map(str.casefold, (*roles.values(), *self._settings.filter))}
        labels = [name for name in self._grid.labels if name.casefold() not in used]
        return [*labels, *(one.name for one in self._described)]

    def _diagnose(self, message: str, step: str, line: int | None = None) -> Diagnostic:
        return self._grid.content.make_problem(message, step, line)

    def _find_roles(self, across: Across, label: str | None) -> dict[str, str]:
        """Return the label column of each role; raise if a role that is needed has none."""
        roles: dict[str, str] = {}
        for part in ("series", "benchmark"):
            across_part = {"series": "series", "benchmarks": "benchmark", "metrics": ""}[across]
            if part != across_part:
                found = find_label(self._grid, part, self._settings) or (
                    label if across != "metrics" else None
                )
                if found is not None:
                    roles[part] = found
        for part in ("seed", "run"):
            named = {name.casefold(): name for name in self._grid.labels}
            if name := getattr(self._settings.columns, part) or named.get(part):
                roles[part] = name
        if across != "series" and "series" not in roles:
            message = (
                f"no column names the series; there are {quote_names(list(self._grid.labels)) or 'none'}"
            )
            step = "Name it in source.yml, as in columns: {series: NAME}"
            raise ReportError(self._diagnose(message, step, 1))
        return roles

    def _find_repeated_rows(self, roles: dict[str, str]) -> Iterator[Diagnostic]:
        """Yield rows of one name, which other columns of words may tell apart."""
        indices = [self._grid.labels[name] for name in roles.values()]
        first: dict[tuple[str, ...], int | None] = {}
        others = [name for name in self._grid.labels if name not in roles.values()]
        for line, cells in self._grid.rows:
            key = tuple(cells[index] for index in indices)
            if self._repeats_header(cells):
                continue
            if key in first:
                shown = join_names([cell for cell in key if cell]) or "without a name"
                message = f"a second row of {shown}: the first is line {first[key]}"
                step = "Leave one out, or name a column that tells them apart, such as columns: {seed: NAME}"
                if others:
                    message += f"; {quote_names(others)} may tell them apart"
                    both = f"{roles.get('series', 'NAME')}, {others[0]}"
                    step = f"Say columns: {{series: [{both}]}} in source.yml, or choose with filter:"
                    if others[0] == UNNAMED:
                        step = "Give the column without a name one in the first line, and choose with "
                        step += "filter: in source.yml, or write the table transposed"
                yield self._diagnose(message, step, line)
            first.setdefault(key, line)

    def _repeats_header(self, cells: Sequence[str]) -> bool:
        columns = self._columns
        return bool(columns) and all(cells[one.index] == self._grid.header[one.index] for one in columns)

    def _find_wrong_cells(self) -> Iterator[Diagnostic]:
        """Yield rows that repeat the header, and cells that are no score or on another scale."""
        for line, cells in self._grid.rows:
            if self._repeats_header(cells):
                yield self._diagnose(
                    "the row repeats the header", "Leave it out, or make two tables of it", line
                )
                continue
            for column in self._columns:
                for index in (column.index, column.spread, column.count):
                    cell = cells[index] if index is not None else ""
                    if not is_empty(cell) and parse_reported(cell) is None:
                        message = f'"{cell}" in column "{column.name}" is not a score'
                        step = "Write a number such as 75.5, 75.5 ± 0.4 or 75.5%, or leave the cell empty"
                        if index in self._grid.mixed:
                            step += "; if the column has no scores, name those that do with metrics:"
                        yield self._diagnose(message, step, line)
        signed = {column.index: column.name for _, column, one in self._iterate_scores() if one.percent}
        for line, column, one in self._iterate_scores() if signed else ():
            mixed = column.index in signed
            if not one.percent and abs(one.value) > (0 if mixed else 1):
                other = "other cells of it have" if mixed else f'"{next(iter(signed.values()))}" has'
                message = f'{one.value:g} in column "{column.name}" has no %, and {other}'
                step = "Write % at all of them, or choose columns of one scale with metrics: in source.yml"
                yield self._diagnose(message, step, line)
                return

    def _iterate_scores(self) -> Iterator[tuple[int | None, ScoreColumn, Reported]]:
        for line, cells in self._grid.rows:
            for column in self._columns:
                if found := parse_reported(cells[column.index]):
                    yield line, column, found

    def _melt(self, across: Across, roles: dict[str, str]) -> dict[str, list[str | None]]:
        """Return the columns of the totals, a row for each score."""
        grid, others = self._grid, [name for name in self._grid.labels if name not in roles.values()]
        columns: dict[str, list[str | None]] = {}
        many_metrics = across == "metrics" or any(column.metric for column in self._columns)
        unknown = 0
        for _, cells in grid.rows:
            for column in self._columns:
                found = parse_reported(cells[column.index])
                if found is None:
                    continue
                row = {part: cells[grid.labels[name]] or None for part, name in roles.items()}
                row |= {"series": column.name} if across == "series" else {}
                row |= {"benchmark": column.name} if across == "benchmarks" else {}
                if many_metrics:
                    row["metric"] = column.name if across == "metrics" else column.metric or "score"
                stderr, count = self._find_stderr(column, cells, found)
                unknown += stderr is None and (found.spread is not None or column.spread is not None)
                row |= {"score": repr(found.value), "stderr": stderr, "n": count}
                row |= {name: cells[grid.labels[name]] or None for name in others if name != UNNAMED}
                for name, cell in row.items():
                    columns.setdefault(name, []).append(cell)
        if unknown:
            step = "Add a column n, or give the standard error"
            place = self._location.place
            self.warnings.append(Diagnostic(place, SD_ALONE, step, Stage.DATA, Severity.WARNING))
        return {name: cells for name, cells in columns.items() if any(cells) or name in {"series", "score"}}

    def _find_stderr(
        self, column: ScoreColumn, cells: Sequence[str], found: Reported
    ) -> tuple[str | None, str | None]:
        """Return the standard error of a score, and its number of problems, if the table tells them."""
        spread: float | None = found.spread
        kind: str | None = self._settings.interval
        if column.spread is not None and (own := parse_reported(cells[column.spread])):
            spread = own.value
            kind = self._settings.interval if column.spread_kind == "±" else column.spread_kind
        counted = column.count if column.count is not None else self._count_column
        number = parse_reported(cells[counted]) if counted is not None else None
        count = number.value if number and number.value >= 1 else None
        if spread is not None:
            factors = {"se": 1.0, "ci95": 1 / HALF_WIDTH, "sd": count**-0.5 if count else None}
            factor = factors[kind or "se"]
            spread = None if factor is None else spread * factor
        # The number of runs behind a standard deviation is not one of problems.
        problems = None if count is None or kind == "sd" else repr(count)
        return None if spread is None else repr(spread), problems
