"""Whatever ``describe`` suggests works when it is followed, and then nothing is left to suggest."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
import yaml
from command_line import call
from made_projects import SETTINGS, write_file, write_report

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[1]
SHAPES = sorted(path for path in (ROOT / "tests/shapes").iterdir() if path.suffix != ".md")
RECIPES = ("recipe-*", "wide-tables", "kinds-of-files", "scores-two-benchmarks", "irregular-data")
CASES = sorted(
    path
    for name in RECIPES
    for path in (ROOT / "tests/cases").glob(f"{name}/data/*")
    if not path.name.endswith("source.yml")
)


def describe(root: Path, path: str) -> dict[str, Any]:
    """Return what ``describe`` says of a path."""
    done = call(root, "describe", path, "--format", "json")
    described = json.loads(done.stdout)
    assert isinstance(described, dict)
    return {**described, "code": done.returncode}


def follow_all(root: Path, path: str) -> tuple[list[str], dict[str, Any]]:
    """Follow each suggestion for a source alone; return those that there were, and the last description."""
    described = found = describe(root, path)
    suggested = found["suggested"]
    file = root / suggested["file"]
    before = file.read_text(encoding="utf-8") if file.is_file() else ""
    purposes = [key for key in suggested if key.startswith("source.yml") and suggested[key]]
    for purpose in purposes or [""]:
        if purpose:
            stated = {**(yaml.safe_load(before) or {}), **yaml.safe_load(suggested[purpose])}
            write_file(file, yaml.safe_dump(stated, sort_keys=False))
            described = describe(root, path)
            assert described["code"] == 0, described["problems"]
            assert purpose not in described["suggested"] or not described["suggested"][purpose]
        messages = [problem["message"] for problem in described["problems"]]
        guessed = purpose == "source.yml" and any("distinguished by" in message for message in messages)
        assert not guessed, messages
        if (block := described["suggested"]["block"]) and described["code"] == 0:
            write_file(root / "content/index.md", f"# Followed\n\n{block}")
            done = call(root, "check")
            assert done.returncode == 0, (suggested, done.stdout)
        if file.is_file():
            write_file(file, before) if before else file.unlink()
    return purposes, described


def put(root: Path, files: Mapping[str, object]) -> Path:
    """Write an empty report with data, of which other values than texts are written as JSON."""
    texts = {
        f"data/{name}": content if isinstance(content, str) else json.dumps(content)
        for name, content in files.items()
    }
    return write_report(root, {"data/runs.csv": None, "content/index.md": "# Empty\n", **texts})


@pytest.mark.parametrize("path", [*SHAPES, *CASES], ids=lambda path: f"{path.parts[-3]}-{path.name}")
def test_suggestions_for_kept_data_work(tmp_path: Path, path: Path) -> None:
    """Files of tools and the recipes of the guide, with their settings and without."""
    root = write_report(tmp_path, {"data/runs.csv": None, "content/index.md": "# Empty\n"})
    (root / "data").mkdir(exist_ok=True)
    target = root / "data" / path.name
    (shutil.copytree if path.is_dir() else shutil.copy)(path, target)
    own = path.with_name(f"{path.name.partition('.')[0]}.source.yml")
    if path.is_file() and own.is_file():
        shutil.copy(own, root / "data")
        follow_all(root, f"data/{path.name}")
        (root / "data" / own.name).unlink()
    if describe(root, f"data/{path.name}")["kind"]:
        follow_all(root, f"data/{path.name}")


def evaluate(name: str, right: int) -> dict[str, object]:
    """Return answers of a model as a script may write them."""
    items = [{"id": number, "ok": number % right == 0, "topic": f"t{number % 3}"} for number in range(12)]
    return {"model": name, "items": items}


SUITES = {"shop": {"pass_1": 70.0}, "bank": {"pass_1": 35.0}}
STEPS = [{"it": step, "loss": 1 / (step + 1)} for step in range(5)]
# Settings and files of sources that describe everything.
MAPPED: dict[str, tuple[str, dict[str, object]]] = {
    "keys of objects": (
        "form: totals\nrows: $.results[*]\ncolumns: {series: ^.model, benchmark: '@', score: $.pass_1}",
        {one: {"model": one, "results": SUITES} for one in ("Elm", "Fir")},
    ),
    "outcomes": (
        "rows: $.items[*]\ncolumns: {series: ^.model, problem: $.id, score: $.ok}",
        {"a": evaluate("Elm", 2), "b": evaluate("Fir", 3)},
    ),
    "outcomes with slices": (
        "rows: $.items[*]\nfields: {topic: $.topic}\ncolumns: {series: ^.model, problem: $.id, score: $.ok}",
        {"a": evaluate("Elm", 2), "b": evaluate("Fir", 3)},
    ),
    "steps": (
        "rows: $.log[*]\nfields: {loss: $.loss}\ncolumns: {series: ^.run, step: $.it}",
        {one: {"run": one, "log": STEPS} for one in ("Elm", "Fir")},
    ),
    "epochs by their usual name": (
        "rows: $.log[*]\nfields: {epoch: $.it, loss: $.loss}\ncolumns: {series: ^.run, seed: ^.seed}",
        {f"{one}{seed}": {"run": one, "seed": seed, "log": STEPS} for one in "AB" for seed in (1, 2)},
    ),
    "several paths name the series": (
        "form: totals\nfields: {lr: $.lr}\ncolumns: {series: [$.opt, $.lr], score: $.acc}",
        {"a": [{"opt": opt, "lr": lr, "acc": lr * 2} for opt in ("adam", "sgd") for lr in (0.1, 0.2)]},
    ),
}


@pytest.mark.parametrize("name", MAPPED)
def test_a_mapping_that_says_all_is_left_alone(tmp_path: Path, name: str) -> None:
    """Its columns are paths, so that names of columns would be refused."""
    settings, files = MAPPED[name]
    root = put(tmp_path, {"s/source.yml": f"format: mapped\n{settings}\n"})
    for file, content in files.items():
        write_file(root / f"data/s/{file}.json", json.dumps(content))
    purposes, described = follow_all(root, "data/s")
    assert described["code"] == 0
    assert {*purposes} <= {"source.yml for clusters"}


def test_advice_on_a_mapping_names_paths(tmp_path: Path) -> None:
    """What an error proposes is accepted."""
    rows = [{"opt": opt, "lr": lr, "acc": lr * 2} for opt in ("adam", "sgd") for lr in (0.1, 0.2)]
    settings = "format: mapped\nform: totals\nfields: {lr: $.lr}\ncolumns: {series: $.opt, score: $.acc}\n"
    root = put(tmp_path, {"s/source.yml": settings, "s/a.json": rows})
    advice = describe(root, "data/s")["problems"][0]["next_step"]
    assert "columns: {series: [$.opt, $.lr]}" in advice
    write_file(root / "content/index.md", "# A\n\n```scores\nsource: s\n```\n")
    assert "{series: [$.opt, $.lr]}" in call(root, "check").stdout
    write_file(root / "data/s/source.yml", settings.replace("series: $.opt", "series: [$.opt, $.lr]"))
    described = describe(root, "data/s")
    assert described["series"] == ["adam, lr=0.1", "adam, lr=0.2", "sgd, lr=0.1", "sgd, lr=0.2"]
    assert call(root, "check").returncode == 0


def test_keys_that_are_there_are_replaced(tmp_path: Path) -> None:
    """A key cannot be written twice: the heading says what to do with the lines."""
    rows = "".join(f"{model},{n},{n % 2},p{n // 4}\n" for model in ("Elm", "Fir") for n in range(24))
    root = put(tmp_path, {"s.csv": f"llm,problem,score,passage\n{rows}"})
    write_file(root / "data/s.source.yml", "columns: {series: llm}\n")
    described = call(root, "describe", "data/s.csv").stdout
    assert "To replace in data/s.source.yml" in described
    assert "  series: llm\n  cluster: passage\n" in described


@pytest.mark.parametrize("name", ["problem", "question_id", "Task_ID"])
def test_a_row_for_each_problem_and_a_column_for_each_model(tmp_path: Path, name: str) -> None:
    """The advice is a table that is read, and not a form that is refused."""
    scores = {"Elm": [1, 0, 1, 1], "Fir-7B": [0, 0, 1, 0]}
    cells = "".join(f"p{n},{a},{b}\n" for n, (a, b) in enumerate(zip(*scores.values(), strict=True)))
    root = put(tmp_path, {"s.csv": f"{name},Elm,Fir-7B\n{cells}"})
    melt = f'frame.melt("{name}", var_name="series", value_name="score")'
    for settings in ("", "form: outcomes\n"):
        if settings:
            write_file(root / "data/s.source.yml", settings)
        (problem,) = describe(root, "data/s.csv")["problems"]
        assert melt in problem["next_step"]
        assert "form: wide" not in problem["next_step"]
    (root / "data/s.source.yml").unlink()
    melted = [f"p{n},{model},{cell}\n" for model, column in scores.items() for n, cell in enumerate(column)]
    write_file(root / "data/s.csv", f"{name},series,score\n{''.join(melted)}")
    described = describe(root, "data/s.csv")
    assert [one["mean"] for one in described["evaluations"]] == [0.75, 0.25]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("problem,Elm,Fir", ("True", "False")),
        ("question,Elm,Fir", ("true", "false")),
        ("question,Elm,Fir", ("1", "0")),
        ("task_id,gold,Elm,Fir", ("correct", "wrong")),
        ("instance_id,subject,Elm,Fir", ("pass", "fail")),
        (",Elm,Fir", ("True", "False")),
        ("id,Elm", ("True", "False")),
        ("model,q1,q2,q3", ("True", "False")),
    ],
)
def test_a_table_of_answers_with_a_column_for_each_model_or_problem(
    tmp_path: Path, header: str, words: tuple[str, str]
) -> None:
    """The advice makes a table that is read, and no settings are suggested that would read another."""
    names = header.split(",")
    labels = [name for name in names if name not in {"Elm", "Fir", "q1", "q2", "q3"}]
    numbers = {"", "gold", "id"}
    rows, right = [], 0
    for index in range(6):
        marks = [words[(index + place) % 2] for place in range(len(names) - len(labels))]
        right += marks.count(words[0])
        rows.append(",".join([f"{'' if one in numbers else one[0]}{index}" for one in labels] + marks))
    root = put(tmp_path, {"s.csv": "\n".join([header, *rows, ""])})
    found = describe(root, "data/s.csv")
    step = found["problems"][0]["next_step"]
    assert (len(found["problems"]), found["suggested"]["source.yml"]) == (1, "")
    melt = re.search(r'frame\.melt\((.+?), var_name="(\w+)", value_name="score"\)', step)
    assert melt, step
    frame = pd.read_csv(root / "data/s.csv", dtype=str)
    if called := re.search(r'call the column "([^"]*)" problem', step):
        frame = frame.rename(columns={called[1]: "problem", "Unnamed: 0": "problem"})
    melted = frame.melt(json.loads(melt[1]), var_name=melt[2], value_name="score")
    melted.to_csv(root / "data/s.csv", index=False)
    found = describe(root, "data/s.csv")
    assert found["code"] == 0, found["problems"]
    assert sum(one["answers"] for one in found["evaluations"]) == 6 * (len(names) - len(labels))
    assert sum(one["mean"] * one["answers"] for one in found["evaluations"]) == pytest.approx(right)


RUNS_TABLE = '"Name","State","Notes","User","Tags","Created","Runtime","Sweep","accuracy"'


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        (
            RUNS_TABLE,
            [
                "a,finished,-,,,2026-01-05T10:00:00.000Z,1200,,0.91",
                "b,crashed,-,,,2026-01-05T10:00:00.000Z,9,,0.1",
            ],
        ),
        (
            "Start Time,Name,Status,accuracy",
            ["2026-01-05 10:00:00,a,FINISHED,0.91", "2026-01-05 11:00:00,b,FAILED,0.1"],
        ),
        ("name,created_at,accuracy", ["a,2026-01-05T10:00:00,0.91", "b,2026-01-05T11:00:00,0.1"]),
        ("name,status,seed,accuracy", ["a,finished,1,0.91", "a,crashed,2,0.1"]),
        ("Name,State,pass@1,pass@5", ["a,finished,0.91,0.95", "b,crashed,0.1,0.2"]),
        ("model,benchmark,state,score", ["a,Sums,finished,0.91", "b,Sums,crashed,0.1"]),
    ],
)
@pytest.mark.parametrize("settings", ["", "format: csv\n"])
def test_runs_are_no_totals_by_a_suggestion(
    tmp_path: Path, head: str, rows: list[str], settings: str
) -> None:
    """A crashed run has a last value, too."""
    root = put(tmp_path, {"s.csv": "\n".join([head, *rows, ""])})
    if settings:
        write_file(root / "data/s.source.yml", settings)
    found = describe(root, "data/s.csv")
    assert (found["code"], found["totals"]) == (1, [])
    assert "form" not in found["suggested"]["source.yml"]
    assert "form: totals" not in found["problems"][0]["next_step"]
    if chosen := re.search(r"filter: \{\w+: VALUE\}", found["problems"][0]["next_step"]):
        value = "FINISHED" if "FINISHED" in rows[0] else "finished"
        write_file(root / "data/s.source.yml", f"{settings}{chosen[0].replace('VALUE', value)}\n")
        _, followed = follow_all(root, "data/s.csv")
        assert {one["series"] for one in followed["totals"]} == {"a"}


def test_a_setting_that_only_runs_without_the_metric_vary_is_not_suggested(tmp_path: Path) -> None:
    """The shape of Optuna's store: one trial with another optimizer has no final value."""
    root = write_report(
        tmp_path, {"mkdocs.yml": SETTINGS, "data/runs.csv": None, "content/index.md": "# E\n"}
    )
    shutil.copytree(ROOT / "tests/shapes/optuna", root / "data/optuna")
    assert "x: lr\n" in describe(root, "data/optuna")["suggested"]["block"]


