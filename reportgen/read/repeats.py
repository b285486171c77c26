"""Rows of one step of one run that no resume explains: another column is the series, or an error asks."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import duckdb

from reportgen.errors import Place, Problem, ReportError, Severity, Stage
from reportgen.read.cells import Kind
from reportgen.read.columns import recognised_as_series, recognised_as_step, resolved
from reportgen.read.engine import engine
from reportgen.read.plan import Plan
from reportgen.read.statement import statement
from reportgen.read.tabular.repeated_rows import (
    Keys,
    answer_keys,
    columns_apart,
    columns_of_runs,
    compares_runs,
    first_repeat,
    first_repeated_answer,
    free_numbers,
    free_texts,
    place_of_row,
    run_labels,
)
from reportgen.read.wording import names
from reportgen.settings.parsing import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reportgen.model import Source
    from reportgen.read.layout import Filters, Layout
    from reportgen.read.tabular.repeated_rows import Repeat
    from reportgen.settings.source import SourceSettings

# Of a larger file only some steps, or problems, are looked at, each with all of its rows.
_BYTES: Final = 4_000_000
# Bytes of a file that is searched for numbers that do not change in a run.
_SMALL: Final = 50_000_000
# What an error names as the series may have more names than what is taken for it.
_MOST_TOLD: Final = 500
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


def found_series(
    root: Path, layout: Layout, settings: SourceSettings, place: Place
) -> tuple[str | None, tuple[Problem, ...]]:
    """The one column of words that has to be the series, where none is known by its name or stated.

    It is the only one that tells apart rows which share their step, or which has one name in each run and
    several in all; a table of several files has their names for series.

    Args:
        root: the folder that the files' paths start from.
        layout: how the table is read so far.
        settings: what ``source.yml`` says.
        place: where it is told that runs differ which are drawn as one series.

    Returns:
        The column, or None and a warning where runs differ in something else.
    """
    if layout.roles.series or layout.totals or layout.spread or len(layout.files) > 1 or settings.repeat:
        return None, ()
    if not (layout.outcomes or (layout.roles.step and layout.metrics)):
        return None, ()
    texts = free_texts(layout)
    if layout.outcomes:
        texts = [name for name in texts if name.strip().casefold() not in _PARTS_OF_A_BENCHMARK]
    filters = resolved(settings.filter, tuple(layout.kinds))
    runs = bool(layout.roles.run or layout.roles.seed)
    if not (texts or runs):
        return None, ()
    # What is wrong in the rows is told where they are read.
    with suppress(duckdb.Error):
        if layout.outcomes:
            keys = _some(root, answer_keys(root, layout, filters))
            repeated = first_repeated_answer(keys) if texts else None
        else:
            metrics = tuple(layout.metrics)[: _MOST_METRICS if _bytes(root, layout) <= _BYTES else 1]
            keys = _some(root, _step_keys(root, layout, metrics, filters))
            repeated = first_repeat(keys) if texts else None
        if repeated:
            alone = [names[0] for names in columns_apart(root, keys, texts) if len(names) == 1]
            alone = [name for name in alone if compares_runs(name)] or alone
            return (alone[0] if len(alone) == 1 else None), ()
        if runs:
            found = columns_of_runs(root, keys, [name for name in texts if compares_runs(name)])
            return (
                (found[0], ())
                if len(found) == 1
                else (None, tuple(_merged(root, keys, found, settings, place)))
            )
    return None, ()


def _merged(
    root: Path, keys: Keys, columns: Sequence[str], settings: SourceSettings, place: Place
) -> Iterator[Problem]:
    """A warning where runs of one series differ in more than seeds, unless ``source.yml`` names the run."""
    layout = keys.layout
    if settings.columns.run or settings.columns.seed:
        return
    small = _bytes(root, layout) <= _SMALL
    differing = [*columns, *(columns_of_runs(root, keys, free_numbers(layout), shared=True) if small else ())]
    series = f'the series "{shorten(layout.labels[0], _LONGEST)}"'
    if differing:
        quoted = names(f'"{name}"' for name in differing)
        message = f"runs of {series} differ in {quoted}, and are averaged as one"
        advice = f"Set columns: {{series: {shorten(differing[0], _LONGEST)}}} in source.yml to compare them"
    elif layout.roles.run and small and len(told := run_labels(keys)) > 1:
        message = f"runs of {series} are called {names(told)}, and are averaged as one"
        advice = (
            f"Set columns: {{series: {shorten(layout.roles.run, _LONGEST)}}} in source.yml to compare them"
        )
    else:
        return
    part, column = ("run", layout.roles.run) if layout.roles.run else ("seed", layout.roles.seed or "")
    meant = f"columns: {{{part}: {shorten(column, _LONGEST)}}} if they are repetitions of one experiment"
    advice = f"{advice}, or {meant}"
    yield Problem(place, message, advice, Stage.DATA, Severity.WARNING)


def with_series(settings: SourceSettings, column: str | None) -> SourceSettings:
    """Settings that name the column of the series, where it was found by what it holds."""
    if column is None or settings.columns.series or recognised_as_series(column):
        return settings
    return settings.model_copy(update={"columns": settings.columns.model_copy(update={"series": column})})


def check_steps(root: Path, plan: Plan) -> None:
    """Refuse rows of one step of one run that are no resume, where ``repeat:`` does not say what they are.

    Args:
        root: the folder that the source's files are relative to.
        plan: what is asked of it.

    Raises:
        ReportError: there are such rows.
    """
    if plan.repeat:
        return
    keys = _step_keys(root, plan.layout, tuple(plan.metrics), plan.filters, x=plan.step)
    some = _some(root, keys)
    found = first_repeat(some)
    if found is not None and some != keys:
        found = first_repeat(keys)
    if found is None:
        return
    step = _written(found.step, is_time=plan.layout.kinds[plan.own_step] is Kind.TIME)
    name = plan.layout.step_name if plan.own_step == plan.layout.roles.step else ""
    what = f"{shorten(name or plan.own_step, _LONGEST)} {step}"
    raise ReportError(_problem(root, keys, found, what, _OF_STEPS))


def check_answers(root: Path, source: Source, layout: Layout, filters: Filters) -> None:
    """Refuse several rows of most problems of one run, where neither samples nor ``repeat:`` explain them.

    Raises:
        ReportError: there are such rows.
    """
    if source.settings.repeat or layout.repeat or layout.outcomes is None:
        return
    keys = answer_keys(root, layout, filters)
    found = first_repeated_answer(keys)
    if found is None:
        return
    problem = shorten(str(found.step).partition(chr(31))[0], _LONGEST)
    raise ReportError(_problem(root, keys, found, f"problem {problem}", _OF_ANSWERS))


def check_clusters(root: Path, layout: Layout, select: str) -> None:
    """Refuse a problem that is in two clusters.

    Args:
        root: the folder that the source's files are relative to.
        layout: how they are read.
        select: the SELECT of a source's outcomes.

    Raises:
        ReportError: there is one, at the first row that names the second cluster.
    """
    found = engine().rows(
        f'WITH named AS (SELECT problem, cluster, "row" AS place FROM ({select}) '  # noqa: S608 - our own names
        "WHERE cluster IS NOT NULL), "
        "firsts AS (SELECT problem, arg_min(cluster, place) AS first FROM named GROUP BY problem) "
        "SELECT problem, first, cluster, place FROM named JOIN firsts USING (problem) "
        "WHERE cluster <> first ORDER BY place LIMIT 1"
    )
    for problem, first, second, row in found:
        path, line, _ = place_of_row(root, layout, row)
        clusters = f'in the cluster "{shorten(first, _LONGEST)}" and here in "{shorten(second, _LONGEST)}"'
        message = f"problem {shorten(problem, _LONGEST)} is {clusters}"
        advice = "Give each problem one cluster in all of its rows"
        raise ReportError(Problem(Place(path, line), message, advice, Stage.DATA))


def _step_keys(
    root: Path, layout: Layout, metrics: tuple[str, ...], filters: Filters, *, x: str | None = None
) -> Keys:
    """The keys of a table of measurements: by its own step, or by x where none is known."""
    raws = {name: layout.metrics[name] for name in metrics}
    plan = Plan(
        layout=layout,
        rename={},
        metrics=raws,
        step=layout.roles.step or x or "",
        step_metric=(),
        step_name="",
        series=None,
        filters=filters,
        intervals={raw: {} for every in raws.values() for raw in every},
    )
    columns = 'series, run, metric AS part, step, value, "row"'
    return Keys(f"SELECT {columns} FROM ({statement(root, plan)})", layout, filters)  # noqa: S608 - our own names


def _bytes(root: Path, layout: Layout) -> int:
    return sum((root / file.place).stat().st_size for file in layout.files)


def _some(root: Path, keys: Keys) -> Keys:
    """The keys of so many steps or problems that the rows of a large table are looked at in a moment."""
    every = 1 + _bytes(root, keys.layout) // _BYTES
    select = f"SELECT * FROM ({keys.select}) WHERE hash(step) % {every} = 0"  # noqa: S608 - our own names
    return keys if every == 1 else replace(keys, select=select)


def _problem(root: Path, keys: Keys, found: Repeat, what: str, otherwise: str) -> Problem:
    """What to tell of rows that repeat, at the first of them."""
    path, line, number = place_of_row(root, keys.layout, found.second)
    before, above, earlier = place_of_row(root, keys.layout, found.first)
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
    apart = _advice(root, keys, found.part)
    advice = f"{apart}. Otherwise set {otherwise}" if apart else f"Set in source.yml {otherwise}"
    return Problem(Place(path, line), message, advice, Stage.DATA)


def _advice(root: Path, keys: Keys, metric: str) -> str:
    """The columns that tell the rows apart, and what to set; empty where there are none."""
    texts = free_texts(keys.layout)
    numbers = [name for name in free_numbers(keys.layout) if name not in keys.layout.metrics.get(metric, ())]
    apart = columns_apart(root, keys, [*texts, *numbers], most=_MOST_TOLD)
    if not apart:
        return ""
    first, *others = (shorten(name, _LONGEST) for name in apart[0])
    if others:
        told = f'Columns "{first}" and "{others[0]}" together tell these rows apart'
        choose = f"select one {others[0]} with filter: in source.yml or in the block"
        return f"{told}: set columns: {{series: {first}}} in source.yml, and {choose}"
    quoted = names(f'"{name}"' for (name,) in apart)
    told = (
        f"Column {quoted} tells these rows apart" if len(apart) == 1 else f"Each of {quoted} tells them apart"
    )
    if recognised_as_step(first):
        step = f"columns: {{step: {first}}}"
        return f"Steps begin anew in each {first}: set {step} in source.yml, and repeat: mean"
    if apart[0][0] not in texts:
        return (
            f"{told}: set columns: {{run: {first}}} in source.yml if it counts runs, else {{series: {first}}}"
        )
    write = f"{told}: set columns: {{series: {first}}} in source.yml"
    if keys.layout.roles.series is None:
        return write
    return f"{write}, or select one {first} with filter: in source.yml or in the block"


def _written(step: str | float, *, is_time: bool) -> str:
    """A step as a reader knows it."""
    if isinstance(step, str):
        return step
    if not is_time:
        return f"{step:.12g}"
    told = datetime.fromtimestamp(step / 1000, UTC).isoformat(" ").removesuffix("+00:00")
    return told.removesuffix(" 00:00:00")
