"""Opens a source: its settings, its files, what they hold, and their hashes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, SourceLocation, Stage
from reportgen.core.repository import find_data_boundary
from reportgen.formats.files import hash_file, split_ending
from reportgen.formats.messages import list_names, merge_problems
from reportgen.formats.registry import is_unit_name
from reportgen.read.check_repeats import find_series, set_series
from reportgen.read.choose import choose_files, refuse_outward_source, report_unread
from reportgen.read.find import locate, locate_file, make_location
from reportgen.read.runs.file_names import report_file_names
from reportgen.read.runs.ingest import ImportedSource, read_units
from reportgen.read.runs.stored import dump_json, get_temporary_cache
from reportgen.read.tables.check import check_setting_names, find_unmatched_names, warn_no_metrics
from reportgen.read.tables.columns import list_free_columns
from reportgen.read.tables.layout import Survey
from reportgen.read.tables.mapped_json import map_tables
from reportgen.read.tables.survey import survey
from reportgen.read.tables.table_files import hash_files, list_tables
from reportgen.settings.inputs import Source
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.core.cache import Cache
    from reportgen.core.model import SourceFile
    from reportgen.read.choose import ChosenFiles
    from reportgen.read.find import Location
    from reportgen.read.tables.layout import DataFile


def open_source(
    project_root: Path,
    data_dir: str,
    name: str,
    *,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str] | None = None,
    cache: Cache | None = None,
    follow_links: bool = False,
) -> Source:
    """Find and understand a source; of its data only a bounded sample and the benchmarks are looked at.

    Args:
        project_root: the folder of ``mkdocs.yml``; locations of problems are relative to it.
        data_dir: the folder with the data, relative to the root.
        name: the source's name: a file or folder below the data folder, without ending.
        load_settings: reads a ``source.yml``, given its path and its name for messages.
        hashes: SHA-256 of a file in hex; computed here if left out.
        cache: what was seen in unchanged files before; they are looked at afresh if left out.
        follow_links: whether links may lead out of the repository that holds the root.

    Raises:
        ReportError: there is no such source, or everything that is wrong with its settings or files.
    """
    boundary = None if follow_links else find_data_boundary(project_root, data_dir)
    location = locate(project_root, data_dir, name, boundary)
    return open_location(location, load_settings, hashes or hash_file, cache)


def open_path(
    path: str | Path,
    *,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str] | None = None,
) -> tuple[Path, Source]:
    """Open any file or folder as a source, as a notebook does.

    Returns the root that the paths of the source are relative to (the working folder if the path is below
    it, otherwise the folder around it), and the source.

    Raises:
        ReportError: there is no such file, or everything that is wrong with it.
    """
    path = Path(path).absolute()
    root = Path.cwd() if path.is_relative_to(Path.cwd()) and path != Path.cwd() else path.parent
    if not path.exists():
        place = SourceLocation(str(path))
        raise ReportError(Diagnostic(place, "there is no such file or folder", "", Stage.DATA))
    if path.is_file() and not (split_ending(path)[1] or is_unit_name(path.name)):
        message, advice = "its ending tells no format that reportgen reads", "Give it an ending such as .csv"
        raise ReportError(Diagnostic(locate_file(path, root), message, advice, Stage.DATA))
    return root, open_location(make_location(path, "", root), load_settings, hashes or hash_file)


def open_location(
    location: Location,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str],
    cache: Cache | None = None,
) -> Source:
    """Open a source whose file or folder is known; see ``open_source``."""
    settings = load_source_settings(location, load_settings)
    return open_files(location, settings, choose_files(location, settings), hashes, cache)[0]


def load_source_settings(
    location: Location, load_settings: Callable[[Path, str], SourceSettings]
) -> SourceSettings:
    """What the ``source.yml`` of a source says, if there is one.

    Raises:
        ReportError: everything that is wrong with it, or it or the source is a link out of the repository.
    """
    refuse_outward_source(location)
    if location.has_settings:
        return load_settings(location.settings, locate_file(location.settings, location.root).file)
    return SourceSettings()


def open_files(
    location: Location,
    settings: SourceSettings,
    chosen: ChosenFiles,
    hashes: Callable[[Path], str],
    cache: Cache | None = None,
) -> tuple[Source, ImportedSource | None]:
    """Open a source whose settings and files are known, and what loggers or harnesses wrote if it is that.

    Raises:
        ReportError: everything that is wrong with its files.
    """
    problems = Diagnostics()
    with problems.collecting():
        imported = read_units(location, settings, chosen, hashes, cache)
        if imported:
            found = check_setting_names(imported.survey, imported.settings, location.place)
            source = _make_source(location, settings, imported.settings, imported.files, found)
        else:
            source = _open_tables(location, settings, chosen, hashes, cache)
        taken = {file for unit in imported.found.units for file in unit.files} if imported else ()
        lost = report_unread(chosen.skipped, chosen.unreadable.difference(taken), location.root)
        return replace(source, warnings=(*lost, *source.warnings)), imported
    known_places = {problem.location for problem in problems.found}
    lost = report_unread(chosen.skipped, chosen.unreadable, location.root)
    raise ReportError(
        *(one for one in lost if one.location not in known_places), *merge_problems(problems.found)
    )


def _open_tables(
    location: Location,
    settings: SourceSettings,
    chosen: ChosenFiles,
    hashes: Callable[[Path], str],
    cache: Cache | None,
) -> Source:
    """The source of tables, or of JSON files whose rows and columns the settings map."""
    files = list_tables(location, settings, chosen)
    hashed = hash_files(files, hashes)
    known = settings
    if settings.format == "mapped":
        _check_names(location, settings)
        tables = map_tables(location, settings, files, hashed, cache or get_temporary_cache())
        known = tables.settings
        found = _survey_tables(location, tables.files, known)
        found = replace(found, warnings=(*tables.warnings, *found.warnings))
    else:
        # The files' content, how they are read, and what ``source.yml`` says decide a survey.
        read = [
            (
                *(one.content.name, file.sha256, one.format, one.content.compression, one.label, one.given),
                one.copy,
            )
            for one, file in zip(files, hashed, strict=True)
        ]
        key = cache.make_key("survey", json.dumps(read), settings.model_dump_json()) if cache else ""
        stored = cache.load(key, Survey) if cache else None
        found = stored or _survey_tables(location, files, settings)
        # Warnings are reported of what was really looked at.
        if cache and not stored and not found.warnings:
            cache.put(key, dump_json(found))
        if not found.layout.spread:
            _check_names(location, settings)
    named = report_file_names(location, known, found)
    found = replace(found, warnings=(*found.warnings, *named))
    return _make_source(location, settings, set_series(known, found.layout.roles.series), hashed, found)


def _check_names(location: Location, settings: SourceSettings) -> None:
    """Refuse settings that only runs can meet: those of loggers and harnesses, or the columns of a chart."""
    keys = [key for key in ("series_from", "seed_from", "run_from") if getattr(settings, key)]
    if keys:
        verb = "tells" if len(keys) == 1 else "tell"
        message = f"{list_names(f'{key}:' for key in keys)} {verb} of runs, and there are only tables here"
        advice = "Name columns with columns:, or take names out of paths with groups in files:"
        raise ReportError(Diagnostic(location.place, message, advice, Stage.SETTINGS))


def _survey_tables(location: Location, files: tuple[DataFile, ...], settings: SourceSettings) -> Survey:
    """The survey of a source, with what its settings name in vain among the warnings."""
    root, place = location.root, location.place
    found = survey(root, files, settings, place)
    column, merged = find_series(root, found.layout, settings, place)
    if column:
        settings = set_series(settings, column)
        found = survey(root, files, settings, place)
    if any(find_unmatched_names(found, settings, place)) and not found.layout.exhaustive:
        found = survey(root, files, settings, place, whole=True)
    found = check_setting_names(found, settings, place)
    return replace(found, warnings=(*found.warnings, *merged, *warn_no_metrics(found, place)))


def _make_source(
    location: Location,
    stated: SourceSettings,
    settings: SourceSettings,
    files: tuple[SourceFile, ...],
    found: Survey,
) -> Source:
    """A source from the survey of its files.

    ``stated`` is what its ``source.yml`` says, ``settings`` the same with what its files say, such as the
    protocol of a harness.
    """
    layout = found.layout
    # What decides the numbers of a source and what is reported of them, of files that are left out, too.
    contents = " ".join(f"{file.path} {file.sha256}" for file in files)
    warnings = " ".join(map(str, found.warnings))
    identity = f"{location.name} {contents} {stated.model_dump_json()} {warnings}"
    # Benchmarks on which a smaller total is better: as stated, otherwise as found.
    lower = settings.lower_is_better if layout.totals else None
    if isinstance(lower, bool):
        lower = (layout.benchmarks or ("",)) if lower else ()
    return Source(
        name=location.name,
        location=location.place,
        settings=settings,
        files=files,
        metrics=tuple(layout.metrics),
        columns=found.columns,
        digest=hashlib.sha256(identity.encode()).hexdigest(),
        warnings=found.warnings,
        layout=layout,
        kind="outcomes" if layout.outcomes else "totals" if layout.totals else "measurements",
        benchmarks=layout.benchmarks,
        lower_is_better=layout.lower_is_better if lower is None else lower,
        slices=list_free_columns(layout),
        score_range=settings.score_range,
    )
