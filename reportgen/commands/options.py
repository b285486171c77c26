"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

config_option = click.option(
    "-f",
    "--config-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default="mkdocs.yml",
    show_default=True,
    help="The report's mkdocs.yml.",
)
metric_option = click.option(
    "-m", "--metric", metavar="NAME", help="The metric, where the source has several."
)
benchmark_option = click.option(
    "-b", "--benchmark", metavar="NAME", help="The benchmark, where the source has several."
)
