"""Opening of a source: its settings, its files with their hashes, and what they hold.

Files of loggers and harnesses are converted to Parquet once, and read from there like a table.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.cache import get_stamp, list_entries
from reportgen.core.errors import (
    Diagnostic,
    Diagnostics,
    ReportError,
    Severity,
    SourceLocation,
    Stage,
    name_settings_file,
)
from reportgen.core.model import SourceFile
from reportgen.core.repository import find_data_boundary
from reportgen.core.words import format_count, join_names
from reportgen.formats.files import hash_file, is_table_name, split_weak_ending
from reportgen.formats.messages import merge_problems
from reportgen.formats.registry import find_reader, find_units, get_title, is_data_name, read_unit
from reportgen.formats.runs import UnreadableError
from reportgen.read.check_repeats import warn_unlike_runs
from reportgen.read.find import choose_files, locate, locate_file, make_location, refuse_outward_source
from reportgen.read.freeze import can_freeze
from reportgen.read.runs.check_values import find_unlike_runs
from reportgen.read.runs.checkpoints import map_checkpoints, name_checkpoints, warn_without_step
from reportgen.read.runs.file_names import is_confirmed_by_name, report_file_names
from reportgen.read.runs.finished import read_finished_runs
from reportgen.read.runs.imported import ImportedUnit, complete_settings, name_imported_runs, survey_runs
from reportgen.read.runs.problems import report_imports
from reportgen.read.runs.stored import UnitWriter, get_temporary_cache, load_unit, locate_errors, store_unit
from reportgen.read.table_files import (
    hash_files,
    list_endings,
    list_tables,
    report_unread,
    report_unused_settings,
)
from reportgen.read.tables.converted import convert_tables, split_samples
from reportgen.read.tables.grid import read_grids
from reportgen.read.tables.layout import Survey, list_free_columns
from reportgen.read.tables.mapped_json import list_paths, map_tables
from reportgen.read.tables.notations import (
    check_setting_names,
    check_table_names,
    find_unmatched_names,
    state_runs,
    warn_no_metrics,
)
from reportgen.read.tables.suggest import find_totals, name_score
from reportgen.read.tables.survey import complete_layout, has_further_metrics, hold_one_line, survey
from reportgen.read.tables.unpivot import unpivot_grids, unpivot_layout
from reportgen.read.unpacked import Unpacked, unpack_source
from reportgen.settings.inputs import Source
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reportgen.core.cache import Cache
    from reportgen.formats.layout import FileLayout
    from reportgen.formats.registry import FoundUnits
    from reportgen.formats.runs import Unit
    from reportgen.read.find import ChosenFiles, Location
    from reportgen.read.runs.imported import ImportedRuns


class SourceRequest(Struct, frozen=True):
    """A source to open: its location, its ``source.yml`` and its files.

    ``hashes`` returns the SHA-256 of a file in hex. Without a cache, as in a notebook, converted rows are
    stored in the temporary folder of the process.
    """

    location: Location
    settings: SourceSettings
    chosen: ChosenFiles
    hashes: Callable[[Path], str]
    cache: Cache
    settings_file: str  # where its ``source.yml`` is or would be, relative to the project
    unpacked: Unpacked | None = None  # of an archive, which the location and the files are in
    texts: bool = False  # whether prompts and whole answers are read


def open_source(
    project_root: Path,
    data_dir: str,
    name: str,
    *,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str] | None = None,
    cache: Cache | None = None,
    follow_links: bool = False,
    entries: Sequence[str] | None = None,
    labels: Mapping[str, str] | None = None,
    texts: bool = False,
) -> Source:
    """Open a source by its name, reading only its benchmarks and a bounded sample of its data.

    Locations of problems, and ``data_dir``, are relative to the folder of ``mkdocs.yml``; ``name`` is that of
    a file or folder below the data folder, without suffix. ``load_settings`` reads a ``source.yml``, given
    its path and its name for messages. ``hashes`` returns the SHA-256 of a file in hex, ``cache`` has the
    results for unchanged files, and ``follow_links`` allows links out of the repository. ``entries`` are
    those of the data folder from ``list_entries``. ``labels`` are short names that pages give series, if the
    source has these. With ``texts``, logs of harnesses are read with their prompts and whole answers.

    Raises:
        ReportError: there is no such source, or its settings or files have faults.
    """
    boundary = None if follow_links else find_data_boundary(project_root, data_dir)
    entries = list_entries(project_root / data_dir) if entries is None else entries
    location = locate(project_root, data_dir, name, boundary, entries)
    request = replace(request_source(location, load_settings, hashes or hash_file, cache), texts=texts)
    source = open_files(request)[0]
    if labels:
        series = complete_layout(project_root, source).series
        settings = request.settings.add_labels({name: labels[name] for name in series if name in labels})
        source = open_files(replace(request, settings=settings))[0]
    return source


def open_path(
    path: str | Path,
    *,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str] | None = None,
) -> tuple[Path, Source]:
    """Open any file or folder as a source, as a notebook does.

    Returns the root of the source's paths (the working folder if the path is below it, otherwise the folder
    around it), and the source.

    Raises:
        ReportError: there is no such file, or it has faults.
    """
    path = Path(path).absolute()
    root = Path.cwd() if path.is_relative_to(Path.cwd()) and path != Path.cwd() else path.parent
    if not path.exists():
        place = SourceLocation(str(path))
        raise ReportError(Diagnostic(place, "there is no such file or folder", "", Stage.DATA))
    if path.is_file() and not (is_data_name(path.name) or split_weak_ending(path)[1]):
        message, advice = "reportgen does not read files of this ending", "Give it an ending such as .csv"
        raise ReportError(Diagnostic(locate_file(path, root), message, advice, Stage.DATA))
    return root, open_location(make_location(path, "", root), load_settings, hashes or hash_file)


def open_location(
    location: Location,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str],
    cache: Cache | None = None,
) -> Source:
    """Open a source at a known file or folder; see ``open_source``."""
    return open_files(request_source(location, load_settings, hashes, cache))[0]


def request_source(
    location: Location,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str],
    cache: Cache | None,
) -> SourceRequest:
    """Return the settings and files of a source; links out of the repository are refused."""
    refuse_outward_source(location)
    settings, file = SourceSettings(), locate_file(location.settings, location.root).file
    if location.has_settings:
        settings = load_settings(location.settings, file)
    cache = cache or get_temporary_cache()
    unpacked = unpack_source(location, settings, hashes, cache)
    location = unpacked.location if unpacked else location
    return SourceRequest(location, settings, choose_files(location, settings), hashes, cache, file, unpacked)


def open_files(request: SourceRequest) -> tuple[Source, ImportedRuns | None]:
    """Open a source with known settings and files; also return the runs of loggers or harnesses.

    Raises:
        ReportError: the files have faults.
    """
    chosen, root = request.chosen, request.location.root
    named, problems = (request.settings_file, list_paths(request.settings)), Diagnostics()
    with problems.collecting():
        source, runs = _read_units(request) or _open_tables(request)
        taken = {file for unit in runs.found.units for file in unit.files} if runs else ()
        lost = report_unread(chosen.skipped, chosen.unreadable.difference(taken), root)
        key = request.cache.make_key("unlike runs", source.digest)
        unlike = request.cache.memo(key, tuple[Diagnostic, ...], lambda: find_unlike_runs(root, source))
        source = replace(source, warnings=(*lost, *source.warnings, *unlike))
        if unpacked := request.unpacked:
            source = replace(source, files=unpacked.files, warnings=(*unpacked.warnings, *source.warnings))
        return replace(source, warnings=(*name_settings_file(source.warnings, *named),)), runs
    known_places = {problem.location for problem in problems.found}
    lost = report_unread(chosen.skipped, chosen.unreadable, root)
    raise ReportError(
        *(one for one in lost if one.location not in known_places),
        *merge_problems(name_settings_file(problems.found, *named)),
    )


def _read_units(request: SourceRequest) -> tuple[Source, ImportedRuns] | None:
    """Read what loggers or harnesses wrote among the files; unchanged units come from the cache."""
    location, settings, chosen = request.location, request.settings, request.chosen
    named = find_reader(settings.format)
    if (settings.format and not named) or settings.query:
        return None
    found = _find_readable_units(request)
    if named and not found.units:
        message = f"format: {named.name}, but no file here has this format, that of {get_title(named.name)}"
        unnamed = replace(request, settings=settings.model_copy(update={"format": None}))
        if other := _find_readable_units(unnamed).units:
            form = other[0].format
            advice = f"It has files of {get_title(form)}: say format: {form}, or leave format: out"
        elif tables := sum(1 for path in chosen.paths if is_table_name(path)):
            advice = f"It has {format_count(tables, 'table')}, read where format: is left out"
        else:
            message += f", called {join_names(named.files)}"
            held = list_endings(chosen.paths) or "no file"
            advice = f"It has {held}; if some of these have that format anyway, name them with files:"
        raise ReportError(Diagnostic(location.place, message, advice, Stage.DATA))
    if not found.units:
        return None
    # Read only the metrics that ``metrics:`` names, or all if one of these is missing.
    requested = frozenset(settings.metrics or ())
    metrics = requested | {old for old, new in settings.rename_metrics.items() if new in requested}
    units, unreadable = _read_all(found, metrics or None, request)
    stored = [run for unit in units for run in unit.stored.runs]
    known = {name for run in stored for name in run.metrics}
    missing = requested - known - {settings.rename_metrics.get(name, name) for name in known}
    if missing and not any(run.evaluated for run in stored):
        units, unreadable = _read_all(found, None, request)
    runs = name_imported_runs(location, settings, chosen, found, units)
    runs = replace(runs, naming=name_checkpoints(runs.candidates, runs.naming))
    completed, warnings = complete_settings(runs), (*unreadable, *report_imports(runs, chosen))
    surveyed = replace(survey_runs(runs, request.cache), warnings=warnings)
    surveyed = check_setting_names(surveyed, completed, location.place)
    files = tuple(dict.fromkeys(file for unit in units for file in unit.files))
    source = _make_source(location, settings, completed, files, surveyed)
    return replace(source, checkpoints=_open_checkpoints(source, runs, request)), runs


def _open_checkpoints(source: Source, runs: ImportedRuns, request: SourceRequest) -> Source | None:
    """Open the scores of checkpoints as curves, under a name of their own; return None without any."""
    location, settings, scored = request.location, request.settings, source.kind != "measurements"
    if not (curves := scored and map_checkpoints(runs, source.score_range, request.cache)):
        return None
    apart = replace(location, name=f"{location.name} (checkpoints)")
    found = survey(location.root, curves.files, curves.settings, location.place)
    warnings = (*found.warnings, *warn_without_step(curves, location))
    found = replace(found, layout=replace(found.layout, bounds=curves.bounds), warnings=warnings)
    return _make_source(apart, settings, curves.settings, source.files, found)


def _find_readable_units(request: SourceRequest) -> FoundUnits:
    """Find the units among the files of a source."""
    chosen, form = request.chosen, request.settings.format
    paths = [path for path in chosen.paths if not path.is_symlink() or path.exists()]
    readable = [path for path in paths if path not in chosen.unreadable]
    with locate_errors(request.location.path, request.location.root):
        # A unit without one of its files is another unit, so all files are tried first.
        with suppress(OSError):
            found = find_units(paths, form, named=chosen.named)
            if found.units or readable == paths:
                return found
        return find_units(readable, form, named=chosen.named)


def _read_all(
    found: FoundUnits, metrics: frozenset[str] | None, request: SourceRequest
) -> tuple[list[ImportedUnit], list[Diagnostic]]:
    """Read what can be read, and warn about the rest: a damaged run does not affect the others."""
    root, reader = request.location.root, found.reader
    files = (file for unit in found.units if reader and reader.partly for file in unit.files)
    lost = dict.fromkeys(file for file in files if not os.access(file, os.R_OK) and file.exists())
    problems = Diagnostics()
    read: list[ImportedUnit] = []
    unreadable: list[Diagnostic] = []
    for unit in found.units:
        readable = tuple(file for file in unit.files if file not in lost)
        part = replace(unit, files=readable, texts=request.texts, selected=metrics)
        with problems.collecting():
            try:
                with locate_errors(unit.path, root):
                    read.append(_read_unit(replace(part, lines=request.settings.list_lines()), request))
            except UnreadableError as error:
                unreadable += error.problems
    problems.add(() if read else unreadable)
    problems.raise_errors()
    # The reader itself reports a file that describes a run.
    others = [file for file in lost if reader and file.name not in reader.files]
    warnings = [*report_unread({}, others, root)]
    for problem in unreadable:
        what = "its runs are" if reader and reader.many_runs else "this run is"
        message = f"{problem.message}; {what} left out"
        warnings.append(replace(problem, message=message, severity=Severity.WARNING))
    return read, warnings


def _read_unit(unit: Unit, request: SourceRequest) -> ImportedUnit:
    """Return a unit from the cache, or read it; may raise ``UnreadableError`` or ``OSError``."""
    cache, root = request.cache, request.location.root
    stamps = [get_stamp(path) for path in unit.files]
    files = tuple(
        SourceFile(locate_file(path, root).file, size, request.hashes(path))
        for path, (size, _) in zip(unit.files, stamps, strict=True)
    )
    identity = [unit.format + " with texts" * unit.texts, *unit.lines, locate_file(unit.path, root).file]
    identity += [f"{file.path} {file.sha256}" for file in files]
    selected = "all" if unit.selected is None else "\n".join(sorted(unit.selected))
    key = cache.make_key("unit", "\n".join(identity), selected)
    stored = load_unit(cache, key)
    if stored is None:
        stored = UnitWriter(cache, key, root).write(read_unit(unit))
        # A file that grew while it was read is read again next time.
        if [get_stamp(path) for path in unit.files] == stamps:
            store_unit(cache, key, stored)
    paths = [Path(cache.get_text_path(key, part.name)) for part in stored.parts]
    return ImportedUnit(unit, files, stored, tuple(locate_file(path, root).file for path in paths))


def _open_tables(request: SourceRequest) -> tuple[Source, ImportedRuns | None]:
    """Open a source of tables, or of JSON that the settings map; with its runs if they are its rows."""
    location, settings, cache = request.location, request.settings, request.cache
    files = list_tables(location, settings, request.chosen)
    if request.unpacked:
        files = tuple(replace(file, copy=str(location.root / file.path), above=0) for file in files)
    hashed = hash_files(location.root, files, request.hashes)
    if settings.format != "mapped":
        files, settings = state_runs(files, settings)
    converted = convert_tables(location, settings, files, hashed, cache)
    grids = read_grids(location, settings, converted.files, hashed, cache)
    files, known = tuple(grid.file for grid in grids), settings
    if settings.form == "runs":
        runs, found = read_finished_runs(location, settings, files, hashed, cache)
        found = replace(found, warnings=(*converted.warnings, *found.warnings))
        return _make_source(location, settings, runs.settings, hashed, found), runs
    if settings.format == "mapped":
        check_table_names(location, settings)
        tables = map_tables(location, settings, files, hashed, cache)
        files, known = state_runs(tables.files, tables.settings, settings.columns.n)
        found = _survey_tables(location, files, known)
        found = replace(found, warnings=(*tables.warnings, *found.warnings))
    elif long := unpivot_grids(location, settings, grids, hashed, cache):
        check_table_names(location, settings)
        known, files = long.settings, long.files
        found = _survey_tables(location, files, known)
        found = replace(found, warnings=(*long.warnings, *found.warnings))
    else:
        found, known = _survey_plain_tables(request, settings, files, hashed)
        if split := split_samples(location, found.layout, hashed, cache):
            found = _survey_tables(location, split, settings)
        if not (found.layout.is_chart or is_confirmed_by_name(found.layout, settings)):
            check_table_names(location, settings)
        if long := unpivot_layout(location, known, found.layout, hashed, cache):
            known, of_files = long.settings, found.of_files
            found = _load_survey(request, known, long.files, hashed)
            found = replace(found, warnings=(*of_files, *long.warnings, *found.warnings))
    unused = report_unused_settings(request.chosen.paths, [file.path for file in files], location.place)
    more = (*report_file_names(location, known, found), *(() if request.chosen.named else unused))
    found = replace(found, warnings=(*converted.warnings, *found.warnings, *more))
    return _make_source(location, request.settings, known, hashed, found), None


def _load_survey(
    request: SourceRequest, settings: SourceSettings, files: Sequence[FileLayout], known: Sequence[SourceFile]
) -> Survey:
    """Return the survey of tables from the cache, or look at them; one with warnings is not stored."""
    # A survey depends on the files' content, how they are read, and ``source.yml``.
    key = request.cache.make_key("survey", ascii([*files]), ascii([*known]), settings.model_dump_json())
    if stored := request.cache.load(key, Survey):
        return stored
    found = _survey_tables(request.location, files, settings)
    if not found.warnings:
        request.cache.store(key, found)
    return found


def _survey_plain_tables(
    request: SourceRequest, settings: SourceSettings, files: Sequence[FileLayout], known: Sequence[SourceFile]
) -> tuple[Survey, SourceSettings]:
    """Return the survey of tables that are read as they are, and settings that say so if they hold totals."""
    found = _load_survey(request, settings, files, known)
    if totals := find_totals(found.layout, settings, sure=True):
        named = {"form": "totals", "columns": settings.columns.model_copy(update=name_score(totals))}
        settings = settings.model_copy(update=named)
        found = _survey_tables(request.location, files, settings)
    return found, settings


def _survey_tables(location: Location, files: Sequence[FileLayout], settings: SourceSettings) -> Survey:
    """Return the survey of a source, with warnings of unmatched names in its settings."""
    root, place = location.root, location.place
    found = survey(root, files, settings, place)
    if hold_one_line(root, found.layout):
        files = [replace(file, label=location.name) for file in files]
        found = survey(root, files, settings, place)
    unlike = warn_unlike_runs(root, found.layout, settings, place)
    if any(find_unmatched_names(found, settings, place)) and not found.layout.exhaustive:
        found = survey(root, files, settings, place, whole=True)
    found = check_setting_names(found, settings, place)
    return replace(found, warnings=(*found.warnings, *unlike, *warn_no_metrics(root, found, settings, place)))


def _make_source(
    location: Location,
    stated: SourceSettings,
    settings: SourceSettings,
    files: tuple[SourceFile, ...],
    found: Survey,
) -> Source:
    """Return a source; ``settings`` are the stated ones completed from its files, as by a protocol."""
    layout = found.layout
    # Everything that decides a source's numbers and reports, including those of omitted files.
    contents = " ".join(f"{file.path} {file.sha256}" for file in files)
    identity = f"{location.name} {contents} {stated.model_dump_json()} {' '.join(map(str, found.warnings))}"
    lower = settings.lower_is_better if layout.totals else None  # as stated, otherwise as found
    if isinstance(lower, bool):
        lower = (layout.benchmarks or ("",)) if lower else ()
    return Source(
        name=location.name,
        location=location.place,
        settings=settings,
        files=files,
        metrics=tuple(layout.metrics),
        columns=tuple(layout.kinds),
        digest=hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest(),
        warnings=found.warnings,
        layout=layout,
        kind="outcomes" if layout.outcomes else "totals" if layout.totals else "measurements",
        benchmarks=layout.benchmarks,
        lower_is_better=layout.lower_is_better if lower is None else lower,
        higher_is_better=settings.resolve_directions(layout.metrics, layout.higher_is_better),
        slices=list_free_columns(layout),
        score_range=settings.score_range,
        numbers=layout.numbers,
        is_sampled=has_further_metrics(layout),
        can_freeze=can_freeze(layout, settings),
    )
