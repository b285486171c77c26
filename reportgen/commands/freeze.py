"""``reportgen freeze``: a source as one small Parquet file with its provenance, to be committed."""

from __future__ import annotations

from pathlib import Path

import click

from reportgen.commands.options import cache_dir_option
from reportgen.commands.reading import show_reading
from reportgen.commands.telling import print_problem, report_problems


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "-t",
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where to write; the source's name with -frozen, beside it, if left out.",
)
@cache_dir_option
def freeze(source: Path, folder: Path | None) -> None:
    """Write SOURCE as one Parquet file and a source.yml, small enough to be committed and reviewed.

    SOURCE is the path of any file or folder that reportgen describe can read. Every row stays, also repeated
    and missing ones, so that a report says the same of both. The source.yml names the original files with
    their SHA-256, tells what was irregular in them and what the table holds, and keeps the settings that
    still matter. The same source gives the same bytes. What was frozen into the folder before is replaced;
    a folder that holds anything else is refused.

    \b
    Examples:
      reportgen freeze ~/experiments/sweep --to data/sweep
      reportgen freeze data/runs
    """
    from reportgen.drafting.freezing import freeze_source
    from reportgen.site.around import locate_data
    from reportgen.site.checking.excerpts import clean_text
    from reportgen.site.describing.description_words import format_bytes
    from reportgen.site.frozen import TOOL, refuse_foreign, write_frozen
    from reportgen.words import format_count

    with report_problems("nothing was written"):
        place = locate_data(source)
        target = folder or place.path.with_name(f"{place.path.name.split('.')[0]}-frozen")
        refuse_foreign(target, place.path)
        with show_reading(place.hashes) as hashes:
            read = freeze_source(place.path, place.root, TOOL, hashes, place.cache, boundary=place.boundary)
            written = write_frozen(read, target)
    if place.cache:
        place.hashes.save()
    for problem in read.source.warnings:
        print_problem(problem)
    for file in written.files:
        click.echo(f"  {clean_text(str(file))}")
    over = ", in place of what was frozen there before" if written.replaced else ""
    files = format_count(len(read.source.files), "file")
    before = format_bytes(sum(file.size for file in read.source.files))
    click.echo(f"\n{files} ({before}) frozen into {format_bytes(written.size)}{over}")
