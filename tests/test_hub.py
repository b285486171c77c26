"""What a hub writes: only what changed, never half of anything; and how much a feed reads.

What hubs and feeds say, and which reports they refuse, stands in ``transcripts/hub.md`` and ``feeds.md``.
"""

from __future__ import annotations

import json
import os
import shutil
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from command_line import call
from limited_disk import NO_SPACE, limited_disk
from made_archives import invoke, pack
from made_projects import files_below, write_file
from made_sites import (
    list_hub,
    make_page,
    make_report,
    make_score,
    make_site,
    pack_archive,
    update,
    write_hub,
    write_site,
)

from reportgen.core.cache import cache_folder
from reportgen.hub.updating import update_hub
from reportgen.site.replacing.records import record_folder


def first() -> dict[str, bytes]:
    """A report."""
    return make_report("First", make_page(make_score("MEL", 0.8), statements=(True, True)), version="1.0")


def second() -> dict[str, bytes]:
    """Another one, with a statement that is not as expected."""
    page = make_page(make_score("GRPO", 0.7), statements=(True, False))
    return make_report("Second", page, date="2026-11-21", doi="10.5281/zenodo.1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a hub of two reports, published."""
    write_hub(tmp_path, {"one": first(), "two": second()}, {"one": "Red", "two": "Blue"})
    assert update(tmp_path)[0] == 0
    return tmp_path


def list_times(folder: Path) -> dict[str, tuple[int, int]]:
    """Which file each path is, and when it was written."""
    paths = [path for path in (folder / "public").rglob("*") if path.is_file()]
    return {
        path.relative_to(folder / "public").as_posix(): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in paths
    }


def find_written(folder: Path, before: dict[str, tuple[int, int]]) -> set[str]:
    """The files that are new, changed or gone."""
    after = list_times(folder)
    return {path for path in before | after if before.get(path) != after.get(path)}


def test_nothing_is_written_where_nothing_changed(folder: Path) -> None:
    """Also with an empty cache, where everything is read and compared."""
    before = list_times(folder)
    code, said = update(folder)
    assert (code, "nothing changed; 0 files written" in said) == (0, True)
    shutil.rmtree(cache_folder(folder.resolve()))
    cache_folder.cache_clear()
    assert update(folder)[0] == 0
    assert find_written(folder, before) == set()


def test_only_files_of_a_changed_report_are_written(folder: Path) -> None:
    """What is the same in it stays the same file, and so does the page of the other team."""
    before = list_times(folder)
    changed = make_report("First, again", make_page(make_score("MEL", 0.9)), version="1.0")
    write_site(folder / "one", changed)
    code, said = update(folder)
    assert (code, "1 changed (one)" in said) == (0, True)
    assert find_written(folder, before) == {
        *("r/one/index.html", "r/one/report.json"),
        *(
            "index.html",
            "team-red.html",
            "benchmark-contest.html",
            "search/titles.js",
            "llms.txt",
            "hub.json",
        ),
        *("feed.xml", "feed.json"),
    }
    assert files_below(folder / "public/r/one") == changed


def test_an_added_report_leaves_the_others(folder: Path) -> None:
    """Only its files and those about all reports are written."""
    before = list_times(folder)
    third = make_report("Third", make_page(title="Elsewhere"))
    write_hub(
        folder,
        {"one": first(), "three": third, "two": second()},
        {"one": "Red", "two": "Blue", "three": "Red"},
    )
    # Writing a site again changes the times of its files, and not its bytes.
    code, said = update(folder)
    assert (code, "1 new (three)" in said) == (0, True)
    written = find_written(folder, before)
    assert {path for path in written if path.startswith("r/")} == {f"r/three/{path}" for path in third}
    assert {path for path in written if not path.startswith("r/")} == {
        *("index.html", "team-red.html", "search/titles.js", "llms.txt", "hub.json", "feed.xml", "feed.json")
    }


def test_a_full_disk_leaves_the_old_hub(folder: Path) -> None:
    """Nothing is half-written, and nothing is left over."""
    was = files_below(folder / "public")
    write_site(folder / "one", make_report("First, again", files={"large.bin": "x" * 3_000_000}))
    with limited_disk(1_000_000):
        done = call(folder, "hub", "hub.yml", "--to", "public")
    assert done.returncode == 1
    assert NO_SPACE.search(done.stderr), done.stderr
    assert files_below(folder / "public") == was
    assert update(folder)[0] == 0
    assert (folder / "public/r/one/large.bin").stat().st_size == 3_000_000


def test_a_report_that_is_too_large_stays_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused by its size alone, and one of exactly the limit is taken."""
    write_file(folder / "one/large.bin", "x" * 90_000)
    size = sum(map(len, files_below(folder / "one").values()))
    monkeypatch.setattr("reportgen.hub.staging.LARGEST", size)
    assert update(folder)[0] == 0
    write_file(folder / "one/large.bin", "x" * 90_001)
    code, said = update(folder)
    assert (code, f"one: it has {size + 1:,} bytes, more than 10 GB" in said) == (3, True), said


@pytest.mark.parametrize("calls", range(8))
def test_a_failed_swap_is_undone(folder: Path, monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Whichever file cannot be put into its place, the old hub is there afterwards, to the byte."""
    was = files_below(folder / "public")
    write_site(folder / "one", make_report("First, again", version="1.1"))
    shutil.rmtree(folder / "two")
    list_hub(folder, [{"name": "one", "from": "one", "team": "New"}])
    replace, done = Path.replace, []

    def fail(self: Path, target: Path) -> Path:
        if "new" in self.parts:
            done.append(target)
            if len(done) > calls:
                monkeypatch.undo()
                raise OSError(28, "No space left on device", str(target))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    code, said = update(folder)
    if len(done) > calls:
        assert (code, "No space left on device. Free some space" in said) == (1, True)
        assert files_below(folder / "public") == was
    monkeypatch.undo()
    assert update(folder)[0] == 0
    assert update(folder, "other")[0] == 0
    assert '"title": "First, again"' in (folder / "public/hub.json").read_text("utf-8")


def test_a_killed_update_is_cleaned_up(folder: Path) -> None:
    """A report that it had moved away returns, and what it had begun is gone."""
    was = files_below(folder / "public")
    left = folder / "public/.hub-999999999-0"
    (left / "old/r").mkdir(parents=True)
    (folder / "public/r/one").rename(left / "old/r/one")
    write_file(left / "new/r/one/index.html", "half of i")
    record_folder(left, cache_folder(folder.resolve()))
    assert update(folder)[0] == 0
    assert files_below(folder / "public") == was


def test_two_updates_at_once_are_refused(folder: Path) -> None:
    """The one that runs is named."""
    parent = os.getppid()
    (folder / f"public/.hub-{parent}-0").mkdir()
    code, said = update(folder)
    assert (code, f"process {parent} is writing this hub" in said) == (1, True)


@pytest.mark.slow
def test_a_large_report_is_never_in_memory(tmp_path: Path) -> None:
    """Whether it is copied, compared or linked."""
    write_hub(tmp_path, {"a": first()})
    with (tmp_path / "a/large.bin").open("wb") as file:
        file.truncate(200_000_000)
    for changed in ("", "compared", "linked"):
        write_file(tmp_path / "a/words.txt", changed)
        tracemalloc.start()
        update_hub(tmp_path / "hub.yml", tmp_path / "public", lambda _done, _all: None)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
        tracemalloc.stop()
    assert (tmp_path / "public/r/a/large.bin").stat().st_size == 200_000_000
    (tmp_path / "public/r/a/large.bin").unlink()


def test_a_report_that_changes_while_it_is_read_waits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of each state is never published."""
    was = files_below(folder / "public/r/one")
    write_site(folder / "one", make_report("First, again"))
    open_file = Path.open
    opened: list[Path] = []

    def change(self: Path, *words: str, **more: str) -> object:
        if self == folder / "one/index.html" and not opened:
            opened.append(self)
            write_file(folder / "one/late.html", "late")
        return open_file(self, *words, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", change)
    code, said = update(folder)
    assert (code, "one: it changed while it was read. Run this again." in said) == (3, True)
    assert files_below(folder / "public/r/one") == was
    assert update(folder)[0] == 0
    assert (folder / "public/r/one/late.html").is_file()


# ---- feeds


def make_dated_site(dates: dict[str, str]) -> dict[str, bytes]:
    """A site of dated pages."""
    empty: dict[str, object] = {"description": None, "figures": [], "tables": []}
    pages = [{"path": f"{name}.md", "title": name, "date": date, **empty} for name, date in dates.items()]
    report = {"format": 1, "generator": {"name": "reportgen"}, "pages": pages}
    html = make_site()["index.html"]
    return make_site(files={"report.json": json.dumps(report)} | {f"{name}.html": html for name in dates})


def publish(folder: Path, *versions: Path) -> tuple[str, list[str]]:
    """What is said when a folder's ``main`` is published with versions, and the titles of its feed."""
    given = [f"--version=1.{number}={path}" for number, path in enumerate(versions)]
    places = ("--main", folder / "main", "--to", folder / "public", "--base-url", "https://lab.example")
    code, said = invoke("publish", *places, *given)
    assert code == 0, said
    return said, [one["title"] for one in json.loads((folder / "public/feed.json").read_bytes())["items"]]


def test_of_many_entries_the_newest_fifty_are_in_the_feed(tmp_path: Path) -> None:
    """By date and then by id; older ones are not even compared, as their archives hold no report."""
    days = [f"20{n // 336:02}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}" for n in range(100)]
    dates = {f"{n:04}": days[n] for n in range(100)} | dict.fromkeys("ba", days[-1])
    write_site(tmp_path / "main", make_dated_site(dates))
    old = [pack_archive(tmp_path / f"{n}.zip", make_site(date=days[n])) for n in range(3)]
    said, titles = publish(tmp_path, *old)
    assert (len(titles), titles[:4]) == (50, ["0099", "a", "b", "0098"])
    assert "is not in the feed" not in said
    new = pack_archive(tmp_path / "new.zip", make_site(date=days[-1]))
    assert "what changed in version 1.3 is not in the feed" in publish(tmp_path, *old, new)[0]


def test_versions_are_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second assembly finds the answer by the identities of both archives; the site has nothing of it."""
    write_site(tmp_path / "main", make_site())
    report = {"format": 1, "generator": {"version": "1"}, "pages": [], "sources": [], "problems": []}
    versions = []
    for number in range(2):
        site = {f"site/{name}": content for name, content in make_site().items()}
        write_site(tmp_path / f"{number}", site)
        write_file(tmp_path / f"{number}/report.json", json.dumps(report | {"commit": f"{number}"}))
        versions.append(pack(tmp_path / f"{number}", tmp_path / f"{number}.zip"))
    main, read, counts, found = files_below(tmp_path / "main"), zipfile.ZipFile.open, list[int](), []

    def count(archive: zipfile.ZipFile, name: Any, *more: Any, **named: Any) -> Any:  # noqa: ANN401 - passed on
        counts[-1] += getattr(name, "filename", name) == "report.json"
        return read(archive, name, *more, **named)

    monkeypatch.setattr(zipfile.ZipFile, "open", count)
    for _ in range(2):
        for _ in range(2):
            counts.append(0)
            found.append(publish(tmp_path, *versions))
        for path in (cache_folder(tmp_path.resolve()), tmp_path / "public"):
            shutil.rmtree(path)
    assert len(found[0][1]) == 1
    assert found == found[:1] * 4
    assert counts == [4, 2, 4, 2]
    assert files_below(tmp_path / "main") == main
