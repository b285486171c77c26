"""Answers to single problems as a lazy tidy table."""

from __future__ import annotations

import hashlib
import json
import math
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.comparisons import Outcomes
from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.score_names import STATUS, STATUSES
from reportgen.core.words import join_names
from reportgen.formats import sql
from reportgen.formats.evaluations.texts import TEXTS
from reportgen.formats.messages import list_names
from reportgen.formats.sql import get_engine
from reportgen.read.check_repeats import check_answers, check_runs
from reportgen.read.groups import GroupColumns, expand_settings, separate_runs
from reportgen.read.plan import choose_series, report_missing, report_missing_series
from reportgen.read.tables.check import NAMED, NUMBER, Check, explain_errors, find_wrong_cells
from reportgen.read.tables.layout import (
    add_settings,
    get_layout,
    list_free_columns,
    resolve_column,
)
from reportgen.read.tables.rows import (
    check_range,
    check_score,
    keep_series,
    locate_row,
    rename_texts,
    select_files,
    select_names,
)
from reportgen.read.tables.survey import complete_layout
from reportgen.settings.text import shorten
from reportgen.settings.yaml_tree import write_flow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from reportgen.formats.cells import Text
    from reportgen.read.groups import Groups
    from reportgen.read.tables.layout import Filters, Layout, OutcomeRoles
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source


_TEXTS: Final = ("answer", "gold", "cluster", *TEXTS)
_NUMBERS: Final = ("tokens", "seconds", "cost")
_LONGEST: Final = 40
_UNKNOWN: Final = (-math.inf, math.inf)


class OutcomeQuery(Struct, frozen=True):
    """A query of outcomes: the source with its layout and roles, and the rows that count."""

    source: Source
    layout: Layout
    roles: OutcomeRoles
    benchmark: str | None
    series: tuple[str, ...] | None
    filters: Filters
    groups: GroupColumns = field(default_factory=GroupColumns)

    @property
    def given(self) -> dict[str, str]:
        """Optional roles that the data have, and their columns."""
        parts = {part: getattr(self.roles, part) for part in (*_TEXTS, *_NUMBERS)}
        return {part: column for part, column in parts.items() if column is not None}

    @property
    def has(self) -> frozenset[str]:
        """Optional columns of the table."""
        return frozenset((*self.given, STATUS) if self.roles.status else self.given)

    @property
    def slices(self) -> tuple[str, ...]:
        """Columns to slice by, and that of the benchmark."""
        return (*list_free_columns(self.layout), *(["benchmark"] if self.roles.benchmark else []))

    def list_faults(self, root: Path) -> list[Diagnostic]:
        """List faults in the files that keep the rows from being read."""
        ends = self.source.score_range
        checks = {column: NUMBER for part, column in self.given.items() if part in _NUMBERS}
        checks[self.roles.problem] = NAMED
        checks[self.roles.score] = Check(lambda cell: check_score(cell, ends), typed=True)
        if self.roles.status:
            checks[self.roles.status] = Check(self._check_status, typed=True)
        return find_wrong_cells(root, self.layout.files, checks)

    def _check_status(self, cell: Text) -> tuple[str, str] | None:
        if not cell or cell in STATUSES or cell in self.source.settings.statuses:
            return None
        advice = f"Say which it is in source.yml, as in statuses: {write_flow({cell: 'infrastructure'})}"
        return "is no status", f"{advice}. There are {join_names(STATUSES)}"

    def check_runs(self, root: Path) -> None:
        """Refuse series of one name that share a run, and runs that differ in words without settings."""
        check_runs(root, self.source, self.layout, self.filters, is_grouped=bool(self.groups.by))

    def find_groups(self, root: Path) -> Groups:
        """Find the groups by settings in the order of drawing, or none."""
        with explain_errors(root, self.source.location, partial(self.list_faults, root)):
            return self.groups.find_groups(_select_cells(root, self), self.source)


