"""Judgments of MT-Bench: turns belong to their question, judges are apart, and a rating of -1 is none."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
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
from reportgen.statistics.scores import score_series

if TYPE_CHECKING:
    from pathlib import Path

# What ``show_result.py`` prints.
MEANS_OF_RATINGS = {"birch-1b": 4.571428571428571, "cedar-3b": 6.3125}


def judgment(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A line as FastChat writes it."""
    told = {"question_id": 81, "model": "m", "judge": ["gpt-4", "single-v1"], "user_prompt": "x" * 9_000}
    return {**told, "judgment": "[[7]]", "score": 7, "turn": 1, "tstamp": 1700367448.5, **changed}


def read(path: Path) -> list[Evaluation]:
    """The evaluations of a file."""
    (unit,) = mt_bench.find_units([path])
    return list(mt_bench.read(unit))


def test_turns_are_problems_and_their_question_a_cluster(tmp_path: Path) -> None:
    """The score is the mean of all ratings, as ``show_result.py`` prints, the interval over questions."""
    root, source = open_path(unpacked("mt_bench", tmp_path), load_settings=load_source_settings)
    assert source.score_range == (1.0, 10.0)
    found = group_problem_scores(read_outcomes(root, source))
    assert found.series == ("birch-1b", "cedar-3b")
    assert found.clusters == tuple(problem.partition(", turn ")[0] for problem in found.problems)
    assert found.notes.replaced == 0
    ratings: dict[tuple[str, str], list[float]] = {}
    for line in (KEPT / "mt_bench/model_judgment/gpt-4_single.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["score"] != -1:
            problem = f"{row['question_id']}, turn {row['turn']}"
            ratings.setdefault((row["model"], problem), []).append(row["score"])
    assert {
        (name, problem): mean
        for name, means in zip(found.series, found.mean.tolist(), strict=True)
        for problem, mean in zip(found.problems, means, strict=True)
        if not math.isnan(mean)
    } == {key: sum(scores) / len(scores) for key, scores in ratings.items()}
    scores = {one.series: one for one in score_series(found)}
    assert {name: one.estimate for name, one in scores.items()} == pytest.approx(MEANS_OF_RATINGS)
    # Of four questions with deviations of their turns d, and P turns: the sum of (sum of d)² · 4 / 3 / P².
    for index, name in enumerate(found.series):
        means = found.mean[index]
        sums = [np.nansum(means[at : at + 2] - np.nanmean(means)) for at in range(0, 8, 2)]
        expected = math.sqrt(sum(one**2 for one in sums) * 4 / 3) / np.isfinite(means).sum()
        assert scores[name].stderr == pytest.approx(expected)
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
    assert group_problem_scores(read_outcomes(root, source)).mean.tolist() == [[7, 0]]


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
