"""Path data: what is left out cannot be seen, and what is written can be read back."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from reportgen.figures.paths import thin, write_band_path, write_line_path

UNITS = st.floats(-5000, 5000)
MOST = 20
NAN = float("nan")


@st.composite
def lines(draw: st.DrawFn, gaps: st.SearchStrategy[float] = UNITS) -> tuple[np.ndarray, np.ndarray]:
    """Points with rising x, crowded or spread out."""
    steps = draw(hnp.arrays(np.float64, st.integers(1, 120), elements=st.floats(1e-3, 100)))
    x = np.cumsum(steps)
    return x, draw(hnp.arrays(np.float64, x.size, elements=gaps))


def absolute(path: str) -> list[list[tuple[int, int]]]:
    """The points of each stretch of a path of relative whole steps."""
    stretches = []
    for start, kind, rest in re.findall(r"M(-?\d+ -?\d+)([lh])([-\d ]*)z?", path):
        x, y = map(int, start.split())
        points = [(x, y)]
        steps = [int(number) for number in re.findall(r"-?\d+", rest)] if kind == "l" else []
        for dx, dy in zip(steps[::2], steps[1::2], strict=True):
            points.append((points[-1][0] + dx, points[-1][1] + dy))
        stretches.append(points)
    return stretches


@given(lines())
def test_a_path_read_back_is_within_half_a_unit(line: tuple[np.ndarray, np.ndarray]) -> None:
    """Rounding does not add up along the line, as it would with rounded differences."""
    x, y = line
    (points,) = absolute(write_line_path(x, y))
    assert np.abs(np.array(points) - np.column_stack([x, y])).max() <= 0.5


@given(lines(UNITS | st.just(NAN)))
def test_what_is_not_a_number_breaks_the_line(line: tuple[np.ndarray, np.ndarray]) -> None:
    """Each stretch of known values is a line of its own, and nothing is drawn between two."""
    x, y = line
    stretches = absolute(write_line_path(x, y))
    known = np.isfinite(y)
    assert sum(len(points) for points in stretches) == known.sum()
    assert len(stretches) == (np.diff(known.astype(int), prepend=0) == 1).sum()


def test_a_line_without_any_value_is_empty() -> None:
    """There is nothing to draw, and no error."""
    assert write_line_path(np.array([1.0, 2.0]), np.array([NAN, NAN])) == ""
    assert write_line_path(np.array([]), np.array([])) == ""


def test_a_point_alone_is_a_path() -> None:
    """A stretch of one point has a start and no length; its round end shows it."""
    assert write_line_path(np.array([3.4]), np.array([5.6])) == "M3 6h0"


def test_a_point_far_outside_is_still_a_number_that_browsers_read() -> None:
    """A diverged run does not overflow into nonsense."""
    assert absolute(write_line_path(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1e30, -1e30]))) == [
        [(0, 0), (1, 10_000_000), (2, -10_000_000)]
    ]


@given(lines(), st.floats(0, 100))
def test_a_band_goes_there_and_back(line: tuple[np.ndarray, np.ndarray], half: float) -> None:
    """The outline is the upper edge, then the lower one backwards, closed, to the nearest half of a pixel."""
    x, y = line
    path = write_band_path(x, y - half, y + half)
    (points,) = absolute(path)
    wanted = np.concatenate([np.column_stack([x, y + half]), np.column_stack([x, y - half])[::-1]])
    assert path.endswith("z")
    assert (np.abs(np.array(points) - wanted) <= (0.5, 1)).all()
    assert all(down % 2 == 0 for _, down in points)


def test_a_band_breaks_where_either_edge_is_unknown() -> None:
    """Where nobody knows the interval there is no band, not a thin one."""
    x, edge = np.arange(5.0), np.array([1.0, NAN, 1.0, 1.0, 1.0])
    assert [len(points) for points in absolute(write_band_path(x, edge, edge[::-1]))] == [2, 2, 2]


@given(lines())
def test_thinning_keeps_ends_and_extremes(line: tuple[np.ndarray, np.ndarray]) -> None:
    """The first and last point, the highest and the lowest stay, and every point left is one of the line."""
    x, y = line
    few_x, few_y = thin(x, y, MOST)
    assert (few_x[0], few_x[-1]) == (x[0], x[-1])
    assert (few_y.min(), few_y.max()) == (y.min(), y.max())
    assert set(zip(few_x, few_y, strict=True)) <= set(zip(x, y, strict=True))
    assert (np.diff(few_x) > 0).all()


@given(lines())
def test_thinning_keeps_each_column_of_pixels_as_high_as_it_is(line: tuple[np.ndarray, np.ndarray]) -> None:
    """In every bucket of x, the lowest and highest value are the same before and after."""
    x, y = line
    few_x, few_y = thin(x, y, MOST)
    edges = np.linspace(x[0], x[-1], MOST // 2 + 1)[1:-1]
    before, after = np.digitize(x, edges), np.digitize(few_x, edges)
    for bucket in set(before) - {0}:
        # A point on an edge may be counted to either side, so neighbours may help out.
        near = np.abs(after - bucket) <= 1
        assert few_y[near].max() >= y[before == bucket].max() or x.size <= MOST
        assert few_y[near].min() <= y[before == bucket].min() or x.size <= MOST


@given(lines(UNITS | st.just(NAN)))
def test_thinning_keeps_gaps(line: tuple[np.ndarray, np.ndarray]) -> None:
    """A line that is broken stays broken, however thin."""
    x, y = line
    few = thin(x, y, MOST)[1]
    assert np.isnan(few).any() == np.isnan(y).any()


@given(lines(UNITS | st.just(NAN)))
def test_thinning_leaves_few_points(line: tuple[np.ndarray, np.ndarray]) -> None:
    """Two a bucket, one more for a gap in it, and the two ends."""
    x, y = line
    assert thin(x, y, MOST)[0].size <= max(MOST, MOST * 3 // 2 + 2)


def test_thinning_looks_at_where_points_stand_not_at_how_many_there_are() -> None:
    """A crowd of early steps does not cost the few late ones their place."""
    x = np.concatenate([np.linspace(0, 1, 1000), np.arange(2.0, 100.0, 10.0)])
    kept = thin(x, np.sin(x), 100)[0]
    assert set(np.arange(2.0, 100.0, 10.0)) <= set(kept)


@pytest.mark.parametrize("count", [1, MOST])
def test_few_points_are_left_alone(count: int) -> None:
    """A short line is drawn as it is."""
    x = np.arange(float(count))
    assert [part.tolist() for part in thin(x, x, MOST)] == [x.tolist(), x.tolist()]
