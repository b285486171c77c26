"""``filter`` in blocks about scores: figures say which rows count."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report
from test_report import problems

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [
    f"{model},{seed},{subject},{subject}{problem},{sample},{int((problem * 7 + seed + sample) % 3 > bias)}"
    for model, bias in (("a", 0), ("b", 1))
    for seed in (1, 2)
    for subject in ("algebra", "geometry")
    for problem in range(8)
    for sample in (0, 1)
]
ANSWERS = "\n".join(["model,seed,subject,problem,sample,score", *ROWS]) + "\n"
FILES = {
    "data/answers.csv": ANSWERS,
    "data/older.csv": ANSWERS,
    "data/totals.csv": "model,turn,benchmark,score\na,1,x,0.5\nb,1,x,0.4\na,2,x,0.6\nb,2,x,0.7\n",
    "data/totals.source.yml": "form: totals\n",
}
ANSWERED = "source: answers\nfilter: {subject: algebra}"
BLOCKS = [
    *((kind, ANSWERED) for kind in ("scores", "comparison", "passk", "problems", "runs", "plan")),
    ("comparison", "sources: [answers, older]\nfilter: {subject: algebra}"),
    ("scores", "source: [answers, older]\nfilter: {subject: algebra}"),
    ("scores", "source: totals\nbenchmark: x\nfilter: {turn: 1}"),
]


@pytest.mark.parametrize(("kind", "keys"), BLOCKS)
def test_a_caption_says_which_rows_count(tmp_path: Path, kind: str, keys: str) -> None:
    """Once a block, on the page and in ``report.json``, as in the caption of a curve."""
    block = f"```{kind}\nid: one\n{keys}\n```\n"
    root = write_report(tmp_path / "r", FILES | {"content/index.md": f"# Some\n\n{block}"})
    built = call(root, "build")
    assert built.returncode == 0, built.stdout
    said = "Only rows with turn 1." if "turn" in keys else "Only rows with subject algebra."
    assert (root / "site/index.html").read_text().count(said) == 1
    (page,) = (
        one
        for one in json.loads((root / "site/report.json").read_text())["pages"]
        if one["path"] == "index.md"
    )
    assert [one["caption"].count(said) for one in page["figures"] + page["stacks"]].count(1) == 1


def test_without_a_filter_nothing_is_said(tmp_path: Path) -> None:
    """A caption names what was left out, and only that."""
    block = "```scores\nid: one\nsource: answers\n```\n"
    root = write_report(tmp_path / "r", FILES | {"content/index.md": f"# All\n\n{block}"})
    assert call(root, "build").returncode == 0
    assert "Only rows" not in (root / "site/index.html").read_text()


@pytest.mark.parametrize(
    ("keys", "said", "step"),
    [
        (
            "source: answers\nfilter: {subject: algbra}",
            'no row of source "answers" has a series, a problem and a score where subject is algbra',
            "There subject is algebra and geometry",
        ),
        (
            "source: totals\nbenchmark: x\nfilter: {turn: 3}",
            'no row of source "totals" has a total of this benchmark and series where turn is 3',
            "There turn is 1 and 2",
        ),
    ],
)
def test_a_filter_that_matches_nothing_names_the_values(
    tmp_path: Path, keys: str, said: str, step: str
) -> None:
    """As that of a curve does, at the block."""
    block = f"```scores\nid: one\n{keys}\n```\n"
    found = problems(write_report(tmp_path / "r", FILES | {"content/index.md": block}))
    assert any(one.startswith("content/index.md:1") and said in one and step in one for one in found), found
