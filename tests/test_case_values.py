"""Cases with other kinds of files, and columns of tables: what is read is what the raw file has."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import sqlite3
import zipfile
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from statistics import mean, stdev
from typing import TypeAlias
from xml.etree import ElementTree as ET

import duckdb
import numpy as np
import pytest
import yaml
from command_line import ask
from scipy import stats

from reportgen.read import TotalsTable, make_frame, open_source, read_measurements, read_outcomes
from reportgen.settings.loading import load_source_settings

CASES = Path(__file__).parent / "cases"
BEST = CASES / "best-checkpoint"
_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
# Values by series, seed, metric and step.
Curves: TypeAlias = "dict[tuple[str, str | None, str, float], float]"


def read_curves(case: str, name: str) -> Curves:
    """Read the values of a source of a case."""
    root = CASES / case
    source = open_source(root, "data", name, load_settings=load_source_settings)
    frame = make_frame(read_measurements(root, source, source.metrics))
    names = ["series", "seed", "metric", "step", "value"]
    rows = frame[names].astype(object).to_numpy().tolist()
    return {
        (series, seed if isinstance(seed, str) else None, metric, step): value
        for series, seed, metric, step, value in rows
    }


def read_totals(case: str, name: str) -> dict[tuple[str, str], tuple[float | None, ...]]:
    """Read score, standard error and number of problems by series and benchmark."""
    root = CASES / case
    source = open_source(root, "data", name, load_settings=load_source_settings)
    table = TotalsTable(root, source)
    return {
        (one.series, benchmark): (one.value, one.stderr, one.problems)
        for benchmark in source.benchmarks
        for one in table.get_scores(benchmark)
    }


def parse_sheet(path: Path, part: str, first: str) -> list[list[str]]:
    """Return the cells of a sheet from the row of a cell on, whose texts are inline."""
    with zipfile.ZipFile(path) as archive:
        sheet = ET.fromstring(archive.read(f"xl/worksheets/{part}.xml"))  # noqa: S314 - our own
    rows = [
        {cell.get("r"): "".join(cell.itertext()) for cell in row.iter(f"{_SHEET}c")}
        for row in sheet.iter(f"{_SHEET}row")
    ]
    begin = next(index for index, row in enumerate(rows) if first in row)
    return [list(row.values()) for row in rows[begin:]]


def make_curves(rows: list[tuple[str, str, float, float]], metric: str) -> Curves:
    """Return rows of series, seed, step and value."""
    return {(series, seed, metric, step): value for series, seed, step, value in rows}


def test_a_sheet_of_excel_has_its_rows() -> None:
    """From the header in B3 on."""
    header, *rows = parse_sheet(CASES / "kinds-of-files/data/sweep.xlsx", "sheet2", "B3")
    assert header == ["model", "seed", "step", "loss"]
    expected = make_curves([(row[0], row[1], float(row[2]), float(row[3])) for row in rows], "loss")
    assert len(expected) == 66
    assert expected["Elm", "1", "loss", 10] == 3.1276
    assert read_curves("kinds-of-files", "sweep") == expected


def test_totals_in_excel_have_their_cells() -> None:
    """With standard errors and numbers of problems."""
    _, *rows = parse_sheet(CASES / "recipe-excel/data/results.xlsx", "sheet2", "A1")
    expected = {(row[0], row[1]): (float(row[2]), float(row[3]), int(row[4])) for row in rows}
    assert expected["Fir", "Sums"] == (0.71, 0.02, 500)
    assert read_totals("recipe-excel", "results") == expected


@pytest.mark.parametrize(("case", "series"), [("kinds-of-files", "Elm"), ("recipe-npz", "run")])
def test_arrays_of_numpy_are_columns(case: str, series: str) -> None:
    """Numbers as they are written: 0.1 in single precision is 0.1."""
    with np.load(CASES / case / "data/run.npz") as arrays:
        expected = {
            (series, None, name, float(step)): float(str(value))
            for name in arrays
            if name not in {"step", "model"}
            for step, value in zip(arrays["step"], arrays[name], strict=True)
        }
    assert len(expected) == (10 if case == "kinds-of-files" else 18)
    assert read_curves(case, "run") == expected


@pytest.mark.parametrize(
    ("case", "columns", "metric"),
    [("kinds-of-files", "name, seed, at, reward FROM log", "reward"),
     ("recipe-query", "model, seed, step, loss FROM logs", "loss")],
)  # fmt: skip
def test_a_query_gives_the_rows_of_the_database(case: str, columns: str, metric: str) -> None:
    """Those of the split that the query names, and no others."""
    with closing(sqlite3.connect(CASES / case / "data/logs.db")) as database:
        rows = database.execute(f"SELECT {columns} WHERE split = 'eval'").fetchall()
        others = database.execute(f"SELECT {columns} WHERE split = 'train'").fetchall()
    expected = make_curves([(row[0], str(row[1]), row[2], row[3]) for row in rows], metric)
    assert len(rows) == len(others) == len(expected) > 20
    assert read_curves(case, "logs") == expected


@pytest.mark.parametrize(("case", "name"), [("kinds-of-files", "leaderboard"), ("recipe-yaml", "results")])
def test_percentages_in_yaml_are_shares(case: str, name: str) -> None:
    """By name of the model, and of the benchmark in it."""
    written = yaml.safe_load((CASES / case / f"data/{name}.yaml").read_text("utf-8"))
    expected = {
        (series, benchmark): round(float(text.removesuffix("%")) / 100, 6)
        for series, scores in written.items()
        for benchmark, text in scores.items()
    }
    assert expected["Elm", "AIME" if case == "recipe-yaml" else "Sums"] == 0.512
    found = {key: value for key, (value, *_) in read_totals(case, name).items()}
    assert found == expected


def test_members_of_an_archive_are_those_that_the_settings_name() -> None:
    """Series and seed from their names; the others are not read."""
    expected: Curves = {}
    with zipfile.ZipFile(CASES / "kinds-of-files/data/packed.zip") as archive:
        for name in archive.namelist():
            if found := re.fullmatch(r"runs/([a-z]+)_seed(\d+)\.csv", name):
                for row in csv.DictReader(io.StringIO(archive.read(name).decode())):
                    expected[found[1], found[2], "loss", float(row["step"])] = float(row["loss"])
    assert expected["base", "1", "loss", 20] == 2.736
    assert read_curves("kinds-of-files", "packed") == expected
    with zipfile.ZipFile(CASES / "recipe-archive/data/runs.zip") as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("sweep/metrics.csv").decode())))
    read = [(row["method"], row["seed"], float(row["step"]), float(row["accuracy"])) for row in rows]
    assert "old" not in {series for series, *_ in read}
    assert read_curves("recipe-archive", "runs") == make_curves(read, "accuracy")


@pytest.mark.parametrize(("case", "name"), [("kinds-of-files", "samples"), ("recipe-lists", "answers")])
def test_lists_are_samples_of_a_problem(case: str, name: str) -> None:
    """Each item is a sample, in its order, and true is 1."""
    root = CASES / case
    if case == "recipe-lists":
        lines = (root / "data/answers.jsonl").read_text("utf-8").splitlines()
        rows = [(row["model"], row["problem"], row["correct"]) for row in map(json.loads, lines)]
    else:
        table = duckdb.read_parquet(str(root / "data/samples.parquet"))
        rows = table.select("model", "problem", "correct").fetchall()
    expected: dict[str, dict[str, list[bool]]] = defaultdict(dict)
    for series, problem, correct in rows:
        expected[series][problem] = correct
    source = open_source(root, "data", name, load_settings=load_source_settings)
    frame = read_outcomes(root, source).frame.to_native().df()
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for series, problem, score in frame.sort_values("sample", key=lambda one: one.astype(int))[
        ["series", "problem", "score"]
    ].itertuples(index=False):
        found[series][problem].append(score)
    assert {series: dict(problems) for series, problems in found.items()} == expected
    assert sum(len(samples) for problems in expected.values() for samples in problems.values()) > 20


# ---- columns of tables: by the standard library and SciPy --------------------------------------------


def read_runs() -> dict[str, list[list[tuple[int, float, float]]]]:
    """The steps, losses and accuracies of each run, by series, from the file itself."""
    runs: dict[tuple[str, str], list[tuple[int, float, float]]] = defaultdict(list)
    with (BEST / "data" / "runs.csv").open() as file:
        for row in csv.DictReader(file):
            values = (int(row["step"]), float(row["eval/loss"]), float(row["test/accuracy"]))
            runs[row["series"], row["seed"]].append(values)
    found = defaultdict(list)
    for (series, _), rows in runs.items():
        found[series].append(rows)
    return found


def half(values: list[float]) -> float:
    """Half of Student's 95% CI of a mean."""
    return float(stats.t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))


