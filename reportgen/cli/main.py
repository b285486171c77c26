"""The command line. Heavy imports wait until a command needs them."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reportgen.cli.comment import comment
from reportgen.cli.describe import describe, freeze
from reportgen.cli.output import (
    cache_dir_option,
    config_option,
    print_line,
    print_lines,
    report_problems,
    show_progress,
    warn,
)
from reportgen.cli.review import review
from reportgen.cli.statements import check, facts, fix, observations, plan
from reportgen.core import __version__
from reportgen.site.terminal import clean_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.site.manifest import Summary


_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Commands(click.Group):
    """The commands; the terminal obeys no path in the message about a wrong call."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:  # noqa: ANN401 - as click declares it
        """Read the options before the command."""
        with _clean_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click declares it
        """Read the command's own arguments, and run it."""
        with _clean_errors():
            return super().invoke(ctx)


@contextmanager
def _clean_errors() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        message = error.format_message()
        if (safe := clean_lines(message)) != message:
            raise click.UsageError(safe, error.ctx) from None
        raise


@click.group(cls=_Commands, context_settings=_HELP)
@click.version_option(__version__, "-V", "--version", prog_name="reportgen")
@click.pass_context
def cli(context: click.Context) -> None:
    """Build honest static report sites from run data and Markdown.

    \b
    Examples:
      reportgen describe ~/runs         what a file or folder holds
      reportgen init my-report          a small working report
      cd my-report && reportgen serve   look at it while you write
      reportgen build --strict          write site/, fail on any warning
      reportgen check                   hold every statement against the data
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
    return code or 0


for command in (describe, freeze, check, fix, facts, observations, plan, review, comment):
    cli.add_command(command)


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--review", "with_review", is_flag=True, help="Write the workflows that review pull requests.")
def init(folder: Path | None, *, with_review: bool) -> None:
    """Write a small working report into FOLDER, with data, a page and a publishing workflow.

    With --review FOLDER may also be a report that exists, and is this folder if left out: two workflows are
    added to its repository, and nothing else. Nothing that exists is ever overwritten.

    \b
    Examples:
      reportgen init my-report
      reportgen init --review
    """
    from reportgen.site.starter import (
        UnknownSourceError,
        find_requirement,
        write_review_workflows,
        write_starter,
    )

    if folder is None and not with_review:
        raise click.UsageError("Missing argument 'FOLDER'.")
    folder = folder or Path()
    requirement = reason = ""
    try:
        requirement = find_requirement()
    except UnknownSourceError as error:
        reason = str(error)
    is_new = not (with_review and (folder / "mkdocs.yml").is_file())
    with report_problems("nothing was written"):
        for path in write_starter(folder, requirement) if is_new else ():
            print_line(f"  {folder / path}")
    with report_problems("no workflow for reviews was written"):
        for file in write_review_workflows(folder, requirement) if with_review else ():
            print_line(f"  {file}")
    click.echo()
    if is_new:
        _explain_publishing(folder, requirement, reason)
    if with_review:
        _explain_review(requirement, reason)
    if is_new:
        click.echo()
        print_line(f"Next: cd {folder} && reportgen serve")


def _explain_publishing(folder: Path, requirement: str, reason: str) -> None:
    workflow = folder / ".github/workflows/pages.yml"
    if requirement:
        print_line(f"{workflow} installs {requirement}")
    else:
        warn(
            f"{workflow} fails until you write at REPORTGEN what it has to install, since this reportgen does"
            f" not know where others can get it: {reason}."
        )


def _explain_review(requirement: str, reason: str) -> None:
    from reportgen.site.starter import can_use_actions

    if can_use_actions(requirement):
        click.echo("Comments appear once both workflows for reviews are on the default branch.")
    else:
        why = reason or "it came from no repository on GitHub"
        warn(
            "report.yml and report-comment.yml fail until you write owner and commit of reportgen into both,"
            f" in place of OWNER and the zeros, since this reportgen does not know them: {why}."
        )


@cli.command()
@config_option
@click.option("--strict", is_flag=True, help="Fail on any warning.")
@click.option("--force", is_flag=True, help="Build even if nothing changed.")
@cache_dir_option
def build(config_file: Path, *, strict: bool, force: bool) -> None:
    """Build the site; the old one stays until the new one is complete.

    \b
    Examples:
      reportgen build
      reportgen build --strict --config-file reports/mkdocs.yml
    """
    from reportgen.site.manifest import check_unchanged

    start = time.perf_counter()
    summary = None if force else check_unchanged(config_file, strict=strict)
    if summary:
        warnings = f", {_format_count(summary.warnings, 'warning')}" if summary.warnings else ""
        seconds = time.perf_counter() - start
        click.echo(f"Nothing changed: {_format_counts(summary)}{warnings}; checked in {seconds:.2f} s")
        return
    from reportgen.site.publishing import publish

    with report_problems(), show_progress() as advance:
        summary = publish(config_file, strict=strict, progress=advance, warn=warn)
    hits = _format_count(summary.cache_hits, "cache hit")
    click.echo(f"Built {_format_counts(summary)} in {time.perf_counter() - start:.1f} s, {hits}")


@cli.command()
@config_option
@click.option("-a", "--dev-addr", metavar="IP:PORT", help="Address to serve at.  [default: 127.0.0.1:8000]")
@click.option("-o", "--open", "open_browser", is_flag=True, help="Open the site in a browser.")
@cache_dir_option
def serve(config_file: Path, dev_addr: str | None, *, open_browser: bool) -> None:
    """Serve the site and build it again whenever content or data change.

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
    """Print the JSON Schema of block bodies and settings files, for editors.

    NAME is a block such as curve, or source, front-matter, plugin or review; all if left out.

    \b
    Examples:
      reportgen schema > reportgen.schema.json
      reportgen schema source > source.schema.json
    """
    import json

    from reportgen.review.model import make_review_schema
    from reportgen.settings.loading import make_schemas

    known = {**make_schemas(), "review": make_review_schema()}
    if name is not None and name not in known:
        raise click.UsageError(f'There is no schema "{name}". There are: {", ".join(known)}.')
    click.echo(json.dumps(known[name] if name else known, indent=2))


def _format_counts(summary: Summary) -> str:
    return f"{_format_count(summary.pages, 'page')}, {_format_count(summary.figures, 'figure')}"


def _format_count(count: int, noun: str) -> str:
    """A count with its noun, without the import of all words for numbers: a build may take milliseconds."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
