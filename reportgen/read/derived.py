"""Derived metrics and derived x, in SQL: values of one run and step put together by a formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.model import Formula
from reportgen.core.words import format_count, join_names
from reportgen.formats import sql
from reportgen.formats.sql import get_engine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reportgen.settings.inputs import Source


_MOST_RUNS: Final = 3
_LARGEST_EXPONENT: Final = 709.0  # of e, below the logarithm of the largest double


def make_name_formula(name: str) -> Formula:
    """Return the formula of a metric by itself."""
    return Formula(name, (f"${name}",), (name,))


def write_formula(formula: Formula, cells: Mapping[str, str]) -> str:
    """Return a formula as SQL; ``cells`` has that of each name."""
    return _write(formula, cells)[0]


def _write(formula: Formula, cells: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return a formula as SQL, and the conditions under which it has no value, each with what that is."""
    stack: list[str] = []
    undefined: dict[str, str] = {}
    for part in formula.parts:
        if isinstance(part, float):
            stack.append(f"CAST({sql.quote(repr(part))} AS DOUBLE)")
        elif part.startswith("$"):
            stack.append(cells[part[1:]])
        elif part == "neg":
            stack.append(f"(-{stack.pop()})")
        elif part == "exp":
            argument = stack.pop()
            undefined[f"{argument} > {_LARGEST_EXPONENT}"] = "a power is too large"
            stack.append(f"CASE WHEN {argument} <= {_LARGEST_EXPONENT} THEN exp({argument}) END")
        elif part == "log":
            argument = stack.pop()
            undefined[f"{argument} <= 0"] = "a logarithm is of 0 or less"
            stack.append(f"CASE WHEN {argument} > 0 THEN ln({argument}) END")
        else:
            right, left = stack.pop(), stack.pop()
            if part == "/":
                undefined[f"{right} = 0"] = "a divisor is 0"
                right = f"nullif({right}, 0)"
            stack.append(f"({left} {part} {right})")
    return stack[0], undefined


def _join_metrics(
    select: str, metrics: Iterable[str], *, has_own: bool = False
) -> tuple[str, dict[str, str]]:
    """Return the SELECT of a row for each step, and the column of each metric, NULL if it is missing.

    With ``has_own``, rows have their own step, which joins them, and the step used as x.
    """
    cells = {name: f"m{number}" for number, name in enumerate(metrics)}
    columns = "".join(
        f", max(value) FILTER (metric = {sql.quote(name)}) AS {cell}" for name, cell in cells.items()
    )
    key, x = ("own", ', arg_max(step, "row") AS step') if has_own else ("step", "")
    last = (
        f'SELECT series, run, metric, {key}{x}, min(seed) AS seed, max("row") AS "row", '  # noqa: S608 - quoted
        f'arg_max(value, "row") AS value FROM ({select}) '
        f"WHERE metric IN ({sql.quote_all(cells) or 'NULL'}) GROUP BY series, run, metric, {key}"
    )
    wide = (
        f'SELECT series, run, {key}{x}, min(seed) AS seed, max("row") AS "row", count(*) AS known'  # noqa: S608
        f"{columns} FROM ({last}) GROUP BY series, run, {key}"
    )
    return wide, cells


def derive(select: str, name: str, formula: Formula, others: Iterable[str], *, has_own: bool) -> str:
    """Return the SELECT of a derived metric, with the rows of the ``others`` that a later stage needs."""
    wide, cells = _join_metrics(select, formula.names, has_own=has_own)
    value, own = write_formula(formula, cells), ", own" if has_own else ""
    return (
        f"SELECT series, run, seed, {sql.quote(name)} AS metric, step{own}, {value} AS value, "  # noqa: S608 - quoted
        f'"row" FROM ({wide}) WHERE known = {len(cells)} UNION ALL BY NAME '
        f'SELECT series, run, seed, metric, step{own}, value, "row" '
        f"FROM ({select}) WHERE metric IN ({sql.quote_all(others) or 'NULL'})"
    )


def check_derived(
    select: str, name: str, formula: Formula, source: Source, *, has_own: bool
) -> tuple[str, ...]:
    """Refuse inputs without a common step; return notes on runs without one and on steps without a value."""
    wide, cells = _join_metrics(select, formula.names, has_own=has_own)
    where = f"{name}: {formula.text}"
    known, undefined = f"known = {len(cells)}", _write(formula, cells)[1]
    nowhere = " OR ".join(undefined) or "FALSE"
    reasons = " or ".join(dict.fromkeys(undefined.values()))
    ((empty, every),) = get_engine().fetch_rows(
        f"SELECT count(*) FILTER ({nowhere}), count(*) FROM ({wide}) WHERE {known}"  # noqa: S608 - our own names
    )
    if empty and empty == every:
        message, advice = f'"{where}" has no value at any step: {reasons}', "Change the formula"
        raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))
    rows = get_engine().fetch_rows(
        f"SELECT series, run, count(*) FILTER ({known}) FROM ({wide}) GROUP BY series, run "  # noqa: S608
        'ORDER BY min("row")'
    )
    missing = [_name_run(series, run) for series, run, steps in rows if not steps]
    if missing and len(missing) == len(rows):
        message = f'"{where}" has no value: no run has {join_names(list(formula.names))} at one step'
        advice = "Log them at the same steps, or draw them by themselves"
        raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))
    text = f"{name} = {formula.text}, computed for each run at each step that has all of it."
    left_out = f"No such step, and not drawn: {join_names(missing, most=_MOST_RUNS)}."
    without = f"{name} is missing where {reasons}: {empty:,} of {every:,} values."
    return (text, *([left_out] if missing else []), *([without] if empty else []))


