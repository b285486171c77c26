"""What any file or folder holds: its format, runs, metrics or answers, and what is odd about them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.errors import Diagnostic, Diagnostics, Severity, Stage
from reportgen.core.statements import (
    Counts,
    DescribedEvaluation,
    DescribedMetric,
    DescribedRun,
    DescribedTotal,
    Description,
)
from reportgen.core.words import join_names
from reportgen.formats.messages import list_names
from reportgen.formats.registry import get_title
from reportgen.read.choose import choose_files
from reportgen.read.describe.counts import (
    add_imported,
    count_answers,
    count_curves,
    find_empty_runs,
    likely_clusters,
    list_totals,
)
from reportgen.read.describe.suggestions import find_likely_steps, suggest_for_table, suggest_repetitions
from reportgen.read.find import SETTINGS, locate_file, make_location
from reportgen.read.measurements import read_measurements
from reportgen.read.outcomes import read_outcomes
from reportgen.read.runs.file_names import is_named_by_files, suggest_files
from reportgen.read.runs.stored import dump_json
from reportgen.read.sources import load_source_settings, open_files
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.survey import complete_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from reportgen.core.cache import Cache
    from reportgen.core.repository import Boundary
    from reportgen.read.choose import ChosenFiles
    from reportgen.read.find import Location
    from reportgen.read.runs.ingest import ImportedSource
    from reportgen.read.tables.layout import Layout
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


_TITLES: Final = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON Lines",
    "json": "JSON",
    "parquet": "Parquet",
    "wandb-csv": "a chart that W&B exported as CSV",
}
_ENDINGS: Final = {".jsonl": "JSON Lines", ".ndjson": "JSON Lines"}


def make_mapped_title(paths: Iterable[str]) -> str:
    """What settings map to a table: ``JSON mapped by source.yml``."""
    endings = (_ENDINGS.get(PurePosixPath(path).suffix.lower(), "JSON") for path in paths)
    return f"{' and '.join(dict.fromkeys(endings))} mapped by source.yml"


def make_table_title(layout: Layout) -> str:
    """The formats of a source's files: ``CSV``, ``CSV (gzip)``, ``CSV and Parquet``."""
    titles = (
        f"{_TITLES.get(file.format, file.format)}{f' ({file.compression})' if file.compression else ''}"
        for file in layout.files
    )
    return join_names(list(dict.fromkeys(titles)))


def describe_shape(layout: Layout) -> str:
    """What a row is."""
    if layout.outcomes:
        return "a row for each answer"
    if layout.totals:
        return "a row for each score of a benchmark"
    if layout.spread:
        return "a column for each run"
    return "a row for each value" if layout.long else "a column for each metric"


def explain_names(layout: Layout, settings: SourceSettings) -> tuple[str, str]:
    """Where a table says series and seeds, as words after "by"; empty where it does not."""
    if layout.spread:
        return "the columns", "the columns" if any(one.seed for one in layout.spread.values()) else ""
    roles = layout.roles
    groups = {name for file in layout.files for name, _ in file.given}
    by_files = "the names of files" if is_named_by_files(layout, settings) else "the pattern of files:"
    series, seed = (
        by_files if name in groups else f'the column "{name}"' if name else ""
        for name in (roles.series, roles.seed)
    )
    if not series and len(layout.files) > 1:
        series = "the names of files"
    return series, seed


# What only the rows and the loggers tell; the rest is at hand once a source is open.
_SUGGESTED: Final = ("settings", "repetitions", "clusters")
_STORED_FIELDS: Final = ("series", "format", "title", "shape", "series_by", "seed_by", *_SUGGESTED)


def store_description(cache: Cache, source: Source, description: Description) -> None:
    """Store what was counted of a source."""
    parts = {name: getattr(description, name) for name in (*_STORED_FIELDS, "counts")}
    cache.put(cache.make_key("described source", source.digest), dump_json(parts))


