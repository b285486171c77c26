"""The commands `describe` and `freeze`: locating their data, and the text or files they write."""

from __future__ import annotations

import math
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import Stage, make_error
from reportgen.core.repository import find_data_boundary
from reportgen.core.words import format_count, format_number, join_names
from reportgen.draft.describing import describe_path
from reportgen.draft.opening import check_settings_names
from reportgen.settings.loading import read_data_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.core.repository import Boundary
    from reportgen.core.statements import (
        DescribedEvaluation,
        DescribedMetric,
        DescribedRun,
        DescribedTotal,
        Description,
    )


NOTHING: Final = "–"
_UNITS: Final = ("kB", "MB", "GB", "TB")
_MIDNIGHT: Final = 86_400_000
_DURATIONS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
# Times that have a four-digit year, in milliseconds since 1970 UTC.
_YEARS: Final = (-62_135_596_800_000, 253_402_300_799_000)


def format_headline(description: Description) -> str:
    """Describe the kind of data."""
    if not description.kind and description.title:
        return f"{description.path} – {description.title}, without any values"
    if not description.kind and not any(problem.severity == "error" for problem in description.problems):
        return f"{description.path} – a folder of sources"
    if not description.kind:
        return f"{description.path} – cannot be read as it is"
    return f"{description.path} – {description.title}{f', {description.shape}' if description.shape else ''}"


def describe_amounts(description: Description) -> tuple[str, ...]:
    """Describe the amount of data, and what is not read, in sentences without full stops."""
    counts = description.counts
    series = format_count(len(description.series), "series", "series")
    amounts = []
    if counts.evaluations:
        benchmarks = len({one.benchmark for one in counts.evaluations})
        answers = sum(one.answers for one in counts.evaluations)
        amounts = [series, format_count(benchmarks, "benchmark"), format_count(answers, "answer")]
    elif description.kind == "totals":
        benchmarks = len({one.benchmark for one in counts.totals})
        amounts = [series, format_count(benchmarks, "benchmark"), format_count(len(counts.totals), "total")]
    elif counts.runs and not description.kind:
        amounts = [format_count(len(counts.runs), "run")]
    elif counts.runs:
        values = sum(one.values for one in counts.metrics)
        metrics = format_count(len(counts.metrics), "metric")
        amounts = [series, format_count(len(counts.runs), "run"), metrics, format_count(values, "value")]
    files = f"{format_count(len(description.read), 'file')} ({format_bytes(description.size)})"
    read = f"{join_names(amounts)} in {files}" if amounts else files
    endings = join_names([f"{count:,} {ending}" for ending, count in description.unread], most=8)
    unread = f"{format_count(sum(count for _, count in description.unread), 'file')} not read: {endings}"
    described = f"columns without a role: {join_names(description.without_role, most=8)}"
    invented = "illustrative: values are drawn, and nothing is tested or inferred"
    said = (
        (read, description.read),
        (unread, description.unread),
        (described, description.without_role),
        (invented, description.illustrative),
    )
    return tuple(words for words, there in said if there)


