"""One log under two names, equal seeds, and two counters in one column of steps."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_file, write_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHANCE = random.Random(1)  # noqa: S311 - values, not secrets
ROWS = [(10 * row, round(3 / (row + 1) + CHANCE.random() / 10, 4)) for row in range(8)]
CSV = "step,loss\n" + "".join(f"{step},{loss}\n" for step, loss in ROWS)
EQUAL = "are equal in every value"


def describe(folder: Path, files: dict[str, str | bytes]) -> list[str]:
    """The problems of a folder with these files."""
    for name, content in files.items():
        write_file(folder / "runs" / name, content)
    done = call(folder, "describe", "runs")
    return [line for line in done.stdout.splitlines() if ": warning: " in line or ": error: " in line]


def test_one_log_that_is_packed_beside_itself(tmp_path: Path) -> None:
    """Both files are named."""
    files: dict[str, str | bytes] = {"a.csv": CSV, "a.csv.gz": gzip.compress(CSV.encode())}
    (found,) = [line for line in describe(tmp_path, files) if EQUAL in line]
    assert "runs/a.csv " in found
    assert "runs/a.csv.gz" in found


WORDS = [f"word{number}" for number in range(15)]


def write_answers(run: str, more: str = "", samples: int = 1) -> str:
    """Answers to problems, equal in all runs, with a column that is, or (other) is not."""
    same, own = random.Random(3), random.Random(run)  # noqa: S311 - values, not secrets
    cells: dict[str, Callable[[int], object]] = {
        "seconds": lambda _: round(9 * same.random(), 3),
        "duration": lambda _: round(9 * same.random(), 3),
        "response": lambda _: " ".join(same.choices(WORDS, k=12)),
        "question": lambda _: " ".join(same.choices(WORDS, k=12)),
        "prediction": lambda _: same.choice("ABCD"),
        "other_time": lambda _: round(9 * own.random(), 3),
    }
    rows = [
        {"model": "Elm", "problem": f"q{number}", "sample": sample, "correct": same.randint(0, 1)}
        | ({more: cells[more](number)} if more in cells else {})
        for number in range(20)
        for sample in range(samples)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    ("more", "samples", "expected"),
    [
        ("seconds", 1, "score and seconds"),
        ("duration", 1, "score and duration"),
        ("response", 1, "score and response"),
        ("", 8, "score"),
        ("", 1, ""),
        ("question", 1, ""),
        ("prediction", 1, ""),
        ("other_time", 1, ""),
    ],
)
def test_answers_under_two_names(tmp_path: Path, more: str, samples: int, expected: str) -> None:
    """Right and wrong answers may be equal where nothing is random, but not times, words or samples."""
    found = describe(tmp_path, {f"{run}.jsonl": write_answers(run, more, samples) for run in "ab"})
    if not expected:
        assert found == []
        return
    (line,) = found
    assert f"runs/a.jsonl and runs/b.jsonl are equal in every {expected} ({20 * samples} answers)" in line


def test_a_text_that_is_the_same_in_other_runs_is_of_the_problem(tmp_path: Path) -> None:
    """Its name alone would say that a model wrote it."""
    files: dict[str, str | bytes] = {f"{run}.jsonl": write_answers(run, "response") for run in "ab"}
    other = write_answers("c", "response")
    assert len(describe(tmp_path, files)) == 1
    assert describe(tmp_path, {"c.jsonl": other.replace('"correct": 1', '"correct": 0')}) == []


def write_counters(rows: int = 5) -> str:
    """A log as MMEngine's: iterations and their epoch in training, epochs as steps in validation."""
    lines: list[dict[str, float]] = []
    for epoch in range(1, rows + 1):
        lines += [
            {"loss": 3 / step, "time": 0.1, "epoch": epoch, "iter": step, "step": step}
            for step in (100 * epoch - 50, 100 * epoch)
        ]
        lines.append({"mAP": epoch / 10, "time": 0.2, "step": epoch})
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("curve\nmetric: loss", ""),
        ("curve\nmetric: mAP", ""),
        (
            "curve\nmetric: time",
            "mAP is 2 after 200 of epoch, iter and loss, and time has both.",
        ),
        ("panels\nmetrics: [loss, mAP]", "Draw them in blocks of their own."),
    ],
)
def test_two_counters_in_one_column(tmp_path: Path, block: str, message: str) -> None:
    """A figure has one kind of steps; the row is named where they meet."""
    kind, _, keys = block.partition("\n")
    page = f"# A\n\n```{kind}\nsource: runs\n{keys}\n```\n"
    files = {"data/runs.csv": None, "data/runs.json": write_counters(), "content/index.md": page}
    done = call(write_report(tmp_path, files), "check")
    assert (done.returncode, 'data/runs.json:6: error: "step" counts two things' in done.stdout) == (
        (1, True) if message else (0, False)
    )
    assert message in done.stdout
