"""How large a difference has to be to be found, and what more problems, samples or runs would find."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from statistics import harmonic_mean, mean, median
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from reportgen.core.comparisons import TARGET_POWER, Component, Halving, Plan, PlannedDesign, Power
from reportgen.core.outcomes import ScoresError
from reportgen.statistics.distributions import t_quantile
from reportgen.statistics.intervals import estimate_run_variance
from reportgen.statistics.metrics import compute_problem_values, find_rows
from reportgen.statistics.pairs import FEWEST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import FloatArray
    from reportgen.core.outcomes import Metric, ProblemScores
    from reportgen.statistics.metrics import ProblemValues


_LEVEL: Final = 0.95
_POINTS: Final = 201
_DEVIATIONS: Final = 8
_HALVINGS: Final = 48


class Rule(NamedTuple):
    """When a difference gets a verdict: |d| ≥ t · its standard error + ``step``, and |d| ≥ ``least``.

    Attributes:
        stderr: of the difference.
        df: degrees of freedom of ``stderr``.
        level: of the interval that has to leave 0 out.
        least: what a family needs: its critical value times its standard error; 0 for a pair by itself.
        varies: whether ``least`` varies as ``stderr`` does. It does where runs are a part of both: the family
            has few of them, too. Over problems it is an average of many spreads, and hardly varies.
        step: half the distance between neighbouring means of the sign-flip test, see ``find_half_step``.
    """

    stderr: float
    df: float
    level: float = _LEVEL
    least: float = 0.0
    varies: bool = False
    step: float = 0.0


def find_probability(difference: float, rule: Rule) -> float:
    """The probability that a true difference gets a verdict in its own direction.

    d is normal about the true difference, and its standard error varies as √(χ²_df/df) of its own: the
    noncentral t of Cohen 1988, 12.7, with the family's threshold where that is larger. With S = √(χ²_df/df)
    it is E Φ(δ/stderr - max(t S + step/stderr, least S/stderr)), without the last S where it does not vary.

    Returns:
        Rounded, so that it is the same number on every machine.
    """
    spreads, weights = _list_spreads(rule.df)
    quantile = t_quantile((1 + max(rule.level, _LEVEL)) / 2, rule.df)
    least = rule.least * spreads if rule.varies else rule.least
    needed = np.maximum(quantile * spreads * rule.stderr + rule.step, least)
    reach = (difference - needed) / (rule.stderr * math.sqrt(2))
    found = math.fsum(
        weight * (1 + math.erf(one)) / 2 for weight, one in zip(weights.tolist(), reach.tolist(), strict=True)
    )
    return float(f"{found:.10g}")


def find_difference(rule: Rule, probability: float = TARGET_POWER) -> float:
    """The true difference that gets a verdict with this probability; rounded, so that machines agree."""
    low, high = 0.0, rule.stderr
    while find_probability(high, rule) < probability:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if find_probability(middle, rule) < probability else (low, middle)
    return float(f"{high:.10g}")


def estimate_power(comparisons: Sequence[Comparison], step: float = 0.0) -> Power:
    """What the comparisons of one benchmark find: a pair with their mean variance, alone and in their family.

    The family test averages spreads over its pairs (``adjust_step_down``), so a typical pair has their
    mean variance, and the median of their degrees of freedom and problems. Pairs without spread (a series and
    its copy) say nothing about others and are left out.
    """
    usable = [one for one in comparisons if one.stderr and one.spread and one.df]
    if not usable:
        reason = "no two series whose differences have a spread"
        return Power(None, None, 0, (1, 1), None, 0, None, None, reason)
    alone = Rule(
        stderr=_mean_square([one.stderr or 0.0 for one in usable]),
        df=median(one.df or math.inf for one in usable),
        level=usable[0].level,
        step=0.0 if any(one.run_stderr for one in usable) else step,
    )
    found, together = find_difference(alone), make_family_rule(alone, usable)
    in_family = find_difference(together) if together else None
    return Power(
        difference=found,
        half=find_probability(found / 2, alone),
        problems=int(median(one.shared for one in usable)),
        runs=(min(min(one.runs) for one in usable), max(max(one.runs) for one in usable)),
        stderr=alone.stderr,
        together=max(one.tested_together for one in usable),
        family_difference=in_family,
        family_half=find_probability(in_family / 2, together) if together and in_family else None,
        reason="",
    )


def find_half_step(scores: ProblemScores, metric: str) -> float:
    """Half the distance between neighbouring mean differences that sign flips give; 0 where it is tiny.

    With m samples that are right or wrong a problem's score is a multiple of 1/m, and a flipped sign moves
    the mean by twice as much over P problems. The test counts what is as far as the difference seen or
    farther, and so asks for half a step more than a test of continuous numbers (Feller 1968, VII.3, on the
    correction for continuity).
    """
    some = scores.samples[scores.samples > 0]
    if (
        not some.size
        or some.min() < some.max()
        or not all(scores.binary)
        or not metric.startswith(("mean", "avg"))
    ):
        return 0.0
    runs = max(Counter(run.series for run in scores.runs).values())
    return (scores.highest - scores.lowest) / (int(some[0]) * runs * len(scores.problems))


def make_family_rule(alone: Rule, comparisons: Sequence[Comparison]) -> Rule | None:
    """The rule of a pair in the family of these comparisons; None where each was tested by itself."""
    family = [one for one in comparisons if one.family_stderr and one.critical]
    if not family:
        return None
    stderr = _mean_square([one.family_stderr or 0.0 for one in family])
    return alone._replace(
        # Blocks of one family each multiply p by their number, that of a pair by itself too.
        level=max(alone.level, 1 - (1 - _LEVEL) / family[0].family_blocks),
        least=max(one.critical or 0.0 for one in family) * stderr,
        varies=any(one.run_stderr for one in family),
    )


def _mean_square(values: Sequence[float]) -> float:
    return math.sqrt(math.fsum(value**2 for value in values) / len(values))


@lru_cache(maxsize=256)
def _list_spreads(df: float) -> tuple[FloatArray, FloatArray]:
    """Values of √(χ²_df/df) and their probabilities."""
    if math.isinf(df):
        return np.ones(1), np.ones(1)
    width = _DEVIATIONS / math.sqrt(2 * df)
    values = np.linspace(max(1e-3, 1 - width), 1 + width, _POINTS)
    logs = (df - 1) * np.log(values) - df * values**2 / 2
    weights = np.exp(logs - logs.max())
    return values, weights / weights.sum()


_TIMES = (0.5, 1, 2, 4, 8)
_DIGITS = 2


class _Design(NamedTuple):
    """How many problems, samples of each in a run, and runs of each series."""

    problems: int
    samples: int
    runs: int


class _Variances(NamedTuple):
    """What makes the difference of two series vary: both sides together, for one problem, sample and run.

    V = (problems + run_problem/r + answers/(m r))/P + runs/r for P problems, m samples and r runs.

    Attributes:
        problems: between problems, in what the two series are truly apart.
        run_problem: what a run changes on single problems; 0 with one run, where it is part of ``problems``.
        answers: of one answer; 0 where it is not known, and part of what stands before.
        runs: between runs, beyond what answers explain.
    """

    problems: float
    run_problem: float
    answers: float
    runs: float

    def of_problems(self, design: _Design) -> float:
        """The part that more problems make smaller."""
        answers = self.answers / (design.samples * design.runs)
        return (self.problems + self.run_problem / design.runs + answers) / design.problems

    def of_runs(self, design: _Design) -> float:
        """The part that only more runs make smaller."""
        return self.runs / design.runs

    def total(self, design: _Design) -> float:
        """The variance of the difference."""
        return self.of_problems(design) + self.of_runs(design)


def plan(
    scores: ProblemScores,
    comparisons: Sequence[Comparison],
    metric: Metric | str = "mean",
    k: int | None = None,
    *,
    difference: float | None = None,
) -> Plan:
    """How often a true difference is found with other numbers of problems, samples and runs.

    The variance of the difference of a typical pair is taken apart by analysis of variance: sampling from the
    variance of a problem's samples, run × problem and runs as ``estimate_run_variance`` has them, averaged
    over the
    series, and problems from what is left of the mean variance of the comparisons (Searle et al. 1992, 4.7;
    none is below 0). What the data do not show is None with a reason. Put together for another design it
    gives the power, with the critical value of the family that was tested.

    ``difference`` is the true one, in the unit of the scores; if left out the one that is found four times in
    five now, in two digits.

    Raises:
        ScoresError: no two series have differences with a spread, or the difference is not above 0.
    """
    if difference is not None and not difference > 0:
        raise ScoresError(f"a difference of {difference:g} is none to look for", "Give one above 0")
    power = estimate_power(comparisons, find_half_step(scores, str(metric)))
    if power.difference is None or power.stderr is None:
        raise ScoresError(f"there is nothing to plan with: {power.reason}", "Give two series that differ")
    values = compute_problem_values(scores, metric, k)
    counts = scores.samples[scores.samples > 0].tolist()
    # The harmonic mean of the numbers of samples is the one that counts.
    samples = max(1, round(harmonic_mean(counts))) if counts else 1
    runs = min(Counter(run.series for run in scores.runs).values(), default=1)
    now = _Design(power.problems, samples, runs)
    variances, unknown = _split_variances(scores, values, comparisons, now)
    target = difference or float(f"{power.family_difference or power.difference:.{_DIGITS}g}")
    family = make_family_rule(Rule(power.stderr, math.inf), comparisons)
    planner = _Planner(
        variances,
        # Seen and expected differ where a variance was raised to 0: what is seen now stays as it is.
        scale=power.stderr / math.sqrt(variances.total(now)),
        family_share=family.least / power.stderr if family else 0.0,
        step=scores.highest - scores.lowest if find_half_step(scores, values.name) else 0.0,
    )
    return Plan(
        difference=target,
        power=power,
        samples=now.samples,
        runs=now.runs,
        components=_list_components(variances, now, unknown),
        designs=tuple(planner.plan_design(design, target) for design in _list_designs(now, unknown)),
        halvings=tuple(_list_halvings(variances, now, unknown)),
    )


class _Planner(NamedTuple):
    """What designs find; ``step`` is ``find_half_step`` of one problem with one sample and one run."""

    variances: _Variances
    scale: float
    family_share: float
    step: float

    def plan_design(self, design: _Design, difference: float) -> PlannedDesign:
        """How often the difference is found with a design."""
        of_problems, of_runs = self.variances.of_problems(design), self.variances.of_runs(design)
        total = of_problems + of_runs
        df = math.inf
        if design.problems > 1:
            df = total**2 / (of_problems**2 / (design.problems - 1) + _over_df(of_runs, of_problems, design))
        step = 0.0 if of_runs else self.step / (design.samples * design.runs * design.problems)
        alone = Rule(stderr=self.scale * math.sqrt(total), df=df, step=step)
        family = None
        if self.family_share:
            family = alone._replace(least=self.family_share * alone.stderr, varies=bool(self.variances.runs))
        return PlannedDesign(
            *design,
            stderr=alone.stderr,
            alone=find_probability(difference, alone),
            together=find_probability(difference, family) if family else None,
            found=find_difference(family or alone),
        )


def _over_df(of_runs: float, of_problems: float, design: _Design) -> float:
    """v²/f of both sides' runs, see ``RunVariance.df``."""
    if not of_runs or design.runs == 1:
        return 0.0
    explained = of_runs / (of_runs + of_problems)
    return 2 * (of_runs / 2) ** 2 / ((design.runs - 1) * explained**2)


