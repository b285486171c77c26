"""Results in ``.eval_results`` files of model repositories, compared with the scores that a report shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from reportgen.core.errors import Diagnostic, Diagnostics, Severity, Stage, StatementRule
from reportgen.narrative.documents import is_card
from reportgen.settings.yaml_tree import Origin, parse
from reportgen.site.exports.results import choose_first, collect_results

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reportgen.draft.report import Report
    from reportgen.settings.yaml_tree import Node
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
