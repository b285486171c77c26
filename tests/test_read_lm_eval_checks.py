"""Results of lm-eval against their own answers: means that are none, repeats, and errors out of range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from made_evaluations import (
    DATE,
    lm_eval_results,
    lm_eval_rows,
    messages,
    only,
    scores,
    write,
    write_lines,
)

from reportgen.formats.evaluations import lm_eval

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.formats.runs import Evaluation

FILTER = "strict-match"


def read(folder: Path, entry: dict[str, Any], rows: list[dict[str, Any]], **config: Any) -> Evaluation:  # noqa: ANN401
    """The task ``sums`` of a folder with results and answers."""
    document = lm_eval_results(results={"sums": {"alias": "sums", **entry}}, configs={"sums": config})
    write(folder / f"results_{DATE}.json", document)
    write_lines(folder / f"samples_sums_{DATE}.jsonl", rows)
    (unit,) = lm_eval.find_units(sorted(folder.iterdir()))
    return only(lm_eval.read(unit))


def rows_with(**metrics: list[float]) -> list[dict[str, Any]]:
    """Four documents without a filter, and their values by metric."""
    rows = lm_eval_rows({"none": [0.0] * 4})
    for place, row in enumerate(rows):
        del row["exact_match"]
        row |= {"metrics": list(metrics), **{name: values[place] for name, values in metrics.items()}}
    return rows


def test_likelihoods_are_no_perplexities(tmp_path: Path) -> None:
    """A perplexity is no mean of the documents' numbers, which are left out; right answers stay."""
    entry = {"perplexity,none": 12.5, "acc,none": 0.5}
    how = [
        {"metric": "perplexity", "aggregation": "perplexity"},
        {"metric": "acc", "aggregation": "mean"},
    ]
    rows = rows_with(perplexity=[-1.0, -2.0, -3.0, -4.0], acc=[1.0, 0.0, 1.0, 0.0])
    one = read(tmp_path, entry, rows, metric_list=how)
    assert {answer.metric for answer in one.answers} == {"acc"}
    assert messages(one) == [
        "sums: perplexity is 12.5, and the mean of its values is −2.5: they are no scores, and left out"
    ]
    assert [total.metric for total in one.totals] == ["perplexity", "acc"]


def test_a_score_that_is_another_mean_is_told_and_kept(tmp_path: Path) -> None:
    """Nothing says how it was made: F1 need not be a share, and its answers have a mean nevertheless."""
    one = read(tmp_path, {"f1,none": 0.9}, rows_with(f1=[0.5, 0.5, 1.0, 1.0]))
    assert scores(one, "f1") == [0.5, 0.5, 1.0, 1.0]
    assert messages(one) == ["sums: f1 is said to be 0.9, and its 4 answers have the mean 0.75"]
    one = read(tmp_path, {"f1,none": 0.75}, rows_with(f1=[0.5, 0.5, 1.0, 1.0]))
    assert messages(one) == []


def test_repeats_are_no_samples_with_scores(tmp_path: Path) -> None:
    """A filter takes the first of 64 answers, or what most of them say: there is one score a document."""
    entry = {f"exact_match,{FILTER}": 0.5}
    rows = lm_eval_rows({FILTER: [1.0, 0.0, 1.0, 0.0]})
    one = read(tmp_path, entry, rows, repeats=64, output_type="generate_until")
    assert "samples" not in one.protocol
    assert one.protocol["repeats"] == "64"
    assert messages(one) == [
        "sums: each problem was answered 64 times, and each answer here is what a filter made of these"
    ]


@pytest.mark.parametrize("error", [1e308, 1e-308, 5e-324])
def test_an_error_that_cannot_be_tells_no_number_of_problems(tmp_path: Path, error: float) -> None:
    """Its square is beyond the range of a number, or 0."""
    document = {"results": {"arc": {"acc": 0.5, "acc_stderr": error}}, "versions": {"arc": 0}}
    (unit,) = lm_eval.find_units([write(tmp_path / "old.json", document)])
    assert only(lm_eval.read(unit)).totals[0].n is None


def test_a_number_of_problems_beyond_belief_is_none(tmp_path: Path) -> None:
    """Multiplied by the repeats it would be beyond the range of a number."""
    document = lm_eval_results(
        results={"sums": {"alias": "sums", "acc,none": 0.5}},
        configs={"sums": {"repeats": 1e300}},
        **{"n-samples": {"sums": {"effective": 1e300}}},
    )
    (unit,) = lm_eval.find_units([write(tmp_path / f"results_{DATE}.json", document)])
    assert only(lm_eval.read(unit)).totals[0].n is None


def test_a_group_is_over_the_problems_of_its_tasks(tmp_path: Path) -> None:
    """Its error is pooled, so that none follow from it; where a task says none, the group has none."""
    score = {"acc,none": 0.5, "acc_stderr,none": 0.02}
    document = lm_eval_results(
        results={name: {"alias": name, **score} for name in ("all", "part", "a", "b")},
        groups={"all": score, "part": score},
        group_subtasks={"all": ["part"], "part": ["a", "b", "all"]},
        **{"n-samples": {name: {"effective": 150} for name in "ab"}},
    )
    path = write(tmp_path / f"results_{DATE}.json", document)
    (unit,) = lm_eval.find_units([path])
    found = list(lm_eval.read(unit))
    assert [one.totals[0].n for one in found] == [300, 300, 150, 150]
    assert [messages(one) for one in found] == [[], [], [], []]
    del document["n-samples"]["b"]
    write(path, document)
    assert [one.totals[0].n for one in lm_eval.read(unit)][:2] == [None, None]


def test_rows_that_name_no_filter_are_those_of_each_in_its_turn(tmp_path: Path) -> None:
    """As in older files: together they would be two answers to each document."""
    entry = {f"exact_match,{FILTER}": 0.25, "exact_match,flexible-extract": 0.75}
    rows = [*lm_eval_rows({FILTER: [1.0, 0.0, 0.0, 0.0]}), *lm_eval_rows({"flexible": [1.0, 1.0, 1.0, 0.0]})]
    for row in rows:
        del row["filter"]
    one = read(tmp_path, entry, rows)
    assert scores(one, f"exact_match ({FILTER})") == [1.0, 0.0, 0.0, 0.0]
    assert scores(one, "exact_match (flexible-extract)") == [1.0, 1.0, 1.0, 0.0]
    assert messages(one) == []
    one = read(tmp_path, {f"exact_match,{FILTER}": 0.5}, rows)
    assert messages(one)[0] == "4 rows repeat a document and filter"
