"""``reportgen check`` and ``reportgen fix``: statements against the data, without writing a site."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.options import cache_dir_option, config_option, format_option
from reportgen.cli.output import (
    Column,
    print_line,
    print_problem,
    print_table,
    report_problems,
    show_progress,
)
from reportgen.site.terminal import clean_text, format_excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.errors import Diagnostic
    from reportgen.core.statements import Statement
    from reportgen.site.checking.check import PageRepair
    from reportgen.site.checking.findings import Check


_TRUTHS = {"holds": "green", "fails": "red", "cannot be decided": "yellow", "fails as expected": "green"}
_COLUMNS = (
    Column("where"),
    Column("kind"),
    Column("words", longest=40, wraps=True),
    Column("truth", styles={**_TRUTHS, "holds unexpectedly": "red"}),
    Column("the data say", wraps=True),
)


@click.command()
@config_option
@cache_dir_option
@format_option(
    "github",
    "json",
    "sarif",
    purpose="For people, for the annotations of a GitHub workflow, or for other programs.",
)
def check(config_file: Path, form: str) -> None:
    """Hold every bound value and claim against the data, and write no site.

    Leaves with 1 if there is an error, or a statement that fails, that cannot be decided, or that was
    expected to fail and holds. Other warnings are told and fail nothing here: build --strict fails on them,
    and on what is seen only when pages are made, such as links that lead nowhere.

    \b
    Examples:
      reportgen check
      reportgen check --format github
      reportgen check --format sarif > check.sarif
    """
    from reportgen.site.checking.check import check as check_report

    with report_problems("no statement was checked"), show_progress() as advance:
        result = check_report(config_file, progress=advance)
    if form == "text":
        _print_check(result)
    else:
        _print_export(result, form, _find_prefix(config_file.resolve().parent))
    sys.exit(1 if result.fails else 0)


def _print_export(result: Check, form: str, prefix: str) -> None:
    from reportgen.site.checking.findings import (
        describe_counts,
        format_annotations,
        format_json,
        format_sarif,
    )

    if form == "github":
        for line in format_annotations(result, prefix):
            click.echo(line)
        click.echo(describe_counts(result.statements) if result.is_whole else _describe_unfinished(result))
    else:
        click.echo(format_json(result) if form == "json" else format_sarif(result, prefix), nl=False)


def _find_prefix(root: Path) -> str:
    """The report's folder as the repository sees it, or else as the shell does, with a slash at its end."""
    for base in (os.environ.get("GITHUB_WORKSPACE"), Path.cwd()):
        if base and root.is_relative_to(base):
            folder = root.relative_to(base).as_posix()
            return "" if folder == "." else f"{folder}/"
    return ""


def _print_check(result: Check) -> None:
    from reportgen.site.checking.findings import describe_counts

    width = shutil.get_terminal_size((100, 24)).columns
    for finding in result.findings:
        print_problem(finding.diagnostic, err=False)
        if finding.line is not None:
            line, *carets = format_excerpt(
                finding.line, finding.diagnostic.location, finding.length, width=width
            )
            click.echo(line)
            for under in carets:
                click.secho(under, fg="red" if finding.fails else "yellow")
    if not result.is_whole:
        click.echo(_describe_unfinished(result))
        return
    if result.findings:
        click.echo()
    if result.statements:
        _print_statements(result.statements)
        click.echo()
    click.echo(describe_counts(result.statements))


def _print_statements(statements: Sequence[Statement]) -> None:
    from reportgen.site.checking.findings import describe_truth

    rows = (
        (
            f"{one.binding.location.file}:{one.binding.location.line}",
            one.binding.kind,
            one.binding.words,
            describe_truth(one),
            one.judgement.found,
        )
        for one in statements
    )
    print_table(_COLUMNS, (tuple(map(clean_text, row)) for row in rows))


def _describe_unfinished(result: Check) -> str:
    from reportgen.core.words import format_count

    errors = sum(finding.fails for finding in result.findings)
    return f"{format_count(errors, 'problem')}; no statement was held against the data."


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
    from reportgen.site.checking.check import draft_report, find_unrepaired, plan_repairs

    with report_problems("nothing was written"):
        with show_progress() as advance:
            report, problems = draft_report(config_file, progress=advance)
        statements = [one for several in report.statements.values() for one in several]
        pages = plan_repairs(config_file.resolve().parent, statements)
    for page in pages:
        shown = sys.stdout.isatty()
        for line in page.difference.split("\n")[:-1]:
            heading = line.startswith(("---", "+++"))
            colour = None if heading else _COLOURS.get(line[:1])
            # What is piped is a patch, byte for byte; what is looked at gives the terminal no orders.
            click.secho(clean_text(line) if shown else line, fg=colour, bold=heading)
    left = find_unrepaired(statements, pages)
    if write:
        with report_problems("only the pages named above were written"):
            for page in pages:
                page.write()
                print_line(f"{page.file}: written", err=True)
    _print_summary(pages, [one for one in problems if one.location in left], written=write)
    sys.exit(1 if pages and not write else 0)


def _print_summary(pages: Sequence[PageRepair], left: Sequence[Diagnostic], *, written: bool) -> None:
    """What was done, and what is left for a person, on stderr: stdout holds the diff."""
    from reportgen.core.words import format_count

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
