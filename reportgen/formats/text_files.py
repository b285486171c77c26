"""Text files as trainers leave them: still growing, torn at the end, now and then not UTF-8.

UTF-16, which Windows PowerShell writes where output is sent to a file, is recognised by its byte order
mark and the zeros behind it, and decoded to UTF-8.
"""

from __future__ import annotations

import codecs
import io
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from reportgen.core.words import format_count
from reportgen.formats.runs import Finding, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path


# How much of a file is held in memory at once; a file that needs more is refused, with its place. What is
# really unpacked counts, whatever a packed file says of itself.
LARGEST_DOCUMENT: Final = 256 << 20
"""Bytes of the largest file that is one value, such as JSON."""
LARGEST_PART: Final = 128 << 20
"""Bytes of the longest line, and of the largest record, member of an archive or window of a stream."""
MOST_COLUMNS: Final = 20_000
"""Columns of a table; some kilobytes are known of each."""
HEAD: Final = 4 << 10
TORN_LINE: Final = "the last line is torn: the writer was killed, or still writes; those before it are read"
NOTHING_LOGGED: Final = "the file is empty, nothing was logged into it yet"

_UTF16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_BEGINNING: Final = 64
_TABLES: Final = frozenset((".csv", ".tsv", ".jsonl", ".ndjson"))


def format_mebibytes(size: int) -> str:
    """A limit in words."""
    return f"{size >> 20:,} MiB"


def read_head(path: Path, size: int = HEAD, at: int = 0) -> bytes:
    """Some bytes to recognise a file by; nothing where it cannot be read, which ``read_lines`` reports."""
    try:
        with path.open("rb") as file:
            wide = _detect_utf16(file.read(_BEGINNING))
            file.seek(at - at % 2 if wide else at)
            data = file.read(size)
            return _decode_utf16(data, wide) if wide else data.removeprefix(codecs.BOM_UTF8)
    except OSError:
        return b""


def get_size(path: Path) -> int:
    """Bytes of a file; 0 where they are unknown."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def read_whole(path: Path, longest: int = LARGEST_DOCUMENT) -> bytes:
    """All bytes of a file without a byte order mark; raises ``UnreadableError``, also beyond ``longest``."""
    with explain_os_errors(path), path.open("rb") as file:
        data = file.read(longest + 1)
    refuse_pointer(path, data)
    if len(data) > longest:
        message = f"the file is larger than {format_mebibytes(longest)}, which is more than is read at once"
        raise UnreadableError(path, message, "Log fewer values, or convert it to Parquet")
    wide = _detect_utf16(data[:_BEGINNING])
    return _decode_utf16(data, wide) if wide else data.removeprefix(codecs.BOM_UTF8)


def read_lines(path: Path, longest: int = LARGEST_PART) -> Iterator[tuple[int, bytes]]:
    """Number (1-based) and bytes of every line with its end; raises ``UnreadableError`` as ``read_whole``."""
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
            yield number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line


def _detect_utf16(beginning: bytes) -> str:
    """The encoding of a file in UTF-16; empty for any other."""
    return _UTF16.get(beginning[:2], "") if b"\0" in beginning[2:] else ""


def _decode_utf16(data: bytes, wide: str) -> bytes:
    return data.decode(wide, errors="replace").encode(errors="replace").removeprefix(codecs.BOM_UTF8)


def find_unfilled(files: Sequence[Path], own: Collection[Path]) -> list[Path]:
    """Tables without a whole line next to ``own`` files of the same ending, perhaps of the same format."""
    kinds = {(file.parent, ending) for file in own if (ending := file.suffix.lower()) in _TABLES}
    return [
        file
        for file in files
        if (file.parent, file.suffix.lower()) in kinds and file not in own and is_unfilled(file)
    ]


def is_unfilled(file: Path) -> bool:
    """Whether a file is empty, a pointer of Git LFS, or has a first line that breaks off."""
    beginning = read_head(file)
    if not beginning:
        return file.is_file() and not get_size(file)
    return is_pointer(beginning) or (b"\n" not in beginning and get_size(file) < HEAD)


def check_filled(path: Path) -> None:
    """Raise ``UnreadableError`` for a file without a whole line, or that is a Git LFS pointer."""
    if is_unfilled(path):
        beginning = read_head(path)
        refuse_pointer(path, beginning)
        torn = "its first line breaks off, so it holds no whole value yet"
        raise UnreadableError(path, torn if beginning else NOTHING_LOGGED)


def report_left_out(error: UnreadableError, what: str = "left out") -> Finding:
    """The finding about a file that cannot be read where the rest of its run can."""
    advice = f". {error.next_step}" if error.next_step else ""
    return Finding(error.path, f"{error.message}: {what}{advice}", error.line)


@dataclass(slots=True)
class Count:
    """How many lines are irregular in one way, and the first of them, 1-based."""

    number: int = 0
    line: int | None = None

    def add(self, line: int | None) -> None:
        """Count a line."""
        self.number += 1
        self.line = self.line or line

    def describe(self, path: Path, singular: str, plural: str, rest: str) -> Iterator[Finding]:
        """At most one finding: so many of these lines, and the rest of its sentence."""
        if self.number:
            yield Finding(path, f"{format_count(self.number, singular, plural)}{rest}", self.line)


@dataclass(slots=True)
class Decoder:
    """The text of a file, in which what is not UTF-8 is replaced and counted."""

    path: Path
    _replaced: Count = field(default_factory=Count)
    _cut_off: int | None = None

    def decode(self, data: bytes, line: int | None = None) -> str:
        """The text, with U+FFFD in place of what is not UTF-8."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            self._replaced.add(line)
            return data.decode(errors="replace")

    def read_whole(self, longest: int = LARGEST_DOCUMENT) -> str:
        """All of the file; raises what ``read_whole`` raises."""
        return self.decode(read_whole(self.path, longest))

    def read_lines(self) -> Iterator[tuple[int, str]]:
        """Number and text of every line, without its end; a last one that has none is left out."""
        for number, line in read_lines(self.path):
            if line.endswith(b"\n"):
                yield number, self.decode(line, number).rstrip("\r\n")
            elif line.strip():
                # A number that was cut off is another number.
                self._cut_off = number

    def list_findings(self) -> Iterator[Finding]:
        """At most two: the last line that was left out, and what was not UTF-8."""
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
    """Whether a file that begins so is a pointer of Git LFS."""
    return beginning.startswith(b"version https://git-lfs")


def refuse_pointer(path: Path, beginning: bytes, what: str = "the data themselves") -> None:
    """Raise ``UnreadableError`` for a pointer of Git LFS, which stands for ``what``."""
    if is_pointer(beginning):
        raise UnreadableError(path, f"it is a Git LFS pointer, not {what}", "Run git lfs pull")


@contextmanager
def explain_os_errors(path: Path) -> Iterator[None]:
    """Turn an error of the operating system into ``UnreadableError``."""
    try:
        yield
    except OSError as error:
        message = f"the file cannot be read: {error.strerror or error}"
        raise UnreadableError(path, message, "Check that it exists and may be read") from error
