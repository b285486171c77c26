"""Finding sources, and the files of one: all below its folder, or those that ``files:`` matches."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.cache import list_entries
from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, SourceLocation, Stage
from reportgen.core.repository import Boundary, is_hidden, resolve_path
from reportgen.core.words import join_names, suggest_name
from reportgen.formats.files import get_archive_ending, natural_key, split_ending, split_weak_ending
from reportgen.formats.messages import list_names, merge_problems
from reportgen.formats.registry import is_data_name
from reportgen.formats.tables.printed import holds_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reportgen.formats.cells import Text
    from reportgen.settings.source import SourceSettings


# The text after the last dot of an event file's name is not a suffix.
_EVENTS: Final = "events.out."
SETTINGS: Final = "source.yml"
MOST_FILES: Final = 200_000
DEEPEST: Final = 100  # deepest nesting of folders in a source


class Location(Struct, frozen=True):
    """A source's file or folder, under the name that blocks use."""

    name: str
    path: Path
    root: Path  # base of the locations of problems
    settings: Path  # the ``source.yml``, whether there is one or not
    boundary: Boundary | None = None  # without one, links may lead anywhere
    shown: SourceLocation | None = None  # the place of a source that was unpacked from there

    @property
    def place(self) -> SourceLocation:
        """Location of problems of the whole source: its settings, otherwise the file or folder."""
        return self.shown or locate_file(self.settings if self.has_settings else self.path, self.root)

    @property
    def has_settings(self) -> bool:
        """Whether a ``source.yml`` exists; false if its folder may not be entered."""
        return os.path.isfile(self.settings)  # noqa: PTH113 - pathlib raises where a folder may not be entered


@lru_cache(maxsize=1024)
def locate_file(path: Path | str, root: Path, line: int | None = None) -> SourceLocation:
    """Return a file's location as users know it: relative to a root above it, with forward slashes."""
    # As ``relative_to`` does, which takes ten times as long.
    name = "." if path == root else str(path).removeprefix(os.path.join(root, ""))  # noqa: PTH118
    return SourceLocation(name.replace(os.sep, "/"), line)


def find_sources(
    project_root: Path,
    data_dir: str,
    boundary: Boundary | None = None,
    outward: dict[Path, str] | None = None,
) -> tuple[str, ...]:
    """Return the names of all sources below the data folder, in natural order.

    There are none without such a folder. Links that leave the boundary are not followed but added to
    ``outward`` with their targets. Two sources of the same name are an error.
    """
    data = project_root / data_dir
    if not data.is_dir():
        return ()
    names: dict[str, list[Path]] = {}
    tops = [data / entry for entry in list_entries(data)]
    for file in sorted(_list_files(tops), key=natural_key):
        names.setdefault(split_ending(file)[0], []).append(file)
    # Every folder with data somewhere below it is a source.
    walk = FolderWalk(data.parent, boundary, nested_sources=True, outward={} if outward is None else outward)
    files = (file for file in walk.list_files(data) if is_data_name(file.name) or holds_table(file))
    for folder in sorted({parent for file in files for parent in file.parents}, key=natural_key):
        if folder != data and folder.is_relative_to(data):
            names.setdefault(folder.relative_to(data).as_posix(), []).append(folder)
    for file in sorted(_list_files(tops, of_units=True), key=natural_key):
        # A log next to a table of the same name is not a source of its own; an archive is one.
        if get_archive_ending(file.name) or _name_source(file) not in names:
            names.setdefault(_name_source(file), []).append(file)
    if clashes := [(name, paths) for name, paths in names.items() if len(paths) > 1]:
        raise ReportError(*(_report_clash(name, paths, project_root) for name, paths in clashes))
    return tuple(sorted(names, key=lambda name: natural_key(Path(name))))


