"""Answers to problems, and the scores computed from them: frozen values, without logic.

An outcome is one answer to one problem. Missing is ``None`` and a reason, or NaN inside a numeric array;
it is never 0. Scores and intervals are in the unit of the input.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import narwhals as nw

    from reportgen.core.model import FloatArray, IntArray


Metric: TypeAlias = Literal["mean", "avg@n", "pass@k", "pass^k", "maj@k"]
Estimand: TypeAlias = Literal["problems like these", "these problems"]
REPORTED: Final = "as reported"
"""The method of a score that was not computed here: a total that is used as it is reported."""


class ScoresError(ValueError):
    """The outcomes cannot give what was requested; ``message`` and ``next_step`` are as in ``Diagnostic``."""

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(f"{message}. {next_step}." if next_step else f"{message}.")
        self.message = message
        self.next_step = next_step


# ---- data ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A lazy tidy table of answers: one row a problem and sample.

    Attributes:
        frame: columns ``series: str, run: str, seed: str | null, problem: str, sample: str,
            score: float64, row: int64``; ``row`` is the order of writing. Where the input has them also
            ``answer: str, gold: str, cluster: str, tokens: float64, seconds: float64, cost: float64``, and
            the columns of ``slices`` as texts. Null, NaN and infinite scores are still in.
        order: series names in order of first appearance.
        has: which of ``answer``, ``gold``, ``cluster``, ``tokens``, ``seconds`` and ``cost`` there are.
        slices: free columns to slice by, such as subject or level.
        lowest, highest: the range that scores are stated to lie in.
        reading, check_repeats: as in ``model.Measurements``.
        check_clusters: call it where a problem is in two clusters; raises a ``ReportError`` with the line.
    """

    frame: nw.LazyFrame[Any]
    order: tuple[str, ...]
    has: frozenset[str] = frozenset()
    slices: tuple[str, ...] = ()
    lowest: float = 0.0
    highest: float = 1.0
    reading: Callable[[], AbstractContextManager[None]] = field(
        default=nullcontext, repr=False, compare=False
    )
    check_repeats: Callable[[], None] = field(default=lambda: None, repr=False, compare=False)
    check_clusters: Callable[[], None] = field(default=lambda: None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ReportedScore:
    """A total for a whole benchmark, as a harness, a paper or a leaderboard reports it.

    ``metric`` has the filter or scorer that it belongs to. ``value`` and ``stderr`` are in the unit of the
    input, ``problems`` is how many it is over; each is None where it is not reported.
    """

    series: str
    run: str
    seed: str | None
    metric: str
    value: float | None
    stderr: float | None
    problems: int | None


@dataclass(frozen=True, slots=True)
class RunOfSeries:
    """One run of a series; ``series`` is its index in ``ProblemScores.series``."""

    series: int
    run: str
    seed: str | None


@dataclass(frozen=True, slots=True)
class OutcomeNotes:
    """What was irregular in the outcomes.

    Attributes:
        rows: rows of the table.
        replaced: rows that a later row of the same series, run, problem and sample replaced.
        missing: rows whose score is null, NaN or infinite; left out, never counted as wrong.
        incomplete: series, and the problems that other series have and it lacks.
        uneven: series whose problems differ in number of samples: name, fewest and most samples of a run.
        differing_gold: problems with more than one gold answer: different problems under one name.
    """

    rows: int = 0
    replaced: int = 0
    missing: int = 0
    incomplete: tuple[tuple[str, tuple[str, ...]], ...] = ()
    uneven: tuple[tuple[str, int, int], ...] = ()
    differing_gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """How often each answer was given, for majority votes; 1-d arrays of equal length, one entry an answer.

    Attributes:
        run, problem: indices into ``ProblemScores.runs`` and ``ProblemScores.problems``.
        count: samples that gave the answer.
        score: their mean score.
        voted: False for the samples that gave no answer.
    """

    run: IntArray
    problem: IntArray
    count: IntArray
    score: FloatArray
    voted: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ProblemScores:
    """One benchmark: every run of every series by problem. Everything else is computed from this.

    Arrays have shape (R, P), a row for each of ``runs`` and a column for each of ``problems``. A cell
    without samples has 0 samples and NaN elsewhere.

    Attributes:
        series: names, in order of first appearance.
        problems: names, sorted, so that the order of writing changes no result.
        runs: by series, then by name.
        samples: number of samples with a score.
        correct: how many of them have the highest possible score.
        mean, variance: of the scores (ddof = 1, NaN under 2 samples).
        binary: of each series, whether each of its scores is the lowest or the highest possible.
        lowest, highest: the stated range of scores.
        tokens, seconds, cost: mean of a cell's samples; NaN where not given.
        votes: None unless answers were requested and are there.
        gold: the right answer of each problem, None where it is missing or ambiguous; empty without any.
        clusters: the cluster of each problem, such as the passage it asks about: problems of one cluster may
            be right or wrong together. None for a problem without one; empty where no column was named.
    """

    series: tuple[str, ...]
    problems: tuple[str, ...]
    runs: tuple[RunOfSeries, ...]
    samples: IntArray
    correct: IntArray
    mean: FloatArray
    variance: FloatArray
    binary: tuple[bool, ...]
    lowest: float
    highest: float
    tokens: FloatArray
    seconds: FloatArray
    cost: FloatArray
    notes: OutcomeNotes
    votes: Votes | None = None
    gold: tuple[str | None, ...] = ()
    clusters: tuple[str | None, ...] = ()


# ---- results ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """One series on one benchmark; None where something is not known or not given.

    Attributes:
        metric: with its k: ``mean``, ``pass@4``.
        estimand: what the interval is about; empty for a score that is used as reported.
        low, high: the interval at ``level``; where there is none, ``reason`` says why.
        method: how the interval was made.
        reason: in words, why something is missing or unusual; empty where nothing is.
        problems: problems scored.
        samples: fewest and most samples of a problem in a run; None for a score as reported.
        runs: runs that were averaged within a problem or, of scores as reported, as a whole.
        between_runs: standard deviation of the runs' own scores.
        tokens, seconds, cost: mean of a sample, averaged over problems.
        stderr: the standard error behind the interval, if it was made from one.
        run_stderr: the part of ``stderr`` that comes from runs: √(τ²/r) with τ² the variance between runs
            beyond what sampling of answers puts there, 0 where that explains all of it; None under 2 runs.
    """

    series: str
    metric: str
    estimand: str
    level: float
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str = ""
    problems: int = 0
    samples: tuple[int, int] | None = None
    runs: int = 0
    between_runs: float | None = None
    tokens: float | None = None
    seconds: float | None = None
    stderr: float | None = None
    cost: float | None = None
    run_stderr: float | None = None


@dataclass(frozen=True, slots=True)
class RunScore:
    """The score of one run."""

    run: str
    seed: str | None
    score: float


@dataclass(frozen=True, slots=True)
class RunSpread:
    """Between-run spread of one series: each run's score, and the mean with a t interval over runs.

    ``problems`` were answered by every run and are what the scores are about; ``left_out`` were answered
    by some runs only. ``mean`` is None without a common problem; ``sd``, ``low`` and ``high`` are None
    under 2 runs; ``reason`` then says why.
    """

    series: str
    metric: str
    level: float
    runs: tuple[RunScore, ...]
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    reason: str
    problems: int
    left_out: int
