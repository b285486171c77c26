"""What the rows of measurements hold, counted by the database: steps, holes, repetitions, lost values."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reportgen.description import DescribedMetric, DescribedRun
from reportgen.read.layout import layout_of
from reportgen.read.measuring import measurements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from reportgen.model import Source

# Columns that are told apart in one pass over a text file.
_METRICS_OF_A_PASS: Final = 256
# A run keeps to a distance if more than so many of its steps do.
_REGULAR: Final = 0.5
_STATEMENT: Final = """
WITH steps AS (
    SELECT series, run, metric, step, count(*) AS written, min(row) AS row, any_value(seed) AS seed,
        count(*) - count(value) AS missing, count_if(isnan(value)) AS lost, count_if(isinf(value)) AS endless,
        min(value) FILTER (isfinite(value)) AS low, max(value) FILTER (isfinite(value)) AS high,
        coalesce(isfinite(step), FALSE) AS placed
    FROM measured GROUP BY series, run, metric, step
), spaced AS (
    SELECT *, CASE WHEN placed THEN
        step - lag(step) OVER (PARTITION BY series, run, metric, placed ORDER BY step) END AS gap
    FROM steps
), gaps AS (
    SELECT series, run, metric, gap, count(*) AS count FROM spaced WHERE gap IS NOT NULL GROUP BY ALL
), kept AS (
    SELECT series, run, metric, arg_max(gap, (count, -gap)) AS every, max(count) / sum(count) AS share
    FROM gaps GROUP BY ALL
), holes AS (
    SELECT gaps.series, gaps.run, gaps.metric, any_value(every) AS every, any_value(share) AS share,
        sum(CASE WHEN gap > 1.5 * every THEN count * (round(gap / every) - 1) ELSE 0 END) AS holes
    FROM gaps JOIN kept USING (series, run, metric) GROUP BY ALL
)
SELECT series, run, any_value(seed), metric, min(row), sum(written), min(step) FILTER (placed),
    max(step) FILTER (placed), any_value(every), any_value(share), any_value(holes),
    sum(written - 1) FILTER (placed), sum(missing), sum(lost), sum(endless), sum(written) FILTER (NOT placed),
    min(low), max(high)
FROM spaced LEFT JOIN holes USING (series, run, metric) GROUP BY series, run, metric ORDER BY min(row), metric
"""


class _Line(NamedTuple):
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


def described_curves(
    root: Path, source: Source
) -> tuple[tuple[DescribedRun, ...], tuple[DescribedMetric, ...]]:
    """The runs and metrics of a source, each in order of first appearance.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    lines: list[_Line] = []
    layout = layout_of(source)
    whole = layout.long or all(file.format == "parquet" for file in layout.files)
    size = len(source.metrics) if whole else _METRICS_OF_A_PASS
    for begin in range(0, len(source.metrics), max(1, size)):
        table = measurements(root, source, source.metrics[begin : begin + size])
        with table.reading():
            relation: Any = table.frame.to_native()
            lines += [_Line(*row) for row in relation.query("measured", _STATEMENT).fetchall()]
    return tuple(_runs(lines)), tuple(_metrics(lines, source.metrics))


def _runs(lines: Iterable[_Line]) -> Iterable[DescribedRun]:
    grouped: dict[tuple[str, str], list[_Line]] = defaultdict(list)
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
            first=_least(line.first for line in own),
            last=_most(line.last for line in own),
        )


def _metrics(lines: Iterable[_Line], names: Sequence[str]) -> Iterable[DescribedMetric]:
    grouped: dict[str, list[_Line]] = {name: [] for name in names}
    for line in lines:
        grouped[line.metric].append(line)
    for name, own in grouped.items():
        regular = [line for line in own if line.every and (line.share or 0) > _REGULAR]
        paces = Counter(line.every for line in regular).most_common(1)
        yield DescribedMetric(
            name=name,
            runs=len(own),
            values=sum(line.written for line in own),
            first=_least(line.first for line in own),
            last=_most(line.last for line in own),
            every=paces[0][0] if paces and 2 * paces[0][1] > len(own) else None,
            holes=int(sum(line.holes or 0 for line in regular)),
            repeated=int(sum(line.repeated or 0 for line in own)),
            missing=int(sum(line.missing for line in own)),
            nan=int(sum(line.nan for line in own)),
            infinite=int(sum(line.infinite for line in own)),
            without_step=int(sum(line.without_step or 0 for line in own)),
            low=_least(line.low for line in own),
            high=_most(line.high for line in own),
        )


def _least(numbers: Iterable[float | None]) -> float | None:
    return min((number for number in numbers if number is not None), default=None)


def _most(numbers: Iterable[float | None]) -> float | None:
    return max((number for number in numbers if number is not None), default=None)