def read_outcomes(
    project_root: Path,
    source: Source,
    *,
    benchmark: str | None = None,
    series: tuple[str, ...] | None = None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]] | None = None,
    by: tuple[str, ...] = (),
) -> Outcomes:
    """Return the outcomes of a source as a lazy table; nothing is read before it is collected.

    With ``by``, the values of these columns or settings are the series, in their order, and runs of several
    series stay apart; which values there are is read at once.

    Only rows of one ``benchmark`` and some ``series``, in this order, and with the values of ``where`` in
    their columns are read, after the source's own filter. Collect the frame inside ``outcomes.reading()``,
    which turns faults in the files into a ``ReportError`` with every file and line: a score that is invalid
    or out of range, a row without a problem, a word in a numeric column.

    Without a column for the sample, a problem has one sample per run, and the last of several rows counts; if
    ``protocol`` has more samples, rows are numbered in the order of writing. In a table of several
    benchmarks, problems have their benchmark as a prefix. The ``slices`` of the table are the source's and,
    if there is one, the column ``benchmark``.

    Raises:
        ReportError: the source has no outcomes, or no such benchmark, series or column.
    """
    query = plan_outcomes(project_root, source, series, benchmark=benchmark, where=where or {}, by=by)
    reading = partial(explain_errors, project_root, source.location, partial(query.list_faults, project_root))
    statement = build_outcomes(project_root, query)
    with reading():
        frame = get_engine().open_frame(statement)
    groups = query.find_groups(project_root)
    return Outcomes(
        frame=frame,
        order=groups.order or (query.layout.series if query.series is None else query.series),
        has=query.has,
        slices=query.slices,
        lowest=source.score_range[0],
        highest=source.score_range[1],
        settings=groups.values,
        notes=groups.notes,
        reading=reading,
        check_repeats=partial(check_answers, project_root, source, query.layout, query.filters),
        check_runs=partial(query.check_runs, project_root),
        check_clusters=partial(check_clusters, project_root, query.layout, statement),
    )


def check_clusters(root: Path, layout: Layout, select: str) -> None:
    """Refuse a problem in two clusters, at the first such row of a SELECT of a source's outcomes."""
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


def plan_outcomes(
    root: Path,
    source: Source,
    series: tuple[str, ...] | None,
    *,
    benchmark: str | None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]],
    by: tuple[str, ...] = (),
) -> OutcomeQuery:
    """Plan the outcomes of one source; raise ``ReportError`` as ``read_outcomes``."""
    layout = get_layout(source)
    roles = layout.outcomes
    if roles is None:
        needed = "a column for the problem and one for the score"
        message = f'the source "{source.name}" has no outcomes, which need {needed}'
        columns = list_names(layout.kinds)
        advice = f"Name them in source.yml, as in columns: {{problem: NAME}}. It has {columns}"
        if layout.totals:
            message = f'the source "{source.name}" holds totals only, and no answers to single problems'
            advice = "Let the harness write them, too"
        raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))
    if not layout.exhaustive and not set(series or ()) <= set(layout.series):
        layout = complete_layout(root, source)
    by = expand_settings(root, by, layout, source)
    layout = add_settings(layout, (*where, *by))
    named = {**dict.fromkeys(by, ""), **where}
    problems = list(find_unknown_names(source, layout, benchmark, series, named))
    if problems:
        raise ReportError(*problems)
    filters = {**source.settings.filter, **where}
    groups = GroupColumns({name: resolve_column(name, layout) or name for name in by})
    picked = tuple((resolve_column(name, layout) or name, cell) for name, cell in filters.items())
    if benchmark is not None:
        picked += ((roles.benchmark or "", benchmark),)
    layout = separate_runs(root, layout, groups, picked)
    return OutcomeQuery(source, layout, roles, benchmark, choose_series(series, layout), picked, groups)


def find_unknown_names(
    source: Source,
    layout: Layout,
    benchmark: str | None,
    series: tuple[str, ...] | None,
    where: Mapping[str, CellValue | tuple[CellValue, ...]],
) -> Iterator[Diagnostic]:
    """Yield a problem for each name that the source does not have."""
    missing = [("column", name, (*layout.kinds,)) for name in where if resolve_column(name, layout) is None]
    if benchmark is not None and benchmark not in layout.benchmarks:
        missing.append(("benchmark", benchmark, layout.benchmarks))
    advice = "It has no column of benchmarks; name it in source.yml, as in columns: {benchmark: NAME}"
    yield from report_missing_series(source, layout.series, series)
    for problem in report_missing(source, missing):
        yield problem if problem.next_step else replace(problem, next_step=advice)


