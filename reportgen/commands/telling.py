"""How commands tell problems and progress: on the error channel, with colours only on a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.errors import Problem, ReportError


def print_line(words: str, *, err: bool = False) -> None:
    """Print a line with names in it, which neither the terminal nor the log of a workflow obeys."""
    from reportgen.site.checking.excerpts import clean_text

    click.echo(clean_text(words), err=err)


def print_lines(words: str, *, err: bool = False) -> None:
    """Print words of MkDocs, which may take several lines, as ``print_line`` prints one."""
    from reportgen.site.checking.excerpts import clean_lines

    click.echo(clean_lines(words), err=err)


def warn(word: str) -> None:
    """Print a warning that has its place in its words."""
    click.secho("warning: ", fg="yellow", nl=False, err=True)
    print_lines(word, err=True)


@contextmanager
def report_problems(outcome: str = "the site was left as it was") -> Iterator[None]:
    """Print every problem and what became of the command, and leave with 1."""
    from reportgen.errors import ReportError, describe_disk_problem

    try:
        yield
    except ReportError as error:
        _print_problems(error, outcome)
        sys.exit(1)
    except BrokenPipeError:
        raise
    except OSError as error:  # a full disk, a folder that may not be written
        _print_problems(ReportError(describe_disk_problem(error, ".", "the command cannot go on")), outcome)
        sys.exit(1)


def print_problem(problem: Problem, *, err: bool = True) -> None:
    """Print a problem: ``content/index.md:5:1: error: …``; names in it cannot give the terminal orders."""
    from reportgen.site.checking.excerpts import clean_text

    rest = clean_text(str(problem).removeprefix(f"{problem.place}: "))
    click.secho(f"{clean_text(str(problem.place))}: ", bold=True, nl=False, err=err)
    colour = "red" if problem.severity == "error" else "yellow"
    click.secho(f"{problem.severity}: ", fg=colour, nl=False, err=err)
    click.echo(rest, err=err)


def _print_problems(error: ReportError, outcome: str) -> None:
    from reportgen.words import format_count

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
