"""What data say: ``reportgen check`` and ``fix`` for pages, ``facts`` and ``plan``."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.output import (
    Column,
    cache_dir_option,
    config_option,
    format_option,
    print_line,
    print_problem,
    print_table,
    report_problems,
    show_progress,
)
from reportgen.core.terminal import clean_text, format_excerpt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, TypeAlias, TypeVar

    from reportgen.claims.vocabulary import Subject
    from reportgen.core.facts import FactKind
    from reportgen.core.statements import Fact
    from reportgen.draft.gathering import SourceQuestion
    from reportgen.site.checking import Check

    _Command = TypeVar("_Command", bound=Callable[..., Any])
    Known: TypeAlias = Mapping[str, Sequence[Fact]]


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
    """Check every bound value and claim.

    Compares them with the data without building the site.

    Exits with 1 on any error, and on any statement that fails, cannot be decided, or holds although it was
    expected to fail. Other warnings are only printed. build --strict fails on those, too, and on problems
    that appear only when pages are rendered, such as broken links.

    \b
    Examples:
      reportgen check
      reportgen check --format github
      reportgen check --format sarif > check.sarif
    """
    from reportgen.core.words import format_count
    from reportgen.site import checking

    with report_problems("no statement was checked"), show_progress() as advance:
        result = checking.check(config_file, progress=advance)
    errors = format_count(sum(finding.fails for finding in result.findings), "problem")
    summary = f"{errors}; statements are counted once there is none."
    summary = checking.describe_counts(result.statements) if result.is_whole else summary
    if form == "text":
        _print_check(result)
        click.echo(summary)
    elif form == "json":
        click.echo(checking.format_json(result), nl=False)
    else:
        # Paths relative to the repository, or else to the working folder.
        root, prefix = config_file.resolve().parent, ""
        for base in (os.environ.get("GITHUB_WORKSPACE"), Path.cwd()):
            if base and root.is_relative_to(base):
                folder = root.relative_to(base).as_posix()
                prefix = "" if folder == "." else f"{folder}/"
                break
        if form == "sarif":
            click.echo(checking.format_sarif(result, prefix), nl=False)
        else:
            for line in (*checking.format_annotations(result, prefix), summary):
                click.echo(line)
    sys.exit(1 if result.fails else 0)


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
def fix(config_file: Path, *, write: bool) -> None:
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
    for page in pages:
        shown = sys.stdout.isatty()
        for line in page.difference.split("\n")[:-1]:
            heading = line.startswith(("---", "+++"))
            colour = None if heading else _COLOURS.get(line[:1])
            # Piped output is an exact patch; on a terminal, control characters are made harmless.
            click.secho(clean_text(line) if shown else line, fg=colour, bold=heading)
    unrepaired = find_unrepaired(statements, pages)
    if write:
        with report_problems("only the pages named above were written"):
            for page in pages:
                page.write()
                print_line(f"{page.file}: written", err=True)
    # The summary and what is left to do are on stderr: stdout has the diff.
    values = format_count(sum(page.values for page in pages), "value")
    where = format_count(len(pages), "page")
    if not pages:
        click.echo("Nothing to fix.", err=True)
    elif write:
        click.echo(f"Corrected {values} in {where}.", err=True)
    else:
        click.echo(f"{values} in {where} to correct: reportgen fix --write writes them.", err=True)
    if left := [one for one in problems if one.location in unrepaired]:
        click.echo(f"\n{format_count(len(left), 'statement')} left for you:", err=True)
    for problem in left:
        print_problem(problem)
    sys.exit(1 if pages and not write else 0)


def _question_options(*own: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """The source, metric, benchmark and report that a question is about, with a command's ``own`` options."""
    options = (
        click.argument("sources", metavar="SOURCE...", nargs=-1, required=True),
        click.option("-m", "--metric", metavar="NAME", help="The metric, where the source has several."),
        click.option(
            "-b", "--benchmark", metavar="NAME", help="The benchmark, where the source has several."
        ),
        *own,
        config_option,
        cache_dir_option,
    )

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _open_question(
    config_file: Path, sources: tuple[str, ...], metric: str | None, benchmark: str | None
) -> SourceQuestion:
    from reportgen.draft.gathering import prepare_question
    from reportgen.site.checking import open_report

    report = open_report(config_file)
    return prepare_question(
        report.project, sources, report.cache, report.hashes, metric=metric, benchmark=benchmark
    )


