"""Tables of several values a row as long tables in the cache: a row for each value, read like any other.

``step,GRPO,PPO`` in ``reward.csv`` has the metric ``reward`` of two series, ``model,step,mean,std,count`` one
metric with its interval, and ``Model,AIME,MATH`` scores of two benchmarks.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, Stage
from reportgen.formats import sql
from reportgen.formats.messages import suggest_names
from reportgen.formats.tables import FORMATS
from reportgen.formats.tables.delimited import WANDB_CHART
from reportgen.read.find import locate_file
from reportgen.read.runs.stored import name_part, write_query
from reportgen.read.tables.charts import assign_charts
from reportgen.read.tables.check import ESTIMATE, NUMBER, explain_errors, find_wrong_cells
from reportgen.read.tables.grid import UNNAMED
from reportgen.read.tables.layout import Layout, Roles, find_column, get_mapped_columns, is_name_of
from reportgen.read.tables.notations import find_estimates, list_percentages, refuse_open_estimate
from reportgen.read.tables.roles import (
    ACROSS,
    LongForm,
    assign_answers,
    assign_curves,
    assign_estimates,
    assign_levels,
)
from reportgen.read.tables.rows import Rows, select_fields
from reportgen.read.tables.scores import LARGEST_FOUND, ScoreTable, read_scores
from reportgen.read.tables.statistics import HALF_WIDTH, SD_ALONE
from reportgen.settings.source import Columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from reportgen.core.cache import Cache
    from reportgen.core.model import SourceFile
    from reportgen.formats.layout import FileLayout
    from reportgen.read.find import Location
    from reportgen.read.tables.grid import Grid
    from reportgen.read.tables.layout import Filters, Percentages
    from reportgen.read.tables.roles import Value
    from reportgen.settings.base import CellValue
    from reportgen.settings.source import SourceSettings


_WIDE: Final = {role: wide for wide, role in ACROSS.items()}
_PLAIN: Final = Layout((), {}, Roles(), False, {}, (), True)


class LongTables(Struct, frozen=True):
    """Tables with their rows in the cache, the settings to read these, and warnings."""

    files: tuple[FileLayout, ...]
    settings: SourceSettings
    warnings: tuple[Diagnostic, ...]


def unpivot_grids(
    location: Location,
    settings: SourceSettings,
    grids: Sequence[Grid],
    hashed: Sequence[SourceFile],
    cache: Cache,
) -> LongTables | None:
    """Write tables with several header rows, and tables of scores, to the cache; None for others.

    A ``ReportError`` has every cell that is no number, and whatever the tables leave open.
    """
    writer = _Writer(location, settings, hashed, cache)
    forms = [assign_levels(grid, settings) if grid.header.levels else None for grid in grids]
    if any(form and "step" in form.roles for form in forms):
        files = [grid.file for grid in grids]
        return writer.write_curves(
            files, forms, "series" if any(grid.header.height > 1 for grid in grids) else None
        )
    columns = settings.columns
    if settings.form == "outcomes":
        found = [assign_answers(grid, settings) for grid in grids]
        return (
            writer.write_answers([grid.file for grid in grids], list(filter(None, found)))
            if all(found)
            else None
        )
    if settings.form not in {None, "wide", "totals"} or columns.score or columns.step:
        return None
    stated = settings.form == "wide" or settings.wide is not None
    if not (stated or any(forms)) and sum(file.size for file in hashed) > LARGEST_FOUND:
        return None
    tables, problems = list[ScoreTable](), Diagnostics()
    for grid in grids:
        with problems.collecting():
            table = read_scores(grid, settings, stated=stated)
            if table is None:
                return None
            tables.append(table)
    problems.raise_errors()
    _check_metrics(tables, settings, location)
    return writer.write_scores([grid.file for grid in grids], tables)


def unpivot_layout(
    location: Location, settings: SourceSettings, layout: Layout, hashed: Sequence[SourceFile], cache: Cache
) -> LongTables | None:
    """Write tables with steps whose columns are series or statistics, and with a ±, to the cache.

    None for other tables.
    """
    writer, files = _Writer(location, settings, hashed, cache), layout.files
    if layout.is_chart:
        charts, forms, warnings = assign_charts(layout, settings, location.place)
        long = writer.write_curves(charts, forms, None)
        marked = tuple(replace(file, variant=WANDB_CHART) for file in long.files)
        return replace(long, files=marked, warnings=(*warnings, *long.warnings))
    column = layout.totals.score if layout.totals else layout.roles.value if layout.long else None
    if column and column in layout.estimates:
        return writer.write_estimates(layout, column)
    found = assign_curves(layout, settings)
    warnings = tuple(
        Diagnostic(location.place, message, advice, Stage.DATA, Severity.WARNING)
        for message, advice in found.warnings
    )
    if not found.forms:
        return LongTables(files, settings, warnings) if warnings else None
    long = writer.write_curves(files, found.forms, found.across)
    return replace(long, warnings=(*warnings, *long.warnings))


def _check_metrics(tables: Sequence[ScoreTable], settings: SourceSettings, location: Location) -> None:
    """Refuse names in ``metrics`` that no table has as a column of scores, and tables without any score."""
    columns = list(dict.fromkeys(name for table in tables for name in table.names))
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
    if not problems and not any(table.form.values for table in tables):
        step = "Check filter: and metrics: in source.yml"
        problems = [Diagnostic(location.place, "no score is left of the tables", step, Stage.DATA)]
    if problems:
        raise ReportError(*problems)


class _Writer:
    """Writer of the long tables of a source."""

    def __init__(
        self, location: Location, settings: SourceSettings, hashed: Sequence[SourceFile], cache: Cache
    ) -> None:
        self._location, self._settings, self._hashed, self._cache = location, settings, hashed, cache
        self._warnings: list[Diagnostic] = []
        self._intervals: set[str] = set()  # columns of intervals in the long tables
        self._of_curves = False
        self._filter = dict(settings.filter)  # those of columns that the tables do not have

    def write_curves(
        self, files: Sequence[FileLayout], forms: Sequence[LongForm | None], across: str | None
    ) -> LongTables:
        """Write tables of curves; those without a long form are read as they are."""
        self._of_curves, pairs = True, zip(files, self._hashed, forms, strict=True)
        written = [self._write(file, known, form, "value") if form else file for file, known, form in pairs]
        roles = self._list_roles(form for form in forms if form)
        columns = self._settings.columns.model_copy(update={**roles, "value": "value"})
        update = {
            "form": "long",
            "columns": columns,
            "filter": self._filter,
            **({"wide": across} if across else {}),
        }
        return LongTables(tuple(written), self._settings.model_copy(update=update), tuple(self._warnings))

    def write_estimates(self, layout: Layout, value: str) -> LongTables:
        """Write tables of a value a row, of which ± gives the interval."""
        self._of_curves = layout.totals is None
        forms = [assign_estimates(file, layout, value) for file in layout.files]
        pairs = zip(layout.files, self._hashed, forms, strict=True)
        written = tuple(
            self._write(file, known, form, value, layout.percentages) for file, known, form in pairs
        )
        named: dict[str, str | None] = {"stderr": "stderr", "std": None}
        if layout.totals and self._settings.interval == "sd":
            named = {"std": "std", "n": "n"}
        columns = self._settings.columns.model_copy(update=named)
        settings = self._settings.model_copy(update={"columns": columns, "filter": self._filter})
        return LongTables(written, settings, tuple(self._warnings))

    def write_scores(self, files: Sequence[FileLayout], tables: Sequence[ScoreTable]) -> LongTables:
        """Write tables of scores as totals."""
        written = [
            self._write(file, known, table.form, "score")
            for file, known, table in zip(files, self._hashed, tables, strict=True)
            if table.form.values
        ]
        roles = self._list_roles(table.form for table in tables)
        roles |= {part: part for part in sorted(self._intervals & {"stderr", "std", "n"})}
        update = {
            "form": "totals",
            "columns": Columns(**roles, score="score"),
            "wide": _WIDE[tables[0].across],
            "filter": self._filter,
            "metrics": None,
            **({"rename_metrics": {}} if tables[0].across == "metric" else {}),
        }
        warnings = (*(one for table in tables for one in table.warnings), *self._warnings)
        return LongTables(tuple(written), self._settings.model_copy(update=update), warnings)

    def write_answers(self, files: Sequence[FileLayout], forms: Sequence[LongForm]) -> LongTables:
        """Write tables with a column of answers for each series or problem as outcomes."""
        pairs = zip(files, self._hashed, forms, strict=True)
        written = tuple(self._write(file, known, form, "score") for file, known, form in pairs)
        columns = self._settings.columns.model_copy(update={**self._list_roles(forms), "score": "score"})
        update = {"columns": columns, "filter": self._filter}
        return LongTables(written, self._settings.model_copy(update=update), tuple(self._warnings))

    def _list_roles(self, forms: Iterable[LongForm]) -> dict[str, str | tuple[str, ...]]:
        """Return the columns with a role, without a usual one of series: only a stated one is final."""
        roles = {role: name for form in reversed([*forms]) for role, name in form.roles.items()}
        series, stated = roles.get("series"), self._settings.columns.series
        if stated and series == get_mapped_columns(self._settings)["series"]:
            roles["series"] = stated
        elif not stated and isinstance(series, str) and is_name_of("series", series):
            del roles["series"]
        return roles

    def _write(
        self,
        file: FileLayout,
        known: SourceFile,
        form: LongForm,
        value: str,
        percentages: Percentages | None = None,
    ) -> FileLayout:
        """Write the rows of a table to the cache as Parquet."""
        root, cache = self._location.root, self._cache
        if not file.columns:
            seen = FORMATS[file.format].look(file.get_content(root), file.format, (), whole=False)
            file = replace(seen.file, given=file.given, copy=file.copy, above=file.above, label=file.label)
            form = _add_estimates(form, {*find_estimates(seen)})
        unnamed = {UNNAMED: file.columns[0]}
        form = replace(
            form,
            labels={unnamed.get(name, name): new for name, new in form.labels.items()},
            skipped={unnamed.get(name, name): names for name, names in form.skipped.items()},
        )
        parts = [self._settle(file, one) for one in form.values]
        filters = tuple(self._take_filters(file, form))
        key = cache.make_key("long", file.path, known.sha256, repr(form), self._settings.model_dump_json())
        path = Path(cache.get_text_path(key, name_part(0)))
        if not path.exists():
            checks = {name: NUMBER for one in form.values for name in (one.column, *one.parts.values())}
            checks |= {one.column: ESTIMATE for one in form.values if one.column in one.parts.values()}
            with explain_errors(root, self._location.place, lambda: find_wrong_cells(root, [file], checks)):
                found = _find_percentages(form, self._settings) if percentages is None else percentages
                rows = Rows(root, replace(_PLAIN, files=(file,), percentages=found), [0])
                select = _select(rows, form, parts, value, filters, of_curves=self._of_curves)
                write_query(cache, key, name_part(0), select)
        copy = locate_file(path, root).file
        plain = {"format": "parquet", "compression": "", "columns": (), "types": (), "keep": None}
        own = {name for one in form.values for name in one.parts.values()}
        given = tuple(one for one in file.given if one[0] not in own)  # that of n is in the table
        return replace(file, copy=copy, given=given, shares=True, header=file.columns, **plain)

    def _take_filters(
        self, file: FileLayout, form: LongForm
    ) -> Iterator[tuple[str, CellValue | tuple[CellValue, ...]]]:
        """Yield the filters of columns of a table; those of renamed benchmarks are of the long table."""
        old = {new: name for name, new in form.labels.items()}
        for name, accepted in self._settings.filter.items():
            if column := find_column(name, file.columns) or old.get(str(form.roles.get(name))):
                self._filter.pop(name, None)
                new = form.labels.get(column, "")
                if self._settings.rename_benchmarks and new == form.roles.get("benchmark"):
                    self._filter[new] = accepted
                else:
                    yield column, accepted

    def _settle(self, file: FileLayout, value: Value) -> dict[str, str]:
        """Return the interval of a column with what ± is; warn of a deviation without the number of runs."""
        kind, content = self._settings.interval, file.get_content(self._location.root)
        parts = dict(value.parts)
        if column := parts.pop("±", None):
            parts[kind or refuse_open_estimate(content, file, value.column)] = column
        if "sd" in parts and "n" not in parts and not parts.keys() & {"se", "ci95", "low"}:
            advice = "Add a column n with that number, or say columns: {n: NUMBER} in source.yml"
            alone = replace(content.make_problem(SD_ALONE, advice, 1), severity=Severity.WARNING)
            self._warnings += [alone] if alone not in self._warnings else []
        self._intervals |= _select_interval(parts, of_curves=self._of_curves).keys()
        return parts


def _add_estimates(form: LongForm, estimates: Collection[str]) -> LongForm:
    """Return a form in which the columns with a ± have it as a part of their interval."""
    values = (
        replace(one, parts={**one.parts, "±": one.column}) if one.column in estimates else one
        for one in form.values
    )
    return replace(form, values=tuple(values))


def _find_percentages(form: LongForm, settings: SourceSettings) -> Percentages:
    """Return the columns of percentages, whose metric or benchmark they or a label beside them name."""
    if not settings.unit:
        return {}
    names, found = list_percentages(settings), dict[str, tuple[str, tuple[str, ...]]]()
    key = form.roles.get("benchmark") or form.roles.get("metric")
    label = next((name for name, new in form.labels.items() if new == key), "")
    for one in form.values:
        columns = [one.column, *(name for part, name in one.parts.items() if part != "n")]
        if not names or one.names.get(str(key)) in names:
            found |= dict.fromkeys(columns, ("", ()))
        elif label:
            found |= dict.fromkeys(columns, (label, tuple(sorted(names))))
    return found


def _select(
    rows: Rows,
    form: LongForm,
    parts: Sequence[Mapping[str, str]],
    value: str,
    filters: Filters,
    *,
    of_curves: bool,
) -> str:
    """Return the SELECT of a table's values with their intervals, a row for each, in the order of writing."""
    names = dict.fromkeys(name for one in form.values for name in one.names)
    new = {name: sql.unnest(sql.quote(one.names[name]) for one in form.values) for name in names}
    cells = [_select_value(rows, one, own) for one, own in zip(form.values, parts, strict=True)]
    texts = (rows.as_text(one.column) for one in form.values)
    new[value] = sql.unnest(texts if form.are_texts else (number for number, _ in cells))
    intervals = [_select_interval(own, of_curves=of_curves) for _, own in cells]
    for part in dict.fromkeys(part for one in intervals for part in one):
        new[part] = sql.unnest(one.get(part, "CAST(NULL AS DOUBLE)") for one in intervals)
    labels = {name: rows.as_written(old) for old, name in form.labels.items() if name not in new}
    place = {"(row)": rows.get_position(), "(place)": f"unnest(range({len(form.values)}))"}
    skipped = [
        f"coalesce({rows.as_text(label)} NOT IN ({sql.quote_all(names)}), TRUE)"
        for label, names in form.skipped.items()
        if names
    ]
    select = select_fields(rows, place | labels | new, filters, *skipped)
    test = f"NOT isnan({value})" if value == "score" else f"{sql.quote_name(value)} IS NOT NULL"
    test = "TRUE" if form.are_texts else test
    order = '"(place)", "(row)"' if form.by_columns else '"(row)", "(place)"'
    return f'SELECT * EXCLUDE ("(row)", "(place)") FROM ({select}) WHERE {test} ORDER BY {order}'  # noqa: S608


def _select_value(rows: Rows, value: Value, parts: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a value and the parts of its interval as numbers; one may stand after ± in the same cell."""
    if value.column in parts.values():
        number, spread = rows.as_estimate(value.column)
        return number, {
            part: spread if name == value.column else rows.as_number(name) for part, name in parts.items()
        }
    return rows.as_number(value.column), {part: rows.as_number(name) for part, name in parts.items()}


def _select_interval(cells: Mapping[str, str], *, of_curves: bool) -> dict[str, str]:
    """Return the columns of an interval by role: its ends, otherwise its standard error, and n.

    Scores keep the deviation of runs, since n is of runs beside it and otherwise of problems.
    """
    interval = {part: cells[part] for part in ("low", "high", "n") if part in cells}
    if "se" in cells:
        interval["stderr"] = cells["se"]
    elif "ci95" in cells:
        interval["stderr"] = f"{cells['ci95']} / {HALF_WIDTH}"
    elif of_curves and {"sd", "n"} <= cells.keys():
        interval["stderr"] = f"{cells['sd']} / sqrt(nullif({cells['n']}, 0))"
    if not of_curves and {"sd", "n"} <= cells.keys():
        interval["std"] = cells["sd"]
    return interval
