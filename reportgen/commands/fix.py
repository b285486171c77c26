"""``reportgen fix``: types bound values anew that no longer match the data, after it has shown how."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reportgen.commands.options import cache_dir_option, config_option
from reportgen.commands.telling import print_line, print_problem, report_problems, show_progress

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
    from reportgen.site.checking.checking import draft_report
    from reportgen.site.checking.page_repairs import find_unrepaired, plan_repairs

    with report_problems("nothing was written"):
        with show_progress() as advance:
            report, problems = draft_report(config_file, progress=advance)
        statements = [one for several in report.statements.values() for one in several]
        pages = plan_repairs(config_file.resolve().parent, statements)
    for page in pages:
        _show(page.difference)
    left = find_unrepaired(statements, pages)
    if write:
        with report_problems("only the pages named above were written"):
            _write_pages(pages)
    _print_summary(pages, [one for one in problems if one.place in left], written=write)
    sys.exit(1 if pages and not write else 0)


def _show(difference: str) -> None:
    from reportgen.site.checking.excerpts import clean_text

    shown = sys.stdout.isatty()
    for line in difference.split("\n")[:-1]:
        heading = line.startswith(("---", "+++"))
        colour = None if heading else _COLOURS.get(line[:1])
        # What is piped is a patch, byte for byte; what is looked at gives the terminal no orders.
        click.secho(clean_text(line) if shown else line, fg=colour, bold=heading)


def _write_pages(pages: Sequence[PageRepair]) -> None:
    for page in pages:
        page.write()
        print_line(f"{page.file}: written", err=True)


def _print_summary(pages: Sequence[PageRepair], left: Sequence[Problem], *, written: bool) -> None:
    """What was done, and what is left for a person; not in the way of a diff that is kept."""
    from reportgen.words import format_count

    values = format_count(sum(page.values for page in pages), "value")
    where = format_count(len(pages), "page")
    if not pages:
        click.echo("Nothing to fix.", err=True)
    elif written:
        click.echo(f"Typed {values} anew in {where}.", err=True)
    else:
        click.echo(f"{values} in {where} to type anew: reportgen fix --write does it.", err=True)
    if left:
        click.echo(f"\n{format_count(len(left), 'statement')} left for you:", err=True)
    for problem in left:
        print_problem(problem)
