"""``reportgen observations``: what rules find in a source, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reportgen.commands.options import benchmark_option, cache_dir_option, config_option, metric_option
from reportgen.commands.telling import report_problems

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.statements import Observation

_MOST = 8


@click.command()
@click.argument("source")
@metric_option
@benchmark_option
@click.option(
    "-n", "--count", type=click.IntRange(1), default=_MOST, show_default=True, help="How many sentences."
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
    from reportgen.drafting.asking import prepare_question
    from reportgen.site.checking.checking import open_report

    with report_problems("nothing can be observed"):
        report = open_report(config_file)
        question = prepare_question(
            report.project, source, report.cache, report.hashes, metric=metric, benchmark=benchmark
        )
        found = question.find_observations()
    for observation in found[:count]:
        _print_observation(observation)
    if not found:
        click.echo("No rule has found anything to say.")
    elif len(found) > count:
        click.echo(f"{len(found) - count} more; --count {len(found)} shows all.", err=True)


def _print_observation(observation: Observation) -> None:
    from reportgen.site.checking.excerpts import clean_text

    click.echo(clean_text(observation.text))
    behind = "; ".join(part for part in (*observation.evidence, observation.threshold) if part)
    click.secho(f"  {observation.rule}: {clean_text(behind)}", dim=True)
