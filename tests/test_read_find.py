"""Sources: which there are, how they are called, and which files belong to each."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from made_sources import LONG, Data

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


def test_numbers_in_names_sort_by_value(tmp_path: Path) -> None:
    """Run 2 stands before run 10, among sources and among the files of one."""
    data = Data(tmp_path)
    for number in (10, 2, 1):
        data.write(f"all/run{number}.csv", "step,loss\n0,1\n")
        data.write(f"run{number}.csv", "step,loss\n0,1\n")
    assert find_sources(tmp_path, "data") == ("all", "run1", "run2", "run10")
    assert data.open("all").files[1].path == "data/all/run2.csv"
    assert measured_series(data) == ["run1", "run2", "run10"]


def measured_series(data: Data) -> list[str]:
    """Series of the source ``all``, in the order of its rows."""
    return list(data.frame("all", "loss")["series"])


@pytest.mark.parametrize(
    "names",
    [("a/", "a.csv"), ("a.csv", "a.jsonl"), ("a.csv", "a.csv.gz"), ("a/", "a.zip"), ("a.csv", "a.tar.gz")],
)
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


def test_a_folder_with_its_own_settings_is_its_own_source(tmp_path: Path) -> None:
    """A nested folder belongs to the one above unless it has a source.yml."""
    data = Data(tmp_path)
    data.write("suite/a.csv", LONG)
    data.write("suite/plain/b.csv", LONG)
    data.write("suite/own/c.csv", LONG)
    data.write("suite/own/source.yml", "title: Own")
    assert [file.path for file in data.open("suite").files] == ["data/suite/a.csv", "data/suite/plain/b.csv"]
    assert data.open("suite/own").settings.title == "Own"
    assert find_sources(tmp_path, "data") == ("suite", "suite/own", "suite/plain")


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


def test_patterns_choose_files(tmp_path: Path) -> None:
    """``files`` takes patterns below the folder, in the order given, each file once."""
    data = Data(tmp_path)
    for name in ("b/run1.csv", "b/run2.csv", "a.csv", "config.json"):
        data.write(f"s/{name}", LONG)
    data.write("s/source.yml", 'files: ["b/*.csv", "**/run1.csv", a.csv]')
    assert [file.path for file in data.open("s").files] == [
        "data/s/b/run1.csv",
        "data/s/b/run2.csv",
        "data/s/a.csv",
    ]


def test_patterns_that_fit_nothing_are_told_together(tmp_path: Path) -> None:
    """Every pattern without a file is named, one that leads out of the folder too."""
    data = Data(tmp_path)
    data.write("s/a.csv", LONG)
    data.write("t/a.csv", LONG)
    data.write("s/source.yml", 'files: ["x*.csv", "../t/*.csv", "/etc/*"]')
    told = data.problems("s")
    assert [line.partition(" matches")[0] for line in told] == [
        'data/s/source.yml: files: "x*.csv"',
        'data/s/source.yml: files: "../t/*.csv"',
        'data/s/source.yml: files: "/etc/*"',
    ]


def test_format_says_what_an_ending_does_not(tmp_path: Path) -> None:
    """A file of any name is read as the format that source.yml says, and refused without one."""
    data = Data(tmp_path)
    data.write("s/metrics.log", '{"step": 0, "loss": 1}\n')
    settings = data.write("s/source.yml", "files: metrics.log")
    assert data.problems("s") == [
        (
            "data/s/metrics.log: neither its ending nor its content is that of a known format, logger or "
            'harness: it begins with "{"step": 0, "loss": 1}". If it is a table, say format: jsonl '
            "in source.yml; otherwise leave it out with files:."
        )
    ]
    settings.write_text("files: metrics.log\nformat: jsonl")
    assert list(data.frame("s")["value"]) == [1.0]


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
