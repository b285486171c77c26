"""Comparisons of series, ranks, power, and plans for more data: frozen values without logic."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reportgen.core.model import FloatArray, IntArray
    from reportgen.core.outcomes import Score


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
