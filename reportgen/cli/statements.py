"""What data say: ``reportgen check``, ``fix`` and ``bind`` for pages, and ``plan``."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.envelope import Answer, collect
from reportgen.cli.output import (
    Column,
    cache_dir_option,
    config_option,
    format_option,
    json_option,
    print_line,
    print_problem,
    print_table,
    report_problems,
    show_progress,
)
from reportgen.cli.questions import open_question, question_options
from reportgen.core.terminal import clean_text, format_excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.cli.results import CheckedStatement, CheckResult, UnboundClaim, UnboundNumber
    from reportgen.core.errors import SourceLocation
    from reportgen.core.statements import Statement
    from reportgen.draft.finding import Match
    from reportgen.draft.proposals import Proposal
    from reportgen.draft.unbound import PageNumbers
    from reportgen.settings.inputs import Page
    from reportgen.site.checking import Check
    from reportgen.site.repairs import PageRepair


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
@click.option("--unbound", is_flag=True, help="List numbers of the data that no binding covers, too.")
@click.option(
    "--require-bound",
    "required",
    metavar="PERCENT",
    type=click.IntRange(0, 100),
    default=0,
    help="Fail on a page where fewer of the numbers are bound.",
)
@click.option("--new", "base", metavar="BASE", help="Only lines that are new since the revision BASE.")
def check(config_file: Path, form: str, *, unbound: bool, required: int, base: str | None) -> Answer:
    """Check every bound value and claim.

    Compares them with the data without building the site.

    Exits with 1 on any error, and on any statement that fails, cannot be decided, or holds although it was
    expected to fail. Other warnings are only printed. build --strict fails on those, too, and on problems
    that appear only when pages are rendered, such as broken links.

    \b
    Examples:
      reportgen check
      reportgen check --unbound
      reportgen check --require-bound 95 --new main
      reportgen check --format github
      reportgen check --format sarif > check.sarif
    """
    from reportgen.core.words import format_count
    from reportgen.review.git import NewLines
    from reportgen.site import checking

    with report_problems("no statement was checked"), show_progress() as advance:
        is_new = NewLines(config_file.resolve().parent, base).include if base is not None else None
        result = checking.check(
            config_file, progress=advance, counts_numbers=unbound, required=required, is_new=is_new
        )
    errors = format_count(sum(finding.fails for finding in result.findings), "problem")
    summary = f"{errors}; statements are counted once there is none."
    summary = checking.describe_counts(result.statements) if result.is_whole else summary
    if form == "text":
        _print_check(result)
        click.echo(summary)
        if unbound and result.numbers is not None:
            _print_unbound(result.numbers)
    elif form == "json":
        for finding in result.findings:
            collect(finding.diagnostic)
        return Answer(_answer_check(result), int(result.fails))
    else:
        # Paths relative to the repository, or else to the working folder.
        root, prefix = config_file.resolve().parent, ""
        for around in (os.environ.get("GITHUB_WORKSPACE"), Path.cwd()):
            if around and root.is_relative_to(around):
                folder = root.relative_to(around).as_posix()
                prefix = "" if folder == "." else f"{folder}/"
                break
        if form == "sarif":
            click.echo(checking.format_sarif(result, prefix), nl=False)
        else:
            for line in (*checking.format_annotations(result, prefix), summary):
                click.echo(line)
    return Answer(code=int(result.fails))


def _answer_check(result: Check) -> CheckResult:
    from reportgen.cli.results import CheckResult, StatementCounts, UnboundResult
    from reportgen.site.outputs import count_statements

    if not result.is_whole:
        return CheckResult(None, None)
    statements = tuple(map(_answer_statement, result.statements))
    numbers = result.numbers or ()
    count = sum(len(one.bound) for one in numbers)
    listed = tuple(_answer_number(found.page, *one) for found in numbers for one in found.unbound)
    claims = tuple(_answer_claim(found.page, *one) for found in numbers for one in found.claims)
    return CheckResult(
        StatementCounts(**count_statements(result.statements)),
        statements,
        None if result.numbers is None else UnboundResult(count, listed, claims),
    )


def _answer_statement(one: Statement) -> CheckedStatement:
    from reportgen.cli.results import CheckedStatement
    from reportgen.site.outputs import describe_statement

    known = describe_statement(one) | {"file": one.binding.location.file}
    known |= {key: known[key] or None for key in ("name", "expected_to_fail", "repaired", "figure")}
    return CheckedStatement(**{name: known[name] for name in CheckedStatement.__struct_fields__})


def _answer_number(page: Page, place: SourceLocation, match: Match) -> UnboundNumber:
    from reportgen.cli.results import UnboundCandidate, UnboundNumber
    from reportgen.site.repairs import write_binding

    words = match.number.words
    candidates = (
        UnboundCandidate(one.words, write_binding(page, words, one.call, one.of)) for one in match.candidates
    )
    return UnboundNumber(place.file, place.line, place.column, words, match.instead, tuple(candidates))


def _answer_claim(page: Page, place: SourceLocation, claim: Proposal) -> UnboundClaim:
    from reportgen.cli.results import UnboundClaim
    from reportgen.site.repairs import write_claim

    words = page.text[claim.start : claim.end]
    return UnboundClaim(
        place.file, place.line, place.column, words, claim.expression, write_claim(page, claim)
    )


def _print_check(result: Check) -> None:
    from reportgen.site.outputs import describe_truth

    width = shutil.get_terminal_size((100, 24)).columns
    for finding in result.findings:
        print_problem(finding.diagnostic, err=False)
        if finding.line is not None:
            location = finding.diagnostic.location
            line, *carets = format_excerpt(finding.line, location, finding.length, width=width)
            click.echo(line)
            for under in carets:
                click.secho(under, fg="red" if finding.fails else "yellow")
    if not result.is_whole:
        return
    if result.findings:
        click.echo()
    if result.statements:
        rows = []
        for one in result.statements:
            binding, truth, found = one.binding, describe_truth(one), one.judgement.found
            where = f"{binding.location.file}:{binding.location.line}"
            rows.append(tuple(map(clean_text, (where, binding.kind, binding.words, truth, found))))
        print_table(_COLUMNS, rows)
        click.echo()


_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command()
@config_option
@cache_dir_option
@click.option("-w", "--write", is_flag=True, help="Write the pages.")
@json_option
def fix(config_file: Path, *, write: bool) -> Answer:
    """Correct bound values that the data changed.

    Shows the corrections as a diff; --write writes them.

    Digits, unit and style stay as they were typed, and so does all other text. Claims are sentences, so they
    are left to you: those that are not as expected are listed. Exits with 1 if there is something to write
    and --write was not given; reportgen check says whether all statements hold.

    \b
    Examples:
      reportgen fix
      reportgen fix --write
    """
    from reportgen.core.words import format_count
    from reportgen.site.checking import draft_report
    from reportgen.site.repairs import find_unrepaired, plan_repairs

    with report_problems("nothing was written"):
        with show_progress() as advance:
            report, problems = draft_report(config_file, progress=advance)
        statements = [one for several in report.statements.values() for one in several]
        pages = plan_repairs(config_file.resolve().parent, statements)
    unrepaired = find_unrepaired(statements, pages)
    _show_repairs(pages, "fix", "correct", "Corrected", "value", write=write)
    if left := [one for one in problems if one.location in unrepaired]:
        click.echo(f"\n{format_count(len(left), 'statement')} left for you:", err=True)
    for problem in left:
        print_problem(problem)
    return _answer_repairs(pages, written=write)


def _answer_repairs(pages: Sequence[PageRepair], *, written: bool) -> Answer:
    from reportgen.cli.results import Edit, EditResult

    edits = tuple(
        Edit(page.file, edit.line, edit.column, edit.old, edit.new) for page in pages for edit in page.edits
    )
    return Answer(EditResult(edits, written), 1 if pages and not written else 0)


def _print_unbound(pages: Sequence[PageNumbers]) -> None:
    """Print the numbers that may be facts with what to write, and how many are bound."""
    from reportgen.site.repairs import describe_number, suggest_binding, write_claim

    unknown = 0
    for found in pages:
        for place, match in found.unbound:
            said = describe_number(found.page, match)
            unknown += not said
            if said:
                print_line(f"{place}: {clean_text(said)}")
            if bound := suggest_binding(found.page, match):
                print_line(f"    {clean_text(bound)}")
        for place, claim in found.claims:
            print_line(f"{place}: these words may claim {clean_text(claim.expression)}")
            if bound := write_claim(found.page, claim):
                print_line(f"    {clean_text(bound)}")
    count = sum(len(one.bound) for one in pages)
    whole = count + sum(len(one.unbound) for one in pages)
    click.echo(f"{count} of {whole} numbers are bound; numbers that are no fact: {unknown}.")


@click.command()
@click.argument("pages", metavar="[PAGE]...", nargs=-1, type=click.Path(path_type=Path))
@config_option
@cache_dir_option
@click.option("-w", "--write", is_flag=True, help="Write the bindings.")
@json_option
def bind(pages: tuple[Path, ...], config_file: Path, *, write: bool) -> Answer:
    """Bind the numbers of PAGEs, or of all pages and documents.

    Shows the bindings as a diff; --write writes them. Only numbers are bound whose sentence names a series
    and what the number is of it, such as "MEL ends at 0.82"; check --unbound lists the others with the facts
    that they may be. Exits with 1 if there is something to write and --write was not given.

    \b
    Examples:
      reportgen bind
      reportgen bind README.md --write
    """
    from reportgen.draft.unbound import find_unbound
    from reportgen.site.checking import draft_report
    from reportgen.site.repairs import plan_bindings

    root = config_file.resolve().parent
    with report_problems("nothing was written"):
        with show_progress() as advance:
            report, _ = draft_report(config_file, progress=advance)
        chosen = {path.resolve() for path in pages}
        found = find_unbound(report, root)
        found = tuple(one for one in found if not chosen or (root / one.page.file).resolve() in chosen)
        planned = plan_bindings(root, found)
    _show_repairs(planned, "bind", "bind", "Bound", "number", write=write)
    return _answer_repairs(planned, written=write)


def _show_repairs(
    pages: Sequence[PageRepair], command: str, to_do: str, done: str, noun: str, *, write: bool
) -> None:
    """Print what would be written as a patch, and write it if that was chosen.

    The summary is on stderr: stdout has the patch.
    """
    from reportgen.core.words import format_count

    _print_patch(pages)
    if write:
        with report_problems("only the pages named above were written"):
            for page in pages:
                page.write()
                print_line(f"{page.file}: written", err=True)
    count = format_count(sum(len(page.edits) for page in pages), noun)
    where = format_count(len(pages), "page")
    if not pages:
        click.echo(f"Nothing to {command}.", err=True)
    elif write:
        click.echo(f"{done} {count} in {where}.", err=True)
    else:
        click.echo(f"{count} in {where} to {to_do}: reportgen {command} --write writes them.", err=True)


def _print_patch(pages: Iterable[PageRepair]) -> None:
    for page in pages:
        shown = sys.stdout.isatty()
        for line in page.difference.split("\n")[:-1]:
            heading = line.startswith(("---", "+++"))
            colour = None if heading else _COLOURS.get(line[:1])
            # Piped output is an exact patch; on a terminal, control characters are made harmless.
            click.secho(clean_text(line) if shown else line, fg=colour, bold=heading)


_DIFFERENCE = (
    "The true difference to find, in points where scores go from 0 to 1. If left out, the one that the "
    "current data detect with 80% power."
)


@click.command()
@question_options(
    click.option("-d", "--difference", type=click.FloatRange(0, min_open=True), help=_DIFFERENCE),
    json_option,
)
def plan(
    sources: tuple[str, ...],
    metric: str | None,
    benchmark: str | None,
    difference: float | None,
    *,
    config_file: Path,
) -> Answer:
    """Estimate which differences SOURCE can show.

    Prints how often a true difference is detected, now and with more problems, samples or runs.

    SOURCE is a name that blocks use, such as contest for data/contest.csv, and must hold answers to problems.
    Tests are adjusted for all pairs of its series. A plan block shows the same on a page.

    \b
    Examples:
      reportgen plan contest
      reportgen plan contest --difference 3
      reportgen plan suite --benchmark Contest --metric pass@4 --format json
    """
    from reportgen.cli.results import PlanResult

    with report_problems("nothing can be planned"):
        answer = open_question(config_file, sources, metric, benchmark).plan(difference)
    for sentence in answer.sentences:
        click.echo(clean_text(sentence))
    click.echo()
    click.secho(clean_text(answer.table.title), bold=True)
    rows = [[cell.text for cell in row] for row in answer.table.rows]
    print_table([Column(title) for title in answer.table.header], [answer.table.header, *rows])
    return Answer(PlanResult(answer.sentences, answer.plan))
