"""Results of lighteval: names of tasks by their age, means over tasks, and answers in their details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from made_evaluations import DATE, messages, survives, write

from reportgen.formats.evaluations import lighteval
from reportgen.formats.runs import Evaluation, Total, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SCORE = {"acc": 0.5, "acc_stderr": 0.25}


def results(**more: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever stands in a results file
    """A results file of 2025 with two subtasks, their mean, and the mean over all."""
    direction = {"metric_name": "acc", "higher_is_better": True}
    return {
        "config_general": {
            "lighteval_sha": "c3e02ea",
            "num_fewshot_seeds": 1,
            "max_samples": None,
            "model_name": "org/base",
            "generation_parameters": {"temperature": 0.6, "top_p": 0.95, "max_new_tokens": 512, "seed": 3},
        },
        "results": {
            "lighteval|mmlu:a|5": SCORE,
            "lighteval|mmlu:b|5": {"acc": 0.75, "acc_stderr": float("nan")},
            "lighteval|mmlu:_average|5": {"acc": 0.625, "acc_stderr": 0.25},
            "all": {"acc": 0.625, "acc_stderr": 0.25},
        },
        "versions": {"lighteval|mmlu:a|5": 1},
        "config_tasks": {
            "lighteval|mmlu:a": {"metric": [direction], "original_num_docs": 4, "effective_num_docs": 4},
            "lighteval|mmlu:b": "LightevalTaskConfig(name='mmlu:b')",
        },
        **more,
    }


def read(folder: Path) -> list[Evaluation]:
    """The evaluations of the one results file below a folder."""
    (unit,) = lighteval.find_units(sorted(folder.rglob("*")))
    return list(lighteval.read(unit))


def test_a_task_has_its_scores_shots_and_protocol(tmp_path: Path) -> None:
    """A task's configuration is named without its shots; one that is only a text tells nothing."""
    write(tmp_path / "org" / f"results_{DATE}.json", results())
    first, second, *_ = read(tmp_path)
    assert (first.model, first.benchmark, first.run, first.seed) == ("org/base", "mmlu:a", DATE, "3")
    assert first.totals == (Total("acc", 0.5, 0.25, 4, higher_is_better=True),)
    assert second.totals == (Total("acc", 0.75, None, None, None),)
    assert first.protocol == {
        "temperature": "0.6",
        "top_p": "0.95",
        "max_tokens": "512",
        "prompt": "5-shot",
        "harness": "lighteval",
        "version": "c3e02ea",
        "date": "2026-11-20",
        "task version": "1",
    }


def test_means_over_tasks_are_marked_and_have_no_standard_error(tmp_path: Path) -> None:
    """A mean of standard errors is no standard error of a mean."""
    write(tmp_path / f"results_{DATE}.json", results())
    *_, average, everything = read(tmp_path)
    assert (average.benchmark, average.protocol["subtasks"]) == ("mmlu:_average", "mmlu:a, mmlu:b")
    assert (everything.benchmark, everything.protocol["subtasks"]) == ("all", "mmlu:a, mmlu:b")
    assert [one.totals[0].stderr for one in (average, everything)] == [None, None]


@pytest.mark.parametrize("name", ["gsm8k|5", "lighteval|gsm8k|5", "lighteval|gsm8k|5|0"])
def test_names_of_every_age_are_the_same_task(tmp_path: Path, name: str) -> None:
    """With or without a suite and a mark for truncation; a mean over one task is no news."""
    write(tmp_path / f"results_{DATE}.json", results(results={name: SCORE, "all": SCORE}))
    (one,) = read(tmp_path)
    assert (one.benchmark, one.protocol["prompt"]) == ("gsm8k", "5-shot")


def test_one_task_with_other_shots_is_another_benchmark(tmp_path: Path) -> None:
    """Scores behind other prompts are not compared."""
    write(tmp_path / f"results_{DATE}.json", results(results={"gsm8k|0": SCORE, "gsm8k|5": SCORE}))
    assert [one.benchmark for one in read(tmp_path)] == ["gsm8k (0-shot)", "gsm8k (5-shot)"]


def details(folder: Path, task: str, rows: Sequence[str]) -> Path:
    """Answers to a task: a row of SQL a problem."""
    path = folder / "details" / "org" / "base" / DATE / f"details_{task}_{DATE}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    union = " UNION ALL BY NAME ".join(f"SELECT {row}" for row in rows)
    duckdb.connect().execute(f"COPY ({union}) TO '{path}' (FORMAT parquet)")
    return path


def test_limits_and_impossible_scores_are_told(tmp_path: Path) -> None:
    """A part of the problems was asked; 0.41 of 4 answers is none."""
    counts = {"original_num_docs": 9, "effective_num_docs": 4}
    document = results(results={"gsm8k|5": {"acc": 0.41}}, config_tasks={"gsm8k|5": counts})
    write(tmp_path / "results" / f"results_{DATE}.json", document)
    (one,) = read(tmp_path)
    assert messages(one) == [
        "gsm8k|5: acc is 0.41, which no whole number of right answers out of 4 gives; the nearest is 0.5",
        "gsm8k|5: the limit leaves 4 of 9 problems",
    ]


