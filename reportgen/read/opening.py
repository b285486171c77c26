"""Opening a source: its settings, its files, what they hold, and their hashes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.errors import Place, Problem, Problems, ReportError, Stage
from reportgen.read.alike import folded
from reportgen.read.barred import barred_problems
from reportgen.read.choosing import choose_files
from reportgen.read.content import sha256
from reportgen.read.find import ending_of, locate, location_of, name_of, place_of
from reportgen.read.links import outward_source, refuse_outward_links
from reportgen.read.repeats import found_series, with_series
from reportgen.read.runs.importing import import_units
from reportgen.read.runs.kept_units import temporary_cache
from reportgen.read.sources import source_of
from reportgen.read.tabular.file_names import file_name_problems
from reportgen.read.tabular.kept_surveys import keep, kept, survey_key
from reportgen.read.tabular.mapped import mapped_tables
from reportgen.read.tabular.survey import survey
from reportgen.read.tabular.table_files import hashed_files, tables_of
from reportgen.read.tabular.unmeasured import unmeasured
from reportgen.read.tabular.unmet import unmet_names, with_unmet
from reportgen.read.units import may_be_read
from reportgen.read.wording import names
from reportgen.repository import data_boundary
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.cache import Cache
    from reportgen.model import Source, SourceFile
    from reportgen.read.choosing import Chosen
    from reportgen.read.find import Location
    from reportgen.read.layout import DataFile, Survey
from reportgen.read.runs.importing import Imported


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
        project_root: the folder of ``mkdocs.yml``; places of problems are relative to it.
        data_dir: the folder with the data, relative to the root.
        name: the source's name: a file or folder below the data folder, without ending.
        load_settings: reads a ``source.yml``, given its path and its name for messages.
        hashes: SHA-256 of a file in hex; computed here if left out.
        cache: what was seen in unchanged files before; they are looked at afresh if left out.
        follow_links: whether links may lead out of the repository that holds the root.

    Raises:
        ReportError: there is no such source, or everything that is wrong with its settings or files.
    """
    boundary = None if follow_links else data_boundary(project_root, data_dir)
    location = locate(project_root, data_dir, name, boundary)
    return open_location(location, load_settings, hashes or sha256, cache)


def open_path(
    path: str | Path,
    *,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str] | None = None,
) -> tuple[Path, Source]:
    """Open any file or folder as a source, as a notebook does.

    Returns:
        The root that the paths of the source are relative to (the working folder if the path is below
        it, otherwise the folder around it), and the source.

    Raises:
        ReportError: there is no such file, or everything that is wrong with it.
    """
    path = Path(path).absolute()
    root = Path.cwd() if path.is_relative_to(Path.cwd()) and path != Path.cwd() else path.parent
    if not path.exists():
        raise ReportError(Problem(Place(str(path)), "there is no such file or folder", "", Stage.DATA))
    if path.is_file() and not (ending_of(path)[1] or may_be_read(path.name)):
        message = "its ending tells no format that reportgen reads"
        raise ReportError(
            Problem(place_of(path, root), message, "Give it an ending such as .csv", Stage.DATA)
        )
    return root, open_location(
        location_of(path, path.name if path.is_dir() else name_of(path), root),
        load_settings,
        hashes or sha256,
    )


def open_location(
    location: Location,
    load_settings: Callable[[Path, str], SourceSettings],
    hashes: Callable[[Path], str],
    cache: Cache | None = None,
) -> Source:
    """Open a source whose file or folder is known; see ``open_source``.

    Raises:
        ReportError: everything that is wrong with its settings or files.
    """
    settings = settings_of(location, load_settings)
    return open_chosen(location, settings, choose_files(location, settings), hashes, cache)[0]


def settings_of(location: Location, load_settings: Callable[[Path, str], SourceSettings]) -> SourceSettings:
    """What the ``source.yml`` of a source says, if there is one.

    Raises:
        ReportError: everything that is wrong with it, or it or the source is a link out of the repository.
    """
    refuse_outward_links(outward_source(location), location)
    if location.has_settings:
        return load_settings(location.settings, place_of(location.settings, location.root).file)
    return SourceSettings()