def locate(
    project_root: Path, data_dir: str, name: str, boundary: Boundary | None, entries: Sequence[str]
) -> Location:
    """Return a source's file, one of the data folder's ``entries``, or folder; raises unless there is one."""
    data = project_root / data_dir
    parts = PurePosixPath(name).parts
    found: list[Path] = []
    if parts and ".." not in parts and not PurePosixPath(name).is_absolute() and "\0" not in name:
        folder = data.joinpath(*parts)
        found = [folder] if folder.is_dir() else []
        if len(parts) == 1:
            near = [data / entry for entry in entries if entry.startswith(name) and (data / entry).exists()]
            found += [path for path in _list_files(near) if split_ending(path)[0] == name]
            units = [one for one in _list_files(near, of_units=True) if _name_source(one) == name]
            found += [one for one in units if get_archive_ending(one.name)] if found else units
            # Whoever opens any other file says why it is not read.
            found = found or [at for at in near if (at.stem, at.suffix == ".dvc") == (name, False)][:1]
    if len(found) > 1:
        raise ReportError(_report_clash(name, found, project_root))
    if not found:
        message = f'there is no source "{name}" in {data_dir}/'
        for path in sorted(data.iterdir()) if data.is_dir() else ():
            if path.name.startswith(f"{name}.") and (path.suffix == ".dvc" or not path.exists()):
                command = "dvc pull" if path.suffix == ".dvc" else "git annex get"
                advice = f"{data_dir}/{path.name} stands for data that are not here: run {command}"
                raise ReportError(Diagnostic(SourceLocation(data_dir), message, advice, Stage.DATA))
        known = find_sources(project_root, data_dir, boundary)
        tops = [one for one in known if "/" not in one]  # nested folders are parts of these
        there = f"The {'sources are' if len(tops) > 1 else 'only source is'} {list_names(tops)}"
        listed = ", " in name and {*name.split(", ")} <= {*known}
        hint = f"Write several as source: [{name}]. " if listed else suggest_name(name, known)
        advice = f"{hint}{there}" if tops else ""
        raise ReportError(Diagnostic(SourceLocation(data_dir), message, advice, Stage.DATA))
    return make_location(found[0], PurePosixPath(*parts).as_posix(), project_root, boundary)


def make_location(path: Path, name: str, root: Path, boundary: Boundary | None = None) -> Location:
    """Return the location of a known file or folder, named after it unless a name is given."""
    own_name = path.name if path.is_dir() else _name_source(path)
    settings, near = path / SETTINGS, path.with_name(f"{own_name}.{SETTINGS}")
    # A folder that a link leads to may be others', so its settings may be next to the link.
    if not path.is_dir() or (path.is_symlink() and near.is_file()):
        settings = near
    return Location(name or own_name, path, root, settings, boundary)


def _name_source(path: Path) -> str:
    """Return the name of a source that is one file, without its suffixes."""
    if ending := get_archive_ending(path.name):
        return path.name.removesuffix(ending)
    name, kind = split_weak_ending(path)
    return name if kind or name.startswith(_EVENTS) else PurePosixPath(name).stem


def _list_files(paths: Iterable[Path], *, of_units: bool = False) -> Iterator[Path]:
    """Yield the tables among paths in the data folder, or the units if ``of_units``."""
    for path in paths:
        skipped = path.name.startswith(".") or path.name.endswith(SETTINGS)
        if skipped or bool(split_ending(path)[1]) is of_units or not path.is_file():
            continue
        if is_data_name(path.name) or holds_table(path):
            yield path


def _report_clash(name: str, paths: list[Path], root: Path) -> Diagnostic:
    paths = sorted(paths, key=natural_key)
    shown = join_names([f"{locate_file(path, root)}{'/' if path.is_dir() else ''}" for path in paths])
    message = f'{len(paths)} sources have the name "{name}": {shown}'
    return Diagnostic(locate_file(paths[0], root), message, "Rename or remove all but one", Stage.DATA)


