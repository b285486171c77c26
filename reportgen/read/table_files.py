"""The tables of a source: which of its files they are, with their names, sizes and hashes."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.core.errors import Diagnostics, ReportError, Severity
from reportgen.core.model import SourceFile
from reportgen.formats.files import get_compression, is_table_name, split_ending, split_weak_ending
from reportgen.formats.layout import RUN_SETTINGS, FileLayout
from reportgen.read.find import locate_file
from reportgen.read.runs.labels import shorten_paths
from reportgen.read.tables.check import (
    check_file_names,
    check_unknown_files,
    explain_unknown_format,
    report_no_data,
    report_unread,
)
from reportgen.read.tables.converted import SQLITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from reportgen.read.find import ChosenFiles, Location
    from reportgen.settings.source import SourceSettings


def list_tables(location: Location, settings: SourceSettings, chosen: ChosenFiles) -> tuple[FileLayout, ...]:
    """Return the tables of a source, in reading order, without columns; raises if no format is known."""
    paths = [path for path in chosen.paths if chosen.named or split_ending(path)[1]]
    # Settings and weights lie beside tables, and what is no table otherwise may be one where none is.
    paths = paths or [path for path in chosen.paths if is_table_name(path, settings.format)]
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
