"""The tables of a source: which of its files they are, how each is read, and what it calls its rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from reportgen.core.errors import Diagnostics, ReportError, Severity
from reportgen.core.model import SourceFile
from reportgen.formats.files import COMPRESSIONS, Content, split_ending
from reportgen.read.choose import check_unknown_files, explain_unknown_format, report_no_data, report_unread
from reportgen.read.find import locate_file
from reportgen.read.tables.layout import DataFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from reportgen.read.choose import ChosenFiles
    from reportgen.read.find import Location
    from reportgen.settings.source import SourceSettings


def list_tables(location: Location, settings: SourceSettings, chosen: ChosenFiles) -> tuple[DataFile, ...]:
    """The tables of a source, in reading order.

    Raises:
        ReportError: there are none, or their format is unknown.
    """
    paths = [path for path in chosen.paths if chosen.named or split_ending(path)[1]]
    paths = [path for path in paths if path not in chosen.unreadable]
    if not paths and (lost := list(report_unread(chosen.skipped, chosen.unreadable, location.root))):
        raise ReportError(*(replace(one, severity=Severity.ERROR) for one in lost))
    if not paths:
        if known := check_unknown_files(chosen.paths, location.root):
            raise ReportError(*known)
        raise ReportError(report_no_data(location.path, chosen.paths, location.root))
    if settings.format is None:
        unknown = (
            explain_unknown_format(path, location.root) for path in paths if split_ending(path)[1] is None
        )
        if problems := list(chain.from_iterable(unknown)):
            raise ReportError(*problems)
    labels = [settings.title or location.name] if len(paths) == 1 else _label_files(paths, location)
    return tuple(
        DataFile(
            Content(path, locate_file(path, location.root).file, COMPRESSIONS.get(path.suffix.lower(), "")),
            settings.format or split_ending(path)[1] or "",
            label,
            tuple(chosen.get_labels(path).items()),
        )
        for path, label in zip(paths, labels, strict=True)
    )


def hash_files(files: tuple[DataFile, ...], hashes: Callable[[Path], str]) -> tuple[SourceFile, ...]:
    """Files with their sizes and hashes.

    Raises:
        ReportError: everything that is wrong with files that cannot be read.
    """
    try:
        contents = [file.content for file in files]
        return tuple(SourceFile(one.name, one.path.stat().st_size, hashes(one.path)) for one in contents)
    except OSError:
        problems = Diagnostics()
        for file in files:
            with problems.collecting():
                file.content.check()
        problems.raise_errors()
        raise


def _label_files(paths: Sequence[Path], location: Location) -> list[str]:
    """What each file calls its rows: its name if that is its own, otherwise its path in the source."""
    stems = [split_ending(path)[0] for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return [
        path.relative_to(location.path).with_name(stem).as_posix()
        for path, stem in zip(paths, stems, strict=True)
    ]
