"""Logs of Inspect: archives of every packing and JSON, epochs, scorers, errors, and logs that were cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from made_evaluations import (
    DEFLATED,
    STORED,
    ZSTANDARD,
    messages,
    only,
    scores,
    survives,
    write,
    zipped,
)

from reportgen.formats.evaluations import inspect_logs
from reportgen.formats.runs import Evaluation, Total, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ACCURACY = {"accuracy": {"name": "accuracy", "value": 0.5, "params": {}}}
STDERR = {"stderr": {"name": "stderr", "value": 0.25, "params": {}}}
MARKS = "CIPN"


def header(**more: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever stands in a header
    """A header as Inspect 0.3 writes it, for one scorer and four samples."""
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "task": "sums",
            "task_id": "cSfMpbSj45FjDMQzdHnyH5",
            "task_version": 2,
            "task_args": {"shots": 5},
            "created": "2026-11-21T18:48:12+00:00",
            "dataset": {"name": "sums", "samples": 4, "sample_ids": ["a", "b", "c", "d"]},
            "model": "mock/model",
            "config": {"epochs": 1},
            "packages": {"inspect_ai": "0.3.285"},
            "scorers": [
                {"name": "match", "options": {}},
                {"name": "judge", "options": {"model": "mock/big"}},
            ],
        },
        "plan": {
            "steps": [{"solver": "generate"}],
            "config": {"temperature": 0.7, "top_p": 0.9, "max_tokens": 64, "seed": 7},
        },
        "results": results([entry()]),
        **more,
    }


def entry(name: str = "match", **more: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever stands in it
    """The scores of one scorer."""
    return {"name": name, "scorer": name, "scored_samples": 4, "metrics": {**ACCURACY, **STDERR}, **more}


def results(entries: Sequence[object], completed: int = 4) -> dict[str, Any]:
    """The results of a log."""
    return {"total_samples": 4, "completed_samples": completed, "scores": list(entries)}


def sample(place: int, value: object, epoch: int = 1, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """A sample without its transcript."""
    return {
        "id": "abcd"[place],
        "epoch": epoch,
        "target": str(2 * place),
        "metadata": {"subject": "xy"[place % 2], "note": f"unlike {place}", "uid": place},
        "scores": {"match": {"value": value, "answer": str(place)}},
        "model_usage": {"mock/model": {"output_tokens": 7 + place}, "mock/big": {"output_tokens": 900}},
        "total_time": 2.5,
        "working_time": 1.5,
        **more,
    }


SAMPLES = [sample(place, mark) for place, mark in enumerate(MARKS)]


def members(head: object, samples: Sequence[object] | None = SAMPLES, **more: object) -> dict[str, bytes]:
    """The members of an archive; ``__`` in a name stands for a slash."""
    parts = {"_journal/start.json": {"version": 2}, "summaries.json": samples, "header.json": head}
    parts |= {f"{name.replace('__', '/')}.json": value for name, value in more.items()}
    return {name: json.dumps(value).encode() for name, value in parts.items() if value is not None}


def archive(path: Path, content: dict[str, bytes], method: int = DEFLATED) -> Path:
    """A log in an archive."""
    path.write_bytes(zipped(content, method))
    return path


def unit(path: Path) -> Unit:
    """The unit of a file, whether it is recognised or not."""
    return Unit(inspect_logs.NAME, path, (path,))


def read(path: Path) -> Evaluation:
    """The one evaluation of a log, which has to be recognised."""
    (found,) = inspect_logs.find_units([path])
    return only(inspect_logs.read(found))


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
def test_an_archive_is_read_however_it_is_packed(tmp_path: Path, method: int) -> None:
    """Marks are scores: correct 1, partly 0.5, incorrect and no answer 0."""
    one = read(archive(tmp_path / "log.eval", members(header()), method))
    assert scores(one, "match") == [1.0, 0.0, 0.5, 0.0]
    assert one.totals == (Total("accuracy (match)", 0.5, 0.25, 4),)
    assert messages(one) == ["accuracy (match) is said to be 0.5, and its 4 samples give 0.375"]
    assert (one.model, one.benchmark, one.finished) == ("mock/model", "sums", True)
    assert (one.run, one.seed) == ("2026-11-21T18:48:12+00:00 cSfMpb", "7")


def test_an_answer_has_its_own_tokens_time_and_slices(tmp_path: Path) -> None:
    """Tokens of the grader are not the answer's; waiting is no time of its; only shared words group."""
    first = read(archive(tmp_path / "log.eval", members(header()))).answers[0]
    assert (first.problem, first.sample, first.answer, first.gold) == ("a", "1", "0", "0")
    assert (first.tokens, first.seconds, dict(first.slices)) == (7.0, 1.5, {"subject": "x"})


