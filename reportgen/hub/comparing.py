"""Scores of different reports that may stand in one table: of one benchmark, measured in one way."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from msgspec import Struct

from reportgen.core.words import choose_common_decimals, format_count, format_estimate, format_step

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.core.model import Estimate
    from reportgen.hub.reading import Score, Summary

# Metric, protocol, and level of the intervals.
Measure: TypeAlias = "tuple[str, tuple[tuple[str, str], ...], float | None]"

_WIDTH: Final = 120
_MARGIN: Final = 6


class Row(Struct, frozen=True):
    """A score of a report in finished words, and where its mark and interval are in a picture of all rows."""

    report: str  # the report's name
    series: str
    score: str
    basis: str
    page: str
    ends: tuple[float, float] | None
    mark: float


class Comparison(Struct, frozen=True):
    """Scores of several reports, by their names, that were measured in one way.

    The best comes first if it is known which is.
    """

    metric: str
    protocol: tuple[tuple[str, str], ...]
    level: float | None  # of the intervals
    scores: tuple[tuple[str, Score], ...]
    first: str  # "highest" or "lowest", as the best score is, or empty

    @property
    def reports(self) -> int:
        """How many reports there are."""
        return len({name for name, _ in self.scores})

    @property
    def protocol_text(self) -> str:
        """The protocol in words."""
        return ", ".join(text if label == "protocol" else f"{label} {text}" for label, text in self.protocol)

    @property
    def level_text(self) -> str:
        """The level of the intervals, empty if there are none."""
        has_intervals = any(None not in _get_interval(score) for _, score in self.scores)
        return f"{100 * self.level:g}%" if self.level is not None and has_intervals else ""


class BenchmarkScores(Struct, frozen=True):
    """What reports say of a benchmark.

    ``alone`` are reports that have scores measured as in no other report, and ``unstated`` those that do not
    state a protocol for some of them.
    """

    comparisons: tuple[Comparison, ...]
    alone: tuple[str, ...]
    unstated: tuple[str, ...]


def group_scores(summaries: Mapping[str, Summary]) -> dict[str, dict[str, list[Score]]]:
    """Group the scores of reports, by their names, by benchmark and report."""
    grouped: defaultdict[str, dict[str, list[Score]]] = defaultdict(dict)
    for name, summary in summaries.items():
        for score in summary.scores:
            grouped[score.benchmark].setdefault(name, []).append(score)
    return grouped


def compare_scores(scores: Mapping[str, Iterable[Score]]) -> BenchmarkScores:
    """Compare the scores of one benchmark, by the names of the reports.

    A score without a protocol is compared with no other, since how it was measured is not known.
    """
    measured: defaultdict[Measure, list[tuple[str, Score]]] = defaultdict(list)
    unstated = []
    for name, found in scores.items():
        for score in found:
            if score.protocol:
                measured[score.metric, score.protocol, score.level].append((name, score))
            elif name not in unstated:
                unstated.append(name)
    comparisons, alone = [], dict[str, None]()
    for measure, rows in sorted(measured.items(), key=lambda one: str(one[0])):
        if len({name for name, _ in rows}) > 1:
            comparisons.append(_compare(measure, rows))
        else:
            alone[rows[0][0]] = None
    return BenchmarkScores(tuple(comparisons), tuple(sorted(alone)), tuple(sorted(unstated)))


def _compare(measure: Measure, scores: Sequence[tuple[str, Score]]) -> Comparison:
    metric, protocol, level = measure
    directions = {score.higher_is_better for _, score in scores}
    direction = directions.pop() if len(directions) == 1 else None
    sign = {True: -1, False: 1, None: 0}[direction]
    ordered = sorted(scores, key=lambda one: (sign * one[1].estimate.value, one[0], one[1].series))
    first = {True: "highest", False: "lowest", None: ""}[direction]
    return Comparison(metric, protocol, level, tuple(ordered), first)


def describe_scores(comparison: Comparison) -> tuple[Row, ...]:
    """Describe the scores of a comparison in words, and where they are in a picture of all of them."""
    ends = [
        end
        for _, score in comparison.scores
        for end in (*_get_interval(score), score.estimate.value)
        if end is not None
    ]
    least, range_ = min(ends), (max(ends) - min(ends)) or 1.0

    def place(value: float) -> float:
        return round(_MARGIN + (value - least) / range_ * (_WIDTH - 2 * _MARGIN), 1)

    decimals = choose_common_decimals([cast("Estimate", score.estimate) for _, score in comparison.scores])
    rows = []
    for name, score in comparison.scores:
        low, high = _get_interval(score)
        interval = None if low is None or high is None else (place(low), place(high))
        words = format_estimate(cast("Estimate", score.estimate), decimals=decimals)
        mark = place(score.estimate.value)
        basis = [format_count(score.estimate.n, score.estimate.unit)] if score.estimate.n else []
        basis += [] if score.step is None else [f"at {format_step(score.step)}"]
        rows.append(Row(name, score.series, words, ", ".join(basis), score.page, interval, mark))
    return tuple(rows)


def _get_interval(score: Score) -> tuple[float | None, float | None]:
    return score.estimate.low, score.estimate.high
