"""Power: the differences that can be found, now and with more problems, samples or runs."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from statistics import harmonic_mean, mean, median
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.core.comparisons import (
    TARGET_POWER,
    THESE_PROBLEMS,
    Component,
    Halving,
    Plan,
    PlannedDesign,
    Power,
    ScoresError,
)
from reportgen.statistics.distributions import t_quantile
from reportgen.statistics.intervals import estimate_run_variance
from reportgen.statistics.metrics import compute_problem_values, find_rows
from reportgen.statistics.pairs import FEWEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.comparisons import Comparison, Metric, ProblemScores
    from reportgen.core.model import FloatArray
    from reportgen.statistics.metrics import ProblemValues

_LEVEL: Final = 0.95
_POINTS: Final = 201
_DEVIATIONS: Final = 8
_HALVINGS: Final = 48
_NO_SPREAD: Final = "no two series whose differences have a spread"


class _Rule(NamedTuple):
    """Rule for a verdict: |d| ≥ t · its standard error + ``step``, and |d| ≥ ``least``."""

    stderr: float
    df: float
    # of the interval that has to exclude 0
    level: float = _LEVEL
    # the family's threshold: critical value times standard error, varies as ``stderr``; 0 for a single pair
    least: float = 0.0
    # half the distance between neighbouring means of the sign-flip test; see ``find_half_step``
    step: float = 0.0


def _find_probability(difference: float, rule: _Rule) -> float:
    """Return the probability that a true difference gets a verdict in its own direction, rounded.

    The noncentral t of Cohen 1988, 12.7, with the family's threshold where that is larger: with S =
    √(χ²_df/df) E Φ(δ/stderr - max(t S + step/stderr, least S/stderr)).
    """
    spreads, weights = _list_spreads(rule.df)
    quantile = t_quantile((1 + max(rule.level, _LEVEL)) / 2, rule.df)
    needed = np.maximum(quantile * spreads * rule.stderr + rule.step, rule.least * spreads)
    reach = ((difference - needed) / (rule.stderr * math.sqrt(2))).tolist()
    total = math.fsum(
        weight * (1 + math.erf(one)) / 2 for weight, one in zip(weights.tolist(), reach, strict=True)
    )
    return float(f"{total:.10g}")


@lru_cache(maxsize=256)
def _list_spreads(df: float) -> tuple[FloatArray, FloatArray]:
    """Return values of √(χ²_df/df) and their probabilities."""
    if math.isinf(df):
        return np.ones(1), np.ones(1)
    width = _DEVIATIONS / math.sqrt(2 * df)
    values = np.linspace(max(1e-3, 1 - width), 1 + width, _POINTS)
    logs = (df - 1) * np.log(values) - df * values**2 / 2
    weights = np.exp(logs - logs.max())
    return values, weights / weights.sum()


def _find_difference(rule: _Rule) -> float:
    """Return the true difference with a verdict four times in five, rounded, so that machines agree."""
    low, high = 0.0, rule.stderr
    while _find_probability(high, rule) < TARGET_POWER:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _find_probability(middle, rule) < TARGET_POWER else (low, middle)
    return float(f"{high:.10g}")


def estimate_power(comparisons: Sequence[Comparison], step: float = 0.0) -> Power:
    """Estimate the power of a benchmark's comparisons, for a typical pair alone and in its family.

    The pair has their medians of standard errors, degrees of freedom and problems, so that one series with
    few problems does not change what is said of the others. Pairs without spread (a series and its copy) say
    nothing about others and are left out.
    """
    usable = _select_usable(comparisons)
    if not usable:
        few = any(one.shared and one.p is None for one in comparisons)
        reason = f"fewer than {FEWEST} shared problems cannot decide" if few else _NO_SPREAD
        return Power(None, 0, (1, 1), None, 0, None, reason)
    alone = _make_rule(usable, step)
    difference, together = _find_difference(alone), _make_family_rule(alone, usable)
    in_family = _find_difference(together) if together else None
    reason = ""
    if together is None and any(one.critical for one in usable):
        reason = "on so few problems no difference would be detected"
    elif together is None and usable[0].tested_together > 1:
        reason = "how large a true difference has to be depends on the others"
    return Power(
        difference=difference,
        problems=int(median(one.shared for one in usable)),
        runs=(min(min(one.runs) for one in usable), max(max(one.runs) for one in usable)),
        stderr=alone.stderr,
        together=max(one.tested_together for one in usable),
        family_difference=in_family,
        reason=reason,
    )


def _make_rule(usable: Sequence[Comparison], step: float) -> _Rule:
    """Return the rule of a typical pair alone."""
    return _Rule(
        stderr=median(one.stderr or 0.0 for one in usable),
        df=median(one.df or math.inf for one in usable),
        level=usable[0].level,
        step=0.0 if any(one.run_stderr or one.estimand == THESE_PROBLEMS for one in usable) else step,
    )


def _select_usable(comparisons: Sequence[Comparison]) -> list[Comparison]:
    return [one for one in comparisons if one.p is not None and one.stderr and one.spread and one.df]


def find_half_step(scores: ProblemScores, metric: str) -> float:
    """Return half the distance between neighbouring mean differences of sign flips; 0 if it is tiny.

    With m samples that are right or wrong a problem's score is a multiple of 1/m; the test counts sums equal
    to the observed one, and so needs half a step more than one of continuous numbers (Feller 1968, VII.3).
    """
    some = scores.samples[scores.samples > 0]
    if not some.size or some.min() < some.max() or not all(scores.binary):
        return 0.0
    if not metric.startswith(("mean", "avg")):
        return 0.0
    runs = max(Counter(run.series for run in scores.runs).values())
    return (scores.highest - scores.lowest) / (int(some[0]) * runs * len(scores.problems))


def _make_family_rule(alone: _Rule, usable: Sequence[Comparison]) -> _Rule | None:
    """Return the rule of a pair in its family; None if each was tested separately, or none can be found."""
    thresholds = [one.family_stderr * one.critical for one in usable if one.family_stderr and one.critical]
    if not thresholds or math.isinf(median(thresholds)):
        return None
    return alone._replace(
        # If blocks form one family, p is multiplied by their number, also for a single pair.
        level=max(alone.level, 1 - (1 - _LEVEL) / usable[0].family_blocks),
        least=median(thresholds),
    )


_TIMES = (0.5, 1, 2, 4, 8)


class _Design(NamedTuple):
    """Numbers of problems, samples per problem in a run, and runs per series."""

    problems: int
    samples: int
    runs: int


class _Variances(NamedTuple):
    """Components of the variance of a difference: both sides together, per problem, sample and run.

    V = (problems + run_problem/r + answers/(m r))/P + runs/r for P problems, m samples and r runs.
    """

    # between problems, in the true difference of the two series
    problems: float
    # of run × problem; 0 with one run, where it is part of ``problems``
    run_problem: float
    # of one answer; 0 if unknown, and then part of the term above
    answers: float
    # between runs, beyond what answers explain
    runs: float

    def of_problems(self, design: _Design) -> float:
        """Return the part that more problems reduce."""
        answers = self.answers / (design.samples * design.runs)
        return (self.problems + self.run_problem / design.runs + answers) / design.problems

    def of_runs(self, design: _Design) -> float:
        """Return the part that only more runs reduce."""
        return self.runs / design.runs

    def divide_by_df(self, design: _Design) -> tuple[float, float]:
        """Return the squares of both parts over their degrees of freedom; see ``RunVariance.df``."""
        of_problems, of_runs = self.of_problems(design), self.of_runs(design)
        over_df = 0.0
        if of_runs and design.runs > 1:
            share = of_runs / (of_runs + of_problems)
            over_df = 2 * (of_runs / 2) ** 2 / ((design.runs - 1) * share**2)
        return of_problems**2 / (design.problems - 1), over_df

    def calibrate(self, now: _Design, alone: _Rule) -> tuple[float, float]:
        """Return the factors of standard errors and degrees of freedom that leave those of today as they are.

        The standard error differs from the expected one if a variance was raised to 0, the degrees of freedom
        if the runs of one series vary more than those of another.
        """
        total, expected = self.of_problems(now) + self.of_runs(now), self.divide_by_df(now)
        fewer = math.isfinite(alone.df) and expected[1] > 0
        return alone.stderr / math.sqrt(total), alone.df * sum(expected) / total**2 if fewer else 1.0

    def list_components(self, now: _Design, unknown: dict[str, str]) -> tuple[Component, ...]:
        """Return the components of the current standard error."""
        cells = now.problems * now.runs
        parts = (
            ("problems", self.problems / now.problems, "problems"),
            ("answers", self.answers / (cells * now.samples), "answers"),
            ("run_problem", self.run_problem / cells, "runs"),
            ("runs", self.of_runs(now), "runs"),
        )
        return tuple(
            Component(name, None if known in unknown else math.sqrt(part), unknown.get(known, ""))
            for name, part, known in parts
        )

    def list_halvings(self, now: _Design, unknown: dict[str, str]) -> tuple[Halving, ...]:
        """Return the problems, samples or runs that alone would halve the standard error, if they can."""
        of_problems, of_runs = self.of_problems(now), self.of_runs(now)
        target = (of_problems + of_runs) / 4
        fixed = (self.problems + self.run_problem / now.runs) / now.problems + of_runs
        by_run = (self.run_problem + self.answers / now.samples) / now.problems + self.runs
        # Each variance, and the target for it given the other parts.
        parts = (
            ("problems", "problems", of_problems * now.problems, target - of_runs),
            ("samples", "answers", self.answers / (now.runs * now.problems), target - fixed),
            ("runs", "runs", by_run, target - self.problems / now.problems),
        )
        halvings = []
        for what, known, variance, room in parts:
            needed = None
            if known not in unknown and room > 0:
                # A tiny excess over a whole number is rounding.
                needed = math.ceil(variance / room - 1e-9)
            halvings.append(Halving(what, needed, unknown.get(known, "")))
        return tuple(halvings)


def plan(
    scores: ProblemScores,
    comparisons: Sequence[Comparison],
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    difference: float | None = None,
) -> Plan:
    """Estimate how often a true difference is found with other numbers of problems, samples and runs.

    The variance of the difference of a typical pair is split by analysis of variance into sampling, run ×
    problem, runs, and the rest as problems (Searle et al. 1992, 4.7; none is below 0), and combined for
    another design. ``difference`` is in the unit of the scores; by default the one that is found four times
    in five now. Raises a ScoresError if no two series have differences with a spread, some series have one
    run and others several, or it is not above 0.
    """
    if difference is not None and not difference > 0:
        raise ScoresError(f"a difference of {difference:g} is none to look for", "Give one above 0")
    power = estimate_power(comparisons, find_half_step(scores, str(metric)))
    if power.difference is None or power.stderr is None:
        raise ScoresError(f"there is nothing to plan with: {power.reason}", "Give two series that differ")
    values = compute_problem_values(scores, metric, k)
    now = _find_design(scores, power.problems)
    variances, unknown = _split_variances(scores, values, comparisons, now)
    alone = _make_rule(usable := _select_usable(comparisons), 0.0)
    family = _make_family_rule(alone, usable)
    scale, df_scale = variances.calibrate(now, alone)
    planner = _Planner(
        difference or float(f"{power.family_difference or power.difference:.2g}"),
        variances,
        scale,
        df_scale,
        family_share=family.least / power.stderr if family else 0.0,
        step=scores.highest - scores.lowest if find_half_step(scores, values.name) else 0.0,
    )
    return Plan(
        difference=planner.difference,
        power=power,
        samples=now.samples,
        runs=now.runs,
        components=variances.list_components(now, unknown),
        designs=planner.plan_designs(now, unknown),
        halvings=variances.list_halvings(now, unknown),
    )


def _find_design(scores: ProblemScores, problems: int) -> _Design:
    """Return the current design; raise a ScoresError if there is none."""
    counts = scores.samples[scores.samples > 0].tolist()
    # The variance depends on the harmonic mean of the numbers of samples.
    samples = max(1, round(harmonic_mean(counts))) if counts else 1
    runs, most = (end(Counter(run.series for run in scores.runs).values()) for end in (min, max))
    if runs == 1 < most:
        message = "there is nothing to plan with: some series have one run, and others several"
        raise ScoresError(message, "Add runs, or keep one run of each with filter: in source.yml")
    return _Design(problems, samples, runs)


class _Planner(NamedTuple):
    """Power of designs; ``step`` is ``find_half_step`` of one problem with one sample and one run."""

    difference: float
    variances: _Variances
    scale: float
    df_scale: float
    family_share: float
    step: float

    def plan_designs(self, now: _Design, unknown: dict[str, str]) -> tuple[PlannedDesign, ...]:
        """Plan half to eight times the problems, each with other samples, and then other runs."""
        samples = dict.fromkeys([now.samples] if "answers" in unknown else [1, now.samples, 4 * now.samples])
        runs = [] if "runs" in unknown else [2 * now.runs, 4 * now.runs]
        others = [*((count, now.runs) for count in samples), *((now.samples, count) for count in runs)]
        problems = dict.fromkeys(max(FEWEST, round(times * now.problems)) for times in _TIMES)
        return tuple(self.plan_design(_Design(count, *other)) for other in others for count in problems)

    def plan_design(self, design: _Design) -> PlannedDesign:
        """Return how often the difference is found with a design."""
        of_problems, of_runs = self.variances.of_problems(design), self.variances.of_runs(design)
        total = of_problems + of_runs
        df = self.df_scale * total**2 / sum(self.variances.divide_by_df(design))
        step = 0.0 if of_runs else self.step / (design.samples * design.runs * design.problems)
        alone = _Rule(stderr=self.scale * math.sqrt(total), df=df, step=step)
        family = None
        if self.family_share:
            family = alone._replace(least=self.family_share * alone.stderr)
        return PlannedDesign(
            *design,
            stderr=alone.stderr,
            alone=_find_probability(self.difference, alone),
            together=_find_probability(self.difference, family) if family else None,
            found=_find_difference(family or alone),
        )


def _split_variances(
    scores: ProblemScores, values: ProblemValues, comparisons: Sequence[Comparison], now: _Design
) -> tuple[_Variances, dict[str, str]]:
    """Return the variances, and by name the reasons for unknown ones."""
    usable = _select_usable(comparisons)
    seen = mean((one.stderr or 0.0) ** 2 - one.run_stderr**2 for one in usable) * now.problems
    of_runs = mean(one.run_stderr**2 for one in usable) * now.runs
    unknown = {}
    answers, run_problem = 0.0, 0.0
    if values.name != "mean" and not values.name.startswith("avg@"):
        unknown["answers"] = f"how {values.name} varies with the number of samples is not planned"
    elif now.samples == 1:
        unknown["answers"] = "with 1 sample a problem it is part of what stands under problems"
    else:
        answers = 2 * float(np.nanmean(scores.variance))
    if now.runs == 1:
        unknown["runs"] = "each series has 1 run, so what another seed would change is not known"
    else:
        own = [
            estimate_run_variance(values.runs[find_rows(scores, place)])
            for place in range(len(scores.series))
        ]
        square = mean(one.residual for one in own if one is not None) * now.problems
        run_problem = max(0.0, 2 * square - answers / now.samples)
    rest = seen - run_problem / now.runs - answers / (now.samples * now.runs)
    return _Variances(max(0.0, rest), run_problem, answers, of_runs), unknown
