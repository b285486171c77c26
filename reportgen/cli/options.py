"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from reportgen.core import CACHE_DIR

if TYPE_CHECKING:
    from collections.abc import Callable


_Command = TypeVar("_Command", bound="Callable[..., Any]")


def _use_cache_dir(_context: click.Context, _parameter: click.Parameter, folder: Path | None) -> None:
    """Processes that this one starts have to know it, too."""
    if folder is not None:
        os.environ[CACHE_DIR] = str(folder.absolute())


config_option = click.option(
    "-f",
    "--config-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    default="mkdocs.yml",
    show_default=True,
    help="The report's mkdocs.yml.",
)
cache_dir_option = click.option(
    "--cache-dir",
    type=click.Path(file_okay=False, path_type=Path),
    envvar=CACHE_DIR,
    show_envvar=True,
    expose_value=False,
    callback=_use_cache_dir,
    help="Keep what was computed here instead of in your cache folder.",
)


def format_option(*forms: str, purpose: str) -> Callable[[_Command], _Command]:
    """``--format``, of which ``text`` is the default."""
    kinds = click.Choice(["text", *forms])
    return click.option("--format", "form", type=kinds, default="text", show_default=True, help=purpose)


metric_option = click.option(
    "-m", "--metric", metavar="NAME", help="The metric, where the source has several."
)
benchmark_option = click.option(
    "-b", "--benchmark", metavar="NAME", help="The benchmark, where the source has several."
)
