"""Problems that a user can correct: each diagnostic has a location, a message and a next step."""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType


_NAMED = re.compile(r"\{(\w+): (\[[^\]]*\]|[^{}\[\]]+)\}")
_SETTINGS_FILE = re.compile(r"(?<![\w./-])source\.yml\b")


class SourceLocation(Struct, frozen=True, order=True):
    """A file relative to the project, with 1-based line and column if known."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)


class Severity(StrEnum):
    """An error stops the build; a warning stops it only under ``--strict``."""

    ERROR = "error"
    WARNING = "warning"


class Stage(StrEnum):
    """Kind of input that a diagnostic concerns."""

    SETTINGS = "settings"
    DATA = "data"
    NARRATIVE = "narrative"
    FIGURE = "figure"
    SITE = "site"


class StatementRule(StrEnum):
    """How a statement is not as expected, or missing, which fails a check."""

    FAILS = "statement-fails"
    UNDECIDED = "statement-undecided"
    UNEXPECTED = "expected-failure-holds"
    UNBOUND = "numbers-unbound"


class Diagnostic(Struct, frozen=True):
    """One problem for the user to correct."""

    location: SourceLocation
    message: str  # a sentence without a full stop, or one that ends with a question
    next_step: str = ""  # a sentence without a full stop, a question, or empty
    stage: Stage = Stage.NARRATIVE
    severity: Severity = Severity.ERROR
    id: str = ""  # by which its author can accept a warning; empty if it cannot be accepted
    confirmed_by: str = ""  # the key of source.yml that confirms what a reader left out
    rule: StatementRule | None = None  # of a warning about a statement

    @property
    def text(self) -> str:
        """The message and the next step as sentences, and the id in brackets."""
        sentences = (text for text in (self.message, self.next_step) if text)
        said = " ".join(text if text.endswith("?") else f"{text}." for text in sentences)
        return f"{said} [{self.id}]" if self.id else said

    def __str__(self) -> str:
        return f"{self.location}: {self.text}"


class ReportError(Exception):
    """One or more problems in the user's report; never raised for a bug in reportgen itself."""

    def __init__(self, *problems: Diagnostic) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems

    def __reduce__(self) -> tuple[type[ReportError], tuple[Diagnostic, ...]]:
        """Pickle the error with every problem, for other processes."""
        return ReportError, self.problems


def make_error(
    location: SourceLocation | str, message: str, next_step: str = "", stage: Stage = Stage.SITE
) -> ReportError:
    """Make an exception with one diagnostic about a location or a file."""
    where = SourceLocation(location) if isinstance(location, str) else location
    return ReportError(Diagnostic(where, message, next_step, stage))


DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Error numbers that mean that there is no space to write, regardless of the file in the error."""


def diagnose_disk_error(error: OSError, path: str, message: str) -> Diagnostic:
    """Return a diagnostic for a failed write, such as a full disk.

    ``path`` is used if the error has no file name; ``message`` says what failed, such as "the site cannot
    be built".
    """
    step = "Free some space" if error.errno in DISK_FULL else "Check that it may be written"
    location = SourceLocation(str(error.filename or path))
    return Diagnostic(location, f"{message}: {error.strerror or error}", step, Stage.SITE)


class Diagnostics(Struct):
    """The diagnostics of a draft, collected so that the user sees all of them at once."""

    found: list[Diagnostic] = field(default_factory=list)

    def collecting(self) -> Diagnostics:
        """Return a context manager that adds the problems of a ``ReportError`` and suppresses it."""
        return self

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, ReportError):
            self.add(error.problems)
        return isinstance(error, ReportError)

    def add(self, problems: Iterable[Diagnostic]) -> None:
        """Add diagnostics, without duplicates."""
        self.found.extend(problem for problem in problems if problem not in self.found)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """Diagnostics that stop a build, sorted by file and line."""
        return tuple(p for p in self.in_order() if p.severity is Severity.ERROR)

    def in_order(self) -> tuple[Diagnostic, ...]:
        """Return all diagnostics, sorted by file and line."""
        return tuple(sorted(self.found, key=lambda p: (p.location.file, p.location.line or 0)))

    def raise_errors(self) -> None:
        """Raise one ``ReportError`` with every diagnostic if any of them is an error."""
        if self.errors:
            raise ReportError(*self.in_order())


@contextmanager
def relocate_errors(
    old: SourceLocation, new: SourceLocation, settings_file: str = "", paths: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Report problems raised at ``old`` inside the context at ``new`` instead.

    Code that reads data knows only the source, but the user has to correct the block that requests it.
    ``settings_file`` and ``paths`` are the source's, see ``name_settings_file``.
    """
    try:
        yield
    except ReportError as error:
        named = name_settings_file(error.problems, settings_file, paths)
        raise ReportError(*move_diagnostics(named, old, new)) from error


def move_diagnostics(
    problems: Iterable[Diagnostic], old: SourceLocation, new: SourceLocation
) -> Iterator[Diagnostic]:
    """Yield the diagnostics with those at ``old`` moved to ``new``."""
    return (replace(p, location=new) if p.location == old else p for p in problems)


def name_settings_file(
    problems: Iterable[Diagnostic], file: str, paths: Mapping[str, str] | None = None
) -> Iterator[Diagnostic]:
    """Yield the diagnostics of a source with ``file``, which its settings are read from, for "source.yml".

    Unchanged if that is a ``source.yml`` in the source's own folder, or empty. ``paths`` are what settings
    have to say for each column where it is not the column's name.
    """
    name = file if file.endswith(".source.yml") else "source.yml"
    for problem in problems:
        message, step = (
            _SETTINGS_FILE.sub(lambda _: name, text) for text in (problem.message, problem.next_step)
        )
        if paths:
            step = _NAMED.sub(partial(_state_columns, paths={"NAME": "$.NAME", **paths}), step)
        yield replace(problem, message=message, next_step=step)


def _state_columns(match: re.Match[str], paths: Mapping[str, str]) -> str:
    names = [paths.get(name, name) for name in match[2].strip("[]").split(", ")]
    texts = ", ".join(f"'{name}'" if name.startswith("@") else name for name in names)
    return f"{{{match[1]}: {texts if len(names) == 1 else f'[{texts}]'}}}"
