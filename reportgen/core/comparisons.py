"""Scores, the data that they are computed from, and comparisons between them."""

from __future__ import annotations

from contextlib import nullcontext
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    import narwhals as nw

    from reportgen.core.model import Estimate, FloatArray, IntArray, Lead
    from reportgen.core.score_names import AnswerCounts


Metric: TypeAlias = Literal["mean", "avg@n", "pass@k", "pass^k", "maj@k"]
Estimand: TypeAlias = Literal["problems like these", "these problems"]
THESE_PROBLEMS: Final = "these problems"
Adjust: TypeAlias = Literal["fwer", "fdr"]
"""What an adjustment limits: the chance of any wrong verdict, or the share of wrong ones among verdicts."""
REPORTED: Final = "as reported"
"""Method of a score that was not computed here but used as reported."""
REPORTED_RUNS: Final = "t over runs, as reported"
"""Method of such a score with the standard deviation between a number of runs."""


class ScoresError(ValueError):
    """The requested result cannot be computed from the outcomes; fields are as in ``Diagnostic``."""

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(f"{message}. {next_step}." if next_step else f"{message}.")
        self.message = message
        self.next_step = next_step


class NoOutcomesError(ScoresError):
    """No outcome is left to compute from."""


class Outcomes(Struct, frozen=True):
    """A lazy tidy table of answers with one row per problem and sample.

    ``frame`` has columns ``series: str, run: str, seed: str | null, problem: str, sample: str,
    score: float64, row: int64``; ``row`` is the order in which rows were written. If the input has them, it
    also has ``answer: str, gold: str, cluster: str, tokens: float64, seconds: float64, cost: float64``, the
    texts of a ``Sample``, ``answer_status: str`` (see ``score_names.Status``; the score is what counts), and
    the columns of ``slices`` as strings. Null, NaN and infinite scores are still included.
    """

    frame: nw.LazyFrame[Any]
    order: tuple[str, ...]  # series in order of first appearance
    has: frozenset[str] = frozenset()  # which of these exist
    slices: tuple[str, ...] = ()  # free columns to slice by, such as subject or level
    lowest: float = 0.0  # the stated range of scores
    highest: float = 1.0
    settings: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)  # of each group of runs
    notes: tuple[str, ...] = ()  # sentences about how runs are grouped
    # The first three are as in ``model.Measurements``. Call the fourth if a problem is in two clusters: it
    # raises a ``ReportError`` with the line.
    reading: Callable[[], AbstractContextManager[None]] = field(default=nullcontext)
    check_repeats: Callable[[], None] = field(default=lambda: None)
    check_runs: Callable[[], None] = field(default=lambda: None)
    check_clusters: Callable[[], None] = field(default=lambda: None)


class ReportedScore(Struct, frozen=True):
    """A total for a whole benchmark, as reported by a harness, a paper or a leaderboard.

    ``metric`` includes its filter or scorer. ``value`` and ``stderr`` are in the unit of the input,
    ``problems`` is the number of problems; each is None if it is not reported. ``runs`` is the number of runs
    behind ``stderr``, None if that is not a standard deviation between runs over the root of their number.
    """

    series: str
    run: str
    seed: str | None
    metric: str
    value: float | None
    stderr: float | None
    problems: int | None
    runs: int | None = None


class Sample(Struct, frozen=True):
    """A scored sample with its texts, None where the input has none."""

    series: str
    run: str
    problem: str
    sample: str
    score: float
    prompt: str | None
    expected: str | None
    response: str | None
    answer: str | None
    explanation: str | None


class SampleTexts(Struct, frozen=True):
    """Scored samples whose texts are read a part at a time, since all of them may not fit into memory."""

    count: int
    several_runs: frozenset[str]  # series whose samples are of several runs
    # Yields the samples of each of these problems, in the order of writing; a problem without any has none.
    read: Callable[[Sequence[str]], Iterator[tuple[Sample, ...]]]


class RunOfSeries(Struct, frozen=True):
    """One run of a series; ``series`` is its index in ``ProblemScores.series``."""

    series: int
    run: str
    seed: str | None


