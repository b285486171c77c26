"""The answers of the example report: what its pages say about them comes out of the statistics."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from made_outcomes import compare, outcomes

from reportgen.core.comparisons import Verdict
from reportgen.statistics.compare import compare_all, compare_benchmarks
from reportgen.statistics.power import estimate_power
from reportgen.statistics.problem_scores import group_problem_scores, group_problem_scores_by
from reportgen.statistics.scores import build_problem_grid, measure_run_spreads, score_series
from reportgen.statistics.verdicts import rank_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from reportgen.core.comparisons import ProblemScores

DATA = Path(__file__).parents[1] / "data"
BENCHMARKS = ("Contest", "Textbook")
PARTS = {"Contest": 30, "Textbook": 40}


def rows(path: str) -> list[dict[str, Any]]:
    """The rows of a CSV file of data/, in the form that ``outcomes`` takes."""
    with (DATA / path).open(encoding="utf-8", newline="") as file:
        found: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in found:
        row["series"] = row.pop("model", row.get("series"))
        row["run"] = row.get("seed", "1")
        row["score"] = float(row["score"])
        row["tokens"] = float(row["tokens"]) if "tokens" in row else None
    return found


@pytest.fixture(scope="module")
def parts() -> dict[str, ProblemScores]:
    """The four models' answers, by benchmark."""
    table = outcomes(rows("model-comparison/outcomes.csv"), slices=("benchmark", "subject", "level"))
    return group_problem_scores_by(table, "benchmark", answers=True)


@pytest.fixture(scope="module")
def aime() -> ProblemScores:
    """The answers of both configurations at iteration 900."""
    return group_problem_scores(outcomes(rows("aime-outcomes/outcomes.csv")))


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    """What the script that drew the models' answers states."""
    return runpy.run_path(str(DATA / "model-comparison/make_outcomes.py"))


def test_nothing_is_wrong_with_the_answers(parts: dict[str, ProblemScores]) -> None:
    """Every model answered each problem 16 times, and a problem has one right answer."""
    assert tuple(parts) == BENCHMARKS
    for name, part in parts.items():
        assert part.series == ("Aspen", "Birch", "Cedar", "Damson")
        assert len(part.problems) == PARTS[name]
        assert set(part.samples.ravel().tolist()) == {16}
        assert part.binary == (True,) * 4
        found = part.notes
        assert (found.replaced, found.missing, found.incomplete, found.uneven) == (0, 0, (), ())
        assert found.differing_gold == ()


def test_an_answer_is_right_where_it_is_the_gold_one() -> None:
    """The score of an answer is whether it is the right answer."""
    for row in rows("model-comparison/outcomes.csv"):
        assert (row["answer"] == row["gold"]) is (row["score"] == 1.0), row


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_answers_are_drawn_from_the_true_scores(script: dict[str, Any], benchmark: str) -> None:
    """The chance to solve a problem, averaged over problems, is the true score that the script states."""
    chances: Callable[[str, str], np.ndarray] = script["chances"]
    for model, (true, _) in script["MODELS"].items():
        assert chances(benchmark, model).mean() == pytest.approx(true[benchmark], abs=1e-12)
    birch, cedar = (chances(benchmark, model) for model in ("Birch", "Cedar"))
    assert birch.mean() == pytest.approx(cedar.mean(), abs=1e-12)
    assert abs(birch - cedar).max() > 0.2


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_one_model_is_different_from_all_others(parts: dict[str, ProblemScores], benchmark: str) -> None:
    """Aspen is better than each other model, all pairs tested together, and alone in the first group."""
    compared = compare_all(parts[benchmark])
    assert len(compared) == 6
    verdicts = {(one.a, one.b): one.verdict for one in compared}
    assert {pair for pair, verdict in verdicts.items() if verdict is Verdict.BETTER} == {
        ("Aspen", other) for other in ("Birch", "Cedar", "Damson")
    }
    assert set(verdicts.values()) == {Verdict.BETTER, Verdict.UNCLEAR}
    first, second = rank_groups(score_series(parts[benchmark]), compared)
    assert first.series == ("Aspen",)
    assert second.series == ("Cedar", "Birch", "Damson")


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_two_models_are_tied(parts: dict[str, ProblemScores], benchmark: str) -> None:
    """Between Birch and Cedar nothing is clear, even by themselves; their interval holds the true 0."""
    one = compare(parts[benchmark], "Birch", "Cedar")
    assert one.verdict is Verdict.UNCLEAR
    assert one.p is not None
    assert one.p > 0.5
    assert one.low is not None
    assert one.high is not None
    assert one.low < 0 < one.high


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize("other", ["Birch", "Cedar"])
def test_one_model_is_worse_by_less_than_is_found(
    parts: dict[str, ProblemScores], script: dict[str, Any], benchmark: str, other: str
) -> None:
    """Damson's true score is lower and so is the one seen, by less than is found four times in five."""
    models = script["MODELS"]
    true = models[other][0][benchmark] - models["Damson"][0][benchmark]
    one = compare(parts[benchmark], other, "Damson")
    found = estimate_power([one]).difference
    assert one.difference is not None
    assert one.difference > 0
    assert one.verdict is Verdict.UNCLEAR
    assert found is not None
    assert 0 < true < found


