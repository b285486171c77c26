"""Survey of the tables of a source: columns with their roles, metrics and series."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.directions import Direction, guess_direction
from reportgen.core.errors import Diagnostics, ReportError, SourceLocation
from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind, combine_kinds, infer_kind, is_missing, is_unix_time
from reportgen.formats.layout import MOMENTS, TIME_NAMES, FileLayout
from reportgen.formats.sql import get_engine, get_errors
from reportgen.formats.tables import FORMATS, delimited, parquet
from reportgen.read.runs.file_names import add_seeds
from reportgen.read.tables.charts import detect_chart, find_chart_step, list_chart_columns, warn_joined
from reportgen.read.tables.check import (
    ESTIMATE,
    NAMED,
    check_columns,
    check_nul,
    explain_faults,
    find_faults,
    find_wrong_cells,
)
from reportgen.read.tables.layout import (
    Layout,
    Roles,
    Survey,
    detect_outcomes,
    detect_roles,
    detect_totals,
    find_column,
    find_wide_metrics,
    get_layout,
    get_mapped_columns,
    get_series_parts,
)
from reportgen.read.tables.notations import (
    check_new_names,
    check_notations,
    find_estimates,
    find_percentages,
    select_metrics,
)
from reportgen.read.tables.rows import UNNAMED, resolve_filters, select_files, select_run, select_series
from reportgen.read.tables.suggest import find_totals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.formats.cells import Text
    from reportgen.formats.layout import Look
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Sampled cells that decide the kind of a column; a faulty one elsewhere is found when it is read.
_CELLS_FOR_KIND: Final = 256
# The first rows that decide whether dates are steps; a date that comes twice below is found when it is read.
_ROWS_FOR_MOMENT: Final = 100_000
# What is known of a file before a look at it.
_GIVEN: Final = ("given", "copy", "above", "label", "shares", "header")


def survey(
    root: Path,
    files: Sequence[FileLayout],
    settings: SourceSettings,
    place: SourceLocation,
    *,
    whole: bool = False,
) -> Survey:
    """Look at every file, in reading order, and combine the results.

    If ``whole``, the names of metrics and series come from all rows, not only from a sample. A
    ``ReportError`` has the faults of all files and, at ``place``, of the source.
    """
    surveyor = _Surveyor(root, settings, place)
    looks = _look_at_files(root, files, settings, whole=whole)
    layout = surveyor.build_layout(looks)
    if any(look.file.format == delimited.WANDB_CHART for look in looks):
        return _survey_charts(layout, looks, settings, place)
    if not (layout.roles.series or layout.roles.seed) and (named := add_seeds(files, settings)):
        pairs = zip(looks, named, strict=True)
        looks = [replace(look, file=replace(look.file, given=file.given)) for look, file in pairs]
        layout = surveyor.build_layout(looks)
    if moment := surveyor.find_moment(layout):
        stated = settings.columns.model_copy(update={"step": moment})
        surveyor = replace(surveyor, settings=settings.model_copy(update={"columns": stated}))
        layout = surveyor.build_layout(looks)
    roles = layout.roles
    value = roles.value or ""
    doubtful = layout.long and layout.kinds[value] not in {Kind.NUMBER, Kind.EMPTY}
    if doubtful and (problems := find_wrong_cells(root, layout.files, {value: ESTIMATE})):
        raise ReportError(*problems)
    layout = surveyor.add_benchmarks(layout)
    raw, series = surveyor.list_names(layout, looks, whole=whole)
    layout = replace(
        layout, metrics=select_metrics(raw, settings), series=series, exhaustive=layout.exhaustive or whole
    )
    layout = replace(layout, percentages=find_percentages(layout, settings))
    runs, seeds = (filter(None, _list_cells(looks, name)) for name in (roles.run, roles.seed))
    check_nul(place, metric=raw, series=layout.series, benchmark=layout.benchmarks, run=runs, seed=seeds)
    of_files = tuple(chain.from_iterable(look.warnings for look in looks))
    checks = (*check_columns(layout, looks), *check_notations(root, layout, looks, settings))
    return Survey(layout, raw, (*of_files, *checks), of_files)


def _survey_charts(
    layout: Layout, looks: Sequence[Look], settings: SourceSettings, place: SourceLocation
) -> Survey:
    """Return the survey of W&B charts, whose columns are runs until they are unpivoted."""
    layout = replace(layout, roles=Roles(step=find_chart_step(looks, settings, place)), outcomes=None)
    warnings = (*chain.from_iterable(look.warnings for look in looks), *warn_joined(looks))
    warnings = (*warnings, *check_columns(layout, looks))
    columns = list_chart_columns(layout)
    raw = tuple(dict.fromkeys(one.metric for one in columns.values()))
    layout = replace(
        layout,
        joined=tuple(
            column for look in looks for column in delimited.find_joined(look.file.columns, look.rows)
        ),
        metrics={
            name: tuple(column for column, one in columns.items() if one.metric in known)
            for name, known in select_metrics(raw, settings).items()
        },
    )
    return Survey(replace(layout, exhaustive=True), raw, warnings, of_files=warnings)


def complete_layout(root: Path, source: Source) -> Layout:
    """Return the layout of a source with the metrics and series of all rows, not only of a sample."""
    layout = get_layout(source)
    if layout.exhaustive:
        return layout
    return survey(root, layout.files, source.settings, source.location, whole=True).layout


def hold_one_line(root: Path, layout: Layout) -> bool:
    """Return whether files are points of one line: all rows of each have one date, which no other has."""
    roles, moment = layout.roles, layout.roles.step or ""
    is_moment = moment.strip().casefold() in MOMENTS or layout.kinds.get(moment) is Kind.TIME
    if not is_moment or roles.run or roles.seed or len({*layout.labels}) < 2:  # noqa: PLR2004 - several files
        return False

    def list_cells(rows: Rows) -> dict[str, str]:
        series = select_series(rows, layout, {}) if roles.series else "''"
        return {"label": rows.label(layout.labels), "series": series, "moment": rows.as_text(moment)}

    rows = select_files(root, layout, list_cells)
    files = f"SELECT count(DISTINCT moment) AS d FROM ({rows}) GROUP BY label"  # noqa: S608 - our own names
    lines = f"SELECT count(*) AS n, count(DISTINCT moment) AS d FROM ({rows}) GROUP BY series"  # noqa: S608
    # Faults in the rows are reported when they are read.
    with suppress(*get_errors()):
        tests = f"(SELECT bool_and(d = 1) FROM ({files})), (SELECT bool_and(n = d) FROM ({lines}))"  # noqa: S608
        return all(*get_engine().fetch_rows(f"SELECT {tests}"))
    return False


def has_further_metrics(layout: Layout) -> bool:
    """Return whether rows outside of the sample may name metrics that no other row has."""
    by_rows = layout.long or any(file.format == "jsonl" for file in layout.files)
    return by_rows and not layout.exhaustive


class _Surveyor(Struct, frozen=True):
    """Survey of one source, with its folder, settings and location."""

    root: Path
    settings: SourceSettings
    place: SourceLocation

    def build_layout(self, looks: Sequence[Look]) -> Layout:
        """Return the columns with their roles, still without the names of metrics and series."""
        settings, place = self.settings, self.place
        columns = tuple(dict.fromkeys(name for look in looks for name in look.file.names if name))
        for look in looks:
            check_nul(SourceLocation(look.file.path), column=look.file.columns)
        of_files = [_infer_kinds(look) for look in looks]
        kinds = {name: combine_kinds(one.get(name, Kind.EMPTY) for one in of_files) for name in columns}
        roles, long = detect_roles(kinds, settings, place)
        outcomes = detect_outcomes(kinds, roles, settings, place, long=long)
        totals = detect_totals(kinds, roles, settings, place)
        if outcomes and roles.step == outcomes.sample:
            roles = replace(roles, step=None)
        # Series and run columns without empty cells, by the files' metadata.
        names = [name for name in (roles.series, roles.run) if name is not None]
        gapless: frozenset[str] = frozenset()
        if names and all(look.file.format == "parquet" for look in looks):
            gapless = parquet.find_gapless([self.root / look.file.place for look in looks], names)
        return Layout(
            files=tuple(look.file for look in looks),
            kinds=kinds,
            roles=roles,
            long=long,
            metrics={},
            series=(),
            exhaustive=all(look.exhaustive for look in looks),
            gapless=gapless,
            outcomes=outcomes,
            totals=totals,
            series_parts=get_series_parts(settings),
            estimates=tuple(dict.fromkeys(name for look in looks for name in find_estimates(look))),
        )

    def find_moment(self, layout: Layout) -> str:
        """Return the column of dates or years that is the step: runs have several of it, and none twice."""
        other = self.settings.form or layout.outcomes or layout.long or layout.roles.step
        names = [name for name, kind in layout.kinds.items() if kind in {*NUMERIC, Kind.TIME}]
        moment = next((name for name in names if name.strip().casefold() in MOMENTS), "")
        if other or not moment or find_totals(layout, self.settings, sure=True):
            return ""

        def list_cells(rows: Rows) -> dict[str, str]:
            run = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
            return {**run, "moment": rows.as_text(moment)}

        rows = select_files(
            self.root, layout, list_cells, resolve_filters(self.settings.filter, tuple(layout.kinds))
        )
        rows = f"SELECT * FROM ({rows}) LIMIT {_ROWS_FOR_MOMENT}"  # noqa: S608 - our own names
        counts = f"SELECT count(*) AS n, count(DISTINCT moment) AS d FROM ({rows}) GROUP BY series, run"  # noqa: S608
        with explain_faults(self.root, self.place, layout.files, ()):
            ((is_step,),) = get_engine().fetch_rows(f"SELECT bool_and(n = d) AND max(d) > 1 FROM ({counts})")  # noqa: S608
        return moment if is_step else ""

    def add_benchmarks(self, layout: Layout) -> Layout:
        """Return a layout with the benchmarks of all rows: each has figures, and a sample may miss some.

        For totals it also has those on which lower is better by their own name or that of the metric,
        an empty text if there are no benchmarks. A row without a benchmark is an error.
        """
        scored = layout.outcomes or layout.totals
        column = scored.benchmark if scored else None
        if column and (new := self.settings.rename_benchmarks):
            others = {n: a for n, a in self.settings.filter.items() if find_column(n, (column,)) is None}
            plain = replace(self, settings=self.settings.model_copy(update={"filter": others}))
            written = plain.fetch_names(layout, lambda rows: rows.as_text(column))
            check_new_names(filter(None, written), self.settings, self.place)
            layout = replace(layout, new_names={column: new}, kinds={**layout.kinds, column: Kind.TEXT})
        names = self.fetch_names(layout, lambda rows: rows.as_text(column)) if column else []
        if column and None in names:
            raise ReportError(*find_wrong_cells(self.root, layout.files, {column: NAMED}))
        layout = replace(layout, benchmarks=tuple(name for name in names if name))
        roles = layout.totals
        if roles is None:
            return layout
        if roles.metric is None:
            pairs = [[name, roles.score] for name in layout.benchmarks or ("",)]
            return replace(layout, lower_is_better=_find_lower(pairs))
        metric = roles.metric

        def select_pair(rows: Rows) -> str:
            return f"coalesce({rows.as_text(column)}, '') || chr(31) || {rows.as_text(metric)}"

        pairs = [name.split("\x1f", 1) for name in self.fetch_names(layout, select_pair) if name]
        return replace(layout, lower_is_better=_find_lower(pairs))

    def list_names(
        self, layout: Layout, looks: Sequence[Look], *, whole: bool
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the raw names of metrics and the report's names of series, of the sample or of all rows."""
        roles, rename = layout.roles, self.settings.rename
        cells = layout.labels if roles.series is None else _list_cells(looks, roles.series)
        named = (name or UNNAMED for name in dict.fromkeys(cells))
        series: Iterable[Text] = (rename.get(name, name) for name in named)
        metrics: Iterable[Text] = _list_cells(looks, roles.metric)
        if whole or layout.series_parts:
            series = self.fetch_names(layout, lambda rows: select_series(rows, layout, rename))
        if not layout.long:
            others, sampled = layout.series_parts, not layout.exhaustive
            metrics = find_wide_metrics(layout.kinds, roles, sampled=sampled, others=others)
        elif whole:
            metrics = self.fetch_names(layout, lambda rows: rows.as_text(roles.metric))
        raw = tuple(dict.fromkeys(name for name in metrics if name))
        return raw, tuple(dict.fromkeys(name for name in series if name is not None))

    def fetch_names(self, layout: Layout, select: Callable[[Rows], str]) -> list[Text]:
        """Return all names that an expression gives, in order of first appearance; None if it gives none."""
        filters = resolve_filters(self.settings.filter, tuple(layout.kinds))
        named = select_files(
            self.root, layout, lambda rows: {"name": select(rows), "row": rows.get_position()}, filters
        )
        with explain_faults(self.root, self.place, layout.files, ()):
            statement = f'SELECT name FROM ({named}) GROUP BY name ORDER BY min("row")'  # noqa: S608 - our own names
            return [name for (name,) in get_engine().fetch_rows(statement)]


