"""``reportgen facts``, ``observations`` and ``plan``: what the data of one source say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from reportgen.cli.options import (
    benchmark_option,
    cache_dir_option,
    config_option,
    format_option,
    metric_option,
)
from reportgen.cli.output import Column, print_line, print_table, report_problems
from reportgen.site.terminal import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reportgen.draft.questions import SourceQuestion
    from reportgen.site.checking.check import FactGroup


def _open_question(
    config_file: Path, source: str, metric: str | None, benchmark: str | None
) -> SourceQuestion:
    """What a command is after, in a report that is opened for it."""
    from reportgen.draft.questions import prepare_question
    from reportgen.site.checking.check import open_report

    report = open_report(config_file)
    return prepare_question(
        report.project, source, report.cache, report.hashes, metric=metric, benchmark=benchmark
    )


class _WithVocabulary(click.Command):
    """A command whose help ends with every fact there is."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each fact says."""
        from reportgen.claims.facts.vocabulary import list_fact_kinds

        super().format_epilog(ctx, formatter)
        for title, facts in (("curves", list_fact_kinds("curves")), ("scores", list_fact_kinds("scores"))):
            with formatter.section(f"Facts of {title}"):
                formatter.write_dl([(fact.signature, fact.says) for fact in facts])


@click.command(cls=_WithVocabulary)
@click.argument("source")
@metric_option
@benchmark_option
@config_option
@cache_dir_option
def facts(source: str, metric: str | None, benchmark: str | None, config_file: Path) -> None:
    """List every fact about SOURCE with its value, to be pasted into a page.

    SOURCE is a name that blocks use: math500 for data/math500.csv. What stands on the left is what a bound
    value or a claim names. Facts at a step or level of your choice are shown with one example.

    \b
    Examples:
      reportgen facts math500
      reportgen facts training --metric reward
    """
    from reportgen.site.checking.check import group_facts

    with report_problems("no facts can be told"):
        subject = _open_question(config_file, source, metric, benchmark).get_subject()
        groups = group_facts(subject)
    from reportgen.core.words import format_count

    scale = subject.scale
    ways = {
        True: "higher is better",
        False: "lower is better",
        None: "no better way is known (say higher_is_better in the block, or in a benchmark ranked by it)",
    }
    count = format_count(len(subject.series), "series", "series")
    click.secho(
        f"{clean_text(source)}: {clean_text(scale.metric)} of {count}, {ways[scale.higher_is_better]}",
        bold=True,
    )
    width = max((len(call) for group in groups for call, _ in group.rows), default=0)
    for group in groups:
        click.echo()
        click.secho(group.signature, fg="cyan", nl=False)
        click.secho(f"  {' '.join(filter(None, [group.says, group.note]))}", dim=True)
        for call, meaning in group.rows:
            click.echo(f"  {clean_text(call).ljust(width)}  {clean_text(meaning)}")
    _print_usage(groups)


def _print_usage(groups: Iterable[FactGroup]) -> None:
    """One fact as an author writes it; the other kind of quotes goes around a name that has some."""
    call = next((call for group in groups for call, _ in group.rows), "")
    if call:
        quote = "'" if '"' in call else '"'
        click.echo()
        print_line(
            f"In a page: [the number]{{value={quote}{call}{quote}}}, "
            f"or in a claim: [the sentence]{{claim={quote}{call} > 0{quote}}}"
        )


@click.command()
@click.argument("source")
@metric_option
@benchmark_option
@click.option(
    "-n", "--count", type=click.IntRange(1), default=8, show_default=True, help="How many sentences."
)
@config_option
@cache_dir_option
def observations(
    source: str, metric: str | None, benchmark: str | None, count: int, config_file: Path
) -> None:
    """Print what rules find in SOURCE, most telling first, each sentence with what it rests on.

    SOURCE is a name that blocks use: math500 for data/math500.csv. An observations block shows the same
    sentences on a page.

    \b
    Examples:
      reportgen observations math500
      reportgen observations training --metric reward --count 3
    """
    with report_problems("nothing can be observed"):
        found = _open_question(config_file, source, metric, benchmark).find_observations()
    for observation in found[:count]:
        click.echo(clean_text(observation.text))
        behind = "; ".join(part for part in (*observation.evidence, observation.threshold) if part)
        click.secho(f"  {observation.rule}: {clean_text(behind)}", dim=True)
    if not found:
        click.echo("No rule has found anything to say.")
    elif len(found) > count:
        click.echo(f"{len(found) - count} more; --count {len(found)} shows all.", err=True)


@click.command()
@click.argument("source")
@metric_option
@benchmark_option
@click.option(
    "-d",
    "--difference",
    type=click.FloatRange(0, min_open=True),
    help="The true difference to find, in points where scores go from 0 to 1. If left out, the one that is "
    "found four times in five now.",
)
@format_option("json", purpose="For people, or for other programs.")
@config_option
@cache_dir_option
def plan(
    source: str,
    metric: str | None,
    benchmark: str | None,
    difference: float | None,
    *,
    form: str,
    config_file: Path,
) -> None:
    """Say how often a true difference is found on SOURCE, now and with more problems, samples or runs.

    SOURCE is a name that blocks use: contest for data/contest.csv. It holds answers to problems. All pairs of
    its series are the family that is tested. A plan block shows the same on a page.

    \b
    Examples:
      reportgen plan contest
      reportgen plan contest --difference 3
      reportgen plan suite --benchmark Contest --metric pass@4 --format json
    """
    with report_problems("nothing can be planned"):
        answer = _open_question(config_file, source, metric, benchmark).plan(difference)
    if form == "json":
        click.echo(json.dumps(answer.numbers, indent=2, ensure_ascii=False))
        return
    for sentence in answer.sentences:
        click.echo(clean_text(sentence))
    click.echo()
    click.secho(clean_text(answer.table.title), bold=True)
    rows = [[cell.text for cell in row] for row in answer.table.rows]
    print_table([Column(title) for title in answer.table.header], [answer.table.header, *rows])
