"""What data contain, and small copies of them: ``reportgen describe`` and ``freeze``."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.envelope import Answer, collect, prints_json
from reportgen.cli.output import (
    Column,
    cache_dir_option,
    json_option,
    print_problem,
    print_table,
    report_problems,
    show_reading,
)
from reportgen.core.terminal import clean_text

if TYPE_CHECKING:
    from reportgen.cli.results import DescribeResult
    from reportgen.core.statements import Description
    from reportgen.site.sources.freezing import FrozenFiles

_LONGEST = 120
"""Characters of a cell where no terminal limits it."""
_SHORTEST = 24
"""Characters of a cell that even a narrow terminal shows."""
_GAP = 2
_LEAST = ("where", "metrics", "logged (UTC)", "seed", "standard error", "highest", "lowest", "runs", "run")
"""Columns that a narrow terminal does without, the first ones first."""


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@json_option
@cache_dir_option
def describe(path: Path) -> Answer:
    """Describe the contents of a file or folder of runs.

    Prints the format, runs, metrics or answers, anything irregular, and a block to paste into a page.

    PATH is any file or folder that a trainer, a logger, an evaluation or a script wrote, in a report or
    anywhere else. Nothing is changed. The output ends with the settings worth writing and a block that draws
    the data, both ready to paste. Exits with 1 if PATH cannot be read.

    \b
    Examples:
      reportgen describe ~/experiments/run-7
      reportgen describe data/math500.csv --format json
    """
    from reportgen.draft import describing
    from reportgen.site.describe import describe_located, locate_data

    with report_problems("nothing is described"):
        place = locate_data(path)
        if place.data_dir and place.path == place.root / place.data_dir:
            with show_reading(place.hashes) as hashes:
                description = describing.describe_data_folder(
                    place.root, place.data_dir, hashes, place.cache, place.boundary
                )
        else:
            with show_reading(place.hashes) as hashes:
                description = describe_located(place, place.name, hashes)
    place.hashes.save()
    place.cache.prune_daily()
    fails = any(problem.severity == "error" for problem in description.problems)
    settings, block = describing.suggest_settings(description), describing.suggest_block(description)
    block = "" if fails else block
    if prints_json():
        return Answer(_answer_description(description, settings, block), int(fails))
    _print_description(description)
    _print_settings(description, settings)
    if block:
        where = f"{place.data_dir}/ of the report" if place.data_dir else _NO_REPORT
        is_source = place.name or (place.data_dir and place.path.parent == place.root / place.data_dir)
        click.echo()
        _print_heading("To paste into a page", "" if is_source else f"after it was put into {where}")
        _print_guess(description, block)
        click.echo(block, nl=False)
    return Answer(code=int(fails))


_NO_REPORT = "data/ of a report; reportgen init my-report makes one"


def _print_guess(description: Description, block: str) -> None:
    """Print which setting the block groups runs by."""
    from reportgen.draft.describing import suggest_group

    if group := suggest_group(description):
        is_sweep = block.startswith("```sweep")
        runs = f"{'x' if is_sweep else 'by'}: {clean_text(group)} is a guess: it puts runs together"
        rest = "; name another setting" if is_sweep else "; without it each is a line of its own"
        click.secho(f"{runs} that may differ in more{rest}.", dim=True)


def _answer_description(description: Description, settings: dict[str, str], block: str) -> DescribeResult:
    from msgspec.structs import asdict

    from reportgen.cli.results import DescribeResult, Suggestion
    from reportgen.site.describe import make_settings_finite

    for problem in description.problems:
        collect(problem)
    known = asdict(description) | asdict(description.counts)
    known |= {"unread": dict(description.unread), "runs": make_settings_finite(description.counts.runs)}
    known["suggested"] = Suggestion(**settings, file=description.settings_file, block=block)
    return DescribeResult(**{name: known[name] for name in DescribeResult.__struct_fields__})


def _print_description(description: Description) -> None:
    from reportgen.site.describe import describe_amounts, format_headline, make_sections

    click.secho(clean_text(format_headline(description)), bold=True)
    for words in describe_amounts(description):
        click.echo(clean_text(words))
    for section in make_sections(description):
        click.echo()
        _print_heading(section.title, clean_text(section.note))
        rows = [tuple(map(clean_text, row)) for row in section.rows]
        if not sys.stdout.isatty():
            columns = [Column(title, longest=_LONGEST) for title in section.header]
            print_table(columns, [section.header, *rows])
        else:
            _print_fitted(section.header, rows, shutil.get_terminal_size((100, 24)).columns)
        if section.more:
            click.secho(section.more, dim=True)
    if description.problems:
        click.echo()
        click.secho("Found on the way", bold=True)
    for problem in description.problems:
        print_problem(problem, err=False)


def _print_fitted(header: tuple[str, ...], rows: list[tuple[str, ...]], room: int) -> None:
    """A table on a terminal: without columns that it has no room for, which it names."""
    from reportgen.core.words import join_names

    widths = {title: max(map(len, texts)) for title, *texts in zip(header, header, *rows, strict=True)}

    def measure(longest: int) -> int:
        return sum(_GAP + min(longest, width) for width in widths.values())

    for title in _LEAST:
        if title in widths and measure(_SHORTEST) > room:
            del widths[title]
    longest = next((size for size in range(room, _SHORTEST, -1) if measure(size) <= room), _SHORTEST)
    rows = [tuple(text for title, text in zip(header, row, strict=True) if title in widths) for row in rows]
    print_table([Column(title, longest=longest) for title in widths], rows)
    if left := [title for title in header if title not in widths]:
        click.secho(f"A wider terminal has room for: {join_names(left)}.", dim=True)


def _print_settings(description: Description, settings: dict[str, str]) -> None:
    """What to write into ``source.yml``."""
    from reportgen.core.words import join_names

    cluster = clean_text(str(description.clusters.get("cluster")))
    reasons = {
        "settled": "so that nothing is left to a guess",
        "repetitions": "if the numbers in their names only count repetitions",
        "clusters": f"if problems of one {cluster} are answered right or wrong together",
        "roles": "to state the columns that were taken by their names",
    }
    if method := description.repetitions.get("series_from"):
        keys = method if isinstance(method, list) else [method]
        method = clean_text(join_names([str(key) for key in keys]))
        reasons["repetitions"] = f"if runs of one {method} with different seeds are repetitions"
    columns = description.settings.get("columns")
    if isinstance(columns, dict) and "step" in columns and not description.step_name:
        reasons["settled"] = f"if {clean_text(str(columns['step']))} is the step"
    if description.settings.get("form") == "outcomes" or (isinstance(columns, dict) and "problem" in columns):
        reasons["settled"] = "if its cells are answers to problems"
    if description.settings.get("form") == "runs":
        drawn = "sweep, scatter, distribution, table and runs-table draw it"
        well = ", and those that filter: chooses ended well" if "filter" in description.settings else ""
        reasons["settled"] = f"if a row is a finished run{well}; {drawn}"
    if description.settings.get("repeat") == "runs":
        reasons["settled"] = "if each row of a step is of a run of its own"
    verb = "To add to" if description.has_settings else "To write into"
    for kind, reason in reasons.items():
        if settings[kind]:
            keys = re.findall(r"^(\w+):", settings[kind], re.MULTILINE)
            does = verb if {*description.stated}.isdisjoint(keys) else "To replace in"
            click.echo()
            _print_heading(f"{does} {clean_text(description.settings_file)}", reason)
            click.echo(settings[kind], nl=False)


def _print_heading(title: str, note: str) -> None:
    click.secho(title, bold=True, nl=not note)
    if note:
        click.secho(f"  {note}", dim=True)


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "-t",
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where to write; the source's name with -frozen, next to it, if left out.",
)
@click.option("--check", is_flag=True, help="Compare SOURCE with what was frozen of it, and write nothing.")
@json_option
@cache_dir_option
def freeze(source: Path, folder: Path | None, *, check: bool) -> Answer:
    """Write SOURCE as one small Parquet file.

    The file and its source.yml are small enough to be committed and reviewed.

    SOURCE is the path of any file or folder that reportgen describe can read. Every row is kept, including
    repeated and missing ones, so a report on either says the same. The source.yml names the original files
    with their SHA-256, lists what was irregular in them and what the table contains, and keeps the settings
    that still apply. The same source gives the same bytes. A file frozen into the folder before is replaced;
    a folder with anything else is refused.

    \b
    Examples:
      reportgen freeze ~/experiments/sweep --to data/sweep
      reportgen freeze data/runs
      reportgen freeze ~/experiments/sweep --to data/sweep --check
    """
    from reportgen.cli.results import FreezeResult
    from reportgen.draft.describing import describe_frozen_table, freeze_source
    from reportgen.site.describe import locate_data
    from reportgen.site.sources.freezing import TOOL, check_frozen, refuse_foreign, write_frozen

    with report_problems("nothing was written"):
        if check and (lines := describe_frozen_table(source)):
            click.echo("\n".join(map(clean_text, lines)))
            return Answer(FreezeResult())
        place = locate_data(source)
        target = folder or place.path.with_name(f"{place.path.name.split('.')[0]}-frozen")
        refuse_foreign(target, place.path)
        with show_reading(place.hashes) as hashes:
            read = freeze_source(place.path, place.root, TOOL, hashes, place.cache, boundary=place.boundary)
            if check:
                check_frozen(read, target)
                click.echo(f"{clean_text(str(target))} is what freezing it now would write")
                return Answer(FreezeResult())
            written = write_frozen(read, target)
    place.hashes.save()
    place.cache.prune_daily()
    for problem in read.source.warnings:
        print_problem(problem)
    _print_frozen(written, [file.size for file in read.source.files])
    return Answer(FreezeResult(tuple(map(str, written.files)), written.size, written.replaced))


def _print_frozen(written: FrozenFiles, sizes: list[int]) -> None:
    from reportgen.core.words import format_count
    from reportgen.site.describe import format_bytes

    for file in written.files:
        click.echo(f"  {clean_text(str(file))}")
    over = ", in place of what was frozen there before" if written.replaced else ""
    files = format_count(len(sizes), "file")
    click.echo(f"\n{files} ({format_bytes(sum(sizes))}) frozen into {format_bytes(written.size)}{over}")
