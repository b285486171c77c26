"""What is put on a web server: ``reportgen publish`` and ``reportgen hub``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.envelope import Answer
from reportgen.cli.output import (
    cache_dir_option,
    json_option,
    print_line,
    report_problems,
    show_progress,
    warn,
)

if TYPE_CHECKING:
    from reportgen.archive.publishing.sites import Given
    from reportgen.hub.updating import Update


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


@click.command()
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
@json_option
def publish(main: Path, public: Path, versions: list[Given], previews: list[Given], base_url: str) -> Answer:
    """Assemble the report, its versions and previews.

    Puts a built site, versions from archives, and previews of pull requests into one folder.

    The folder is replaced once all is written; one that holds anything else is refused. A version or preview
    that cannot be published is left out and named, and the rest is published. No network and no git are used,
    and the same files give the same bytes.

    \b
    Examples:
      reportgen publish --main site --to public
      reportgen publish --main site --to public --version 1.0=scaling-1.0.zip --preview 12=pr-12.zip
    """
    from reportgen.archive.publishing.assembling import Inputs, assemble
    from reportgen.cli.results import PublishResult
    from reportgen.core.words import format_count, join_names
    from reportgen.site.describe import format_bytes

    with report_problems("nothing was published"):
        done = assemble(Inputs(main, versions, previews, base_url), public, warn)
    parts = ["the report"]
    named = tuple(one.name for one in done.versions)
    numbers = tuple(one.number for one in done.previews)
    for kind, names in (("version", named), ("preview", tuple(f"#{number}" for number in numbers))):
        if names:
            parts.append(f"{format_count(len(names), kind)} ({join_names(names, most=5)})")
    files = sum(len(tree.hashes) for tree in done.trees)
    print_line(f"{public}: {join_names(parts)}; {format_count(files, 'file')}, {format_bytes(done.size)}")
    return Answer(PublishResult(str(public), named, numbers, files, done.size))


_LEFT_OUT = 3
"""Exit code of an update that some report is not in as it is now."""


@click.command()
@click.argument(
    "hub_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="HUB.yml",
    default="hub.yml",
)
@click.option(
    "--to",
    "public",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="PUBLIC_DIR",
    required=True,
    help="The folder to write or to bring up to date.",
)
@json_option
@cache_dir_option
def hub(hub_file: Path, public: Path) -> Answer:
    """Publish many reports as one site.

    It has an index, a search and a feed. HUB.yml lists built sites and archives. Each report is published as
    it is, and only files that differ are written. A report that is not listed any more is removed. One that
    cannot be published, since its archive is damaged for example, stays as it was last published and is
    named; the command exits with 3 then. No network and no git are used.

    \b
    Examples:
      reportgen hub --to public
      reportgen hub reports/hub.yml --to public
    """
    from reportgen.cli.results import HubResult
    from reportgen.core.errors import Diagnostic, Severity
    from reportgen.hub.updating import update_hub

    with report_problems("the hub was left as it was"), show_progress("Reading") as progress:
        update = update_hub(hub_file, public, progress)
    for name, problem in update.broken.items():
        state = "is shown as last published" if name not in update.unpublished else "was never published"
        said = f"{name} {state}. {problem}".removesuffix(".")
        warn(Diagnostic(update.places[name], said, severity=Severity.WARNING))
    if update.remaining:
        warn(f"{public}: files appeared in folders that were replaced, and stay there: {update.remaining[0]}")
    if update.without_feed:
        warn(f"there is no feed: {update.without_feed}")
    print_line(f"{public}: {_describe(update)}")
    added, changed, removed, broken = (
        tuple(names) for names in (update.added, update.changed, update.removed, update.broken)
    )
    result = HubResult(str(public), update.reports, added, changed, removed, broken, update.written)
    return Answer(result, _LEFT_OUT if update.broken else 0)


def _describe(update: Update) -> str:
    from reportgen.core.words import format_count, join_names

    did = (("new", update.added), ("changed", update.changed), ("removed", update.removed))
    parts = [f"{len(names):,} {word} ({join_names(names, most=3)})" for word, names in did if names]
    parts += [f"{len(update.broken):,} not up to date"] if update.broken else []
    words = f"{format_count(update.reports, 'report')}: {', '.join(parts) or 'nothing changed'}"
    return f"{words}; {format_count(update.written, 'file')} written"
