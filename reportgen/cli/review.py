"""What a change does to the results: ``reportgen review``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Raw

from reportgen.cli.envelope import Answer
from reportgen.cli.output import (
    cache_dir_option,
    format_option,
    print_line,
    report_problems,
    show_progress,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.draft.report import Report
    from reportgen.review.comment import CommentContext
    from reportgen.review.model import Review
    from reportgen.site.replacing.locations import Output
    from reportgen.site.reuse.added_files import Additions

_NO_REVIEW = 2
"""Exit code where no review could be made, as for an option that does not exist."""
# As in reportgen.review, which is imported when the command runs.
_FEWEST, _MOST = 4_000, 60_000
_FEWEST_PICTURES, _MOST_PICTURES = 4, 60


@click.command()
@click.argument("base", required=False)
@click.argument("head", required=False)
@click.option(
    "-f",
    "--config-file",
    type=click.Path(dir_okay=False, path_type=Path),
    default="mkdocs.yml",
    show_default=True,
    help="The report's mkdocs.yml; it need not exist if BASE and HEAD are folders, sites or archives.",
)
@cache_dir_option
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default="review",
    show_default=True,
    help="The folder that review.json and review.html are written into.",
)
@format_option(
    "json",
    "markdown",
    "github",
    purpose="For people, for other programs, as a comment, or as annotations of GitHub, which add the comment"
    " to the summary of the job.",
)
@click.option(
    "--fail-on",
    "condition",
    type=click.Choice(["flips", "worse", "any", "never"]),
    default="flips",
    show_default=True,
    help="Exit with 1 if a statement is no longer as expected or a reported value was edited, or a number is "
    "clearly worse, too, or anything changed at all.",
)
@click.option(
    "--read",
    "reads",
    is_flag=True,
    help="BASE is a review.json: print it, and make no review; - is standard input.",
)
@click.option("--link", metavar="URL", default="", help="For the comment: where review.html can be read.")
@click.option(
    "--max-chars",
    type=click.IntRange(min=_FEWEST),
    default=_MOST,
    show_default=True,
    help="For the comment: its most characters; what does not fit is left out.",
)
@click.option(
    "--pictures",
    "drawn",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Draw changed figures into this folder, before and after in one PNG, for light and dark pages.",
)
@click.option(
    "--most-pictures",
    type=click.IntRange(_FEWEST_PICTURES, _MOST_PICTURES),
    default=_FEWEST_PICTURES,
    show_default=True,
    help="Figures to draw, the clearest differences first; a comment shows the first 4.",
)
@click.option(
    "--picture-base",
    metavar="URL",
    default="",
    help="For the comment: where the pictures can be read; a ?query at its end is added to each name.",
)
def review(
    base: str | None,
    head: str | None,
    *,
    config_file: Path,
    folder: Path,
    form: str,
    condition: str,
    reads: bool,
    drawn: Path | None,
    most_pictures: int,
    max_chars: int,
    link: str,
    picture_base: str,
) -> Answer:
    """Say what changed from BASE to HEAD.

    Statements, numbers and figures, and whether a change is more than noise.

    BASE and HEAD are a revision of the repository, a project folder, a built site, a report.json or an
    archive. BASE is where the branch or the pull request that is checked out began, and HEAD the working
    tree, if left out. The repository is only read. Exits with 2 if no review can be made.

    A review.json that --read prints may come from anybody: it is checked against its schema, and every name
    and sentence in it is quoted, so that none becomes a link, a mention, a picture or markup. Nothing else is
    read, and no network is used. The comment ends with a line by which it can be found again.

    \b
    Examples:
      reportgen review                        what this branch changes
      reportgen review main                   from main to the working tree
      reportgen review v1.0 v1.1              from one release to the next
      reportgen review old/site new/site --fail-on never
      reportgen review scaling-1.0.zip scaling-1.1.zip
      reportgen review --format markdown      the comment for a pull request
      reportgen review --read review/review.json --pictures pictures
    """
    from reportgen.review.comment import CommentContext
    from reportgen.review.model import write_review

    with report_problems("no review was written", code=_NO_REVIEW):
        found = _read_review(base, head) if reads else _make_review(base, head, config_file, folder)
        comment = ""
        if form in {"markdown", "github"}:
            comment = _write_comment(
                found, max_chars, CommentContext(config_file.as_posix(), link, picture_base=picture_base)
            )
        _print_review(found, comment, form, config_file)
    if drawn is not None:
        with report_problems("not every picture was written", code=_NO_REVIEW):
            _draw_pictures(found, drawn, most_pictures)
    result = Raw(write_review(found).encode()) if form == "json" else None
    return Answer(result, 1 if _is_met(found, condition) else 0)


def _make_review(base: str | None, head: str | None, config_file: Path, folder: Path) -> Review:
    """Compare two states, and write the review."""
    from reportgen.review.states import open_states

    outputs = _check_outputs(folder, config_file)
    with show_progress() as advance:
        before, after = (name and _unpack(name) for name in (base, head))
        states = open_states(before, after, config_file, progress=advance, warn=warn)
    from reportgen.core.errors import make_error
    from reportgen.review.compare import compare_reports
    from reportgen.review.model import write_review
    from reportgen.review.page import write_page
    from reportgen.site.replacing.records import check_file, record_file

    try:
        found = compare_reports(*states)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        origins = [one.origin for one in states if one.drafted is None and one.origin.built]
        if not origins:
            raise
        message = f"this is no report.json of reportgen ({error!r})"
        raise make_error(origins[0].name, message, "Build the site again with this version") from error
    contents = {"review.json": write_review(found), "review.html": write_page(found)}
    for name, output in outputs.items():
        check_file(output)  # somebody may have written it meanwhile
        _write(output, contents[name].encode())
        record_file(output)
    return found


def _unpack(name: str) -> str:
    """Unpack the state that a name stands for, if it is an archive; returns the folder then."""
    if not name.endswith(".zip"):
        return name
    from reportgen.archive.unpacking import unpack_for_review

    return str(unpack_for_review(Path(name)))


def start_comparison(
    base: str, config_file: Path, progress: Callable[[int, int], None], report_line: Callable[[str], object]
) -> Callable[[Report | None], Additions]:
    """Open the state that a site is compared with, and return what finds the additions to its report.

    That is called with the report, or None if it is to be drafted; ``report_line`` then gets the most
    important changes.
    """
    from reportgen.review.compare import compare_reports
    from reportgen.review.page import make_additions
    from reportgen.review.states import open_base, open_working_tree

    before = open_base(_unpack(base), config_file, progress=progress, warn=warn)

    def compare(report: Report | None) -> Additions:
        after = open_working_tree(config_file, report, progress=progress)
        additions = make_additions(compare_reports(before, after), after)
        report_line(f"Since {additions.name}: {additions.front['verdict']}")
        return additions

    return compare


def _write_comment(found: Review, most: int, around: CommentContext) -> str:
    from reportgen.review.comment import write_comment

    try:
        return write_comment(found, most_characters=most, surroundings=around)
    except ValueError as error:
        raise click.UsageError(f"--link or --picture-base: {error}.") from None


def _print_review(found: Review, text: str, form: str, config_file: Path) -> None:
    from reportgen.review.comment import write_annotations

    if form == "github":
        from reportgen.review.states import add_to_summary, find_folders

        folder, pages = find_folders(config_file)
        click.echo(write_annotations(found, folder=folder, pages=pages), nl=False)
        add_to_summary(text)
    elif form == "text":
        from reportgen.review.document import make_document
        from reportgen.review.text import list_lines

        for line in list_lines(make_document(found)):
            print_line(line)
    elif form == "markdown":
        click.echo(text, nl=False)


def _draw_pictures(found: Review, folder: Path, most: int) -> None:
    from reportgen.review.images import draw_pictures
    from reportgen.site.replacing.locations import Output

    for name, content in draw_pictures(found, most):
        output = Output(folder / name, Path.cwd(), "--pictures")
        output.check_location()
        _write(output, content)
        print_line(str(output.path), err=True)


def _read_review(name: str | None, head: str | None) -> Review:
    """Read the review that a file or standard input has; it may come from anybody."""
    from reportgen.core.errors import make_error
    from reportgen.review.model import MOST_BYTES, read_review

    if name is None or head is not None:
        raise click.UsageError("--read takes one review.json, and no HEAD.")
    content = click.File("rb").convert(name, None, click.get_current_context()).read(MOST_BYTES + 1)
    try:
        return read_review(content)
    except ValueError:
        step = 'Make one with "reportgen review", of the same version as this'
        raise make_error(name, "this is not a review of format 1", step) from None


def _write(output: Output, content: bytes) -> None:
    """Write a file whole or not at all, with its folder."""
    from reportgen.core.cache import replace_file
    from reportgen.core.errors import ReportError, diagnose_disk_error

    try:
        replace_file(str(output.path), content)
    except OSError as error:
        problem = diagnose_disk_error(error, str(output.path), "the review cannot be written")
        raise ReportError(problem) from error


def _is_met(review: Review, condition: str) -> bool:
    """Whether a change fails on ``flips``, ``worse`` or ``any``; nothing fails on ``never``.

    A reported value that was edited counts like a flip.

    What flipped is not known where there is no report to compare with.
    """
    flips = review.base.built and any(one.is_broken for one in review.statements)
    flips = flips or review.reported > 0
    worse = flips or review.counts.worse > 0
    return {"flips": flips, "worse": worse, "any": not review.is_empty, "never": False}[condition]


def _check_outputs(folder: Path, config_file: Path) -> dict[str, Output]:
    """Return the files of a review by name; raise a ReportError if one may not be written."""
    from reportgen.settings.loading import find_input_folders
    from reportgen.site.replacing.locations import Output
    from reportgen.site.replacing.records import check_file

    # The file need not exist.
    root = config_file.resolve().parent if config_file.is_file() else Path.cwd()
    inputs = find_input_folders(config_file)
    outputs = {name: Output(folder / name, root, "--out", inputs) for name in ("review.json", "review.html")}
    for output in outputs.values():
        check_file(output)
    return outputs