def _split_variances(
    scores: ProblemScores, values: ProblemValues, comparisons: Sequence[Comparison], now: _Design
) -> tuple[_Variances, dict[str, str]]:
    """The variances, and why those that are not known are not, by name."""
    usable = [one for one in comparisons if one.stderr and one.spread and one.df]
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


def _list_components(variances: _Variances, now: _Design, unknown: dict[str, str]) -> tuple[Component, ...]:
    """The standard error of now, part by part."""
    cells = now.problems * now.runs
    parts = {
        "problems": (variances.problems / now.problems, "problems"),
        "answers": (variances.answers / (cells * now.samples), "answers"),
        "run_problem": (variances.run_problem / cells, "runs"),
        "runs": (variances.of_runs(now), "runs"),
    }
    return tuple(
        Component(name, None if known in unknown else math.sqrt(part), unknown.get(known, ""))
        for name, (part, known) in parts.items()
    )


def _list_designs(now: _Design, unknown: dict[str, str]) -> list[_Design]:
    """Half to eight times the problems; each with other samples, and then with other runs."""
    samples = [now.samples] if "answers" in unknown else [1, now.samples, 4 * now.samples]
    runs = [] if "runs" in unknown else [2 * now.runs, 4 * now.runs]
    others = [(count, now.runs) for count in dict.fromkeys(samples)] + [
        (now.samples, count) for count in runs
    ]
    problems = dict.fromkeys(max(FEWEST, round(times * now.problems)) for times in _TIMES)
    return [_Design(count, *other) for other in others for count in problems]


def _list_halvings(variances: _Variances, now: _Design, unknown: dict[str, str]) -> list[Halving]:
    """What each of the three would have to be for half the standard error, if it can do it alone."""
    target = variances.total(now) / 4
    fixed = (variances.problems + variances.run_problem / now.runs) / now.problems + variances.of_runs(now)
    by_run = (variances.run_problem + variances.answers / now.samples) / now.problems + variances.runs
    return [
        _find_halving(
            "problems", variances.of_problems(now) * now.problems, target - variances.of_runs(now), ""
        ),
        _find_halving(
            "samples",
            variances.answers / (now.runs * now.problems),
            target - fixed,
            unknown.get("answers", ""),
        ),
        _find_halving("runs", by_run, target - variances.problems / now.problems, unknown.get("runs", "")),
    ]


def _find_halving(what: str, variance: float, room: float, unknown: str) -> Halving:
    """The number that brings a variance into the room that the other parts leave."""
    if unknown:
        return Halving(what, None, unknown)
    # A hair more than a whole number is that number, computed in another order.
    return Halving(what, math.ceil(variance / room - 1e-9) if room > 0 else None, "")
