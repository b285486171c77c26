"""What is put on a web server: ``reportgen publish assemble``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.output import print_line, report_problems, warn

if TYPE_CHECKING:
    from reportgen.archive.publishing.sites import Given


@click.group()
def publish() -> None:
    """Assemble the report, its versions and previews.

    \b
    Example:
      reportgen publish assemble --main site --to public
    """


def _read_given(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> list[Given]:
    from reportgen.archive.publishing.previews import NUMBER
    from reportgen.archive.publishing.sites import Given

    given = []
    for value in values:
        name, equals, path = value.partition("=")
        if not equals or not path:
            raise click.BadParameter(f'"{value}" is not {parameter.metavar}.')
        if parameter.name == "previews" and not NUMBER.fullmatch(name):
            raise click.BadParameter(f'"{name}" is not the number of a pull request.')
        if not Path(path).exists():
            raise click.BadParameter(f'There is no "{path}".')
        given.append(Given(name, Path(path)))
    return given


def _read_base_url(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str:
    from reportgen.archive.publishing.sites import parse_base_url

    try:
        return parse_base_url(value) if value else ""
    except ValueError as error:
        raise click.BadParameter(f"{error}.") from error


_FOLDER = click.Path(file_okay=False, path_type=Path)


@publish.command()
@click.option(
    "--main",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="SITE_DIR",
    required=True,
    help="The built site of the default branch.",
)
@click.option(
    "--to", "public", type=_FOLDER, metavar="PUBLIC_DIR", required=True, help="The folder to write."
)
@click.option(
    "--version",
    "versions",
    multiple=True,
    callback=_read_given,
    metavar="NAME=ARCHIVE",
    help="A version and its archive, packed or unpacked, which was written with --site.",
)
@click.option(
    "--preview",
    "previews",
    multiple=True,
    callback=_read_given,
    metavar="NUMBER=SITE",
    help="A pull request and its built site, a folder or a zip file.",
)
@click.option(
    "--base-url",
    callback=_read_base_url,
    metavar="URL",
    help="Where it is published; the site_url that SITE_DIR was built with if left out.",
)
def assemble(main: Path, public: Path, versions: list[Given], previews: list[Given], base_url: str) -> None:
    """Put a built site, versions from archives, and previews of pull requests into one folder.

    The folder is replaced once all is written; one that holds anything else is refused. A version or preview
    that cannot be published is left out and named, and the rest is published. No network and no git are used,
    and the same files give the same bytes.

    \b
    Examples:
      reportgen publish assemble --main site --to public
      reportgen publish assemble --main site --to public --version 1.0=scaling-1.0.zip --preview 12=pr-12.zip
    """
    from reportgen.archive.publishing.assembling import Inputs, assemble
    from reportgen.core.words import format_count, join_names
    from reportgen.site.describe import format_bytes

    with report_problems("nothing was published"):
        done = assemble(Inputs(main, versions, previews, base_url), public, warn)
    parts = ["the report"]
    listed = {
        "version": [one.name for one in done.versions],
        "preview": [f"#{one.number}" for one in done.previews],
    }
    for kind, names in listed.items():
        if names:
            parts.append(f"{format_count(len(names), kind)} ({join_names(names, most=5)})")
    size = f"{format_count(sum(len(tree.hashes) for tree in done.trees), 'file')}, {format_bytes(done.size)}"
    print_line(f"{public}: {join_names(parts)}; {size}")
