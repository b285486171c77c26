"""Bytes of data files as text: tables, and logs as trainers leave them, still growing or torn at the end.

Whatever reads a text gets it decompressed and in UTF-8. UTF-16, which Excel writes as "Unicode text" and
Windows PowerShell for redirected output, is recognised by its byte order mark and zero bytes. What stands for
a file that is elsewhere, such as a pointer of Git LFS, is refused.
"""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

from msgspec import Struct, field

from reportgen.core.words import format_count
from reportgen.formats.files import COMPRESSIONS, get_compression, get_ending, split_ending
from reportgen.formats.runs import UnreadableError, warn
from reportgen.settings.text import CONFLICT

if sys.version_info >= (3, 14):
    from compression import zstd

    ZstdError = zstd.ZstdError
else:
    import zstandard

    ZstdError = zstandard.ZstdError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from io import BufferedReader, RawIOBase

    from reportgen.core.errors import Diagnostic


# How much of a file is held in memory at once; a file that needs more is refused, with its location. Limits
# apply to what is actually unpacked, whatever sizes a packed file declares.
LARGEST_DOCUMENT: Final = 256 << 20
"""Bytes of the largest file that is a single value, such as JSON."""
LARGEST_PART: Final = 128 << 20
"""Bytes of the longest line, and of the largest record, archive member or stream window."""
MOST_COLUMNS: Final = 2_000
"""Columns of a table; the database takes 5 ms for each to plan and count its rows."""
HEAD: Final = 4 << 10
LOG_ENDINGS: Final = (".log", ".txt", ".out", ".err")
"""Endings of text logs."""
TORN_LINE: Final = "the last line is torn: the writer was killed, or still writes; those before it are read"
NOTHING_LOGGED: Final = "the file is empty, nothing was logged into it yet"

BOM: Final = codecs.BOM_UTF8

_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_MAGIC: Final = {"gzip": b"\x1f\x8b", "zstd": _ZSTD_MAGIC}
_ENDINGS: Final = {kind: ending for ending, kind in COMPRESSIONS.items()}
_UTF16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# How a pointer begins, what it is of, and what to do.
_POINTERS: Final = (
    (b"version https://git-lfs", "Git LFS", "git lfs pull"),
    (b"/annex/objects/", "git-annex", "git annex get"),
)
codecs.register_error("reportgen.undecoded", lambda error: ("\udcff", cast("UnicodeDecodeError", error).end))

_BEGINNING: Final = 64
_TABLES: Final = frozenset(("csv", "tsv", "jsonl"))


def format_mebibytes(size: int) -> str:
    """Return a limit in words."""
    return f"{size >> 20:,} MiB"


