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
    """Two series on the problems that both answered: a minus b, each number None where it is not known.

    Attributes:
        difference: mean of the differences.
        low, high: interval of the mean difference over problems like these, at ``level``.
        spread: standard deviation of the differences (ddof = 1).
        p: two-sided, of this comparison by itself.
        adjusted_p: adjusted for everything that was tested together.
        shared: number of problems (of runs a side for curves: the smaller side) behind the difference.
        only_a, only_b: problems that only one side answered.
        verdict: of a, with the direction of the metric taken into account.
        method, interval_method: how ``p`` and the interval were computed.
        reason: in words, why something is missing or unusual.
        runs: of a and of b; with 2 or more a side it compares methods, otherwise checkpoints.
        stderr: standard error of the difference, problems and runs together.
        run_stderr: the part of it that comes from runs; 0 where none is estimated.
        df: degrees of freedom of ``stderr``.
        family_stderr: the standard error that the test of the family uses, with spreads averaged over it.
        critical: how many ``family_stderr`` a difference needs for a verdict; None where it was tested alone.
        family_blocks: how many blocks of a page are adjusted together.
    """

    a: str
    b: str
    metric: str
    level: float
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    spread: float | None = None
    p: float | None = None
    adjusted_p: float | None = None
    tested_together: int = 0
    shared: int = 0
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    verdict: Verdict = Verdict.TOO_FEW
    method: str = ""
    interval_method: str = ""
    reason: str = ""
    runs: tuple[int, int] = (1, 1)
    stderr: float | None = None
    run_stderr: float = 0.0
    df: float | None = None
    family_stderr: float | None = None
    critical: float | None = None
    family_blocks: int = 1


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
    """How large a true difference of two series has to be to get a verdict; None where nothing is known.

    Attributes:
        difference: the one that a comparison by itself finds four times in five.
        half: the probability that a comparison by itself finds half of it.
        problems: how many a pair shares.
        runs: fewest and most runs of a series.
        stderr: standard error of the difference of a typical pair.
        together: how many comparisons were tested together.
        family_difference, family_half: the same among all of them; None for one alone.
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
    in the family (None without one); ``found`` is the difference that gets one four times in five.
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
        difference: the true difference to find.
        power: of the data as they are, with ``samples`` of a problem in a run and ``runs`` of a series.
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
    """Series × benchmark: ``cells`` has a row for each series and a column for each benchmark.

    ``macro`` has each series' average over benchmarks; its estimand is named in its score.
    """

    series: tuple[str, ...]
    benchmarks: tuple[str, ...]
    cells: tuple[tuple[BenchmarkCell, ...], ...]
    macro: tuple[BenchmarkCell, ...]
    baseline: str | None


@dataclass(frozen=True, slots=True, eq=False)
class ProblemGrid:
    """Problem × series.

    Attributes:
        problems: from the problem that the series solve best to the one they solve worst.
        score: shape (series, problems); NaN where a series lacks a problem.
        samples: same shape, over all runs.
        difficulty: mean score over the series that have the problem, shape (problems,).
        solved_by_one: problems that exactly one series ever got right, and that series; empty unless every
            score is right or wrong.
    """

    series: tuple[str, ...]
    problems: tuple[str, ...]
    score: FloatArray
    samples: IntArray
    difficulty: FloatArray
    solved_by_one: tuple[tuple[str, str], ...]
