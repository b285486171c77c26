"""Results of promptfoo: JSON and JSON Lines, providers and prompts, tests that are repeated or fail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from kept_files import unpacked
from made_evaluations import messages, scores, write, write_lines

from reportgen.formats.evaluations import answer_lists, promptfoo
from reportgen.formats.runs import Evaluation, UnreadableError
from reportgen.read import open_path, read_outcomes
from reportgen.settings.loading import load_source_settings
from reportgen.statistics.problem_scores import group_problem_scores

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> list[Evaluation]:
    """The evaluations of a file."""
    (unit,) = promptfoo.find_units([path])
    return list(promptfoo.read(unit))


@pytest.mark.parametrize("name", ["sums.json", "sums.jsonl"])
def test_each_provider_is_a_series_and_each_test_a_problem(tmp_path: Path, name: str) -> None:
    """Of ten results by promptfoo itself; the one that ended in an error is neither right nor wrong."""
    path = unpacked("promptfoo", tmp_path) / name
    guesser, adder = sorted(read(path), key=lambda one: one.model, reverse=True)
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
    found = read(unpacked("promptfoo", tmp_path) / "two-prompts.json")
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


def result(**changed: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A result."""
    told = {
        "promptIdx": 0,
        "testIdx": 0,
        "testCase": {"vars": {"q": "a"}},
        "provider": {"id": "openai:x", "label": ""},
        "prompt": {"raw": "Say a", "label": "Say {{q}}"},
        "success": True,
        "score": 1,
        "failureReason": 0,
    }
    return {**told, **changed}


def test_long_templates_are_numbered_and_providers_without_a_label_have_their_id(tmp_path: Path) -> None:
    """A template is no name."""
    rows = [
        result(prompt={"raw": "x", "label": f"{letter} " * 50}, promptIdx=at)
        for at, letter in enumerate("ab")
    ]
    path = write(tmp_path / "a.json", {"evalId": None, "results": {"version": 2, "results": rows}})
    assert [one.model for one in read(path)] == ["openai:x, prompt 1", "openai:x, prompt 2"]


def test_what_older_versions_wrote(tmp_path: Path) -> None:
    """A provider as a word, no reason of failure, and an error in place of an output."""
    rows = [
        result(provider="a", testIdx=0),
        result(
            provider="a", testIdx=1, success=False, score=0, error="timeout", response=None, vars={"q": "b"}
        ),
        result(provider="a", testIdx=2, success=False, score=0, error="Expected x", response={"output": "y"}),
    ]
    for place, row in enumerate(rows):
        del row["failureReason"]
        row["testCase"] = {"vars": {"q": str(place)}}
    (one,) = read(write_lines(tmp_path / "a.jsonl", rows))
    assert (one.model, scores(one, "success")) == ("a", [1.0, None, 0.0])


@pytest.mark.parametrize(
    "results", [{"version": 3}, {"version": 3, "results": []}, {"version": 3, "results": [1]}]
)
def test_a_file_without_results_is_told(tmp_path: Path, results: object) -> None:
    """As where every test was filtered away."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"evalId": "e", "results": results}))
    with pytest.raises(UnreadableError, match=r"results|result in the file"):
        read(path)
