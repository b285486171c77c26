"""A source's totals: scores of whole benchmarks, used as a harness, a paper or a leaderboard reports them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, ReportError, Stage
from reportgen.outcomes import ReportedScore
from reportgen.read import sql
from reportgen.read.answering import unknown_names
from reportgen.read.columns import column_named
from reportgen.read.engine import engine
from reportgen.read.layout import layout_of
from reportgen.read.tabular.faults import NUMBER, explained, find_wrong_cells
from reportgen.read.tabular.rows import groups, kept, run_of, seed_of, series_of
from reportgen.read.wording import names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from reportgen.model import Source
    from reportgen.read.cells import Text
    from reportgen.read.layout import Filters, Layout, TotalRoles
    from reportgen.read.tabular.rows import Rows
    from reportgen.settings.blocks import Cell

_UNKNOWN: Final = (-math.inf, math.inf)


def reported_scores(
    project_root: Path,
    source: Source,
    *,
    benchmark: str | None,
    series: tuple[str, ...] | None,
    where: Mapping[str, Cell | tuple[Cell, ...]],
) -> tuple[ReportedScore, ...]:
    """The totals of a source on one benchmark, in the order of writing.

    Args:
        project_root: the folder that the source's files are relative to.
        source: of the kind ``totals``.
        benchmark: only rows of this benchmark; all if None.
        series: only these series, in this order; all if None.
        where: only rows whose column has this value, or one of these; besides the source's own filter.

    Raises:
        ReportError: there is no such benchmark, series or column, a cell is no number, a score lies outside
            the range that ``source.yml`` states, or the rows hold several metrics.
    """
    layout = layout_of(source)
    roles = layout.totals
    if roles is None:
        raise TypeError(f"the source {source.name!r} holds no totals")
    problems = list(unknown_names(source, layout, benchmark, series, where))
    if problems:
        raise ReportError(*problems)
    filters = _filters(source, layout, roles, benchmark, where)
    numbers = {name: NUMBER for name in (roles.score, roles.stderr, roles.n) if name}
    with explained(project_root, source.place, lambda: find_wrong_cells(project_root, layout.files, numbers)):
        selects = [_select(rows, source, layout, filters) for rows in groups(project_root, layout)]
        rows = list(engine().rows(f"SELECT * FROM ({' UNION ALL '.join(selects)}) ORDER BY 8"))  # noqa: S608
    found = [_score(row) for row in rows]
    if series is not None:
        found = [one for name in series for one in found if one.series == name]
    _check(source, found)
    return tuple(found)


def range_of(
    source: Source, scores: Iterable[ReportedScore], *, higher_is_better: bool
) -> tuple[float, float]:
    """The smallest and the largest possible score: as stated, or 0 and 1 where nothing speaks against it.

    A total whose range is not stated is taken for a share only where all of the benchmark lie in 0 to 1, and
    higher is better: a perplexity or a number of bits may well be under 1.

    Returns:
        Both infinite where the range is not known.
    """
    if "score_range" in source.settings.model_fields_set:
        return source.score_range
    values = [one.value for one in scores if one.value is not None]
    return (0.0, 1.0) if higher_is_better and all(0 <= value <= 1 for value in values) else _UNKNOWN


def _filters(
    source: Source,
    layout: Layout,
    roles: TotalRoles,
    benchmark: str | None,
    where: Mapping[str, Cell | tuple[Cell, ...]],
) -> Filters:
    columns = tuple(layout.kinds)
    asked = {**source.settings.filter, **where}
    filters: Filters = tuple((column_named(name, columns) or name, cell) for name, cell in asked.items())
    return filters if benchmark is None else (*filters, (roles.benchmark or "", benchmark))


def _select(rows: Rows, source: Source, layout: Layout, filters: Filters) -> str:
    """The rows of files of one shape, as tuples of ``ReportedScore`` and their place."""
    roles = layout.totals
    if roles is None:
        raise TypeError(source.name)
    cells = (
        series_of(rows, layout, source.settings.rename),
        run_of(rows, layout),
        seed_of(rows, layout),
        rows.text(roles.metric) if roles.metric else sql.literal(roles.score),
        rows.number(roles.score),
        rows.number(roles.stderr) if roles.stderr else "NULL",
        rows.number(roles.n) if roles.n else "NULL",
        rows.position(),
    )
    only = f"{rows.text(roles.metric)} IS NOT NULL" if roles.metric else ""
    listed = ", ".join(f"{cell} AS c{place}" for place, cell in enumerate(cells))
    where = kept(rows, filters, only)
    return f"SELECT {listed} FROM {rows.source()}{where}"  # noqa: S608 - quoted


def _score(row: tuple[object, ...]) -> ReportedScore:
    series, run, seed, metric, value, stderr, problems, _ = row
    count = _finite(problems)
    return ReportedScore(
        series=str(series),
        run=str(run),
        seed=_text(seed),
        metric=str(metric),
        value=_finite(value),
        stderr=_finite(stderr),
        problems=int(count) if count is not None and count >= 1 else None,
    )


def _text(cell: object) -> Text:
    return None if cell is None else str(cell)


def _finite(cell: object) -> float | None:
    return cell if isinstance(cell, float) and math.isfinite(cell) else None


def _check(source: Source, scores: Iterable[ReportedScore]) -> None:
    """Refuse scores of several metrics, and such as cannot be by what ``source.yml`` says."""
    metrics = tuple(dict.fromkeys(one.metric for one in scores))
    if len(metrics) > 1:
        message = f'the totals of "{source.name}" are of {len(metrics)} metrics: {names(metrics)}'
        column = layout_of(source).totals
        advice = f"Choose one, as in filter: {{{column.metric if column else 'metric'}: {metrics[0]}}}"
        raise ReportError(Problem(source.place, message, advice, Stage.DATA))
    if "score_range" not in source.settings.model_fields_set:
        return
    low, high = source.score_range
    wrong = [one for one in scores if one.value is not None and not low <= one.value <= high]
    if wrong:
        message = f"the score of {wrong[0].series}, {wrong[0].value:g}, lies outside of {low:g} to {high:g}"
        raise ReportError(Problem(source.place, message, "Mend score_range in source.yml", Stage.DATA))