class OutcomeNotes(Struct, frozen=True):
    """Irregularities in the outcomes."""

    rows: int = 0  # rows of the table
    replaced: int = 0  # rows replaced by a later row of the same series, run, problem and sample
    missing: int = 0  # rows with a null, NaN or infinite score; left out, never counted as wrong
    incomplete: tuple[tuple[str, tuple[str, ...]], ...] = ()  # series, and problems that only others have
    # Series whose problems differ in number of samples: name, fewest and most samples in a run.
    uneven: tuple[tuple[str, int, int], ...] = ()
    differing_gold: tuple[str, ...] = ()  # problems with several gold answers: others under one name
    # Runs with fewer problems than their series, at least one: series, run, and the number of both.
    partial: tuple[tuple[str, str, int, int], ...] = ()
    statuses: tuple[AnswerCounts, ...] = ()  # of each series, where statuses are known


class Votes(Struct, frozen=True, eq=False):
    """Counts of each answer for majority votes: 1-d arrays with an entry for each answer."""

    run: IntArray  # index into ``ProblemScores.runs``
    problem: IntArray  # index into ``ProblemScores.problems``
    count: IntArray  # samples that gave the answer
    score: FloatArray  # their mean score
    voted: IntArray  # 0 for samples without an answer


class ProblemScores(Struct, frozen=True, eq=False):
    """Scores of every run of every series on one benchmark, by problem; all else is computed from them.

    Arrays have shape (R, P), with a row for each of ``runs`` and a column for each of ``problems``. A cell
    without samples is 0 in integer arrays and NaN in float arrays.
    """

    series: tuple[str, ...]  # in order of first appearance
    problems: tuple[str, ...]  # sorted, so that the order of rows does not affect results
    runs: tuple[RunOfSeries, ...]  # by series, then by name
    samples: IntArray  # number of samples with a score
    correct: IntArray  # number of samples with the highest possible score
    mean: FloatArray  # of the scores
    variance: FloatArray  # of the scores, ddof = 1; NaN with fewer than 2 samples
    binary: tuple[bool, ...]  # for each series, whether every score is the lowest or the highest possible
    lowest: float  # the stated range of scores
    highest: float
    tokens: FloatArray  # mean over a cell's samples, like ``seconds`` and ``cost``; NaN if not given
    seconds: FloatArray
    cost: FloatArray
    notes: OutcomeNotes
    votes: Votes | None = None  # None unless answers were requested and exist
    gold: tuple[str | None, ...] = ()  # right answers, None if missing or ambiguous; empty without any
    # The cluster of each problem, such as the passage it asks about: results within a cluster may be
    # correlated. None for a problem without a cluster; empty if no column was named.
    clusters: tuple[str | None, ...] = ()
    grouped: tuple[str, ...] = ()  # sentences about how runs are grouped
    left_out: IntArray | None = None  # answers of each cell without a score; None where no status is known
    lost_runs: tuple[RunOfSeries, ...] = ()  # runs without any score, where statuses are known


class Score(Struct, frozen=True):
    """Score of one series on one benchmark; None for what is not known or not given."""

    series: str
    metric: str  # with its k: ``mean``, ``pass@4``
    estimand: str  # what the interval estimates; empty for a score used as reported
    level: float
    estimate: float | None = None
    low: float | None = None  # the interval at ``level``; ``reason`` explains a missing one
    high: float | None = None
    method: str = ""  # how the interval was computed
    reason: str = ""  # why something is missing or unusual
    problems: int = 0  # number of scored problems
    samples: tuple[int, int] | None = None  # fewest and most per problem and run; None if used as reported
    runs: int = 0  # runs that were averaged within each problem or, for scores as reported, as a whole
    between_runs: float | None = None  # standard deviation of the runs' scores
    tokens: float | None = None  # per sample, averaged over problems, like ``seconds`` and ``cost``
    seconds: float | None = None
    stderr: float | None = None  # standard error of the interval, if it was computed from one
    cost: float | None = None
    # The part of ``stderr`` due to runs: √(τ²/r) with τ² the variance between runs that the sampling of
    # answers does not explain, 0 if that explains all of it; None with fewer than 2 runs.
    run_stderr: float | None = None

    @property
    def is_reported(self) -> bool:
        """Whether it was not computed here but used as reported."""
        return self.method in {REPORTED, REPORTED_RUNS}


class RunScore(Struct, frozen=True):
    """Score of one run."""

    run: str
    seed: str | None
    score: float


