"""Totals: scores of whole benchmarks as a harness or a paper reports them, and what scores are called."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import chain
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.outcomes import ReportedScore
from reportgen.formats import sql
from reportgen.formats.engine import get_engine
from reportgen.formats.messages import list_names
from reportgen.read.outcomes import find_unknown_names
from reportgen.read.tables.check import explain_errors, find_faults
from reportgen.read.tables.columns import resolve_filters
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.rows import select_files, select_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from reportgen.read.tables.layout import Filters
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source


def get_score_names(source: Source) -> Mapping[str, str]:
    """Benchmark to the name of its score, as ``source.yml`` says it or else the harness.

    The name of a benchmark is empty where the data name none. One whose score has no name is left out.
    """
    stated, benchmarks = source.settings.score_name, source.benchmarks or ("",)
    given = dict.fromkeys(benchmarks, stated) if isinstance(stated, str) else stated or {}
    named = {**get_layout(source).score_names, **given}
    return {name: named[name] for name in benchmarks if name in named}


_UNKNOWN: Final = (-math.inf, math.inf)


class TotalsTable:
    """The totals of a source, read in one go for all benchmarks and once for each set of filters."""

    def __init__(self, project_root: Path, source: Source) -> None:
        self._root, self._source = project_root, source
        self._read: dict[str, dict[str, list[ReportedScore]]] = {}

    def get_scores(
        self,
        benchmark: str | None = None,
        series: tuple[str, ...] | None = None,
        where: Mapping[str, CellValue | tuple[CellValue, ...]] | None = None,
    ) -> tuple[ReportedScore, ...]:
        """The totals on one benchmark, or on all, in the order of writing or of ``series``.

        Only rows count whose columns have the values of ``where``, besides the source's own filter.

        Raises:
            ReportError: there is no such benchmark, series or column, a cell is no number, a score lies
                outside the range that ``source.yml`` states, or the rows hold several metrics.
        """
        source, where = self._source, where or {}
        problems = list(find_unknown_names(source, get_layout(source), benchmark, series, where))
        if problems:
            raise ReportError(*problems)
        read = self._read_rows({**source.settings.filter, **where})
        found = list(chain.from_iterable(read.values())) if benchmark is None else read.get(benchmark, [])
        if series is not None:
            found = [one for name in series for one in found if one.series == name]
        _check_scores(source, found)
        return tuple(found)

    def get_range(self, scores: Sequence[ReportedScore], *, higher_is_better: bool) -> tuple[float, float]:
        """The smallest and the largest possible score: as stated, or 0 and 1 where nothing speaks against it.

        Totals whose range is not stated are taken for shares only where all of the metric lie in 0 to 1,
        those of other benchmarks and series too, and higher is better: a perplexity or a number of bits may
        be under 1. Both ends are infinite where the range is not known.
        """
        if "score_range" in self._source.settings.model_fields_set:
            return self._source.score_range
        metrics = {one.metric for one in scores}
        every = chain.from_iterable(self._read_rows(self._source.settings.filter).values())
        values = (one.value for one in every if one.value is not None and one.metric in metrics)
        return (0.0, 1.0) if higher_is_better and all(0 <= value <= 1 for value in values) else _UNKNOWN

    def _read_rows(
        self, filters: Mapping[str, CellValue | tuple[CellValue, ...]]
    ) -> dict[str, list[ReportedScore]]:
        """The totals of the rows that filters leave, by their benchmark, in the order of writing."""
        layout = get_layout(self._source)
        resolved_filters = resolve_filters(filters, tuple(layout.kinds))
        # As a text, since 1 and true are equal in Python.
        if (key := repr(resolved_filters)) in self._read:
            return self._read[key]
        found: dict[str, list[ReportedScore]] = defaultdict(list)
        roles = layout.totals
        numbers = [name for name in (roles.score, roles.stderr, roles.n) if name] if roles else []
        with explain_errors(
            self._root, self._source.location, lambda: find_faults(self._root, layout.files, numbers)
        ):
            select = _select_totals(self._root, self._source, resolved_filters)
            for row in get_engine().fetch_rows(f"SELECT * FROM ({select}) ORDER BY row"):  # noqa: S608
                benchmark, series, run, seed, metric, *numbers_of_row, _ = row
                value, stderr, count = map(_as_finite, numbers_of_row)
                problems = int(count) if count is not None and count >= 1 else None
                name = None if seed is None else str(seed)
                score = ReportedScore(str(series), str(run), name, str(metric), value, stderr, problems)
                found[benchmark or ""].append(score)
        return self._read.setdefault(key, found)


def _select_totals(root: Path, source: Source, filters: Filters) -> str:
    """The rows of a source: benchmark, fields of ``ReportedScore`` and position."""
    layout = get_layout(source)
    roles = layout.totals
    if roles is None:
        raise TypeError(f"the source {source.name!r} holds no totals")

    def list_cells(rows: Rows) -> dict[str, str]:
        return {
            "benchmark": rows.as_text(roles.benchmark) if roles.benchmark else "NULL",
            **select_names(rows, layout, source.settings.rename),
            "metric": rows.as_text(roles.metric) if roles.metric else sql.quote(roles.score),
            "value": rows.as_number(roles.score),
            "stderr": rows.as_number(roles.stderr) if roles.stderr else "NULL",
            "problems": rows.as_number(roles.n) if roles.n else "NULL",
            "row": rows.get_position(),
        }

    def has_metric(rows: Rows) -> str:
        return f"{rows.as_text(roles.metric)} IS NOT NULL" if roles.metric else ""

    return select_files(root, layout, list_cells, filters, has_metric)


def _as_finite(cell: object) -> float | None:
    return cell if isinstance(cell, float) and math.isfinite(cell) else None


def _check_scores(source: Source, scores: Sequence[ReportedScore]) -> None:
    """Refuse scores of several metrics, several of one run, and such as ``source.yml`` rules out."""
    metrics = tuple(dict.fromkeys(one.metric for one in scores))
    if len(metrics) > 1:
        message = f'the totals of "{source.name}" are of {len(metrics)} metrics: {list_names(metrics)}'
        column = get_layout(source).totals
        advice = f"Choose one, as in filter: {{{column.metric if column else 'metric'}: {metrics[0]}}}"
        raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))
    runs = Counter((one.series, one.run, one.seed) for one in scores)
    (name, _, _), count = next(iter(runs.most_common(1)), (("", "", None), 0))
    if count > 1:
        message = f'"{source.name}" has {count} totals of {name} that nothing tells apart'
        advice = "Name a column that does, as in columns: {seed: NAME} or {benchmark: NAME}, or use filter:"
        raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))
    if "score_range" not in source.settings.model_fields_set:
        return
    low, high = source.score_range
    wrong = [one for one in scores if one.value is not None and not low <= one.value <= high]
    if wrong:
        message = f"the score of {wrong[0].series}, {wrong[0].value:g}, lies outside of {low:g} to {high:g}"
        raise ReportError(Diagnostic(source.location, message, "Mend score_range in source.yml", Stage.DATA))
