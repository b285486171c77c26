"""Text files as trainers leave them: still growing, torn at the end, sometimes not UTF-8.

UTF-16, which Windows PowerShell writes for redirected output, is recognised by its byte order mark and zero
bytes, and decoded to UTF-8.
"""

from __future__ import annotations

import codecs
import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from reportgen.core.words import format_count
from reportgen.formats.runs import Finding, UnreadableError
from reportgen.settings.text import CONFLICT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path


# How much of a file is held in memory at once; a file that needs more is refused, with its location. Limits
# apply to what is actually unpacked, whatever sizes a packed file declares.
LARGEST_DOCUMENT: Final = 256 << 20
"""Bytes of the largest file that is a single value, such as JSON."""
LARGEST_PART: Final = 128 << 20
"""Bytes of the longest line, and of the largest record, archive member or stream window."""
MOST_COLUMNS: Final = 20_000
"""Columns of a table; each takes some kilobytes of metadata."""
HEAD: Final = 4 << 10
LOG_ENDINGS: Final = (".log", ".txt", ".out", ".err")
"""Endings of text logs."""
TORN_LINE: Final = "the last line is torn: the writer was killed, or still writes; those before it are read"
NOTHING_LOGGED: Final = "the file is empty, nothing was logged into it yet"

_UTF16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_BEGINNING: Final = 64
_TABLES: Final = frozenset((".csv", ".tsv", ".jsonl", ".ndjson"))


def format_mebibytes(size: int) -> str:
    """Return a limit in words."""
    return f"{size >> 20:,} MiB"


def read_head(path: Path, size: int = HEAD, at: int = 0) -> bytes:
    """Read bytes to recognise a file by; empty if it cannot be read, which ``read_lines`` reports."""
    try:
        with path.open("rb") as file:
            wide = _detect_utf16(file.read(_BEGINNING))
            file.seek(at - at % 2 if wide else at)
            data = file.read(size)
            return _decode_utf16(data, wide) if wide else data.removeprefix(codecs.BOM_UTF8)
    except OSError:
        return b""


def get_size(path: Path) -> int:
    """Return the size of a file in bytes; 0 if unknown."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def read_whole(path: Path, longest: int = LARGEST_DOCUMENT) -> bytes:
    """Read a file without its byte order mark; raise ``UnreadableError``, also beyond ``longest`` bytes."""
    with explain_os_errors(path), path.open("rb") as file:
        data = file.read(longest + 1)
    refuse_pointer(path, data)
    if len(data) > longest:
        message = f"the file is larger than {format_mebibytes(longest)}, which is more than is read at once"
        raise UnreadableError(path, message, "Log fewer values, or convert it to Parquet")
    wide = _detect_utf16(data[:_BEGINNING])
    return _decode_utf16(data, wide) if wide else data.removeprefix(codecs.BOM_UTF8)


def read_lines(path: Path, longest: int = LARGEST_PART) -> Iterator[tuple[int, bytes]]:
    """Yield number (1-based) and bytes of every line with its end; raise ``UnreadableError``."""
    is_table = path.suffix.lower() in _TABLES
    with explain_os_errors(path), path.open("rb") as file:
        wide = _detect_utf16(file.read(_BEGINNING))
        file.seek(0)
        lines = iter(lambda: file.readline(longest + 1), b"")
        if wide:
            text = io.TextIOWrapper(file, wide, errors="replace", newline="\n")
            wide_lines = iter(lambda: text.readline(longest + 1), "")
            lines = (line.encode(errors="replace") for line in wide_lines)
        for number, line in enumerate(lines, 1):
            if number == 1:
                refuse_pointer(path, line)
            if len(line) > longest:
                message = f"the line is longer than {format_mebibytes(longest)}"
                raise UnreadableError(path, message, "Check that this is a text file", number)
            if is_table and line.startswith((b"<<<<<<< ", b">>>>>>> ")):
                raise UnreadableError(path, *CONFLICT, number)
            yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def _detect_utf16(beginning: bytes) -> str:
    """Return the encoding of a UTF-16 file; empty for others."""
    return _UTF16.get(beginning[:2], "") if b"\0" in beginning[2:] else ""


def _decode_utf16(data: bytes, wide: str) -> bytes:
    return data.decode(wide, errors="replace").encode(errors="replace").removeprefix(codecs.BOM_UTF8)


def find_unfilled(files: Sequence[Path], own: Collection[Path]) -> list[Path]:
    """Return tables without a whole line next to ``own`` files with the same suffix."""
    kinds = {(file.parent, ending) for file in own if (ending := file.suffix.lower()) in _TABLES}
    return [
        file
        for file in files
        if (file.parent, file.suffix.lower()) in kinds and file not in own and is_unfilled(file)
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


def report_left_out(error: UnreadableError, what: str = "left out") -> Finding:
    """Return a finding about an unreadable file of a run that can otherwise be read."""
    advice = f". {error.next_step}" if error.next_step else ""
    return Finding(error.path, f"{error.message}: {what}{advice}", error.line)


class Count(Struct):
    """Number of lines that are irregular in one way, and the first of them, 1-based."""

    number: int = 0
    line: int | None = None

    def add(self, line: int | None) -> None:
        """Count a line."""
        self.number += 1
        self.line = self.line or line

    def describe(self, path: Path, singular: str, plural: str, rest: str) -> Iterator[Finding]:
        """Yield at most one finding: the number of these lines, and the rest of the sentence."""
        if self.number:
            yield Finding(path, f"{format_count(self.number, singular, plural)}{rest}", self.line)


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

    def list_findings(self) -> Iterator[Finding]:
        """Yield at most two findings: the last line if it was left out, and invalid UTF-8."""
        if self._cut_off:
            message = "the last line has no end and may be cut off: it was left out"
            yield Finding(self.path, message, self._cut_off)
        what = "some bytes of the file are"
        if self._replaced.line:
            what = f"{format_count(self._replaced.number, 'line')} with bytes that are"
        if self._replaced.number:
            message = f"{what} not UTF-8: a replacement mark stands for them"
            yield Finding(self.path, message, self._replaced.line)


def is_pointer(beginning: bytes) -> bool:
    """Return whether these first bytes are those of a Git LFS pointer."""
    return beginning.startswith(b"version https://git-lfs")


def refuse_pointer(path: Path, beginning: bytes, what: str = "the data themselves") -> None:
    """Raise ``UnreadableError`` for a Git LFS pointer to ``what``."""
    if is_pointer(beginning):
        raise UnreadableError(path, f"it is a Git LFS pointer, not {what}", "Run git lfs pull")


@contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Turn an ``OSError`` into ``UnreadableError``."""
    try:
        yield
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise UnreadableError(path, message, "Check that it exists and may be read") from error
