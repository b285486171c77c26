"""Judgments of MT-Bench: both turns count, judges are kept apart, and a rating of -1 is none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from kept_files import KEPT, unpacked
from made_evaluations import messages, write_lines
from made_projects import write_report

from reportgen.core.errors import ReportError
from reportgen.formats.evaluations import mt_bench
from reportgen.formats.runs import Evaluation, UnreadableError
from reportgen.read import open_path, read_outcomes
from reportgen.settings.loading import load_source_settings
from reportgen.statistics.problem_scores import group_problem_scores, group_problem_scores_by

if TYPE_CHECKING:
    from pathlib import Path

# Of the questions, which count alike, and of all ratings.
MEANS_OF_QUESTIONS = {"birch-1b": 4.625, "cedar-3b": 6.3125}
MEANS_OF_RATINGS = {"birch-1b": 4.571428571428571, "cedar-3b": 6.3125}


def judgment(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A line as FastChat writes it."""
    told = {"question_id": 81, "model": "m", "judge": ["gpt-4", "single-v1"], "user_prompt": "x" * 9_000}
    return {**told, "judgment": "[[7]]", "score": 7, "turn": 1, "tstamp": 1700367448.5, **changed}


def read(path: Path) -> list[Evaluation]:
    """The evaluations of a file."""
    (unit,) = mt_bench.find_units([path])
    return list(mt_bench.read(unit))


def test_both_turns_of_a_question_are_answers_to_it(tmp_path: Path) -> None:
    """The score is the mean over questions of the mean of their ratings, and a slice has each turn.

    ``show_result.py`` weights ratings rather than questions, which differs where one is missing.
    """
    root, source = open_path(unpacked("mt_bench", tmp_path), load_settings=load_source_settings)
    assert source.score_range == (1.0, 10.0)
    found = group_problem_scores(read_outcomes(root, source))
    assert (found.series, found.problems) == (("birch-1b", "cedar-3b"), ("81", "82", "83", "84"))
    assert found.mean.tolist() == [[5.0, 6.0, 5.0, 2.5], [7.5, 7.5, 6.25, 4.0]]
    assert found.notes.replaced == 0
    ratings: dict[tuple[str, str], list[float]] = {}
    for line in (KEPT / "mt_bench/model_judgment/gpt-4_single.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["score"] != -1:
            ratings.setdefault((row["model"], str(row["question_id"])), []).append(row["score"])
    assert {
        (name, question): mean
        for name, means in zip(found.series, found.mean.tolist(), strict=True)
        for question, mean in zip(found.problems, means, strict=True)
    } == {key: sum(scores) / len(scores) for key, scores in ratings.items()}
    every: dict[str, list[float]] = {}
    for (name, _), scores in ratings.items():
        every.setdefault(name, []).extend(scores)
    assert {name: sum(scores) / len(scores) for name, scores in every.items()} == MEANS_OF_RATINGS
    assert dict(zip(found.series, found.mean.mean(axis=1).tolist(), strict=True)) == MEANS_OF_QUESTIONS
    turns = group_problem_scores_by(read_outcomes(root, source), "turn")
    assert {turn: one.mean[1].tolist() for turn, one in turns.items()} == {
        "1": [8, 9, 7.5, 4],
        "2": [7, 6, 5, 4],
    }


def test_judges_and_benchmarks_are_kept_apart(tmp_path: Path) -> None:
    """Two of them rate on scales of their own."""
    folder = tmp_path / "vicuna_bench/model_judgment"
    rows = [judgment(judge=[name, "single-v1"]) for name in ("gpt-4", "claude-v1")]
    found = read(write_lines(folder / "both_single.jsonl", rows))
    assert [one.benchmark for one in found] == [
        "vicuna_bench (judge gpt-4)",
        "vicuna_bench (judge claude-v1)",
    ]
    assert [(one.protocol["grader"], one.protocol["date"]) for one in found] == [
        ("gpt-4", "2023-11-19"),
        ("claude-v1", "2023-11-19"),
    ]


def test_a_judgment_without_a_rating_is_left_out_and_told(tmp_path: Path) -> None:
    """As ``show_result.py`` does."""
    (one,) = read(write_lines(tmp_path / "a.jsonl", [judgment(), judgment(turn=2, score=-1)]))
    assert [answer.score for answer in one.answers] == [7.0, None]
    assert messages(one) == ["1 judgment of m without a rating: left out"]


def test_a_rating_beyond_the_scale_is_an_error_that_settings_allow(tmp_path: Path) -> None:
    """Judges give a 0 now and then."""
    write_lines(tmp_path / "a/x.jsonl", [judgment(), judgment(turn=2, score=0)])
    root, source = open_path(tmp_path / "a", load_settings=load_source_settings)
    with pytest.raises(ReportError, match=r"score_range"):
        group_problem_scores(read_outcomes(root, source))
    (tmp_path / "a/source.yml").write_text("score_range: [0, 10]\n")
    root, source = open_path(tmp_path / "a", load_settings=load_source_settings)
    assert group_problem_scores(read_outcomes(root, source)).mean.tolist() == [[3.5]]


def test_judgments_of_pairs_are_no_ratings(tmp_path: Path) -> None:
    """They have two models and a winner."""
    line = {
        "question_id": 81,
        "model_1": "a",
        "model_2": "b",
        "g1_winner": "tie",
        "judge": ["gpt-4", "pair-v2"],
    }
    assert mt_bench.find_units([write_lines(tmp_path / "a.jsonl", [line])]) == ()
    path = write_lines(tmp_path / "b.jsonl", [judgment(), line])
    assert messages(read(path)[0]) == ["1 line is no judgment of one answer: left out"]
    (tmp_path / "c.jsonl").write_text(json.dumps(judgment()).replace('"m"', '""') + "\n")
    with pytest.raises(UnreadableError, match="no line is the judgment of one answer"):
        read(tmp_path / "c.jsonl")


def test_sentences_name_one_of_several_judges(tmp_path: Path) -> None:
    """In the page that ``add`` writes; a statement about both is an error with their names."""
    rows = [
        judgment(question_id=question, model=model, judge=[judge, "single-v1"], score=score + question % 2)
        for judge, score in (("gpt-4", 5), ("claude", 7))
        for model in ("A", "B")
        for question in (81, 82, 83)
    ]
    write_lines(tmp_path / "given/mt/judgments.jsonl", rows)
    root = write_report(tmp_path / "report", {})
    assert call(root, "add", str(tmp_path / "given/mt"), "--page").returncode == 0
    page = root / "content/mt.md"
    (first, *_) = [line for line in page.read_text("utf-8").splitlines() if line.startswith("- A scores")]
    assert first.endswith("on MT-Bench (judge gpt-4).")
    both = '# MT\n\n```comparison\nid: both\nsource: mt\n```\n\n[9]{value="score(A)" of="both"}\n'
    page.write_text(both, "utf-8")
    said = call(root, "check").stdout
    assert "it is unclear which one is meant" in said
    assert 'shows one of "MT-Bench (judge gpt-4)", "MT-Bench (judge claude)"' in said
