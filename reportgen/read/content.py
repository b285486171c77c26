"""A data file as bytes, decompressed, and what shows in its first ones."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Final, cast

from reportgen.errors import Place, Problem, ReportError, Severity, Stage
from reportgen.read import zstd
from reportgen.read.limits import LARGEST_DOCUMENT, LARGEST_PART, MOST_COLUMNS, mebibytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_MAGIC: Final = {"gzip": b"\x1f\x8b", "zstd": zstd.MAGIC}
_ENDINGS: Final = {"gzip": ".gz", "zstd": ".zst"}
_LFS: Final = b"version https://git-lfs"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
BOM: Final = b"\xef\xbb\xbf"
_PIECE: Final = 1 << 20
_FEW: Final = 5


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

    def head(self, size: int) -> Head:
        """At least one line and, if there are as many, the first ``size`` bytes.

        Raises:
            ReportError: it cannot be read, or shows that it is not what its name says.
        """
        self.check()
        with self.open() as file:
            data = bytearray(file.read(size))
            while b"\n" not in data and b"\r" not in data and (more := file.read(_PIECE)):
                data += more
                if len(data) > LARGEST_PART:
                    raise self.too_long(1)
            return Head(bytes(data), complete=not file.read(1))

    def whole(self) -> bytes:
        """All bytes of a file that is one value.

        Raises:
            ReportError: it cannot be read, or holds more than ``LARGEST_DOCUMENT`` bytes.
        """
        data = bytearray()
        with self.open() as file:
            while piece := file.read(_PIECE):
                data += piece
                if len(data) > LARGEST_DOCUMENT:
                    message = f"the file holds more than {mebibytes(LARGEST_DOCUMENT)} of JSON"
                    raise self.error(message, "Write JSON Lines, which are read line by line, or Parquet")
        return bytes(data)

    def too_long(self, line: int) -> ReportError:
        """The problem of a line that is longer than ``LARGEST_PART``, to be raised."""
        message = f"the line is longer than {mebibytes(LARGEST_PART)}"
        return self.error(message, "Check that this is a text file, with line feeds", line)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The decompressed bytes.

        Raises:
            ReportError: the file cannot be read or decompressed, also while it is read.
        """
        try:
            if self.compression == "zstd":
                with self.path.open("rb") as packed, zstd.unpacked(packed) as unpacked_file:
                    yield unpacked_file
            elif self.compression == "gzip":
                with gzip.open(self.path) as unpacked:
                    yield cast("IO[bytes]", unpacked)
            else:
                with self.path.open("rb") as file:
                    yield file
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise self.error("the gzip stream is damaged or ends early", "Write the file again") from None
        except zstd.ZstdError:
            raise self._bad_zstd() from None
        except OSError as error:
            message = f"the file cannot be read: {error.strerror or error}"
            raise self.error(message, "Check that it exists and may be read") from None

    def error(self, message: str, next_step: str, line: int | None = None) -> ReportError:
        """A problem of this file, to be raised."""
        return ReportError(self.problem(message, next_step, line))

    def problem(self, message: str, next_step: str, line: int | None = None) -> Problem:
        """A problem of this file."""
        return Problem(Place(self.name, line), message, next_step, Stage.DATA)

    def warning(self, message: str, line: int | None = None) -> Problem:
        """Something of this file that was handled, to be told."""
        return Problem(Place(self.name, line), message, "", Stage.DATA, Severity.WARNING)

    def check(self) -> None:
        """Look at the first bytes.

        Raises:
            ReportError: it cannot be read, is empty, or is not what its name says.
        """
        if self.path.is_symlink() and not self.path.exists():
            raise self.error("it is a link to a file that is not there", "Mend the link or remove it")
        with Content(self.path, self.name, "").open() as file:
            first = file.read(64)
            cut = self.compression == "zstd" and first.startswith(zstd.MAGIC) and not zstd.is_whole(file)
        if cut:
            raise self._bad_zstd()
        if first.startswith(_LFS):
            advice = "Run git lfs pull, and check out with LFS where the site is built"
            raise self.error("it is a Git LFS pointer, not the data themselves", advice)
        if not first:
            raise self.error("the file is empty", "Remove it or write it again")
        magic = _MAGIC.get(self.compression, b"")
        if not first.startswith(magic):
            advice = f"Compress it, or take {_ENDINGS[self.compression]} off its name"
            raise self.error(f"its name says {self.compression}, but it is not compressed so", advice)
        for kind, mark in _MAGIC.items():
            if not magic and first.startswith(mark):
                advice = f"Add {_ENDINGS[kind]} to its name"
                raise self.error(f"it is compressed with {kind}, which its name does not say", advice)
        if not magic and first.startswith(_UTF16):
            raise self.error("the text is UTF-16, not UTF-8", "Save it as UTF-8", 1)

    def _bad_zstd(self) -> ReportError:
        message = "the zstd stream is damaged or ends early"
        return self.error(message, "Write the file again")


def too_many_columns(file: str, count: int) -> ReportError:
    """The problem of a table with more than ``MOST_COLUMNS``, to be raised; ``file`` as in messages."""
    message = f"the table has {count:,} columns, and at most {MOST_COLUMNS:,} are read"
    step = "Write a row for each value, with a column for the metric and one for the value"
    return ReportError(Problem(Place(file), message, step, Stage.DATA))


def few(problems: Iterable[Problem]) -> list[Problem]:
    """The first problems of a file, and how many more there are."""
    found = list(problems)
    told, rest = found[:_FEW], found[_FEW:]
    if rest:
        message = f"there are {len(rest)} more problems like these in this file"
        told.append(replace(rest[0], message=message, next_step="Mend these first"))
    return told


def sha256(path: Path) -> str:
    """SHA-256 of a file as it lies on disk, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
