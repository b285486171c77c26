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
    """Files that are read together: a run's folder, a store, a results file."""

    format: str  # as in ``format:`` of a source
    path: Path  # the folder or file that a user would name
    files: tuple[Path, ...]  # every file that is read, in a stable order


@dataclass(frozen=True, slots=True)
class Finding:
    """Something irregular in a file and how it was handled, without a full stop; lines count from 1."""

    path: Path
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Points:
    """One metric of one run in the order of writing: arrays of shape (n,)."""

    steps: FloatArray  # NaN where a value has no step
    values: FloatArray  # as written; NaN and infinities are still in
    times: FloatArray | None = None  # milliseconds since 1970 UTC; None where the format has none


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """One run as its logger wrote it; texts are empty where there is none."""

    path: Path  # its file or folder
    name: str  # what its logger calls it
    id: str  # its logger's id, which a resumed run shares with its beginning
    group: str  # experiment, project or group
    config: Mapping[str, Setting]  # nested names joined by dots
    metrics: Mapping[str, Points]  # by the logger's own name
    step_name: str = "step"  # what a step is called: ``step``, ``_step``, ``epoch``
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """A score that a harness reports for a whole benchmark; None for what is unknown."""

    metric: str  # with the filter or scorer that it belongs to: ``acc``, ``exact_match (strict)``
    value: float
    stderr: float | None = None
    n: int | None = None  # number of problems
    higher_is_better: bool | None = None


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer of a model to one problem; None for what is unknown."""

    problem: str  # what identifies it in the benchmark: an id, otherwise a number
    score: float | None
    sample: str = ""  # the epoch or repeat
    metric: str = ""  # the scorer, metric or filter that gave the score
    answer: str | None = None
    gold: str | None = None
    tokens: float | None = None
    seconds: float | None = None
    slices: Mapping[str, str] = field(default_factory=dict)  # for grouping, such as by ``subject``


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation: a model on a benchmark, as a harness wrote it."""

    path: Path  # its file or folder
    model: str
    benchmark: str  # task or benchmark
    run: str  # what distinguishes this evaluation from others of the same model: a date or id
    seed: str | None  # as written
    protocol: Mapping[str, str]  # in the keys of ``settings.source.Protocol`` where they fit
    answers: tuple[ScoredAnswer, ...]  # empty where the harness has totals only
    totals: tuple[Total, ...]  # for the whole benchmark
    finished: bool = True  # False where the evaluation was cancelled or failed
    findings: tuple[Finding, ...] = ()
