"""Percent beside shares in one metric: within a run, between the runs of a series, and between series.

They are found by a factor of about 100. A loss, a return or a length may truly span it, so that within a run
only metrics whose names are those of shares count, and elsewhere the other runs and benchmarks must agree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.directions import Direction, guess_direction, may_be_percent
from reportgen.formats import sql
from reportgen.formats.sql import get_engine
from reportgen.read.runs.summaries import LONGEST, Run, quote
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.read.tables.distinguish import RowKeys

# Runs of one experiment are within a factor of two, a failed one is not.
_LEAST, _MOST = 50, 200
_PERCENT: Final = 100
_CLOSE: Final = 1.5  # of values beside each other in one run
_ALTERNATING: Final = 3


class Units(NamedTuple):
    """Percent beside shares: the row where it shows, and the message."""

    row: int
    message: str


def find_percent(keys: RowKeys, runs: Sequence[Run]) -> Iterator[Units]:
    """Find percent next to shares in the metrics of runs, within each or between them."""
    layout = keys.layout
    value = "mean" if layout.outcomes or layout.totals else "last"
    groups: dict[str, list[Run]] = defaultdict(list)
    for one in runs:
        # Times and the like are no scores.
        if guess_direction(one.part) is not Direction.NEITHER:
            groups[one.part].append(one)
    # A setting is constant in each run.
    groups = {part: some for part, some in groups.items() if layout.totals or not _is_setting(some)}
    within = {} if value == "mean" else dict(_find_within(keys, groups))
    yield from within.values()
    between: dict[str, tuple[list[Run], list[Run]]] = {}
    for part, some in groups.items():
        may_be = layout.outcomes or may_be_percent(part) is not False
        for same in [*_group_by_series(some), *([some] if may_be else [])]:
            shares, others = _split(same)
            if part not in within and shares and _is_hundredfold(shares, others, value):
                between.setdefault(part, (shares, others))
    if layout.totals:
        between = _choose_certain(groups, between)
    reported: dict[str, list[Units]] = defaultdict(list)
    for (share, *_), (other, *_) in between.values():
        reported[f"{share.series} {other.series}"].append(_report(share, other, value))
    for first, *rest in reported.values():
        more = f" (and in {len(rest)} more)" if rest else ""
        yield Units(first.row, first.message + more)


def _group_by_series(runs: Sequence[Run]) -> list[list[Run]]:
    series: dict[str, list[Run]] = defaultdict(list)
    for one in runs:
        series[one.series].append(one)
    return [*series.values()]


def _is_setting(runs: Sequence[Run]) -> bool:
    return all(one.low == one.high for one in runs) and any(one.values > 1 for one in runs)


def _find_within(keys: RowKeys, groups: Mapping[str, Sequence[Run]]) -> Iterator[tuple[str, Units]]:
    """Yield metrics and the place of runs whose values become a hundred times as large, or as small."""
    may_jump = {
        (one.series, one.run, one.part)
        for part, runs in groups.items()
        for one in runs
        if 0 <= one.low <= 1 < one.high <= _PERCENT and may_be_percent(part)
    }
    if not may_jump:
        return
    parts = sql.quote_all({part for *_, part in may_jump})
    rows = get_engine().fetch_rows(
        'SELECT series, run, part, list(value ORDER BY step, "row"), list("row" ORDER BY step, "row") '  # noqa: S608
        f"FROM ({keys.select}) WHERE part IN ({parts}) AND value > 0 AND value <= {_PERCENT} "
        'GROUP BY 1, 2, 3 ORDER BY min("row"), 3'
    )
    for series, run, part, values, places in rows:
        if (series, run, part) in may_jump and (index := _find_jump(values)) is not None:
            ends = " and then ".join(f"{value:.6g}" for value in values[index - 1 : index + 1])
            where = f" within {_name_run(run)}" if run else ""
            message = f"{_name_part(part)} of {quote(series)} is {ends}{where}: percent next to shares"
            yield part, Units(places[index], message)


def _find_jump(values: Sequence[float]) -> int | None:
    """Return the place of the first value in the other unit, or None: a share crosses 1 in no other way.

    A model before its training may truly be a hundred times as bad.
    """
    crossings = [place for place, pair in enumerate(pairwise(values), 1) if min(pair) <= 1 < max(pair)]
    ratios = [max(values[place - 1 : place + 1]) / min(values[place - 1 : place + 1]) for place in crossings]
    if len(crossings) >= _ALTERNATING and all(_LEAST <= ratio <= _MOST for ratio in ratios):
        return crossings[0]
    is_jump = all(_PERCENT / _CLOSE <= ratio <= _PERCENT * _CLOSE for ratio in ratios)
    return crossings[0] if crossings and is_jump and crossings[0] > 1 else None


def _split(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs that are shares and those in percent, besides zeros; none if others are neither."""
    runs = [one for one in runs if one.low or one.high]
    shares = [one for one in runs if 0 <= one.low <= one.high <= 1]
    others = [one for one in runs if one.low >= 0 and 1 < one.high <= _PERCENT]
    is_split = len(shares) + len(others) == len(runs) and others and any(one.mean < 1 for one in shares)
    return (shares, others) if is_split else ([], [])


def _is_hundredfold(shares: Sequence[Run], others: Sequence[Run], value: str) -> bool:
    """Return whether others are about a hundred times as large, and both are close to their own kind.

    Curves must be so at both ends, unless they begin at 0.
    """
    for end in ("first", "last") if value == "last" else (value,):
        low, high = ([getattr(one, end) for one in some] for some in (shares, others))
        if min(*low, *high) > 0:
            is_close = min(high) / max(low) > max(max(some) / min(some) for some in (low, high))
            if not (is_close and _LEAST <= median(high) / median(low) <= _MOST):
                return False
        elif end == value:
            return False
    return True


def _choose_certain(
    groups: Mapping[str, Sequence[Run]], found: Mapping[str, tuple[list[Run], list[Run]]]
) -> dict[str, tuple[list[Run], list[Run]]]:
    """Return the benchmarks of totals that show it within a series, by digits, or on several benchmarks.

    A weak model may truly be a hundred times as bad; one in percent elsewhere is.
    """
    in_percent = {one.series for runs in groups.values() for one in runs if one.high > 1}
    counts = Counter(name for shares, _ in found.values() for name in {one.series for one in shares})
    return {
        part: (shares, others)
        for part, (shares, others) in found.items()
        if shares[0].series == others[0].series
        or all(counts[one.series] > 1 and one.series not in in_percent for one in shares)
        or _count_decimals(shares) > _count_decimals(others)
    }


def _count_decimals(runs: Sequence[Run]) -> int:
    """Return how many digits the values of totals have after the point."""
    return max(len(f"{one.last:.15g}".partition(".")[2]) for one in runs)


def _report(share: Run, other: Run, value: str) -> Units:
    both = (share, other)
    named = [quote(one.series) for one in both]
    if share.series == other.series:
        named = [f"{_name_run(one.run)} of {name}" for one, name in zip(both, named, strict=True)]
    shown = [f"{getattr(one, value):.6g} for {name}" for one, name in zip(both, named, strict=True)]
    message = f"{_name_part(share.part)} is {' and '.join(shown)}: percent next to shares"
    return Units(max(share.row, other.row), message)


def _name_run(run: str) -> str:
    """Name a run in a message."""
    return f"run {shorten(run, LONGEST)}" if run else "a run without a name"


def _name_part(part: str) -> str:
    """Name a metric or benchmark in a message."""
    return " ".join(shorten(name, LONGEST) for name in part.split(chr(31)) if name) or "the score"
