"""Registry of readers, the entry points ``reportgen.readers`` of all packages, and the search for units.

reportgen's own readers are in it as those of any other package, by its ``pyproject.toml``.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.plugins import READERS, import_object, list_plugins, locate_failure
from reportgen.formats.decode import is_unfilled
from reportgen.formats.files import get_archive_ending, is_table_name, split_ending, strip_compression
from reportgen.formats.json_files import parse_first_object, read_head_text
from reportgen.formats.run_data import flatten
from reportgen.formats.runs import Evaluation, LoggedRun, Points, Reader, Unit, UnreadableError
from reportgen.settings.text import shorten

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from reportgen.core.plugins import Plugin


class FoundUnits(Struct, frozen=True):
    """Units of loggers or harnesses in a folder."""

    units: tuple[Unit, ...] = ()  # of one format, in natural order
    left_out: tuple[tuple[str, int], ...] = ()  # other formats found, with their numbers of units
    reader: Reader | None = None  # of the units; None without any


def list_readers() -> tuple[Reader, ...]:
    """Return all readers in search order: those of files that others leave come last, weak ones after them.

    Raises ``ReportError`` for a reader that cannot be loaded.
    """
    return _load_readers(tuple(list_plugins(READERS).values()))


@cache
def _load_readers(plugins: tuple[Plugin, ...]) -> tuple[Reader, ...]:
    return tuple(sorted(map(_load_reader, plugins), key=lambda one: (one.weak, one.rest, one.rank, one.name)))


def _load_reader(plugin: Plugin) -> Reader:
    package = "" if plugin.own else plugin.package
    named = Reader(plugin.name, (), name=plugin.name, package=package)
    with report_failures(named, what="cannot be loaded"):
        reader = import_object(plugin.value)
        if not isinstance(reader, Reader):
            raise TypeError(f"{plugin.value} is no Reader of reportgen.readers")
        re.compile(reader.head)
        patterns: object = reader.files
        if not (isinstance(patterns, tuple) and all(isinstance(pattern, str) for pattern in patterns)):
            raise TypeError(f"files is a tuple of patterns, not {patterns!r}")
        if not reader.files:
            raise TypeError("it has no patterns of file names")
        files = tuple(pattern.lower() for pattern in reader.files)
        code = reader.code or ("" if reader.read else f".{plugin.name}")
        if code.startswith("."):
            code = plugin.value.partition(":")[0].strip() + code
        return replace(
            reader, files=files, keys=tuple(reader.keys), code=code, name=plugin.name, package=package
        )


@contextmanager
def report_failures(reader: Reader | str, path: Path | None = None, what: str = "failed") -> Iterator[None]:
    """Turn whatever the code of another package raises into an error that names the package.

    It is an ``UnreadableError`` of the file ``path``, or a ``ReportError`` without one. What readers raise on
    purpose and ``OSError`` are about the file. Errors in reportgen's own readers stay.
    """
    try:
        yield
    except (OSError, ReportError):
        raise
    except (Exception, SystemExit) as error:
        known = reader if isinstance(reader, Reader) else find_reader(reader)
        if known is None or not known.package:
            raise
        cause = f"{type(error).__name__}: {shorten(str(error))}"
        cause += locate_failure(error, list_plugins(READERS)[known.name].value)
        message = f'the reader "{known.name}" of the package {known.package} {what}: {cause}'
        advice = "Install another version of the package, or uninstall it"
        if path:
            raise UnreadableError(path, message, advice) from error
        raise ReportError(Diagnostic(SourceLocation(known.package), message, advice, Stage.DATA)) from error


def find_reader(name: str | None) -> Reader | None:
    """Return the reader of what ``format:`` names; None for a format of tables."""
    return next((reader for reader in list_readers() if reader.name == name), None)


def get_title(name: str) -> str:
    """Return the display name of a format."""
    reader = find_reader(name)
    return reader.title if reader else name


def is_unit_name(name: str) -> bool:
    """Return whether a file name is typical of a logger or harness, and not of a table."""
    patterns = tuple(pattern for reader in list_readers() for pattern in reader.files)
    path = Path(name)
    return split_ending(path)[1] is None and bool(_compile(patterns).match(strip_compression(path).lower()))


def is_data_name(name: str) -> bool:
    """Return whether a file of this name may hold data, of any format."""
    return is_table_name(Path(name)) or is_unit_name(name) or bool(get_archive_ending(name))


@cache
def _compile(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)))


def read_unit(unit: Unit) -> Iterator[LoggedRun | Evaluation]:
    """Yield the contents of a unit; raise ``UnreadableError`` if none of it can be read."""
    reader = find_reader(unit.format)
    if reader is None:
        raise LookupError(unit.format)
    with report_failures(reader, unit.path):
        found = load_code(reader).read(unit)
        yield from map(_check_found, found) if reader.package else found


def _check_found(found: LoggedRun | Evaluation) -> LoggedRun | Evaluation:
    """Return a run with arrays of numbers and settings that are not nested, or an evaluation with numbers.

    Raises ``TypeError`` or ``ValueError`` if it is neither.
    """
    if isinstance(found, LoggedRun):
        metrics = {str(name): _check_points(name, points) for name, points in found.metrics.items()}
        return replace(found, config=flatten({**found.config}), metrics=metrics)
    if not isinstance(found, Evaluation):
        raise TypeError(f"read yields LoggedRun or Evaluation, not {type(found).__name__}")
    totals = tuple(replace(total, value=float(total.value)) for total in found.totals)
    scores = (None if answer.score is None else float(answer.score) for answer in found.answers)
    pairs = zip(found.answers, scores, strict=True)
    answers = tuple(replace(answer, problem=str(answer.problem), score=score) for answer, score in pairs)
    return replace(found, totals=totals, answers=answers)


def _check_points(name: str, points: Points) -> Points:
    steps, values = (np.asarray(cells, np.float64) for cells in (points.steps, points.values))
    times = None if points.times is None else np.asarray(points.times, np.float64)
    if {steps.shape, values.shape if times is None else times.shape} != {(len(values),)}:
        raise ValueError(f"steps, values and times of {name} are not of one length")
    return Points(steps, values, times)


def load_code(reader: Reader) -> Any:  # noqa: ANN401 - a module, or an object with the same functions
    """Return what has the functions ``find`` and ``read`` of a reader, imported now if it was not before."""
    return import_object(reader.code) if reader.code else reader


def find_units(files: Sequence[Path], form: str | None = None, *, named: bool = False) -> FoundUnits:
    """Find the units of the format of lowest rank that has at least half as many as any other format.

    One run is often logged in several formats at once, so formats are never mixed; but a format that only one
    of many runs has does not hide the others. ``files`` are in natural order. ``form`` is the only format to
    look for; with ``named``, every file is then a unit whatever its name, since the user named it. Raises
    ``UnreadableError`` for a file that two formats claim.
    """
    found: dict[Reader, tuple[Unit, ...]] = {}
    readers = list_readers()
    for reader in readers if form is None else filter(None, [find_reader(form)]):
        own = files
        if reader.rest or reader.weak:
            own = _list_unused(files, (unit for units in found.values() for unit in units))
        units = _find_own(reader, own, any_name=form is not None)
        if reader.weak and not form:
            others = _list_unused(files, units)
            if any(split_ending(file)[1] not in {None, "json"} for file in others):
                continue
        if form and named:
            units += tuple(Unit(file, (file,), reader.name) for file in _list_unused(files, units))
        if units:
            found[reader] = units
    if not found:
        return FoundUnits()
    _check_claims(found)
    is_weak = all(reader.weak for reader in found)
    most = max(len(units) for reader, units in found.items() if is_weak or not reader.weak)
    first = min(
        (reader for reader, units in found.items() if 2 * len(units) >= most),
        key=lambda reader: (reader.weak, reader.rank, reader.name),
    )
    # A weak format may read the same files.
    used = {file for unit in found[first] for file in unit.files}
    left_out = tuple(
        (reader.name, len(units))
        for reader, units in found.items()
        if reader is not first and not (reader.weak and {unit.files[0] for unit in units} <= used)
    )
    return FoundUnits(found[first], left_out, first)


def _find_own(reader: Reader, files: Sequence[Path], *, any_name: bool) -> tuple[Unit, ...]:
    """Return the units of a reader, whose code is imported only if a file may be of its format."""
    pattern = _compile(reader.files)
    marked = [file for file in files if pattern.match(strip_compression(file).lower())]
    if reader.head or reader.keys:
        marked = [file for file in marked if _has_marks(reader, read_head_text(file))]
    if not (marked or any_name):
        return ()
    with report_failures(reader):
        find = getattr(load_code(reader), "find", None)
        units = find(files) if find else [Unit(file, (file,)) for file in marked]
        return tuple(replace(unit, format=reader.name) for unit in units)


def _has_marks(reader: Reader, beginning: str) -> bool:
    if not re.match(reader.head, beginning):
        return False
    return not reader.keys or {*reader.keys} <= parse_first_object(beginning).keys()


def _check_claims(found: Mapping[Reader, tuple[Unit, ...]]) -> None:
    """Raise ``UnreadableError`` for a file that is told as two formats by its name."""
    claims: dict[Path, Reader] = {}
    for reader, units in found.items():
        pattern = _compile(reader.files)
        own = (file for unit in units for file in unit.files)
        for file in (file for file in own if pattern.match(strip_compression(file).lower())):
            other = claims.setdefault(file, reader)
            if other is not reader and not is_unfilled(file):
                both = (
                    f"{one.title} ({one.name}{one.package and f', of {one.package}'})"
                    for one in (other, reader)
                )
                message = f"two readers take this file: {' and '.join(both)}"
                advice = f"Write format: {other.name} or format: {reader.name} in source.yml"
                raise UnreadableError(file, message, advice)


def _list_unused(files: Sequence[Path], units: Iterable[Unit]) -> list[Path]:
    """Return the files that none of the units has."""
    used: Collection[Path] = {file for unit in units for file in unit.files}
    return [file for file in files if file not in used]
