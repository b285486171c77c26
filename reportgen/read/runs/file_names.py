"""Series, seeds and runs in the names of files, as in ``base_seed1.csv`` and ``strict/run_2``."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

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


# Words before a number that mean a repetition; other numbers are as often sizes or rates.
_WORDS: Final = "run|rep|repeat|replicate|repetition|trial|try|attempt|version|rollout"
# What follows the point of 0.1 or the sign of 1e-3 belongs to a value.
_MARK: Final = rf"(?:[_.\- ]|(?<![A-Za-z]))(?:{_WORDS})[_.\- ]?|[_ ]|(?<!\d)\.|(?<!\de)-|"
_PART: Final = re.compile(
    rf"(?P<series>.*?)(?P<mark>{_MARK})(?P<run>[0-9]+)(?P<end>\.[A-Za-z].*)?", re.IGNORECASE
)
_WORD: Final = re.compile(rf"({_WORDS})(.*)", re.IGNORECASE)
# Folders that name no method.
_PLAIN: Final = frozenset(("runs", "run", "logs", "log", "lightning_logs", "outputs", "output", "results"))
# Escaped as a character class, since YAML would double backslashes, or with one if that is impossible.
_SPECIAL: Final = re.compile(r"([.$*+?{}|()])|([\[\]^\\])")
_RUN_GROUP, _SERIES_GROUP, _SEED_GROUP = "(?P<run>[0-9]+)", "(?P<series>.+)", "(?P<seed>[0-9]+)"
# Runs of loggers also have the run.
_GIVEN: Final = ["series", "seed"]
# The number of a seed, after the word or letter for it.
_SEED: Final = re.compile(r"(?:seed|s)[\s_\-=:.#]*(\d+)", re.IGNORECASE)
# Origins of series that rest on names or paths alone.
_PATHS: Final = frozenset(("their names", "their folders", "folders and names", "the names of files"))


class NumberedRuns(NamedTuple):
    """Runs grouped into a few series of several runs."""

    files: str  # a pattern for ``files:`` of ``source.yml``
    rename: dict[str, str]  # series as the pattern gives them: their final names
    series: int  # the resulting number of series


def detect_numbered_runs(paths: Sequence[str], source: str) -> NumberedRuns | None:
    """Return runs as repetitions of a few series if their paths show that, or None.

    All paths must have the same form, some must differ in one number alone, and a word such as ``run`` or
    ``version`` must precede the numbers, or those of each series count up from 0 or 1. ``source`` names the
    series of runs that differ in the number only.
    """
    parts = [PurePosixPath(path).parts for path in paths]
    if len({len(one) for one in parts}) != 1:
        return None
    differing = [index for index in range(len(parts[0])) if len({one[index] for one in parts}) > 1]
    for index in reversed(differing):
        others = [other for other in differing if other != index]
        matches = [match for one in parts if (match := _PART.fullmatch(one[index]))]
        uniform = len({(match["mark"], match["end"]) for match in matches}) == 1
        if len(matches) == len(parts) and len(others) <= 1 and uniform:
            return _build_pattern(parts, others, index, matches, source)
    return None


def _build_pattern(
    parts: Sequence[tuple[str, ...]],
    others: Sequence[int],
    index: int,
    matches: Sequence[re.Match[str]],
    source: str,
) -> NumberedRuns | None:
    """Build the pattern of numbers in one part of the paths, with series before them or in another part."""
    mark, end = matches[0]["mark"], _escape(matches[0]["end"] or "")
    pattern, rename = [_escape(part) for part in parts[0]], {}
    pattern[index] = f"{_escape(mark)}{_RUN_GROUP}{end}"
    before = {match["series"] for match in matches}
    if others and (before == {""} or (mark and len(before) == 1)):
        # The same words before all numbers, such as an environment, if any, and series in another part.
        series = [one[others[0]] for one in parts]
        pattern[others[0]] = "(?P<series>[^/]+)"
        pattern[index] = _escape(before.pop()) + pattern[index]
    elif before != {""}:
        if others or not mark:
            return None
        series = [match["series"] for match in matches]
        pattern[index] = f"{_SERIES_GROUP}{pattern[index]}"
    elif index > 0:
        series = [parts[0][index - 1]] * len(parts)
        pattern[index - 1] = f"(?P<series>{pattern[index - 1]})"
        rename = {series[0]: source} if series[0] in _PLAIN else {}
    elif word := _WORD.fullmatch(mark):
        series, rename = [word[1]] * len(parts), {word[1]: source}
        pattern[index] = f"(?P<series>{word[1]}){_escape(word[2])}{_RUN_GROUP}{end}"
    else:
        return None
    runs: dict[str, list[int]] = defaultdict(list)
    for name, match in zip(series, matches, strict=True):
        runs[name].append(int(match["run"]))
    # Repetitions have each number once, and count up unless a word marks them.
    numbers = [sorted(several) for several in runs.values()]
    distinct = all(len(set(several)) == len(several) for several in numbers)
    counted = all(several in ([*range(len(several))], [*range(1, len(several) + 1)]) for several in numbers)
    if len(numbers) == len(parts) or not distinct or not (counted or _WORD.search(mark)):
        return None
    return NumberedRuns("/".join(pattern), rename, len(runs))


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
        pattern = _build_seed_pattern(layout, paths)
        groups = f"change it with files: and groups such as {_SERIES_GROUP} and {_SEED_GROUP}"
        advice = f"Confirm or change it with files: {pattern} in source.yml"
        advice = advice if pattern else f"Confirm it with series_from: name in source.yml, or {groups}"
    elif not any((*astuple(layout.roles)[:3], settings.files, layout.spread, layout.outcomes, layout.totals)):
        numbered = detect_numbered_runs(paths, settings.title or location.name) if len(paths) > 1 else None
        if numbered and numbered.series < len(paths):
            separate = _SERIES_GROUP + _escape(PurePosixPath(paths[0]).suffix)
            count = len(paths)
            message = f"each of {count} files is a series of its own, though numbers alone tell some apart"
            advice = (
                f"If these count repetitions, say files: {numbered.files} in source.yml, "
                f"if they are seeds with seed in place of run; if neither, say files: {separate}"
            )
    if message:
        yield Diagnostic(location.place, message, advice, Stage.DATA, Severity.WARNING)


def suggest_files(layout: Layout, settings: SourceSettings, top: str) -> dict[str, object]:
    """Suggest the keys that give tables the series and seeds in their names, if they have any."""
    named = is_named_by_files(layout, settings)
    pattern = _build_seed_pattern(layout, _list_paths(layout, top)) if named else ""
    confirmed = not named or is_confirmed_by_name(layout, settings)
    return {"files": pattern} if pattern else {} if confirmed else {"series_from": "name"}


def is_confirmed_by_name(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether ``series_from: name`` confirms that series and seeds come from the names of files."""
    by = {settings.series_from, settings.seed_from or settings.series_from}
    return by == {"name"} and settings.run_from is None and is_named_by_files(layout, settings)