def format_bytes(size: int) -> str:
    """Format a number of bytes: ``512 bytes``, ``14.7 kB``, ``1.2 GB``."""
    if size < 1000:  # noqa: PLR2004 - below a kilobyte
        return format_count(size, "byte")
    power = min(len(_UNITS), (len(str(size)) - 1) // 3)
    return f"{format_number(size / 1000**power, significant=3)} {_UNITS[power - 1]}"


def describe_odd_metric(metric: DescribedMetric, nan: str = "NaN") -> str:
    """Describe what is irregular about a metric, or return ""; ``nan`` says what a NaN in it is."""
    return _join_counts(
        (metric.holes, "step missing", "steps missing"),
        (metric.repeated, "step repeated", "steps repeated"),
        (metric.missing, "empty", "empty"),
        (metric.nan, nan, nan),
        (metric.infinite, "infinite", "infinite"),
        (metric.without_step, "without a step", "without a step"),
    )


def _join_counts(*counts: tuple[float, str, str]) -> str:
    return ", ".join(format_count(*count) for count in counts if count[0])


def format_range(
    first: float | None, last: float | None, description: Description, every: float | None = None
) -> str:
    """Format the steps from first to last, and their distance if it is constant."""
    if first is None or last is None:
        return NOTHING
    texts = []
    for step in (first, last):
        text = format_value(step)
        if description.step_is_time and _YEARS[0] <= step <= _YEARS[1]:
            moment = datetime.fromtimestamp(step / 1000, UTC)
            text = moment.strftime("%Y-%m-%d" if step % _MIDNIGHT == 0 else "%Y-%m-%d %H:%M")
        texts.append(text)
    begin, end = texts
    words = begin if begin == end else f"{begin} to {end}"
    is_spaced = every and not description.step_is_time and every != 1
    return f"{words}, every {format_value(every)}" if is_spaced else words


def format_logged(begins: float | None, ends: float | None) -> str:
    """Format when something was logged, and for how long: ``2026-01-01 12:00, 3 h 20 min``."""
    if begins is None or ends is None or not _YEARS[0] <= begins <= ends <= _YEARS[1]:
        return NOTHING
    moment = datetime.fromtimestamp(begins / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    return f"{moment}, {format_duration((ends - begins) / 1000)}" if ends > begins else moment


def format_duration(seconds: float) -> str:
    """Format a duration in its two largest units: ``12 s``, ``3 min 20 s``, ``2 d 4 h``; ``< 1 s``."""
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
    """Format a number, without decimals if it is whole, or a dash if it is None."""
    if value is None or not math.isfinite(value):
        return NOTHING
    is_whole = value == round(value) and abs(value) < 1e12  # noqa: PLR2004
    return format_number(value, decimals=0) if is_whole else format_number(value)


_MOST_ROWS: Final = 20
# A column of a table: its title, its texts, and whether it is shown.
_Column = tuple[str, list[str], bool]


class Section(Struct, frozen=True):
    """A part of a description: a table with title and note; ``more`` says what was cut, if anything."""

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str = ""


def make_sections(description: Description) -> tuple[Section, ...]:
    """Return the tables of a description, without empty ones."""
    counts = description.counts
    sections: list[Section | None] = [_list_sources(description)] if description.sources else []
    if counts.runs:
        sections += [_list_runs(description), _list_settings(description)]
    if counts.metrics and counts.runs:
        sections.append(_list_metrics(description))
    if counts.evaluations:
        sections.append(_list_evaluations(description))
    if counts.totals:
        sections.append(_list_totals(description))
    return tuple(filter(None, sections))


def _list_sources(description: Description) -> Section:
    sources = description.sources
    columns = [
        ("source", [one.name for one in sources], True),
        ("what it is", [one.title or "cannot be read" for one in sources], True),
        ("series", [str(one.series) if one.title else NOTHING for one in sources], True),
        ("metrics", [str(one.metrics) if one.metrics else NOTHING for one in sources], True),
        ("benchmarks", [str(one.benchmarks) if one.benchmarks else NOTHING for one in sources], True),
        ("files", [f"{one.files:,}" if one.title else NOTHING for one in sources], True),
        ("size", [format_bytes(one.size) if one.title else NOTHING for one in sources], True),
    ]
    section = _make_section("Sources", "", columns, "source")
    rows = tuple(zip(*(texts for _, texts, _ in columns), strict=True))
    return replace(section, rows=rows, more="")


def _list_runs(description: Description) -> Section:
    runs, folder = description.counts.runs, description.path
    paths = [one.path.removeprefix(f"{folder}/") if one.path != folder else "." for one in runs]
    steps = [format_range(one.first, one.last, description) for one in runs]
    logged = [format_logged(one.begins, one.ends) for one in runs]
    columns = [
        *_list_names(runs, named=any(one.run not in {one.series, one.seed, ""} for one in runs)),
        ("metrics", [f"{one.metrics:,}" for one in runs], True),
        ("values", [f"{one.values:,}" for one in runs], True),
        (description.step_name or "step", steps, not description.is_finished),
        ("logged (UTC)", logged, any(one.begins is not None for one in runs)),
        ("where", paths, len(set(paths)) > 1),
    ]
    return _make_section("Runs", _describe_names(description), columns, "run")


def _list_settings(description: Description) -> Section | None:
    """List settings that differ between runs and may name series; all settings of runs without values."""
    runs = [one for one in description.counts.runs if one.values or not description.kind]
    keys = dict.fromkeys(key for one in runs for key in one.config)
    values = {key: [one.config.get(key) for one in runs] for key in keys}
    note = "of the runs"
    if description.kind:
        takes = "x:, by: and filter: take" if description.is_finished else "series_from: takes"
        note = f"that differ between the runs; {takes} any of them"
        seeds = [str(one.seed) for one in runs]
        texts = {key: [str(value) for value in column] for key, column in values.items()}
        values = {key: values[key] for key, own in texts.items() if len(set(own)) > 1 and own != seeds}
    if not values:
        return None
    rows = [[NOTHING if value is None else str(value) for value in column] for column in values.values()]
    shortened = [join_names(list(dict.fromkeys(texts)), most=4) for texts in rows]
    columns = [("setting", list(values), True), ("values", shortened, True)]
    return _make_section("Settings", note, columns, "setting")


def _list_metrics(description: Description) -> Section:
    metrics = description.counts.metrics
    nan = "empty or NaN" if description.is_finished else "NaN"
    irregular = [describe_odd_metric(one, nan) for one in metrics]
    steps = [format_range(one.first, one.last, description, one.every) for one in metrics]
    columns = [
        ("metric", [one.name for one in metrics], True),
        ("runs", [f"{one.runs:,}" for one in metrics], len(description.counts.runs) > 1),
        ("values", [f"{one.values:,}" for one in metrics], True),
        (description.step_name or "step", steps, not description.is_finished),
        ("lowest", [format_value(one.low) for one in metrics], True),
        ("highest", [format_value(one.high) for one in metrics], True),
        ("irregular", irregular, any(irregular)),
    ]
    section = _make_section("Metrics", "", columns, "metric")
    hidden = sum(1 for words in irregular[_MOST_ROWS:] if words)
    if section.more and hidden:
        more = f"{section.more} {format_count(hidden, 'of these is', 'of these are')} irregular."
        return replace(section, more=more)
    return section


def _list_evaluations(description: Description) -> Section:
    evaluations = description.counts.evaluations
    runs = {(one.series, one.benchmark, one.run) for one in evaluations}
    several = len(runs) > len({run[:2] for run in runs})
    answers, irregular = [], []
    for one in evaluations:
        answers.append(f"{one.fewest:,}" if one.fewest == one.most else f"{one.fewest:,} to {one.most:,}")
        missing = (one.missing, "without a score", "without a score")
        irregular.append(_join_counts(missing, (one.repeated, "repeated", "repeated")))
    columns = [
        *_list_names(evaluations, named=several, seeded=several),
        _list_benchmarks(evaluations),
        ("problems", [f"{one.problems:,}" for one in evaluations], True),
        ("answers to each", answers, True),
        ("mean score", [format_value(one.mean) for one in evaluations], True),
        ("irregular", irregular, any(irregular)),
    ]
    return _make_section("Evaluations", _describe_names(description), columns, "evaluation")


def _list_totals(description: Description) -> Section:
    every = description.counts.totals
    several = len({(one.series, one.benchmark, one.metric) for one in every}) < len(every)
    # Leaderboards have many thousands.
    totals = every[:_MOST_ROWS]
    errors = [format_value(one.stderr) for one in totals]
    problems = [NOTHING if one.n is None else f"{one.n:,}" for one in totals]
    columns = [
        *_list_names(totals, named=several, seeded=several),
        _list_benchmarks(totals),
        ("metric", [one.metric for one in totals], True),
        ("score", [format_value(one.value) for one in totals], True),
        ("standard error", errors, any(one.stderr is not None for one in every)),
        ("problems", problems, any(one.n is not None for one in every)),
    ]
    note = "as the harness reports them"
    if description.kind == "totals":
        note = f"as they are reported, {_describe_names(description)}"
    return _make_section("Totals", note, columns, "total", len(every))


def _list_names(
    rows: Sequence[DescribedRun | DescribedEvaluation | DescribedTotal], *, named: bool, seeded: bool = True
) -> tuple[_Column, ...]:
    """List the columns series, run and seed; the last two are shown if they distinguish rows."""
    return (
        ("series", [one.series for one in rows], True),
        ("run", [one.run or NOTHING for one in rows], named),
        ("seed", [one.seed or NOTHING for one in rows], seeded and any(one.seed is not None for one in rows)),
    )


def _list_benchmarks(rows: Sequence[DescribedEvaluation | DescribedTotal]) -> _Column:
    return "benchmark", [one.benchmark or NOTHING for one in rows], any(one.benchmark for one in rows)


def _describe_names(description: Description) -> str:
    series = f"series by {description.series_by}" if description.series_by else ""
    seeds = f"seeds by {description.seed_by}" if description.seed_by else "seeds not known"
    return f"{series}, {seeds}" if series else seeds


def _make_section(
    title: str, note: str, columns: Sequence[_Column], noun: str, count: int | None = None
) -> Section:
    """Make a table of the columns that are shown, cut after a maximum of rows; ``count`` is that of all."""
    shown = [(header, texts) for header, texts, is_shown in columns if is_shown]
    rows = tuple(zip(*(texts for _, texts in shown), strict=True))
    left = (len(rows) if count is None else count) - _MOST_ROWS
    more = f"{format_count(left, f'more {noun}')}; --format json lists all." if left > 0 else ""
    return Section(title, note, tuple(header for header, _ in shown), rows[:_MOST_ROWS], more)


def make_settings_finite(runs: tuple[DescribedRun, ...]) -> tuple[DescribedRun, ...]:
    """Return runs whose settings JSON can hold: NaN and infinity become text."""

    def write(run: DescribedRun) -> DescribedRun:
        endless = {
            key: str(one)
            for key, one in run.config.items()
            if isinstance(one, float) and not math.isfinite(one)
        }
        return replace(run, config={**run.config, **endless})

    return tuple(map(write, runs))


_PROJECT = "mkdocs.yml"


class DataPath(Struct, frozen=True):
    """A path without ``..``, the report around it, and its cache: without one, that of the path's folder."""

    path: Path
    # the folder of the report, otherwise the working folder or, for a path not below it, the parent folder
    root: Path
    # its name in blocks, if it is below the data folder of the report; otherwise empty
    name: str
    # relative to the root; empty without a report
    data_dir: str
    cache: Cache
    hashes: FileHashes
    # the boundary for links in the path; None if they may lead anywhere
    boundary: Boundary | None = None


def locate_data(path: Path) -> DataPath:
    """Locate a path and its report; raise a ReportError if there is no such file or folder."""
    typed, path = path, path.absolute()
    path = Path(*(part for part in path.parts if part != ".")) if ".." not in path.parts else path.resolve()
    try:
        path.stat()
    except OSError as error:
        message = "there is no such file or folder"
        if isinstance(error, PermissionError):
            message = "it may not be looked at: Permission denied"
        raise make_error(str(typed), message, "Check the path", Stage.DATA) from None
    for folder in (path, *path.parents) if path.is_dir() else path.parents:
        if os.path.isfile(folder / _PROJECT):  # noqa: PTH113 - pathlib raises where nobody may look
            break
    else:
        root = Path.cwd() if path.is_relative_to(Path.cwd()) and path != Path.cwd() else path.parent
        cache = cache_folder(path if path.is_dir() else path.parent)
        return DataPath(path, root, "", "", Cache(cache), FileHashes(cache))
    data_dir, follows_links = read_data_settings(folder / _PROJECT, _PROJECT)
    data = folder / data_dir
    is_source = path != data and path.is_relative_to(data) and path.is_dir()
    name = path.relative_to(data).as_posix() if is_source else ""
    cache = cache_folder(folder)
    # The path itself may be a link: the user wants its target.
    boundary = None if follows_links else find_data_boundary(folder, data_dir).add(path)
    return DataPath(path, folder, name, data_dir, Cache(cache), FileHashes(cache), boundary)


def describe_located(place: DataPath, name: str, hashes: Callable[[Path], str]) -> Description:
    """Describe a located path as ``describe_path`` does, with settings near it that are read for nothing."""
    description = describe_path(place.path, place.root, name, hashes, place.cache, boundary=place.boundary)
    data = place.root / place.data_dir
    if not place.data_dir or place.path.parent != data:
        return description
    problem = check_settings_names(data, place.data_dir, description.name)
    return replace(description, problems=(problem, *description.problems)) if problem else description
