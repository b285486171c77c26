"""Logs of Inspect: several of one task, torn ones, and samples that were tried again or stopped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from made_evaluations import DEFLATED, messages, only, scores, write, zipped

from reportgen.formats.evaluations import inspect_logs
from reportgen.formats.runs import Evaluation, UnreadableError
from reportgen.read import open_path, read_outcomes
from reportgen.settings.loading import load_source_settings
from reportgen.statistics.problem_scores import group_problem_scores

if TYPE_CHECKING:
    from pathlib import Path

TASK = "cSfMpbSj45FjDMQzdHnyH5"
NAMES = [f"2026-11-21T18-4{minute}-12-00-00_sums_{TASK}.eval" for minute in (1, 2, 3)]
ENDED = "the task has 3 logs: only the newest that ended well is read, not"


def header(minute: int, status: str = "success", task: str = TASK) -> dict[str, Any]:
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


def read(folder: Path) -> list[Evaluation]:
    """All evaluations of the one unit in a folder."""
    (unit,) = inspect_logs.find_units(sorted(folder.iterdir()))
    return list(inspect_logs.read(unit))


def test_of_several_attempts_the_newest_that_ended_well_counts(tmp_path: Path) -> None:
    """A retry has the samples of the log before it; together they would count twice."""
    attempt(tmp_path / NAMES[0], header(1, "error"), "CI")
    attempt(tmp_path / NAMES[1], header(2), "CICC")
    attempt(tmp_path / NAMES[2], header(3, "started"), "C")
    (one,) = read(tmp_path)
    assert scores(one, "match") == [1.0, 0.0, 1.0, 1.0]
    assert one.path == tmp_path / NAMES[1]
    assert messages(one) == [f"{ENDED} {NAMES[0]} and {NAMES[2]}"]


def test_where_none_ended_well_the_newest_counts(tmp_path: Path) -> None:
    """It has the most samples."""
    attempt(tmp_path / NAMES[0], header(1, "error"), "CI")
    attempt(tmp_path / NAMES[1], header(2, "cancelled"), "CIC")
    (one,) = read(tmp_path)
    assert len(one.answers) == 3
    assert messages(one)[0] == f"the task has 2 logs: only the newest is read, not {NAMES[0]}"


def test_an_attempt_with_scores_counts_before_one_without(tmp_path: Path) -> None:
    """An ungraded log is no result, however new it is."""
    attempt(tmp_path / NAMES[0], header(1), "CIC")
    bare = [{key: value for key, value in one.items() if key != "scores"} for one in samples("CIC")]
    (tmp_path / NAMES[1]).write_bytes(packed({"summaries.json": bare, "header.json": header(2)}))
    (one,) = read(tmp_path)
    assert scores(one, "match") == [1.0, 0.0, 1.0]
    read_is = "only the newest that ended well of those with scores is read, not"
    assert messages(one) == [f"the task has 2 logs: {read_is} {NAMES[1]}"]


def test_a_log_that_is_not_graded_does_not_hide_its_twin(tmp_path: Path) -> None:
    """A task that was evaluated again with a scorer has an id of its own."""
    other = f"2026-11-21T18-43-12-00-00_sums_{TASK[::-1]}.eval"
    bare = [{**one, "scores": {}} for one in samples("CIC")]
    (tmp_path / NAMES[0]).write_bytes(packed({"summaries.json": bare, "header.json": header(1)}))
    attempt(tmp_path / other, header(3, task=TASK[::-1]), "CIC")
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
    head = header(1, "cancelled")
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
        read(tmp_path)
    attempt(tmp_path / NAMES[1], header(2), "CIC")
    (one,) = read(tmp_path)
    assert len(one.answers) == 3
    assert [message.rpartition(": ")[2] for message in messages(one)] == ["left out"]


def test_names_alone_make_no_attempts(tmp_path: Path) -> None:
    """Two tasks whose logs end alike are two; a pattern may put something else at the end of the name."""
    attempt(tmp_path / NAMES[0], header(1), "CI")
    attempt(tmp_path / NAMES[1], header(2, task="another"), "C")
    assert [(len(one.answers), messages(one)) for one in read(tmp_path)] == [(2, []), (1, [])]


def test_a_torn_log_has_the_samples_before_the_tear(tmp_path: Path) -> None:
    """The header is written last, so that it reads like a log that was killed."""
    whole = packed(
        {
            "_journal/start.json": {"version": 2, "eval": header(1)["eval"]},
            "_journal/summaries/1.json": samples("CI"),
            "header.json": header(1),
        }
    )
    path = tmp_path / "log.eval"
    path.write_bytes(whole[: whole.index(b"header.json")])
    (one,) = read(tmp_path)
    assert scores(one, "match") == [1.0, 0.0]
    assert not one.finished
    assert messages(one) == [
        "the archive is torn or damaged, and its list of members lost: 2 whole members are read",
        "the evaluation is still running or was killed",
    ]


def test_a_sample_that_was_tried_again_counts_once(tmp_path: Path) -> None:
    """Its summary stands twice in the journal, and the last is what came of it."""
    parts: dict[str, Any] = {"_journal/start.json": {"version": 2, "eval": header(1)["eval"]}}
    parts |= {f"_journal/summaries/{place}.json": samples(mark) for place, mark in ((1, "I"), (2, "C"))}
    (tmp_path / "log.eval").write_bytes(packed(parts))
    (one,) = read(tmp_path)
    assert scores(one, "match") == [1.0]


def test_samples_that_a_limit_stopped_are_told(tmp_path: Path) -> None:
    """A summary names the limit, a sample has an object."""
    stopped = samples("CII")
    stopped[1]["limit"], stopped[2]["limit"] = {"type": "token", "limit": 500}, "time"
    one = only(iter(read(write(tmp_path / "log.json", {**header(1), "samples": stopped}).parent)))
    assert messages(one) == [
        "2 samples were stopped by a limit (token and time) and count as they were scored"
    ]
