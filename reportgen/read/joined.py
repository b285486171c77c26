"""Reading of sources, of one or of several together, as one table of measurements, outcomes or totals."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from msgspec.structs import replace

from reportgen.core.comparisons import Outcomes
from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Stage, relocate_errors
from reportgen.core.model import Measurements
from reportgen.core.score_names import STATUS
from reportgen.core.words import choose_names, join_names, quote_names
from reportgen.formats import sql
from reportgen.formats.sql import get_engine
from reportgen.read import groups
from reportgen.read.check_repeats import check_answers, check_steps
from reportgen.read.groups import Groups, rank_label
from reportgen.read.measurements import plan_table
from reportgen.read.plan import MeasurementQuery, report_missing_series
from reportgen.read.scored import outcomes
from reportgen.read.scored.outcomes import build_outcomes, check_clusters, plan_outcomes
from reportgen.read.scored.totals import TotalsTable
from reportgen.read.tables.check import explain_errors
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.rows import rename_texts
from reportgen.settings.inputs import SourcePart, name_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from reportgen.core.comparisons import ReportedScore
    from reportgen.core.model import Formula
    from reportgen.read.measurements import PlannedTable
    from reportgen.read.scored.outcomes import OutcomeQuery
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source

    _Planned = TypeVar("_Planned")
    _Where: TypeAlias = Mapping[str, CellValue | tuple[CellValue, ...]]


# Factor of the index of a source in a row's position, to which its smaller position in the source is added.
_SOURCE_ROWS: Final = 1 << 57
_ANSWER: Final = ("run", "seed", "problem", "sample", "score")


def read_measurements(
    project_root: Path,
    source: Source,
    metrics: tuple[str, ...],
    *,
    x: str | None = None,
    series: tuple[str, ...] | None = None,
    where: _Where | None = None,
    by: tuple[str, ...] = (),
    colour: str | None = None,
    formula: Formula | None = None,
    x_formula: Formula | None = None,
) -> Measurements:
    """Return metrics of a source, or of several joined ones, as a lazy table.

    Nothing is read before it is collected. Collect the frame inside ``measurements.reading()``, which turns
    faults in the files into a ``ReportError`` with every file and line. All metrics are read in one pass over
    the files, which are relative to ``project_root``. Only rows of the given ``series``, names and patterns
    such as ``base*`` and ``!base-old``, in this order, and with the values of ``where`` in their columns are
    read, after the source's own filter. ``x`` is a column, or another metric of the same runs, used as the
    step. ``by`` are settings or columns whose values are the series instead, and ``colour`` is one whose
    value each series has in ``measurements.colours``. With ``formula``, the only metric is derived by it, run
    by run, from metrics at one step; ``x_formula`` derives ``x`` likewise.

    An interval in the data is passed on unchanged: ``low`` and ``high``, or ``stderr`` (std / sqrt(n) if
    ``std`` and ``n`` are given) and ``n``.

    Of joined sources, groups by settings have their source behind them, and never runs of several sources.

    Raises:
        ReportError: the source does not have one of the metrics, columns or series; or the x or intervals
            of joined ones are of different kinds. Joined sources raise errors at the block that names them.
    """
    query = MeasurementQuery(metrics, x, series, where or {}, by, colour, formula, x_formula)
    if source.parts:
        planned = _plan_parts(
            source, series, lambda part, own: plan_table(project_root, part, replace(query, series=own))
        )
        _check_similar(source, planned)
    else:
        planned = [(SourcePart(source, {}, ""), plan_table(project_root, source, query))]
    return _join_tables(project_root, source, query, planned)


def _join_tables(
    root: Path, source: Source, query: MeasurementQuery, planned: Sequence[tuple[SourcePart, PlannedTable]]
) -> Measurements:
    """Return the measurements of sources, the rows of each as if it were shown alone."""
    tables = [table for _, table in planned]
    # Relative times are in the unit of the longest.
    longest = max(tables, key=lambda table: table.rows.unit).rows
    names: list[Mapping[str, str]] = [{}]
    found, order, selects = tables[0].groups, tables[0].order, [tables[0].rows.select]
    if source.parts:
        names, found = _join_groups([(part, table.groups) for part, table in planned])
        order = found.order if query.by else _choose_joined(source, query.series)
        selects = _select_tables(planned, names, longest.unit)
    reading = _make_reading(root, source, [table.list_faults for table in tables])
    with reading():
        frame = get_engine().open_frame(" UNION ALL ".join(selects))
    return Measurements(
        frame=frame,
        step_name=longest.title,
        step_is_time=longest.is_time,
        given_interval=next(filter(None, (table.plan.given_interval for table in tables)), None),
        order=order,
        colours=found.colours,
        settings=found.values,
        notes=_join_notes([(part, table.notes) for part, table in planned]),
        check_x=partial(_check_x, source, planned),
        reading=reading,
        list_runs=partial(_list_runs, names, tables),
        check_runs=partial(_run_all, [one.check_runs for one in tables]),
        check_counters=partial(_run_all, [one.check_counters for one in tables]),
        check_repeats=partial(_run_all, [partial(check_steps, root, one.plan) for one in tables]),
    )


def _run_all(checks: Iterable[Callable[[], None]]) -> None:
    for check in checks:
        check()


def _check_x(source: Source, planned: Sequence[tuple[SourcePart, PlannedTable]]) -> None:
    problems = Diagnostics()
    for part, table in planned:
        moved = (part.source.location, source.location, *name_settings(part.source))
        with problems.collecting(), relocate_errors(*moved):
            table.check_x()
    problems.raise_errors()


def _list_runs(
    names: Sequence[Mapping[str, str]], tables: Sequence[PlannedTable]
) -> tuple[tuple[str, str, str | None], ...]:
    """Return the runs of all sources, with series by their names among all."""
    pairs = zip(names, tables, strict=True)
    return tuple((new.get(one, one), run, seed) for new, own in pairs for one, run, seed in own.list_runs())


def _join_groups(
    parts: Sequence[tuple[SourcePart, Groups]],
) -> tuple[list[Mapping[str, str]], Groups]:
    """Return the groups, otherwise series, of each source with their names among all, and all groups."""
    names: list[Mapping[str, str]] = []
    colours: dict[str, str] = {}
    values: dict[str, Mapping[str, str | None]] = {}
    for part, own in parts:
        new = {group: f"{group}, {part.source.name}" for group in own.order} or part.names
        names.append(new)
        colours |= {new[group]: label for group, label in own.colours.items()}
        values |= {new[group]: cells for group, cells in own.values.items()}
    # Groups of the same settings are in the order of their sources.
    pairs = sorted((pair for new in names for pair in new.items()), key=lambda pair: rank_label(pair[0]))
    by_colour = dict(sorted(colours.items(), key=lambda pair: rank_label(pair[1])))
    notes = _join_notes([(part, own.notes) for part, own in parts])
    return names, Groups(tuple(name for _, name in pairs), by_colour, notes, values)


def _select_tables(
    planned: Sequence[tuple[SourcePart, PlannedTable]], names: Sequence[Mapping[str, str]], unit: float
) -> list[str]:
    """Return the SELECT of each source, with series by their names and relative times in one unit."""
    intervals = dict.fromkeys(chain.from_iterable(table.plan.interval_columns for _, table in planned))
    selects: list[str] = []
    for (_, table), new in zip(planned, names, strict=True):
        own, size = table.plan.interval_columns, table.rows.unit
        columns = {name: f'"{name}"' for name in ("run", "seed", "metric", "step", "value")}
        if size != unit:
            columns["step"] = f'"step" * {size!r} / {unit!r}'
        columns |= {name: f'"{name}"' if name in own else "CAST(NULL AS DOUBLE)" for name in intervals}
        selects.append(_select_part(_SOURCE_ROWS * len(selects), new, table.rows.select, columns))
    return selects


def _join_notes(planned: Sequence[tuple[SourcePart, Sequence[str]]]) -> tuple[str, ...]:
    """Return the notes of all sources, and then of each those that not all have."""
    shared = [note for note in planned[0][1] if all(note in notes for _, notes in planned)]
    own = [
        f"{part.source.settings.title or part.source.name}: {note}"
        for part, notes in planned
        for note in notes
        if note not in shared
    ]
    return (*shared, *own)


def read_outcomes(
    project_root: Path,
    source: Source,
    *,
    benchmark: str | None = None,
    series: tuple[str, ...] | None = None,
    where: _Where | None = None,
    by: tuple[str, ...] = (),
) -> Outcomes:
    """Return the outcomes of a source, or of several joined ones, as a lazy table.

    See ``outcomes.read_outcomes``, which this is for a source of its own. Of joined sources, problems of one
    name are one problem, and groups have their source behind them.
    """
    if not source.parts:
        return outcomes.read_outcomes(
            project_root, source, benchmark=benchmark, series=series, where=where, by=by
        )

    plan = partial(plan_outcomes, project_root, benchmark=benchmark, where=where or {}, by=by)
    planned = _plan_parts(source, series, plan, benchmark)
    queries = [query for _, query in planned]
    _check_clusters(source, queries)
    renames, found = _join_groups([(part, query.find_groups(project_root)) for part, query in planned])
    has = frozenset.intersection(*(frozenset(one.given) for one in queries))
    has |= frozenset(STATUS for one in queries if STATUS in one.has)
    slices = tuple(name for name in queries[0].slices if all(name in query.slices for query in queries))
    columns = {name: sql.quote_name(name) for name in (*_ANSWER, *sorted(has), *slices)}
    statements = [build_outcomes(project_root, query) for query in queries]
    reading = _make_reading(project_root, source, [partial(one.list_faults, project_root) for one in queries])
    selects = [_select_part(_SOURCE_ROWS * n, renames[n], s, columns) for n, s in enumerate(statements)]
    with reading():
        frame = get_engine().open_frame(" UNION ALL ".join(selects))
    return Outcomes(
        frame=frame,
        order=found.order if by else _choose_joined(source, series),
        has=has,
        slices=slices,
        lowest=source.score_range[0],
        highest=source.score_range[1],
        settings=found.values,
        notes=found.notes,
        reading=reading,
        **_join_checks(project_root, queries, statements),
    )


def _join_checks(
    root: Path, queries: Sequence[OutcomeQuery], statements: Sequence[str]
) -> dict[str, Callable[[], None]]:
    """Join the checks of each source, which concern its own rows."""
    repeats = [partial(check_answers, root, one.source, one.layout, one.filters) for one in queries]
    runs = [partial(one.check_runs, root) for one in queries]
    clusters = [
        partial(check_clusters, root, query.layout, statement)
        for query, statement in zip(queries, statements, strict=True)
    ]
    checks = {"check_repeats": partial(_run_all, repeats), "check_runs": partial(_run_all, runs)}
    return {**checks, "check_clusters": partial(_run_all, clusters)}


def open_totals(project_root: Path, source: Source) -> TotalsTable | JoinedTotals:
    """Open the totals of a source, or of several joined ones."""
    return JoinedTotals(project_root, source) if source.parts else TotalsTable(project_root, source)


class JoinedTotals:
    """The totals of joined sources, as those of a ``TotalsTable``; shares where their ranges differ."""

    def __init__(self, project_root: Path, source: Source) -> None:
        self._source = source
        self._tables = {part.source.name: TotalsTable(project_root, part.source) for part in source.parts}
        ranges = {part.source.name: part.source.score_range for part in source.parts}
        differ = len(set(ranges.values())) > 1
        self._divisors = {name: high if differ else 1.0 for name, (_, high) in ranges.items()}

    def get_scores(
        self,
        benchmark: str | None = None,
        series: tuple[str, ...] | None = None,
        where: _Where | None = None,
    ) -> tuple[ReportedScore, ...]:
        """Return the totals of all sources; see ``TotalsTable``."""
        planned = _plan_parts(
            self._source,
            series,
            lambda part, own: self._tables[part.name].get_scores(benchmark, own, where),
            benchmark,
        )
        return tuple(
            _divide(
                replace(one, series=part.names.get(one.series, one.series)), self._divisors[part.source.name]
            )
            for part, scores in planned
            for one in scores
        )

    def get_range(self, scores: Sequence[ReportedScore], *, higher_is_better: bool) -> tuple[float, float]:
        """Return the range of the scores of all sources; one on another scale is an error."""
        ends = {}
        for name, table in self._tables.items():
            low, high = table.get_range(scores, higher_is_better=higher_is_better)
            ends[name] = (low / self._divisors[name], high / self._divisors[name])
        if len(set(ends.values())) == 1:
            return next(iter(ends.values()))
        shares = [name for name, pair in ends.items() if pair == (0.0, 1.0)]
        others = [name for name in ends if name not in shares]
        said = (
            f"the scores of {quote_names(shares)} are from 0 to 1, and those of {quote_names(others)} are not"
        )
        step = f"If these are in percent, say unit: percent in the source.yml of {quote_names(others)}"
        step += ", or write the sign, as 51%; otherwise show the sources in blocks of their own"
        raise ReportError(Diagnostic(self._source.location, said, step, Stage.DATA))


def _divide(score: ReportedScore, divisor: float) -> ReportedScore:
    value, stderr = (None if one is None else one / divisor for one in (score.value, score.stderr))
    return replace(score, value=value, stderr=stderr)


def get_benchmark_parts(source: Source) -> Mapping[str, tuple[str, ...]]:
    """Return the benchmarks that are means over others by the harness, with the names of these."""
    sources = [part.source for part in source.parts] or [source]
    return {name: members for one in sources for name, members in get_layout(one).benchmark_parts.items()}


def get_score_names(source: Source) -> Mapping[str, str]:
    """Return the name of each benchmark's score; of joined sources only where they agree."""
    if not source.parts:
        return outcomes.get_score_names(source)
    names = [outcomes.get_score_names(part.source) for part in source.parts]
    return {
        benchmark: next(iter(found))
        for benchmark in source.benchmarks or ("",)
        if len(found := {one[benchmark] for one in names if benchmark in one}) == 1
    }


