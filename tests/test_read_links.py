"""What may not be read, links that lead around, and names that are no text: left out and told, or refused."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_files import copy_kept
from made_projects import SETTINGS, write_report
from made_sources import LONG, Data

from reportgen.core.errors import ReportError
from reportgen.read import find, find_sources, open_path, open_source
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Callable

UNREAD = "the file cannot be read: Permission denied; it is left out"


@pytest.fixture
def bar(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes a file or folder one that may not be read, for root too."""
    barred: set[str] = set()
    access, scandir = os.access, os.scandir

    def _scandir(path: os.PathLike[str]) -> os.ScandirIterator[str]:  # type: ignore[name-defined]
        if os.fspath(path) in barred:
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "access", lambda path, mode: os.fspath(path) not in barred and access(path, mode))
    monkeypatch.setattr(os, "scandir", _scandir)
    return lambda path: barred.add(os.fspath(path))


def test_links_are_followed_once(tmp_path: Path) -> None:
    """A loop ends, and a file that two paths lead to is read once, by its own name."""
    data = Data(tmp_path)
    target = data.write("runs/run3.csv", LONG)
    (target.parent / "again").symlink_to(target.parent)
    (target.parent / "latest.csv").symlink_to(target)
    (tmp_path / "data/loop").symlink_to(tmp_path / "data")
    assert [file.path for file in data.open("runs").files] == ["data/runs/run3.csv"]
    assert "runs" in find_sources(tmp_path, "data")


def test_files_carry_size_and_hash(tmp_path: Path) -> None:
    """Each file has its size and SHA-256, from the given function if there is one."""
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
    for path in ("a.csv", "folder/b.csv", "a.txt"):
        (tmp_path / path).write_text("step,loss\n0,1\n")
    root, source = open_path(tmp_path / name, load_settings=load_source_settings)
    assert (root, source.name, source.metrics) == (tmp_path, name.removesuffix(".csv"), ("loss",))
    monkeypatch.chdir(tmp_path / "folder")
    root, source = open_path("b.csv", load_settings=load_source_settings)
    assert (root, source.files[0].path) == (tmp_path / "folder", "b.csv")
    for missing, words in (("gone.csv", "no such file"), ("a.txt", "it begins with")):
        with pytest.raises(ReportError, match=words):
            open_path(tmp_path / missing, load_settings=load_source_settings)


def test_what_is_not_there_is_said_with_what_fetches_it(tmp_path: Path) -> None:
    """A report without data, an empty folder, a link of git-annex, and JSON that is nested too deeply."""
    data = Data(tmp_path)
    assert find_sources(tmp_path, "data") == ()
    (tmp_path / "data/empty").mkdir(parents=True)
    assert data.problems("empty")[0].startswith("data/empty: the folder has no data file: it is empty.")
    (tmp_path / "data/scores.csv").symlink_to("../.git/annex/objects/key")
    assert data.problems("scores")[0].endswith("data that are not here: run git annex get.")
    data.write("s/a.json", "[" * 100_000)
    assert data.problems("s") == ["data/s/a.json: the JSON is nested too deeply. Write it with fewer levels."]
    assert "there is no source" in data.problems("a\0b")[0]