def test_facts_are_those_of_the_file(tmp_path: Path) -> None:
    """Last readings, means, spread, and picked checkpoints with how far they are behind the best."""
    root = tmp_path / "report"
    shutil.copytree(BEST, root, ignore=shutil.ignore_patterns("expected"))
    page = root / "content" / "index.md"
    expected: dict[str, list[float]] = {}
    costs: dict[str, float] = {}
    for series, runs in read_runs().items():
        lowest = [min(run, key=lambda row: row[1])[2] for run in runs]
        expected |= {
            f"last({series}, 5)": [mean(row[2] for row in run[-5:]) for run in runs],
            f"mean({series})": [mean(row[2] for row in run) for run in runs],
            f"best_by({series}, 'eval/loss')": lowest,
            f"best_by({series}, 'lowest eval/loss')": lowest,
            f"best_by({series}, 'highest eval/loss')": [max(run, key=lambda row: row[1])[2] for run in runs],
            f"sd({series})": [run[-1][2] for run in runs],
        }
        costs[f"best_by({series}, 'eval/loss')"] = mean(
            max(row[2] for row in run) - picked for run, picked in zip(runs, lowest, strict=True)
        )
    lines = [f'[9999]{{value="{one}" of="checkpoints"}}' for one in expected]
    page.write_text(page.read_text() + "\n" + "\n".join(lines) + "\n")
    statements = ask(root, "check")["result"]["statements"]
    found = {
        one["expression"]: one["found"].partition(" = ")[2] for one in statements if one["words"] == "9999"
    }
    assert found.keys() == expected.keys()
    for text, values in expected.items():
        numbers = [float(one) for one in re.findall(r"(?<![\w./])\d\.\d+(?:e-\d+)?", found[text])]
        if text.startswith("sd"):
            assert numbers[0] == pytest.approx(stdev(values), rel=1e-3)
            continue
        ends = (mean(values), mean(values) - half(values), mean(values) + half(values))
        assert numbers[:3] == pytest.approx(ends, abs=6e-4), text
    for text, cost in costs.items():
        (number,) = re.findall(r"(\S+) behind the best of each run", found[text])
        assert float(number) == pytest.approx(cost, rel=0.05)


