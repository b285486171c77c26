"""``reportgen export``: the scores of a report as other programs read them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from reportgen.cli.envelope import Answer
from reportgen.cli.output import (
    cache_dir_option,
    config_option,
    json_option,
    print_line,
    report_problems,
    show_progress,
    warn,
)
from reportgen.core.terminal import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reportgen.site.citation import CitedReport
    from reportgen.site.exports.results import Result

_FORMS: Final = ("eee", "hf", "csv", "latex", "markdown")


@click.command()
@click.argument("sources", metavar="[SOURCE...]", nargs=-1)
@click.option(
    "--as",
    "form",
    type=click.Choice(_FORMS),
    required=True,
    help="Every Eval Ever, .eval_results of the Hugging Face Hub, one table, a tabular, or ranks.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    metavar="DIR",
    help="The folder to write into; files of the same name are replaced.",
)
@click.option("-m", "--metric", metavar="NAME", help="Only scores of this metric.")
@config_option
@json_option
@cache_dir_option
def export(
    sources: tuple[str, ...], form: str, folder: Path, metric: str | None, config_file: Path
) -> Answer:
    """Write the scores that pages show, for other programs.

    With SOURCE, only scores of these. Each has the estimate, the interval and its method as its figure shows
    them. Answers are written without prompts and texts.

    \b
    Examples:
      reportgen export --as csv --to results
      reportgen export model-comparison --as eee --to every-eval-ever
      reportgen export model-comparison --metric mean --as hf --to models
      reportgen export --as latex --to paper
    """
    from reportgen.archive.archiving import read_cited_report
    from reportgen.cli.results import ExportResult
    from reportgen.core.words import format_count
    from reportgen.site.checking import draft_report
    from reportgen.site.exports.results import collect_results, write_files

    with report_problems("nothing was written"):
        cited = read_cited_report(config_file)
        with show_progress() as advance:
            report, warnings = draft_report(config_file, progress=advance)
        results = collect_results(report, config_file.resolve().parent, sources, metric)
        files = _get_writer(form)(results, cited)
        write_files(folder, files)
    for warning in warnings:
        warn(warning)
    written = [str(folder / name) for name in files]
    for name in written:
        print_line(f"  {clean_text(name)}")
    print_line(format_count(len(files), "file"))
    return Answer(ExportResult(tuple(written)))


def _get_writer(form: str) -> Callable[[Sequence[Result], CitedReport], Mapping[str, str]]:
    from reportgen.site.exports import every_eval_ever, model_cards, results

    return {
        "eee": every_eval_ever.write_every_eval_ever,
        "hf": model_cards.write_eval_results,
        "csv": results.write_csv,
        "latex": results.write_latex,
        "markdown": results.write_markdown,
    }[form]
