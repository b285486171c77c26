"""``reportgen fix``: types bound values anew that no longer match the data, after it has shown how."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reportgen.commands.options import cache_dir_option, config_option
from reportgen.commands.telling import problems_told, progress_bar, say, tell_problem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.errors import Problem
    from reportgen.site.checking.page_repairs import PageRepair

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command()
@config_option
@cache_dir_option
@click.option("-w", "--write", is_flag=True, help="Write the pages.")
def fix(config_file: Path, *, write: bool) -> None:
    """Show, as a diff, what bound values that no longer match the data have to be; --write types it.

    Digits, unit and style stay as they were typed, and so does all other text. Claims are sentences, so they
    are left to you: those that are not as expected are listed. Leaves with 1 if there is something to write
    and --write was not given; whether all statements hold is for reportgen check to say.

    \b
    Examples:
      reportgen fix
      reportgen fix --write
    """
    from reportgen.site.checking.checking import drafted
    from reportgen.site.checking.page_repairs import left_to_people, page_repairs

    with problems_told("nothing was written"):
        with progress_bar() as advance:
            report, problems = drafted(config_file, progress=advance)
        statements = [one for several in report.statements.values() for one in several]
        pages = page_repairs(config_file.resolve().parent, statements)
    for page in pages:
        _show(page.difference)
    left = left_to_people(statements, pages)
    if write:
        with problems_told("only the pages named above were written"):
            _write(pages)
    _close(pages, [one for one in problems if one.place in left], written=write)
    sys.exit(1 if pages and not write else 0)


def _show(difference: str) -> None:
    from reportgen.site.checking.excerpts import printable

    shown = sys.stdout.isatty()
    for line in difference.split("\n")[:-1]:
        heading = line.startswith(("---", "+++"))
        colour = None if heading else _COLOURS.get(line[:1])
        # What is piped is a patch, byte for byte; what is looked at gives the terminal no orders.
        click.secho(printable(line) if shown else line, fg=colour, bold=heading)


def _write(pages: Sequence[PageRepair]) -> None:
    for page in pages:
        page.write()
        say(f"{page.file}: written", err=True)


def _close(pages: Sequence[PageRepair], left: Sequence[Problem], *, written: bool) -> None:
    """What was done, and what is left for a person; not in the way of a diff that is kept."""
    from reportgen.words import counted

    values = counted(sum(page.values for page in pages), "value")
    where = counted(len(pages), "page")
    if not pages:
        click.echo("Nothing to fix.", err=True)
    elif written:
        click.echo(f"Typed {values} anew in {where}.", err=True)
    else:
        click.echo(f"{values} in {where} to type anew: reportgen fix --write does it.", err=True)
    if left:
        click.echo(f"\n{counted(len(left), 'statement')} left for you:", err=True)
    for problem in left:
        tell_problem(problem)