class FolderWalk(Struct, frozen=True):
    """A walk through folders, and what it skips. Without a boundary all links are followed."""

    root: Path  # base of the locations of problems
    boundary: Boundary | None = None
    nested_sources: bool = False  # whether to enter folders with a ``source.yml``, sources of their own
    skipped: dict[Path, str] = field(default_factory=dict)  # skipped folders, and why
    outward: dict[Path, str] = field(default_factory=dict)  # links that leave the boundary, and their targets

    def list_files(self, folder: Path) -> Iterator[Path]:
        """Yield every file below a folder except hidden ones, in natural order, each once despite links."""
        seen: set[str] = set()
        place = locate_file(folder, self.root)
        for path, real in self._walk(folder, (resolve_path(folder),), set(), place):
            if real not in seen:
                seen.add(real)
                yield path
            if len(seen) > MOST_FILES:
                message = f"the folder holds more than {MOST_FILES:,} files"
                advice = "Name those to read with files: in source.yml, or move the others elsewhere"
                raise ReportError(Diagnostic(place, message, advice, Stage.DATA))

    def _walk(
        self, folder: Path, above: tuple[str, ...], walked: set[str], top: SourceLocation
    ) -> Iterator[tuple[Path, str]]:
        """Yield the files below a folder with their real paths; ``above`` ends with this folder's own."""
        walked.add(above[-1])
        if len(above) > DEEPEST + 1:
            message = f"its folders are nested more than {DEEPEST} deep"
            raise ReportError(Diagnostic(top, message, "Move the data further up", Stage.DATA))
        try:
            with os.scandir(folder) as entries:
                found = [(entry.is_symlink(), natural_key(Path(entry.name)), entry) for entry in entries]
        except OSError as error:
            self.skipped[folder] = f"the folder cannot be opened: {error.strerror or error}; it is left out"
            return
        if found and not os.access(folder, os.X_OK):
            self.skipped[folder] = "the folder cannot be opened: Permission denied; it is left out"
            return
        # Files and folders come before links to them, so that the links are skipped.
        visible = (one for one in found if one[2].name != SETTINGS and not is_hidden(one[2].name))
        for linked, _, entry in sorted(visible, key=lambda one: one[:2]):
            path = folder / entry.name
            real = os.path.join(above[-1], entry.name)  # noqa: PTH118
            if linked:
                # The target or, if it may not be read, as in another user's process, the link itself.
                real = str(path)
                with suppress(OSError):
                    real = resolve_path(path)
            if os.path.isdir(path) if linked else entry.is_dir():  # noqa: PTH112 - pathlib raises at loops
                if real not in walked and self._is_entered(path, real, above if linked else ()):
                    yield from self._walk(path, (*above, real), walked, top)
            elif linked and self._check_outward(path, real):
                continue
            elif entry.is_file() if not linked else os.path.isfile(path) or not os.path.exists(path):  # noqa: PTH110, PTH113
                # A broken link is reported by its reader; reading a pipe through a link would block.
                yield path, real

    def _is_entered(self, path: Path, real: str, above: tuple[str, ...]) -> bool:
        """Return whether to enter a folder: not another source, nor a link to a folder around it."""
        if any(PurePosixPath(one).is_relative_to(real) for one in above):
            self.skipped[path] = "the link leads to a folder that the source is in; it is not followed"
            return False
        if above and self._check_outward(path, real):
            return False
        return self.nested_sources or not os.path.isfile(path / SETTINGS)  # noqa: PTH113 - as above

    def _check_outward(self, link: Path, real: str) -> bool:
        """Return whether a link leaves the boundary, and record it."""
        if self.boundary is None or self.boundary.contains(real):
            return False
        self.outward[link] = real
        return True


_NAMED_GROUP: Final = "(?P<"
_TWICE: Final = ("**", "**")
_MOST_ANY_DEPTHS: Final = 2


class ChosenFiles(Struct, frozen=True):
    """The files of a source in reading order."""

    paths: tuple[Path, ...]
    labels: Mapping[Path, Mapping[str, Text]]  # the named groups of the pattern that matched each file
    named: bool  # whether ``files:`` names them, or the source is one file
    skipped: Mapping[Path, str] = field(default_factory=dict)  # skipped folders, and why
    unreadable: frozenset[Path] = frozenset()  # files without read permission that may be data

    def get_labels(self, path: Path) -> Mapping[str, Text]:
        """Return the named groups that the pattern found in a file's path."""
        return self.labels.get(path, {})


def choose_files(location: Location, settings: SourceSettings) -> ChosenFiles:
    """Return the files of a source in reading order, whatever their format.

    Patterns of ``files:`` that match nothing, too many files and links out of the repository are errors.
    """
    if not location.path.is_dir():
        _refuse_outward_links(_find_outward_files([location.path], location), location)
        return ChosenFiles((location.path,), {}, named=True)
    walk = FolderWalk(location.root, location.boundary)
    labels: dict[Path, dict[str, Text]] = {}
    problems = Diagnostics()
    for pattern in (settings.files,) if isinstance(settings.files, str) else settings.files or ():
        with problems.collecting():
            found = (_match_files if _NAMED_GROUP in pattern else _glob_files)(pattern, location, walk)
            for path, groups in found.items():
                labels.setdefault(path, {}).update(groups)
            if not found and not walk.outward:
                message = f'files: "{pattern}" matches no file in {locate_file(location.path, location.root)}'
                advice = "Patterns are relative to the folder, as in runs/*.csv"
                if _NAMED_GROUP in pattern:
                    advice = "It must match the whole path below the folder, as in (?P<series>[^/]+)/log.csv"
                problems.add([Diagnostic(location.place, message, advice, Stage.SETTINGS)])
    problems.raise_errors()
    named = bool(settings.files)
    paths = tuple(labels) if named else tuple(walk.list_files(location.path))
    _refuse_outward_links(walk.outward, location)
    # Files without read permission count if the user named them or their names look like data.
    data = (path for path in paths if named or is_data_name(path.name))
    unreadable = frozenset(path for path in data if not os.access(path, os.R_OK) and path.exists())
    return ChosenFiles(paths, labels, named, walk.skipped, unreadable)


