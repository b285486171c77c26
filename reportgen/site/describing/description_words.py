"""What a file or folder holds, in words: what it is, and how much of it there is."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from reportgen.words import counted, listing, number

if TYPE_CHECKING:
    from reportgen.description import DescribedEvaluation, DescribedMetric, Description

NOTHING: Final = "–"
_UNITS: Final = ("kB", "MB", "GB", "TB")
_MIDNIGHT: Final = 86_400_000
_DURATIONS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
# Times that a calendar of four digits has, in milliseconds since 1970 UTC.
_YEARS: Final = (-62_135_596_800_000, 253_402_300_799_000)


def headline(told: Description) -> str:
    """What it is."""
    if not told.kind and told.title:
        return f"{told.path} – {told.title}, without any values"
    if not told.kind and not any(problem.severity == "error" for problem in told.problems):
        return f"{told.path} – a folder of sources"
    if not told.kind:
        return f"{told.path} – nothing that reportgen can read"
    return f"{told.path} – {told.title}{f', {told.shape}' if told.shape else ''}"


def amounts(told: Description) -> tuple[str, ...]:
    """How much there is, and what is not read: sentences without their full stops."""
    counts = told.counts
    series = counted(len(told.series), "series", "series")
    held = []
    if counts.evaluations:
        benchmarks = len({one.benchmark for one in counts.evaluations})
        answers = sum(one.answers for one in counts.evaluations)
        held = [series, counted(benchmarks, "benchmark"), counted(answers, "answer")]
    elif told.kind == "totals":
        benchmarks = len({one.benchmark for one in counts.totals})
        held = [series, counted(benchmarks, "benchmark"), counted(len(counts.totals), "total")]
    elif counts.runs and not told.kind:
        held = [counted(len(counts.runs), "run")]
    elif counts.runs:
        values = sum(one.values for one in counts.metrics)
        metrics = counted(len(counts.metrics), "metric")
        held = [series, counted(len(counts.runs), "run"), metrics, counted(values, "value")]
    files = f"{counted(len(told.read), 'file')} ({bytes_words(told.size)})"
    read = f"{listing(held)} in {files}" if held else files
    endings = listing([f"{count:,} {ending}" for ending, count in told.unread], most=8)
    unread = f"{counted(sum(count for _, count in told.unread), 'file')} not read: {endings}"
    return tuple(words for words, there in ((read, told.read), (unread, told.unread)) if there)


def bytes_words(size: int) -> str:
    """A number of bytes: ``512 bytes``, ``14.7 kB``, ``1.2 GB``."""
    if size < 1000:  # noqa: PLR2004 - below a kilobyte
        return counted(size, "byte")
    power = min(len(_UNITS), (len(str(size)) - 1) // 3)
    return f"{number(size / 1000**power, significant=3)} {_UNITS[power - 1]}"


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


def odd_answers(one: DescribedEvaluation) -> str:
    """What is irregular about an evaluation; empty where nothing is."""
    return _odd((one.missing, "without a score", "without a score"), (one.repeated, "repeated", "repeated"))


def _odd(*counts: tuple[int, str, str]) -> str:
    return ", ".join(counted(*count) for count in counts if count[0])


def range_words(
    first: float | None, last: float | None, told: Description, every: float | None = None
) -> str:
    """The steps from first to last, and the distance that they keep to."""
    if first is None or last is None:
        return NOTHING
    begin, end = (_step(step, is_time=told.step_is_time) for step in (first, last))
    words = begin if begin == end else f"{begin} to {end}"
    return (
        f"{words}, every {number_words(every)}" if every and not told.step_is_time and every != 1 else words
    )


def _step(step: float, *, is_time: bool) -> str:
    if is_time and _YEARS[0] <= step <= _YEARS[1]:
        moment = datetime.fromtimestamp(step / 1000, UTC)
        return moment.strftime("%Y-%m-%d" if step % _MIDNIGHT == 0 else "%Y-%m-%d %H:%M")
    return number_words(step)


def logged_words(begins: float | None, ends: float | None) -> str:
    """When something was logged, and how long it took: ``2026-01-01 12:00, 3 h 20 min``."""
    if begins is None or ends is None or not _YEARS[0] <= begins <= ends <= _YEARS[1]:
        return NOTHING
    moment = datetime.fromtimestamp(begins / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    return f"{moment}, {duration_words((ends - begins) / 1000)}" if ends > begins else moment


def duration_words(seconds: float) -> str:
    """A duration in its two largest units: ``12 s``, ``3 min 20 s``, ``2 d 4 h``; ``< 1 s``."""
    if seconds < 1:
        return "< 1 s"
    left = round(seconds)
    parts: list[tuple[int, str]] = []
    for unit, size in _DURATIONS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append((count, unit))
    return " ".join(f"{count:,} {unit}" for count, unit in parts[:2] if count)


def number_words(value: float | None) -> str:
    """A number, whole where it is whole; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return number(value, decimals=0) if value == round(value) and abs(value) < 1e12 else number(value)  # noqa: PLR2004