def test_the_protocol_says_how_it_was_measured(tmp_path: Path) -> None:
    """Settings of generation, scorers with their models, and what the task was given."""
    assert read(archive(tmp_path / "log.eval", members(header()))).protocol == {
        "samples": "1",
        "temperature": "0.7",
        "top_p": "0.9",
        "max_tokens": "64",
        "harness": "Inspect",
        "version": "0.3.285",
        "grader": "match, judge by mock/big",
        "date": "2026-11-21",
        "task version": "2",
        "task arguments": "shots=5",
        "dataset": "sums",
        "solver": "generate",
    }


def test_a_model_in_the_role_of_the_grader_is_told(tmp_path: Path) -> None:
    """Scorers that ask no model have none, and one that is given its own keeps it."""
    said = header()["eval"] | {"model_roles": {"grader": {"model": "mock/judge"}}}
    said["scorers"] = [
        {"name": "match"},
        {"name": "model_graded_qa", "options": {}},
        {"name": "model_graded_fact", "options": {"model": "mock/big"}},
    ]
    one = read(archive(tmp_path / "log.eval", members(header(eval=said))))
    assert one.protocol["grader"] == "match, model_graded_qa by mock/judge, model_graded_fact by mock/big"
    said |= {"model_roles": {"grader": [{"model": "a"}, {"model": "b"}]}, "scorers": said["scorers"][1:2]}
    one = read(archive(tmp_path / "log.eval", members(header(eval=said))))
    assert one.protocol["grader"] == "model_graded_qa by a and b"


def test_a_json_log_says_what_its_archive_says(tmp_path: Path) -> None:
    """The samples stand in the same file then, with their transcripts."""
    whole = [{**one, "messages": ["long"], "events": [{"event": "model"}]} for one in SAMPLES]
    path = write(tmp_path / "log.json", {**header(), "samples": whole})
    written, packed = read(path), read(archive(tmp_path / "log.eval", members(header())))
    assert written.answers == packed.answers
    assert (written.totals, written.protocol) == (packed.totals, packed.protocol)


def test_epochs_are_samples(tmp_path: Path) -> None:
    """A reducer has totals of its own, and only the mean is compared with the answers."""
    said = header()["eval"] | {"config": {"epochs": 2, "epochs_reducer": ["mean", "max"]}}
    entries = [entry(reducer="mean"), entry(reducer="max")]
    twice = [sample(place, mark, epoch) for epoch in (1, 2) for place, mark in enumerate("CCII")]
    head = header(eval=said, results=results(entries, 8))
    one = read(archive(tmp_path / "log.eval", members(head, twice)))
    assert [(answer.problem, answer.sample) for answer in one.answers[3:5]] == [("d", "1"), ("a", "2")]
    assert [total.metric for total in one.totals] == ["accuracy (match, mean)", "accuracy (match, max)"]
    assert (one.protocol["samples"], one.protocol["reducer"]) == ("2", "mean, max")
    assert dict(one.answers[0].slices) == {"subject": "x"}
    assert messages(one) == []


def test_several_scorers_and_values_with_keys_are_metrics(tmp_path: Path) -> None:
    """A value that is an object gives a metric for each key; its totals have the same name."""
    both = [
        {**sample(place, mark)["scores"], "judge": {"value": {"style": 0.5, "length": 10 * place}}}
        for place, mark in enumerate("CCII")
    ]
    samples = [{**sample(place, "C"), "scores": scores_} for place, scores_ in enumerate(both)]
    means = {"mean": {"name": "mean", "value": 0.5, "params": {}}, "std": {"name": "std", "value": 0.1}}
    entries = [entry(), entry("style", scorer="judge", metrics=means)]
    one = read(archive(tmp_path / "log.eval", members(header(results=results(entries)), samples)))
    assert scores(one, "judge/length") == [0.0, 10.0, 20.0, 30.0]
    assert scores(one, "judge/style") == [0.5] * 4
    assert [total.metric for total in one.totals] == ["accuracy (match)", "mean (judge/style)"]
    assert messages(one) == []


