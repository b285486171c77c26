"""Logs of Inspect: archives of every packing, protocols, several logs of one task, and logs that were cut."""

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
from reportgen.read import open_path, read_outcomes
from reportgen.settings.loading import load_source_settings
from reportgen.statistics.problem_scores import group_problem_scores

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ACCURACY = {"accuracy": {"name": "accuracy", "value": 0.5, "params": {}}}
STDERR = {"stderr": {"name": "stderr", "value": 0.25, "params": {}}}
MARKS = "CIPN"


def header_log(**more: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever stands in a header
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


def read_log(path: Path) -> Evaluation:
    """The one evaluation of a log, which has to be recognised."""
    (found,) = inspect_logs.find_units([path])
    return only(inspect_logs.read(found))


@pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTANDARD])
def test_an_archive_is_read_however_it_is_packed(tmp_path: Path, method: int) -> None:
    """Marks are scores: correct 1, partly 0.5, incorrect and no answer 0."""
    one = read_log(archive(tmp_path / "log.eval", members(header_log()), method))
    assert scores(one, "match") == [1.0, 0.0, 0.5, 0.0]
    assert one.totals == (Total("accuracy (match)", 0.5, 0.25, 4),)
    assert messages(one) == ["accuracy (match) is said to be 0.5, and its 4 samples give 0.375"]
    assert (one.model, one.benchmark, one.finished) == ("mock/model", "sums", True)
    assert (one.run, one.seed) == ("2026-11-21T18:48:12+00:00 cSfMpb", "7")


