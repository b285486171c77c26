"""Rows that repeat a step or a problem: another column is the series, or an error asks what they are."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from itertools import combinations, compress, starmap
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import duckdb

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.messages import list_names
from reportgen.formats.sql import get_engine
from reportgen.read.plan import Plan, build_statement
from reportgen.read.runs.labels import is_experiment_setting, split_seed
from reportgen.read.tables.layout import is_name_of, resolve_filters
from reportgen.read.tables.rows import locate_row, select_files, select_run, select_series
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence
    from pathlib import Path

    from reportgen.read.tables.layout import Filters, Layout, OutcomeRoles
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Of a larger file only some steps, or problems, are looked at, each with all of its rows.
_BYTES: Final = 4_000_000
# Bytes of a file that is searched for numbers that do not change in a run.
_SMALL: Final = 50_000_000
# A wide table is looked at through some of its metrics.
_MOST_METRICS: Final = 8
_LONGEST: Final = 40
# What outcomes are grouped by is no model.
_PARTS_OF_A_BENCHMARK: Final = frozenset(
    (
        *("task", "dataset", "subset", "split", "subject", "category", "topic", "domain", "area", "level"),
        *("difficulty", "type", "kind", "lang", "language", "source", "tag", "turn", "metric", "scorer"),
        *("judge", "grader"),
    )
)
_OF_STEPS: Final = (
    "repeat: runs (each row is of a run of its own), repeat: mean (they are averaged) or repeat: last "
    "(the last one counts)"
)
_OF_ANSWERS: Final = (
    "repeat: mean (they are samples of the problem), repeat: runs (each is of a run of its own) or "
    "repeat: last (the last one counts)"
)
# What is compared has few names, a column with more is an id, a note or a time; an error may name such a one.
_MOST_NAMES, _MOST_SERIES = 20, 500
_MOST_RUNS: Final = 200
_NUMBER: Final = re.compile(r"\d+$")
# A number, or letters and digits as a machine makes them.
_ID: Final = re.compile(r"[\d.]+|[0-9a-f-]{7,}|(?=.*\d)[a-z0-9]{8}")
# Columns that are looked at together, two by two.
_MOST_PAIRED: Final = 6
# A resume leaves more steps than it repeats: so many times as many as it goes back.
_STEPS_OF_A_RESUME: Final = 3
# A step that is written twice in a row is an exception, too: of so many steps there is one.
_STEPS_OF_A_TIE: Final = 20


@dataclass(frozen=True, slots=True)
class _RowKeys:
    """What tells the rows of a table apart, as SQL, and the filters that say which of them count.

    ``select`` has the columns ``series, run, part, step, value, row`` of every such row; ``part`` is its
    metric or benchmark, ``step`` what it may have once a run: a step, or a problem and sample.
    """

    root: Path
    layout: Layout
    filters: Filters
    select: str


class _Repeat(NamedTuple):
    """Two rows of one step: whose they are as in ``_RowKeys``, their positions, and their values."""

    series: str
    run: str
    part: str
    step: Any  # a number or, of answers, the problem and the sample
    first: int
    second: int
    values: tuple[float, float]
    surplus: int  # how many rows have the step of an earlier one
    rows: int


def find_series(
    root: Path, layout: Layout, settings: SourceSettings, place: SourceLocation
) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """The one column of words that has to be the series, where none is known by its name or stated.

    It is the only one that tells apart rows which share their step, or which has one name in each run and
    several in all; a table of several files has their names for series. Where runs differ in something else
    there is a warning at ``place`` instead.
    """
    known = layout.roles.series or layout.spread or len(layout.files) > 1 or settings.repeat
    repeatable = layout.outcomes or (layout.roles.step and layout.metrics and not layout.totals)
    if known or not repeatable:
        return None, ()
    texts = _list_free_columns(layout, {Kind.TEXT})
    if layout.outcomes:
        texts = [name for name in texts if name.strip().casefold() not in _PARTS_OF_A_BENCHMARK]
    has_runs = bool(layout.roles.run or layout.roles.seed)
    if not (texts or has_runs):
        return None, ()
    filters = resolve_filters(settings.filter, tuple(layout.kinds))
    # What is wrong in the rows is reported where they are read.
    with suppress(duckdb.Error):
        if layout.outcomes:
            keys = _sample_keys(_make_answer_keys(root, layout, layout.outcomes, filters))
        else:
            metrics = tuple(layout.metrics)[: _MOST_METRICS if _count_bytes(root, layout) <= _BYTES else 1]
            keys = _sample_keys(_make_step_keys(root, layout, metrics, filters))
        if texts and _find_repeat(keys):
            alone = [names[0] for names in _find_distinguishing_columns(keys, texts) if len(names) == 1]
            alone = [name for name in alone if _is_comparable(name)] or alone
            return (alone[0] if len(alone) == 1 else None), ()
        if has_runs:
            found = _find_run_columns(keys, [name for name in texts if _is_comparable(name)])
            if len(found) == 1:
                return found[0], ()
            return None, tuple(_warn_merged(keys, found, settings, place))
    return None, ()


def _warn_merged(
    keys: _RowKeys, columns: Sequence[str], settings: SourceSettings, place: SourceLocation
) -> Iterator[Diagnostic]:
    """A warning where runs of one series differ in more than seeds, unless ``source.yml`` names the run."""
    layout, roles = keys.layout, keys.layout.roles
    if settings.columns.run or settings.columns.seed:
        return
    small = _count_bytes(keys.root, layout) <= _SMALL
    numbers = _list_free_columns(layout, NUMERIC) if small else []
    differing = [*columns, *_find_run_columns(keys, numbers, shared=True)]
    if differing:
        quoted, column = list_names(f'"{name}"' for name in differing), differing[0]
        verb = f"differ in {quoted}"
    elif roles.run and small and len(labels := _list_run_labels(keys)) > 1:
        verb, column = f"are called {list_names(labels)}", roles.run
    else:
        return
    message = f'runs of the series "{shorten(layout.labels[0], _LONGEST)}" {verb}, and are averaged as one'
    part, own = ("run", roles.run) if roles.run else ("seed", roles.seed or "")
    advice = (
        f"Set columns: {{series: {shorten(column, _LONGEST)}}} in source.yml to compare them, or columns: "
        f"{{{part}: {shorten(own, _LONGEST)}}} if they are repetitions of one experiment"
    )
    yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)


def check_steps(root: Path, plan: Plan) -> None:
    """Refuse rows of one step of one run that are no resume, if ``repeat:`` does not say what they are."""
    if plan.repeat:
        return
    keys = _make_step_keys(root, plan.layout, tuple(plan.metrics), plan.filters, x=plan.step)
    sample = _sample_keys(keys)
    found = _find_repeat(sample)
    if found is not None and sample != keys:
        found = _find_repeat(keys)
    if found is None:
        return
    step = f"{found.step:.12g}"
    if plan.layout.kinds[plan.own_step] is Kind.TIME:
        text = datetime.fromtimestamp(found.step / 1000, UTC).isoformat(" ")
        step = text.removesuffix("+00:00").removesuffix(" 00:00:00")
    name = plan.layout.step_name if plan.own_step == plan.layout.roles.step else ""
    what = f"{shorten(name or plan.own_step, _LONGEST)} {step}"
    raise ReportError(_report_repeat(keys, found, what, _OF_STEPS))


def check_answers(root: Path, source: Source, layout: Layout, filters: Filters) -> None:
    """Refuse several rows of most problems of one run, if neither samples nor ``repeat:`` explain them."""
    if source.settings.repeat or layout.repeat or layout.outcomes is None:
        return
    keys = _make_answer_keys(root, layout, layout.outcomes, filters)
    if found := _find_repeat(keys):
        problem = shorten(str(found.step).partition(chr(31))[0], _LONGEST)
        raise ReportError(_report_repeat(keys, found, f"problem {problem}", _OF_ANSWERS))


def check_clusters(root: Path, layout: Layout, select: str) -> None:
    """Refuse a problem in two clusters, given the SELECT of a source's outcomes, at the first such row."""
    found = get_engine().fetch_rows(
        f'WITH named AS (SELECT problem, cluster, "row" AS place FROM ({select}) '  # noqa: S608 - our own names
        "WHERE cluster IS NOT NULL), "
        "firsts AS (SELECT problem, arg_min(cluster, place) AS first FROM named GROUP BY problem) "
        "SELECT problem, first, cluster, place FROM named JOIN firsts USING (problem) "
        "WHERE cluster <> first ORDER BY place LIMIT 1"
    )
    for problem, first, second, row in found:
        path, line, _ = locate_row(root, layout, row)
        clusters = f'in the cluster "{shorten(first, _LONGEST)}" and here in "{shorten(second, _LONGEST)}"'
        message = f"problem {shorten(problem, _LONGEST)} is {clusters}"
        advice = "Give each problem one cluster in all of its rows"
        raise ReportError(Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA))


