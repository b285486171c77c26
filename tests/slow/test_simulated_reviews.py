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
    get_delta,
    is_clear,
    measure_coverage,
    review_given,
    review_items,
    review_runs,
)

from reportgen.statistics.verdicts import holm


@pytest.mark.parametrize(
    "overlap",
    [
        *(Overlap(0, 2, 8), Overlap(0, 9, 1), Overlap(1, 2, 0), Overlap(2, 0, 10), Overlap(10, 0, 2)),
        *(Overlap(1, 0, 3), Overlap(1, 2, 1), Overlap(2, 3, 2), Overlap(5, 5, 5)),
    ],
    ids=str,
)
def test_intervals_over_runs_hold_the_truth(overlap: Overlap) -> None:
    """Runs added, removed, replaced or all of them others: 93 to 97% hold the truth.

    That is that nothing changed or, where all runs are others, also that the new ones are better by 1.
    """
    found = cover_runs(overlap, draws=1500, difference=0.0 if overlap.shared else 1.0)
    assert found.known == 1
    assert 0.93 <= found.covered <= 0.97


@pytest.mark.parametrize("errors", [(1.0, 1.0), (0.2, 3.0)], ids=["equal", "unequal"])
def test_given_errors_hold_the_truth(errors: tuple[float, float]) -> None:
    """Values with standard errors of their own: 93 to 97% of intervals hold the difference, without a p."""
    rng = np.random.default_rng(2)
    before, after = (rng.normal(mean, error, 2000) for mean, error in zip((0.0, 0.5), errors, strict=True))
    numbers = review_given(before, after, errors)
    assert {get_delta(one).p for one in numbers} == {None}
    found = measure_coverage(numbers, [0.5] * 2000)
    assert found.known == 1
    assert 0.93 <= found.covered <= 0.97


def test_added_runs_are_compared_with_the_old_ones() -> None:
    """Three runs, then two more: half-widths of 1.04 deviations, where other five runs would give 1.74."""
    rng = np.random.default_rng(1)
    halves = []
    for overlap in (Overlap(0, 3, 2), Overlap(3, 0, 5)):
        found = review_runs([draw_runs(rng, overlap) for _ in range(1500)])
        deltas = [get_delta(number) for number in found]
        halves.append(np.median([((one.high or 0.0) - (one.low or 0.0)) / 2 for one in deltas]))
    assert halves[0] == pytest.approx(1.04, abs=0.05)
    assert halves[1] > 1.5


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


MEANS = (Overlap(0, 3, 2), Overlap(2, 0, 2), Overlap(1, 3, 1), Overlap(5, 0, 5), Overlap(10, 0, 2))


def test_numbers_of_a_review_are_one_family() -> None:
    """Adjusted by Holm's method, and only what is clear then has a verdict, or is said to differ."""
    rng = np.random.default_rng(4)
    runs = [draw_runs(rng, MEANS[place % len(MEANS)]) for place in range(60)]
    runs = [one._replace(added=one.added + 3 * (place % 4)) for place, one in enumerate(runs)]
    found = review_runs(runs)
    deltas = [get_delta(one) for one in found]
    assert [one.p_adjusted for one in deltas] == holm([one.p or 0.0 for one in deltas])
    clear = [is_clear(one, get_delta(one).p_adjusted) for one in found]
    said = [one.verdict in {"higher", "lower"} or "the new runs differ" in one.why for one in found]
    assert said == clear
    assert 5 < sum(clear) < 45


def test_nothing_of_twenty_numbers_gets_a_verdict() -> None:
    """Means of runs that were added, replaced, or all others: a false verdict in 6% of changes at most."""
    assert find_false_verdicts(MEANS, numbers=20, draws=250, seed=1) <= 0.06


def test_nothing_of_a_benchmark_gets_a_verdict() -> None:
    """Scores of twenty series on the same 30 items, tested by the step-down test.

    Without any adjustment half of the changes have a verdict, with p a third of what they are a tenth.
    """
    overlaps = [Overlap(2, 0, 2), Overlap(1, 0, 1), Overlap(5, 0, 5)]
    assert find_false_verdicts(overlaps, numbers=20, draws=50, items=30) <= 0.06


def test_a_true_difference_is_found() -> None:
    """A third of 100 items gets right: found nearly always, with its side."""
    rng = np.random.default_rng(2)
    drawn = [draw_items(rng, Overlap(1, 0, 1), 100) for _ in range(40)]
    better = [one._replace(added=np.clip(one.added + rng.binomial(1, 0.33, 100), 0, 1)) for one in drawn]
    found = [get_delta(one) for one in review_items(better)]
    assert np.mean([one.low is not None and one.low > 0 and one.value > 0 for one in found]) > 0.9
