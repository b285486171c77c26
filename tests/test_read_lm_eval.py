"""Results of lm-eval: scores and filters, answers beside them, groups, old files, and what cannot be so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_line import call
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

from reportgen.formats.evaluations import lm_eval
from reportgen.formats.runs import Total, Unit, UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

RIGHT = {"strict-match": [1.0, 0.0, 0.0, 0.0], "flexible-extract": [1.0, 1.0, 0.0, 0.0]}


def folder(path: Path) -> Path:
    """A model's folder with results and the answers to one of its tasks."""
    write(path / f"results_{DATE}.json", lm_eval_results())
    write_lines(path / f"samples_sums_{DATE}.jsonl", lm_eval_rows(RIGHT))
    return path


def unit_of(path: Path) -> Unit:
    """The one unit of a folder."""
    (unit,) = lm_eval.find_units(sorted(path.rglob("*")))
    return unit


def test_a_score_stands_with_its_filter_its_error_and_its_number_of_problems(tmp_path: Path) -> None:
    """A standard error of N/A is none, and is no irregularity."""
    one = next(lm_eval.read(unit_of(folder(tmp_path))))
    assert one.totals == (
        Total("exact_match (strict-match)", 0.25, 0.25, 4, higher_is_better=True),
        Total("exact_match (flexible-extract)", 0.5, None, 4, higher_is_better=True),
    )
    assert (one.model, one.benchmark, one.run, one.seed) == ("org/base", "sums", DATE, "7")
    assert one.findings == ()


@pytest.mark.parametrize(
    ("entry", "shown", "left_out"),
    [
        (
            {"num_total": 30, "solved_avg": 4.89, "accuracy_avg": 0.163, "accuracy_std_err": 0.0173},
            "accuracy_avg  0.163  0.0173",
            "num_total and solved_avg",
        ),
        ({"n": 40, "acc,none": 0.5, "acc_stderr,none": 0.09}, "acc     0.5    0.09", "n is"),
        ({"num_total": 500, "num_solved": 300, "accuracy": 0.6}, "accuracy  0.6", "num_total and num_solved"),
        ({"total": 8, "acc": 0.5, "acc_stderr": "N/A"}, "acc     0.5", "total is"),
        ({"pass@1,none": 25, "pass@5,none": 50, "pass@10,none": 50}, "pass@10  50", ""),
    ],
)
def test_counts_beside_a_score_are_no_scores(
    tmp_path: Path, entry: dict[str, object], shown: str, left_out: str
) -> None:
    """What has no standard error beside what has one, and two counts whose ratio is the score."""
    document = {"results": {"aime": {"alias": "aime", **entry}}, "model_name": "org/elm", "n-shot": {}}
    write(tmp_path / "r" / f"results_{DATE}.json", document)
    done = call(tmp_path, "describe", "r").stdout
    assert " ".join(shown.split()) in " ".join(done.split())
    assert ("and left out" in done) is bool(left_out)
    assert left_out in done


def test_the_protocol_says_how_it_was_measured(tmp_path: Path) -> None:
    """Settings of the command line stand over those of the task."""
    one = next(lm_eval.read(unit_of(folder(tmp_path))))
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


def test_answers_stand_by_filter_and_not_by_row(tmp_path: Path) -> None:
    """Eight rows are four documents under two filters; what a filter did not find is no answer."""
    one = next(lm_eval.read(unit_of(folder(tmp_path))))
    assert scores(one, "exact_match (strict-match)") == RIGHT["strict-match"]
    assert scores(one, "exact_match (flexible-extract)") == RIGHT["flexible-extract"]
    assert {answer.problem for answer in one.answers} == {"0", "1", "2", "3"}
    first, *_, last = one.answers
    assert (first.answer, first.gold, dict(first.slices)) == ("0", "0", {"subject": "a"})
    assert (last.answer, last.gold) == (None, "6")


def test_a_group_is_marked_and_a_heading_is_nothing(tmp_path: Path) -> None:
    """A mean over tasks names them, and has no answers."""
    found = {one.benchmark: one for one in lm_eval.read(unit_of(folder(tmp_path)))}
    assert list(found) == ["sums", "choices", "both"]
    assert found["both"].protocol["subtasks"] == "sums, choices"
    assert not found["both"].answers
    assert messages(found["both"]) == []
    assert "subtasks" not in found["sums"].protocol


def test_a_limit_is_told(tmp_path: Path) -> None:
    """A score over a part of the problems is no score of the benchmark."""
    _, choices, _ = lm_eval.read(unit_of(folder(tmp_path)))
    assert messages(choices) == ["choices: the limit leaves 2 of 9 problems"]


def test_only_wanted_metrics_are_read(tmp_path: Path) -> None:
    """A metric is wanted by its name with its filter, or without."""
    unit = unit_of(folder(tmp_path))
    strict = next(lm_eval.read(unit, ["exact_match (strict-match)"]))
    assert [total.metric for total in strict.totals] == ["exact_match (strict-match)"]
    assert len(strict.answers) == 4
    assert [one.benchmark for one in lm_eval.read(unit, ["acc"])] == ["sums", "choices", "both"]


