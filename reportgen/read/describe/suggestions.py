"""Keys of ``source.yml`` that state what was guessed of a source, and change nothing else."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain, product
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.errors import Diagnostics
from reportgen.formats.cells import NUMERIC, Kind
from reportgen.formats.engine import get_engine
from reportgen.read.runs.file_names import detect_numbered_runs
from reportgen.read.runs.imported import choose_metrics, list_scored_runs, list_scores
from reportgen.read.runs.labels import Candidate, find_differences, split_seed
from reportgen.read.runs.names import name_runs
from reportgen.read.runs.stored import StoredRun
from reportgen.read.tables.check import explain_errors
from reportgen.read.tables.columns import detect_totals
from reportgen.read.tables.rows import select_files, select_run, select_series

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reportgen.core.errors import SourceLocation
    from reportgen.core.statements import Description
    from reportgen.read.runs.file_names import NumberedRuns
    from reportgen.read.runs.ingest import ImportedSource
    from reportgen.read.tables.layout import Layout
    from reportgen.read.tables.rows import Rows
    from reportgen.settings.inputs import Source
    from reportgen.settings.source import SourceSettings


# What a step is called more often than other columns are, the likeliest first.
_STEPS: Final = (
    *("steps?", "iters?|iterations?", "epochs?", "timesteps?", "times?|timestamps?", "dates?|days?"),
    *("tokens?", "samples?|examples?", "rounds?", "generations?|gens?"),
)
# Settings, and what tells when a run was made: neither goes on within a run.
_OTHERS: Final = re.compile(
    r"max|min|warmup|save|log|logging|eval|every|per|interval|freq|limit|patience|budget|size|horizon"
    r"|cfg|config|args|hparams|params|settings?|created?|creation|started?|start|begin|end|ended|finish(ed)?"
    r"|modified|updated|submitted|queued|launched|runtime|duration|latency",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[A-Za-z][a-z]*|[A-Z]+(?![a-z])")
_MOST: Final = 12
# A step may have a row for training and one for validation, and runs in one file begin anew now and then.
_LEAST_DIFFERENT, _MOST_BACK = 0.25, 0.05
# Of each column whether its values differ within each run, and go up.
_STATEMENT: Final = """
WITH rows AS ({rows}), ahead AS (
    SELECT series, run, {gaps} FROM rows
), runs AS (
    SELECT series, run, {counts} FROM ahead GROUP BY series, run
)
SELECT {sums} FROM runs
"""


def find_likely_steps(root: Path, source: Source, layout: Layout) -> list[str]:
    """Columns of a table without a step that may be it, the likeliest first; none where nothing says so.

    A column counts only if it is called as steps are, not as settings or as dates of runs are, and its values
    differ and go up within every run that has several rows.
    """
    times = [name for name, kind in layout.kinds.items() if kind is Kind.TIME]
    numbers = [name for name, kind in layout.kinds.items() if kind in NUMERIC]
    words = {name: [word.casefold() for word in _WORD.findall(name)] for name in (*times, *numbers)}
    called = [
        name
        for part in _STEPS
        for name, parts in words.items()
        if any(re.fullmatch(part, word) for word in parts)
    ]
    called += times
    fitting = [name for name in dict.fromkeys(called) if not any(map(_OTHERS.fullmatch, words[name]))]
    with Diagnostics().collecting():
        return _keep_rising(root, source, layout, fitting[:_MOST])
    return []


def _keep_rising(root: Path, source: Source, layout: Layout, names: Sequence[str]) -> list[str]:
    """Those of the columns that go up within every run."""
    if not names:
        return []

    def list_cells(rows: Rows) -> dict[str, str]:
        cells = {"series": select_series(rows, layout, {}), "run": select_run(rows, layout)}
        for index, name in enumerate(names):
            time = layout.kinds[name] is Kind.TIME
            cells[f"c{index}"] = rows.as_time(name) if time else rows.as_number(name)
        return {**cells, "place": rows.get_position()}

    def join(template: str) -> str:
        return ", ".join(template.format(index) for index in range(len(names)))

    statement = _STATEMENT.format(
        rows=select_files(root, layout, list_cells),
        gaps=join("c{0}, c{0} - lag(c{0}) OVER (PARTITION BY series, run ORDER BY place) AS g{0}"),
        counts=join(
            "count(DISTINCT c{0}) AS d{0}, count(c{0}) AS n{0}, count_if(g{0} < 0) AS b{0}",
        ),
        sums=join(
            f"bool_and(d{{0}} > 1 AND d{{0}} >= {_LEAST_DIFFERENT} * n{{0}}) FILTER (n{{0}} > 1), "
            f"sum(b{{0}}) <= {_MOST_BACK} * sum(n{{0}})"
        ),
    )
    with explain_errors(root, source.location, list):
        (found,) = get_engine().fetch_rows(statement)
    pairs = zip(names, found[::2], found[1::2], strict=True)
    return [name for name, differing, forward in pairs if differing and forward]


# What can name runs, the plainest first.
_SERIES: Final[tuple[Any, ...]] = ("name", "folder", "group", "model", ("folder", "name"), ("group", "name"))
_SEEDS: Final = (None, "seed", "name", "folder")
# How series are found where only names or paths tell them.
_PATHS: Final = frozenset(("their names", "their folders", "folders and names", "the names of files"))


def suggest_for_runs(settings: SourceSettings, imported: ImportedSource) -> dict[str, object]:
    """Keys that say of runs and evaluations what was guessed."""
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

    ``steps`` are columns that may be the step, the likeliest first; ``place`` is that of the settings.
    """
    if layout.spread:
        # Keys that settle series and seeds which the names of a chart's runs tell.
        runs = layout.spread.values()
        if settings.series_from or all(one.series == one.run for one in runs):
            return {}
        if all(split_seed(one.run) != (one.series, one.seed) for one in runs):
            return {}
        seeds = {"seed_from": "name"} if any(one.seed for one in runs) else {}
        return {"series_from": "name", **seeds}
    if layout.outcomes or layout.totals or layout.roles.step is not None:
        return {}
    with Diagnostics().collecting():
        totals = settings.model_copy(update={"form": "totals"})
        found = detect_totals(layout.kinds, layout.roles, totals, place) if settings.form is None else None
        if found and found.benchmark and layout.kinds.get(found.score) in NUMERIC:
            return {"form": "totals"}
    taken = {name: one for name, one in settings.columns.model_dump().items() if one is not None}
    return {"columns": {**taken, "step": steps[0]}} if steps else {}


