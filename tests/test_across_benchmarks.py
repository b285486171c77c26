"""Series on several benchmarks: cells, averages, and pairs, adjusted together."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from made_outcomes import compare, matrix
from scipy import stats
from scipy.special import expit, logit

from reportgen.core.comparisons import Verdict
from reportgen.statistics.compare import compare_all, compare_benchmarks, compare_pairs_across
from reportgen.statistics.scores import score_series, score_total
from reportgen.statistics.verdicts import swap_sides

if TYPE_CHECKING:
    from reportgen.core.comparisons import ProblemScores


def _real(
    seed: int, series: int, problems: int, *, lift: float = 0.0
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Scores within 0.3 and 0.7 with one sample a problem; the first series is lifted."""
    values = np.random.default_rng(seed).uniform(0.3, 0.7, (series, problems, 1))
    values[0] += lift
    return values


def test_cells_are_the_scores_and_comparisons_of_each_benchmark() -> None:
    """Each cell as by itself, but for the adjustment, which is Holm's over the whole table."""
    parts = {"x": matrix(_real(1, 3, 30, lift=0.2)), "y": matrix(_real(2, 3, 12))}
    table = compare_benchmarks(parts, baseline="C")
    assert (table.series, table.benchmarks) == (("A", "B", "C"), ("x", "y"))
    found = []
    for place, series in enumerate("ABC"):
        for at, (name, part) in enumerate(parts.items()):
            cell = table.cells[place][at]
            assert cell.score == score_series(part)[place]
            assert (cell.against is None) is (series == "C")
            if cell.against:
                alone = compare(part, series, "C")
                assert (cell.against.difference, cell.against.p) == (alone.difference, alone.p), name
                found.append(cell.against)
        macro = table.macro[place].against
        found += [macro] if macro else []
    assert all(one.tested_together == 6 for one in found)
    assert table.cells[0][0].against is not None
    assert table.cells[0][0].against.verdict is Verdict.BETTER


def test_the_macro_average_is_worked_out_by_hand() -> None:
    """Benchmarks count once each, whatever their size: (m₁ + m₂)/2 ± √(h₁² + h₂²)/2.

    h is how far each own interval reaches to that side: logit(m) ± t se/(m (1 - m)), carried back.
    """
    arrays = [_real(1, 1, 30), _real(2, 1, 12)]
    (cell,) = compare_benchmarks({str(at): matrix(array) for at, array in enumerate(arrays)}).macro
    means = [array.mean() for array in arrays]
    assert cell.score.estimate == pytest.approx(sum(means) / 2)
    ends = []
    for sign in (-1, 1):
        reach = []
        for mean, array in zip(means, arrays, strict=True):
            step = stats.t.ppf(0.975, array.size - 1) * stats.sem(array.ravel()) / (mean * (1 - mean))
            reach.append(expit(logit(mean) + sign * step) - mean)
        ends.append(sum(means) / 2 + sign * math.hypot(*reach) / 2)
    assert (cell.score.low, cell.score.high) == pytest.approx(tuple(ends))
    assert cell.score.estimand == "these benchmarks, problems like theirs"
    assert (cell.score.problems, cell.against, cell.reason) == (42, None, "")


def test_the_macro_difference_flips_every_problem_with_its_weight() -> None:
    """Two small benchmarks: all 2^8 signs by hand, problems of the smaller one weigh more."""
    parts = {"x": matrix(_real(3, 2, 6, lift=0.1)), "y": matrix(_real(4, 2, 2, lift=-0.05))}
    macro = compare_benchmarks(parts, baseline="B").macro[0].against
    assert macro is not None
    weighed = np.concatenate(
        [(part.mean[0] - part.mean[1]) / (2 * part.mean.shape[1]) for part in parts.values()]
    )
    signs = np.array(np.meshgrid(*[(1, -1)] * 8)).reshape(8, -1).T
    assert macro.p == np.mean(np.abs(signs @ weighed) >= abs(weighed.sum()) - 1e-12)
    alike = np.concatenate([part.mean[0] - part.mean[1] for part in parts.values()])
    assert macro.p != np.mean(np.abs(signs @ alike) >= abs(alike.sum()) - 1e-12)
    assert macro.difference == pytest.approx(weighed.sum())
    assert macro.method == "exact sign-flip"


def test_turning_the_baseline_turns_the_macro_difference() -> None:
    """A against B is B against A with the sign turned, also where flips are drawn."""
    parts = {"x": matrix(_real(5, 2, 40, lift=0.05)), "y": matrix(_real(6, 2, 30))}
    first = compare_benchmarks(parts, baseline="B").macro[0].against
    second = compare_benchmarks(parts, baseline="A").macro[1].against
    assert first is not None
    assert second is not None
    assert swap_sides(first) == second
    assert first.method == "20 000 seeded flips"


def test_totals_of_a_harness_are_shown_and_never_paired() -> None:
    """They enter the average with their normal interval; without a standard error it has none."""
    parts = {"x": matrix(_real(1, 2, 8))}
    given = {"h": [score_total("A", 0.5, 0.03), score_total("B", 0.4)]}
    table = compare_benchmarks(parts, given=given, baseline="B")
    cell = table.cells[0][1]
    assert (cell.score.estimate, cell.against) == (0.5, None)
    assert cell.reason == "as reported: without problems nothing can be paired"
    first, second = (macro.score for macro in table.macro)
    own = score_series(parts["x"])[0]
    assert own.estimate is not None
    assert own.low is not None
    assert first.low is not None
    assert first.estimate is not None
    assert first.estimate == pytest.approx((own.estimate + 0.5) / 2)
    below = math.hypot(own.estimate - own.low, 1.959964 * 0.03) / 2
    assert first.low == pytest.approx(first.estimate - below, abs=1e-6)
    assert (second.low, second.reason) == (None, "no interval on h")


def test_problems_come_before_a_total_of_the_same_series() -> None:
    """Where a series has both, its own answers are scored."""
    parts = {"x": matrix(_real(1, 2, 8))}
    table = compare_benchmarks(parts, given={"x": [score_total("A", 0.5, 0.03), score_total("C", 0.1, 0.03)]})
    assert [row[0].score.method for row in table.cells] == [
        *["t over problems on the logit scale"] * 2,
        "as reported",
    ]


# ---- pairs --------------------------------------------------------------------------------------


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