def test_of_several_standard_errors_the_one_over_all_samples_is_taken(tmp_path: Path) -> None:
    """The other is clustered, as its parameters say, and is told."""
    clustered = {"stderr2": {"name": "stderr", "value": 0.125, "params": {"cluster": "subject"}}}
    entries = [entry(metrics={**ACCURACY, **clustered, **STDERR})]
    samples = [sample(place, mark) for place, mark in enumerate("CCII")]
    one = read(archive(tmp_path / "log.eval", members(header(results=results(entries)), samples)))
    assert one.totals[0].stderr == 0.25
    assert messages(one) == [
        "match has 2 standard errors (0.25, 0.125 clustered by subject): the first is taken"
    ]


def test_samples_that_failed_are_missing_and_told(tmp_path: Path) -> None:
    """A score over three of four samples is one over three; the fourth is no wrong answer."""
    samples = [sample(place, mark) for place, mark in enumerate("CIC")]
    samples.append(sample(3, None, scores={}, error="RuntimeError('fell\nover')"))
    metrics = {"accuracy": {"name": "accuracy", "value": 2 / 3, "params": {}}}
    head = header(results=results([entry(metrics=metrics, scored_samples=3)], completed=3))
    one = read(archive(tmp_path / "log.eval", members(head, samples)))
    assert scores(one, "match") == [1.0, 0.0, 1.0, None]
    assert one.totals[0].n == 3
    assert messages(one) == [
        "1 sample failed (first error: RuntimeError('fell over'))",
        "accuracy (match) is over 3 of 4 samples: the 1 without a score counts neither as right nor as wrong",
    ]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("cancelled", "the evaluation was cancelled, and has scores nevertheless"),
        ("error", "the evaluation failed, and has scores nevertheless: fell over"),
        ("started", "the evaluation is still running or was killed, and has scores nevertheless"),
    ],
)
def test_an_evaluation_that_did_not_end_is_not_finished(tmp_path: Path, status: str, message: str) -> None:
    """Its scores are there, over the samples that it had."""
    error = {"message": "fell over"} if status == "error" else None
    samples = [sample(place, mark) for place, mark in enumerate("CI")]
    one = read(archive(tmp_path / "log.eval", members(header(status=status, error=error), samples)))
    assert not one.finished
    assert messages(one) == [message, "answers to 2 of 4 samples are there"]


def test_a_log_that_was_killed_is_read_from_its_journal(tmp_path: Path) -> None:
    """There is no header yet, and summaries stand in parts: the tenth comes after the second."""
    start = {"version": 2, "eval": header()["eval"], "plan": header()["plan"]}
    parts = {f"_journal__summaries__{place}": [SAMPLES[at]] for at, place in enumerate((2, 10))}
    content = members(None, None, **parts)
    content["_journal/start.json"] = json.dumps(start).encode()
    one = read(archive(tmp_path / "log.eval", content))
    assert not one.finished
    assert [answer.problem for answer in one.answers] == ["a", "b"]
    assert messages(one)[0] == "the evaluation is still running or was killed"


def test_samples_are_read_where_there_are_no_summaries(tmp_path: Path) -> None:
    """Archives of 2024 have none."""
    parts = {f"samples__{one['id']}_epoch_1": {**one, "events": [1]} for one in SAMPLES}
    one = read(archive(tmp_path / "log.eval", members(header(), None, **parts)))
    assert [answer.problem for answer in one.answers] == ["a", "b", "c", "d"]


