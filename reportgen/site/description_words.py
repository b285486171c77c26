"""What a file or folder holds, in words: a headline, tables that are not too long, and the next step."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from reportgen.words import counted, listing, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.description import (
        DescribedEvaluation,
        DescribedMetric,
        DescribedRun,
        DescribedTotal,
        Description,
    )

_MOST_ROWS: Final = 20
_UNITS: Final = ("kB", "MB", "GB", "TB")
_NOTHING: Final = "–"
_MIDNIGHT: Final = 86_400_000
# Times that a calendar of four digits has, in milliseconds since 1970 UTC.
_YEARS: Final = (-62_135_596_800_000, 253_402_300_799_000)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a description.

    Attributes:
        title: its heading.
        note: what is said beside the heading.
        header: the titles of columns; empty without a table.
        rows: as many texts each.
        more: what was cut, as a sentence; empty where nothing was.
    """

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str = ""


def headline(told: Description) -> str:
    """What it is, and how much of it there is."""
    if not told.kind:
        return f"{told.path}: no data that reportgen can read"
    counts = told.counts
    parts = [counted(len(told.series), "series", "series")] if told.series else []
    if told.kind == "outcomes":
        benchmarks = {one.benchmark for one in counts.evaluations}
        parts.append(counted(len(benchmarks), "benchmark"))
        parts.append(counted(sum(one.answers for one in counts.evaluations), "answer"))
    else:
        parts.append(counted(len(counts.runs), "run"))
        parts.append(counted(len(counts.metrics), "metric"))
        parts.append(counted(sum(one.values for one in counts.metrics), "value"))
    shape = f", {told.shape}" if told.shape else ""
    held = f": {listing(parts)}" if counts.runs or counts.evaluations else ""
    return f"{told.path}: {told.title}{shape}{held}"


def amount(told: Description) -> str:
    """How many files are read and how large they are, and which ones are not."""
    words = f"{counted(len(told.read), 'file')}, {bytes_words(told.size)}" if told.read else ""
    if told.unread:
        endings = [f"{count:,} {ending}" for ending, count in told.unread]
        left = (
            f"{counted(sum(count for _, count in told.unread), 'file')} not read: {listing(endings, most=8)}"
        )
        words = f"{words}; {left}" if words else left[:1].upper() + left[1:]
    return words


def sections(told: Description) -> tuple[Section, ...]:
    """The tables of a description; none of what there is nothing of."""
    counts = told.counts
    found = []
    if counts.runs:
        found.append(_runs(told, counts.runs))
    if counts.metrics and counts.runs:
        found.append(_metrics(told, counts.metrics))
    if counts.evaluations:
        found.append(_evaluations(told, counts.evaluations))
    if counts.totals:
        found.append(_totals(counts.totals))
    return tuple(found)