RESULTS = [
    {"command": f"{tool} foo", "mean": mean, "times": [mean, mean]}
    for tool, mean in (("rg", 0.1), ("ag", 0.9))
]


@pytest.mark.parametrize(
    ("content", "stated", "columns", "expected"),
    [
        (
            {"results": RESULTS},
            ["format: mapped", "rows: $.results[*]"],
            "form: totals\ncolumns: {series: $.command, score: $.mean}\n",
            [("rg foo", "", 0.1), ("ag foo", "", 0.9)],
        ),
        (
            {"version": 3, "the results": RESULTS},
            ["format: mapped", 'rows: $["the results"][*]'],
            "form: totals\ncolumns: {series: $.command, score: $.mean}\n",
            [("rg foo", "", 0.1), ("ag foo", "", 0.9)],
        ),
        (
            {"Elm": {"AIME": 51.2, "MATH": 76.8}, "Fir": {"AIME": 48.0, "MATH": 75.5}},
            [
                "format: mapped",
                "form: totals",
                "rows: $[*][*]",
                "columns: {series: ^@, benchmark: '@', score: $}",
            ],
            "",
            [("Elm", "AIME", 51.2), ("Fir", "AIME", 48.0), ("Elm", "MATH", 76.8), ("Fir", "MATH", 75.5)],
        ),
        (
            {"AIME": {"Elm": 51, "Fir": 48}},
            [
                "format: mapped",
                "form: totals",
                "rows: $[*][*]",
                "columns: {benchmark: ^@, series: '@', score: $}",
            ],
            "",
            [("Elm", "AIME", 51), ("Fir", "AIME", 48)],
        ),
        (
            {"Elm": {"top_p": 0.95, "pass@1": 51.2}, "Fir": {"top_p": 0.9, "pass@1": 48.0}},
            ["format: mapped", "rows: $[*][*]", 'filter: {benchmark: ["pass@1"]}'],
            "form: totals\ncolumns: {series: ^@, benchmark: '@', score: $}",
            [("Elm", "pass@1", 51.2), ("Fir", "pass@1", 48.0)],
        ),
    ],
)
def test_json_of_another_shape_is_refused_with_its_mapping(
    tmp_path: Path,
    content: object,
    stated: list[str],
    columns: str,
    expected: list[tuple[str, str, float]],
) -> None:
    """Rows under a key, and scores by the names of models and benchmarks."""
    root = put(tmp_path, {"s.json": content})
    (problem,) = describe(root, "data/s.json")["problems"]
    assert problem["severity"] == "error"
    assert all(line in problem["next_step"] for line in stated), problem
    write_file(root / "data/s.source.yml", "\n".join([*stated, columns]))
    totals = describe(root, "data/s.json")["totals"]
    assert [(one["series"], one["benchmark"], one["value"]) for one in totals] == expected


def test_json_of_counts_is_not_mapped_as_scores(tmp_path: Path) -> None:
    """Nothing is proposed that would make them benchmarks."""
    root = put(
        tmp_path, {"s.json": {"Elm": {"votes": 95, "battles": 51}, "Fir": {"votes": 9, "battles": 48}}}
    )
    (problem,) = describe(root, "data/s.json")["problems"]
    assert "form: totals" not in problem["next_step"]
