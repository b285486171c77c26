"""Checks for rows that repeat a step or problem: which column is the series, or an error."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
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
    RowKeys,
    count_bytes,
    find_distinguishing_columns,
    find_dividing_columns,
    find_run_columns,
    list_free_columns,
    may_count_runs,
    sample_keys,
)
from reportgen.read.tables.layout import get_layout, is_name_of
from reportgen.read.tables.merged import (
    SMALL,
    begin_anew,
    decides_series,
    find_columns,
    find_differing_texts,
    list_comparable_texts,
    list_series_columns,
    list_setting_texts,
    may_differ,
    report_differing,
    suggest_columns,
    suggest_dividing,
    warn_differing_numbers,
    warn_divided,
    warn_merged,
)
from reportgen.read.tables.rows import locate_row, resolve_filters, select_files, select_run, select_series
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.read.tables.layout import Filters, Layout, OutcomeRoles, TotalRoles
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Only some metrics of a wide table are checked.
_MOST_METRICS: Final = 8
_LONGEST: Final = 40
_OF_STEPS: Final = (
    "repeat: runs (each row is of a run of its own), repeat: mean (they are averaged) or repeat: last "
    "(the last one counts)"
)
_OF_ANSWERS: Final = (
    "repeat: mean (they are samples of the problem), repeat: runs (each is of a run of its own) or "
    "repeat: last (the last one counts)"
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


def find_series(
    root: Path, layout: Layout, settings: SourceSettings, place: SourceLocation
) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Return the text column that must be the series, if none is known by name or set, and warnings.

    It is the only one that distinguishes rows of the same step or divides them, or that has one name in each
    run and several overall; files are runs where others have the same name, otherwise their names are the
    series. If runs differ in something else, also those of a series known by name in a number, or words
    change within one, or ``repeat:`` merges rows that differ in words, there is a warning at ``place``
    instead.
    """
    decided = decides_series(settings, layout)
    stated = layout.spread or (decided and (layout.roles.series or settings.repeat))
    several = len(layout.files) > 1
    repeatable = layout.outcomes or layout.totals or (layout.roles.step and layout.metrics)
    if layout.totals and not (settings.repeat or layout.roles.series):
        repeatable = None  # they are checked when they are read
    # Without need, large folders are not read to open them.
    if stated or not repeatable or (several and count_bytes(root, layout) > SMALL):
        return None, ()
    texts = list_comparable_texts(layout)
    has_runs = bool(layout.roles.run or layout.roles.seed)
    may_find = has_runs or (texts and not layout.roles.series) or (several and layout.roles.series)
    if not (list_setting_texts(layout) if settings.repeat else may_find):
        return None, ()
    filters = resolve_filters(settings.filter, tuple(layout.kinds))
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    # Faults in the rows are reported when they are read.
    with suppress(duckdb.Error):
        if layout.totals:
            keys = sample_keys(make_total_keys(root, layout, layout.totals, filters))
        elif layout.outcomes:
            keys = sample_keys(make_answer_keys(root, layout, layout.outcomes, filters))
        else:
            most = _MOST_METRICS if count_bytes(root, layout) <= SAMPLED_BYTES else 1
            keys = sample_keys(make_step_keys(root, layout, tuple(layout.metrics)[:most], filters))
        if settings.repeat:
            return _find_divided(keys, settings, place)
        if layout.roles.series:
            return None, tuple(warn_differing_numbers(keys, place))
        return _find_series_of(keys, texts, settings, place)
    return None, ()


def _find_divided(
    keys: RowKeys, settings: SourceSettings, place: SourceLocation
) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Return the column of words that divides the rows that ``repeat:`` merges, if one does, or a warning."""
    divided = find_dividing_columns(keys, list_setting_texts(keys.layout))
    if len(divided) == 1 and not keys.layout.roles.series:
        return divided[0], ()
    return None, tuple(warn_divided(keys, divided, settings, place))


def _find_series_of(
    keys: RowKeys, texts: Sequence[str], settings: SourceSettings, place: SourceLocation
) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Return the one of some text columns that must be the series, and warnings."""
    layout, several = keys.layout, len(keys.layout.files) > 1
    if texts and _find_repeat(keys):
        alone = [names[0] for names in find_distinguishing_columns(keys, texts) if len(names) == 1]
        alone = [name for name in alone if is_comparable(name)] or alone
        alone = alone or find_dividing_columns(keys, list_setting_texts(layout))
        return (alone[0] if len(alone) == 1 else None), ()
    comparable = [name for name in texts if is_comparable(name)]
    if layout.roles.run or layout.roles.seed or several:
        found = find_run_columns(keys, comparable, shared=several)
        if several or len(found) == 1:
            return (found[0] if len(found) == 1 else None), ()
        # Settings in which runs differ are an error where the runs are read.
        refused = find_differing_texts(keys)
        return None, () if refused else tuple(warn_merged(keys, found, settings, place))
    return None, tuple(warn_joined(keys, place)) if layout.metrics else ()


