"""``reportgen describe``: what a file or folder holds, and what to write to show it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.commands.options import cache_dir_option, format_option
from reportgen.commands.reading import reading_told
from reportgen.commands.tables import Column, print_table
from reportgen.commands.telling import problems_told, tell_problem

if TYPE_CHECKING:
    from reportgen.description import Description
    from reportgen.site.around import Around
    from reportgen.site.describing.description_tables import Section

_LONGEST = 120
"""Characters of a cell where no terminal limits it."""
_SHORTEST = 24
"""Characters of a cell that even a narrow terminal shows."""
_GAP = 2
_LEAST = ("where", "metrics", "logged (UTC)", "seed", "standard error", "highest", "lowest", "runs", "run")
"""Columns that a narrow terminal does without, the first ones first."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@format_option("json", said="For people, or for other programs, with lists that are never cut.")
@cache_dir_option
def describe(path: Path, form: str) -> None:
    """Tell what PATH holds: format, runs, metrics or answers, and what is irregular about them.

    PATH is any file or folder that a trainer, a logger, an evaluation or a script wrote, in a report or
    anywhere else. Nothing is changed. At the end stand the settings that are worth writing and a block that
    draws the data, both to be pasted. Leaves with 1 if PATH cannot be read.

    \b
    Examples:
      reportgen describe ~/experiments/run-7
      reportgen describe data/math500.csv --format json
    """
    from reportgen.drafting import describing
    from reportgen.site.around import around
    from reportgen.site.describing.description_json import description_json

    with problems_told("nothing can be told"):
        place = around(path)
        if place.data_dir and place.path == place.root / place.data_dir:
            told = describing.sources_of(place.path, place.root, place.data_dir, place.boundary)
        else:
            with reading_told(place.hashes) as hashes:
                told = describing.described(
                    place.path, place.root, place.name, hashes, place.cache, boundary=place.boundary
                )
    if place.cache:
        place.hashes.save()
    settings, block = describing.suggested_settings(told), describing.suggested_block(told)
    others = {
        "repetitions": describing.suggested_repetitions(told),
        "clusters": describing.suggested_clusters(told),
    }
    if form == "json":
        click.echo(description_json(told, settings, others, block), nl=False)
    else:
        _tell(told)
        _tell_settings(told, settings, others)
        _tell_block(place, block)
    sys.exit(1 if any(problem.severity == "error" for problem in told.problems) else 0)


def _tell(told: Description) -> None:
    from reportgen.site.checking.excerpts import printable
    from reportgen.site.describing.description_tables import sections
    from reportgen.site.describing.description_words import amounts, headline

    click.secho(printable(headline(told)), bold=True)
    for words in amounts(told):
        click.echo(printable(words))
    for section in sections(told):
        click.echo()
        _tell_section(section)
    if told.problems:
        click.echo()
        click.secho("Found on the way", bold=True)
    for problem in told.problems:
        tell_problem(problem, err=False)


def _tell_section(section: Section) -> None:
    from reportgen.site.checking.excerpts import printable

    click.secho(section.title, bold=True, nl=not section.note)
    if section.note:
        click.secho(f"  {printable(section.note)}", dim=True)
    rows = [tuple(map(printable, row)) for row in section.rows]
    if not sys.stdout.isatty():
        columns = [Column(title, longest=_LONGEST) for title in section.header]
        print_table(columns, [section.header, *rows])
    else:
        _tell_fitted(section.header, rows, shutil.get_terminal_size((100, 24)).columns)
    if section.more:
        click.secho(section.more, dim=True)


def _tell_fitted(header: tuple[str, ...], rows: list[tuple[str, ...]], room: int) -> None:
    """A table on a terminal: without columns that it has no room for, which it names."""
    from reportgen.words import listing

    kept = list(range(len(header)))

    def width(longest: int) -> int:
        cells = ([header[place], *(row[place] for row in rows)] for place in kept)
        return sum(_GAP + min(longest, max(map(len, texts))) for texts in cells)

    for title in _LEAST:
        if title in header and width(_SHORTEST) > room:
            kept.remove(header.index(title))
    longest = next((size for size in range(room, _SHORTEST, -1) if width(size) <= room), _SHORTEST)
    columns = [Column(header[place], longest=longest) for place in kept]
    print_table(columns, [tuple(row[place] for place in kept) for row in rows])
    if left := [title for place, title in enumerate(header) if place not in kept]:
        click.secho(f"A wider terminal has room for: {listing(left)}.", dim=True)


def _tell_settings(told: Description, settings: str, others: dict[str, str]) -> None:
    """What to write into ``source.yml``."""
    from reportgen.site.checking.excerpts import printable

    why_repeated = "if the numbers in their names only count repetitions"
    if method := told.repetitions.get("series_from"):
        why_repeated = f"if runs of one {printable(str(method))} with different seeds are repetitions"
    why_settled = "so that nothing is left to a guess"
    columns = told.settings.get("columns")
    if isinstance(columns, dict) and "step" in columns and not told.step_name:
        why_settled = f"if {printable(str(columns['step']))} is the step"
    cluster = printable(str(told.clusters.get("cluster")))
    verb = "To add to" if told.has_settings else "To write into"
    for text, why in (
        (settings, why_settled),
        (others["repetitions"], why_repeated),
        (others["clusters"], f"if problems of one {cluster} are answered right or wrong together"),
    ):
        if text:
            click.echo()
            click.secho(f"{verb} {printable(told.settings_file)}", bold=True, nl=False)
            click.secho(f"  {why}", dim=True)
            click.echo(text, nl=False)


def _tell_block(place: Around, block: str) -> None:
    """What to paste into a page."""
    if block:
        click.echo()
        where = _where(place)
        click.secho("To paste into a page", bold=True, nl=not where)
        if where:
            click.secho(f"  {where}", dim=True)
        click.echo(block, nl=False)


def _where(place: Around) -> str:
    if place.name:
        return ""
    if place.data_dir:
        return f"after it was put into {place.data_dir}/ of the report"
    return "after it was put into data/ of a report; reportgen init my-report makes one"
