"""A source's outcomes as one lazy tidy table: a row for each answer to a problem."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import narwhals as nw

from reportgen.errors import Problem, ReportError, Stage
from reportgen.outcomes import Outcomes
from reportgen.read import sql
from reportgen.read.engine import engine
from reportgen.read.layout import layout_of
from reportgen.read.repeats import check_answers, check_clusters
from reportgen.read.tabular import score_cells
from reportgen.read.tabular.faults import NAMED, NUMBER, Check, explained, find_wrong_cells
from reportgen.read.tabular.outcome_columns import column_of, free_columns
from reportgen.read.tabular.rows import groups, kept, run_of, seed_of, series_of
from reportgen.read.tabular.survey import completed
from reportgen.read.wording import known_names, names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from reportgen.model import Source
    from reportgen.read.layout import Filters, Layout, OutcomeRoles
    from reportgen.read.tabular.rows import Rows
    from reportgen.settings.blocks import Cell

_EVERYTHING: Mapping[str, Cell | tuple[Cell, ...]] = MappingProxyType({})
_TEXTS: Final = ("answer", "gold", "cluster")
_NUMBERS: Final = ("tokens", "seconds", "cost")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of a source.

    Attributes:
        layout: how the source is read.
        roles: the columns of its outcomes.
        rename: series as written, and their names in the report.
        series: only these series, if not all.
        filters: column as written, and the cells it may hold.
        slices: free columns.
        ends: the lowest and the highest possible score.
        counted: whether the rows of a problem are samples, to be numbered in the order of writing.
        runs: whether the rows of a problem and sample are of runs of their own, to be numbered so.
        told_apart: whether problems of several benchmarks stand in one table.
    """

    layout: Layout
    roles: OutcomeRoles
    rename: Mapping[str, str]
    series: tuple[str, ...] | None
    filters: Filters
    slices: tuple[str, ...]
    ends: tuple[float, float]
    counted: bool
    runs: bool
    told_apart: bool

    @property
    def given(self) -> dict[str, str]:
        """Of the parts that outcomes need not have, those there are, and their columns."""
        parts = {part: getattr(self.roles, part) for part in (*_TEXTS, *_NUMBERS)}
        return {part: column for part, column in parts.items() if column is not None}


def outcomes(
    project_root: Path,
    source: Source,
    *,
    benchmark: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, Cell | tuple[Cell, ...]] = _EVERYTHING,
) -> Outcomes:
    """The outcomes of a source as a lazy table: nothing is read before it is collected.

    Whoever collects the frame does it inside ``outcomes.reading()``, which turns what the files have wrong
    into a ``ReportError`` with every file and line: a score that is none or out of range, a row without
    a problem, a word where a number should be.

    Where the data have no column for the sample, a problem has one sample a run, and of several rows the
    last written counts; if ``protocol`` says that there are more, rows are numbered in the order of writing.
    Problems of several benchmarks in one table have the benchmark before their name.

    Args:
        project_root: the folder that the source's files are relative to.
        source: from ``open_source`` or ``open_path``.
        benchmark: only rows of this benchmark.
        series: only these series, in this order.
        where: only rows whose column has this value, or one of these; besides the source's own filter.

    Returns:
        The table; ``slices`` are the source's and, where there is one, the benchmark column as
        ``benchmark``.

    Raises:
        ReportError: the source has no outcomes, or no such benchmark, series or column.
    """
    asked = _planned(project_root, source, benchmark, series, where)

    def reading() -> AbstractContextManager[None]:
        return explained(
            project_root,
            source.place,
            lambda: find_wrong_cells(project_root, asked.layout.files, _checks(asked)),
        )

    statement = _statement(project_root, asked)
    with reading():
        relation = engine().cursor().sql(statement)
    return Outcomes(
        frame=nw.from_native(relation).lazy(),
        order=asked.layout.series if series is None else series,
        has=frozenset(asked.given),
        slices=(*asked.slices, *(["benchmark"] if asked.roles.benchmark else [])),
        lowest=asked.ends[0],
        highest=asked.ends[1],
        reading=reading,
        check_repeats=lambda: check_answers(project_root, source, asked.layout, asked.filters),
        check_clusters=lambda: check_clusters(project_root, asked.layout, statement),
    )


def _planned(
    root: Path,
    source: Source,
    benchmark: str | None,
    series: tuple[str, ...] | None,
    where: Mapping[str, Cell | tuple[Cell, ...]],
) -> _Asked:
    layout = layout_of(source)
    roles = layout.outcomes
    if roles is None:
        raise ReportError(_no_outcomes(source, layout))
    if not layout.exhaustive and not set(series or ()) <= set(layout.series):
        layout = completed(root, source)
    problems = list(unknown_names(source, layout, benchmark, series, where))
    if problems:
        raise ReportError(*problems)
    settings = source.settings
    filters = {**settings.filter, **where}
    picked = tuple((column_of(name, layout) or name, cell) for name, cell in filters.items())
    if benchmark is not None:
        picked += ((roles.benchmark or "", benchmark),)
    stated = [protocol.samples or 1 for protocol in (settings.protocol, *settings.protocols.values())]
    return _Asked(
        layout=layout,
        roles=roles,
        rename=settings.rename,
        series=series,
        filters=picked,
        slices=free_columns(layout),
        ends=source.score_range,
        counted=(roles.sample is None and max(stated) > 1) or settings.repeat == "mean",
        runs=settings.repeat == "runs",
        told_apart=benchmark is None and len(layout.benchmarks) > 1,
    )


