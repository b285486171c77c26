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
from reportgen.statistics.metrics import compute_problem_values
from reportgen.statistics.pairs import FEWEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.comparisons import Comparison, Metric, ProblemScores
    from reportgen.core.model import FloatArray

_LEVEL: Final = 0.95
_POINTS: Final = 201
_DEVIATIONS: Final = 8
_HALVINGS: Final = 48


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

    The pair has their medians of standard errors, degrees of freedom and problems. Pairs without spread (a
    series and its copy) say nothing about others and are left out.
    """
    usable = _select_usable(comparisons)
    if not usable:
        few = any(one.shared and one.p is None for one in comparisons)
        reason = "no two series whose differences have a spread"
        reason = f"fewer than {FEWEST} shared problems cannot decide" if few else reason
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
    is_mean = metric.startswith(("mean", "avg"))
    if not (is_mean and some.size and some.min() == some.max() and all(scores.binary)):
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


class _Parts(NamedTuple):
    """Parts of the variance of a typical difference, both sides together, and its degrees of freedom."""

    problems: float
    answers: float  # sampled ones; 0 if unknown, and then part of ``problems``
    runs: float
    df: float

    @property
    def total(self) -> float:
        """The variance of the difference."""
        return self.problems + self.answers + self.runs

    def scale(self, now: _Design, design: _Design) -> _Parts:
        """Return the parts with another design: each is divided by how often it is drawn."""
        problems, samples, runs = (old / new for old, new in zip(now, design, strict=True))
        answers = self.answers * problems * samples * runs
        scaled = self._replace(problems=self.problems * problems, answers=answers, runs=self.runs * runs)
        factor = scaled.approximate_df(design) / self.approximate_df(now)
        return scaled._replace(df=self.df * factor)

    def approximate_df(self, design: _Design) -> float:
        """Return Satterthwaite's degrees of freedom if the runs of both sides vary alike."""
        # Those of runs are (r - 1)(τ²/S²)² a side, as in ``RunVariance.df``.
        of_problems = (1 - self.runs / self.total) ** 2 / (design.problems - 1)
        return 1 / (of_problems + (1 / (2 * (design.runs - 1)) if self.runs else 0.0))

    def list_components(self, unknown: dict[str, str]) -> tuple[Component, ...]:
        """Return the components of the standard error."""
        parts = zip(self._fields, self[:3], strict=False)
        return tuple(
            Component(name, None if name in unknown else math.sqrt(part), unknown.get(name, ""))
            for name, part in parts
        )

    def list_halvings(self, now: _Design, unknown: dict[str, str]) -> tuple[Halving, ...]:
        """Return the problems, samples or runs that alone would halve the standard error, if they can."""
        reduced = self.problems + self.answers, self.answers, self.answers + self.runs
        halvings = []
        for what, known, number, part in zip(now._fields, self._fields, now, reduced, strict=False):
            room, needed = part - 0.75 * self.total, None
            if known not in unknown and room > 0:
                # A tiny excess over a whole number is rounding.
                needed = math.ceil(number * part / room - 1e-9)
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

    The variance of the difference of a typical pair has the parts of ``pairs.PairedBenchmark``: sampling,
    runs, and the rest as problems. ``difference`` is in the unit of the scores; by default the one that is
    found four times in five now. Raises a ScoresError if no two series have differences with a spread, some
    series have one run and others several, or it is not above 0.
    """
    if difference is not None and not difference > 0:
        raise ScoresError(f"a difference of {difference:g} is none to look for", "Give one above 0")
    half_step = find_half_step(scores, str(metric))
    power = estimate_power(comparisons, half_step)
    if power.difference is None or power.stderr is None:
        raise ScoresError(f"there is nothing to plan with: {power.reason}", "Give two series that differ")
    name = compute_problem_values(scores, metric, k).name
    now = _find_design(scores, power.problems)
    parts, unknown = _split_variance(scores, name, comparisons, now)
    family = _make_family_rule(_make_rule(usable := _select_usable(comparisons), 0.0), usable)
    planner = _Planner(
        difference or float(f"{power.family_difference or power.difference:.2g}"),
        now,
        parts,
        family_share=family.least / power.stderr if family else 0.0,
        step=scores.highest - scores.lowest if half_step else 0.0,
    )
    return Plan(
        difference=planner.difference,
        power=power,
        samples=now.samples,
        runs=now.runs,
        components=parts.list_components(unknown),
        designs=planner.plan_designs(unknown),
        halvings=parts.list_halvings(now, unknown),
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
    now: _Design
    parts: _Parts
    family_share: float
    step: float

    def plan_designs(self, unknown: dict[str, str]) -> tuple[PlannedDesign, ...]:
        """Plan half to eight times the problems, each with other samples, and then other runs."""
        now = self.now
        samples = dict.fromkeys([now.samples] if "answers" in unknown else [1, now.samples, 4 * now.samples])
        runs = [] if "runs" in unknown else [2 * now.runs, 4 * now.runs]
        others = [*((count, now.runs) for count in samples), *((now.samples, count) for count in runs)]
        problems = dict.fromkeys(max(FEWEST, round(times * now.problems)) for times in _TIMES)
        return tuple(self.plan_design(_Design(count, *other)) for other in others for count in problems)

    def plan_design(self, design: _Design) -> PlannedDesign:
        """Return how often the difference is found with a design."""
        parts = self.parts.scale(self.now, design)
        step = 0.0 if parts.runs else self.step / (design.samples * design.runs * design.problems)
        alone = _Rule(stderr=math.sqrt(parts.total), df=parts.df, step=step)
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


def _split_variance(
    scores: ProblemScores, metric: str, comparisons: Sequence[Comparison], now: _Design
) -> tuple[_Parts, dict[str, str]]:
    """Return the parts of the variance of a typical pair, and by name the reasons for unknown ones."""
    usable = _select_usable(comparisons)
    seen = mean((one.stderr or 0.0) ** 2 - one.run_stderr**2 for one in usable)
    runs, answers, unknown = mean(one.run_stderr**2 for one in usable), 0.0, {}
    if metric != "mean" and not metric.startswith("avg@"):
        unknown["answers"] = f"how {metric} varies with the number of samples is not planned"
    elif now.samples == 1:
        unknown["answers"] = "with 1 sample a problem it is part of what stands under problems"
    else:
        answers = 2 * float(np.nanmean(scores.variance)) / (now.problems * now.samples * now.runs)
    if now.runs == 1:
        unknown["runs"] = "each series has 1 run, so what another seed would change is not known"
    problems, rule = max(0.0, seen - answers), _make_rule(usable, 0.0)
    # The standard error of a typical pair is the median one, and answers may explain more than is seen.
    scale = rule.stderr**2 / (problems + answers + runs)
    return _Parts(problems * scale, answers * scale, runs * scale, rule.df), unknown