def build_outcomes(root: Path, query: OutcomeQuery) -> str:
    """Return the SELECT with the columns of ``Outcomes.frame``."""
    table = _select_cells(root, query)
    table = query.groups.regroup(table) if query.groups.by else table
    problem = "CASE WHEN problem IS NULL THEN error('a row has no problem') ELSE problem END"
    if query.benchmark is None and len(query.layout.benchmarks) > 1:
        problem = f"benchmark || ' / ' || {problem}"
    changed = {
        "problem": problem,
        "score": _count_score(query),
        "sample": "coalesce(sample, '')",
    }
    within = "series, run, benchmark, problem" if query.roles.benchmark else "series, run, problem"
    settings = query.source.settings
    protocols = (settings.protocol, *settings.protocols.values())
    several = any((protocol.samples or 1) > 1 for protocol in protocols)
    if (query.roles.sample is None and several) or settings.repeat == "mean":
        # The rows of a problem are samples, in the order of writing.
        changed["sample"] = f'CAST(row_number() OVER (PARTITION BY {within} ORDER BY "row") AS {sql.TEXT})'
    elif settings.repeat == "runs":
        again = f"PARTITION BY {within}, sample"
        number = f'row_number() OVER ({again} ORDER BY "row")'
        named = f"CASE WHEN run = '' THEN '' ELSE run || ' #' END || {number}"
        changed["run"] = f"CASE WHEN count(*) OVER ({again}) > 1 THEN {named} ELSE run END"
    replaced = ", ".join(f"{expression} AS {name}" for name, expression in changed.items())
    return f"SELECT * REPLACE ({replaced}) FROM ({table})"  # noqa: S608 - quoted


def _count_score(query: OutcomeQuery) -> str:
    """Return SQL for the score that counts: that of an answer, of one that counts as wrong, or none.

    This is the only place that does what ``count:`` says.
    """
    score, counted = check_range("score", query.source.score_range), query.source.settings.count
    if not query.roles.status:
        return score
    known = sql.quote_all(STATUSES)
    cases = f"WHEN {STATUS} NOT IN ({known}) THEN error('a status is unknown') "
    left_out = [status for status in STATUSES[1:] if status not in counted]
    if left_out:
        cases += f"WHEN {STATUS} IN ({sql.quote_all(left_out)}) THEN NULL "
    if wrong := [status for status in counted if status != STATUSES[0]]:
        lowest = float(query.source.score_range[0])
        is_scored = "score IS NOT NULL AND isfinite(score)"
        cases += f"WHEN {STATUS} IN ({sql.quote_all(wrong)}) AND NOT ({is_scored}) THEN {lowest!r} "
    return f"CASE {cases}ELSE {score} END"


def _select_cells(root: Path, query: OutcomeQuery) -> str:
    """Return the SELECT of the rows that count, with the columns that group them."""
    roles, source = query.roles, query.source

    def list_cells(rows: Rows) -> dict[str, str]:
        # As the files have them, with NUL in texts replaced for pages.
        cells = {
            **select_names(rows, query.layout, source.settings.rename),
            "problem": _replace_nul(rows.as_text(roles.problem)),
            "sample": rows.as_text(roles.sample),
            "score": rows.as_score(roles.score, source.score_range),
            "row": rows.get_position(),
            # NULL in a source without statuses, which may be joined with others.
            STATUS: rename_texts(f"nullif({rows.as_text(roles.status)}, '')", source.settings.statuses),
        }
        for part, column in query.given.items():
            cells[part] = rows.as_number(column) if part in _NUMBERS else _replace_nul(rows.as_text(column))
        cells |= {name: _replace_nul(rows.as_text(name)) for name in list_free_columns(query.layout)}
        if roles.benchmark:
            cells["benchmark"] = rows.as_text(roles.benchmark)
        return cells | query.groups.select(rows)

    return keep_series(select_files(root, query.layout, list_cells, query.filters), query.series)


def _replace_nul(cell: str) -> str:
    return f"replace({cell}, chr(0), '\ufffd')"


def hash_problem_set(problems: Iterable[str], gold: Iterable[str | None] = ()) -> str:
    """Return the first 12 hex digits of SHA-256 over the sorted problem names and right answers.

    The order of problems does not matter, and repeated ones count once. ``gold`` has the right answer of
    each, None if unknown, or is empty if none is known. Two sets of one name have different hashes if they
    differ in a single problem or right answer, or if only one of them has right answers.
    """
    pairs = dict(zip(problems, chain(gold, repeat(None)), strict=False))
    named = [[name] if answer is None else [name, answer] for name, answer in sorted(pairs.items())]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:12]


def get_score_names(source: Source) -> Mapping[str, str]:
    """Return the name of each benchmark's score, from ``source.yml`` or else from the harness.

    The benchmark is empty if the data name none. One whose score has no name is left out.
    """
    stated, benchmarks = source.settings.score_name, source.benchmarks or ("",)
    given = dict.fromkeys(benchmarks, stated) if isinstance(stated, str) else stated or {}
    named = {**get_layout(source).score_names, **given}
    return {name: named[name] for name in benchmarks if name in named}