def replace_x(select: str, formula: Formula, own: Iterable[str], metrics: Iterable[str]) -> str:
    """Return a SELECT with x computed by a formula, and the rows' own step as ``own``.

    ``own`` are the names of the rows' own step in the formula.
    """
    own = tuple(own)
    inputs = [name for name in formula.names if name not in own]
    steps = dict.fromkeys(own, "measured.step")
    chosen = f"measured.metric IN ({sql.quote_all(metrics) or 'NULL'})"
    if not inputs:
        value = write_formula(formula, steps)
        return (
            f"SELECT measured.* REPLACE ({value} AS step), measured.step AS own "  # noqa: S608 - quoted
            f"FROM ({select}) AS measured WHERE {chosen}"
        )
    wide, cells = _join_metrics(select, inputs)
    value = write_formula(formula, steps | {name: f"x.{cell}" for name, cell in cells.items()})
    return (
        f"SELECT measured.* REPLACE ({value} AS step), measured.step AS own "  # noqa: S608 - quoted
        f"FROM ({select}) AS measured LEFT JOIN ({wide}) AS x "
        f"ON measured.series = x.series AND measured.run = x.run AND measured.step = x.step "
        f"WHERE {chosen}"
    )


def check_x(select: str, name: str, source: Source, *, is_time: bool = False) -> None:
    """Refuse an x that goes back or stands still within a run, or that some runs do not have.

    ``select`` has the rows' own step as ``own``, or is empty if x is that; of repeated steps the last written
    counts.
    """
    if not select:
        return
    last = (
        'SELECT series, run, metric, own, arg_max(step, "row") AS step '  # noqa: S608 - our own names
        f"FROM ({select}) WHERE own IS NOT NULL GROUP BY series, run, metric, own"
    )
    runs = get_engine().fetch_rows(
        f"SELECT series, run, count(step) FROM ({last}) GROUP BY series, run ORDER BY series, run"  # noqa: S608
    )
    missing = [_name_run(series, run) for series, run, values in runs if not values]
    if missing:
        message = f'"{name}" is not known in {len(missing)} of {len(runs)} runs: '
        message += join_names(missing, most=_MOST_RUNS)
        advice = "Leave these runs out with series: or filter:, or use an x that all runs have"
        raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))
    _check_growth(last, name, source, is_time=is_time)
    back = get_engine().fetch_rows(
        "SELECT series, run, own, before, step FROM (SELECT *, "  # noqa: S608 - our own names
        "lag(step) OVER (PARTITION BY series, run, metric ORDER BY own) AS before "
        f"FROM ({last}) WHERE step IS NOT NULL) WHERE step < before ORDER BY series, run, own LIMIT 1"
    )
    for series, run, own, before, step in back:
        message = (
            f'"{name}" goes back from {before:g} to {step:g} at step {own:g} of {_name_run(series, run)}'
        )
        advice = "Use an x that only grows; a scatter block draws two metrics against each other"
        raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))


def _check_growth(last: str, name: str, source: Source, *, is_time: bool) -> None:
    """Refuse an x with one value at all steps of a run, unless it grows by stages in others, as epochs do."""
    runs = get_engine().fetch_rows(
        "SELECT series, run, count(step), count(DISTINCT step), any_value(step) "  # noqa: S608 - our own names
        f"FROM ({last}) GROUP BY series, run, metric ORDER BY series, run, metric"
    )
    if any(1 < different < steps for _, _, steps, different, _ in runs):
        return
    constant = [one for one in runs if one[3] < one[2]]
    still = {_name_run(series, run): (steps, x) for series, run, steps, _, x in constant}
    for first, (steps, x) in still.items():
        also = f", and of {format_count(len(still) - 1, 'other run')}" if len(still) > 1 else ""
        value = "" if is_time else f" at {x:.12g}"
        message = f'"{name}" stands still{value} at all {steps:,} steps of {first}{also}'
        advice = "Use an x that grows"
        if not is_time:
            advice += f"; if each step has so many, multiply them, as in x: {{step * {x:.12g}: total {name}}}"
        raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))


def _name_run(series: str, run: str) -> str:
    return f"run {run} of {series}" if run else series


def count_from_start(select: str, starts: str, unit: float) -> str:
    """Return a SELECT with times, in milliseconds, as times since each run began, in units of so many.

    ``starts`` has ``series, run, began``; a run that it does not have begins with its first row.
    """
    first = "min(measured.step) OVER (PARTITION BY measured.series, measured.run)"
    return (
        f"SELECT measured.* REPLACE ((measured.step - coalesce(x.began, {first})) / {unit!r} AS step) "  # noqa: S608
        f"FROM ({select}) AS measured LEFT JOIN ({starts}) AS x "
        "ON measured.series = x.series AND measured.run = x.run"
    )


def choose_time_unit(select: str) -> tuple[str, float]:
    """Return the unit, with its milliseconds, in which the longest time of a SELECT is at least 2."""
    ((longest,),) = get_engine().fetch_rows(f"SELECT max(step) FROM ({select})")  # noqa: S608
    units = (("h", 3.6e6), ("min", 6e4))
    return next((one for one in units if (longest or 0) >= 2 * one[1]), ("s", 1e3))
