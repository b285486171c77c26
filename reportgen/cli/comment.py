"""``reportgen comment``: a review as a comment for a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reportgen.cli.output import report_problems

if TYPE_CHECKING:
    from typing import BinaryIO

# As in reportgen.review, which is imported when the command runs.
_FEWEST, _MOST = 4_000, 60_000


@click.command()
@click.argument("review", type=click.File("rb"), metavar="REVIEW.JSON")
@click.option(
    "--max-chars",
    type=click.IntRange(min=_FEWEST),
    default=_MOST,
    show_default=True,
    help="Characters that the comment may have; what does not fit is left out.",
)
@click.option("--link", metavar="URL", default="", help="Where review.html can be read.")
@click.option("--picture-base", metavar="URL", default="", help="The folder with pictures of figures.")
@click.option(
    "-f",
    "--config-file",
    default="mkdocs.yml",
    show_default=True,
    help="The report's mkdocs.yml as the repository names it; it need not exist. The comment's last line"
    " tells reports apart by it.",
)
def comment(review: BinaryIO, max_chars: int, link: str, picture_base: str, config_file: str) -> None:
    """Print REVIEW.JSON, which "reportgen review" wrote, as a comment in Markdown.

    The file may come from anybody: it is checked against its schema, and every name and sentence in it is
    quoted, so that none becomes a link, a mention, a picture or markup. Nothing else is read, and no network
    is used. The comment ends with a line by which it can be found again. - is standard input.

    \b
    Examples:
      reportgen comment review/review.json
      reportgen comment review/review.json --link https://example.org/review.html > comment.md
    """
    from reportgen.core.errors import make_error
    from reportgen.review.comment import Surroundings, write_comment
    from reportgen.review.model import MOST_BYTES, read_review

    with report_problems("nothing was written"):
        try:
            value = read_review(review.read(MOST_BYTES + 1))
        except ValueError:
            step = 'Make one with "reportgen review", of the same version as this'
            raise make_error(review.name, "this is no review of format 1", step) from None
        around = Surroundings(config_file, link, picture_base)
        try:
            text = write_comment(value, most_characters=max_chars, surroundings=around)
        except ValueError as error:
            raise click.UsageError(f"--link or --picture-base: {error}.") from None
        click.echo(text, nl=False)