def test_pipes_and_links_that_lead_nowhere_do_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link to a missing file, one to a folder above, and a pipe; too many files are refused."""
    data = Data(tmp_path)
    data.write("s/deep/a.jsonl", '{"step": 0, "data": {"loss": 1}}\n{"step": 1, "data": {"loss": 2}}\n')
    (tmp_path / "data/s/gone.wandb").symlink_to(tmp_path / "nowhere.wandb")
    (tmp_path / "data/s/deep/up").symlink_to(tmp_path / "data/s")
    os.mkfifo(tmp_path / "data/pipe")
    (tmp_path / "data/s/pipe.log").symlink_to(tmp_path / "data/pipe")
    assert [file.path for file in data.open("s").files] == ["data/s/deep/a.jsonl"]
    assert len(data.frame("s", "loss")) == 2
    monkeypatch.setattr(find, "MOST_FILES", 3)
    for number in range(5):
        data.write(f"t/r{number}.csv", LONG)
    (problem,) = data.problems("t")
    assert problem.startswith("data/t: the folder holds more than 3 files. Name those to read with files:")


def test_a_link_to_itself_does_no_harm(tmp_path: Path) -> None:
    """Beside data it is passed over; as data it is a broken link."""
    data = Data(tmp_path)
    data.write("s/a.csv", LONG)
    (tmp_path / "data/s/self").symlink_to("self")
    assert [file.path for file in data.open("s").files] == ["data/s/a.csv"]
    assert find_sources(tmp_path, "data") == ("s",)
    (tmp_path / "data/s/b.csv").symlink_to("b.csv")
    assert data.problems("s") == [
        "data/s/b.csv: it is a link to a file that is not there. Mend the link or remove it."
    ]


def test_a_link_to_a_folder_around_the_source_is_not_followed(tmp_path: Path) -> None:
    """Also one to the whole disk; one to a folder elsewhere is."""
    data = Data(tmp_path)
    data.write("s/a.csv", LONG)
    data.write("t/b.csv", LONG)
    (tmp_path / "data/s/root").symlink_to("/")
    (tmp_path / "data/s/up").symlink_to("..")
    (tmp_path / "data/s/other").symlink_to(tmp_path / "data/t")
    assert [file.path for file in data.open("s").files] == ["data/s/a.csv", "data/s/other/b.csv"]
    assert data.warnings("s")[:2] == [
        (
            f"data/s/{name}: the link leads to a folder that the source is in; it is not followed. "
            "Check who may read it, and where links lead."
        )
        for name in ("root", "up")
    ]


def test_a_link_that_may_not_be_asked_where_it_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of another user's process below ``/proc``; it is taken for a file of its own."""
    data = Data(tmp_path)
    target = data.write("t/a.csv", LONG)
    link = tmp_path / "data/s/b.csv"
    link.parent.mkdir()
    link.symlink_to(target)
    plain = os.path.realpath

    def realpath(path: str | Path, **options: bool) -> str:
        if str(path) == str(link):
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path, **options)

    monkeypatch.setattr(os.path, "realpath", realpath)
    assert list(find.FolderWalk(tmp_path).list_files(tmp_path / "data/s")) == [link]


def test_a_folder_that_may_not_be_entered_is_told(tmp_path: Path, bar: Callable[[Path], None]) -> None:
    """The others are read; where there is nothing else it is an error."""
    data = Data(tmp_path)
    data.write("s/a.csv", LONG)
    bar(data.write("s/closed/b.csv", LONG).parent)
    assert [file.path for file in data.open("s").files] == ["data/s/a.csv"]
    (told,) = [one for one in data.warnings("s") if "closed" in one]
    assert told.startswith("data/s/closed: the folder cannot be opened: Permission denied; it is left out.")
    bar(tmp_path / "data/s")
    assert data.problems("s")[0].startswith("data/s: the folder cannot be opened: Permission denied")


def test_files_that_may_not_be_read_are_left_out(tmp_path: Path, bar: Callable[[Path], None]) -> None:
    """Many of them in one sentence; files that hold no data are no matter."""
    data = Data(tmp_path)
    for place in range(6):
        data.write(f"s/r{place}.csv", LONG)
    bar(data.write("s/model.bin", "x"))
    bar(tmp_path / "data/s/r0.csv")
    assert [one for one in data.warnings("s") if "cannot" in one] == [
        f"data/s/r0.csv: {UNREAD}. Check who may read it, and where links lead."
    ]
    assert len(data.open("s").files) == 5
    for place in range(5):
        bar(tmp_path / f"data/s/r{place}.csv")
    (told,) = [one for one in data.warnings("s") if "cannot" in one]
    assert "; the same in 4 more: data/s/r" in told
    bar(tmp_path / "data/s/r5.csv")
    with pytest.raises(ReportError, match="Permission denied") as caught:
        data.open("s")
    assert all(problem.severity == "error" for problem in caught.value.problems)


@pytest.mark.parametrize(("kind", "ending"), [("lm-eval", "json"), ("trainer", "csv")])
def test_runs_beside_a_file_that_may_not_be_read(
    tmp_path: Path, kind: str, ending: str, bar: Callable[[Path], None]
) -> None:
    """A file of none of the runs that are found is told, and no table beside them."""
    data = Data(tmp_path)
    copy_kept(f"data/{kind}-example", tmp_path / "data" / kind)
    bar(data.write(f"{kind}/closed.{ending}", "x"))
    told = [one for one in data.warnings(kind) if "closed" in one]
    assert len(told) == 1
    assert UNREAD in told[0]


