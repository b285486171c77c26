"""Columns that distinguish rows of one step: labels of series, settings of runs, numbers that count runs.

And what ``describe`` suggests for a table, where names of columns do not show it.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import combinations, compress, starmap
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from reportgen.core.directions import guess_direction
from reportgen.core.score_names import is_run_score
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.layout import BENCHMARKS, ENDED_WELL
from reportgen.formats.sql import get_engine, get_errors
from reportgen.read.runs.labels import find_states, is_setting_number, is_setting_text
from reportgen.read.runs.names import name_alone
from reportgen.read.scored.answer_tables import suggest_answers
from reportgen.read.tables.layout import (
    OUTCOME_NAMES,
    TOTAL_NAMES,
    TotalRoles,
    detect_totals,
    get_layout,
    get_series_parts,
    suggest_totals,
)
from reportgen.read.tables.mapped_json import list_paths
from reportgen.read.tables.rows import (
    list_free_columns,
    resolve_filters,
    select_files,
    select_run,
    select_series,
)
from reportgen.read.tables.statistics import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import SourceLocation
    from reportgen.read.tables.layout import Filters, Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# A series has few names: a column with more is an id, note or time, which only an error may suggest.
MOST_NAMES: Final = 20
MOST_SERIES: Final = 500
# From a larger file only some steps or problems are read, each with all of its rows.
SAMPLED_BYTES: Final = 4_000_000
# Columns that are tried together, and how many at once.
_MOST_JOINED: Final = 6
_MOST_TOGETHER: Final = 3


class RowKeys(Struct, frozen=True):
    """SQL that identifies the rows of a table, and the filters that choose among them.

    ``select`` has the columns ``series, run, part, step, value, row`` of every such row: ``part`` is its
    metric or benchmark, ``step`` what a run may have once: a step, or a problem and sample.
    """

    root: Path
    layout: Layout
    filters: Filters
    select: str


def count_bytes(root: Path, layout: Layout) -> int:
    """Return the size of the files of a source."""
    return sum((root / file.place).stat().st_size for file in layout.files)


def sample_keys(keys: RowKeys) -> RowKeys:
    """Return the keys of a sample of steps or problems that is small enough to read in a moment."""
    every = 1 + count_bytes(keys.root, keys.layout) // SAMPLED_BYTES
    select = f"SELECT * FROM ({keys.select}) WHERE hash(step) % {every} = 0"  # noqa: S608 - our own names
    return keys if every == 1 else replace(keys, select=select)


def find_distinguishing_columns(
    keys: RowKeys, columns: Sequence[str], *, most: int = MOST_NAMES
) -> list[tuple[str, ...]]:
    """Return the columns, otherwise pairs, otherwise triples, that distinguish all repeated rows.

    Each is a label: it has at most ``most`` names, each in several rows, and no empty cell. A number is one
    only if it has no more values than one step has rows: a metric has many values.
    """
    if not columns:
        return []
    cursor = get_engine().open_cursor()
    cursor.execute(
        f"CREATE TEMP TABLE repeated AS SELECT * FROM ("  # noqa: S608 - our own names
        f"SELECT *, count(*) OVER (PARTITION BY series, run, part, step) AS several "
        f"FROM {join_cells(keys, columns)} WHERE value IS NOT NULL) WHERE several > 1"
    )

    def is_unique(*indices: int) -> bool:
        key = ", ".join(("series, run, part, step", *(f"c{index}" for index in indices)))
        again = f"SELECT 1 FROM repeated GROUP BY {key} HAVING count(*) > 1 LIMIT 1"  # noqa: S608
        return cursor.execute(again).fetchone() is None

    def is_label(index: int, name: str) -> str:
        names, number = f"count(DISTINCT c{index})", keys.layout.kinds[name] in NUMERIC
        few = f"{names} <= max(several)" if number else f"2 * {names} <= count(*)"
        return f"{names} BETWEEN 2 AND {most} AND {few} AND count(c{index}) = count(*)"

    try:
        tests = ", ".join(starmap(is_label, enumerate(columns)))
        fits = cursor.execute(f"SELECT {tests} FROM repeated").fetchone() or ()  # noqa: S608
        candidates = list(compress(range(len(columns)), fits))
        found: list[tuple[int, ...]] = [(index,) for index in candidates if is_unique(index)]
        for count in range(2, _MOST_TOGETHER + 1):
            together = combinations(candidates[:_MOST_JOINED], count)
            found = found or [indices for indices in together if is_unique(*indices)]
    finally:
        cursor.execute("DROP TABLE repeated")
    return [tuple(columns[index] for index in indices) for indices in found]


def find_dividing_columns(keys: RowKeys, columns: Sequence[str]) -> list[str]:
    """Return the columns that divide repeated rows into few groups, each of several rows, such as agents.

    Most steps that have several rows have several names, and no cell is empty.
    """
    if not columns:
        return []
    several = "OVER (PARTITION BY series, run, part, step)"
    each = range(len(columns))
    names = ", ".join(f"count(DISTINCT c{n}) {several} > 1 AS d{n}" for n in each)
    repeated = (
        f"SELECT * FROM (SELECT *, count(*) {several} AS several, {names} "  # noqa: S608 - our own names
        f"FROM {join_cells(keys, columns)} WHERE value IS NOT NULL) WHERE several > 1"
    )
    tests = (
        f"count(DISTINCT c{n}) BETWEEN 2 AND least({MOST_NAMES}, count(*) / 2) AND count(c{n}) = count(*) "
        f"AND 2 * count_if(d{n}) >= count(*)"
        for n in each
    )
    (found,) = get_engine().fetch_rows(f"SELECT {', '.join(tests)} FROM ({repeated})")  # noqa: S608
    return list(compress(columns, found))


def suggest_distinct_totals(
    root: Path, layout: Layout, settings: SourceSettings, place: SourceLocation
) -> dict[str, str] | None:
    """Return the columns that ``suggest_totals`` names; None if several rows are of one run and benchmark."""
    columns = suggest_totals(layout, settings)
    if columns is None or lists_runs(root, layout, settings):
        return None
    names = settings.columns.model_copy(update=columns)
    totals = settings.model_copy(update={"form": "totals", "columns": names})
    roles = detect_totals(layout.kinds, layout.roles, totals, place)
    return columns if roles and not has_repeated_totals(root, layout, settings, roles) else None


def lists_runs(root: Path, layout: Layout, settings: SourceSettings) -> bool:
    """Return whether rows are runs, as loggers export them: with the state or the time of day of each.

    Those of some states may be chosen by ``filter``.
    """
    if states := find_states(layout.kinds):
        return not settings.filter.keys() & {*states}
    times = [name for name, kind in layout.kinds.items() if kind is Kind.TIME]
    if not times:
        return False

    def list_cells(rows: Rows) -> dict[str, str]:
        return {f"c{n}": rows.as_text(name) for n, name in enumerate(times)}

    rows = select_files(root, layout, list_cells, resolve_filters(settings.filter, tuple(layout.kinds)))
    tests = (f"bool_and(contains(c{n}, ':'))" for n in range(len(times)))
    # Faults in the rows are reported when they are read.
    with suppress(*get_errors()):
        return any(*get_engine().fetch_rows(f"SELECT {', '.join(tests)} FROM ({rows})"))  # noqa: S608 - quoted
    return False


class RunTable(Struct, frozen=True):
    """Columns of a table whose rows may be finished runs: those of names, metrics and settings."""

    names: Mapping[str, str | tuple[str, ...]]
    metrics: tuple[str, ...]
    settings: tuple[str, ...]


def find_run_table(layout: Layout, settings: SourceSettings) -> RunTable | None:
    """Return the columns of a table without steps whose rows may be runs, going by their names.

    It has a usual metric, no benchmark, and something else that a row of scores of a model does not have.
    """
    roles, kinds = layout.roles, layout.kinds
    other = settings.form or layout.outcomes or layout.totals or layout.spread or layout.long or roles.step
    parted = {*TOTAL_NAMES["benchmark"], *OUTCOME_NAMES["problem"]} - {"id", "idx"}
    benchmarks = [name for name in kinds if name.strip().casefold() in parted]
    parts = get_series_parts(settings)
    named = {*parts, *filter(None, astuple(roles))}
    free = [name for name in kinds if name not in named and kinds[name] is not Kind.EMPTY]
    metrics = tuple(name for name in free if kinds[name] in NUMERIC and is_run_score(name))
    rest = tuple(name for name in free if name not in metrics)
    if other or benchmarks or not metrics or all(name.casefold() in NAMES for name in rest):
        return None
    found = {"series": parts or roles.series, "run": roles.run, "seed": roles.seed}
    chosen = (
        name
        for name in rest
        if is_setting_number(name) or (is_setting_text(name) and guess_direction(name) is None)
    )
    return RunTable({part: name for part, name in found.items() if name}, metrics, tuple(chosen))


def find_states_by_column(root: Path, layout: Layout, settings: SourceSettings) -> dict[str, list[str]]:
    """Return the states by the columns that say how runs ended; an empty cell is the state "".

    Columns that ``filter`` names are left out.
    """
    names = [name for name in find_states(layout.kinds) if name not in settings.filter]
    filters = resolve_filters(settings.filter, tuple(layout.kinds))
    states: dict[str, list[str]] = {}
    for name in names:
        rows = select_files(root, layout, partial(_select_state, name=name), filters)
        query = f"SELECT DISTINCT coalesce(state, '') FROM ({rows}) ORDER BY 1"  # noqa: S608
        # Faults in the rows are reported when they are read.
        with suppress(*get_errors()):
            states[name] = [state for (state,) in get_engine().fetch_rows(query)]
    return states


def choose_finished(states: Mapping[str, Sequence[str]]) -> dict[str, str | list[str]]:
    """Return the states of runs that ended well by column; a column without such a state is left out."""
    found = {
        name: [state for state in cells if state.strip().casefold() in ENDED_WELL]
        for name, cells in states.items()
    }
    return {name: ended if len(ended) > 1 else ended[0] for name, ended in found.items() if ended}


def _select_state(rows: Rows, name: str) -> dict[str, str]:
    return {"state": rows.as_text(name)}


def _write_run_keys(
    root: Path, table: RunTable, layout: Layout, settings: SourceSettings
) -> dict[str, object]:
    """Return what ``source.yml`` says of finished runs; nothing if the author has to choose their states."""
    found = find_states_by_column(root, layout, settings)
    states = choose_finished(found)
    if any(len(cells) > 1 for name, cells in found.items() if name not in states):
        return {}
    columns = {"columns": {**table.names}} if table.names else {}
    chosen = {"filter": {**settings.filter, **states}} if states else {}
    return {"form": "runs", **columns, "metrics": [*table.metrics], **chosen}


def has_repeated_totals(root: Path, layout: Layout, settings: SourceSettings, roles: TotalRoles) -> bool:
    """Return whether several rows are of one run, benchmark and metric."""

    def list_names(rows: Rows) -> dict[str, str]:
        run = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        return run | {"benchmark": rows.as_text(roles.benchmark), "metric": rows.as_text(roles.metric)}

    filters = resolve_filters(settings.filter, tuple(layout.kinds))
    rows = select_files(root, layout, list_names, filters)
    keys = "series, run, benchmark, metric"
    repeated = f"SELECT 1 FROM ({rows}) GROUP BY {keys} HAVING count(*) > 1 LIMIT 1"  # noqa: S608
    # Faults in the rows are reported when they are read.
    with suppress(*get_errors()):
        return bool(get_engine().fetch_rows(repeated))
    return False


def find_run_columns(keys: RowKeys, columns: Sequence[str], *, shared: bool) -> list[str]:
    """Return the columns that have one name in each run, and not the same in all runs.

    If ``shared``, some runs must have the same name, as with a setting.
    """
    if not columns:
        return []
    most = f"least(count(*) - 1, {MOST_NAMES})" if shared else str(MOST_NAMES)
    each = range(len(columns))
    same = (
        f"count(DISTINCT c{n}) = 1 AND count(c{n}) = count(*) AS same{n}, min(c{n}) AS v{n}" for n in each
    )
    varies = (f"bool_and(same{n}) AND count(DISTINCT v{n}) BETWEEN 2 AND {most}" for n in each)
    runs = f"SELECT series, run, {', '.join(same)} FROM {join_cells(keys, columns)} GROUP BY series, run"  # noqa: S608
    (found,) = get_engine().fetch_rows(f"SELECT {', '.join(varies)} FROM ({runs})")  # noqa: S608 - our own names
    return list(compress(columns, found))


def join_cells(keys: RowKeys, columns: Sequence[str]) -> str:
    """Return every row with its keys and the cells of columns as texts, ``c0`` and so on."""

    def list_cells(rows: Rows) -> dict[str, str]:
        return {"row": rows.get_position(), **{f"c{n}": rows.as_text(name) for n, name in enumerate(columns)}}

    cells = select_files(keys.root, keys.layout, list_cells, keys.filters)
    return f'({keys.select}) JOIN ({cells}) USING ("row")'


def confirm_settings(stated: SourceSettings, source: Source, root: Path) -> dict[str, object]:
    """Return the keys that say what the content of tables showed: that they hold totals, and their score."""
    known, layout = source.settings, get_layout(source)
    if layout.totals and has_repeated_totals(root, layout, known, layout.totals):
        return {}
    form = {"form": known.form} if known.form == "totals" != stated.form else {}
    if layout.outcomes or (score := known.columns.score) in {None, stated.columns.score}:
        return {**form}
    return {**form, "columns": {**stated.columns.model_dump(exclude_none=True), "score": score}}


def list_changes(suggested: Mapping[str, object], stated: SourceSettings) -> dict[str, Any]:
    """Return the suggested keys of ``source.yml`` that are not stated so already.

    Columns of ``format: mapped`` become paths; one that is at no path cannot be named.
    """
    own = stated.model_dump(mode="json", exclude_unset=True)
    columns = stated.columns.model_dump(mode="json", exclude_none=True)
    paths = list_paths(stated)
    changes = {key: [*one] if isinstance(one, tuple) else one for key, one in suggested.items()}
    if paths and isinstance(named := changes.get("columns"), dict):
        found = {
            role: [paths.get(one) for one in ([name] if isinstance(name, str) else name)]
            for role, name in named.items()
        }
        several = {role: some if len(some) > 1 else some[0] for role, some in found.items() if all(some)}
        changes["columns"] = {**columns, **several}
    return {key: one for key, one in changes.items() if one != own.get(key)}


def _list_scores(layout: Layout) -> list[str]:
    """Return the columns of numbers with the names of usual scores."""
    return [name for name in list_free_columns(layout, NUMERIC) if is_run_score(name)]


def suggest_for_table(source: Source, root: Path, steps: Sequence[str]) -> dict[str, object]:
    """Suggest keys for what names in a table do not show: that it holds totals, or its step.

    ``steps`` are columns that may be the step, the likeliest first.
    """
    layout, settings = get_layout(source), source.settings
    if layout.spread:
        # Keys that confirm the series and seeds found in the names of a chart's runs.
        runs = dict.fromkeys(one.run for one in layout.spread.values())
        return name_alone(runs, settings, layout.labels[0])[1]
    if layout.outcomes or layout.totals or layout.roles.step is not None:
        form = {} if layout.long else {"form": "wide"}
        # What a warning of columns or rows that were left out says, too.
        left_out = {warning.confirmed_by for warning in source.warnings}
        names = {"benchmarks": layout.benchmarks, "series": layout.series}.get(settings.wide or "", ())
        named: dict[str, object] = {}
        if names and "metrics" in left_out:
            named["metrics"] = list(names)
        if "filter" in left_out:
            named["filter"] = {**settings.filter, "benchmark": list(layout.benchmarks)}
        return {**form, "wide": settings.wide, **named} if settings.wide else {}
    if answers := suggest_answers(root, layout, settings):
        return answers
    finished = None if steps else find_run_table(layout, settings)
    totals = None if steps or finished else suggest_distinct_totals(root, layout, settings, source.location)
    if totals is not None and layout.roles.series and len(scores := _list_scores(layout)) > 1:
        # As totals only one of them would be read.
        of_benchmarks: dict[str, object] = {"form": "wide", "wide": "benchmarks", "metrics": scores}
        chosen: dict[str, object] = {"filter": {**settings.filter, "metric": scores[0]}}
        has_benchmark = any(name.casefold() in BENCHMARKS for name in layout.kinds)
        return {"form": "wide", "wide": "metrics", **chosen} if has_benchmark else of_benchmarks
    if totals is not None:
        columns = {**settings.columns.model_dump(exclude_none=True), **totals}
        return {"form": "totals", **({"columns": columns} if totals else {})}
    stepped = {**settings.columns.model_dump(exclude_none=True), "step": steps[0]} if steps else {}
    known: dict[str, object] = {"columns": stepped} if stepped else {}
    return _write_run_keys(root, finished, layout, settings) if finished else known
