"""Totals of a source: scores of whole benchmarks, as they are reported."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import chain
from statistics import fmean
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reportgen.core.comparisons import ReportedScore
from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.formats import sql
from reportgen.formats.cells import MOST_EXACT
from reportgen.formats.messages import list_names
from reportgen.formats.sql import get_engine
from reportgen.read.check_repeats import check_totals
from reportgen.read.plan import choose_series
from reportgen.read.scored.outcomes import find_unknown_names
from reportgen.read.tables.check import explain_faults
from reportgen.read.tables.layout import add_settings, get_layout
from reportgen.read.tables.rows import resolve_filters, select_files, select_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from reportgen.read.tables.rows import Rows
    from reportgen.settings.base import CellValue
    from reportgen.settings.inputs import Source


_UNKNOWN: Final = (-math.inf, math.inf)


class TotalsTable:
    """The totals of a source, read at once for all benchmarks and once for each set of filters."""

    def __init__(self, project_root: Path, source: Source) -> None:
        self._root, self._source = project_root, source
        self._read: dict[str, dict[str, list[ReportedScore]]] = {}
        self._checked = set[str]()

    def get_scores(
        self,
        benchmark: str | None = None,
        series: tuple[str, ...] | None = None,
        where: Mapping[str, CellValue | tuple[CellValue, ...]] | None = None,
    ) -> tuple[ReportedScore, ...]:
        """Return the totals on one benchmark, or on all, in the order of writing or of ``series``.

        Only rows with the values of ``where`` in their columns count, after the source's own filter. Unknown
        names, cells that are no number, scores outside the range in ``source.yml``, and rows of several
        metrics are errors.
        """
        source, where = self._source, where or {}
        layout = add_settings(get_layout(source), where)
        problems = list(find_unknown_names(source, layout, benchmark, series, where))
        if problems:
            raise ReportError(*problems)
        read = self._read_rows({**source.settings.filter, **where})
        found = list(chain.from_iterable(read.values())) if benchmark is None else read.get(benchmark, [])
        chosen = choose_series(series, get_layout(source))
        if chosen is not None:
            found = [one for name in chosen for one in found if one.series == name]
        _check_scores(source, found)
        runs = {(one.series, one.run, one.seed) for one in found}
        has_repeats = len(runs) < len(found)
        filters = resolve_filters({**source.settings.filter, **where}, tuple(layout.kinds))
        if has_repeats or repr(filters) not in self._checked:
            check_totals(self._root, source, layout, filters, has_repeats=has_repeats)
            self._checked.add(repr(filters))
        return tuple(found)

    def list_metrics(self) -> tuple[str, ...]:
        """Return the metrics of all totals, in the order of writing; a block shows one."""
        read = self._read_rows(self._source.settings.filter).values()
        return tuple(dict.fromkeys(one.metric for one in chain.from_iterable(read)))

    def get_range(self, scores: Sequence[ReportedScore], *, higher_is_better: bool) -> tuple[float, float]:
        """Return the smallest and largest possible score: as stated, or 0 and 1 if nothing contradicts.

        Totals without a stated range count as shares only if higher is better and all of the metric,
        including other benchmarks and series, lie in 0 to 1: a perplexity or a number of bits may be below 1.
        Both ends are infinite if the range is unknown.
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
        """Return the totals of rows that pass filters, by benchmark, in the order of writing."""
        layout, source = add_settings(get_layout(self._source), filters), self._source
        if (roles := layout.totals) is None:
            raise TypeError(f"the source {source.name!r} holds no totals")
        resolved_filters = resolve_filters(filters, tuple(layout.kinds))
        # As a text, since 1 and true are equal in Python.
        if (key := repr(resolved_filters)) in self._read:
            return self._read[key]

        def list_cells(rows: Rows) -> dict[str, str]:
            return {
                "benchmark": rows.as_text(roles.benchmark),
                **select_names(rows, layout, source.settings.rename),
                "metric": rows.as_text(roles.metric) if roles.metric else sql.quote(roles.score),
                "value": rows.as_number(roles.score),
                "stderr": rows.as_number(roles.stderr),
                "std": rows.as_number(roles.std),
                "n": rows.as_number(roles.n),
                "row": rows.get_position(),
            }

        def has_metric(rows: Rows) -> str:
            return f"{rows.as_text(roles.metric)} IS NOT NULL" if roles.metric else ""

        found: dict[str, list[ReportedScore]] = defaultdict(list)
        numbers = [name for name in (roles.score, roles.stderr, roles.std, roles.n) if name]
        with explain_faults(self._root, source.location, layout.files, numbers):
            select = select_files(self._root, layout, list_cells, resolved_filters, has_metric)
            for row in get_engine().fetch_rows(f"SELECT * FROM ({select}) ORDER BY row"):  # noqa: S608
                name, series, run, seed, metric, *cells, _ = row
                found[name or ""].append(_make_score((series, run, seed, metric), cells))
        found = {name: _join_repeats(scores, source.settings.repeat) for name, scores in found.items()}
        return self._read.setdefault(key, found)


