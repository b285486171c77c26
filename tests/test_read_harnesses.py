"""What pages of cases cannot say of harnesses: protocols, chosen metrics, details in Parquet, and damage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from made_evaluations import (
    DATE,
    lm_eval_results,
    lm_eval_rows,
    messages,
    only,
    scores,
    survives,
    write,
    write_lines,
)

from reportgen.formats.evaluations import answer_lists, helm, lighteval, lm_eval
from reportgen.formats.runs import Evaluation, Total, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SPEC: dict[str, Any] = {
    "name": "mmlu:subject=anatomy,method=joint,model=org_base",
    "scenario_spec": {"class_name": "MMLUScenario"},
    "adapter_spec": {
        "method": "multiple_choice_joint",
        "max_train_instances": 5,
        "max_eval_instances": 1000,
        "num_train_trials": 2,
        "model": "org/base",
        "model_deployment": "somewhere/base",
        "temperature": 0.0,
        "max_tokens": 5,
    },
    "groups": ["mmlu"],
}


def stat(metric: str, mean: float | None, split: str = "test", **named: Any) -> dict[str, Any]:  # noqa: ANN401
    """A stat over two trials; without a mean it has counted nothing."""
    counted = {"count": 0, "sum": 0} if mean is None else {"count": 2, "sum": 2 * mean, "mean": mean}
    return {"name": {"name": metric, "split": split, **named}, **counted}


def instances(right: dict[str, Sequence[float]], split: str = "test") -> list[dict[str, Any]]:
    """Instances with a score for each trial."""
    return [
        {
            "instance_id": problem,
            "train_trial_index": trial,
            "stats": [
                stat("exact_match", score, split),
                stat("num_output_tokens", 3.0, split),
                stat("inference_runtime", 0.25, split),
                stat("training_co2_cost", None, split),
            ],
        }
        for problem, trials in right.items()
        for trial, score in enumerate(trials)
    ]


def run(folder: Path, stats: object, of: object) -> Path:
    """The folder of a run."""
    write(folder / "run_spec.json", SPEC)
    write(folder / "stats.json", stats)
    write(folder / "per_instance_stats.json", of)
    return folder


def unit_of_helm(folder: Path) -> Unit:
    """The one unit of a folder."""
    (unit,) = helm.find_units(sorted(path for path in folder.rglob("*") if path.is_file()))
    return unit


def read_helm(folder: Path) -> Evaluation:
    """The one evaluation of a folder."""
    return only(helm.read(unit_of_helm(folder)))


def test_the_protocol_says_how_it_was_measured_helm(tmp_path: Path) -> None:
    """As the adapter is specified; samples are the trials that there are."""
    one = read_helm(run(tmp_path, [stat("exact_match", 1.0)], instances({"id1": (1, 1)})))
    assert one.protocol == {
        "samples": "2",
        "temperature": "0",
        "max_tokens": "5",
        "prompt": "5-shot, multiple_choice_joint",
        "harness": "HELM",
        "split": "test",
        "limit": "1000",
        "backend": "somewhere/base",
    }


def test_what_tells_how_a_run_went_is_read_only_if_named(tmp_path: Path) -> None:
    """Tokens are no score."""
    stats = [stat("exact_match", 0.5), stat("num_output_tokens", 3.0)]
    unit = unit_of_helm(run(tmp_path, stats, instances({"id1": (1, 0)})))
    one = only(helm.read(unit, ["num_output_tokens"]))
    assert [total.metric for total in one.totals] == ["num_output_tokens"]
    assert scores(one, "num_output_tokens") == [3.0, 3.0]


def test_a_run_that_is_not_finished_is_told(tmp_path: Path) -> None:
    """A specification alone, or stats of the training instances, stop no other run from being read."""
    unfinished = "there is no stat of a test or validation split: the run is not finished"
    write(tmp_path / "a" / "run_spec.json", SPEC)
    run(tmp_path / "b", [stat("exact_match", 1.0, "train")], [])
    run(tmp_path / "c", [], [])
    for name in "abc":
        one = read_helm(tmp_path / name)
        assert (one.model, one.finished, one.totals, one.answers) == ("org/base", False, (), ())
        assert messages(one) == [unfinished]


@pytest.mark.random
def test_other_and_damaged_files_helm(tmp_path: Path) -> None:
    """A run has a specification or stats."""
    write(tmp_path / "a" / "stats.json", [])
    write(tmp_path / "b" / "run_spec.json", {"spec": 1})
    write(tmp_path / "b" / "stats.json", [])
    assert helm.find_units(sorted(tmp_path.rglob("*.json"))) == ()
    alone = write(tmp_path / "a" / "other.json", [])
    with pytest.raises(UnreadableError, match=r"has a run_spec\.json, stats\.json or"):
        list(helm.read(Unit(helm.NAME, alone, (alone,))))
    unit = unit_of_helm(run(tmp_path / "c", {"exact_match": 1}, []))
    with pytest.raises(UnreadableError, match="a list is expected in the file"):
        list(helm.read(unit))
    unit = unit_of_helm(run(tmp_path / "c", [stat("exact_match", 0.5)], instances({"id1": (1, 0)})))
    for path in unit.files:
        kept = path.read_bytes()
        survives(path, helm.read, unit)
        path.write_bytes(kept)
    assert only(helm.read(unit)).totals


RIGHT_LM_EVAL = {"strict-match": [1.0, 0.0, 0.0, 0.0], "flexible-extract": [1.0, 1.0, 0.0, 0.0]}


def folder(path: Path) -> Path:
    """A model's folder with results and the answers to one of its tasks."""
    write(path / f"results_{DATE}.json", lm_eval_results())
    write_lines(path / f"samples_sums_{DATE}.jsonl", lm_eval_rows(RIGHT_LM_EVAL))
    return path