def test_the_protocol_says_how_it_was_measured(tmp_path: Path) -> None:
    """Settings of generation, scorers with their models, and what the task was given."""
    assert read_log(archive(tmp_path / "log.eval", members(header_log()))).protocol == {
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
    said = header_log()["eval"] | {"model_roles": {"grader": {"model": "mock/judge"}}}
    said["scorers"] = [
        {"name": "match"},
        {"name": "model_graded_qa", "options": {}},
        {"name": "model_graded_fact", "options": {"model": "mock/big"}},
    ]
    one = read_log(archive(tmp_path / "log.eval", members(header_log(eval=said))))
    assert one.protocol["grader"] == "match, model_graded_qa by mock/judge, model_graded_fact by mock/big"
    said |= {"model_roles": {"grader": [{"model": "a"}, {"model": "b"}]}, "scorers": said["scorers"][1:2]}
    one = read_log(archive(tmp_path / "log.eval", members(header_log(eval=said))))
    assert one.protocol["grader"] == "model_graded_qa by a and b"


def test_a_json_log_says_what_its_archive_says(tmp_path: Path) -> None:
    """The samples stand in the same file then, with their transcripts."""
    whole = [{**one, "messages": ["long"], "events": [{"event": "model"}]} for one in SAMPLES]
    path = write(tmp_path / "log.json", {**header_log(), "samples": whole})
    written, packed = read_log(path), read_log(archive(tmp_path / "log.eval", members(header_log())))
    assert written.answers == packed.answers
    assert (written.totals, written.protocol) == (packed.totals, packed.protocol)


def test_epochs_are_samples(tmp_path: Path) -> None:
    """A reducer has totals of its own, and only the mean is compared with the answers."""
    said = header_log()["eval"] | {"config": {"epochs": 2, "epochs_reducer": ["mean", "max"]}}
    entries = [entry(reducer="mean"), entry(reducer="max")]
    twice = [sample(place, mark, epoch) for epoch in (1, 2) for place, mark in enumerate("CCII")]
    head = header_log(eval=said, results=results(entries, 8))
    one = read_log(archive(tmp_path / "log.eval", members(head, twice)))
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
    one = read_log(archive(tmp_path / "log.eval", members(header_log(results=results(entries)), samples)))
    assert scores(one, "judge/length") == [0.0, 10.0, 20.0, 30.0]
    assert scores(one, "judge/style") == [0.5] * 4
    assert [total.metric for total in one.totals] == ["accuracy (match)", "mean (judge/style)"]
    assert messages(one) == []


def test_a_log_that_was_killed_is_read_from_its_journal(tmp_path: Path) -> None:
    """There is no header yet, and summaries stand in parts: the tenth comes after the second."""
    start = {"version": 2, "eval": header_log()["eval"], "plan": header_log()["plan"]}
    parts = {f"_journal__summaries__{place}": [SAMPLES[at]] for at, place in enumerate((2, 10))}
    content = members(None, None, **parts)
    content["_journal/start.json"] = json.dumps(start).encode()
    one = read_log(archive(tmp_path / "log.eval", content))
    assert not one.finished
    assert [answer.problem for answer in one.answers] == ["a", "b"]
    assert messages(one)[0] == "the evaluation is still running or was killed"


def test_samples_are_read_where_there_are_no_summaries(tmp_path: Path) -> None:
    """Archives of 2024 have none."""
    parts = {f"samples__{one['id']}_epoch_1": {**one, "events": [1]} for one in SAMPLES}
    one = read_log(archive(tmp_path / "log.eval", members(header_log(), None, **parts)))
    assert [answer.problem for answer in one.answers] == ["a", "b", "c", "d"]


def test_scores_a_problem_stand_in_for_samples_that_were_not_logged(tmp_path: Path) -> None:
    """Of several reducers those of the mean; the epochs are told to be gone."""
    said = header_log()["eval"] | {"config": {"epochs": 2}}
    reduced = [
        {"scorer": "match", "reducer": reducer, "samples": [{"value": value, "sample_id": "a"}]}
        for reducer, value in (("mean", 0.5), ("max", 1.0))
    ]
    content = members(header_log(eval=said), [], reductions=reduced)
    one = read_log(archive(tmp_path / "log.eval", content))
    assert [(answer.problem, answer.score) for answer in one.answers] == [("a", 0.5)]
    assert messages(one)[0] == "the answers of each epoch are not kept; a score for each problem is read"


def test_only_wanted_scorers_are_read(tmp_path: Path) -> None:
    """By the name that answers have, or by the metric."""
    path = archive(tmp_path / "log.eval", members(header_log()))
    assert only(inspect_logs.read(unit(path), ["other"])).answers == ()
    assert len(only(inspect_logs.read(unit(path), ["match"])).totals) == 1


@pytest.mark.random
@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_damaged_archives_are_read_or_refused(tmp_path: Path, method: int) -> None:
    """Whatever happened to the bytes, values are whole and refusals are in words."""
    path = archive(tmp_path / "log.eval", members(header_log()), method)
    survives(path, inspect_logs.read, unit(path))
    path = write(tmp_path / "log.json", {**header_log(), "samples": SAMPLES})
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


TASK = "cSfMpbSj45FjDMQzdHnyH5"
NAMES = [f"2026-11-21T18-4{minute}-12-00-00_sums_{TASK}.eval" for minute in (1, 2, 3)]
ENDED = "the task has 3 logs: only the newest that ended well is read, not"


def header_attempt(minute: int, status: str = "success", task: str = TASK) -> dict[str, Any]:
    """A header without results."""
    created = f"2026-11-21T18:4{minute}:12+00:00"
    said = {"task": "sums", "task_id": task, "created": created, "model": "mock/model"}
    return {"version": 2, "status": status, "eval": said}


def samples(marks: str) -> list[dict[str, Any]]:
    """A sample for each mark."""
    return [
        {"id": place, "epoch": 1, "target": "4", "scores": {"match": {"value": mark}}}
        for place, mark in enumerate(marks)
    ]


def packed(members: dict[str, Any]) -> bytes:
    """An archive of JSON."""
    return zipped({name: json.dumps(value).encode() for name, value in members.items()}, DEFLATED)


def attempt(path: Path, head: dict[str, Any], marks: str) -> Path:
    """A log in an archive."""
    path.write_bytes(packed({"summaries.json": samples(marks), "header.json": head}))
    return path


def read_attempt(folder: Path) -> list[Evaluation]:
    """All evaluations of the one unit in a folder."""
    (unit,) = inspect_logs.find_units(sorted(folder.iterdir()))
    return list(inspect_logs.read(unit))


def test_of_several_attempts_the_newest_that_ended_well_counts(tmp_path: Path) -> None:
    """A retry has the samples of the log before it; together they would count twice."""
    attempt(tmp_path / NAMES[0], header_attempt(1, "error"), "CI")
    attempt(tmp_path / NAMES[1], header_attempt(2), "CICC")
    attempt(tmp_path / NAMES[2], header_attempt(3, "started"), "C")
    (one,) = read_attempt(tmp_path)
    assert scores(one, "match") == [1.0, 0.0, 1.0, 1.0]
    assert one.path == tmp_path / NAMES[1]
    assert messages(one) == [f"{ENDED} {NAMES[0]} and {NAMES[2]}"]


def test_where_none_ended_well_the_newest_counts(tmp_path: Path) -> None:
    """It has the most samples."""
    attempt(tmp_path / NAMES[0], header_attempt(1, "error"), "CI")
    attempt(tmp_path / NAMES[1], header_attempt(2, "cancelled"), "CIC")
    (one,) = read_attempt(tmp_path)
    assert len(one.answers) == 3
    assert messages(one)[0] == f"the task has 2 logs: only the newest is read, not {NAMES[0]}"


def test_an_attempt_with_scores_counts_before_one_without(tmp_path: Path) -> None:
    """An ungraded log is no result, however new it is."""
    attempt(tmp_path / NAMES[0], header_attempt(1), "CIC")
    bare = [{key: value for key, value in one.items() if key != "scores"} for one in samples("CIC")]
    (tmp_path / NAMES[1]).write_bytes(packed({"summaries.json": bare, "header.json": header_attempt(2)}))
    (one,) = read_attempt(tmp_path)
    assert scores(one, "match") == [1.0, 0.0, 1.0]
    read_is = "only the newest that ended well of those with scores is read, not"
    assert messages(one) == [f"the task has 2 logs: {read_is} {NAMES[1]}"]


def test_a_log_that_is_not_graded_does_not_hide_its_twin(tmp_path: Path) -> None:
    """A task that was evaluated again with a scorer has an id of its own."""
    other = f"2026-11-21T18-43-12-00-00_sums_{TASK[::-1]}.eval"
    bare = [{**one, "scores": {}} for one in samples("CIC")]
    (tmp_path / NAMES[0]).write_bytes(packed({"summaries.json": bare, "header.json": header_attempt(1)}))
    attempt(tmp_path / other, header_attempt(3, task=TASK[::-1]), "CIC")
    root, source = open_path(tmp_path, load_settings=load_source_settings)
    found = group_problem_scores(read_outcomes(root, source))
    assert found.mean.tolist() == [[1.0, 0.0, 1.0]]
    told = [warning.message for warning in source.warnings]
    assert (
        "the answers of mock/model on sums are not graded: they are left out, since others on it are" in told
    )
    assert not any("no score by" in message or "different runs" in message for message in told)


def test_a_log_without_model_and_task_is_told_by_its_file(tmp_path: Path) -> None:
    """No message has a hole where a name should be."""
    head = header_attempt(1, "cancelled")
    del head["eval"]["model"], head["eval"]["created"], head["eval"]["task_id"]
    head["eval"]["task"] = ""
    attempt(tmp_path / "one.eval", head, "CI")
    told = [
        warning.message for warning in open_path(tmp_path, load_settings=load_source_settings)[1].warnings
    ]
    assert "the evaluation of one did not finish; what is there is read" in told
    assert not any("  " in message or " of on " in message for message in told)


def test_an_attempt_that_is_damaged_does_not_hide_the_others(tmp_path: Path) -> None:
    """It is told; if there is no other, it is an error."""
    (tmp_path / NAMES[0]).write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(UnreadableError, match="no whole zip archive"):
        read_attempt(tmp_path)
    attempt(tmp_path / NAMES[1], header_attempt(2), "CIC")
    (one,) = read_attempt(tmp_path)
    assert len(one.answers) == 3
    assert [message.rpartition(": ")[2] for message in messages(one)] == ["left out"]


def test_names_alone_make_no_attempts(tmp_path: Path) -> None:
    """Two tasks whose logs end alike are two; a pattern may put something else at the end of the name."""
    attempt(tmp_path / NAMES[0], header_attempt(1), "CI")
    attempt(tmp_path / NAMES[1], header_attempt(2, task="another"), "C")
    assert [(len(one.answers), messages(one)) for one in read_attempt(tmp_path)] == [(2, []), (1, [])]


def test_a_torn_log_has_the_samples_before_the_tear(tmp_path: Path) -> None:
    """The header is written last, so that it reads like a log that was killed."""
    whole = packed(
        {
            "_journal/start.json": {"version": 2, "eval": header_attempt(1)["eval"]},
            "_journal/summaries/1.json": samples("CI"),
            "header.json": header_attempt(1),
        }
    )
    path = tmp_path / "log.eval"
    path.write_bytes(whole[: whole.index(b"header.json")])
    (one,) = read_attempt(tmp_path)
    assert scores(one, "match") == [1.0, 0.0]
    assert not one.finished
    assert messages(one) == [
        "the archive is torn or damaged, and its list of members lost: 2 whole members are read",
        "the evaluation is still running or was killed",
    ]


def test_a_sample_that_was_tried_again_counts_once(tmp_path: Path) -> None:
    """Its summary stands twice in the journal, and the last is what came of it."""
    parts: dict[str, Any] = {"_journal/start.json": {"version": 2, "eval": header_attempt(1)["eval"]}}
    parts |= {f"_journal/summaries/{place}.json": samples(mark) for place, mark in ((1, "I"), (2, "C"))}
    (tmp_path / "log.eval").write_bytes(packed(parts))
    (one,) = read_attempt(tmp_path)
    assert scores(one, "match") == [1.0]
