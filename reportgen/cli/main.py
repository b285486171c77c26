"""The command line. Heavy imports wait until a command needs them."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reportgen.cli.archive import archive, cite, verify
from reportgen.cli.groups import Commands
from reportgen.cli.init import add, init
from reportgen.cli.output import (
    Column,
    cache_dir_option,
    config_option,
    format_option,
    print_line,
    print_lines,
    print_problem,
    print_table,
    report_problems,
    show_progress,
    show_reading,
    warn,
)
from reportgen.cli.publish import hub, publish
from reportgen.cli.questions import facts
from reportgen.cli.review import review, start_comparison
from reportgen.cli.statements import bind, check, fix, plan
from reportgen.core import __version__
from reportgen.core.terminal import clean_text

if TYPE_CHECKING:
    from reportgen.core.statements import Description
    from reportgen.site.reuse.manifest import Summary


_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=Commands, context_settings=_HELP)
@click.version_option(__version__, "-V", "--version", prog_name="reportgen")
@click.pass_context
def cli(context: click.Context) -> None:
    """Build honest static report sites from run data and Markdown.

    \b
    Examples:
      reportgen describe ~/runs         what a file or folder contains
      reportgen init my-report          a small working report
      reportgen add ~/runs --page       your data in it, with a page
      cd my-report && reportgen serve   look at it while you write
      reportgen build --strict          write site/, fail on any warning
      reportgen check                   compare every statement with the data
      reportgen review main             say what changed since main
    """
    if os.environ.get("NO_COLOR"):
        context.color = False


def run() -> int:
    """Run the command line and return its exit code, which is 130 after Ctrl+C."""
    try:
        code: int | None = cli.main(prog_name="reportgen", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        click.echo("Interrupted.", err=True)
        return 130
    except SystemExit as error:
        return int(error.code or 0)
    return code or 0


for command in (*(init, add, check, fix, bind, facts, plan, review, archive, verify, cite, publish, hub),):
    cli.add_command(command)


@cli.command()
@config_option
@click.option("--strict", is_flag=True, help="Fail on any warning.")
@click.option("--force", is_flag=True, help="Build even if nothing changed.")
@click.option("--since", metavar="REV", help="Say on each page what changed since REV.")
@cache_dir_option
def build(config_file: Path, *, strict: bool, force: bool, since: str | None) -> None:
    """Build the site into site/.

    The old site stays until the new one is complete. REV is what "reportgen review" takes as BASE, such as a
    revision, a project folder, a built site or a report.json.

    \b
    Examples:
      reportgen build
      reportgen build --strict --config-file reports/mkdocs.yml
      reportgen build --since v1.0
    """
    from reportgen.site.reuse.manifest import check_unchanged

    start = time.perf_counter()
    summary = None if force or since is not None else check_unchanged(config_file, strict=strict)
    if summary:
        warnings = f", {_format_count(summary.warnings, 'warning')}" if summary.warnings else ""
        seconds = time.perf_counter() - start
        click.echo(f"Nothing changed: {_format_counts(summary)}{warnings}; checked in {seconds:.2f} s")
        return
    from reportgen.site.publishing import publish

    comparison = None
    lines: list[str] = []
    with report_problems(), show_progress() as advance:
        if since is not None:
            comparison = start_comparison(since, config_file, advance, lines.append)
        summary = publish(
            config_file,
            strict=strict,
            progress=advance,
            warn=warn,
            compare=comparison,
        )
    for line in lines:
        print_line(line)
    hits = _format_count(summary.cache_hits, "cache hit")
    click.echo(f"Built {_format_counts(summary)} in {time.perf_counter() - start:.1f} s, {hits}")


@cli.command()
@config_option
@click.option("-a", "--dev-addr", metavar="IP:PORT", help="Address to serve at.  [default: 127.0.0.1:8000]")
@click.option("-o", "--open", "open_browser", is_flag=True, help="Open the site in a browser.")
@cache_dir_option
def serve(config_file: Path, dev_addr: str | None, *, open_browser: bool) -> None:
    """Serve the site with live reload.

    It is built again whenever content or data change.

    \b
    Example:
      reportgen serve --dev-addr 127.0.0.1:8010
    """
    from reportgen.site.publishing import serve_site

    with report_problems():
        serve_site(config_file, dev_addr=dev_addr, open_browser=open_browser, report=print_lines)


@cli.command()
@click.argument("name", required=False)
def schema(name: str | None) -> None:
    """Print JSON Schemas, for editors.

    Of the bodies of blocks and of settings files. NAME is a block such as curve, or source, front-matter,
    hub, plugin, review or expression, whose grammar in EBNF is a comment; all if left out.

    \b
    Examples:
      reportgen schema > reportgen.schema.json
      reportgen schema source > source.schema.json
    """
    import json

    from reportgen.core.facts import write_grammar
    from reportgen.review.model import Review
    from reportgen.settings.loading import make_schemas

    known = make_schemas()
    dialect = {"$schema": known["source"]["$schema"]}
    known["expression"] = dialect | {"type": "string", "$comment": write_grammar()}
    known["review"] = dialect | Review.model_json_schema(mode="serialization")
    if name is not None and name not in known:
        raise click.UsageError(f'There is no schema "{name}". There are: {", ".join(known)}.')
    click.echo(json.dumps(known[name] if name else known, indent=2))


def _format_counts(summary: Summary) -> str:
    texts = f", {summary.texts}" if summary.texts else ""
    return f"{_format_count(summary.pages, 'page')}, {_format_count(summary.figures, 'figure')}{texts}"


def _format_count(count: int, noun: str) -> str:
    """A count with its noun, without the import of all words for numbers: a build may take milliseconds."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


