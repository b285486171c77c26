"""Judgments of MT-Bench and results of promptfoo: files as they were written, and what is made of them."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from command_line import call
from kept_files import KEPT, unpacked
from made_evaluations import messages, scores, write_lines
from made_projects import write_report

from reportgen.formats.evaluations import answer_lists, mt_bench, promptfoo
from reportgen.read import open_path, read_outcomes
from reportgen.settings.loading import load_source_settings
from reportgen.statistics.problem_scores import group_problem_scores, group_problem_scores_by
from reportgen.statistics.scores import score_series

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.formats.runs import Evaluation

# What ``show_result.py`` prints.
MEANS_OF_RATINGS = {"birch-1b": 4.571428571428571, "cedar-3b": 6.3125}


def judgment(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A line as FastChat writes it."""
    told = {"question_id": 81, "model": "m", "judge": ["gpt-4", "single-v1"], "user_prompt": "x" * 9_000}
    return {**told, "judgment": "[[7]]", "score": 7, "turn": 1, "tstamp": 1700367448.5, **changed}


def read_mt_bench(path: Path) -> list[Evaluation]:
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
    found = read_mt_bench(write_lines(folder / "both_single.jsonl", rows))
    assert [one.benchmark for one in found] == [
        "vicuna_bench (judge gpt-4)",
        "vicuna_bench (judge claude-v1)",
    ]
    assert [(one.protocol["grader"], one.protocol["date"]) for one in found] == [
        ("gpt-4", "2023-11-19"),
        ("claude-v1", "2023-11-19"),
    ]


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


def read_promptfoo(path: Path) -> list[Evaluation]:
    """The evaluations of a file."""
    (unit,) = promptfoo.find_units([path])
    return list(promptfoo.read(unit))


@pytest.mark.parametrize("name", ["sums.json", "sums.jsonl"])
def test_each_provider_is_a_series_and_each_test_a_problem(tmp_path: Path, name: str) -> None:
    """Of ten results by promptfoo itself; the one that ended in an error is neither right nor wrong."""
    path = unpacked("promptfoo", tmp_path) / name
    guesser, adder = sorted(read_promptfoo(path), key=lambda one: one.model, reverse=True)
    if name.endswith(".json"):
        results = json.loads(path.read_text("utf-8"))["results"]["results"]
    else:
        results = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for one in (guesser, adder):
        own = sorted(
            (row for row in results if row["provider"]["id"] == one.model), key=lambda row: row["testIdx"]
        )
        assert [score or 0 for score in scores(one, "success")] == [row["success"] for row in own]
        assert [answer.answer for answer in one.answers if answer.metric == "success"] == [
            (row.get("response") or {}).get("output") for row in own
        ]
    assert (adder.model, guesser.model) == ("adder", "guesser")
    assert scores(adder, "success") == [1.0] * 5
    assert scores(guesser, "success") == [0.0, 1.0, 0.0, 1.0, None]
    assert [answer.problem for answer in guesser.answers] == ["1", "2", "3", "4", "a large one"]
    assert [answer.answer for answer in guesser.answers] == ["4", "4", "6", "6", None]
    assert {answer.tokens for answer in adder.answers} == {2.0}
    assert messages(guesser)[0] == "1 test of guesser ended in an error, such as: too large"
    if name.endswith(".json"):
        assert (adder.benchmark, adder.protocol["version"]) == ("sums", "0.121.20")
        assert [total.value for total in guesser.totals] == [0.5]


def test_prompts_are_told_apart_and_repeats_are_samples(tmp_path: Path) -> None:
    """With ``--repeat`` a test comes again under another number."""
    found = read_promptfoo(unpacked("promptfoo", tmp_path) / "two-prompts.json")
    assert [one.model for one in found] == ["guesser, short", "guesser, careful"]
    for one in found:
        passed = [answer for answer in one.answers if answer.metric == "success"]
        assert [(answer.problem, answer.sample) for answer in passed] == [
            ("1", "1"),
            ("1", "2"),
            ("2", "1"),
            ("2", "2"),
        ]
        assert scores(one, "success") == [0.0, 0.0, 1.0, 1.0]
        assert scores(one, "score") == [0.25, 0.25, 0.75, 0.75]
        assert {answer.slices["kind"] for answer in passed} == {"odd", "even"}


def test_a_source_of_it_opens_by_itself(tmp_path: Path) -> None:
    """Two providers and five tests, where it was one problem."""
    folder = unpacked("promptfoo", tmp_path)
    (folder / "sums.jsonl").unlink()
    (folder / "two-prompts.json").unlink()
    root, source = open_path(folder, load_settings=load_source_settings)
    found = group_problem_scores(read_outcomes(root, source))
    assert set(found.series) == {"adder", "guesser"}
    assert len(found.problems) == 5
    assert not answer_lists.find_units([folder / "sums.json"])
