"""What describe prints on a terminal, what it keeps, and what it counts of long and irregular tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from command_line import call, run_on_terminal
from made_files import KINDS
from made_projects import files_below, write_file, write_report
from tries import slow_after

from reportgen.core.cache import cache_folder

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "model,seed,step,loss,acc\nA,1,0,2.5,\nA,1,10,1.25,0.2\nB,1,0,2,0.1\nB,1,10,1,0.2\n"
SHAPES = {
    "long": ("model,step,metric,value", ("A,0,loss,1", "A,1,loss,2")),
    "wide": ("model,step,loss", ("A,0,1", "A,1,2")),
    "outcomes": ("model,problem,correct", ("A,p,1", "A,q,0")),
    "totals": ("model,benchmark,score", ("A,x,1", "B,x,0")),
    "chart": ("Step,A - acc,A - acc__MIN,A - acc__MAX", ("0,1,1,1", "1,2,2,2")),
}


def describe(folder: Path, path: str) -> dict[str, Any]:
    """What is said of a path, as JSON."""
    described: dict[str, Any] = json.loads(call(folder, "describe", path, "--format", "json").stdout)
    return described


def write_run(folder: Path, name: str, seconds: float) -> None:
    """A run of W&B with two rows, so many seconds apart."""
    begin = 1_767_225_600
    rows = [{"acc": row, "_timestamp": begin + seconds * row} for row in (0, 1)]
    lines = [json.dumps(line) for line in ({"id": name, "name": name, "config": {"seed": 1}}, *rows, 0)]
    write_file(folder / f"run-{name}/run-{name}.wandb", KINDS["wandb"]("\n".join(lines)))


def test_names_cannot_give_the_terminal_orders(tmp_path: Path) -> None:
    """A metric's name is data; on a terminal the tables have headings, and what is read is shown."""
    write_file(tmp_path / "many/a.csv", "model,step,\x1b[31mloss\nA,0,1\nA,1,2\n")
    write_file(tmp_path / "many/b.csv", "model,step,\x1b[31mloss\nB,0,1\nB,1,2\n")
    said = run_on_terminal(tmp_path, "describe", "many", NO_COLOR="1")
    assert "\x1b[31m" not in said
    assert "lowest" in said
    for name in ("a", "b"):
        write_run(tmp_path / "logs", name, 60)
    assert "Reading file 2: run-b.wandb" in run_on_terminal(tmp_path, "describe", "logs")
    assert "Reading" not in call(tmp_path, "describe", "logs").stdout


def test_a_narrow_terminal_keeps_what_matters(tmp_path: Path) -> None:
    """Columns that have no room are named, and those that stay are not squeezed."""
    for name in ("a-name-that-goes-on-and-on", "another-name-that-goes-on"):
        write_run(tmp_path / "deep/folder" / name, name, 60)
    said = run_on_terminal(tmp_path, "describe", "deep", NO_COLOR="1", TERM="dumb", COLUMNS="64")
    (line,) = (line for line in said.split("\n") if line.startswith("a-name-that"))
    assert line.split()[-3:] == ["0", "to", "1"]
    assert "A wider terminal has room for: metrics, logged (UTC) and where." in said
    assert "wider" not in run_on_terminal(
        tmp_path, "describe", "deep", NO_COLOR="1", TERM="dumb", COLUMNS="200"
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, " 2026-01-01 00:00"),
        (0.2, ", < 1 s"),
        (59.6, ", 1 min"),
        (3599, "59 min 59 s"),
        (3605, "1 h"),
        (90000, "1 d 1 h"),
        (1e8, "1,157 d 9 h"),
        (1e18, " 2026-01-01 00:00"),
    ],
)
def test_durations_have_two_units(tmp_path: Path, seconds: float, words: str) -> None:
    """What is small beside them is left out; a sentinel that no calendar has is no time."""
    write_run(tmp_path / "runs", "a", seconds)
    said = call(tmp_path, "describe", "runs").stdout
    (row,) = (line for line in said.splitlines() if line.startswith("a "))
    assert row.endswith(words)


