"""Options that commands share, and how these print problems, tables and progress.

Colours and bars are for terminals only.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct, field

from reportgen.cli.envelope import collect
from reportgen.core import CACHE_DIR
from reportgen.core.terminal import clean_lines, clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from reportgen.core.errors import Diagnostic

    _Command = TypeVar("_Command", bound=Callable[..., Any])


def _use_cache_dir(_context: click.Context, _parameter: click.Parameter, folder: Path | None) -> None:
    """Processes that this one starts have to know it, too."""
    if folder is not None:
        os.environ[CACHE_DIR] = str(folder.absolute())


class _ConfigFile(click.Path):
    """The configuration of a report, without which a command is in the wrong folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401 - as click has it
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            step = "Go into the folder of a report, or make one with reportgen init my-report."
            raise click.BadParameter(f"{error.message} {step}", ctx, param) from None


config_option = click.option(
    "-f",
    "--config-file",
    type=_ConfigFile(exists=True, dir_okay=False, path_type=Path),
    default="mkdocs.yml",
    show_default=True,
    help="The report's mkdocs.yml.",
)
cache_dir_option = click.option(
    "--cache-dir",
    type=click.Path(file_okay=False, path_type=Path),
    envvar=CACHE_DIR,
    show_envvar=True,
    expose_value=False,
    callback=_use_cache_dir,
    help="Store the cache here instead of in your cache folder.",
)


def format_option(*forms: str, purpose: str) -> Callable[[_Command], _Command]:
    """``--format``, of which ``text`` is the default."""
    kinds = click.Choice(["text", *forms])
    return click.option("--format", "form", type=kinds, default="text", show_default=True, help=purpose)


# For commands that only answer; the others have more forms, or a reason to know the form.
json_option = click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    expose_value=False,
    help="For people, or for other programs.",
)


def print_line(words: str, *, err: bool = False) -> None:
    """Print a line; neither the terminal nor the log of a workflow obeys names in it."""
    click.echo(clean_text(words), err=err)


def print_lines(words: str, *, err: bool = False) -> None:
    """Print words of MkDocs, which may take several lines, as ``print_line`` prints one."""
    click.echo(clean_lines(words), err=err)


def warn(problem: str | Diagnostic) -> None:
    """Print a warning, which names its location itself."""
    from reportgen.core.errors import Diagnostic, Severity, SourceLocation

    click.secho("warning: ", fg="yellow", nl=False, err=True)
    print_lines(str(problem), err=True)
    if isinstance(problem, str):
        problem = Diagnostic(SourceLocation(""), problem.rstrip("."), severity=Severity.WARNING)
    collect(problem)


@contextmanager
def report_problems(outcome: str = "the site was left as it was", *, code: int = 1) -> Iterator[None]:
    """A context that prints every problem and the outcome of the command, and exits with ``code``."""
    from reportgen.core.errors import ReportError, diagnose_disk_error

    try:
        yield
    except ReportError as error:
        problems = list(error.problems)
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk, or a folder without write permission
        problems = [diagnose_disk_error(error, ".", "the command cannot continue")]
    else:
        return
    from reportgen.core.words import format_count

    for problem in problems:
        print_problem(problem)
    errors = sum(problem.severity == "error" for problem in problems)
    count = format_count(errors, "problem") if errors else format_count(len(problems), "warning")
    why = "" if errors else ", and --strict allows none"
    click.echo(f"{count}{why}; {outcome}.", err=True)
    sys.exit(code)


def print_problem(problem: Diagnostic, *, err: bool = True) -> None:
    """Print a diagnostic: ``content/index.md:5:1: error: …``; the terminal obeys no name in it."""
    click.secho(f"{clean_text(str(problem.location))}: ", bold=True, nl=False, err=err)
    colour = "red" if problem.severity == "error" else "yellow"
    click.secho(f"{problem.severity}: ", fg=colour, nl=False, err=err)
    click.echo(clean_text(problem.text), err=err)
    collect(problem)


@contextmanager
def show_progress(verb: str = "Drawing") -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _done, _all: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(verb), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(verb, total=None)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)


class Column(Struct, frozen=True):
    """A column of a table."""

    title: str
    longest: int | None = None  # number of characters after which a text is cut
    wraps: bool = False  # whether texts are wrapped on a narrow terminal
    styles: Mapping[str, str] = field(default_factory=dict)  # colour of each text

    def cut(self, text: str) -> str:
        """A text as the column has room for it."""
        if self.longest is None or len(text) <= self.longest:
            return text
        return f"{text[: self.longest - 1].rstrip()}…"


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of printable texts, as many in each as there are columns."""
    cut = [[column.cut(text) for column, text in zip(columns, row, strict=True)] for row in rows]
    if not sys.stdout.isatty():
        widths = [max(map(len, texts)) for texts in zip(*cut, strict=True)]
        for row in cut:
            padded = (text.ljust(width) for text, width in zip(row, widths, strict=True))
            click.echo("  ".join(padded).rstrip())
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column.title, no_wrap=not column.wraps, overflow="fold")
    for row in cut:
        styles = (column.styles.get(text, "") for column, text in zip(columns, row, strict=True))
        table.add_row(*(Text(text, style) for text, style in zip(row, styles, strict=True)))
    Console().print(table)


@contextmanager
def show_reading(hashes: Callable[[Path], str]) -> Iterator[Callable[[Path], str]]:
    """Show on a terminal which file is read; yields a function to use in place of ``hashes``.

    ``hashes`` gives a file's SHA-256 in hex and is called for every file before it is read.
    """
    if not sys.stderr.isatty():
        yield hashes
        return
    from rich.console import Console
    from rich.markup import escape

    seen: set[Path] = set()
    with Console(stderr=True).status("Looking for files") as status:

        def hash_file(path: Path) -> str:
            seen.add(path)
            status.update(f"Reading file {len(seen):,}: {escape(clean_text(path.name))}")
            return hashes(path)

        yield hash_file
