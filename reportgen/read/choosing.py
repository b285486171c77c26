"""Which files a source has: all of its folder, or those that ``files:`` names, with what it tells of each."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, Problems, ReportError, Stage
from reportgen.read.barred import barred_files
from reportgen.read.find import SETTINGS, all_files, natural, place_of
from reportgen.read.links import outward_files, refuse_outward_links

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reportgen.errors import Place
    from reportgen.read.cells import Text
    from reportgen.read.find import Location
    from reportgen.settings.source import SourceSettings

_NAMED_GROUP: Final = "(?P<"
_NO_LABELS: Final[dict[str, Text]] = {}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The files of a source.

    Attributes:
        paths: in reading order.
        labels: for each the named groups of the pattern that chose it; a group that took no part is None.
        named: whether ``files:`` names them, or the source is one file.
        barred: folders that are not gone into, and why.
        unread: those of the paths that may not be read, where they may be data.
    """

    paths: tuple[Path, ...]
    labels: Mapping[Path, Mapping[str, Text]]
    named: bool
    barred: Mapping[Path, str] = field(default_factory=dict)
    unread: frozenset[Path] = frozenset()

    def labels_of(self, path: Path) -> Mapping[str, Text]:
        """What the pattern tells of a file."""
        return self.labels.get(path, _NO_LABELS)


def choose_files(location: Location, settings: SourceSettings) -> Chosen:
    """The files of a source, whatever they hold, in reading order.

    Raises:
        ReportError: a pattern of ``files:`` fits nothing or is not a pattern, there are too many files, or
            links lead out of the repository.
    """
    if not location.path.is_dir():
        refuse_outward_links(outward_files((location.path,), location), location)
        return Chosen((location.path,), {}, named=True)
    walked = _Walked(location)
    if settings.files:
        chosen = _named(settings.files, walked)
    else:
        chosen = Chosen(tuple(walked.files(location.path)), {}, named=False)
    refuse_outward_links(walked.outward, location)
    return replace(chosen, barred=walked.barred, unread=barred_files(chosen.paths, named=chosen.named))


@dataclass(frozen=True, slots=True)
class _Walked:
    """A source's folder on the way through it, and what is not gone into; see ``all_files``."""

    location: Location
    barred: dict[Path, str] = field(default_factory=dict)
    outward: dict[Path, str] = field(default_factory=dict)

    def files(self, folder: Path) -> Iterator[Path]:
        """Every file below a folder of the source."""
        location = self.location
        return all_files(
            folder, location.root, barred=self.barred, boundary=location.boundary, outward=self.outward
        )


def _named(asked: str | tuple[str, ...], walked: _Walked) -> Chosen:
    """The files that ``files:`` names.

    Raises:
        ReportError: a pattern fits nothing or is not a pattern, or there are too many files.
    """
    location = walked.location
    patterns = (asked,) if isinstance(asked, str) else asked
    labels: dict[Path, dict[str, Text]] = {}
    problems = Problems()
    for pattern in patterns:
        with problems.collecting():
            found = (_matched if _NAMED_GROUP in pattern else _globbed)(pattern, walked)
            for path, groups in found.items():
                labels.setdefault(path, {}).update(groups)
            if not found and not walked.outward:
                message = f'files: "{pattern}" fits no file in {place_of(location.path, location.root)}'
                advice = "Patterns are relative to the folder, as in runs/*.csv"
                if _NAMED_GROUP in pattern:
                    advice = "It has to fit the whole path below the folder, as in (?P<series>[^/]+)/log.csv"
                problems.add([Problem(location.place, message, advice, Stage.SETTINGS)])
    problems.raise_errors()
    return Chosen(tuple(labels), labels, named=True)


def _globbed(pattern: str, walked: _Walked) -> dict[Path, dict[str, Text]]:
    """The files that a pattern fits, and all those below the folders that it fits."""
    found: list[Path] = []
    location = walked.location
    if ".." not in PurePath(pattern).parts:
        with suppress(ValueError, NotImplementedError):
            found = sorted(location.path.glob(pattern), key=natural)
    outward = outward_files(found, location)
    walked.outward.update(outward)
    files: dict[Path, dict[str, Text]] = {}
    for path in found if not outward else ():
        if path.is_dir():
            files |= {file: {} for file in walked.files(path)}
        elif (path.is_file() or path.is_symlink()) and path.name != SETTINGS:
            files[path] = {}
    return files


def _matched(pattern: str, walked: _Walked) -> dict[Path, dict[str, Text]]:
    """The files whose path below the source fits a regular expression, or that of a folder around them."""
    location = walked.location
    expression = _compiled(pattern, location.place)
    files: dict[Path, dict[str, Text]] = {}
    for file in walked.files(location.path):
        for part in _outwards(file.relative_to(location.path)):
            if match := expression.fullmatch(part):
                files[file] = match.groupdict()
                break
    return files


def _outwards(path: PurePath) -> Iterator[str]:
    """A path and those of the folders around it."""
    yield path.as_posix()
    yield from (parent.as_posix() for parent in path.parents if parent.name)


def _compiled(pattern: str, place: Place) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError) as error:
        message = f'files: "{pattern}" is no regular expression: {error}'
        advice = "A text with (?P< is read as one, as in runs/(?P<series>[^/]+)/seed_(?P<seed>[0-9]+)/log.csv"
        raise ReportError(Problem(place, message, advice, Stage.SETTINGS)) from None
