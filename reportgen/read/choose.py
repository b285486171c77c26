"""The files of a source: all of its folder, or those that ``files:`` matches; and why others are not read."""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, SourceLocation, Stage
from reportgen.core.words import join_names
from reportgen.formats.files import Content, natural_key, split_ending
from reportgen.formats.messages import list_names, merge_problems
from reportgen.formats.registry import is_unit_name
from reportgen.read.find import SETTINGS, FolderWalk, locate_file
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.cells import Text
    from reportgen.read.find import Location
    from reportgen.settings.source import SourceSettings


_NAMED_GROUP: Final = "(?P<"
_TWICE: Final = ("**", "**")
_MOST_ANY_DEPTHS: Final = 2


@dataclass(frozen=True, slots=True)
class ChosenFiles:
    """The files of a source in reading order."""

    paths: tuple[Path, ...]
    labels: Mapping[Path, Mapping[str, Text]]  # the named groups of the pattern that chose each
    named: bool  # whether ``files:`` names them, or the source is one file
    skipped: Mapping[Path, str] = field(default_factory=dict)  # folders that are not gone into, and why
    unreadable: frozenset[Path] = frozenset()  # those that may not be read, where they may be data

    def get_labels(self, path: Path) -> Mapping[str, Text]:
        """What the pattern tells of a file."""
        return self.labels.get(path, {})


