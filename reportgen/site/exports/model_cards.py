"""Results in the repositories of models on the Hugging Face Hub, ``.eval_results``: written, and compared.

Source: https://huggingface.co/docs/hub/eval-results.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from reportgen.core.errors import (
    Diagnostic,
    Diagnostics,
    ReportError,
    Severity,
    SourceLocation,
    Stage,
    StatementRule,
)
from reportgen.narrative.documents import is_card
from reportgen.settings.inputs import get_settings_file
from reportgen.settings.yaml_tree import Origin, parse, write_yaml
from reportgen.site.exports.results import choose_first, collect_results, find_models

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.draft.report import Report
    from reportgen.settings.yaml_tree import Node
    from reportgen.site.citation import CitedReport
    from reportgen.site.exports.results import Result

_Keys: TypeAlias = tuple[str, str, str]


def compare_cards(report: Report, root: Path) -> Iterator[Diagnostic]:
    """Yield an error for each result in a card that is not that of the report.

    A result is one of the report if ``hub:`` has its dataset and task, and ``models:`` the model whose folder
    is around ``.eval_results``. Its value may be rounded.
    """
    cards = [page for page in report.documents if is_card(page.file)]
    if not cards:
        return
    known = {key: one for one in choose_first(collect_results(report, root, ())) for key in _list_keys(one)}
    for card in cards:
        problems = Diagnostics()
        with problems.collecting():
            tree = parse(card.text, Origin(card.file))
            problems.add(_compare_entries(tree, (root / card.file).resolve().parent.parent.name, known))
        yield from problems.in_order()


def _list_keys(one: Result) -> Iterator[_Keys]:
    """Yield the short name of the model of a score with the dataset and task of its benchmark."""
    models = {name: model for source in one.sources for name, model in source.settings.models.items()}
    for source in one.sources:
        task = source.settings.hub.get(one.benchmark)
        if task and one.series in models:
            yield models[one.series].rpartition("/")[2], task.dataset, task.task


def _compare_entries(tree: Node | None, model: str, known: Mapping[_Keys, Result]) -> Iterator[Diagnostic]:
    for entry in tree.items if tree else ():
        dataset, value = (entry.entries.get(name) for name in ("dataset", "value"))
        if dataset is None or value is None:
            continue
        names = (dataset.entries.get(name) for name in ("id", "task_id"))
        place, task = (name.text if name else "" for name in names)
        one = known.get((model, place, task))
        if one is None or _is_rounded(one.published, value.text):
            continue
        words = f"{one.metric} of {one.series} on {one.benchmark} is {one.words}"
        message, step = (
            f"{value.text} is not the report's value: {words}",
            f"Write value: {one.published:.15g}",
        )
        yield Diagnostic(
            value.place, message, step, Stage.NARRATIVE, Severity.ERROR, rule=StatementRule.FAILS
        )


def _is_rounded(value: float, text: str) -> bool:
    """Return whether a number as it is written is ``value`` to its last digit."""
    try:
        written = float(text)
    except ValueError:
        return False
    places = len(text.partition(".")[2])
    return abs(written - value) <= 0.5 * 10.0**-places * (1 + 1e-9)


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