def test_results_and_answers_of_one_date_belong_together(tmp_path: Path) -> None:
    """Two evaluations of a model in one folder are two units; answers without results are one, too."""
    other = DATE.replace("12-13", "18-40")
    folder(tmp_path / "m")
    write(tmp_path / "m" / f"results_{other}.json", lm_eval_results())
    write_lines(tmp_path / "org__n" / f"samples_sums_{DATE}.jsonl", lm_eval_rows(RIGHT))
    units = lm_eval.find_units(sorted(tmp_path.rglob("*.json*")))
    assert [len(unit.files) for unit in units] == [2, 1, 1]
    assert next(lm_eval.read(units[1])).answers == ()
    alone = only(lm_eval.read(units[2]))
    assert (alone.model, alone.benchmark, alone.run, len(alone.answers)) == ("org/n", "sums", DATE, 8)
    assert messages(alone) == ["there is no results file of this date: the model is named after the folder"]


def test_results_without_a_date_take_the_answers_beside_them(tmp_path: Path) -> None:
    """A renamed results file is known by its content."""
    write(tmp_path / "base.json", lm_eval_results())
    write_lines(tmp_path / "samples_sums.jsonl", lm_eval_rows(RIGHT))
    one = next(lm_eval.read(unit_of(tmp_path)))
    assert (one.run, one.protocol["date"], len(one.answers)) == ("", "2026-11-20", 8)


def test_answers_to_one_task_in_several_files_are_told(tmp_path: Path) -> None:
    """A results file without a date cannot say which of them are its own."""
    write(tmp_path / "results.json", lm_eval_results())
    other = DATE.replace("12-13", "18-40")
    for date in (DATE, other):
        write_lines(tmp_path / f"samples_sums_{date}.jsonl", lm_eval_rows(RIGHT))
    one = next(lm_eval.read(unit_of(tmp_path)))
    assert len(one.answers) == 8
    (message,) = messages(one)
    assert message == f"sums has answers in several files: those in samples_sums_{other}.jsonl are read"


def test_old_files_give_the_number_of_problems_by_their_error(tmp_path: Path) -> None:
    """N = p(1 − p)/s² + 1, where that is whole and so are the right answers."""
    entry = {"acc": 0.4, "acc_stderr": (0.4 * 0.6 / 29) ** 0.5, "ppl": 7.5, "ppl_stderr": 0.3}
    document = {
        "results": {"arc": entry},
        "versions": {"arc": 0},
        "config": {"model": "hf-causal", "model_args": "pretrained=org/old", "limit": None},
    }
    one = only(lm_eval.read(unit_of(write(tmp_path / "old.json", document).parent)))
    assert [(total.metric, total.n) for total in one.totals] == [("acc", 30), ("ppl", None)]
    assert one.model == "org/old"
    assert messages(one) == [
        "arc: the number of problems is not written; 30 follows from score and standard error"
    ]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (
            "28.7±4.8",
            'sums: acc is the text "28.7±4.8": 28.7 is read, and 4.8 is left out, since nothing says',
        ),
        ("soon", "sums: acc is no number (soon): left out"),
        (
            0.41,
            "sums: acc is 0.41, which no whole number of right answers out of 30 gives; the nearest is 0.4",
        ),
        (140.0, "sums: acc is 140, and a share of right answers lies between 0 and 1"),
    ],
)
def test_scores_that_are_odd_or_impossible_are_told(tmp_path: Path, cell: object, message: str) -> None:
    """A text with ±, no number, a share of 30 that is none, and more than everything."""
    document = lm_eval_results(
        results={"sums": {"alias": "sums", "acc,none": cell}}, **{"n-samples": {"sums": {"effective": 30}}}
    )
    one = only(lm_eval.read(unit_of(write(tmp_path / f"results_{DATE}.json", document).parent), None))
    assert messages(one)[0].startswith(message)


def test_graded_answers_and_rounded_scores_are_possible(tmp_path: Path) -> None:
    """An error that is not that of right and wrong shows graded answers; 0.3 may be 0.2667 in one digit."""
    tasks = {
        "graded": {"alias": "", "acc,none": 0.4123, "acc_stderr,none": 0.031},
        "rounded": {"alias": "", "acc,none": 0.3, "acc_stderr,none": "N/A"},
    }
    n = {task: {"effective": 30} for task in tasks}
    document = lm_eval_results(results=tasks, **{"n-samples": n})
    write(tmp_path / f"results_{DATE}.json", document)
    assert [messages(one) for one in lm_eval.read(unit_of(tmp_path))] == [[], []]