def unit_of_lm_eval(path: Path) -> Unit:
    """The one unit of a folder."""
    (unit,) = lm_eval.find_units(sorted(path.rglob("*")))
    return unit


def test_the_protocol_says_how_it_was_measured_lm_eval(tmp_path: Path) -> None:
    """Settings of the command line stand over those of the task."""
    one = next(lm_eval.read(unit_of_lm_eval(folder(tmp_path))))
    assert one.protocol == {
        "samples": "1",
        "temperature": "0.6",
        "top_p": "0.9",
        "max_tokens": "256",
        "prompt": "5-shot, chat template",
        "harness": "lm-evaluation-harness",
        "version": "0.4.13",
        "date": "2026-11-20",
        "task version": "3.0",
        "backend": "hf",
    }


def test_a_group_is_marked_and_a_heading_is_nothing(tmp_path: Path) -> None:
    """A mean over tasks names them, and has no answers."""
    found = {one.benchmark: one for one in lm_eval.read(unit_of_lm_eval(folder(tmp_path)))}
    assert list(found) == ["sums", "choices", "both"]
    assert found["both"].protocol["subtasks"] == "sums, choices"
    assert not found["both"].answers
    assert messages(found["both"]) == []
    assert "subtasks" not in found["sums"].protocol


def test_only_wanted_metrics_are_read_lm_eval(tmp_path: Path) -> None:
    """A metric is wanted by its name with its filter, or without."""
    unit = unit_of_lm_eval(folder(tmp_path))
    strict = next(lm_eval.read(unit, ["exact_match (strict-match)"]))
    assert [total.metric for total in strict.totals] == ["exact_match (strict-match)"]
    assert len(strict.answers) == 4
    assert [one.benchmark for one in lm_eval.read(unit, ["acc"])] == ["sums", "choices", "both"]


