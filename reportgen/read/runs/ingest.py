"""What loggers and harnesses wrote, as a source: read once into Parquet, and from there like a table."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, Stage
from reportgen.core.model import SourceFile
from reportgen.core.words import format_count, join_names
from reportgen.formats.files import split_ending
from reportgen.formats.registry import LOGGERS, find_format, find_units, get_title, load_reader
from reportgen.formats.runs import UnreadableError
from reportgen.read.find import locate_file
from reportgen.read.runs.imported import ImportedUnit, add_protocols, name_imported_runs
from reportgen.read.runs.problems import report_imports
from reportgen.read.runs.stored import get_temporary_cache, load_unit, store_unit
from reportgen.read.runs.survey import survey_runs
from reportgen.read.runs.write_parquet import UnitWriter
from reportgen.read.unread import count_endings, report_unread

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
    form = find_format(settings.format)
    if settings.format and not form:
        return None
    found = _find_readable_units(location, settings, chosen)
    if form and not found.units:
        raise ReportError(_explain_format(location, settings, chosen, form))
    if not found.units:
        return None
    reading = _ReadContext(location.root, hashes, cache or get_temporary_cache())
    units, unreadable = _read_metrics(found.units, settings, reading)
    runs = name_imported_runs(location, settings, chosen, units)
    settings = _set_score_range(add_protocols(settings, runs), found.units[0].format)
    survey = survey_runs(location, settings, runs)
    warnings = (*unreadable, *report_imports(location, settings, chosen, found, runs))
    files = dict.fromkeys(file for unit in units for file in unit.files)
    return ImportedSource(found, runs, tuple(files), replace(survey, warnings=warnings), settings)


def _set_score_range(settings: SourceSettings, name: str) -> SourceSettings:
    """Settings with the scores that a format allows, where they do not say it themselves."""
    form = find_format(name)
    ends = getattr(load_reader(form), "SCORE_RANGE", None) if form else None
    if ends is None or "score_range" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"score_range": ends})


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
        raise ReportError(_report_unread(error, location.path, location.root)) from None


def _report_unread(error: OSError, path: Path, root: Path) -> Diagnostic:
    message = f"the file cannot be read: {error.strerror or error}"
    place = locate_file(Path(error.filename) if error.filename else path, root)
    return Diagnostic(place, message, "Check that it exists and may be read", Stage.DATA)


def _read_metrics(
    units: tuple[Unit, ...], settings: SourceSettings, reading: _ReadContext
) -> tuple[list[ImportedUnit], tuple[Diagnostic, ...]]:
    """Units with the metrics that ``metrics:`` names, or with all of them where one of these is not there."""
    requested = frozenset(settings.metrics or ())
    metrics = requested | {old for old, new in settings.rename_metrics.items() if new in requested}
    if not metrics or units[0].format not in {form.name for form in LOGGERS}:
        return _read_all(units, None, reading)
    found = _read_all(units, metrics, reading)
    known = {name for unit in found[0] for run in unit.stored.runs for name in run.metrics}
    there = known | {settings.rename_metrics.get(name, name) for name in known}
    return found if there >= requested else _read_all(units, None, reading)


def _read_all(
    units: tuple[Unit, ...], metrics: Collection[str] | None, reading: _ReadContext
) -> tuple[list[ImportedUnit], tuple[Diagnostic, ...]]:
    """What can be read, and warnings of what cannot: one damaged run does not take the others with it."""
    problems = Diagnostics()
    read, unreadable = [], []
    units, lost = _drop_unreadable(units, reading.root)
    for unit in units:
        with problems.collecting():
            try:
                read.append(_read_unit(unit, metrics, reading))
            except UnreadableError as error:
                place = locate_file(error.path, reading.root, error.line)
                problem = Diagnostic(place, error.message, error.next_step, Stage.DATA)
                unreadable.append((problem, unit))
            except OSError as error:
                unreadable.append((_report_unread(error, unit.path, reading.root), unit))
    if not read:
        problems.add(problem for problem, _ in unreadable)
    problems.raise_errors()
    return read, (*lost, *(_warn_left_out(problem, unit) for problem, unit in unreadable))


def _drop_unreadable(units: tuple[Unit, ...], root: Path) -> tuple[tuple[Unit, ...], tuple[Diagnostic, ...]]:
    """Units of many files without those that may not be read, and warnings of these."""
    files = (file for unit in units if unit.format in _OF_MANY_FILES for file in unit.files)
    lost = {file: None for file in files if not os.access(file, os.R_OK) and file.exists()}
    if not lost:
        return units, ()
    remaining = (
        replace(unit, files=tuple(file for file in unit.files if file not in lost)) for unit in units
    )
    # Of what says something of a run, the reader reports it itself.
    return tuple(remaining), tuple(report_unread({}, [file for file in lost if file.name != _META], root))


def _warn_left_out(problem: Diagnostic, unit: Unit) -> Diagnostic:
    """A warning of a unit that cannot be read, where others can."""
    what = "its runs are" if unit.format in _STORES else "this run is"
    return replace(problem, message=f"{problem.message}; {what} left out", severity=Severity.WARNING)


def _read_unit(unit: Unit, metrics: Collection[str] | None, reading: _ReadContext) -> ImportedUnit:
    """A unit as it is stored, or else read now.

    Raises:
        UnreadableError: it is damaged, or goes beyond a limit.
        OSError: its files cannot be read.
    """
    cache, root = reading.cache, reading.root
    marks = [_mark(path) for path in unit.files]
    files = tuple(
        SourceFile(locate_file(path, root).file, size, reading.hashes(path))
        for path, (size, _) in zip(unit.files, marks, strict=True)
    )
    identity = [unit.format, locate_file(unit.path, root).file]
    identity += [f"{one.path} {one.sha256}" for one in files]
    selected = "all" if metrics is None else "\n".join(sorted(metrics))
    key = cache.make_key("unit", "\n".join(identity), selected)
    stored = load_unit(cache, key)
    if stored is None:
        form = find_format(unit.format)
        if form is None:
            raise LookupError(unit.format)
        stored = UnitWriter(cache, key, root).write(load_reader(form).read(unit, metrics))
        # What grew while it was read is read again next time.
        if [_mark(path) for path in unit.files] == marks:
            store_unit(cache, key, stored)
    paths = [Path(cache.get_text_path(key, part.name)) for part in stored.parts]
    return ImportedUnit(unit, files, stored, tuple(locate_file(path, root).file for path in paths))


def _mark(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