def bytes_words(size: int) -> str:
    """A number of bytes: ``512 bytes``, ``14.7 kB``, ``1.2 GB``."""
    if size < 1000:  # noqa: PLR2004 - below a kilobyte
        return counted(size, "byte")
    power = min(len(_UNITS), (len(str(size)) - 1) // 3)
    return f"{number(size / 1000**power, significant=3)} {_UNITS[power - 1]}"


def _runs(told: Description, runs: Sequence[DescribedRun]) -> Section:
    named = any(one.run not in {one.series, ""} for one in runs)
    seeded = any(one.seed is not None for one in runs)
    placed = len({one.path for one in runs}) > 1
    header = ("series", "run", "seed", "metrics", "values", _steps_title(told), "where")
    kept = (True, named, seeded, True, True, True, placed)
    rows = (
        (
            one.series,
            one.run or _NOTHING,
            _NOTHING if one.seed is None else one.seed,
            f"{one.metrics:,}",
            f"{one.values:,}",
            _range(one.first, one.last, told),
            one.path,
        )
        for one in runs
    )
    more = _more(len(runs), "run", "runs")
    return _section("Runs", _found_by(told), (header, kept), list(rows), more)


def _metrics(told: Description, metrics: Sequence[DescribedMetric]) -> Section:
    several = len(told.counts.runs) > 1
    irregular = [odd_words(one) for one in metrics]
    header = ("metric", "runs", "values", _steps_title(told), "lowest", "highest", "irregular")
    kept = (True, several, True, True, True, True, any(irregular))
    rows = [
        (
            one.name,
            f"{one.runs:,}",
            f"{one.values:,}",
            _range(one.first, one.last, told, one.every),
            _number(one.low),
            _number(one.high),
            odd,
        )
        for one, odd in zip(metrics, irregular, strict=True)
    ]
    more = _more(len(metrics), "metric", "metrics")
    hidden = sum(1 for odd in irregular[_MOST_ROWS:] if odd)
    if more and hidden:
        more += f" {counted(hidden, 'of these is', 'of these are')} irregular."
    return _section("Metrics", "", (header, kept), rows, more)


def _evaluations(told: Description, evaluations: Sequence[DescribedEvaluation]) -> Section:
    runs = {(one.series, one.benchmark, one.run) for one in evaluations}
    several = len(runs) > len({run[:2] for run in runs})
    seeded = any(one.seed is not None for one in evaluations) and several
    header = ("series", "run", "seed", "benchmark", "problems", "answers to each", "mean score", "irregular")
    irregular = [_odd_answers(one) for one in evaluations]
    kept = (
        True,
        several,
        seeded,
        any(one.benchmark for one in evaluations),
        True,
        True,
        True,
        any(irregular),
    )
    rows = [
        (
            one.series,
            one.run or _NOTHING,
            _NOTHING if one.seed is None else one.seed,
            one.benchmark or _NOTHING,
            f"{one.problems:,}",
            f"{one.fewest:,}" if one.fewest == one.most else f"{one.fewest:,} to {one.most:,}",
            _number(one.mean),
            odd,
        )
        for one, odd in zip(evaluations, irregular, strict=True)
    ]
    more = _more(len(evaluations), "evaluation", "evaluations")
    return _section("Evaluations", _found_by(told), (header, kept), rows, more)


def _totals(totals: Sequence[DescribedTotal]) -> Section:
    header = ("series", "benchmark", "metric", "score", "standard error", "problems")
    kept = (True, True, True, True, any(one.stderr is not None for one in totals), True)
    rows = [
        (
            one.series,
            one.benchmark,
            one.metric,
            _number(one.value),
            _number(one.stderr),
            _NOTHING if one.n is None else f"{one.n:,}",
        )
        for one in totals
    ]
    note = "as the harness reports them"
    return _section("Totals", note, (header, kept), rows, _more(len(totals), "total", "totals"))


def odd_words(one: DescribedMetric) -> str:
    """What is irregular about a metric; empty where nothing is."""
    return _odd(
        (one.holes, "step missing", "steps missing"),
        (one.repeated, "step repeated", "steps repeated"),
        (one.missing, "empty", "empty"),
        (one.nan, "NaN", "NaN"),
        (one.infinite, "infinite", "infinite"),
        (one.without_step, "without a step", "without a step"),
    )


def _odd_answers(one: DescribedEvaluation) -> str:
    return _odd((one.missing, "without a score", "without a score"), (one.repeated, "repeated", "repeated"))


def _odd(*counts: tuple[int, str, str]) -> str:
    return ", ".join(counted(*count) for count in counts if count[0])


def _found_by(told: Description) -> str:
    series = f"series by {told.series_by}" if told.series_by else ""
    seeds = f"seeds by {told.seed_by}" if told.seed_by else "seeds not known"
    return f"{series}, {seeds}" if series else seeds


def _section(
    title: str,
    note: str,
    head: tuple[tuple[str, ...], tuple[bool, ...]],
    rows: Sequence[tuple[str, ...]],
    more: str,
) -> Section:
    header, kept = head
    cut = [_picked(row, kept) for row in rows[:_MOST_ROWS]]
    return Section(title, note, _picked(header, kept), tuple(cut), more)


def _picked(row: Iterable[str], kept: Iterable[bool]) -> tuple[str, ...]:
    return tuple(text for text, keep in zip(row, kept, strict=True) if keep)


def _more(count: int, one: str, many: str) -> str:
    left = count - _MOST_ROWS
    return f"{counted(left, f'more {one}', f'more {many}')}; --format json lists all." if left > 0 else ""


def _steps_title(told: Description) -> str:
    return told.step_name or "step"


def _range(first: float | None, last: float | None, told: Description, every: float | None = None) -> str:
    if first is None or last is None:
        return _NOTHING
    begin, end = (_step(step, is_time=told.step_is_time) for step in (first, last))
    words = begin if begin == end else f"{begin} to {end}"
    return f"{words}, every {_number(every)}" if every and not told.step_is_time and every != 1 else words


def _step(step: float, *, is_time: bool) -> str:
    if is_time and _YEARS[0] <= step <= _YEARS[1]:
        moment = datetime.fromtimestamp(step / 1000, UTC)
        return moment.strftime("%Y-%m-%d" if step % _MIDNIGHT == 0 else "%Y-%m-%d %H:%M")
    return _number(step)


def _number(value: float | None) -> str:
    if value is None:
        return _NOTHING
    return number(value, decimals=0) if value == round(value) and abs(value) < 1e12 else number(value)  # noqa: PLR2004