def _look_at_files(
    root: Path, files: Sequence[FileLayout], settings: SourceSettings, *, whole: bool
) -> list[Look]:
    mapped = tuple(get_mapped_columns(settings).values())
    problems = Diagnostics()
    looks = []
    for file in files:
        with problems.collecting():
            content = file.get_content(root)
            seen = FORMATS[file.format].look(content, file.format, mapped, whole=whole)
            seen = detect_chart(content, seen, settings)
            known = {name: getattr(file, name) for name in _GIVEN}
            looks.append(replace(seen, file=replace(seen.file, **known)))
    if problems.found:
        # Also report the faulty rows of the other files.
        problems.add(find_faults(root, [look.file for look in looks], ()))
    problems.raise_errors()
    return looks


def _infer_kinds(look: Look) -> dict[str, Kind]:
    """Return the kinds of a file's columns; of two columns of one name the first counts."""
    # Dates in the names of files may be the step.
    given = ((name, infer_kind(texts)) for name, texts in look.file.given)
    kinds = {name: kind if kind is Kind.TIME else Kind.TEXT for name, kind in given}
    for index, (name, type_) in enumerate(zip(look.file.columns, look.file.types, strict=True)):
        if name not in kinds:
            cells = [row[index] for row in look.rows]
            kind = sql.get_kind(type_) or infer_kind(cells[:: max(1, len(cells) // _CELLS_FOR_KIND)])
            kinds[name] = infer_kind(cells) if kind is Kind.EMPTY else kind
            filled = [cell for cell in cells if cell is not None and not is_missing(cell)]
            # Large numbers under such a name are seconds or milliseconds since 1970.
            if (
                kind is Kind.NUMBER
                and filled
                and TIME_NAMES.fullmatch(name)
                and all(map(is_unix_time, filled))
            ):
                kinds[name] = Kind.TIME
    return kinds


def _list_cells(looks: Iterable[Look], name: str | None) -> Iterator[Text]:
    """Yield the sampled cells of a column, file by file."""
    for look in looks:
        if name is not None and (given := look.file.get_given(name)) is not None:
            yield from given
        elif name in look.file.columns:
            index = look.file.columns.index(name)
            yield from (row[index] for row in look.rows)


def _find_lower(pairs: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the benchmarks whose own name, or that of their metric, says that lower is better."""
    lower = (pair[0] for pair in pairs if Direction.LOWER in map(guess_direction, pair))
    return tuple(dict.fromkeys(lower))