def test_results_and_answers_of_one_date_belong_together(tmp_path: Path) -> None:
    """Two evaluations of a model in one folder are two units; answers without results are one, too."""
    other = DATE.replace("12-13", "18-40")
    folder(tmp_path / "m")
    write(tmp_path / "m" / f"results_{other}.json", lm_eval_results())
    write_lines(tmp_path / "org__n" / f"samples_sums_{DATE}.jsonl", lm_eval_rows(RIGHT_LM_EVAL))
    units = lm_eval.find_units(sorted(tmp_path.rglob("*.json*")))
    assert [len(unit.files) for unit in units] == [2, 1, 1]
    assert next(lm_eval.read(units[1])).answers == ()
    alone = only(lm_eval.read(units[2]))
    assert (alone.model, alone.benchmark, alone.run, len(alone.answers)) == ("org/n", "sums", DATE, 8)
    assert messages(alone) == ["there is no results file of this date: the model is named after the folder"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('["results"]', "an object is expected, and it holds a list"),
        ("[" * 100_000, "the file is JSON that cannot be read"),
    ],
)
def test_files_that_are_something_else_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """Another shape, and nesting without end."""
    path = tmp_path / f"results_{DATE}.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableError, match=message):
        list(lm_eval.read(Unit(lm_eval.NAME, path, (path,))))


@pytest.mark.random
def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever happened to the bytes, values are whole and refusals are in words."""
    unit = unit_of_lm_eval(folder(tmp_path))
    # Numbers change more often than the shape.
    assert survives(unit.files[0], lm_eval.read, unit) >= 0.1
    write(unit.files[0], lm_eval_results())
    assert survives(unit.files[1], lm_eval.read, unit) > 2 / 3


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


def read_lighteval(folder: Path) -> list[Evaluation]:
    """The evaluations of the one results file below a folder."""
    (unit,) = lighteval.find_units(sorted(folder.rglob("*")))
    return list(lighteval.read(unit))


def test_a_task_has_its_scores_shots_and_protocol(tmp_path: Path) -> None:
    """A task's configuration is named without its shots; one that is only a text tells nothing."""
    write(tmp_path / "org" / f"results_{DATE}.json", results())
    first, second, *_ = read_lighteval(tmp_path)
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
    *_, average, everything = read_lighteval(tmp_path)
    assert (average.benchmark, average.protocol["subtasks"]) == ("mmlu:_average", "mmlu:a, mmlu:b")
    assert (everything.benchmark, everything.protocol["subtasks"]) == ("all", "mmlu:a, mmlu:b")
    assert [one.totals[0].stderr for one in (average, everything)] == [None, None]


def details(folder: Path, task: str, rows: Sequence[str]) -> Path:
    """Answers to a task: a row of SQL a problem."""
    path = folder / "details" / "org" / "base" / DATE / f"details_{task}_{DATE}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    union = " UNION ALL BY NAME ".join(f"SELECT {row}" for row in rows)
    duckdb.connect().execute(f"COPY ({union}) TO '{path}' (FORMAT parquet)")
    return path


def test_answers_stand_in_the_details_of_their_task(tmp_path: Path) -> None:
    """By metric; the problem has its id, and the right choice is the gold answer."""
    doc = "{'id': '%s', 'query': 'long', 'choices': ['4', '5'], 'gold_index': [1]} AS doc"
    rows = [
        f"{doc % name}, {{'em': {score}, 'ppl': [1, 2]}} AS metric, {{'text': ['x']}} AS model_response"
        for name, score in (("a", 1.0), ("b", 0.0))
    ]
    details(tmp_path, "gsm8k|5", rows)
    write(tmp_path / f"results_{DATE}.json", results(results={"gsm8k|5": {"em": 0.5}}))
    (one,) = read_lighteval(tmp_path)
    assert [(answer.problem, answer.score, answer.gold) for answer in one.answers] == [
        ("a", 1.0, "5"),
        ("b", 0.0, "5"),
    ]
    assert messages(one) == ["2 values that are no scores in ppl: left out"]


def test_details_of_2024_number_their_problems(tmp_path: Path) -> None:
    """The score of the task is not the mean of what is there, and that is told."""
    details(tmp_path, "lighteval|gsm8k|5", ["{'qem': 1} AS metrics, ['18'] AS gold, 'long' AS example"])
    write(tmp_path / f"results_{DATE}.json", results(results={"lighteval|gsm8k|5": {"qem": 0.5}}))
    (one,) = read_lighteval(tmp_path)
    assert [(answer.problem, answer.score, answer.gold) for answer in one.answers] == [("0", 1.0, "18")]
    assert messages(one) == ["lighteval|gsm8k|5: qem is said to be 0.5, and its 1 answer has the mean 1"]