def _make_step_keys(
    root: Path, layout: Layout, metrics: tuple[str, ...], filters: Filters, *, x: str | None = None
) -> _RowKeys:
    """The keys of a table of measurements: by its own step, or by x where none is known."""
    raws = {name: layout.metrics[name] for name in metrics}
    intervals: dict[str, dict[str, str]] = {raw: {} for every in raws.values() for raw in every}
    plan = Plan(layout, raws, layout.roles.step or x or "", filters, intervals)
    columns = 'series, run, metric AS part, step, value, "row"'
    select = f"SELECT {columns} FROM ({build_statement(root, plan)})"  # noqa: S608 - our own names
    return _RowKeys(root, layout, filters, select)


def _make_answer_keys(root: Path, layout: Layout, roles: OutcomeRoles, filters: Filters) -> _RowKeys:
    """The keys of a table of outcomes; answers without a score count neither way."""

    def list_cells(rows: Rows) -> dict[str, str]:
        names = [rows.as_text(name) for name in (roles.problem, roles.sample) if name]
        position = rows.get_position()
        return {
            "series": select_series(rows, layout, {}),
            "run": select_run(rows, layout),
            "part": f"coalesce({rows.as_text(roles.benchmark)}, '')" if roles.benchmark else "''",
            "step": " || chr(31) || ".join(f"coalesce({name}, '')" for name in names),
            # Every answer differs from every other.
            "value": f"CAST({position} AS DOUBLE)",
            "row": position,
        }

    def is_scored(rows: Rows) -> str:
        return f"{rows.as_text(roles.score)} IS NOT NULL"

    return _RowKeys(root, layout, filters, select_files(root, layout, list_cells, filters, is_scored))


