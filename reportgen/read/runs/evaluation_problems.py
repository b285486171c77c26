"""What to tell of imported evaluations: which of their scores are taken, and which are left out."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reportgen.errors import Problem, SourceLocation, Stage
from reportgen.read.runs.imported_parts import choose_metrics, list_scored_runs, list_scores
from reportgen.read.wording import list_names
from reportgen.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.read.find import Location
    from reportgen.read.runs.imported_runs import ImportedRuns
    from reportgen.read.runs.kept_units import StoredRun
    from reportgen.settings.source import SourceSettings


def report_evaluations(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Iterator[Problem]:
    """Evaluations of which not everything is read."""
    answered = any(run.metrics for run in list_scored_runs(runs))
    for candidate in runs.candidates:
        run = candidate.run
        if not run.evaluated:
            continue
        of = _name_evaluation(run)
        if not run.finished:
            message = f"the evaluation of {of} did not finish; what is there is read"
            yield Problem(
                SourceLocation(run.path), message, "Leave it out with files:, or let it finish", Stage.DATA
            )
        if answered and run.totals and not run.metrics:
            message = f"of {of} there are totals only; they are not read, since others here have answers"
            advice = "Let the harness write its samples, too, or make these a source of their own"
            yield Problem(SourceLocation(run.path), message, advice, Stage.DATA)
    yield from _report_scores(location, settings, runs)


def _name_evaluation(run: StoredRun) -> str:
    """What is evaluated on what; of an evaluation that says neither, its file."""
    return " on ".join(filter(None, (run.model or run.name, run.benchmark))) or PurePosixPath(run.path).name


def _report_scores(location: Location, settings: SourceSettings, runs: ImportedRuns) -> Iterator[Problem]:
    """Scores that are there and not taken, and evaluations that lack those that are."""
    scored = list_scored_runs(runs)
    chosen = choose_metrics(scored, settings)
    for run in scored:
        taken, there = chosen[run.benchmark], list_scores(run)
        if not set(taken) & set(there):
            of = _name_evaluation(run)
            message = f"of {of} there is no score by {list_names(taken)}: it is left out"
            advice = f"It has {list_names(there)}; say with metrics: which are taken"
            if not any(there):
                message = f"the answers of {of} are not graded: they are left out, since others on it are"
                advice = "Grade them, or leave the file out with files:"
            yield Problem(SourceLocation(run.path), message, advice, Stage.DATA)
    if settings.metrics:
        return
    several = Counter(
        (list_scores(run), chosen[run.benchmark][0]) for run in scored if len(list_scores(run)) > 1
    )
    for (there, first), count in several.items():
        has = "has" if count == 1 else "have"
        message = f"{format_count(count, 'evaluation')} {has} scores by {list_names(there)}; {first} is taken"
        other = next(name for name in there if name != first)
        yield Problem(location.place, message, f"Choose others with metrics: [{other}]", Stage.DATA)
