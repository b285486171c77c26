"""A table file: its content, a sample of it, its layout (columns and types), and rows as written."""

from __future__ import annotations

import io
import re
import sys
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats import sql
from reportgen.formats.cells import Kind, Text
from reportgen.formats.decode import (
    LARGEST_PART,
    MOST_COLUMNS,
    format_mebibytes,
    get_size,
    open_file,
    read_limited,
)
from reportgen.formats.files import get_compression

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from io import BufferedReader
    from pathlib import Path


# Names by which a role is recognised, the best first; case does not matter.
ROLE_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "series": ("model", "method", "series", "algorithm", "variant", "name", "label"),
    "run": ("run", "run_id", "run_name"),
    "seed": ("seed",),
    "step": (
        "step",
        "global_step",
        "iteration",
        "iter",
        "epoch",
        "_step",
        "steps",
        "timesteps",
        "x",
        "episode",
    ),
    # Exports of Comet have the last of each.
    "metric": ("metric", "variable", "tag", "metricname"),
    "value": ("value", "metricvalue"),
    "low": ("low",),
    "high": ("high",),
    "stderr": ("stderr", "sem", "se"),
    "std": ("std", "sd"),
    "n": ("n", "count"),
}
# Columns of names, which a sample must include even if they are numbers.
NAME_COLUMNS: Final = frozenset((*ROLE_NAMES["series"], *ROLE_NAMES["metric"]))

BENCHMARKS: Final = ("benchmark", "task", "dataset")
"""Names of a column of benchmarks."""
MOMENTS: Final = ("date", "year")
"""Names of columns that are the step where runs have several: otherwise they say when a run was."""
STATE_NAMES: Final = frozenset(("state", "status"))
"""Names of columns that say how runs ended: a crashed one has a last value, too."""
ENDED_WELL: Final = frozenset(("finished", "complete", "completed", "succeeded", "success", "terminated"))
"""States of runs with their final values: of W&B and MLflow, Optuna, Slurm, Ray jobs, Airflow, Ray Tune."""
TIME_NAMES: Final = re.compile(
    r"_?timestamp|(wall|date|log|logged)?[_ ]?time|walltime|date|logged_at", re.IGNORECASE
)
"""Names of columns with the times of rows."""
RUN_SETTINGS: Final = re.compile(r"(config|params|hparams|args|settings|hyperparameters)\.(json|ya?ml)")
"""Names of files with the settings of a run, beside its tables."""


def find_empty_steps(kinds: Mapping[str, Kind]) -> list[str]:
    """Return columns of steps without a value, if another one has values, such as the epoch."""
    steps = [name for name in kinds if name.strip().casefold() in ROLE_NAMES["step"]]
    empty = [name for name in steps if kinds[name] is Kind.EMPTY]
    return empty if len(empty) < len(steps) else []


NOT_UTF8: Final = ("the line has bytes that are not UTF-8", "Save the file as UTF-8")

_BOM_CHARACTER: Final = "\ufeff"
_UNDECODED: Final = re.compile("[\udc80-\udcff]")  # what invalid bytes become with surrogateescape
_BLOCK_SIZE: Final = 1 << 20
_SAMPLES: Final = 128
_TAIL: Final = 64 << 10


class LastLine(Struct, frozen=True):
    """Last line without a line end: its bytes, and their offset."""

    data: bytes
    offset: int


class Sample(Struct, frozen=True):
    """Sample of a file's lines."""

    text: str  # the whole lines at the start of the file
    complete: bool  # whether these are all lines
    # A few whole lines from all over the file; none if it is compressed or complete. They include every
    # series or metric that fills more than a hundredth of the file without interruption.
    pieces: list[bytes]
    # The last line if it has no line end, is not the only line, and was found without reading the whole file.
    last: LastLine | None
    even_ends: bool  # whether all lines seen have the same line end