def test_a_metric_of_a_store_that_may_not_be_read(tmp_path: Path, bar: Callable[[Path], None]) -> None:
    """The runs of the store are read without it."""
    data = Data(tmp_path)
    data.write("s/mlruns/1/meta.yaml", "experiment_id: '1'\nname: tuning\n")
    for run in ("a" * 32, "b" * 32):
        data.write(f"s/mlruns/1/{run}/meta.yaml", f"run_id: {run}\nrun_name: {run[0]}\nstatus: 3\n")
        for metric in ("loss", "acc"):
            data.write(f"s/mlruns/1/{run}/metrics/{metric}", "1700000000000 0.5 0\n1700000001000 0.25 1\n")
    assert len(data.frame("s")) == 8
    bar(tmp_path / f"data/s/mlruns/1/{'a' * 32}/metrics/acc")
    assert len(data.frame("s")) == 6
    assert f"data/s/mlruns/1/{'a' * 32}/metrics/acc: {UNREAD}" in data.warnings("s")[0]
    bar(tmp_path / f"data/s/mlruns/1/{'a' * 32}/meta.yaml")
    told = [one for one in data.warnings("s") if "meta.yaml" in one]
    assert len(data.frame("s")) == 6
    assert not any("it is left out" in one for one in told)


def test_a_folder_that_many_links_lead_to_is_walked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two links to each of ten folders would make a thousand ways."""
    for level in range(11):
        (tmp_path / f"d{level}").mkdir()
        for name in ("a", "b"):
            (tmp_path / f"d{level}" / name).symlink_to(tmp_path / f"d{level + 1}")
    (tmp_path / "d11").mkdir()
    (tmp_path / "d11/x.csv").touch()
    scandir, seen = os.scandir, []

    def counted(path: Path) -> object:
        seen.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counted)
    assert [path.name for path in find.FolderWalk(tmp_path).list_files(tmp_path / "d0")] == ["x.csv"]
    assert len(seen) == 12


def test_a_run_in_a_file_whose_name_is_not_utf8(tmp_path: Path) -> None:
    """A log is read, with a mark for each byte of its name that is no text."""
    write_named(tmp_path / "runs", '{"step": 0, "data": {"loss": 1}}\n', b".jsonl")
    described = json.loads(call(tmp_path, "describe", "runs", "--format", "json").stdout)
    assert [run["series"] for run in described["runs"]] == ["a", "b?"]


def test_a_table_in_a_file_whose_name_is_not_utf8(tmp_path: Path) -> None:
    """The database cannot open it, so the file is named."""
    write_named(tmp_path / "runs", "step,loss\n0,1\n1,2\n", b".csv")
    done = call(tmp_path, "describe", "runs")
    assert "runs/b?.csv: error: the name of the file has bytes that are not UTF-8. Rename it." in done.stdout
    assert done.returncode == 1


def write_named(folder: Path, text: str, ending: bytes) -> None:
    """Write a text into two files, one of which has a Latin-1 name."""
    folder.mkdir()
    for name in (b"a", b"b\xe9"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name + ending)).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("value", ["9" * 5000, "2026-02-30"], ids=["integer", "day"])
def test_a_value_that_mkdocs_cannot_read(tmp_path: Path, value: str) -> None:
    """Its reader of YAML raises whatever Python does."""
    write_report(tmp_path, {"mkdocs.yml": f"{SETTINGS}extra: {{x: {value}}}\n"})
    done = call(tmp_path, "check")
    line = SETTINGS.count("\n") + 1
    assert f"mkdocs.yml:{line}: error: MkDocs cannot read this value: " in done.stdout
    assert done.returncode == 1


def test_a_page_whose_name_is_not_utf8(tmp_path: Path) -> None:
    """Its name would be an address."""
    write_report(tmp_path)
    page = tmp_path / "content/index.md"
    page.rename(os.fsdecode(os.fsencode(page.parent) + b"/b\xe9.md"))
    done = call(tmp_path, "check")
    assert (
        "content/b?.md: error: the name of this file has bytes that are not UTF-8. Rename it." in done.stdout
    )
    assert done.returncode == 1
