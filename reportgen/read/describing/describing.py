"""What any file or folder holds: its format, runs, metrics or answers, and what is odd about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reportgen.description import Counts, Description
from reportgen.errors import Problem, Problems, Severity, Stage
from reportgen.read.answering import read_outcomes
from reportgen.read.choosing import choose_files
from reportgen.read.describing.described_answers import (
    count_answers,
    likely_clusters,
    list_totals,
)
from reportgen.read.describing.described_bare import find_empty_runs
from reportgen.read.describing.described_curves import count_curves
from reportgen.read.describing.described_imports import add_imported
from reportgen.read.describing.kept_descriptions import load_description, store_description
from reportgen.read.describing.likely_steps import find_likely_steps
from reportgen.read.describing.settling import suggest_for_table, suggest_repetitions
from reportgen.read.describing.table_names import (
    describe_shape,
    explain_names,
    make_mapped_title,
    make_table_title,
)
from reportgen.read.find import SETTINGS, locate_file, make_location, name_source
from reportgen.read.layout import get_layout
from reportgen.read.measuring import read_measurements
from reportgen.read.opening import load_source_settings, open_files
from reportgen.read.tabular.file_names import suggest_files
from reportgen.read.tabular.survey import complete_layout
from reportgen.read.units import get_title
from reportgen.read.wording import list_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reportgen.cache import Cache
    from reportgen.model import Source
    from reportgen.read.choosing import ChosenFiles
    from reportgen.read.find import Location
    from reportgen.read.runs.importing import ImportedSource
    from reportgen.repository import Boundary
    from reportgen.settings.source import SourceSettings

_NO_ENDING: Final = "without an ending"


@dataclass(frozen=True, slots=True)
class DescribeContext:
    """What a source is described with.

    Attributes:
        load_settings: reads a ``source.yml``, given its path and its name for messages.
        hashes: SHA-256 of a file in hex, remembered from one call to the next.
        cache: what was counted before; None where nothing is kept.
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
        root: what its paths are told relative to.
        name: what blocks call it; empty for the name of the file or folder.
        context: what it is read with.
    """
    called = name or (path.name if path.is_dir() else name_source(path))
    location = make_location(path, called, root, context.boundary)
    problems = Problems()
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


def _describe_source(description: Description, request: _Request, problems: Problems) -> Description:
    """What can be read of a source; what cannot is among the problems."""
    context = request.context
    with problems.collecting():
        source, imported = open_files(
            request.location, request.settings, request.chosen, context.hashes, context.cache
        )
        problems.add(source.warnings)
        description = _add_layout(description, source, request.location.root)
        problems.add(_warn_uncertain_step(description, source))
        said = request.settings.columns.model_dump(exclude_none=True)
        if (series := source.settings.columns.series) and "series" not in said and not description.settings:
            description = replace(description, settings={"columns": {**said, "series": series}})
        description = _add_counts(description, source, imported, request)
        _check_repeats(description, source, request.location.root)
    return description


def _check_repeats(description: Description, source: Source, root: Path) -> None:
    """Refuse rows that repeat a step or a problem, as whoever draws them does.

    Raises:
        ReportError: it is not known which of them counts.
    """
    repeated = tuple(metric.name for metric in description.counts.metrics if metric.repeated)
    if repeated:
        read_measurements(root, source, repeated).check_repeats()
    if any(one.repeated for one in description.counts.evaluations):
        read_outcomes(root, source).check_repeats()


def _describe_empty(description: Description, request: _Request) -> tuple[Description, tuple[Problem, ...]]:
    """What cannot be read told as runs that hold no values, if it is that, and what was found in them."""
    root = request.location.root
    with Problems().collecting():
        empty = find_empty_runs(request.chosen, request.settings, root)
        if empty is not None:
            read = tuple(locate_file(file, root).file for file in empty.files)
            size = sum(file.stat().st_size for file in empty.files)
            description = replace(
                description, format=empty.form, title=get_title(empty.form), read=read, size=size
            )
            return replace(description, counts=Counts(runs=empty.runs)), empty.findings
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


def _warn_uncertain_step(description: Description, source: Source) -> Iterator[Problem]:
    """A warning where a column is suggested for the step that only looks like one."""
    columns = description.settings.get("columns")
    if isinstance(columns, dict) and "step" in columns and not description.step_name:
        message = (
            f'no column is called as a step is; "{columns["step"]}" goes up within each run and may be it'
        )
        advice = "Write it into source.yml as below if so, otherwise name another column there"
        yield Problem(source.location, message, advice, Stage.DATA, Severity.WARNING)


def _seeded(description: Description) -> Description:
    """The same, without saying where seeds stand if no run has one."""
    counts = description.counts
    seeds = {one.seed for part in (counts.runs, counts.evaluations, counts.totals) for one in part}
    return description if seeds - {None} else replace(description, seed_by="")


def _add_counts(
    description: Description, source: Source, imported: ImportedSource | None, request: _Request
) -> Description:
    """What the rows hold and the loggers say, as it was counted before or else now.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    settings, context = request.settings, request.context
    stored = load_description(context.cache, source, description) if context.cache else None
    if stored:
        return stored
    layout = complete_layout(request.location.root, source) if get_layout(source).long else get_layout(source)
    source = replace(source, layout=layout, metrics=tuple(layout.metrics))
    counts = _count_rows(request.location.root, source)
    parts = (counts.runs, counts.evaluations, counts.totals)
    seen = tuple(dict.fromkeys(one.series for part in parts for one in part))
    description = replace(description, series=layout.series if layout.exhaustive else seen)
    description = _seeded(replace(description, counts=counts))
    if settings.format == "mapped":
        description = replace(description, format="mapped", title=make_mapped_title(description.read))
    if imported:
        description = add_imported(description, imported, settings)
    description = replace(
        description, repetitions=description.repetitions or suggest_repetitions(settings, description)
    )
    if source.kind == "outcomes" and (cluster := likely_clusters(request.location.root, source)):
        description = replace(
            description, clusters={**settings.columns.model_dump(exclude_none=True), "cluster": cluster}
        )
    if context.cache:
        store_description(context.cache, source, description)
    return description


def _count_rows(root: Path, source: Source) -> Counts:
    """What the rows hold.

    Raises:
        ReportError: everything that is wrong in the files.
    """
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


def _report_nested_sources(location: Location) -> Iterator[Problem]:
    """Sources of their own in a folder that holds no other data."""
    if location.path.is_dir():
        found = [*location.path.glob(f"*/{SETTINGS}"), *location.path.glob(f"*.{SETTINGS}")]
        below = sorted(
            path.parent.name if path.name == SETTINGS else path.name.removesuffix(f".{SETTINGS}")
            for path in found
        )
        if below:
            message = f"the folder holds {len(below)} sources of their own: {list_names(below)}"
            yield Problem(
                locate_file(location.path, location.root),
                message,
                "Describe one of them",
                Stage.DATA,
                Severity.WARNING,
            )
