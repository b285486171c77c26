"""Description of any file or folder: its format, runs, metrics or answers, and irregularities."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, Severity, Stage, name_settings_file
from reportgen.core.model import Measurements
from reportgen.core.score_names import is_result
from reportgen.core.statements import (
    Counts,
    DescribedEvaluation,
    DescribedRun,
    DescribedSource,
    DescribedTotal,
    Description,
)
from reportgen.core.words import join_names
from reportgen.formats.files import natural_key, split_ending
from reportgen.formats.messages import list_names
from reportgen.formats.registry import find_units, get_title, is_data_name, read_unit
from reportgen.formats.runs import LoggedRun, UnreadableError
from reportgen.read.check_repeats import may_number_samples, suggest_roles
from reportgen.read.counts import count_answers, count_curves, likely_clusters, list_totals
from reportgen.read.find import SETTINGS, locate_file, make_location
from reportgen.read.joined import read_measurements
from reportgen.read.runs.file_names import is_named_by_files, suggest_files, suggest_repetitions
from reportgen.read.runs.imported import name_benchmark, suggest_for_runs
from reportgen.read.runs.interleaved import may_be_interleaved
from reportgen.read.runs.problems import find_method
from reportgen.read.runs.stored import locate_problem
from reportgen.read.scored.outcomes import read_outcomes
from reportgen.read.sources import open_files, request_source
from reportgen.read.table_files import count_endings
from reportgen.read.tables.converted import describe_formats
from reportgen.read.tables.distinguish import may_differ
from reportgen.read.tables.layout import INTERVAL_PARTS, get_layout
from reportgen.read.tables.mapped_json import list_paths
from reportgen.read.tables.notations import make_shares
from reportgen.read.tables.roles import ACROSS, list_roles
from reportgen.read.tables.suggest import confirm_settings, list_changes, suggest_for_table
from reportgen.read.tables.survey import complete_layout
from reportgen.read.x_axis import list_axes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reportgen.core.cache import Cache
    from reportgen.core.comparisons import Outcomes
    from reportgen.core.errors import SourceLocation
    from reportgen.core.repository import Boundary
    from reportgen.formats.runs import Unit
    from reportgen.read.runs.imported import ImportedRuns
    from reportgen.read.sources import SourceRequest
    from reportgen.read.tables.layout import Layout
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# Fields that need rows or logs; the others are known once a source is open.
_STORED_FIELDS: Final = (
    *("series", "format", "title", "shape", "series_by", "seed_by", "counts"),
    *("other_axes", "settings", "repetitions", "clusters"),
)


class DescribeContext(Struct, frozen=True):
    """Settings loader, hashes and cache; without a boundary links may lead anywhere."""

    load_settings: Callable[[Path, str], SourceSettings]  # given a path, and its name for messages
    hashes: Callable[[Path], str]  # SHA-256 of a file in hex
    cache: Cache | None
    boundary: Boundary | None = None


def describe(path: Path, root: Path, name: str, context: DescribeContext) -> Description:
    """Describe an existing file or folder, with its faults among the problems.

    Paths are relative to ``root``; ``name`` is its name in blocks, or empty for that of the file or folder.
    """
    location = make_location(path, name, root, context.boundary)
    problems = Diagnostics()
    place = locate_file(path, root)
    own = locate_file(location.settings, root).file
    description = Description(
        place.file, location.name, settings_file=own, has_settings=location.has_settings
    )
    is_mixed, paths = False, dict[str, str]()
    with problems.collecting():
        request = request_source(location, context.load_settings, context.hashes, context.cache)
        paths = list_paths(request.settings)
        description, is_mixed = _describe_source(description, request, problems)
        read = set(description.read)
        others = [one for one in request.chosen.paths if locate_file(one, root).file not in read]
        # Tables directly in a folder of runs are sources as well.
        is_mixed = is_mixed or any(one.parent == path and split_ending(one)[1] for one in others)
        if not request.unpacked:
            description = replace(description, unread=tuple(count_endings(others)))
        if not description.kind:
            description, findings = _describe_empty(description, request)
            problems.found[:0] = findings
        description = _leave_out_stated(description, request.settings)
    found = tuple(name_settings_file(problems.found, own, paths))
    # Columns of a table that cannot be read as it is, or that a warning is about, have perhaps other roles.
    is_open = any(one.severity is Severity.ERROR or one.confirmed_by == "columns" for one in found)
    roles = {} if is_open else description.roles
    description = replace(description, problems=found, roles=roles)
    # What a report calls a source is one.
    if not name and path.is_dir() and not location.has_settings and (is_mixed or not description.kind):
        inner = sorted((one for one in path.iterdir() if not one.name.startswith(".")), key=natural_key)
        data = [one for one in inner if one.is_dir() or (one.is_file() and is_data_name(one.name))]
        named = [(one, one.name) for one in data if not one.name.endswith(SETTINGS)]
        return _add_sources(description, list_sources(named, root, context), place)
    return description


def _leave_out_stated(description: Description, stated: SourceSettings) -> Description:
    clusters = list_changes({"columns": description.clusters}, stated) if description.clusters else {}
    return replace(
        description,
        stated=tuple(stated.model_fields_set),
        illustrative=stated.illustrative,
        settings=list_changes(description.settings, stated),
        repetitions=list_changes(description.repetitions, stated),
        clusters=clusters.get("columns", {}),
    )


def _add_sources(
    description: Description, sources: tuple[DescribedSource, ...], place: SourceLocation
) -> Description:
    """Add the sources in a folder, if there are several, and it is not just one in several formats."""
    titles = [one.title for one in sources if one.title]
    if len(titles) < 2 or (description.kind and len(set(titles)) < 2):  # noqa: PLR2004 - several
        return description
    problems = description.problems
    if description.kind:
        unread = (_warn(locate_file(Path(one.path), Path()), one.problem) for one in sources if one.problem)
        return replace(description, sources=sources, problems=(*problems, *unread))
    reason = f"; as one source it cannot be read: {problems[0].message}" if problems else ""
    message = f"the folder holds {len(sources)} separate sources{reason}"
    return replace(description, sources=sources, problems=(_warn(place, message, "Describe one of them"),))


def list_sources(
    entries: Iterable[tuple[Path, str]], root: Path, context: DescribeContext
) -> tuple[DescribedSource, ...]:
    """Describe files and folders, given with their names, as a source each, by a look at their files."""
    sources = []
    for path, name in entries:
        problems = Diagnostics()
        one = DescribedSource(name, locate_file(path, root).file)
        with problems.collecting():
            location = make_location(path, name, root, context.boundary)
            request = request_source(location, context.load_settings, context.hashes, context.cache)
            source, runs = open_files(request)
            layout = get_layout(source)
            shape = _describe_shape(layout, source.settings)
            one = replace(
                one,
                kind=source.kind,
                title=get_title(runs.found.units[0].format)
                if runs and source.settings.form != "runs"
                else f"{describe_formats(layout, source.settings)}, {shape}",
                series=len(layout.series),
                metrics=len(source.metrics) if source.kind == "measurements" else 0,
                benchmarks=len(source.benchmarks),
                files=len(source.files),
                size=sum(file.size for file in source.files),
            )
        sources.append(
            replace(one, problem=problems.found[0].text.removesuffix(".") if problems.found else "")
        )
    return tuple(sources)


def _warn(place: SourceLocation, message: str, advice: str = "") -> Diagnostic:
    return Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)


def _describe_source(
    description: Description, request: SourceRequest, problems: Diagnostics
) -> tuple[Description, bool]:
    """Describe what can be read of a source, the rest is a problem; return whether formats differ."""
    cache, root, is_mixed = request.cache, request.location.root, False
    with problems.collecting():
        source, runs = open_files(request)
        is_mixed = runs is not None and bool(runs.found.left_out)
        problems.add((*source.warnings, *(source.checkpoints.warnings if source.checkpoints else ())))
        description = _describe_layout(description, source, root)
        columns = description.settings.get("columns")
        if isinstance(columns, dict) and "step" in columns and not description.step_name:
            step = f'"{columns["step"]}" never decreases within a run and may be the step'
            message = f"no column has the usual name of a step; {step}"
            advice = "If so, write it into source.yml as below; otherwise name another column there"
            problems.add([_warn(source.location, message, advice)])
        if not (description.settings or runs):
            description = replace(description, settings=confirm_settings(request.settings, source, root))
        # Counts of an unchanged source come from the cache.
        key = cache.make_key("described source", source.digest)
        if stored := cache.load(key, Description):
            description = replace(description, **{name: getattr(stored, name) for name in _STORED_FIELDS})
        else:
            description = _add_counts(description, source, runs, request)
            cache.store(key, description)
        if not runs:
            description = replace(description, **list_roles(source))
            description = _suggest_metric(description, source, problems)
        # Refuse rows that repeat a step or a problem, and runs that differ in words, as blocks do.
        repeated = tuple(metric.name for metric in description.counts.metrics if metric.repeated)
        layout, stated = get_layout(source), request.settings
        differ = any(may(layout, stated) for may in (may_differ, may_be_interleaved, may_number_samples))
        answered = any(one.repeated or differ for one in description.counts.evaluations)
        repeated = repeated or source.metrics * (differ and source.kind == "measurements")
        if repeated or answered:
            description = _suggest_roles(description, source, request, repeated)
        if repeated:
            _check_rows(read_measurements(root, source, repeated))
        if answered:
            _check_rows(read_outcomes(root, source))
    return description, is_mixed


def _check_rows(table: Measurements | Outcomes) -> None:
    table.check_repeats()
    if isinstance(table, Measurements):
        table.check_counters()
    table.check_runs()


def _suggest_metric(description: Description, source: Source, problems: Diagnostics) -> Description:
    """Suggest a filter by metric for totals of several, since a block shows one."""
    roles, chosen = get_layout(source).totals, source.settings.filter
    by_benchmark: dict[str, dict[str, None]] = {}
    for one in description.counts.totals:
        by_benchmark.setdefault(one.benchmark, {})[one.metric] = None
    metrics = max(map(list, by_benchmark.values()), key=len, default=[])
    if len(metrics) < 2 or roles is None or roles.metric is None:  # noqa: PLR2004 - several
        return description
    message = f"there are totals of {list_names(metrics)}, and a block shows those of one metric"
    problems.add([_warn(source.location, message, "Choose one with the filter below")])
    suggested = {"filter": {**chosen, roles.metric: next(filter(is_result, metrics), metrics[0])}}
    return replace(description, settings={**description.settings, **suggested})


def _suggest_roles(
    description: Description, source: Source, request: SourceRequest, metrics: tuple[str, ...]
) -> Description:
    """Suggest the role of columns, such as the series, if rows or runs differ in them."""
    columns, repeat = suggest_roles(request.location.root, source, metrics)
    suggested = {**({} if columns else description.settings), **({"repeat": repeat} if repeat else {})}
    if columns:
        stated = request.settings.columns.model_dump(exclude_none=True)
        named = {role: names if len(names) > 1 else names[0] for role, names in columns.items()}
        suggested = {"columns": {**stated, **named}, **suggested}
    return replace(description, settings=suggested)


def _describe_shape(layout: Layout, settings: SourceSettings) -> str:
    """Describe what a row is, or a column."""
    if layout.outcomes or settings.form == "runs":
        return f"a row for each {'answer' if layout.outcomes else 'finished run'}"
    if layout.totals:
        across = ACROSS.get(settings.wide or "")
        return f"a column for each {across}" if across else "a row for each score of a benchmark"
    if layout.is_chart:
        return "a column for each run"
    if layout.long:
        parts = [name for name in INTERVAL_PARTS if getattr(layout.roles, name)]
        interval = f" with its {join_names(parts)}" if parts else ""
        return "a column for each series" if settings.wide else f"a row for each value{interval}"
    return "a column for each metric"


def _describe_layout(description: Description, source: Source, root: Path) -> Description:
    """Describe what is known before any row is read, except columns that may be the step."""
    layout, settings = get_layout(source), source.settings
    roles = layout.roles
    # The origin of series and seeds in a table, as words after "by".
    names_by = {"": "", **{name: f'the column "{name}"' for name in (roles.series, roles.seed) if name}}
    if layout.series_parts:
        together = list_names(f'"{name}"' for name in layout.series_parts)
        names_by[roles.series or ""] = f"the columns {together}"
    in_files = "the names of files" if is_named_by_files(layout, settings) else "the pattern of files:"
    names_by |= {name: in_files for file in layout.files for name, _ in file.given}
    series_by, seed_by = names_by[roles.series or ""], names_by[roles.seed or ""]
    if layout.is_chart:
        series_by, seed_by = "the columns", "the columns" if roles.seed else ""
    elif (layout.totals or layout.long) and settings.wide:
        series_by = "the columns" if settings.wide == "series" else "the rows"
    elif layout.outcomes and (header := layout.files[0].header) and roles.series not in header:
        series_by = "the columns"
    elif not series_by and len({*layout.labels}) > 1:
        series_by = "the names of files"
    step_role = roles.step or ""
    step = layout.step_name or step_role
    return replace(
        description,
        kind=source.kind,
        format="mapped" if settings.format == "mapped" else layout.files[0].format,
        title=describe_formats(layout, source.settings),
        shape=_describe_shape(layout, settings),
        read=tuple(file.path for file in source.files),
        size=sum(file.size for file in source.files),
        series=layout.series,
        benchmarks=source.benchmarks,
        checkpoints=source.checkpoints.metrics[0] if source.checkpoints else "",
        series_by=series_by,
        seed_by=seed_by,
        step_name="step" if step == "_step" else step,
        step_is_time=step_role in layout.kinds and layout.kinds[step_role].name == "TIME",
        settings=suggest_files(layout, settings) | suggest_for_table(source, root),
    )


def _add_counts(
    description: Description, source: Source, runs: ImportedRuns | None, request: SourceRequest
) -> Description:
    """Add what the rows hold and the loggers recorded."""
    settings, root = request.settings, request.location.root
    layout = complete_layout(root, source) if get_layout(source).long else get_layout(source)
    source = replace(source, layout=layout, metrics=tuple(layout.metrics))
    if source.kind == "outcomes":
        counts = Counts(evaluations=count_answers(root, source))
    elif source.kind == "totals":
        counts = Counts(totals=list_totals(root, source))
    else:
        counts = Counts(*count_curves(root, source))
    counted: list[DescribedRun | DescribedEvaluation | DescribedTotal]
    counted = [*counts.runs, *counts.evaluations, *counts.totals]
    seen = tuple(dict.fromkeys(one.series for one in counted))
    description = replace(
        description,
        counts=counts,
        other_axes=list_axes(source, None, ()) if source.kind == "measurements" else (),
        series=layout.series if layout.exhaustive else seen,
        # The origin of seeds is left out if no run has one.
        seed_by=description.seed_by if any(one.seed is not None for one in counted) else "",
    )
    if runs:
        description = _add_imported(description, runs)
    repetitions = description.repetitions or suggest_repetitions(settings, description)
    description = replace(description, repetitions=repetitions)
    if source.kind == "outcomes" and (cluster := likely_clusters(root, source)):
        clusters = {**settings.columns.model_dump(exclude_none=True), "cluster": cluster}
        description = replace(description, clusters=clusters)
    return description


def _add_imported(description: Description, runs: ImportedRuns) -> Description:
    """Add what loggers and harnesses recorded besides values; runs without values come last."""
    naming, rename = runs.naming, runs.settings.rename
    totals: list[DescribedTotal] = []
    known = {}
    for candidate, name in zip(runs.candidates, naming.names, strict=True):
        run, series = candidate.run, rename.get(name.series, name.series)
        known[series, name.run] = (run, name.seed)
        for one in run.totals:
            benchmark = name_benchmark(run, one.metric, runs.chosen) or run.benchmark
            score, stderr = make_shares(runs.settings, benchmark, one.value, one.stderr)
            of = (series, name.run, name.seed, run.benchmark, one.metric)
            totals.append(DescribedTotal(*of, score, stderr, one.n))
    described = list(description.counts.runs)
    if description.kind == "measurements":
        for index, counted in enumerate(described):
            if found := known.pop((counted.series, counted.run), None):
                described[index] = replace(counted, path=found[0].path, config=found[0].config)
        described += (
            DescribedRun(series, name, seed, run.path, 0, 0, None, None, config=run.config)
            for (series, name), (run, seed) in known.items()
        )
    form = runs.found.units[0].format
    named = {} if form == "runs" else {"shape": "", "title": get_title(form)}
    return replace(
        description,
        format=form,
        **named,
        series_by=naming.series_by,
        seed_by=naming.seed_by,
        counts=replace(description.counts, runs=tuple(described), totals=tuple(totals)),
        settings=suggest_for_runs(runs),
        repetitions={"series_from": method[0] if len(method) == 1 else [*method]}
        if (method := find_method(runs))
        else {},
    )


def _describe_empty(
    description: Description, request: SourceRequest
) -> tuple[Description, tuple[Diagnostic, ...]]:
    """Describe the runs of an unreadable source if they hold no values, with their findings."""
    root, chosen = request.location.root, request.chosen
    units: tuple[Unit, ...] = ()
    runs: list[DescribedRun] = []
    findings: dict[Diagnostic, None] = {}
    with Diagnostics().collecting():
        with suppress(OSError, UnreadableError):
            units = find_units(chosen.paths, request.settings.format, named=chosen.named).units
            for run in (run for unit in units for run in read_unit(unit)):
                if not isinstance(run, LoggedRun) or run.metrics:
                    return description, ()
                name, path = run.name or run.path.name, locate_file(run.path, root).file
                runs.append(DescribedRun(name, name, None, path, 0, 0, None, None, config=dict(run.config)))
                findings |= dict.fromkeys(locate_problem(one, root) for one in run.findings)
        if runs:
            files = dict.fromkeys(file for unit in units for file in unit.files)
            description = replace(
                description,
                format=units[0].format,
                title=get_title(units[0].format),
                read=tuple(locate_file(file, root).file for file in files),
                size=sum(file.stat().st_size for file in files),
                counts=Counts(runs=tuple(runs)),
            )
            return description, tuple(findings)
    return description, ()
