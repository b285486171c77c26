"""Runs grouped or coloured by their settings: labels of settings, in SQL, and the groups that there are."""

from __future__ import annotations

import math
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import astuple, replace

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.words import (
    choose_names,
    explain_unmatched,
    format_count,
    is_pattern,
    join_names,
    quote_names,
)
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.files import rank_digits
from reportgen.formats.sql import get_engine
from reportgen.read.runs.labels import is_experiment_setting
from reportgen.read.tables.distinguish import (
    MOST_SERIES,
    RowKeys,
    decides_series,
    find_distinguishing_columns,
    sample_keys,
)
from reportgen.read.tables.layout import (
    add_settings,
    get_layout,
    list_setting_names,
    resolve_column,
)
from reportgen.read.tables.rows import resolve_filters, select_files, select_run, select_series

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from reportgen.read.tables.layout import Filters, Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source


# Texts that say nothing without the name of their setting.
_BARE: Final = ("true", "false", "none", "null", "nan", "")
_LARGEST_WHOLE: Final = "1e15"
_OF_ONE_RUN: Final = frozenset(("folder", "group", "id", "run"))
_MOST_VALUES: Final = 12
_MOST_NAMES: Final = 6
_MOST_POOLED: Final = 12


class Groups(Struct, frozen=True):
    """Groups in the order of their settings, with what belongs to each, and a sentence about pooled runs."""

    order: tuple[str, ...] = ()
    colours: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)  # of each group, by setting