def _make_score(names: tuple[str, str, str | None, str], cells: Iterable[float | None]) -> ReportedScore:
    """Return a score from its cells: value, standard error, standard deviation and n.

    With a deviation, n is the number of its runs, whose mean has the standard error std / √n.
    """
    # A value that is not finite is unknown.
    value, stderr, std, n = (None if cell is None or not math.isfinite(cell) else cell for cell in cells)
    count = int(n) if n is not None and 1 <= n < MOST_EXACT else None
    if std is None:
        return ReportedScore(*names, value, stderr, count)
    if stderr is not None or count is None:
        return ReportedScore(*names, value, stderr, None)
    return ReportedScore(*names, value, std / math.sqrt(count), None, count)


def _join_repeats(scores: list[ReportedScore], repeat: str | None) -> list[ReportedScore]:
    """Return the totals of a benchmark with several of one run as ``repeat:`` says, if it does."""
    runs: dict[object, list[ReportedScore]] = defaultdict(list)
    for one in scores:
        runs[one.series, one.run, one.seed, one.metric].append(one)
    if not repeat or len(runs) == len(scores):
        return scores
    if repeat == "last":
        return [several[-1] for several in runs.values()]
    if repeat == "mean":
        return [several[0] if len(several) == 1 else _average(several) for several in runs.values()]
    return [
        replace(one, run=f"{one.run} #{number}".strip()) if len(several) > 1 else one
        for several in runs.values()
        for number, one in enumerate(several, 1)
    ]


def _average(scores: Sequence[ReportedScore]) -> ReportedScore:
    """Return the mean of totals, with the mean of their standard errors, which its own never exceeds.

    The degrees of freedom are those of the one with the fewest runs.
    """
    values = [one.value for one in scores if one.value is not None]
    errors = [one.stderr for one in scores if one.value is not None and one.stderr is not None]
    return replace(
        scores[0],
        value=fmean(values) if values else None,
        stderr=fmean(errors) if values and len(errors) == len(values) else None,
        problems=scores[0].problems if len({one.problems for one in scores}) == 1 else None,
        runs=min((one.runs for one in scores if one.runs), default=None),
    )


def _check_scores(source: Source, scores: Sequence[ReportedScore]) -> None:
    """Refuse scores of several metrics, and those that ``source.yml`` rules out."""
    metrics = tuple(dict.fromkeys(one.metric for one in scores))
    low, high = source.score_range if "score_range" in source.settings.model_fields_set else _UNKNOWN
    wrong = next((one for one in scores if one.value is not None and not low <= one.value <= high), None)
    if len(metrics) > 1:
        message = f'the totals of "{source.name}" are of {len(metrics)} metrics: {list_names(metrics)}'
        column = get_layout(source).totals
        advice = f"Choose one, as in filter: {{{column.metric if column else 'metric'}: {metrics[0]}}}"
    elif wrong:
        message = f"the score of {wrong.series}, {wrong.value:g}, is outside {low:g} to {high:g}"
        advice = "Mend score_range in source.yml"
    else:
        return
    raise ReportError(Diagnostic(source.location, message, advice, Stage.DATA))
