"""Which score a figure shows: of a harness that gives several, and of a table whose author says it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from command_line import call
from made_folders import OUTCOMES, made
from made_projects import write_file, write_report

if TYPE_CHECKING:
    from pathlib import Path

FLEXIBLE = "exact_match (flexible-extract)"
KINDS = ("scores", "passk", "problems")


def drawn(root: Path, name: str) -> list[dict[str, Any]]:
    """The stacks and figures of the blocks about a source."""
    write_file(root / "content/index.md", "".join(f"```{kind}\nsource: {name}\n```\n" for kind in KINDS))
    done = call(root, "build")
    assert done.returncode == 0, done.stderr
    (page,) = json.loads((root / "site/report.json").read_text(encoding="utf-8"))["pages"]
    return [*page["stacks"], *page["figures"]]


def told_of(root: Path, name: str, score: str) -> None:
    """Every block about a source says which score it shows; the first one in its title and axis."""
    shown = drawn(root, name)
    assert shown[0]["title"].startswith(f"Mean {score}")
    assert {one["kind"] for one in shown} == set(KINDS)
    for kind in KINDS:
        told = [one for one in shown if one["kind"] == kind]
        assert any(f"Protocol: score {score}" in one["caption"] for one in told), kind
    assert {one["score"] for one in shown[0]["numbers"]["protocol"].values()} == {score}
    assert f">mean {score}<" in (root / "site/index.html").read_text(encoding="utf-8")


def test_the_score_of_a_harness_is_named(tmp_path: Path) -> None:
    """Also where metrics: chose it, and in a frozen copy, of which metrics: can say nothing."""
    root = write_report(tmp_path)
    made(root / "data", "lm_eval")
    told_of(root, "lm_eval", "exact_match (strict-match)")
    write_file(root / "data/lm_eval/source.yml", f"metrics: [{FLEXIBLE}]\n")
    told_of(root, "lm_eval", FLEXIBLE)
    assert call(root, "freeze", "data/lm_eval", "--to", "data/cold").returncode == 0
    told_of(root, "cold", FLEXIBLE)


def test_two_scores_of_a_benchmark_are_in_its_name(tmp_path: Path) -> None:
    """Then a title that named it once more would say nothing new."""
    root = write_report(tmp_path)
    made(root / "data", "lm_eval")
    both = f"exact_match (strict-match), {FLEXIBLE}"
    write_file(root / "data/lm_eval/source.yml", f"metrics: [{both}]\n")
    told = json.loads(call(root, "describe", "data/lm_eval", "--format", "json").stdout)
    name = next(one["benchmark"] for one in told["evaluations"] if one["benchmark"].endswith(f"({FLEXIBLE})"))
    write_file(root / "content/index.md", f"```scores\nsource: lm_eval\nbenchmark: {name}\n```\n")
    assert call(root, "build").returncode == 0
    assert f"Mean score on {name}" in (root / "site/index.html").read_text(encoding="utf-8")


def test_the_author_of_a_table_names_its_score(tmp_path: Path) -> None:
    """A harness cannot; a benchmark that there is not is told."""
    files = {"data/answers/a.csv": OUTCOMES, "data/answers/source.yml": "score_name: judged right\n"}
    root = write_report(tmp_path, files)
    told_of(root, "answers", "judged right")
    write_file(root / "data/answers/source.yml", "score_name: {maths: judged right}\n")
    write_file(root / "content/index.md", "```scores\nsource: answers\n```\n")
    done = call(root, "build")
    assert 'score_name: there is no benchmark "maths"' in done.stderr