def test_scores_a_problem_stand_in_for_samples_that_were_not_logged(tmp_path: Path) -> None:
    """Of several reducers those of the mean; the epochs are told to be gone."""
    said = header()["eval"] | {"config": {"epochs": 2}}
    reduced = [
        {"scorer": "match", "reducer": reducer, "samples": [{"value": value, "sample_id": "a"}]}
        for reducer, value in (("mean", 0.5), ("max", 1.0))
    ]
    content = members(header(eval=said), [], reductions=reduced)
    one = read(archive(tmp_path / "log.eval", content))
    assert [(answer.problem, answer.score) for answer in one.answers] == [("a", 0.5)]
    assert messages(one)[0] == "the answers of each epoch are not kept; a score for each problem is read"


def test_totals_without_answers_are_held_against_their_number(tmp_path: Path) -> None:
    """A half right answer counts half, so of four answers 0.625 is possible and 0.6 is not."""
    for value, told in ((0.625, []), (0.61, ["accuracy (match) is 0.61"])):
        metrics = {"accuracy": {"name": "accuracy", "value": value}}
        head = header(results=results([entry(metrics=metrics)]))
        one = read(archive(tmp_path / "log.eval", members(head, [])))
        assert [message.partition(",")[0] for message in messages(one)] == told


def test_limits_and_missing_scores_are_told(tmp_path: Path) -> None:
    """Four of a hundred samples, and nobody graded them."""
    said = header()["eval"]
    said["dataset"]["samples"] = 100
    samples = [{**one, "scores": {}} for one in SAMPLES]
    one = read(archive(tmp_path / "log.eval", members(header(eval=said, results=None), samples)))
    assert messages(one) == [
        "the limit leaves 4 of 100 samples of the dataset",
        "4 samples have no score: not yet graded",
    ]
    assert [answer.score for answer in one.answers] == [None] * 4


def test_only_wanted_scorers_are_read(tmp_path: Path) -> None:
    """By the name that answers have, or by the metric."""
    path = archive(tmp_path / "log.eval", members(header()))
    assert only(inspect_logs.read(unit(path), ["other"])).answers == ()
    assert len(only(inspect_logs.read(unit(path), ["match"])).totals) == 1


def test_logs_of_2024_have_one_scorer(tmp_path: Path) -> None:
    """Its metrics stand in the results, and its score in the sample."""
    samples = [{"id": 1, "epoch": 1, "target": "4", "score": {"value": "C", "answer": "4"}}]
    old = {"scorer": {"name": "match"}, "metrics": {"accuracy": {"name": "accuracy", "value": 1.0}}}
    one = read(write(tmp_path / "log.json", {**header(results=old), "samples": samples}))
    assert [(answer.problem, answer.score) for answer in one.answers] == [("1", 1.0)]
    assert one.totals == (Total("accuracy (match)", 1.0),)


def test_other_files_are_not_taken_for_logs(tmp_path: Path) -> None:
    """An ending alone, and JSON with an eval, are not enough."""
    (tmp_path / "model.eval").write_text("accuracy: 0.5", encoding="utf-8")
    write(tmp_path / "metrics.json", {"eval": {"loss": 1.0}})
    write(tmp_path / "run.json", {"status": "success"})
    assert inspect_logs.find_units(sorted(tmp_path.iterdir())) == ()


@pytest.mark.random
@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_damaged_archives_are_read_or_refused(tmp_path: Path, method: int) -> None:
    """Whatever happened to the bytes, values are whole and refusals are in words."""
    path = archive(tmp_path / "log.eval", members(header()), method)
    survives(path, inspect_logs.read, unit(path))
    path = write(tmp_path / "log.json", {**header(), "samples": SAMPLES})
    assert survives(path, inspect_logs.read, unit(path)) > 0.1


def test_a_log_without_an_evaluation_is_refused(tmp_path: Path) -> None:
    """An archive of something else, and JSON that only looks like a log."""
    other = archive(tmp_path / "other.eval", {"readme.txt": b"hello"})
    with pytest.raises(UnreadableError, match=r"no header\.json"):
        list(inspect_logs.read(unit(other)))
    empty = archive(tmp_path / "empty.eval", members({"eval": []}))
    with pytest.raises(UnreadableError, match='no object "eval"'):
        list(inspect_logs.read(unit(empty)))
    with pytest.raises(UnreadableError, match='no object "eval"'):
        list(inspect_logs.read(unit(write(tmp_path / "log.json", {"eval": 3}))))
