"""Runs and evaluations as values: what the reader of each log or results format returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.core.model import FloatArray


Setting: TypeAlias = str | int | float | bool
"""A value of a run's configuration."""


class UnreadableError(Exception):
    """A file that is not of its format, or goes beyond a limit; the user reads it with its location.

    Message and next step are sentences without a full stop, the next step may be empty; lines count from 1.
    """

    def __init__(self, path: Path, message: str, next_step: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.path, self.message, self.next_step, self.line = path, message, next_step, line


@dataclass(frozen=True, slots=True)
class Unit:
    """Files that are read together: a run's folder, a store, a results file.

    Attributes:
        format: the name of the format, as in ``format:`` of a source.
        path: the folder or file that a user would name.
        files: every file that is read, in a stable order.
    """

    format: str
    path: Path
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something irregular in a file and how it was handled: a sentence with a count, without a full stop.

    Lines count from 1.
    """

    path: Path
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """One metric of one run in the order of writing: arrays of shape (n,).

    Attributes:
        steps: NaN where a value has no step.
        values: as written; NaN and infinities are still in.
        times: milliseconds since 1970 UTC; None where the format has none.
    """

    steps: FloatArray
    values: FloatArray
    times: FloatArray | None = None


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """One run as its logger wrote it.

    Attributes:
        path: its file or folder.
        name: what its logger calls it; empty where it has no name.
        id: its logger's id, which a resumed run shares with its beginning; empty without one.
        group: experiment, project or group; empty without one.
        config: hyperparameters and settings, nested names joined by dots.
        metrics: by the logger's own name.
        step_name: what a step is called: ``step``, ``_step``, ``epoch``.
        findings: what was irregular.
    """

    path: Path
    name: str
    id: str
    group: str
    config: Mapping[str, Setting]
    metrics: Mapping[str, Points]
    step_name: str = "step"
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """A score that a harness reports for a whole benchmark.

    Attributes:
        metric: its name, with the filter or scorer that it belongs to: ``acc``, ``exact_match (strict)``.
        value, stderr: as given; ``stderr`` is None where there is none.
        n: number of problems; None where unknown.
        higher_is_better: None where unknown.
    """

    metric: str
    value: float
    stderr: float | None = None
    n: int | None = None
    higher_is_better: bool | None = None


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer of a model to one problem.

    Attributes:
        problem: what identifies it in the benchmark: an id, otherwise a number.
        score: None where the harness has none.
        sample: the epoch or repeat.
        metric: the scorer, metric or filter that gave the score.
        answer, gold: as short texts; None where unknown.
        tokens, seconds: of the answer; None where unknown.
        slices: what problems can be grouped by, such as ``subject``.
    """

    problem: str
    score: float | None
    sample: str = ""
    metric: str = ""
    answer: str | None = None
    gold: str | None = None
    tokens: float | None = None
    seconds: float | None = None
    slices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation: a model on a benchmark, as a harness wrote it.

    Attributes:
        path: its file or folder.
        model: what was evaluated.
        benchmark: task or benchmark.
        run: what distinguishes this evaluation from others of the same model: a date or id.
        seed: as written; None where unknown.
        protocol: how it was measured, in the keys of ``settings.source.Protocol`` where they fit.
        answers: per problem; empty where the harness has totals only.
        totals: for the whole benchmark.
        finished: False where the evaluation was cancelled or failed.
        findings: what was irregular.
    """

    path: Path
    model: str
    benchmark: str
    run: str
    seed: str | None
    protocol: Mapping[str, str]
    answers: tuple[ScoredAnswer, ...]
    totals: tuple[Total, ...]
    finished: bool = True
    findings: tuple[Finding, ...] = ()
