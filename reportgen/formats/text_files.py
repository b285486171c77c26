"""Text files as trainers leave them: still growing, torn at the end, now and then not UTF-8.

UTF-16, which Windows PowerShell writes where output is sent to a file, is recognised by its byte order
mark and the zeros behind it, and handed over as UTF-8.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen.core.words import format_count
from reportgen.formats.limits import LARGEST_DOCUMENT, LARGEST_PART, format_mebibytes
from reportgen.formats.runs import Finding, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO


HEAD: Final = 4 << 10

_BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_BEGINNING: Final = 64
_TABLES: Final = frozenset((".csv", ".tsv", ".jsonl", ".ndjson"))
_POINTER: Final = b"version https://git-lfs.github.com/spec/"


def read_head(path: Path, size: int = HEAD, at: int = 0) -> bytes:
    """Some bytes to recognise a file by; nothing where it cannot be read, which is told when it is read."""
    try:
        with path.open("rb") as file:
            wide = _detect_utf16(file.read(_BEGINNING))
            file.seek(at - at % 2 if wide else at)
            data = file.read(size)
            return _decode_utf16(data, wide) if wide else data.removeprefix(_BOM)
    except OSError:
        return b""


def get_size(path: Path) -> int:
    """Bytes of a file; 0 where it cannot be asked."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def read_whole(path: Path, longest: int = LARGEST_DOCUMENT) -> bytes:
    """All bytes of a file without a byte order mark.

    Raises:
        UnreadableError: it cannot be read, is a Git LFS pointer, or is longer than that.
    """
    try:
        with path.open("rb") as file:
            data = file.read(longest + 1)
    except OSError as error:
        raise _describe_os_error(path, error) from error
    _refuse_pointer(path, data)
    if len(data) > longest:
        message = f"the file is larger than {format_mebibytes(longest)}, which is more than is read at once"
        raise UnreadableError(path, message, "Log fewer values, or convert it to Parquet")
    if wide := _detect_utf16(data[:_BEGINNING]):
        return _decode_utf16(data, wide)
    return data.removeprefix(_BOM)


def read_lines(path: Path, longest: int = LARGEST_PART) -> Iterator[tuple[int, bytes]]:
    """Number (1-based) and bytes of every line with its end, which the last one may lack.

    Raises:
        UnreadableError: it cannot be read, is a Git LFS pointer, or has a line longer than that.
    """
    try:
        with path.open("rb") as file:
            wide = _detect_utf16(file.read(_BEGINNING))
            file.seek(0)
            found = _split_wide_lines(path, wide, longest) if wide else _split_lines(file, longest)
            for number, line in enumerate(found, 1):
                if number == 1:
                    _refuse_pointer(path, line)
                if len(line) > longest:
                    message = f"the line is longer than {format_mebibytes(longest)}"
                    raise UnreadableError(path, message, "Check that this is a text file", number)
                yield number, line.removeprefix(_BOM) if number == 1 else line
    except OSError as error:
        raise _describe_os_error(path, error) from error


def find_unfilled(files: Sequence[Path], found: Collection[Path]) -> list[Path]:
    """Tables in the folders of files that were found, with their endings, that hold no whole line.

    Empty files, pointers of Git LFS, and first lines that break off: nothing tells that they are of another
    format, and whoever reads them says what they are.
    """
    kinds = {(file.parent, file.suffix.lower()) for file in found}
    candidates = (file for file in files if (file.parent, file.suffix.lower()) in kinds)
    return [
        file
        for file in candidates
        if file not in found and file.suffix.lower() in _TABLES and is_unfilled(file)
    ]


def is_unfilled(file: Path) -> bool:
    """Whether a file is empty, a pointer of Git LFS, or has a first line that breaks off."""
    beginning = read_head(file)
    if not beginning:
        return file.is_file() and not get_size(file)
    return beginning.startswith(_POINTER) or (b"\n" not in beginning and get_size(file) < HEAD)


def check_filled(path: Path) -> None:
    """See that a file has a whole line.

    Raises:
        UnreadableError: it has none, or is a Git LFS pointer.
    """
    if is_unfilled(path):
        beginning = read_head(path)
        _refuse_pointer(path, beginning)
        torn = "its first line breaks off, so it holds no whole value yet"
        raise UnreadableError(
            path, torn if beginning else "the file is empty, nothing was logged into it yet"
        )


def report_left_out(error: UnreadableError, what: str = "left out") -> Finding:
    """What to tell of a file that cannot be read where the rest of its run can."""
    advice = f". {error.next_step}" if error.next_step else ""
    return Finding(error.path, f"{error.message}: {what}{advice}", error.line)


@dataclass(slots=True)
class Decoder:
    """Bytes to text; what is not UTF-8 is replaced and counted.

    Attributes:
        path: the file, for the finding.
        replaced: how many pieces were not UTF-8.
        first: the line of the first of them.
    """

    path: Path
    replaced: int = 0
    first: int | None = None

    def decode(self, data: bytes, line: int | None = None) -> str:
        """The text, with U+FFFD in place of what is not UTF-8."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.first = self.first or line
            self.replaced += 1
            return data.decode(errors="replace")

    def list_findings(self) -> Iterator[Finding]:
        """At most one: what was not UTF-8."""
        if self.replaced and self.first:
            lines_ = format_count(self.replaced, "line")
            message = f"{lines_} with bytes that are not UTF-8: a replacement mark stands for them"
            yield Finding(self.path, message, self.first)
        elif self.replaced:
            yield Finding(
                self.path, "some bytes of the file are not UTF-8: a replacement mark stands for them"
            )


def _split_lines(file: BinaryIO, longest: int) -> Iterator[bytes]:
    while line := file.readline(longest + 1):
        yield line


def _split_wide_lines(path: Path, wide: str, longest: int) -> Iterator[bytes]:
    with path.open(encoding=wide, errors="replace", newline="\n") as file:
        while line := file.readline(longest + 1):
            yield line.encode(errors="replace")


def _detect_utf16(beginning: bytes) -> str:
    """The encoding of a file in UTF-16; empty for any other."""
    return _UTF16.get(beginning[:2], "") if b"\0" in beginning[2:] else ""


def _decode_utf16(data: bytes, wide: str) -> bytes:
    """UTF-16 as UTF-8 without a byte order mark."""
    return data.decode(wide, errors="replace").encode(errors="replace").removeprefix(_BOM)


def _describe_os_error(path: Path, error: OSError) -> UnreadableError:
    message = f"the file cannot be read: {error.strerror or error}"
    return UnreadableError(path, message, "Check that it exists and may be read")


def _refuse_pointer(path: Path, data: bytes) -> None:
    if data.startswith(_POINTER):
        message = "it is a Git LFS pointer, not the data themselves"
        raise UnreadableError(path, message, "Run git lfs pull")