class RunSpread(Struct, frozen=True):
    """Spread between the runs of one series: each run's score, and the mean with a t interval over runs."""

    series: str
    metric: str
    level: float
    runs: tuple[RunScore, ...]
    mean: float | None  # None if the runs have no problem in common
    sd: float | None  # None with fewer than 2 runs, like ``low`` and ``high``; ``reason`` then says why
    low: float | None
    high: float | None
    reason: str
    problems: int  # problems answered by every run, which the scores are computed from
    left_out: int  # problems answered by only some runs


class Verdict(StrEnum):
    """Result of a comparison for its first series."""

    BETTER = "better"
    WORSE = "worse"
    UNCLEAR = "unclear"
    TOO_FEW = "too few"


class Noises(Struct, frozen=True):
    """Standard errors of a difference by where they come from; their squares add up to that of the whole."""

    answers: float | None  # other samples of the same problems; if unknown, None and in ``problems``
    problems: float  # other problems like these
    runs: float | None  # other runs, beyond what their answers explain; None if neither side has several


VERDICT_WORDS = {
    Verdict.BETTER: "better",
    Verdict.WORSE: "worse",
    Verdict.UNCLEAR: "no clear winner",
    Verdict.TOO_FEW: "not tested",
}
"""The verdict on a pair of series, of the first."""


def describe_verdict(lead: Lead, *, has_direction: bool = True) -> str:
    """Return the verdict as part of a sentence: better, no clear winner or not tested; "" without others.

    Without a direction, the series of the highest values is named, and called no better.
    """
    if lead.reason or not (lead.series or lead.tested):
        return f"{VERDICT_WORDS[Verdict.TOO_FEW]}{': ' * bool(lead.reason)}{lead.reason}"
    if lead.series is None:
        return VERDICT_WORDS[Verdict.UNCLEAR] if has_direction else "no clear difference"
    if not lead.tested:
        return ""
    which = "better" if has_direction else "higher"
    about = f"{' (these checkpoints)' * lead.single}{f' {FRAGILE}' * lead.fragile}"
    return f"{lead.series} is {which} than {lead.rival or 'all others'}{about}"


FRAGILE: Final = "among answered problems; not if the missing ones went against it"
"""Why a verdict is not certain, after "is better"."""


def write_verdict(lead: Lead, *, has_direction: bool = True) -> str:
    """Return the verdict as a heading or the start of a sentence; names stay as they are."""
    said = describe_verdict(lead, has_direction=has_direction)
    return said if lead.series else f"{said[:1].upper()}{said[1:]}"


class Comparison(Struct, frozen=True):
    """Comparison of two series on the problems that both answered, a minus b; None for unknown numbers."""

    a: str
    b: str
    metric: str
    level: float
    difference: float | None = None  # mean of the differences
    low: float | None = None  # interval at ``level`` of the mean difference over problems like these
    high: float | None = None
    spread: float | None = None  # standard deviation of the differences (ddof = 1)
    p: float | None = None  # two-sided, of this comparison alone
    adjusted_p: float | None = None  # adjusted for all comparisons tested together
    tested_together: int = 0
    shared: int = 0  # number of problems both answered (for curves, number of runs of the smaller side)
    only_a: tuple[str, ...] = ()  # problems answered by only one side
    only_b: tuple[str, ...] = ()
    verdict: Verdict = Verdict.TOO_FEW  # on a, taking the direction of the metric into account
    method: str = ""  # how ``p`` was computed
    interval_method: str = ""
    reason: str = ""  # why something is missing or unusual
    runs: tuple[int, int] = (1, 1)  # methods are compared if both have 2 or more, otherwise checkpoints
    stderr: float | None = None  # of the difference, from problems and runs together
    run_stderr: float = 0.0  # the part due to runs; 0 if none is estimated
    df: float | None = None  # degrees of freedom of ``stderr``
    family_stderr: float | None = None  # used by the test of the family, with variances of runs moderated
    critical: float | None = None  # threshold of the verdict in ``family_stderr``, may be inf; None if alone
    family_blocks: int = 1  # blocks of a page that are adjusted together
    estimand: str = ""  # what the interval and p are about; empty for curves
    adjust: str = "fwer"  # see ``Adjust``
    noises: Noises | None = None  # None if no interval is known


class RankGroup(Struct, frozen=True):
    """Series that are all better than every series in lower groups; ``rank`` 1 is the best group."""

    rank: int
    series: tuple[str, ...]


class RankRange(Struct, frozen=True):
    """Ranks, ``best`` to ``worst``, among ``count`` series that the verdicts allow for a series."""

    series: str
    best: int
    worst: int
    count: int


