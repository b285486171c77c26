"""``by`` in blocks about scores: values of settings are the series, and runs of several series stay apart."""

from __future__ import annotations

import csv
from statistics import mean
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report
from test_report import drafted, problems

from reportgen.core.model import Stack

if TYPE_CHECKING:
    from pathlib import Path

ROWS = ["model,size,prompt,problem,score"] + [
    f"{model},{size},{prompt},p{problem},{int((problem * 7 + size + len(prompt)) % 3 > 0)}"
    for model, size, prompt in (("a", 7, "short"), ("b", 7, "long"), ("c", 70, "short"), ("d", 70, "long"))
    for problem in range(12)
]
ANSWERS = "\n".join(ROWS) + "\n"
TOTALS = {
    "data/answers.csv": "model,size,benchmark,score\na,7,x,0.5\nb,70,x,0.4\n",
    "data/answers.source.yml": "form: totals\n",
}
SCORES = "```scores\nid: s\nsource: answers\nby: size\n```\n"


def read_scores(*columns: str) -> dict[str, float]:
    """The mean over problems of the mean over runs, for each value of the columns."""
    answers: dict[str, dict[str, list[int]]] = {}
    for row in csv.DictReader(ROWS):
        parts = [f"{name}={row[name]}" if row[name].isdigit() else row[name] for name in columns]
        answers.setdefault(", ".join(parts), {}).setdefault(row["problem"], []).append(int(row["score"]))
    return {name: mean(mean(scores) for scores in own.values()) for name, own in answers.items()}


@pytest.mark.parametrize("columns", [("size",), ("prompt",), ("size", "prompt")])
def test_scores_of_groups_are_those_of_the_file(tmp_path: Path, columns: tuple[str, ...]) -> None:
    """Runs are averaged within a problem; nothing is lost."""
    page = SCORES.replace("by: size", f"by: [{', '.join(columns)}]")
    report = drafted(write_report(tmp_path / "r", {"data/answers.csv": ANSWERS, "content/index.md": page}))
    (shown,) = report.shown.values()
    assert isinstance(shown, Stack)
    found = {one["series"]: one["estimate"] for one in shown.numbers["scores"]}
    assert found == pytest.approx(read_scores(*columns))


def test_statements_and_comparisons_name_groups(tmp_path: Path) -> None:
    """As the figure does; the caption says how they were grouped."""
    number = f"{100 * read_scores('size')['size=7']:.1f}%"
    page = f"{SCORES}\n```comparison\nid: c\nsource: answers\nby: size\n```\n\n"
    page += f'[{number}]{{value="score(\'size=7\')" of="s"}}\n'
    root = write_report(tmp_path / "r", {"data/answers.csv": ANSWERS, "content/index.md": page})
    done = call(root, "check")
    assert done.returncode == 0, done.stdout
    assert "1 statement: 1 holds" in done.stdout
    assert any(
        "Grouped by size." in one.caption for one in drafted(root).shown.values() if isinstance(one, Stack)
    )


@pytest.mark.parametrize(
    ("by", "files", "said"),
    [
        ("sise", {}, 'no column "sise"'),
        ("problem", {}, "problem changes within"),
        (
            "size",
            TOTALS,
            "holds totals only",
        ),
    ],
)
def test_what_cannot_be_grouped(tmp_path: Path, by: str, files: dict[str, str], said: str) -> None:
    """An unknown column, one that changes within a run, and totals."""
    given = {"data/answers.csv": ANSWERS, "content/index.md": SCORES.replace("by: size", f"by: {by}")}
    found = problems(write_report(tmp_path / "r", given | files))
    assert any(said in one for one in found), found