def check_steps(root: Path, plan: Plan) -> None:
    """Refuse rows that repeat a step of their run without a resume, unless ``repeat:`` explains them."""
    if plan.repeat:
        return
    keys = make_step_keys(root, plan.layout, tuple(plan.metrics), plan.filters, x=plan.step)
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
    what = f"{shorten(name or plan.own_step, _LONGEST)} {step}"
    raise ReportError(_report_repeat(keys, found, what, _OF_STEPS))


def check_answers(root: Path, source: Source, layout: Layout, filters: Filters) -> None:
    """Refuse several rows for most problems of a run, unless samples or ``repeat:`` explain them."""
    if source.settings.repeat or layout.repeat or layout.outcomes is None:
        return
    keys = make_answer_keys(root, layout, layout.outcomes, filters)
    if found := _find_repeat(keys):
        problem = shorten(str(found.step).partition(chr(31))[0], _LONGEST)
        raise ReportError(_report_repeat(keys, found, f"problem {problem}", _OF_ANSWERS))


def check_runs(
    root: Path,
    source: Source,
    layout: Layout,
    filters: Filters,
    plan: Plan | None = None,
    *,
    is_grouped: bool = False,
) -> None:
    """Refuse series of one name that share a run, and runs of one series that differ in words.

    ``source.yml`` may say how they belong together. They are those of a ``plan`` of steps, otherwise of
    answers; runs that ``is_grouped`` settings separate may differ.
    """
    if plan and may_be_interleaved(layout, source.settings):
        check_interleaved(make_step_keys(root, layout, tuple(plan.metrics), filters, x=plan.step))
    rename = {} if source.settings.repeat else source.settings.rename
    if not rename and not may_differ(layout, source.settings):
        return
    if plan:
        keys, what = make_step_keys(root, layout, tuple(plan.metrics), filters, x=plan.step), "step"
    elif layout.outcomes:
        keys, what = make_answer_keys(root, layout, layout.outcomes, filters), "problem"
    else:
        return
    check_merged_names(sample_keys(keys), rename, what)
    if not is_grouped:
        _check_differing(source, keys)


def check_totals(root: Path, source: Source, layout: Layout, filters: Filters, *, has_repeats: bool) -> None:
    """Refuse several totals of a run if it ``has_repeats``, otherwise runs of one series that differ."""
    if layout.repeat or (roles := layout.totals) is None:
        return
    keys, stated = make_total_keys(root, layout, roles, filters), source.settings.repeat
    check_merged_names(keys, {} if stated else source.settings.rename, "")
    if has_repeats and not stated and (found := _find_repeat(keys, equal=True)):
        benchmark, _, metric = found.part.partition(chr(31))
        what = f"benchmark {shorten(benchmark, _LONGEST)}" if benchmark else "the score"
        raise ReportError(_report_repeat(keys, found._replace(part=metric), what, _OF_STEPS))
    _check_differing(source, keys)


def _check_differing(source: Source, keys: RowKeys) -> None:
    keys = sample_keys(keys)
    if may_differ(keys.layout, source.settings) and (columns := find_differing_texts(keys)):
        raise ReportError(report_differing(keys, columns))


def make_step_keys(
    root: Path, layout: Layout, metrics: tuple[str, ...], filters: Filters, *, x: str | None = None
) -> RowKeys:
    """Return the keys of a table of measurements, by its own step or by x if it has none."""
    raws = {name: layout.metrics[name] for name in metrics}
    intervals: dict[str, dict[str, str]] = {raw: {} for every in raws.values() for raw in every}
    plan = Plan(layout, raws, layout.roles.step or x or "", filters, intervals)
    columns = 'series, run, seed, metric AS part, step, value, "row"'
    select = f"SELECT {columns} FROM ({build_statement(root, plan)})"  # noqa: S608 - our own names
    return RowKeys(root, layout, filters, select)


def make_total_keys(root: Path, layout: Layout, roles: TotalRoles, filters: Filters) -> RowKeys:
    """Return the keys of a table of totals, of which a part is a benchmark and metric."""

    def list_cells(rows: Rows) -> dict[str, str]:
        metric = rows.as_text(roles.metric) if roles.metric else sql.quote(roles.score)
        run = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        part = f"concat(coalesce({rows.as_text(roles.benchmark)}, ''), chr(31), {metric})"
        cells = {"part": part, "step": "''", "value": rows.as_number(roles.score)}
        cells["seed"] = rows.as_text(layout.roles.seed)
        return {**run, **cells, "row": rows.get_position()}

    def is_scored(rows: Rows) -> str:
        return f"{rows.as_text(roles.score)} IS NOT NULL"

    return RowKeys(root, layout, filters, select_files(root, layout, list_cells, filters, is_scored))


