"""How numbers are written, such as with a %, and the units and names that ``source.yml`` states."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final, NoReturn

from msgspec.structs import astuple, replace

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.core.words import quote_names
from reportgen.formats import sql
from reportgen.formats.cells import NUMERIC, Kind, is_missing, is_other_number, make_share, parse_reported
from reportgen.formats.layout import Row
from reportgen.formats.messages import limit_problems, list_names, suggest_names
from reportgen.formats.tables import FORMATS, delimited
from reportgen.read.tables.check import check_rows, make_check
from reportgen.read.tables.layout import INTERVAL_PARTS
from reportgen.read.tables.statistics import ask_spread
from reportgen.read.tables.suggest import advise_other
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.formats.cells import Text
    from reportgen.formats.layout import Content, FileLayout, Look
    from reportgen.read.find import Location
    from reportgen.read.tables.layout import Layout, Percentages, RawNames, Survey
    from reportgen.settings.source import SourceSettings


_LONGEST: Final = 60
_SPREAD: Final = re.compile(r"[±(]|\+/?-|\\pm")  # saves 8 µs a cell
# Of columns that are left out.
_OTHER_NUMBER: Final = make_check(
    lambda cell: not is_other_number(cell),
    "is not a plain number; this column is left out",
    "Write numbers as 0.5, 1234.5 or 51.2%, and a ± in a column of its own",
)


def find_estimates(look: Look) -> Iterator[str]:
    """Yield the columns with numbers such as 75.5 ± 0.4, in a sample of the rows."""
    for index, (name, type_) in enumerate(zip(look.file.columns, look.file.types, strict=True)):
        if name and type_ == sql.TEXT:
            cells = (row[index] or "" for row in look.rows)
            read = (parse_reported(cell) for cell in cells if _SPREAD.search(cell))
            if any(one and one.spread is not None for one in read):
                yield name


def refuse_open_estimate(content: Content, file: FileLayout, column: str) -> NoReturn:
    """Raise for the first ± in a column, of which ``source.yml`` does not say what it is."""
    rows = FORMATS[file.format].read_rows(content, file, [column])
    read = ((row.line, parse_reported(row.cells.get(column) or "")) for row in rows if isinstance(row, Row))
    line = next((line for line, one in read if one and one.spread is not None), 1)
    raise ReportError(ask_spread(content, column, line))


def check_notations(
    root: Path, layout: Layout, looks: Iterable[Look], settings: SourceSettings
) -> Iterator[Diagnostic]:
    """Yield warnings of columns left out for how their numbers are written.

    Raises if only some numbers of a column have a %, and for a ± of which nothing says what it is.
    """
    roles = layout.roles
    played = {roles.series, roles.run, roles.seed, roles.step, roles.metric}
    for file in layout.files if settings.interval is None and not layout.outcomes else ():
        for name in layout.estimates:
            if name in file.columns and layout.kinds[name] in NUMERIC and name not in played:
                refuse_open_estimate(file.get_content(root), file, name)
    wrong: list[Diagnostic] = []
    metric = layout.roles.metric or (layout.totals.metric if layout.totals else None)
    read = layout.metrics and not (layout.long or layout.outcomes or layout.totals)
    for file, rows in ((look.file, look.rows) for look in looks if look.file.format != delimited.WANDB_CHART):
        for index, (name, type_) in enumerate(zip(file.columns, file.types, strict=True)):
            cells = [row[index] for row in rows if not is_missing(row[index])] if type_ == sql.TEXT else []
            kind = layout.kinds.get(name)
            is_open = kind in NUMERIC and name not in layout.percentages
            if is_open and any("%" in (cell or "") for cell in cells):
                wrong += limit_problems(_find_unsigned(file.get_content(root), file, name, metric))
            elif (
                read
                and kind is Kind.TEXT
                and name not in astuple(layout.roles)
                and 2 * sum(map(is_other_number, cells)) > len(cells)
            ):
                faults = check_rows(file.get_content(root), file, {name: _OTHER_NUMBER})
                yield from (replace(one, severity=Severity.WARNING) for one in islice(faults, 1))
    if wrong:
        raise ReportError(*wrong)


def _find_unsigned(content: Content, file: FileLayout, name: str, metric: str | None) -> Iterator[Diagnostic]:
    """Yield the numbers without a % in a column where others, of the same metric, have one.

    Zero, NaN and infinity are the same with and without it.
    """

    def iterate_cells() -> Iterator[tuple[Row, str, Text]]:
        for row in FORMATS[file.format].read_rows(content, file, [name, *([metric] if metric else [])]):
            if not isinstance(row, Diagnostic) and (cell := row.cells.get(name)):
                yield row, cell, row.cells.get(metric or "")

    signed: dict[Text, str] = {}
    for row, cell, of in iterate_cells():
        if "%" in cell:
            signed.setdefault(of, f'"{cell}" in line {row.line + content.above}' if row.line else f'"{cell}"')
    for row, cell, of in iterate_cells():
        found = parse_reported(cell) if of in signed else None
        if found and not found.percent and abs(number := found.value) > 0:
            where = "" if row.line else f" of row {row.number}"
            message = f'"{cell}" in column "{shorten(name, _LONGEST)}"{where} has no %, but {signed[of]} has'
            message = f"{message}: it could be {cell}% or {100 * number:.15g}%"
            yield content.make_problem(message, "Write all of them in one way, as 51% or as 0.51", row.line)


def warn_no_metrics(
    root: Path, survey: Survey, settings: SourceSettings, place: SourceLocation
) -> Iterator[Diagnostic]:
    """Warn if a source of measurements has nothing to draw, as when decimals have commas."""
    layout = survey.layout
    if layout.metrics or layout.outcomes or layout.totals:
        return
    played = astuple(layout.roles)
    rest = {name: kind for name, kind in layout.kinds.items() if name not in played and kind not in NUMERIC}
    texts = [f'"{name}"' for name, kind in rest.items() if kind is not Kind.EMPTY]
    empty = [f'"{name}"' for name, kind in rest.items() if kind is Kind.EMPTY]
    message = "no column holds the numbers of a metric"
    written = (
        "If they are numbers, write decimals as 0.5, not as 0,5, and commas, semicolons or tabs between cells"
    )
    advice = advise_other(root, layout, settings) or written
    if layout.long:
        message = f'no row names a metric: the column "{layout.roles.metric}" is empty'
        advice = "Fill it with the metric of each value"
    elif texts:
        message = f"{message}: {list_names(texts)} {'holds' if len(texts) == 1 else 'hold'} texts"
    elif empty:
        message = f"{message}: {list_names(empty)} {'is' if len(empty) == 1 else 'are'} empty"
        advice = "Wait for the first values, or name other files with files:"
    yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)


def check_table_names(location: Location, settings: SourceSettings) -> None:
    """Refuse settings that need runs: those of loggers and harnesses, or the columns of a chart."""
    keys = [key for key in ("series_from", "seed_from", "run_from") if getattr(settings, key)]
    if keys:
        verb = "applies to" if len(keys) == 1 else "apply to"
        message = f"{list_names(f'{key}:' for key in keys)} {verb} runs, and there are only tables here"
        advice = "Name columns with columns:, or take names out of paths with groups in files:"
        raise ReportError(Diagnostic(location.place, message, advice, Stage.SETTINGS))


def select_metrics(names: Iterable[str], settings: SourceSettings) -> dict[str, RawNames]:
    """Return the metrics that ``metrics:`` selects, as name in the report: names in the data."""
    metrics: dict[str, RawNames] = {}
    for raw in names:
        name = settings.rename_metrics.get(raw, raw)
        if settings.metrics is None or {raw, name} & set(settings.metrics):
            metrics[name] = (*metrics.get(name, ()), raw)
    return metrics


def list_percentages(settings: SourceSettings) -> frozenset[str]:
    """Return the metrics or benchmarks that ``unit:`` names, as written and as in the report."""
    named = {*settings.unit} if isinstance(settings.unit, dict) else set[str]()
    renamed = [*settings.rename_metrics.items(), *settings.rename_benchmarks.items()]
    return frozenset(named.union(*(pair for pair in renamed if named & {*pair})))


def find_percentages(layout: Layout, settings: SourceSettings) -> Percentages:
    """Return the columns of percentages; none if they were written as shares."""
    if not settings.unit or layout.outcomes or any(file.shares for file in layout.files):
        return {}
    names, roles, totals = list_percentages(settings), layout.roles, layout.totals
    intervals = [part for part in INTERVAL_PARTS if part != "n"]
    own = [getattr(roles, part) for part in intervals]
    if totals or layout.long:
        by = totals.benchmark if totals else roles.metric
        columns = [totals.score, totals.stderr, totals.std] if totals else [roles.value, *own]
        rows = (by or "", tuple(sorted(names))) if names else ("", ())
        return {name: rows for name in columns if name} if by or not names else {}
    raws = [raw for found in layout.metrics.values() for raw in found]
    every = [
        (raw, *(f"{raw}_{part}" for part in intervals), *(own if len(raws) == 1 else ()))
        for raw in raws
        if not names or raw in names
    ]
    return {name: ("", ()) for columns in every for name in columns if name}


def make_shares(
    settings: SourceSettings, benchmark: str, score: float, stderr: float | None
) -> tuple[float, float | None]:
    """Return a score on a benchmark with its standard error, as shares if ``unit:`` says percent."""
    if settings.unit == "percent" or benchmark in list_percentages(settings):
        return make_share(score), None if stderr is None else make_share(stderr)
    return score, stderr


def check_new_names(benchmarks: Iterable[str], settings: SourceSettings, place: SourceLocation) -> None:
    """Refuse two benchmarks, as written in the data, with one name in the report."""
    old = defaultdict[str, dict[str, None]](dict)
    for name in benchmarks:
        old[settings.rename_benchmarks.get(name, name)][name] = None
    for new, several in old.items():
        if len(several) > 1:
            message = f'rename_benchmarks: {quote_names([*several])} would be one benchmark, "{new}"'
            step = "Give each a name of its own"
            raise ReportError(Diagnostic(place, message, step, Stage.DATA))


def state_runs(
    files: Iterable[FileLayout], settings: SourceSettings, n: int | str | None = None
) -> tuple[tuple[FileLayout, ...], SourceSettings]:
    """Return files with a column of the number of runs that the settings state for all rows, and its name."""
    n = settings.columns.n if n is None else n
    if not isinstance(n, int):
        return tuple(files), settings
    columns = settings.columns.model_copy(update={"n": "n"})
    files = (replace(file, given=(*file.given, ("n", (str(n),)))) for file in files)
    return tuple(files), settings.model_copy(update={"columns": columns})


def check_setting_names(survey: Survey, settings: SourceSettings, place: SourceLocation) -> Survey:
    """Return a survey with warnings of unknown names in the settings; raises for a required one."""
    problems = list(find_unmatched_names(survey, settings, place))
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ReportError(*problems)
    return replace(survey, warnings=(*survey.warnings, *problems))


def find_unmatched_names(
    survey: Survey, settings: SourceSettings, place: SourceLocation
) -> Iterator[Diagnostic]:
    """Yield a problem for each name in the settings that the data do not have."""

    def report(key: str, kind: str, name: str, known: Sequence[str], severity: Severity) -> Diagnostic:
        message = f'{key}: there is no {kind} "{name}"'
        step = suggest_names(name, tuple(dict.fromkeys(known)), "There are")
        if key == "rename_metrics" and name in survey.layout.benchmarks:
            step = "It is a benchmark: say rename_benchmarks"
        return Diagnostic(place, message, step, Stage.DATA, severity)

    known = (*survey.raw_metrics, *survey.layout.metrics)
    for name in settings.metrics or ():
        if name not in known:
            yield report("metrics", "metric", name, survey.raw_metrics, Severity.ERROR)
    layout, lower, named = survey.layout, settings.lower_is_better, settings.score_name
    is_scored = layout.outcomes or layout.totals
    if settings.unit and layout.outcomes:
        message = "unit: percent is of curves and totals, and these are answers to problems"
        yield Diagnostic(place, message, "Say score_range: [0, 100] for scores in percent", Stage.DATA)
    united = settings.unit if isinstance(settings.unit, dict) else {}
    directed = ("benchmark", layout.benchmarks) if is_scored else ("metric", tuple(layout.metrics))
    renamed = [old for old, new in settings.rename.items() if new not in layout.series]
    for key, (kind, there), given in (
        ("rename_metrics", ("metric", survey.raw_metrics), settings.rename_metrics),
        ("lower_is_better", directed, lower if isinstance(lower, tuple) else ()),
        ("score_name", ("benchmark", layout.benchmarks), named if isinstance(named, dict) else ()),
        ("protocols", ("series", layout.series), settings.protocols),
        ("unit", (directed[0], (*directed[1], *(() if is_scored else survey.raw_metrics))), united),
    ):
        yield from (report(key, kind, name, there, Severity.WARNING) for name in given if name not in there)
    yield from _find_wrong_bounds(survey, settings, place)
    for old in renamed:
        key = "labels" if old in settings.labels else "rename"
        yield report(key, "series", old, layout.series, Severity.WARNING)
    for old, new in settings.rename_benchmarks.items():
        if new not in layout.benchmarks:
            yield report("rename_benchmarks", "benchmark", old, layout.benchmarks, Severity.WARNING)


def _find_wrong_bounds(
    survey: Survey, settings: SourceSettings, place: SourceLocation
) -> Iterator[Diagnostic]:
    """Yield a problem of ``at_least`` and ``at_most`` for scores, and for each metric that there is not."""
    metrics = tuple(survey.layout.metrics)
    if survey.layout.outcomes or survey.layout.totals:
        if settings.at_least is not None or settings.at_most is not None:
            message = "at_least and at_most are of curves, and these are scores"
            yield Diagnostic(place, message, "Say score_range, as in score_range: [0, 1]", Stage.DATA)
        return
    for name in settings.list_bounded():
        if name not in metrics:
            message = f'at_least and at_most: there is no metric "{name}"'
            step = suggest_names(name, metrics, "There are")
            yield Diagnostic(place, message, step, Stage.DATA, Severity.WARNING)
