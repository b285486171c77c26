"""The cache: what was put is found, damage is a miss, and two processes may share a folder."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.cache import Cache, FileHashes

PARTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=4)


def test_what_was_put_is_found(tmp_path: Path) -> None:
    """Bytes come back as they were, also in the next process, and hits and misses are counted."""
    cache = Cache(tmp_path)
    key = cache.make_key("block", "a")
    assert cache.get(key) is None
    cache.put(key, b"\x00value")
    assert cache.get(key) == b"\x00value"
    assert Cache(tmp_path).get(key) == b"\x00value"
    assert (cache.hits, cache.misses) == (1, 1)


def test_an_empty_value_is_a_value(tmp_path: Path) -> None:
    """No bytes at all are not the same as no entry."""
    cache = Cache(tmp_path)
    cache.put(cache.make_key("a"), b"")
    assert cache.get(cache.make_key("a")) == b""


@given(PARTS, PARTS)
def test_other_parts_give_another_key(one: list[str], other: list[str]) -> None:
    """No two lists of parts share a key, however they are cut."""
    assert (Cache.make_key(*one) == Cache.make_key(*other)) == (one == other)


def test_the_version_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another version computed is not taken."""
    before = Cache.make_key("a")
    monkeypatch.setattr("reportgen.core.cache._hash_code", lambda: "another version")
    assert Cache.make_key("a") != before


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 100])
def test_a_damaged_entry_is_a_missing_one(tmp_path: Path, damage: bytes) -> None:
    """A torn or changed file is computed anew, and can be put again."""
    cache = Cache(tmp_path)
    key = cache.make_key("a")
    cache.put(key, b"value")
    (entry,) = (path for path in tmp_path.rglob("*") if path.is_file())
    for broken in (damage, entry.read_bytes()[:-1]):
        entry.write_bytes(broken)
        assert cache.get(key) is None
    cache.put(key, b"value")
    assert cache.get(key) == b"value"


def test_a_folder_in_the_place_of_an_entry_is_a_miss(tmp_path: Path) -> None:
    """Whatever stands in the cache, asking it does not fail."""
    cache = Cache(tmp_path)
    key = cache.make_key("a")
    cache.put(key, b"value")
    (entry,) = (path for path in tmp_path.rglob("*") if path.is_file())
    entry.unlink()
    entry.mkdir()
    assert cache.get(key) is None


def test_nothing_but_entries_is_left_behind(tmp_path: Path) -> None:
    """Writing leaves no temporary file."""
    cache = Cache(tmp_path)
    for number in range(5):
        cache.put(cache.make_key("a"), str(number).encode())
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


WRITER = """
import sys
from pathlib import Path
from reportgen.core.cache import Cache
cache, me = Cache(Path(sys.argv[1])), sys.argv[2].encode() * 50_000
for _ in range(60):
    cache.put(cache.make_key("shared"), me)
    if (found := cache.get(cache.make_key("shared"))) not in (b"a" * 50_000, b"b" * 50_000):
        sys.exit(f"torn: {found!r:.80}")
"""


@pytest.mark.slow
def test_two_processes_share_a_folder(tmp_path: Path) -> None:
    """Whoever reads while another writes sees the whole of one value."""
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), me]) for me in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]


def test_pruning_measures_from_the_last_use_of_anything(tmp_path: Path) -> None:
    """Entries go when they were unused for long before the newest; the clock has no say, and using helps."""
    cache = Cache(tmp_path)
    keys = [cache.make_key(name) for name in ("old", "used", "new")]
    for key in keys:
        cache.put(key, b"value")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            os.utime(path, (1000, 1000))
    assert cache.prune(10) == 0
    cache.get(keys[1])
    assert cache.has_entry(keys[2])
    assert cache.prune(10) == 1
    assert [cache.get(key) for key in keys] == [None, b"value", b"value"]
    assert Cache(tmp_path / "none").prune() == 0


def test_pruning_is_for_once_a_day(tmp_path: Path) -> None:
    """A build in between looks at no entry; the first one and that of the next day do."""
    cache = Cache(tmp_path)
    for name in ("old", "new"):
        cache.put(cache.make_key(name), b"value")
    old = tmp_path / cache.make_key("old")[:2] / cache.make_key("old")[2:]
    cache.prune_daily()
    os.utime(old, (1000, 1000))
    cache.prune_daily()
    assert old.exists()
    os.utime(tmp_path / "pruned", (1000, 1000))
    cache.prune_daily()
    assert not old.exists()
    Cache(tmp_path / "none").prune_daily()
    assert not (tmp_path / "none").exists()


def sha256(content: bytes) -> str:
    """A digest computed without the code under test."""
    return hashlib.sha256(content).hexdigest()