def load_description(cache: Cache, source: Source, description: Description) -> Description | None:
    """A description with what ``store_description`` wrote; None where there is nothing."""
    data = cache.get(cache.make_key("described source", source.digest))
    if data is None:
        return None
    parts = json.loads(data)
    kinds = {
        "runs": DescribedRun,
        "metrics": DescribedMetric,
        "evaluations": DescribedEvaluation,
        "totals": DescribedTotal,
    }
    counts: dict[str, Any] = {
        name: tuple(kind(**one) for one in parts["counts"][name]) for name, kind in kinds.items()
    }
    stored = {**{name: parts[name] for name in _STORED_FIELDS}, "series": tuple(parts["series"])}
    return replace(description, **stored, counts=Counts(**counts))


_NO_ENDING: Final = "without an ending"


@dataclass(frozen=True, slots=True)
class DescribeContext:
    """What a source is described with.

    Attributes:
        load_settings: reads a ``source.yml``, given its path and its name for messages.
        hashes: SHA-256 of a file in hex, remembered from one call to the next.
        cache: what was counted before; None to count everything again.
        boundary: where links may lead; anywhere if None.
    """

    load_settings: Callable[[Path, str], SourceSettings]
    hashes: Callable[[Path], str]
    cache: Cache | None
    boundary: Boundary | None = None


def describe(path: Path, root: Path, name: str, context: DescribeContext) -> Description:
    """Describe a file or folder; what is wrong with it is among its problems.

    Args:
        path: the file or folder, which is there.
        root: what its paths are relative to.
        name: what blocks call it; empty for the name of the file or folder.
        context: what it is read with.
    """
    location = make_location(path, name, root, context.boundary)
    problems = Diagnostics()
    description = Description(
        locate_file(path, root).file,
        location.name,
        settings_file=locate_file(location.settings, root).file,
        has_settings=location.has_settings,
    )
    with problems.collecting():
        settings = load_source_settings(location, context.load_settings)
        request = _Request(location, settings, choose_files(location, settings), context)
        description = _add_unread(_describe_source(description, request, problems), request)
        if not description.kind:
            description, findings = _describe_empty(description, request)
            problems.found[:0] = findings
    if not description.kind:
        problems.add(_report_nested_sources(location))
    return replace(description, problems=tuple(problems.found))


@dataclass(frozen=True, slots=True)
class _Request:
    """A source that is described: where it is, its settings and files, and what it is looked at with."""

    location: Location
    settings: SourceSettings
    chosen: ChosenFiles
    context: DescribeContext


def _describe_source(description: Description, request: _Request, problems: Diagnostics) -> Description:
    """What can be read of a source; what cannot is among the problems."""
    context = request.context
    with problems.collecting():
        source, imported = open_files(
            request.location, request.settings, request.chosen, context.hashes, context.cache
        )
        problems.add(source.warnings)
        description = _add_layout(description, source, request.location.root)
        problems.add(_warn_uncertain_step(description, source))
        stated = request.settings.columns.model_dump(exclude_none=True)
        if (series := source.settings.columns.series) and "series" not in stated and not description.settings:
            description = replace(description, settings={"columns": {**stated, "series": series}})
        description = _add_counts(description, source, imported, request)
        # Refuse rows that repeat a step or a problem, as whoever draws them does.
        repeated = tuple(metric.name for metric in description.counts.metrics if metric.repeated)
        if repeated:
            read_measurements(request.location.root, source, repeated).check_repeats()
        if any(one.repeated for one in description.counts.evaluations):
            read_outcomes(request.location.root, source).check_repeats()
    return description


def _describe_empty(
    description: Description, request: _Request
) -> tuple[Description, tuple[Diagnostic, ...]]:
    """The runs of what cannot be read, if they hold no values, and what was found in them."""
    root = request.location.root
    with Diagnostics().collecting():
        empty = find_empty_runs(request.chosen, request.settings, root)
        if empty is not None:
            description = replace(
                description,
                format=empty.form,
                title=get_title(empty.form),
                read=tuple(locate_file(file, root).file for file in empty.files),
                size=sum(file.stat().st_size for file in empty.files),
                counts=Counts(runs=empty.runs),
            )
            return description, empty.findings
    return description, ()