class GroupColumns(Struct, frozen=True):
    """Columns that group and colour runs, by the names that the block gives them."""

    by: Mapping[str, str] = field(default_factory=dict)
    colour: Mapping[str, str] = field(default_factory=dict)  # of one item, or empty

    def select(self, rows: Rows) -> dict[str, str]:
        """Return the cells of the columns, as fields of a SELECT."""
        return {part: rows.as_text(column) for part, (_, column) in self._list_parts().items()}

    def list_fields(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return tuple(self._list_parts())

    def _list_parts(self) -> dict[str, tuple[str, str]]:
        by = {f"by{number}": pair for number, pair in enumerate(self.by.items())}
        return by | dict(zip(["colour"], self.colour.items(), strict=False))

    def _label(self, parts: Iterable[str]) -> str:
        """Return SQL for each setting in words: numbers and truth values follow its name."""
        named, labels = self._list_parts(), []
        for part in parts:
            name = named[part][0]
            number = f"TRY_CAST({part} AS DOUBLE)"
            whole = f"{number} = trunc({number}) AND abs({number}) < {_LARGEST_WHOLE}"
            written = (
                f"CASE WHEN {whole} THEN CAST(CAST({number} AS BIGINT) AS {sql.TEXT}) "
                f"WHEN {number} IS NOT NULL THEN CAST({number} AS {sql.TEXT}) ELSE {part} END"
            )
            bare = f"{number} IS NOT NULL OR lower({part}) IN ({sql.quote_all(_BARE)})"
            shown = f"WHEN {bare} THEN {sql.quote(f'{name}=')} || {written} ELSE {part} END"
            labels.append(f"CASE WHEN {part} IS NULL THEN {sql.quote(f'no {name}')} {shown}")
        return " || ', ' || ".join(labels) or "''"

    def regroup(self, select: str) -> str:
        """Return a SELECT with the settings as series, and with runs that stay apart."""
        chosen = f"SELECT * EXCLUDE ({', '.join(self.list_fields())})"
        if not self.by:
            return f"{chosen} FROM ({select})"
        label = self._label(part for part in self.list_fields() if part != "colour")
        run = "CASE WHEN run = '' THEN series ELSE series || ' / ' || run END"
        return f"{chosen} REPLACE ({label} AS series, {run} AS run) FROM ({select})"

    def find_groups(self, select: str, source: Source) -> Groups:
        """Find the groups and colours of the rows of a SELECT.

        Raises a ``ReportError`` if a setting changes within a run, or in a series that has one colour.
        """
        if not self.list_fields():
            return Groups()
        by = self._label(part for part in self.list_fields() if part != "colour")
        colour = self._label(part for part in self.list_fields() if part == "colour")
        settings = ", ".join(f"list(DISTINCT {part})" for part in self.list_fields() if part != "colour")
        rows = get_engine().fetch_rows(
            f"SELECT series, run, list(DISTINCT {by}), list(DISTINCT {colour}), [{settings}] "  # noqa: S608 - quoted
            f"FROM ({select}) "
            'GROUP BY series, run ORDER BY min("row")'
        )
        colours: dict[str, str] = {}
        members: dict[str, dict[str, None]] = {}
        values: dict[str, dict[str, str | None]] = {}
        for series, run, labels, own, cells in rows:
            changing = {name: found for name, found in zip(self.by, cells, strict=True) if len(found) > 1}
            several = labels if len(changing) != 1 else next(iter(changing.values()))
            for names, found in ((changing, several), (self.colour, own)):
                if len(found) > 1:
                    texts = sorted("none" if text is None else text for text in found)
                    raise ReportError(_explain_change(source, names, series, run, texts))
            group = labels[0] if self.by else series
            members.setdefault(group, {})[series] = None
            values.setdefault(group, {name: found[0] for name, found in zip(self.by, cells, strict=True)})
            if self.colour and colours.setdefault(group, own[0]) != own[0]:
                (name,) = self.colour
                message = f'"{group}" has runs with {join_names(sorted([colours[group], own[0]]))}'
                step = f"It can have one colour: group its runs with by: {name}, too"
                raise ReportError(Diagnostic(source.location, message, step, Stage.DATA))
        ordered = sorted(members, key=rank_label) if self.by else []
        pools = _describe_pools(ordered, members)
        note = (f"Grouped by {join_names(list(self.by))}{pools}.",) if self.by else ()
        by_colour = sorted(colours.items(), key=lambda pair: rank_label(pair[1]))
        return Groups(tuple(ordered), dict(by_colour), note, values)


def _describe_pools(groups: Sequence[str], members: Mapping[str, Mapping[str, None]]) -> str:
    """Return words for groups that have runs of several series: which, or only how many if they are many."""
    pooled = {group: tuple(members[group]) for group in groups if len(members[group]) > 1}
    names = {group: join_names(list(series), most=_MOST_NAMES) for group, series in pooled.items()}
    if len(set(pooled.values())) > 1 and sum(map(len, pooled.values())) > _MOST_POOLED:
        names = {group: f"{len(series)} series" for group, series in pooled.items()}
    if len(pooled) == len(groups) > 1 and len(set(names.values())) == 1:
        names = {"each": names[groups[0]]}
    return ": " * bool(names) + "; ".join(f"{group} has runs of {series}" for group, series in names.items())


def separate_runs(root: Path, layout: Layout, groups: GroupColumns, filters: Filters) -> Layout:
    """Return a layout in which runs of a table are apart by the settings that group them.

    A setting separates runs if a run has several values of it at most of its steps, as in a table of a sweep,
    or at any of its problems. One that changes from step to step, or is a property of problems, does not.
    """
    parts = layout.outcomes
    keys = (parts.problem, parts.sample) if parts else (layout.roles.step,)
    columns = dict.fromkeys((*groups.by.values(), *groups.colour.values()))
    names = [name for name in columns if name not in keys]
    if layout.settings or keys[0] is None or not names:
        return layout

    key = {f"k{n}": name for n, name in enumerate((*keys, layout.roles.metric))}

    def list_fields(rows: Rows) -> dict[str, str]:
        run = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        run |= {part: rows.as_text(name) for part, name in key.items()}
        return run | {f"c{n}": rows.as_text(name) for n, name in enumerate(names)}

    rows = select_files(root, layout, list_fields, filters)
    several = ", ".join(f"count(DISTINCT c{n}) > 1 AS c{n}" for n in range(len(names)))
    enough = "bool_or(c{0}) AS c{0}" if parts else "2 * count_if(c{0}) > count(*) AS c{0}"
    most = ", ".join(enough.format(n) for n in range(len(names)))
    ((*found,),) = get_engine().fetch_rows(
        f"WITH steps AS (SELECT series, run, {several} FROM ({rows}) "  # noqa: S608 - our own names
        f"GROUP BY series, run, {', '.join(key)}), runs AS (SELECT {most} FROM steps GROUP BY series, run) "
        "SELECT bool_or(COLUMNS(*)) FROM runs"
    )
    return replace(layout, run_parts=tuple(compress(names, found)))


def list_experiment_settings(layout: Layout) -> list[str]:
    """Return the settings that a logger recorded of its runs, except seeds, names and paths."""
    names = dict.fromkeys(name for run in layout.settings for name in run if is_experiment_setting(name))
    return [name for name in names if name not in _OF_ONE_RUN]


def _list_differing_settings(root: Path, layout: Layout, source: Source) -> list[str]:
    """Return the settings in which runs differ, except seeds, names and paths.

    Of a table they are the columns that are the same throughout each run and not in all runs, where columns
    that distinguish the rows of a step separate runs, too. Those that are read as metrics count if each run
    has several values of them, and the series if it has several runs.
    """
    if layout.settings:
        settings = list_experiment_settings(layout)
        return [name for name in settings if len({run.get(name) for run in layout.settings}) > 1]
    raw = {name for raws in layout.metrics.values() for name in raws}
    series = layout.roles.series
    taken = {name for roles in (layout.roles, layout.outcomes) if roles for name in astuple(roles)} - {series}
    kinds = {name: kind for name, kind in layout.kinds.items() if name not in taken and kind is not Kind.TIME}
    names = [name for name in kinds if is_experiment_setting(name)]
    if not names:
        return []
    filters = resolve_filters(source.settings.filter, tuple(layout.kinds))
    layout = _separate_all_runs(root, layout, [name for name in names if name != series], filters)

    def list_cells(rows: Rows) -> dict[str, str]:
        cells = {f"c{index}": rows.as_text(name) for index, name in enumerate(names)}
        run = {"series": select_series(rows, layout, source.settings.rename), "run": select_run(rows, layout)}
        return run | cells

    def list_all(form: str) -> str:
        return ", ".join(form.format(f"c{index}") for index in range(len(names)))

    rows = select_files(root, layout, list_cells, filters)
    counts = list_all("count(DISTINCT {0}) AS n{0}, min({0}) AS {0}, count({0}) AS m{0}")
    each = f"SELECT {counts} FROM ({rows}) GROUP BY series, run"  # noqa: S608 - quoted
    differs, shared = "max(n{0}) = 1 AND count(DISTINCT {0}) > 1", "count(DISTINCT {0}) < count(*)"
    tests = [list_all(test) for test in (differs, shared, "min(m{0})")]
    ((*found,),) = get_engine().fetch_rows(f"SELECT {', '.join(tests)} FROM ({each})")  # noqa: S608 - quoted
    count = len(names)
    return [
        name
        for name, fits, several, fewest in zip(
            names, found[:count], found[count : 2 * count], found[2 * count :], strict=True
        )
        if fits and (several if name == series else fewest > 1 or name not in raw)
    ]


def _separate_all_runs(root: Path, layout: Layout, columns: Sequence[str], filters: Filters) -> Layout:
    """Return a layout in which runs of a table are apart by those columns that distinguish rows of a step."""
    step, parts = layout.roles.step, layout.outcomes
    if not (step or parts):
        return layout

    def list_keys(rows: Rows) -> dict[str, str]:
        names = [parts.problem, parts.sample] if parts else [step]
        cells = [f"coalesce({rows.as_text(name)}, '')" for name in names]
        part = rows.as_text(parts.benchmark if parts else layout.roles.metric)
        keys = {"part": f"coalesce({part}, '')", "step": " || chr(31) || ".join(cells), "value": "1"}
        run = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        return {**run, **keys, "row": rows.get_position()}

    keys = sample_keys(RowKeys(root, layout, filters, select_files(root, layout, list_keys, filters)))
    found = find_distinguishing_columns(keys, columns, most=MOST_SERIES)
    return replace(layout, run_parts=found[0]) if found else layout


def read_run_settings(
    root: Path, source: Source, names: Sequence[str], optional: Sequence[str] = ()
) -> dict[tuple[str, str], dict[str, str | None]]:
    """Return the settings of each run, by series and run: those of ``names``, or all in which runs differ.

    Those of ``optional`` are added as far as there are any. Names may be patterns, as in ``expand_settings``.
    Raises a ``ReportError`` if one matches no setting, is unknown, or changes within a run.
    """
    layout = get_layout(source)
    chosen = expand_settings(root, names, layout, source)
    chosen = chosen or tuple(_list_differing_settings(root, layout, source))
    # Each run is shown with its series.
    chosen = tuple(name for name in chosen if name in names or name != layout.roles.series)
    layout = add_settings(layout, [*chosen, *optional])
    columns = {name: resolve_column(name, layout) for name in (*chosen, *optional)}
    columns = {name: column for name, column in columns.items() if column or name not in optional}
    chosen = tuple(columns)
    if unknown := [name for name, column in columns.items() if column is None]:
        step = f"There are {quote_names(list_setting_names(layout) or tuple(layout.kinds))}"
        problems = (
            f'"{name}" is neither a setting nor a column of source "{source.name}"' for name in unknown
        )
        raise ReportError(*(Diagnostic(source.location, text, step, Stage.DATA) for text in problems))

    def list_cells(rows: Rows) -> dict[str, str]:
        cells = {f"c{n}": rows.as_text(column) for n, column in enumerate(columns.values()) if column}
        run = {"series": select_series(rows, layout, source.settings.rename), "run": select_run(rows, layout)}
        return run | cells

    found = ", ".join(f"list(DISTINCT c{n})" for n in range(len(chosen)))
    rows = get_engine().fetch_rows(
        f"SELECT series, run, [{found}] FROM ({select_files(root, layout, list_cells)}) "  # noqa: S608 - quoted
        "GROUP BY series, run ORDER BY series, run"
    )
    settings = {}
    for series, run, cells in rows:
        for name, values in zip(chosen, cells, strict=True):
            if len(values) > 1:
                raise ReportError(_explain_change(source, [name], series, run, sorted(values)))
        settings[series, run] = {n: (v[0] if v else None) for n, v in zip(chosen, cells, strict=True)}
    return settings


def find_pooled_settings(root: Path, source: Source, where: Filters) -> dict[str, dict[str, list[str]]]:
    """Return the recorded settings in which runs of one series differ, with their values, by series.

    ``where`` are conditions of a block. Empty if ``source.yml`` says which runs belong together.
    """
    layout = get_layout(source)
    names = list_experiment_settings(layout)
    names = [name for name in names if len({run.get(name) for run in layout.settings}) > 1]
    if not names or decides_series(source.settings, layout):
        return {}
    named = {**source.settings.filter, **dict(where)}
    layout = add_settings(layout, [*names, *named])
    columns = [resolve_column(name, layout) for name in names]

    def list_cells(rows: Rows) -> dict[str, str]:
        cells = {f"c{n}": rows.as_text(column) for n, column in enumerate(columns) if column}
        return {"series": select_series(rows, layout, source.settings.rename), **cells}

    conditions = tuple((resolve_column(name, layout) or name, cell) for name, cell in named.items())
    # A run without a setting has no value of it.
    values = "coalesce(list(DISTINCT c{0}) FILTER (c{0} IS NOT NULL), [])"
    found = ", ".join(values.format(n) for n, column in enumerate(columns) if column)
    rows = get_engine().fetch_rows(
        f"SELECT series, [{found}] FROM ({select_files(root, layout, list_cells, conditions)}) "  # noqa: S608 - quoted
        "GROUP BY series ORDER BY series"
    )
    known = [name for name, column in zip(names, columns, strict=True) if column]
    pooled = {
        series: {n: sorted(v, key=rank_label) for n, v in zip(known, cells, strict=True) if len(v) > 1}
        for series, cells in rows
    }
    return {series: found for series, found in pooled.items() if found}


def expand_settings(root: Path, names: Sequence[str], layout: Layout, source: Source) -> tuple[str, ...]:
    """Replace patterns by the settings that they match and in which runs differ, except seeds and paths.

    Raises a ``ReportError`` if a pattern matches none.
    """
    if not any(map(is_pattern, names)):
        return tuple(names)
    known = _list_differing_settings(root, layout, source)
    known += [name for name in names if not is_pattern(name) and name not in known]
    chosen = choose_names(names, known)
    what, owner = "setting in which runs differ", f'source "{source.name}"'
    problems = []
    for text in chosen.unmatched:
        message, step = explain_unmatched(text, what, known, owner)
        step = step if known else f"Name columns instead, of {join_names(list(layout.kinds))}"
        problems.append(Diagnostic(source.location, message, step, Stage.DATA))
    if problems:
        raise ReportError(*problems)
    return chosen.names


def rank_label(label: str) -> tuple[tuple[int, float, str], ...]:
    """Return a sort key that orders numbers by value, also those in words: m2 before m10."""
    ranks: list[tuple[int, float, str]] = []
    for part in label.split(", "):
        name, _, text = part.rpartition("=")
        try:
            number = float(text) if name else math.nan
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            ranks.append((0, number, name))
        else:
            ranks += rank_digits(part)
    return tuple(ranks)


def _explain_change(
    source: Source, names: Collection[str], series: str, run: str, found: Sequence[str]
) -> Diagnostic:
    whose = f"run {run} of {series}" if run else series
    shown = f"{join_names(found[:3])}{' and others' if len(found) > 3 else ''}"  # noqa: PLR2004 - a few of them
    verb = "changes" if len(names) == 1 else "change"
    message = f"{join_names(list(names))} {verb} within {whose}: {shown}"
    step = "Name a setting, which is the same throughout a run"
    if source.kind == "outcomes":
        stated = source.settings.columns.series or "NAME"
        series = ", ".join([*([stated] if isinstance(stated, str) else stated), *names])
        step += (
            f"; say columns: {{series: [{series}]}} in source.yml if runs differ in it, or write a problems "
        )
        step += "block, whose slices are columns of problems"
    return Diagnostic(source.location, message, step, Stage.DATA)


def list_values(root: Path, source: Source, names: Iterable[str]) -> dict[str, str]:
    """Return the values that columns or settings have, in words; those that are unknown are left out."""

    def select_cell(column: str, rows: Rows) -> dict[str, str]:
        return {"cell": rows.as_text(column)}

    names = tuple(names)
    layout = add_settings(get_layout(source), names)
    found = {}
    for name in names:
        if (column := resolve_column(name, layout)) is None:
            continue
        select = select_files(root, layout, partial(select_cell, column))
        cells = get_engine().fetch_rows(
            f"SELECT cell, count(*) FROM ({select}) WHERE cell IS NOT NULL GROUP BY cell "  # noqa: S608 - quoted
            f"ORDER BY TRY_CAST(cell AS DOUBLE), cell LIMIT {_MOST_VALUES + 1}"
        )
        values = [cell for cell, _ in cells]
        more = [f"more than {format_count(_MOST_VALUES, 'value')}"] if len(values) > _MOST_VALUES else []
        found[name] = join_names([*values[:_MOST_VALUES], *more]) if values else "no value"
    return found
