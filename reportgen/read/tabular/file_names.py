"""Series and seeds in the names of tables, as ``base_seed1.csv``: found as they are in the names of runs."""

from __future__ import annotations

import re
from dataclasses import astuple, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Severity, Stage
from reportgen.read.find import locate_file
from reportgen.read.runs.kept_units import StoredRun
from reportgen.read.runs.numbered_runs import detect_numbered_runs, escape_text
from reportgen.read.runs.run_labels import shorten_paths
from reportgen.read.runs.run_names import name_runs
from reportgen.read.runs.run_settings import Candidate
from reportgen.read.wording import list_names
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.read.find import Location
    from reportgen.read.layout import DataFile, Layout, Survey

# Runs of loggers have the run among these, too.
_GIVEN: Final = ["series", "seed"]
_SERIES_GROUP: Final = "(?P<series>.+)"
_SEED_GROUP: Final = "(?P<seed>[0-9]+)"
# A seed's number, with what says that it is one.
_SEED: Final = re.compile(r"(?:seed|s)[\s_\-=:.#]*(\d+)", re.IGNORECASE)


def add_seeds(files: Sequence[DataFile], settings: SourceSettings) -> list[DataFile] | None:
    """Tables with the series and seed that their names tell as columns.

    Args:
        files: tables of which no column tells either.
        settings: what ``source.yml`` says; its title, or else the folder, is the series of bare seeds.

    Returns:
        None where no name has a seed, or two tables would be the same run.
    """
    paths = list(dict.fromkeys(file.content.name for file in files))
    if len(paths) == 1 or any(file.given for file in files):
        return None
    # What all of them have in common tells none of them apart.
    folders = shorten_paths(paths)
    runs = [Candidate(StoredRun(one, "", metrics={"": 1}), {}, one, one) for one in folders]
    found = name_runs(runs, SourceSettings(), settings.title or PurePosixPath(paths[0]).parent.name)
    if not found.seed_by or found.indistinct or not all(name.series for name in found.names):
        return None
    named = dict(zip(paths, found.names, strict=True))
    pairs = [(file, named[file.content.name]) for file in files]
    return [
        replace(file, given=tuple(zip(_GIVEN, (name.series, name.seed), strict=True))) for file, name in pairs
    ]


def report_file_names(location: Location, settings: SourceSettings, found: Survey) -> Iterator[Problem]:
    """What to tell of tables whose names were taken apart, or may have to be, and how to settle it.

    Args:
        location: the source.
        settings: what its ``source.yml`` says.
        found: what was seen in the files.
    """
    layout, paths = found.layout, _list_paths(found.layout, locate_file(location.path, location.root).file)
    problem = Problem(location.place, "", "", Stage.DATA, Severity.WARNING)
    if is_named_by_files(layout, settings):
        message = f"series and seeds come from the names of files: {list_names(layout.series)}"
        pattern = build_seed_pattern(layout, paths)
        advice = (
            f"files: {pattern}" if pattern else f"files: and groups such as {_SERIES_GROUP} and {_SEED_GROUP}"
        )
        yield replace(problem, message=message, next_step=f"Settle it with {advice} in source.yml")
    elif not any((*astuple(layout.roles)[:3], settings.files, layout.spread, layout.outcomes, layout.totals)):
        numbered = detect_numbered_runs(paths, settings.title or location.name) if len(paths) > 1 else None
        if numbered and numbered.series < len(paths):
            separate = _SERIES_GROUP + escape_text(PurePosixPath(paths[0]).suffix)
            message = (
                f"each of {len(paths)} files is a series of its own, though numbers alone tell some apart"
            )
            advice = (
                f"If these count repetitions, say files: {numbered.files} in source.yml, "
                f"if they are seeds with seed in place of run; if neither, say files: {separate}"
            )
            yield replace(problem, message=message, next_step=advice)


def suggest_files(layout: Layout, settings: SourceSettings, top: str) -> dict[str, object]:
    """The keys by which tables have the series and seeds that their names tell; none where none are."""
    found = (
        build_seed_pattern(layout, _list_paths(layout, top)) if is_named_by_files(layout, settings) else ""
    )
    return {"files": found} if found else {}


def is_named_by_files(layout: Layout, settings: SourceSettings) -> bool:
    """Whether series and seeds were found in the names of files, though ``files:`` does not tell them."""
    patterns = (settings.files,) if isinstance(settings.files, str) else settings.files or ()
    guessed = not any("(?P<" in pattern for pattern in patterns)
    return guessed and all([name for name, _ in file.given] == _GIVEN for file in layout.files)


def _list_paths(layout: Layout, top: str) -> list[str]:
    return list(dict.fromkeys(file.path.removeprefix(f"{top}/") for file in layout.files))


def build_seed_pattern(layout: Layout, paths: Sequence[str]) -> str:
    """A pattern for ``files:`` by which all tables have the series and seeds that they have; empty for none.

    Args:
        layout: the tables, with series and seeds that their names tell.
        paths: of their files, below the source.
    """
    given_by_path = {file.path: {name: values[0] for name, values in file.given} for file in layout.files}
    given = list(given_by_path.values())
    for path, known in zip(paths, given, strict=True):
        series = re.search(rf"(?<![^\W_]){re.escape(known['series'] or '')}(?![^\W_])", path)
        seeds = list(_SEED.finditer(path))
        if known["seed"] is None or not (series and seeds):
            continue
        parts = sorted([(*series.span(), _SERIES_GROUP), (*seeds[-1].span(1), _SEED_GROUP)])
        (start, stop, one), (again, end, other) = parts
        pattern = (
            f"{escape_text(path[:start])}{one}{escape_text(path[stop:again])}{other}{escape_text(path[end:])}"
        )
        found = (re.fullmatch(pattern, path) for path in paths)
        return pattern if [match and match.groupdict() for match in found] == given else ""
    return ""