def test_a_problem_in_several_rows_has_samples(tmp_path: Path) -> None:
    """As with several seeds of the examples before it."""
    rows = ["{'id': '7'} AS doc, {'em': 1} AS metric", "{'id': '7'} AS doc, {'em': 0} AS metric"]
    details(tmp_path, "gsm8k|5", rows)
    write(tmp_path / f"results_{DATE}.json", results(results={"gsm8k|5": {"em": 0.5}}))
    (one,) = read_lighteval(tmp_path)
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
    found = read_lighteval(tmp_path)
    left_out = "the answers cannot be read, since the file is damaged or of another shape: left out"
    stranger = f"1 details file is of no task in the results: details_other|0_{DATE}.parquet"
    assert [messages(one) for one in found] == [[stranger, left_out], [left_out], [left_out], []]
    assert [len(one.totals) for one in found] == [1] * 4


def test_only_wanted_metrics_are_read_lighteval(tmp_path: Path) -> None:
    """By name."""
    path = write(tmp_path / f"results_{DATE}.json", results())
    unit = Unit(lighteval.NAME, path, (path,))
    assert [one.totals for one in lighteval.read(unit, ["em"])] == [()] * 4


@pytest.mark.random
def test_other_and_damaged_files_lighteval(tmp_path: Path) -> None:
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


LISTS: list[dict[str, Any]] = [
    {
        "id": place,
        "question": f"{place}+{place}?",
        "answer": str(2 * place),
        "level": ("easy", "hard")[place % 2],
        "responses": [f"It is {2 * place}", "It is 7"],
        "correct": [True, False],
        "preds": [str(2 * place), "7"],
    }
    for place in range(4)
]
RIGHT_ANSWERS = [("0", "0", 1.0), ("0", "1", 0.0), ("1", "0", 1.0), ("1", "1", 0.0)]


def read_answers(path: Path) -> Evaluation:
    """The one evaluation of a file, which has to be recognised."""
    (unit,) = answer_lists.find_units([path])
    return only(answer_lists.read(unit))


def graded(one: Evaluation) -> list[tuple[str, str, float | None]]:
    """Problem, sample and score of every answer."""
    return [(answer.problem, answer.sample, answer.score) for answer in one.answers]


@pytest.mark.parametrize("shape", ["list", "lines", "inside", "named"])
def test_lists_a_problem_are_its_samples(tmp_path: Path, shape: str) -> None:
    """As a list, as lines, as a list inside an object, and as an object of problems."""
    if shape == "lines":
        path = write_lines(tmp_path / "base.jsonl", LISTS)
    else:
        named = {row["id"]: {key: value for key, value in row.items() if key != "id"} for row in LISTS}
        value = {"list": LISTS, "inside": {"model": "base", "results": LISTS}, "named": named}[shape]
        path = write(tmp_path / "base.json", value)
    one = read_answers(path)
    assert graded(one)[:4] == RIGHT_ANSWERS
    assert (one.answers[0].answer, one.answers[0].gold) == ("0", "0")
    assert dict(one.answers[2].slices) == {"level": "hard"}
    assert one.protocol == {"samples": "2"}
    assert messages(one) == []


@pytest.mark.random
def test_files_without_scores_and_damaged_files(tmp_path: Path) -> None:
    """The first are refused in words; of the others what is whole is read."""
    path = write(tmp_path / "base.json", [{"id": 1, "question": "?", "responses": ["a"]}])
    (unit,) = answer_lists.find_units([path])
    with pytest.raises(UnreadableError, match="no record has a score"):
        list(answer_lists.read(unit))
    path.write_text(json.dumps("answers"), encoding="utf-8")
    with pytest.raises(UnreadableError, match="no records in the file"):
        list(answer_lists.read(unit))
    lines = write_lines(tmp_path / "base.jsonl", LISTS)
    assert survives(lines, answer_lists.read, Unit(answer_lists.NAME, lines, (lines,))) > 0.75
