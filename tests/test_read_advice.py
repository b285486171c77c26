"""What is said of sources that cannot be read, or not so: what is there, and what to do."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from made_folders import made
from made_sources import LONG, Data

if TYPE_CHECKING:
    from pathlib import Path

ROWS = {"run": {"name": "a", "log": {"points": [{"at": 1, "loss": 0.5}]}}}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"


def test_json_of_another_form_can_be_mapped(tmp_path: Path) -> None:
    """It is said once, however many files there are."""
    data = Data(tmp_path)
    for number in range(9):
        data.write(f"s/{number}.json", json.dumps(ROWS))
    assert data.problems("s") == [
        (
            "data/s/0.json: the file is neither a list of objects nor an object of lists; the same in 8 more:"
            " data/s/1.json, data/s/2.json and 6 more. Say where its rows are with format: mapped, rows: and "
            "columns:, write a list of objects, or leave the file out with files: in source.yml."
        )
    ]


@pytest.mark.parametrize(
    ("rows", "column", "told"),
    [
        ("$.run.logs.points[*]", "$.at", 'finds no run.logs.points; "run" has name and log. '),
        ("$.run.name.points[*]", "$.at", 'finds no run.name.points; "run.name" is a text. '),
        ("$.runs[*]", "$.at", "finds no runs; there are run. "),
        ("$", "$.run.log.steps", 'finds nothing in any row. "$.run.log" has points.'),
        ("$", "$.run.log.points[3]", 'finds nothing in any row. "$.run.log.points" is a list of 1.'),
        ("$.run.log.points[*]", "^.log.name", 'finds nothing in any row. "^" has run.'),
        ("$", "$.step", "finds nothing in any row. A row has run."),
    ],
)
def test_a_wrong_path_is_told_with_what_is_there(tmp_path: Path, rows: str, column: str, told: str) -> None:
    """Where it goes wrong, not at its beginning."""
    data = Data(tmp_path)
    data.write("s/a.json", json.dumps(ROWS))
    settings = {"format": "mapped", "rows": rows, "columns": {"step": column}, "fields": {"loss": "$.loss"}}
    data.write("s/source.yml", json.dumps(settings))
    assert told in data.problems("s")[0]


def test_decimals_with_commas_are_no_metric(tmp_path: Path) -> None:
    """The column is named; without it, nothing is said."""
    data = Data(tmp_path)
    data.write("s.csv", "step;loss;seed\n1;0,5;1\n2;0,4;1\n")
    assert data.warnings("s") == [
        (
            'data/s.csv: no column holds the numbers of a metric: "loss" holds texts. If they are '
            "numbers, write decimals as 0.5, not as 0,5, and commas, semicolons or tabs between cells."
        )
    ]
    data.write("s.csv", "step;loss;seed\n1;0.5;1\n2;0.4;1\n")
    assert data.warnings("s") == []


def test_all_that_is_renamed_in_vain_is_told(tmp_path: Path) -> None:
    """Also two series that would get one name."""
    data = Data(tmp_path)
    data.write("s/a.csv", LONG)
    data.write("s/source.yml", "rename: {grpo: X, rloo: X, A: Z}")
    assert [one.partition(". ")[0] for one in data.warnings("s")] == [
        f'data/s/source.yml: rename: there is no series "{name}"' for name in ("grpo", "rloo")
    ]


def test_an_unknown_source_is_told_without_the_parts_of_others(tmp_path: Path) -> None:
    """Folders within a source can be named, and are found for a wrong name."""
    data = Data(tmp_path)
    for number in range(20):
        data.write(f"runs/deep{number}/a.csv", LONG)
    assert data.problems("s") == ['data: there is no source "s" in data/. The only source is runs.']
    assert 'Did you mean "runs/deep7"? The only source is runs.' in data.problems("runs/dep7")[0]


def test_what_stands_for_data_is_named(tmp_path: Path) -> None:
    """With the command that fetches them: a file of DVC, and a link of git-annex."""
    data = Data(tmp_path)
    data.write("runs.csv.dvc", "outs: []")
    (tmp_path / "data" / "scores.csv").symlink_to("../.git/annex/objects/key")
    for name, file, command in (
        ("runs", "runs.csv.dvc", "dvc pull"),
        ("scores", "scores.csv", "git annex get"),
    ):
        stands = f"data/{file} stands for data that are not here: run {command}."
        assert data.problems(name) == [f'data: there is no source "{name}" in data/. {stands}']


def test_another_format_than_said_is_named(tmp_path: Path) -> None:
    """With the word for it."""
    made(tmp_path / "data", "trainer_state")
    data = Data(tmp_path)
    data.write("trainer_state/source.yml", "format: trackio")
    assert data.problems("trainer_state")[0].endswith(
        "but no file here has this format, that of Trackio store. It has files of Hugging Face "
        "trainer_state.json: say format: trainer_state, or leave format: out."
    )


def test_a_store_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A pointer, a database of something else and a file that is none; not that there is no data."""
    data = Data(tmp_path)
    data.write("s/notes.txt", "")
    data.write("s/a.db", POINTER)
    with sqlite3.connect(data.write("s/b.db", "")) as store:
        store.execute("CREATE TABLE t (x)")
    data.write("s/c.sqlite", "text")
    assert data.problems("s") == [
        (
            "data/s/a.db: it is a Git LFS pointer, not the data themselves. "
            "Run git lfs pull, and check out with LFS where the site is built."
        ),
        (
            'data/s/b.db: the database is not one of a known program: it has the table "t". '
            "Select its rows with query: in source.yml, as in query: SELECT * FROM t."
        ),
        "data/s/c.sqlite: it is not an SQLite database. Copy it again from where the run wrote it.",
    ]


