"""What loggers and harnesses wrote, as a source: read once into Parquet, and from there like a table."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reportgen.core.cache import get_stamp
from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, Stage
from reportgen.core.model import SourceFile
from reportgen.core.words import format_count, join_names
from reportgen.formats.files import split_ending
from reportgen.formats.registry import LOGGERS, find_format, find_units, get_title, load_reader
from reportgen.formats.runs import UnreadableError
from reportgen.read.choose import count_endings, report_unread
from reportgen.read.find import locate_file
from reportgen.read.runs.imported import ImportedUnit, add_protocols, name_imported_runs, survey_runs
from reportgen.read.runs.problems import report_imports
from reportgen.read.runs.stored import UnitWriter, get_temporary_cache, load_unit, store_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from reportgen.core.cache import Cache
    from reportgen.formats.registry import FoundUnits, UnitFormat
    from reportgen.formats.runs import Unit
    from reportgen.read.choose import ChosenFiles
    from reportgen.read.find import Location
    from reportgen.read.runs.imported import ImportedRuns
    from reportgen.read.tables.layout import Survey
    from reportgen.settings.source import SourceSettings


# A unit of these holds many runs.
_STORES: Final = frozenset(("mlflow_sqlite", "trackio"))
# One of these, too, each metric in a file of its own.
_OF_MANY_FILES: Final = frozenset(("mlflow_files",))
_META: Final = "meta.yaml"


@dataclass(frozen=True, slots=True)
class ImportedSource:
    """A source of runs or evaluations: its units, their runs with names, and every file behind them.

    ``survey`` says how it is read, and ``settings`` are those of the source with what its files say.
    """

    found: FoundUnits
    runs: ImportedRuns
    files: tuple[SourceFile, ...]
    survey: Survey
    settings: SourceSettings


@dataclass(frozen=True, slots=True)
class _ReadContext:
    """What every unit is read with: the root of places, hashes of files, and where rows are stored."""

    root: Path
    hashes: Callable[[Path], str]
    cache: Cache


def read_units(
    location: Location,
    settings: SourceSettings,
    chosen: ChosenFiles,
    hashes: Callable[[Path], str],
    cache: Cache | None,
) -> ImportedSource | None:
    """Read what loggers or harnesses wrote among the files of a source; None where there is none of it.

    A unit is not read again while its files stand: its rows lie in the cache or, without one, as in a
    notebook, below the temporary folder of the process. ``hashes`` gives the SHA-256 of a file in hex.

    Raises:
        ReportError: everything that cannot be read, or that the settings name in vain.
    """
    named = find_format(settings.format)
    if settings.format and not named:
        return None
    found = _find_readable_units(location, settings, chosen)
    if named and not found.units:
        raise ReportError(_explain_format(location, settings, chosen, named))
    if not found.units:
        return None
    context = _ReadContext(location.root, hashes, cache or get_temporary_cache())
    # The metrics that ``metrics:`` names are read, or all of them where one of these is not there.
    requested = frozenset(settings.metrics or ())
    metrics = requested | {old for old, new in settings.rename_metrics.items() if new in requested}
    form = found.units[0].format
    selective = bool(metrics) and form in {logger.name for logger in LOGGERS}
    units, unreadable = _read_all(found.units, metrics if selective else None, context)
    known = {name for unit in units for run in unit.stored.runs for name in run.metrics}
    if selective and not known | {settings.rename_metrics.get(name, name) for name in known} >= requested:
        units, unreadable = _read_all(found.units, None, context)
    runs = name_imported_runs(location, settings, chosen, units)
    settings = add_protocols(settings, runs)
    reader = find_format(form)
    score_range = getattr(load_reader(reader), "SCORE_RANGE", None) if reader else None
    if score_range is not None and "score_range" not in settings.model_fields_set:
        settings = settings.model_copy(update={"score_range": score_range})
    survey = survey_runs(location, settings, runs)
    warnings = (*unreadable, *report_imports(location, settings, chosen, found, runs))
    files = dict.fromkeys(file for unit in units for file in unit.files)
    return ImportedSource(found, runs, tuple(files), replace(survey, warnings=warnings), settings)


def _explain_format(
    location: Location, settings: SourceSettings, chosen: ChosenFiles, form: UnitFormat
) -> Diagnostic:
    """The problem that no file is of the format that ``format:`` names, and what the files are instead."""
    message = f"format: {form.name}, but no file is of it; it reads {load_reader(form).TITLE}"
    if other := _find_readable_units(location, settings.model_copy(update={"format": None}), chosen).units:
        name = other[0].format
        advice = f"It has files of {get_title(name)}: say format: {name}, or leave format: out"
    elif tables := sum(1 for path in chosen.paths if split_ending(path)[1]):
        advice = f"It has {format_count(tables, 'table')}, read where format: is left out"
    else:
        message += f", called {join_names(form.patterns)}"
        held = count_endings(chosen.paths) or "no file"
        advice = f"It has {held}; if some of these are of it all the same, name them with files:"
    return Diagnostic(location.place, message, advice, Stage.DATA)


def _find_readable_units(location: Location, settings: SourceSettings, chosen: ChosenFiles) -> FoundUnits:
    """The units among the files of a source."""
    paths = [path for path in chosen.paths if not path.is_symlink() or path.exists()]
    readable = [path for path in paths if path not in chosen.unreadable]
    try:
        # A unit that lacks a file is another one, so all files are tried first.
        with suppress(OSError):
            found = find_units(paths, settings.format, named=chosen.named)
            if found.units or readable == paths:
                return found
        return find_units(readable, settings.format, named=chosen.named)
    except OSError as error:
        raise ReportError(_diagnose_os_error(error, location.path, location.root)) from None


def _diagnose_os_error(error: OSError, path: Path, root: Path) -> Diagnostic:
    message = f"the file cannot be read: {error.strerror or error}"
    place = locate_file(Path(error.filename) if error.filename else path, root)
    return Diagnostic(place, message, "Check that it exists and may be read", Stage.DATA)


def _read_all(
    units: tuple[Unit, ...], metrics: Collection[str] | None, context: _ReadContext
) -> tuple[list[ImportedUnit], tuple[Diagnostic, ...]]:
    """What can be read, and warnings of what cannot: one damaged run does not take the others with it."""
    # Units of many files are read without those that may not be read.
    files = (file for unit in units if unit.format in _OF_MANY_FILES for file in unit.files)
    lost = dict.fromkeys(file for file in files if not os.access(file, os.R_OK) and file.exists())
    problems = Diagnostics()
    read, unreadable = [], []
    for unit in units:
        readable = tuple(file for file in unit.files if file not in lost)
        with problems.collecting():
            try:
                read.append(_read_unit(replace(unit, files=readable), metrics, context))
            except UnreadableError as error:
                place = locate_file(error.path, context.root, error.line)
                problem = Diagnostic(place, error.message, error.next_step, Stage.DATA)
                unreadable.append((problem, unit))
            except OSError as error:
                unreadable.append((_diagnose_os_error(error, unit.path, context.root), unit))
    if not read:
        problems.add(problem for problem, _ in unreadable)
    problems.raise_errors()
    # Of what says something of a run, the reader reports it itself.
    warnings = [*report_unread({}, [file for file in lost if file.name != _META], context.root)]
    for problem, unit in unreadable:
        what = "its runs are" if unit.format in _STORES else "this run is"
        message = f"{problem.message}; {what} left out"
        warnings.append(replace(problem, message=message, severity=Severity.WARNING))
    return read, tuple(warnings)


def _read_unit(unit: Unit, metrics: Collection[str] | None, context: _ReadContext) -> ImportedUnit:
    """A unit as it is stored, or else read now.

    Raises:
        UnreadableError: it is damaged, or goes beyond a limit.
        OSError: its files cannot be read.
    """
    cache, root = context.cache, context.root
    stamps = [get_stamp(path) for path in unit.files]
    files = tuple(
        SourceFile(locate_file(path, root).file, size, context.hashes(path))
        for path, (size, _) in zip(unit.files, stamps, strict=True)
    )
    identity = [unit.format, locate_file(unit.path, root).file]
    identity += [f"{file.path} {file.sha256}" for file in files]
    selected = "all" if metrics is None else "\n".join(sorted(metrics))
    key = cache.make_key("unit", "\n".join(identity), selected)
    stored = load_unit(cache, key)
    if stored is None:
        form = find_format(unit.format)
        if form is None:
            raise LookupError(unit.format)
        stored = UnitWriter(cache, key, root).write(load_reader(form).read(unit, metrics))
        # What grew while it was read is read again next time.
        if [get_stamp(path) for path in unit.files] == stamps:
            store_unit(cache, key, stored)
    paths = [Path(cache.get_text_path(key, part.name)) for part in stored.parts]
    return ImportedUnit(unit, files, stored, tuple(locate_file(path, root).file for path in paths))
