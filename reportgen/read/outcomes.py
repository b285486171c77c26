"""The answers of a source to single problems as one lazy tidy table."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import chain, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import narwhals as nw

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.outcomes import Outcomes
from reportgen.formats import sql
from reportgen.formats.engine import get_engine
from reportgen.formats.messages import list_names, suggest_names
from reportgen.read.check_repeats import check_answers, check_clusters
from reportgen.read.tables.check import NAMED, NUMBER, Check, explain_errors, find_wrong_cells
from reportgen.read.tables.columns import list_free_columns, resolve_column
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.rows import (
    check_range,
    check_score,
    group_files,
    make_where,
    select_run,
    select_seed,
    select_series,
)
from reportgen.read.tables.survey import complete_layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from reportgen.read.tables.layout import Filters, Layout, OutcomeRoles
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source


_EVERYTHING: Mapping[str, CellValue | tuple[CellValue, ...]] = MappingProxyType({})
_TEXTS: Final = ("answer", "gold", "cluster")
_NUMBERS: Final = ("tokens", "seconds", "cost")


@dataclass(frozen=True, slots=True)
class _OutcomeQuery:
    """What is asked of a source.

    Attributes:
        layout: how the source is read.
        roles: the columns of its outcomes.
        rename: series as written, and their names in the report.
        series: only these series, if not all.
        filters: column as written, and the cells it may hold.
        slices: free columns.
        ends: the lowest and the highest possible score.
        number_samples: whether the rows of a problem are samples, to be numbered in the order of writing.
        number_runs: whether the rows of a problem and sample are of runs of their own, to be numbered so.
        prefix_benchmark: whether problems of several benchmarks stand in one table.
    """

    layout: Layout
    roles: OutcomeRoles
    rename: Mapping[str, str]
    series: tuple[str, ...] | None
    filters: Filters
    slices: tuple[str, ...]
    ends: tuple[float, float]
    number_samples: bool
    number_runs: bool
    prefix_benchmark: bool

    @property
    def given(self) -> dict[str, str]:
        """Of the parts that outcomes need not have, those there are, and their columns."""
        parts = {part: getattr(self.roles, part) for part in (*_TEXTS, *_NUMBERS)}
        return {part: column for part, column in parts.items() if column is not None}


def read_outcomes(
    project_root: Path,
    source: Source,
    *,
    benchmark: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] = _EVERYTHING,
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
    query = _plan_query(project_root, source, benchmark, series, where)

    def report_errors() -> AbstractContextManager[None]:
        return explain_errors(
            project_root,
            source.location,
            lambda: find_wrong_cells(project_root, query.layout.files, _list_checks(query)),
        )

    statement = _build_statement(project_root, query)
    with report_errors():
        relation = get_engine().open_cursor().sql(statement)
    return Outcomes(
        frame=nw.from_native(relation).lazy(),
        order=query.layout.series if series is None else series,
        has=frozenset(query.given),
        slices=(*query.slices, *(["benchmark"] if query.roles.benchmark else [])),
        lowest=query.ends[0],
        highest=query.ends[1],
        reading=report_errors,
        check_repeats=lambda: check_answers(project_root, source, query.layout, query.filters),
        check_clusters=lambda: check_clusters(project_root, query.layout, statement),
    )


def _plan_query(
    root: Path,
    source: Source,
    benchmark: str | None,
    series: tuple[str, ...] | None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]],
) -> _OutcomeQuery:
    layout = get_layout(source)
    roles = layout.outcomes
    if roles is None:
        raise ReportError(_explain_no_outcomes(source, layout))
    if not layout.exhaustive and not set(series or ()) <= set(layout.series):
        layout = complete_layout(root, source)
    problems = list(find_unknown_names(source, layout, benchmark, series, where))
    if problems:
        raise ReportError(*problems)
    settings = source.settings
    filters = {**settings.filter, **where}
    picked = tuple((resolve_column(name, layout) or name, cell) for name, cell in filters.items())
    if benchmark is not None:
        picked += ((roles.benchmark or "", benchmark),)
    stated = [protocol.samples or 1 for protocol in (settings.protocol, *settings.protocols.values())]
    return _OutcomeQuery(
        layout=layout,
        roles=roles,
        rename=settings.rename,
        series=series,
        filters=picked,
        slices=list_free_columns(layout),
        ends=source.score_range,
        number_samples=(roles.sample is None and max(stated) > 1) or settings.repeat == "mean",
        number_runs=settings.repeat == "runs",
        prefix_benchmark=benchmark is None and len(layout.benchmarks) > 1,
    )


def _explain_no_outcomes(source: Source, layout: Layout) -> Diagnostic:
    if layout.totals:
        message = f'the source "{source.name}" holds totals only, and no answers to single problems'
        return Diagnostic(source.location, message, "Let the harness write them, too", Stage.DATA)
    message = f'the source "{source.name}" has no outcomes: a column for the problem and one for the score'
    advice = f"Name them in source.yml, as in columns: {{problem: NAME}}. It has {list_names(layout.kinds)}"
    return Diagnostic(source.location, message, advice, Stage.DATA)


def find_unknown_names(
    source: Source,
    layout: Layout,
    benchmark: str | None,
    series: tuple[str, ...] | None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]],
) -> Iterator[Diagnostic]:
    """A problem for each name that is not there."""
    columns = tuple(layout.kinds)
    missing = [("series", name, layout.series) for name in series or () if name not in layout.series]
    missing += [("column", name, columns) for name in where if resolve_column(name, layout) is None]
    if benchmark is not None and benchmark not in layout.benchmarks:
        missing.append(("benchmark", benchmark, layout.benchmarks))
    for kind, name, known in missing:
        message = f'the source "{source.name}" has no {kind} "{name}"'
        advice = suggest_names(name, known, "It has")
        if not known:
            advice = "It has no column of benchmarks; name it in source.yml, as in columns: {benchmark: NAME}"
        yield Diagnostic(source.location, message, advice, Stage.DATA)


def _list_checks(query: _OutcomeQuery) -> dict[str, Check]:
    """What the cells of each column are held to."""
    checks = {column: NUMBER for part, column in query.given.items() if part in _NUMBERS}
    checks[query.roles.problem] = NAMED
    checks[query.roles.score] = Check(lambda cell: check_score(cell, query.ends), typed=True)
    return checks


def _build_statement(root: Path, query: _OutcomeQuery) -> str:
    """The SELECT whose columns are those of ``Outcomes.frame``."""
    table = " UNION ALL ".join(_select(rows, query) for rows in group_files(root, query.layout))
    if query.series is not None:
        table = f"SELECT * FROM ({table}) WHERE series IN ({sql.quote_all(query.series) or 'NULL'})"  # noqa: S608
    problem = "CASE WHEN problem IS NULL THEN error('a row has no problem') ELSE problem END"
    if query.prefix_benchmark:
        problem = f"benchmark || ' / ' || {problem}"
    changed = {
        "problem": problem,
        "score": check_range("score", query.ends),
        "sample": "coalesce(sample, '')",
    }
    within = "series, run, benchmark, problem" if query.roles.benchmark else "series, run, problem"
    if query.number_samples:
        changed["sample"] = f'CAST(row_number() OVER (PARTITION BY {within} ORDER BY "row") AS {sql.TEXT})'
    elif query.number_runs:
        again = f"PARTITION BY {within}, sample"
        number = f'row_number() OVER ({again} ORDER BY "row")'
        several = f"count(*) OVER ({again}) > 1"
        named = f"CASE WHEN run = '' THEN '' ELSE run || ' #' END || {number}"
        changed["run"] = f"CASE WHEN {several} THEN {named} ELSE run END"
    replaced = ", ".join(f"{expression} AS {name}" for name, expression in changed.items())
    return f"SELECT * REPLACE ({replaced}) FROM ({table})"  # noqa: S608 - quoted


def _select(rows: Rows, query: _OutcomeQuery) -> str:
    """The rows of files of one shape, as they are written."""
    roles = query.roles
    fields = {
        "series": select_series(rows, query.layout, query.rename),
        "run": select_run(rows, query.layout),
        "seed": select_seed(rows, query.layout),
        "problem": _replace_nul(rows.as_text(roles.problem)),
        "sample": rows.as_text(roles.sample) if roles.sample else f"CAST(NULL AS {sql.TEXT})",
        "score": rows.as_score(roles.score, query.ends),
        "row": rows.get_position(),
    }
    for part, column in query.given.items():
        fields[part] = rows.as_number(column) if part in _NUMBERS else _replace_nul(rows.as_text(column))
    fields |= {name: _replace_nul(rows.as_text(name)) for name in query.slices}
    if roles.benchmark:
        fields["benchmark"] = rows.as_text(roles.benchmark)
    listed = ", ".join(f"{cell} AS {sql.quote_name(name)}" for name, cell in fields.items())
    return f"SELECT {listed} FROM {rows.build_source()}{make_where(rows, query.filters)}"  # noqa: S608 - quoted


def _replace_nul(cell: str) -> str:
    """A text as pages can hold it: U+FFFD in place of NUL."""
    return f"replace({cell}, chr(0), '\ufffd')"


def hash_problem_set(problems: Iterable[str], gold: Iterable[str | None] = ()) -> str:
    """The first 12 hex digits of SHA-256 over the problems' names, sorted, and their right answers.

    Args:
        problems: names, in any order; a name that comes twice counts once.
        gold: the right answer of each, None where it is unknown; none at all where none is known.

    Two sets of one name that differ in a single problem or right answer have different hashes. The hash of a
    set without right answers is another than that of the same set with them.
    """
    pairs = dict(zip(problems, chain(gold, repeat(None)), strict=False))
    named = [[name] if answer is None else [name, answer] for name, answer in sorted(pairs.items())]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:12]
