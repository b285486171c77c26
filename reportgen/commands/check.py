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
from reportgen.commands.telling import problems_told, progress_bar, tell_problem

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

    with problems_told("no statement was checked"), progress_bar() as advance:
        found = check_report(config_file, progress=advance)
    if form == "text":
        _tell(found)
    else:
        _write(found, form, _prefix(config_file.resolve().parent))
    sys.exit(1 if found.fails else 0)


def _write(found: Check, form: str, prefix: str) -> None:
    from reportgen.site.checking.findings import closing_words
    from reportgen.site.checking.sarif import check_sarif
    from reportgen.site.checking.statement_reports import check_json, github_annotations

    if form == "github":
        for line in github_annotations(found, prefix):
            click.echo(line)
        click.echo(closing_words(found.statements) if found.is_whole else _unfinished(found))
    else:
        click.echo(check_json(found) if form == "json" else check_sarif(found, prefix), nl=False)


def _prefix(root: Path) -> str:
    """The report's folder as the repository sees it, or else as the shell does, with a slash at its end."""
    for base in (os.environ.get("GITHUB_WORKSPACE"), Path.cwd()):
        if base and root.is_relative_to(base):
            folder = root.relative_to(base).as_posix()
            return "" if folder == "." else f"{folder}/"
    return ""


def _tell(found: Check) -> None:
    from reportgen.site.checking.excerpts import excerpt
    from reportgen.site.checking.findings import closing_words

    width = shutil.get_terminal_size((100, 24)).columns
    for finding in found.findings:
        tell_problem(finding.problem, err=False)
        if finding.line is not None:
            line, *carets = excerpt(finding.line, finding.problem.place, finding.length, width=width)
            click.echo(line)
            for under in carets:
                click.secho(under, fg="red" if finding.fails else "yellow")
    if not found.is_whole:
        click.echo(_unfinished(found))
        return
    if found.findings:
        click.echo()
    if found.statements:
        _table(found.statements)
        click.echo()
    click.echo(closing_words(found.statements))


def _table(statements: Sequence[Statement]) -> None:
    from reportgen.site.checking.excerpts import printable
    from reportgen.site.checking.findings import truth_words

    rows = (
        (
            f"{one.binding.place.file}:{one.binding.place.line}",
            one.binding.kind,
            one.binding.words,
            truth_words(one),
            one.judgement.found,
        )
        for one in statements
    )
    print_table(_COLUMNS, ([printable(text) for text in row] for row in rows))


def _unfinished(found: Check) -> str:
    from reportgen.words import counted

    errors = sum(finding.fails for finding in found.findings)
    return f"{counted(errors, 'problem')}; no statement was held against the data."
