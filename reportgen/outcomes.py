"""Answers to problems and what is computed from them: frozen values, without logic.

An outcome is one answer to one problem. Missing is ``None`` and a reason, or NaN inside a numeric array;
it is never 0, and no NaN stands in a result. Scores are in the unit of the input, intervals and differences
too.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import narwhals as nw

    from reportgen.model import FloatArray, IntArray

Metric: TypeAlias = Literal["mean", "avg@n", "pass@k", "pass^k", "maj@k"]
Estimand: TypeAlias = Literal["problems like these", "these problems"]
REPORTED: Final = "as reported"
"""The method of a score that was not computed here: a total that is used as it is reported."""


class ScoresError(ValueError):
    """The outcomes cannot give what was asked for; says what was found, and the next step.

    Attributes:
        message: what was found, a sentence without its full stop.
        next_step: what to do about it, a sentence without its full stop; may be empty.
    """

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
        reading: enter it where the frame is read; see ``model.Measurements``.
        check_repeats: call it where rows of one run, problem and sample were found; as there.
        check_clusters: call it where a problem was found in two clusters; raises a ``ReportError`` with the
            file and line.
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

    Attributes:
        series, run, seed: as in ``Outcomes``.
        metric: its name, with the filter or scorer that it belongs to.
        value, stderr: in the unit of the input; None where there is none.
        problems: how many it is over; None where that is not said.
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
    """One run of a series; ``series`` is its place in ``ProblemScores.series``."""

    series: int
    run: str
    seed: str | None


@dataclass(frozen=True, slots=True)
class OutcomeNotes:
    """What was found in the outcomes and has to be told.

    Attributes:
        rows: rows of the table.
        replaced: rows that a later row of the same series, run, problem and sample replaced.
        missing: rows whose score is null, NaN or infinite; left out, never taken for wrong.
        lacking: series, and the problems that other series have and it lacks.
        uneven: series whose problems differ in number of samples: name, fewest and most samples of a run.
        differing_gold: problems that have more than one gold answer: different problems under one name.
    """

    rows: int = 0
    replaced: int = 0
    missing: int = 0
    lacking: tuple[tuple[str, tuple[str, ...]], ...] = ()
    uneven: tuple[tuple[str, int, int], ...] = ()
    differing_gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """How often each answer was given, for majority votes; 1-d arrays of equal length, one entry an answer.

    Attributes:
        run: place of the run in ``ProblemScores.runs``.
        problem: place of the problem in ``ProblemScores.problems``.
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
        mean: their mean score.
        variance: their variance (ddof = 1); NaN under 2 samples.
        binary: of each series, whether each of its scores is the lowest or the highest possible.
        lowest, highest: the stated range of scores.
        tokens, seconds, cost: mean of a cell's samples; NaN where not given.
        notes: what was found on the way.
        votes: None unless answers were asked for and are there.
        gold: the right answer of each problem, None where it is not given or not one; empty without any.
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
    """One series on one benchmark.

    Attributes:
        series: its name.
        metric: as asked for, with its k: ``mean``, ``pass@4``.
        estimand: what the interval is about; empty for a score that is used as reported.
        level: of the interval.
        estimate: None where there is no score.
        low, high: the interval; both None where there is none, then ``reason`` says why.
        method: how the interval was made.
        reason: in words, why something is missing or unusual; empty where nothing is.
        problems: problems scored.
        samples: fewest and most samples of a problem in a run; None for a score that is used as reported.
        runs: runs that were averaged within a problem or, of scores as reported, as a whole.
        between_runs: standard deviation of the runs' own scores; None under 2 runs.
        tokens, seconds, cost: mean of a sample, averaged over problems; None where not given.
        stderr: the standard error behind the interval; None where it was not made from one.
        run_stderr: the part of ``stderr`` that comes from runs: √(τ²/r) with τ² the variance between runs
            beyond what sampling of answers puts there, 0 where that explains all of it; None under 2 runs.
    """

    series: str
    metric: str
    estimand: str
    level: float
    estimate: float | None
    low: float | None
    high: float | None
    method: str
    reason: str
    problems: int
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


