"""Alignment: runs meet on common steps, inside their own range only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reportgen.statistics.curves.mean_curves import align, find_common_steps, interpolate

if TYPE_CHECKING:
    from random import Random

    from reportgen.core.model import FloatArray

_run = st.dictionaries(st.integers(-100, 100), st.floats(-1e300, 1e300), min_size=1, max_size=20).map(
    lambda points: (
        np.array(sorted(points), dtype=np.float64),
        np.array([points[step] for step in sorted(points)]),
    )
)


def test_shared_steps_are_exact() -> None:
    """Equal steps are kept as they are."""
    steps = [np.array([1.0, 2, 5]), np.array([1.0, 2, 5])]
    grid, exact = find_common_steps(steps)
    assert exact
    assert grid.tolist() == [1, 2, 5]
    assert align(grid, steps, [np.zeros(3), np.ones(3)], exact=exact).tolist() == [[0, 0, 0], [1, 1, 1]]


def test_the_union_is_worked_out_by_hand() -> None:
    """Steps 0, 4 and 1, 2: each run is read between its own points and nowhere else."""
    steps = [np.array([0.0, 4.0]), np.array([1.0, 2.0])]
    grid, exact = find_common_steps(steps)
    assert not exact
    assert grid.tolist() == [0, 1, 2, 4]
    got = align(grid, steps, [np.array([0.0, 8.0]), np.array([5.0, 7.0])], exact=exact)
    np.testing.assert_equal(got, [[0, 2, 4, 8], [np.nan, 5, 7, np.nan]])


def test_a_run_of_one_step_supports_that_step_only() -> None:
    """One point has no range to interpolate in."""
    got = interpolate(np.array([1.0, 2, 3]), np.array([2.0]), np.array([9.0]))
    np.testing.assert_equal(got, [np.nan, 9, np.nan])


@given(_run, st.lists(st.floats(-120, 120), min_size=1, max_size=20))
def test_nothing_is_extrapolated_and_nothing_leaves_the_hull(
    run: tuple[FloatArray, FloatArray],
    wanted: list[float],
) -> None:
    """NaN outside the run's range; inside, between the two neighbouring values."""
    steps, values = run
    grid = np.unique(wanted)
    got = interpolate(grid, steps, values)
    inside = (grid >= steps[0]) & (grid <= steps[-1])
    assert np.array_equal(np.isfinite(got), inside)
    for step, value in zip(grid[inside], got[inside], strict=True):
        left = int(np.searchsorted(steps, step, side="right")) - 1
        right = int(np.searchsorted(steps, step, side="left"))
        assert min(values[left], values[right]) <= value <= max(values[left], values[right])


@given(st.lists(_run, min_size=1, max_size=4))
def test_own_points_are_hit_exactly(runs: list[tuple[FloatArray, FloatArray]]) -> None:
    """On the union of all steps each run still has its own values."""
    steps, values = [run[0] for run in runs], [run[1] for run in runs]
    grid, exact = find_common_steps(steps)
    aligned = align(grid, steps, values, exact=exact)
    assert np.all(np.diff(grid) > 0)
    for row, own, expected in zip(aligned, steps, values, strict=True):
        assert row[np.searchsorted(grid, own)].tolist() == expected.tolist()


@given(st.lists(_run, min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_change_the_grid(
    runs: list[tuple[FloatArray, FloatArray]],
    random: Random,
) -> None:
    """The union does not know who came first."""
    steps = [run[0] for run in runs]
    grid, exact = find_common_steps(steps)
    random.shuffle(steps)
    other, other_exact = find_common_steps(steps)
    assert (grid.tolist(), exact) == (other.tolist(), other_exact)
