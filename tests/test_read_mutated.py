"""Every reader on files by the real writers, as they are and with accidents in them: see ``tests/data``.

Memory is measured with ``--slow`` only: it needs processes of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from kept_files import KEPT, unpacked
from mutated_bytes import tell
from tries import is_slow, tries

from reportgen.formats.registry import list_formats
from reportgen.read import make_frame, open_path, read_measurements, read_outcomes
from reportgen.settings.loading import load_source_settings

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
COUNT = tries(30, 600)
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


def read_mutated(form: str, folder: Path, count: int, scratch: Path) -> dict[str, Any]:
    """Read variants of files in this process, or with ``--slow`` in one of its own."""
    if not is_slow():
        return {**tell(form, folder, count, scratch), "peak": 0}
    command = [sys.executable, "tests/mutated_bytes.py", form, str(folder), str(count), str(scratch)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.random
@pytest.mark.parametrize("form", [*FOLDERS, *LISTS])
def test_accidents(form: str, tmp_path: Path) -> None:
    """Each format is read or refused, in little memory."""
    told = read_mutated(form, files_of(form, tmp_path), COUNT, tmp_path / "scratch")
    assert told["broken"] == []
    assert told["read"] + told["refused"] >= COUNT
    assert told["values"] > tries(COUNT // 2, COUNT)
    assert told["peak"] <= MOST_MB


# Where each format's runs have their series and seeds; what is guessed is reported.
LOGGERS = {
    "dvclive": ("folders", "the configuration"),
    "mlflow_files": ("names", "the configuration"),
    "mlflow_sqlite": ("names", "the configuration"),
    "tensorboard": ("folders", "the names"),
    "trackio": ("names", "the configuration"),
    "wandb": ("names", "the configuration"),
}


@pytest.mark.parametrize("form", LOGGERS)
def test_what_a_logger_wrote_is_read(form: str, tmp_path: Path) -> None:
    """Two series of two seeds with two metrics on five steps; only the guessed names are reported."""
    root, source = open_path(unpacked(form, tmp_path), load_settings=load_source_settings)
    assert {*source.metrics, "_runtime"} == {"eval/accuracy", "loss", "_runtime"}
    table = make_frame(read_measurements(root, source, ("loss", "eval/accuracy")))
    curves = {key: rows["value"].tolist() for key, rows in table.groupby(["series", "seed", "metric"])}
    assert len(curves) == 8
    assert table.groupby(["series", "seed", "metric"])["step"].agg(list).tolist() == [[0, 1, 2, 3, 4]] * 8
    assert curves["base", "1", "loss"][0] == 1.625
    assert curves["wide", "2", "loss"][3] == 0.375
    assert curves["wide", "1", "eval/accuracy"][4] == 0.5625
    series_by, seeds_by = LOGGERS[form]
    assert [problem.message for problem in source.warnings] == [
        f"series were distinguished by their {series_by}, and seeds by {seeds_by}: base and wide"
    ]


def test_what_inspect_wrote_is_read(tmp_path: Path) -> None:
    """Two models on four problems, two answers to each."""
    root, source = open_path(unpacked("inspect", tmp_path), load_settings=load_source_settings)
    assert (source.kind, source.benchmarks, source.warnings) == ("outcomes", ("sums",), ())
    assert source.slices == ("subject", "level")
    found = read_outcomes(root, source)
    with found.reading():
        table = found.frame.collect().to_pandas()
    assert set(table["seed"]) == {"7"}
    assert table.groupby(["series", "problem"])["score"].agg(list).tolist() == [
        *([0, 0], [1, 1], [0, 0], [1, 1]),
        *([0, 0], [1, 1], [1, 1], [0, 0]),
    ]
    answers = table[(table["series"] == "mockllm/wide") & (table["problem"] == "p2")]
    assert answers[["answer", "gold", "subject"]].to_numpy().tolist() == [["4", "4", "physics"]] * 2


TABLES = {
    "a.parquet": "FORMAT parquet",
    "a.csv": "FORMAT csv, HEADER",
    "a.jsonl": "FORMAT json",
    "a.json": "FORMAT json, ARRAY true",
}
FEW = tries(8, 80)


@pytest.mark.random
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
    told = read_mutated("commands", folder, FEW, tmp_path / "scratch")
    assert told["broken"] == []
    assert told["read"] + told["refused"] >= FEW
    assert min(told["read"], told["values"]) > 0