def test_scores_that_their_answers_do_not_give_are_told(tmp_path: Path) -> None:
    """The total says 0.25, and half of the answers are right; one document is missing."""
    write(tmp_path / f"results_{DATE}.json", lm_eval_results())
    write_lines(tmp_path / f"samples_sums_{DATE}.jsonl", lm_eval_rows({"strict-match": [1.0, 0.0, 0.5]}))
    one = next(lm_eval.read(unit_of(tmp_path)))
    assert messages(one) == [
        "sums: the answers are to 3 problems, the scores over 4",
        "sums: exact_match (strict-match) is said to be 0.25, and its 3 answers give 0.5",
    ]


def test_answers_that_are_equal_as_numbers_but_count_as_wrong_are_told(tmp_path: Path) -> None:
    """16.00 is 16; whoever graded by text did not know."""
    rows = lm_eval_rows({"strict-match": [1.0, 0.0, 0.0, 0.0]})
    rows[3]["filtered_resps"] = ["6.00"]
    write(tmp_path / f"results_{DATE}.json", lm_eval_results())
    write_lines(tmp_path / f"samples_sums_{DATE}.jsonl", rows)
    one = next(lm_eval.read(unit_of(tmp_path)))
    (told,) = messages(one)
    assert told.startswith("1 answer counts as wrong though equal to the gold answer as numbers, such as ")
    assert '"6.00" and "6" for problem 3' in told


def test_rows_that_do_not_fit_are_counted(tmp_path: Path) -> None:
    """A torn end, a line that is none, another document under a number, and a metric that is no score."""
    rows = lm_eval_rows({"strict-match": [1.0, 0.0, 0.0, 0.0]})
    rows[1]["exact_match"] = [0.1, 0.2]
    rows[2] |= {"doc_id": 1, "doc_hash": "other"}
    path = write_lines(tmp_path / f"samples_sums_{DATE}.jsonl", rows)
    whole = path.read_text(encoding="utf-8")
    path.write_text(f'{whole}17\n{{"doc_id": 4, "do', encoding="utf-8")
    one = only(lm_eval.read(unit_of(tmp_path)))
    assert messages(one)[1:] == [
        "1 line is no JSON object: left out",
        "the last line is torn off: left out",
        "1 document number stands for different documents: 1",
        "1 row repeats a document and filter",
        "1 value that is no score in exact_match (strict-match): left out",
    ]
    assert scores(one, "exact_match (strict-match)") == [1.0, None, 0.0, 0.0]


def test_other_json_is_not_taken_for_results(tmp_path: Path) -> None:
    """Neither another harness's results, nor a list, nor what only has the name."""
    write(tmp_path / "results_a.json", {"config_general": {}, "results": {"all": {"acc_stderr": 1}}})
    write(tmp_path / "results_b.json", [{"results": {}}])
    write(tmp_path / "results.json", {"loss": 3.5})
    write_lines(tmp_path / "samples.jsonl", [{"step": 1, "doc": "x"}])
    assert lm_eval.find_units(sorted(tmp_path.rglob("*"))) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"results": {"a": {"acc_stderr,none": 1', "the file is not whole JSON"),
        ('{"results": [1], "x": {"acc_stderr,none": 1}}', 'there is no object "results"'),
        ('["results"]', "an object is expected, and it holds a list"),
        ("[" * 100_000, "the file is JSON that cannot be read"),
        ("version https://git-lfs.github.com/spec/v1\n", "it is a Git LFS pointer"),
    ],
)
def test_files_that_are_something_else_are_refused(tmp_path: Path, text: str, message: str) -> None:
    """A torn file, another shape, nesting without end, and a pointer say what they are."""
    path = tmp_path / f"results_{DATE}.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableError, match=message):
        list(lm_eval.read(Unit(lm_eval.NAME, path, (path,))))


@pytest.mark.random
def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    """Whatever happened to the bytes, values are whole and refusals are in words."""
    unit = unit_of(folder(tmp_path))
    # Numbers change more often than the shape.
    assert survives(unit.files[0], lm_eval.read, unit) >= 0.1
    write(unit.files[0], lm_eval_results())
    assert survives(unit.files[1], lm_eval.read, unit) > 2 / 3


def test_a_name_that_cannot_be_written_is_replaced(tmp_path: Path) -> None:
    """Half of a surrogate pair stands in JSON, but not in UTF-8."""
    document = lm_eval_results(model_name="org/\ud800")
    path = tmp_path / f"results_{DATE}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert next(lm_eval.read(unit_of(tmp_path))).model == "org/?"


def test_a_text_that_breaks_off_is_told_where(tmp_path: Path) -> None:
    """Once, not "starting at at line 2"."""
    path = tmp_path / f"results_{DATE}.json"
    path.write_text('{"results": {},\n "config', encoding="utf-8")
    with pytest.raises(UnreadableError, match=r"Unterminated string starting at line 2, column 2"):
        list(lm_eval.read(Unit("lm_eval", path, (path,))))