def choose_files(location: Location, settings: SourceSettings) -> ChosenFiles:
    """The files of a source, whatever they hold, in reading order.

    Patterns of ``files:`` that fit nothing, too many files, and links out of the repository are errors.
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
                message = f'files: "{pattern}" fits no file in {locate_file(location.path, location.root)}'
                advice = "Patterns are relative to the folder, as in runs/*.csv"
                if _NAMED_GROUP in pattern:
                    advice = "It has to fit the whole path below the folder, as in (?P<series>[^/]+)/log.csv"
                problems.add([Diagnostic(location.place, message, advice, Stage.SETTINGS)])
    problems.raise_errors()
    named = bool(settings.files)
    paths = tuple(labels) if named else tuple(walk.list_files(location.path))
    _refuse_outward_links(walk.outward, location)
    # Files that may not be read count where the user named them or their names may be of data.
    data = (path for path in paths if named or split_ending(path)[1] or is_unit_name(path.name))
    unreadable = frozenset(path for path in data if not os.access(path, os.R_OK) and path.exists())
    return ChosenFiles(paths, labels, named, walk.skipped, unreadable)


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
    """The files whose path below the source fits a regular expression, or that of a folder around them."""
    # The path of each file, and those of the folders around it, outwards.
    parts: dict[Path, list[str]] = {}
    for file in walk.list_files(location.path):
        path = file.relative_to(location.path)
        parts[file] = [path.as_posix(), *(parent.as_posix() for parent in path.parents if parent.name)]
    try:
        matched = _match_paths(pattern, dict.fromkeys(part for inner in parts.values() for part in inner))
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


def _match_paths(pattern: str, paths: Iterable[str]) -> dict[str, dict[str, Text]]:
    """The paths that a pattern fits as a whole, each with its groups that have a name.

    A group that took no part, or is empty, is None. Raises ``ValueError`` where RE2 knows no such pattern.
    """
    import duckdb  # noqa: PLC0415 - most sources have no such pattern

    from reportgen.formats.sql import get_engine  # noqa: PLC0415 - as above

    # The pattern of Python's as one of RE2's, and the name of each group in its order, empty without one.
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
    # A name that is no UTF-8 is shown with a mark for each wrong byte, and matched as it is shown.
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
        text = str(error).partition("Error: ")[2] or str(error)
        raise ValueError(text.removesuffix(f": {translated}")) from None
    return {
        by_text[path]: {name: groups[str(index)] or None for index, name in enumerate(names) if name}
        for path, groups in rows
    }


_OUTWARD_ADVICE: Final = (
    "Put what it leads to into the repository, or set follow_links: true for the reportgen plugin in "
    "mkdocs.yml if you trust everyone who may change the data"
)
_DATABASE_PARTS: Final = ("-wal", "-shm", "-journal")


def refuse_outward_source(location: Location) -> None:
    """Refuse a source whose file or folder, or ``source.yml``, is a link out of the repository."""
    _refuse_outward_links(_find_outward([location.path, location.settings], location), location)


def _refuse_outward_links(found: Mapping[Path, str], location: Location) -> None:
    """Refuse links of a source that lead out of the repository, given with where they lead."""
    for link, target in found.items():
        if location.path.parent not in link.parents:
            # What concerns the whole data folder is reported at the page that uses something of it.
            place = locate_file(link, location.root)
            raise ReportError(_report_link(place, f'the link "{place}"', target))
    if found:
        raise ReportError(*report_links(found, location.root))


def report_links(
    found: Mapping[Path, str], root: Path, severity: Severity = Severity.ERROR
) -> Iterator[Diagnostic]:
    """Problems of links that lead out, many to one place in one."""
    problems = (_report_link(locate_file(link, root), "this link", target) for link, target in found.items())
    return merge_problems(replace(one, severity=severity) for one in problems)


def _report_link(place: SourceLocation, name: str, target: str) -> Diagnostic:
    # Quoted as Python does: a terminal obeys none of it.
    message = f"{name} leads out of the repository, to {target!r}"
    return Diagnostic(place, message, _OUTWARD_ADVICE, Stage.DATA)


def _find_outward_files(paths: Sequence[Path], location: Location) -> dict[Path, str]:
    """Links on the way to files or folders that were named, and next to these, and where they lead."""
    linked = [path for path in paths if path.is_symlink()]
    folders = {
        folder
        for path in paths
        for folder in path.parents
        if folder == path.parent or folder.is_relative_to(location.path)
    }
    if location.path.is_dir():
        # Links to files, such as the parts of a database next to it.
        for folder in sorted(folders):
            with suppress(OSError), os.scandir(folder) as entries:
                found = [entry.name for entry in entries if entry.is_symlink() and not entry.is_dir()]
                linked += (folder / name for name in found)
    else:
        # Next to a source that is one file there are other sources, perhaps thousands.
        parts = (location.path.with_name(location.path.name + ending) for ending in _DATABASE_PARTS)
        linked += (part for part in parts if part.is_symlink())
    return _find_outward([*sorted(folders - set(location.path.parents)), *linked], location)


def _find_outward(paths: Iterable[Path], location: Location) -> dict[Path, str]:
    """Paths that lead out, each as the first link on its way that does, and where they lead."""
    boundary = location.boundary
    if boundary is None:
        return {}
    found: dict[Path, str] = {}
    for path in paths:
        if target := boundary.resolve_outside(path):
            below = (one for one in (*reversed(path.parents), path) if one.is_relative_to(location.root))
            link = next((one for one in below if one.is_symlink() and boundary.resolve_outside(one)), path)
            found[link] = boundary.resolve_outside(link) or target
    return found


def report_unread(folders: Mapping[Path, str], files: Iterable[Path], root: Path) -> Iterator[Diagnostic]:
    """Warnings of folders that are not gone into, and why, and of files that may not be read."""
    unread = "the file cannot be read: Permission denied; it is left out"
    advice = "Check who may read it, and where links lead"
    return merge_problems(
        Diagnostic(locate_file(path, root), message, advice, Stage.DATA, Severity.WARNING)
        for path, message in (*folders.items(), *((file, unread) for file in files))
    )


_DATABASE: Final = re.compile(r".*\.(db3?|sqlite3?)", re.IGNORECASE)
_NAMES: Final = re.compile(r".*\.(db3?|sqlite3?|eval|wandb)|.*tfevents.*", re.IGNORECASE)
_SQLITE: Final = b"SQLite format 3\x00"
# Tables of a study in every version of Optuna's storage (optuna/storages/_rdb/models.py).
_OPTUNA: Final = frozenset(("studies", "trials", "trial_values"))
_COPY: Final = "Copy it again from where the run wrote it"
_BEGINNING, _LONGEST, _MOST_ENDINGS = 1024, 60, 6
# What a first line shows of a table.
_TABLES: Final = (("jsonl", r"\{.*"), ("json", r"\[.*"), ("tsv", r".*\t.*"), ("csv", r".*,.*"))


def check_unknown_files(paths: Iterable[Path], root: Path) -> list[Diagnostic]:
    """What is wrong with files that only loggers and harnesses write, in a source that holds nothing else."""
    problems = Diagnostics()
    for path in paths:
        content = Content(path, locate_file(path, root).file, "")
        with problems.collecting():
            if _NAMES.fullmatch(path.name):
                content.check()
            if _DATABASE.fullmatch(path.name):
                raise _explain_database(content)
    return problems.found


def explain_unknown_format(path: Path, root: Path) -> list[Diagnostic]:
    """Why a file that was named is not read: neither its ending nor its content tells a format."""
    content = Content(path, locate_file(path, root).file, "")
    problems = Diagnostics()
    with problems.collecting():
        content.check()
        with content.open() as file:
            beginning = file.read(_BEGINNING)
        if _DATABASE.fullmatch(path.name) or beginning.startswith(_SQLITE):
            raise _explain_database(content)
        message = "its ending tells no format, and no logger or harness that is known writes what it holds"
        if b"\0" in beginning:
            advice = "Export a table from it as CSV, or leave it out with files: in source.yml"
            raise content.make_error(f"{message}, which is no text", advice)
        line = next(iter(beginning.decode(errors="replace").lstrip().splitlines()), "")
        form = next((name for name, sign in _TABLES if re.fullmatch(sign, line)), "")
        kind = f"format: {form}" if form else "which: format: csv, tsv, json, jsonl or parquet,"
        advice = f"If it is a table, say {kind} in source.yml; otherwise leave it out with files:"
        raise content.make_error(f'{message}: it begins with "{shorten(line, _LONGEST)}"', advice)
    return problems.found


def report_no_data(folder: Path, paths: Iterable[Path], root: Path) -> Diagnostic:
    """The problem of a folder in which no file is data."""
    held = count_endings(paths)
    message = f"the folder has no data file: it {f'holds {held}' if held else 'is empty'}"
    advice = "Put CSV, TSV, JSON, JSON Lines or Parquet files in it, or name others with files: and format:"
    if held:
        message += ", none of which is known by its name or by what it holds"
    return Diagnostic(locate_file(folder, root), message, advice, Stage.DATA)


def count_endings(paths: Iterable[Path]) -> str:
    """How many files there are of each ending, as words, most first; empty where there are none."""
    counts = Counter(path.suffix.lower() or "without an ending" for path in paths)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return join_names([f"{count:,} {ending}" for ending, count in ordered], most=_MOST_ENDINGS)


def _explain_database(content: Content) -> ReportError:
    """What a file is that is called like a database: a store of something else, or damaged."""
    from reportgen.formats.runs import UnreadableError  # noqa: PLC0415 - seldom needed
    from reportgen.formats.sqlite import open_store  # noqa: PLC0415

    with content.open() as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return content.make_error("it is no SQLite database", _COPY)
    try:
        with open_store(content.path) as store:
            tables = sorted(store.columns)
    except UnreadableError as error:
        return content.make_error(error.message, error.next_step or _COPY)
    if set(tables) >= _OPTUNA:
        advice = (
            "Export the trials of a study in Python, as in optuna.load_study(study_name=NAME, "
            f'storage="sqlite:///{content.path.name}").trials_dataframe().to_csv("trials.csv"), and read that'
        )
        return content.make_error("it is a database of Optuna studies, which cannot be read yet", advice)
    if not tables:
        advice = "Wait until something is written, or copy it again"
        return content.make_error("the database has no tables yet", advice)
    named = f'the table "{tables[0]}"' if len(tables) == 1 else f"the tables {list_names(tables)}"
    message = f"the database is of no program that is known: it has {named}"
    advice = "Those of MLflow and Trackio are read; of others export a table as CSV, and read that"
    return content.make_error(message, advice)
