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


def test_settings_keep_answers_of_one_model_apart(tmp_path: Path) -> None:
    """A model that answered at two temperatures has two scores, without a word in ``source.yml``."""
    rows = [
        ("a", temperature, problem, int((problem * 7 + shift) % 3 > 0))
        for temperature, shift in (("0.2", 1), ("0.7", 2))
        for problem in range(10)
    ]
    text = "model,temperature,problem,score\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows)
    page = SCORES.replace("by: size", "by: [model, temperature]")
    report = drafted(write_report(tmp_path / "r", {"data/answers.csv": text, "content/index.md": page}))
    (shown,) = report.shown.values()
    assert isinstance(shown, Stack)
    assert {one["series"]: one["estimate"] for one in shown.numbers["scores"]} == {
        f"a, temperature={own}": pytest.approx(mean(row[3] for row in rows if row[1] == own))
        for own in ("0.2", "0.7")
    }


def test_groups_of_several_sources_have_their_source_behind_them(tmp_path: Path) -> None:
    """As in curves: what two sources ran is not pooled."""
    page = SCORES.replace("source: answers", "source: [answers, older]")
    half = "\n".join(row for row in ROWS if not row.startswith(("b", "d"))) + "\n"
    files = {"data/answers.csv": ANSWERS, "data/older.csv": half, "content/index.md": page}
    (shown,) = drafted(write_report(tmp_path / "r", files)).shown.values()
    assert isinstance(shown, Stack)
    found = {one["series"]: one["estimate"] for one in shown.numbers["scores"]}
    alone = {
        f"size={size}, older": mean(int(row[-1]) for row in half.splitlines() if row.startswith(f"{model},"))
        for model, size in (("a", 7), ("c", 70))
    }
    both = {f"{name}, answers": value for name, value in read_scores("size").items()}
    assert found == pytest.approx(alone | both)


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
        "Grouped by size: " in one.caption for one in drafted(root).shown.values() if isinstance(one, Stack)
    )


@pytest.mark.parametrize(
    ("by", "files", "said"),
    [
        ("sise", {}, 'no column "sise"'),
        ("problem", {}, "a problems block, whose slices are columns of problems"),
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