_LONGEST = 120
"""Characters of a cell where no terminal limits it."""
_SHORTEST = 24
"""Characters of a cell that even a narrow terminal shows."""
_GAP = 2
_LEAST = ("where", "metrics", "logged (UTC)", "seed", "standard error", "highest", "lowest", "runs", "run")
"""Columns that a narrow terminal does without, the first ones first."""


@cli.command()
@click.argument("path", type=click.Path(path_type=Path))
@format_option("json", purpose="For people, or for other programs, with lists that are never cut.")
@cache_dir_option
def describe(path: Path, form: str) -> None:
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
    from reportgen.site.describe import describe_located, format_json, locate_data

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
    if form == "json":
        settled = settings.pop("settled")
        click.echo(format_json(description, settled, settings, block), nl=False)
    else:
        _print_description(description)
        _print_settings(description, settings)
        if block:
            where = "data/ of a report; reportgen init my-report makes one"
            where = f"{place.data_dir}/ of the report" if place.data_dir else where
            is_source = place.name or (place.data_dir and place.path.parent == place.root / place.data_dir)
            click.echo()
            _print_heading("To paste into a page", "" if is_source else f"after it was put into {where}")
            if group := describing.suggest_group(description):
                is_sweep = block.startswith("```sweep")
                runs = f"{'x' if is_sweep else 'by'}: {clean_text(group)} is a guess: it puts runs together"
                rest = "; name another setting" if is_sweep else "; without it each is a line of its own"
                click.secho(f"{runs} that may differ in more{rest}.", dim=True)
            click.echo(block, nl=False)
    sys.exit(1 if fails else 0)


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


@cli.command()
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
@cache_dir_option
def freeze(source: Path, folder: Path | None, *, check: bool) -> None:
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
    from reportgen.core.words import format_count
    from reportgen.draft.describing import describe_frozen_table, freeze_source
    from reportgen.site.describe import format_bytes, locate_data
    from reportgen.site.sources.freezing import TOOL, check_frozen, refuse_foreign, write_frozen

    with report_problems("nothing was written"):
        if check and (lines := describe_frozen_table(source)):
            click.echo("\n".join(map(clean_text, lines)))
            return
        place = locate_data(source)
        target = folder or place.path.with_name(f"{place.path.name.split('.')[0]}-frozen")
        refuse_foreign(target, place.path)
        with show_reading(place.hashes) as hashes:
            read = freeze_source(place.path, place.root, TOOL, hashes, place.cache, boundary=place.boundary)
            if check:
                check_frozen(read, target)
                click.echo(f"{clean_text(str(target))} is what freezing it now would write")
                return
            written = write_frozen(read, target)
    place.hashes.save()
    place.cache.prune_daily()
    for problem in read.source.warnings:
        print_problem(problem)
    for file in written.files:
        click.echo(f"  {clean_text(str(file))}")
    over = ", in place of what was frozen there before" if written.replaced else ""
    files = format_count(len(read.source.files), "file")
    before = format_bytes(sum(file.size for file in read.source.files))
    click.echo(f"\n{files} ({before}) frozen into {format_bytes(written.size)}{over}")