class Verdict(StrEnum):
    """What a comparison says of its first side."""

    BETTER = "better"
    WORSE = "worse"
    UNCLEAR = "unclear"
    TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two series on the problems that both answered: a minus b.

    Attributes:
        a, b: names of the series.
        metric: as in ``Score``.
        level: of the interval.
        difference: mean of the differences; None without a shared problem.
        low, high: interval of the mean difference over problems like these; None where there is none.
        spread: standard deviation of the differences (ddof = 1); None under 2 shared problems.
        p: two-sided, of this comparison by itself; None where nothing was tested.
        adjusted_p: adjusted for everything that was tested together.
        tested_together: how many were tested together.
        shared: number of problems (of runs a side for curves: the smaller side) behind the difference.
        only_a, only_b: problems that only one side answered.
        verdict: of a, with the direction of the metric taken into account.
        method: how p was computed.
        interval_method: how the interval was made.
        reason: in words, why something is missing or unusual.
        runs: runs of a and of b. From 2 a side on the comparison is of methods, below of these checkpoints.
        stderr: standard error of the difference, problems and runs together; None where not known.
        run_stderr: the part of it that comes from runs; 0 where none is estimated.
        df: degrees of freedom of ``stderr``.
        family_stderr: the standard error that the test of the family uses, with spreads averaged over it.
        critical: how many ``family_stderr`` a difference needs for a verdict; both None where it was
            tested by itself.
        family_blocks: how many blocks of a page are adjusted together.
    """

    a: str
    b: str
    metric: str
    level: float
    difference: float | None
    low: float | None
    high: float | None
    spread: float | None
    p: float | None
    adjusted_p: float | None
    tested_together: int
    shared: int
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    verdict: Verdict
    method: str
    interval_method: str
    reason: str
    runs: tuple[int, int] = (1, 1)
    stderr: float | None = None
    run_stderr: float = 0.0
    df: float | None = None
    family_stderr: float | None = None
    critical: float | None = None
    family_blocks: int = 1


@dataclass(frozen=True, slots=True)
class RankGroup:
    """Series of which none is shown to be better than all that follow; ``rank`` counts groups, 1 is the best.

    Every series of a group is better than every series of the groups below it.
    """

    rank: int
    series: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankRange:
    """The ranks that the verdicts leave to a series, among ``count`` series.

    ``best_probability`` is the share of resampled problems (and runs) on which it is the best; None unless
    it was computed.
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
    """How large a true difference of two series has to be to be found, which is to get a verdict.

    Attributes:
        difference: the one that a comparison by itself finds four times in five; None with a reason.
        half: the probability that a comparison by itself finds half of it.
        problems: problems that a pair shares.
        runs: fewest and most runs of a series.
        stderr: standard error of the difference of a typical pair.
        together: how many comparisons were tested together.
        family_difference: the one that is found four times in five among all of them; None for one alone.
        family_half: the probability that half of it is found among them.
        reason: in words, why nothing is known.
    """

    difference: float | None
    half: float | None
    problems: int
    runs: tuple[int, int]
    stderr: float | None
    together: int
    family_difference: float | None
    family_half: float | None
    reason: str


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
    """What a design finds: so many problems, samples of each in a run, and runs of each series.

    ``alone`` and ``together`` are the probabilities that the planned difference gets a verdict by itself and
    in the family (None without one); ``notes`` is the difference that gets one four times in five, in the
    family where there is one.
    """

    problems: int
    samples: int
    runs: int
    stderr: float
    alone: float
    together: float | None
    found: float


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
    """What other numbers of problems, samples and runs would find on a benchmark.

    Attributes:
        difference: the true difference that is looked for.
        power: of the data as they are.
        samples, runs: samples of a problem in a run, and runs of a series, as they are.
        components: the parts of the standard error of a difference.
        designs: by samples and runs, then by problems; the present design is among them.
        halvings: of problems, samples and runs.
    """

    difference: float
    power: Power
    samples: int
    runs: int
    components: tuple[Component, ...]
    designs: tuple[PlannedDesign, ...]
    halvings: tuple[Halving, ...]


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
    """Series × benchmark. ``cells`` has a row for each of ``series`` and a column for each of ``benchmarks``.

    ``macro`` has the average over benchmarks of each series; its estimand is named in its score.
    """

    series: tuple[str, ...]
    benchmarks: tuple[str, ...]
    cells: tuple[tuple[BenchmarkCell, ...], ...]
    macro: tuple[BenchmarkCell, ...]
    baseline: str | None


@dataclass(frozen=True, slots=True, eq=False)
class ProblemGrid:
    """Problem × series, the hardest problem last.

    Attributes:
        series: names, in order of first appearance.
        problems: names, from the problem that the series solve best to the one they solve worst.
        score: shape (series, problems); NaN where a series lacks a problem.
        samples: same shape, over all runs; 0 where a series lacks a problem.
        difficulty: mean score over the series that have the problem, shape (problems,).
        solved_by_one: problems that exactly one series ever got right, and that series. Empty unless
            every series' scores are right or wrong.
    """

    series: tuple[str, ...]
    problems: tuple[str, ...]
    score: FloatArray
    samples: IntArray
    difficulty: FloatArray
    solved_by_one: tuple[tuple[str, str], ...]
