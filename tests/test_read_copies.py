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
LINES = "".join(json.dumps({"step": step, "loss": loss}) + "\n" for step, loss in ROWS)
LOGGED = "".join(json.dumps({"step": step, "data": {"loss": loss}}) + "\n" for step, loss in ROWS)
EQUAL = "are equal in every value"


def describe(folder: Path, files: dict[str, str | bytes]) -> list[str]:
    """The problems of a folder with these files."""
    for name, content in files.items():
        write_file(folder / "runs" / name, content)
    done = call(folder, "describe", "runs")
    return [line for line in done.stdout.splitlines() if ": warning: " in line or ": error: " in line]


@pytest.mark.parametrize(
    "files",
    [
        {"a.csv": CSV, "a copy.csv": CSV},
        {"a.csv": CSV, "a.csv.gz": gzip.compress(CSV.encode())},
        {"a.csv": CSV, "a.jsonl": LINES},
        {"log.json": LINES, "vis_data/scalars.json": LINES},
        {"a.jsonl": LOGGED, "b.jsonl": LOGGED},
        {"x/a.csv": CSV, "y/a.csv": CSV, "y/b.csv": CSV.replace("3.", "4.")},
    ],
    ids=["copy", "packed", "other format", "MMEngine", "logger", "folders"],
)
def test_one_log_under_two_names(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    """Both files are named."""
    found = [line for line in describe(tmp_path, files) if EQUAL in line]
    assert len(found) == 1
    assert all(f"runs/{name}" in found[0] for name in list(files)[:2])


def test_runs_of_one_series_that_only_their_names_tell_apart(tmp_path: Path) -> None:
    """They would be counted as two runs, so this is an error, also in a build."""
    rows = "".join(f"A,{run},{step},{loss}\n" for run in ("r1", "r2") for step, loss in ROWS)
    write_report(tmp_path, {"data/runs.csv": f"series,run,step,accuracy\n{rows}"})
    done = call(tmp_path, "check")
    assert f"data/runs.csv: error: A r1 and A r2 {EQUAL} (8 values, bit for bit)" in done.stdout
    assert done.returncode == 1


def test_seeds_without_effect(tmp_path: Path) -> None:
    """In one table or in two files; a filter leaves one of them."""
    rows = "".join(f"A,{seed},{step},{loss}\n" for seed in (1, 2) for step, loss in ROWS)
    files: dict[str, str | bytes] = {"a.csv": f"series,seed,step,accuracy\n{rows}"}
    (found,) = describe(tmp_path, files)
    assert f"runs/a.csv: warning: A, seed 1 and seed 2 {EQUAL}" in found
    assert describe(tmp_path, {"source.yml": "filter: {seed: 1}\n"}) == []


@pytest.mark.parametrize(
    "values",
    [[0] * 8, [1.0] * 8, [0.25, 0.5, *[1] * 6], [1 - step / 90 for step, _ in ROWS]],
    ids=["zero", "one", "saturated", "schedule"],
)
def test_runs_that_may_be_equal(tmp_path: Path, values: list[float]) -> None:
    """What a deterministic task, or a schedule, gives every run is no copy."""
    rows = "".join(
        f"A,{seed},{step},{value}\n" for seed in (1, 2) for (step, _), value in zip(ROWS, values, strict=True)
    )
    assert describe(tmp_path, {"a.csv": f"series,seed,step,reward\n{rows}"}) == []


@pytest.mark.parametrize(
    ("columns", "form"),
    [
        ("loss,time", "csv"),
        ("loss,runtime,host", "csv"),
        ("ret,wall_clock", "csv"),
        ("acc,elapsed,lr", "jsonl"),
    ],
)
def test_one_log_with_other_times_or_hosts(tmp_path: Path, columns: str, form: str) -> None:
    """What is recorded beside the results makes no other run."""
    names = columns.split(",")
    for run in "ab":
        rows: list[dict[str, object]] = [
            {"step": step, names[0]: value, **{name: step + CHANCE.random() for name in names[1:]}}
            for step, value in ROWS
        ]
        rows = [row | ({"host": run} if "host" in names else {}) for row in rows]
        csv = "".join(",".join(map(str, line)) + "\n" for line in (rows[0], *(row.values() for row in rows)))
        write_file(
            tmp_path / f"runs/{run}.{form}",
            csv if form == "csv" else "".join(map("{}\n".format, map(json.dumps, rows))),
        )
    (found,) = [line for line in describe(tmp_path, {}) if EQUAL in line]
    assert f"{EQUAL} of {names[0]} (8 values, bit for bit)" in found


def test_runs_with_an_equal_schedule(tmp_path: Path) -> None:
    """It is no result, whether its name is known or not."""
    files: dict[str, str | bytes] = {
        f"{run}.csv": "step,loss,lr,beta\n"
        + "".join(f"{s},{CHANCE.random():.4f},{v},{v / 7}\n" for s, v in ROWS)
        for run in "ab"
    }
    assert describe(tmp_path, files) == []


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


@pytest.mark.parametrize(
    "steps",
    [
        [("loss", 100), ("acc", 90), ("loss", 200), ("acc", 190), ("loss", 300), ("acc", 290)],
        [("loss", 0), ("loss", 50), ("loss", 99), ("warmup", 0), ("warmup", 10), ("warmup", 20)],
        [("loss", 0), ("acc", 0), ("loss", 50), ("loss", 20), ("acc", 20), ("loss", 60), ("loss", 70)],
        [(name, step) for step in sorted(range(0, 400, 10), key=str) for name in ("loss", "acc")],
    ],
    ids=["late", "by metric", "resumed", "sorted as text"],
)
def test_one_counter(tmp_path: Path, steps: list[tuple[str, int]]) -> None:
    """Rows in another order than that of their steps have one counter all the same."""
    rows = "".join(f"{name},{step},{1 / (1 + step)}\n" for name, step in steps)
    names = list(dict.fromkeys(name for name, _ in steps))
    page = f"# A\n\n```panels\nsource: runs\nmetrics: {json.dumps(names)}\n```\n"
    files = {"data/runs.csv": f"metric,step,value\n{rows}", "content/index.md": page}
    done = call(write_report(tmp_path, files), "check")
    assert (done.returncode, "counts two things" in done.stdout) == (0, False), done.stdout
