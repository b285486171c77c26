"""Reports of code benchmarks, bare lists of scores, and names that stand around the records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from made_evaluations import messages, only, write, write_lines

from reportgen.formats.evaluations import answer_lists
from reportgen.formats.runs import Evaluation, Total, Unit, UnreadableError

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> list[Evaluation]:
    """The evaluations of a file, which has to be recognised."""
    (unit,) = answer_lists.find_units([path])
    return list(answer_lists.read(unit))


def forced(path: Path) -> Evaluation:
    """The one evaluation of a file whose format is said."""
    return only(answer_lists.read(Unit(answer_lists.NAME, path, (path,))))


def graded(one: Evaluation) -> list[tuple[str, str, float | None]]:
    """Problem, sample and score of every answer."""
    return [(answer.problem, answer.sample, answer.score) for answer in one.answers]


def report_of(*statuses: dict[str, Any]) -> dict[str, Any]:
    """A report of EvalPlus or BigCodeBench on one task, with a sample for each status."""
    samples = [{"task_id": "HumanEval/0", "solution": "def f(): ...", **status} for status in statuses]
    return {"date": "2026-01-01 10:00", "eval": {"HumanEval/0": samples}}


def test_the_longer_test_of_evalplus_takes_both(tmp_path: Path) -> None:
    """It is a benchmark of its own; an answer that fails the shorter test cannot pass it."""
    report = report_of(
        {"base_status": "pass", "plus_status": "fail"},
        {"base_status": "fail", "plus_status": "pass"},
        {"base_status": "pass", "plus_status": "pass"},
        {"base_status": "timeout", "plus_status": "timeout"},
    )
    report["pass_at_k"] = {"base": {"pass@1": 0.5}, "plus": {"pass@1": 0.5}}
    base, plus = read(write(tmp_path / "m_eval_results.json", report))
    assert (base.benchmark, plus.benchmark) == ("HumanEval", "HumanEval+")
    assert [answer.score for answer in base.answers] == [1.0, 0.0, 1.0, 0.0]
    assert [answer.score for answer in plus.answers] == [0.0, 0.0, 1.0, 0.0]
    assert base.totals == (Total("pass@1", 0.5),)
    assert messages(base) == []
    assert messages(plus) == ["pass@1 is said to be 0.5, and its 4 answers give 0.25"]


def test_a_test_that_was_not_run_is_no_benchmark(tmp_path: Path) -> None:
    """EvalPlus writes null then; BigCodeBench has one status."""
    (base,) = read(write(tmp_path / "a.json", report_of({"base_status": "pass", "plus_status": None})))
    assert graded(base) == [("HumanEval/0", "0", 1.0)]
    (one,) = read(write(tmp_path / "b.json", report_of({"status": "fail"}, {"status": "pass"})))
    assert graded(one) == [("HumanEval/0", "0", 0.0), ("HumanEval/0", "1", 1.0)]


def test_an_instance_of_swe_bench_is_resolved_or_not(tmp_path: Path) -> None:
    """One without a patch or with an error is not; one that was never submitted has no score."""
    report = {
        "total_instances": 5,
        "resolved_instances": 1,
        "resolved_ids": ["a"],
        "unresolved_ids": ["b", "a"],
        "empty_patch_ids": ["c"],
        "error_ids": ["d"],
        "incomplete_ids": ["e"],
    }
    (one,) = read(write(tmp_path / "model.run.json", report))
    assert graded(one) == [
        *(("a", "0", 1.0), ("b", "0", 0.0), ("c", "0", 0.0), ("d", "0", 0.0), ("e", "0", None)),
    ]
    assert (one.benchmark, one.totals) == ("SWE-bench", (Total("resolved", 0.2, n=5),))
    assert messages(one) == [
        "1 instance was not submitted: without a score",
        "resolved is said to be 0.2, and its 4 answers have the mean 0.25",
    ]


def test_bare_lists_are_the_scores_of_each_problem(tmp_path: Path) -> None:
    """Of true and false they are recognised; numbers might be anything, and need the format."""
    (one,) = read(write(tmp_path / "a.json", [[True, False], [False]]))
    assert graded(one) == [("0", "0", 1.0), ("0", "1", 0.0), ("1", "0", 0.0)]
    numbers = write(tmp_path / "b.json", [[1, 0.5]])
    named = write(tmp_path / "c.json", {"p": [1, 0], "q": ["correct"]})
    assert answer_lists.find_units([numbers, named]) == ()
    assert graded(forced(numbers)) == [("0", "0", 1.0), ("0", "1", 0.5)]
    assert graded(forced(named)) == [("p", "0", 1.0), ("p", "1", 0.0), ("q", "0", 1.0)]


def test_columns_of_a_table_are_no_problems(tmp_path: Path) -> None:
    """Scores and tokens side by side are not two problems."""
    path = write(tmp_path / "a.json", {"correct": [1, 0], "tokens": [3, 4]})
    with pytest.raises(UnreadableError, match="no record has a score"):
        forced(path)


def test_a_model_around_the_records_is_theirs(tmp_path: Path) -> None:
    """A record that names another has its own."""
    records = [{"id": 1, "gold": "1", "correct": [1]}, {"id": 2, "correct": [0], "model": "other"}]
    found = read(write(tmp_path / "a.json", {"model": "base", "dataset": "sums", "results": records}))
    assert [(one.model, one.benchmark) for one in found] == [("base", "sums"), ("other", "sums")]


def test_answers_that_passed_are_no_table(tmp_path: Path) -> None:
    """HumanEval's own results: a line a completion; a training log has no completion."""
    rows = [{"task_id": f"HumanEval/{place}", "completion": "x", "passed": place == 0} for place in (0, 0, 1)]
    (one,) = read(write_lines(tmp_path / "samples.jsonl", rows))
    assert graded(one) == [
        ("HumanEval/0", "0", 1.0),
        ("HumanEval/0", "0 (2)", 1.0),
        ("HumanEval/1", "0", 0.0),
    ]
    logged = write_lines(tmp_path / "a.jsonl", [{"step": 1, "id": 1, "accuracy": 0.5, "output": "x"}])
    trained = write_lines(tmp_path / "b.jsonl", [{"id": 1, "accuracy": 0.5, "loss": 2.5}])
    assert answer_lists.find_units([logged, trained]) == ()


