"""What the rows of measurements hold, counted by the database: steps, holes, repetitions, lost values."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.description import DescribedMetric, DescribedRun
from reportgen.read.cells import Kind
from reportgen.read.layout import get_layout
from reportgen.read.measuring import read_measurements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from reportgen.model import Source

# A run keeps to a distance if more than so many of its steps do.
_REGULAR: Final = 0.5
# Steps are held in memory: of a large source some metrics at a time, by the bytes of its files.
_BYTES_OF_A_PASS: Final = 200_000_000
# Lists of steps cost a third of what grouping by step does.
_CURVES_SQL: Final = """
WITH runs AS (
    SELECT series, run, any_value(seed) AS seed, metric, min(row) AS row, count(*) AS written,
        count(*) - count(value) AS missing, count(*) FILTER (isnan(value)) AS lost,
        count(*) FILTER (isinf(value)) AS endless,
        min(value) FILTER (isfinite(value)) AS low, max(value) FILTER (isfinite(value)) AS high,
        coalesce(list_sort(list(step) FILTER (isfinite(step))), []) AS steps
    FROM measured GROUP BY series, run, metric
), spaced AS (
    SELECT *, list_transform(range(2, len(steps) + 1), lambda place: steps[place] - steps[place - 1]) AS gaps
    FROM runs
), apart AS (
    SELECT *, list_transform(list_filter(gaps, lambda gap: gap > 0), lambda gap: round(gap, 9)) AS wide,
        list_aggregate(wide, 'mode') AS every
    FROM spaced
)
SELECT series, run, seed, metric, row, written, steps[1], steps[-1],
    every, len(list_filter(wide, lambda gap: gap = every)) / len(wide),
    list_sum(list_transform(list_filter(wide, lambda gap: gap > 1.5 * every),
        lambda gap: round(gap / every) - 1)),
    len(gaps) - len(wide), missing, lost, endless, written - len(steps), low, high
FROM apart ORDER BY row, series, run, metric
"""


_TIME: Final = "time"
_SPAN: Final = "SELECT series, run, min(step), max(step) FROM measured GROUP BY series, run"


class _MetricRun(NamedTuple):
    """One metric of one run."""

    series: str
    run: str
    seed: str | None
    metric: str
    row: int
    written: int
    first: float | None
    last: float | None
    every: float | None
    share: float | None
    holes: float | None
    repeated: int | None
    missing: int
    nan: int
    infinite: int
    without_step: int | None
    low: float | None
    high: float | None


def count_curves(root: Path, source: Source) -> tuple[tuple[DescribedRun, ...], tuple[DescribedMetric, ...]]:
    """The runs and metrics of a source, each in order of first appearance.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    lines: list[_MetricRun] = []
    size = sum(file.size for file in source.files)
    count = max(1, min(len(source.metrics), len(source.metrics) * _BYTES_OF_A_PASS // max(1, size)))
    for begin in range(0, len(source.metrics), count):
        table = read_measurements(root, source, source.metrics[begin : begin + count])
        with table.reading():
            relation: Any = table.frame.to_native()
            lines += [_MetricRun(*row) for row in relation.query("measured", _CURVES_SQL).fetchall()]
    times = _fetch_times(root, source)
    runs = (
        replace(run, begins=begin, ends=end)
        for run in _count_runs(lines)
        for begin, end in [times.get((run.series, run.run), (None, None))]
    )
    return tuple(runs), tuple(_count_metrics(lines, source.metrics))


def _fetch_times(root: Path, source: Source) -> dict[tuple[str, str], tuple[float | None, float | None]]:
    """When each run wrote its first and last value, milliseconds since 1970 UTC, where that is written."""
    layout = get_layout(source)
    if layout.kinds.get(_TIME) is not Kind.TIME or layout.roles.step == _TIME:
        return {}
    table = read_measurements(root, source, source.metrics, x=_TIME)
    with table.reading():
        relation: Any = table.frame.to_native()
        rows = relation.query("measured", _SPAN).fetchall()
    return {(series, run): (begin, end) for series, run, begin, end in rows}


def _count_runs(lines: Iterable[_MetricRun]) -> Iterable[DescribedRun]:
    grouped: dict[tuple[str, str], list[_MetricRun]] = defaultdict(list)
    for line in lines:
        grouped[line.series, line.run].append(line)
    for (series, run), own in grouped.items():
        yield DescribedRun(
            series=series,
            run=run,
            seed=next((line.seed for line in own if line.seed is not None), None),
            path="",
            metrics=len(own),
            values=sum(line.written for line in own),
            first=_min_known(line.first for line in own),
            last=_max_known(line.last for line in own),
        )


def _count_metrics(lines: Iterable[_MetricRun], names: Sequence[str]) -> Iterable[DescribedMetric]:
    grouped: dict[str, list[_MetricRun]] = {name: [] for name in names}
    for line in lines:
        grouped[line.metric].append(line)
    for name, own in grouped.items():
        regular = [line for line in own if line.every and (line.share or 0) > _REGULAR]
        paces = Counter(line.every for line in regular).most_common(1)
        yield DescribedMetric(
            name=name,
            runs=len(own),
            values=sum(line.written for line in own),
            first=_min_known(line.first for line in own),
            last=_max_known(line.last for line in own),
            every=paces[0][0] if paces and 2 * paces[0][1] > len(own) else None,
            holes=int(sum(line.holes or 0 for line in regular)),
            repeated=int(sum(line.repeated or 0 for line in own)),
            missing=int(sum(line.missing for line in own)),
            nan=int(sum(line.nan for line in own)),
            infinite=int(sum(line.infinite for line in own)),
            without_step=int(sum(line.without_step or 0 for line in own)),
            low=_min_known(line.low for line in own),
            high=_max_known(line.high for line in own),
        )


def _min_known(numbers: Iterable[float | None]) -> float | None:
    return min((number for number in numbers if number is not None), default=None)


def _max_known(numbers: Iterable[float | None]) -> float | None:
    return max((number for number in numbers if number is not None), default=None)
