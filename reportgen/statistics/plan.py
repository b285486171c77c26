"""What more problems, samples or runs would find, from the variances that the data show."""

from __future__ import annotations

import math
from collections import Counter
from statistics import harmonic_mean, mean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reportgen.outcomes import Component, Halving, Plan, PlannedDesign, ScoresError
from reportgen.statistics.metrics import compute_problem_values, find_rows
from reportgen.statistics.pairs import FEWEST
from reportgen.statistics.power import Rule, estimate_power, find_difference, find_half_step, find_probability
from reportgen.statistics.run_variance import estimate_run_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.outcomes import Comparison, Metric, ProblemScores
    from reportgen.statistics.metrics import ProblemValues

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
    variance of a problem's samples, run × problem and runs as ``estimate_run_variance`` has them, averaged over the
    series, and problems from what is left of the mean variance of the comparisons (Searle et al. 1992, 4.7;
    none is below 0). What the data do not show is None with a reason. Put together for another design it
    gives the power (``statistics.power``), with the critical value of the family that was tested.

    Args:
        scores: of one benchmark.
        comparisons: its pairs, tested together.
        metric: see ``scores``.
        k: see ``scores``.
        difference: the true one, in the unit of the scores; if left out the one that is found four times in
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
    now = _Design(power.problems, _samples(scores), _runs(scores))
    variances, unknown = _split_variances(scores, values, comparisons, now)
    target = difference or float(f"{power.family_difference or power.difference:.{_DIGITS}g}")
    found = _Finder(
        variances, now, power.stderr, _compute_family_share(comparisons, power.stderr), _steps(scores, values)
    )
    return Plan(
        difference=target,
        power=power,
        samples=now.samples,
        runs=now.runs,
        components=_list_components(variances, now, unknown),
        designs=tuple(found.plan_design(design, target) for design in _list_designs(now, unknown)),
        halvings=tuple(_list_halvings(variances, now, unknown)),
    )


class _Finder(NamedTuple):
    """Finds differences with any design."""

    variances: _Variances
    now: _Design
    stderr: float
    share: float
    steps: float

    def plan_design(self, design: _Design, difference: float) -> PlannedDesign:
        """How often the difference is found with a design."""
        rule = self._rule(design)
        least, varies = self.share * rule.stderr, bool(self.variances.runs)
        family = rule._replace(least=least, varies=varies) if self.share else None
        return PlannedDesign(
            problems=design.problems,
            samples=design.samples,
            runs=design.runs,
            stderr=rule.stderr,
            alone=find_probability(difference, rule),
            together=find_probability(difference, family) if family else None,
            found=find_difference(family or rule),
        )

    def _rule(self, design: _Design) -> Rule:
        of_problems, of_runs = self.variances.of_problems(design), self.variances.of_runs(design)
        total = of_problems + of_runs
        df = math.inf
        if design.problems > 1:
            df = total**2 / (of_problems**2 / (design.problems - 1) + _over_df(of_runs, of_problems, design))
        # Seen and expected differ where a variance was raised to 0: what is seen now stays as it is.
        scale = self.stderr / math.sqrt(self.variances.total(self.now))
        step = 0.0 if of_runs else self.steps / (design.samples * design.runs * design.problems)
        return Rule(stderr=scale * math.sqrt(total), df=df, step=step)


def _over_df(of_runs: float, of_problems: float, design: _Design) -> float:
    """v²/f of both sides' runs, see ``RunVariance.df``."""
    if not of_runs or design.runs == 1:
        return 0.0
    explained = of_runs / (of_runs + of_problems)
    return 2 * (of_runs / 2) ** 2 / ((design.runs - 1) * explained**2)


def _samples(scores: ProblemScores) -> int:
    """Samples of a problem in a run: their harmonic mean, which is the one that counts."""
    some = scores.samples[scores.samples > 0]
    return max(1, round(harmonic_mean(some.tolist()))) if some.size else 1


def _runs(scores: ProblemScores) -> int:
    return min(Counter(run.series for run in scores.runs).values(), default=1)


def _steps(scores: ProblemScores, values: ProblemValues) -> float:
    """``find_half_step`` of one problem with one sample and one run."""
    return scores.highest - scores.lowest if find_half_step(scores, values.name) else 0.0


def _compute_family_share(comparisons: Sequence[Comparison], stderr: float) -> float:
    """How many standard errors of a typical pair the family asks for; 0 without a family."""
    family = [one for one in comparisons if one.family_stderr and one.critical]
    if not family:
        return 0.0
    typical = math.sqrt(mean((one.family_stderr or 0.0) ** 2 for one in family))
    return max(one.critical or 0.0 for one in family) * typical / stderr


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
