"""Checks for rows of one series, run and step that differ in something: which columns, or an error."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.cells import Kind
from reportgen.formats.sql import get_engine
from reportgen.read.plan import Plan, build_statement
from reportgen.read.runs.check_names import check_merged_names
from reportgen.read.runs.interleaved import (
    check_interleaved,
    find_interleaved,
    may_be_interleaved,
    warn_joined,
)
from reportgen.read.runs.labels import is_comparable
from reportgen.read.tables.distinguish import (
    MOST_SERIES,
    SAMPLED_BYTES,
    SMALL,
    RowKeys,
    begin_anew,
    count_bytes,
    decides_series,
    find_columns,
    find_differing_texts,
    find_distinguishing_columns,
    find_dividing_columns,
    find_role,
    find_shared_columns,
    list_comparable_texts,
    list_series_columns,
    list_setting_texts,
    locate_pair,
    may_differ,
    quote_columns,
    report_differing,
    sample_keys,
    warn_differing,
    warn_several_files,
    write_role,
)
from reportgen.read.tables.layout import SAYS_LITTLE, get_layout
from reportgen.read.tables.rows import (
    list_free_columns,
    locate_row,
    resolve_filters,
    select_files,
    select_run,
    select_series,
)
from reportgen.settings.text import shorten
from reportgen.settings.yaml_tree import write_scalar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from reportgen.read.tables.layout import Filters, Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Only some metrics of a wide table are checked.
_MOST_METRICS: Final = 8
_LONGEST: Final = 40
_REPEAT: Final = (
    "repeat: runs (each row is of a run of its own), repeat: mean (they are averaged) or repeat: last "
    "(the last one counts)"
)
# Distinct steps that a run needs for each resume, if there are several.
_STEPS_OF_A_RESUME: Final = 3


class _Repeat(NamedTuple):
    """Two rows of one step: their keys as in ``RowKeys``, their positions and their values."""

    series: str
    run: str
    part: str
    step: Any  # a number or, for answers, the problem and sample
    first: int
    second: int
    values: tuple[float, float]
    surplus: int  # number of rows that repeat the step of an earlier one
    rows: int


def warn_unlike_runs(
    root: Path, layout: Layout, settings: SourceSettings, place: SourceLocation
) -> tuple[Diagnostic, ...]:
    """Return warnings of runs of one series that differ in a number or a name, and of joined lines.

    What differs in words is refused where it is read; without need, large folders are not read to open them.
    """
    roles, several = layout.roles, len(layout.files) > 1
    texts = list_comparable_texts(layout)
    repeatable = layout.outcomes or (layout.totals and roles.series) or (roles.step and layout.metrics)
    stated = layout.is_chart or settings.repeat or (roles.series and decides_series(settings, layout))
    may_find = roles.run or roles.seed or (several if roles.series else texts)
    if stated or not repeatable or not may_find or (several and count_bytes(root, layout) > SMALL):
        return ()
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    # Faults in the rows are reported when they are read.
    with suppress(duckdb.Error):
        most = _MOST_METRICS if count_bytes(root, layout) <= SAMPLED_BYTES else 1
        filters = resolve_filters(settings.filter, tuple(layout.kinds))
        keys = sample_keys(make_keys(root, layout, filters, tuple(layout.metrics)[:most]))
        if roles.series:
            return tuple(warn_differing(keys, settings, place)) or tuple(warn_several_files(keys, place))
        return tuple(_warn_without_series(keys, texts, settings, place))
    return ()


def _warn_without_series(
    keys: RowKeys, texts: Sequence[str], settings: SourceSettings, place: SourceLocation
) -> Iterable[Diagnostic]:
    layout, several = keys.layout, len(keys.layout.files) > 1
    if texts and _find_repeat(keys):
        return ()
    if several:
        found = find_shared_columns(keys, list(filter(is_comparable, texts))) if texts else []
        return [_warn_shared(layout, found[0], place)] if len(found) == 1 else ()
    if not (layout.roles.run or layout.roles.seed):
        return warn_joined(keys, place) if layout.metrics else ()
    # Settings in which runs differ are an error where the runs are read.
    return () if find_differing_texts(keys) else warn_differing(keys, settings, place)


def _warn_shared(layout: Layout, column: str, place: SourceLocation) -> Diagnostic:
    message = (
        f'each file is a series of its own, and some have the same name in "{shorten(column, _LONGEST)}"'
    )
    advice = f"Set {write_role(layout, [column])} in source.yml if these are runs of one series"
    return Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)


def check_steps(root: Path, plan: Plan) -> None:
    """Refuse rows that repeat a step of their run without a resume, unless ``repeat:`` explains them."""
    if plan.repeat:
        return
    keys = make_keys(root, plan.layout, plan.filters, tuple(plan.metrics), x=plan.step)
    sample = sample_keys(keys)
    found = _find_repeated_step(sample)
    if found is not None and sample != keys:
        found = _find_repeated_step(keys)
    if found is None:
        return
    step = f"{found.step:.12g}"
    if plan.layout.kinds[plan.own_step] is Kind.TIME:
        text = datetime.fromtimestamp(found.step / 1000, UTC).isoformat(" ")
        step = text.removesuffix("+00:00").removesuffix(" 00:00:00")
    name = plan.layout.step_name if plan.own_step == plan.layout.roles.step else ""
    raise ReportError(_report_repeat(keys, found, f"{shorten(name or plan.own_step, _LONGEST)} {step}"))


def check_answers(root: Path, source: Source, layout: Layout, filters: Filters) -> None:
    """Refuse several rows for most problems of a run, unless samples or ``repeat:`` explain them.

    So are problems whose numbers may have those of samples behind a point.
    """
    if may_number_samples(layout, source.settings):
        _check_numbers(root, layout, filters)
    if source.settings.repeat or layout.repeat or layout.outcomes is None:
        return
    keys = make_keys(root, layout, filters)
    if found := _find_repeat(keys):
        problem = shorten(str(found.step).partition(chr(31))[0], _LONGEST)
        raise ReportError(_report_repeat(keys, found, f"problem {problem}"))


def may_number_samples(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether numbers of problems may be those of samples: their column is just called an id."""
    roles = layout.outcomes
    if roles is None or roles.sample or settings.columns.problem or any(file.owners for file in layout.files):
        return False
    return layout.kinds[roles.problem] is Kind.NUMBER and roles.problem.strip().casefold() in SAYS_LITTLE


