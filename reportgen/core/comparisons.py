"""Values of scores, of what they are computed from, and of comparisons between them."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
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


class Verdict(StrEnum):
    """What a comparison says of its first side."""

    BETTER = "better"
    WORSE = "worse"
    UNCLEAR = "unclear"
    TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two series on the problems that both answered: a minus b, each number None where it is not known."""

    a: str
    b: str
    metric: str
    level: float
    difference: float | None = None  # mean of the differences
    low: float | None = None  # interval of the mean difference over problems like these, at ``level``
    high: float | None = None
    spread: float | None = None  # standard deviation of the differences (ddof = 1)
    p: float | None = None  # two-sided, of this comparison by itself
    adjusted_p: float | None = None  # adjusted for everything that was tested together
    tested_together: int = 0
    shared: int = 0  # problems (of curves runs, of the side with fewer) behind the difference
    only_a: tuple[str, ...] = ()  # problems that only one side answered
    only_b: tuple[str, ...] = ()
    verdict: Verdict = Verdict.TOO_FEW  # of a, with the direction of the metric taken into account
    method: str = ""  # how ``p`` was computed
    interval_method: str = ""
    reason: str = ""  # in words, why something is missing or unusual
    runs: tuple[int, int] = (1, 1)  # with 2 or more a side it compares methods, otherwise checkpoints
    stderr: float | None = None  # of the difference, problems and runs together
    run_stderr: float = 0.0  # the part of it that comes from runs; 0 where none is estimated
    df: float | None = None  # degrees of freedom of ``stderr``
    family_stderr: float | None = None  # what the test of the family uses, with spreads averaged over it
    critical: float | None = None  # ``family_stderr`` that a verdict takes; None where it was tested alone
    family_blocks: int = 1  # blocks of a page that are adjusted together


@dataclass(frozen=True, slots=True)
class RankGroup:
    """Series that are all better than every series of the groups below; ``rank`` 1 is the best group."""

    rank: int
    series: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankRange:
    """The ranks, ``best`` to ``worst``, that the verdicts leave to a series among ``count`` series.

    ``best_probability`` is the share of resampled problems (and runs) on which it is the best, if computed.
    """

    series: str
    best: int
    worst: int
    count: int
    best_probability: float | None = None


TARGET_POWER: Final = 0.8
"""The probability that ``Power`` states differences for: four times in five (Cohen 1988, 2.4)."""


@dataclass(frozen=True, slots=True)
class Power:
    """How large a true difference of two series has to be to get a verdict; None where nothing is known."""

    difference: float | None  # the one that a comparison by itself finds four times in five
    half: float | None  # the probability that a comparison by itself finds half of it
    problems: int  # that a pair shares
    runs: tuple[int, int]  # fewest and most of a series
    stderr: float | None  # of the difference of a typical pair
    together: int  # comparisons that were tested together
    family_difference: float | None  # the same among all of them; None for one alone
    family_half: float | None
    reason: str  # in words, why nothing is known


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a standard error: ``problems``, ``answers``, ``run_problem`` or ``runs``.

    ``stderr`` is None where the data do not show it, then ``reason`` says why. Squares add up to the whole.
    """

    name: str
    stderr: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class PlannedDesign:
    """What a design finds: so many problems, samples of each in a run, and runs of each series."""

    problems: int
    samples: int
    runs: int
    stderr: float
    alone: float  # the probability that the planned difference gets a verdict by itself
    together: float | None  # and in the family; None without one
    found: float  # the difference that gets a verdict four times in five


@dataclass(frozen=True, slots=True)
class Halving:
    """How many ``problems``, ``samples`` or ``runs`` halve the width of an interval, if nothing else changes.

    ``needed`` is None where no number does, or where that is not known; then ``reason`` says why.
    """

    what: str
    needed: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What other numbers of problems, samples and runs would find on a benchmark."""

    difference: float  # the true one to find
    power: Power  # of the data as they are
    samples: int  # of a problem in a run, as they are
    runs: int  # of a series, as they are
    components: tuple[Component, ...]  # of the standard error of a difference
    designs: tuple[PlannedDesign, ...]  # by samples and runs, then by problems; the present one is among them
    halvings: tuple[Halving, ...]  # of problems, samples and runs


@dataclass(frozen=True, slots=True)
class BenchmarkCell:
    """One series on one benchmark, or on the average of all; ``against`` is the comparison with the baseline.

    ``reason`` says why there is no score, or no comparison; ``against`` is None for the baseline itself,
    without a baseline, and where problems are not known.
    """

    score: Score
    against: Comparison | None
    reason: str


@dataclass(frozen=True, slots=True)
class AcrossBenchmarks:
    """Series × benchmark: ``cells`` has a row for each series and a column for each benchmark."""

    series: tuple[str, ...]
    benchmarks: tuple[str, ...]
    cells: tuple[tuple[BenchmarkCell, ...], ...]
    macro: tuple[BenchmarkCell, ...]  # each series' average over benchmarks; the score names its estimand
    baseline: str | None


@dataclass(frozen=True, slots=True, eq=False)
class ProblemGrid:
    """Problem × series; arrays have shape (series, problems)."""

    series: tuple[str, ...]
    problems: tuple[str, ...]  # from the one that the series solve best to the one they solve worst
    score: FloatArray  # NaN where a series lacks a problem
    samples: IntArray  # over all runs
    difficulty: FloatArray  # mean score over the series that have the problem, shape (problems,)
    # Problems that only one series ever got right, and that series; empty unless scores are right or wrong.
    solved_by_one: tuple[tuple[str, str], ...]