def make_answer_keys(
    root: Path,
    layout: Layout,
    roles: OutcomeRoles,
    filters: Filters,
    *,
    ends: tuple[float, float] | None = None,
) -> RowKeys:
    """Return the keys of a table of outcomes, without answers that have no score.

    The value is the score, between two ``ends``, or a number that no other answer has.
    """

    def list_cells(rows: Rows) -> dict[str, str]:
        names = [rows.as_text(name) for name in (roles.problem, roles.sample) if name]
        position = rows.get_position()
        return {
            "series": select_series(rows, layout, {}),
            "run": select_run(rows, layout),
            "seed": rows.as_text(layout.roles.seed),
            "part": f"coalesce({rows.as_text(roles.benchmark)}, '')" if roles.benchmark else "''",
            "step": " || chr(31) || ".join(f"coalesce({name}, '')" for name in names),
            "value": rows.as_score(roles.score, ends) if ends else f"CAST({position} AS DOUBLE)",
            "row": position,
        }

    def is_scored(rows: Rows) -> str:
        return f"{rows.as_text(roles.score)} IS NOT NULL"

    return RowKeys(root, layout, filters, select_files(root, layout, list_cells, filters, is_scored))


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


def _report_repeat(keys: RowKeys, found: _Repeat, what: str, otherwise: str) -> Diagnostic:
    """Return the problem of rows that repeat a step, at the second of them."""
    path, line, number = locate_row(keys.root, keys.layout, found.second)
    before, above, earlier = locate_row(keys.root, keys.layout, found.first)
    there = f"line {above}" if above else f"row {earlier}" if earlier else "one place"
    there = there if before == path else f"{there} of {before}"
    here = "here" if line else f"in row {number}" if number else "in another"
    message = f"a second row for {what} of series {shorten(found.series, _LONGEST)}"
    message += f", run {shorten(found.run, _LONGEST)}" if found.run else ""
    one, other = (f"{value:.6g}" for value in found.values)
    rest = "problem" if keys.layout.outcomes else "benchmark" if keys.layout.totals else "step"
    if one != other and rest != "problem":
        message += f": {shorten(found.part, _LONGEST)} is {one} in {there} and {other} {here}"
    elif number:
        message += f": the first is {there}" if line else f": row {number}, and the first is {there}"
    message += f"; {found.surplus:,} of {found.rows:,} values repeat a {rest} of their run"
    if apart := suggest_columns(keys, found.part):
        advice = f"{apart}. Otherwise set {otherwise}"
    else:
        divided = suggest_dividing(keys)
        advice = f"{divided}, and there {otherwise}" if divided else f"Set in source.yml {otherwise}"
    return Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA)


def suggest_series(root: Path, source: Source, metrics: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Return the columns that name the series together, empty if none do, and what ``repeat:`` may say.

    With both no run of these metrics, or of answers without any, has a step twice or differs in words.
    """
    layout = get_layout(source)
    filters = resolve_filters(source.settings.filter, tuple(layout.kinds))
    if layout.outcomes:
        keys = sample_keys(make_answer_keys(root, layout, layout.outcomes, filters))
        repeat = _find_repeat(keys)
    else:
        keys = sample_keys(make_step_keys(root, layout, metrics, filters))
        repeat = _find_repeated_step(keys)
    if repeat is None:
        differing = find_differing_texts(keys) if may_differ(layout, source.settings) else []
        if not layout.outcomes and may_be_interleaved(layout, source.settings):
            differing += find_interleaved(keys)
        return ((*list_series_columns(layout), *differing) if differing else ()), ""
    if first := next(iter(find_columns(keys, repeat.part)), ()):
        if any(is_name_of("step", name) or may_count_runs(keys, name) for name in first):
            return (), ""
        return (*list_series_columns(layout), *first), ""
    divided = find_dividing_columns(keys, list_setting_texts(layout))
    how = "" if layout.outcomes or not begin_anew(keys) else "runs"
    if layout.outcomes and divided:
        how = "mean"
    return ((*list_series_columns(layout), *divided) if divided and how else ()), how


def set_series(settings: SourceSettings, column: str | None) -> SourceSettings:
    """Return settings that name the column of the series, if it was found by its content."""
    if column is None or settings.columns.series or is_name_of("series", column):
        return settings
    return settings.model_copy(update={"columns": settings.columns.model_copy(update={"series": column})})