class Content(Struct, frozen=True):
    """Data file of a table, and its name relative to the project."""

    path: Path
    name: str
    above: int = 0  # lines of the file above the first one of a copy

    def read_all(self) -> bytes:
        """Return all bytes of a file that is a single value; at most ``LARGEST_DOCUMENT``."""
        with self.open() as file:
            return read_limited(file, self.name)

    @property
    def compression(self) -> str:
        """``gzip``, ``zstd`` or an empty string."""
        return get_compression(self.path)

    def open(self) -> AbstractContextManager[BufferedReader]:
        """Open the file as ``open_file`` does."""
        return open_file(self.path, self.name)

    def make_error(self, message: str, next_step: str, line: int | None = None) -> ReportError:
        """Return a problem of this file as an exception."""
        return ReportError(self.make_problem(message, next_step, line))

    def make_problem(self, message: str, next_step: str, line: int | None = None) -> Diagnostic:
        """Return a problem of this file."""
        place = SourceLocation(self.name, line and line + self.above)
        return Diagnostic(place, message, next_step, Stage.DATA)

    def make_warning(self, message: str, line: int | None) -> Diagnostic:
        """Return a warning about this file."""
        return replace(self.make_problem(message, "", line), severity=Severity.WARNING)

    def make_length_error(self, line: int) -> ReportError:
        """Return the exception for a line longer than ``LARGEST_PART``."""
        message = f"the line is longer than {format_mebibytes(LARGEST_PART)}"
        return self.make_error(message, "Check that this is a text file, with line feeds", line)

    def make_columns_error(self, count: int) -> ReportError:
        """Return the exception for a table with more than ``MOST_COLUMNS``."""
        message = f"the table has {count:,} columns, and at most {MOST_COLUMNS:,} are read"
        step = "Write a row for each value, with a column for the metric and one for the value"
        return self.make_error(message, step)

    def read_sample(self, size: int) -> Sample:
        """Read the first ``size`` bytes, or the first line if it is longer; raise the errors of ``check``."""
        self.check()
        with self.open() as file:
            data = bytearray(file.read(size))
            while b"\n" not in data and b"\r" not in data and (more := file.read(_BLOCK_SIZE)):
                data += more
                if len(data) > LARGEST_PART:
                    raise self.make_length_error(1)
            head, complete = bytes(data), not file.read(1)
            is_plain = file.seekable() and not self.compression
        text = self.decode_text(head if complete else head[: _find_line_end(head)])
        pieces, tail, before = list[bytes](), head if complete else b"", 0
        if not complete and is_plain:
            length = min(64 + 3 * len(head) // max(head.count(b"\n"), 1), _BLOCK_SIZE)
            with self.open() as file:
                end = file.seek(0, io.SEEK_END)
                for index in range(_SAMPLES):
                    file.seek(max(end - length, 0) * index // (_SAMPLES - 1))
                    piece = file.read(length)
                    # The text before the first line end may be part of a line, or the header.
                    pieces.append(piece[piece.find(b"\n") + 1 or length : piece.rfind(b"\n") + 1])
                before = file.seek(max(end - _TAIL, 0))
                tail = file.read()
        start = _find_line_end(tail)
        last = LastLine(tail[start:], before + start) if 0 < start < len(tail) else None
        pieces = list(filter(None, pieces))
        both = sum(piece.count(b"\r\n") for piece in (head, *pieces))
        even = both == 0 or both == sum(piece.count(b"\n") for piece in (head, *pieces))
        return Sample(text, complete, pieces, last, even)

    def find_line_number(self, offset: int) -> int:
        """Return the 1-based number of the line that starts at an offset."""
        ends, returns, left = 0, 0, offset
        with self.open() as file:
            while left > 0 and (piece := file.read(min(left, _BLOCK_SIZE))):
                ends += piece.count(b"\n")
                returns += piece.count(b"\r")
                left -= len(piece)
        return (ends or returns) + 1

    def warn_torn_line(self, torn: LastLine | None) -> tuple[Diagnostic, ...]:
        """Return a warning that the last line was left out, if it was."""
        if not torn:
            return ()
        line = self.find_line_number(torn.offset)
        return (self.make_warning("the last line is torn off and was left out", line),)

    def decode_text(self, data: bytes) -> str:
        """Decode UTF-8 without its byte order mark; raise ``ReportError`` with the first invalid line."""
        try:
            return data.decode().removeprefix(_BOM_CHARACTER)
        except UnicodeDecodeError:
            for _ in self.read_lines():
                pass
            raise self.make_error(*NOT_UTF8) from None

    def read_lines(self, keep: int | None = None, invalid: list[int] | None = None) -> Iterator[str]:
        """Yield every line with its line end, without a byte order mark.

        Only the first ``keep`` bytes count, if the rest is torn off. A line that is not UTF-8 raises
        ``ReportError`` or, if ``invalid`` is given, its number is added to that before it is yielded, with
        U+FFFD for what cannot be decoded.
        """
        with self.open() as file:
            text = io.TextIOWrapper(file, "utf-8", errors="surrogateescape", newline="")
            left = sys.maxsize if keep is None else keep
            try:
                for number, line in enumerate(iter(lambda: text.readline(LARGEST_PART + 1), ""), 1):
                    if len(line) > LARGEST_PART:
                        raise self.make_length_error(number)
                    if left <= 0:
                        return
                    left -= 0 if keep is None else len(line.encode("utf-8", "surrogateescape"))
                    if not line.isascii() and _UNDECODED.search(line):
                        if invalid is None:
                            raise self.make_error(*NOT_UTF8, number)
                        invalid.append(number)
                        line = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # noqa: PLW2901
                    yield line if number > 1 else line.removeprefix(_BOM_CHARACTER)
            finally:
                # Otherwise the wrapper would close the file a second time, which is an error.
                text.detach()

    def check(self) -> None:
        """Raise ``ReportError`` if the file cannot be read, is empty, or does not match its name."""
        with self.open():
            pass
        if not get_size(self.path):
            raise self.make_error("the file is empty", "Remove it or write it again")


def _find_line_end(data: bytes) -> int:
    return max(data.rfind(b"\n"), data.rfind(b"\r")) + 1


class FileLayout(Struct, frozen=True, dict=True):
    """File of a source and how to read it, as far as it is known."""

    path: str  # relative to the project
    format: str  # a key of ``tables.FORMATS``
    compression: str  # ``gzip``, ``zstd`` or empty
    columns: tuple[str, ...] = ()  # names as written, in order; empty for a column without a name
    types: tuple[str, ...] = ()  # SQL types to read them as; ``VARCHAR`` in most text formats
    variant: str = ""  # other details of the format: the delimiter, or the shape of JSON
    keep: int | None = None  # number of bytes to read if the rest is torn off
    even_ends: bool = True  # False if line ends are mixed
    # Location of the rows if not ``path``, relative to the project or absolute.
    copy: str = ""
    above: int | None = None  # lines above those of the copy, if they are apart as in the file
    # Columns that the file does not have: their names, and one value for every row or, with ``code``, one for
    # each of its codes.
    given: tuple[tuple[str, tuple[Text, ...]], ...] = ()
    # The column of indices into the values of ``given``; empty if one value applies to all rows.
    code: str = ""
    label: str = ""  # name of its rows if no column has one
    shares: bool = False  # whether percentages were written as shares
    header: tuple[str, ...] = ()  # columns of the file itself where those of the copy are others
    # The run of each value of ``given``, as an index into ``Layout.settings``; empty without runs.
    owners: tuple[int, ...] = ()

    def get_content(self, root: Path) -> Content:
        """Return the file's content; ``root`` is the project folder."""
        return Content(root / self.place, self.path, self.above or 0)

    @property
    def place(self) -> str:
        """Location of the rows, relative to the project or absolute."""
        return self.copy or self.path

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, including those in ``given``."""
        return tuple(dict.fromkeys((*self.columns, *(name for name, _ in self.given))))

    def get_given(self, name: str) -> tuple[Text, ...] | None:
        """Return the values of a column that the file does not have; None for one of its own."""
        return next((values for given, values in self.given if given == name), None)

    @property
    def as_it_is(self) -> bool:
        """Whether DuckDB can read the file itself rather than a repaired copy."""
        return self.keep is None and self.even_ends

    def type_of(self, name: str) -> str:
        """Return the SQL type of a column."""
        return sql.TEXT if self.get_given(name) is not None else self.types[self._places[name]]

    def has(self, name: str) -> bool:
        """Return whether there is a column, also one in ``given``."""
        return name in self._places or self.get_given(name) is not None

    @cached_property  # of ten thousand columns, each one was searched among all
    def _places(self) -> dict[str, int]:
        """The place of each column of the file; of two columns of one name the first counts."""
        return {name: place for place, name in reversed([*enumerate(self.columns)])}


class Row(Struct, frozen=True):
    """Row as written: its line (None in a format without lines), its number, and its cells by column."""

    line: int | None
    number: int
    cells: Mapping[str, Text]


class Look(Struct, frozen=True):
    """Result of a first look at a file."""

    file: FileLayout
    rows: list[tuple[Text, ...]]  # a sample, cells in the order of the columns
    exhaustive: bool  # whether the sample covers the whole file
    warnings: tuple[Diagnostic, ...] = ()  # irregularities that were handled
