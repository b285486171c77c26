"""Pairs on several benchmarks and their average: those of one benchmark and of the table with a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from made_outcomes import matrix

from reportgen.core.comparisons import ScoresError, Verdict
from reportgen.statistics.compare import compare_all, compare_benchmarks, compare_pairs_across

if TYPE_CHECKING:
    from reportgen.core.comparisons import ProblemScores


def _parts() -> dict[str, ProblemScores]:
    """Three series on 30 problems, two of them also on 12 others."""
    rng = np.random.default_rng(7)
    first = rng.random((3, 30, 4)) < np.array([0.8, 0.5, 0.4])[:, np.newaxis, np.newaxis]
    second = rng.random((2, 12, 4)) < np.array([0.7, 0.3])[:, np.newaxis, np.newaxis]
    return {
        "long": matrix(first.astype(np.float64), series=["A", "B", "C"]),
        "short": matrix(second.astype(np.float64), series=["A", "B"]),
    }


@pytest.mark.parametrize("higher", [True, False])
def test_one_benchmark_is_all_its_pairs(*, higher: bool) -> None:
    """Nothing is averaged, and nothing else is adjusted with them."""
    part = _parts()["long"]
    found = compare_pairs_across({"long": part}, higher_is_better=higher)
    assert [one.benchmark for one in found] == ["long"] * 3
    assert tuple(one.comparison for one in found) == compare_all(part, higher_is_better=higher)


def test_against_one_series_it_is_the_table_with_that_baseline() -> None:
    """Cells and averages are the same values, adjusted together: three cells and one average."""
    parts = _parts()
    found = {
        (one.benchmark, one.comparison.a): one.comparison
        for one in compare_pairs_across(parts, pairs=[("B", "A"), ("C", "A")])
    }
    table = compare_benchmarks(parts, baseline="A")
    for place, series in enumerate(table.series[1:], start=1):
        for benchmark, cell in zip(table.benchmarks, table.cells[place], strict=True):
            if cell.against is not None:
                assert found[benchmark, series] == cell.against
    assert found[None, "B"] == table.macro[1].against
    assert found[None, "B"].tested_together == 4
    assert found["long", "B"].verdict is Verdict.WORSE


def test_everything_shown_is_adjusted_together() -> None:
    """Three pairs and one on the benchmarks, and the one average that there is: five in one family."""
    tested = [one.comparison for one in compare_pairs_across(_parts()) if one.comparison.p is not None]
    assert len(tested) == 5
    assert {one.tested_together for one in tested} == {5}
    assert all((one.adjusted_p or 0.0) >= (one.p or 1.0) for one in tested)


def test_what_is_missing_has_a_reason() -> None:
    """A series that a benchmark lacks is compared neither there nor on average."""
    found = {
        (one.benchmark, one.comparison.a, one.comparison.b): one.comparison
        for one in compare_pairs_across(_parts())
    }
    assert len(found) == 9
    assert found["short", "A", "C"].reason == "no answers to short from C"
    average = found[None, "B", "C"]
    assert (average.difference, average.p, average.verdict) == (None, None, Verdict.TOO_FEW)
    assert average.reason == "the two do not share problems on every benchmark"


def test_an_unknown_series_is_named_with_those_of_all_benchmarks() -> None:
    """As ``compare_all`` does on one."""
    with pytest.raises(ScoresError, match=r"there is no series Z. There are A, B, C"):
        compare_pairs_across(_parts(), pairs=[("A", "Z")])
