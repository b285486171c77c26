"""What any file or folder holds: its format, runs, metrics or answers, and what is odd about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reportgen.description import Counts, Description
from reportgen.errors import Problem, Problems, Severity, Stage
from reportgen.read.answering import outcomes
from reportgen.read.choosing import choose_files
from reportgen.read.describing.described_answers import (
    described_answers,
    described_totals,
    likely_clusters,
)
from reportgen.read.describing.described_bare import bare_runs
from reportgen.read.describing.described_curves import described_curves
from reportgen.read.describing.described_imports import with_imported
from reportgen.read.describing.kept_descriptions import keep_description, kept_description
from reportgen.read.describing.likely_steps import likely_steps
from reportgen.read.describing.settling import form_of_table, repetitions
from reportgen.read.describing.table_names import found_by, mapped_title, shape_of, table_title
from reportgen.read.find import SETTINGS, location_of, name_of, place_of
from reportgen.read.layout import layout_of
from reportgen.read.measuring import measurements
from reportgen.read.opening import open_chosen, settings_of
from reportgen.read.tabular.file_names import settled_names
from reportgen.read.tabular.survey import completed
from reportgen.read.units import title_of
from reportgen.read.wording import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reportgen.cache import Cache
    from reportgen.model import Source
    from reportgen.read.choosing import Chosen
    from reportgen.read.find import Location
    from reportgen.read.runs.importing import Imported
    from reportgen.repository import Boundary
    from reportgen.settings.source import SourceSettings

_NO_ENDING: Final = "without an ending"


@dataclass(frozen=True, slots=True)
class Looking:
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


def describe(path: Path, root: Path, name: str, looking: Looking) -> Description:
    """Describe a file or folder; what is wrong with it is among its problems.

    Args:
        path: the file or folder, which is there.
        root: what its paths are told relative to.
        name: what blocks call it; empty for the name of the file or folder.
        looking: what it is read with.
    """
    called = name or (path.name if path.is_dir() else name_of(path))
    location = location_of(path, called, root, looking.boundary)
    problems = Problems()
    told = Description(
        place_of(path, root).file,
        location.name,
        settings_file=place_of(location.settings, root).file,
        has_settings=location.has_settings,
    )
    with problems.collecting():
        settings = settings_of(location, looking.load_settings)
        asked = _Asked(location, settings, choose_files(location, settings), looking)
        told = _with_unread(_described(told, asked, problems), asked)
        if not told.kind:
            told, findings = _bare(told, asked)
            problems.found[:0] = findings
    if not told.kind:
        problems.add(_sources_below(location))
    return replace(told, problems=tuple(problems.found))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A source that is described: where it is, its settings and files, and what it is looked at with."""

    location: Location
    settings: SourceSettings
    chosen: Chosen
    looking: Looking


def _described(told: Description, asked: _Asked, problems: Problems) -> Description:
    """What can be read of a source; what cannot is among the problems."""
    looking = asked.looking
    with problems.collecting():
        source, imported = open_chosen(
            asked.location, asked.settings, asked.chosen, looking.hashes, looking.cache
        )
        problems.add(source.warnings)
        told = _opened(told, source, asked.location.root)
        problems.add(_unsure_step(told, source))
        said = asked.settings.columns.model_dump(exclude_none=True)
        if (series := source.settings.columns.series) and "series" not in said and not told.settings:
            told = replace(told, settings={"columns": {**said, "series": series}})
        told = _counted(told, source, imported, asked)
        _check_repeats(told, source, asked.location.root)
    return told


def _check_repeats(told: Description, source: Source, root: Path) -> None:
    """Refuse rows that repeat a step or a problem, as whoever draws them does.

    Raises:
        ReportError: it is not known which of them counts.
    """
    repeated = tuple(metric.name for metric in told.counts.metrics if metric.repeated)
    if repeated:
        measurements(root, source, repeated).check_repeats()
    if any(one.repeated for one in told.counts.evaluations):
        outcomes(root, source).check_repeats()


def _bare(told: Description, asked: _Asked) -> tuple[Description, tuple[Problem, ...]]:
    """What cannot be read told as runs that hold no values, if it is that, and what was found in them."""
    root = asked.location.root
    with Problems().collecting():
        bare = bare_runs(asked.chosen, asked.settings, root)
        if bare is not None:
            read = tuple(place_of(file, root).file for file in bare.files)
            size = sum(file.stat().st_size for file in bare.files)
            told = replace(told, format=bare.form, title=title_of(bare.form), read=read, size=size)
            return replace(told, counts=Counts(runs=bare.runs)), bare.findings
    return told, ()