def _check_numbers(root: Path, layout: Layout, filters: Filters) -> None:
    """Refuse problems that are numbers, some with a point, if several share what is before it."""
    problem = layout.outcomes.problem if layout.outcomes else ""

    def list_cells(rows: Rows) -> dict[str, str]:
        return {"problem": rows.as_text(problem), "row": rows.get_position()}

    cells = select_files(root, layout, list_cells, filters)
    ((row, name, wholes, problems),) = get_engine().fetch_rows(
        "SELECT min(row) FILTER (contains(problem, '.')), "  # noqa: S608 - quoted
        "arg_min(problem, row) FILTER (contains(problem, '.')), "
        "count(DISTINCT split_part(problem, '.', 1)), count(DISTINCT problem) "
        f"FROM ({cells})"
    )
    if row is None or wholes == problems:
        return
    path, line, _ = locate_row(root, layout, row)
    written, column = shorten(name, _LONGEST), write_scalar(problem)
    message = (
        f'"{written}" in column "{problem}" may be a problem or, behind the point, the number of a sample'
    )
    advice = (
        f"If it is a problem, say columns: {{problem: {column}}} in source.yml; otherwise write the sample "
        "into a column of its own, called sample"
    )
    raise ReportError(Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA))


def check_runs(
    root: Path,
    source: Source,
    layout: Layout,
    filters: Filters,
    plan: Plan | None = None,
    *,
    is_grouped: bool = False,
) -> None:
    """Refuse series of one name that share a run, and rows of one series that differ in words.

    ``source.yml`` may say how they belong together. They are those of a ``plan`` of steps, otherwise of
    answers; runs that ``is_grouped`` settings separate may differ.
    """
    may_take_turns = plan and may_be_interleaved(layout, source.settings)
    rename = {} if source.settings.repeat else source.settings.rename
    if not (plan or layout.outcomes) or not (rename or may_take_turns or may_differ(layout, source.settings)):
        return
    metrics, x = (tuple(plan.metrics), plan.step) if plan else ((), None)
    keys = make_keys(root, layout, filters, metrics, x=x)
    if may_take_turns:
        check_interleaved(keys)
    check_merged_names(sample_keys(keys), rename)
    if not is_grouped:
        _check_differing(source, keys)


def check_totals(root: Path, source: Source, layout: Layout, filters: Filters, *, has_repeats: bool) -> None:
    """Refuse several totals of a run if it ``has_repeats``, otherwise runs of one series that differ."""
    if layout.repeat or layout.totals is None:
        return
    keys, stated = make_keys(root, layout, filters), source.settings.repeat
    check_merged_names(keys, {} if stated else source.settings.rename)
    if has_repeats and not stated and (found := _find_repeat(keys, equal=True)):
        benchmark, _, metric = found.part.partition(chr(31))
        what = f"benchmark {shorten(benchmark, _LONGEST)}" if benchmark else "the score"
        raise ReportError(_report_repeat(keys, found._replace(part=metric), what))
    _check_differing(source, keys)


