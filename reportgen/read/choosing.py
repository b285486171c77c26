"""Which files a source has: all of its folder, or those that ``files:`` names, with what it tells of each."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Problems, ReportError, Stage
from reportgen.read.barred import find_unreadable
from reportgen.read.find import SETTINGS, locate_file, natural_key, walk_files
from reportgen.read.links import find_outward_files, refuse_outward_links
from reportgen.read.path_patterns import match_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reportgen.read.cells import Text
    from reportgen.read.find import Location
    from reportgen.settings.source import SourceSettings

_NAMED_GROUP: Final = "(?P<"
_TWICE: Final = ("**", "**")
_MOST_ANY_DEPTHS: Final = 2
_NO_LABELS: Final[dict[str, Text]] = {}


@dataclass(frozen=True, slots=True)
class ChosenFiles:
    """The files of a source.

    Attributes:
        paths: in reading order.
        labels: for each the named groups of the pattern that chose it; a group that took no part is None.
        named: whether ``files:`` names them, or the source is one file.
        skipped: folders that are not gone into, and why.
        unreadable: those of the paths that may not be read, where they may be data.
    """

    paths: tuple[Path, ...]
    labels: Mapping[Path, Mapping[str, Text]]
    named: bool
    skipped: Mapping[Path, str] = field(default_factory=dict)
    unreadable: frozenset[Path] = frozenset()

    def get_labels(self, path: Path) -> Mapping[str, Text]:
        """What the pattern tells of a file."""
        return self.labels.get(path, _NO_LABELS)


def choose_files(location: Location, settings: SourceSettings) -> ChosenFiles:
    """The files of a source, whatever they hold, in reading order.

    Raises:
        ReportError: a pattern of ``files:`` fits nothing or is not a pattern, there are too many files, or
            links lead out of the repository.
    """
    if not location.path.is_dir():
        refuse_outward_links(find_outward_files((location.path,), location), location)
        return ChosenFiles((location.path,), {}, named=True)
    walk = _FolderWalk(location)
    if settings.files:
        chosen = _match_patterns(settings.files, walk)
    else:
        chosen = ChosenFiles(tuple(walk.list_files(location.path)), {}, named=False)
    refuse_outward_links(walk.outward, location)
    return replace(chosen, skipped=walk.skipped, unreadable=find_unreadable(chosen.paths, named=chosen.named))


@dataclass(frozen=True, slots=True)
class _FolderWalk:
    """A source's folder on the way through it, and what is not gone into; see ``walk_files``."""

    location: Location
    skipped: dict[Path, str] = field(default_factory=dict)
    outward: dict[Path, str] = field(default_factory=dict)

    def list_files(self, folder: Path) -> Iterator[Path]:
        """Every file below a folder of the source."""
        location = self.location
        return walk_files(
            folder, location.root, skipped=self.skipped, boundary=location.boundary, outward=self.outward
        )


def _match_patterns(files: str | tuple[str, ...], walk: _FolderWalk) -> ChosenFiles:
    """The files that ``files:`` names.

    Raises:
        ReportError: a pattern fits nothing or is not a pattern, or there are too many files.
    """
    location = walk.location
    patterns = (files,) if isinstance(files, str) else files
    labels: dict[Path, dict[str, Text]] = {}
    problems = Problems()
    for pattern in patterns:
        with problems.collecting():
            found = (_match_files if _NAMED_GROUP in pattern else _glob_files)(pattern, walk)
            for path, groups in found.items():
                labels.setdefault(path, {}).update(groups)
            if not found and not walk.outward:
                message = f'files: "{pattern}" fits no file in {locate_file(location.path, location.root)}'
                advice = "Patterns are relative to the folder, as in runs/*.csv"
                if _NAMED_GROUP in pattern:
                    advice = "It has to fit the whole path below the folder, as in (?P<series>[^/]+)/log.csv"
                problems.add([Problem(location.place, message, advice, Stage.SETTINGS)])
    problems.raise_errors()
    return ChosenFiles(tuple(labels), labels, named=True)


def _glob_files(pattern: str, walk: _FolderWalk) -> dict[Path, dict[str, Text]]:
    """The files that a pattern fits, and all those below the folders that it fits.

    Raises:
        ReportError: the pattern asks for more ways through the folders than anybody could wait for.
    """
    found: list[Path] = []
    location = walk.location
    # "**/**" fits what "**" does, and would be walked once for each way to part a path in two.
    parts = [part for part, after in pairwise([*PurePath(pattern).parts, ""]) if (part, after) != _TWICE]
    if parts.count("**") > _MOST_ANY_DEPTHS:
        message = f'files: "{pattern}" has "**" more than {_MOST_ANY_DEPTHS} times'
        advice = "Name the folders between them, as in runs/**/logs/**/*.csv"
        raise ReportError(Problem(location.place, message, advice, Stage.SETTINGS))
    if ".." not in parts:
        with suppress(ValueError, NotImplementedError):
            found = sorted(location.path.glob("/".join(parts)), key=natural_key)
    outward = find_outward_files(found, location)
    walk.outward.update(outward)
    files: dict[Path, dict[str, Text]] = {}
    for path in found if not outward else ():
        if path.is_dir():
            files |= {file: {} for file in walk.list_files(path)}
        elif (path.is_file() or path.is_symlink()) and path.name != SETTINGS:
            files[path] = {}
    return files


def _match_files(pattern: str, walk: _FolderWalk) -> dict[Path, dict[str, Text]]:
    """The files whose path below the source fits a regular expression, or that of a folder around them.

    Raises:
        ReportError: the pattern is no regular expression, or there are too many files.
    """
    location = walk.location
    files = list(walk.list_files(location.path))
    parts = {file: list(_outwards(file.relative_to(location.path))) for file in files}
    try:
        matched = match_paths(pattern, dict.fromkeys(part for inner in parts.values() for part in inner))
    except ValueError as error:
        message = f'files: "{pattern}" is no regular expression: {error}'
        advice = (
            "A text with (?P< is read as one, as in runs/(?P<series>[^/]+)/seed_(?P<seed>[0-9]+)/log.csv; "
            "it cannot look around, nor refer to its own groups"
        )
        raise ReportError(Problem(location.place, message, advice, Stage.SETTINGS)) from None
    nearest = {file: next((part for part in inner if part in matched), None) for file, inner in parts.items()}
    return {file: matched[part] for file, part in nearest.items() if part is not None}


def _outwards(path: PurePath) -> Iterator[str]:
    """A path and those of the folders around it."""
    yield path.as_posix()
    yield from (parent.as_posix() for parent in path.parents if parent.name)
