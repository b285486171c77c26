"""The tables of a source: which of its files they are, with their names, sizes and hashes.

And what a file is that is no table, with the next step.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, Diagnostics, ReportError, Severity, SourceLocation, Stage
from reportgen.core.model import SourceFile
from reportgen.core.words import join_names
from reportgen.formats.decode import LOG_ENDINGS
from reportgen.formats.files import (
    get_compression,
    is_table_name,
    natural_key,
    split_ending,
    split_weak_ending,
)
from reportgen.formats.layout import RUN_SETTINGS, Content, FileLayout
from reportgen.formats.messages import list_names, merge_problems
from reportgen.formats.tables.printed import holds_table
from reportgen.read.find import locate_file
from reportgen.read.runs.labels import shorten_paths
from reportgen.read.runs.stored import clean_text
from reportgen.read.tables.converted import SQLITE
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reportgen.read.find import ChosenFiles, Location
    from reportgen.settings.source import SourceSettings


_LONGEST: Final = 60
_DATABASE: Final = re.compile(r".*\.(db3?|sqlite3?)", re.IGNORECASE)
_NAMES: Final = re.compile(r".*\.(db3?|sqlite3?|eval|wandb)|.*tfevents.*", re.IGNORECASE)
_SQLITE: Final = b"SQLite format 3\x00"
# Tables of a study in every version of Optuna's storage (optuna/storages/_rdb/models.py).
_OPTUNA: Final = frozenset(("studies", "trials", "trial_values"))
_COPY: Final = "Copy it again from where the run wrote it"
_PANDAS: Final = 'Write it as Parquet, as in pandas.{read}("{name}").to_parquet("{stem}.parquet")'
_HTML: Final = 'Write its table as CSV, as in pandas.read_html("{name}")[0].to_csv("{stem}.csv")'
_SHEET: Final = "Save it as .xlsx or CSV"
_ARRAYS: Final = (
    'Write its numbers with numpy.savez, as in numpy.savez("{stem}.npz", step=steps, loss=losses)'
)
# Kinds of files that are not read, by their suffix, and the next step.
_UNREAD: Final = {
    **dict.fromkeys((".h5", ".hdf5"), ("an HDF5 file", _PANDAS.replace("{read}", "read_hdf"))),
    **dict.fromkeys((".pkl", ".pickle"), ("a pickle, which runs code as it is read", _ARRAYS)),
    **dict.fromkeys((".pt", ".pth"), ("a file of PyTorch, which runs code as it is read", _ARRAYS)),
    **dict.fromkeys((".feather", ".arrow"), ("an Arrow file", _PANDAS.replace("{read}", "read_feather"))),
    **dict.fromkeys((".html", ".htm"), ("a page of HTML", _HTML)),
    **dict.fromkeys((".xls", ".xlsb"), ("an Excel file of an older or binary kind", _SHEET)),
    ".ods": ("an OpenDocument sheet", _SHEET),
    ".npy": ("a single NumPy array without a name", _ARRAYS),
    ".mat": ("a file of MATLAB", _ARRAYS),
    **dict.fromkeys(
        (".zip", ".tar", ".tgz"),
        ("an archive next to other files", "Unpack it, or make it a source of its own in the data folder"),
    ),
    **dict.fromkeys(
        (".bz2", ".xz", ".7z", ".rar"),
        ("packed in a way that is not read", "Pack it as .gz, .zip or .tar.gz"),
    ),
}
_BEGINNING, _LOG, _MOST_ENDINGS = 1024, 64 << 10, 6
# The first line of a table in each format, as a regular expression.
_TABLES: Final = (
    *(("jsonl", r"\{.*"), ("json", r"\[.*"), ("tsv", r".*\t.*"), ("markdown", r"\|.*")),
    *(("latex", r"\\begin\{.*"), ("csv", r"[^\\<{]*,[^\\<{]*")),
)


def list_tables(location: Location, settings: SourceSettings, chosen: ChosenFiles) -> tuple[FileLayout, ...]:
    """Return the tables of a source, in reading order, without columns; raises if no format is known."""
    paths = [path for path in chosen.paths if chosen.named or split_ending(path)[1]]
    # Settings and weights lie beside tables, and what is no table otherwise may be one where none is.
    paths = paths or [path for path in chosen.paths if is_table_name(path, settings.format)]
    if not paths and all(map(holds_table, chosen.paths)):
        paths = [*chosen.paths]  # texts are data where nothing else is
    paths = [path for path in paths if path not in chosen.unreadable]
    if not chosen.named and (tables := [path for path in paths if not RUN_SETTINGS.fullmatch(path.name)]):
        paths = tables
    if not paths and (lost := list(report_unread(chosen.skipped, chosen.unreadable, location.root))):
        raise ReportError(*(replace(one, severity=Severity.ERROR) for one in lost))
    if not paths:
        if known := check_unknown_files(chosen.paths, location.root):
            raise ReportError(*known)
        raise ReportError(report_no_data(location.path, chosen.paths, location.root))
    if settings.format is None and not settings.query:
        unknown = (
            explain_unknown_format(path, location.root)
            for path in paths
            if split_weak_ending(path)[1] is None
        )
        if problems := list(chain.from_iterable(unknown)):
            raise ReportError(*problems)
    check_file_names(paths, location.root)
    labels = _label_tables(paths, location) if len(paths) > 1 else [settings.title or location.name]
    return tuple(
        FileLayout(
            locate_file(path, location.root).file,
            SQLITE if settings.query else settings.format or split_weak_ending(path)[1] or "",
            get_compression(path),
            given=tuple((name, (text,)) for name, text in chosen.get_labels(path).items()),
            label=label,
        )
        for path, label in zip(paths, labels, strict=True)
    )


def _label_tables(paths: Sequence[Path], location: Location) -> list[str]:
    """Return the names of tables, or of several with one name the parts of their paths that differ."""
    stems = [split_weak_ending(path)[0] for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    inner = (path.relative_to(location.path) for path in paths)
    labels = [path.with_name(stem).as_posix() for path, stem in zip(inner, stems, strict=True)]
    differing = shorten_paths(labels)
    return differing if all(differing) else labels


def hash_files(
    root: Path, files: Iterable[FileLayout], hashes: Callable[[Path], str]
) -> tuple[SourceFile, ...]:
    """Return files with their sizes and hashes, or raise a ``ReportError`` of all unreadable ones."""
    contents = [file.get_content(root) for file in files]
    try:
        return tuple(SourceFile(one.name, one.path.stat().st_size, hashes(one.path)) for one in contents)
    except OSError:
        problems = Diagnostics()
        for content in contents:
            with problems.collecting():
                content.check()
        problems.raise_errors()
        raise


def check_unknown_files(paths: Iterable[Path], root: Path) -> list[Diagnostic]:
    """Return the problems of a source's files if only loggers and harnesses write such files."""
    problems = Diagnostics()
    for path in paths:
        content = Content(path, locate_file(path, root).file)
        with problems.collecting():
            if _NAMES.fullmatch(path.name):
                content.check()
            if path.suffix.lower() in _UNREAD:
                raise _explain_unread(content)
            if _DATABASE.fullmatch(path.name):
                raise _explain_database(content)
    return problems.found


