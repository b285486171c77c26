"""Series across benchmarks, slices, and the grid of problems."""

from __future__ import annotations

import math

import numpy as np
import pytest
from made_outcomes import compare, matrix, outcomes
from scipy import stats
from scipy.special import expit, logit

from reportgen.core.comparisons import ScoresError, Verdict
from reportgen.statistics.compare import compare_benchmarks
from reportgen.statistics.problem_scores import group_problem_scores_by
from reportgen.statistics.scores import build_problem_grid, score_series, score_slices, score_total
from reportgen.statistics.verdicts import swap_sides


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


def test_missing_cells_stay_missing_with_a_reason() -> None:
    """No answers to a benchmark, no average; a baseline without problems there compares nothing."""
    parts = {"x": matrix(_real(1, 2, 8)), "y": matrix(_real(2, 1, 8), series=["B"])}
    table = compare_benchmarks(parts, baseline="A")
    missing = table.cells[0][1]
    assert (missing.score.estimate, missing.against, missing.reason) == (None, None, "A has no answers to y")
    alone = table.cells[1][1]
    assert (alone.against, alone.reason) == (None, "A has no problems in y")
    assert table.macro[0].score.estimate is None
    assert table.macro[0].reason == "no score on y: an average over the others could not be compared"
    assert table.macro[1].score.estimate is not None
    assert (table.macro[1].against, table.macro[1].reason) == (None, "not paired with A on every benchmark")


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


def test_too_few_problems_are_not_decided_across_benchmarks() -> None:
    """Five shared problems in two benchmarks: too few, and no p."""
    parts = {"x": matrix(_real(1, 2, 3, lift=0.2)), "y": matrix(_real(2, 2, 2, lift=0.2))}
    macro = compare_benchmarks(parts, baseline="B").macro[0].against
    assert macro is not None
    assert (macro.verdict, macro.p) == (Verdict.TOO_FEW, None)
    assert macro.reason == "5 shared problems: fewer than 6 cannot decide"


def test_ranges_that_differ_have_no_average_and_a_baseline_has_to_be_there() -> None:
    """Scores of 0 to 1 and of 0 to 100 are only compared on each benchmark."""
    percent = matrix(100 * _real(1, 2, 8), highest=100)
    found = compare_benchmarks({"x": matrix(_real(1, 2, 8)), "y": percent}, baseline="B")
    assert [(one.score.estimate, one.against) for one in found.macro] == [(None, None)] * 2
    assert "different ranges, 0 to 1 on x, 0 to 100 on y" in found.macro[0].reason
    assert found.cells[0][0].against is not None
    with pytest.raises(ScoresError, match="no series Z to compare with"):
        compare_benchmarks({"x": matrix(_real(1, 2, 8))}, baseline="Z")


def test_slices_are_the_scores_of_their_rows() -> None:
    """By subject; a series without answers in a slice has a reason."""
    rows = [
        {"series": series, "problem": f"{subject}{p}", "score": float(p % 3 == 0), "subject": subject}
        for series, subjects in (("A", ("algebra", "geometry")), ("B", ("geometry",)))
        for subject in subjects
        for p in range(9)
    ]
    parts = group_problem_scores_by(outcomes(rows, slices=["subject"]), "subject")
    found = score_slices(parts)
    assert list(found) == ["algebra", "geometry"]
    assert [one.series for one in found["algebra"]] == ["A", "B"]
    assert found["algebra"][1].reason == "no answers in algebra"
    assert found["geometry"] == score_series(parts["geometry"])
    assert found["geometry"][0].low is not None


def test_problems_stand_by_difficulty() -> None:
    """Means over series 1/2, 1/4 and 1: the last first; what one series alone ever solved is named."""
    nan = math.nan
    first = [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]]
    second = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [nan, nan]]
    grid = build_problem_grid(matrix([first, second], problems=list("abcd")))
    assert grid.problems == ("c", "a", "d", "b")
    assert grid.difficulty.tolist() == [1, 0.5, 0.5, 0.25]
    np.testing.assert_array_equal(grid.score, [[1, 1, 0.5, 0], [1, 0, nan, 0.5]])
    assert grid.samples.tolist() == [[2, 2, 2, 2], [2, 2, 0, 2]]
    assert grid.solved_by_one == (("a", "A"), ("b", "B"))
    turned = build_problem_grid(matrix([first, second], problems=list("abcd")), higher_is_better=False)
    assert turned.problems == ("b", "a", "d", "c")
    assert build_problem_grid(matrix([[[0.5]], [[0.0]]])).solved_by_one == ()