def test_the_file_of_a_table_has_every_number_in_full() -> None:
    """Values, ends of intervals and steps are those of the raw rows, in columns of their own."""
    (table,) = (BEST / "expected").rglob("checkpoints.csv")
    with table.open(encoding="utf-8-sig") as file:
        rows = {row["series"]: row for row in csv.DictReader(file)}
    for series, runs in read_runs().items():
        row = rows[series]
        picked = [min(run, key=lambda one: one[1]) for run in runs]
        chosen = {
            "best by eval/loss": [one[2] for one in picked],
            "final": [run[-1][2] for run in runs],
            "at 60": [one[2] for run in runs for one in run if one[0] == 60],
            "last 5": [mean(one[2] for one in run[-5:]) for run in runs],
        }
        for column, values in chosen.items():
            assert float(row[column]) == pytest.approx(mean(values), rel=1e-9)
            ends = float(row[f"{column} low"]), float(row[f"{column} high"])
            assert ends == pytest.approx((mean(values) - half(values), mean(values) + half(values)), rel=1e-9)
        assert float(row["final step"]) == max(one[0] for one in runs[0])
        places = {row[f"best by eval/loss {name}"] for name in ("step", "first step", "last step")}
        assert {str(one[0]) for one in picked} >= places - {""} != set()
        assert float(row["sd"]) == pytest.approx(stdev(chosen["final"]), rel=1e-9)
        assert row["n"] == "3"