class _WithVocabulary(click.Command):
    """A command whose help ends with every fact there is."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each fact says."""
        from reportgen.core.facts import list_fact_kinds

        super().format_epilog(ctx, formatter)
        for title, facts in (("curves", list_fact_kinds("curves")), ("scores", list_fact_kinds("scores"))):
            with formatter.section(f"Facts of {title}"):
                formatter.write_dl([(fact.signature, fact.says) for fact in facts])


@click.command(cls=_WithVocabulary)
@_question_options(
    click.option(
        "--observations", "observed", is_flag=True, help="Print sentences about SOURCE instead, as on a page."
    ),
    click.option(
        "-n", "--count", type=click.IntRange(1), default=8, show_default=True, help="How many observations."
    ),
)
def facts(
    sources: tuple[str, ...],
    metric: str | None,
    benchmark: str | None,
    *,
    observed: bool,
    count: int,
    config_file: Path,
) -> None:
    """List every fact about SOURCE with its value.

    Each can be pasted into a page.

    SOURCE is a name that blocks use: math500 for data/math500.csv; with several, the facts cover
    all of them together. The left column is what to write in a bound value or a claim. Facts that take a step
    or level are shown with one example. An observation is printed with the numbers that it rests on.

    \b
    Examples:
      reportgen facts math500
      reportgen facts training --metric reward
      reportgen facts ours baseline
      reportgen facts math500 --observations --count 3
    """
    with report_problems("nothing can be observed" if observed else "no facts are listed"):
        question = _open_question(config_file, sources, metric, benchmark)
        if observed:
            _print_observations(question, count)
        else:
            _print_facts(question, sources)


def _print_observations(question: SourceQuestion, count: int) -> None:
    found, runs = question.find_observations(), question.describe_runs()
    for observation in found[:count]:
        click.echo(clean_text(observation.text))
        behind = "; ".join(part for part in (*observation.evidence, observation.threshold) if part)
        click.secho(f"  {observation.rule}: {clean_text(behind)}", dim=True)
    if not found:
        click.echo("No rule has found anything to say.")
    if runs:
        click.echo(runs)
    if len(found) > count:
        click.echo(f"{len(found) - count} more; --count {len(found)} shows all.", err=True)


def _print_facts(question: SourceQuestion, sources: tuple[str, ...]) -> None:
    from reportgen.claims.vocabulary import collect_facts
    from reportgen.core.facts import list_fact_kinds
    from reportgen.core.words import format_count
    from reportgen.settings.base import name_joined

    subject = question.get_subject()
    known: dict[str, list[Fact]] = {}
    for fact in collect_facts(subject):
        known.setdefault(fact.name, []).append(fact)
    listed = [(kind, *_list_calls(kind, known, subject)) for kind in list_fact_kinds(subject.holds)]
    scale = subject.scale
    ways = {
        True: "higher is better",
        False: "lower is better",
        None: "no better way is known (say higher_is_better in the block, or in a benchmark ranked by it)",
    }
    count = format_count(len(subject.series), "series", "series")
    about = f"{clean_text(name_joined(sources))}: {clean_text(scale.metric)} of {count}"
    click.secho(f"{about}, {ways[scale.higher_is_better]}", bold=True)
    calls = [call for _, rows, _ in listed for call in rows]
    width = max(map(len, calls), default=0)
    for kind, rows, note in listed:
        click.echo()
        click.secho(kind.signature, fg="cyan", nl=False)
        click.secho(f"  {' '.join(filter(None, [kind.says, note]))}", dim=True)
        for call, meaning in rows.items():
            click.echo(f"  {clean_text(call).ljust(width)}  {clean_text(meaning)}")
    if calls and (call := calls[0]):
        # As an author writes it; a name with double quotes is put in single ones.
        quote = "'" if '"' in call else '"'
        click.echo()
        print_line(
            f"In a page: [the number]{{value={quote}{call}{quote}}}, "
            f"or in a claim: [the sentence]{{claim={quote}{call} > 0{quote}}}"
        )