def suggest_repetitions(settings: SourceSettings, description: Description) -> dict[str, object]:
    """Keys that make series that only a number in their paths tells apart runs of fewer series.

    There are none unless the series are called as its runs, files or folders.
    """
    chosen = settings.files or settings.series_from or description.seed_by
    if chosen or description.kind != "measurements" or description.series_by not in _PATHS:
        return {}
    runs = description.counts.runs
    paths = list(dict.fromkeys(run.path for run in runs if run.path)) or list(description.read)
    if len(paths) != len(runs):
        return {}
    below = [path.removeprefix(f"{description.path}/") for path in paths]
    found = detect_numbered_runs(below, settings.title or description.name)
    if not found or found.series >= len(description.series) or not _is_repeated(found, below, description):
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
        settled = settings.model_copy(update={"series_from": series, "seed_from": seed})
        tried = name_runs(candidates, settled, "")
        if tried.names == naming.names and not tried.guessed:
            return {"series_from": series, **({"seed_from": seed} if seed else {})}
    return {}


def _suggest_metrics(settings: SourceSettings, imported: ImportedSource) -> dict[str, object]:
    """The key that says which of several scores is taken."""
    runs = list_scored_runs(imported.runs)
    if settings.metrics or not any(len(list_scores(run)) > 1 for run in runs):
        return {}
    chosen = choose_metrics(runs, settings)
    taken = tuple(dict.fromkeys(chain.from_iterable(chosen.values())))
    tried = settings.model_copy(update={"metrics": taken})
    return {"metrics": list(taken)} if choose_metrics(runs, tried) == chosen else {}
