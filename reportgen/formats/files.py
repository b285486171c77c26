"""Data files: suffixes, decompression, file signatures and lines."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import re
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.formats.text_files import (
    LARGEST_DOCUMENT,
    LARGEST_PART,
    MOST_COLUMNS,
    format_mebibytes,
    is_pointer,
)

if sys.version_info >= (3, 14):
    from compression import zstd

    ZstdError = zstd.ZstdError
else:
    import zstandard

    ZstdError = zstandard.ZstdError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import RawIOBase


TABLE_ENDINGS: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}
# Settings and weights have these endings too: they are data where they are named, or where no table is.
WEAK_ENDINGS: Final = {".yaml": "yaml", ".yml": "yaml", ".npz": "npz", ".md": "markdown", ".tex": "latex"}
PRINTED: Final = frozenset(("markdown", "latex"))
"""Formats of texts, which are data only where they are named."""
ARCHIVE_ENDINGS: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")
COMPRESSIONS: Final = {".gz": "gzip", ".zst": "zstd"}
BOM: Final = codecs.BOM_UTF8
NOT_UTF8: Final = ("the line has bytes that are not UTF-8", "Save the file as UTF-8")

_DIGITS: Final = re.compile(r"(\d+)")
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_MAGIC: Final = {"gzip": b"\x1f\x8b", "zstd": _ZSTD_MAGIC}
_ENDINGS: Final = {kind: ending for ending, kind in COMPRESSIONS.items()}
_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BOM_CHARACTER: Final = "\ufeff"
_UNDECODED: Final = re.compile("[\udc80-\udcff]")  # what invalid bytes become with surrogateescape
_BLOCK_SIZE: Final = 1 << 20
_SAMPLES: Final = 128
_TAIL: Final = 64 << 10


def split_ending(path: Path) -> tuple[str, str | None, str]:
    """Return the name without suffixes, the format (None if unknown) and the compression (may be empty)."""
    name = path.name
    compression = COMPRESSIONS.get(path.suffix.lower(), "")
    if compression:
        name = name[: -len(path.suffix)]
    suffix = PurePosixPath(name).suffix
    kind = TABLE_ENDINGS.get(suffix.lower())
    return (name[: -len(suffix)] if kind else name), kind, compression


def split_weak_ending(path: Path) -> tuple[str, str | None, str]:
    """Return the same as ``split_ending`` where formats count that are often no data."""
    name, kind, compression = split_ending(path)
    suffix = PurePosixPath(name).suffix
    weak = WEAK_ENDINGS.get(suffix.lower()) if kind is None else None
    return (name.removesuffix(suffix), weak, compression) if weak else (name, kind, compression)


def is_table_name(path: Path, stated: str | None = None) -> bool:
    """Return whether a file's ending is that of a table; of texts only if their format is stated."""
    kind = split_weak_ending(path)[1]
    return kind is not None and (kind not in PRINTED or kind == stated)


def get_archive_ending(name: str) -> str:
    """Return the ending of an archive's name, as written; empty if it is none."""
    longest = max((len(one) for one in ARCHIVE_ENDINGS if name.lower().endswith(one)), default=0)
    return name[-longest:] if 0 < longest < len(name) else ""


def natural_key(path: Path) -> list[tuple[tuple[int, int, str], ...]]:
    """Return a sort key that puts ``run2`` before ``run10``."""
    return [rank_digits(part) for part in path.parts]


def rank_digits(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key of a text that orders the whole numbers in it by value."""
    # Python does not convert texts of thousands of digits, so numbers are compared by length and digits.
    pieces = ((piece, piece.lstrip("0")) for piece in _DIGITS.split(text))
    return tuple(
        (0, len(digits), digits + piece) if piece.isdecimal() else (1, 0, piece) for piece, digits in pieces
    )


def hash_file(path: Path) -> str:
    """Return the SHA-256 of the file's bytes on disk, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_zstd(file: IO[bytes]) -> IO[bytes]:
    """Decompress all frames; reading raises ``ZstdError`` for damaged data and for large windows."""
    if sys.version_info >= (3, 14):
        window = {zstd.DecompressionParameter.window_log_max: LARGEST_PART.bit_length() - 1}
        return zstd.ZstdFile(file, options=window)
    decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_PART)
    reader = decompressor.stream_reader(file, read_across_frames=True, closefd=False)
    return io.BufferedReader(cast("RawIOBase", reader))


