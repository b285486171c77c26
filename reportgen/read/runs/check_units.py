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


class Units(NamedTuple):
    """Percent beside shares: the row where it shows, and the message."""

    row: int
    message: str


def find_percent(keys: RowKeys, runs: Sequence[Run]) -> Iterator[Units]:
    """Find percent beside shares in the metrics of runs, within each or between them."""
    curves = not (keys.layout.outcomes or keys.layout.totals)
    groups: dict[str, list[Run]] = defaultdict(list)
    for one in runs:
        # Times and the like are no scores.
        if guess_direction(one.part) is not Direction.NEITHER:
            groups[one.part].append(one)
    # A setting is constant in each run.
    groups = {part: some for part, some in groups.items() if keys.layout.totals or not _is_setting(some)}
    found = [*_find_within(keys, groups)] if curves else []
    for part, some in groups.items():
        by_series: dict[str, list[Run]] = defaultdict(list)
        for one in some:
            by_series[one.series].append(one)
        for same in by_series.values():
            shares, others = _split(same)
            if _is_hundredfold(shares, others):
                names = [f"{name_run(one.run)} of {quote(one.series)}" for one in (shares[0], others[0])]
                found.append((part, _report(shares[0], others[0], names, "last")))
    yield from (units for _, units in found)
    known = {part for part, _ in found}
    yield from _compare_series(keys, {part: some for part, some in groups.items() if part not in known})


def _is_setting(runs: Sequence[Run]) -> bool:
    return all(one.low == one.high for one in runs) and any(one.values > 1 for one in runs)


def _find_within(keys: RowKeys, groups: dict[str, list[Run]]) -> Iterator[tuple[str, Units]]:
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
        if (series, run, part) not in may_jump:
            continue
        if (index := _find_jump(values)) is not None:
            ends = " and then ".join(f"{value:.6g}" for value in values[index - 1 : index + 1])
            where = f" within {name_run(run)}" if run else ""
            message = f"{name_part(part)} of {quote(series)} is {ends}{where}: percent beside shares"
            yield part, Units(places[index], message)


def _find_jump(values: Sequence[float]) -> int | None:
    """Return the place of the first value in the other unit, or None: a share crosses 1 in no other way."""
    crossings = [place for place, pair in enumerate(pairwise(values), 1) if min(pair) <= 1 < max(pair)]
    ratios = [max(pair) / min(pair) for pair in pairwise(values)]
    is_jump = all(_LEAST <= ratios[place - 1] <= _MOST for place in crossings)
    return crossings[0] if crossings and is_jump else None


def _split(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs that are shares and those in percent, besides zeros; none if others are neither."""
    runs = [one for one in runs if one.low or one.high]
    shares = [one for one in runs if 0 <= one.low <= one.high <= 1]
    others = [one for one in runs if one.low >= 0 and 1 < one.high <= _PERCENT]
    is_split = len(shares) + len(others) == len(runs) and others and any(one.mean < 1 for one in shares)
    return (shares, others) if is_split else ([], [])


def _is_hundredfold(shares: Sequence[Run], others: Sequence[Run], *, both: bool = False) -> bool:
    """Return whether others end, and begin unless that is 0, about a hundred times as high as shares."""
    if not shares:
        return False
    pairs = [
        (median(getattr(one, end) for one in shares), median(getattr(one, end) for one in others))
        for end in ("first", "last")
    ]
    ratios = [high / low for low, high in pairs if low > 0 and high > 0]
    if (both and len(ratios) < len(pairs)) or not pairs[1][0]:
        return False
    return bool(ratios) and all(_LEAST <= ratio <= _MOST for ratio in ratios)


def _is_apart(shares: Sequence[Run], others: Sequence[Run]) -> bool:
    """Return whether others are about a hundred times as large, and both are close to their own kind."""
    low, high = ([one.mean for one in some] for some in (shares, others))
    is_close = min(high) / max(low) > max(max(some) / min(some) for some in (low, high))
    return is_close and _LEAST <= median(high) / median(low) <= _MOST


def _compare_series(keys: RowKeys, groups: Mapping[str, list[Run]]) -> Iterator[Units]:
    """Yield metrics or benchmarks in which some series are in percent while others are shares.

    A weak model may truly be a hundred times as bad, so that shares of totals must be those of series that
    are so on several benchmarks and on none in percent.
    """
    found: dict[str, tuple[list[Run], list[Run]]] = {}
    for part, runs in groups.items():
        shares, others = _split(runs)
        known = may_be_percent(part)
        if not shares or (known is False and not keys.layout.outcomes):
            continue
        is_scored = keys.layout.outcomes or keys.layout.totals
        if _is_apart(shares, others) if is_scored else _is_hundredfold(shares, others, both=not known):
            found[part] = (shares, others)
    if keys.layout.totals:
        found = _choose_certain(groups, found)
    reported: dict[frozenset[str], list[Units]] = defaultdict(list)
    value = "mean" if keys.layout.outcomes or keys.layout.totals else "last"
    for shares, others in found.values():
        names = [quote(one.series) for one in (shares[0], others[0])]
        reported[frozenset(one.series for one in shares)].append(_report(shares[0], others[0], names, value))
    for first, *rest in reported.values():
        more = f" (and in {len(rest)} more)" if rest else ""
        yield Units(first.row, first.message + more)


def _choose_certain(
    groups: Mapping[str, list[Run]], found: Mapping[str, tuple[list[Run], list[Run]]]
) -> dict[str, tuple[list[Run], list[Run]]]:
    in_percent = {one.series for runs in groups.values() for one in runs if one.high > 1}
    counts = Counter(name for shares, _ in found.values() for name in {one.series for one in shares})
    return {
        part: (shares, others)
        for part, (shares, others) in found.items()
        if all(counts[one.series] > 1 and one.series not in in_percent for one in shares)
    }


def _report(share: Run, other: Run, names: Sequence[str], value: str) -> Units:
    values = [
        f"{getattr(one, value):.6g} for {name}" for one, name in zip((share, other), names, strict=True)
    ]
    message = f"{name_part(share.part)} is {' and '.join(values)}: percent beside shares"
    return Units(max(share.row, other.row), message)


def name_run(run: str) -> str:
    """Name a run in a message."""
    return f"run {shorten(run, LONGEST)}" if run else "a run without a name"


def name_part(part: str) -> str:
    """Name a metric or benchmark in a message."""
    return " ".join(shorten(name, LONGEST) for name in part.split(chr(31)) if name) or "the score"
