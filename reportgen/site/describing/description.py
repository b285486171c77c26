"""A description of data for people, in words and tables that are cut, and for programs as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from reportgen.core.words import format_count, format_number, join_names
from reportgen.site.terminal import clean_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.core.description import (
        DescribedEvaluation,
        DescribedMetric,
        DescribedRun,
        DescribedTotal,
        Description,
    )
    from reportgen.core.errors import Diagnostic


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
    is_whole = value == round(value) and abs(value) < 1e12  # noqa: PLR2004
    return format_number(value, decimals=0) if is_whole else format_number(value)


_MOST_ROWS: Final = 20


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


def make_sections(description: Description) -> tuple[Section, ...]:
    """The tables of a description; none of what there is nothing of."""
    counts = description.counts
    found = []
    if counts.runs:
        found.append(_list_runs(description, counts.runs))
        settings = _list_settings(description, counts.runs)
        found += [settings] if settings else []
    if counts.metrics and counts.runs:
        found.append(_list_metrics(description, counts.metrics))
    if counts.evaluations:
        found.append(_list_evaluations(description, counts.evaluations))
    if counts.totals:
        found.append(_list_totals(description, counts.totals))
    return tuple(found)


def _list_runs(description: Description, runs: Sequence[DescribedRun]) -> Section:
    named = any(one.run not in {one.series, one.seed, ""} for one in runs)
    seeded = any(one.seed is not None for one in runs)
    placed = len({one.path for one in runs}) > 1
    dated = any(one.begins is not None for one in runs)
    header = ("series", "run", "seed", "metrics", "values", _name_steps(description), "logged (UTC)", "where")
    chosen = (True, named, seeded, True, True, True, dated, placed)
    rows = (
        (
            one.series,
            one.run or NOTHING,
            NOTHING if one.seed is None else one.seed,
            f"{one.metrics:,}",
            f"{one.values:,}",
            format_range(one.first, one.last, description),
            format_logged(one.begins, one.ends),
            _strip_folder(one.path, description.path),
        )
        for one in runs
    )
    more = _describe_rest(len(runs), "run", "runs")
    return _make_section("Runs", _describe_names(description), (header, chosen), list(rows), more)


def _list_settings(description: Description, runs: Sequence[DescribedRun]) -> Section | None:
    """What was set differently in several runs, which may name series; of runs without values, everything."""
    runs = [one for one in runs if one.values or not description.kind]
    keys = dict.fromkeys(key for one in runs for key in one.config)
    values = {key: [one.config.get(key) for one in runs] for key in keys}
    if description.kind:
        texts = {key: [str(one) for one in found] for key, found in values.items()}
        seeds = [str(one.seed) for one in runs]
        values = {key: values[key] for key, found in texts.items() if len(set(found)) > 1 and found != seeds}
    if not values:
        return None
    rows = [(key, _format_values(found)) for key, found in values.items()]
    note = (
        "that differ between the runs; series_from: takes any of them" if description.kind else "of the runs"
    )
    more = _describe_rest(len(rows), "setting", "settings")
    return _make_section("Settings", note, (("setting", "values"), (True, True)), rows, more)


def _format_values(found: Iterable[object]) -> str:
    texts = [NOTHING if one is None else str(one) for one in found]
    return join_names(list(dict.fromkeys(texts)), most=4)


def _list_metrics(description: Description, metrics: Sequence[DescribedMetric]) -> Section:
    several = len(description.counts.runs) > 1
    irregular = [describe_odd_metric(one) for one in metrics]
    header = ("metric", "runs", "values", _name_steps(description), "lowest", "highest", "irregular")
    chosen = (True, several, True, True, True, True, any(irregular))
    rows = [
        (
            one.name,
            f"{one.runs:,}",
            f"{one.values:,}",
            format_range(one.first, one.last, description, one.every),
            format_value(one.low),
            format_value(one.high),
            odd,
        )
        for one, odd in zip(metrics, irregular, strict=True)
    ]
    more = _describe_rest(len(metrics), "metric", "metrics")
    hidden = sum(1 for odd in irregular[_MOST_ROWS:] if odd)
    if more and hidden:
        more += f" {format_count(hidden, 'of these is', 'of these are')} irregular."
    return _make_section("Metrics", "", (header, chosen), rows, more)


def _list_evaluations(description: Description, evaluations: Sequence[DescribedEvaluation]) -> Section:
    runs = {(one.series, one.benchmark, one.run) for one in evaluations}
    several = len(runs) > len({run[:2] for run in runs})
    seeded = any(one.seed is not None for one in evaluations) and several
    header = ("series", "run", "seed", "benchmark", "problems", "answers to each", "mean score", "irregular")
    irregular = [describe_odd_answers(one) for one in evaluations]
    chosen = (
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
            one.run or NOTHING,
            NOTHING if one.seed is None else one.seed,
            one.benchmark or NOTHING,
            f"{one.problems:,}",
            f"{one.fewest:,}" if one.fewest == one.most else f"{one.fewest:,} to {one.most:,}",
            format_value(one.mean),
            odd,
        )
        for one, odd in zip(evaluations, irregular, strict=True)
    ]
    more = _describe_rest(len(evaluations), "evaluation", "evaluations")
    return _make_section("Evaluations", _describe_names(description), (header, chosen), rows, more)


def _list_totals(description: Description, totals: Sequence[DescribedTotal]) -> Section:
    header = ("series", "run", "seed", "benchmark", "metric", "score", "standard error", "problems")
    shown = {(one.series, one.benchmark, one.metric) for one in totals}
    chosen = (
        True,
        len(shown) < len(totals),
        any(one.seed is not None for one in totals) and len(shown) < len(totals),
        any(one.benchmark for one in totals),
        True,
        True,
        any(one.stderr is not None for one in totals),
        any(one.n is not None for one in totals),
    )
    rows = [
        (
            one.series,
            one.run or NOTHING,
            one.seed or NOTHING,
            one.benchmark or NOTHING,
            one.metric,
            format_value(one.value),
            format_value(one.stderr),
            NOTHING if one.n is None else f"{one.n:,}",
        )
        for one in totals
    ]
    note = "as the harness reports them"
    if description.kind == "totals":
        note = f"as they are reported, {_describe_names(description)}"
    return _make_section(
        "Totals", note, (header, chosen), rows, _describe_rest(len(totals), "total", "totals")
    )


def _strip_folder(path: str, folder: str) -> str:
    """A path below what is described."""
    return path.removeprefix(f"{folder}/") if path != folder else "."


def _describe_names(description: Description) -> str:
    series = f"series by {description.series_by}" if description.series_by else ""
    seeds = f"seeds by {description.seed_by}" if description.seed_by else "seeds not known"
    return f"{series}, {seeds}" if series else seeds


def _make_section(
    title: str,
    note: str,
    head: tuple[tuple[str, ...], tuple[bool, ...]],
    rows: Sequence[tuple[str, ...]],
    more: str,
) -> Section:
    header, chosen = head
    cut = [_pick_columns(row, chosen) for row in rows[:_MOST_ROWS]]
    return Section(title, note, _pick_columns(header, chosen), tuple(cut), more)


def _pick_columns(row: Iterable[str], chosen: Iterable[bool]) -> tuple[str, ...]:
    return tuple(text for text, keep in zip(row, chosen, strict=True) if keep)


def _describe_rest(count: int, one: str, many: str) -> str:
    left = count - _MOST_ROWS
    return (
        f"{format_count(left, f'more {one}', f'more {many}')}; --format json lists all." if left > 0 else ""
    )


def _name_steps(description: Description) -> str:
    return description.step_name or "step"


def format_json(description: Description, source_yml: str, others: dict[str, str], block: str) -> str:
    """A description as JSON with a newline at its end; its keys are those of the value, in its order.

    Args:
        description: the description.
        source_yml: the suggested settings.
        others: those that depend on what the data mean, by what they are for.
        block: the suggested block.
    """
    value = asdict(description)
    value["unread"] = dict(description.unread)
    value["problems"] = [_describe_problem(problem) for problem in description.problems]
    value |= value.pop("counts")
    for run in value["runs"]:
        run["config"] = {key: str(one) if _is_endless(one) else one for key, one in run["config"].items()}
    for total in value["totals"]:
        total |= {key: None for key, one in total.items() if _is_endless(one)}
    value["suggested"] = {
        "file": description.settings_file,
        "source.yml": source_yml,
        **{f"source.yml for {purpose}": text for purpose, text in others.items()},
        "block": block,
    }
    del value["settings"], value["repetitions"], value["clusters"]
    return f"{clean_json(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))}\n"


def _is_endless(value: object) -> bool:
    """Whether it is a NaN or an infinity, which JSON has none of."""
    return isinstance(value, float) and not math.isfinite(value)


def _describe_problem(problem: Diagnostic) -> dict[str, object]:
    return {
        "file": problem.location.file,
        "line": problem.location.line,
        "severity": str(problem.severity),
        "message": problem.message,
        "next_step": problem.next_step,
    }
