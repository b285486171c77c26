"""Runs and evaluations as values, as the readers of log and results formats return them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.model import FloatArray
    from reportgen.core.score_names import Status


Setting: TypeAlias = str | int | float | bool
"""Value in a run's configuration."""


class UnreadableError(ReportError):
    """Error of a file that is not of its format or exceeds a limit: its run is left out, and others are read.

    Message and next step are sentences without a full stop, the next step may be empty; lines count from 1.
    """

    def __init__(self, path: Path | str, message: str, next_step: str = "", line: int | None = None) -> None:
        super().__init__(Diagnostic(SourceLocation(str(path), line), message, next_step, Stage.DATA))

    @property
    def problem(self) -> Diagnostic:
        """What is wrong with the file."""
        return self.problems[0]


def warn(path: Path | str, message: str, line: int | None = None, confirmed_by: str = "") -> Diagnostic:
    """Return a warning of how an irregularity was handled, as a sentence without a full stop.

    ``confirmed_by`` is the key of ``source.yml`` that confirms it, if there is one.
    """
    advice = f"To confirm it, name what is read with {confirmed_by}: in source.yml" if confirmed_by else ""
    place = SourceLocation(str(path), line)
    return Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING, confirmed_by=confirmed_by)


class Unit(Struct, frozen=True):
    """Files that are read together: a run's folder, a store, a results file."""

    path: Path  # the folder or file that a user would name
    files: tuple[Path, ...]  # every file that is read, in a stable order
    format: str = ""  # as in ``format:`` of a source; whoever finds the unit need not say it
    lines: tuple[str, ...] = ()  # patterns of its lines, as in ``lines:`` of a source
    texts: bool = False  # whether prompts and whole answers are read, where a format has them
    selected: frozenset[str] | None = None  # the metrics of which all values are needed; None: all metrics


class Points(Struct, frozen=True):
    """Values of one metric of one run in the order of writing: arrays of shape (n,)."""

    steps: FloatArray  # NaN for a value without a step
    values: FloatArray  # as written, including NaN and infinities
    times: FloatArray | None = None  # milliseconds since 1970 UTC; None if the format has none


class LoggedRun(Struct, frozen=True):
    """One run as its logger wrote it; unknown texts are empty."""

    path: Path  # its file or folder
    name: str = ""  # the name in its logger
    id: str = ""  # the logger's id, shared by a resumed run and its first part
    group: str = ""  # experiment, project or group
    config: Mapping[str, Setting] = field(default_factory=dict)  # nested names joined by dots
    metrics: Mapping[str, Points] = field(default_factory=dict)  # by the logger's name
    step_name: str = "step"  # the logger's name for the step: ``step``, ``_step``, ``epoch``
    findings: tuple[Diagnostic, ...] = ()
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
    status: Status | None = None  # why there is no score, where that is known


class Evaluation(Struct, frozen=True):
    """One evaluation: a model on a benchmark, as a harness wrote it."""

    path: Path  # its file or folder
    model: str
    benchmark: str  # task or benchmark
    run: str = ""  # date or id that distinguishes evaluations of the same model
    seed: str | None = None  # as written
    protocol: Mapping[str, str] = field(default_factory=dict)  # keys of ``protocol:`` where they fit
    answers: tuple[ScoredAnswer, ...] = ()  # empty if the harness has only totals
    totals: tuple[Total, ...] = ()  # for the whole benchmark
    finished: bool = True  # False if the evaluation was cancelled or failed
    findings: tuple[Diagnostic, ...] = ()


class Reader(Struct, frozen=True):
    """What tells a format, and what reads it: an entry point in the group ``reportgen.readers``.

    The name of the entry point is the word of ``format:``. A file may be of the format if its name matches a
    pattern, and its beginning has ``head`` and ``keys`` where they are stated. ``find`` groups files into
    units; without it each file that may be of the format is one. ``read`` yields what a unit holds; it raises
    ``UnreadableError`` if that is nothing. Without ``read``, both are in a module that is imported only if
    there is such a file: the one named after the entry point in the package of the reader, or ``code``, a
    module or "module:object", which begins with a point if it is in that package.
    """

    title: str  # the display name
    files: tuple[
        str, ...
    ]  # patterns of names in lower case, without .gz and .zst; every unit has such a file
    head: str = ""  # regular expression that matches at the first character of the file
    keys: tuple[str, ...] = ()  # that the first JSON object of the file has
    read: Callable[[Unit], Iterable[LoggedRun | Evaluation]] | None = None
    find: Callable[[Sequence[Path]], Iterable[Unit]] | None = None
    code: str = ""
    # If runs were logged in several formats at once, that of the lowest rank is read: the most complete one.
    rank: int = 100
    # Whether it is left out, unless ``format:`` names it, if there are tables that it does not read: console
    # output repeats them, and answer lists may be their cells.
    weak: bool = False
    rest: bool = False  # whether files that other formats have are not of it
    many_runs: bool = False  # whether a unit has many runs, as a database
    partly: bool = False  # whether a unit is read without those of its files that cannot be opened
    appended: bool = False  # whether repeated steps may be other runs or folds, and not a resumed run
    series_from: str = ""  # what names the series if ``series_from:`` is left out
    name: str = ""  # as the entry point says
    package: str = ""  # that provides it, with its version; empty for reportgen's own
