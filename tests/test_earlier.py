"""Pages and cards that would come out the same are taken over from the last site."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from made_projects import PAGE, RUNS, SETTINGS, files_below, write_file, write_report

from reportgen.core.cache import cache_folder
from reportgen.site.publishing import publish
from reportgen.site.reuse import manifest
from reportgen.site.reuse.manifest import LastBuild

if TYPE_CHECKING:
    from pathlib import Path

TWO = {
    "mkdocs.yml": f"{SETTINGS}site_url: https://example.org/\n",
    "content/other.md": PAGE.replace("runs", "other"),
    "content/plain.md": "# Plain\n\nNothing to draw.\n",
    "data/other.csv": RUNS,
}


def build(root: Path) -> dict[str, bytes]:
    """Every file of the site, built once more."""
    publish(root / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
    return files_below(root / "site")


def manifest_of(root: Path) -> Path:
    """What the last build noted."""
    return cache_folder(root) / "manifest.json"


def inodes(root: Path) -> dict[str, int]:
    """Where each page's bytes are on the disk."""
    site = root / "site"
    names = ("index.html", "other/index.html", "plain/index.html", "figures/index/card.png")
    return {name: (site / name).stat().st_ino for name in names}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A built report of three pages."""
    folder = write_report(tmp_path, TWO)
    build(folder)
    return folder


def test_only_the_page_whose_data_changed_is_written(root: Path) -> None:
    """And one without figures, whose footer names all data; the site is what a first build would make."""
    before = inodes(root)
    write_file(root / "data" / "other.csv", RUNS.replace("0.84", "0.86"))
    warm = build(root)
    after = inodes(root)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"other/index.html", "plain/index.html"}
    shutil.rmtree(cache_folder(root))
    shutil.rmtree(root / "site")
    assert build(root) == warm
    assert inodes(root)["index.html"] != after["index.html"]


def test_a_page_whose_words_changed_is_written(root: Path) -> None:
    """With its old figures."""
    before = inodes(root)
    write_file(root / "content" / "index.md", PAGE + "\nMore.\n")
    assert b"More." in build(root)["index.html"]
    after = inodes(root)
    assert {name for name in before if before[name] != after[name]} == {"index.html"}


def test_a_page_whose_title_is_in_every_menu_changes_all(root: Path) -> None:
    """What MkDocs writes around the content counts."""
    write_file(root / "content" / "plain.md", "# Simple\n\nNothing to draw.\n")
    site = build(root)
    assert b"Simple" in site["index.html"]
    assert b"Simple" in site["other/index.html"]


@pytest.mark.parametrize("harm", ["write", "remove", "older"])
def test_what_somebody_did_to_the_old_site_is_not_taken_over(root: Path, harm: str) -> None:
    """A page that was written into, removed or replaced is made again."""
    expected = files_below(root / "site")["index.html"]
    page = root / "site" / "index.html"
    if harm == "write":
        with page.open("a") as file:
            file.write("mine")
    elif harm == "remove":
        page.unlink()
    else:
        os.utime(page, (1000, 1000))
    if harm != "remove":  # the build stops, and says so
        shutil.rmtree(root / "site")
    assert build(root)["index.html"] == expected


def test_nothing_is_taken_over_after_an_update(root: Path) -> None:
    """Another version of any package may make another page of the same words."""
    file = manifest_of(root)
    told = json.loads(file.read_text())
    assert set(manifest.read_outputs(root)) >= {"figures/index/card.png"}
    file.write_text(json.dumps(told | {"environment": told["environment"] | {"packages": "others"}}))
    assert manifest.read_outputs(root) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 3}'])
def test_a_damaged_manifest_is_none(tmp_path: Path, text: str) -> None:
    """Everything is made again."""
    manifest_of(tmp_path).write_text(text)
    assert manifest.read_outputs(tmp_path) == {}


def test_where_nothing_can_be_linked_everything_is_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system without links."""

    def refuse(*_: object) -> None:
        raise OSError

    expected = files_below(root / "site")
    monkeypatch.setattr(os, "link", refuse)
    assert build(root) == expected


def test_keys_are_told_for_the_next_build(tmp_path: Path) -> None:
    """Those of files taken over, and those of files to be made."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "a").write_text("a")
    found = (old / "a").stat()
    earlier = LastBuild(old, {"a": ("key", found.st_size, found.st_mtime_ns)})
    assert earlier.link("a", "key", new)
    assert not earlier.link("b", "other", new)
    assert earlier.keys == {"a": "key", "b": "other"}
    assert (new / "a").samefile(old / "a")
