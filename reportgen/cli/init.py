"""The commands that write a new report, or its workflows, and that add data to one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from reportgen.cli.envelope import Answer
from reportgen.cli.output import (
    cache_dir_option,
    config_option,
    json_option,
    print_line,
    print_problem,
    report_problems,
    warn,
)

if TYPE_CHECKING:
    from reportgen.site.sources.adding import How


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--review", "with_review", is_flag=True, help="Write the workflows that review pull requests.")
@click.option("--publish", "with_publish", is_flag=True, help="Write the workflows that publish the report.")
@click.option("--latex", is_flag=True, help="Write reportgen.sty, with which a paper binds its numbers.")
@click.option(
    "--check-actions", is_flag=True, help="Say what is missing in the workflows, and write nothing."
)
@json_option
def init(
    folder: Path | None, *, with_review: bool, with_publish: bool, latex: bool, check_actions: bool
) -> Answer:
    """Write a small working report into FOLDER.

    It has data, pages and a workflow for GitHub.

    With an option, FOLDER may be an existing report and defaults to the current folder; only workflows are
    added to its repository, or reportgen.sty to FOLDER. Nothing that exists is ever overwritten.

    \b
    Examples:
      reportgen init my-report
      reportgen init --review --publish
      reportgen init --latex paper
      reportgen init --check-actions
    """
    from reportgen.cli.results import InitResult
    from reportgen.site.starter import check_workflows, has_workflows, write_style

    if folder is None and not (with_review or with_publish or latex or check_actions):
        raise click.UsageError("Missing argument 'FOLDER'.")
    folder = folder or Path()
    if latex:
        with report_problems("nothing was written"):
            style = str(write_style(folder))
        print_line(f"  {style}")
        return Answer(InitResult((style,)))
    if check_actions:
        with report_problems("the workflows do not work together yet"):
            check_workflows(folder)
        click.echo("The four workflows are complete and fit together.")
        return Answer(InitResult(()))
    source = _find_source()
    is_new = not ((with_review or with_publish) and (folder / "mkdocs.yml").is_file())
    if is_new and source.has_actions and not (with_review or with_publish):
        # Those of another report in this repository stay as they are.
        with_review = with_publish = not has_workflows(folder)
        if not with_review:
            warn("the workflows of this repository publish another report; see the guide on two reports.")
    written = _write_init(folder, source, is_new=is_new, with_review=with_review, with_publish=with_publish)
    if is_new:
        click.echo()
        print_line(f"Next: cd {folder} && reportgen serve")
    return Answer(InitResult(tuple(map(str, written))))


class _Source(Struct, frozen=True):
    """Where others get this reportgen, or why that is not known."""

    requirement: str
    reason: str
    has_actions: bool


def _find_source() -> _Source:
    from reportgen.site.starter import UnknownSourceError, can_use_actions, find_requirement

    try:
        requirement = find_requirement()
    except UnknownSourceError as error:
        return _Source("", str(error), has_actions=False)
    return _Source(requirement, "it did not come from a repository on GitHub", can_use_actions(requirement))


def _write_init(
    folder: Path, source: _Source, *, is_new: bool, with_review: bool, with_publish: bool
) -> list[Path]:
    """Write the files of ``init`` and print their names, then what to do with them; return their paths."""
    from reportgen.site.starter import PUBLISHING, REVIEWING, write_starter, write_workflows

    is_pip = is_new and not with_publish and not source.has_actions
    with report_problems("nothing was written"):
        files = write_starter(folder, source.requirement, with_workflow=is_pip) if is_new else ()
        written = [folder / path for path in files]
    for path in written:
        print_line(f"  {path}")
    names = (*(REVIEWING if with_review else ()), *(PUBLISHING if with_publish else ()))
    with report_problems("no workflow was written"):
        workflows = write_workflows(folder, names, source.requirement) if names else ()
    for path in workflows:
        print_line(f"  {path}")
    click.echo()
    workflow = folder / ".github/workflows/pages.yml"
    if is_pip and source.requirement:
        print_line(f"{workflow} installs {source.requirement}")
    elif is_pip:
        warn(
            f"{workflow} fails until you set REPORTGEN in it to what it should install, since this reportgen"
            f" does not know where others can get it: {source.reason}."
        )
    if names and not source.has_actions:
        warn(
            "the workflows with OWNER and zeros fail until you write owner and commit of reportgen there,"
            f" since this reportgen does not know them: {source.reason}."
        )
    elif names:
        click.echo("Comments appear, and the site, once the workflows are on the default branch.")
    if with_publish:
        click.echo(".github/PUBLISHING.md says which two clicks switch publishing on.")
    return [*written, *workflows]


_HOW = {
    "copy": "copied",
    "link": "linked",
    "freeze": "frozen into one Parquet file",
    "stay": "left where they are",
}


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--as", "name", metavar="NAME", help="Its name in blocks; that of the file or folder if left out."
)
@click.option("--page", "with_page", is_flag=True, help="Write a page about it, and its line in nav:.")
@click.option("--copy", is_flag=True, help="Copy the files that are read.")
@click.option("--link", is_flag=True, help="Link to them, so that they may grow.")
@click.option("--freeze", is_flag=True, help="Write them as one Parquet file.")
@config_option
@json_option
@cache_dir_option
def add(
    path: Path, name: str | None, config_file: Path, *, with_page: bool, copy: bool, link: bool, freeze: bool
) -> Answer:
    """Add the data at PATH to the report.

    With their source.yml and, with --page, a page that shows them.

    PATH is any file or folder that reportgen describe can read. Up to 50 MB are copied into data/NAME, and
    what is larger is frozen, unless an option says otherwise; data in the data folder stay there. The page
    has the block that describe suggests, and sentences whose numbers and claims are bound to the data.
    It asks no questions and overwrites nothing; if anything cannot be written, nothing is.

    \b
    Examples:
      reportgen add ~/experiments/run-7 --page
      reportgen add results.xlsx --as leaderboard --page
      reportgen add ~/sweep.zip --as ablations/width --freeze
    """
    from reportgen.cli.results import AddResult
    from reportgen.draft.describing import suggest_block
    from reportgen.site.describe import describe_amounts
    from reportgen.site.sources.adding import add_data

    ways: list[tuple[How, bool]] = [("copy", copy), ("link", link), ("freeze", freeze)]
    chosen = [way for way, is_chosen in ways if is_chosen]
    if len(chosen) > 1:
        raise click.UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other. Choose one.")
    how = chosen[0] if chosen else None
    with report_problems("nothing was written"):
        added = add_data(path, config_file, name, how, with_page=with_page)
    for problem in added.description.problems:
        print_problem(problem)
    for file in added.files:
        print_line(f"  {file}")
    click.echo()
    amounts = next(iter(describe_amounts(added.description)), "")
    print_line(f'Source "{added.name}": {amounts}, {_HOW[added.how]}')
    block = suggest_block(added.description, name=added.name)
    if with_page:
        click.echo("Next: reportgen serve")
    elif block:
        click.secho("To paste into a page", bold=True)
        for line in block.splitlines():
            print_line(line)
    return Answer(AddResult(added.name, added.how, added.files, block))


@click.command()
@click.argument("action", type=click.Choice(["add"]))
@click.option(
    "--to",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path(".agents/skills"),
    help="The folder of skills; .agents/skills if left out.",
)
@json_option
def skills(action: str, folder: Path) -> Answer:  # noqa: ARG001 - there is one
    """Write the skill that tells a coding agent how to use reportgen.

    It is one short file, DIR/reportgen/SKILL.md: the commands in their order, how sentences are bound to
    data, and what the checks report. A newer reportgen replaces it; a file that was changed stays as it is.

    \b
    Examples:
      reportgen skills add
      reportgen skills add --to .claude/skills
    """
    from reportgen.cli.results import InitResult
    from reportgen.site.starter import write_skill

    with report_problems("nothing was written"):
        path = write_skill(folder)
    print_line(f"  {path}")
    return Answer(InitResult((str(path),)))
