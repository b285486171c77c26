"""Descriptions of files and folders, suggested settings and blocks for them, and frozen sources."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from fnmatch import fnmatchcase
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.cache import Cache, list_entries, stamp_tree
from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.statements import Description
from reportgen.core.terminal import clean_text
from reportgen.core.words import format_count, quote_names
from reportgen.draft.opening import DataEntries, check_settings_names
from reportgen.settings.loading import load_source_settings
from reportgen.settings.yaml_tree import write_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from reportgen.core.repository import Boundary
    from reportgen.core.statements import (
        Counts,
        DescribedEvaluation,
        DescribedMetric,
        DescribedRun,
        DescribedTotal,
    )
    from reportgen.read.freeze import FrozenTable
    from reportgen.settings.inputs import Source


# Words of the metrics that a report is most likely about: scores, then losses, best on held-out data.
_SCORE: Final = re.compile(
    "acc|accuracy|accuracies|pass@.*|exact|f1|scores?|rewards?|rew|returns?|success", re.IGNORECASE
)
_LOSS: Final = re.compile("loss|nll|perplexity|ppl", re.IGNORECASE)
_HELD_OUT: Final = re.compile("val|valid|validation|eval|test|dev", re.IGNORECASE)
# Words of metrics that a report is seldom about: the machine, times and extremes.
_ASIDE: Final = re.compile(
    "system|perf|time|timing|runtime|memory|gpu|grad|lr|learning|std|stderr|min|max|n|epoch|_?step",
    re.IGNORECASE,
)
# Message of the W&B reader about ``define_metric``.
_DRAWN: Final = re.compile(r'^the run draws (?P<names>".+") over ".*"x: (?P<axis>[^"]+)" in a block')
_QUOTED: Final = re.compile('"([^"]+)"')
_WORDS: Final = re.compile(r"[^A-Za-z0-9@]+")
# Words of metrics as a title writes them.
_TITLE_WORDS: Final = {
    "acc": "accuracy",
    "dev": "development",
    "eval": "evaluation",
    "lr": "learning rate",
    "nll": "negative log-likelihood",
    "ppl": "perplexity",
    "rew": "reward",
    "train": "training",
    "val": "validation",
}
_PLAIN_METRIC: Final = re.compile(r"[A-Za-z0-9@]+([_/.-][A-Za-z0-9@]+)*")
# Settings that runs are compared by, the likeliest first.
_COMPARED: Final = (
    *("algo|algorithm|method|trainer", "model|model_name|arch|architecture", "optimizer|optimiser|optim"),
    *("lr|learning_rate", "batch_size|loss|loss_fn", "width|depth|hidden_size|layers|n_layers|dim"),
)
# More lines than a reader tells apart, and as many groups as one does.
_MANY_SERIES, _MOST_GROUPS = 8, 6


def describe_path(
    path: Path,
    root: Path,
    name: str,
    hashes: Callable[[Path], str],
    cache: Cache | None,
    *,
    boundary: Boundary | None = None,
) -> Description:
    """Describe an existing file or folder, with errors in it among the problems of the description.

    Paths in the description are relative to ``root``. ``name`` is its name in blocks, or empty for the file
    name. ``hashes`` returns a file's SHA-256 in hex, ``cache`` has earlier results, and links in the data may
    lead into ``boundary``, or anywhere if None. A folder in which nothing changed is not read again.
    """
    stamp = stamp_tree(str(path)) if cache and path.is_dir() else ""
    key = Cache.make_key("described folder", stamp, str(path), str(root), name)
    if cache and stamp and (stored := cache.load(key, Description)):
        return stored
    from reportgen.read.describe import DescribeContext, describe  # noqa: PLC0415 - imports the database

    found = describe(path, root, name, DescribeContext(load_source_settings, hashes, cache, boundary))
    if cache and stamp and stamp_tree(str(path)) == stamp:
        cache.store(key, found)
    return found


def count_rows(root: Path, files: Mapping[str, str], cache: Cache) -> dict[str, int]:
    """Count the rows of each table among files, which are given by path with their SHA-256."""

    def count(path: str) -> list[int]:
        from reportgen.read.counts import count_rows  # noqa: PLC0415 - imports the database

        rows = count_rows(root / path, path)
        return [] if rows is None else [rows]

    counts = {
        path: cache.memo(cache.make_key("rows", PurePath(path).name, sha256), list[int], partial(count, path))
        for path, sha256 in files.items()
    }
    return {path: rows[0] for path, rows in counts.items() if rows}


def describe_data_folder(
    root: Path, data_dir: str, hashes: Callable[[Path], str], cache: Cache | None, boundary: Boundary | None
) -> Description:
    """Describe the data folder of a report, which contains sources but is not one itself.

    ``data_dir`` is relative to ``root``; the others are as in ``describe_path``. Raises ``ReportError`` if
    two sources have the same name.
    """
    from reportgen.read import find_sources  # noqa: PLC0415 - imports the database
    from reportgen.read.describe import DescribeContext, list_sources  # noqa: PLC0415 - as above
    from reportgen.read.find import SETTINGS, locate, report_links  # noqa: PLC0415 - as above

    outward: dict[Path, str] = {}
    found = find_sources(root, data_dir, boundary, outward)
    data = root / data_dir
    # Subfolders without settings can be named too, but are parts of a source. Settings of one that a link
    # leads to are next to the link.
    own = ((name, (data / name / SETTINGS, data / f"{name}.{SETTINGS}")) for name in found)
    names = [name for name, files in own if "/" not in name or any(file.is_file() for file in files)]
    entries = list_entries(data)
    paths = [(locate(root, data_dir, name, boundary, entries).path, name) for name in names]
    sources = list_sources(paths, root, DescribeContext(load_source_settings, hashes, cache, boundary))
    # A folder of nothing but other sources is none.
    around = {parent.as_posix() for name in names for parent in PurePath(name).parents}
    sources = tuple(one for one in sources if not (one.problem and one.name in around))
    message = f"it holds {format_count(len(sources), 'source')}" if sources else "it holds no source yet"
    readable = next((one.path for one in sources if not one.problem), "")
    which = "it" if len(sources) == 1 else "one of them"
    advice = f"Describe {which}, as in reportgen describe {readable}" if readable else ""
    problem = Diagnostic(SourceLocation(data_dir), message, advice, Stage.DATA, Severity.WARNING)
    unread = [
        Diagnostic(SourceLocation(one.path), one.problem, "", Stage.DATA, Severity.WARNING)
        for one in sources
        if one.problem
    ]
    links = report_links(outward, root, Severity.WARNING)
    near = DataEntries(data)
    shared = [check_settings_names(data, data_dir, one.name, near) for one in sources]
    useless = [replace(one, severity=Severity.WARNING) for one in shared if one][:1]
    problems = (problem, *useless, *unread, *links)
    return Description(data_dir, PurePath(data_dir).name, sources=sources, problems=problems)


def suggest_settings(description: Description) -> dict[str, str]:
    """Suggest contents of a ``source.yml``, each empty if there is nothing to suggest.

    ``settled`` has what is known; ``repetitions`` also merges series that differ only in a number into runs
    of one series, ``clusters`` adds a column that may hold clusters, and ``roles`` states columns.
    """
    settled, repetitions, clusters = description.settings, description.repetitions, description.clusters
    roles = {} if {"columns", "format"} & {*description.stated} else description.roles
    form = {"form": "totals"} if description.kind == "totals" and "form" not in description.stated else {}
    rest = {key: value for key, value in settled.items() if key not in {"series_from", "seed_from"}}
    columns = settled.get("columns")
    columns = {**(columns if isinstance(columns, dict) else {}), **clusters}
    return {
        "settled": write_yaml(settled),
        "repetitions": write_yaml({**rest, **repetitions}) if repetitions else "",
        "clusters": write_yaml({**settled, "columns": columns}) if clusters else "",
        "roles": write_yaml({**form, "columns": roles}) if roles and not settled else "",
    }


def suggest_block(description: Description, *, name: str = "", figure: str = "") -> str:
    """Suggest a fenced block that shows the source, or an empty string if there is nothing to show.

    One value of each run is a sweep or a table. Several benchmarks have a second block with all of them, and
    evaluations of checkpoints one before it with their scores over the step. ``name`` is that of the source
    if it will be another, and ``figure`` an id for the block of runs or scores.
    """
    kind, body = "curve", {**({"id": figure} if figure else {}), "source": name or description.name}
    if description.kind in {"outcomes", "totals"}:
        kind = "scores"
        if len(description.benchmarks) > 1:
            body["benchmark"] = description.benchmarks[0]
    elif (metric := choose_metric(description.counts)) and (description.is_finished or _is_read_once(metric)):
        body["metric"] = metric.name
        group = suggest_group(description)
        kind = "sweep" if group else "table" if description.has_repetitions else "runs-table"
        kind = "ladder" if description.is_search else kind
        body |= {"x": group} if group else {}
        body |= {"by": "series"} if group and _is_swept_by_each(description, group) else {}
        body["title"] = f"{_write_title(metric.name)}{f' by {group}' if group else ''}"
    elif metric:
        metrics = description.counts.metrics
        body["metric"] = metric.name
        # The x axis defined by the runs themselves, if every run with the metric also has that axis.
        found = (_DRAWN.search(problem.message) for problem in description.problems)
        axes = {
            one["axis"]
            for one in found
            if one and any(fnmatchcase(metric.name, name) for name in _QUOTED.findall(one["names"]))
        }
        axis = axes.pop() if len(axes) == 1 else ""
        if axis == "time" or any(one.name == axis and one.runs >= metric.runs for one in metrics):
            body["x"] = axis
        if group := suggest_group(description):
            body["by"] = group
        if description.other_axes or "x" in body:
            body["other_x"] = "auto"
        body["title"] = _write_title(metric.name)
    else:
        return ""
    first, more = "", ""
    if metric_of_checkpoints := description.checkpoints:
        first = f"```curve\n{write_yaml({'source': body['source'], 'metric': metric_of_checkpoints})}```\n\n"
    elif "benchmark" in body:
        more = f"\n```comparison\n{write_yaml({'source': body['source']})}```\n"
    return f"{first}```{kind}\n{write_yaml(body)}```\n{more}"


def _is_read_once(metric: DescribedMetric) -> bool:
    return metric.values == metric.runs > 1


def suggest_group(description: Description) -> str:
    """Return the setting to group by where there are more single runs than a figure shows well.

    Every run has it, and every one of its few values has several runs; empty if there is none. Of runs with
    a single reading, however many they are, it is the setting to compare them by.
    """
    runs = [] if description.is_search else [run for run in description.counts.runs if run.finite]
    metric = choose_metric(description.counts)
    fewest = 1 if metric and _is_read_once(metric) else 2
    if not runs or (fewest > 1 and not _MANY_SERIES < len(runs) == len({run.series for run in runs})):
        return ""
    # Runs without the metric may be all that differ.
    drawn = metric.runs - (metric.infinite + metric.nan if fewest == 1 else 0) if metric else len(runs)
    keys = [key for key in runs[0].config if all(key in run.config for run in runs)]
    for names in _COMPARED:
        for key in keys:
            values = Counter(str(run.config[key]) for run in runs)
            is_called = re.fullmatch(names, re.split("[./]", key)[-1], re.IGNORECASE)
            few = fewest == 1 or len(values) <= _MOST_GROUPS
            varies = max(values.values()) < drawn
            if is_called and len(values) > 1 and varies and few and min(values.values()) >= fewest:
                return key
    return ""


def _write_title(metric: str) -> str:
    """Return a metric in words: ``Validation accuracy`` for ``val_acc``; others as they are."""
    words = metric
    if _PLAIN_METRIC.fullmatch(metric):
        words = " ".join(_TITLE_WORDS.get(word.lower(), word) for word in re.split("[_/.-]", metric))
    return words[:1].upper() + words[1:]


def _is_swept_by_each(description: Description, setting: str) -> bool:
    """Return whether there are several series, each with several values of a setting, such as two studies."""
    values: dict[str, set[str]] = defaultdict(set)
    for run in description.counts.runs:
        if run.finite:
            values[run.series].add(str(run.config[setting]))
    return len(values) > 1 and all(len(found) > 1 for found in values.values())


def _is_search(runs: tuple[DescribedRun, ...]) -> bool:
    """Return whether runs of one series differ in their settings, as the trials of a study do."""
    settings = [(run.series, *sorted((key, str(value)) for key, value in run.config.items())) for run in runs]
    is_single = len(set(settings)) == len(runs) and all(run.config and run.seed is None for run in runs)
    return is_single and len({run.series for run in runs}) < len(runs)


def choose_metric(counts: Counts) -> DescribedMetric | None:
    """Choose the metric that a report is most likely about, or None if none can be drawn."""
    drawn = [metric for metric in counts.metrics if metric.low is not None and metric.first is not None]
    # A metric measured once at the end of each run has no curve, and a mean over a search means nothing.
    curves = [one for one in drawn if one.values > one.runs and one.first != one.last] or drawn
    if _is_search(counts.runs):
        curves = list(filter(_is_read_once, drawn)) or curves

    def rank(metric: DescribedMetric) -> tuple[bool, bool, bool, bool]:
        """Return a sort key that puts the most likely metric first."""
        words = _WORDS.split(metric.name)
        aside, score, loss, held_out = (
            any(pattern.fullmatch(word) for word in words) for pattern in (_ASIDE, _SCORE, _LOSS, _HELD_OUT)
        )
        return aside, not score, not loss, not held_out

    return min(curves, key=rank, default=None)


def list_contents(root: Path, source: Source) -> tuple[str, ...]:
    """List a line for every run and metric of a source, or every evaluation, in the order of the data.

    Numbers have six digits, since file hashes already detect any change. Raises ``ReportError`` with all
    errors in the files.
    """
    from reportgen.read.counts import (  # noqa: PLC0415
        count_answers,
        count_curves,
        list_totals,
    )

    lines = []
    for answered in count_answers(root, source) if source.kind == "outcomes" else ():
        mean = "no score" if answered.mean is None else f"mean {_format_number(answered.mean)}"
        amounts = f"{format_count(answered.problems, 'problem')}, {format_count(answered.answers, 'answer')}"
        odd = {"without a score": answered.missing, "repeated": answered.repeated}
        lines.append(f"{_name_run(answered)}: {amounts}, {mean}{_list_odd(odd)}")
    for total in list_totals(root, source) if source.kind == "totals" else ():
        score = "no score" if total.value is None else _format_number(total.value)
        error = (
            "no standard error" if total.stderr is None else f"standard error {_format_number(total.stderr)}"
        )
        problems = f", {format_count(total.n, 'problem')}" if total.n is not None else ""
        lines.append(f"{_name_run(total)}: {total.metric} {score}, {error}{problems}")
    runs, metrics = count_curves(root, source) if source.kind == "measurements" else ((), ())
    for run in runs:
        amounts = f"{format_count(run.metrics, 'metric')}, {format_count(run.values, 'value')}"
        lines.append(f"{_name_run(run)}: {amounts}, {_format_steps(run.first, run.last)}")
    for one in metrics:
        ends = f" from {_format_number(one.low)} to {_format_number(one.high)}" if one.low is not None else ""
        amounts = f"{format_count(one.runs, 'run')}, {format_count(one.values, 'value')}{ends}"
        odd = {"repeated": one.repeated, "empty": one.missing, "NaN": one.nan, "infinite": one.infinite}
        odd["without a step"] = one.without_step
        steps = _format_steps(one.first, one.last)
        lines.append(f"metric {one.name}: {amounts}, {steps}{_list_odd(odd)}")
    return tuple(lines)


def _list_odd(counts: dict[str, int]) -> str:
    return "".join(f", {count:,} {what}" for what, count in counts.items() if count)


def _name_run(one: DescribedRun | DescribedEvaluation | DescribedTotal) -> str:
    """Format the series with its run and seed, and the benchmark of an evaluation."""
    seed = f", seed {one.seed}" if one.seed is not None else ""
    inside = f"{f'run {one.run}' if one.run else ''}{seed}".removeprefix(", ")
    benchmark = getattr(one, "benchmark", "")
    return f"{one.series}{f' ({inside})' if inside else ''}{f' on {benchmark}' if benchmark else ''}"


def _format_steps(first: float | None, last: float | None) -> str:
    if first is None or last is None:
        return "no steps"
    start = _format_number(first)
    return f"step {start}" if first == last else f"steps {start} to {_format_number(last)}"


def _format_number(value: float | None) -> str:
    """Format a number with six digits, or all digits of an integer such as a step or a time."""
    if value is None:
        return "unknown"
    whole = math.isfinite(value) and value == round(value) and abs(value) < 1e15  # noqa: PLR2004 - exact
    return str(round(value)) if whole else f"{value:.6g}"


class FrozenSource(Struct, frozen=True):
    """A source that is ready to be written."""

    root: Path  # base of its relative paths
    source: Source
    table: FrozenTable
    settings: str  # the text of its ``source.yml``
    files: Mapping[str, str]  # those that it is written from, and the SHA-256 of each

    def write(self, path: Path) -> None:
        """Write the table as Parquet; raise ``ReportError`` with all errors in the files."""
        from reportgen.read.freeze import write_table  # noqa: PLC0415 - imports the database

        write_table(self.root, self.source, self.table, path)


def describe_frozen_table(folder: Path) -> tuple[str, ...]:
    """Return lines on a table that was reduced on its engine; none if a folder holds no such table.

    Raises ``ReportError`` if it is not the one that was frozen.
    """
    from reportgen.read.freeze import check_intact, read_origin  # noqa: PLC0415 - imports the database

    origin = read_origin(folder)
    if origin is None:
        return ()
    check_intact(folder, origin)
    rows = sum(part.rows for part in origin.parts.values())
    of_table = f" of {origin.table}" if origin.table else ""
    before = f"from {format_count(origin.rows, 'row')}{of_table} by {origin.engine}"
    return (
        f"{origin.file} is as it was frozen: {format_count(rows, 'row')} {before}",
        f"Schema {origin.schema_sha256[:12]}: {quote_names([*origin.types])}",
        "Its engine knows whether the table moved on: reportgen.freeze(frame, to=…, check=True) in Python",
    )


def find_source_path(name: str, root: Path, data_dir: str, boundary: Boundary | None) -> Path:
    """Return the file or folder of a source that blocks name."""
    from reportgen.read.find import locate  # noqa: PLC0415 - imports the database

    return locate(root, data_dir, name, boundary, list_entries(root / data_dir)).path


def freeze_source(
    path: Path,
    root: Path,
    tool: str,
    hashes: Callable[[Path], str],
    cache: Cache | None,
    *,
    boundary: Boundary | None = None,
) -> FrozenSource:
    """Prepare a source for freezing, recording its irregularities and contents.

    ``tool`` is the program that writes it, with its version; the others are as in ``describe_path``. Raises
    ``ReportError`` with all errors in the source.
    """
    from reportgen.draft.blocks.draw_inputs import list_notes  # noqa: PLC0415 - imports what draws
    from reportgen.read.find import make_location  # noqa: PLC0415 - imports the database
    from reportgen.read.freeze import freeze_table  # noqa: PLC0415 - as above
    from reportgen.read.sources import open_location  # noqa: PLC0415 - as above

    source = open_location(make_location(path, "", root, boundary), load_source_settings, hashes, cache)
    table = freeze_table(root, source)

    def shorten(file: str) -> str:
        """Return a file's path relative to the source's parent, without the folders of this machine."""
        whole, parent = root / file, path.parent
        return whole.relative_to(parent).as_posix() if whole.is_relative_to(parent) else PurePath(file).name

    said = source.settings.provenance
    # A source that is already frozen names its original files.
    files = said.files or {shorten(file.path): file.sha256 for file in source.files}
    notes = {"found": list_notes(source), "contents": list_contents(root, source)}
    provenance = {**said.model_dump(exclude_none=True), "tool": tool, "files": files}
    # Names in data may hold control characters, which no settings may.
    provenance |= {key: [*map(clean_text, lines)] for key, lines in notes.items() if lines}
    settings = write_yaml({**table.settings, "provenance": provenance})
    return FrozenSource(root, source, table, settings, files)