def _glob_files(pattern: str, location: Location, walk: FolderWalk) -> dict[Path, dict[str, Text]]:
    """Return the files that a pattern matches, and all files below the folders that it matches."""
    found: list[Path] = []
    # "**/**" matches what "**" does, but walks once for each way to split a path in two.
    parts = [part for part, after in pairwise([*PurePath(pattern).parts, ""]) if (part, after) != _TWICE]
    if parts.count("**") > _MOST_ANY_DEPTHS:
        message = f'files: "{pattern}" has "**" more than {_MOST_ANY_DEPTHS} times'
        advice = "Name the folders between them, as in runs/**/logs/**/*.csv"
        raise ReportError(Diagnostic(location.place, message, advice, Stage.SETTINGS))
    if ".." not in parts:
        with suppress(ValueError, NotImplementedError):
            found = sorted(location.path.glob("/".join(parts)), key=natural_key)
    outward = _find_outward_files(found, location)
    walk.outward.update(outward)
    files: dict[Path, dict[str, Text]] = {}
    for path in found if not outward else ():
        if path.is_dir():
            files |= {file: {} for file in walk.list_files(path)}
        elif (path.is_file() or path.is_symlink()) and path.name != SETTINGS:
            files[path] = {}
    return files


def _match_files(pattern: str, location: Location, walk: FolderWalk) -> dict[Path, dict[str, Text]]:
    """Return the files whose path below the source, or that of a parent folder, matches a regex."""
    # The path of each file and those of its parent folders, innermost first.
    parts: dict[Path, list[str]] = {}
    for file in walk.list_files(location.path):
        path = file.relative_to(location.path)
        parts[file] = [path.as_posix(), *(parent.as_posix() for parent in path.parents if parent.name)]
    try:
        matched = _match_paths(pattern, dict.fromkeys(part for inner in parts.values() for part in inner))
    except ValueError as error:
        message = f'files: "{pattern}" is not a valid regular expression: {error}'
        advice = (
            "A text with (?P< is read as one, as in runs/(?P<series>[^/]+)/seed_(?P<seed>[0-9]+)/log.csv; "
            "it cannot look around, nor refer to its own groups"
        )
        raise ReportError(Diagnostic(location.place, message, advice, Stage.SETTINGS)) from None
    nearest = {file: next((part for part in inner if part in matched), None) for file, inner in parts.items()}
    return {file: matched[part] for file, part in nearest.items() if part is not None}


_PIECE: Final = re.compile(r"\\(.)|(\[\^?\]?)|(\])|\(\?P?<(\w+)>|(\((?!\?))|.", re.DOTALL)
# In Python these match letters and digits of all languages.
_ESCAPES: Final = {"w": r"[\p{L}\p{N}_]", "W": r"[^\p{L}\p{N}_]", "d": r"\p{Nd}", "D": r"\P{Nd}", "Z": r"\z"}
_IN_A_CLASS: Final = {"w": r"\p{L}\p{N}_", "d": r"\p{Nd}", "D": r"\P{Nd}"}


