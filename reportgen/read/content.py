"""A data file as bytes, decompressed, and what shows in its first ones."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Final, cast

from reportgen.errors import Problem, ReportError, Severity, SourceLocation, Stage
from reportgen.read import zstd
from reportgen.read.limits import LARGEST_DOCUMENT, LARGEST_PART, MOST_COLUMNS, format_mebibytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_MAGIC: Final = {"gzip": b"\x1f\x8b", "zstd": zstd.MAGIC}
_ENDINGS: Final = {"gzip": ".gz", "zstd": ".zst"}
_LFS: Final = b"version https://git-lfs"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
BOM: Final = b"\xef\xbb\xbf"
_CHUNK_SIZE: Final = 1 << 20
_MOST_PROBLEMS: Final = 5


@dataclass(frozen=True, slots=True)
class Head:
    """The first bytes of a file, decompressed; ``complete`` where these are all."""

    data: bytes
    complete: bool


@dataclass(frozen=True, slots=True)
class Content:
    """A data file.

    Attributes:
        path: where it is.
        name: the same relative to the project, for messages.
        compression: ``gzip``, ``zstd`` or nothing.
    """

    path: Path
    name: str
    compression: str

    def read_head(self, size: int) -> Head:
        """At least one line and, if there are as many, the first ``size`` bytes.

        Raises:
            ReportError: it cannot be read, or shows that it is not what its name says.
        """
        self.check()
        with self.open() as file:
            data = bytearray(file.read(size))
            while b"\n" not in data and b"\r" not in data and (more := file.read(_CHUNK_SIZE)):
                data += more
                if len(data) > LARGEST_PART:
                    raise self.make_length_error(1)
            return Head(bytes(data), complete=not file.read(1))

    def read_all(self) -> bytes:
        """All bytes of a file that is one value.

        Raises:
            ReportError: it cannot be read, or holds more than ``LARGEST_DOCUMENT`` bytes.
        """
        data = bytearray()
        with self.open() as file:
            while piece := file.read(_CHUNK_SIZE):
                data += piece
                if len(data) > LARGEST_DOCUMENT:
                    message = f"the file holds more than {format_mebibytes(LARGEST_DOCUMENT)} of JSON"
                    raise self.make_error(
                        message, "Write JSON Lines, which are read line by line, or Parquet"
                    )
        return bytes(data)

    def make_length_error(self, line: int) -> ReportError:
        """The problem of a line that is longer than ``LARGEST_PART``, to be raised."""
        message = f"the line is longer than {format_mebibytes(LARGEST_PART)}"
        return self.make_error(message, "Check that this is a text file, with line feeds", line)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The decompressed bytes.

        Raises:
            ReportError: the file cannot be read or decompressed, also while it is read.
        """
        try:
            if self.compression == "zstd":
                with self.path.open("rb") as packed, zstd.open_unpacked(packed) as unpacked_file:
                    yield unpacked_file
            elif self.compression == "gzip":
                with gzip.open(self.path) as unpacked:
                    yield cast("IO[bytes]", unpacked)
            else:
                with self.path.open("rb") as file:
                    yield file
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise self.make_error(
                "the gzip stream is damaged or ends early", "Write the file again"
            ) from None
        except zstd.ZstdError:
            raise self._make_zstd_error() from None
        except OSError as error:
            message = f"the file cannot be read: {error.strerror or error}"
            raise self.make_error(message, "Check that it exists and may be read") from None

    def make_error(self, message: str, next_step: str, line: int | None = None) -> ReportError:
        """A problem of this file, to be raised."""
        return ReportError(self.make_problem(message, next_step, line))

    def make_problem(self, message: str, next_step: str, line: int | None = None) -> Problem:
        """A problem of this file."""
        return Problem(SourceLocation(self.name, line), message, next_step, Stage.DATA)

    def make_warning(self, message: str, line: int | None = None) -> Problem:
        """Something of this file that was handled, to be told."""
        return Problem(SourceLocation(self.name, line), message, "", Stage.DATA, Severity.WARNING)

    def check(self) -> None:
        """Look at the first bytes.

        Raises:
            ReportError: it cannot be read, is empty, or is not what its name says.
        """
        if self.path.is_symlink() and not self.path.exists():
            raise self.make_error("it is a link to a file that is not there", "Mend the link or remove it")
        with Content(self.path, self.name, "").open() as file:
            first = file.read(64)
            cut = self.compression == "zstd" and first.startswith(zstd.MAGIC) and not zstd.is_whole(file)
        if cut:
            raise self._make_zstd_error()
        if first.startswith(_LFS):
            advice = "Run git lfs pull, and check out with LFS where the site is built"
            raise self.make_error("it is a Git LFS pointer, not the data themselves", advice)
        if not first:
            raise self.make_error("the file is empty", "Remove it or write it again")
        magic = _MAGIC.get(self.compression, b"")
        if not first.startswith(magic):
            advice = f"Compress it, or take {_ENDINGS[self.compression]} off its name"
            raise self.make_error(f"its name says {self.compression}, but it is not compressed so", advice)
        for kind, mark in _MAGIC.items():
            if not magic and first.startswith(mark):
                advice = f"Add {_ENDINGS[kind]} to its name"
                raise self.make_error(f"it is compressed with {kind}, which its name does not say", advice)
        if not magic and first.startswith(_UTF16):
            raise self.make_error("the text is UTF-16, not UTF-8", "Save it as UTF-8", 1)

    def _make_zstd_error(self) -> ReportError:
        message = "the zstd stream is damaged or ends early"
        return self.make_error(message, "Write the file again")


def make_columns_error(file: str, count: int) -> ReportError:
    """The problem of a table with more than ``MOST_COLUMNS``, to be raised; ``file`` as in messages."""
    message = f"the table has {count:,} columns, and at most {MOST_COLUMNS:,} are read"
    step = "Write a row for each value, with a column for the metric and one for the value"
    return ReportError(Problem(SourceLocation(file), message, step, Stage.DATA))


def limit_problems(problems: Iterable[Problem]) -> list[Problem]:
    """The first problems of a file, and how many more there are."""
    found = list(problems)
    shown, rest = found[:_MOST_PROBLEMS], found[_MOST_PROBLEMS:]
    if rest:
        message = f"there are {len(rest)} more problems like these in this file"
        shown.append(replace(rest[0], message=message, next_step="Mend these first"))
    return shown


def hash_file(path: Path) -> str:
    """SHA-256 of a file as it lies on disk, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
