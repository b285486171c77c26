"""Every reader on real files with accidents in them: rows or a clean error, and no more than 500 MB."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from kept_files import KEPT, unpacked

from reportgen.formats.registry import list_formats

ROOT = Path(__file__).parents[1]
# Of each format the files that its writer left, or such as it leaves.
FOLDERS = {
    **{path.name: path for path in KEPT.iterdir()},
    **{path.name: path for path in (ROOT / "tests/shapes").iterdir() if path.is_dir()},
    "trainer_state": ROOT / "data/trainer-example",
    "metrics_csv": ROOT / "data/lightning-example",
    "step_json": ROOT / "data/verl-example",
    "console": ROOT / "data/verl-console-example",
    "lm_eval": ROOT / "data/lm-eval-example",
    "lighteval": ROOT / "data/lighteval-checkpoints",
    "helm": ROOT / "data/helm-example",
}
LISTS = {"answer_lists"}
COUNT = 600
MOST_MB = 500


def test_every_format_is_among_them() -> None:
    """No reader is left out."""
    assert {*FOLDERS, *LISTS} == {form.name for form in list_formats()}


def files_of(form: str, room: Path) -> Path:
    """Small files of a format."""
    if form in LISTS:
        rows = [
            {"problem": f"p{number}", "gold": number, "answers": [number, 2], "correct": [True, False]}
            for number in range(8)
        ]
        folder = room / "lists"
        folder.mkdir()
        (folder / "model.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return folder
    return unpacked(form, room) if (KEPT / form).is_dir() else FOLDERS[form]


@pytest.mark.parametrize("form", [*FOLDERS, *LISTS])
def test_accidents(form: str, tmp_path: Path) -> None:
    """In a process of its own, whose memory is its own, too."""
    folder = files_of(form, tmp_path)
    command = [
        sys.executable,
        "tests/read_mutated.py",
        form,
        str(folder),
        str(COUNT),
        str(tmp_path / "scratch"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert told["broken"] == []
    assert told["read"] + told["refused"] >= COUNT
    assert told["values"] > COUNT
    assert told["peak"] <= MOST_MB


TABLES = {
    "a.parquet": "FORMAT parquet",
    "a.csv": "FORMAT csv, HEADER",
    "a.jsonl": "FORMAT json",
    "a.json": "FORMAT json, ARRAY true",
}
FEW = 40


@pytest.mark.parametrize("name", [*TABLES, "trainer_state.json"])
def test_accidents_on_the_command_line(name: str, tmp_path: Path) -> None:
    """Tables, and what a logger wrote, are described and frozen, or refused in words."""
    folder = tmp_path / "s"
    folder.mkdir()
    if name in TABLES:
        rows = """
            SELECT 'AB'[1 + i % 2:1 + i % 2] AS model, i % 3 AS seed, i // 6 AS step,
                ['loss', 'acc'][1 + i // 3 % 2] AS metric, i / 7 AS value FROM range(400) rows(i)
        """
        duckdb.sql(f"COPY ({rows}) TO '{folder / name}' ({TABLES[name]})")
    else:
        history = [{"step": step, "loss": 1 / (step + 1), "epoch": step / 9} for step in range(90)]
        state = {"log_history": history, "global_step": 90, "max_steps": 90, "epoch": 9.0}
        (folder / name).write_text(json.dumps(state), encoding="utf-8")
    command = [sys.executable, "tests/read_mutated.py", "commands", str(folder), str(FEW)]
    done = subprocess.run(
        [*command, str(tmp_path / "scratch")], cwd=ROOT, capture_output=True, text=True, check=True
    )
    told = json.loads(done.stdout)
    assert told["broken"] == []
    assert told["read"] + told["refused"] >= FEW
    assert min(told["read"], told["values"]) > 0
