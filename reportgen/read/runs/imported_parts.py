"""Parts of units as files of a source, and which of the scores in them are taken."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING

from reportgen.read.find import locate_file
from reportgen.read.layout import FileLayout
from reportgen.read.runs.tidy_parquet import CODE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.read.cells import Text
    from reportgen.read.find import Location
    from reportgen.read.runs.imported_runs import ImportedRuns, ImportedUnit
    from reportgen.read.runs.kept_units import StoredPart, StoredRun
    from reportgen.settings.source import SourceSettings


def make_file(
    location: Location,
    unit: ImportedUnit,
    part: StoredPart,
    copy: str,
    given: tuple[tuple[str, tuple[Text, ...]], ...],
) -> FileLayout:
    """A part of a unit, with columns that have one value for all of it or one for each code in it."""
    own = [(name, kind) for name, kind in zip(part.columns, part.types, strict=True) if name != CODE]
    return FileLayout(
        path=locate_file(unit.unit.path, location.root).file,
        format="parquet",
        compression="",
        columns=tuple(name for name, _ in own),
        types=tuple(kind for _, kind in own),
        copy=copy,
        given=given,
        code=CODE if part.run is None else "",
    )


def choose_metrics(runs: Iterable[StoredRun], settings: SourceSettings) -> dict[str, tuple[str, ...]]:
    """Which scores are taken on each benchmark, the same of every evaluation: series are compared by them.

    They are those that ``metrics:`` names or, where the benchmark has none of these, the first that all of
    its evaluations have; without such a one the first of all. Answers that nobody graded have a score without
    a name, which counts only where no evaluation has another.
    """
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for run in runs:
        found[run.benchmark].append(list_scores(run))
    return {benchmark: _chosen(scores, settings) for benchmark, scores in found.items()}


def _chosen(scores: Sequence[tuple[str, ...]], settings: SourceSettings) -> tuple[str, ...]:
    scores = [one for one in scores if any(one)] or scores
    there = tuple(dict.fromkeys(chain.from_iterable(scores)))
    named = tuple(name for name in there if name in (settings.metrics or ()))
    shared = tuple(name for name in there if all(name in one for one in scores))
    return named or shared[:1] or there[:1]


def list_scores(run: StoredRun) -> tuple[str, ...]:
    """The names of an evaluation's scores: of its answers or, where it has none, of its totals."""
    return tuple(run.metrics) or tuple(dict.fromkeys(total.metric for total in run.totals))


def list_scored_runs(runs: ImportedRuns) -> list[StoredRun]:
    """The evaluations that are read: those with answers or, where none has any, those with totals."""
    found = [one.run for one in runs.candidates if one.run.evaluated]
    return [run for run in found if run.metrics] or [run for run in found if run.totals]


def name_benchmark(run: StoredRun, metric: str, chosen: Mapping[str, tuple[str, ...]]) -> str | None:
    """What a benchmark is called by one of its scores; None where that score is not taken."""
    taken = chosen.get(run.benchmark, ())
    if metric not in taken:
        return None
    if len(taken) < 2:  # noqa: PLR2004 - the only one needs no name
        return run.benchmark
    return f"{run.benchmark} ({metric})" if run.benchmark else metric


def list_benchmarks(files: Iterable[FileLayout], settings: SourceSettings) -> tuple[str, ...]:
    """The benchmarks of evaluations, those that ``filter:`` leaves, in order of first appearance."""
    filter_cell = settings.filter.get("benchmark")
    selected = (
        None
        if filter_cell is None
        else {str(cell) for cell in (filter_cell if isinstance(filter_cell, tuple) else (filter_cell,))}
    )
    named = (name for file in files for name in file.get_given("benchmark") or () if name)
    return tuple(dict.fromkeys(name for name in named if selected is None or name in selected))


def map_score_names(runs: Iterable[StoredRun], settings: SourceSettings) -> dict[str, str]:
    """Benchmark to its score where one is taken; of several, each is in the name of its benchmark."""
    chosen = choose_metrics(runs, settings)
    return {name: taken[0] for name, taken in chosen.items() if len(taken) == 1 and taken[0]}
