"""What to tell of imported evaluations: which of their scores are taken, and which are left out."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reportgen.errors import Place, Problem, Stage
from reportgen.read.runs.imported_parts import chosen_metrics, scored_runs, scores_of
from reportgen.read.wording import names
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.read.find import Location
    from reportgen.read.runs.imported_runs import ImportedRuns
    from reportgen.read.runs.kept_units import KeptRun
    from reportgen.settings.source import SourceSettings


def evaluation_problems(
    location: Location, settings: SourceSettings, runs: ImportedRuns
) -> Iterator[Problem]:
    """Evaluations of which not everything is read."""
    answered = any(run.metrics for run in scored_runs(runs))
    for candidate in runs.candidates:
        run = candidate.run
        if not run.evaluated:
            continue
        of = _named(run)
        if not run.finished:
            message = f"the evaluation of {of} did not finish; what is there is read"
            yield Problem(Place(run.path), message, "Leave it out with files:, or let it finish", Stage.DATA)
        if answered and run.totals and not run.metrics:
            message = f"of {of} there are totals only; they are not read, since others here have answers"
            advice = "Let the harness write its samples, too, or make these a source of their own"
            yield Problem(Place(run.path), message, advice, Stage.DATA)
    yield from _other_scores(location, settings, runs)


def _named(run: KeptRun) -> str:
    """What is evaluated on what; of an evaluation that says neither, its file."""
    return " on ".join(filter(None, (run.model or run.name, run.benchmark))) or PurePosixPath(run.path).name


def _other_scores(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Iterator[Problem]:
    """Scores that are there and not taken, and evaluations that lack those that are."""
    scored = scored_runs(runs)
    chosen = chosen_metrics(scored, settings)
    for run in scored:
        taken, there = chosen[run.benchmark], scores_of(run)
        if not set(taken) & set(there):
            of = _named(run)
            message = f"of {of} there is no score by {names(taken)}: it is left out"
            advice = f"It has {names(there)}; say with metrics: which are taken"
            if not any(there):
                message = f"the answers of {of} are not graded: they are left out, since others on it are"
                advice = "Grade them, or leave the file out with files:"
            yield Problem(Place(run.path), message, advice, Stage.DATA)
    if settings.metrics:
        return
    several = Counter((scores_of(run), chosen[run.benchmark][0]) for run in scored if len(scores_of(run)) > 1)
    for (there, first), count in several.items():
        has = "has" if count == 1 else "have"
        message = f"{counted(count, 'evaluation')} {has} scores by {names(there)}; {first} is taken"
        other = next(name for name in there if name != first)
        yield Problem(location.place, message, f"Choose others with metrics: [{other}]", Stage.DATA)