def test_answers_stand_in_the_details_of_their_task(tmp_path: Path) -> None:
    """By metric; the problem has its id, and the right choice is the gold answer."""
    doc = "{'id': '%s', 'query': 'long', 'choices': ['4', '5'], 'gold_index': [1]} AS doc"
    rows = [
        f"{doc % name}, {{'em': {score}, 'ppl': [1, 2]}} AS metric, {{'text': ['x']}} AS model_response"
        for name, score in (("a", 1.0), ("b", 0.0))
    ]
    details(tmp_path, "gsm8k|5", rows)
    write(tmp_path / f"results_{DATE}.json", results(results={"gsm8k|5": {"em": 0.5}}))
    (one,) = read(tmp_path)
    assert [(answer.problem, answer.score, answer.gold) for answer in one.answers] == [
        ("a", 1.0, "5"),
        ("b", 0.0, "5"),
    ]
    assert messages(one) == ["2 values that are no scores in ppl: left out"]


def test_details_of_2024_number_their_problems(tmp_path: Path) -> None:
    """The score of the task is not the mean of what is there, and that is told."""
    details(tmp_path, "lighteval|gsm8k|5", ["{'qem': 1} AS metrics, ['18'] AS gold, 'long' AS example"])
    write(tmp_path / f"results_{DATE}.json", results(results={"lighteval|gsm8k|5": {"qem": 0.5}}))
    (one,) = read(tmp_path)
    assert [(answer.problem, answer.score, answer.gold) for answer in one.answers] == [("0", 1.0, "18")]
    assert messages(one) == ["lighteval|gsm8k|5: qem is said to be 0.5, and its 1 answer has the mean 1"]


def test_a_problem_in_several_rows_has_samples(tmp_path: Path) -> None:
    """As with several seeds of the examples before it."""
    rows = ["{'id': '7'} AS doc, {'em': 1} AS metric", "{'id': '7'} AS doc, {'em': 0} AS metric"]
    details(tmp_path, "gsm8k|5", rows)
    write(tmp_path / f"results_{DATE}.json", results(results={"gsm8k|5": {"em": 0.5}}))
    (one,) = read(tmp_path)
    assert [(answer.problem, answer.sample) for answer in one.answers] == [("7", "0"), ("7", "1")]
    assert messages(one) == ["1 problem has several rows: they are read as its samples"]


def test_details_that_cannot_be_read_leave_the_scores(tmp_path: Path) -> None:
    """A damaged file, one of another shape, and one of no task."""
    details(tmp_path, "a|0", ["1 AS x"])
    details(tmp_path, "b|0", ["1 AS x"]).write_bytes(b"PAR1")
    details(tmp_path, "c|0", ["'[' AS metric"])
    details(tmp_path, "other|0", ["1 AS x"])
    tasks = {f"{name}|0": {"em": 0.5} for name in "abc"}
    write(tmp_path / f"results_{DATE}.json", results(results={**tasks, "d|0": {"em": 0.5}}))
    found = read(tmp_path)
    left_out = "the answers cannot be read, since the file is damaged or of another shape: left out"
    stranger = f"1 details file is of no task in the results: details_other|0_{DATE}.parquet"
    assert [messages(one) for one in found] == [[stranger, left_out], [left_out], [left_out], []]
    assert [len(one.totals) for one in found] == [1] * 4


def test_newer_files_keep_the_model_in_its_configuration(tmp_path: Path) -> None:
    """Its name and how it generates."""
    model = {"model_name": "org/new", "generation_parameters": {"temperature": 0}}
    document = results(config_general={"lighteval_sha": "?", "model_config": model})
    write(tmp_path / f"results_{DATE}.json", document)
    first, *_ = read(tmp_path)
    assert (first.model, first.protocol["temperature"]) == ("org/new", "0")


def test_only_wanted_metrics_are_read(tmp_path: Path) -> None:
    """By name."""
    path = write(tmp_path / f"results_{DATE}.json", results())
    unit = Unit(lighteval.NAME, path, (path,))
    assert [one.totals for one in lighteval.read(unit, ["em"])] == [()] * 4


@pytest.mark.random
def test_other_and_damaged_files(tmp_path: Path) -> None:
    """Other JSON is not recognised; no scores, and bytes that are none, are refused or read whole."""
    write(tmp_path / "results_a.json", {"results": {"a": SCORE}})
    write(tmp_path / "results_b.json", {"config_general": {"lr": 1}})
    assert lighteval.find_units(sorted(tmp_path.iterdir())) == ()
    path = write(tmp_path / f"results_{DATE}.json", results(results={"all": 3}))
    unit = Unit(lighteval.NAME, path, (path,))
    with pytest.raises(UnreadableError, match='no scores under "results"'):
        list(lighteval.read(unit))
    write(path, results())
    assert survives(path, lighteval.read, unit) > 2 / 15
