"""Reviews hold the truth as often as they say, and nothing gets a verdict in more than 6%.

With 1500 changes the share of 95% of intervals has a standard error of 0.6 points; 800 of scores, 0.8.
"""

from __future__ import annotations

import numpy as np
import pytest
from simulated.reviews import (
    Overlap,
    cover_items,
    cover_runs,
    draw_items,
    draw_runs,
    find_false_verdicts,
)

from reportgen.review.comparison.effects import ItemChanges, RunGroups, estimate_given, estimate_over_runs


@pytest.mark.parametrize(
    "overlap",
    [
        *(Overlap(0, 3, 2), Overlap(0, 2, 8), Overlap(0, 9, 1), Overlap(1, 2, 0)),
        *(Overlap(2, 0, 2), Overlap(2, 0, 10), Overlap(10, 0, 2), Overlap(5, 0, 5), Overlap(1, 0, 3)),
        *(Overlap(1, 2, 1), Overlap(1, 4, 1), Overlap(2, 3, 2), Overlap(1, 3, 3), Overlap(5, 5, 5)),
    ],
    ids=str,
)
def test_intervals_over_runs_hold_the_truth(overlap: Overlap) -> None:
    """Runs added, removed, replaced or all of them others: 93 to 97% hold that nothing changed."""
    found = cover_runs(overlap, draws=1500)
    assert found.known == 1
    assert 0.93 <= found.covered <= 0.97
    if not overlap.shared:
        assert 0.93 <= cover_runs(overlap, draws=1500, difference=1.0).covered <= 0.97


@pytest.mark.parametrize("errors", [(1.0, 1.0), (0.2, 3.0)], ids=["equal", "unequal"])
def test_given_errors_hold_the_truth(errors: tuple[float, float]) -> None:
    """Totals with standard errors of their own: 93 to 97% of intervals hold the difference, without a p."""
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(4000):
        before, after = (
            float(rng.normal(mean, error)) for mean, error in zip((0.0, 0.5), errors, strict=True)
        )
        effect = estimate_given((before, errors[0]), (after, errors[1]), 0.95)
        assert effect.low is not None
        assert effect.high is not None
        assert effect.p is None
        held += effect.low <= 0.5 <= effect.high
    assert 0.93 <= held / 4000 <= 0.97


def test_added_runs_are_compared_with_the_old_ones() -> None:
    """Three runs, then two more: half-widths of 1.04 deviations, where independent states would give 1.74."""
    rng = np.random.default_rng(1)
    halves: dict[str, list[float]] = {"nested": [], "apart": []}
    for _ in range(1500):
        groups = draw_runs(rng, Overlap(0, 3, 2))
        whole = RunGroups(groups.shared, groups.shared[:0], np.concatenate([groups.shared, groups.added]))
        for name, one in (("nested", groups), ("apart", whole)):
            effect = estimate_over_runs(one, 0.95)
            halves[name].append(((effect.high or 0.0) - (effect.low or 0.0)) / 2)
    assert np.median(halves["nested"]) == pytest.approx(1.04, abs=0.05)
    assert np.median(halves["apart"]) > 1.5


@pytest.mark.parametrize(
    ("overlap", "shift"),
    [
        *((Overlap(1, 0, 1), 0.0), (Overlap(2, 0, 2), 0.05), (Overlap(5, 0, 5), 0.05)),
        *((Overlap(0, 3, 2), 0.05), (Overlap(1, 0, 3), 0.05)),
    ],
    ids=str,
)
def test_intervals_over_items_hold_the_truth(overlap: Overlap, shift: float) -> None:
    """Scores of 30 items, 4 answers each: one run a side, several that differ, and states that share some.

    Of several runs a side 93 to 99%: what answers explain is counted twice, as families need it.
    """
    most = 0.975 if overlap.added == 1 or overlap.shared else 0.99
    assert 0.93 <= cover_items(overlap, 30, draws=500, shift=shift).covered <= most


def test_nothing_of_twenty_numbers_gets_a_verdict() -> None:
    """Means of runs that were added, replaced, or all others: a false verdict in 6% of changes at most."""
    overlaps = [Overlap(0, 3, 2), Overlap(2, 0, 2), Overlap(1, 3, 1), Overlap(5, 0, 5), Overlap(10, 0, 2)]
    assert find_false_verdicts(overlaps, numbers=20, draws=800, seed=1) <= 0.06


def test_nothing_of_a_benchmark_gets_a_verdict() -> None:
    """Scores of twenty series on the same 30 items, tested by the step-down test."""
    overlaps = [Overlap(2, 0, 2), Overlap(1, 0, 1), Overlap(5, 0, 5)]
    assert find_false_verdicts(overlaps, numbers=20, draws=100, items=30) <= 0.06


def test_a_true_difference_is_found() -> None:
    """A third of 100 items gets right: found nearly always, with its side."""
    rng = np.random.default_rng(2)
    names = [f"item {number}" for number in range(100)]
    found = []
    for _ in range(40):
        sides = draw_items(rng, Overlap(1, 0, 1), 100)
        better = sides._replace(after=np.clip(sides.after + rng.binomial(1, 0.33, 100), 0, 1))
        effect = ItemChanges("exam", names, (0, 1), [better], 0).estimate(0, 0.95)
        found.append(effect.excludes_zero and (effect.difference or 0.0) > 0)
    assert np.mean(found) > 0.9
