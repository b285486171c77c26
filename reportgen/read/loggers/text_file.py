"""Text files as trainers leave them: still growing, torn at the end, now and then not UTF-8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen.read.logged import Finding, UnreadableError
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD: Final = 4 << 10
LONGEST: Final = 256 << 20
"""Bytes of the longest record: a line, or a JSON file that is one value."""

_BOM: Final = b"\xef\xbb\xbf"
_POINTER: Final = b"version https://git-lfs.github.com/spec/"


def head(path: Path, size: int = HEAD, at: int = 0) -> bytes:
    """Some bytes to recognise a file by; nothing where it cannot be read, which is told when it is read."""
    try:
        with path.open("rb") as file:
            file.seek(at)
            return file.read(size).removeprefix(_BOM)
    except OSError:
        return b""


def size(path: Path) -> int:
    """Bytes of a file; 0 where it cannot be asked."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def whole(path: Path, longest: int = LONGEST) -> bytes:
    """All bytes of a file without a byte order mark.

    Raises:
        UnreadableError: it cannot be read, is a Git LFS pointer, or is longer than that.
    """
    try:
        with path.open("rb") as file:
            data = file.read(longest + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    _refuse_pointer(path, data)
    if len(data) > longest:
        message = f"the file is larger than {longest >> 20:,} MiB, which is more than is read at once"
        raise UnreadableError(path, message, "Log fewer values, or convert it to Parquet")
    return data.removeprefix(_BOM)


def lines(path: Path, longest: int = LONGEST) -> Iterator[tuple[int, bytes]]:
    """Number (1-based) and bytes of every line with its end, which the last one may lack.

    Raises:
        UnreadableError: it cannot be read, is a Git LFS pointer, or has a line longer than that.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(longest + 1):
                number += 1
                if number == 1:
                    _refuse_pointer(path, line)
                    line = line.removeprefix(_BOM)
                if len(line) > longest:
                    message = f"the line is longer than {longest >> 20:,} MiB"
                    raise UnreadableError(path, message, "Check that this is a text file", number)
                yield number, line
    except OSError as error:
        raise _unreadable(path, error) from error


@dataclass(slots=True)
class Decoding:
    """Bytes to text; what is not UTF-8 is replaced and counted.

    Attributes:
        path: the file, for the finding.
        replaced: how many pieces were not UTF-8.
        first: the line of the first of them.
    """

    path: Path
    replaced: int = 0
    first: int | None = None

    def text(self, data: bytes, line: int | None = None) -> str:
        """The text, with U+FFFD in place of what is not UTF-8."""
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.first = self.first or line
            self.replaced += 1
            return data.decode(errors="replace")

    def findings(self) -> Iterator[Finding]:
        """At most one: what was not UTF-8."""
        if self.replaced and self.first:
            lines_ = counted(self.replaced, "line")
            message = f"{lines_} with bytes that are not UTF-8: a replacement mark stands for them"
            yield Finding(self.path, message, self.first)
        elif self.replaced:
            yield Finding(
                self.path, "some bytes of the file are not UTF-8: a replacement mark stands for them"
            )


def _unreadable(path: Path, error: OSError) -> UnreadableError:
    message = f"the file cannot be read: {error.strerror or error}"
    return UnreadableError(path, message, "Check that it exists and may be read")


def _refuse_pointer(path: Path, data: bytes) -> None:
    if data.startswith(_POINTER):
        message = "it is a Git LFS pointer, not the data themselves"
        raise UnreadableError(path, message, "Run git lfs pull")