def test_hashes_are_remembered_by_size_and_time(tmp_path: Path) -> None:
    """A file is read again only when its size or its time of change differs."""
    file = tmp_path / "runs.csv"
    file.write_bytes(b"first")
    hashes = FileHashes(tmp_path / "cache")
    assert hashes(file) == sha256(b"first")
    hashes.save()
    found = file.stat()
    file.write_bytes(b"other")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert FileHashes(tmp_path / "cache")(file) == sha256(b"first")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    assert FileHashes(tmp_path / "cache")(file) == sha256(b"other")
    file.write_bytes(b"longer")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert FileHashes(tmp_path / "cache")(file) == sha256(b"longer")


def test_hashes_of_files_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    """The list does not grow with every file there ever was."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    hashes = FileHashes(tmp_path)
    hashes(tmp_path / "a")
    hashes.save()
    hashes = FileHashes(tmp_path)
    hashes(tmp_path / "b")
    hashes.save()
    assert list(json.loads((tmp_path / "hashes.json").read_text())) == [str(tmp_path / "b")]


@pytest.mark.parametrize(
    "content", ["", "[]", "{", "5", '{"FILE": 5}', '{"FILE": [1]}', '{"FILE": ["a", 1, 2]}', "\x00"]
)
def test_damaged_memory_is_no_memory(tmp_path: Path, content: str) -> None:
    """Whatever hashes.json holds, a file's hash is its own."""
    file = tmp_path / "runs.csv"
    file.write_bytes(b"x")
    (tmp_path / "hashes.json").write_text(content.replace("FILE", str(file)))
    assert FileHashes(tmp_path)(file) == sha256(b"x")


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    """The reader of the source tells the user."""
    with pytest.raises(FileNotFoundError):
        FileHashes(tmp_path)(tmp_path / "none.csv")


def test_a_file_that_changes_while_it_is_read_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hash is kept only when the file stood still."""
    file = tmp_path / "runs.csv"
    file.write_bytes(b"x")
    marks = iter([(1, 1), (1, 2)])
    monkeypatch.setattr("reportgen.core.cache.get_stamp", lambda _: next(marks))
    hashes = FileHashes(tmp_path)
    hashes(file)
    hashes.save()
    assert not (tmp_path / "hashes.json").exists()


# ---- texts in files of their own ----------------------------------------------------------------


def test_a_kept_text_is_read_when_asked_for(tmp_path: Path) -> None:
    """From a file beside its value, which a site may link to."""
    cache = Cache(tmp_path)
    text = cache.put_text(cache.make_key("figure"), "0.csv", "a,b\n1,ä\n")
    assert str(text) == "a,b\n1,ä\n"
    assert text.stands
    assert text.sha256 == sha256("a,b\n1,ä\n".encode())
    assert text.path == cache.get_text_path(cache.make_key("figure"), "0.csv")


@pytest.mark.parametrize("harm", ["x", "a,b\n1,2\n", None])
def test_a_kept_text_that_somebody_wrote_into_does_not_stand(tmp_path: Path, harm: str | None) -> None:
    """As may happen through a link in the site: longer, as long, or gone."""
    text = Cache(tmp_path).put_text("ab" * 32, "0.csv", "a,b\n1,1\n")
    os.utime(text.path, (1000, 1000))
    before = Path(text.path).stat().st_mtime_ns
    text = Cache(tmp_path).put_text("ab" * 32, "0.csv", "a,b\n1,1\n")
    assert text.changed != before
    if harm is None:
        Path(text.path).unlink()
    else:
        Path(text.path).write_text(harm)
        os.utime(text.path, (2000, 2000))
    assert not text.stands


def test_a_kept_text_that_was_restored_stands(tmp_path: Path) -> None:
    """A backup may round times of change; the bytes count then."""
    text = Cache(tmp_path).put_text("ab" * 32, "0.csv", "a,b\n1,1\n")
    os.utime(text.path, (1000, 1000))
    assert text.stands


def test_texts_are_pruned_with_their_value(tmp_path: Path) -> None:
    """Not before it, though nobody marks their use."""
    cache = Cache(tmp_path)
    used, old = cache.make_key("used"), cache.make_key("old")
    for key in (used, old):
        cache.put(key, b"value")
        os.utime(cache.put_text(key, "0.csv", "text").path, (1000, 1000))
    os.utime(tmp_path / old[:2] / old[2:], (1000, 1000))
    assert cache.prune(10) == 2
    assert Path(cache.get_text_path(used, "0.csv")).exists()
    assert not Path(cache.get_text_path(old, "0.csv")).exists()