def _add_layout(description: Description, source: Source, root: Path) -> Description:
    """What shows before any row is read, but for columns that may be the step."""
    layout = get_layout(source)
    measured = not (layout.outcomes or layout.totals or layout.spread)
    steps = find_likely_steps(root, source, layout) if measured and layout.roles.step is None else []
    series_by, seed_by = explain_names(layout, source.settings)
    step_role = layout.roles.step or ""
    step = layout.step_name or step_role
    return replace(
        description,
        kind=source.kind,
        format=layout.files[0].format,
        title=make_table_title(layout),
        shape=describe_shape(layout),
        read=tuple(file.path for file in source.files),
        size=sum(file.size for file in source.files),
        series=layout.series,
        benchmarks=source.benchmarks,
        series_by=series_by,
        seed_by=seed_by,
        step_name="step" if step == "_step" else step,
        step_is_time=step_role in layout.kinds and layout.kinds[step_role].name == "TIME",
        settings={
            **suggest_files(layout, source.settings, description.path),
            **suggest_for_table(layout, source.settings, source.location, steps),
        },
    )


def _warn_uncertain_step(description: Description, source: Source) -> Iterator[Diagnostic]:
    """A warning where a column is suggested for the step that only looks like one."""
    columns = description.settings.get("columns")
    if isinstance(columns, dict) and "step" in columns and not description.step_name:
        message = (
            f'no column is called as a step is; "{columns["step"]}" goes up within each run and may be it'
        )
        advice = "Write it into source.yml as below if so, otherwise name another column there"
        yield Diagnostic(source.location, message, advice, Stage.DATA, Severity.WARNING)


def _add_counts(
    description: Description, source: Source, imported: ImportedSource | None, request: _Request
) -> Description:
    """What the rows hold and the loggers say, as it was counted before or else now.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    settings, cache, root = request.settings, request.context.cache, request.location.root
    if cache and (stored := load_description(cache, source, description)):
        return stored
    layout = complete_layout(root, source) if get_layout(source).long else get_layout(source)
    source = replace(source, layout=layout, metrics=tuple(layout.metrics))
    counts = _count_rows(root, source)
    counted: tuple[DescribedRun | DescribedEvaluation | DescribedTotal, ...]
    counted = (*counts.runs, *counts.evaluations, *counts.totals)
    seen = tuple(dict.fromkeys(one.series for one in counted))
    description = replace(
        description,
        counts=counts,
        series=layout.series if layout.exhaustive else seen,
        # Where seeds stand says nothing if no run has one.
        seed_by=description.seed_by if any(one.seed is not None for one in counted) else "",
    )
    if settings.format == "mapped":
        description = replace(description, format="mapped", title=make_mapped_title(description.read))
    if imported:
        description = add_imported(description, imported, settings)
    repetitions = description.repetitions or suggest_repetitions(settings, description)
    description = replace(description, repetitions=repetitions)
    if source.kind == "outcomes" and (cluster := likely_clusters(root, source)):
        clusters = {**settings.columns.model_dump(exclude_none=True), "cluster": cluster}
        description = replace(description, clusters=clusters)
    if cache:
        store_description(cache, source, description)
    return description


def _count_rows(root: Path, source: Source) -> Counts:
    if source.kind == "outcomes":
        return Counts(evaluations=count_answers(root, source))
    if source.kind == "totals":
        return Counts(totals=list_totals(root, source))
    return Counts(*count_curves(root, source))


def _add_unread(description: Description, request: _Request) -> Description:
    """The same with the files that are not read."""
    read = set(description.read)
    unread = Counter(
        path.suffix.lower() or _NO_ENDING
        for path in request.chosen.paths
        if locate_file(path, request.location.root).file not in read
    )
    return replace(description, unread=tuple(sorted(unread.items(), key=lambda one: (-one[1], one[0]))))


def _report_nested_sources(location: Location) -> Iterator[Diagnostic]:
    """Sources of their own in a folder that holds no other data."""
    if not location.path.is_dir():
        return
    below = [path.parent.name for path in location.path.glob(f"*/{SETTINGS}")]
    below += [path.name.removesuffix(f".{SETTINGS}") for path in location.path.glob(f"*.{SETTINGS}")]
    if below:
        place = locate_file(location.path, location.root)
        message = f"the folder holds {len(below)} sources of their own: {list_names(sorted(below))}"
        yield Diagnostic(place, message, "Describe one of them", Stage.DATA, Severity.WARNING)
