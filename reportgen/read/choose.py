"""The files of a source: all of its folder, or those that ``files:`` matches."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Stage
from reportgen.formats.files import natural_key
from reportgen.read.find import SETTINGS, FolderWalk, locate_file
from reportgen.read.unread import find_outward_files, find_unreadable, refuse_outward_links

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from reportgen.formats.cells import Text
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
    walk = FolderWalk(location.root, location.boundary)
    labels = _match_patterns(settings.files, location, walk) if settings.files else {}
    paths = tuple(labels) if settings.files else tuple(walk.list_files(location.path))
    refuse_outward_links(walk.outward, location)
    named = bool(settings.files)
    return ChosenFiles(paths, labels, named, walk.skipped, find_unreadable(paths, named=named))


def _match_patterns(
    files: str | tuple[str, ...], location: Location, walk: FolderWalk
) -> dict[Path, dict[str, Text]]:
    """The files that ``files:`` names, each with the named groups of its patterns."""
    labels: dict[Path, dict[str, Text]] = {}
    problems = Diagnostics()
    for pattern in (files,) if isinstance(files, str) else files:
        with problems.collecting():
            found = (_match_files if _NAMED_GROUP in pattern else _glob_files)(pattern, location, walk)
            for path, groups in found.items():
                labels.setdefault(path, {}).update(groups)
            if not found and not walk.outward:
                message = f'files: "{pattern}" fits no file in {locate_file(location.path, location.root)}'
                advice = "Patterns are relative to the folder, as in runs/*.csv"
                if _NAMED_GROUP in pattern:
                    advice = "It has to fit the whole path below the folder, as in (?P<series>[^/]+)/log.csv"
                problems.add([Diagnostic(location.place, message, advice, Stage.SETTINGS)])
    problems.raise_errors()
    return labels


def _glob_files(pattern: str, location: Location, walk: FolderWalk) -> dict[Path, dict[str, Text]]:
    """The files that a pattern fits, and all those below the folders that it fits."""
    found: list[Path] = []
    # "**/**" fits what "**" does, and would be walked once for each way to part a path in two.
    parts = [part for part, after in pairwise([*PurePath(pattern).parts, ""]) if (part, after) != _TWICE]
    if parts.count("**") > _MOST_ANY_DEPTHS:
        message = f'files: "{pattern}" has "**" more than {_MOST_ANY_DEPTHS} times'
        advice = "Name the folders between them, as in runs/**/logs/**/*.csv"
        raise ReportError(Diagnostic(location.place, message, advice, Stage.SETTINGS))
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


def _match_files(pattern: str, location: Location, walk: FolderWalk) -> dict[Path, dict[str, Text]]:
    """The files whose path below the source fits a regular expression, or that of a folder around them."""
    files = list(walk.list_files(location.path))
    below = {file: file.relative_to(location.path) for file in files}
    # The path of each file, and those of the folders around it, outwards.
    parts = {
        file: [path.as_posix(), *(parent.as_posix() for parent in path.parents if parent.name)]
        for file, path in below.items()
    }
    try:
        matched = match_paths(pattern, dict.fromkeys(part for inner in parts.values() for part in inner))
    except ValueError as error:
        message = f'files: "{pattern}" is no regular expression: {error}'
        advice = (
            "A text with (?P< is read as one, as in runs/(?P<series>[^/]+)/seed_(?P<seed>[0-9]+)/log.csv; "
            "it cannot look around, nor refer to its own groups"
        )
        raise ReportError(Diagnostic(location.place, message, advice, Stage.SETTINGS)) from None
    nearest = {file: next((part for part in inner if part in matched), None) for file, inner in parts.items()}
    return {file: matched[part] for file, part in nearest.items() if part is not None}


_PIECE: Final = re.compile(r"\\(.)|(\[\^?\]?)|(\])|\(\?P?<(\w+)>|(\((?!\?))|.", re.DOTALL)
# In Python these know the letters and digits of all languages.
_ESCAPES: Final = {"w": r"[\p{L}\p{N}_]", "W": r"[^\p{L}\p{N}_]", "d": r"\p{Nd}", "D": r"\P{Nd}", "Z": r"\z"}
_IN_A_CLASS: Final = {"w": r"\p{L}\p{N}_", "d": r"\p{Nd}", "D": r"\P{Nd}"}


def match_paths(pattern: str, paths: Iterable[str]) -> dict[str, dict[str, Text]]:
    """The paths that a pattern fits as a whole, each with its groups that have a name.

    A group that took no part, or is empty, is None.

    Raises:
        ValueError: RE2 knows no such pattern; the text is its own.
    """
    import duckdb  # noqa: PLC0415 - most sources have no such pattern

    from reportgen.formats.engine import get_engine  # noqa: PLC0415 - as above

    # A name that is no UTF-8 is shown with a mark for each wrong byte, and matched as it is shown.
    by_text = {path.encode("utf-8", "replace").decode(): path for path in paths}
    translated, names = _translate(pattern)
    if twice := next((name for index, name in enumerate(names) if name and name in names[:index]), ""):
        raise ValueError(f"two groups are called {twice}")
    listed = ", ".join(f"'{index}'" for index in range(len(names)))
    statement = (
        f"SELECT path, regexp_extract(path, $whole, [{listed}]) "  # noqa: S608 - numbers only
        "FROM (SELECT unnest($paths) AS path) WHERE regexp_full_match(path, $pattern)"
    )
    given = {"whole": f"^(?:{translated})$", "pattern": translated, "paths": list(by_text)}
    try:
        rows = get_engine().open_cursor().execute(statement, given).fetchall()
    except (duckdb.InvalidInputException, duckdb.BinderException) as error:
        text = str(error).partition("Error: ")[2] or str(error)
        raise ValueError(text.removesuffix(f": {translated}")) from None
    return {
        by_text[path]: {name: groups[str(index)] or None for index, name in enumerate(names) if name}
        for path, groups in rows
    }


def _translate(pattern: str) -> tuple[str, list[str]]:
    """A pattern of Python's as one of RE2's, and the name of each group in its order, empty without one."""
    translated, names, in_class = [], [], False
    for piece in _PIECE.finditer(pattern):
        name = "" if in_class else piece[4] or ""
        meaning = (_IN_A_CLASS if in_class else _ESCAPES).get(piece[1] or "")
        translated.append(meaning or (f"(?P<{name}>" if name else piece[0]))
        if not in_class and (name or piece[5]):
            names.append(name)
        if piece[2] or piece[3]:
            in_class = bool(piece[2])
    return "".join(translated), names
