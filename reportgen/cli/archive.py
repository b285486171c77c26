"""Archives that open and verify in ten years: ``reportgen archive``, ``verify`` and ``cite``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.envelope import Answer, collect
from reportgen.cli.output import (
    cache_dir_option,
    config_option,
    json_option,
    print_line,
    report_problems,
    show_progress,
    warn,
)

if TYPE_CHECKING:
    from typing import Literal

_NOTHING = "no archive was written"
_LONGEST_VERSION = 100


def _check_version(_context: click.Context, _option: click.Parameter, version: str | None) -> str | None:
    if version is None or (
        0 < len(version) <= _LONGEST_VERSION and version.isprintable() and not re.search(r"\s|\\", version)
    ):
        return version
    raise click.BadParameter("a version is a short word, such as 1.0 or v2.0-rc.1")


@click.command()
@config_option
@cache_dir_option
@click.option(
    "--to",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="NAME.zip",
    help="The archive; named after the folder of mkdocs.yml, and next to it, if left out.",
)
@click.option(
    "--version",
    metavar="V",
    callback=_check_version,
    help="The version of the report, in place of that of its citation.",
)
@click.option(
    "--data",
    type=click.Choice(["all", "frozen", "none"]),
    default="all",
    show_default=True,
    help="Data files as they are, each source as one small table, or none.",
)
@click.option(
    "--one-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="REPORT.html",
    help="Write only the report as one HTML file, and no archive.",
)
@click.option("--no-live", is_flag=True, help="Leave out of the HTML file what makes its figures live.")
@click.option("--site", "has_site", is_flag=True, help="Also pack the built site, which can be published.")
@click.option(
    "--tool", "has_tool", is_flag=True, help="Also pack this reportgen, as a wheel that pip installs."
)
@click.option("--strict", is_flag=True, help="Fail on any warning, also if files are not committed.")
@click.option(
    "--allow", "allowed", multiple=True, metavar="PATH", help="Pack a file that looks like a secret."
)
@json_option
def archive(
    config_file: Path,
    target: Path | None,
    version: str | None,
    data: Literal["all", "frozen", "none"],
    one_file: Path | None,
    *,
    no_live: bool,
    has_site: bool,
    has_tool: bool,
    strict: bool,
    allowed: tuple[str, ...],
) -> Answer:
    """Pack the report into one file to keep.

    The archive holds the whole report as one HTML file, its figures, its content and data, where each figure
    comes from, and how to cite it. The same report gives the same files; the SHA-256 of the archive's
    manifest identifies it. Files that look as if they held credentials are refused.

    \b
    Examples:
      reportgen archive --to scaling-1.0.zip --version 1.0
      reportgen archive --data frozen --site
      reportgen archive --one-file report.html
    """
    from reportgen.archive.archiving import Options, archive_report, write_report_file
    from reportgen.cli.results import ArchiveResult
    from reportgen.core.terminal import clean_text
    from reportgen.core.words import format_count
    from reportgen.site.describe import format_bytes

    packs = {"has_site": has_site, "has_tool": has_tool, "is_live": not no_live}
    options = Options(data, version, allowed, **packs, is_strict=strict)
    with report_problems(_NOTHING), show_progress() as advance:
        if one_file:
            size = write_report_file(config_file, one_file, options, progress=advance, warn=warn)
            click.echo(f"{clean_text(str(one_file))}: {format_bytes(size)}")
            return Answer(ArchiveResult(str(one_file), 1, size, None))
        folder = config_file.resolve().parent
        name = f"{folder.name}-{version.replace('/', '-')}" if version else folder.name
        path = target or folder / f"{name}.zip"
        packed = archive_report(config_file, path, options, progress=advance, warn=warn)
    count = len(packed.files) + 1
    files = format_count(count, "file")
    click.echo(f"{clean_text(str(packed.path))}: {files}, {format_bytes(packed.size)}")
    click.echo(f"Identity: {packed.identity}")
    return Answer(ArchiveResult(str(packed.path), count, packed.size, packed.identity))


@click.command()
@click.argument("archive", type=click.Path(exists=True, path_type=Path), metavar="FILE|DIR")
@cache_dir_option
@click.option(
    "--level",
    type=click.Choice(["intact", "consistent", "statements", "rebuild"]),
    default="consistent",
    show_default=True,
    help="How far to check; each level includes those before it.",
)
@click.option(
    "--in",
    "container",
    type=click.Path(exists=True, path_type=Path),
    metavar="ARCHIVE",
    help="Look for FILE, such as a downloaded figure, in this archive.",
)
@click.option(
    "--python",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="PATH",
    help="For rebuild: the Python that has the packages of requirements.txt and the archive's reportgen.",
)
@json_option
def verify(archive: Path, level: str, container: Path | None, python: Path | None) -> Answer:
    """Check an archive, without network.

    It may be packed or unpacked.

    \b
    intact      every file has its SHA-256
    consistent  report.json, the tables, the HTML file and the metadata say the same
    statements  which statements still hold, as this reportgen reads the data
    rebuild     the same version builds the same files

    Exits with 1 if anything differs, and lists the worst first.

    \b
    Examples:
      reportgen verify scaling-1.0.zip
      reportgen verify scaling-1.0.zip --level statements
      reportgen verify scores.svg --in scaling-1.0.zip
    """
    from reportgen.archive.verifying import find_figure, verify_archive
    from reportgen.cli.results import VerifyResult
    from reportgen.core.errors import Diagnostic, SourceLocation, Stage

    with report_problems("nothing was verified", code=2):
        found = find_figure(archive, container) if container else verify_archive(archive, level, python)
    for line in (*found.problems, *found.lines):
        print_line(line)
    for problem in found.problems:
        collect(Diagnostic(SourceLocation(str(archive)), problem, stage=Stage.SITE))
    return Answer(VerifyResult(found.lines), 1 if found.problems else 0)


@click.command()
@config_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["bibtex", "cff", "apa", "datacite", "json"]),
    default="bibtex",
    show_default=True,
    help="For LaTeX, as CITATION.cff, as a reference in a text, for a registry of DOIs, or all of these for"
    " other programs.",
)
def cite(config_file: Path, form: str) -> Answer:
    """Print how the report is cited.

    From citation: of the reportgen plugin in mkdocs.yml.

    \b
    Examples:
      reportgen cite >> references.bib
      reportgen cite --format cff > CITATION.cff
    """
    from reportgen.archive.archiving import read_cited_report
    from reportgen.cli.results import CiteResult
    from reportgen.site.citation import FORMATS

    with report_problems("nothing was printed"):
        cited = read_cited_report(config_file)
    if form != "json":
        click.echo(FORMATS[form](cited), nl=False)
        return Answer()
    return Answer(CiteResult(**{name: write(cited) for name, write in FORMATS.items()}))