def explain_unknown_format(path: Path, root: Path) -> list[Diagnostic]:
    """Return why a named file is not read: neither its suffix nor its content shows a format."""
    content = Content(path, locate_file(path, root).file)
    problems = Diagnostics()
    with problems.collecting():
        content.check()
        with content.open() as file:
            beginning = file.read(_BEGINNING)
        if _DATABASE.fullmatch(path.name) or beginning.startswith(_SQLITE):
            raise _explain_database(content)
        if path.suffix.lower() in _UNREAD:
            raise _explain_unread(content)
        message = "neither its ending nor its content is that of a known format, logger or harness"
        if b"\0" in beginning:
            advice = "Export a table from it as CSV, or leave it out with files: in source.yml"
            raise content.make_error(f"{message}, and it is not text", advice)
        line = next(iter(beginning.decode(errors="replace").lstrip().splitlines()), "")
        form = next((name for name, sign in _TABLES if re.fullmatch(sign, line)), "")
        kind = f"format: {form}" if form else "which: format: csv, tsv, json, jsonl or parquet,"
        advice = f"If it is a table, say {kind} in source.yml; otherwise leave it out with files:"
        if not form.startswith("json") and (keys := _suggest_lines([path])):
            advice = f"If it is a log, say {keys} in source.yml; otherwise leave it out with files:"
        raise content.make_error(f'{message}: it begins with "{shorten(line, _LONGEST)}"', advice)
    return problems.found


def _suggest_lines(paths: Iterable[Path]) -> str:
    """Return the keys of ``source.yml`` that read texts as logs; empty if no line names a step."""
    from reportgen.formats.logs.text_lines import suggest_patterns  # noqa: PLC0415 - rarely needed

    for path in islice(paths, _MOST_ENDINGS):
        with suppress(ReportError), Content(path, path.name).open() as file:
            if patterns := suggest_patterns(file.read(_LOG).decode(errors="replace")):
                lines = patterns if len(patterns) > 1 else patterns[0]
                return f"format: lines and lines: {json.dumps(lines, ensure_ascii=False)}"
    return ""


