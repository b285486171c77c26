"""Runs and evaluations as values, as the readers of log and results formats return them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.core.model import FloatArray


Setting: TypeAlias = str | int | float | bool
"""Value in a run's configuration."""


class UnreadableError(Exception):
    """Error for a file that is not of its format or exceeds a limit; shown with its location.

    Message and next step are sentences without a full stop, the next step may be empty; lines count from 1.
    """

    def __init__(self, path: Path, message: str, next_step: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.path, self.message, self.next_step, self.line = path, message, next_step, line


class Unit(Struct, frozen=True):
    """Files that are read together: a run's folder, a store, a results file."""

    format: str  # as in ``format:`` of a source
    path: Path  # the folder or file that a user would name
    files: tuple[Path, ...]  # every file that is read, in a stable order
    texts: bool = False  # whether prompts and whole answers are read, where a format has them


class Finding(Struct, frozen=True):
    """Irregularity in a file and how it was handled, without a full stop; lines count from 1."""

    path: Path
    message: str
    line: int | None = None


class Points(Struct, frozen=True):
    """Values of one metric of one run in the order of writing: arrays of shape (n,)."""

    steps: FloatArray  # NaN for a value without a step
    values: FloatArray  # as written, including NaN and infinities
    times: FloatArray | None = None  # milliseconds since 1970 UTC; None if the format has none


class LoggedRun(Struct, frozen=True):
    """One run as its logger wrote it; unknown texts are empty."""

    path: Path  # its file or folder
    name: str  # the name in its logger
    id: str  # the logger's id, shared by a resumed run and its first part
    group: str  # experiment, project or group
    config: Mapping[str, Setting]  # nested names joined by dots
    metrics: Mapping[str, Points]  # by the logger's name
    step_name: str = "step"  # the logger's name for the step: ``step``, ``_step``, ``epoch``
    findings: tuple[Finding, ...] = ()
    higher_is_better: Mapping[str, bool] = field(default_factory=dict)  # of metrics, where it is logged


class Total(Struct, frozen=True):
    """Score that a harness reports for a whole benchmark; None for unknown values."""

    metric: str  # with its filter or scorer: ``acc``, ``exact_match (strict)``
    value: float
    stderr: float | None = None
    n: int | None = None  # number of problems
    higher_is_better: bool | None = None


class ScoredAnswer(Struct, frozen=True):
    """One answer of a model to one problem; None for unknown values."""

    problem: str  # id within the benchmark, otherwise a number
    score: float | None
    sample: str = ""  # epoch or repeat
    metric: str = ""  # scorer, metric or filter that gave the score
    answer: str | None = None
    gold: str | None = None
    tokens: float | None = None
    seconds: float | None = None
    slices: Mapping[str, str] = field(default_factory=dict)  # for grouping, such as by ``subject``
    texts: Mapping[str, str] = field(
        default_factory=dict
    )  # of ``evaluations.texts.TEXTS``, where they are read


class Evaluation(Struct, frozen=True):
    """One evaluation: a model on a benchmark, as a harness wrote it."""

    path: Path  # its file or folder
    model: str
    benchmark: str  # task or benchmark
    run: str  # date or id that distinguishes evaluations of the same model
    seed: str | None  # as written
    protocol: Mapping[str, str]  # keys of ``settings.source.Protocol`` where they fit
    answers: tuple[ScoredAnswer, ...]  # empty if the harness has only totals
    totals: tuple[Total, ...]  # for the whole benchmark
    finished: bool = True  # False if the evaluation was cancelled or failed
    findings: tuple[Finding, ...] = ()
