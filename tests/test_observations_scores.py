"""Observations on scores: who is best, what cannot be told, and in which order they come."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from made_outcomes import matrix
from made_scored import scored

from reportgen.claims.observations.choosing import observe_scores, order_observations
from reportgen.core.statements import Observation, Scale
from reportgen.settings.block_parts import Rule
from reportgen.statistics.scores import score_total

if TYPE_CHECKING:
    from collections.abc import Sequence

SHARE = Scale("mean score", step_name="", bounds=(0.0, 1.0))


def answers(
    shares: Sequence[float], problems: int, *, seed: int = 3
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Right and wrong answers, 4 to a problem, each series right with its own probability, by itself."""
    chance = np.random.default_rng(seed).random((len(shares), problems, 4))
    return (chance < np.array(shares)[:, None, None]).astype(np.float64)


def found(
    shares: Sequence[float],
    problems: int,
    rules: tuple[Rule, ...] = (),
    *,
    names: Sequence[str] | None = None,
    higher: bool = True,
) -> tuple[Observation, ...]:
    """What is found in the scores of such series."""
    made = scored(matrix(answers(shares, problems), series=names), higher_is_better=higher)
    scale = Scale("mean score", higher_is_better=higher, step_name="", bounds=(0.0, 1.0))
    return observe_scores(made.scores, made.comparisons, made.groups, scale, rules)


def test_a_clear_best_is_told_with_interval_p_and_problems() -> None:
    """And with the nearest of those it is better than."""
    one = found((0.9, 0.5, 0.2), 60)[0]
    assert one.rule == Rule.BEST
    number = r"[\d.]+"
    assert re.fullmatch(
        rf"A has the highest score, {number}% \[{number}, {number}\] on 60 problems, and is better than "
        rf"each of the 2 others; nearest is B: \+{number} points \[\+{number}, \+{number}\], p < 0\.001 "
        r"on 60 shared problems\.",
        one.text,
    )
    assert one.threshold.startswith("p < 0.001 is below 0.05, and the interval leaves out 0")


def test_the_best_that_cannot_be_told_from_another_is_no_winner() -> None:
    """Nearly equal series on few problems: a doubt with its difference, and no pair called different."""
    told = found((0.52, 0.5, 0.48), 12)
    assert "but is not clearly different from" in told[0].text
    assert "12 shared problems" in told[0].text
    assert not any(one.rule == Rule.WIDEST_GAP for one in told)
    doubts = [one for one in told if one.text.startswith("None of the 3 pairs is clearly different")]
    assert len(doubts) == 1
    assert "is not below 0.05" in doubts[0].threshold


def test_too_few_problems_are_said() -> None:
    """Under 6 shared problems nothing is tested."""
    (one,) = found((0.9, 0.2), 4)
    assert "4 shared problems are too few for a verdict against B" in one.text


def test_equal_scores_are_shared() -> None:
    """Nobody is first by the order of names."""
    twice = np.repeat(answers((0.5,), 20), 2, axis=0)
    made = scored(matrix(twice))
    (one,) = observe_scores(made.scores, made.comparisons, made.groups, SHARE)
    assert one.text.startswith("A and B share the highest score, ")


def test_groups_are_the_tiers() -> None:
    """Best first, with the scores of all."""
    told = [one for one in found((0.92, 0.88, 0.2), 80, (Rule.TIERS,)) if "groups" in one.text]
    assert len(told) == 1
    assert re.match(
        r"Two groups, best first: A \([\d.]+%\) and B \([\d.]+%\); then C \([\d.]+%\)\.", told[0].text
    )


def test_the_lowest_is_best_where_lower_is() -> None:
    """The sentence says lowest, and the difference has its sign."""
    one = found((0.2, 0.9), 60, higher=False)[0]
    assert one.text.startswith("A has the lowest score")
    assert "−" in one.text


def test_scores_without_problems_are_not_compared() -> None:
    """A harness's totals: who is next is told, and that nobody compared them."""
    totals = [score_total("A", 0.8), score_total("B", 0.7)]
    (one,) = observe_scores(totals, (), (), SHARE)
    assert one.text.endswith("B is next, 70.0%, and was not compared with it.")


def test_the_order_of_series_changes_no_score_observation() -> None:
    """The same sentences, whichever series comes first."""
    chances = answers((0.8, 0.55, 0.5, 0.2), 40)
    made = [
        scored(matrix(chances[order], series=[f"S{at}" for at in order]))
        for order in ([0, 1, 2, 3], [3, 1, 0, 2])
    ]
    told = [observe_scores(one.scores, one.comparisons, one.groups, SHARE) for one in made]
    assert [one.text for one in told[0]] == [one.text for one in told[1]]
    assert len(told[0]) >= 3


def test_one_score_and_none_say_nothing() -> None:
    """Alone nobody is best."""
    assert found((0.5,), 20) == ()
    assert observe_scores((), (), (), SHARE) == ()


def test_order_mixes_rules_series_and_metrics() -> None:
    """Ten dips of one series do not hide a gap that is half as strong."""

    def one(rule: Rule, series: str, strength: float, step: float) -> Observation:
        return Observation(rule, f"{rule} {series} {step}.", (), "", (series,), strength, "m", step, step)

    dips = [one(Rule.DIP, "A", 8.0, step) for step in range(10)]
    gap, rise = one(Rule.WIDEST_GAP, "B", 4.0, 3), one(Rule.RISE, "A", 3.0, 1)
    expected = order_observations([*dips, gap, rise])
    assert [one.rule for one in expected[:3]] == [Rule.DIP, Rule.WIDEST_GAP, Rule.RISE]
    assert order_observations([rise, gap, *dips[::-1]]) == expected
    assert sorted(one.text for one in expected) == sorted(one.text for one in [*dips, gap, rise])
