"""Series, seeds and runs in the names of files, as in ``base_seed1.csv`` and ``strict/run_2``."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec.structs import astuple, replace

from reportgen.core.errors import Diagnostic, Severity, Stage
from reportgen.formats.messages import list_names
from reportgen.read.find import locate_file
from reportgen.read.runs.labels import Candidate, find_differences, shorten_paths
from reportgen.read.runs.names import name_runs
from reportgen.read.runs.stored import StoredRun
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reportgen.core.statements import Description
    from reportgen.formats.layout import FileLayout
    from reportgen.read.find import Location
    from reportgen.read.tables.layout import Layout, Survey


# What may stand between a series and the number of a run. Other numbers are as often sizes or rates, and what
# follows the point of 0.1 or the sign of 1e-3 belongs to a value.
_WORD: Final = r"run|rep|repeat|trial|version|s"
_NUMBER: Final = re.compile(
    rf"(?P<series>.*?)(?P<mark>(?:^|[/_ ]|(?<!\d)\.|(?<!\de)-)(?:(?P<word>{_WORD})[_.\- ]?)?)(?P<run>[0-9]+)",
    re.IGNORECASE,
)
# Escaped as a character class, since YAML would double backslashes, or with one if that is impossible.
_SPECIAL: Final = re.compile(r"([.$*+?{}|()])|([\[\]^\\])")
_RUN_GROUP, _SERIES_GROUP, _SEED_GROUP = "(?P<run>[0-9]+)", "(?P<series>.+)", "(?P<seed>[0-9]+)"
# Runs of loggers also have the run.
_GIVEN: Final = ["series", "seed"]
# Origins of series that rest on names or paths alone.
_PATHS: Final = frozenset(("their names", "their folders", "folders and names", "the names of files"))


def detect_numbered_runs(paths: Sequence[str]) -> tuple[str, int] | None:
    """Return the pattern for ``files:`` that reads runs as repetitions, and its number of series, or None.

    Paths must have the same form, some must differ in one number alone, and a word such as ``run`` must
    precede the numbers, or those of each series count up from 0 or 1. Beside such a word, some paths may have
    no number, as that of a baseline.
    """
    tail = _find_common_tail(paths)
    matches = [match for path in paths if (match := _NUMBER.fullmatch(path.removesuffix(tail)))]
    alone = len(paths) - len(matches)
    if len({match["mark"].casefold() for match in matches}) != 1 or (alone and not matches[0]["word"]):
        return None
    runs: dict[str, list[int]] = defaultdict(list)
    for match in matches:
        runs[match["series"]].append(int(match["run"]))
    # Repetitions have each number once, and count up unless a word marks them.
    numbers = [sorted(several) for several in runs.values()]
    distinct = all(len(set(several)) == len(several) for several in numbers)
    counted = all(several in ([*range(len(several))], [*range(1, len(several) + 1)]) for several in numbers)
    mark, word = matches[0]["mark"], matches[0]["word"]
    if len(numbers) == len(matches) or not distinct or not (counted or word):
        return None
    if alone:
        optional = f"(?P<series>.+?)({_escape(mark)}{_RUN_GROUP})?{_escape(tail)}"
        return optional, len(runs) + alone
    end = f"{_RUN_GROUP}{_escape(tail)}"
    if len(runs) == 1:
        folder, between, series = matches[0]["series"].rpartition("/")
        if series:
            return f"{_escape(folder + between)}(?P<series>{_escape(series)}){_escape(mark)}{end}", 1
        before, _, after = map(_escape, mark.partition(word or " "))
        return (f"{before}(?P<series>{word}){after}{end}", 1) if word else None
    head = re.sub("[^/]*$", "", _find_common_start(list(runs)))
    same = re.sub("^[^/]*", "", _find_common_start([one[::-1] for one in runs])[::-1])
    return f"{_escape(head)}{_SERIES_GROUP}{_escape(same + mark)}{end}", len(runs)


def _find_common_tail(paths: Sequence[str]) -> str:
    """Return what all paths end in, from a file's suffix or a folder on."""
    common = _find_common_start([path[::-1] for path in paths])[::-1]
    return re.sub(r"^[^./]*(\.(?![A-Za-z])[^./]*)*", "", common)


def _find_common_start(texts: Sequence[str]) -> str:
    same = takewhile(lambda signs: len(set(signs)) == 1, zip(*texts, strict=False))
    return "".join(signs[0] for signs in same)


def _escape(text: str) -> str:
    """Return a regular expression that matches this text only."""
    return _SPECIAL.sub(lambda sign: f"[{sign[1]}]" if sign[1] else f"\\{sign[2]}", text)