def _count_bytes(root: Path, layout: Layout) -> int:
    return sum((root / file.place).stat().st_size for file in layout.files)


def _sample_keys(keys: _RowKeys) -> _RowKeys:
    """The keys of so many steps or problems that the rows of a large table are looked at in a moment."""
    every = 1 + _count_bytes(keys.root, keys.layout) // _BYTES
    select = f"SELECT * FROM ({keys.select}) WHERE hash(step) % {every} = 0"  # noqa: S608 - our own names
    return keys if every == 1 else replace(keys, select=select)


# What a run has of rows and steps, and whether nothing explains that some of these repeat.
#
# A run was resumed where its steps go back, in the order of writing, by not more than half of the way that it
# had come, and at last beyond all that was there before; that happens once, or seldom. A step that is written
# twice in a row, now and then, is no other run either, nor is a single row.
_FINITE: Final = (
    f"step BETWEEN -{sql.LARGEST} AND {sql.LARGEST} AND value BETWEEN -{sql.LARGEST} AND {sql.LARGEST}"
)
_STEPS_SQL: Final = """
WITH written AS (SELECT * FROM ({select}) WHERE {finite}),
ordered AS (
    SELECT *, lag(step) OVER (w) AS before, lag(value) OVER (w) AS other,
        first_value(step) OVER (w) AS begin,
        max(step) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS furthest
    FROM written WINDOW w AS (PARTITION BY series, run, part ORDER BY "row")
),
runs AS (
    SELECT series, run, part, count(*) AS rows, count(DISTINCT step) AS steps,
        count(DISTINCT value) AS different, count(*) FILTER (step < before) AS returns,
        count(*) FILTER (step = before AND value <> other) AS again,
        count(*) FILTER (step < before AND 2 * (step - begin) < furthest - begin) AS restarts,
        arg_max(step, "row") >= max(step) AS runs_on,
        rows > steps AND NOT (steps > 1 AND (rows = steps + 1
            OR (restarts = 0 AND runs_on AND (returns <= 1 OR {resume} * returns <= steps)
                AND (again <= 1 OR {tie} * again <= steps)))) AS unclear
    FROM ordered GROUP BY series, run, part
)"""
# Where few problems have several rows, some were answered again, and the last one counts.
_ANSWERS_SQL: Final = """
WITH written AS ({select}),
runs AS (
    SELECT series, run, part, sum(n) AS rows, count(*) AS steps, 1 AS different,
        2 * count(*) FILTER (n > 1) > steps AS unclear
    FROM (SELECT series, run, part, step, count(*) AS n FROM written GROUP BY ALL) GROUP BY series, run, part
)"""
# The first row that repeats a step of its run with another value, and is unclear.
_REPEAT_SQL: Final = """
SELECT series, run, part, step,
    list_slice(list(struct_pack(place := "row", value := value) ORDER BY "row"), 1, 100) AS pair,
    list("row" ORDER BY "row")[2] AS second_row,
    (SELECT sum(rows - steps) FROM runs WHERE unclear) AS surplus, (SELECT sum(rows) FROM runs) AS every
FROM written JOIN (FROM runs WHERE unclear) USING (series, run, part) GROUP BY series, run, part, step
HAVING min(value) < max(value) ORDER BY second_row, max(different) DESC, part LIMIT 1
"""


