"""The command line. Heavy imports wait until a command needs them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from reportgen.cli.archive import archive, cite, verify
from reportgen.cli.context import context
from reportgen.cli.describe import describe, freeze
from reportgen.cli.envelope import Answer, prints_json
from reportgen.cli.export import export
from reportgen.cli.groups import Commands
from reportgen.cli.init import add, init, skills
from reportgen.cli.output import (
    cache_dir_option,
    config_option,
    json_option,
    print_line,
    print_lines,
    report_problems,
    show_progress,
    warn,
)
from reportgen.cli.publish import hub, publish
from reportgen.cli.questions import facts
from reportgen.cli.review import review, start_comparison
from reportgen.cli.statements import bind, check, fix, plan
from reportgen.core import __version__

if TYPE_CHECKING:
    from pathlib import Path

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


for command in (init, add, skills, context, check, fix, bind, facts, plan, review):
    cli.add_command(command)
for command in (archive, verify, cite, publish, hub, export, describe, freeze):
    cli.add_command(command)


@cli.command()
@config_option
@click.option("--strict", is_flag=True, help="Fail on any warning.")
@click.option("--force", is_flag=True, help="Build even if nothing changed.")
@click.option("--since", metavar="REV", help="Say on each page what changed since REV.")
@json_option
@cache_dir_option
def build(config_file: Path, *, strict: bool, force: bool, since: str | None) -> Answer:
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
        return _answer_build(summary, (), unchanged=True)
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
    return _answer_build(summary, tuple(lines), unchanged=False)


def _answer_build(summary: Summary, since: tuple[str, ...], *, unchanged: bool) -> Answer:
    if not prints_json():
        return Answer()
    from reportgen.cli.results import BuildResult

    counts = (summary.pages, summary.figures, summary.warnings, summary.cache_hits)
    return Answer(BuildResult(*counts, unchanged, since))


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
@click.argument("names", metavar="[NAME]", nargs=-1)
@json_option
def schema(names: tuple[str, ...]) -> Answer:
    """Print JSON Schemas, for editors and programs.

    Of the bodies of blocks, of settings files, and of the JSON that reportgen writes. NAME is a block such as
    curve, or source, front-matter, hub, plugin, review, expression, whose grammar in EBNF is a comment,
    report for report.json, or envelope and a command for what it prints with --format json; all if left out.

    \b
    Examples:
      reportgen schema > reportgen.schema.json
      reportgen schema source > source.schema.json
      reportgen schema envelope check
    """
    import json

    from reportgen.cli.results import SchemaResult, make_output_schemas
    from reportgen.core.facts import write_grammar
    from reportgen.settings.loading import make_schemas

    known = make_schemas()
    dialect = known["source"]["$schema"]
    known["expression"] = {"$schema": dialect, "type": "string", "$comment": write_grammar()}
    known |= make_output_schemas(dialect)
    name = " ".join(names)
    if name and name not in known:
        others = ", ".join(one for one in known if not one.startswith("envelope "))
        message = f'There is no schema "{name}". There are: {others}, and envelope with a command.'
        raise click.UsageError(message)
    click.echo(json.dumps(known[name] if name else known, indent=2))
    return Answer(SchemaResult({name: known[name]} if name else known))


def _format_counts(summary: Summary) -> str:
    texts = f", {summary.texts}" if summary.texts else ""
    return f"{_format_count(summary.pages, 'page')}, {_format_count(summary.figures, 'figure')}{texts}"


def _format_count(count: int, noun: str) -> str:
    """A count with its noun, without the import of all words for numbers: a build may take milliseconds."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