def get_size(path: Path) -> int:
    """Return the size of a file in bytes; 0 if unknown."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def is_pointer(beginning: bytes) -> bool:
    """Return whether a file that begins so stands for another one, as a pointer of Git LFS."""
    return any(beginning.startswith(mark) for mark, *_ in _POINTERS)


def refuse_pointer(path: Path | str, beginning: bytes, what: str = "the data themselves") -> None:
    """Raise ``UnreadableError`` for a pointer to ``what``."""
    for mark, kind, command in _POINTERS:
        if beginning.startswith(mark):
            raise UnreadableError(path, f"it is a {kind} pointer, not {what}", f"Run {command}")


@contextmanager
def explain_os_errors(path: Path, name: str = "") -> Iterator[None]:
    """Turn an ``OSError`` into ``UnreadableError``, at ``name`` if it is given."""
    try:
        yield
    except OSError as error:
        file = Path(error.filename) if error.filename else path
        message = f"the file cannot be read: {error.strerror or error}"
        advice = "Check that it exists and may be read"
        if file.is_symlink() and not file.exists():
            message = "it is a link to a file that is not there"
            advice = "Run git annex get" if "annex" in file.readlink().parts else "Mend the link or remove it"
        raise UnreadableError(name or file, message, advice) from error


@contextmanager
def open_file(path: Path, name: str = "") -> Iterator[BufferedReader]:
    """Open a file decompressed and, if it is UTF-16, as UTF-8; a byte order mark stays.

    Raises ``UnreadableError``, at ``name`` if it is given, for a file that cannot be read, is damaged, is not
    compressed as its name says, or is a pointer.
    """
    with explain_os_errors(path, name), path.open("rb") as file:
        beginning, where = file.peek(_BEGINNING), name or path
        refuse_pointer(where, beginning)
        kind = get_compression(path)
        if kind and beginning and not beginning.startswith(_MAGIC[kind]):
            message = f"its name says {kind}, but it is not compressed so"
            raise UnreadableError(where, message, f"Compress it, or take {_ENDINGS[kind]} off its name")
        for other in () if kind else (one for one in _MAGIC if beginning.startswith(_MAGIC[one])):
            message = f"it is compressed with {other}, which its name does not say"
            raise UnreadableError(where, message, f"Add {_ENDINGS[other]} to its name")
        try:
            if kind == "zstd":
                _check_zstd(file)
            with _decompress(file, kind) as unpacked:
                wide = _detect_utf16(unpacked.peek(_BEGINNING))
                yield io.BufferedReader(_Recoded(unpacked, wide)) if wide else unpacked
        except (EOFError, zlib.error, gzip.BadGzipFile, ZstdError):
            message = f"the {kind} stream is damaged or ends early"
            raise UnreadableError(where, message, "Write the file again") from None


@contextmanager
def _decompress(file: BufferedReader, kind: str) -> Iterator[BufferedReader]:
    """Decompress a file; raise what gzip and zstd raise if it is damaged or ends early."""
    if kind == "gzip":
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield cast("BufferedReader", unpacked)
    elif kind == "zstd":
        with open_zstd(file) as unpacked:
            yield unpacked
    else:
        yield file


def open_zstd(file: IO[bytes]) -> BufferedReader:
    """Decompress all frames; reading raises ``ZstdError`` for damaged data and for large windows."""
    if sys.version_info >= (3, 14):
        window = {zstd.DecompressionParameter.window_log_max: LARGEST_PART.bit_length() - 1}
        return cast("BufferedReader", zstd.ZstdFile(file, options=window))
    decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_PART)
    reader = decompressor.stream_reader(file, read_across_frames=True, closefd=False)
    return io.BufferedReader(cast("RawIOBase", reader))


def _check_zstd(file: IO[bytes]) -> None:
    """Raise ``ZstdError`` unless all frames and blocks are there, without decompressing any.

    Then it is at its beginning. Source: RFC 8878, section 3.1.
    """
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    while file.tell() < size:
        magic = file.read(4)
        if magic[1:] == b"\x2a\x4d\x18" and magic[0] >> 4 == 5:  # noqa: PLR2004 - a frame of another's data
            file.seek(int.from_bytes(file.read(4), "little"), io.SEEK_CUR)
            continue
        if magic != _ZSTD_MAGIC:
            raise ZstdError("no frame begins here")
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
                raise ZstdError("the last block is missing")
            file.seek(1 if run_length else length, io.SEEK_CUR)
        file.seek(4 * (descriptor >> 2 & 1), io.SEEK_CUR)
    if file.tell() != size:
        raise ZstdError("the last frame is cut off")
    file.seek(0)


class _Recoded(io.RawIOBase):
    """UTF-16 text as UTF-8; what is not UTF-16 is no UTF-8, either."""

    def __init__(self, file: BufferedReader, encoding: str) -> None:
        super().__init__()
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)("reportgen.undecoded")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a writable buffer of any kind
        view, piece, text = memoryview(buffer), b"\0", ""
        while piece and not text:
            piece = self._file.read(len(view) // 2)  # two bytes are at most three of UTF-8
            text = self._decoder.decode(piece, final=not piece)
        data = text.encode(errors="surrogateescape")
        view[: len(data)] = data
        return len(data)


def is_utf16(path: Path) -> bool:
    """Return whether a file is UTF-16, which Python reads and the database does not."""
    with suppress(UnreadableError), open_file(path) as file:
        return isinstance(getattr(file, "raw", None), _Recoded)
    return False


def _detect_utf16(beginning: bytes) -> str:
    """Return the encoding of a UTF-16 file; empty for others."""
    return _UTF16.get(beginning[:2], "") if b"\0" in beginning[2:_BEGINNING] else ""


def read_head(path: Path, size: int = HEAD, at: int = 0) -> bytes:
    """Read bytes to recognise a file by; empty if it cannot be read, which ``open_file`` reports.

    ``at`` is a place in a file that is not compressed.
    """
    data, wide = b"", ""
    unreadable = suppress(OSError, EOFError, zlib.error, ZstdError)
    with unreadable, path.open("rb") as packed, _decompress(packed, get_compression(path)) as file:
        wide = _detect_utf16(file.peek(_BEGINNING))
        if at:
            file.seek(at - at % 2 if wide else at)
        while len(data) < size and (piece := file.read1(size - len(data))):
            data += piece  # also of a stream that ends early
    return (data.decode(wide, "replace").encode(errors="replace") if wide else data).removeprefix(BOM)


def read_limited(file: IO[bytes], where: Path | str, longest: int = LARGEST_DOCUMENT) -> bytes:
    """Read an open file to its end; raise ``UnreadableError`` beyond ``longest`` bytes."""
    data = file.read(longest + 1)
    if len(data) > longest:
        message = f"the file is larger than {format_mebibytes(longest)}, which is more than is read at once"
        raise UnreadableError(where, message, "Write JSON Lines, which are read line by line, or Parquet")
    return data


def read_whole(path: Path, longest: int = LARGEST_DOCUMENT) -> bytes:
    """Read a file without its byte order mark; raise ``UnreadableError``, also beyond ``longest`` bytes."""
    with open_file(path) as file:
        return read_limited(file, path, longest).removeprefix(BOM)


def read_lines(path: Path, longest: int = LARGEST_PART) -> Iterator[tuple[int, bytes]]:
    """Yield number (1-based) and bytes of every line with its end; raise ``UnreadableError``."""
    is_text = split_ending(path)[1] in _TABLES or get_ending(path) in LOG_ENDINGS
    with open_file(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(longest + 1), b""), 1):
            if len(line) > longest:
                message = f"the line is longer than {format_mebibytes(longest)}"
                raise UnreadableError(
                    path, message, "Check that this is a text file, with line feeds", number
                )
            if is_text and line.startswith((b"<<<<<<< ", b">>>>>>> ")):
                raise UnreadableError(path, *CONFLICT, number)
            yield number, line.removeprefix(BOM) if number == 1 else line


def find_unfilled(files: Sequence[Path], own: Collection[Path]) -> list[Path]:
    """Return tables without a whole line next to ``own`` files with the same suffix."""
    kinds = {(file.parent, get_ending(file)) for file in own if split_ending(file)[1] in _TABLES}
    return [
        file
        for file in files
        if (file.parent, get_ending(file)) in kinds and file not in own and is_unfilled(file)
    ]


def is_unfilled(file: Path) -> bool:
    """Return whether a file is empty, a Git LFS pointer, or breaks off in its first line."""
    beginning = read_head(file)
    if not beginning:
        return file.is_file() and not get_size(file)
    return is_pointer(beginning) or (b"\n" not in beginning and get_size(file) < HEAD)


def check_filled(path: Path) -> None:
    """Raise ``UnreadableError`` for a file without a whole line, or a Git LFS pointer."""
    if is_unfilled(path):
        beginning = read_head(path)
        refuse_pointer(path, beginning)
        torn = "its first line breaks off, so it holds no whole value yet"
        raise UnreadableError(path, torn if beginning else NOTHING_LOGGED)


def report_left_out(error: UnreadableError, what: str = "left out") -> Diagnostic:
    """Return a finding about an unreadable file of a run that can otherwise be read."""
    problem = error.problem
    advice = f". {problem.next_step}" if problem.next_step else ""
    return warn(problem.location.file, f"{problem.message}: {what}{advice}", problem.location.line)


class Count(Struct):
    """Number of lines that are irregular in one way, and the first of them, 1-based."""

    number: int = 0
    line: int | None = None

    def add(self, line: int | None) -> None:
        """Count a line."""
        self.number += 1
        self.line = self.line or line

    def describe(self, path: Path, singular: str, plural: str, rest: str) -> Iterator[Diagnostic]:
        """Yield at most one finding: the number of these lines, and the rest of the sentence."""
        if self.number:
            yield warn(path, f"{format_count(self.number, singular, plural)}{rest}", self.line)


class Decoder(Struct):
    """Decoder of a file that replaces and counts invalid UTF-8."""

    path: Path
    _replaced: Count = field(default_factory=Count)
    _cut_off: int | None = None

    def decode(self, data: bytes, line: int | None = None) -> str:
        """Decode bytes, with U+FFFD for invalid UTF-8."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            self._replaced.add(line)
            return data.decode(errors="replace")

    def read_whole(self, longest: int = LARGEST_DOCUMENT) -> str:
        """Decode the whole file; raise the errors of ``read_whole``."""
        return self.decode(read_whole(self.path, longest))

    def read_lines(self) -> Iterator[tuple[int, str]]:
        """Yield number and text of every line without its end; leave out a last line that has none."""
        for number, line in read_lines(self.path):
            if line.endswith(b"\n"):
                yield number, self.decode(line, number).rstrip("\r\n")
            elif line.strip():
                # A truncated number would be a different number.
                self._cut_off = number

    def list_findings(self) -> Iterator[Diagnostic]:
        """Yield at most two findings: the last line if it was left out, and invalid UTF-8."""
        if self._cut_off:
            message = "the last line has no end and may be cut off: it was left out"
            yield warn(self.path, message, self._cut_off)
        what = "some bytes of the file are"
        if self._replaced.line:
            what = f"{format_count(self._replaced.number, 'line')} with bytes that are"
        if self._replaced.number:
            message = f"{what} not UTF-8: a replacement mark stands for them"
            yield warn(self.path, message, self._replaced.line)
