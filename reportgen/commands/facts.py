"""``reportgen facts``: every fact about a source, as a claim or a bound value names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reportgen.commands.options import benchmark_option, cache_dir_option, config_option, metric_option
from reportgen.commands.telling import print_line, report_problems

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reportgen.facts.subject import Subject
    from reportgen.site.fact_lists import FactGroup


class _WithVocabulary(click.Command):
    """A command whose help ends with every fact there is."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each fact says."""
        from reportgen.facts.vocabulary import list_fact_kinds

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
    from reportgen.drafting.asking import prepare_question
    from reportgen.site.checking.checking import open_report
    from reportgen.site.fact_lists import group_facts

    with report_problems("no facts can be told"):
        report = open_report(config_file)
        question = prepare_question(
            report.project, source, report.cache, report.hashes, metric=metric, benchmark=benchmark
        )
        subject = question.get_subject()
        groups = group_facts(subject)
    click.secho(_format_title(source, subject), bold=True)
    width = max((len(call) for group in groups for call, _ in group.rows), default=0)
    for group in groups:
        _print_group(group, width)
    _print_usage(groups)


def _format_title(source: str, subject: Subject) -> str:
    from reportgen.site.checking.excerpts import clean_text
    from reportgen.words import format_count

    scale = subject.scale
    ways = {
        True: "higher is better",
        False: "lower is better",
        None: "no better way is known (say higher_is_better in the block, or in a benchmark ranked by it)",
    }
    count = format_count(len(subject.series), "series", "series")
    return f"{clean_text(source)}: {clean_text(scale.metric)} of {count}, {ways[scale.higher_is_better]}"


def _print_group(group: FactGroup, width: int) -> None:
    from reportgen.site.checking.excerpts import clean_text

    click.echo()
    click.secho(group.signature, fg="cyan", nl=False)
    click.secho(f"  {' '.join(filter(None, [group.says, group.note]))}", dim=True)
    for call, said in group.rows:
        click.echo(f"  {clean_text(call).ljust(width)}  {clean_text(said)}")


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
