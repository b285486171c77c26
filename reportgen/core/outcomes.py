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


@dataclass(frozen=True, slots=True)
class Outcomes:
    """A lazy tidy table of answers: one row a problem and sample.

    ``frame`` has columns ``series: str, run: str, seed: str | null, problem: str, sample: str,
    score: float64, row: int64``; ``row`` is the order of writing. Where the input has them it also has
    ``answer: str, gold: str, cluster: str, tokens: float64, seconds: float64, cost: float64``, and the
    columns of ``slices`` as texts. Null, NaN and infinite scores are still in.
    """

    frame: nw.LazyFrame[Any]
    order: tuple[str, ...]  # series in order of first appearance
    has: frozenset[str] = frozenset()  # which of answer, gold, cluster, tokens, seconds and cost there are
    slices: tuple[str, ...] = ()  # free columns to slice by, such as subject or level
    lowest: float = 0.0  # the range that scores are stated to lie in
    highest: float = 1.0
    # The first two are as in ``model.Measurements``. Call the third where a problem is in two clusters: it
    # raises a ``ReportError`` with the line.
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
    """What was irregular in the outcomes."""

    rows: int = 0  # of the table
    replaced: int = 0  # rows that a later row of the same series, run, problem and sample replaced
    missing: int = 0  # rows whose score is null, NaN or infinite; left out, never counted as wrong
    incomplete: tuple[tuple[str, tuple[str, ...]], ...] = ()  # series, and the others' problems that it lacks
    # Series whose problems differ in number of samples: name, fewest and most samples of a run.
    uneven: tuple[tuple[str, int, int], ...] = ()
    # Problems with more than one gold answer: different problems under one name.
    differing_gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """How often each answer was given, for majority votes: 1-d arrays with an entry for each answer."""

    run: IntArray  # index into ``ProblemScores.runs``
    problem: IntArray  # index into ``ProblemScores.problems``
    count: IntArray  # samples that gave the answer
    score: FloatArray  # their mean score
    voted: IntArray  # False for the samples that gave no answer


@dataclass(frozen=True, slots=True, eq=False)
class ProblemScores:
    """One benchmark: every run of every series by problem. Everything else is computed from this.

    Arrays have shape (R, P), a row for each of ``runs`` and a column for each of ``problems``. A cell
    without samples has 0 samples and NaN elsewhere.
    """

    series: tuple[str, ...]  # in order of first appearance
    problems: tuple[str, ...]  # sorted, so that the order of writing changes no result
    runs: tuple[RunOfSeries, ...]  # by series, then by name
    samples: IntArray  # number of samples with a score
    correct: IntArray  # how many of them have the highest possible score
    mean: FloatArray  # of the scores
    variance: FloatArray  # of the scores, ddof = 1; NaN under 2 samples
    binary: tuple[bool, ...]  # of each series, whether each score is the lowest or the highest possible
    lowest: float  # the stated range of scores
    highest: float
    tokens: FloatArray  # mean of a cell's samples, as ``seconds`` and ``cost``; NaN where not given
    seconds: FloatArray
    cost: FloatArray
    notes: OutcomeNotes
    votes: Votes | None = None  # None unless answers were requested and are there
    gold: tuple[str | None, ...] = ()  # right answers, None where missing or ambiguous; empty without any
    # The cluster of each problem, such as the passage it asks about: problems of one cluster may be right or
    # wrong together. None for a problem without one; empty where no column was named.
    clusters: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """One series on one benchmark; None where something is not known or not given."""

    series: str
    metric: str  # with its k: ``mean``, ``pass@4``
    estimand: str  # what the interval is about; empty for a score that is used as reported
    level: float
    estimate: float | None = None
    low: float | None = None  # the interval at ``level``; where there is none, ``reason`` says why
    high: float | None = None
    method: str = ""  # how the interval was made
    reason: str = ""  # in words, why something is missing or unusual
    problems: int = 0  # problems scored
    samples: tuple[int, int] | None = None  # fewest and most of a problem in a run; None for one as reported
    runs: int = 0  # runs that were averaged within a problem or, of scores as reported, as a whole
    between_runs: float | None = None  # standard deviation of the runs' own scores
    tokens: float | None = None  # mean of a sample, averaged over problems, as ``seconds`` and ``cost``
    seconds: float | None = None
    stderr: float | None = None  # behind the interval, if it was made from one
    cost: float | None = None
    # The part of ``stderr`` that comes from runs: √(τ²/r) with τ² the variance between runs beyond what
    # sampling of answers puts there, 0 where that explains all of it; None under 2 runs.
    run_stderr: float | None = None


@dataclass(frozen=True, slots=True)
class RunScore:
    """The score of one run."""

    run: str
    seed: str | None
    score: float


@dataclass(frozen=True, slots=True)
class RunSpread:
    """Between-run spread of one series: each run's score, and the mean with a t interval over runs."""

    series: str
    metric: str
    level: float
    runs: tuple[RunScore, ...]
    mean: float | None  # None without a common problem
    sd: float | None  # None under 2 runs, as ``low`` and ``high``; ``reason`` then says why
    low: float | None
    high: float | None
    reason: str
    problems: int  # answered by every run: what the scores are about
    left_out: int  # problems that some runs only answered
