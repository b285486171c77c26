"""What a user can correct: each problem has a location, says what is wrong, and names the next step."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import TracebackType


@dataclass(frozen=True, slots=True, order=True)
class SourceLocation:
    """Where something stands: a file relative to the project, and a 1-based line and column if known."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts)


class Severity(StrEnum):
    """An error stops the build; a warning is told, and stops it only under ``--strict``."""

    ERROR = "error"
    WARNING = "warning"


class Stage(StrEnum):
    """What the user was giving us when the problem was found."""

    SETTINGS = "settings"
    DATA = "data"
    NARRATIVE = "narrative"
    FIGURE = "figure"
    SITE = "site"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing for the user to mend.

    Attributes:
        place: file, line and column.
        message: what was found, a sentence without its full stop.
        next_step: what to do about it, a sentence without its full stop, or a question; may be empty.
        stage: which kind of input it concerns.
        severity: error or warning.
    """

    location: SourceLocation
    message: str
    next_step: str = ""
    stage: Stage = Stage.NARRATIVE
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        asks = self.next_step.endswith("?")
        advice = f" {self.next_step}{'' if asks else '.'}" if self.next_step else ""
        return f"{self.location}: {self.message}.{advice}"


DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers that say nothing about the file that was read, but that there is no space to write."""


def diagnose_disk_error(error: OSError, path: str, message: str) -> Diagnostic:
    """What keeps a file from being written, such as a full disk.

    Args:
        error: what the system said.
        path: the file or folder, where the error names none.
        message: what cannot be done, such as "the site cannot be built".
    """
    step = "Free some space" if error.errno in DISK_FULL else "Check that it may be written"
    place = SourceLocation(str(error.filename or path))
    return Diagnostic(place, f"{message}: {error.strerror or error}", step, Stage.SITE)


class ReportError(Exception):
    """One or more problems in the user's report; never raised for a fault of ours."""

    def __init__(self, *problems: Diagnostic) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems

    def __reduce__(self) -> tuple[type[ReportError], tuple[Diagnostic, ...]]:
        """Travel between processes whole, with every problem."""
        return ReportError, self.problems


@dataclass(slots=True)
class Diagnostics:
    """Collects the problems of a draft, so that all of them are told together."""

    found: list[Diagnostic] = field(default_factory=list)

    def collecting(self) -> Collecting:
        """Keep the problems of a ``ReportError`` raised inside and go on after the block."""
        return Collecting(self)

    def add(self, problems: Iterable[Diagnostic]) -> None:
        """Add problems, each told once."""
        self.found.extend(problem for problem in problems if problem not in self.found)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The problems that stop a build, in the order of their places."""
        return tuple(p for p in self.in_order() if p.severity is Severity.ERROR)

    def in_order(self) -> tuple[Diagnostic, ...]:
        """All problems, sorted by file and line."""
        return tuple(sorted(self.found, key=lambda p: (p.location.file, p.location.line or 0)))

    def raise_errors(self) -> None:
        """Raise one ``ReportError`` with every problem if any of them is an error."""
        if self.errors:
            raise ReportError(*self.in_order())


@dataclass(frozen=True, slots=True)
class Collecting:
    """A context manager that hands the problems raised inside to ``problems`` and goes on."""

    problems: Diagnostics

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Swallow a ``ReportError``, after keeping its problems."""
        if isinstance(error, ReportError):
            self.problems.add(error.problems)
            return True
        return False


@dataclass(frozen=True, slots=True)
class Placing:
    """A context manager: a problem raised inside at place ``old`` is told at ``new`` instead.

    Who reads data knows the source; who asked for it is the one to mend the question.
    """

    old: SourceLocation
    new: SourceLocation

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise a ``ReportError`` again with its places mended."""
        if isinstance(error, ReportError):
            raise ReportError(*move_diagnostics(error.problems, self.old, self.new)) from error


def move_diagnostics(
    problems: Iterable[Diagnostic], old: SourceLocation, new: SourceLocation
) -> Iterator[Diagnostic]:
    """Diagnostics, those at ``old`` moved to ``new``."""
    return (replace(p, location=new) if p.location == old else p for p in problems)