def report_unused_settings(
    paths: Iterable[Path], used: Iterable[str], place: SourceLocation
) -> Iterator[Diagnostic]:
    """Yield a warning of files with settings of runs, if the tables hold several runs or name them."""
    read = {Path(path).name for path in used}
    left = [path for path in paths if RUN_SETTINGS.fullmatch(path.name) and path.name not in read]
    if left:
        names = list_names(dict.fromkeys(path.name for path in left))
        message = f"the settings in {names} are left out, since the tables do not hold one run each"
        advice = "Put them into columns of the tables, or leave the files out with files: in source.yml"
        yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)


def report_no_data(folder: Path, paths: Iterable[Path], root: Path) -> Diagnostic:
    """Return the problem of a folder without data files."""
    paths = sorted(paths, key=natural_key)
    held = list_endings(paths)
    if inner := sorted(folder.glob("*/source.yml")):
        place, own = locate_file(folder, root), locate_file(inner[0].parent, root)
        message = f"the folder has no data file of its own: {own} has a source.yml, so it is another source"
        advice = f"Name that source in blocks, or move the file to {place.file}/source.yml"
        return Diagnostic(place, message, advice, Stage.DATA)
    message = f"the folder has no data file: it {f'holds {held}' if held else 'is empty'}"
    advice = "Put CSV, TSV, JSON, JSON Lines or Parquet files in it, or name others with files: and format:"
    if held:
        message += ", none of which is recognised by its name or content"
        if text := next(filter(holds_table, paths), None):
            advice = f"If {text.name} is the table, say format: {split_weak_ending(text)[1]} in source.yml"
        if keys := _suggest_lines(path for path in paths if path.suffix.lower() in LOG_ENDINGS):
            advice = f"If these are logs, say {keys} in source.yml"
    return Diagnostic(locate_file(folder, root), message, advice, Stage.DATA)


def count_endings(paths: Iterable[Path]) -> list[tuple[str, int]]:
    """Count the files of each suffix, the most frequent first."""
    counts = Counter(path.suffix.lower() or "without an ending" for path in paths)
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def list_endings(paths: Iterable[Path]) -> str:
    """Return these counts in words, or an empty text if there are no files."""
    return join_names([f"{count:,} {ending}" for ending, count in count_endings(paths)], most=_MOST_ENDINGS)


def _explain_unread(content: Content) -> ReportError:
    """Return an error with what a file is that is not read, and what to write instead."""
    kind, advice = _UNREAD[content.path.suffix.lower()]
    names = {"name": content.path.name, "stem": content.path.stem}
    return content.make_error(f"it is {kind}, and is not read", advice.format(**names))


def _explain_database(content: Content) -> ReportError:
    """Return an error with what a file named like a database is: another program's, or damaged."""
    from reportgen.formats.runs import UnreadableError  # noqa: PLC0415 - seldom needed
    from reportgen.formats.sqlite import open_store  # noqa: PLC0415

    with content.open() as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            return content.make_error("it is not an SQLite database", _COPY)
    try:
        with open_store(content.path) as store:
            tables = sorted(store.columns)
    except UnreadableError as error:
        return content.make_error(error.problem.message, error.problem.next_step or _COPY)
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
    message = f"the database is not one of a known program: it has {named}"
    advice = f"Select its rows with query: in source.yml, as in query: SELECT * FROM {tables[0]}"  # noqa: S608 - shown
    return content.make_error(message, advice)


def check_file_names(paths: Iterable[Path], root: Path) -> None:
    """Refuse tables in files that the database cannot open, because of bytes in their names."""
    message, advice = "the name of the file has bytes that are not UTF-8", "Rename it"
    # Shown with a mark for each of these bytes.
    names = [(locate_file(path, root).file, clean_text(str(path)) != str(path)) for path in paths]
    wrong = [SourceLocation(clean_text(name) or "") for name, is_wrong in names if is_wrong]
    if wrong:
        raise ReportError(*(Diagnostic(place, message, advice, Stage.DATA) for place in wrong))


def report_unread(folders: Mapping[Path, str], files: Iterable[Path], root: Path) -> Iterator[Diagnostic]:
    """Yield warnings of folders that were skipped, with the reason, and of unreadable files."""
    unread = "the file cannot be read: Permission denied; it is left out"
    advice = "Check who may read it, and where links lead"
    return merge_problems(
        Diagnostic(locate_file(path, root), message, advice, Stage.DATA, Severity.WARNING)
        for path, message in (*folders.items(), *((file, unread) for file in files))
    )