def test_letters_of_choices_are_no_marks(tmp_path: Path) -> None:
    """C is a right answer among marks, and a choice among choices."""
    question = {"id": 1, "question": "?", "labels": ["A", "B", "C"], "answer": "C", "correct": [True, False]}
    (one,) = read(write(tmp_path / "a.json", [question]))
    assert graded(one) == [("1", "0", 1.0), ("1", "1", 0.0)]
    del question["correct"]
    with pytest.raises(UnreadableError, match="no record has a score"):
        forced(write(tmp_path / "b.json", [question]))
    marked = {"id": 1, "gold": "4", "grades": ["C", "I", "P"]}
    assert [score for _, _, score in graded(forced(write(tmp_path / "c.json", [marked])))] == [1.0, 0.0, 0.5]
    said = {"id": 1, "gold": "4", "correct": ["True", "no answer"]}
    assert [score for _, _, score in graded(forced(write(tmp_path / "d.json", [said])))] == [1.0, None]


def test_several_lists_of_scores_are_told(tmp_path: Path) -> None:
    """What is right is not what was rewarded; a share over all of them is no list."""
    record = {"id": 1, "gold": "4", "rewards": [0.5, 2.0], "correct": [False, True], "accuracy": 0.5}
    (one,) = read(write(tmp_path / "a.json", [record]))
    assert graded(one) == [("1", "0", 0.0), ("1", "1", 1.0)]
    assert messages(one) == ["scores stand under correct and rewards: correct is read"]
