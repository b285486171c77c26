"""Bytes of the user's to text: UTF-8 with or without a mark, one kind of line end, or a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.errors import Place, Problem, ReportError, Stage

if TYPE_CHECKING:
    from pathlib import Path


def normalised(text: str) -> str:
    """The text without a byte order mark, its lines ended by a line feed."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def read_text(path: Path, file: str, stage: Stage) -> str:
    """Read a file that has to be UTF-8.

    Args:
        path: where it is.
        file: its name relative to the project, for messages.
        stage: what the user gives us in it.

    Raises:
        ReportError: it cannot be read, or is not UTF-8; the problem names the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = Problem(Place(file), f"this file cannot be read ({reason})", "", stage)
        raise ReportError(problem) from error
    try:
        return normalised(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"this is not UTF-8: byte {data[error.start]:#04x} stands where a character should"
        problem = Problem(Place(file, line), message, "Save the file with the encoding UTF-8", stage)
        raise ReportError(problem) from error
