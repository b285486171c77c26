"""What ``describe`` and ``freeze`` make of tables that are irregular: the same of both, and nothing lost."""

from __future__ import annotations

import json
from contextlib import nullcontext
from typing import TYPE_CHECKING

import duckdb
import pandas as pd
import pytest
from command_line import call
from made_sources import Data
from test_describe_command import known
from tries import slow_after

from reportgen.core.errors import ReportError
from reportgen.draft import describing
from reportgen.draft.blocks.draw_inputs import list_notes
from reportgen.draft.describing import freeze_source
from reportgen.formats.files import hash_file
from reportgen.read import read_outcomes

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.statements import Description

SHAPES = {
    "long": ("model,step,metric,value", ("A,0,loss,1", "A,1,loss,2")),
    "wide": ("model,step,loss", ("A,0,1", "A,1,2")),
    "outcomes": ("model,problem,correct", ("A,p,1", "A,q,0")),
    "totals": ("model,benchmark,score", ("A,x,1", "B,x,0")),
    "chart": ("Step,A - acc,A - acc__MIN,A - acc__MAX", ("0,1,1,1", "1,2,2,2")),
}
BEGIN = 1_764_213_900.25  # 2025-11-27 03:25:00 UTC


def can_freeze(told: Description) -> bool:
    """Whether nothing keeps it from being frozen: rows of one problem do not, totals of one run do."""
    return not any(
        problem.severity == "error" and ("repeat:" not in problem.next_step or told.kind == "totals")
        for problem in told.problems
    )


def describe_and_freeze(data: Data, path: Path) -> tuple[str, list[str]]:
    """What kind of source it is, and what is said of it; it is frozen unless that is an error."""
    told = describing.describe_path(path, data.root, "a", hash_file, None)
    with nullcontext() if can_freeze(told) else pytest.raises(ReportError):
        freeze_source(path, data.root, "a test", hash_file, None).write(data.root / "frozen.parquet")
    return told.kind, [str(problem) for problem in told.problems]


def write_table(data: Data, header: str, rows: list[list[str]], ending: str) -> Path:
    """A table in a file of its own."""
    path = data.write("a.csv", "".join(f"{','.join(row)}\n" for row in (header.split(","), *rows)))
    if ending == "csv":
        return path
    options = {"jsonl": "FORMAT json", "json": "FORMAT json, ARRAY true", "parquet": "FORMAT parquet"}
    copied = path.with_suffix(f".{ending}")
    duckdb.sql(f"COPY (FROM read_csv('{path}', header=true)) TO '{copied}' ({options[ending]})")
    path.unlink()
    return copied


@pytest.mark.parametrize("ending", slow_after(2, ["csv", "parquet", "jsonl", "json"]))
@pytest.mark.parametrize("shape", SHAPES)
def test_a_column_without_values(tmp_path: Path, shape: str, ending: str) -> None:
    """In all rows or in the last one; whatever column it is, nothing breaks."""
    header, full = SHAPES[shape]
    for place in range(header.count(",") + 1):
        for first, word in ((0, ""), (1, ""), (0, "nan"), (1, "nan")):
            rows = [row.split(",") for row in full]
            for row in rows[first:]:
                row[place] = word
            data = Data(tmp_path / f"{place}{first}{word}")
            data.write("a.source.yml", "form: totals\n" if shape == "totals" else "")
            kind, _ = describe_and_freeze(data, write_table(data, header, rows, ending))
            assert kind in {"", "measurements", "outcomes", "totals"}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