def test_two_problems_are_solved_by_one_model_only(parts: dict[str, ProblemScores]) -> None:
    """Aspen alone ever solves two of the hardest problems of Contest; Textbook has no such problem."""
    assert build_problem_grid(parts["Contest"]).solved_by_one == (
        ("contest-15", "Aspen"),
        ("contest-27", "Aspen"),
    )
    assert build_problem_grid(parts["Textbook"]).solved_by_one == ()


def test_the_average_of_both_benchmarks_says_the_same(parts: dict[str, ProblemScores]) -> None:
    """Against Birch, Aspen is better on both benchmarks and on average; nothing else is clear."""
    across = compare_benchmarks(parts, baseline="Birch")
    found = {
        series: [cell.against.verdict for cell in (*row, average) if cell.against]
        for series, row, average in zip(across.series, across.cells, across.macro, strict=True)
    }
    assert found == {
        "Aspen": [Verdict.BETTER] * 3,
        "Birch": [],
        "Cedar": [Verdict.UNCLEAR] * 3,
        "Damson": [Verdict.UNCLEAR] * 3,
    }


def test_the_aime_answers_are_those_of_the_runs(aime: ProblemScores) -> None:
    """Each run has its Pass@1 at iteration 900 to within a sample, and the mean is that of the figure."""
    with (DATA / "aime/runs.csv").open(encoding="utf-8", newline="") as file:
        runs = {
            (row["series"], row["seed"]): float(row["pass@1"])
            for row in csv.DictReader(file)
            if row["iteration"] == "900"
        }
    for spread in measure_run_spreads(aime):
        assert [run.run for run in spread.runs] == ["1", "2", "3", "4", "5"]
        for run in spread.runs:
            assert run.score == pytest.approx(runs[spread.series, run.run], abs=1 / 480)
    means = {score.series: score.estimate for score in score_series(aime)}
    assert means["v10-l1-length-4096"] == pytest.approx(0.321, abs=0.0005)
    assert means["v1-l1-length-4096"] == pytest.approx(0.280, abs=0.0005)


def test_the_aime_gap_is_less_than_is_found(aime: ProblemScores) -> None:
    """4.1 points are unclear with 30 problems and 5 runs a side."""
    one = compare(aime, "v10-l1-length-4096", "v1-l1-length-4096")
    assert one.verdict is Verdict.UNCLEAR
    assert one.difference == pytest.approx(0.041, abs=0.0005)
    found = estimate_power([one]).difference
    assert found is not None
    assert found > 0.041
