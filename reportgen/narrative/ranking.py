"""Which way a metric of a source is better: what the author says, or the metric's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.directions import find_direction

if TYPE_CHECKING:
    from reportgen.model import Source
    from reportgen.settings.front_matter import Benchmark


def get_ranked_metric(benchmark: Benchmark | None, source: Source) -> str | None:
    """The metric of a source that a benchmark ranks its series by; None of another source's benchmark."""
    if benchmark is None or benchmark.source != source.name:
        return None
    return benchmark.metric or (source.metrics[0] if len(source.metrics) == 1 else None)


def choose_direction(
    metric: str, benchmark: Benchmark | None, source: Source, *said: bool | None
) -> bool | None:
    """Whether a larger value is better; None where that is not known, or where neither is.

    Args:
        metric: a metric of the source.
        benchmark: the page's, which counts if it is ranked by this metric: of another it says nothing.
        source: where the metric stands.
        said: what panel and block say, before the benchmark.
    """
    own = benchmark if benchmark and metric == get_ranked_metric(benchmark, source) else None
    return find_direction(metric, *said, own.higher_is_better if own else None, ranks=own is not None)