def _check_differing(source: Source, keys: RowKeys) -> None:
    """Refuse rows of one series that differ in words, those that ``repeat:`` would merge as well."""
    layout, settings = keys.layout, source.settings
    if not may_differ(layout, settings):
        return
    keys = sample_keys(keys)
    columns = find_differing_texts(keys)
    if settings.repeat and not columns:
        columns = find_dividing_columns(keys, list_setting_texts(layout))
    if columns:
        raise ReportError(report_differing(keys, columns))


def make_keys(
    root: Path,
    layout: Layout,
    filters: Filters,
    metrics: tuple[str, ...] = (),
    *,
    x: str | None = None,
    ends: tuple[float, float] | None = None,
) -> RowKeys:
    """Return the keys of a table: of ``metrics`` by its own step, or by x if it has none, or of scored rows.

    A part of totals is a benchmark and metric. The value of an answer is its score between two ``ends``, or a
    number that no other answer has.
    """
    roles = layout.outcomes or layout.totals
    if roles is None:
        raws = {name: layout.metrics[name] for name in metrics}
        intervals: dict[str, dict[str, str]] = {raw: {} for every in raws.values() for raw in every}
        plan = Plan(layout, raws, layout.roles.step or x or "", filters, intervals)
        columns = 'series, run, seed, metric AS part, step, value, "row"'
        select = f"SELECT {columns} FROM ({build_statement(root, plan)})"  # noqa: S608 - our own names
        return RowKeys(root, layout, filters, select)

    def list_cells(rows: Rows) -> dict[str, str]:
        part, step = f"coalesce({rows.as_text(roles.benchmark)}, '')", "''"
        if outcomes := layout.outcomes:
            names = [rows.as_text(name) for name in (outcomes.problem, outcomes.sample) if name]
            step = " || chr(31) || ".join(f"coalesce({name}, '')" for name in names)
            value = rows.as_score(roles.score, ends) if ends else f"CAST({rows.get_position()} AS DOUBLE)"
        else:
            metric = layout.totals.metric if layout.totals else None
            part = f"concat({part}, chr(31), {rows.as_text(metric) if metric else sql.quote(roles.score)})"
            value = rows.as_number(roles.score)
        run = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        cells = {**run, "seed": rows.as_text(layout.roles.seed), "part": part, "step": step, "value": value}
        return {**cells, "row": rows.get_position()}

    def is_scored(rows: Rows) -> str:
        return f"{rows.as_text(roles.score)} IS NOT NULL"

    return RowKeys(root, layout, filters, select_files(root, layout, list_cells, filters, is_scored))


def _name_step(layout: Layout) -> str:
    return "problem" if layout.outcomes else "benchmark" if layout.totals else "step"


# Rows and steps of each run, and whether repeated steps are unexplained.
#
# A run was resumed if its steps, in the order of writing, go back by at most half of the way so far and
# finally pass the furthest step before; that happens once or rarely. A step written twice in a row with two
# values is no resume: which value counts is for the author to say.
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
        rows > steps AND NOT (steps > 1 AND restarts = 0 AND runs_on AND again = 0
            AND (returns <= 1 OR {resume} * returns <= steps)) AS unclear
    FROM ordered GROUP BY series, run, part
)"""
# If few problems have several rows, some were answered again, and the last row counts.
_ANSWERS_SQL: Final = """
WITH written AS ({select}),
runs AS (
    SELECT series, run, part, sum(n) AS rows, count(*) AS steps, 1 AS different,
        2 * count(*) FILTER (n > 1) > steps AS unclear
    FROM (SELECT series, run, part, step, count(*) AS n FROM written GROUP BY ALL) GROUP BY series, run, part
)"""
_ANY_REPEAT_SQL: Final = """
SELECT 1 FROM ({select}) GROUP BY series, run, part, step HAVING count(*) > 1 LIMIT 1
"""
# The first row that repeats a step of an unexplained run, with another value if there is one.
_REPEAT_SQL: Final = """
SELECT series, run, part, step,
    list_slice(list(struct_pack(place := "row", value := value) ORDER BY "row"), 1, 100) AS pair,
    list("row" ORDER BY "row")[2] AS second_row,
    (SELECT sum(rows - steps) FROM runs WHERE unclear) AS surplus, (SELECT sum(rows) FROM runs) AS every