def list_values(project_root: Path, source: Source, names: Iterable[str]) -> dict[str, str]:
    """Return the values that columns or settings have, in words; of joined sources those of each."""
    names = tuple(names)
    if not source.parts:
        return groups.list_values(project_root, source, names)
    found = [
        (part.source.name, groups.list_values(project_root, part.source, names)) for part in source.parts
    ]
    return {
        name: join_names([f'{values[name]} in "{own}"' for own, values in found if name in values])
        for name in names
        if any(name in values for _, values in found)
    }


def read_run_settings(
    project_root: Path, source: Source, names: Sequence[str], optional: Sequence[str] = ()
) -> dict[tuple[str, str], dict[str, str | None]]:
    """Return the settings of each run, by series and run; see ``groups.read_run_settings``."""
    read = partial(groups.read_run_settings, project_root, names=names, optional=optional)
    return {
        (part.names.get(series, series), run): cells
        for part in source.parts or [SourcePart(source, {}, "")]
        for (series, run), cells in read(part.source).items()
    }


def _choose_joined(source: Source, series: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the series that names and patterns choose of joined sources, or all, source by source."""
    known = tuple(name for part in source.parts for name in part.names.values())
    return known if series is None else choose_names(series, known).names


def _plan_parts(
    source: Source,
    series: tuple[str, ...] | None,
    plan: Callable[[Source, tuple[str, ...] | None], _Planned],
    benchmark: str | None = None,
) -> list[tuple[SourcePart, _Planned]]:
    """Plan the rows of each source that has one of the series; its problems are reported at the block.

    A ``benchmark`` that not every source has is read from those that have it.
    """
    known = _choose_joined(source, None)
    if unknown := list(report_missing_series(source, known, series)):
        raise ReportError(*unknown)
    chosen = _choose_joined(source, series)
    planned: list[tuple[SourcePart, _Planned]] = []
    problems = Diagnostics()
    for part in source.parts:
        own = None if series is None else tuple(old for old, new in part.names.items() if new in chosen)
        if own != () and (benchmark is None or benchmark in (part.source.benchmarks or (benchmark,))):
            moved = (part.source.location, source.location, *name_settings(part.source))
            with problems.collecting(), relocate_errors(*moved):
                planned.append((part, plan(part.source, own)))
    problems.raise_errors()
    return planned


def _select_part(first: int, names: Mapping[str, str], statement: str, columns: Mapping[str, str]) -> str:
    """Return the SELECT of a source's rows, which are behind ``first`` others, with series by their names.

    ``columns`` are those of all sources besides series and row.
    """
    renamed = {old: new for old, new in names.items() if old != new}
    cells = ", ".join(f"{cell} AS {sql.quote_name(name)}" for name, cell in columns.items())
    position = f'"row" + {first} AS "row"'
    return f"SELECT {rename_texts('series', renamed)} AS series, {cells}, {position} FROM ({statement})"  # noqa: S608 - quoted


def _make_reading(
    root: Path, source: Source, faults: Sequence[Callable[[], list[Diagnostic]]]
) -> Callable[[], AbstractContextManager[None]]:
    """Make the context that turns failures of the database into the faults of all sources' files."""
    return partial(
        explain_errors, root, source.location, lambda: list(chain.from_iterable(list_() for list_ in faults))
    )


def _check_similar(source: Source, planned: Sequence[tuple[SourcePart, PlannedTable]]) -> None:
    """Refuse steps that are times in one source and numbers in another, and intervals of two kinds."""
    by_time: dict[bool, str] = {}
    by_start: dict[bool, str] = {}
    by_columns: dict[tuple[str, ...], tuple[str, str]] = {}
    for part, table in planned:
        by_time.setdefault(table.rows.is_time, part.source.name)
        by_start.setdefault(table.rows.unit > 0, part.source.name)
        if given := table.plan.given_interval:
            by_columns.setdefault(table.plan.interval_columns, (part.source.name, given))
    problems = []
    if len(by_time) > 1:
        message = f'the steps of "{by_time[True]}" are times, and those of "{by_time[False]}" are numbers'
        problems.append((message, "Name a column or metric that both have with x:"))
    elif len(by_start) > 1:
        message = f'x is the time since each run began in "{by_start[True]}", and a column or metric in '
        message += f'"{by_start[False]}"'
        problems.append((message, "Name one that both have with x:, such as relative time"))
    if len(by_columns) > 1:
        ways = join_names([f'"{name}" gives {given}' for name, given in by_columns.values()])
        problems.append(
            (f"the intervals in the data are of different kinds: {ways}", "Give each the same columns")
        )
    if problems:
        raise ReportError(*(Diagnostic(source.location, *one, Stage.DATA) for one in problems))


def _check_clusters(source: Source, queries: Sequence[OutcomeQuery]) -> None:
    """Refuse clusters of problems that only some sources name, which decide every interval."""
    clusters = {query.source.name: query.roles.cluster is not None for query in queries}
    if len(set(clusters.values())) > 1:
        having = quote_names([name for name, has in clusters.items() if has])
        message = f"only {having} says which problems belong together (cluster)"
        step = "Name the column as columns: {cluster: NAME} in the source.yml of each, or of none"
        raise ReportError(Diagnostic(source.location, message, step, Stage.DATA))