def _is_whole_zstd(file: IO[bytes]) -> bool:
    """Check the frames and blocks of a zstd file without decompressing any (RFC 8878, section 3.1)."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    while file.tell() < size:
        magic = file.read(4)
        if magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5:  # noqa: PLR2004 - a frame of another's data
            file.seek(int.from_bytes(file.read(4), "little"), io.SEEK_CUR)
            continue
        if magic != _ZSTD_MAGIC:
            return False
        descriptor = int.from_bytes(file.read(1), "little")
        single_segment = descriptor >> 5 & 1
        dictionary, content_size = (0, 1, 2, 4)[descriptor & 3], (single_segment, 2, 4, 8)[descriptor >> 6]
        file.seek(1 - single_segment + dictionary + content_size, io.SEEK_CUR)
        last = False
        while not last:
            header = file.read(3)
            block = int.from_bytes(header, "little")
            last, kind, length = bool(block & 1), block >> 1 & 3, block >> 3
            run_length, reserved = kind == 1, kind == 3  # noqa: PLR2004 - kinds of blocks
            if len(header) < 3 or reserved:  # noqa: PLR2004 - a block header has three bytes
                return False
            file.seek(1 if run_length else length, io.SEEK_CUR)
        file.seek(4 * (descriptor >> 2 & 1), io.SEEK_CUR)
    return file.tell() == size


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
    bom: int  # length of the byte order mark in bytes
    even_ends: bool  # whether all lines seen have the same line end


class Content(Struct, frozen=True):
    """Data file, its name relative to the project, and ``gzip``, ``zstd`` or an empty string."""

    path: Path
    name: str
    compression: str
    above: int = 0  # lines of the file above the first one of a copy

    def read_all(self) -> bytes:
        """Return all bytes of a file that is a single value; at most ``LARGEST_DOCUMENT``."""
        data = bytearray()
        with self.open() as file:
            while piece := file.read(_BLOCK_SIZE):
                data += piece
                if len(data) > LARGEST_DOCUMENT:
                    message = f"the file holds more than {format_mebibytes(LARGEST_DOCUMENT)} of JSON"
                    advice = "Write JSON Lines, which are read line by line, or Parquet"
                    raise self.make_error(message, advice)
        return bytes(data)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Open the file decompressed; errors of reading and decompressing become ``ReportError``."""
        try:
            if self.compression == "zstd":
                with self.path.open("rb") as packed, open_zstd(packed) as unpacked_file:
                    yield unpacked_file
            elif self.compression == "gzip":
                with gzip.open(self.path) as unpacked:
                    yield cast("IO[bytes]", unpacked)
            else:
                with self.path.open("rb") as file:
                    yield file
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise self._make_stream_error("gzip") from None
        except ZstdError:
            raise self._make_stream_error("zstd") from None
        except OSError as error:
            message = f"the file cannot be read: {error.strerror or error}"
            raise self.make_error(message, "Check that it exists and may be read") from None

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

    def _make_stream_error(self, kind: str) -> ReportError:
        return self.make_error(f"the {kind} stream is damaged or ends early", "Write the file again")

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
        text = self.decode_text(head if complete else head[: _find_line_end(head)])
        pieces, tail, before = list[bytes](), head if complete else b"", 0
        if not complete and not self.compression:
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
        return Sample(text, complete, pieces, last, len(BOM) if head.startswith(BOM) else 0, even)

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
        if self.path.is_symlink() and not self.path.exists():
            raise self.make_error("it is a link to a file that is not there", "Mend the link or remove it")
        with Content(self.path, self.name, "").open() as file:
            first = file.read(64)
            zipped = self.compression == "zstd" and first.startswith(_ZSTD_MAGIC)
            cut = zipped and not _is_whole_zstd(file)
        if cut:
            raise self._make_stream_error("zstd")
        if is_pointer(first):
            advice = "Run git lfs pull, and check out with LFS where the site is built"
            raise self.make_error("it is a Git LFS pointer, not the data themselves", advice)
        if not first:
            raise self.make_error("the file is empty", "Remove it or write it again")
        if self.compression:
            if not first.startswith(_MAGIC[self.compression]):
                message = f"its name says {self.compression}, but it is not compressed so"
                advice = f"Compress it, or take {_ENDINGS[self.compression]} off its name"
                raise self.make_error(message, advice)
            return
        for kind, mark in _MAGIC.items():
            if first.startswith(mark):
                advice = f"Add {_ENDINGS[kind]} to its name"
                raise self.make_error(f"it is compressed with {kind}, which its name does not say", advice)
        if first.startswith(_UTF16):
            raise self.make_error("the text is UTF-16, not UTF-8", "Save it as UTF-8", 1)


def _find_line_end(data: bytes) -> int:
    return max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
