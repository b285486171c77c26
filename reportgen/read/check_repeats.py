"""Says what to do about repeated steps and problems: another column is the series, or an error asks."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import duckdb

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.messages import list_names
from reportgen.formats.sql import get_engine
from reportgen.read.find_repeats import (
    RowKeys,
    find_distinguishing_columns,
    find_repeat,
    find_repeated_answer,
    find_run_columns,
    is_comparable,
    list_free_columns,
    list_run_labels,
    locate_row,
    make_answer_keys,
)
from reportgen.read.plan import Plan, build_statement
from reportgen.read.tables.layout import is_name_of, resolve_filters
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reportgen.read.find_repeats import Repeat
    from reportgen.read.tables.layout import Filters, Layout
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Of a larger file only some steps, or problems, are looked at, each with all of its rows.
_BYTES: Final = 4_000_000
# Bytes of a file that is searched for numbers that do not change in a run.
_SMALL: Final = 50_000_000
# What an error names as the series may have more names than what is taken for it.
_MOST_SERIES: Final = 500
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
    texts = list_free_columns(layout, {Kind.TEXT})
    if layout.outcomes:
        texts = [name for name in texts if name.strip().casefold() not in _PARTS_OF_A_BENCHMARK]
    has_runs = bool(layout.roles.run or layout.roles.seed)
    if not (texts or has_runs):
        return None, ()
    filters = resolve_filters(settings.filter, tuple(layout.kinds))
    # What is wrong in the rows is reported where they are read.
    with suppress(duckdb.Error):
        if layout.outcomes:
            keys = _sample_keys(make_answer_keys(root, layout, filters))
        else:
            metrics = tuple(layout.metrics)[: _MOST_METRICS if _count_bytes(root, layout) <= _BYTES else 1]
            keys = _sample_keys(_make_step_keys(root, layout, metrics, filters))
        if texts and (find_repeated_answer if layout.outcomes else find_repeat)(keys):
            alone = [names[0] for names in find_distinguishing_columns(keys, texts) if len(names) == 1]
            alone = [name for name in alone if is_comparable(name)] or alone
            return (alone[0] if len(alone) == 1 else None), ()
        if has_runs:
            found = find_run_columns(keys, [name for name in texts if is_comparable(name)])
            if len(found) == 1:
                return found[0], ()
            return None, tuple(_warn_merged(keys, found, settings, place))
    return None, ()


def _warn_merged(
    keys: RowKeys, columns: Sequence[str], settings: SourceSettings, place: SourceLocation
) -> Iterator[Diagnostic]:
    """A warning where runs of one series differ in more than seeds, unless ``source.yml`` names the run."""
    layout, roles = keys.layout, keys.layout.roles
    if settings.columns.run or settings.columns.seed:
        return
    small = _count_bytes(keys.root, layout) <= _SMALL
    numbers = list_free_columns(layout, NUMERIC) if small else []
    differing = [*columns, *find_run_columns(keys, numbers, shared=True)]
    if differing:
        quoted, column = list_names(f'"{name}"' for name in differing), differing[0]
        verb = f"differ in {quoted}"
    elif roles.run and small and len(labels := list_run_labels(keys)) > 1:
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


def set_series(settings: SourceSettings, column: str | None) -> SourceSettings:
    """Settings that name the column of the series, where it was found by what it holds."""
    if column is None or settings.columns.series or is_name_of("series", column):
        return settings
    return settings.model_copy(update={"columns": settings.columns.model_copy(update={"series": column})})


def check_steps(root: Path, plan: Plan) -> None:
    """Refuse rows of one step of one run that are no resume, if ``repeat:`` does not say what they are."""
    if plan.repeat:
        return
    keys = _make_step_keys(root, plan.layout, tuple(plan.metrics), plan.filters, x=plan.step)
    sample = _sample_keys(keys)
    found = find_repeat(sample)
    if found is not None and sample != keys:
        found = find_repeat(keys)
    if found is None:
        return
    step = str(found.step)
    if not isinstance(found.step, str):
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
    keys = make_answer_keys(root, layout, filters)
    found = find_repeated_answer(keys)
    if found is None:
        return
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
) -> RowKeys:
    """The keys of a table of measurements: by its own step, or by x where none is known."""
    raws = {name: layout.metrics[name] for name in metrics}
    intervals: dict[str, dict[str, str]] = {raw: {} for every in raws.values() for raw in every}
    plan = Plan(layout, raws, layout.roles.step or x or "", filters, intervals)
    columns = 'series, run, metric AS part, step, value, "row"'
    select = f"SELECT {columns} FROM ({build_statement(root, plan)})"  # noqa: S608 - our own names
    return RowKeys(root, layout, filters, select)


def _count_bytes(root: Path, layout: Layout) -> int:
    return sum((root / file.place).stat().st_size for file in layout.files)


def _sample_keys(keys: RowKeys) -> RowKeys:
    """The keys of so many steps or problems that the rows of a large table are looked at in a moment."""
    every = 1 + _count_bytes(keys.root, keys.layout) // _BYTES
    select = f"SELECT * FROM ({keys.select}) WHERE hash(step) % {every} = 0"  # noqa: S608 - our own names
    return keys if every == 1 else replace(keys, select=select)


def _report_repeat(keys: RowKeys, found: Repeat, what: str, otherwise: str) -> Diagnostic:
    """What to tell of rows that repeat, at the first of them."""
    path, line, number = locate_row(keys.root, keys.layout, found.second)
    before, above, earlier = locate_row(keys.root, keys.layout, found.first)
    there = f"line {above}" if above else f"row {earlier}" if earlier else "one place"
    there = there if before == path else f"{there} of {before}"
    here = "here" if line else f"in row {number}" if number else "in another"
    run = f", run {shorten(found.run, _LONGEST)}" if found.run else ""
    message = f"a second row for {what} of series {shorten(found.series, _LONGEST)}{run}"
    one, other = (f"{value:.6g}" for value in found.values)
    if one != other:
        message += f": {shorten(found.part, _LONGEST)} is {one} in {there} and {other} {here}"
    elif number:
        message += f": the first is {there}" if line else f": row {number}, and the first is {there}"
    rest = "step" if keys.layout.outcomes is None else "problem"
    message += f"; {found.surplus:,} of {found.rows:,} values repeat a {rest} of their run"
    apart = _suggest_columns(keys, found.part)
    advice = f"{apart}. Otherwise set {otherwise}" if apart else f"Set in source.yml {otherwise}"
    return Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA)


def _suggest_columns(keys: RowKeys, metric: str) -> str:
    """The columns that tell the rows apart, and what to set; empty where there are none."""
    own = keys.layout.metrics.get(metric, ())
    texts = list_free_columns(keys.layout, {Kind.TEXT})
    numbers = [name for name in list_free_columns(keys.layout, NUMERIC) if name not in own]
    apart = find_distinguishing_columns(keys, [*texts, *numbers], most=_MOST_SERIES)
    if not apart:
        return ""
    first, *others = (shorten(name, _LONGEST) for name in apart[0])
    series = f"set columns: {{series: {first}}} in source.yml"
    select = "select one {} with filter: in source.yml or in the block"
    if others:
        reason = f'Columns "{first}" and "{others[0]}" together tell these rows apart'
        return f"{reason}: {series}, and {select.format(others[0])}"
    quoted = list_names(f'"{name}"' for (name,) in apart)
    several = len(apart) > 1
    reason = f"Each of {quoted} tells them apart" if several else f"Column {quoted} tells these rows apart"
    if is_name_of("step", first):
        step = f"columns: {{step: {first}}}"
        return f"Steps begin anew in each {first}: set {step} in source.yml, and repeat: mean"
    if apart[0][0] not in texts:
        run = f"set columns: {{run: {first}}} in source.yml if it counts runs"
        return f"{reason}: {run}, else {{series: {first}}}"
    if keys.layout.roles.series is None:
        return f"{reason}: {series}"
    return f"{reason}: {series}, or {select.format(first)}"
