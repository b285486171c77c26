"""How commands print problems, tables and progress, with colours and bars only on a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic, ReportError


def print_line(words: str, *, err: bool = False) -> None:
    """Print a line with names in it, which neither the terminal nor the log of a workflow obeys."""
    from reportgen.site.terminal import clean_text

    click.echo(clean_text(words), err=err)


def print_lines(words: str, *, err: bool = False) -> None:
    """Print words of MkDocs, which may take several lines, as ``print_line`` prints one."""
    from reportgen.site.terminal import clean_lines

    click.echo(clean_lines(words), err=err)


def warn(word: str) -> None:
    """Print a warning that has its place in its words."""
    click.secho("warning: ", fg="yellow", nl=False, err=True)
    print_lines(word, err=True)


@contextmanager
def report_problems(outcome: str = "the site was left as it was") -> Iterator[None]:
    """Print every problem and what became of the command, and leave with 1."""
    from reportgen.core.errors import ReportError, diagnose_disk_error

    try:
        yield
    except ReportError as error:
        _print_problems(error, outcome)
        sys.exit(1)
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk, a folder that may not be written
        _print_problems(ReportError(diagnose_disk_error(error, ".", "the command cannot go on")), outcome)
        sys.exit(1)


def print_problem(problem: Diagnostic, *, err: bool = True) -> None:
    """Print a problem: ``content/index.md:5:1: error: …``; names in it cannot give the terminal orders."""
    from reportgen.site.terminal import clean_text

    rest = clean_text(str(problem).removeprefix(f"{problem.location}: "))
    click.secho(f"{clean_text(str(problem.location))}: ", bold=True, nl=False, err=err)
    colour = "red" if problem.severity == "error" else "yellow"
    click.secho(f"{problem.severity}: ", fg=colour, nl=False, err=err)
    click.echo(rest, err=err)


def _print_problems(error: ReportError, outcome: str) -> None:
    from reportgen.core.words import format_count

    for problem in error.problems:
        print_problem(problem)
    errors = sum(problem.severity == "error" for problem in error.problems)
    count = format_count(errors, "problem") if errors else format_count(len(error.problems), "warning")
    why = "" if errors else ", and --strict allows none"
    click.echo(f"{count}{why}; {outcome}.", err=True)


@contextmanager
def show_progress() -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("Drawing"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Drawing", total=None)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)


_GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        title: its header.
        longest: characters after which a text is cut; None where none is.
        wraps: whether its texts are broken into lines on a narrow terminal.
        styles: the colour of its texts, by the text.
    """

    title: str
    longest: int | None = None
    wraps: bool = False
    styles: Mapping[str, str] = field(default_factory=dict)

    def cut(self, text: str) -> str:
        """A text of this column."""
        if self.longest is None or len(text) <= self.longest:
            return text
        return f"{text[: self.longest - 1].rstrip()}…"


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of printable texts, as many in each as there are columns."""
    cut = [[column.cut(text) for column, text in zip(columns, row, strict=True)] for row in rows]
    if sys.stdout.isatty():
        _print_rich(columns, cut)
        return
    widths = [max(map(len, texts)) for texts in zip(*cut, strict=True)]
    for row in cut:
        padded = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        click.echo(_GAP.join(padded).rstrip())


def _print_rich(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column.title, no_wrap=not column.wraps, overflow="fold")
    for row in rows:
        styles = (column.styles.get(text, "") for column, text in zip(columns, row, strict=True))
        table.add_row(*(Text(text, style) for text, style in zip(row, styles, strict=True)))
    Console().print(table)


@contextmanager
def show_reading(hashes: Callable[[Path], str]) -> Iterator[Callable[[Path], str]]:
    """Show on a terminal what is read; nothing elsewhere.

    Args:
        hashes: SHA-256 of a file in hex, which every file is asked for before it is read.

    Yields:
        The same, to be used in its place.
    """
    if not sys.stderr.isatty():
        yield hashes
        return
    from rich.console import Console
    from rich.markup import escape

    from reportgen.site.terminal import clean_text

    seen: set[Path] = set()
    with Console(stderr=True).status("Looking for files") as status:

        def hash_file(path: Path) -> str:
            seen.add(path)
            status.update(f"Reading file {len(seen):,}: {escape(clean_text(path.name))}")
            return hashes(path)

        yield hash_file