def test_a_file_that_says_nothing(tmp_path: Path, ending: str) -> None:
    """It is refused by its name, and what can be read of it all the same has nothing to draw."""
    for content in ("", "{}\n{}\n", "[]", "{}", "[{}]", "\n\n"):
        data = Data(tmp_path)
        kind, told = describe_and_freeze(data, data.write(f"a.{ending}", content))
        assert kind in {"", "measurements"}
        assert told[0].startswith(f"data/a.{ending}")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_numbers_since_1970_are_when_a_run_was_logged(tmp_path: Path, ending: str) -> None:
    """``describe`` says when and how long."""
    frame = pd.DataFrame({"step": [0, 1], "Wall time": [BEGIN, BEGIN + 600], "loss": [0.5, 0.25]})
    path = Data(tmp_path).write(f"log.{ending}", b"")
    if ending == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    described = known(tmp_path, str(path))
    assert [metric["name"] for metric in described["metrics"]] == ["loss"]
    (run,) = described["runs"]
    assert (run["begins"], run["ends"]) == (BEGIN * 1000, (BEGIN + 600) * 1000)
    assert (run["first"], run["last"]) == (0, 1)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_runs_with_settings_beside_them_have_times_too(tmp_path: Path, ending: str) -> None:
    """As tables alone."""
    data = Data(tmp_path)
    frame = pd.DataFrame({"step": [0, 1], "Wall time": [BEGIN, BEGIN + 600], "loss": [0.5, 0.25]})
    for seed in (1, 2):
        text = frame.to_csv(index=False) if ending == "csv" else frame.to_json(orient="records", lines=True)
        data.write(f"runs/r{seed}/log.{ending}", str(text))
        data.write(f"runs/r{seed}/config.json", json.dumps({"seed": seed}))
    described = known(tmp_path, "data/runs")
    assert described["format"] == "run_tables"
    times = [(run["begins"], run["ends"]) for run in described["runs"]]
    assert times == [(BEGIN * 1000, (BEGIN + 600) * 1000)] * 2


# ---- NUL ----------------------------------------------------------------------------------------------


def test_a_nul_in_what_was_logged_is_shown(tmp_path: Path) -> None:
    """Described and frozen, names have a visible sign in its place, and keep their values."""
    data = Data(tmp_path)
    logged = {"log_history": [{"step": step, "lo\0ss": 1 / step} for step in (1, 2, 3)], "global_step": 3}
    logged |= {"max_steps": 3, "num_train_epochs": 1, "epoch": 1}
    data.write("s/trainer_state.json", json.dumps(logged))
    told = known(tmp_path, "data/s")
    assert [(one["name"], one["values"]) for one in told["metrics"]] == [("lo\ufffdss", 3)]
    assert list(data.frame("s", "lo\ufffdss")["value"]) == [1, 1 / 2, 1 / 3]
    assert call(tmp_path, "freeze", "data/s", "--to", "frozen").returncode == 0
    assert known(tmp_path, "frozen")["metrics"] == told["metrics"]


