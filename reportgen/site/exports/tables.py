"""Exports for spreadsheets, papers and model repositories: CSV, LaTeX, and the Hub's ``.eval_results``."""

from __future__ import annotations

import csv
import io
import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.words import escape_formula
from reportgen.settings.inputs import get_settings_file
from reportgen.settings.yaml_tree import write_yaml
from reportgen.site.citation import LATEX
from reportgen.site.exports.results import choose_first, choose_whole, find_models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.site.citation import CitedReport
    from reportgen.site.exports.results import Result

_COLUMNS = (
    *("series", "benchmark", "metric", "score", "low", "high", "level", "stderr"),
    *("problems", "samples", "runs", "step", "method", "reason", "sources", "figure"),
)


def write_csv(results: Sequence[Result], _cited: CitedReport) -> dict[str, str]:
    """Return one table of all scores: numbers in the unit of the data, empty for what is not known."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for one in results:
        value = one.estimate
        level = None if value.low is None else one.level
        numbers = (value.value, value.low, value.high, level, one.stderr)
        counts = (one.problems or None, one.samples or None, one.runs or None, one.step)
        sources = " + ".join(source.name for source in one.sources)
        words = map(escape_formula, (one.method, one.reason, sources, one.figure))
        names = map(escape_formula, (one.series, one.benchmark, one.metric))
        writer.writerow([*names, *numbers, *counts, *words])
    return {"results.csv": text.getvalue()}


def write_latex(results: Sequence[Result], _cited: CitedReport) -> dict[str, str]:
    r"""Return a ``tabular`` of series by benchmark and metric, of kernel commands alone, for ``\input``."""
    results = choose_whole(results)
    columns = list(dict.fromkeys((one.benchmark, one.metric) for one in results))
    cells: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for one in results:
        cells[one.series][one.benchmark, one.metric] = one.words

    def join(cells: Sequence[str]) -> str:
        return f"{' & '.join(cell.translate(LATEX).replace(chr(0x2212), '$-$') for cell in cells)} \\\\\n"

    rows = [join([name, *(own.get(column, "") for column in columns)]) for name, own in cells.items()]
    head = join(["", *(benchmark for benchmark, _ in columns)]) + join(["", *(name for _, name in columns)])
    note = "".join(f"% {one.series}, {one.benchmark}, {one.metric}: {one.describe()}\n" for one in results)
    begin = f"\\begin{{tabular}}{{l{'r' * len(columns)}}}\n\\hline\n"
    return {"results.tex": f"{note}{begin}{head}\\hline\n{''.join(rows)}\\hline\n\\end{{tabular}}\n"}


def write_eval_results(results: Sequence[Result], cited: CitedReport) -> dict[str, str]:
    """Return ``.eval_results`` of each model, as the Hugging Face Hub reads them from its repository.

    Of several metrics on a benchmark, the first counts. Raises a ReportError if the dataset or task of a
    benchmark, the model of a series or the address of the site is not known.
    """
    results = choose_first(results)
    models = find_models(results)
    _check_tasks(results, cited)
    files: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in results:
        hub = [source.settings.hub for source in one.sources]
        task = next(own[one.benchmark] for own in hub if one.benchmark in own)
        entry: dict[str, Any] = {
            "dataset": {"id": task.dataset, "task_id": task.task},
            "value": one.published,
            "date": one.protocol.get("date") or cited.date,
            "source": {"url": _make_address(cited.url, one), "name": cited.title},
            "evaluation_framework": one.protocol.get("harness"),
            "notes": f"{one.metric}: {one.describe()}",
        }
        known = {name: value for name, value in entry.items() if value not in ("", None)}
        files[models[one.series]].append(known)
    return {
        f"{model}/.eval_results/reportgen.yaml": "".join(map(_write_entry, entries))
        for model, entries in files.items()
    }


def _write_entry(entry: dict[str, Any]) -> str:
    """Write an entry of a list in YAML."""
    return f"- {textwrap.indent(write_yaml(entry), '  ')[2:]}"


def _check_tasks(results: Sequence[Result], cited: CitedReport) -> None:
    problems: dict[str, Diagnostic] = {}
    if not cited.url:
        place, step = SourceLocation("mkdocs.yml"), "Write site_url: in it"
        message = "the site has no address, so that no result can name its figure"
        problems[""] = Diagnostic(place, message, step, Stage.SETTINGS)
    for one in results:
        file = get_settings_file(one.sources[0])
        if not any(one.benchmark in source.settings.hub for source in one.sources):
            message = f'it does not say what "{one.benchmark}" is on the Hugging Face Hub'
            step = f'Write hub: {{"{one.benchmark}": {{dataset: organisation/name, task: name}}}}'
            problems[one.benchmark] = Diagnostic(SourceLocation(file), message, step, Stage.SETTINGS)
    if problems:
        raise ReportError(*problems.values())


def _make_address(url: str, one: Result) -> str:
    path = one.block.page.path.removesuffix("index.md").removesuffix("README.md")
    folder = f"{path.removesuffix('.md')}/" if path.endswith(".md") else path
    return f"{url.rstrip('/')}/{quote(folder)}#{one.block.block.id}"
