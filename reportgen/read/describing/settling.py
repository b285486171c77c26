"""Keys of ``source.yml`` that settle what was guessed of a source, and change nothing else."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain, product
from typing import TYPE_CHECKING, Any, Final

from reportgen.errors import Problems
from reportgen.read.cells import NUMERIC
from reportgen.read.runs.imported_parts import choose_metrics, list_scored_runs, list_scores
from reportgen.read.runs.kept_units import StoredRun
from reportgen.read.runs.numbered_runs import detect_numbered_runs
from reportgen.read.runs.run_labels import split_seed
from reportgen.read.runs.run_names import name_runs
from reportgen.read.runs.run_repeats import find_differences
from reportgen.read.runs.run_settings import Candidate
from reportgen.read.tabular.total_columns import detect_totals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.description import Description
    from reportgen.errors import SourceLocation
    from reportgen.read.layout import Layout
    from reportgen.read.runs.importing import ImportedSource
    from reportgen.read.runs.numbered_runs import NumberedRuns
    from reportgen.read.runs.run_names import Naming
    from reportgen.settings.source import SourceSettings

# What can name runs, the plainest first.
_SERIES: Final[tuple[Any, ...]] = ("name", "folder", "group", "model", ("folder", "name"), ("group", "name"))
_SEEDS: Final = (None, "seed", "name", "folder")
# How series are found where only names or paths tell them.
_PATHS: Final = frozenset(("their names", "their folders", "folders and names", "the names of files"))


def suggest_for_runs(settings: SourceSettings, imported: ImportedSource) -> dict[str, object]:
    """Keys that say of runs and evaluations what was guessed.

    Args:
        settings: what ``source.yml`` says so far.
        imported: what was read.
    """
    suggested: dict[str, object] = {}
    if imported.found.left_out and settings.format is None:
        suggested["format"] = imported.found.units[0].format
    if imported.runs.naming.guessed:
        suggested |= _suggest_naming(settings, imported)
    return suggested | _suggest_metrics(settings, imported)


def suggest_for_table(
    layout: Layout, settings: SourceSettings, place: SourceLocation, steps: Sequence[str]
) -> dict[str, object]:
    """Keys that say of a table of measurements what its names do not tell: that it holds totals, or its step.

    Args:
        layout: the table.
        settings: what ``source.yml`` says so far.
        place: of the settings.
        steps: columns that may be the step, the likeliest first.
    """
    if layout.spread:
        return _suggest_for_chart(layout, settings)
    if layout.outcomes or layout.totals or layout.roles.step is not None:
        return {}
    with Problems().collecting():
        totals = settings.model_copy(update={"form": "totals"})
        found = detect_totals(layout.kinds, layout.roles, totals, place) if settings.form is None else None
        if found and found.benchmark and layout.kinds.get(found.score) in NUMERIC:
            return {"form": "totals"}
    taken = {name: one for name, one in settings.columns.model_dump().items() if one is not None}
    return {"columns": {**taken, "step": steps[0]}} if steps else {}


def _suggest_for_chart(layout: Layout, settings: SourceSettings) -> dict[str, object]:
    """Keys that settle series and seeds which the names of a chart's runs told."""
    runs = layout.spread.values()
    if settings.series_from or all(split_seed(one.run) != (one.series, one.seed) for one in runs):
        return {}
    if all(one.series == one.run for one in runs):
        return {}
    seeds = {"seed_from": "name"} if any(one.seed for one in runs) else {}
    return {"series_from": "name", **seeds}


def suggest_repetitions(settings: SourceSettings, description: Description) -> dict[str, object]:
    """Keys that make series that only a number in their paths tells apart runs of fewer series.

    Args:
        settings: what ``source.yml`` says so far.
        description: the source; empty keys unless its series are called as its runs, files or folders.
    """
    chosen = (
        settings.files or settings.series_from or description.seed_by or description.kind != "measurements"
    )
    if chosen or description.series_by not in _PATHS:
        return {}
    paths = list(dict.fromkeys(run.path for run in description.counts.runs if run.path)) or list(
        description.read
    )
    if len(paths) != len(description.counts.runs):
        return {}
    below = [path.removeprefix(f"{description.path}/") for path in paths]
    found = detect_numbered_runs(below, settings.title or description.name)
    if (
        found is None
        or found.series >= len(description.series)
        or not _is_repeated(found, below, description)
    ):
        return {}
    return {"files": found.files, **({"rename": found.rename} if found.rename else {})}


def _is_repeated(found: NumberedRuns, paths: Sequence[str], description: Description) -> bool:
    """Whether no settings differ between the runs that would be one series."""
    runs = [StoredRun(run.path, run.run, config=run.config) for run in description.counts.runs]
    known = find_differences([Candidate(run, {}, path, path) for run, path in zip(runs, paths, strict=True)])
    together: dict[str, list[int]] = defaultdict(list)
    for index, path in enumerate(paths):
        together[match["series"] if (match := re.fullmatch(found.files, path)) else ""].append(index)
    return all(map(known.is_repeated, together.values()))


def _suggest_naming(settings: SourceSettings, imported: ImportedSource) -> dict[str, object]:
    """Keys by which all runs have the names that they have now, without a guess; none where none are."""
    candidates, naming = imported.runs.candidates, imported.runs.naming
    for series, seed in product((*_SERIES, *((naming.keys,) if naming.keys else ())), _SEEDS):
        tried = settings.model_copy(update={"series_from": series, "seed_from": seed})
        if _same(name_runs(candidates, tried, ""), naming):
            return {"series_from": series, **({"seed_from": seed} if seed else {})}
    return {}


def _same(tried: Naming, naming: Naming) -> bool:
    return tried.names == naming.names and not tried.guessed


def _suggest_metrics(settings: SourceSettings, imported: ImportedSource) -> dict[str, object]:
    """The key that says which of several scores is taken."""
    runs = list_scored_runs(imported.runs)
    if settings.metrics or not any(len(list_scores(run)) > 1 for run in runs):
        return {}
    chosen = choose_metrics(runs, settings)
    taken = tuple(dict.fromkeys(chain.from_iterable(chosen.values())))
    tried = settings.model_copy(update={"metrics": taken})
    return {"metrics": list(taken)} if choose_metrics(runs, tried) == chosen else {}