def _find_repeat(keys: _RowKeys) -> _Repeat | None:
    """The first row that is no resume, and the next one of its step that has another value."""
    runs = _ANSWERS_SQL.format(select=keys.select)
    if keys.layout.outcomes is None:
        again = {"resume": _STEPS_OF_A_RESUME, "tie": _STEPS_OF_A_TIE}
        runs = _STEPS_SQL.format(select=keys.select, finite=_FINITE, **again)
    for series, run, part, step, written, _, surplus, rows in get_engine().fetch_rows(runs + _REPEAT_SQL):
        first, *others = written
        other = next((one for one in others if one["value"] != first["value"]), others[0])
        values, places = (first["value"], other["value"]), (first["place"], other["place"])
        return _Repeat(series, run, part, step, *places, values, int(surplus), int(rows))
    return None


def _find_distinguishing_columns(
    keys: _RowKeys, columns: Sequence[str], *, most: int = _MOST_NAMES
) -> list[tuple[str, ...]]:
    """Those of the columns, or pairs of them, that tell all repeated rows apart by at most so many names.

    A label has few names, each of which stands in several rows, and none is missing. A number is a label only
    where there are not more of them than rows of one step: a metric has many values.
    """
    if not columns:
        return []
    cursor = get_engine().open_cursor()
    cursor.execute(
        f"CREATE TEMP TABLE repeated AS SELECT * FROM ("  # noqa: S608 - our own names
        f"SELECT *, count(*) OVER (PARTITION BY series, run, part, step) AS several "
        f"FROM {_join_cells(keys, columns)} WHERE value IS NOT NULL) WHERE several > 1"
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
        found = found or [pair for pair in combinations(candidates[:_MOST_PAIRED], 2) if is_unique(*pair)]
    finally:
        cursor.execute("DROP TABLE repeated")
    return [tuple(columns[index] for index in indices) for indices in found]


def _find_run_columns(keys: _RowKeys, columns: Sequence[str], *, shared: bool = False) -> list[str]:
    """Those of the columns that have one name in each run, and not the same in all runs.

    If ``shared``, some runs have to have the same name, as with a setting.
    """
    if not columns:
        return []
    most = f"least(count(*) - 1, {_MOST_NAMES})" if shared else str(_MOST_NAMES)
    each = range(len(columns))
    same = (
        f"count(DISTINCT c{n}) = 1 AND count(c{n}) = count(*) AS same{n}, min(c{n}) AS v{n}" for n in each
    )
    varies = (f"bool_and(same{n}) AND count(DISTINCT v{n}) BETWEEN 2 AND {most}" for n in each)
    runs = f"SELECT series, run, {', '.join(same)} FROM {_join_cells(keys, columns)} GROUP BY series, run"  # noqa: S608
    (found,) = get_engine().fetch_rows(f"SELECT {', '.join(varies)} FROM ({runs})")  # noqa: S608 - our own names
    return list(compress(columns, found))


def _list_run_labels(keys: _RowKeys) -> list[str]:
    """What runs are called without their numbers and seeds, sorted; nothing where these are ids."""
    found = get_engine().fetch_rows(f"SELECT DISTINCT run FROM ({keys.select}) ORDER BY 1 LIMIT {_MOST_RUNS}")  # noqa: S608
    runs = [run for (run,) in found if run]
    if any(_ID.fullmatch(run) for run in runs):
        return []
    return list(dict.fromkeys(_NUMBER.sub("", split_seed(run)[0]).strip(" _-./") for run in runs))


def _list_free_columns(layout: Layout, kinds: Container[Kind]) -> list[str]:
    """Columns of some kinds that play no part: words, which may be compared, or numbers taken for metrics."""
    parts = (layout.roles, layout.outcomes, layout.totals)
    taken = {name for part in parts if part for name in astuple(part)}
    return [name for name, kind in layout.kinds.items() if name not in taken and kind in kinds]


def _is_comparable(column: str) -> bool:
    """Whether a column that has one name in each run may be what is compared, and not a place or a time."""
    name = column.strip()
    named = name.casefold().startswith(("exp", "group"))
    return (named or is_experiment_setting(name)) and not is_name_of("run", name)


def _join_cells(keys: _RowKeys, columns: Sequence[str]) -> str:
    """Every row with its keys and the cells of columns, ``c0`` and so on, as texts."""

    def list_cells(rows: Rows) -> dict[str, str]:
        return {"row": rows.get_position(), **{f"c{n}": rows.as_text(name) for n, name in enumerate(columns)}}

    cells = select_files(keys.root, keys.layout, list_cells, keys.filters)
    return f'({keys.select}) JOIN ({cells}) USING ("row")'


def _report_repeat(keys: _RowKeys, found: _Repeat, what: str, otherwise: str) -> Diagnostic:
    """What to tell of rows that repeat, at the first of them."""
    path, line, number = locate_row(keys.root, keys.layout, found.second)
    before, above, earlier = locate_row(keys.root, keys.layout, found.first)
    there = f"line {above}" if above else f"row {earlier}" if earlier else "one place"
    there = there if before == path else f"{there} of {before}"
    here = "here" if line else f"in row {number}" if number else "in another"
    message = f"a second row for {what} of series {shorten(found.series, _LONGEST)}"
    message += f", run {shorten(found.run, _LONGEST)}" if found.run else ""
    one, other = (f"{value:.6g}" for value in found.values)
    rest = "problem" if keys.layout.outcomes else "step"
    if one != other and rest == "step":
        message += f": {shorten(found.part, _LONGEST)} is {one} in {there} and {other} {here}"
    elif number:
        message += f": the first is {there}" if line else f": row {number}, and the first is {there}"
    message += f"; {found.surplus:,} of {found.rows:,} values repeat a {rest} of their run"
    apart = _suggest_columns(keys, found.part)
    advice = f"{apart}. Otherwise set {otherwise}" if apart else f"Set in source.yml {otherwise}"
    return Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA)


