"""Sources: which there are, how they are called, and which files belong to each."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from made_sources import LONG, Data

from reportgen.core.cache import Cache
from reportgen.core.errors import ReportError
from reportgen.read import find_sources, open_path, open_source
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_sources_are_files_and_folders(tmp_path: Path) -> None:
    """A file is called by its name without endings, a folder by its path, however deep."""
    data = Data(tmp_path)
    for name in ("runs.csv.gz", "v1.2.jsonl", "math500/a.csv", "suite/width/b.parquet.csv", "suite/notes.md"):
        data.write(name, LONG)
    data.write(".hidden/c.csv", LONG)
    data.write(".d.csv", LONG)
    assert find_sources(tmp_path, "data") == ("math500", "runs", "suite", "suite/width", "v1.2")


def test_a_report_without_data_has_no_sources(tmp_path: Path) -> None:
    """A missing data folder is no error by itself."""
    assert find_sources(tmp_path, "data") == ()


@pytest.mark.parametrize("names", [("a/", "a.csv"), ("a.csv", "a.jsonl"), ("a.csv", "a.tar.gz")])
def test_a_name_clash_is_an_error(tmp_path: Path, names: tuple[str, str]) -> None:
    """Two files, tables or archives, or a file and a folder of one name are reported with both paths."""
    data = Data(tmp_path)
    for name in names:
        data.write(f"{name}x.csv" if name == "a/" else name, LONG)
    for ask in (lambda: find_sources(tmp_path, "data"), lambda: data.open("a")):
        with pytest.raises(ReportError) as caught:
            ask()
        expected = (
            f'2 sources have the name "a": data/{names[0]} and data/{names[1]}. Rename or remove all but one.'
        )
        assert expected in str(caught.value)


def test_an_unknown_source_names_the_nearest(tmp_path: Path) -> None:
    """A mistyped source is told with what was most likely meant and what there is."""
    data = Data(tmp_path)
    data.write("math500/a.csv", LONG)
    data.write("aime.csv", LONG)
    said = 'data: there is no source "maht500" in data/. Did you mean "math500"?'
    assert data.problems("maht500") == [f"{said} The sources are aime and math500."]


@pytest.mark.parametrize("name", ["../secret", "/etc", "a/../../secret", "", ".", "a\0b"])
def test_a_source_lies_below_the_data_folder(tmp_path: Path, name: str) -> None:
    """A name that leads out of the data folder is no source."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/x.csv").write_text(LONG)
    data = Data(tmp_path)
    data.write("a/b.csv", LONG)
    assert "there is no source" in data.problems(name)[0]


def test_links_are_followed_once(tmp_path: Path) -> None:
    """A loop ends, and a file that two paths lead to is read once, by its own name."""
    data = Data(tmp_path)
    target = data.write("runs/run3.csv", LONG)
    (target.parent / "again").symlink_to(target.parent)
    (target.parent / "latest.csv").symlink_to(target)
    (tmp_path / "data/loop").symlink_to(tmp_path / "data")
    assert [file.path for file in data.open("runs").files] == ["data/runs/run3.csv"]
    assert "runs" in find_sources(tmp_path, "data")


def test_a_link_to_nothing_is_told(tmp_path: Path) -> None:
    """A broken link is an error of its own, not a missing file."""
    data = Data(tmp_path)
    path = data.write("runs/a.csv", LONG)
    (path.parent / "b.csv").symlink_to("gone.csv")
    assert data.problems("runs") == [
        "data/runs/b.csv: it is a link to a file that is not there. Mend the link or remove it."
    ]


def test_a_folder_without_data_is_told(tmp_path: Path) -> None:
    """A folder with other files only is no source that can be read; what lies there is counted."""
    data = Data(tmp_path)
    for name in ("notes.md", "a.png", "b/c.PNG", "Makefile", ".hidden.csv"):
        data.write(f"s/{name}", "nothing")
    advice = "Put CSV, TSV, JSON, JSON Lines or Parquet files in it, or name others with files: and format:."
    assert data.problems("s") == [
        (
            "data/s: the folder has no data file: it holds 2 .png, 1 .md and 1 without an ending, "
            f"none of which is recognised by its name or content. {advice}"
        )
    ]
    (tmp_path / "data/empty").mkdir()
    assert data.problems("empty") == [f"data/empty: the folder has no data file: it is empty. {advice}"]