TARGET_POWER: Final = 0.8
"""Power for which ``Power`` gives detectable differences: four times in five (Cohen 1988, 2.4)."""


class Power(Struct, frozen=True):
    """Smallest true difference of two series that is likely to get a verdict; None if nothing is known."""

    difference: float | None  # detected four times in five by a comparison alone
    problems: int  # number of problems shared by a pair
    runs: tuple[int, int]  # fewest and most runs of a series
    stderr: float | None  # of the difference of a typical pair
    together: int  # number of comparisons tested together
    family_difference: float | None  # the same when tested together; None for a single comparison
    reason: str  # why nothing is known, or found when tested together


class Component(Struct, frozen=True):
    """One component of a standard error: ``problems``, ``answers`` or ``runs``.

    Squares add up to that of the whole. ``stderr`` is None if it cannot be estimated; ``reason`` says why.
    """

    name: str
    stderr: float | None
    reason: str


class PlannedDesign(Struct, frozen=True):
    """Power of a design with this number of problems, samples per problem and run, and runs per series."""

    problems: int
    samples: int
    runs: int
    stderr: float
    alone: float  # probability that the planned difference gets a verdict when tested alone
    together: float | None  # probability when tested in the family; None without one
    found: float  # difference that gets a verdict four times in five


class Halving(Struct, frozen=True):
    """Number of ``problems``, ``samples`` or ``runs`` that halves the width of an interval, all else equal.

    ``needed`` is None if no number does or it is not known; ``reason`` says why.
    """

    what: str
    needed: int | None
    reason: str


class Plan(Struct, frozen=True):
    """Power of designs with other numbers of problems, samples and runs on a benchmark."""

    difference: float  # the true difference to detect
    power: Power  # of the current data
    samples: int  # current number per problem and run
    runs: int  # current number per series
    components: tuple[Component, ...]  # of the standard error of a difference
    designs: tuple[PlannedDesign, ...]  # by samples and runs, then by problems; includes the current one
    halvings: tuple[Halving, ...]  # for problems, samples and runs


class BenchmarkCell(Struct, frozen=True):
    """One series on one benchmark, or on the average of all benchmarks.

    ``against`` is the comparison with the baseline, or None for the baseline itself, without a baseline or
    if problems are not known. ``reason`` says why there is no score or no comparison.
    """

    score: Score
    against: Comparison | None
    reason: str


class AcrossBenchmarks(Struct, frozen=True):
    """Scores by series and benchmark: ``cells`` has a row for each series and a column for each benchmark."""

    series: tuple[str, ...]
    benchmarks: tuple[str, ...]
    cells: tuple[tuple[BenchmarkCell, ...], ...]
    macro: tuple[BenchmarkCell, ...]  # average of each series over benchmarks; the score has its estimand
    baseline: str | None
    composites: tuple[str, ...] = ()  # benchmarks that are means over others, and in no average


class ProblemGrid(Struct, frozen=True, eq=False):
    """Scores by series and problem; arrays have shape (series, problems)."""

    series: tuple[str, ...]
    problems: tuple[str, ...]  # from best to worst solved
    score: FloatArray  # NaN if a series does not have the problem
    samples: IntArray  # over all runs
    difficulty: FloatArray  # mean score over the series that have the problem, shape (problems,)
    # Problems that only one series ever got right, and that series; empty unless scores are binary.
    solved_by_one: tuple[tuple[str, str], ...]
    right: IntArray | None = None  # right samples over all runs; None unless scores are binary


class Fit(Struct, frozen=True):
    """A line through points, ``constant + slope · x``, or a power law, ``constant · x^slope``."""

    is_power: bool
    slope: Estimate
    constant: float
    line: FloatArray  # (4, places): x, the fitted mean, and the ends of its interval


class Search(Struct, frozen=True):
    """The best attempt of a search: its gain over the first, and what luck would show; larger is better."""

    compared: int  # attempts with a value besides the first; repetitions are none
    gain: float
    noise: float | None = None  # the standard deviation between repetitions
    df: int = 0
    luck: float | None = None  # what the best gains at most, at the level, if all attempts are equal
    repeated: Estimate | None = None  # the gain of later repetitions of the best; then its interval decides
    beyond_luck: bool | None = None
    attempts: int = 0  # all of them, also those without a value
    best: float | None = None  # the value of the best one