def _suggest_columns(keys: _RowKeys, metric: str) -> str:
    """The columns that tell the rows apart, and what to set; empty where there are none."""
    texts, numbers = (_list_free_columns(keys.layout, kinds) for kinds in ({Kind.TEXT}, NUMERIC))
    others = [name for name in numbers if name not in keys.layout.metrics.get(metric, ())]
    apart = _find_distinguishing_columns(keys, [*texts, *others], most=_MOST_SERIES)
    if not apart:
        return ""
    first, *others = (shorten(name, _LONGEST) for name in apart[0])
    series = f"set columns: {{series: {first}}} in source.yml"
    select = "select one {} with filter: in source.yml or in the block"
    if others:
        reason = f'Columns "{first}" and "{others[0]}" together tell these rows apart'
        return f"{reason}: {series}, and {select.format(others[0])}"
    quoted = list_names(f'"{name}"' for (name,) in apart)
    reason = (
        f"Column {quoted} tells these rows apart" if len(apart) == 1 else f"Each of {quoted} tells them apart"
    )
    if is_name_of("step", first):
        step = f"columns: {{step: {first}}}"
        return f"Steps begin anew in each {first}: set {step} in source.yml, and repeat: mean"
    if apart[0][0] not in texts:
        run = f"set columns: {{run: {first}}} in source.yml if it counts runs"
        return f"{reason}: {run}, else {{series: {first}}}"
    return f"{reason}: {series}" + (f", or {select.format(first)}" if keys.layout.roles.series else "")