@pytest.mark.parametrize(
    ("rows", "cells", "what"),
    [
        (3, {"metric": "lo\0ss"}, 'metric "lo\ufffdss"'),
        (60_000, {"metric": "lo\0ss"}, 'metric "lo\ufffdss"'),
        (3, {"model": "A\0"}, 'series "A\ufffd"'),
        (3, {"seed": "1\0"}, 'seed "1\ufffd"'),
    ],
    ids=["metric", "far metric", "series", "seed"],
)
def test_a_nul_in_a_name_of_a_table_is_refused(
    tmp_path: Path, rows: int, cells: dict[str, str], what: str
) -> None:
    """Where it is described and where it is frozen; nothing is written, and no value vanishes."""
    table: list[dict[str, object]] = [
        {"model": "A", "step": step, "metric": "loss", "value": 1} for step in range(rows)
    ]
    table[rows // 2] |= cells
    Data(tmp_path).write("a.jsonl", "".join(f"{json.dumps(row)}\n" for row in table))
    message = (
        f"data/a.jsonl: error: the name of the {what} has a NUL character (U+0000) where \ufffd stands. "
        "Rename it, or write the file again."
    )
    for words in (("describe", "data/a.jsonl"), ("freeze", "data/a.jsonl", "--to", "frozen")):
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


# ---- rows of one step ---------------------------------------------------------------------------------


def test_describe_and_freeze_say_the_same_of_repeats(tmp_path: Path) -> None:
    """``describe`` reports them and leaves with 1; what is frozen keeps what was said."""
    data = Data(tmp_path)
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: [reportgen]\n")
    data.write("a.csv", "step,loss\n0,1\n1,2\n0,3\n1,4\n0,5\n1,6\n")
    done = call(tmp_path, "describe", "data/a.csv")
    assert done.returncode == 1
    assert "a.csv:4: error: a second row for step 0 of series a" in done.stdout
    data.write("a.source.yml", "repeat: runs")
    assert call(tmp_path, "describe", "data/a.csv").returncode == 0
    assert call(tmp_path, "freeze", "data/a.csv", "--to", "data/b").returncode == 0
    assert "repeat: runs" in (tmp_path / "data/b/source.yml").read_text()
    assert list_notes(data.open("a")) == list_notes(data.open("b"))
    assert list_notes(data.open("a")) == ("Rows of one run and step are read as runs of their own.",)


def test_what_is_frozen_of_a_log_keeps_its_meaning(tmp_path: Path) -> None:
    """A table would be an error: the later of repeated steps count."""
    data = Data(tmp_path)
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: [reportgen]\n")
    steps = [{"step": step, "loss": start + step} for start in (0, 10) for step in (1, 2, 3)]
    state = {"global_step": 3, "is_world_process_zero": True, "log_history": steps}
    data.write("log/trainer_state.json", json.dumps(state))
    assert call(tmp_path, "freeze", "data/log", "--to", "data/b").returncode == 0
    assert "repeat: last" in (tmp_path / "data/b/source.yml").read_text()
    assert call(tmp_path, "describe", "data/b").returncode == 0


def test_an_index_without_a_name_may_be_the_step(tmp_path: Path) -> None:
    """As ``to_csv`` writes a history; rows with settings are runs."""
    data = Data(tmp_path)
    data.write("s.csv", ",loss,acc\n0,2.5,0.1\n1,2.0,0.2\n2,1.75,0.4\n")
    assert (
        '"index" never decreases within a run and may be the step'
        in call(tmp_path, "describe", "data/s.csv").stdout
    )
    data.write("t.csv", ",loss,acc,lr\n0,2.5,0.1,1\n1,2.0,0.2,0.1\n2,1.75,0.4,0.01\n")
    assert "may be the step" not in call(tmp_path, "describe", "data/t.csv").stdout


# ---- what describe suggests ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "rows", "series"),
    [
        ("lr,step,reward", ["1,0,1", "1,1,2", "3,0,3", "3,1,4"], "lr"),
        ("model,lr,step,reward", ["A,1,0,1", "A,1,1,2", "A,3,0,3", "A,3,1,4"], "[model, lr]"),
        ("model,trial,step,acc", ["A,t0,0,0", "A,t0,1,1", "A,t1,0,0", "A,t1,1,1"], "[model, trial]"),
    ],
)
def test_the_suggested_series_can_be_drawn(tmp_path: Path, header: str, rows: list[str], series: str) -> None:
    """A column that tells the rows of one step apart, alone or with the names beside it."""
    data = Data(tmp_path)
    data.write("a.csv", "\n".join([header, *rows]) + "\n")
    done = call(tmp_path, "describe", "data/a.csv")
    assert done.returncode == 1
    assert "To write into data/a.source.yml" in done.stdout
    assert f"columns:\n  series: {series}\n" in done.stdout
    data.write("a.source.yml", f"columns: {{series: {series}}}")
    assert call(tmp_path, "describe", "data/a.csv").returncode == 0
    assert data.frame("a")["series"].nunique() == 2


@pytest.mark.parametrize(
    ("names", "files"),
    [
        ("base_seed1.csv base_seed2.csv new_seed1.csv", "(?P<series>.+)_seed(?P<seed>[0-9]+)[.]csv"),
        ("seed=0/base.csv seed=0/new.csv seed=1/base.csv", "seed=(?P<seed>[0-9]+)/(?P<series>.+)[.]csv"),
        ("seed1.csv seed2.csv", ""),
    ],
)
def test_the_suggested_pattern_settles_seeds_in_names(tmp_path: Path, names: str, files: str) -> None:
    """It is the one of the message; what is frozen has the names as columns."""
    data = Data(tmp_path)
    for name in names.split():
        data.write(f"s/{name}", "step,loss\n0,2\n1,1\n")

    def describe(path: str) -> Description:
        return describing.describe_path(tmp_path / path, tmp_path, "s", hash_file, None)

    def list_runs(path: str) -> list[tuple[str, str | None]]:
        return [(one.series, one.seed) for one in describe(path).counts.runs]

    told, runs = describe("data/s"), list_runs("data/s")
    assert (told.series_by, told.seed_by) == ("the names of files", "the names of files")
    assert told.settings.get("files", "") == files
    assert call(tmp_path, "freeze", "data/s", "--to", "frozen").returncode == 0
    assert list_runs("frozen") == runs
    if files:
        data.write("s/source.yml", describing.suggest_settings(told)["settled"])
        assert (list_runs("data/s"), data.warnings("s")) == (runs, [])