OPTUNA = ("studies", "study_directions", "trials", "trial_params", "trial_values", "version_info")


@pytest.mark.parametrize("name", ["s/study.db", "study.db"])
def test_a_database_of_something_else_is_told_as_that(tmp_path: Path, name: str) -> None:
    """Also where it is the whole source, or has another ending; a healthy one is never called damaged."""
    data = Data(tmp_path)
    with closing(sqlite3.connect(data.write(name, ""))) as store:
        for table in OPTUNA:
            store.execute(f"CREATE TABLE {table} (study_id INTEGER)")
    source = name.split("/", maxsplit=1)[0].removesuffix(".db")
    assert data.problems(source) == [
        (
            f"data/{name}: it is a database of Optuna studies, which cannot be read yet. Export the trials "
            'of a study in Python, as in optuna.load_study(study_name=NAME, storage="sqlite:///study.db")'
            '.trials_dataframe().to_csv("trials.csv"), and read that.'
        )
    ]
    path = data.root / "data" / name
    whole = path.read_bytes()
    with closing(sqlite3.connect(path)) as store:
        store.execute("DROP TABLE trials")
        store.commit()
    (told,) = data.problems(source)
    assert "not one of a known program: it has the tables studies, study_directions, trial_params, " in told
    path.write_bytes(whole[: len(whole) // 2])
    (told,) = data.problems(source)
    assert told.startswith(f"data/{name}: the database is damaged or cut short")


def test_a_database_with_another_ending(tmp_path: Path) -> None:
    """Its first bytes tell what it is."""
    data = Data(tmp_path)
    with closing(sqlite3.connect(data.write("s/study.optuna", ""))) as store:
        store.execute("CREATE TABLE t (x)")
    data.write("s/source.yml", "files: study.optuna")
    assert 'not one of a known program: it has the table "t"' in data.problems("s")[0]


@pytest.mark.parametrize(
    ("content", "format_", "said"),
    [
        ("a,b\n1,2\n", "csv", 'it begins with "a,b". If it is a table, say format: csv in source.yml'),
        ("step\tloss\n1\t2\n", "tsv", "say format: tsv in source.yml"),
        ('[{"step": 1, "loss": 2}]', "json", "say format: json in source.yml"),
        ("hello\n", "lm_eval", "say which: format: csv, tsv, json, jsonl or parquet, in source.yml"),
        (b"\x89PNG\0\0", "lm_eval", "and it is not text. Export a table from it as CSV"),
    ],
)
def test_no_message_leads_back_to_one_that_was_followed(
    tmp_path: Path, content: str | bytes, format_: str, said: str
) -> None:
    """What the first one says works or says that nothing does; none after it says the contrary."""
    data = Data(tmp_path)
    data.write("s/values.out1", content)
    data.write("s/source.yml", "files: values.out1")
    (told,) = data.problems("s")
    assert said in told
    data.write("s/source.yml", f"files: values.out1\nformat: {format_}")
    if format_ == "lm_eval":
        assert "leave format: out" not in data.problems("s")[0]
    else:
        assert data.open("s").columns
    data.write("s/source.yml", "format: lm_eval")
    assert data.problems("s") == [
        (
            "data/s/source.yml: format: lm_eval, but no file here has this format, that of results of the "
            "Language Model Evaluation Harness (lm-eval), called *.json and *.jsonl. It has 1 .out1; if some "
            "of these have that format anyway, name them with files:."
        )
    ]


def test_json_that_is_nested_too_deeply_cannot_be_mapped_either(tmp_path: Path) -> None:
    """So that is not what is said."""
    data = Data(tmp_path)
    data.write("s/a.json", "[" * 100_000)
    assert data.problems("s") == ["data/s/a.json: the JSON is nested too deeply. Write it with fewer levels."]
