"""What a file or folder holds, in words: what it is, and how much of it there is."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from reportgen.words import format_count, format_number, join_names

if TYPE_CHECKING:
    from reportgen.description import DescribedEvaluation, DescribedMetric, Description

NOTHING: Final = "–"
_UNITS: Final = ("kB", "MB", "GB", "TB")
_MIDNIGHT: Final = 86_400_000
_DURATIONS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
# Times that a calendar of four digits has, in milliseconds since 1970 UTC.
_YEARS: Final = (-62_135_596_800_000, 253_402_300_799_000)


def format_headline(description: Description) -> str:
    """What it is."""
    if not description.kind and description.title:
        return f"{description.path} – {description.title}, without any values"
    if not description.kind and not any(problem.severity == "error" for problem in description.problems):
        return f"{description.path} – a folder of sources"
    if not description.kind:
        return f"{description.path} – nothing that reportgen can read"
    return f"{description.path} – {description.title}{f', {description.shape}' if description.shape else ''}"


def describe_amounts(description: Description) -> tuple[str, ...]:
    """How much there is, and what is not read: sentences without their full stops."""
    counts = description.counts
    series = format_count(len(description.series), "series", "series")
    held = []
    if counts.evaluations:
        benchmarks = len({one.benchmark for one in counts.evaluations})
        answers = sum(one.answers for one in counts.evaluations)
        held = [series, format_count(benchmarks, "benchmark"), format_count(answers, "answer")]
    elif description.kind == "totals":
        benchmarks = len({one.benchmark for one in counts.totals})
        held = [series, format_count(benchmarks, "benchmark"), format_count(len(counts.totals), "total")]
    elif counts.runs and not description.kind:
        held = [format_count(len(counts.runs), "run")]
    elif counts.runs:
        values = sum(one.values for one in counts.metrics)
        metrics = format_count(len(counts.metrics), "metric")
        held = [series, format_count(len(counts.runs), "run"), metrics, format_count(values, "value")]
    files = f"{format_count(len(description.read), 'file')} ({format_bytes(description.size)})"
    read = f"{join_names(held)} in {files}" if held else files
    endings = join_names([f"{count:,} {ending}" for ending, count in description.unread], most=8)
    unread = f"{format_count(sum(count for _, count in description.unread), 'file')} not read: {endings}"
    return tuple(words for words, there in ((read, description.read), (unread, description.unread)) if there)


def format_bytes(size: int) -> str:
    """A number of bytes: ``512 bytes``, ``14.7 kB``, ``1.2 GB``."""
    if size < 1000:  # noqa: PLR2004 - below a kilobyte
        return format_count(size, "byte")
    power = min(len(_UNITS), (len(str(size)) - 1) // 3)
    return f"{format_number(size / 1000**power, significant=3)} {_UNITS[power - 1]}"


def describe_odd_metric(one: DescribedMetric) -> str:
    """What is irregular about a metric; empty where nothing is."""
    return _join_counts(
        (one.holes, "step missing", "steps missing"),
        (one.repeated, "step repeated", "steps repeated"),
        (one.missing, "empty", "empty"),
        (one.nan, "NaN", "NaN"),
        (one.infinite, "infinite", "infinite"),
        (one.without_step, "without a step", "without a step"),
    )


def describe_odd_answers(one: DescribedEvaluation) -> str:
    """What is irregular about an evaluation; empty where nothing is."""
    return _join_counts(
        (one.missing, "without a score", "without a score"), (one.repeated, "repeated", "repeated")
    )


def _join_counts(*counts: tuple[int, str, str]) -> str:
    return ", ".join(format_count(*count) for count in counts if count[0])


def format_range(
    first: float | None, last: float | None, description: Description, every: float | None = None
) -> str:
    """The steps from first to last, and the distance that they keep to."""
    if first is None or last is None:
        return NOTHING
    begin, end = (_format_step(step, is_time=description.step_is_time) for step in (first, last))
    words = begin if begin == end else f"{begin} to {end}"
    return (
        f"{words}, every {format_value(every)}"
        if every and not description.step_is_time and every != 1
        else words
    )


def _format_step(step: float, *, is_time: bool) -> str:
    if is_time and _YEARS[0] <= step <= _YEARS[1]:
        moment = datetime.fromtimestamp(step / 1000, UTC)
        return moment.strftime("%Y-%m-%d" if step % _MIDNIGHT == 0 else "%Y-%m-%d %H:%M")
    return format_value(step)


def format_logged(begins: float | None, ends: float | None) -> str:
    """When something was logged, and how long it took: ``2026-01-01 12:00, 3 h 20 min``."""
    if begins is None or ends is None or not _YEARS[0] <= begins <= ends <= _YEARS[1]:
        return NOTHING
    moment = datetime.fromtimestamp(begins / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    return f"{moment}, {format_duration((ends - begins) / 1000)}" if ends > begins else moment


def format_duration(seconds: float) -> str:
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


def format_value(value: float | None) -> str:
    """A number, whole where it is whole; a dash where there is none."""
    if value is None or not math.isfinite(value):
        return NOTHING
    return (
        format_number(value, decimals=0)
        if value == round(value) and abs(value) < 1e12
        else format_number(value)
    )  # noqa: PLR2004