def _match_paths(pattern: str, paths: Iterable[str]) -> dict[str, dict[str, Text]]:
    """Return the paths that a pattern matches as a whole, each with its named groups.

    A group that is empty or did not take part is None; a pattern unknown to RE2 raises ``ValueError``.
    """
    import duckdb  # noqa: PLC0415 - most sources have no such pattern

    from reportgen.formats.sql import get_engine  # noqa: PLC0415 - as above

    # The Python pattern translated to RE2, and the names of its groups in order, empty if unnamed.
    translated, names, in_class = "", [], False
    for piece in _PIECE.finditer(pattern):
        name = "" if in_class else piece[4] or ""
        meaning = (_IN_A_CLASS if in_class else _ESCAPES).get(piece[1] or "")
        translated += meaning or (f"(?P<{name}>" if name else piece[0])
        if not in_class and (name or piece[5]):
            names.append(name)
        if piece[2] or piece[3]:
            in_class = bool(piece[2])
    if twice := next((name for index, name in enumerate(names) if name and name in names[:index]), ""):
        raise ValueError(f"two groups are called {twice}")
    # A name that is not UTF-8 is shown and matched with a mark for each invalid byte.
    by_text = {path.encode("utf-8", "replace").decode(): path for path in paths}
    listed = ", ".join(f"'{index}'" for index in range(len(names)))
    statement = (
        f"SELECT path, regexp_extract(path, $whole, [{listed}]) "  # noqa: S608 - numbers only
        "FROM (SELECT unnest($paths) AS path) WHERE regexp_full_match(path, $pattern)"
    )
    given = {"whole": f"^(?:{translated})$", "pattern": translated, "paths": list(by_text)}
    try:
        rows = get_engine().open_cursor().execute(statement, given).fetchall()
    except (duckdb.InvalidInputException, duckdb.BinderException) as error:
        text = re.sub("^.*?Error: (Pattern failed to parse: )?", "", str(error))
        raise ValueError(text.removesuffix(f": {translated}").removesuffix(f": {given['whole']}")) from None
    return {
        by_text[path]: {name: groups[str(index)] or None for index, name in enumerate(names) if name}
        for path, groups in rows
    }


_OUTWARD_ADVICE: Final = (
    "Put what it leads to into the repository, or set follow_links: true for the reportgen plugin in "
    "mkdocs.yml if you trust everyone who may change the data"
)
_ANNEX_ADVICE: Final = "Run git annex get and git annex unlock, also where the site is built"
_DATABASE_PARTS: Final = ("-wal", "-shm", "-journal")


def refuse_outward_source(location: Location) -> None:
    """Refuse a source whose file, folder or ``source.yml`` is a link out of the repository."""
    _refuse_outward_links(_find_outward([location.path, location.settings], location), location)


def _refuse_outward_links(found: Mapping[Path, str], location: Location) -> None:
    """Refuse links of a source that lead out of the repository, given with their targets."""
    for link, target in found.items():
        if location.path.parent not in link.parents:
            # A problem of the whole data folder is reported at the page that uses it.
            place = locate_file(link, location.root)
            raise ReportError(_report_link(place, f'the link "{place}"', target))
    if found:
        raise ReportError(*report_links(found, location.root))


def report_links(
    found: Mapping[Path, str], root: Path, severity: Severity = Severity.ERROR
) -> Iterator[Diagnostic]:
    """Yield the problems of links that lead out, merging those at one place."""
    problems = (_report_link(locate_file(link, root), "this link", target) for link, target in found.items())
    return merge_problems(replace(one, severity=severity) for one in problems)


def _report_link(place: SourceLocation, name: str, end: str) -> Diagnostic:
    # Quoted as in Python, so that a terminal obeys no control characters.
    advice = _ANNEX_ADVICE if "/.git/annex/" in end else _OUTWARD_ADVICE
    return Diagnostic(place, f"{name} leads out of the repository, to {end!r}", advice, Stage.DATA)


def _find_outward_files(paths: Sequence[Path], location: Location) -> dict[Path, str]:
    """Return outward links on the way to named files or folders, and next to them, with targets."""
    linked = [path for path in paths if path.is_symlink()]
    around = (folder for path in paths for folder in (path.parent, *path.parent.parents))
    folders = {one for one in around if one.is_relative_to(location.path)} | {one.parent for one in paths}
    if location.path.is_dir():
        # Links to files, such as the companion files of a database.
        for folder in sorted(folders):
            with suppress(OSError), os.scandir(folder) as entries:
                linked += [folder / one.name for one in entries if one.is_symlink() and not one.is_dir()]
    else:
        # A file that is a source may have thousands of other sources next to it.
        parts = (location.path.with_name(location.path.name + ending) for ending in _DATABASE_PARTS)
        linked += (part for part in parts if part.is_symlink())
    return _find_outward([*sorted(folders - set(location.path.parents)), *linked], location)


def _find_outward(paths: Iterable[Path], location: Location) -> dict[Path, str]:
    """Return the first outward link on the way to each path, with its target."""
    boundary, found = location.boundary, dict[Path, str]()
    for path in paths:
        if boundary and (target := boundary.resolve_outside(path)):
            below = (one for one in (*reversed(path.parents), path) if one.is_relative_to(location.root))
            link = next((one for one in below if one.is_symlink() and boundary.resolve_outside(one)), path)
            found[link] = boundary.resolve_outside(link) or target
    return found
