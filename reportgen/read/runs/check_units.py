"""Percent beside shares in one metric: within a run, between the runs of a series, and between series.

They are found by a factor of about 100. A loss, a return or a length may truly span it, so that the values
around must agree, too: what comes before and after a jump, the other runs, the other benchmarks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from reportgen.core.directions import Direction, guess_direction, may_be_percent
from reportgen.core.words import format_count
from reportgen.formats import sql
from reportgen.formats.sql import get_engine
from reportgen.read.runs.summaries import LONGEST, Run, quote
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from reportgen.read.tables.distinguish import RowKeys

ADVICE: Final = "Write all of them as shares, or all in percent"
"""The next step of percent beside shares."""
# Runs of one experiment are within a factor of two, a failed one is not.
_LEAST, _MOST = 50, 200
_PERCENT: Final = 100
# Neighbouring values of a share differ by up to a quarter, or as others near them do.
_STEP: Final = math.log(1.25)
_ALTERNATING: Final = 3


class Units(NamedTuple):
    """Percent beside shares: the row where it shows, and the message."""

    row: int
    message: str


def find_percent(keys: RowKeys, runs: Sequence[Run], *, curves: bool, graded: bool) -> Iterator[Units]:
    """Find percent beside shares in the metrics of runs.

    Runs have ``curves`` over steps, ``graded`` scores of problems, or totals.
    """
    groups: dict[str, list[Run]] = defaultdict(list)
    for one in runs:
        # A setting is constant in each run, and times and the like are no scores.
        if guess_direction(one.part) is not Direction.NEITHER:
            groups[one.part].append(one)
    several = curves or graded
    groups = {part: one for part, one in groups.items() if not (several and _is_setting(one))}
    within = list(_find_within(keys, groups)) if curves else []
    yield from (units for _, units in within)
    known = {part for part, _ in within}
    for part, some in groups.items():
        by_series: dict[str, list[Run]] = defaultdict(list)
        for one in some:
            by_series[one.series].append(one)
        between = [found for same in by_series.values() if (found := _compare_runs(same))]
        yield from between
        known |= {part} if between else set()
    rest = {part: some for part, some in groups.items() if part not in known}
    if several:
        for part, some in rest.items():
            yield from filter(None, [_compare_series(part, some, graded=graded)])
    else:
        yield from _compare_totals(rest)


def _is_share(run: Run) -> bool:
    """Return whether all values are from 0 to 1, and some between."""
    return 0 <= run.low <= run.high <= 1 and 0 < run.mean < 1


def _is_percent(run: Run) -> bool:
    """Return whether all values may be percent, and some are no shares."""
    return run.low >= 0 and 1 < run.high <= _PERCENT


def _is_setting(runs: Sequence[Run]) -> bool:
    return all(one.low == one.high for one in runs) and any(one.values > 1 for one in runs)


def _find_within(keys: RowKeys, groups: dict[str, list[Run]]) -> Iterator[tuple[str, Units]]:
    """Yield metrics and the place of runs whose values become a hundred times as large, or as small."""
    may_jump = {
        (one.series, one.run, one.part)
        for part, runs in groups.items()
        for one in runs
        if _is_percent(one) and one.low <= 1 and may_be_percent(part) is not False
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
        if (index := _find_jump(values, is_share=bool(may_be_percent(part)))) is not None:
            ends = " and then ".join(f"{value:.6g}" for value in values[index - 1 : index + 1])
            where = f" within {name_run(run)}" if run else ""
            message = f"{name_part(part)} of {quote(series)} is {ends}{where}: percent beside shares"
            yield part, Units(places[index], message)


def _find_jump(values: Sequence[float], *, is_share: bool) -> int | None:
    """Return the place of the first value in the other unit, or None: all else around has to agree."""
    changes = [math.log(after) - math.log(before) for before, after in pairwise(values)]
    crossings = [place for place, pair in enumerate(pairwise(values), 1) if min(pair) <= 1 < max(pair)]
    jumps = [one for one in crossings if math.log(_LEAST) <= abs(changes[one - 1]) <= math.log(_MOST)]
    if not is_share and jumps != crossings:
        return None
    if len(jumps) >= _ALTERNATING:
        return jumps[0]
    for place in jumps:
        # The first value is often that of a model before its training.
        before, after = place, len(values) - place
        if before < 2 or (after < 2 and not is_share):  # noqa: PLR2004 - a value and its neighbour
            continue
        near = range(max(1, place - 2), min(len(values), place + 3))
        usual = median([abs(changes[one - 1]) for one in near if one not in jumps] or [0.0])
        most = min(math.log(2), max(2 * usual, _STEP if is_share else 0.0))
        if abs(abs(changes[place - 1]) - math.log(_PERCENT)) <= most:
            return place
    return None


def _compare_runs(runs: Sequence[Run]) -> Units | None:
    """Return where some runs of one series are in percent while the others are shares."""
    shares = [one for one in runs if _is_share(one)]
    others = [one for one in runs if _is_percent(one) and one not in shares]
    if not shares or not others or len(shares) + len(others) < len(runs):
        return None
    if not _is_hundredfold(shares, others):
        return None
    one, other = shares[0], others[0]
    parts = [f"{some.last:.6g} in {name_run(some.run)}" for some in (one, other)]
    message = f"{name_part(one.part)} of {quote(one.series)} is {' and '.join(parts)}: shares and percent "
    counts = [format_count(len(some), "run") for some in (shares, others)]
    return Units(max(one.row, other.row), f"{message}are averaged as one ({' and '.join(counts)})")


def _is_hundredfold(shares: Sequence[Run], others: Sequence[Run], *, both: bool = False) -> bool:
    """Return whether others end, and begin unless that is 0, about a hundred times as high as shares."""
    pairs = [
        (median(getattr(one, end) for one in shares), median(getattr(one, end) for one in others))
        for end in ("first", "last")
    ]
    ratios = [high / low for low, high in pairs if low > 0 and high > 0]
    if (both and len(ratios) < len(pairs)) or not pairs[1][0]:
        return False
    return bool(ratios) and all(_LEAST <= ratio <= _MOST for ratio in ratios)


def _compare_series(part: str, runs: Sequence[Run], *, graded: bool) -> Units | None:
    """Return where the curves or answers of some series are in percent while those of others are shares."""
    shares = [one for one in runs if _is_share(one)]
    others = [one for one in runs if _is_percent(one) and one not in shares]
    known = may_be_percent(part)
    if not shares or not others or len(shares) + len(others) < len(runs) or (known is False and not graded):
        return None
    if graded:
        if not _is_apart([one.mean for one in shares], [one.mean for one in others]):
            return None
    elif not _is_hundredfold(shares, others, both=not known):
        return None
    return _report_series(shares, others, "mean" if graded else "last")


def _compare_totals(groups: dict[str, list[Run]]) -> Iterator[Units]:
    """Yield benchmarks on which some series are in percent while others are shares.

    A weak model may truly be a hundred times as bad, so that the shares must have more digits after the
    point, or be those of series that are so on several benchmarks and on none in percent.
    """
    found: dict[str, tuple[list[Run], list[Run]]] = {}
    in_percent = {one.series for runs in groups.values() for one in runs if one.high > 1}
    for part, every in groups.items():
        runs = [one for one in every if one.mean != 0]
        shares = [one for one in runs if 0 < one.low <= one.high <= 1]
        others = [one for one in runs if one.low > 1 and one.high <= _PERCENT]
        is_known = may_be_percent(part) is not False and len(shares) + len(others) == len(runs)
        if (
            is_known
            and shares
            and others
            and _is_apart([one.mean for one in shares], [one.mean for one in others])
        ):
            found[part] = (shares, others)
    counts = defaultdict[str, int](int)
    for shares, _ in found.values():
        for name in {one.series for one in shares} - in_percent:
            counts[name] += 1
    reported: dict[tuple[str, ...], list[Units]] = defaultdict(list)
    for shares, others in found.values():
        several = all(counts[one.series] > 1 for one in shares)
        if several or _count_decimals(shares) > _count_decimals(others):
            names = sorted({one.series for one in shares})
            reported[tuple(names)].append(_report_series(shares, others, "mean"))
    for first, *rest in reported.values():
        more = f" (and on {format_count(len(rest), 'other benchmark')})" if rest else ""
        yield Units(first.row, first.message + more)


def _is_apart(shares: Collection[float], others: Collection[float]) -> bool:
    """Return whether others are about a hundred times as large, and both are close to their own kind."""
    gap = min(others) / max(shares)
    ratio = median(others) / median(shares)
    return _LEAST <= ratio <= _MOST and gap > max(max(some) / min(some) for some in (shares, others))


def _count_decimals(runs: Sequence[Run]) -> int:
    """Return how many digits the values of totals have after the point."""
    exponents = (Decimal(repr(one.last)).normalize().as_tuple().exponent for one in runs)
    return max(-one if isinstance(one, int) else 0 for one in exponents)


def _report_series(shares: Sequence[Run], others: Sequence[Run], value: str) -> Units:
    one, other = shares[0], others[0]
    parts = [f"{getattr(some, value):.6g} for {quote(some.series)}" for some in (one, other)]
    return Units(
        max(one.row, other.row), f"{name_part(one.part)} is {' and '.join(parts)}: percent beside shares"
    )


def name_run(run: str) -> str:
    """Name a run in a message."""
    return f"run {shorten(run, LONGEST)}" if run else "a run without a name"


def name_part(part: str) -> str:
    """Name a metric or benchmark in a message."""
    return " ".join(shorten(name, LONGEST) for name in part.split(chr(31)) if name) or "the score"