def test_a_single_file_has_settings_beside_it(tmp_path: Path) -> None:
    """``data/runs.source.yml`` belongs to ``data/runs.csv.gz`` and is its place."""
    data = Data(tmp_path)
    data.write("runs.csv.gz", "step,loss\n0,1\n")
    assert str(data.open("runs").location) == "data/runs.csv.gz"
    data.write("runs.source.yml", "title: My runs")
    source = data.open("runs")
    assert str(source.location) == "data/runs.source.yml"
    assert list(data.frame("runs")["series"]) == ["My runs"]


def test_files_carry_size_and_hash(tmp_path: Path) -> None:
    """Each file is told with its size and SHA-256, from the given function if there is one."""
    data = Data(tmp_path)
    data.write("a.csv", "step,loss\n0,1\n")
    (file,) = data.open("a").files
    assert (file.size, file.sha256) == (14, hashlib.sha256(b"step,loss\n0,1\n").hexdigest())
    source = open_source(tmp_path, "data", "a", load_settings=load_source_settings, hashes=lambda _: "kept")
    assert source.files[0].sha256 == "kept"


@pytest.mark.parametrize("name", ["a.csv", "folder"])
def test_any_path_is_a_source_in_a_notebook(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file or folder anywhere opens; paths are relative to the working folder where that holds it."""
    (tmp_path / "folder").mkdir()
    for path in ("a.csv", "folder/b.csv"):
        (tmp_path / path).write_text("step,loss\n0,1\n")
    root, source = open_path(tmp_path / name, load_settings=load_source_settings)
    assert (root, source.name, source.metrics) == (tmp_path, name.removesuffix(".csv"), ("loss",))
    monkeypatch.chdir(tmp_path / "folder")
    root, source = open_path("b.csv", load_settings=load_source_settings)
    assert (root, source.files[0].path) == (tmp_path / "folder", "b.csv")


@pytest.mark.parametrize(
    ("name", "told"), [("gone.csv", "no such file"), ("a.txt", "neither its ending nor")]
)
def test_a_path_that_is_no_source_is_told(tmp_path: Path, name: str, told: str) -> None:
    """A missing path and a file of an unknown kind are errors in words."""
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(ReportError, match=told):
        open_path(tmp_path / name, load_settings=load_source_settings)


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"


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


EVALUATION = {
    "model": "Base",
    "seed": 3,
    "results": [
        {"id": "p1", "meta": {"subject": "algebra"}, "judge": {"correct": True}},
        {"id": "p2", "meta": {"subject": "geometry"}, "judge": {"correct": False}},
        {"id": "p3", "meta": {}, "judge": {"correct": None}},
    ],
}


MAPPING = """
format: mapped
rows: $.results[*]
columns: {problem: $.id, score: $.judge.correct, series: ^.model, seed: ^.seed}
fields: {subject: $.meta.subject}
"""


def test_rows_are_read_once(tmp_path: Path) -> None:
    """A second opening takes them from the cache, until the file or the mapping changes."""
    data = Data(tmp_path)
    data.write("s/a.json", json.dumps(EVALUATION))
    data.write("s/source.yml", MAPPING)
    cache = Cache(tmp_path / "cache")

    def opened() -> tuple[int, int]:
        cache.hits = cache.misses = 0
        open_source(tmp_path, "data", "s", load_settings=load_source_settings, cache=cache)
        return cache.hits, cache.misses

    assert [opened(), opened()] == [(0, 1), (1, 0)]
    data.write("s/source.yml", MAPPING.replace("$.meta.subject", "$.id"))
    assert opened() == (0, 1)