def _opened(told: Description, source: Source, root: Path) -> Description:
    """What shows before any row is read, but for columns that may be the step."""
    layout = layout_of(source)
    measured = not (layout.outcomes or layout.totals or layout.spread)
    steps = likely_steps(root, source, layout) if measured and layout.roles.step is None else []
    series_by, seed_by = found_by(layout, source.settings)
    step_role = layout.roles.step or ""
    step = layout.step_name or step_role
    return replace(
        told,
        kind=source.kind,
        format=layout.files[0].format,
        title=table_title(layout),
        shape=shape_of(layout),
        read=tuple(file.path for file in source.files),
        size=sum(file.size for file in source.files),
        series=layout.series,
        benchmarks=source.benchmarks,
        series_by=series_by,
        seed_by=seed_by,
        step_name="step" if step == "_step" else step,
        step_is_time=step_role in layout.kinds and layout.kinds[step_role].name == "TIME",
        settings={
            **settled_names(layout, source.settings, told.path),
            **form_of_table(layout, source.settings, source.place, steps),
        },
    )


def _unsure_step(told: Description, source: Source) -> Iterator[Problem]:
    """A warning where a column is suggested for the step that only looks like one."""
    columns = told.settings.get("columns")
    if isinstance(columns, dict) and "step" in columns and not told.step_name:
        message = (
            f'no column is called as a step is; "{columns["step"]}" goes up within each run and may be it'
        )
        advice = "Write it into source.yml as below if so, otherwise name another column there"
        yield Problem(source.place, message, advice, Stage.DATA, Severity.WARNING)


def _seeded(told: Description) -> Description:
    """The same, without saying where seeds stand if no run has one."""
    counts = told.counts
    seeds = {one.seed for part in (counts.runs, counts.evaluations, counts.totals) for one in part}
    return told if seeds - {None} else replace(told, seed_by="")


def _counted(told: Description, source: Source, imported: Imported | None, asked: _Asked) -> Description:
    """What the rows hold and the loggers say, as it was counted before or else now.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    settings, looking = asked.settings, asked.looking
    kept = kept_description(looking.cache, source, told) if looking.cache else None
    if kept:
        return kept
    layout = completed(asked.location.root, source) if layout_of(source).long else layout_of(source)
    source = replace(source, layout=layout, metrics=tuple(layout.metrics))
    counts = _counts(asked.location.root, source)
    parts = (counts.runs, counts.evaluations, counts.totals)
    seen = tuple(dict.fromkeys(one.series for part in parts for one in part))
    told = replace(told, series=layout.series if layout.exhaustive else seen)
    told = _seeded(replace(told, counts=counts))
    if settings.format == "mapped":
        told = replace(told, format="mapped", title=mapped_title(told.read))
    if imported:
        told = with_imported(told, imported, settings)
    told = replace(told, repetitions=told.repetitions or repetitions(settings, told))
    if source.kind == "outcomes" and (cluster := likely_clusters(asked.location.root, source)):
        told = replace(told, clusters={**settings.columns.model_dump(exclude_none=True), "cluster": cluster})
    if looking.cache:
        keep_description(looking.cache, source, told)
    return told


def _counts(root: Path, source: Source) -> Counts:
    """What the rows hold.

    Raises:
        ReportError: everything that is wrong in the files.
    """
    if source.kind == "outcomes":
        return Counts(evaluations=described_answers(root, source))
    if source.kind == "totals":
        return Counts(totals=described_totals(root, source))
    return Counts(*described_curves(root, source))


def _with_unread(told: Description, asked: _Asked) -> Description:
    """The same with the files that are not read."""
    read = set(told.read)
    unread = Counter(
        path.suffix.lower() or _NO_ENDING
        for path in asked.chosen.paths
        if place_of(path, asked.location.root).file not in read
    )
    return replace(told, unread=tuple(sorted(unread.items(), key=lambda one: (-one[1], one[0]))))


def _sources_below(location: Location) -> Iterator[Problem]:
    """Sources of their own in a folder that holds no other data."""
    if location.path.is_dir():
        found = [*location.path.glob(f"*/{SETTINGS}"), *location.path.glob(f"*.{SETTINGS}")]
        below = sorted(
            path.parent.name if path.name == SETTINGS else path.name.removesuffix(f".{SETTINGS}")
            for path in found
        )
        if below:
            message = f"the folder holds {len(below)} sources of their own: {names(below)}"
            yield Problem(
                place_of(location.path, location.root),
                message,
                "Describe one of them",
                Stage.DATA,
                Severity.WARNING,
            )