def _list_calls(kind: FactKind, known: Known, subject: Subject) -> tuple[dict[str, str], str]:
    """Calls to paste with what the data say, and why there are none, or that they are an example."""
    from reportgen.claims.fact_words import describe_fact
    from reportgen.core.facts import ParameterKind

    series = [one for one in kind.parameters if one.kind is ParameterKind.SERIES]
    chosen = len(kind.parameters) > len(series)
    facts = _find_example(kind, len(series), known, subject) if chosen else known.get(kind.name, [])
    rows = {}
    for fact in facts:
        words = describe_fact(fact, subject.scale).removeprefix(fact.call).strip()
        rows[fact.call] = words.removeprefix("= ").removeprefix("is ")
    if not rows and len(subject.series) < len(series):
        return rows, "It needs two series."
    return rows, "For example:" if rows and chosen else ""


def _find_example(kind: FactKind, needed: int, known: Known, subject: Subject) -> Iterator[Fact]:
    """The fact of the first series or pair, at a step or level that its curve has."""
    from reportgen.claims.vocabulary import FactError
    from reportgen.core.facts import ParameterKind

    def find_value(name: str) -> float | None:
        value = known[name][0].value if name in known else None
        return None if value is None else float(value)

    bounds, worst, best = subject.scale.bounds, find_value("trough"), find_value("peak")
    numbers = {
        "x": find_value("widest_gap_step" if needed > 1 else "peak_step"),
        "from": known["start"][0].step if "start" in known else None,
        "to": known["final"][0].step if "final" in known else None,
        # The middle of the first series' worst and best value, in two digits.
        "level": None if worst is None or best is None else float(f"{(worst + best) / 2:.2g}"),
        # A fiftieth of the range of possible values.
        "margin": (bounds[1] - bounds[0]) / 50 if bounds else None,
        "count": 5.0,
    }
    chosen = [numbers.get(one.name) for one in kind.parameters if one.kind is not ParameterKind.SERIES]
    given = [number for number in chosen if number is not None]
    # On a curve without such a step, the signature alone shows how the fact is written.
    if len(subject.series) >= needed and len(given) == len(chosen):
        with suppress(FactError):
            yield subject.fact(kind.name, (*subject.series[:needed], *given))


_DIFFERENCE = (
    "The true difference to find, in points where scores go from 0 to 1. If left out, the one that the "
    "current data detect with 80% power."
)


@click.command()
@_question_options(
    click.option("-d", "--difference", type=click.FloatRange(0, min_open=True), help=_DIFFERENCE),
    format_option("json", purpose="For people, or for other programs."),
)
def plan(
    sources: tuple[str, ...],
    metric: str | None,
    benchmark: str | None,
    difference: float | None,
    *,
    form: str,
    config_file: Path,
) -> None:
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
    with report_problems("nothing can be planned"):
        answer = _open_question(config_file, sources, metric, benchmark).plan(difference)
    if form == "json":
        click.echo(json.dumps(answer.numbers, indent=2, ensure_ascii=False))
        return
    for sentence in answer.sentences:
        click.echo(clean_text(sentence))
    click.echo()
    click.secho(clean_text(answer.table.title), bold=True)
    rows = [[cell.text for cell in row] for row in answer.table.rows]
    print_table([Column(title) for title in answer.table.header], [answer.table.header, *rows])
