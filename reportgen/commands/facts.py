"""``reportgen facts``: every fact about a source, as a claim or a bound value names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reportgen.commands.options import benchmark_option, cache_dir_option, config_option, metric_option
from reportgen.commands.telling import problems_told, say

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from reportgen.facts.subject import Subject
    from reportgen.site.fact_lists import FactGroup


class _WithVocabulary(click.Command):
    """A command whose help ends with every fact there is."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each fact says."""
        from reportgen.facts.vocabulary import facts_of

        super().format_epilog(ctx, formatter)
        for title, facts in (("curves", facts_of("curves")), ("scores", facts_of("scores"))):
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
    from reportgen.drafting.asking import asked
    from reportgen.site.checking.checking import opened
    from reportgen.site.fact_lists import fact_groups

    with problems_told("no facts can be told"):
        report = opened(config_file)
        question = asked(
            report.project, source, report.cache, report.hashes, metric=metric, benchmark=benchmark
        )
        subject = question.subject()
        groups = fact_groups(subject)
    click.secho(_title(source, subject), bold=True)
    width = max((len(call) for group in groups for call, _ in group.rows), default=0)
    for group in groups:
        _tell(group, width)
    _tell_how(groups)


def _title(source: str, subject: Subject) -> str:
    from reportgen.site.checking.excerpts import printable
    from reportgen.words import counted

    scale = subject.scale
    ways = {
        True: "higher is better",
        False: "lower is better",
        None: "no better way is known (say higher_is_better in the block, or in a benchmark ranked by it)",
    }
    count = counted(len(subject.series), "series", "series")
    return f"{printable(source)}: {printable(scale.metric)} of {count}, {ways[scale.higher_is_better]}"


def _tell(group: FactGroup, width: int) -> None:
    from reportgen.site.checking.excerpts import printable

    click.echo()
    click.secho(group.signature, fg="cyan", nl=False)
    click.secho(f"  {' '.join(filter(None, [group.says, group.note]))}", dim=True)
    for call, said in group.rows:
        click.echo(f"  {printable(call).ljust(width)}  {printable(said)}")


def _tell_how(groups: Iterable[FactGroup]) -> None:
    """One fact as an author writes it; the other kind of quotes goes around a name that has some."""
    call = next((call for group in groups for call, _ in group.rows), "")
    if call:
        quote = "'" if '"' in call else '"'
        click.echo()
        say(
            f"In a page: [the number]{{value={quote}{call}{quote}}}, "
            f"or in a claim: [the sentence]{{claim={quote}{call} > 0{quote}}}"
        )
