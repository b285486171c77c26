"""``reportgen check``: what the data say to every statement, and every problem, without a site."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.commands.options import cache_dir_option, config_option, format_option
from reportgen.commands.tables import Column, print_table
from reportgen.commands.telling import print_problem, report_problems, show_progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.site.checking.checking import Check
    from reportgen.statements import Statement

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
    said="For people, for the annotations of a GitHub workflow, or for other programs.",
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
    from reportgen.site.checking.checking import check as check_report

    with report_problems("no statement was checked"), show_progress() as advance:
        found = check_report(config_file, progress=advance)
    if form == "text":
        _print_check(found)
    else:
        _print_export(found, form, _find_prefix(config_file.resolve().parent))
    sys.exit(1 if found.fails else 0)


def _print_export(found: Check, form: str, prefix: str) -> None:
    from reportgen.site.checking.findings import describe_counts
    from reportgen.site.checking.sarif import format_sarif
    from reportgen.site.checking.statement_reports import format_annotations, format_json

    if form == "github":
        for line in format_annotations(found, prefix):
            click.echo(line)
        click.echo(describe_counts(found.statements) if found.is_whole else _describe_unfinished(found))
    else:
        click.echo(format_json(found) if form == "json" else format_sarif(found, prefix), nl=False)


def _find_prefix(root: Path) -> str:
    """The report's folder as the repository sees it, or else as the shell does, with a slash at its end."""
    for base in (os.environ.get("GITHUB_WORKSPACE"), Path.cwd()):
        if base and root.is_relative_to(base):
            folder = root.relative_to(base).as_posix()
            return "" if folder == "." else f"{folder}/"
    return ""


def _print_check(found: Check) -> None:
    from reportgen.site.checking.excerpts import format_excerpt
    from reportgen.site.checking.findings import describe_counts

    width = shutil.get_terminal_size((100, 24)).columns
    for finding in found.findings:
        print_problem(finding.problem, err=False)
        if finding.line is not None:
            line, *carets = format_excerpt(finding.line, finding.problem.place, finding.length, width=width)
            click.echo(line)
            for under in carets:
                click.secho(under, fg="red" if finding.fails else "yellow")
    if not found.is_whole:
        click.echo(_describe_unfinished(found))
        return
    if found.findings:
        click.echo()
    if found.statements:
        _print_statements(found.statements)
        click.echo()
    click.echo(describe_counts(found.statements))


def _print_statements(statements: Sequence[Statement]) -> None:
    from reportgen.site.checking.excerpts import clean_text
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
    print_table(_COLUMNS, ([clean_text(text) for text in row] for row in rows))


def _describe_unfinished(found: Check) -> str:
    from reportgen.words import format_count

    errors = sum(finding.fails for finding in found.findings)
    return f"{format_count(errors, 'problem')}; no statement was held against the data."