@pytest.mark.parametrize("place", ["mine", "report/data/deep/mine"])
def test_what_was_counted_is_not_counted_again(tmp_path: Path, place: str) -> None:
    """In the cache of the report or folder; no file is written there, and a changed one is read again."""
    root = write_report(tmp_path / "report")
    table = tmp_path / place / "a.csv"
    write_file(table, TABLE)
    cache = cache_folder(root if "report" in place else table.parent)
    before = files_below(tmp_path)
    first = describe(tmp_path, f"{place}/a.csv")
    stored = sorted(cache.glob("??/*"))
    assert stored
    assert describe(tmp_path, f"{place}/a.csv") == first
    assert sorted(cache.glob("??/*")) == stored
    assert files_below(tmp_path) == before
    table.write_text(table.read_text("utf-8").replace("loss", "mass"), "utf-8")
    assert describe(tmp_path, f"{place}/a.csv")["metrics"] != first["metrics"]


def test_every_series_of_a_long_file_is_counted(tmp_path: Path) -> None:
    """Also those that a sample of the rows does not meet, and metrics that few rows have."""
    names = [f"series {place:04}" for place in range(400)]
    rows = [f"{name},{step},loss,1\n" for name in names for step in range(60)]
    rows.insert(len(rows) * 2 // 3 + 7, "series 0007,0,once,1\n")
    write_file(tmp_path / "long.csv", "model,step,metric,value\n" + "".join(rows))
    cells = (f"{name},{step},1\n" for name in names for step in range(60))
    write_file(tmp_path / "wide.csv", "model,step,loss\n" + "".join(cells))
    for name, metrics in (("long.csv", {"loss": 24_000, "once": 1}), ("wide.csv", {"loss": 24_000})):
        described = describe(tmp_path, name)
        assert described["series"] == names
        assert len(described["runs"]) == 400
        assert {one["name"]: one["values"] for one in described["metrics"]} == metrics
    far = "".join(
        json.dumps({"model": "A", "step": step, "metric": "loss", "value": 1}) + "\n"
        for step in range(60_000)
    )
    write_file(
        tmp_path / "far.jsonl",
        far.replace('"step": 30000, "metric": "loss"', '"step": 30000, "metric": "lo\\u0000ss"'),
    )
    assert "NUL" in call(tmp_path, "describe", "far.jsonl").stdout


@pytest.mark.parametrize("ending", slow_after(2, ["csv", "parquet", "jsonl", "json"]))
@pytest.mark.parametrize("shape", SHAPES)
def test_a_column_without_values(tmp_path: Path, shape: str, ending: str) -> None:
    """In all rows or in the last one; whatever column it is, it is read and frozen, or refused in words."""
    header, full = SHAPES[shape]
    options = {"jsonl": "FORMAT json", "json": "FORMAT json, ARRAY true", "parquet": "FORMAT parquet"}
    for place in range(header.count(",") + 1):
        for first, word in ((0, ""), (1, ""), (0, "nan"), (1, "nan")):
            rows = [row.split(",") for row in full]
            for row in rows[first:]:
                row[place] = word
            path = tmp_path / f"{place}{first}{word}" / f"a.{ending}"
            table = path.with_suffix(".csv")
            write_file(table, "\n".join([header, *map(",".join, rows), ""]))
            write_file(path.with_name("a.source.yml"), "form: totals\n" if shape == "totals" else "")
            if ending != "csv":
                duckdb.sql(f"COPY (FROM read_csv('{table}', header=true)) TO '{path}' ({options[ending]})")
                table.unlink()
            described = describe(path.parent, path.name)
            assert described["kind"] in {"", "measurements", "outcomes", "totals"}
            errors = [
                one
                for one in described["problems"]
                if one["severity"] == "error" and ("repeat:" not in one["next_step"] or shape == "totals")
            ]
            done = call(path.parent, "freeze", path.name, "--to", "cold")
            assert (done.returncode != 0) == bool(errors), done.stderr