def open_chosen(
    location: Location,
    settings: SourceSettings,
    chosen: Chosen,
    hashes: Callable[[Path], str],
    cache: Cache | None = None,
) -> tuple[Source, Imported | None]:
    """Open a source whose settings and files are known; see ``open_source``.

    Returns:
        The source, and what loggers or harnesses wrote if it is that.

    Raises:
        ReportError: everything that is wrong with its files.
    """
    problems = Problems()
    with problems.collecting():
        imported = import_units(location, settings, chosen, hashes, cache)
        source = (
            _imported(location, settings, imported)
            if imported
            else _tables(location, settings, chosen, hashes, cache)
        )
        taken = {file for unit in imported.found.units for file in unit.files} if imported else ()
        lost = barred_problems(chosen.barred, chosen.unread.difference(taken), location.root)
        return replace(source, warnings=(*lost, *source.warnings)), imported
    told = {problem.place for problem in problems.found}
    lost = barred_problems(chosen.barred, chosen.unread, location.root)
    raise ReportError(*(one for one in lost if one.place not in told), *folded(problems.found))


def _tables(
    location: Location,
    settings: SourceSettings,
    chosen: Chosen,
    hashes: Callable[[Path], str],
    cache: Cache | None,
) -> Source:
    """The source of the tables that a source has.

    Raises:
        ReportError: everything that is wrong with its settings or files.
    """
    files = tables_of(location, settings, chosen)
    hashed = hashed_files(files, hashes)
    if settings.format == "mapped":
        _check_names(location, settings)
        return _mapped(location, settings, files, hashed, cache)
    key = survey_key(cache, files, hashed, settings) if cache else ""
    found = kept(cache, key) if cache else None
    if found is None:
        found = _surveyed(location, files, settings)
        if cache:
            keep(cache, key, found)
    if not found.layout.spread:
        _check_names(location, settings)
    named = file_name_problems(location, settings, found)
    found = replace(found, warnings=(*found.warnings, *named))
    return source_of(location, settings, with_series(settings, found.layout.roles.series), hashed, found)


def _imported(location: Location, settings: SourceSettings, imported: Imported) -> Source:
    """The source of runs or evaluations that were imported.

    Raises:
        ReportError: its settings name something that the runs do not have.
    """
    found = with_unmet(imported.survey, imported.settings, location.place)
    return source_of(location, settings, imported.settings, imported.files, found)


def _mapped(
    location: Location,
    settings: SourceSettings,
    files: tuple[DataFile, ...],
    hashed: tuple[SourceFile, ...],
    cache: Cache | None,
) -> Source:
    """The source of JSON files whose rows and columns the settings tell."""
    tables = mapped_tables(location, settings, files, hashed, cache or temporary_cache())
    found = _surveyed(location, tables.files, tables.settings)
    named = file_name_problems(location, tables.settings, found)
    found = replace(found, warnings=(*tables.warnings, *found.warnings, *named))
    known = with_series(tables.settings, found.layout.roles.series)
    return source_of(location, settings, known, hashed, found)


def _check_names(location: Location, settings: SourceSettings) -> None:
    """Refuse settings that only runs can meet: those of loggers and harnesses, or the columns of a chart.

    Raises:
        ReportError: there are such settings.
    """
    asked = [key for key in ("series_from", "seed_from", "run_from") if getattr(settings, key)]
    if asked:
        tell = "tells" if len(asked) == 1 else "tell"
        message = f"{names(f'{key}:' for key in asked)} {tell} of runs, and there are only tables here"
        advice = "Name columns with columns:, or take names out of paths with groups in files:"
        raise ReportError(Problem(location.place, message, advice, Stage.SETTINGS))


def _surveyed(location: Location, files: tuple[DataFile, ...], settings: SourceSettings) -> Survey:
    """The survey of a source, with what its settings name in vain among the warnings."""
    found = survey(location.root, files, settings, location.place)
    column, merged = found_series(location.root, found.layout, settings, location.place)
    if column:
        settings = with_series(settings, column)
        found = survey(location.root, files, settings, location.place)
    if any(unmet_names(found, settings, location.place)) and not found.layout.exhaustive:
        found = survey(location.root, files, settings, location.place, whole=True)
    found = with_unmet(found, settings, location.place)
    return replace(found, warnings=(*found.warnings, *merged, *unmeasured(found, location.place)))