def _no_outcomes(source: Source, layout: Layout) -> Problem:
    if layout.totals:
        message = f'the source "{source.name}" holds totals only, and no answers to single problems'
        return Problem(source.place, message, "Let the harness write them, too", Stage.DATA)
    message = f'the source "{source.name}" has no outcomes: a column for the problem and one for the score'
    advice = f"Name them in source.yml, as in columns: {{problem: NAME}}. It has {names(layout.kinds)}"
    return Problem(source.place, message, advice, Stage.DATA)


def unknown_names(
    source: Source,
    layout: Layout,
    benchmark: str | None,
    series: tuple[str, ...] | None,
    where: Mapping[str, Cell | tuple[Cell, ...]],
) -> Iterator[Problem]:
    """A problem for each name that is not there."""
    columns = tuple(layout.kinds)
    asked = [("series", name, layout.series) for name in series or () if name not in layout.series]
    asked += [("column", name, columns) for name in where if column_of(name, layout) is None]
    if benchmark is not None and benchmark not in layout.benchmarks:
        asked.append(("benchmark", benchmark, layout.benchmarks))
    for kind, name, known in asked:
        message = f'the source "{source.name}" has no {kind} "{name}"'
        advice = known_names(name, known, "It has")
        if not known:
            advice = "It has no column of benchmarks; name it in source.yml, as in columns: {benchmark: NAME}"
        yield Problem(source.place, message, advice, Stage.DATA)


def _checks(asked: _Asked) -> dict[str, Check]:
    """What the cells of each column are held to."""
    checks = {column: NUMBER for part, column in asked.given.items() if part in _NUMBERS}
    checks[asked.roles.problem] = NAMED
    checks[asked.roles.score] = Check(lambda cell: score_cells.wrong_score(cell, asked.ends), typed=True)
    return checks


def _statement(root: Path, asked: _Asked) -> str:
    """The SELECT whose columns are those of ``Outcomes.frame``."""
    table = " UNION ALL ".join(_select(rows, asked) for rows in groups(root, asked.layout))
    if asked.series is not None:
        table = f"SELECT * FROM ({table}) WHERE series IN ({sql.literals(asked.series) or 'NULL'})"  # noqa: S608
    problem = "CASE WHEN problem IS NULL THEN error('a row has no problem') ELSE problem END"
    if asked.told_apart:
        problem = f"benchmark || ' / ' || {problem}"
    changed = {
        "problem": problem,
        "score": score_cells.in_range("score", asked.ends),
        "sample": "coalesce(sample, '')",
    }
    within = "series, run, benchmark, problem" if asked.roles.benchmark else "series, run, problem"
    if asked.counted:
        changed["sample"] = f'CAST(row_number() OVER (PARTITION BY {within} ORDER BY "row") AS {sql.TEXT})'
    elif asked.runs:
        again = f"PARTITION BY {within}, sample"
        number = f'row_number() OVER ({again} ORDER BY "row")'
        several = f"count(*) OVER ({again}) > 1"
        named = f"CASE WHEN run = '' THEN '' ELSE run || ' #' END || {number}"
        changed["run"] = f"CASE WHEN {several} THEN {named} ELSE run END"
    replaced = ", ".join(f"{expression} AS {name}" for name, expression in changed.items())
    return f"SELECT * REPLACE ({replaced}) FROM ({table})"  # noqa: S608 - quoted


def _select(rows: Rows, asked: _Asked) -> str:
    """The rows of files of one shape, as they are written."""
    roles = asked.roles
    fields = {
        "series": series_of(rows, asked.layout, asked.rename),
        "run": run_of(rows, asked.layout),
        "seed": seed_of(rows, asked.layout),
        "problem": _shown(rows.text(roles.problem)),
        "sample": rows.text(roles.sample) if roles.sample else f"CAST(NULL AS {sql.TEXT})",
        "score": rows.score(roles.score, asked.ends),
        "row": rows.position(),
    }
    for part, column in asked.given.items():
        fields[part] = rows.number(column) if part in _NUMBERS else _shown(rows.text(column))
    fields |= {name: _shown(rows.text(name)) for name in asked.slices}
    if roles.benchmark:
        fields["benchmark"] = rows.text(roles.benchmark)
    listed = ", ".join(f"{cell} AS {sql.identifier(name)}" for name, cell in fields.items())
    return f"SELECT {listed} FROM {rows.source()}{kept(rows, asked.filters)}"  # noqa: S608 - quoted


def _shown(cell: str) -> str:
    """A text as pages can hold it: U+FFFD in place of NUL."""
    return f"replace({cell}, chr(0), '\ufffd')"
