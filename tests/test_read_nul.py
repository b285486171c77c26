"""A NUL in a name, as one flipped bit leaves it: shown in its place, or refused in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_sources import Data
from test_describe_command import known

from reportgen.read import read_outcomes

if TYPE_CHECKING:
    from pathlib import Path

LOGGED = {
    "log_history": [{"step": step, "lo\0ss": 1 / step} for step in (1, 2, 3)],
    "global_step": 3,
    "max_steps": 3,
    "num_train_epochs": 1,
    "epoch": 1,
}


def test_a_nul_in_what_was_logged_is_shown(tmp_path: Path) -> None:
    """Described and frozen, names have a visible sign in its place, and keep their values."""
    data = Data(tmp_path)
    data.write("s/trainer_state.json", json.dumps(LOGGED))
    told = known(tmp_path, "data/s")
    assert [(one["name"], one["values"]) for one in told["metrics"]] == [("lo\ufffdss", 3)]
    assert list(data.frame("s", "lo\ufffdss")["value"]) == [1, 1 / 2, 1 / 3]
    assert call(tmp_path, "freeze", "data/s", "--to", "frozen").returncode == 0
    assert known(tmp_path, "frozen")["metrics"] == told["metrics"]


def rows(count: int, **cells: object) -> str:
    """JSON Lines of a long table, with these cells in one row in the middle."""
    table: list[dict[str, object]] = [
        {"model": "A", "step": step, "metric": "loss", "value": 1} for step in range(count)
    ]
    table[count // 2] |= cells
    return "".join(f"{json.dumps(row)}\n" for row in table)


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.jsonl", rows(3, metric="lo\0ss"), 'metric "lo\ufffdss"'),
        ("a.jsonl", rows(60_000, metric="lo\0ss"), 'metric "lo\ufffdss"'),
        ("a.jsonl", rows(3, model="A\0"), 'series "A\ufffd"'),
        ("a.jsonl", rows(3, seed="1\0"), 'seed "1\ufffd"'),
        ("a.jsonl", '{"step": 1, "lo\\u0000ss": 2}\n', 'column "lo\ufffdss"'),
        ("a.json", '{"step": [1], "lo\\u0000ss": [2]}', 'column "lo\ufffdss"'),
        ("a.csv", "step,lo\0ss\n1,2\n", 'column "lo\ufffdss"'),
        ("a.csv", "model,step,loss\nA\0B,1,2\n", 'series "A\ufffdB"'),
    ],
    ids=["metric", "far metric", "series", "seed", "key", "list", "header", "cell"],
)
def test_a_nul_in_a_name_of_a_table_is_refused(tmp_path: Path, name: str, content: str, what: str) -> None:
    """Where it is described and where it is frozen; nothing is written, and no value vanishes."""
    data = Data(tmp_path)
    data.write(name, content)
    message = (
        f"data/{name}: error: the name of the {what} has a NUL character (U+0000) where \ufffd stands. "
        "Rename it, or write the file again."
    )
    for words in (("describe", f"data/{name}"), ("freeze", f"data/{name}", "--to", "frozen")):
        done = call(tmp_path, *words)
        assert (done.returncode, message in done.stdout + done.stderr) == (1, True), done.stdout + done.stderr
    assert not (tmp_path / "frozen").exists()


def test_a_nul_in_the_name_of_a_problem_is_shown(tmp_path: Path) -> None:
    """Problems, answers and slices have the sign in its place; the score is that of the rows."""
    data = Data(tmp_path)
    cells = {"model": "A", "problem": "p\0", "correct": 1, "answer": "x\0", "level": "\0hard"}
    data.write("a.jsonl", f"{json.dumps(cells)}\n")
    relation = read_outcomes(tmp_path, data.open("a")).frame.to_native()
    (row,) = relation.project("problem, answer, level, score").fetchall()
    assert row == ("p\ufffd", "x\ufffd", "\ufffdhard", 1.0)
