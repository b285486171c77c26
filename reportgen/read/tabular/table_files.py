"""The tables of a source: which of its files they are, how each is read, and what it calls its rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from reportgen.errors import Problems, ReportError, Severity
from reportgen.model import SourceFile
from reportgen.read.barred import barred_problems
from reportgen.read.content import Content
from reportgen.read.find import COMPRESSIONS, ending_of, place_of
from reportgen.read.layout import DataFile
from reportgen.read.unrecognised import unknown_format, unrecognised, without_data

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from reportgen.read.choosing import Chosen
    from reportgen.read.find import Location
    from reportgen.settings.source import SourceSettings


def tables_of(location: Location, settings: SourceSettings, chosen: Chosen) -> tuple[DataFile, ...]:
    """The tables of a source, in reading order.

    Raises:
        ReportError: there are none, or their format is unknown.
    """
    paths = [path for path in chosen.paths if chosen.named or ending_of(path)[1]]
    paths = [path for path in paths if path not in chosen.unread]
    if not paths and (lost := list(barred_problems(chosen.barred, chosen.unread, location.root))):
        raise ReportError(*(replace(one, severity=Severity.ERROR) for one in lost))
    if not paths:
        if known := unrecognised(chosen.paths, location.root):
            raise ReportError(*known)
        raise ReportError(without_data(location.path, chosen.paths, location.root))
    if settings.format is None:
        unknown = (unknown_format(path, location.root) for path in paths if ending_of(path)[1] is None)
        if problems := list(chain.from_iterable(unknown)):
            raise ReportError(*problems)
    labels = [settings.title or location.name] if len(paths) == 1 else _labels(paths, location)
    return tuple(
        DataFile(
            _content(path, location),
            settings.format or ending_of(path)[1] or "",
            label,
            tuple(chosen.labels_of(path).items()),
        )
        for path, label in zip(paths, labels, strict=True)
    )


def hashed_files(files: tuple[DataFile, ...], hashes: Callable[[Path], str]) -> tuple[SourceFile, ...]:
    """Files with their sizes and hashes.

    Raises:
        ReportError: everything that is wrong with files that cannot be read.
    """
    try:
        return tuple(_source_file(file.content, hashes) for file in files)
    except OSError:
        problems = Problems()
        for file in files:
            with problems.collecting():
                file.content.check()
        problems.raise_errors()
        raise


def _labels(paths: Sequence[Path], location: Location) -> list[str]:
    """What each file calls its rows: its name if that is its own, otherwise its path in the source."""
    stems = [ending_of(path)[0] for path in paths]
    if len(set(stems)) == len(stems):
        return stems
    return [
        path.relative_to(location.path).with_name(stem).as_posix()
        for path, stem in zip(paths, stems, strict=True)
    ]


def _content(path: Path, location: Location) -> Content:
    return Content(path, place_of(path, location.root).file, COMPRESSIONS.get(path.suffix.lower(), ""))


def _source_file(content: Content, hashes: Callable[[Path], str]) -> SourceFile:
    return SourceFile(content.name, content.path.stat().st_size, hashes(content.path))