FROM written JOIN (FROM runs WHERE unclear) USING (series, run, part) GROUP BY series, run, part, step
HAVING count(*) > 1 ORDER BY min(value) = max(value), second_row, max(different) DESC, part LIMIT 1
"""


def _find_repeat(keys: RowKeys, *, equal: bool = False) -> _Repeat | None:
    """Return the first unexplained repeat of a step with another value, or with an ``equal`` one, or None."""
    # Nothing is repeated in most tables, and planning the windows takes 15 ms.
    if not get_engine().fetch_rows(_ANY_REPEAT_SQL.format(select=keys.select)):
        return None
    runs = _ANSWERS_SQL.format(select=keys.select)
    if keys.layout.outcomes is None and keys.layout.totals is None:
        runs = _STEPS_SQL.format(select=keys.select, finite=_FINITE, resume=_STEPS_OF_A_RESUME)
    for series, run, part, step, written, _, surplus, rows in get_engine().fetch_rows(runs + _REPEAT_SQL):
        first, *others = written
        other = next((one for one in others if one["value"] != first["value"]), others[0])
        values, places = (first["value"], other["value"]), (first["place"], other["place"])
        if values[0] != values[1] or equal:
            return _Repeat(series, run, part, step, *places, values, int(surplus), int(rows))
    return None


def _find_repeated_step(keys: RowKeys) -> _Repeat | None:
    """Return an unexplained repeat of a step; one with an equal value counts if words differ."""
    found = _find_repeat(keys, equal=True)
    if found is None or found.values[0] != found.values[1]:
        return found
    texts = [name for name in list_free_columns(keys.layout, {Kind.TEXT}) if is_comparable(name)]
    return found if find_distinguishing_columns(keys, texts, most=MOST_SERIES) else None


def _report_repeat(keys: RowKeys, found: _Repeat, what: str) -> Diagnostic:
    """Return the problem of rows that repeat a step, at the second of them."""
    layout = keys.layout
    path, line, there, here = locate_pair(keys, found.first, found.second)
    message = f"a second row for {what} of series {shorten(found.series, _LONGEST)}"
    message += f", run {shorten(found.run, _LONGEST)}" if found.run else ""
    one, other = (f"{value:.6g}" for value in found.values)
    rest = _name_step(layout)
    if one != other and rest != "problem":
        message += f": {shorten(found.part, _LONGEST)} is {one} in {there} and {other} {here}"
    else:
        message += f": the first is {there}"
    message += f"; {found.surplus:,} of {found.rows:,} values repeat a {rest} of their run"
    apart = find_columns(keys, found.part)
    columns = [*apart[0]] if apart else find_dividing_columns(keys, list_setting_texts(layout))
    if not columns:
        column = "sample" if layout.outcomes else "run"
        advice = f"Set in source.yml {_REPEAT}; or add a column {column} that distinguishes the rows, for "
        advice += "filter: to leave some out"
        return Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA)
    message += f", and differ in {quote_columns(columns)}"
    role = find_role(layout, columns)
    named = f"{write_role(layout, columns, role)}{' and repeat: mean' if role == 'step' else ''}"
    # A block that groups runs by settings has series of its own.
    too = " and name it with by: in the block" if layout.run_parts else ""
    advice = f"Set {named} in source.yml{too}, or {_REPEAT}"
    return Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA)


def suggest_roles(
    root: Path, source: Source, metrics: tuple[str, ...]
) -> tuple[dict[str, Sequence[str]], str]:
    """Return the columns of a role, such as the series, none if no columns do, and what ``repeat:`` may say.

    With both no run of these metrics, or of answers without any, has a step twice or differs in words.
    """
    layout = get_layout(source)
    known = list_series_columns(layout)
    keys = make_keys(root, layout, resolve_filters(source.settings.filter, tuple(layout.kinds)), metrics)
    keys = sample_keys(keys)
    repeat = _find_repeat(keys) if layout.outcomes else _find_repeated_step(keys)
    if repeat is None:
        differing = find_differing_texts(keys) if may_differ(layout, source.settings) else []
        if not layout.outcomes and may_be_interleaved(layout, source.settings):
            differing += find_interleaved(keys)
        return ({"series": [*known, *differing]} if differing else {}), ""
    if first := next(iter(find_columns(keys, repeat.part)), ()):
        role = find_role(layout, first)
        return {role: [*(known if role == "series" else ()), *first]}, "mean" if role == "step" else ""
    divided = find_dividing_columns(keys, list_setting_texts(layout))
    how = "mean" if divided else ""
    if not layout.outcomes:
        how = "runs" if begin_anew(keys) else ""
    how = source.settings.repeat or how
    return ({"series": [*known, *divided]} if divided and how else {}), how