def add_seeds(files: Sequence[FileLayout], settings: SourceSettings) -> list[FileLayout] | None:
    """Return tables with the series and seed in their names as columns, if no column has them yet.

    The series of bare seeds is the title of the source, or else the folder. Return None if no name has a
    seed, or two tables would be the same run.
    """
    paths = list(dict.fromkeys(file.path for file in files))
    if len(paths) == 1 or any(file.given for file in files):
        return None
    # Common parts of the paths distinguish nothing.
    folders = shorten_paths(paths)
    runs = [Candidate(StoredRun(one, "", metrics={"": 1}), {}, one, one) for one in folders]
    common = PurePosixPath(os.path.commonpath(str(PurePosixPath(path).parent) for path in paths)).name
    naming = name_runs(runs, SourceSettings(), settings.title or common)
    if not naming.seed_by or naming.indistinct or not all(name.series for name in naming.names):
        return None
    given = {
        path: tuple(zip(_GIVEN, ((name.series,), (name.seed,)), strict=True))
        for path, name in zip(paths, naming.names, strict=True)
    }
    return [replace(file, given=given[file.path]) for file in files]


def report_file_names(location: Location, settings: SourceSettings, survey: Survey) -> Iterator[Diagnostic]:
    """Yield warnings of tables whose names were split, or may have to be, and how to settle it."""
    layout, message = survey.layout, ""
    paths = _list_paths(layout, locate_file(location.path, location.root).file)
    if is_confirmed_by_name(layout, settings):
        return
    if is_named_by_files(layout, settings):
        message = f"series and seeds come from the names of files: {list_names(layout.series)}"
        groups = f"change it with files: and groups such as {_SERIES_GROUP} and {_SEED_GROUP}"
        advice = f"Confirm it with series_from: name in source.yml, or {groups}"
    elif not any((*astuple(layout.roles)[:3], layout.is_chart, layout.outcomes, layout.totals)):
        numbered = detect_numbered_runs(paths) if len({*layout.labels}) > 1 else None
        pattern, count = numbered or ("", len(paths))
        if count < len(paths):
            separate = _SERIES_GROUP + _escape(PurePosixPath(paths[0]).suffix)
            message = (
                f"each of {len(paths)} files is a series of its own, though some differ in numbers alone"
            )
            advice = (
                f"If these count repetitions, say files: {pattern} in source.yml, "
                f"if they are seeds with seed in place of run; if neither, say files: {separate}"
            )
    if message:
        yield Diagnostic(location.place, message, advice, Stage.DATA, Severity.WARNING)


def suggest_files(layout: Layout, settings: SourceSettings) -> dict[str, object]:
    """Suggest the key that confirms series and seeds in the names of tables, if they have any."""
    confirmed = not is_named_by_files(layout, settings) or is_confirmed_by_name(layout, settings)
    return {} if confirmed else {"series_from": "name"}


def is_confirmed_by_name(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether ``series_from: name`` confirms that series and seeds come from the names of files."""
    by = {settings.series_from, settings.seed_from or settings.series_from}
    return by == {"name"} and settings.run_from is None and is_named_by_files(layout, settings)


def is_named_by_files(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether series and seeds come from the names of files, without groups in ``files:``."""
    split = all([name for name, _ in file.given] == _GIVEN for file in layout.files)
    return split and not _has_groups(settings)


def _has_groups(settings: SourceSettings) -> bool:
    """Return whether ``files:`` names parts of paths, and does not only choose files."""
    return "(?P<" in str(settings.files)


def _list_paths(layout: Layout, top: str) -> list[str]:
    return list(dict.fromkeys(file.path.removeprefix(f"{top}/") for file in layout.files))


def suggest_repetitions(settings: SourceSettings, description: Description) -> dict[str, object]:
    """Suggest keys that turn series which differ only in a number of their paths into runs.

    There are none unless series are named after their runs, files or folders, and the runs of each new series
    have the same settings.
    """
    chosen = _has_groups(settings) or settings.series_from or description.seed_by
    if chosen or description.kind != "measurements" or description.series_by not in _PATHS:
        return {}
    runs = description.counts.runs
    paths = list(dict.fromkeys(run.path for run in runs if run.path)) or list(description.read)
    if len(paths) != len(runs):
        return {}
    below = [path.removeprefix(f"{description.path}/") for path in paths]
    pattern, count = detect_numbered_runs(below) or ("", len(description.series))
    if count >= len(description.series):
        return {}
    stored = [StoredRun(run.path, run.run, config=run.config) for run in runs]
    known = find_differences(
        [Candidate(run, {}, path, path) for run, path in zip(stored, below, strict=True)]
    )
    together: dict[str, list[int]] = defaultdict(list)
    for index, path in enumerate(below):
        together[match["series"] if (match := re.fullmatch(pattern, path)) else ""].append(index)
    return {"files": pattern} if all(map(known.is_repeated, together.values())) else {}
