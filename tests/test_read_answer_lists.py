"""Answers as scripts keep them: lists a problem under many names, and samples behind a point."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from made_evaluations import messages, only, survives, write, write_lines

from reportgen.formats.evaluations import answer_lists
from reportgen.formats.runs import Evaluation, Unit, UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

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
RIGHT = [("0", "0", 1.0), ("0", "1", 0.0), ("1", "0", 1.0), ("1", "1", 0.0)]


def read(path: Path) -> Evaluation:
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
    one = read(path)
    assert graded(one)[:4] == RIGHT
    assert (one.answers[0].answer, one.answers[0].gold) == ("0", "0")
    assert dict(one.answers[2].slices) == {"level": "hard"}
    assert one.protocol == {"samples": "2"}
    assert messages(one) == []


@pytest.mark.parametrize(
    "record",
    [
        {"idx": 3, "gt": "6", "code": ["a", "b"], "pred": ["6", "7"], "score": [True, False]},
        {"problem-id": "3", "gold": "6", "generations": ["a", "b"], "pred": ["6", "7"], "is_correct": [1, 0]},
        {"question_id": 3, "gold": 6, "samples": [{"pred": "6", "correct": 1}, {"pred": "7", "correct": 0}]},
        {"Task ID": 3, "Ground Truth": 6, "preds": ["6", "7"], "verdicts": ["correct", "wrong"]},
        {"id": 3, "target": "6", "outputs": ["a", "b"], "extracted_answers": [6, 7], "rewards": [1.0, 0.0]},
    ],
)
def test_other_names_say_the_same(tmp_path: Path, record: dict[str, Any]) -> None:
    """What a script calls a problem, its gold answer, an answer and a score."""
    one = read(write(tmp_path / "base.json", [record]))
    assert graded(one) == [("3", "0", 1.0), ("3", "1", 0.0)]
    assert [(answer.answer, answer.gold) for answer in one.answers] == [("6", "6"), ("7", "6")]


def test_a_number_behind_a_point_numbers_the_sample(tmp_path: Path) -> None:
    """Sixty rows are fifteen problems with four samples, and that is told."""
    rows = [
        {
            "id": float(f"{problem}.{sample}") if sample else problem,
            "gold": f"g{problem}",
            "correct": sample == 0,
        }
        for problem in range(1, 16)
        for sample in range(4)
    ]
    one = read(write_lines(tmp_path / "base.jsonl", rows))
    assert graded(one)[3:6] == [("1", "3", 0.0), ("2", "0", 1.0), ("2", "1", 0.0)]
    assert len({answer.problem for answer in one.answers}) == 15
    (told,) = messages(one)
    assert told.startswith("the number behind the point in 1, 1.1 and 1.2 is read as the sample's: ")
    assert told.endswith("15 problems with 4 samples, not 60 problems")


def test_the_tenth_sample_is_not_the_first_again(tmp_path: Path) -> None:
    """1.10 as a number is 1.1; both are kept."""
    rows = [{"id": f"1.{sample}".rstrip("0"), "correct": True} for sample in range(1, 11)]
    one = read(write_lines(tmp_path / "base.jsonl", rows))
    assert [answer.sample for answer in one.answers] == [*map(str, range(1, 10)), "1 (2)"]


def test_sections_of_a_book_are_problems(tmp_path: Path) -> None:
    """1.1 and 1.2 have other gold answers, or lists of their own."""
    rows = [
        {"id": f"{chapter}.{place}", "gold": place, "correct": 1} for chapter in (1, 2) for place in (1, 2)
    ]
    assert [answer.problem for answer in read(write_lines(tmp_path / "a.jsonl", rows)).answers][:2] == [
        "1.1",
        "1.2",
    ]
    lists = [{"id": f"1.{place}", "gold": "x", "correct": [1, 0]} for place in (1, 2)]
    assert graded(read(write_lines(tmp_path / "b.jsonl", lists)))[2:] == [
        ("1.2", "0", 1.0),
        ("1.2", "1", 0.0),
    ]


def test_a_problem_in_several_records_has_samples(tmp_path: Path) -> None:
    """Numbered by the record where it says so, otherwise in the order of writing."""
    rows = [{"id": "a", "correct": [score], "gold": "1"} for score in (1, 0, 1)]
    one = read(write_lines(tmp_path / "base.jsonl", rows))
    assert graded(one) == [("a", "0", 1.0), ("a", "0 (2)", 0.0), ("a", "0 (3)", 1.0)]
    assert messages(one) == ["1 problem stands in several records, such as a: they are read as its samples"]
    said = [{"id": "a", "epoch": epoch, "correct": [1], "gold": "1"} for epoch in (1, 2)]
    one = read(write_lines(tmp_path / "said.jsonl", said))
    assert [answer.sample for answer in one.answers] == ["1", "2"]
    assert messages(one) == []


def test_models_and_benchmarks_in_a_file_are_told_apart(tmp_path: Path) -> None:
    """Each pair is an evaluation of its own."""
    rows = [
        {"id": 1, "gold": 1, "model": model, "dataset": dataset, "correct": [1]}
        for model in ("a", "b")
        for dataset in ("x", "y")
    ]
    path = write_lines(tmp_path / "all.jsonl", rows)
    (unit,) = answer_lists.find_units([path])
    found = [(one.model, one.benchmark) for one in answer_lists.read(unit)]
    assert found == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]


def test_what_does_not_fit_is_counted(tmp_path: Path) -> None:
    """Records without scores, another number of responses, a score that is none, and uneven samples."""
    rows = [
        {"id": 1, "gold": "1", "responses": ["a"], "correct": [True, "maybe", None]},
        {"id": 2, "gold": "2", "responses": ["a"], "correct": [True]},
        {"id": 3, "gold": "3", "responses": ["a"]},
    ]
    one = read(write(tmp_path / "base.json", [*rows, "no record"]))
    assert graded(one) == [("1", "0", 1.0), ("1", "1", None), ("1", "2", None), ("2", "0", 1.0)]
    assert messages(one) == [
        "1 entry left out: no object",
        "1 record has no score: left out",
        "1 record has another number of responses than of scores: all scores are kept",
        "1 score is no number: left out",
        "problems have 1 to 3 samples: some may be missing",
    ]


def test_a_question_names_its_problem_where_no_id_does(tmp_path: Path) -> None:
    """Two long questions that begin alike are two problems."""
    rows = [{"question": f"{'long ' * 60}{end}", "gold": "1", "correct": [1]} for end in "ab"]
    assert len({answer.problem for answer in read(write(tmp_path / "base.json", rows)).answers}) == 2


def test_equal_numbers_that_count_as_wrong_are_told(tmp_path: Path) -> None:
    """Graded by text, 16.00 is not 16."""
    one = read(write(tmp_path / "base.json", [{"id": 1, "gold": "16", "pred": ["16.00"], "correct": [0]}]))
    assert messages(one)[0].startswith("1 answer counts as wrong though equal to the gold answer as numbers")


def test_other_files_are_not_taken_for_answers(tmp_path: Path) -> None:
    """Tables of answers, metrics by step, training data and logs of Inspect are read by others."""
    write_lines(tmp_path / "table.jsonl", [{"id": 1, "gold": "1", "correct": True}])
    write_lines(tmp_path / "metrics.jsonl", [{"step": 1, "data": {"score": 0.5}}])
    write_lines(tmp_path / "training.jsonl", [{"question": "?", "answers": ["a"], "id": 1}])
    write(tmp_path / "state.json", {"id": 1, "log_history": [], "scores": [1.0]})
    log = {"status": "success", "eval": {"task": "x"}, "id": 1, "scores": [1]}
    write(tmp_path / "log.json", log)
    (tmp_path / "notes.json").write_text('"correct": [1], "id": 1', encoding="utf-8")
    assert answer_lists.find_units(sorted(tmp_path.iterdir())) == ()


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


def test_a_torn_end_is_told(tmp_path: Path) -> None:
    """The whole records before it are read."""
    path = write_lines(tmp_path / "base.jsonl", LISTS)
    whole = path.read_bytes()
    for length in range(len(whole) - 60, len(whole) - 2, 9):
        path.write_bytes(whole[:length])
        one = read(path)
        assert len(one.answers) == 6
        assert messages(one) == ["the last line is torn off: left out"]