def is_named_by_files(layout: Layout, settings: SourceSettings) -> bool:
    """Return whether series and seeds come from the names of files, without groups in ``files:``."""
    patterns = (settings.files,) if isinstance(settings.files, str) else settings.files or ()
    guessed = not any("(?P<" in pattern for pattern in patterns)
    return guessed and all([name for name, _ in file.given] == _GIVEN for file in layout.files)


def _list_paths(layout: Layout, top: str) -> list[str]:
    return list(dict.fromkeys(file.path.removeprefix(f"{top}/") for file in layout.files))


def _build_seed_pattern(layout: Layout, paths: Sequence[str]) -> str:
    """Build a pattern for ``files:`` that gives tables their series and seeds, empty if impossible."""
    given_by_path = {file.path: {name: values[0] for name, values in file.given} for file in layout.files}
    given = list(given_by_path.values())
    for path, known in zip(paths, given, strict=True):
        series = re.search(rf"(?<![^\W_]){re.escape(known['series'] or '')}(?![^\W_])", path)
        seeds = list(_SEED.finditer(path))
        if known["seed"] is None or not (series and seeds):
            continue
        parts = sorted([(*series.span(), _SERIES_GROUP), (*seeds[-1].span(1), _SEED_GROUP)])
        (start, stop, first), (again, end, second) = parts
        before, between, after = map(_escape, (path[:start], path[stop:again], path[end:]))
        pattern = f"{before}{first}{between}{second}{after}"
        matches = [re.fullmatch(pattern, path) for path in paths]
        return pattern if [match and match.groupdict() for match in matches] == given else ""
    return ""


def suggest_repetitions(settings: SourceSettings, description: Description) -> dict[str, object]:
    """Suggest keys that turn series which differ only in a number of their paths into runs.

    There are none unless series are named after their runs, files or folders, and the runs of each new series
    have the same settings.
    """
    chosen = settings.files or settings.series_from or description.seed_by
    if chosen or description.kind != "measurements" or description.series_by not in _PATHS:
        return {}
    runs = description.counts.runs
    paths = list(dict.fromkeys(run.path for run in runs if run.path)) or list(description.read)
    if len(paths) != len(runs):
        return {}
    below = [path.removeprefix(f"{description.path}/") for path in paths]
    found = detect_numbered_runs(below, settings.title or description.name)
    if not found or found.series >= len(description.series):
        return {}
    stored = [StoredRun(run.path, run.run, config=run.config) for run in runs]
    known = find_differences(
        [Candidate(run, {}, path, path) for run, path in zip(stored, below, strict=True)]
    )
    together: dict[str, list[int]] = defaultdict(list)
    for index, path in enumerate(below):
        together[match["series"] if (match := re.fullmatch(found.files, path)) else ""].append(index)
    if not all(map(known.is_repeated, together.values())):
        return {}
    return {"files": found.files, **({"rename": found.rename} if found.rename else {})}
