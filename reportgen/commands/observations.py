"""``reportgen observations``: what rules find in a source, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reportgen.commands.options import benchmark_option, cache_dir_option, config_option, metric_option
from reportgen.commands.telling import problems_told

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
    from reportgen.drafting.asking import asked
    from reportgen.site.checking.checking import opened

    with problems_told("nothing can be observed"):
        report = opened(config_file)
        question = asked(
            report.project, source, report.cache, report.hashes, metric=metric, benchmark=benchmark
        )
        found = question.observations()
    for observation in found[:count]:
        _tell(observation)
    if not found:
        click.echo("No rule has found anything to say.")
    elif len(found) > count:
        click.echo(f"{len(found) - count} more; --count {len(found)} shows all.", err=True)


def _tell(observation: Observation) -> None:
    from reportgen.site.checking.excerpts import printable

    click.echo(printable(observation.text))
    behind = "; ".join(part for part in (*observation.evidence, observation.threshold) if part)
    click.secho(f"  {observation.rule}: {printable(behind)}", dim=True)
