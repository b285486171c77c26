"""``reportgen plan``: what more problems, samples or runs would find."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from reportgen.commands.options import (
    benchmark_option,
    cache_dir_option,
    config_option,
    format_option,
    metric_option,
)
from reportgen.commands.tables import Column, print_table
from reportgen.commands.telling import report_problems

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.drafting.asking import PlanAnswer


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
@format_option("json", said="For people, or for other programs.")
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
    from reportgen.drafting.asking import prepare_question
    from reportgen.site.checking.checking import open_report

    with report_problems("nothing can be planned"):
        report = open_report(config_file)
        question = prepare_question(
            report.project, source, report.cache, report.hashes, metric=metric, benchmark=benchmark
        )
        answer = question.plan(difference)
    if form == "json":
        click.echo(json.dumps(answer.numbers, indent=2, ensure_ascii=False))
    else:
        _print_plan(answer)


def _print_plan(answer: PlanAnswer) -> None:
    from reportgen.site.checking.excerpts import clean_text

    for sentence in answer.sentences:
        click.echo(clean_text(sentence))
    click.echo()
    click.secho(clean_text(answer.table.title), bold=True)
    rows = [[cell.text for cell in row] for row in answer.table.rows]
    print_table([Column(title) for title in answer.table.header], [answer.table.header, *rows])
